//! Streamable HTTP: `/mcp` behind checks of Host, Origin and bearer token, and `/healthz` without them.

use super::ServeError;
use crate::health::HealthStatus;
use crate::mcp::{Admission, McpServer, ServerLimits, http_route};
use crate::secret::Secret;
use crate::service::Service;
use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::serve::ListenerExt;
use mcpaql_core::host;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use url::Url;

/// How long connections may take to close after their calls were dropped.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

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
    /// The token that clients send as `Authorization: Bearer …`.
    pub token: Option<Secret>,
    /// Allows everyone who can reach a non-loopback address to call every tool.
    pub allow_unauthenticated_remote: bool,
    /// The limits of the server.
    pub limits: ServerLimits,
}

impl HttpOptions {
    /// Listens on `addr` without a token, and allows only the loopback names and the address itself as `Host`.
    #[must_use]
    pub fn new(addr: SocketAddr) -> Self {
        HttpOptions {
            addr,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            token: None,
            allow_unauthenticated_remote: false,
            limits: ServerLimits::default(),
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

    /// Returns these options with a token that clients must send.
    #[must_use]
    pub fn with_token(self, token: Secret) -> HttpOptions {
        HttpOptions { token: Some(token), ..self }
    }

    /// Returns these options with other limits.
    #[must_use]
    pub fn with_limits(self, limits: ServerLimits) -> HttpOptions {
        HttpOptions { limits, ..self }
    }

    fn admission(&self) -> Result<Admission, ServeError> {
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
        let loopback =
            LOOPBACK.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
        let mut origins: Vec<String> = loopback.collect();
        for entry in &self.allowed_origins {
            origins.push(origin(entry).ok_or_else(|| ServeError::Origin(entry.clone()))?);
        }
        Ok(Admission { hosts, origins })
    }
}

/// Returns an allowed origin with an explicit port, so that it never allows any port by accident.
fn origin(entry: &str) -> Option<String> {
    if entry == "null" {
        return Some(entry.to_owned());
    }
    let (base, any_port) = match entry.strip_suffix(":*") {
        Some(base) => (base, true),
        None => (entry, false),
    };
    let url = Url::parse(base).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let bare =
        url.path() == "/" && url.query().is_none() && url.fragment().is_none() && url.username().is_empty();
    let host = url.host_str().filter(|_| bare)?;
    let port = if any_port { "*".to_owned() } else { url.port_or_known_default()?.to_string() };
    Some(format!("{}://{host}:{port}", url.scheme()))
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
    if !host::is_loopback_ip(addr.ip()) && options.token.is_none() && !options.allow_unauthenticated_remote {
        return Err(ServeError::Unauthenticated(addr));
    }
    let admission = options.admission()?;
    let limits = options.limits;
    let listener = TcpListener::bind(addr).await.map_err(|source| ServeError::Bind { addr, source })?;
    on_bound(listener.local_addr()?);

    let stop = CancellationToken::new();
    let server = McpServer::new(Arc::clone(&service), shutdown.clone(), None);
    let token = options.token.map(Arc::new);
    let health = {
        let token = token.clone();
        get(move |headers: HeaderMap| std::future::ready(health(&*service, token.as_deref(), addr, &headers)))
    };
    let guard = from_fn_with_state(token, authorize);
    let router = http_route(server, admission, stop.clone()).layer(guard).route("/healthz", health);
    let listener = listener.tap_io(|connection| {
        // Small answers must not wait for delayed acknowledgements. If setting the option fails, they are just
        // slower.
        let _ = connection.set_nodelay(true);
    });
    let serving = axum::serve(listener, router).with_graceful_shutdown(shutdown.clone().cancelled_owned());
    let mut serving = std::pin::pin!(serving.into_future());
    let grace_over = async {
        shutdown.cancelled().await;
        tokio::time::sleep(limits.grace).await;
    };
    tokio::select! {
        served = &mut serving => return Ok(served?),
        () = grace_over => stop.cancel(),
    }
    // Connections that do not close in time end with the process.
    let _ = tokio::time::timeout(CLOSE_TIMEOUT, serving).await;
    Ok(())
}

/// Everyone may see the status of the server. The state of each adapter is shown to clients with the token; without a
/// token, to clients on this machine.
fn health<S: Service>(
    service: &S,
    token: Option<&Secret>,
    addr: SocketAddr,
    headers: &HeaderMap,
) -> (StatusCode, Json<serde_json::Value>) {
    let is_authorized = match token {
        Some(token) => bearer(headers).is_some_and(|presented| token.matches(presented)),
        None => host::is_loopback_ip(addr.ip()) && is_local(headers),
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

async fn authorize(State(token): State<Option<Arc<Secret>>>, mut request: Request, next: Next) -> Response {
    let Some(token) = token else { return next.run(request).await };
    let presented = bearer(request.headers());
    if presented.is_some_and(|presented| token.matches(presented)) {
        // The token is only for this server. It must not reach upstreams, even if an adapter forwards headers.
        request.headers_mut().remove(AUTHORIZATION);
        return next.run(request).await;
    }
    let challenge = match presented {
        Some(_) => r#"Bearer realm="mcpaql", error="invalid_token""#,
        None => r#"Bearer realm="mcpaql""#,
    };
    let advice = "Send the server's token in the header Authorization: Bearer <token>.\n";
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, challenge)], advice).into_response()
}

fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let (scheme, token) = headers.get(AUTHORIZATION)?.as_bytes().split_at_checked(7)?;
    scheme.eq_ignore_ascii_case(b"bearer ").then(|| token.trim_ascii())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_has_its_port_written_out() {
        for (entry, expected) in [
            ("https://app.example.com", Some("https://app.example.com:443")),
            ("http://app.example.com/", Some("http://app.example.com:80")),
            ("https://app.example.com:8443", Some("https://app.example.com:8443")),
            ("https://app.example.com:*", Some("https://app.example.com:*")),
            ("http://[2001:db8::1]:8080", Some("http://[2001:db8::1]:8080")),
            ("null", Some("null")),
            ("app.example.com", None),
            ("https://app.example.com/path", None),
            ("https://user@app.example.com", None),
            ("file:///tmp", None),
            ("*", None),
            ("", None),
        ] {
            assert_eq!(origin(entry).as_deref(), expected, "{entry}");
        }
    }

    #[test]
    fn the_bearer_scheme_is_read_in_any_case() {
        let header = |value: &str| HeaderMap::from_iter([(AUTHORIZATION, value.parse().unwrap())]);
        assert_eq!(bearer(&header("Bearer abc")), Some(&b"abc"[..]));
        assert_eq!(bearer(&header("bearer  abc ")), Some(&b"abc"[..]));
        assert_eq!(bearer(&header("Basic abc")), None);
        assert_eq!(bearer(&header("Bea")), None);
        assert_eq!(bearer(&HeaderMap::new()), None);
    }
}
