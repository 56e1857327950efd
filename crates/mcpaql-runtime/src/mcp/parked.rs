//! Calls that wait for their client, in revisions without a handshake. In these revisions, the server answers the
//! request with its question. The client then sends the request again, with its answer.
//!
//! What always holds:
//! - A resumed call continues where it was parked, so nothing runs twice.
//! - The state that resumes a call cannot be guessed, works once and only for the same tool.
//! - At most [`MAX_PARKED_CALLS`] calls are parked, and none for longer than [`PARKED_TIMEOUT`].
//! - A call that is not resumed is dropped, which stops its work.

use super::call::without_panic;
use super::client::{self, Abilities, Question, QuestionChannel};
use super::handler;
use super::logging::LogFilterSource;
use crate::caller::{Ability, AskError, Caller, ClientInput, Progress, Session};
use crate::service::Service;
use futures_util::future::BoxFuture;
use mcpaql_core::response::ToolReply;
use rmcp::model::{ClientCapabilities, InputRequest, InputRequiredResult, InputResponses};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

/// Maximum number of calls that wait for their clients at the same time.
const MAX_PARKED_CALLS: usize = 256;
/// How long a call waits for its client.
const PARKED_TIMEOUT: Duration = Duration::from_secs(600);
/// The key of the question; there is one question at a time.
const QUESTION_KEY: &str = "question";

/// A call that can be parked.
pub(super) struct ParkableCall {
    tool: String,
    pub(super) caller: Caller,
    work: BoxFuture<'static, Option<ToolReply>>,
    pub(super) progress: watch::Receiver<Progress>,
    questions: mpsc::Receiver<Question>,
    answer_sender: Option<oneshot::Sender<Result<Value, AskError>>>,
}

/// The next event in a call.
pub(super) enum CallStep {
    Done(Option<ToolReply>),
    Asks(Question),
}

impl ParkableCall {
    /// Returns whether the client of a request supports questions in this way.
    pub(super) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
        let able = |capabilities: ClientCapabilities| Abilities::from_capabilities(&capabilities).is_any();
        handler::is_stateless(context) && context.client_capabilities().is_some_and(able)
    }

    /// Starts a call whose client can be asked.
    pub(super) fn begin<S: Service>(
        service: &Arc<S>,
        (tool, arguments): (&str, Map<String, Value>),
        context: &RequestContext<RoleServer>,
        (session, input): (Option<Session>, Option<ClientInput>),
        log_filter_source: LogFilterSource,
    ) -> ParkableCall {
        let (mailbox, questions) = mpsc::channel(1);
        let (mut caller, progress) =
            client::caller(context, QuestionChannel::Mail(mailbox), session, log_filter_source);
        if let Some(input) = input {
            caller = caller.with_input(input);
        }
        let (service, name, work_caller) = (Arc::clone(service), tool.to_owned(), caller.clone());
        let work =
            async move { without_panic(async { service.call(&name, arguments, &work_caller).await }).await };
        ParkableCall {
            tool: tool.to_owned(),
            caller,
            work: Box::pin(work),
            progress,
            questions,
            answer_sender: None,
        }
    }

    /// Runs until there is an answer or a question.
    pub(super) async fn step(&mut self) -> CallStep {
        tokio::select! {
            biased;
            reply = &mut self.work => CallStep::Done(reply),
            Some(question) = self.questions.recv() => CallStep::Asks(question),
        }
    }

    /// Passes on the client's answer. Without an answer the question is dropped.
    fn answer(&mut self, responses: Option<&InputResponses>) {
        let answer = responses.and_then(|responses| responses.get(QUESTION_KEY).cloned());
        if let (Some(sender), Some(answer)) = (self.answer_sender.take(), answer) {
            // A call that has ended needs no answer.
            let _ = sender.send(Ok(answer));
        }
    }
}

/// The parked calls.
#[derive(Default)]
pub(super) struct ParkedCalls {
    calls: Mutex<HashMap<String, ParkableCall>>,
}

impl ParkedCalls {
    fn calls(&self) -> MutexGuard<'_, HashMap<String, ParkableCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Parks a call until its client has answered. If that is not possible, returns the call and drops the question.
    pub(super) fn park(
        self: &Arc<Self>,
        mut call: ParkableCall,
        question: Question,
    ) -> Result<InputRequiredResult, Box<ParkableCall>> {
        let Question { ability, params, answer } = question;
        let request = json!({"method": ability.method(), "params": params});
        let request = match ability {
            Ability::Elicitation | Ability::UrlElicitation => {
                serde_json::from_value(request).map(InputRequest::Elicitation)
            }
            Ability::Sampling => serde_json::from_value(request).map(InputRequest::CreateMessage),
        };
        let Ok(request) = request else { return Err(Box::new(call)) };
        let state = format!("{}{}", Uuid::now_v7().simple(), Uuid::now_v7().simple());
        {
            let mut calls = self.calls();
            if calls.len() >= MAX_PARKED_CALLS {
                return Err(Box::new(call));
            }
            call.answer_sender = Some(answer);
            calls.insert(state.clone(), call);
        }
        let (parked, expired) = (Arc::downgrade(self), state.clone());
        tokio::spawn(async move {
            tokio::time::sleep(PARKED_TIMEOUT).await;
            let call = parked.upgrade().and_then(|parked| parked.calls().remove(&expired));
            drop(call);
        });
        let requests = [(QUESTION_KEY.to_owned(), request)].into_iter().collect();
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// Takes a parked call of this tool, with the client's answer.
    pub(super) fn resume(
        &self,
        state: &str,
        tool: &str,
        responses: Option<&InputResponses>,
    ) -> Option<ParkableCall> {
        let mut calls = self.calls();
        let is_same = calls.get(state).is_some_and(|call| call.tool == tool);
        let mut call = is_same.then(|| calls.remove(state)).flatten()?;
        drop(calls);
        call.answer(responses);
        Some(call)
    }
}
