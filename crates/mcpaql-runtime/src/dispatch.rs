//! Every call takes this one path: prepare → gate → limits → target → hide → shape → envelope → record.
//!
//! ```
//! use mcpaql_runtime::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = Native::new("clock").operation(operation("get_zone").handle(async || Ok("UTC")));
//! let clock = clock.open(&AdapterSettings::default(), None).await?;
//! let answer = clock.call_operation("get_zone", Default::default(), &Caller::nobody()).await.unwrap();
//! assert_eq!(answer.data.into_value(), "UTC");
//! assert_eq!(clock.stats().count().calls, 1);
//! # Ok(())
//! # }
//! ```
//!
//! | step | module |
//! |---|---|
//! | prepare: checks envelope, operation, endpoint, parameters and their limits | `mcpaql_core::request` |
//! | gate: decides whether the call may run | [`gate`] |
//! | limits: waits until the adapter may run one more call | `limits` |
//! | target: answers the call, within the target's own limits | [`target`](crate::target), a handler, introspection, executions; `preview` for a dry run |
//! | hide: removes the hidden fields | `hide` |
//! | shape: selects the part of the answer to return | `shape` |
//! | envelope: writes the answer as text, within the size limit | `mcpaql_core::response` |
//! | record: counts the call and logs failures | [`record`] |
//!
//! What always holds: a call of any [`EntryPoint`] passes the gate before anything answers it, and it is recorded
//! once. Only this module calls a target, and a target needs the gate's [`Pass`]. Every item of a batch is a call of its own.

mod batch;
mod current;
mod features;
mod handlers;
mod hide;
mod pages;
mod preview;
mod shape;
mod shield;
#[cfg(test)]
mod tests;

pub(crate) use batch::{BatchLimits, BatchRoute, BatchRouter, run_batch};
pub(crate) use features::FeatureSource;
pub use handlers::{HandlerCall, Handlers, Params, given};

use crate::caller::{Caller, EntryPoint};
use crate::execution::{BackgroundTask, Executions};
use crate::gate::{
    self, AdapterGate, AllowedCall, CallTrail, Gate, GateDecision, GateRequest, GateSubject, Pass,
};
use crate::limits::{self, AdapterLoad, Breakers, RunningCalls};
use crate::protocol::Features;
use crate::record::{self, Stats};
use crate::state::ExecutionOutcome;
use crate::target::mcp::Upstream;
use crate::target::{Args, ClosedTarget, OpenError, Target, TargetCall};
use current::CurrentReader;
use mcpaql_core::adapter::{ErrorPolicy, ResultForm};
use mcpaql_core::catalog::{Catalog, Tool};
use mcpaql_core::error::{Code, LimitType, OpError};
use mcpaql_core::gate::trust::TrustLevel;
use mcpaql_core::introspect;
use mcpaql_core::lifecycle::Lifecycle;
use mcpaql_core::operation::{Binding, Operation};
use mcpaql_core::request;
use mcpaql_core::response::{self, Answer, ToolReply};
use mcpaql_core::shape::QueryControls;
use serde_json::{Map, Value};
use shape::{SelectedAnswer, ShapeStep};
use std::sync::{Arc, OnceLock};

/// An adapter that is being served: its catalog, and the target of its calls.
#[derive(Debug)]
pub struct ServedAdapter {
    adapter: Arc<Dispatcher>,
    executions: Option<Executions>,
    source: String,
    /// Estimated tokens: of the surface, and of one tool per operation.
    cost: OnceLock<(usize, usize)>,
}

/// The parts of an adapter that its calls need. Handlers and background work keep a reference to it.
#[derive(Debug, Clone)]
struct Dispatcher {
    catalog: Arc<Catalog>,
    target: Arc<dyn Target>,
    handlers: Handlers,
    running: Arc<RunningCalls>,
    breakers: Arc<Breakers>,
    stats: Arc<Stats>,
    gate: AdapterGate,
}

impl ServedAdapter {
    /// Joins a catalog with its target. `source` is the document's name in reports. Without
    /// [`with_executions`](Self::with_executions), background operations run to their end before they answer.
    #[must_use]
    pub fn new(
        catalog: impl Into<Arc<Catalog>>,
        target: Arc<dyn Target>,
        source: impl Into<String>,
    ) -> ServedAdapter {
        let catalog = catalog.into();
        let gate = AdapterGate::new(&Gate::in_memory(), &catalog.adapter);
        let adapter = Dispatcher {
            catalog,
            target,
            handlers: Handlers::default(),
            running: Arc::default(),
            breakers: Arc::default(),
            stats: Arc::default(),
            gate,
        };
        ServedAdapter {
            adapter: Arc::new(adapter),
            executions: None,
            source: source.into(),
            cost: OnceLock::new(),
        }
    }

    /// Returns an adapter whose target could not be opened. Everything works except calls, which fail with this
    /// error.
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

    /// Returns this adapter with a store for background executions.
    #[must_use]
    pub fn with_executions(self, executions: Executions) -> ServedAdapter {
        ServedAdapter { executions: Some(executions), ..self }
    }

    /// Returns this adapter with handlers that replace some of its operations.
    #[must_use]
    pub fn with_handlers(self, handlers: Handlers) -> ServedAdapter {
        let adapter = Dispatcher { handlers, ..Dispatcher::clone(&self.adapter) };
        ServedAdapter { adapter: Arc::new(adapter), ..self }
    }

    /// Returns this adapter with a maximum number of calls that run at the same time; further calls wait.
    #[must_use]
    pub fn with_running_calls(self, maximum: usize) -> ServedAdapter {
        let running = Arc::new(RunningCalls::new(maximum));
        let adapter = Dispatcher { running, ..Dispatcher::clone(&self.adapter) };
        ServedAdapter { adapter: Arc::new(adapter), ..self }
    }

    /// Returns this adapter with its calls counted in `stats`.
    #[must_use]
    pub fn with_stats(self, stats: Arc<Stats>) -> ServedAdapter {
        let adapter = Dispatcher { stats, ..Dispatcher::clone(&self.adapter) };
        ServedAdapter { adapter: Arc::new(adapter), ..self }
    }

    /// Returns this adapter with a gate that it shares with other adapters. Without one, its state ends with the program.
    #[must_use]
    pub fn with_gate(self, gate: &Gate) -> ServedAdapter {
        let gate = AdapterGate::new(gate, &self.adapter.catalog.adapter);
        let adapter = Dispatcher { gate, ..Dispatcher::clone(&self.adapter) };
        ServedAdapter { adapter: Arc::new(adapter), ..self }
    }

    /// Returns this adapter with another trust level and a gate of its own.
    #[must_use]
    pub fn with_trust(self, level: TrustLevel) -> ServedAdapter {
        let gate = Gate::in_memory();
        gate.set_trust(&self.adapter.catalog.adapter.name, level);
        self.with_gate(&gate)
    }

    /// The compiled document: operations, tools and settings.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.adapter.catalog
    }

    /// The MCP servers that the calls go to.
    #[must_use]
    pub fn upstreams(&self) -> Vec<&Upstream> {
        self.adapter.target.upstreams()
    }

    /// Returns whether the target could be opened.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.adapter.target.is_open()
    }

    /// The MCP features besides tools: prompts, resources, logging.
    #[must_use]
    pub fn features(&self) -> Features {
        self.adapter.target.features()
    }

    /// Returns whether questions of the target are passed on to clients. The other tools return envelopes.
    pub(crate) async fn passes_input(&self) -> bool {
        let Dispatcher { catalog, target, handlers, .. } = &*self.adapter;
        catalog.results == ResultForm::Plain && handlers.is_empty() && target.passes_input().await
    }

    /// Returns the source of prompts and resources.
    pub(crate) fn feature_source(&self) -> FeatureSource {
        let Dispatcher { catalog, target, running, stats, gate, .. } = &*self.adapter;
        let source = FeatureSource::new(gate.clone(), Arc::clone(target), Arc::clone(stats));
        FeatureSource { running: Arc::clone(running), max_duration_ms: catalog.max_duration_ms, ..source }
    }

    /// How busy the adapter is, and whether its target is left alone.
    pub(crate) fn load(&self) -> AdapterLoad {
        AdapterLoad { failing: self.adapter.breakers.failing(), ..self.adapter.running.load() }
    }

    /// The document's name, for messages to the operator.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The estimated tokens of the surface, counted once.
    pub(crate) fn surface_tokens(&self, count: impl FnOnce() -> (usize, usize)) -> (usize, usize) {
        *self.cost.get_or_init(count)
    }

    /// The statistics of its calls.
    #[must_use]
    pub fn stats(&self) -> &Arc<Stats> {
        &self.adapter.stats
    }

    /// Calls one of the adapter's tools. A background operation answers as soon as it has started.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> ToolReply {
        if self.takes_batch(tool, &arguments) {
            return self.call_batch(tool, arguments, caller).await;
        }
        let recording = self.adapter.stats.begin(EntryPoint::Tool);
        let mut operation = None;
        let outcome = match request::prepare(&self.adapter.catalog, tool, arguments) {
            Ok(call) => {
                operation = Some(call.entry.operation.name.as_str());
                self.adapter.run(EntryPoint::Tool, call, self.executions.as_ref(), caller).await
            }
            Err(error) => Err(error),
        };
        let (reply, error) = self.adapter.reply(&outcome, Some(tool));
        let took = recording.end(error);
        record::log_call(&self.adapter.catalog.adapter.name, operation, error, reply.text.len(), took);
        reply
    }

    /// Calls an operation by name and waits for its result, even if it is a background operation.
    ///
    /// # Errors
    /// When the call is invalid or the target fails.
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

    /// Returns whether calls can run in the background.
    #[must_use]
    pub fn has_executions(&self) -> bool {
        self.executions.is_some()
    }

    /// Returns a background call and its result; `None` if this adapter has no such call, or if the gate refuses the
    /// request.
    pub async fn task(&self, id: &str, caller: &Caller) -> Option<BackgroundTask> {
        let executions = self.executions.as_ref()?;
        let task = executions.task(id, caller, |name, outcome| self.reply_for(name, outcome)).await?;
        self.allows_task_request(id, caller).await.then_some(task)
    }

    /// Cancels a background call; `None` if this adapter has no such call, or if the gate refuses the request.
    pub async fn cancel_task(&self, id: &str, caller: &Caller) -> Option<BackgroundTask> {
        let executions = self.executions.as_ref()?;
        executions.task(id, caller, |name, outcome| self.reply_for(name, outcome)).await?;
        if !self.allows_task_request(id, caller).await {
            return None;
        }
        executions.cancel_task(id, |name, outcome| self.reply_for(name, outcome)).await
    }

    /// Asks the gate about a request for a task of this adapter, and records the request.
    async fn allows_task_request(&self, id: &str, caller: &Caller) -> bool {
        let entry = EntryPoint::Task;
        let request = GateRequest::new(entry, GateSubject::Task(id), caller);
        let decision = self.adapter.gate.decide(&request).await;
        self.adapter.stats.begin(entry).end(None);
        match decision {
            GateDecision::Allow(allowed) => {
                allowed.trail.end(None, 0);
                true
            }
            GateDecision::Refuse(_) => false,
        }
    }

    /// Returns the reply that a background call would have had in the foreground.
    fn reply_for(&self, operation: &str, outcome: ExecutionOutcome) -> ToolReply {
        let outcome = match self.adapter.hide_in_stored(operation, outcome) {
            ExecutionOutcome::Failed(error) => Err(error),
            ExecutionOutcome::Done(done) => Ok(Answer::new(done.data).with_blocks(done.blocks)),
        };
        self.adapter.reply(&outcome, None).0
    }
}

/// A call that was answered, before its answer is reduced to a budget.
struct AnsweredCall<'c> {
    catalog: &'c Catalog,
    entry: EntryPoint,
    call: request::PreparedCall<'c>,
    /// All pages were fetched: whether these are all there are.
    is_complete: Option<bool>,
    answer: SelectedAnswer,
    trail: CallTrail,
}

impl AnsweredCall<'_> {
    fn step(&self) -> ShapeStep<'_> {
        ShapeStep::new(self.catalog, self.entry, &self.call, self.is_complete)
    }

    fn fit(self, budget: Option<usize>) -> Answer {
        let AnsweredCall { catalog, entry, call, is_complete, answer, trail } = self;
        let answer = answer.fit(budget, &ShapeStep::new(catalog, entry, &call, is_complete));
        if trail.is_open() {
            trail.end(None, batch::size(&answer.data));
        }
        answer
    }
}

/// What a call needs from its target, besides its arguments.
#[derive(Debug, Clone, Copy, Default)]
struct CallReach<'a> {
    /// What the caller gets.
    results: ResultForm,
    /// The query controls need the whole list, not one page of it.
    whole_list: bool,
    /// The address of the page to get.
    next_page: Option<&'a str>,
}

/// Which part answers a call that passed the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Responder {
    /// The handler, if there is one; otherwise the target.
    Handlers,
    /// The target only.
    Target,
}

impl Dispatcher {
    /// Runs a prepared call, from the gate to the caller's answer.
    async fn run(
        self: &Arc<Self>,
        entry: EntryPoint,
        call: request::PreparedCall<'_>,
        executions: Option<&Executions>,
        caller: &Caller,
    ) -> Result<Answer, OpError> {
        let answered = self.answer(entry, call, executions, caller).await?;
        let budget = answered.step().budget();
        Ok(answered.fit(budget))
    }

    /// Runs a prepared call, from the gate to the answer with its query controls applied.
    async fn answer<'c>(
        self: &'c Arc<Self>,
        entry: EntryPoint,
        mut call: request::PreparedCall<'c>,
        executions: Option<&Executions>,
        caller: &Caller,
    ) -> Result<AnsweredCall<'c>, OpError> {
        let operation = call.full_operation.operation;
        let subject = GateSubject::Operation(operation);
        let current = CurrentReader::new(self, operation, &call.args, caller);
        let request = GateRequest {
            current: current.as_ref().map(|current| current as _),
            args: &call.args,
            confirmation: call.confirmation.as_deref(),
            dry_run: call.dry_run,
            ..GateRequest::new(entry, subject, caller)
        };
        let decision = self.gate.decide(&request).await;
        if call.dry_run {
            let outcome = self.preview(operation, &call.args, decision).await;
            let outcome = outcome.map(SelectedAnswer::whole);
            return self.finish(entry, call, outcome);
        }
        let AllowedCall { pass, warnings, trail } = match decision {
            GateDecision::Allow(allowed) => *allowed,
            GateDecision::Refuse(error) => return Err(*error),
        };
        call.warnings.extend(warnings);
        let lifecycle = call.entry.operation.lifecycle.filter(|_| entry.is_tool());
        if let (Some(executions), Some(lifecycle)) = (executions, lifecycle) {
            let started = self.start((pass, trail), executions, lifecycle, &mut call, caller).await?;
            let mut answer = SelectedAnswer::whole(started);
            answer.prepend_warnings(std::mem::take(&mut call.warnings));
            let (catalog, trail) = (&self.catalog, CallTrail::default());
            return Ok(AnsweredCall { catalog, entry, call, is_complete: None, answer, trail });
        }
        call.controls = shape::effective_controls(operation, call.controls.take(), entry);
        let controls = call.controls.as_deref();
        // Only tools return plain results.
        let is_plain = entry.is_tool() && controls.is_none();
        let results = if is_plain { self.catalog.results } else { ResultForm::Envelope };
        let whole_list = controls.is_some_and(QueryControls::needs_whole_list);
        let reach = CallReach { results, whole_list, next_page: None };
        let all_pages = controls.is_some_and(|controls| controls.all_pages);
        let mut is_complete = None;
        let outcome = match operation.binding {
            Binding::Introspect => introspect::answer(&self.catalog, &call.args),
            Binding::Execution(action) => match executions {
                Some(executions) => {
                    let hide = |name: &str, outcome| self.hide_in_stored(name, outcome);
                    executions.answer(action, &call.args, caller, hide).await
                }
                None => Err(OpError::new(
                    Code::Internal,
                    "This server has no background executions; tell the user.",
                )),
            },
            // A handler already holds a permit. If its own calls waited for another, they could wait for each other
            // forever.
            _ => {
                // On the heap: the futures of targets are large.
                let answering = Box::pin(async {
                    let (_turn, responder) = match entry {
                        EntryPoint::Handler => (None, Responder::Target),
                        _ => (Some(self.running.acquire(caller).await?), Responder::Handlers),
                    };
                    if all_pages {
                        let part = (pass, responder);
                        let list =
                            self.perform_all_pages(entry, part, operation, &call.args, caller, reach).await;
                        list.map(|list| {
                            is_complete = list.is_complete;
                            list.answer
                        })
                    } else {
                        self.perform((pass, responder), operation, &call.args, caller, reach).await
                    }
                });
                limits::within(self.catalog.max_duration_ms, answering).await
            }
        };
        let step = ShapeStep::new(&self.catalog, entry, &call, is_complete);
        let outcome = outcome.and_then(|answer| shape::select(answer, &step));
        match self.finish(entry, call, outcome) {
            Ok(answered) => {
                trail.succeeded().await;
                Ok(AnsweredCall { is_complete, trail, ..answered })
            }
            Err(error) => {
                trail.end(Some(error.code), 0);
                Err(error)
            }
        }
    }

    /// Applies the last steps that do not depend on a budget.
    fn finish<'c>(
        &'c self,
        entry: EntryPoint,
        mut call: request::PreparedCall<'c>,
        outcome: Result<SelectedAnswer, OpError>,
    ) -> Result<AnsweredCall<'c>, OpError> {
        let full = call.full_operation;
        let mut answer = self.finish_outcome(entry, full.operation, full.signature, outcome)?;
        // The warnings of a handler's own call are not for its caller, who gets those of the outer call.
        if entry != EntryPoint::Handler {
            answer.prepend_warnings(std::mem::take(&mut call.warnings));
        }
        let trail = CallTrail::default();
        Ok(AnsweredCall { catalog: &self.catalog, entry, call, is_complete: None, answer, trail })
    }

    /// Removes the hidden fields from the stored outcome of an operation.
    fn hide_in_stored(&self, operation: &str, outcome: ExecutionOutcome) -> ExecutionOutcome {
        let catalog = &self.catalog;
        match catalog.get(operation).and_then(|entry| catalog.full_operation(entry)) {
            Some(full) => hide::hide_in_stored(outcome, &catalog.hidden_fields(full.operation)),
            None => hide::hide_in_stored(outcome, &catalog.hide),
        }
    }

    /// Lets a handler or the target answer a call that passed the gate.
    async fn perform(
        self: &Arc<Self>,
        (pass, responder): (Pass, Responder),
        operation: &Operation,
        args: &Args,
        caller: &Caller,
        reach: CallReach<'_>,
    ) -> Result<Answer, OpError> {
        let handler = match responder {
            Responder::Handlers => self.handlers.get(&operation.name),
            Responder::Target => None,
        };
        let outcome = match handler {
            Some(handler) => handler(args.clone(), HandlerCall::new(Arc::clone(self), caller.clone())).await,
            None => {
                let mut call = TargetCall::new(pass, operation, args, caller);
                call.results = reach.results;
                call.whole_list = reach.whole_list;
                call.next_page = reach.next_page;
                let breaker = self.enter_breaker(&call)?;
                let outcome = self.target.perform(call).await;
                breaker.into_iter().for_each(|pass| pass.end(&outcome));
                outcome
            }
        };
        hide::hide(outcome, &self.catalog.hidden_fields(operation))
    }

    /// Applies the last steps before the envelope: log, signature.
    fn finish_outcome<T>(
        &self,
        entry: EntryPoint,
        operation: &Operation,
        signature: &str,
        outcome: Result<T, OpError>,
    ) -> Result<T, OpError> {
        if entry == EntryPoint::Handler {
            // The handler's own caller gets the log entry and the signature.
            return outcome;
        }
        record::log_failure(&self.catalog.adapter.name, &operation.name, outcome.as_ref().err());
        outcome.map_err(|error| with_signature(error, &operation.name, signature))
    }

    /// Starts a call in the background. The call has passed the gate.
    async fn start(
        self: &Arc<Self>,
        (pass, trail): (Pass, CallTrail),
        executions: &Executions,
        lifecycle: Lifecycle,
        call: &mut request::PreparedCall<'_>,
        caller: &Caller,
    ) -> Result<Answer, OpError> {
        let (whole, args) = (call.full_operation, std::mem::take(&mut call.args));
        // A description that is read on demand has no lifecycle; the catalog entry has it.
        let operation = Operation { lifecycle: Some(lifecycle), ..whole.operation.clone() };
        let signature = whole.signature.to_owned();
        let largest = self.catalog.limits.response_bytes;
        let adapter = Arc::clone(self);
        let work = |caller: Caller| async move {
            let entry = EntryPoint::Execution;
            let recording = adapter.stats.begin(entry);
            let responder = (pass, Responder::Handlers);
            let outcome = adapter.perform(responder, &operation, &args, &caller, CallReach::default()).await;
            let outcome = adapter.finish_outcome(entry, &operation, &signature, outcome);
            let error = outcome.as_ref().err().map(|error| error.code);
            recording.end(error);
            if error.is_none() {
                trail.succeeded().await;
            }
            trail.end(error, outcome.as_ref().map_or(0, |answer| batch::size(&answer.data)));
            outcome
        };
        executions.start(&whole.operation.name, lifecycle, largest, caller, work).await
    }

    /// Returns the envelope or the plain result, and the code of the error in it.
    fn reply(&self, outcome: &Result<Answer, OpError>, tool: Option<&str>) -> (ToolReply, Option<Code>) {
        let written = |outcome: &Result<Answer, OpError>| match self.catalog.results {
            ResultForm::Envelope => response::envelope(outcome, self.catalog.errors),
            ResultForm::Plain => {
                let named = |listed: &&Tool| Some(listed.name.as_str()) == tool;
                let tool = self.catalog.tools.iter().find(named);
                response::plain_result(outcome, tool.is_some_and(|tool| tool.output_schema.is_some()))
            }
        };
        if let Ok(Answer { protocol: Some(protocol), .. }) = outcome {
            let reply = ToolReply { protocol: Some(protocol.clone()), ..ToolReply::default() };
            return (reply, None);
        }
        let reply = written(outcome);
        let (actual, limit) = (reply.text.len(), self.catalog.limits.response_bytes);
        if actual <= limit {
            return (reply, outcome.as_ref().err().map(|error| error.code));
        }
        let message =
            format!("The answer has {actual} bytes, more than the maximum of {limit}. Request less data.");
        let error = OpError::too_large(message, LimitType::ResponseSize, Some(actual), limit);
        (written(&Err(error)), Some(Code::PayloadTooLarge))
    }
}

/// Calls a target without an adapter, through a gate without rules. The program vouches for the call, so only forbidden operations are
/// refused.
///
/// # Errors
/// When the target fails, or the operation is forbidden.
pub async fn call_target(
    target: &dyn Target,
    operation: &Operation,
    args: &Args,
    caller: &Caller,
) -> Result<Answer, OpError> {
    let (entry, subject) = (EntryPoint::Operation, GateSubject::Operation(operation));
    let request = GateRequest { args, ..GateRequest::new(entry, subject, caller) };
    match AdapterGate::of_program().decide(&request).await {
        GateDecision::Allow(allowed) => {
            target.perform(TargetCall::new(allowed.pass, operation, args, caller)).await
        }
        GateDecision::Refuse(error) => Err(*error),
    }
}

/// Answers discovery over all adapters of a gateway, which belongs to no adapter.
pub(crate) fn discovery_reply(outcome: &Result<Answer, OpError>, errors: ErrorPolicy) -> ToolReply {
    let _allowed = gate::allow_introspection(EntryPoint::Tool);
    response::envelope(outcome, errors)
}

/// Adds operation and signature to validation errors, so that the caller can correct the parameters.
fn with_signature(mut error: OpError, operation: &str, signature: &str) -> OpError {
    if error.code.as_str().starts_with("VALIDATION_") {
        if !error.details.contains_key("operation") {
            error.details.shift_insert(0, "operation".to_owned(), operation.into());
        }
        error.details.entry("signature").or_insert_with(|| signature.into());
    }
    error
}
