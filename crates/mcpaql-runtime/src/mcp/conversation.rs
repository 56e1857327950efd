//! What clients of the revisions with a handshake expect over HTTP although no session is kept: that a later request can
//! cancel a running one or answer a question, and that a standing stream announces changes.
//!
//! A client is given a name for its conversation. It admits to nothing and no request needs it; it keeps apart the
//! request ids of different clients, so that one cannot cancel what another asked for or answer what another was asked, and it says
//! itself what the client declared that it can be asked for, so that nobody has to remember that.

use super::handler::McpServer;
use super::questions::{self, Abilities, Questions};
use super::{MAX_REQUEST_BYTES, malformed};
use crate::caller::AskError;
use crate::service::Service;
use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use rmcp::ErrorData;
use rmcp::model::{ClientCapabilities, Extensions, ProtocolVersion, RequestId, ServerJsonRpcMessage};
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const SESSION_HEADER: &str = "mcp-session-id";
const VERSION_HEADER: &str = "mcp-protocol-version";
const LIST_CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// Means nothing to anybody.
const EMPTY_NOTIFICATION: &str = r#"{"jsonrpc":"2.0","method":"notifications/nothing"}"#;
const UNKNOWN_QUESTION: &str = "No question with that id waits for an answer in this conversation: it was answered, its call has ended, or \
     it was never asked. Send the answer once, with the question's id and the Mcp-Session-Id of the call.";

/// What runs in conversations and what is asked there.
#[derive(Default)]
pub(super) struct Conversations {
    /// By what a cancellation names.
    running: Mutex<HashMap<RunningCallKey, CancellationToken>>,
    questions: Arc<Questions>,
}

type RunningCallKey = (String, RequestId);

impl Conversations {
    /// Enters a call; it stays as long as the guard lives.
    pub(super) fn register(self: &Arc<Self>, request: &Extensions, id: &RequestId) -> CancellableCall {
        let token = CancellationToken::new();
        let place = session_id_of(request).map(|name| (name.to_owned(), id.clone()));
        if let Some(place) = &place {
            self.lock().insert(place.clone(), token.clone());
        }
        CancellableCall { conversations: self.clone(), place, token }
    }

    fn cancel(&self, conversation: &str, id: RequestId) {
        if let Some(token) = self.lock().remove(&(conversation.to_owned(), id)) {
            token.cancel();
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunningCallKey, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call that its conversation may cancel.
pub(super) struct CancellableCall {
    conversations: Arc<Conversations>,
    place: Option<RunningCallKey>,
    token: CancellationToken,
}

impl CancellableCall {
    /// Completes when the conversation cancels the call.
    pub(super) async fn cancelled(&self) {
        self.token.cancelled().await;
    }
}

impl Drop for CancellableCall {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            self.conversations.lock().remove(place);
        }
    }
}

/// The conversation that a request belongs to, as it says.
pub(super) fn session_id_of(request: &Extensions) -> Option<&str> {
    session_id(&request.get::<Parts>()?.headers)
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_HEADER)?.to_str().ok()
}

/// A new name for the conversation with a client that can be asked for that.
fn new_session_id(abilities: Abilities) -> String {
    let letters = match abilities {
        Abilities { elicitation: true, sampling: true } => "-es",
        Abilities { elicitation: true, sampling: false } => "-e",
        Abilities { elicitation: false, sampling: true } => "-s",
        Abilities { elicitation: false, sampling: false } => "",
    };
    format!("{}{letters}", Uuid::now_v7().simple())
}

/// What a name is built on; `None` where it is none of ours.
pub(super) fn parse_session_id(name: &str) -> Option<Uuid> {
    let id = name.split_once('-').map_or(name, |(id, _)| id);
    Uuid::try_parse(id).ok()
}

/// What the client said in the handshake that the conversation began with; nothing where the name is none of ours.
fn abilities_of(name: &str) -> Abilities {
    let letters = parse_session_id(name).and_then(|_| name.split_once('-'));
    match letters.map(|(_, letters)| letters) {
        Some("es") => Abilities { elicitation: true, sampling: true },
        Some("e") => Abilities { elicitation: true, sampling: false },
        Some("s") => Abilities { elicitation: false, sampling: true },
        _ => Abilities::default(),
    }
}

/// As much of a message as decides what to do besides answering it.
#[derive(Deserialize, Default)]
struct ClientMessage {
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: ClientMessageParams,
    id: Option<RequestId>,
    result: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize, Default)]
struct ClientMessageParams {
    #[serde(rename = "requestId")]
    request_id: Option<RequestId>,
    #[serde(default)]
    capabilities: Value,
}

/// A JSON-RPC error.
#[derive(Deserialize)]
struct ClientRpcError {
    code: i32,
    message: String,
    data: Option<Value>,
}

impl ClientMessage {
    fn is_answer(&self) -> bool {
        self.method.is_empty() && (self.result.is_some() || self.error.is_some())
    }

    /// What it answers, and with what; `None` where it does not have the shape of an answer.
    fn answer(self) -> Option<(String, Result<Value, AskError>)> {
        let Some(RequestId::String(id)) = self.id else { return None };
        let answer = match (self.result, self.error) {
            (Some(result @ Value::Object(_)), None) => Ok(result),
            (None, Some(error)) => {
                let ClientRpcError { code, message, data } = serde_json::from_value(error).ok()?;
                Err(AskError::Error { code, message, data })
            }
            _ => return None,
        };
        Some((id.to_string(), answer))
    }
}

/// Acts only on what the protocol's own route has let pass, so that its checks of Host and Origin hold here too.
pub(super) async fn handle_conversation<S: Service>(
    State(server): State<McpServer<S>>,
    request: Request,
    next: Next,
) -> Response {
    let version = request.headers().get(VERSION_HEADER).and_then(|value| value.to_str().ok());
    let stateless = version.is_some_and(|version| version >= ProtocolVersion::NO_INITIALIZE.as_str());
    match *request.method() {
        Method::POST => handle_post((!stateless).then_some(server), request, next).await,
        _ if stateless => next.run(request).await,
        Method::GET => {
            let accepts = request.headers().get(ACCEPT).and_then(|value| value.to_str().ok());
            let streams = accepts.is_some_and(|types| types.contains("text/event-stream"));
            let response = next.run(request).await;
            let admitted = response.status() == StatusCode::METHOD_NOT_ALLOWED;
            (admitted && streams).then(|| change_stream(&server)).flatten().unwrap_or(response)
        }
        _ => next.run(request).await,
    }
}

/// `server` is there in the revisions with a handshake.
async fn handle_post<S: Service>(server: Option<McpServer<S>>, request: Request, next: Next) -> Response {
    let conversation = session_id(request.headers()).map(str::to_owned);
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_REQUEST_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let is_json =
        parts.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let message: ClientMessage = match &server {
        Some(_) => serde_json::from_slice(&body).unwrap_or_default(),
        None => ClientMessage::default(),
    };
    if let Some(server) = server.as_ref().filter(|_| message.is_answer()) {
        return take_answer(server.conversations(), conversation.as_deref(), message, parts, next).await;
    }
    let request = Request::from_parts(parts, Body::from(body.clone()));
    let able =
        conversation.as_deref().map(|name| (name, abilities_of(name))).filter(|(_, able)| able.is_any());
    let mut response = match (&server, able) {
        (Some(server), Some((name, able))) => {
            questions::answer_with_questions(
                Arc::clone(&server.conversations().questions),
                name,
                able,
                request,
                next,
            )
            .await
        }
        _ => next.run(request).await,
    };
    if is_json && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        return unreadable(&body);
    }
    let Some(server) = server else { return response };
    match (message.method.as_str(), response.status()) {
        ("initialize", StatusCode::OK) => {
            let declared = ClientCapabilities::deserialize(message.params.capabilities).unwrap_or_default();
            if let Ok(name) = HeaderValue::try_from(new_session_id(Abilities::from_capabilities(&declared))) {
                response.headers_mut().insert(SESSION_HEADER, name);
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

/// The client answers a question. The route has no use for that, but whether the client is let in is for it to say: it is asked
/// with news of the same sender that mean nothing.
async fn take_answer(
    conversations: &Conversations,
    conversation: Option<&str>,
    message: ClientMessage,
    mut parts: Parts,
    next: Next,
) -> Response {
    parts.headers.remove(CONTENT_LENGTH);
    let response = next.run(Request::from_parts(parts, Body::from(EMPTY_NOTIFICATION))).await;
    if response.status() != StatusCode::ACCEPTED {
        return response;
    }
    if let (Some(conversation), Some((id, answer))) = (conversation, message.answer())
        && conversations.questions.answer(conversation, &id, answer)
    {
        return response;
    }
    let refusal = ServerJsonRpcMessage::error(ErrorData::invalid_request(UNKNOWN_QUESTION, None), None);
    (StatusCode::BAD_REQUEST, Json(refusal)).into_response()
}

/// The library says of JSON that is no message that its media type is wrong, and quotes its parser.
fn unreadable(body: &[u8]) -> Response {
    match malformed::answer(body) {
        Some(answer) => (StatusCode::BAD_REQUEST, Json(answer)).into_response(),
        None => StatusCode::BAD_REQUEST.into_response(),
    }
}

/// A stream that says when the tools have changed; `None` for a service whose tools never do.
fn change_stream<S: Service>(server: &McpServer<S>) -> Option<Response> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_what_the_client_can_be_asked_for() {
        for (elicitation, sampling) in [(false, false), (false, true), (true, false), (true, true)] {
            let able = Abilities { elicitation, sampling };
            assert_eq!(abilities_of(&new_session_id(able)), able);
        }
        assert_ne!(new_session_id(Abilities::default()), new_session_id(Abilities::default()));
        for foreign in ["", "-es", "x-es", "0198c0de-es", "es"] {
            assert_eq!(abilities_of(foreign), Abilities::default(), "{foreign}");
        }
    }

    #[test]
    fn only_what_has_the_shape_of_an_answer_is_one() {
        let read = |text: &str| serde_json::from_str::<ClientMessage>(text).unwrap();
        for (text, is_whole) in [
            (r#"{"id":"a","result":{}}"#, true),
            (r#"{"id":"a","error":{"code":-1,"message":"no"}}"#, true),
            (r#"{"id":"a","error":{"code":"x"}}"#, false),
            (r#"{"id":"a","result":5}"#, false),
            (r#"{"id":0,"result":{}}"#, false),
            (r#"{"result":{}}"#, false),
            (r#"{"id":"a","result":{},"error":{"code":-1,"message":"no"}}"#, false),
        ] {
            let message = read(text);
            assert!(message.is_answer(), "{text}");
            assert_eq!(message.answer().is_some(), is_whole, "{text}");
        }
        for text in [r#"{"id":"a","method":"ping","result":{}}"#, r#"{"id":"a"}"#, "{}"] {
            assert!(!read(text).is_answer(), "{text}");
        }
    }
}
