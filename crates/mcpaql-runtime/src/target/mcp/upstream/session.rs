//! One conversation with an upstream: the handshake, then any number of calls side by side.
//!
//! A call is one future. It sends, waits, puts the upstream's questions to its caller and passes notices on, in the order they
//! came; dropping it forgets all of that and tells the upstream to stop.

use super::calls::{CallEvent, Calls, Changes, PendingCall, is_work, no_answer};
use super::error::{CallFailure, UpstreamError};
use super::http::McpEndpoint;
use super::message::{self, REVISION, STATELESS_REVISION, UNSUPPORTED_REVISION};
use super::stdio::Program;
use crate::caller::{Ability, AskError, Caller};
use crate::protocol::{LOG_LEVEL, LogFilter, LogLevel, METHOD_NOT_FOUND, SET_LEVEL};
use crate::secret::Mask;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// How long a server may take to accept a level.
const SET_LEVEL_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a question may wait for its answer.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(600);
/// How often a server may ask by its answer.
const MAX_INPUT_ROUNDS: usize = 10;
/// How long the rest of an answer's stream may take, so that its connection can be used again.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// How long closing a conversation may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// A timeout past what the clock can hold is no timeout.
const FOREVER: Duration = Duration::from_secs(86_400 * 365);

/// How an upstream is reached.
#[derive(Debug, Clone)]
pub(super) enum UpstreamLink {
    Program(Arc<Program>),
    Endpoint(Arc<McpEndpoint>),
}

/// A conversation. Dropping it ends it, and the program behind it.
pub(super) struct UpstreamSession {
    calls: Arc<Calls>,
    /// Where requests are posted; without one they go to a program's input.
    endpoint: Option<Arc<McpEndpoint>>,
    /// What the program was given in confidence.
    mask: Mask,
    handshake: OnceLock<Map<String, Value>>,
    /// What each request carries in revisions without a handshake.
    meta: OnceLock<Map<String, Value>>,
    /// The level that the server was told to log from.
    level: Mutex<Option<LogLevel>>,
    closing: CancellationToken,
    keeper: Mutex<Option<JoinHandle<()>>>,
}

impl Drop for UpstreamSession {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

impl UpstreamSession {
    /// Starts the server where it is a program, and greets it.
    pub(super) async fn start(
        link: &UpstreamLink,
        server: &str,
        limit: usize,
        changes: Changes,
        patience: Duration,
    ) -> Result<UpstreamSession, UpstreamError> {
        let (calls, outgoing) = Calls::new(server, limit, changes);
        let closing = CancellationToken::new();
        let (endpoint, keeper, mask) = match link {
            UpstreamLink::Program(program) => {
                let (keeper, mask) = program.start(&calls, outgoing, limit, closing.clone())?;
                let confided = mask.clone();
                calls.set_mask_source(move || confided.clone());
                (None, keeper, mask)
            }
            UpstreamLink::Endpoint(endpoint) => {
                let endpoint = Arc::new(endpoint.for_new_session());
                let confided = Arc::clone(&endpoint);
                calls.set_mask_source(move || confided.mask());
                let keeper =
                    tokio::spawn(Arc::clone(&endpoint).run(Arc::clone(&calls), outgoing, closing.clone()));
                (Some(endpoint), keeper, Mask::default())
            }
        };
        let (greeting, meta) = (OnceLock::new(), OnceLock::new());
        let keeper = Mutex::new(Some(keeper));
        let level = Mutex::new(None);
        let session =
            UpstreamSession { calls, endpoint, mask, handshake: greeting, meta, level, closing, keeper };
        match timeout(patience, session.perform_handshake(patience)).await {
            // What the server says against us may hold what it was told in confidence.
            Ok(greeted) => greeted.map_err(|error| error.masked(&session.mask()))?,
            Err(_) => return Err(UpstreamError::Timeout { server: server.to_owned(), after: patience }),
        }
        Ok(session)
    }

    async fn perform_handshake(&self, patience: Duration) -> Result<(), UpstreamError> {
        let hello = json!({
            "protocolVersion": REVISION,
            "capabilities": message::capabilities(),
            "clientInfo": message::client_info(),
        });
        let nobody = Caller::nobody();
        let greeting = match self.ask("initialize", &object(hello), &nobody, patience).await {
            Err(CallFailure {
                error: UpstreamError::Refused { code: METHOD_NOT_FOUND | UNSUPPORTED_REVISION, .. },
                ..
            }) => {
                let _ = self.meta.set(message::stateless_meta());
                if let Some(endpoint) = &self.endpoint {
                    endpoint.set_version(STATELESS_REVISION);
                }
                self.ask("server/discover", &Map::new(), &nobody, patience).await
            }
            greeting => greeting,
        };
        let greeting = greeting.map_err(|failure| failure.error)?;
        let unreadable = || UpstreamError::Unreadable {
            server: self.calls.server(),
            reason: "to the handshake is no object".into(),
        };
        let greeting: Map<String, Value> = serde_json::from_str(greeting.get()).map_err(|_| unreadable())?;
        if let Some(name) = info(&greeting, "name") {
            self.calls.rename(&self.mask().apply(name));
        }
        if self.meta.get().is_none() {
            if let (Some(endpoint), Some(Value::String(version))) =
                (&self.endpoint, greeting.get("protocolVersion"))
            {
                endpoint.set_version(version);
            }
            self.calls.send(message::notification("notifications/initialized", None)).await;
        }
        let _ = self.handshake.set(greeting);
        if let Some(endpoint) = &self.endpoint {
            endpoint.mark_initialized();
        }
        Ok(())
    }

    /// The server's answer to the handshake.
    pub(super) fn handshake(&self) -> Map<String, Value> {
        self.handshake.get().cloned().unwrap_or_default()
    }

    /// Name and version of the server, as it says.
    pub(super) fn name_and_version(&self) -> (String, String) {
        let version = self.handshake.get().and_then(|greeting| info(greeting, "version"));
        (self.calls.server(), version.unwrap_or_default().to_owned())
    }

    /// An answer without what was sent along to be let in, should the server echo it.
    pub(super) fn without_credentials(&self, answer: Box<RawValue>) -> Box<RawValue> {
        let mask = self.endpoint.as_ref().map(|endpoint| endpoint.mask()).unwrap_or_default();
        if !mask.contains_secret(answer.get()) {
            return answer;
        }
        let masked = RawValue::from_string(mask.apply(answer.get()).into_owned());
        masked.unwrap_or_else(|_| {
            // The secret is a bare number, so what replaces it needs quotes.
            let mut value = serde_json::from_str::<Value>(answer.get()).unwrap_or_default();
            mask.apply_value(&mut value);
            serde_json::value::to_raw_value(&value).unwrap_or_default()
        })
    }

    /// What must not be shown of the server's errors.
    pub(super) fn mask(&self) -> Mask {
        match &self.endpoint {
            Some(endpoint) => endpoint.mask(),
            None => self.mask.clone(),
        }
    }

    pub(super) fn calls(&self) -> &Arc<Calls> {
        &self.calls
    }

    /// One call. Without a handshake a server asks by its answer, and the request is sent again with what the caller says.
    pub(super) async fn ask(
        &self,
        method: &str,
        params: &Map<String, Value>,
        caller: &Caller,
        patience: Duration,
    ) -> Result<Box<RawValue>, CallFailure> {
        // On the heap, because these stand in the futures of all who call.
        if let Some(level) = self.level_to_set(method, caller) {
            let params = object(json!({"level": level}));
            let nobody = Caller::nobody();
            let set = self.ask_once(SET_LEVEL, &params, &nobody, patience.min(SET_LEVEL_TIMEOUT));
            // A server that does not follow logs as it likes, and our callers hear no more than they want.
            let _ = Box::pin(set).await;
        }
        let mut answer = Box::pin(self.ask_once(method, params, caller, patience)).await?;
        if self.meta.get().is_none() {
            return Ok(answer);
        }
        for _ in 0..MAX_INPUT_ROUNDS {
            let Some(asked) = InputRequired::read(&answer) else { return Ok(answer) };
            let mut again = params.clone();
            again.extend(Box::pin(asked.collect_answers(caller)).await);
            answer = Box::pin(self.ask_once(method, &again, caller, patience)).await?;
        }
        let reason = "asks for more and more".into();
        Err(UpstreamError::Unreadable { server: self.calls.server(), reason }.into())
    }

    /// Whether the server says that it logs.
    fn supports_logging(&self) -> bool {
        let capabilities = self.handshake.get().and_then(|greeting| greeting.get("capabilities"));
        capabilities.and_then(|all| all.get("logging")).is_some_and(Value::is_object)
    }

    /// The level to be set before a call begins, where it changes: the most talkative one that this caller or one whose call
    /// runs wants. Once a level was set, who never named one counts as wanting what is usual.
    fn level_to_set(&self, method: &str, caller: &Caller) -> Option<LogLevel> {
        if !is_work(method) || self.meta.get().is_some() || !self.supports_logging() {
            return None;
        }
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let usual = level.map(|_| LogLevel::Info);
        let wishes = self.calls.log_filters().into_iter().chain([caller.log_filter()]);
        let wanted = wishes.filter_map(|wish| match wish {
            LogFilter::Nothing => None,
            LogFilter::Everything => usual,
            LogFilter::From(level) => Some(level),
        });
        let wanted = wanted.min()?;
        (level.replace(wanted) != Some(wanted)).then_some(wanted)
    }

    /// One request and its answer. A report of progress begins its time anew, and so does an answered question.
    async fn ask_once(
        &self,
        method: &str,
        params: &Map<String, Value>,
        caller: &Caller,
        patience: Duration,
    ) -> Result<Box<RawValue>, CallFailure> {
        let patience = patience.min(FOREVER);
        let mut ticket = self.calls.begin_call(method, caller).map_err(CallFailure::unseen)?;
        let mut posting = self.post(&ticket, method, params, caller);
        let mut posted = false;
        let mut questions = FuturesUnordered::new();
        let mut deadline = Instant::now() + patience;
        loop {
            tokio::select! {
                biased;
                Some(event) = ticket.events.recv() => match event {
                    CallEvent::Notice { method, params } => caller.notify(&method, params).await,
                    CallEvent::Question { id, ability, params } => {
                        ticket.open.push(id.clone());
                        questions.push(answer_question(id, ability, params, caller));
                    }
                },
                outcome = &mut ticket.answer => {
                    if !posted && self.endpoint.is_some() {
                        tokio::spawn(timeout(DRAIN_TIMEOUT, posting));
                    }
                    return outcome.unwrap_or_else(|_| Err(self.gone())).map_err(CallFailure::from);
                }
                Some((id, answer)) = questions.next() => {
                    ticket.open.retain(|open| open.get() != id.get());
                    self.calls.try_send(answer);
                    deadline = Instant::now() + patience;
                }
                outcome = &mut posting, if !posted => {
                    outcome?;
                    posted = true;
                }
                () = sleep_until(deadline) => {
                    let heard = ticket.last_progress().map(|heard| heard + patience);
                    match heard.filter(|until| *until > Instant::now()) {
                        Some(until) => deadline = until,
                        None if !questions.is_empty() => deadline = Instant::now() + patience,
                        None => return Err(self.late(patience).into()),
                    }
                }
            }
        }
    }

    /// Sends the request; over HTTP it also brings the answer.
    fn post(
        &self,
        ticket: &PendingCall,
        method: &str,
        params: &Map<String, Value>,
        caller: &Caller,
    ) -> BoxFuture<'static, Result<(), CallFailure>> {
        let id = ticket.id;
        let mut meta = self.meta.get().cloned().unwrap_or_default();
        if let (false, LogFilter::From(level)) =
            (meta.is_empty() || !self.supports_logging(), caller.log_filter())
        {
            meta.insert(LOG_LEVEL.into(), json!(level));
        }
        if method == "tools/call" {
            meta.insert("progressToken".into(), id.into());
        }
        let name = ["name", "uri"].into_iter().find_map(|key| params.get(key)?.as_str()).map(str::to_owned);
        let line = message::request(id, method, params, meta);
        let calls = Arc::clone(&self.calls);
        match &self.endpoint {
            // Where nobody takes it, the end of the conversation is near and will say why.
            None => Box::pin(async move {
                calls.send(line).await;
                Ok(())
            }),
            Some(endpoint) => {
                let (endpoint, method) = (Arc::clone(endpoint), method.to_owned());
                Box::pin(async move { endpoint.exchange(line, id, &method, name.as_deref(), &calls).await })
            }
        }
    }

    fn gone(&self) -> UpstreamError {
        self.calls.end_reason().unwrap_or_else(|| UpstreamError::Unavailable {
            server: self.calls.server(),
            reason: "went away".to_owned(),
            retry_after: None,
        })
    }

    fn late(&self, after: Duration) -> UpstreamError {
        UpstreamError::Timeout { server: self.calls.server(), after }
    }

    /// Ends the conversation and waits until the program behind it is gone.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(keeper) = keeper {
            let _ = timeout(CLOSE_TIMEOUT, keeper).await;
        }
    }
}

/// A result that asks instead of answering.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InputRequired {
    result_type: String,
    #[serde(default)]
    input_requests: Map<String, Value>,
    #[serde(default)]
    request_state: Option<Value>,
}

impl InputRequired {
    fn read(answer: &RawValue) -> Option<InputRequired> {
        // Cheap to see for most of what is none.
        let asks = answer.get().contains("\"input_required\"");
        let asked: InputRequired = asks.then(|| serde_json::from_str(answer.get()).ok()).flatten()?;
        (asked.result_type == "input_required").then_some(asked)
    }

    /// What goes along with the request when it is sent again. A question that nobody can answer goes without.
    async fn collect_answers(self, caller: &Caller) -> Map<String, Value> {
        let mut responses = Map::new();
        for (key, request) in self.input_requests {
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
            let params = request.get("params").cloned().unwrap_or_else(|| json!({}));
            let answer = match Ability::from_method(method) {
                Some(ability) => ask_caller(ability, params, caller).await.ok(),
                None => None,
            };
            responses.extend(answer.map(|answer| (key, answer)));
        }
        let mut along = Map::new();
        along.insert("inputResponses".into(), responses.into());
        along.extend(self.request_state.map(|state| ("requestState".to_owned(), state)));
        along
    }
}

/// Puts a question to the caller; what the upstream is answered.
async fn answer_question(
    id: Box<RawValue>,
    ability: Ability,
    params: Value,
    caller: &Caller,
) -> (Box<RawValue>, String) {
    let outcome = ask_caller(ability, params, caller).await;
    let answer = message::answer(&id, outcome);
    (id, answer)
}

/// The caller's answer, or the error that stands for it.
async fn ask_caller(ability: Ability, params: Value, caller: &Caller) -> Result<Value, Value> {
    ask_with_timeout(QUESTION_TIMEOUT, ability, caller.ask(ability, params)).await
}

/// What a question comes to; who does not answer in time has not agreed to anything.
async fn ask_with_timeout(
    patience: Duration,
    ability: Ability,
    asking: impl Future<Output = Result<Value, AskError>>,
) -> Result<Value, Value> {
    match timeout(patience, asking).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(AskError::Error { code, message, data })) => {
            let mut error = json!({"code": code, "message": message});
            if let (Some(data), Some(fields)) = (data, error.as_object_mut()) {
                fields.insert("data".into(), data);
            }
            Err(error)
        }
        Ok(Err(AskError::Unable(_) | AskError::Gone)) | Err(_) => no_answer(ability),
    }
}

fn info<'a>(greeting: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    greeting.get("serverInfo")?.get(key)?.as_str().filter(|text| !text.is_empty())
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};

    #[tokio::test]
    async fn a_question_that_is_not_answered_in_time_was_not_agreed_to() {
        let late = |ability| ask_with_timeout(Duration::ZERO, ability, pending());
        assert_eq!(late(Ability::Elicitation).await, Ok(json!({"action": "cancel"})));
        assert_eq!(late(Ability::Sampling).await.unwrap_err()["code"], -32000);
    }

    #[tokio::test]
    async fn an_answer_goes_back_as_it_is_and_so_does_a_refusal() {
        let answered = |answer| ask_with_timeout(QUESTION_TIMEOUT, Ability::Elicitation, ready(answer));
        let answer = json!({"action": "decline", "x-odd": 1});
        assert_eq!(answered(Ok(answer.clone())).await, Ok(answer));
        let refused = AskError::Error { code: 7, message: "no".to_owned(), data: Some(json!([1])) };
        assert_eq!(answered(Err(refused)).await, Err(json!({"code": 7, "message": "no", "data": [1]})));
        for nobody in [AskError::Gone, AskError::Unable(Ability::Elicitation)] {
            assert_eq!(answered(Err(nobody)).await, Ok(json!({"action": "cancel"})));
        }
    }
}
