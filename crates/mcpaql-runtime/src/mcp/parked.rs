//! Calls that wait for their client in the revisions without a handshake: there a question is the answer to the request, and the
//! client's answer comes with the request again.
//!
//! What always holds: a call that is put aside is the very call that goes on, so nothing runs twice; what leads back to it cannot
//! be guessed, works once and only for the same tool; there are never more than [`MAX_PARKED_CALLS`], and none waits longer than
//! [`PATIENCE`]. A call that nobody comes back for is dropped, which stops its work.

use super::call::without_panic;
use super::client::{self, Question, QuestionChannel};
use super::handler;
use super::logging::LogFilterSource;
use super::questions::Abilities;
use crate::caller::{AskError, Caller, Progress, Session};
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

/// Calls that wait for their clients at the same time.
const MAX_PARKED_CALLS: usize = 256;
/// How long a call waits for its client.
const PARKED_TIMEOUT: Duration = Duration::from_secs(600);
/// The one question of a round.
const QUESTION_KEY: &str = "question";

/// A call that can be put aside.
pub(super) struct ParkableCall {
    tool: String,
    pub(super) caller: Caller,
    work: BoxFuture<'static, Option<ToolReply>>,
    pub(super) progress: watch::Receiver<Progress>,
    questions: mpsc::Receiver<Question>,
    answer_sender: Option<oneshot::Sender<Result<Value, AskError>>>,
}

/// What comes next in a call.
pub(super) enum CallStep {
    Done(Option<ToolReply>),
    Asks(Question),
}

impl ParkableCall {
    /// Whether the client of a request can be asked this way, and for anything.
    pub(super) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
        let able = |all: ClientCapabilities| Abilities::from_capabilities(&all).is_any();
        handler::is_stateless(context) && context.client_capabilities().is_some_and(able)
    }

    /// Begins a call whose client can be asked this way.
    pub(super) fn begin<S: Service>(
        service: &Arc<S>,
        tool: &str,
        arguments: Map<String, Value>,
        context: &RequestContext<RoleServer>,
        session: Option<Session>,
        hearing: LogFilterSource,
    ) -> ParkableCall {
        let (mailbox, questions) = mpsc::channel(1);
        let (caller, progress) = client::caller(context, QuestionChannel::Mail(mailbox), session, hearing);
        let (service, name, by) = (Arc::clone(service), tool.to_owned(), caller.clone());
        let work = async move {
            let called = without_panic(async { service.call(&name, arguments, &by).await });
            called.await
        };
        ParkableCall {
            tool: tool.to_owned(),
            caller,
            work: Box::pin(work),
            progress,
            questions,
            answer_sender: None,
        }
    }

    /// Goes on until there is an answer or a question.
    pub(super) async fn step(&mut self) -> CallStep {
        tokio::select! {
            biased;
            reply = &mut self.work => CallStep::Done(reply),
            Some(question) = self.questions.recv() => CallStep::Asks(question),
        }
    }

    /// Hands over what the client answered. Without an answer the question is given up.
    fn answer(&mut self, responses: Option<InputResponses>) {
        let answer = responses.and_then(|mut responses| responses.remove(QUESTION_KEY));
        if let (Some(asked), Some(answer)) = (self.answer_sender.take(), answer) {
            // A call that has ended meanwhile needs no answer.
            let _ = asked.send(Ok(answer));
        }
    }
}

/// The calls that are put aside.
#[derive(Default)]
pub(super) struct ParkedCalls {
    calls: Mutex<HashMap<String, ParkableCall>>,
}

impl ParkedCalls {
    fn calls(&self) -> MutexGuard<'_, HashMap<String, ParkableCall>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a call aside until its client has answered; the call back where that cannot be, its question given up.
    pub(super) fn park(
        self: &Arc<Self>,
        mut call: ParkableCall,
        question: Question,
    ) -> Result<InputRequiredResult, Box<ParkableCall>> {
        let Question { ability, params, answer } = question;
        let request = json!({"method": ability.method(), "params": params});
        let Ok(request) = serde_json::from_value::<InputRequest>(request) else { return Err(Box::new(call)) };
        let state = format!("{}{}", Uuid::now_v7().simple(), Uuid::now_v7().simple());
        {
            let mut calls = self.calls();
            if calls.len() >= MAX_PARKED_CALLS {
                return Err(Box::new(call));
            }
            call.answer_sender = Some(answer);
            calls.insert(state.clone(), call);
        }
        let (parked, place) = (Arc::downgrade(self), state.clone());
        tokio::spawn(async move {
            tokio::time::sleep(PARKED_TIMEOUT).await;
            let late = parked.upgrade().and_then(|parked| parked.calls().remove(&place));
            drop(late);
        });
        let requests = [(QUESTION_KEY.to_owned(), request)].into_iter().collect();
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// Takes up a call of that tool with what its client answered.
    pub(super) fn resume(
        &self,
        state: &str,
        tool: &str,
        responses: Option<InputResponses>,
    ) -> Option<ParkableCall> {
        let mut calls = self.calls();
        let is_same = calls.get(state).is_some_and(|call| call.tool == tool);
        let mut call = is_same.then(|| calls.remove(state)).flatten()?;
        drop(calls);
        call.answer(responses);
        Some(call)
    }
}
