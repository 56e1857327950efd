//! Checks of a request before the protocol sees it: its headers, its token and its size.

use super::accept::SharedLimits;
use super::clients::{ClientAddress, LimitScope};
use super::login::{Login, Logins};
use crate::mcp::MAX_REQUEST_BYTES;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{Request, State};
use axum::http::header::{
    AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderName, ORIGIN, RETRY_AFTER, WWW_AUTHENTICATE,
};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::future::poll_fn;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// Headers that decide who may call what. A second one could reach a check that the first one passed.
const SINGLE: [HeaderName; 4] = [AUTHORIZATION, HOST, HeaderName::from_static("mcp-session-id"), ORIGIN];
/// How long a request waits while clients leave too many answers unread.
const UNSENT_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_SECONDS: u64 = 1;

/// Returns the address of a request's client.
pub(super) fn address_of(request: &Request) -> ClientAddress {
    let known = request.extensions().get().copied();
    known.unwrap_or_else(|| ClientAddress::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED)))
}

/// Refuses requests that two programs could read differently.
pub(super) async fn refuse_ambiguous(request: Request, next: Next) -> Response {
    match ambiguous(&request) {
        Some(problem) => (StatusCode::BAD_REQUEST, problem).into_response(),
        None => next.run(request).await,
    }
}

fn ambiguous(request: &Request) -> Option<String> {
    let headers = request.headers();
    if let Some(name) = SINGLE.iter().find(|name| headers.get_all(*name).iter().nth(1).is_some()) {
        return Some(format!("Bad Request: the header {name} occurs more than once\n"));
    }
    // HTTP/2, and requests to proxies, name the host a second time.
    let (authority, host) = (request.uri().authority()?, headers.get(HOST)?);
    let is_same = authority.as_str().as_bytes().eq_ignore_ascii_case(host.as_bytes());
    (!is_same).then(|| "Bad Request: the header host and the address of the request differ\n".to_owned())
}

/// Lets requests with a valid token pass, with the name of their caller.
pub(super) async fn authorize(
    State(logins): State<Arc<Logins>>,
    mut request: Request,
    next: Next,
) -> Response {
    if !logins.is_required() {
        return next.run(request).await;
    }
    let challenge = match logins.check(address_of(&request), request.headers()) {
        Login::Granted(name) => {
            // The token is only for this server. It must not reach upstreams, even if an adapter forwards headers.
            request.headers_mut().remove(AUTHORIZATION);
            if let Some(name) = name {
                request.extensions_mut().insert(name);
            }
            return next.run(request).await;
        }
        Login::Throttled(wait) => {
            let seconds = wait.as_secs().saturating_add(1);
            let advice = "Too many wrong tokens from this address; try again later.\n";
            return retry_later(StatusCode::TOO_MANY_REQUESTS, seconds, advice);
        }
        Login::Wrong => r#"Bearer realm="mcpaql", error="invalid_token""#,
        Login::Missing => r#"Bearer realm="mcpaql""#,
    };
    let advice = "Send the server's token in the header Authorization: Bearer <token>.\n";
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, challenge)], advice).into_response()
}

fn retry_later(status: StatusCode, seconds: u64, advice: &'static str) -> Response {
    (status, [(RETRY_AFTER, seconds.to_string())], advice).into_response()
}

/// Reads the body of a request, within the limits of size and time. Nothing is read if its declared length is too large.
pub(super) async fn read_body(
    State(shared): State<Arc<SharedLimits>>,
    request: Request,
    next: Next,
) -> Response {
    if request.method() != Method::POST {
        return next.run(request).await;
    }
    if declared_length(request.headers()).is_some_and(|length| length > MAX_REQUEST_BYTES as u64) {
        return too_large();
    }
    let mut bytes = shared.clients.begin_request(address_of(&request));
    let (parts, mut body) = request.into_parts();
    let reading = async {
        let mut received = Vec::new();
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
            let Ok(frame) = frame else {
                let advice = "Bad Request: the body of the request is incomplete or malformed\n";
                return Err((StatusCode::BAD_REQUEST, advice).into_response());
            };
            let Ok(data) = frame.into_data() else { continue };
            if received.len() + data.len() > MAX_REQUEST_BYTES {
                return Err(too_large());
            }
            bytes.add(data.len()).map_err(busy)?;
            received.extend_from_slice(&data);
        }
        Ok(Bytes::from(received))
    };
    let received = match timeout(shared.limits.body_timeout, reading).await {
        Ok(Ok(received)) => received,
        Ok(Err(refusal)) => return refusal,
        Err(_) => {
            let advice = "Request Timeout: the body of the request did not arrive in time\n";
            return (StatusCode::REQUEST_TIMEOUT, advice).into_response();
        }
    };
    if !has_room(&shared).await {
        return busy(LimitScope::Server);
    }
    let response = next.run(Request::from_parts(parts, Body::from(received))).await;
    drop(bytes);
    response
}

/// Waits until the clients have read enough of their answers.
async fn has_room(shared: &SharedLimits) -> bool {
    let most = shared.limits.unsent_bytes;
    if *shared.unsent.borrow() <= most {
        return true;
    }
    let mut unsent = shared.unsent.subscribe();
    timeout(UNSENT_TIMEOUT, unsent.wait_for(|bytes| *bytes <= most)).await.is_ok()
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn too_large() -> Response {
    let advice = format!("Payload Too Large: the body of a request may have {MAX_REQUEST_BYTES} bytes\n");
    (StatusCode::PAYLOAD_TOO_LARGE, advice).into_response()
}

fn busy(scope: LimitScope) -> Response {
    let advice = match scope {
        LimitScope::Address => {
            "Too many bytes of requests from this address are being processed; try again later.\n"
        }
        LimitScope::Server => "The server is busy; try again later.\n",
    };
    retry_later(StatusCode::SERVICE_UNAVAILABLE, RETRY_SECONDS, advice)
}
