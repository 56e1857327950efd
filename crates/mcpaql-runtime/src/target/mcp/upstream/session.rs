//! One conversation with an upstream: the handshake, then any number of calls side by side.
//!
//! A call is one future. It sends, waits, puts the upstream's questions to its caller and passes notices on, in the order they
//! came; dropping it forgets all of that and tells the upstream to stop.

use super::calls::{Calls, Changes, Event, Ticket, is_work, unanswered};
use super::error::{Failure, UpstreamError};
use super::http::Endpoint;
use super::message::{self, REVISION, STATELESS, UNSUPPORTED_REVISION};
use super::stdio::Program;
use crate::caller::{Ability, Caller, Refused};
use crate::protocol::{LOG_LEVEL, Level, LogWish, METHOD_NOT_FOUND, SET_LEVEL};
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
const SETTING: Duration = Duration::from_secs(2);
/// How long a question may wait for its answer.
const QUESTION: Duration = Duration::from_secs(600);
/// How often a server may ask by its answer.
const ROUNDS: usize = 10;
/// How long the rest of an answer's stream may take, so that its connection can be used again.
const REST: Duration = Duration::from_secs(1);
/// How long closing a conversation may take.
const CLOSING: Duration = Duration::from_secs(5);
/// A timeout past what the clock can hold is no timeout.
const FOREVER: Duration = Duration::from_secs(86_400 * 365);

/// How an upstream is reached.
#[derive(Debug, Clone)]
pub(super) enum Link {
    Program(Arc<Program>),
    Endpoint(Arc<Endpoint>),
}

/// A conversation. Dropping it ends it, and the program behind it.
pub(super) struct Session {
    calls: Arc<Calls>,
    /// Where requests are posted; without one they go to a program's input.
    endpoint: Option<Arc<Endpoint>>,
    /// What the program was given in confidence.
    mask: Mask,
    greeting: OnceLock<Map<String, Value>>,
    /// What each request carries in revisions without a handshake.
    meta: OnceLock<Map<String, Value>>,
    /// The level that the server was told to log from.
    level: Mutex<Option<Level>>,
    closing: CancellationToken,
    keeper: Mutex<Option<JoinHandle<()>>>,
}

impl Drop for Session {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

impl Session {
    /// Starts the server where it is a program, and greets it.
    pub(super) async fn start(
        link: &Link,
        server: &str,
        limit: usize,
        changes: Changes,
        patience: Duration,
    ) -> Result<Session, UpstreamError> {
        let (calls, outgoing) = Calls::new(server, limit, changes);
        let closing = CancellationToken::new();
        let (endpoint, keeper, mask) = match link {
            Link::Program(program) => {
                let (keeper, mask) = program.start(&calls, outgoing, limit, closing.clone())?;
                let confided = mask.clone();
                calls.hide(move || confided.clone());
                (None, keeper, mask)
            }
            Link::Endpoint(endpoint) => {
                let endpoint = Arc::new(endpoint.fresh());
                let confided = Arc::clone(&endpoint);
                calls.hide(move || confided.mask());
                let keeper =
                    tokio::spawn(Arc::clone(&endpoint).keep(Arc::clone(&calls), outgoing, closing.clone()));
                (Some(endpoint), keeper, Mask::default())
            }
        };
        let (greeting, meta) = (OnceLock::new(), OnceLock::new());
        let keeper = Mutex::new(Some(keeper));
        let level = Mutex::new(None);
        let session = Session { calls, endpoint, mask, greeting, meta, level, closing, keeper };
        match timeout(patience, session.greet(patience)).await {
            // What the server says against us may hold what it was told in confidence.
            Ok(greeted) => greeted.map_err(|error| error.masked(&session.mask()))?,
            Err(_) => return Err(UpstreamError::Timeout { server: server.to_owned(), after: patience }),
        }
        Ok(session)
    }

    async fn greet(&self, patience: Duration) -> Result<(), UpstreamError> {
        let hello = json!({
            "protocolVersion": REVISION,
            "capabilities": message::capabilities(),
            "clientInfo": message::client_info(),
        });
        let nobody = Caller::nobody();
        let greeting = match self.ask("initialize", &object(hello), &nobody, patience).await {
            Err(Failure {
                error: UpstreamError::Refused { code: METHOD_NOT_FOUND | UNSUPPORTED_REVISION, .. },
                ..
            }) => {
                let _ = self.meta.set(message::stateless_meta());
                if let Some(endpoint) = &self.endpoint {
                    endpoint.speak(STATELESS);
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
                endpoint.speak(version);
            }
            self.calls.send(message::notification("notifications/initialized", None)).await;
        }
        let _ = self.greeting.set(greeting);
        if let Some(endpoint) = &self.endpoint {
            endpoint.greeted();
        }
        Ok(())
    }

    /// The server's answer to the handshake.
    pub(super) fn greeting(&self) -> Map<String, Value> {
        self.greeting.get().cloned().unwrap_or_default()
    }

    /// Name and version of the server, as it says.
    pub(super) fn about(&self) -> (String, String) {
        let version = self.greeting.get().and_then(|greeting| info(greeting, "version"));
        (self.calls.server(), version.unwrap_or_default().to_owned())
    }

    /// An answer without what was sent along to be let in, should the server echo it.
    pub(super) fn without_credentials(&self, answer: Box<RawValue>) -> Box<RawValue> {
        let mask = self.endpoint.as_ref().map(|endpoint| endpoint.mask()).unwrap_or_default();
        if !mask.finds(answer.get()) {
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
    ) -> Result<Box<RawValue>, Failure> {
        // On the heap, because these stand in the futures of all who call.
        if let Some(level) = self.level_to_set(method, caller) {
            let params = object(json!({"level": level}));
            let nobody = Caller::nobody();
            let set = self.ask_once(SET_LEVEL, &params, &nobody, patience.min(SETTING));
            // A server that does not follow logs as it likes, and our callers hear no more than they want.
            let _ = Box::pin(set).await;
        }
        let mut answer = Box::pin(self.ask_once(method, params, caller, patience)).await?;
        if self.meta.get().is_none() {
            return Ok(answer);
        }
        for _ in 0..ROUNDS {
            let Some(asked) = InputRequired::read(&answer) else { return Ok(answer) };
            let mut again = params.clone();
            again.extend(Box::pin(asked.answered_by(caller)).await);
            answer = Box::pin(self.ask_once(method, &again, caller, patience)).await?;
        }
        let reason = "asks for more and more".into();
        Err(UpstreamError::Unreadable { server: self.calls.server(), reason }.into())
    }

    /// Whether the server says that it logs.
    fn logs(&self) -> bool {
        let capabilities = self.greeting.get().and_then(|greeting| greeting.get("capabilities"));
        capabilities.and_then(|all| all.get("logging")).is_some_and(Value::is_object)
    }

    /// The level to be set before a call begins, where it changes: the most talkative one that this caller or one whose call
    /// runs wants. Once a level was set, who never named one counts as wanting what is usual.
    fn level_to_set(&self, method: &str, caller: &Caller) -> Option<Level> {
        if !is_work(method) || self.meta.get().is_some() || !self.logs() {
            return None;
        }
        let mut level = self.level.lock().unwrap_or_else(PoisonError::into_inner);
        let usual = level.map(|_| Level::Info);
        let wishes = self.calls.log_wishes().into_iter().chain([caller.log_wish()]);
        let wanted = wishes.filter_map(|wish| match wish {
            LogWish::Nothing => None,
            LogWish::Everything => usual,
            LogWish::From(level) => Some(level),
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
    ) -> Result<Box<RawValue>, Failure> {
        let patience = patience.min(FOREVER);
        let mut ticket = self.calls.open(method, caller).map_err(Failure::unseen)?;
        let mut posting = self.post(&ticket, method, params, caller);
        let mut posted = false;
        let mut questions = FuturesUnordered::new();
        let mut deadline = Instant::now() + patience;
        loop {
            tokio::select! {
                biased;
                Some(event) = ticket.events.recv() => match event {
                    Event::Notice { method, params } => caller.notify(&method, params).await,
                    Event::Question { id, ability, params } => {
                        ticket.open.push(id.clone());
                        questions.push(question(id, ability, params, caller));
                    }
                },
                outcome = &mut ticket.answer => {
                    if !posted && self.endpoint.is_some() {
                        tokio::spawn(timeout(REST, posting));
                    }
                    return outcome.unwrap_or_else(|_| Err(self.gone())).map_err(Failure::from);
                }
                Some((id, answer)) = questions.next() => {
                    ticket.open.retain(|open| open.get() != id.get());
                    self.calls.send_aside(answer);
                    deadline = Instant::now() + patience;
                }
                outcome = &mut posting, if !posted => {
                    outcome?;
                    posted = true;
                }
                () = sleep_until(deadline) => {
                    let heard = ticket.last_heard().map(|heard| heard + patience);
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
        ticket: &Ticket,
        method: &str,
        params: &Map<String, Value>,
        caller: &Caller,
    ) -> BoxFuture<'static, Result<(), Failure>> {
        let id = ticket.id;
        let mut meta = self.meta.get().cloned().unwrap_or_default();
        if let (false, LogWish::From(level)) = (meta.is_empty() || !self.logs(), caller.log_wish()) {
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
            let _ = timeout(CLOSING, keeper).await;
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
    async fn answered_by(self, caller: &Caller) -> Map<String, Value> {
        let mut responses = Map::new();
        for (key, request) in self.input_requests {
            let method = request.get("method").and_then(Value::as_str).unwrap_or_default();
            let params = request.get("params").cloned().unwrap_or_else(|| json!({}));
            let answer = match Ability::of(method) {
                Some(ability) => put(ability, params, caller).await.ok(),
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
async fn question(
    id: Box<RawValue>,
    ability: Ability,
    params: Value,
    caller: &Caller,
) -> (Box<RawValue>, String) {
    let outcome = put(ability, params, caller).await;
    let answer = message::answer(&id, outcome);
    (id, answer)
}

/// The caller's answer, or the error that stands for it.
async fn put(ability: Ability, params: Value, caller: &Caller) -> Result<Value, Value> {
    within(QUESTION, ability, caller.ask(ability, params)).await
}

/// What a question comes to; who does not answer in time has not agreed to anything.
async fn within(
    patience: Duration,
    ability: Ability,
    asking: impl Future<Output = Result<Value, Refused>>,
) -> Result<Value, Value> {
    match timeout(patience, asking).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(Refused::Error { code, message, data })) => {
            let mut error = json!({"code": code, "message": message});
            if let (Some(data), Some(fields)) = (data, error.as_object_mut()) {
                fields.insert("data".into(), data);
            }
            Err(error)
        }
        Ok(Err(Refused::Unable(_) | Refused::Gone)) | Err(_) => unanswered(ability),
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
        let late = |ability| within(Duration::ZERO, ability, pending());
        assert_eq!(late(Ability::Elicitation).await, Ok(json!({"action": "cancel"})));
        assert_eq!(late(Ability::Sampling).await.unwrap_err()["code"], -32000);
    }

    #[tokio::test]
    async fn an_answer_goes_back_as_it_is_and_so_does_a_refusal() {
        let answered = |answer| within(QUESTION, Ability::Elicitation, ready(answer));
        let answer = json!({"action": "decline", "x-odd": 1});
        assert_eq!(answered(Ok(answer.clone())).await, Ok(answer));
        let refused = Refused::Error { code: 7, message: "no".to_owned(), data: Some(json!([1])) };
        assert_eq!(answered(Err(refused)).await, Err(json!({"code": 7, "message": "no", "data": [1]})));
        for nobody in [Refused::Gone, Refused::Unable(Ability::Elicitation)] {
            assert_eq!(answered(Err(nobody)).await, Ok(json!({"action": "cancel"})));
        }
    }
}
