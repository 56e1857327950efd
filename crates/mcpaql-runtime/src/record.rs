//! What is kept of calls: statistics, and a line in the log for failures that only the operator can do something about.

mod stats;

pub use stats::{CallCounts, Latency, Stats};

use mcpaql_core::error::{OpError, Remedy};
use mcpaql_core::response::Answer;

/// Logs a failure that nobody in the conversation can repair.
pub(crate) fn log_failure(adapter: &str, operation: &str, outcome: &Result<Answer, OpError>) {
    if let Err(error) = outcome
        && error.code.remedy() == Remedy::Operator
    {
        let cause = error.cause.as_deref().unwrap_or_default();
        tracing::warn!(adapter, operation, code = %error.code, cause, "call failed");
    }
}
