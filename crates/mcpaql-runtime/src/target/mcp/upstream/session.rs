//! One conversation with an upstream: the handshake, then any number of concurrent calls.
//!
//! A call is one future. It sends the request, waits for the answer, asks its caller the upstream's questions and
//! forwards notifications, in the order of arrival. Dropping it discards all of that and tells the upstream to stop.

use super::McpEndpoint;
use super::asking::QuestionSource;
use super::calls::{CallEvent, Calls, Changes, PendingCall, is_work, no_answer};
use super::error::{CallFailure, UpstreamError};
use super::message::{self, CLIENT_CAPABILITIES, REVISION, STATELESS_REVISION, UNSUPPORTED_REVISION};
use super::stdio::{Program, ProgramMasks};
use super::suspects::CrashCause;
use crate::caller::{Ability, AskError, Caller};
use crate::protocol::{LOG_LEVEL, LogFilter, LogLevel, METHOD_NOT_FOUND, SET_LEVEL};
use crate::secret::Mask;
use crate::target::mcp::links;
use futures_util::StreamExt;
use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

/// How long a server may take to accept a log level.
const SET_LEVEL_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a server may take to say whether it supports revisions without a handshake.
const DISCOVER_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a question may wait for its answer.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(600);
/// Maximum number of times that a server may request input for one call.
const MAX_INPUT_ROUNDS: usize = 10;
/// How long reading the rest of a stream after its answer may take, so that the connection can be reused.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// How long closing a conversation may take.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);
/// A timeout beyond the range of the clock counts as a year.
const FOREVER: Duration = Duration::from_secs(86_400 * 365);

/// The connection to an upstream.
#[derive(Debug, Clone)]
pub(super) enum UpstreamLink {
    Program(Arc<Program>),
    Endpoint(Arc<McpEndpoint>),
}

/// A conversation. Dropping it ends the conversation and the program.
pub(super) struct UpstreamSession {
    calls: Arc<Calls>,
    /// Where requests are posted; `None` for a program.
    endpoint: Option<Arc<McpEndpoint>>,
    /// The secrets that the program was given.
    masks: ProgramMasks,
    questions: QuestionSource,
    handshake: OnceLock<Map<String, Value>>,
    /// The `_meta` of each request in revisions without a handshake.
    meta: OnceLock<Map<String, Value>>,
    /// The log level that the server was told to use.
    level: Mutex<Option<LogLevel>>,
    closing: CancellationToken,
    keeper: Mutex<Option<JoinHandle<()>>>,
    /// A conversation without a handshake with the same server, if it supports that.
    stateless: OnceCell<Option<Arc<UpstreamSession>>>,
}

/// How a conversation begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionOpening {
    /// With a handshake, if the server has one.
    Negotiated,
    /// Without a handshake.
    Stateless,
}

impl Drop for UpstreamSession {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

impl UpstreamSession {
    /// Starts the server if it is a program, and performs the handshake.
    pub(super) async fn start(
        link: &UpstreamLink,
        (server, questions): (&str, &QuestionSource),
        limit: usize,
        changes: Changes,
        time_limit: Duration,
        opening: SessionOpening,
    ) -> Result<UpstreamSession, UpstreamError> {
        let (calls, outgoing) = Calls::new(server, limit, changes);
        let closing = CancellationToken::new();
        let (endpoint, keeper, masks) = match link {
            UpstreamLink::Program(program) => {
                let (keeper, masks) = program.start(&calls, outgoing, limit, closing.clone())?;
                let source = masks.errors.clone();
                calls.set_mask_source(move || source.clone());
                (None, keeper, masks)
            }
            UpstreamLink::Endpoint(endpoint) => {
                let endpoint = Arc::new(endpoint.for_new_session());
                let source = Arc::clone(&endpoint);
                calls.set_mask_source(move || source.mask());
                let keeper =
                    tokio::spawn(Arc::clone(&endpoint).run(Arc::clone(&calls), outgoing, closing.clone()));
                (Some(endpoint), keeper, ProgramMasks::default())
            }
        };
        let (handshake, meta) = (OnceLock::new(), OnceLock::new());
        let keeper = Mutex::new(Some(keeper));
        let level = Mutex::new(None);
        let stateless = OnceCell::new();
        let questions = questions.clone();
        let session = UpstreamSession {
            calls,
            endpoint,
            masks,
            questions,
            handshake,
            meta,
            level,
            closing,
            keeper,
            stateless,
        };
        match timeout(time_limit, session.perform_handshake(time_limit, opening)).await {
            // The server's error may contain secrets that it was given.
            Ok(outcome) => outcome.map_err(|error| error.masked(&session.mask()))?,
            Err(_) => return Err(UpstreamError::Timeout { server: server.to_owned(), after: time_limit }),
        }
        Ok(session)
    }

    async fn perform_handshake(
        &self,
        time_limit: Duration,
        opening: SessionOpening,
    ) -> Result<(), UpstreamError> {
        let params = json!({
            "protocolVersion": REVISION,
            "capabilities": self.questions.capabilities(message::capabilities()),
            "clientInfo": message::client_info(),
        });
        let nobody = Caller::nobody();
        let negotiated = match opening {
            SessionOpening::Negotiated => {
                Some(self.ask("initialize", &object(params), &nobody, time_limit).await)
            }
            SessionOpening::Stateless => None,
        };
        let answer = match negotiated {
            None
            | Some(Err(CallFailure {
                error: UpstreamError::Refused { code: METHOD_NOT_FOUND | UNSUPPORTED_REVISION, .. },
                ..
            })) => {
                let _ = self
                    .meta
                    .set(message::stateless_meta(self.questions.capabilities(message::capabilities())));
                if let Some(endpoint) = &self.endpoint {
                    endpoint.set_version(STATELESS_REVISION);
                }
                self.ask("server/discover", &Map::new(), &nobody, time_limit).await
            }
            Some(answer) => answer,
        };
        let answer = answer.map_err(|failure| match failure.error {
            // It knows neither method. A program such as `cat` sends our own refusal back.
            UpstreamError::Refused { server, code: METHOD_NOT_FOUND, .. } => {
                UpstreamError::NotMcp { server, reason: "it rejects `initialize` and `server/discover`" }
            }
            error => error,
        })?;
        let unreadable = || UpstreamError::Unreadable {
            server: self.calls.server(),
            reason: "to the handshake is not an object".into(),
        };
        let handshake: Map<String, Value> = serde_json::from_str(answer.get()).map_err(|_| unreadable())?;
        if let Some(name) = info(&handshake, "name") {
            self.calls.rename(&self.mask().apply(name));
        }
        if self.meta.get().is_none() {
            if let (Some(endpoint), Some(Value::String(version))) =
                (&self.endpoint, handshake.get("protocolVersion"))
            {
                endpoint.set_version(version);
            }
            self.calls.send(message::notification("notifications/initialized", None)).await;
        }
        let _ = self.handshake.set(self.masked_members(handshake));
        if let Some(endpoint) = &self.endpoint {
            endpoint.mark_initialized();
        }
        Ok(())
    }

    /// Returns a conversation without a handshake with the same server; `None` if the server does not support that. Programs
    /// are not asked: they have one conversation.
    pub(super) async fn stateless(self: &Arc<Self>, limit: usize) -> Option<Arc<UpstreamSession>> {
        if self.meta.get().is_some() {
            return Some(Arc::clone(self));
        }
        let endpoint = self.endpoint.as_ref()?;
        let open = || async {
            let link = UpstreamLink::Endpoint(Arc::clone(endpoint));
            let (server, changes) = (self.calls.server(), Changes::default());
            let opening = SessionOpening::Stateless;
            let started = UpstreamSession::start(
                &link,
                (&server, &self.questions),
                limit,
                changes,
                DISCOVER_TIMEOUT,
                opening,
            )
            .await
            .ok()?;
            let versions = started.handshake().get("supportedVersions").cloned().unwrap_or_default();
            let is_supported =
                versions.as_array().is_some_and(|all| all.iter().any(|one| one == STATELESS_REVISION));
            is_supported.then(|| Arc::new(started))
        };
        self.stateless.get_or_init(open).await.clone()
    }

    /// The server's answer to the handshake.
    pub(super) fn handshake(&self) -> Map<String, Value> {
        self.handshake.get().cloned().unwrap_or_default()
    }

    /// The server's name and version.
    pub(super) fn name_and_version(&self) -> (String, String) {
        let version = self.handshake.get().and_then(|handshake| info(handshake, "version"));
        (self.calls.server(), version.unwrap_or_default().to_owned())
    }

    /// The mask for answers of the server, in case it repeats credentials that it was given.
    fn answer_mask(&self) -> Mask {
        match &self.endpoint {
            Some(endpoint) => endpoint.mask(),
            None => self.masks.answers.clone(),
        }
    }

    /// Returns an object without the credentials that the server was given.
    fn masked_members(&self, members: Map<String, Value>) -> Map<String, Value> {
        let mask = self.answer_mask();
        if mask.is_empty() {
            return members;
        }
        let mut value = Value::Object(members);
        mask.apply_value(&mut value);
        object(value)
    }

    /// Returns a list of tools without the credentials that the server was given. The names of the tools stay: a tool
    /// must be called by exactly the name that the server gives it.
    pub(super) fn tools_without_credentials(&self, answer: Box<RawValue>) -> Box<RawValue> {
        if !self.answer_mask().contains_secret(answer.get()) {
            return answer;
        }
        let mut list: Map<String, Value> = serde_json::from_str(answer.get()).unwrap_or_default();
        for tool in list.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
            if let Value::Object(members) = tool {
                let name = members.get("name").cloned();
                let mut masked = self.masked_members(std::mem::take(members));
                if let (Some(name), Some(shown)) = (name, masked.get_mut("name")) {
                    *shown = name;
                }
                *members = masked;
            }
        }
        serde_json::value::to_raw_value(&list).unwrap_or(answer)
    }

    /// Returns an answer without the credentials that the server was given, in case it repeats them.
    pub(super) fn without_credentials(&self, answer: Box<RawValue>) -> Box<RawValue> {
        let mask = self.answer_mask();
        if !mask.contains_secret(answer.get()) {
            return answer;
        }
        let masked = RawValue::from_string(mask.apply(answer.get()).into_owned());
        masked.unwrap_or_else(|_| {
            // The secret is a bare number, so its replacement needs quotes.
            let mut value = serde_json::from_str::<Value>(answer.get()).unwrap_or_default();
            mask.apply_value(&mut value);
            serde_json::value::to_raw_value(&value).unwrap_or_default()
        })
    }

    /// The mask for errors of the server.
    pub(super) fn mask(&self) -> Mask {
        match &self.endpoint {
            Some(endpoint) => endpoint.mask(),
            None => self.masks.errors.clone(),
        }
    }

    pub(super) fn calls(&self) -> &Arc<Calls> {
        &self.calls
    }

    /// Runs one call. In revisions without a handshake, a server requests input with its answer, and the request is
    /// sent again with the caller's input.
    pub(super) async fn ask(
        &self,
        method: &str,
        params: &Map<String, Value>,
        caller: &Caller,
        time_limit: Duration,
    ) -> Result<Box<RawValue>, CallFailure> {
        // On the heap, to keep the futures of callers small.
        if let Some(level) = self.level_to_set(method, caller) {
            let params = object(json!({"level": level}));
            let nobody = Caller::nobody();
            let set = self.ask_once(SET_LEVEL, &params, &nobody, time_limit.min(SET_LEVEL_TIMEOUT));
            // If the server ignores the level, it logs as it likes; callers still receive only what they want.
            let _ = Box::pin(set).await;
        }
        let mut answer = Box::pin(self.ask_once(method, params, caller, time_limit)).await?;
        // A client that answers questions itself gets them with the result.
        if self.meta.get().is_none() || caller.input().is_some() {
            return Ok(answer);
        }
        for _ in 0..MAX_INPUT_ROUNDS {
            let Some(required) = InputRequired::read(&answer) else { return Ok(answer) };
            let mut with_answers = params.clone();
            with_answers.extend(Box::pin(required.collect_answers(caller, &self.questions)).await);
            answer = Box::pin(self.ask_once(method, &with_answers, caller, time_limit)).await?;
        }
        let reason = "requests input too often".into();
        Err(UpstreamError::Unreadable { server: self.calls.server(), reason }.into())
    }

    /// Returns whether the server declares logging.
    fn supports_logging(&self) -> bool {
        let capabilities = self.handshake.get().and_then(|handshake| handshake.get("capabilities"));
        capabilities.and_then(|all| all.get("logging")).is_some_and(Value::is_object)
    }

    /// Returns the log level to set before a call, if it changes: the lowest level that this caller or a caller of a
    /// running call wants. Once a level was set, callers without a level count as wanting `info`.
    fn level_to_set(&self, method: &str, caller: &Caller) -> Option<LogLevel> {
        if !is_work(method) || self.meta.get().is_some() || !self.supports_logging() {
            return None;
        }
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let default = level.map(|_| LogLevel::Info);
        let filters = self.calls.log_filters().into_iter().chain([caller.log_filter()]);
        let wanted = filters.filter_map(|filter| match filter {
            LogFilter::Nothing => None,
            LogFilter::Everything => default,
            LogFilter::From(level) => Some(level),
        });
        let wanted = wanted.min()?;
        (level.replace(wanted) != Some(wanted)).then_some(wanted)
    }

    /// Sends one request and waits for its answer. Progress reports and answered questions restart the time limit.
    async fn ask_once(
        &self,
        method: &str,
        params: &Map<String, Value>,
        caller: &Caller,
        time_limit: Duration,
    ) -> Result<Box<RawValue>, CallFailure> {
        let time_limit = time_limit.min(FOREVER);
        let mut pending = self
            .calls
            .begin_call(method, CrashCause::of(method, params, caller), caller)
            .map_err(CallFailure::unseen)?;
        let mut posting = self.post(&pending, method, params, caller);
        let mut posted = false;
        let mut questions = FuturesUnordered::new();
        let mut deadline = Instant::now() + time_limit;
        loop {
            tokio::select! {
                biased;
                Some(event) = pending.events.recv() => match event {
                    CallEvent::Notification { method, params } => caller.notify(&method, params).await,
                    CallEvent::Question { id, ability, params } => {
                        pending.open.push(id.clone());
                        questions.push(answer_question(id, ability, params, (caller, &self.questions)));
                    }
                },
                outcome = &mut pending.answer => {
                    if !posted && self.endpoint.is_some() {
                        tokio::spawn(timeout(DRAIN_TIMEOUT, posting));
                    }
                    return outcome.unwrap_or_else(|_| Err(self.gone())).map_err(CallFailure::from);
                }
                Some((id, answer)) = questions.next() => {
                    pending.open.retain(|open| open.get() != id.get());
                    self.calls.try_send(answer);
                    deadline = Instant::now() + time_limit;
                }
                outcome = &mut posting, if !posted => {
                    outcome?;
                    posted = true;
                }
                () = sleep_until(deadline) => {
                    let extended = pending.last_progress().map(|last| last + time_limit);
                    match extended.filter(|until| *until > Instant::now()) {
                        Some(until) => deadline = until,
                        None if !questions.is_empty() => deadline = Instant::now() + time_limit,
                        None => return Err(self.timed_out(time_limit).into()),
                    }
                }
            }
        }
    }

    /// Sends the request. Over HTTP this also reads the answer.
    fn post(
        &self,
        pending: &PendingCall,
        method: &str,
        params: &Map<String, Value>,
        caller: &Caller,
    ) -> BoxFuture<'static, Result<(), CallFailure>> {
        let id = pending.id;
        let mut meta = self.meta.get().cloned().unwrap_or_default();
        if let (false, LogFilter::From(level)) =
            (meta.is_empty() || !self.supports_logging(), caller.log_filter())
        {
            meta.insert(LOG_LEVEL.into(), json!(level));
        }
        if let (false, Some(input)) = (meta.is_empty(), caller.input()) {
            // The server asks only what the client supports.
            meta.insert(CLIENT_CAPABILITIES.into(), input.capabilities.clone());
        }
        if method == "tools/call" {
            meta.insert("progressToken".into(), id.into());
        }
        let name = ["name", "uri"].into_iter().find_map(|key| params.get(key)?.as_str()).map(str::to_owned);
        let line = message::request(id, method, params, meta);
        let calls = Arc::clone(&self.calls);
        match &self.endpoint {
            // If it cannot be sent, the conversation is about to end, and its end has the reason.
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
            reason: "disconnected".to_owned(),
            cause: None,
            retry_after: None,
        })
    }

    fn timed_out(&self, after: Duration) -> UpstreamError {
        UpstreamError::Timeout { server: self.calls.server(), after }
    }

    /// Ends the conversation and waits until its program is gone.
    pub(super) async fn close(&self) {
        self.closing.cancel();
        let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(keeper) = keeper {
            let _ = timeout(CLOSE_TIMEOUT, keeper).await;
        }
    }
}

/// Returns whether a result requests input instead of answering.
pub(crate) fn is_input_required(answer: &RawValue) -> bool {
    InputRequired::read(answer).is_some()
}

/// A result that requests input instead of answering.
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
        // A cheap check that most other results fail.
        let is_candidate = answer.get().contains("\"input_required\"");
        let required: InputRequired =
            is_candidate.then(|| serde_json::from_str(answer.get()).ok()).flatten()?;
        (required.result_type == "input_required").then_some(required)
    }

    /// Returns the additional parameters for sending the request again. Questions without an answer are omitted.
    async fn collect_answers(self, caller: &Caller, source: &QuestionSource) -> Map<String, Value> {
        let mut responses = Map::new();
        for (key, request) in self.input_requests {
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
            let params = request.get("params").cloned().unwrap_or_else(|| json!({}));
            let answer = match Ability::from_method(method) {
                Some(ability) => ask_caller(ability, params, (caller, source)).await.ok(),
                None => None,
            };
            responses.extend(answer.map(|answer| (key, answer)));
        }
        let mut params = Map::new();
        params.insert("inputResponses".into(), responses.into());
        params.extend(self.request_state.map(|state| ("requestState".to_owned(), state)));
        params
    }
}

/// Asks the caller, and returns the message for the upstream.
async fn answer_question(
    id: Box<RawValue>,
    ability: Ability,
    params: Value,
    asked: (&Caller, &QuestionSource),
) -> (Box<RawValue>, String) {
    let outcome = ask_caller(ability, params, asked).await;
    let answer = message::answer(&id, outcome);
    (id, answer)
}

/// Returns the caller's answer, or an error instead.
async fn ask_caller(
    ability: Ability,
    mut params: Value,
    (caller, source): (&Caller, &QuestionSource),
) -> Result<Value, Value> {
    if !source.is_allowed() {
        return no_answer(ability);
    }
    source.name_in(ability, &mut params);
    if let Some(adapter) = source.adapter() {
        links::address_messages(adapter, &mut params);
    }
    ask_with_timeout(QUESTION_TIMEOUT, ability, caller.ask(ability, params)).await
}

/// Waits for an answer. A user who does not answer in time has not agreed to anything.
async fn ask_with_timeout(
    time_limit: Duration,
    ability: Ability,
    asking: impl Future<Output = Result<Value, AskError>>,
) -> Result<Value, Value> {
    match timeout(time_limit, asking).await {
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

fn info<'a>(handshake: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    handshake.get("serverInfo")?.get(key)?.as_str().filter(|text| !text.is_empty())
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
    async fn a_question_without_an_answer_in_time_is_not_agreed_to() {
        let late = |ability| ask_with_timeout(Duration::ZERO, ability, pending());
        assert_eq!(late(Ability::Elicitation).await, Ok(json!({"action": "cancel"})));
        assert_eq!(late(Ability::Sampling).await.unwrap_err()["code"], -32000);
    }

    #[tokio::test]
    async fn answers_and_refusals_are_passed_on_unchanged() {
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
