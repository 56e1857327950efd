//! An MCP server over streamable HTTP: every message to the server is a POST, and every answer is JSON or a stream of
//! events.
//!
//! What always holds: credentials are sent only to the origin that the document names; no more than the size limit of
//! an answer is held; only a request that was refused before it ran (401, an unknown session) is sent again, and a call
//! with an effect only if the refusal is certain.

use super::calls::Calls;
use super::error::{CallEffect, CallFailure, UpstreamError, UpstreamSetupError};
use super::message::STATELESS_REVISION;
use super::sse::{SseEvent, SseParser};
use crate::environment::Environment;
use crate::protocol::{IdScan, RpcError};
use crate::secret::Mask;
use crate::target::auth::EnvLookup;
use crate::target::http::endpoint::{self, EndpointResponse, HeaderOverrides, HttpEndpoint, SendError};
use bytes::Bytes;
use indexmap::IndexMap;
use mcpaql_core::adapter::Auth;
use mcpaql_core::error::OpError;
use mcpaql_core::host::NetworkAccess;
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, StatusCode};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use url::Url;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// How long a notification, or the end of a session, may take to be sent.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(10);
/// The delay before a stream is resumed, unless the server requests another one.
const DEFAULT_RETRY_DELAY: Duration = Duration::from_secs(1);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(30);
/// Maximum number of resumptions of a stream before its answer arrives.
const MAX_RESUMES: usize = 1000;
/// Generous allowance for the parts of a message around the content of an answer.
const MESSAGE_OVERHEAD_BYTES: usize = 64 * 1024;

/// The HTTP endpoint of a server, for one conversation.
pub(super) struct McpEndpoint {
    http: Arc<HttpEndpoint>,
    limit: usize,
    name: String,
    session: Mutex<Option<HeaderValue>>,
    version: OnceLock<HeaderValue>,
    initialized: Notify,
    /// The headers that a caller sends instead of the adapter's.
    overrides: Arc<HeaderOverrides>,
    /// The mask of the last request.
    mask: Mutex<Mask>,
}

impl fmt::Debug for McpEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpEndpoint").field("name", &self.name).finish_non_exhaustive()
    }
}

impl McpEndpoint {
    pub(super) fn new(
        url: &str,
        headers: &IndexMap<String, String>,
        (allow_http, access): (bool, &NetworkAccess),
        auth: &Auth,
        environment: &Environment,
        limit: usize,
    ) -> Result<McpEndpoint, UpstreamSetupError> {
        let environment = Arc::clone(environment);
        let env = EnvLookup::new(move |name| environment(name));
        let http = HttpEndpoint::new(url, headers, allow_http, access, auth, env)?;
        let host = Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
        let name = host.unwrap_or_else(|| "remote".to_owned());
        Ok(McpEndpoint::of(Arc::new(http), limit, name, Arc::default()))
    }

    fn of(
        http: Arc<HttpEndpoint>,
        limit: usize,
        name: String,
        overrides: Arc<HeaderOverrides>,
    ) -> McpEndpoint {
        let (session, version, initialized) = (Mutex::new(None), OnceLock::new(), Notify::new());
        let mask = Mutex::new(overrides.mask.clone());
        McpEndpoint { http, limit, name, session, version, initialized, overrides, mask }
    }

    /// Returns this endpoint for a new conversation.
    pub(super) fn for_new_session(&self) -> McpEndpoint {
        McpEndpoint::of(Arc::clone(&self.http), self.limit, self.name.clone(), Arc::clone(&self.overrides))
    }

    /// Returns this endpoint for a caller.
    pub(super) fn with_overrides(&self, overrides: HeaderOverrides) -> McpEndpoint {
        McpEndpoint::of(Arc::clone(&self.http), self.limit, self.name.clone(), Arc::new(overrides))
    }

    /// The name to use before the server has sent its own.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The mask for texts of the server.
    pub(super) fn mask(&self) -> Mask {
        self.mask.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the protocol revision for all further requests.
    pub(super) fn set_version(&self, version: &str) {
        if let Ok(version) = HeaderValue::from_str(version) {
            let _ = self.version.set(version);
        }
    }

    /// Marks the handshake as complete.
    pub(super) fn mark_initialized(&self) {
        self.initialized.notify_one();
    }

    fn is_stateless(&self) -> bool {
        self.version.get().is_some_and(|version| version.as_bytes() >= STATELESS_REVISION.as_bytes())
    }

    fn session(&self) -> Option<HeaderValue> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn headers(&self, accept: &'static str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        headers.extend(self.session().map(|session| (SESSION, session)));
        headers.extend(self.version.get().map(|version| (VERSION, version.clone())));
        headers
    }

    async fn post(
        &self,
        line: String,
        method: Option<&str>,
        name: Option<&str>,
    ) -> Result<EndpointResponse, SendError> {
        let mut headers = self.headers("application/json, text/event-stream");
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.is_stateless() {
            let names = [(METHOD, method), (NAME, name)];
            headers.extend(
                names.into_iter().filter_map(|(key, text)| Some((key, HeaderValue::from_str(text?).ok()?))),
            );
        }
        let reply = self.http.send(Method::POST, headers, Some(Bytes::from(line)), &self.overrides).await?;
        *self.mask.lock().unwrap_or_else(PoisonError::into_inner) = reply.mask.clone();
        Ok(reply)
    }

    /// Sends a request and reads until its answer arrives.
    pub(super) async fn exchange(
        &self,
        line: String,
        id: u64,
        method: &str,
        name: Option<&str>,
        calls: &Calls,
    ) -> Result<(), CallFailure> {
        let known = self.session();
        let reply =
            self.post(line, Some(method), name).await.map_err(|error| self.connection_error(error, calls))?;
        let status = reply.response.status();
        if !status.is_success() {
            let (body, error) = endpoint::read_refusal(reply).await;
            if known.is_some() && is_session_lost(status, &body) {
                let expired = unavailable(calls, "no longer knows the session", None);
                calls.refuse_new_calls(expired.clone());
                let effect = match status {
                    StatusCode::NOT_FOUND => CallEffect::None,
                    _ => CallEffect::Unlikely,
                };
                return Err(CallFailure { error: expired, effect });
            }
            return Err(self.error_response(&body, error, calls).into());
        }
        if let Some(session) = reply.response.headers().get(SESSION).filter(|_| method == "initialize") {
            *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.clone());
        }
        let is_stream = is_stream(reply.response.headers());
        if is_stream {
            self.follow(reply, id, calls).await?;
        } else {
            self.read(reply, id, calls).await?;
        }
        if !calls.is_waiting(id) {
            return Ok(());
        }
        if !is_stream && matches!(method, "initialize" | "server/discover") {
            // A web page, for example.
            let reason = "its answer to the handshake is not a JSON-RPC message";
            return Err(UpstreamError::NotMcp { server: calls.server(), reason }.into());
        }
        Err(unavailable(calls, "ended its answer before it was complete", None).into())
    }

    /// Reads a JSON answer.
    async fn read(&self, mut reply: EndpointResponse, id: u64, calls: &Calls) -> Result<(), UpstreamError> {
        let limit = self.limit.saturating_add(MESSAGE_OVERHEAD_BYTES);
        let mut body = Vec::new();
        loop {
            match reply.response.chunk().await {
                Ok(Some(chunk)) if body.len() + chunk.len() > limit => {
                    calls.handle_too_long(&IdScan::default(), Some(id));
                    return Ok(());
                }
                Ok(Some(chunk)) => body.extend_from_slice(&chunk),
                Ok(None) => break,
                Err(error) => {
                    return Err(self.connection_error(endpoint::connection_error(error, &reply.mask), calls));
                }
            }
        }
        calls.handle_incoming(&body, Some(id));
        Ok(())
    }

    /// Reads a stream of events until the answer arrives, and resumes it if it breaks.
    async fn follow(&self, reply: EndpointResponse, id: u64, calls: &Calls) -> Result<(), UpstreamError> {
        let mut events = SseParser::new(self.limit.saturating_add(MESSAGE_OVERHEAD_BYTES));
        let mut reply = Some(reply);
        for _ in 0..MAX_RESUMES {
            let broken = match reply.take() {
                Some(stream) => read_stream(stream, &mut events, Some(id), calls).await,
                None => None,
            };
            let Some(last) = events.last_id.clone().filter(|_| calls.is_waiting(id)) else {
                // A missing answer is reported by the caller of this function. A connection that breaks after the
                // answer does not matter.
                return match broken.filter(|_| calls.is_waiting(id)) {
                    Some(error) => Err(self.connection_error(error, calls)),
                    None => Ok(()),
                };
            };
            sleep(events.retry.unwrap_or(DEFAULT_RETRY_DELAY)).await;
            let resumed =
                self.listen_from(Some(&last)).await.map_err(|error| self.connection_error(error, calls))?;
            if !resumed.response.status().is_success() || !is_stream(resumed.response.headers()) {
                return Ok(());
            }
            reply = Some(resumed);
        }
        Ok(())
    }

    async fn listen_from(&self, last: Option<&str>) -> Result<EndpointResponse, SendError> {
        let mut headers = self.headers("text/event-stream");
        let last = last.and_then(|last| HeaderValue::from_str(last).ok());
        headers.extend(last.map(|last| (LAST_EVENT, last)));
        self.http.send(Method::GET, headers, None, &self.overrides).await
    }

    /// Sends notifications and listens to the server's own stream, until the conversation is closed.
    pub(super) async fn run(
        self: Arc<Self>,
        calls: Arc<Calls>,
        mut outgoing: mpsc::Receiver<String>,
        closing: CancellationToken,
    ) {
        let posting = async {
            while let Some(line) = outgoing.recv().await {
                // Nothing waits for it. If the server cannot be reached, the next call notices.
                let _ = timeout(NOTIFY_TIMEOUT, self.post(line, None, None)).await;
            }
        };
        let listening = async {
            self.initialized.notified().await;
            if !self.is_stateless() {
                self.listen(&calls).await;
            }
        };
        let listening = async {
            tokio::select! {
                () = calls.ended() => {}
                () = listening => {}
            }
        };
        tokio::select! {
            () = closing.cancelled() => {}
            // Calls that still run after the end may have something to send, so posting continues.
            _ = async { tokio::join!(posting, listening) } => {}
        }
        calls.end(unavailable(&calls, "was closed", None));
        if self.session().is_some() {
            let delete =
                self.http.send(Method::DELETE, self.headers("application/json"), None, &self.overrides);
            let _ = timeout(NOTIFY_TIMEOUT, delete).await;
        }
    }

    /// Listens to the server's own stream, if it has one.
    async fn listen(&self, calls: &Calls) {
        let mut events = SseParser::new(self.limit.saturating_add(MESSAGE_OVERHEAD_BYTES));
        let mut wait = DEFAULT_RETRY_DELAY;
        loop {
            if let Ok(reply) = self.listen_from(events.last_id.as_deref()).await {
                let status = reply.response.status();
                if status.is_client_error() || (status.is_success() && !is_stream(reply.response.headers())) {
                    return;
                }
                if status.is_success() {
                    wait = DEFAULT_RETRY_DELAY;
                    read_stream(reply, &mut events, None, calls).await;
                }
            }
            sleep(events.retry.unwrap_or(wait)).await;
            wait = (wait * 2).min(MAX_RETRY_DELAY);
        }
    }

    /// An error response may still contain a JSON-RPC error.
    fn error_response(&self, body: &[u8], error: OpError, calls: &Calls) -> UpstreamError {
        let text = String::from_utf8_lossy(body);
        let rpc = serde_json::from_str::<serde_json::Value>(&text).ok().and_then(|mut message| {
            serde_json::from_value::<RpcError>(message.get_mut("error")?.take()).ok()
        });
        match rpc.filter(|rpc| rpc.code != 0) {
            Some(RpcError { code, message, data }) => {
                UpstreamError::Refused { server: calls.server(), code, message, data }
            }
            None => UpstreamError::Refusal(Box::new(error)),
        }
    }

    fn connection_error(&self, error: SendError, calls: &Calls) -> UpstreamError {
        match error {
            SendError::Refused(error) => UpstreamError::Refusal(Box::new(error)),
            SendError::Connection { unreachable, reason } => {
                tracing::debug!(server = %self.name, %reason, "connection failed");
                if !unreachable {
                    return unavailable(calls, "broke the connection before its answer was complete", None);
                }
                let error = unavailable(calls, "cannot be reached", Some(reason));
                calls.refuse_new_calls(error.clone());
                error
            }
        }
    }
}

fn unavailable(calls: &Calls, reason: &str, cause: Option<String>) -> UpstreamError {
    UpstreamError::Unavailable { server: calls.server(), reason: reason.to_owned(), cause, retry_after: None }
}

/// Returns whether the server refuses the session: with 404 as the protocol requires, or with 400 as many servers do.
fn is_session_lost(status: StatusCode, body: &[u8]) -> bool {
    let text = || String::from_utf8_lossy(body).to_lowercase();
    status == StatusCode::NOT_FOUND || (status == StatusCode::BAD_REQUEST && text().contains("session"))
}

fn is_stream(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"))
}

/// Reads a stream to its end. Returns the error if it broke.
async fn read_stream(
    mut reply: EndpointResponse,
    events: &mut SseParser,
    related: Option<u64>,
    calls: &Calls,
) -> Option<SendError> {
    loop {
        match reply.response.chunk().await {
            Ok(Some(chunk)) => events.feed(&chunk, |data| match data {
                SseEvent::Whole(data) => calls.handle_incoming(&data, related),
                SseEvent::TooLong(scan) => calls.handle_too_long(&scan, None),
            }),
            Ok(None) => return None,
            Err(error) => return Some(endpoint::connection_error(error, &reply.mask)),
        }
    }
}
