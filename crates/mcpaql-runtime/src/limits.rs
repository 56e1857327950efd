//! The maximum number of calls of an adapter that run at the same time.
//!
//! What always holds: each adapter has its own [`RunningCalls`], so an adapter that hangs does not delay the calls of
//! another.

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
