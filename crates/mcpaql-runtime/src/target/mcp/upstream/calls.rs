//! The calls that wait for answers of an upstream, and the handling of everything that the upstream sends.
//!
//! What always holds:
//! - An answer goes only to the call with its id. An answer that no call waits for is ignored.
//! - When the conversation ends, every waiting call gets an error, and no new call can begin.
//! - Logs and progress messages contain no secrets that the server was given.
//! - Nothing here blocks.

use super::error::UpstreamError;
use super::message::{self, UpstreamMessage};
use crate::caller::{Ability, Caller, Progress};
use crate::protocol::{FeatureChange, IdScan, LOG_MESSAGE, LogFilter, METHOD_NOT_FOUND, RpcError};
use crate::secret::Mask;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Maximum number of messages that wait to be sent. If a server does not read, further calls wait.
const OUTBOX_CAPACITY: usize = 64;
/// Maximum number of questions and notices that a call has not handled yet.
const EVENT_CAPACITY: usize = 256;

/// The end of a call.
pub(super) type CallResult = Result<Box<RawValue>, UpstreamError>;

/// An event for a call before it ends.
#[derive(Debug)]
pub(super) enum CallEvent {
    /// A question for the caller.
    Question { id: Box<RawValue>, ability: Ability, params: Value },
    /// A notification for the caller.
    Notification { method: String, params: Value },
}

/// The changes that the upstream announces.
#[derive(Debug, Clone)]
pub(super) struct Changes {
    /// Counts changes of the tools.
    pub(super) tools: watch::Sender<u64>,
    pub(super) features: broadcast::Sender<FeatureChange>,
}

impl Default for Changes {
    fn default() -> Changes {
        Changes { tools: watch::Sender::default(), features: broadcast::Sender::new(EVENT_CAPACITY) }
    }
}

/// The calls of one conversation.
pub(super) struct Calls {
    inner: Mutex<CallTable>,
    next: AtomicU64,
    started: Instant,
    outbox: mpsc::Sender<String>,
    changes: Changes,
    ended: CancellationToken,
    limit: usize,
    /// The secrets that the server was given.
    mask_source: OnceLock<MaskSource>,
}

type MaskSource = Box<dyn Fn() -> Mask + Send + Sync>;

struct CallTable {
    /// In the order in which they began.
    waiting: BTreeMap<u64, WaitingCall>,
    /// The server's name, as far as known.
    server: String,
    end: Option<UpstreamError>,
}

struct WaitingCall {
    answer: oneshot::Sender<CallResult>,
    events: mpsc::Sender<CallEvent>,
    caller: Caller,
    /// Whether the server may send questions and logs for this call.
    is_work: bool,
    last_progress_ms: Arc<AtomicU64>,
}

/// A waiting call. Dropping it before its answer arrives tells the upstream to stop.
pub(super) struct PendingCall {
    calls: Arc<Calls>,
    pub(super) id: u64,
    pub(super) answer: oneshot::Receiver<CallResult>,
    pub(super) events: mpsc::Receiver<CallEvent>,
    /// Questions to the caller that are not answered yet.
    pub(super) open: Vec<Box<RawValue>>,
    last_progress_ms: Arc<AtomicU64>,
}

impl PendingCall {
    /// When the upstream last reported progress; `None` if it never did.
    pub(super) fn last_progress(&self) -> Option<Instant> {
        match self.last_progress_ms.load(Ordering::Relaxed) {
            0 => None,
            millis => self.calls.started.checked_add(Duration::from_millis(millis)),
        }
    }
}

impl Drop for PendingCall {
    fn drop(&mut self) {
        for question in self.open.drain(..) {
            let error = json!({"code": -32000, "message": "The call of this question was cancelled."});
            self.calls.try_send(message::answer(&question, Err(error)));
        }
        if self.calls.inner().waiting.remove(&self.id).is_some() {
            let params = json!({"requestId": self.id, "reason": "the caller no longer waits"});
            self.calls.try_send(message::notification("notifications/cancelled", Some(params)));
        }
    }
}

impl Calls {
    /// Creates the calls of a conversation, and the receiver of messages to send. `limit` is the maximum size of an
    /// answer.
    pub(super) fn new(server: &str, limit: usize, changes: Changes) -> (Arc<Calls>, mpsc::Receiver<String>) {
        let (outbox, outgoing) = mpsc::channel(OUTBOX_CAPACITY);
        let inner = CallTable { waiting: BTreeMap::new(), server: server.to_owned(), end: None };
        let calls = Calls {
            inner: Mutex::new(inner),
            next: AtomicU64::new(1),
            started: Instant::now(),
            outbox,
            changes,
            ended: CancellationToken::new(),
            limit,
            mask_source: OnceLock::new(),
        };
        (Arc::new(calls), outgoing)
    }

    fn inner(&self) -> MutexGuard<'_, CallTable> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The server's name, as far as known.
    pub(super) fn server(&self) -> String {
        self.inner().server.clone()
    }

    pub(super) fn rename(&self, server: &str) {
        self.inner().server = server.to_owned();
    }

    /// Sets the source of the secrets to mask.
    pub(super) fn set_mask_source(&self, source: impl Fn() -> Mask + Send + Sync + 'static) {
        let _ = self.mask_source.set(Box::new(source));
    }

    fn mask(&self) -> Mask {
        self.mask_source.get().map(|source| source()).unwrap_or_default()
    }

    /// Registers a call of this method.
    pub(super) fn begin_call(
        self: &Arc<Self>,
        method: &str,
        caller: &Caller,
    ) -> Result<PendingCall, UpstreamError> {
        let (sender, answer) = oneshot::channel();
        let (event_sender, events) = mpsc::channel(EVENT_CAPACITY);
        let last_progress_ms = Arc::new(AtomicU64::new(0));
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let waiting = WaitingCall {
            answer: sender,
            events: event_sender,
            caller: caller.clone(),
            is_work: is_work(method),
            last_progress_ms: Arc::clone(&last_progress_ms),
        };
        let mut inner = self.inner();
        if let Some(end) = &inner.end {
            return Err(end.clone());
        }
        inner.waiting.insert(id, waiting);
        drop(inner);
        Ok(PendingCall { calls: Arc::clone(self), id, answer, events, open: Vec::new(), last_progress_ms })
    }

    /// The log filters of the callers of running calls.
    pub(super) fn log_filters(&self) -> Vec<LogFilter> {
        self.inner().waiting.values().map(|call| call.caller.log_filter()).collect()
    }

    /// Returns whether the call still waits for its answer.
    #[cfg(feature = "http")]
    pub(super) fn is_waiting(&self, id: u64) -> bool {
        self.inner().waiting.contains_key(&id)
    }

    /// Sends a message as soon as there is room; false if the connection is closed.
    pub(super) async fn send(&self, line: String) -> bool {
        self.outbox.send(line).await.is_ok()
    }

    /// Sends a message if there is room now; otherwise drops it, because the server is not reading.
    pub(super) fn try_send(&self, line: String) {
        if self.outbox.try_send(line).is_err() {
            tracing::debug!(server = %self.server(), "message dropped: the server does not read");
        }
    }

    /// Ends the conversation. Every waiting call gets this error.
    pub(super) fn end(&self, error: UpstreamError) {
        let waiting = {
            let mut inner = self.inner();
            let error = inner.end.get_or_insert(error).clone();
            std::mem::take(&mut inner.waiting).into_values().map(move |call| (call, error.clone()))
        };
        for (call, error) in waiting {
            let _ = call.answer.send(Err(error));
        }
        self.ended.cancel();
    }

    /// Lets running calls continue, but refuses new ones.
    #[cfg(feature = "http")]
    pub(super) fn refuse_new_calls(&self, error: UpstreamError) {
        self.inner().end.get_or_insert(error);
        self.ended.cancel();
    }

    /// Why the conversation has ended.
    pub(super) fn end_reason(&self) -> Option<UpstreamError> {
        self.inner().end.clone()
    }

    /// Completes when the conversation has ended.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Handles a message. `related` is the call that it arrived for, if known.
    pub(super) fn handle_incoming(&self, bytes: &[u8], related: Option<u64>) {
        // A message that is not UTF-8 can still be identified and partly read.
        let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        match message::read(&text) {
            Some(messages) => messages.into_iter().for_each(|message| self.handle_message(message, related)),
            None => self.handle_unreadable(&text),
        }
    }

    /// Handles a message that was too long to be held.
    pub(super) fn handle_too_long(&self, scan: &IdScan, related: Option<u64>) {
        let server = self.server();
        tracing::debug!(%server, "message of the server exceeds the limit");
        if let Some(id) = scan.number().or(related) {
            self.complete(id, Err(UpstreamError::TooLarge { server, limit: self.limit }));
        }
    }

    fn handle_unreadable(&self, text: &str) {
        let server = self.server();
        tracing::debug!(%server, bytes = text.len(), "invalid message of the server");
        if !text.starts_with('{') {
            return;
        }
        let mut scan = IdScan::default();
        scan.feed(text.as_bytes());
        if let Some(id) = scan.number() {
            self.complete(id, Err(UpstreamError::Unreadable { server, reason: "cannot be read".into() }));
        }
    }

    fn complete(&self, id: u64, outcome: CallResult) {
        let waiting = self.inner().waiting.remove(&id);
        match waiting {
            // A caller that is gone needs no answer.
            Some(call) => drop(call.answer.send(outcome)),
            None => tracing::debug!(id, "answer without a waiting call"),
        }
    }

    fn handle_message(&self, message: UpstreamMessage<'_>, related: Option<u64>) {
        match message {
            UpstreamMessage::Answer { id, outcome: Ok(result) } => self.complete(id, Ok(result.to_owned())),
            UpstreamMessage::Answer { id, outcome: Err(error) } => {
                let server = self.server();
                let outcome = match serde_json::from_str::<RpcError>(error.get()) {
                    Ok(RpcError { code, message, data }) => {
                        UpstreamError::Refused { server, code, message, data }
                    }
                    Err(_) => UpstreamError::Unreadable { server, reason: "is an invalid error".into() },
                };
                self.complete(id, Err(outcome));
            }
            UpstreamMessage::Request { id, method, params } => {
                self.handle_request(id, &method, params, related)
            }
            UpstreamMessage::Notification { method, params } => {
                self.handle_notification(&method, params, related)
            }
        }
    }

    fn handle_request(&self, id: &RawValue, method: &str, params: Option<&RawValue>, related: Option<u64>) {
        let ability = Ability::from_method(method);
        let answer = match ability {
            None if method == "ping" => Ok(json!({})),
            None => Err(json!({"code": METHOD_NOT_FOUND, "message": format!("Method not found: {method}")})),
            Some(ability) => {
                let event = CallEvent::Question { id: id.to_owned(), ability, params: value(params) };
                if self.deliver(related, event, |caller| caller.is_able(ability)) {
                    return;
                }
                no_answer(ability)
            }
        };
        self.try_send(message::answer(id, answer));
    }

    fn handle_notification(&self, method: &str, params: Option<&RawValue>, related: Option<u64>) {
        match method {
            "notifications/progress" => self.handle_progress(&value(params)),
            "notifications/tools/list_changed" => self.changes.tools.send_modify(|count| *count += 1),
            "notifications/resources/list_changed" => self.announce(FeatureChange::Resources),
            "notifications/prompts/list_changed" => self.announce(FeatureChange::Prompts),
            "notifications/resources/updated" => {
                if let Some(uri) = value(params).get("uri").and_then(Value::as_str) {
                    self.announce(FeatureChange::Resource(self.mask().apply(uri).into_owned()));
                }
            }
            LOG_MESSAGE => {
                let mut params = value(params);
                let level = params.get("level").and_then(Value::as_str).unwrap_or_default();
                tracing::debug!(server = %self.server(), level, "log message of the server");
                let mask = self.mask();
                let fields = params.as_object_mut().into_iter().flatten();
                // A level is a fixed word of the protocol, never a secret.
                fields.filter(|(key, _)| *key != "level").for_each(|(_, value)| mask.apply_value(value));
                let notification = CallEvent::Notification { method: method.to_owned(), params };
                self.deliver(related, notification, |_| true);
            }
            _ => {}
        }
    }

    fn announce(&self, change: FeatureChange) {
        // It fails if nobody wants to know.
        let _ = self.changes.features.send(change);
    }

    fn handle_progress(&self, params: &Value) {
        let token = params.get("progressToken");
        let id = token.and_then(|token| token.as_u64().or_else(|| token.as_str()?.parse().ok()));
        let message = params.get("message").and_then(Value::as_str);
        let message = message.map(|message| self.mask().apply(message).into_owned());
        let inner = self.inner();
        let Some(call) = id.and_then(|id| inner.waiting.get(&id)) else { return };
        let millis = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        call.last_progress_ms.store(millis.max(1), Ordering::Relaxed);
        call.caller.report_progress(Progress {
            done: params.get("progress").and_then(Value::as_f64).unwrap_or_default(),
            total: params.get("total").and_then(Value::as_f64),
            message,
            is_exact: true,
        });
    }

    /// Delivers an event to its call. If the call is not known, it goes to the latest suitable call, unless calls of
    /// several clients are running: an event for one client must not reach another.
    fn deliver(&self, related: Option<u64>, event: CallEvent, is_suitable: impl Fn(&Caller) -> bool) -> bool {
        let inner = self.inner();
        let call = match related {
            Some(id) => inner.waiting.get(&id).filter(|call| is_suitable(&call.caller)),
            None => {
                let work = || inner.waiting.values().rev().filter(|call| call.is_work);
                let latest = work().find(|call| is_suitable(&call.caller));
                latest.filter(|latest| {
                    let is_same_client = |other: &WaitingCall| other.caller.is_same_client(&latest.caller);
                    work().all(|other| std::ptr::eq(other, *latest) || is_same_client(other))
                })
            }
        };
        call.is_some_and(|call| call.events.try_send(event).is_ok())
    }
}

/// Returns whether a server may send questions and logs for a call of this method.
pub(super) fn is_work(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

/// The answer to a question that no client could answer.
pub(super) fn no_answer(ability: Ability) -> Result<Value, Value> {
    match ability {
        // The user has neither agreed nor declined.
        Ability::Elicitation | Ability::UrlElicitation => Ok(json!({"action": "cancel"})),
        Ability::Sampling => {
            Err(json!({"code": -32000, "message": "The client of this call does not support sampling."}))
        }
    }
}

fn value(params: Option<&RawValue>) -> Value {
    params.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_else(|| json!({}))
}
