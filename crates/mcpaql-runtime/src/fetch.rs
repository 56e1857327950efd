//! Fetches descriptions of APIs: one GET request for public text, with limits for time and size.
//!
//! No credentials are sent, except by [`health`] to an mcpaql server. At most five redirects are followed, and never
//! from https to http or into a private network. Messages show addresses without their query, which may contain secrets.

use crate::outgoing::{ALLOW_HINT, GuardedResolver, OutgoingGuard, refused_host};
use crate::secret::Secret;
use futures_util::StreamExt;
use mcpaql_core::host::NetworkAccess;
use reqwest::header::LOCATION;
use std::error::Error as _;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;
use url::Url;

/// Maximum size of a description.
pub const MAX_FETCH_BYTES: usize = 64 << 20;
const TIMEOUT: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;

/// Why a text could not be fetched.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// The address is invalid.
    #[error("'{0}' is not an http or https URL")]
    Address(String),
    /// The connection failed, or broke before the end.
    #[error("cannot fetch {address}: {reason}")]
    Transport {
        /// The address without its query.
        address: String,
        /// The cause.
        reason: String,
    },
    /// The server answered with an error status.
    #[error("{address} answered {status}")]
    Status {
        /// The address without its query.
        address: String,
        /// The HTTP status.
        status: u16,
    },
    /// The text is larger than [`MAX_FETCH_BYTES`].
    #[error("{address} has more than {MAX_FETCH_BYTES} bytes")]
    TooLarge {
        /// The address without its query.
        address: String,
    },
    /// The answer is not text.
    #[error("{address} is not UTF-8 text")]
    NotText {
        /// The address without its query.
        address: String,
    },
    /// The address, or a redirect of it, leads to a host that is not public.
    #[error("cannot fetch {address}: {refused}")]
    Refused {
        /// The address without its query.
        address: String,
        /// The host, and why it was refused.
        refused: Box<dyn std::error::Error + Send + Sync>,
    },
    /// The answer is not a health report.
    #[error("{address} does not answer with a health report of mcpaql")]
    NotReport {
        /// The address without its query.
        address: String,
    },
}

impl FetchError {
    /// Returns what the operator can do.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            FetchError::Refused { .. } => ALLOW_HINT,
            _ => "check the URL, and that its server is running",
        }
    }
}

/// Returns an address without credentials, query and fragment, for messages.
#[must_use]
pub fn display_url(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// Fetches a text from an address that the operator typed. Returns it with its address after redirects. Redirects lead to
/// public hosts, to the host of the address, or to what `access` allows.
///
/// # Errors
/// When the text cannot be fetched, is too large or is not UTF-8.
pub async fn text(address: &str, access: &NetworkAccess) -> Result<(Url, String), FetchError> {
    let mut access = access.clone();
    access.grant_address(address);
    linked_text(address, &access).await
}

/// Fetches a text from an address that a description names: it grants nothing that `access` does not grant.
///
/// # Errors
/// When the text cannot be fetched, is too large or is not UTF-8.
pub async fn linked_text(address: &str, access: &NetworkAccess) -> Result<(Url, String), FetchError> {
    let access = NetworkAccess { is_fetched: true, ..access.clone() };
    read(address, OutgoingGuard::new(access), None).await
}

/// Fetches the health report of an mcpaql server. A server that serves no adapter (503) is a valid answer.
///
/// # Errors
/// When the server does not answer with a report.
pub async fn health(address: &str, token: Option<&Secret>) -> Result<serde_json::Value, FetchError> {
    parse(address)?;
    let address = format!("{}/healthz", address.trim_end_matches('/').trim_end_matches("/mcp"));
    let mut access = NetworkAccess::default();
    access.grant_address(&address);
    let (url, text) = read(&address, OutgoingGuard::new(access), Some(token)).await?;
    serde_json::from_str(&text).map_err(|_| FetchError::NotReport { address: display_url(&url) })
}

fn parse(address: &str) -> Result<Url, FetchError> {
    let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.ok_or_else(|| FetchError::Address(address.chars().take(200).collect()))
}

/// `server_token` is `Some` for a server of this program, with the token if it has one. Such a server does not redirect.
async fn read(
    address: &str,
    guard: OutgoingGuard,
    server_token: Option<Option<&Secret>>,
) -> Result<(Url, String), FetchError> {
    let first = parse(address)?;
    let shown = display_url(&first);
    let guard = Arc::new(guard);
    let transport = |error: reqwest::Error| match refused_host(&error) {
        Some(refused) => FetchError::Refused { address: shown.clone(), refused: refused.clone().into() },
        None => FetchError::Transport { address: shown.clone(), reason: root_cause(&error) },
    };
    let client = client(&guard).map_err(transport)?;
    let max_redirects = if server_token.is_some() { 0 } else { MAX_REDIRECTS };
    let mut url = first.clone();
    let mut redirects = 0;
    let response = loop {
        guard
            .check(&url, &first)
            .await
            .map_err(|refused| FetchError::Refused { address: shown.clone(), refused: refused.into() })?;
        let mut request = client.get(url.clone());
        if let Some(Some(token)) = server_token {
            request = request.bearer_auth(token.expose());
        }
        let response = request.send().await.map_err(transport)?;
        let Some(next) = redirect(&url, &response) else { break response };
        redirects += 1;
        let refusal = match next {
            _ if redirects > max_redirects => "too many redirects",
            None => "its redirect is not a URL",
            Some(next) if url.scheme() == "https" && next.scheme() != "https" => {
                "a redirect from https to http"
            }
            Some(next) if !matches!(next.scheme(), "http" | "https") => {
                "its redirect is neither http nor https"
            }
            Some(next) => {
                url = next;
                continue;
            }
        };
        return Err(FetchError::Transport { address: shown, reason: refusal.to_owned() });
    };
    let is_answer = server_token.is_some() && response.status() == reqwest::StatusCode::SERVICE_UNAVAILABLE;
    if !response.status().is_success() && !is_answer {
        return Err(FetchError::Status { address: shown, status: response.status().as_u16() });
    }
    let found = response.url().clone();
    let mut bytes = Vec::new();
    let mut body = response.bytes_stream();
    while let Some(chunk) = body.next().await {
        let chunk = chunk.map_err(transport)?;
        if bytes.len() + chunk.len() > MAX_FETCH_BYTES {
            return Err(FetchError::TooLarge { address: shown });
        }
        bytes.extend_from_slice(&chunk);
    }
    let text = String::from_utf8(bytes).map_err(|_| FetchError::NotText { address: shown })?;
    Ok((found, text))
}

/// Returns where a response redirects to: `None` if it does not, and an inner `None` if the address is invalid.
fn redirect(url: &Url, response: &reqwest::Response) -> Option<Option<Url>> {
    let location = response.headers().get(LOCATION).filter(|_| response.status().is_redirection())?;
    Some(std::str::from_utf8(location.as_bytes()).ok().and_then(|location| url.join(location).ok()))
}

fn client(guard: &Arc<OutgoingGuard>) -> reqwest::Result<reqwest::Client> {
    // Fails if a provider is already installed; any provider works.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let builder = || {
        reqwest::Client::builder()
            .user_agent(concat!("mcpaql/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .dns_resolver(Arc::new(GuardedResolver(Arc::clone(guard))))
    };
    // Without certificates, plain http addresses still work.
    builder().build().or_else(|_| builder().tls_certs_only([]).build())
}

/// Returns the innermost cause of a failed request, such as `connection refused`. It contains no address.
pub(crate) fn root_cause(error: &reqwest::Error) -> String {
    let Some(mut inner) = error.source() else { return error.to_string() };
    while let Some(cause) = inner.source() {
        inner = cause;
    }
    let text = inner.to_string();
    match inner.downcast_ref::<io::Error>().map(io::Error::kind) {
        Some(kind @ (ErrorKind::ConnectionRefused | ErrorKind::ConnectionReset | ErrorKind::TimedOut)) => {
            kind.to_string()
        }
        // The number of a system error says nothing that its text does not say.
        _ => text.split(" (os error").next().unwrap_or_default().to_owned(),
    }
}
