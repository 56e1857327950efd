//! Calls that wait for their client in the revisions without a handshake: there a question is the answer to the request, and the
//! client's answer comes with the request again.
//!
//! What always holds: a call that is put aside is the very call that goes on, so nothing runs twice; what leads back to it cannot
//! be guessed, works once and only for the same tool; there are never more than [`MAX_PARKED_CALLS`], and none waits longer than
//! [`PATIENCE`]. A call that nobody comes back for is dropped, which stops its work.

use super::call::without_panic;
use super::client::{self, Asking, Question};
use super::handler;
use super::logging::Hearing;
use super::questions::Abilities;
use crate::caller::{Caller, Progress, Refused, Session};
use crate::service::Service;
use futures_util::future::BoxFuture;
use mcpaql_core::response::Reply;
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
const PATIENCE: Duration = Duration::from_secs(600);
/// The one question of a round.
const KEY: &str = "question";

/// A call that can be put aside.
pub(super) struct Call {
    tool: String,
    pub(super) caller: Caller,
    work: BoxFuture<'static, Option<Reply>>,
    pub(super) progress: watch::Receiver<Progress>,
    questions: mpsc::Receiver<Question>,
    asked: Option<oneshot::Sender<Result<Value, Refused>>>,
}

/// What comes next in a call.
pub(super) enum Step {
    Done(Option<Reply>),
    Asks(Question),
}

impl Call {
    /// Whether the client of a request can be asked this way, and for anything.
    pub(super) fn can_ask(context: &RequestContext<RoleServer>) -> bool {
        let able = |all: ClientCapabilities| Abilities::declared(&all).is_any();
        handler::is_stateless(context) && context.client_capabilities().is_some_and(able)
    }

    /// Begins a call whose client can be asked this way.
    pub(super) fn begin<S: Service>(
        service: &Arc<S>,
        tool: &str,
        arguments: Map<String, Value>,
        context: &RequestContext<RoleServer>,
        session: Option<Session>,
        hearing: Hearing,
    ) -> Call {
        let (mailbox, questions) = mpsc::channel(1);
        let (caller, progress) = client::caller(context, Asking::Mail(mailbox), session, hearing);
        let (service, name, by) = (Arc::clone(service), tool.to_owned(), caller.clone());
        let work = async move {
            let called = without_panic(async { service.call(&name, arguments, &by).await });
            called.await
        };
        Call { tool: tool.to_owned(), caller, work: Box::pin(work), progress, questions, asked: None }
    }

    /// Goes on until there is an answer or a question.
    pub(super) async fn step(&mut self) -> Step {
        tokio::select! {
            biased;
            reply = &mut self.work => Step::Done(reply),
            Some(question) = self.questions.recv() => Step::Asks(question),
        }
    }

    /// Hands over what the client answered. Without an answer the question is given up.
    fn answer(&mut self, responses: Option<InputResponses>) {
        let answer = responses.and_then(|mut responses| responses.remove(KEY));
        if let (Some(asked), Some(answer)) = (self.asked.take(), answer) {
            // A call that has ended meanwhile needs no answer.
            let _ = asked.send(Ok(answer));
        }
    }
}

/// The calls that are put aside.
#[derive(Default)]
pub(super) struct Parked {
    calls: Mutex<HashMap<String, Call>>,
}

impl Parked {
    fn calls(&self) -> MutexGuard<'_, HashMap<String, Call>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a call aside until its client has answered; the call back where that cannot be, its question given up.
    pub(super) fn ask(
        self: &Arc<Self>,
        mut call: Call,
        question: Question,
    ) -> Result<InputRequiredResult, Box<Call>> {
        let Question { ability, params, answer } = question;
        let request = json!({"method": ability.method(), "params": params});
        let Ok(request) = serde_json::from_value::<InputRequest>(request) else { return Err(Box::new(call)) };
        let state = format!("{}{}", Uuid::now_v7().simple(), Uuid::now_v7().simple());
        {
            let mut calls = self.calls();
            if calls.len() >= MAX_PARKED_CALLS {
                return Err(Box::new(call));
            }
            call.asked = Some(answer);
            calls.insert(state.clone(), call);
        }
        let (parked, place) = (Arc::downgrade(self), state.clone());
        tokio::spawn(async move {
            tokio::time::sleep(PATIENCE).await;
            let late = parked.upgrade().and_then(|parked| parked.calls().remove(&place));
            drop(late);
        });
        let requests = [(KEY.to_owned(), request)].into_iter().collect();
        Ok(InputRequiredResult::new(Some(requests), Some(state)))
    }

    /// Takes up a call of that tool with what its client answered.
    pub(super) fn resume(&self, state: &str, tool: &str, responses: Option<InputResponses>) -> Option<Call> {
        let mut calls = self.calls();
        let is_same = calls.get(state).is_some_and(|call| call.tool == tool);
        let mut call = is_same.then(|| calls.remove(state)).flatten()?;
        drop(calls);
        call.answer(responses);
        Some(call)
    }
}
