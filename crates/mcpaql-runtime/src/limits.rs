//! Limits of calls: one error for everything that is too large, and a maximum of calls that run at the same time.
//!
//! What always holds: each adapter has its own [`RunningCalls`], so calls of an adapter that hangs take no turn from another one.

use mcpaql_core::error::{Code, OpError};
use tokio::sync::{Semaphore, SemaphorePermit};

/// How many calls of one adapter run at the same time unless its owner sets another number.
pub(crate) const MAX_RUNNING_CALLS: usize = 256;

/// The calls of one adapter that run at the same time. Further ones wait for their turn, in order.
#[derive(Debug)]
pub(crate) struct RunningCalls(Semaphore);

impl RunningCalls {
    pub(crate) fn new(maximum: usize) -> RunningCalls {
        RunningCalls(Semaphore::new(maximum.clamp(1, Semaphore::MAX_PERMITS)))
    }

    /// Waits for a turn, which ends when the permit is dropped. The semaphore is never closed, so there always is one.
    pub(crate) async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        self.0.acquire().await.ok()
    }
}

impl Default for RunningCalls {
    fn default() -> Self {
        RunningCalls::new(MAX_RUNNING_CALLS)
    }
}

/// The error for something beyond a limit; `actual` is left out where it was never measured to its end.
pub(crate) fn too_large(
    message: impl Into<String>,
    limit: &'static str,
    actual: Option<usize>,
    maximum: usize,
) -> OpError {
    let error = OpError::new(Code::PayloadTooLarge, message).with_detail("limit", limit);
    let error = match actual {
        Some(actual) => error.with_detail("actual", actual),
        None => error,
    };
    error.with_detail("maximum", maximum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_details_name_the_limit_and_what_is_known() {
        let error = too_large("Too much.", "max_record_size", Some(3), 2);
        assert_eq!(json!(error.details), json!({"limit": "max_record_size", "actual": 3, "maximum": 2}));
        let error = too_large("Too much.", "max_response_bytes", None, 2);
        assert_eq!(json!(error.details), json!({"limit": "max_response_bytes", "maximum": 2}));
    }
}
