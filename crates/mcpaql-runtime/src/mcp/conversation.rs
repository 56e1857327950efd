//! What clients of the revisions with a handshake expect over HTTP although no session is kept: that a later request can
//! cancel a running one, and that a standing stream announces changes.
//!
//! A client is given an identifier for its conversation. It admits to nothing and no request needs it; it only keeps
//! apart the request ids of different clients, so that one cannot cancel what another asked for.

use super::handler::Server;
use super::{MAX_REQUEST_BYTES, Service, malformed};
use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::{
    HeaderMap, HeaderValue, Method, StatusCode, header::ACCEPT, header::CONTENT_TYPE, request::Parts,
};
use axum::middleware::Next;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use rmcp::model::{Extensions, ProtocolVersion, RequestId};
use serde::Deserialize;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const CONVERSATION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
const LIST_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// The running calls of conversations, by what a cancellation names.
#[derive(Default)]
pub(super) struct Conversations {
    running: Mutex<HashMap<Place, CancellationToken>>,
}

type Place = (String, RequestId);

impl Conversations {
    /// Enters a call; it stays as long as the guard lives.
    pub(super) fn enter(self: &Arc<Self>, request: &Extensions, id: &RequestId) -> Running {
        let token = CancellationToken::new();
        let conversation = request.get::<Parts>().and_then(|parts| conversation(&parts.headers));
        let place = conversation.map(|name| (name.to_owned(), id.clone()));
        if let Some(place) = &place {
            self.lock().insert(place.clone(), token.clone());
        }
        Running { conversations: self.clone(), place, token }
    }

    fn cancel(&self, conversation: &str, id: RequestId) {
        if let Some(token) = self.lock().remove(&(conversation.to_owned(), id)) {
            token.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Place, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that its conversation may cancel.
pub(super) struct Running {
    conversations: Arc<Conversations>,
    place: Option<Place>,
    token: CancellationToken,
}

impl Running {
    /// Completes when the conversation cancels the call.
    pub(super) async fn cancelled(&self) {
        self.token.cancelled().await;
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            self.conversations.lock().remove(place);
        }
    }
}

fn conversation(headers: &HeaderMap) -> Option<&str> {
    headers.get(CONVERSATION)?.to_str().ok()
}

/// As much of a message as decides what to do besides answering it.
#[derive(Deserialize, Default)]
struct Message {
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Params,
}

#[derive(Deserialize, Default)]
struct Params {
    #[serde(rename = "requestId")]
    request_id: Option<RequestId>,
}

/// Acts only on what the protocol's own route has let pass, so that its checks of Host and Origin hold here too.
pub(super) async fn converse<S: Service>(
    State(server): State<Server<S>>,
    request: Request,
    next: Next,
) -> Response {
    let version = request.headers().get(VERSION).and_then(|value| value.to_str().ok());
    let stateless = version.is_some_and(|version| version >= ProtocolVersion::NO_INITIALIZE.as_str());
    match *request.method() {
        Method::POST => post((!stateless).then_some(server), request, next).await,
        _ if stateless => next.run(request).await,
        Method::GET => {
            let accepts = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
            let streams = accepts.is_some_and(|types| types.contains("text/event-stream"));
            let response = next.run(request).await;
            let admitted = response.status() == StatusCode::METHOD_NOT_ALLOWED;
            (admitted && streams).then(|| announcements(&server)).flatten().unwrap_or(response)
        }
        _ => next.run(request).await,
    }
}

/// `server` is there in the revisions with a handshake.
async fn post<S: Service>(server: Option<Server<S>>, request: Request, next: Next) -> Response {
    let conversation = conversation(request.headers()).map(str::to_owned);
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_REQUEST_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let is_json =
        parts.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let mut response = next.run(Request::from_parts(parts, Body::from(body.clone()))).await;
    if is_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return unreadable(&body);
    }
    let Some(server) = server else { return response };
    let message: Message = serde_json::from_slice(&body).unwrap_or_default();
    match (message.method.as_str(), response.status()) {
        ("initialize", StatusCode::OK) => {
            if let Ok(name) = HeaderValue::try_from(Uuid::now_v7().to_string()) {
                response.headers_mut().insert(CONVERSATION, name);
            }
        }
        ("notifications/cancelled", StatusCode::ACCEPTED) => {
            if let (Some(conversation), Some(id)) = (conversation, message.params.request_id) {
                server.conversations().cancel(&conversation, id);
            }
        }
        _ => {}
    }
    response
}

/// The library says of JSON that is no message that its media type is wrong, and quotes its parser.
fn unreadable(body: &[u8]) -> Response {
    match malformed::answer(body) {
        Some(answer) => (StatusCode::BAD_REQUEST, Json(answer)).into_response(),
        None => StatusCode::BAD_REQUEST.into_response(),
    }
}

/// A stream that says when the tools have changed; `None` for a service whose tools never do.
fn announcements<S: Service>(server: &Server<S>) -> Option<Response> {
    let state = (server.changes()?, server.closing());
    let events = stream::unfold(state, |(mut changes, closing)| async move {
        tokio::select! {
            () = closing.cancelled() => None,
            changed = changes.changed() => {
                changed.ok()?;
                Some((Ok::<_, Infallible>(Event::default().data(LIST_CHANGED)), (changes, closing)))
            }
        }
    });
    Some(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}
