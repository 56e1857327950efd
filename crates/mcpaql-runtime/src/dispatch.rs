//! The one path of a call: prepare → gate → limits → target → shape → envelope → record.
//!
//! | step | where |
//! |---|---|
//! | prepare: envelope, operation, endpoint, parameters and their limits | `mcpaql_core::request` |
//! | gate: whether it may run | [`gate`] |
//! | limits: a turn among the calls of the adapter that run at the same time | [`limits`] |
//! | target: who answers, within the target's own limits | [`target`](crate::target), a handler, introspection, executions |
//! | shape: what of the answer goes back | `shape` |
//! | envelope: the answer's text, within the limit of answers | `mcpaql_core::response` |
//! | record: statistics, and failures in the log | [`record`] |
//!
//! What always holds: whichever [`EntryPoint`] a call comes in by, it passes the gate before anything answers it, and it is
//! recorded once. Only this module calls a target, which needs the gate's [`Pass`].

mod features;
mod handlers;
mod shape;
#[cfg(test)]
mod tests;

pub(crate) use features::FeatureSource;
pub use handlers::{HandlerCall, Handlers, Params, given};

use crate::caller::{Caller, EntryPoint};
use crate::execution::{BackgroundTask, Executions};
use crate::gate::{self, GateDecision, GateSubject, Pass};
use crate::limits::{self, RunningCalls};
use crate::protocol::Features;
use crate::record::{self, Stats};
use crate::state::ExecutionOutcome;
use crate::target::mcp::Upstream;
use crate::target::{Args, ClosedTarget, OpenError, Target, TargetCall};
use mcpaql_core::adapter::ErrorPolicy;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::introspect;
use mcpaql_core::lifecycle::Lifecycle;
use mcpaql_core::operation::{Binding, Operation};
use mcpaql_core::request;
use mcpaql_core::response::{self, Answer, ToolReply};
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};

/// One adapter that is being served: what it can do and where its calls go.
#[derive(Debug)]
pub struct ServedAdapter {
    adapter: Arc<Dispatcher>,
    executions: Option<Executions>,
    source: String,
    /// Estimated tokens of the surface, and of a tool for each operation.
    cost: OnceLock<(usize, usize)>,
}

/// What the calls of an adapter need; handlers and work in the background hold on to it.
#[derive(Debug, Clone)]
struct Dispatcher {
    catalog: Arc<Catalog>,
    target: Arc<dyn Target>,
    handlers: Handlers,
    running: Arc<RunningCalls>,
    stats: Arc<Stats>,
}

impl ServedAdapter {
    /// Joins a catalog with its target; `source` is the document's name for reports. Operations that would run in the
    /// background run to their end.
    #[must_use]
    pub fn new(
        catalog: impl Into<Arc<Catalog>>,
        target: Arc<dyn Target>,
        source: impl Into<String>,
    ) -> ServedAdapter {
        let adapter = Dispatcher {
            catalog: catalog.into(),
            target,
            handlers: Handlers::default(),
            running: Arc::default(),
            stats: Arc::default(),
        };
        ServedAdapter {
            adapter: Arc::new(adapter),
            executions: None,
            source: source.into(),
            cost: OnceLock::new(),
        }
    }

    /// An adapter whose target cannot be opened: everything but its calls works, and those are told why they do not.
    #[must_use]
    pub fn closed(
        catalog: impl Into<Arc<Catalog>>,
        source: impl Into<String>,
        error: &OpenError,
    ) -> ServedAdapter {
        let catalog = catalog.into();
        let closed = ClosedTarget::new(&catalog.adapter.name, error);
        ServedAdapter::new(catalog, Arc::new(closed), source)
    }

    /// The same, with somewhere to keep what runs in the background.
    #[must_use]
    pub fn with_executions(self, executions: Executions) -> ServedAdapter {
        ServedAdapter { executions: Some(executions), ..self }
    }

    /// The same with functions of this program in place of some operations.
    #[must_use]
    pub fn with_handlers(self, handlers: Handlers) -> ServedAdapter {
        let adapter = Dispatcher { handlers, ..Dispatcher::clone(&self.adapter) };
        ServedAdapter { adapter: Arc::new(adapter), ..self }
    }

    /// The same with at most this number of calls running at the same time; further ones wait.
    #[must_use]
    pub fn with_running_calls(self, maximum: usize) -> ServedAdapter {
        let running = Arc::new(RunningCalls::new(maximum));
        let adapter = Dispatcher { running, ..Dispatcher::clone(&self.adapter) };
        ServedAdapter { adapter: Arc::new(adapter), ..self }
    }

    /// The same with its calls counted there.
    #[must_use]
    pub fn with_stats(self, stats: Arc<Stats>) -> ServedAdapter {
        let adapter = Dispatcher { stats, ..Dispatcher::clone(&self.adapter) };
        ServedAdapter { adapter: Arc::new(adapter), ..self }
    }

    /// What the adapter can do.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.adapter.catalog
    }

    /// The MCP servers that its calls are passed on to.
    #[must_use]
    pub fn upstreams(&self) -> Vec<&Upstream> {
        self.adapter.target.upstreams()
    }

    /// Whether its target could be opened.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.adapter.target.is_open()
    }

    /// What it has besides operations.
    #[must_use]
    pub fn features(&self) -> Features {
        self.adapter.target.features()
    }

    /// Where prompts and resources are asked for.
    pub(crate) fn feature_source(&self) -> FeatureSource {
        let Dispatcher { catalog, target, running, stats, .. } = &*self.adapter;
        let source = FeatureSource::new(&catalog.adapter.name, Arc::clone(target), Arc::clone(stats));
        FeatureSource { running: Arc::clone(running), ..source }
    }

    /// The document's name, for messages to the operator.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What its surface costs, counted once.
    pub(crate) fn surface_tokens(&self, count: impl FnOnce() -> (usize, usize)) -> (usize, usize) {
        *self.cost.get_or_init(count)
    }

    /// The statistics of its calls.
    #[must_use]
    pub fn stats(&self) -> &Arc<Stats> {
        &self.adapter.stats
    }

    /// A call through one of the adapter's tools. One that runs in the background is answered at once.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> ToolReply {
        let recording = self.adapter.stats.begin(EntryPoint::Tool);
        let outcome = match request::prepare(&self.adapter.catalog, tool, arguments) {
            Ok(call) => self.adapter.run(EntryPoint::Tool, call, self.executions.as_ref(), caller).await,
            Err(error) => Err(error),
        };
        let (reply, error) = self.adapter.envelope(&outcome);
        recording.end(error);
        reply
    }

    /// A call by operation name, whatever tool carries it, to its end: also one that would run in the background.
    ///
    /// # Errors
    /// What is wrong with the call, or what the target had against it.
    pub async fn call_operation(
        &self,
        operation: &str,
        params: Map<String, Value>,
        caller: &Caller,
    ) -> Result<Answer, OpError> {
        let recording = self.adapter.stats.begin(EntryPoint::Operation);
        let outcome = match request::prepare_operation(&self.adapter.catalog, operation, params) {
            Ok(call) => self.adapter.run(EntryPoint::Operation, call, self.executions.as_ref(), caller).await,
            Err(error) => Err(error),
        };
        recording.end(outcome.as_ref().err().map(|error| error.code));
        outcome
    }

    /// Whether calls may go on in the background.
    #[must_use]
    pub fn has_executions(&self) -> bool {
        self.executions.is_some()
    }

    /// What came of a call in the background; `None` where it was not one of this adapter, or may not be asked after.
    pub async fn task(&self, id: &str, caller: &Caller) -> Option<BackgroundTask> {
        let task = self.executions.as_ref()?.task(id, |outcome| self.reply_for(outcome)).await?;
        self.allows_task_request(id, caller).then_some(task)
    }

    /// Stops one; `None` where it was not one of this adapter, or may not be stopped.
    pub async fn cancel_task(&self, id: &str, caller: &Caller) -> Option<BackgroundTask> {
        let executions = self.executions.as_ref()?;
        executions.task(id, |outcome| self.reply_for(outcome)).await?;
        if !self.allows_task_request(id, caller) {
            return None;
        }
        executions.cancel_task(id, |outcome| self.reply_for(outcome)).await
    }

    /// Takes a request about a task of this adapter through the gate, and records it.
    fn allows_task_request(&self, id: &str, caller: &Caller) -> bool {
        let entry = EntryPoint::Task;
        let decision = self.adapter.decide(entry, GateSubject::Task(id), &Args::new(), caller);
        self.adapter.stats.begin(entry).end(None);
        matches!(decision, GateDecision::Allow(_))
    }

    /// What a call would have been answered with.
    fn reply_for(&self, outcome: ExecutionOutcome) -> ToolReply {
        let outcome = match outcome {
            ExecutionOutcome::Failed(error) => Err(error),
            ExecutionOutcome::Done(done) => Ok(Answer { blocks: done.blocks, ..Answer::new(done.data) }),
        };
        self.adapter.envelope(&outcome).0
    }
}

/// Who answers a call that the gate let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Responder {
    /// A handler where there is one, else the target.
    Handlers,
    /// The target alone.
    Target,
}

impl Dispatcher {
    /// A prepared call from the gate to what the caller is answered.
    async fn run(
        self: &Arc<Self>,
        entry: EntryPoint,
        call: request::PreparedCall<'_>,
        executions: Option<&Executions>,
        caller: &Caller,
    ) -> Result<Answer, OpError> {
        let operation = call.full_operation.operation;
        let pass = match self.decide(entry, GateSubject::Operation(operation), &call.args, caller) {
            GateDecision::Allow(pass) => pass,
            GateDecision::Refuse(error) => return Err(*error),
        };
        let lifecycle = call.entry.operation.lifecycle.filter(|_| entry == EntryPoint::Tool);
        if let (Some(executions), Some(lifecycle)) = (executions, lifecycle) {
            return self.start(pass, executions, lifecycle, call, caller).await;
        }
        let outcome = match operation.binding {
            Binding::Introspect => introspect::answer(&self.catalog, &call.args),
            Binding::Execution(action) => match executions {
                Some(executions) => executions.answer(action, &call.args, caller).await,
                None => {
                    Err(OpError::new(Code::Internal, "Nothing runs in the background here; tell the user."))
                }
            },
            // A handler already has a turn, so its own calls never wait for one that only it could give back.
            _ if entry == EntryPoint::Handler => {
                self.perform(pass, Responder::Target, operation, &call.args, caller).await
            }
            _ => {
                let _turn = self.running.acquire().await;
                self.perform(pass, Responder::Handlers, operation, &call.args, caller).await
            }
        };
        let mut answer =
            self.finish_outcome(entry, operation, call.full_operation.signature, &call.args, outcome)?;
        // A handler's own call is none of its caller's, who was told what is deprecated about the outer one.
        if entry != EntryPoint::Handler {
            answer.warnings.splice(0..0, call.warnings);
        }
        Ok(answer)
    }

    fn decide(
        &self,
        entry: EntryPoint,
        subject: GateSubject<'_>,
        args: &Args,
        caller: &Caller,
    ) -> GateDecision {
        gate::decide(&gate::GateRequest { caller, adapter: &self.catalog.adapter.name, entry, subject, args })
    }

    /// Has a call answered that the gate let through.
    async fn perform(
        self: &Arc<Self>,
        pass: Pass,
        answering: Responder,
        operation: &Operation,
        args: &Args,
        caller: &Caller,
    ) -> Result<Answer, OpError> {
        let handler = match answering {
            Responder::Handlers => self.handlers.get(&operation.name),
            Responder::Target => None,
        };
        match handler {
            Some(handler) => handler(args.clone(), HandlerCall::new(Arc::clone(self), caller.clone())).await,
            None => self.target.perform(TargetCall::new(pass, operation, args, caller)).await,
        }
    }

    /// What every answer goes through before its envelope.
    fn finish_outcome(
        &self,
        entry: EntryPoint,
        operation: &Operation,
        signature: &str,
        args: &Args,
        outcome: Result<Answer, OpError>,
    ) -> Result<Answer, OpError> {
        let outcome = outcome.map(|answer| shape::shape(answer, args));
        if entry == EntryPoint::Handler {
            // What it ran into is logged and explained with the call that the handler answers.
            return outcome;
        }
        record::log_failure(&self.catalog.adapter.name, &operation.name, &outcome);
        outcome.map_err(|error| with_signature(error, &operation.name, signature))
    }

    /// Lets a call go on in the background; the gate has let it through already.
    async fn start(
        self: &Arc<Self>,
        pass: Pass,
        executions: &Executions,
        lifecycle: Lifecycle,
        call: request::PreparedCall<'_>,
        caller: &Caller,
    ) -> Result<Answer, OpError> {
        let request::PreparedCall { full_operation: whole, args, warnings, .. } = call;
        // A description that is read on demand knows nothing of lifecycles; the head does.
        let operation = Operation { lifecycle: Some(lifecycle), ..whole.operation.clone() };
        let signature = whole.signature.to_owned();
        let largest = self.catalog.limits.response_bytes;
        let adapter = Arc::clone(self);
        let work = |caller: Caller| async move {
            let entry = EntryPoint::Execution;
            let recording = adapter.stats.begin(entry);
            let outcome = adapter.perform(pass, Responder::Handlers, &operation, &args, &caller).await;
            let outcome = adapter.finish_outcome(entry, &operation, &signature, &args, outcome);
            recording.end(outcome.as_ref().err().map(|error| error.code));
            outcome
        };
        let mut answer = executions.start(&whole.operation.name, lifecycle, largest, caller, work).await?;
        answer.warnings.splice(0..0, warnings);
        Ok(answer)
    }

    /// The envelope, and the code of the error in it.
    fn envelope(&self, outcome: &Result<Answer, OpError>) -> (ToolReply, Option<Code>) {
        let reply = response::envelope(outcome, self.catalog.errors);
        let (actual, limit) = (reply.text.len(), self.catalog.limits.response_bytes);
        if actual <= limit {
            return (reply, outcome.as_ref().err().map(|error| error.code));
        }
        let message = format!(
            "The answer has {actual} bytes, more than the {limit} that may be returned. Ask for less."
        );
        let error = limits::too_large(message, "max_response_size", Some(actual), limit);
        (response::envelope(&Err(error), self.catalog.errors), Some(Code::PayloadTooLarge))
    }
}

/// One prepared call of one target, without an adapter around it: through the gate to the target's answer.
///
/// # Errors
/// What the target had against the call.
pub async fn call_target(
    target: &dyn Target,
    operation: &Operation,
    args: &Args,
    caller: &Caller,
) -> Result<Answer, OpError> {
    let (entry, subject) = (EntryPoint::Operation, GateSubject::Operation(operation));
    match gate::decide(&gate::GateRequest { caller, adapter: "", entry, subject, args }) {
        GateDecision::Allow(pass) => target.perform(TargetCall::new(pass, operation, args, caller)).await,
        GateDecision::Refuse(error) => Err(*error),
    }
}

/// Answers what belongs to no adapter: discovery over all adapters of a gateway.
pub(crate) fn discovery_reply(
    caller: &Caller,
    outcome: Result<Answer, OpError>,
    errors: ErrorPolicy,
) -> ToolReply {
    let (entry, args) = (EntryPoint::Tool, Map::new());
    let request =
        gate::GateRequest { caller, adapter: "", entry, subject: GateSubject::Discovery, args: &args };
    let outcome = match gate::decide(&request) {
        GateDecision::Allow(_) => outcome.map(|answer| shape::shape(answer, &args)),
        GateDecision::Refuse(error) => Err(*error),
    };
    response::envelope(&outcome, errors)
}

/// Whatever finds fault with a call's parameters, the caller is shown what they should be.
fn with_signature(mut error: OpError, operation: &str, signature: &str) -> OpError {
    if error.code.as_str().starts_with("VALIDATION_") {
        if !error.details.contains_key("operation") {
            error.details.shift_insert(0, "operation".to_owned(), operation.into());
        }
        error.details.entry("signature").or_insert_with(|| signature.into());
    }
    error
}
