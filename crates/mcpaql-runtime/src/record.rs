//! Records calls: statistics, a log line for each call, and a log entry for failures that only the operator can fix.
//!
//! ```
//! use mcpaql_runtime::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let clock = Native::new("clock").operation(operation("get_zone").handle(async || Ok("UTC")));
//! let clock = clock.open(&AdapterSettings::default(), None).await?;
//! let unknown = clock.call_operation("get_zome", Default::default(), &Caller::nobody()).await;
//! assert!(unknown.is_err());
//! let counts = clock.stats().count();
//! assert_eq!((counts.calls, counts.errors, counts.last_error), (1, 1, Some(Code::NotFoundOperation)));
//! # Ok(())
//! # }
//! ```

mod log;
mod stats;

pub use log::{LogReader, OperatorLog, OperatorLogError, log_public_key, verify_folder};
pub use stats::{CallCounts, Latency, Stats};

use mcpaql_core::error::{Code, OpError, Remedy};
use std::time::Duration;

/// The target of the log lines about calls, so that filters can select them.
pub const CALL_LOG: &str = "mcpaql_calls";

/// Logs a finished call: one line without parameters and without data.
pub(crate) fn log_call(
    adapter: &str,
    operation: Option<&str>,
    error: Option<Code>,
    bytes: usize,
    took: Duration,
) {
    let code = error.map_or("OK", Code::as_str);
    let ms = took.as_secs_f64() * 1000.0;
    tracing::info!(target: CALL_LOG, adapter, operation, code, bytes, ms = format_args!("{ms:.1}"), "call");
}

/// Logs a failure that only the operator can fix.
pub(crate) fn log_failure(adapter: &str, operation: &str, error: Option<&OpError>) {
    if let Some(error) = error
        && error.code.remedy() == Remedy::Operator
    {
        let cause = error.cause.as_deref();
        tracing::warn!(adapter, operation, code = %error.code, cause, "call failed");
    }
}

/// The error of a call that panicked. The panic hook logs the panic itself.
pub(crate) fn panicked() -> OpError {
    OpError::new(
        Code::Internal,
        "The server failed during this call. Tell the user; if it was a write, first check whether it took effect.",
    )
}
