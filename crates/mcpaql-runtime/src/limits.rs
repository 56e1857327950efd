//! Limits of calls: the error for anything too large, and the maximum number of calls that run at the same time.
//!
//! What always holds: each adapter has its own [`RunningCalls`], so an adapter that hangs does not delay the calls of
//! another.

use mcpaql_core::error::{Code, OpError};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Default maximum number of calls of one adapter that run at the same time.
pub(crate) const MAX_RUNNING_CALLS: usize = 256;

/// Limits the calls of one adapter that run at the same time. Further calls wait in order.
#[derive(Debug)]
pub(crate) struct RunningCalls(Semaphore);

impl RunningCalls {
    pub(crate) fn new(maximum: usize) -> RunningCalls {
        RunningCalls(Semaphore::new(maximum.clamp(1, Semaphore::MAX_PERMITS)))
    }

    /// Waits for a permit and holds it until it is dropped. Never returns `None`, because the semaphore is never
    /// closed.
    pub(crate) async fn acquire(&self) -> Option<SemaphorePermit<'_>> {
        self.0.acquire().await.ok()
    }
}

impl Default for RunningCalls {
    fn default() -> Self {
        RunningCalls::new(MAX_RUNNING_CALLS)
    }
}

/// Returns the error for a value that exceeds a limit. `actual` is `None` if reading stopped at the limit.
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
