//! A document as a whole program: one client over standard input and output, until it leaves or the system says stop.

use super::{Document, DocumentError};
use crate::environment;
use crate::gateway::Gateway;
use crate::mcp::{PendingService, ServerLimits, ServiceLoader};
use crate::serve;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

impl Document {
    /// Serves the client that started this program until it leaves, or until the process is told to stop. Variables are those of the
    /// process; stores and executions lie in the user's data folder, where `mcpaql serve` has them.
    ///
    /// # Errors
    /// What is wrong with the document, its target, or the conversation.
    pub fn run(self) -> Result<(), DocumentError> {
        // One client's calls: waking another thread costs more than most of them.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let outcome = runtime.block_on(async {
            let shutdown = CancellationToken::new();
            tokio::spawn(stop_after(shutdown.clone(), stop_signal()?));
            self.serve_stdio(shutdown).await
        });
        // A terminal's blocking read of standard input would hold the process for ever.
        runtime.shutdown_background();
        outcome
    }

    /// The same inside a runtime of the program, until `shutdown` is cancelled. The client is answered while the document is
    /// compiled beside, a second after it asked at the latest.
    ///
    /// # Errors
    /// As [`run`](Document::run).
    pub async fn serve_stdio(self, shutdown: CancellationToken) -> Result<(), DocumentError> {
        let (pending, loading) = PendingService::new();
        let mut serving =
            Box::pin(serve::serve_stdio(Arc::new(pending), ServerLimits::default(), shutdown.clone()));
        let mut loaded = Box::pin(load(self, loading));
        tokio::select! {
            served = &mut serving => {
                served?;
                // A client that went away at once is no reason to keep quiet about what cannot be served.
                tokio::select! {
                    () = shutdown.cancelled() => {}
                    gateway = loaded => gateway?.close().await,
                }
            }
            gateway = &mut loaded => {
                let gateway = gateway?;
                let served = serving.await;
                gateway.close().await;
                served?;
            }
        }
        Ok(())
    }
}

/// Compiles the document on a thread of its own, then hands over what it offers.
async fn load(document: Document, loading: ServiceLoader<Gateway>) -> Result<Gateway, DocumentError> {
    let handle = tokio::runtime::Handle::current();
    let work = move || -> Result<Gateway, DocumentError> {
        let environment = environment::process();
        let data = environment::data_folder();
        let served = handle.block_on(document.open(data.as_deref(), &environment))?;
        tracing::info!(
            adapter = %served.catalog().adapter.name,
            operations = served.catalog().operations.len().saturating_sub(1),
            tools = served.catalog().tools.len(),
            "serving"
        );
        Ok(Gateway::new(vec![served])?)
    };
    let gateway = tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)??;
    loading.set_ready(Arc::new(gateway.clone()));
    Ok(gateway)
}

async fn stop_after(shutdown: CancellationToken, signal: impl Future<Output = ()>) {
    signal.await;
    tracing::info!("stopping: running calls may finish");
    shutdown.cancel();
}

/// Comes to its end when the system wants the process to stop; it listens from now on.
#[cfg(unix)]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
    })
}

#[cfg(not(unix))]
fn stop_signal() -> std::io::Result<impl Future<Output = ()>> {
    Ok(async {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
