//! The calls that wait for an upstream's answers, and what becomes of everything that comes in.
//!
//! What always holds: an answer goes to the call whose id it bears and to no other; one that nobody waits for is ignored;
//! once the conversation has ended every call has been told, and no further one begins; logs and news hold nothing that the server
//! was told in confidence. Nothing here waits for anybody.

use super::error::UpstreamError;
use super::message::{self, UpstreamMessage};
use crate::caller::{Ability, Caller, Progress};
use crate::protocol::{IdScan, LOG_MESSAGE, LogFilter, METHOD_NOT_FOUND, RpcError};
use crate::secret::Mask;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Messages that wait to be sent; a server that does not read makes further calls wait.
const OUTBOX_CAPACITY: usize = 64;
/// Questions and notices that a call has not looked at yet.
const EVENT_CAPACITY: usize = 256;

/// What a call ends with.
pub(super) type CallResult = Result<Box<RawValue>, UpstreamError>;

/// What a call hears before it ends.
#[derive(Debug)]
pub(super) enum CallEvent {
    /// To be put to the caller.
    Question { id: Box<RawValue>, ability: Ability, params: Value },
    /// To be passed on to the caller.
    Notice { method: String, params: Value },
}

/// What changed in the upstream, counted.
#[derive(Debug, Clone, Default)]
pub(super) struct Changes {
    pub(super) tools: watch::Sender<u64>,
    /// Resources and prompts.
    pub(super) features: watch::Sender<u64>,
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
    /// What the server was told in confidence.
    mask_source: OnceLock<MaskSource>,
}

type MaskSource = Box<dyn Fn() -> Mask + Send + Sync>;

struct CallTable {
    /// In the order they began.
    waiting: BTreeMap<u64, WaitingCall>,
    /// The server's name, as far as it is known.
    server: String,
    end: Option<UpstreamError>,
}

struct WaitingCall {
    answer: oneshot::Sender<CallResult>,
    events: mpsc::Sender<CallEvent>,
    caller: Caller,
    /// Whether the server may have a reason to say something besides its answer.
    is_work: bool,
    last_progress_ms: Arc<AtomicU64>,
}

/// A call that waits. Dropping it before its answer has come tells the upstream to stop.
pub(super) struct PendingCall {
    calls: Arc<Calls>,
    pub(super) id: u64,
    pub(super) answer: oneshot::Receiver<CallResult>,
    pub(super) events: mpsc::Receiver<CallEvent>,
    /// Questions that were put to the caller and are not answered yet.
    pub(super) open: Vec<Box<RawValue>>,
    last_progress_ms: Arc<AtomicU64>,
}

impl PendingCall {
    /// When the upstream last said that it is still at work; nothing where it never did.
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
            let error =
                json!({"code": -32000, "message": "The call that the question belongs to was cancelled."});
            self.calls.try_send(message::answer(&question, Err(error)));
        }
        if self.calls.inner().waiting.remove(&self.id).is_some() {
            let params = json!({"requestId": self.id, "reason": "the caller does not wait any more"});
            self.calls.try_send(message::notification("notifications/cancelled", Some(params)));
        }
    }
}

impl Calls {
    /// For a conversation with that server; what is to be sent comes out of the other end. `limit` is that of answers.
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

    /// The server's name, as far as it is known.
    pub(super) fn server(&self) -> String {
        self.inner().server.clone()
    }

    pub(super) fn rename(&self, server: &str) {
        self.inner().server = server.to_owned();
    }

    /// Hides what the server was told in confidence.
    pub(super) fn set_mask_source(&self, confided: impl Fn() -> Mask + Send + Sync + 'static) {
        let _ = self.mask_source.set(Box::new(confided));
    }

    fn mask(&self) -> Mask {
        self.mask_source.get().map(|confided| confided()).unwrap_or_default()
    }

    /// Begins a call of that method.
    pub(super) fn begin_call(
        self: &Arc<Self>,
        method: &str,
        caller: &Caller,
    ) -> Result<PendingCall, UpstreamError> {
        let (sender, answer) = oneshot::channel();
        let (told, events) = mpsc::channel(EVENT_CAPACITY);
        let heard = Arc::new(AtomicU64::new(0));
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let waiting = WaitingCall {
            answer: sender,
            events: told,
            caller: caller.clone(),
            is_work: is_work(method),
            last_progress_ms: Arc::clone(&heard),
        };
        let mut inner = self.inner();
        if let Some(end) = &inner.end {
            return Err(end.clone());
        }
        inner.waiting.insert(id, waiting);
        drop(inner);
        Ok(PendingCall {
            calls: Arc::clone(self),
            id,
            answer,
            events,
            open: Vec::new(),
            last_progress_ms: heard,
        })
    }

    /// What the callers of running calls want to hear of what the server logs.
    pub(super) fn log_filters(&self) -> Vec<LogFilter> {
        self.inner().waiting.values().map(|call| call.caller.log_filter()).collect()
    }

    /// Whether the call's answer has not come yet.
    pub(super) fn is_waiting(&self, id: u64) -> bool {
        self.inner().waiting.contains_key(&id)
    }

    /// Sends a message as soon as there is room for it; false when nobody takes it any more.
    pub(super) async fn send(&self, line: String) -> bool {
        self.outbox.send(line).await.is_ok()
    }

    /// Sends a message where there is room for it now. A server that reads nothing misses nothing.
    pub(super) fn try_send(&self, line: String) {
        if self.outbox.try_send(line).is_err() {
            tracing::debug!(server = %self.server(), "the server takes no messages");
        }
    }

    /// Ends the conversation: whoever waits is told why.
    pub(super) fn end(&self, why: UpstreamError) {
        let waiting = {
            let mut inner = self.inner();
            let why = inner.end.get_or_insert(why).clone();
            std::mem::take(&mut inner.waiting).into_values().map(move |call| (call, why.clone()))
        };
        for (call, why) in waiting {
            let _ = call.answer.send(Err(why));
        }
        self.ended.cancel();
    }

    /// Lets running calls go on, but no further one begin.
    pub(super) fn refuse_new_calls(&self, why: UpstreamError) {
        self.inner().end.get_or_insert(why);
        self.ended.cancel();
    }

    /// Why it has ended.
    pub(super) fn end_reason(&self) -> Option<UpstreamError> {
        self.inner().end.clone()
    }

    /// Completes when the conversation has ended.
    pub(super) async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Something came in, in answer to the call `related` where that is known.
    pub(super) fn handle_incoming(&self, bytes: &[u8], related: Option<u64>) {
        // What is not UTF-8 can still be told apart, and the rest of it read.
        let text = std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed);
        match message::read(&text) {
            Some(messages) => messages.into_iter().for_each(|message| self.handle_message(message, related)),
            None => self.handle_unreadable(&text),
        }
    }

    /// Something came in that was too long to be held.
    pub(super) fn handle_too_long(&self, scan: &IdScan, related: Option<u64>) {
        let server = self.server();
        tracing::debug!(%server, "the server sent more than is read");
        if let Some(id) = scan.number().or(related) {
            self.complete(id, Err(UpstreamError::TooLarge { server, limit: self.limit }));
        }
    }

    fn handle_unreadable(&self, text: &str) {
        let server = self.server();
        tracing::debug!(%server, bytes = text.len(), "the server sent something that is no message");
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
            // A caller that has gone away needs no answer.
            Some(call) => drop(call.answer.send(outcome)),
            None => tracing::debug!(id, "an answer that nobody waits for"),
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
                    Err(_) => {
                        UpstreamError::Unreadable { server, reason: "is an error of no known form".into() }
                    }
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
            "notifications/resources/list_changed" | "notifications/prompts/list_changed" => {
                self.changes.features.send_modify(|count| *count += 1);
            }
            LOG_MESSAGE => {
                let mut params = value(params);
                let level = params.get("level").and_then(Value::as_str).unwrap_or_default();
                tracing::debug!(server = %self.server(), level, "the server logs");
                let mask = self.mask();
                let said = params.as_object_mut().into_iter().flatten();
                // Levels are words of the protocol, whatever else they are.
                said.filter(|(key, _)| *key != "level").for_each(|(_, value)| mask.apply_value(value));
                let notice = CallEvent::Notice { method: method.to_owned(), params };
                self.deliver(related, notice, |_| true);
            }
            _ => {}
        }
    }

    fn handle_progress(&self, params: &Value) {
        let token = params.get("progressToken");
        let id = token.and_then(|token| token.as_u64().or_else(|| token.as_str()?.parse().ok()));
        let said = params.get("message").and_then(Value::as_str);
        let message = said.map(|said| self.mask().apply(said).into_owned());
        let inner = self.inner();
        let Some(call) = id.and_then(|id| inner.waiting.get(&id)) else { return };
        let millis = u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        call.last_progress_ms.store(millis.max(1), Ordering::Relaxed);
        call.caller.report_progress(Progress {
            done: params.get("progress").and_then(Value::as_f64).unwrap_or_default(),
            total: params.get("total").and_then(Value::as_f64),
            message,
        });
    }

    /// Tells the call that it belongs to; where that is not known, the latest one whose caller will do, unless calls of
    /// several clients are running: what is meant for one of them must not reach another.
    fn deliver(&self, related: Option<u64>, event: CallEvent, will_do: impl Fn(&Caller) -> bool) -> bool {
        let inner = self.inner();
        let call = match related {
            Some(id) => inner.waiting.get(&id).filter(|call| will_do(&call.caller)),
            None => {
                let work = || inner.waiting.values().rev().filter(|call| call.is_work);
                let latest = work().find(|call| will_do(&call.caller));
                latest.filter(|latest| {
                    let is_theirs = |other: &WaitingCall| other.caller.is_same_client(&latest.caller);
                    work().all(|other| std::ptr::eq(other, *latest) || is_theirs(other))
                })
            }
        };
        call.is_some_and(|call| call.events.try_send(event).is_ok())
    }
}

/// Whether a server may ask and log on behalf of a call of that method.
pub(super) fn is_work(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}

/// What the server is told when nobody could be asked.
pub(super) fn no_answer(ability: Ability) -> Result<Value, Value> {
    match ability {
        // Nobody said no, and nobody said yes.
        Ability::Elicitation => Ok(json!({"action": "cancel"})),
        Ability::Sampling => {
            Err(json!({"code": -32000, "message": "The client of this call cannot be asked for sampling."}))
        }
    }
}

fn value(params: Option<&RawValue>) -> Value {
    params.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_else(|| json!({}))
}
