//! Decides which redirects are followed, and what is sent with them.
//!
//! What always holds:
//! - Credentials, headers and body of a call stay with its origin. After a call has left its origin they are never
//!   sent again, not even if it returns.
//! - A redirect never goes from `https` to `http`. Its host is checked like that of a first request.
//! - A redirect never repeats a write at another origin.

use super::request::OutgoingRequest;
use crate::secret::Mask;
use mcpaql_core::host;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, LOCATION};
use reqwest::{Method, StatusCode};
use url::{Host, Url};

/// Maximum redirects of one call.
pub(super) const MAX_HOPS: usize = 5;

/// One request of a call: the first one, or the target of a redirect.
#[derive(Debug, Clone)]
pub(super) struct Hop<'a> {
    pub(super) outgoing: OutgoingRequest<'a>,
    /// Whether the request carries credentials.
    pub(super) with_credentials: bool,
}

/// The decision about a response.
#[derive(Debug)]
pub(super) enum RedirectDecision<'a> {
    /// The response is not a redirect.
    Final,
    /// Follow the redirect with this request.
    Follow(Box<Hop<'a>>),
    /// Do not follow the redirect; the reason is for the log.
    Refuse(&'static str),
}

/// Decides whether a response is a redirect to follow.
pub(super) fn decide<'a>(
    hop: &Hop<'a>,
    status: StatusCode,
    headers: &HeaderMap,
    allow_http: bool,
    mask: &Mask,
) -> RedirectDecision<'a> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return RedirectDecision::Final;
    }
    let Some(location) = headers.get(LOCATION).and_then(|value| std::str::from_utf8(value.as_bytes()).ok())
    else {
        return RedirectDecision::Refuse("no usable location");
    };
    let from = &hop.outgoing.url;
    let Ok(mut to) = from.join(location) else {
        return RedirectDecision::Refuse("the location is not a URL");
    };
    to.set_fragment(None);
    if let Err(reason) = check_redirect(from, &to, allow_http) {
        return RedirectDecision::Refuse(reason);
    }
    let same_origin = to.origin() == from.origin();
    if !same_origin && mask.contains_secret(to.as_str()) {
        return RedirectDecision::Refuse("the location would send a credential to another origin");
    }
    let is_read = matches!(hop.outgoing.method, Method::GET | Method::HEAD);
    let becomes_get = status == StatusCode::SEE_OTHER && hop.outgoing.method != Method::HEAD;
    if !is_read && !becomes_get {
        if !matches!(status.as_u16(), 307 | 308) {
            return RedirectDecision::Refuse("a write is not repeated as another request");
        }
        if !same_origin {
            return RedirectDecision::Refuse("a write is not sent to another origin");
        }
    }
    let with_credentials = hop.with_credentials && same_origin;
    let outgoing = next(&hop.outgoing, to, becomes_get, with_credentials);
    RedirectDecision::Follow(Box::new(Hop { outgoing, with_credentials }))
}

fn next<'a>(
    from: &OutgoingRequest<'a>,
    url: Url,
    becomes_get: bool,
    same_origin: bool,
) -> OutgoingRequest<'a> {
    let mut next = OutgoingRequest { url, ..from.clone() };
    if becomes_get {
        next.method = Method::GET;
        next.body = None;
        next.headers.remove(CONTENT_TYPE);
    }
    if !same_origin {
        next.body = None;
        let accept = next.headers.remove(ACCEPT);
        next.headers.clear();
        next.headers.extend(accept.map(|value| (ACCEPT, value)));
    }
    next
}

fn check_redirect(from: &Url, to: &Url, allow_http: bool) -> Result<(), &'static str> {
    if !to.username().is_empty() || to.password().is_some() {
        return Err("the location contains user information");
    }
    match to.scheme() {
        "https" => {}
        "http" if from.scheme() == "https" => return Err("https to http"),
        "http" if allow_http || is_loopback(to) => {}
        "http" => return Err("plain http to another machine"),
        _ => return Err("neither http nor https"),
    }
    Ok(())
}

/// Returns whether the host is this machine.
pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => host::is_loopback_host(name),
        Some(Host::Ipv4(ip)) => host::is_loopback_ip(ip.into()),
        Some(Host::Ipv6(ip)) => host::is_loopback_ip(ip.into()),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    fn hop(method: Method, url: &str) -> Hop<'static> {
        let headers =
            [(ACCEPT, HeaderValue::from_static("*/*")), (CONTENT_TYPE, HeaderValue::from_static("x/y"))];
        let headers = headers.into_iter().collect();
        let outgoing =
            OutgoingRequest { method, url: Url::parse(url).unwrap(), headers, body: Some("b".into()) };
        Hop { outgoing, with_credentials: true }
    }

    fn go<'a>(hop: &Hop<'a>, status: u16, to: &str) -> Result<Hop<'a>, &'static str> {
        let headers = [(LOCATION, HeaderValue::from_str(to).unwrap())].into_iter().collect();
        let mut mask = Mask::default();
        mask.add("s3cret!");
        match decide(hop, StatusCode::from_u16(status).unwrap(), &headers, false, &mask) {
            RedirectDecision::Follow(hop) => Ok(*hop),
            RedirectDecision::Refuse(reason) => Err(reason),
            RedirectDecision::Final => panic!("{status} is a redirect"),
        }
    }

    #[test]
    fn only_the_own_origin_keeps_headers_and_trust() {
        let start = hop(Method::GET, "https://api.example/a/b?x=1");
        let same = go(&start, 302, "../c?y=2#z").unwrap();
        assert_eq!(same.outgoing.url.as_str(), "https://api.example/c?y=2");
        assert!(same.with_credentials && same.outgoing.headers.contains_key(CONTENT_TYPE));
        for other in ["https://cdn.example/f", "//cdn.example/f", "https://api.example:8443/f"] {
            let other = go(&start, 302, other).unwrap();
            assert!(!other.with_credentials && other.outgoing.body.is_none());
            assert_eq!(other.outgoing.headers.keys().collect::<Vec<_>>(), [ACCEPT]);
            let back = go(&other, 302, "https://api.example/admin").unwrap();
            assert!(!back.with_credentials, "credentials are not sent again");
        }
    }

    #[test]
    fn hostile_locations_are_refused() {
        let start = hop(Method::GET, "https://api.example/a");
        for to in [
            "http://api.example/a",
            "ftp://api.example/a",
            "file:///etc/passwd",
            "https://user:word@api.example/",
            "https://evil.example/?k=s3cret%21",
            "https://",
        ] {
            assert!(go(&start, 302, to).is_err(), "{to}");
        }
        assert!(go(&hop(Method::GET, "http://127.0.0.1/a"), 302, "http://api.example/").is_err());
    }

    #[test]
    fn writes_are_repeated_only_with_307_and_308_on_the_own_origin() {
        let post = hop(Method::POST, "https://api.example/a");
        for status in [301, 302] {
            assert!(go(&post, status, "/b").is_err());
        }
        for status in [307, 308] {
            let repeated = go(&post, status, "/b").unwrap().outgoing;
            assert_eq!((repeated.method, repeated.body.is_some()), (Method::POST, true));
            assert!(go(&post, status, "https://other.example/b").is_err());
        }
        let see = go(&post, 303, "/b").unwrap().outgoing;
        assert_eq!(
            (see.method, see.body.is_none(), see.headers.get(CONTENT_TYPE)),
            (Method::GET, true, None)
        );
        assert_eq!(
            go(&hop(Method::HEAD, "https://api.example/a"), 303, "/b").unwrap().outgoing.method,
            Method::HEAD
        );
    }
}
