//! Records calls: statistics, and a log entry for failures that only the operator can fix.

mod stats;

pub use stats::{CallCounts, Latency, Stats};

use mcpaql_core::error::{OpError, Remedy};
use mcpaql_core::response::Answer;

/// Logs a failure that only the operator can fix.
pub(crate) fn log_failure(adapter: &str, operation: &str, outcome: &Result<Answer, OpError>) {
    if let Err(error) = outcome
        && error.code.remedy() == Remedy::Operator
    {
        let cause = error.cause.as_deref();
        tracing::warn!(adapter, operation, code = %error.code, cause, "call failed");
    }
}
