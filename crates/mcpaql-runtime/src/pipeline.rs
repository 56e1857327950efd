//! The one way a call goes: prepare, run, envelope.

use crate::caller::Caller;
use crate::document::{Handled, Handlers};
use crate::execution::Executions;
use crate::execution::Task;
use crate::gateway::Stats;
use crate::open::OpenError;
use crate::state::Outcome;
use crate::target::{Closed, Target};
use mcpaql_core::catalog::Catalog;
use mcpaql_core::error::{Code, OpError, Remedy};
use mcpaql_core::introspect;
use mcpaql_core::lifecycle::Lifecycle;
use mcpaql_core::operation::{Binding, Operation};
use mcpaql_core::request::{self, Call};
use mcpaql_core::response::{self, Answer, Reply};
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};

/// One adapter that is being served: what it can do and where its calls go.
#[derive(Debug)]
pub struct Served {
    catalog: Arc<Catalog>,
    target: Arc<Target>,
    executions: Option<Executions>,
    source: String,
    stats: Arc<Stats>,
    /// Estimated tokens of the surface, and of a tool for each operation.
    cost: OnceLock<(usize, usize)>,
}

impl Served {
    /// Joins a catalog with its target; `source` is the document's name for reports. Operations that would run in the
    /// background run to their end.
    #[must_use]
    pub fn new(catalog: impl Into<Arc<Catalog>>, target: Target, source: impl Into<String>) -> Served {
        Served {
            catalog: catalog.into(),
            target: Arc::new(target),
            executions: None,
            source: source.into(),
            stats: Arc::default(),
            cost: OnceLock::new(),
        }
    }

    /// An adapter whose target cannot be opened: everything but its calls works, and those are told why they do not.
    #[must_use]
    pub fn closed(catalog: impl Into<Arc<Catalog>>, source: impl Into<String>, error: &OpenError) -> Served {
        let catalog = catalog.into();
        let closed = Closed::new(&catalog.adapter.name, error);
        Served::new(catalog, Target::Closed(closed), source)
    }

    /// The same, with somewhere to keep what runs in the background.
    #[must_use]
    pub fn with_executions(self, executions: Executions) -> Served {
        Served { executions: Some(executions), ..self }
    }

    /// The same with functions of this program in place of some operations.
    #[must_use]
    pub fn answered_by(self, handlers: Handlers) -> Served {
        let handled = Handled::new(handlers, Arc::clone(&self.catalog), self.target);
        Served { target: Arc::new(Target::Handled(Box::new(handled))), ..self }
    }

    /// The same with its calls counted there.
    #[must_use]
    pub fn counted_by(self, stats: Arc<Stats>) -> Served {
        Served { stats, ..self }
    }

    /// What the adapter can do.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// Where its calls go.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The document's name, for messages to the operator.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What its surface costs, counted once.
    pub(crate) fn cost(&self, count: impl FnOnce() -> (usize, usize)) -> (usize, usize) {
        *self.cost.get_or_init(count)
    }

    /// How its calls have gone.
    #[must_use]
    pub fn stats(&self) -> &Arc<Stats> {
        &self.stats
    }

    /// A call through one of the adapter's tools. One that runs in the background is answered at once.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> Reply {
        let counting = self.stats.begin();
        let outcome = match request::prepare(&self.catalog, tool, arguments) {
            Ok(call) => match (&self.executions, call.entry.operation.lifecycle) {
                (Some(executions), Some(lifecycle)) => self.start(executions, lifecycle, call, caller).await,
                _ => self.run(call, caller).await,
            },
            Err(error) => Err(error),
        };
        let (reply, error) = self.reply(&outcome);
        counting.end(error);
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
        let counting = self.stats.begin();
        let outcome = match request::prepare_operation(&self.catalog, operation, params) {
            Ok(call) => self.run(call, caller).await,
            Err(error) => Err(error),
        };
        counting.end(outcome.as_ref().err().map(|error| error.code));
        outcome
    }

    /// Whether calls may go on in the background.
    #[must_use]
    pub fn has_executions(&self) -> bool {
        self.executions.is_some()
    }

    /// What came of a call in the background; `None` where it was not one of this adapter.
    pub async fn task(&self, id: &str) -> Option<Task> {
        self.executions.as_ref()?.task(id, |outcome| self.concluded(outcome)).await
    }

    /// Stops one; `None` where it was not one of this adapter.
    pub async fn cancel_task(&self, id: &str) -> Option<Task> {
        self.executions.as_ref()?.cancel_task(id, |outcome| self.concluded(outcome)).await
    }

    async fn run(&self, call: Call<'_>, caller: &Caller) -> Result<Answer, OpError> {
        let operation = call.whole.operation;
        let outcome = match operation.binding {
            Binding::Introspect => introspect::answer(&self.catalog, &call.args),
            Binding::Execution(action) => match &self.executions {
                Some(executions) => executions.answer(action, &call.args, caller).await,
                None => {
                    Err(OpError::new(Code::Internal, "Nothing runs in the background here; tell the user."))
                }
            },
            _ => self.target.call(operation, &call.args, caller).await,
        };
        report(&self.catalog.adapter.name, &operation.name, &outcome);
        let mut answer = outcome.map_err(|error| signed(error, &operation.name, call.whole.signature))?;
        answer.warnings.splice(0..0, call.warnings);
        Ok(answer)
    }

    async fn start(
        &self,
        executions: &Executions,
        lifecycle: Lifecycle,
        call: Call<'_>,
        caller: &Caller,
    ) -> Result<Answer, OpError> {
        let Call { whole, args, warnings, .. } = call;
        // A description that is read on demand knows nothing of lifecycles; the head does.
        let operation = Operation { lifecycle: Some(lifecycle), ..whole.operation.clone() };
        let (adapter, signature) = (self.catalog.adapter.name.clone(), whole.signature.to_owned());
        let target = Arc::clone(&self.target);
        let largest = self.catalog.limits.response_bytes;
        let work = |caller: Caller| async move {
            let outcome = target.call(&operation, &args, &caller).await;
            report(&adapter, &operation.name, &outcome);
            outcome.map_err(|error| signed(error, &operation.name, &signature))
        };
        let mut answer = executions.start(&whole.operation.name, lifecycle, largest, caller, work).await?;
        answer.warnings.splice(0..0, warnings);
        Ok(answer)
    }

    /// What a call would have been answered with.
    fn concluded(&self, outcome: Outcome) -> Reply {
        let outcome = match outcome {
            Outcome::Failed(error) => Err(error),
            Outcome::Done(done) => Ok(Answer { blocks: done.blocks, ..Answer::new(done.data) }),
        };
        self.reply(&outcome).0
    }

    /// The envelope, and the code of the error in it.
    fn reply(&self, outcome: &Result<Answer, OpError>) -> (Reply, Option<Code>) {
        let reply = response::envelope(outcome, self.catalog.errors);
        let limit = self.catalog.limits.response_bytes;
        if reply.text.len() <= limit {
            return (reply, outcome.as_ref().err().map(|error| error.code));
        }
        let error = OpError::new(
            Code::PayloadTooLarge,
            format!(
                "The answer has {} bytes, more than the {limit} that may be returned. Ask for less.",
                reply.text.len()
            ),
        )
        .with("limit", "max_response_size")
        .with("actual", reply.text.len())
        .with("maximum", limit);
        (response::envelope(&Err(error), self.catalog.errors), Some(Code::PayloadTooLarge))
    }
}

/// Tells the operator of what nobody in the conversation can mend.
fn report(adapter: &str, operation: &str, outcome: &Result<Answer, OpError>) {
    if let Err(error) = outcome
        && error.code.remedy() == Remedy::Operator
    {
        let cause = error.cause.as_deref().unwrap_or_default();
        tracing::warn!(adapter, operation, code = %error.code, cause, "call failed");
    }
}

/// Whatever finds fault with a call's parameters, the caller is shown what they should be.
fn signed(mut error: OpError, operation: &str, signature: &str) -> OpError {
    if error.code.as_str().starts_with("VALIDATION_") {
        if !error.details.contains_key("operation") {
            error.details.shift_insert(0, "operation".to_owned(), operation.into());
        }
        error.details.entry("signature").or_insert_with(|| signature.into());
    }
    error
}
