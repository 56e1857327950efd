//! Outgoing HTTP requests: which hosts they may reach. Targets, token endpoints, MCP servers over HTTP and fetched
//! descriptions all use it.
//!
//! What always holds:
//! - The address that is checked is the one that is connected: names are looked up once, here, and only addresses that
//!   passed the check go to the HTTP library. So a name cannot change its address between the check and the connection.
//! - Every redirect is checked like a first request.
//! - Errors name the host of the request, never the address that its name resolved to.
//!
//! Proxies of the environment (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`) are the operator's own and may be anywhere. A
//! proxy looks names up itself, so with a proxy a name is checked here as well, if this machine can resolve it; the
//! addresses that the proxy connects to are for the proxy to check.

use futures_util::future::BoxFuture;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::host::{self, NetworkAccess};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::collections::HashSet;
use std::error::Error;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, PoisonError, RwLock};
use url::Url;

/// Looks up the addresses of a name. Tests pass their own.
pub type NameLookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> + Send + Sync>;

/// The environment variables of proxies.
const PROXY_VARIABLES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// The lookup of the system.
fn system_lookup() -> NameLookup {
    Arc::new(|name| {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    })
}

/// A host that is not public and that the operator has not allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefusedHost {
    pub(crate) host: String,
}

impl fmt::Display for RefusedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not a public address, so no request was sent", self.host)
    }
}

impl Error for RefusedHost {}

/// What the operator can do about a refused host.
pub(crate) const ALLOW_HINT: &str =
    "to allow it, set `allow_private: true` or `networks: [NETWORK]` for this adapter in mcpaql.yaml";

impl RefusedHost {
    /// Returns the error for the caller.
    pub(crate) fn to_op_error(&self) -> OpError {
        OpError::new(
            Code::PermissionDenied,
            format!(
                "The request was not sent: '{}' is not a public address. Tell the user; `allow_private` or `networks` \
                 of this adapter in mcpaql.yaml allows it.",
                self.host
            ),
        )
        .with_detail("host", self.host.as_str())
        .for_operator(self, ALLOW_HINT)
    }
}

/// Finds the refused host in the causes of an error.
pub(crate) fn refused_host<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e RefusedHost> {
    let mut cause = error;
    loop {
        if let Some(refused) = cause.downcast_ref() {
            return Some(refused);
        }
        cause = cause.source()?;
    }
}

/// The error for a host that does not get the credentials.
pub(crate) fn unapproved_host(host: &str) -> OpError {
    OpError::new(
        Code::PermissionDenied,
        format!(
            "The request was not sent: the user has not approved '{host}' for the credentials of this API. Tell the \
             user; `auth: {{hosts: [{host}]}}` of this adapter in mcpaql.yaml approves it."
        ),
    )
    .with_detail("host", host)
    .for_operator(
        format_args!("'{host}' comes from the fetched description and is not approved for the credentials of this API"),
        format!("approve it with `auth: {{…, hosts: [{host}]}}` for this adapter in mcpaql.yaml"),
    )
}

/// Decides where the requests of one adapter may go.
pub(crate) struct OutgoingGuard {
    access: NetworkAccess,
    lookup: RwLock<NameLookup>,
    /// Names that were granted: they may lead into private networks.
    granted: RwLock<HashSet<String>>,
    /// Hosts of the proxies in the environment.
    proxies: Vec<String>,
}

impl fmt::Debug for OutgoingGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OutgoingGuard").field("access", &self.access).finish_non_exhaustive()
    }
}

impl OutgoingGuard {
    pub(crate) fn new(access: NetworkAccess) -> OutgoingGuard {
        let proxies = PROXY_VARIABLES.iter().filter_map(|name| std::env::var(name).ok());
        let proxies = proxies.map(|address| host::host(&address).to_ascii_lowercase());
        let proxies = proxies.filter(|host| !host.is_empty()).collect();
        OutgoingGuard { access, lookup: RwLock::new(system_lookup()), granted: RwLock::default(), proxies }
    }

    /// Replaces the lookup of the system.
    pub(crate) fn set_lookup(&self, lookup: NameLookup) {
        *self.lookup.write().unwrap_or_else(PoisonError::into_inner) = lookup;
    }

    /// Returns whether a request to this URL may carry the credentials of the adapter.
    pub(crate) fn gets_credentials(&self, url: &Url) -> bool {
        url.host_str().is_some_and(|host| self.access.gets_credentials(host))
    }

    /// Checks the host of a request. `base` is the address that the call starts from. The addresses of a name are
    /// checked when it is looked up.
    pub(crate) async fn check(&self, url: &Url, base: &Url) -> Result<(), RefusedHost> {
        let host = url.host_str().unwrap_or_default();
        let base = base.host_str();
        if !self.access.admits_host(host, base) {
            return Err(RefusedHost { host: host.to_owned() });
        }
        let Some(name) = url.domain() else { return Ok(()) };
        if self.access.is_granted(name, base) && !self.is_granted(name) {
            self.granted.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_ascii_lowercase());
        }
        if self.proxies.is_empty() {
            return Ok(());
        }
        // A proxy may look the name up. If this machine cannot, there is nothing to check.
        match self.look_up(name).await {
            Ok(found) if !found.is_empty() => self.filter(name, found).map(drop),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    fn is_granted(&self, name: &str) -> bool {
        let granted = self.granted.read().unwrap_or_else(PoisonError::into_inner);
        granted.contains(&name.to_ascii_lowercase())
    }

    fn look_up(&self, name: &str) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        let lookup = Arc::clone(&self.lookup.read().unwrap_or_else(PoisonError::into_inner));
        lookup(name.to_owned())
    }

    /// Keeps the addresses that may be connected.
    fn filter(&self, name: &str, mut found: Vec<IpAddr>) -> Result<Vec<IpAddr>, RefusedHost> {
        let is_granted = self.is_granted(name);
        found.retain(|ip| self.access.admits_ip(*ip, is_granted));
        if found.is_empty() { Err(RefusedHost { host: name.to_owned() }) } else { Ok(found) }
    }

    async fn addresses(&self, name: &str) -> Result<Vec<IpAddr>, Box<dyn Error + Send + Sync>> {
        let found = self.look_up(name).await?;
        if found.is_empty() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "the name has no address").into());
        }
        if self.proxies.iter().any(|proxy| proxy.eq_ignore_ascii_case(name)) {
            return Ok(found);
        }
        Ok(self.filter(name, found)?)
    }
}

/// The resolver for the HTTP library.
pub(crate) struct GuardedResolver(pub(crate) Arc<OutgoingGuard>);

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = Arc::clone(&self.0);
        Box::pin(async move {
            let found = guard.addresses(name.as_str()).await?;
            // The HTTP library sets the port.
            Ok(Box::new(found.into_iter().map(|ip| SocketAddr::new(ip, 0))) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn guard(access: NetworkAccess, answers: &'static [&'static [&'static str]]) -> OutgoingGuard {
        let guard = OutgoingGuard { proxies: Vec::new(), ..OutgoingGuard::new(access) };
        let calls = AtomicUsize::new(0);
        guard.set_lookup(Arc::new(move |_| {
            let n = calls.fetch_add(1, Ordering::Relaxed).min(answers.len() - 1);
            let found = answers[n].iter().map(|ip| ip.parse().unwrap()).collect();
            Box::pin(std::future::ready(Ok(found)))
        }));
        guard
    }

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[tokio::test]
    async fn only_checked_addresses_are_connected() {
        let guard = guard(NetworkAccess::default(), &[&["8.8.8.8", "10.0.0.1", "::1"], &["192.168.0.1"]]);
        let first = guard.addresses("api.example").await.unwrap();
        assert_eq!(first, ["8.8.8.8".parse::<IpAddr>().unwrap()]);
        let rebound = guard.addresses("api.example").await.unwrap_err();
        let refused = refused_host(&*rebound).expect("a refused host");
        assert_eq!(refused.host, "api.example");
        assert!(!refused.to_op_error().message.contains("192.168"), "the address is not shown");
    }

    #[tokio::test]
    async fn a_granted_name_leads_into_a_private_network_but_not_to_metadata() {
        let guard = guard(NetworkAccess::default(), &[&["10.0.0.1"], &["169.254.169.254"]]);
        let own = url("http://db:8080/x");
        assert!(guard.addresses("db").await.is_err(), "not granted yet");
        guard.check(&own, &own).await.unwrap();
        assert!(guard.addresses("db").await.is_err(), "a metadata service is never granted by name");
        guard.set_lookup(Arc::new(|_| Box::pin(std::future::ready(Ok(vec!["10.0.0.2".parse().unwrap()])))));
        assert!(guard.addresses("db").await.is_ok());
        assert!(
            guard.check(&own, &url("https://api.example")).await.is_err(),
            "another call may not go there"
        );
    }

    #[tokio::test]
    async fn with_a_proxy_names_are_checked_before_they_are_sent_to_it() {
        let mut guard = guard(NetworkAccess::default(), &[&["10.0.0.1"]]);
        guard.proxies = vec!["proxy.corp.example".into()];
        assert!(guard.addresses("proxy.corp.example").await.is_ok(), "the proxy may be anywhere");
        let inside = url("https://inside.example");
        assert!(guard.check(&inside, &inside).await.is_err());
        let proxy = url("http://proxy.corp.example");
        assert!(guard.check(&proxy, &inside).await.is_err(), "the proxy itself is not a target");
    }
}
