//! The one way a call goes: prepare, run, envelope.

use crate::mcp::Caller;
use crate::target::Target;
use mcpaql_core::catalog::{Catalog, Whole};
use mcpaql_core::error::{Code, OpError, Remedy};
use mcpaql_core::introspect;
use mcpaql_core::operation::Binding;
use mcpaql_core::request::{self, Call};
use mcpaql_core::response::{self, Answer, Reply};
use serde_json::{Map, Value};

/// One adapter that is being served: what it can do and where its calls go.
#[derive(Debug)]
pub struct Served {
    catalog: Catalog,
    target: Target,
    source: String,
}

impl Served {
    /// Joins a catalog with its target; `source` is the document's name for reports.
    #[must_use]
    pub fn new(catalog: Catalog, target: Target, source: impl Into<String>) -> Served {
        Served { catalog, target, source: source.into() }
    }

    /// What the adapter can do.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.catalog
    }

    /// The document's name, for messages to the operator.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// A call through one of the adapter's tools.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> Reply {
        let outcome = match request::prepare(&self.catalog, tool, arguments) {
            Ok(call) => self.run(call, caller).await,
            Err(error) => Err(error),
        };
        self.reply(&outcome)
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
        let call = request::prepare_operation(&self.catalog, operation, params)?;
        self.run(call, caller).await
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

    fn reply(&self, outcome: &Result<Answer, OpError>) -> Reply {
        let reply = response::envelope(outcome, self.catalog.errors);
        let limit = self.catalog.limits.response_bytes;
        if reply.text.len() <= limit {
            return reply;
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
        response::envelope(&Err(error), self.catalog.errors)
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
