//! Streamable HTTP: `/mcp` behind checks of Host, Origin and bearer token, and `/healthz` without them.
//!
//! A request passes `accept` (limits of connections), `guard` (ambiguous headers), `origins` (CORS), `guard` (token, size),
//! and then the protocol. `connection` closes connections whose clients are too slow.

mod accept;
mod clients;
mod connection;
mod guard;
mod limits;
mod login;
mod origins;
mod tls;

pub use limits::HttpLimits;
pub use login::{AccessToken, MIN_TOKEN_BYTES, TokenProblem};
pub use tls::{TlsError, TlsFiles};

use super::ServeError;
use crate::health::HealthStatus;
use crate::mcp::{Admission, McpServer, ServerLimits, http_route};
use crate::secret::Secret;
use crate::service::Service;
use accept::{HttpConnections, SharedLimits};
use axum::Json;
use axum::extract::Request;
use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use clients::HttpClients;
use login::{Login, Logins};
use mcpaql_core::host;
use origins::{AllowedOrigins, LOOPBACK};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

/// How long connections may take to close after their calls were dropped.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Options of an HTTP server.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct HttpOptions {
    /// The address to listen on; port 0 selects a free port.
    pub addr: SocketAddr,
    /// Allowed values of `Host` besides the loopback names and the address itself, with or without port; `*` allows
    /// all.
    pub allowed_hosts: Vec<String>,
    /// Allowed browser origins besides the loopback ones, such as `https://app.example.com`; `:*` allows any port.
    pub allowed_origins: Vec<String>,
    /// The tokens of which clients send one, as `Authorization: Bearer …`. Without tokens, everyone may call.
    pub tokens: Vec<AccessToken>,
    /// Allows everyone who can reach a non-loopback address to call every tool.
    pub allow_unauthenticated_remote: bool,
    /// The certificate for TLS; without one, everything is sent in plain text.
    pub tls: Option<TlsFiles>,
    /// The limits of the server.
    pub limits: ServerLimits,
    /// The limits of its connections.
    pub connections: HttpLimits,
}

impl HttpOptions {
    /// Listens on `addr` without a token, and allows only the loopback names and the address itself as `Host`.
    #[must_use]
    pub fn new(addr: SocketAddr) -> Self {
        HttpOptions {
            addr,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            tokens: Vec::new(),
            allow_unauthenticated_remote: false,
            tls: None,
            limits: ServerLimits::default(),
            connections: HttpLimits::default(),
        }
    }

    /// Returns these options with another allowed value of `Host`.
    #[must_use]
    pub fn allow_host(mut self, host: impl Into<String>) -> HttpOptions {
        self.allowed_hosts.push(host.into());
        self
    }

    /// Returns these options with another allowed browser origin.
    #[must_use]
    pub fn allow_origin(mut self, origin: impl Into<String>) -> HttpOptions {
        self.allowed_origins.push(origin.into());
        self
    }

    /// Returns these options with a token that gives access. Its callers have no name.
    #[must_use]
    pub fn with_token(mut self, token: Secret) -> HttpOptions {
        self.tokens.push(AccessToken { name: None, secret: token });
        self
    }

    /// Returns these options with a token that gives access, and the name of its callers.
    #[must_use]
    pub fn with_named_token(mut self, name: impl Into<String>, token: Secret) -> HttpOptions {
        self.tokens.push(AccessToken { name: Some(name.into()), secret: token });
        self
    }

    /// Returns these options with a certificate for TLS.
    #[must_use]
    pub fn with_tls(self, files: TlsFiles) -> HttpOptions {
        HttpOptions { tls: Some(files), ..self }
    }

    /// Returns these options with other limits of connections.
    #[must_use]
    pub fn with_connections(self, connections: HttpLimits) -> HttpOptions {
        HttpOptions { connections, ..self }
    }

    /// Returns these options with other limits.
    #[must_use]
    pub fn with_limits(self, limits: ServerLimits) -> HttpOptions {
        HttpOptions { limits, ..self }
    }

    fn admission(&self, origins: &AllowedOrigins) -> Admission {
        let hosts = if self.allowed_hosts.iter().any(|host| host == "*") {
            Vec::new()
        } else {
            let own = match self.addr.ip() {
                ip if ip.is_unspecified() => None,
                IpAddr::V4(ip) => Some(ip.to_string()),
                IpAddr::V6(ip) => Some(format!("[{ip}]")),
            };
            let loopback = LOOPBACK.iter().map(|&host| host.to_owned());
            loopback.chain(own).chain(self.allowed_hosts.iter().cloned()).collect()
        };
        Admission { hosts, origins: origins.patterns() }
    }
}

/// Serves clients over HTTP until `shutdown` is cancelled. Calls `on_bound` with the address once connections are
/// accepted.
///
/// # Errors
/// When the address cannot be bound, an option is invalid, or a non-loopback address has no token and unauthenticated
/// access is not allowed.
pub async fn serve_http<S: Service>(
    service: Arc<S>,
    options: HttpOptions,
    shutdown: CancellationToken,
    on_bound: impl FnOnce(SocketAddr),
) -> Result<(), ServeError> {
    let addr = options.addr;
    let is_remote = !host::is_loopback_ip(addr.ip());
    if is_remote && options.tokens.is_empty() && !options.allow_unauthenticated_remote {
        return Err(ServeError::Unauthenticated(addr));
    }
    let origins = AllowedOrigins::new(&options.allowed_origins)?;
    let admission = options.admission(&origins);
    let limits = options.connections;
    let logins = Arc::new(Logins::new(&options.tokens, &limits)?);
    let tls = match options.tls {
        Some(files) => Some(files.watch().await.map_err(ServeError::Tls)?),
        None => None,
    };
    let listener = TcpListener::bind(addr).await.map_err(|source| ServeError::Bind { addr, source })?;
    let bound = listener.local_addr()?;
    if is_remote && tls.is_none() {
        tracing::warn!(
            "{bound} is reachable from other machines without TLS: tokens, requests and answers can be read on the way; \
             use a certificate, or a proxy with one"
        );
    }
    on_bound(bound);

    let stop = CancellationToken::new();
    let server = McpServer::new(Arc::clone(&service), shutdown.clone(), None);
    let shared = Arc::new(SharedLimits { limits, clients: HttpClients::new(limits), unsent: Arc::default() });
    let health = {
        let logins = Arc::clone(&logins);
        get(move |request: Request| std::future::ready(health(&*service, &logins, addr, &request)))
    };
    let router = http_route(server, admission, stop.clone())
        .layer(from_fn_with_state(Arc::clone(&shared), guard::read_body))
        .layer(from_fn_with_state(logins, guard::authorize))
        .layer(from_fn_with_state(Arc::new(origins), origins::share))
        .route("/healthz", health)
        .layer(from_fn(guard::refuse_ambiguous));
    let connections = HttpConnections::new(router, &shared, tls, shutdown.clone());
    connections.accept(listener).await;
    tokio::select! {
        () = connections.ended() => return Ok(()),
        () = tokio::time::sleep(options.limits.grace) => stop.cancel(),
    }
    if tokio::time::timeout(CLOSE_TIMEOUT, connections.ended()).await.is_err() {
        connections.close();
        connections.ended().await;
    }
    Ok(())
}

/// Everyone may see the status of the server. The state of each adapter is shown to clients with a token; without
/// tokens, to clients on this machine.
fn health<S: Service>(
    service: &S,
    logins: &Logins,
    addr: SocketAddr,
    request: &Request,
) -> (StatusCode, Json<serde_json::Value>) {
    let headers = request.headers();
    let is_authorized = match logins.is_required() {
        true => matches!(logins.check(guard::address_of(request), headers), Login::Granted(_)),
        false => host::is_loopback_ip(addr.ip()) && is_local(headers),
    };
    let health = service.health();
    let status = match health.status {
        HealthStatus::Ok | HealthStatus::Degraded => StatusCode::OK,
        HealthStatus::Down => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, Json(health.to_json(is_authorized)))
}

/// Returns whether a request is for a loopback name and does not come from a web page.
fn is_local(headers: &HeaderMap) -> bool {
    let named = headers.get(HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    host::is_loopback(named) && !headers.contains_key(ORIGIN)
}
