//! Runs the items of a batch. Each is a call of its own, with the entry point [`EntryPoint::BatchItem`].
//!
//! What always holds: items run in their order, and a failure stops none of them. An item that needs a confirmation stops
//! the batch, and the items after it do not run. Items run at the same time only if all of them read and none refers to
//! another. An item that panics fails alone.

use super::{AnsweredCall, ServedAdapter};
use crate::caller::{Caller, EntryPoint, Progress};
use crate::gate;
use crate::record;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
use mcpaql_core::batch::{
    self, Batch, BatchItem, BatchItemResult, BatchReply, MAX_CONCURRENT_ITEMS, is_batch,
};
use mcpaql_core::catalog::ToolScope;
use mcpaql_core::error::{Code, LimitType, OpError};
use mcpaql_core::operation::Category;
use mcpaql_core::request;
use mcpaql_core::response::{self, Answer, Payload, ToolReply};
use mcpaql_core::shape;
use serde_json::{Map, Value};
use std::io;
use std::panic::AssertUnwindSafe;
use std::pin::pin;

/// Where the item of a batch goes.
pub(crate) enum BatchRoute<'a> {
    /// To this adapter, with these arguments.
    To(&'a ServedAdapter, Map<String, Value>),
    /// The gateway answers it.
    Answered(Box<Result<Answer, OpError>>),
}

/// Finds out where the items of a batch go.
pub(crate) trait BatchRouter: Sync {
    /// Returns where a call with these arguments goes.
    fn route(&self, arguments: Map<String, Value>) -> BatchRoute<'_>;
}

/// All items go to one adapter.
struct OneAdapter<'a>(&'a ServedAdapter);

impl BatchRouter for OneAdapter<'_> {
    fn route(&self, arguments: Map<String, Value>) -> BatchRoute<'_> {
        BatchRoute::To(self.0, arguments)
    }
}

impl ServedAdapter {
    /// Returns whether this is a batch for a tool that takes batches.
    pub(super) fn takes_batch(&self, tool: &str, arguments: &Map<String, Value>) -> bool {
        let is_shared = |scope: &ToolScope| !matches!(scope, ToolScope::Operation(_));
        is_batch(arguments) && self.catalog().route(tool).is_some_and(|route| is_shared(&route.scope))
    }

    pub(super) async fn call_batch(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> ToolReply {
        let limits = &self.catalog().limits;
        let limits = BatchLimits {
            answer_budget: self.catalog().answer_budget,
            request_bytes: limits.request_bytes,
            response_bytes: limits.response_bytes,
        };
        match Batch::read(arguments) {
            Ok(batch) => run_batch(batch, tool, &OneAdapter(self), limits, caller).await,
            Err(error) => {
                self.adapter.stats.begin(EntryPoint::Tool).end(Some(error.code));
                response::envelope(&Err(error), self.catalog().errors)
            }
        }
    }

    fn reads(&self, arguments: &Map<String, Value>) -> bool {
        let name = arguments.get("operation").and_then(Value::as_str).unwrap_or_default();
        self.catalog().get(name).is_none_or(|entry| entry.operation.category == Category::Read)
    }

    /// Writes numbers from earlier results as texts where the operation takes texts. Many APIs return `"id": 7` and take `id`
    /// as text, and the sender of a batch cannot change the value.
    fn write_identifiers(&self, arguments: &mut Map<String, Value>, item: &BatchItem) {
        let name = arguments.get("operation").and_then(Value::as_str).unwrap_or_default();
        let entry = self.catalog().get(name);
        let Some(full) = entry.and_then(|entry| self.catalog().full_operation(entry)) else { return };
        for name in item.referring_params() {
            let param = full.operation.param(name);
            if param.is_none_or(|param| param.schema.get("type").and_then(Value::as_str) != Some("string")) {
                continue;
            }
            let inside = arguments.get("params").is_some_and(|params| params.get(name).is_some());
            let value = match inside {
                true => arguments.get_mut("params").and_then(|params| params.get_mut(name)),
                false => arguments.get_mut(name),
            };
            if let Some(value @ Value::Number(_)) = value {
                *value = value.to_string().into();
            }
        }
    }

    /// Calls one item, and records it.
    async fn call_item(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> Result<AnsweredCall<'_>, OpError> {
        let entry = EntryPoint::BatchItem;
        let recording = self.adapter.stats.begin(entry);
        let mut operation = None;
        let outcome = match request::prepare(self.catalog(), tool, arguments) {
            Ok(call) => {
                operation = Some(call.entry.operation.name.as_str());
                self.adapter.answer(entry, call, self.executions.as_ref(), caller).await
            }
            Err(error) => Err(error),
        };
        let error = outcome.as_ref().err().map(|error| error.code);
        let bytes = outcome.as_ref().map_or(0, |answered| size(answered.answer.data()));
        record::log_call(&self.catalog().adapter.name, operation, error, bytes, recording.end(error));
        outcome
    }
}

/// The limits of a batch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BatchLimits {
    /// Maximum tokens of all answers, unless the batch has a budget of its own.
    pub(crate) answer_budget: usize,
    /// Maximum bytes that references insert into one item.
    pub(crate) request_bytes: usize,
    /// Maximum bytes of all answers.
    pub(crate) response_bytes: usize,
}

/// Tokens of the warning of an answer that is reduced.
const REDUCED_TOKENS: usize = 120;

/// Returns the budget without the tokens of the warnings of reduced answers, but at least a quarter.
fn data_budget(costs: &[usize], budget: usize) -> usize {
    let equal = budget / costs.len().max(1);
    let reduced = costs.iter().filter(|cost| **cost > equal).count();
    budget.saturating_sub(reduced * REDUCED_TOKENS).max(budget / 4)
}

/// The answer of an item that succeeded.
enum ItemAnswer<'a> {
    /// Before it is reduced to its share of the budget.
    Call(Box<AnsweredCall<'a>>),
    Done(Box<Answer>),
}

type ItemOutcome<'a> = Result<ItemAnswer<'a>, OpError>;

/// Runs the items of a batch.
pub(crate) async fn run_batch(
    batch: Batch,
    tool: &str,
    router: &impl BatchRouter,
    limits: BatchLimits,
    caller: &Caller,
) -> ToolReply {
    let total = batch.items.len();
    let mut collected = CollectedItems::new(&batch, limits);
    if !batch.has_references() {
        let routes: Vec<BatchRoute<'_>> =
            batch.items.iter().map(|item| router.route(item.arguments.clone())).collect();
        let reads = |route: &BatchRoute<'_>| match route {
            BatchRoute::To(adapter, arguments) => adapter.reads(arguments),
            BatchRoute::Answered(_) => true,
        };
        let at_once = if routes.iter().all(reads) { MAX_CONCURRENT_ITEMS } else { 1 };
        let calls: Vec<BoxFuture<'_, ItemOutcome<'_>>> =
            routes.into_iter().map(|route| follow(route, tool, caller).boxed()).collect();
        let mut outcomes = pin!(stream::iter(calls).buffered(at_once));
        for item in &batch.items {
            let Some(outcome) = outcomes.next().await else { break };
            if collected.add(item, outcome) {
                break;
            }
            report(caller, item, collected.items.len(), total);
        }
    } else {
        for item in &batch.items {
            let outcome = match item.resolve(&collected.values, limits.request_bytes) {
                Ok(arguments) => {
                    let mut route = router.route(arguments);
                    if let BatchRoute::To(adapter, arguments) = &mut route {
                        adapter.write_identifiers(arguments, item);
                    }
                    follow(route, tool, caller).await
                }
                Err(error) => Err(error),
            };
            if collected.add(item, outcome) {
                break;
            }
            report(caller, item, collected.items.len(), total);
        }
    }
    collected.reply().envelope()
}

/// Calls the item where it belongs.
async fn follow<'a>(route: BatchRoute<'a>, tool: &str, caller: &Caller) -> ItemOutcome<'a> {
    let caller = caller.for_batch_item();
    match route {
        BatchRoute::To(adapter, arguments) => {
            let call = AssertUnwindSafe(adapter.call_item(tool, arguments, &caller)).catch_unwind();
            let outcome = call.await.unwrap_or_else(|_| Err(record::panicked()));
            outcome.map(|answered| ItemAnswer::Call(Box::new(answered)))
        }
        BatchRoute::Answered(outcome) => {
            let _allowed = gate::allow_introspection(EntryPoint::BatchItem);
            outcome.map(|answer| ItemAnswer::Done(Box::new(answer)))
        }
    }
}

/// Tells the caller how many items are done.
fn report(caller: &Caller, item: &BatchItem, done: usize, total: usize) {
    let (part, whole) = (u32::try_from(done).unwrap_or(u32::MAX), u32::try_from(total).unwrap_or(u32::MAX));
    let progress = Progress::new(part.into()).of(whole.into());
    caller.report_progress(progress.with_message(format!("{} ({done} of {total})", item.operation)));
}

/// The outcomes of the items that ran.
struct CollectedItems<'a, 'b> {
    batch: &'b Batch,
    limits: BatchLimits,
    items: Vec<ItemOutcome<'a>>,
    /// The data that later items refer to.
    values: Vec<Option<Value>>,
    /// The bytes of all answers.
    bytes: usize,
    halted: Option<OpError>,
}

impl<'a, 'b> CollectedItems<'a, 'b> {
    fn new(batch: &'b Batch, limits: BatchLimits) -> CollectedItems<'a, 'b> {
        CollectedItems { batch, limits, items: Vec::new(), values: Vec::new(), bytes: 0, halted: None }
    }

    /// Adds the outcome of the next item. Returns whether it stops the batch.
    fn add(&mut self, item: &BatchItem, outcome: ItemOutcome<'a>) -> bool {
        if let Err(error) = &outcome
            && error.code == Code::ConfirmationRequired
        {
            self.halted = outcome.err();
            return true;
        }
        let is_needed = self.batch.is_referenced(self.items.len());
        let value =
            outcome.as_ref().ok().filter(|_| is_needed).map(|answer| answer.data().clone().into_value());
        self.values.push(value);
        let outcome = outcome.and_then(|answer| self.within_limit(item, answer));
        self.items.push(outcome);
        false
    }

    /// Keeps the answers of all items within the limit of one answer. A longer one is reduced right away.
    fn within_limit(&mut self, item: &BatchItem, answer: ItemAnswer<'a>) -> ItemOutcome<'a> {
        let limit = self.limits.response_bytes;
        let fits = |bytes: usize, held: usize| held.saturating_add(bytes) <= limit;
        let bytes = size(answer.data());
        if fits(bytes, self.bytes) {
            self.bytes += bytes;
            return Ok(answer);
        }
        let equal = self.budget() / self.batch.items.len().max(1);
        let reduced = match answer {
            ItemAnswer::Call(call) if call.step().budget().is_some() => call.fit(Some(equal)),
            ItemAnswer::Call(call) => call.fit(None),
            ItemAnswer::Done(answer) => *answer,
        };
        let bytes = size(&reduced.data);
        if fits(bytes, self.bytes) {
            self.bytes += bytes;
            return Ok(ItemAnswer::Done(Box::new(reduced)));
        }
        let message = format!(
            "'{}' ran, but the answers of the batch would have more than the maximum of {limit} bytes. Send fewer items.",
            item.operation
        );
        Err(OpError::too_large(message, LimitType::ResponseSize, None, limit))
    }

    fn budget(&self) -> usize {
        self.batch.answer_budget.unwrap_or(self.limits.answer_budget)
    }

    /// Reduces the answers to their shares of the budget.
    fn reply(self) -> BatchReply {
        let budget = self.budget();
        let costs: Vec<usize> = self.items.iter().map(|item| cost(item.as_ref().ok(), budget)).collect();
        let shares = batch::shares(&costs, data_budget(&costs, budget));
        let mut reply = BatchReply::default();
        let mut requests = self.batch.items.iter().enumerate();
        for ((outcome, share), (index, item)) in self.items.into_iter().zip(shares).zip(&mut requests) {
            let result = outcome.map(|answer| match answer {
                ItemAnswer::Call(call) => {
                    let share = call.step().budget().map(|own| own.min(share));
                    call.fit(share)
                }
                ItemAnswer::Done(answer) => *answer,
            });
            reply.results.push(BatchItemResult { index, operation: item.operation.clone(), result });
        }
        if let (Some(error), Some((index, item))) = (self.halted, requests.next()) {
            reply.halted_at =
                Some(BatchItemResult { index, operation: item.operation.clone(), result: Err(error) });
            reply.pending = requests.map(|(index, item)| (index, item.clone())).collect();
        }
        reply
    }
}

impl ItemAnswer<'_> {
    fn data(&self) -> &Payload {
        match self {
            ItemAnswer::Call(call) => call.answer.data(),
            ItemAnswer::Done(answer) => &answer.data,
        }
    }
}

/// The tokens that an answer takes from the budget, up to the budget. Only reads have one.
fn cost(answer: Option<&ItemAnswer<'_>>, budget: usize) -> usize {
    let Some(ItemAnswer::Call(call)) = answer else { return 0 };
    let Some(own) = call.step().budget() else { return 0 };
    let most = own.min(budget);
    match call.answer.data() {
        Payload::Raw(raw) => tokens(raw.get(), most),
        Payload::Value(value) => tokens(&value.to_string(), most),
    }
}

fn tokens(text: &str, most: usize) -> usize {
    if shape::fits(text, most) { shape::answer_tokens(text).min(most) } else { most }
}

/// The bytes of an answer as JSON.
pub(super) fn size(data: &Payload) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    match data {
        Payload::Raw(raw) => raw.get().len(),
        Payload::Value(value) => {
            let mut counter = Counter(0);
            // Counting never fails.
            let _ = serde_json::to_writer(&mut counter, value);
            counter.0
        }
    }
}
