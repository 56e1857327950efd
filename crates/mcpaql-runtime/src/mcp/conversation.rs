//! HTTP features for clients of MCP revisions with a handshake. A later request can cancel a running request or answer
//! a question, and a long-lived stream announces changes. The server keeps no sessions.
//!
//! A client gets a session id for its conversation. The id grants no access, and no request needs it. It has two uses.
//! It separates the request ids of different clients, so that one client cannot cancel the calls or answer the
//! questions of another. And it encodes which questions the client declared to support, so that the server does not
//! have to store them.

use super::client::{Abilities, ClientMailbox};
use super::handler::McpServer;
use super::questions::{self, Questions};
use super::subscriptions;
use super::{MAX_REQUEST_BYTES, malformed};
use crate::caller::{AskError, CallerName};
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
use futures_util::{StreamExt as _, stream};
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

/// A notification without meaning, accepted like any other.
const EMPTY_NOTIFICATION: &str = r#"{"jsonrpc":"2.0","method":"notifications/nothing"}"#;
const UNKNOWN_QUESTION: &str = "No question with this id is waiting for an answer in this conversation: it was answered, its call has ended, or \
     it was never asked. Send the answer once, with the question's id and the Mcp-Session-Id of the call.";

/// The running calls and open questions of all conversations.
#[derive(Default)]
pub(super) struct Conversations {
    /// By conversation and request id.
    running: Mutex<HashMap<RunningCallKey, CancellationToken>>,
    questions: Arc<Questions>,
}

type RunningCallKey = (String, RequestId);

impl Conversations {
    /// Registers a call until the guard is dropped.
    pub(super) fn register(self: &Arc<Self>, request: &Extensions, id: &RequestId) -> CancellableCall {
        let token = CancellationToken::new();
        let key = session_id_of(request).map(|session| (session.to_owned(), id.clone()));
        if let Some(key) = &key {
            self.lock().insert(key.clone(), token.clone());
        }
        CancellableCall { conversations: self.clone(), key, token }
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

/// A call that its client may cancel.
pub(super) struct CancellableCall {
    conversations: Arc<Conversations>,
    key: Option<RunningCallKey>,
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
        if let Some(key) = &self.key {
            self.conversations.lock().remove(key);
        }
    }
}

/// Returns whether a request arrived over HTTP.
pub(super) fn is_http(request: &Extensions) -> bool {
    request.get::<Parts>().is_some()
}

/// Returns the name of the token of a request.
pub(super) fn name_of(request: &Extensions) -> Option<CallerName> {
    request.get::<Parts>()?.extensions.get().cloned()
}

/// Returns the headers of a request.
pub(super) fn headers_of(request: &Extensions) -> Option<Arc<HeaderMap>> {
    request.get::<Parts>().map(|parts| Arc::new(parts.headers.clone()))
}

/// Returns the way to ask the client of a request, if it can be asked.
pub(super) fn mailbox_of(request: &Extensions) -> Option<&ClientMailbox> {
    request.get::<Parts>()?.extensions.get::<ClientMailbox>()
}

/// The session id of a request, as the client sent it.
pub(super) fn session_id_of(request: &Extensions) -> Option<&str> {
    session_id(&request.get::<Parts>()?.headers)
}

fn session_id(headers: &HeaderMap) -> Option<&str> {
    headers.get(SESSION_HEADER)?.to_str().ok()
}

/// Returns a new session id for a client with these abilities.
fn new_session_id(abilities: Abilities) -> String {
    let letters = [
        (abilities.elicitation, 'e'),
        (abilities.url_elicitation, 'u'),
        (abilities.sampling, 's'),
    ];
    let letters: String = letters.into_iter().filter(|(is_able, _)| *is_able).map(|(_, letter)| letter).collect();
    let separator = if letters.is_empty() { "" } else { "-" };
    format!("{}{separator}{letters}", Uuid::now_v7().simple())
}

/// Returns the UUID in a session id; `None` if this server did not issue it.
pub(super) fn parse_session_id(name: &str) -> Option<Uuid> {
    let id = name.split_once('-').map_or(name, |(id, _)| id);
    Uuid::try_parse(id).ok()
}

/// Returns the abilities that the client declared in its handshake; none if the session id is invalid.
fn abilities_of(session_id: &str) -> Abilities {
    let letters = parse_session_id(session_id).and_then(|_| session_id.split_once('-'));
    let has = |letter: char| letters.is_some_and(|(_, letters)| letters.contains(letter));
    Abilities { elicitation: has('e'), url_elicitation: has('u'), sampling: has('s') }
}

/// The parts of a message that this module needs.
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

    /// Returns the id of the question and its answer; `None` if the message is not a valid answer.
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

/// Acts only on requests that the protocol's own route has accepted, so that its checks of Host and Origin apply here
/// too.
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
            let conversation = session_id(request.headers()).unwrap_or_default().to_owned();
            let response = next.run(request).await;
            let admitted = response.status() == StatusCode::METHOD_NOT_ALLOWED;
            (admitted && streams).then(|| change_stream(server, conversation)).flatten().unwrap_or(response)
        }
        Method::DELETE => {
            let conversation = session_id(request.headers()).map(str::to_owned);
            let response = next.run(request).await;
            let admitted = response.status() == StatusCode::METHOD_NOT_ALLOWED;
            if let Some(conversation) = conversation.filter(|_| admitted) {
                server.subscriptions().remove_client(&conversation);
            }
            response
        }
        _ => next.run(request).await,
    }
}

/// `server` is `Some` in revisions with a handshake.
async fn handle_post<S: Service>(server: Option<McpServer<S>>, request: Request, next: Next) -> Response {
    let conversation = session_id(request.headers()).map(str::to_owned);
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_REQUEST_BYTES).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let is_json =
        parts.headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    if let Some(scan) = malformed::too_many_values(&body).filter(|_| is_json) {
        return (StatusCode::PAYLOAD_TOO_LARGE, Json(malformed::too_many(scan.id()))).into_response();
    }
    let message: ClientMessage = match &server {
        Some(_) => serde_json::from_slice(&body).unwrap_or_default(),
        None => ClientMessage::default(),
    };
    if let Some(server) = server.as_ref().filter(|_| message.is_answer()) {
        return take_answer(server.conversations(), conversation.as_deref(), message, parts, next).await;
    }
    if let Some(answer) = malformed::inexact_integer(&body).filter(|_| is_json) {
        return (StatusCode::BAD_REQUEST, Json(answer)).into_response();
    }
    let request = Request::from_parts(parts, Body::from(body.clone()));
    let abilities = conversation
        .as_deref()
        .map(|name| (name, abilities_of(name)))
        .filter(|(_, abilities)| abilities.is_any());
    let mut response = match (&server, abilities) {
        (Some(server), Some((name, abilities))) => {
            questions::answer_with_questions(
                Arc::clone(&server.conversations().questions),
                name,
                abilities,
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

/// Passes a client's answer to its question. The route does not accept answers, but it must decide whether the client
/// has access. So it gets an empty notification with the same headers.
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

/// The library reports invalid JSON as a wrong media type and quotes its parser; this sends a proper error.
fn unreadable(body: &[u8]) -> Response {
    match malformed::answer(body) {
        Some(answer) => (StatusCode::BAD_REQUEST, Json(answer)).into_response(),
        None => StatusCode::BAD_REQUEST.into_response(),
    }
}

/// A stream of notifications about changed tools, prompts and resources; `None` if the tools of the service never change.
fn change_stream<S: Service>(server: McpServer<S>, conversation: String) -> Option<Response> {
    let state = (server.changes()?, server.feature_changes(), server, conversation);
    let events =
        stream::unfold(state, |(mut changes, mut feature_changes, server, conversation)| async move {
            let closing = server.closing();
            let messages = tokio::select! {
                () = closing.cancelled() => return None,
                changed = changes.changed() => {
                    changed.ok()?;
                    vec![LIST_CHANGED.to_owned()]
                }
                missed = server.subscriptions().next_changes(&mut feature_changes, &conversation) => {
                    missed.iter().map(|change| subscriptions::notification(change).to_string()).collect()
                }
            };
            let events =
                messages.into_iter().map(|message| Ok::<_, Infallible>(Event::default().data(message)));
            Some((stream::iter(events), (changes, feature_changes, server, conversation)))
        })
        .flatten();
    Some(Sse::new(events).keep_alive(KeepAlive::default()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_encodes_the_abilities_of_its_client() {
        for bits in 0..8 {
            let abilities = Abilities {
                elicitation: bits & 1 != 0,
                url_elicitation: bits & 2 != 0,
                sampling: bits & 4 != 0,
            };
            assert_eq!(abilities_of(&new_session_id(abilities)), abilities);
        }
        assert_ne!(new_session_id(Abilities::default()), new_session_id(Abilities::default()));
        for foreign in ["", "-es", "x-es", "0198c0de-es", "es"] {
            assert_eq!(abilities_of(foreign), Abilities::default(), "{foreign}");
        }
    }

    #[test]
    fn only_valid_answers_are_accepted() {
        let read = |text: &str| serde_json::from_str::<ClientMessage>(text).unwrap();
        for (text, is_valid) in [
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
            assert_eq!(message.answer().is_some(), is_valid, "{text}");
        }
        for text in [r#"{"id":"a","method":"ping","result":{}}"#, r#"{"id":"a"}"#, "{}"] {
            assert!(!read(text).is_answer(), "{text}");
        }
    }
}
