//! Runs asynchronous code from synchronous code.

use anyhow::{Result, bail};

/// Runs `work` to completion on its own thread, because the caller may already be inside a runtime.
pub(crate) fn blocking<T: Send>(work: impl AsyncFnOnce() -> Result<T> + Send) -> Result<T> {
    let run = || tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work());
    std::thread::scope(|scope| scope.spawn(run).join())
        .unwrap_or_else(|_| bail!("a background thread panicked"))
}
