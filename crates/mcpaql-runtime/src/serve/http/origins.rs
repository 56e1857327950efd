//! Browser origins: which may call the server, and the answers that tell browsers so (CORS).
//!
//! What always holds: only an allowed origin gets headers that let its pages read answers.

use super::ServeError;
use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use url::Url;

pub(super) const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

const METHODS: &str = "GET, POST, DELETE, OPTIONS";
/// Headers that clients send; `mcp-param-*` and other `mcp-*` headers are added on request.
const HEADERS: &str = "accept, authorization, content-type, last-event-id, mcp-method, mcp-name, mcp-protocol-version, mcp-session-id";
const EXPOSED: &str = "mcp-protocol-version, mcp-session-id, retry-after, www-authenticate";
/// How long a browser may remember the answer to a preflight, in seconds.
const MAX_AGE: &str = "3600";
/// Maximum number of further headers in the answer to a preflight.
const MAX_REQUESTED_HEADERS: usize = 32;

/// The allowed origins of a server, each with its port or with `*` for any port.
#[derive(Debug, Clone)]
pub(super) struct AllowedOrigins(Vec<String>);

impl AllowedOrigins {
    /// Allows the loopback origins and these.
    ///
    /// # Errors
    /// When an entry is not an origin.
    pub(super) fn new(entries: &[String]) -> Result<AllowedOrigins, ServeError> {
        let loopback =
            LOOPBACK.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
        let mut origins: Vec<String> = loopback.collect();
        for entry in entries {
            origins.push(pattern(entry).ok_or_else(|| ServeError::Origin(entry.clone()))?);
        }
        Ok(AllowedOrigins(origins))
    }

    pub(super) fn patterns(&self) -> Vec<String> {
        self.0.clone()
    }

    fn allows(&self, origin: &str) -> bool {
        // A value that is not a bare origin, such as one with a path, is no origin of a browser.
        let Some(exact) = pattern(origin).filter(|exact| !exact.ends_with(":*")) else { return false };
        let any_port = exact.rsplit_once(':').map(|(base, _)| format!("{base}:*"));
        self.0.iter().any(|allowed| *allowed == exact || any_port.as_ref() == Some(allowed))
    }
}

/// Returns an origin with an explicit port, so that it never allows any port by accident.
fn pattern(entry: &str) -> Option<String> {
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

/// Answers preflights of browsers, and lets pages of allowed origins read the answers to their requests.
pub(super) async fn share(
    State(origins): State<Arc<AllowedOrigins>>,
    request: Request,
    next: Next,
) -> Response {
    let allowed = request
        .headers()
        .get(ORIGIN)
        .filter(|origin| origin.to_str().is_ok_and(|origin| origins.allows(origin)))
        .cloned();
    let is_preflight = request.method() == Method::OPTIONS
        && request.headers().contains_key(ORIGIN)
        && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match (&allowed, is_preflight) {
        (Some(_), true) => preflight(request.headers()),
        (None, true) => (StatusCode::FORBIDDEN, "Forbidden: Origin header is not allowed\n").into_response(),
        (_, false) => next.run(request).await,
    };
    let headers = response.headers_mut();
    headers.append(VARY, HeaderValue::from_static("origin"));
    if let Some(origin) = allowed {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(EXPOSED));
    }
    response
}

fn preflight(request: &HeaderMap) -> Response {
    let requested = request.get(ACCESS_CONTROL_REQUEST_HEADERS).and_then(|value| value.to_str().ok());
    let further = requested
        .unwrap_or_default()
        .split(',')
        .filter_map(|name| HeaderName::try_from(name.trim()).ok())
        .filter(|name| name.as_str().starts_with("mcp-") && !HEADERS.contains(name.as_str()))
        .take(MAX_REQUESTED_HEADERS);
    let mut allowed = HEADERS.to_owned();
    for name in further {
        allowed.push_str(", ");
        allowed.push_str(name.as_str());
    }
    let mut headers = HeaderMap::new();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static(METHODS));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    if let Ok(allowed) = HeaderValue::try_from(allowed) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, allowed);
    }
    (StatusCode::NO_CONTENT, headers).into_response()
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
            assert_eq!(pattern(entry).as_deref(), expected, "{entry}");
        }
    }

    #[test]
    fn only_allowed_origins_match() {
        let entries = ["https://app.example.com".to_owned(), "https://any.example.com:*".to_owned()];
        let origins = AllowedOrigins::new(&entries).unwrap();
        for allowed in [
            "http://localhost:5173",
            "https://127.0.0.1",
            "http://[::1]:1",
            "https://app.example.com",
            "https://app.example.com:443",
            "https://any.example.com:9",
        ] {
            assert!(origins.allows(allowed), "{allowed}");
        }
        for refused in [
            "null",
            "http://app.example.com",
            "https://app.example.com:8443",
            "https://localhost.example.com",
            "https://any.example.com:*",
            "https://app.example.com/path",
            "",
            "nonsense",
        ] {
            assert!(!origins.allows(refused), "{refused}");
        }
    }
}
