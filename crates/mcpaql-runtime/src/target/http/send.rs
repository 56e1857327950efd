//! Sends one request, with credentials if allowed, and follows redirects that are safe.

use super::address::Network;
use super::headers::join_cookies;
use super::redirect::{self, Hop, RedirectDecision};
use super::request;
use super::style::{self, Pairs};
use crate::outgoing::{self, refused_host};
use crate::target::auth::Credentials;
use mcpaql_core::error::{Code, OpError};
use reqwest::header::{COOKIE, HeaderMap, HeaderValue};
use reqwest::{Method, Response, StatusCode};

/// Sends requests.
#[derive(Clone, Copy)]
pub(super) struct Sender<'a> {
    pub(super) network: &'a Network,
    pub(super) allow_http: bool,
    pub(super) credentials: &'a Credentials,
    /// Refuses redirects that leave the origin or change the method.
    pub(super) same_origin_only: bool,
}

/// A response, and the request that it belongs to.
pub(super) struct HttpReply {
    pub(super) method: Method,
    /// Whether the request had credentials.
    pub(super) with_credentials: bool,
    pub(super) response: Response,
}

/// Why there is no response.
pub(super) enum HttpRequestError {
    /// The connection failed before the head of a response arrived.
    Connection(reqwest::Error),
    Refused(OpError),
}

impl Sender<'_> {
    /// Sends a request and follows its redirects. Calls `on_status` with the status of each response.
    pub(super) async fn send(
        &self,
        mut hop: Hop<'_>,
        on_status: impl Fn(StatusCode),
    ) -> Result<HttpReply, HttpRequestError> {
        let base = hop.outgoing.url.clone();
        let guard = self.network.guard();
        if self.credentials.is_present() && !guard.gets_credentials(&base) {
            let error = outgoing::unapproved_host(base.host_str().unwrap_or_default());
            return Err(HttpRequestError::Refused(error));
        }
        for _ in 0..=redirect::MAX_HOPS {
            let checked = guard.check(&hop.outgoing.url, &base).await;
            checked.map_err(|refused| HttpRequestError::Refused(refused.to_op_error()))?;
            let request = authenticated_request(&hop, self.credentials).map_err(HttpRequestError::Refused)?;
            let http = self.network.client(&hop.outgoing.url).map_err(HttpRequestError::Refused)?;
            let sent = match &hop.outgoing.body {
                Some(body) => body.send(http, request).await,
                None => http.execute(request).await,
            };
            let response = sent.map_err(|error| match refused_host(&error) {
                Some(refused) => HttpRequestError::Refused(refused.to_op_error()),
                None => HttpRequestError::Connection(error),
            })?;
            let status = response.status();
            on_status(status);
            let decision =
                redirect::decide(&hop, status, response.headers(), self.allow_http, &self.credentials.mask);
            match decision {
                RedirectDecision::Final => {
                    return Ok(HttpReply {
                        method: hop.outgoing.method,
                        with_credentials: hop.with_credentials,
                        response,
                    });
                }
                RedirectDecision::Follow(next)
                    if self.same_origin_only && !(next.with_credentials && is_same_method(&hop, &next)) =>
                {
                    return Err(HttpRequestError::Refused(refused_redirect(
                        status,
                        "it leads to another origin",
                    )));
                }
                RedirectDecision::Follow(next) => hop = *next,
                RedirectDecision::Refuse(reason) => {
                    return Err(HttpRequestError::Refused(refused_redirect(status, reason)));
                }
            }
        }
        Err(HttpRequestError::Refused(refused_redirect(StatusCode::FOUND, "too many redirects")))
    }
}

fn is_same_method(hop: &Hop<'_>, next: &Hop<'_>) -> bool {
    hop.outgoing.method == next.outgoing.method
}

/// The request of a hop without its body, with credentials if they are allowed.
fn authenticated_request(hop: &Hop<'_>, credentials: &Credentials) -> Result<reqwest::Request, OpError> {
    let mut url = hop.outgoing.url.clone();
    let mut headers = hop.outgoing.headers.clone();
    if hop.with_credentials {
        let cookies = cookies(&hop.outgoing.headers, credentials);
        headers.extend(credentials.headers.clone());
        if let Some(cookies) = cookies? {
            headers.insert(COOKIE, cookies);
        }
        for (name, key) in &credentials.query {
            // A redirect may have kept it.
            if !url.query_pairs().any(|(given, _)| given == name.as_str()) {
                let mut query = Pairs::query(url.query().unwrap_or_default().to_owned());
                query.push(&style::encode(name), &style::encode(key.expose()));
                url.set_query(Some(&query.into_text()));
            }
        }
    }
    let mut request = reqwest::Request::new(hop.outgoing.method.clone(), url);
    *request.headers_mut() = headers;
    Ok(request)
}

/// The header with all cookies: of parameters, of the target and of the credentials. `None` if the credentials have
/// none.
fn cookies(outgoing: &HeaderMap, credentials: &Credentials) -> Result<Option<HeaderValue>, OpError> {
    let own = credentials.headers.get(COOKIE);
    if own.is_none() && credentials.cookies.is_empty() {
        return Ok(None);
    }
    let mut cookies = String::new();
    for value in [outgoing.get(COOKIE), own].into_iter().flatten() {
        join_cookies(&mut cookies, &String::from_utf8_lossy(value.as_bytes()));
    }
    for (name, secret) in &credentials.cookies {
        join_cookies(&mut cookies, &format!("{name}={}", secret.expose()));
    }
    let mut value = HeaderValue::try_from(cookies).map_err(|_| {
        request::unusable_document().with_cause("the cookie of the credentials is not a valid header value")
    })?;
    value.set_sensitive(true);
    Ok(Some(value))
}

fn refused_redirect(status: StatusCode, reason: &'static str) -> OpError {
    let number = status.as_u16();
    OpError::new(
        Code::Internal,
        format!("The API answered {number} with an unsafe redirect; tell the operator to check the address."),
    )
    .with_detail("upstream", serde_json::json!({ "status": number }))
    .with_cause(reason)
}
