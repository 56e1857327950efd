//! Fetching a description of an API: one GET, bounded in time and size, of public text.
//!
//! No credentials are sent (but for [`health`], to a server of this program), redirects are followed a little and never from https to http, and an address is shown
//! without what may stand in its query.

use crate::secret::Secret;
use futures_util::StreamExt;
use std::time::Duration;
use url::Url;

/// The largest description that is fetched.
pub const MAX_FETCH_BYTES: usize = 64 << 20;
const TIMEOUT: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 5;

/// Why there is no text.
#[derive(Debug, thiserror::Error)]
pub enum FetchError {
    /// Not an address.
    #[error("'{0}' is not an http or https address")]
    Address(String),
    /// Nobody answered, or not to the end.
    #[error("cannot fetch {address}: {reason}")]
    Transport {
        /// Without its query.
        address: String,
        /// What happened.
        reason: String,
    },
    /// The answer was no.
    #[error("{address} answered {status}")]
    Status {
        /// Without its query.
        address: String,
        /// The HTTP status.
        status: u16,
    },
    /// More than a description has.
    #[error("{address} has more than {MAX_FETCH_BYTES} bytes")]
    TooLarge {
        /// Without its query.
        address: String,
    },
    /// Not text.
    #[error("{address} is not UTF-8 text")]
    NotText {
        /// Without its query.
        address: String,
    },
}

/// An address as people may see it: without credentials, query and fragment.
#[must_use]
pub fn display_url(url: &Url) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_query(None);
    url.set_fragment(None);
    url.into()
}

/// The text behind an address, and the address it was found at in the end.
///
/// # Errors
/// When there is none, or it is too large or not text.
pub async fn text(address: &str) -> Result<(Url, String), FetchError> {
    read(address, None).await
}

/// What a server of this program says of itself; one that serves nothing answers too.
///
/// # Errors
/// When there is no answer.
pub async fn health(address: &str, token: Option<&Secret>) -> Result<serde_json::Value, FetchError> {
    let address = format!("{}/healthz", address.trim_end_matches('/').trim_end_matches("/mcp"));
    let (url, text) = read(&address, Some(token)).await?;
    serde_json::from_str(&text).map_err(|_| FetchError::NotText { address: display_url(&url) })
}

/// `asked` holds the token where another server of this program is asked.
async fn read(address: &str, asked: Option<Option<&Secret>>) -> Result<(Url, String), FetchError> {
    let url = Url::parse(address).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    let url = url.ok_or_else(|| FetchError::Address(address.chars().take(200).collect()))?;
    let shown = display_url(&url);
    let transport = |error: reqwest::Error| FetchError::Transport {
        address: shown.clone(),
        reason: reason(error.without_url()),
    };
    let mut request = client().map_err(transport)?.get(url);
    if let Some(Some(token)) = asked {
        request = request.bearer_auth(token.expose());
    }
    let response = request.send().await.map_err(transport)?;
    let is_answer = asked.is_some() && response.status() == reqwest::StatusCode::SERVICE_UNAVAILABLE;
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

fn client() -> reqwest::Result<reqwest::Client> {
    // Fails when a provider is installed already: either will do.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let redirects = reqwest::redirect::Policy::custom(|attempt| {
        let downgraded = attempt.url().scheme() != "https"
            && attempt.previous().iter().any(|before| before.scheme() == "https");
        if downgraded {
            attempt.error("a redirect from https to http")
        } else if attempt.previous().len() > MAX_REDIRECTS {
            attempt.error("too many redirects")
        } else {
            attempt.follow()
        }
    });
    let builder = || {
        reqwest::Client::builder()
            .user_agent(concat!("mcpaql/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(TIMEOUT)
    };
    // A machine without certificates can still reach a plain address.
    let plain = || builder().tls_certs_only([]).build();
    builder().redirect(redirects).build().or_else(|_| plain())
}

/// What went wrong, innermost last, without addresses.
fn reason(error: reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(inner) = source {
        text = inner.to_string();
        source = inner.source();
    }
    text
}
