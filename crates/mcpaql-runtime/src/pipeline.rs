//! The one way a call goes: prepare, run, envelope.

use crate::gateway::Stats;
use crate::mcp::Caller;
use crate::open::OpenError;
use crate::target::{Closed, Target};
use mcpaql_core::catalog::{Catalog, Whole};
use mcpaql_core::error::{Code, OpError, Remedy};
use mcpaql_core::introspect;
use mcpaql_core::operation::Binding;
use mcpaql_core::request::{self, Call};
use mcpaql_core::response::{self, Answer, Reply};
use serde_json::{Map, Value};
use std::sync::{Arc, OnceLock};

/// One adapter that is being served: what it can do and where its calls go.
#[derive(Debug)]
pub struct Served {
    catalog: Arc<Catalog>,
    target: Target,
    source: String,
    stats: Arc<Stats>,
    /// Estimated tokens of the surface, and of a tool for each operation.
    cost: OnceLock<(usize, usize)>,
}

impl Served {
    /// Joins a catalog with its target; `source` is the document's name for reports.
    #[must_use]
    pub fn new(catalog: impl Into<Arc<Catalog>>, target: Target, source: impl Into<String>) -> Served {
        Served {
            catalog: catalog.into(),
            target,
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

    /// A call through one of the adapter's tools.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> Reply {
        let counting = self.stats.begin();
        let outcome = match request::prepare(&self.catalog, tool, arguments) {
            Ok(call) => self.run(call, caller).await,
            Err(error) => Err(error),
        };
        let (reply, error) = self.reply(&outcome);
        counting.end(error);
        reply
    }

    /// A call by operation name, whatever tool carries it.
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

    async fn run(&self, call: Call<'_>, caller: &Caller) -> Result<Answer, OpError> {
        let operation = call.whole.operation;
        let outcome = match operation.binding {
            Binding::Introspect => introspect::answer(&self.catalog, &call.args),
            _ => self.target.call(operation, &call.args, caller).await,
        };
        if let Err(error) = &outcome
            && error.code.remedy() == Remedy::Operator
        {
            tracing::warn!(
                adapter = %self.catalog.adapter.name,
                operation = %operation.name,
                code = %error.code,
                cause = error.cause.as_deref().unwrap_or_default(),
                "call failed"
            );
        }
        let mut answer = outcome.map_err(|error| signed(error, call.whole))?;
        answer.warnings.splice(0..0, call.warnings);
        Ok(answer)
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

/// Whatever finds fault with a call's parameters, the caller is shown what they should be.
fn signed(mut error: OpError, whole: Whole<'_>) -> OpError {
    if error.code.as_str().starts_with("VALIDATION_") {
        if !error.details.contains_key("operation") {
            error.details.shift_insert(0, "operation".to_owned(), whole.operation.name.as_str().into());
        }
        error.details.entry("signature").or_insert_with(|| whole.signature.into());
    }
    error
}
