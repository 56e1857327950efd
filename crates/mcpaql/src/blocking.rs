//! Asynchronous work for callers that are not asynchronous.

use anyhow::{Result, bail};

/// Runs `work` to its end. It gets a thread of its own, because the caller may be in a runtime already.
pub(crate) fn blocking<T: Send>(work: impl AsyncFnOnce() -> Result<T> + Send) -> Result<T> {
    let run = || tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(work());
    std::thread::scope(|scope| scope.spawn(run).join())
        .unwrap_or_else(|_| bail!("a thread of the program failed"))
}
