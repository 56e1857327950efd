//! A served adapter as a whole program: one client over standard input and output, until it disconnects or the process is stopped.
//!
//! ```
//! use mcpaql_runtime::prelude::*;
//!
//! # fn example() -> Result<(), RunError> {
//! // The whole `main` of a program.
//! Native::new("clock").operation(operation("get_zone").handle(async || Ok("UTC"))).run()
//! # }
//! ```
//!
//! [`Native::run`](crate::native::Native::run) and [`Document::run`](crate::document::Document::run) share this code.
//!
//! What always holds: the client is answered while the adapter is still opened, one second after its first request at the latest; on
//! a stop signal, running calls may finish within the grace period; an error of the adapter is returned even if the client has
//! disconnected.

#[cfg(feature = "log")]
mod log;

pub use crate::process::end_programs_with_this_process;

use crate::dispatch::ServedAdapter;
use crate::environment::{self, Environment};
use crate::gateway::{Gateway, NameCollision};
use crate::mcp::{PendingService, ServerLimits, ServiceLoader};
use crate::serve::{self, ServeError};
use crate::service::Service;
use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Why a program that serves an adapter stopped.
///
/// Its `Debug` output is the message, because that is what Rust prints when `main` returns an error.
#[non_exhaustive]
#[derive(thiserror::Error)]
pub enum RunError {
    /// The adapter is invalid or cannot be opened: a [`NativeError`](crate::native::NativeError), a
    /// [`DocumentError`](crate::document::DocumentError) or an [`EnvironmentError`](crate::environment::EnvironmentError).
    #[error(transparent)]
    Adapter(Box<dyn Error + Send + Sync>),
    /// Two tools have the same name.
    #[error(transparent)]
    Collision(#[from] NameCollision),
    /// The conversation with the client failed.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The system provided no thread, timer or signal handler.
    #[error("the server cannot be started: {0}")]
    Io(#[from] std::io::Error),
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// What a program serves.
pub(crate) trait RunService: Service {
    /// Stops everything that the service has started.
    fn close(&self) -> impl Future<Output = ()>;
}

impl RunService for Gateway {
    fn close(&self) -> impl Future<Output = ()> {
        Gateway::close(self)
    }
}

/// Returns the error of an adapter that cannot be opened.
pub(crate) fn adapter_error(error: impl Error + Send + Sync + 'static) -> RunError {
    RunError::Adapter(Box::new(error))
}

/// Serves on a runtime of its own until the client disconnects or the process is stopped.
pub(crate) fn run<F, Fut, S>(open: F) -> Result<(), RunError>
where
    F: FnOnce(Environment, Option<PathBuf>) -> Fut + Send + 'static,
    Fut: Future<Output = Result<S, RunError>>,
    S: RunService,
{
    #[cfg(feature = "log")]
    log::start();
    // One client's calls: waking another thread costs more than most of them.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let outcome = runtime.block_on(async {
        serve::survive_full_files()?;
        let shutdown = CancellationToken::new();
        tokio::spawn(stop_after(shutdown.clone(), stop_signal()?));
        serve_stdio(open, shutdown).await
    });
    // A blocking read of a terminal would keep the process alive forever.
    runtime.shutdown_background();
    outcome
}

/// Serves inside a runtime of the program, until `shutdown` is cancelled.
pub(crate) async fn serve_stdio<F, Fut, S>(open: F, shutdown: CancellationToken) -> Result<(), RunError>
where
    F: FnOnce(Environment, Option<PathBuf>) -> Fut + Send + 'static,
    Fut: Future<Output = Result<S, RunError>>,
    S: RunService,
{
    let (pending, loading) = PendingService::new();
    let mut serving =
        Box::pin(serve::serve_stdio(Arc::new(pending), ServerLimits::default(), shutdown.clone()));
    let mut loaded = Box::pin(load(open, loading));
    tokio::select! {
        served = &mut serving => {
            served?;
            // An adapter that cannot be served is an error even if the client has disconnected.
            tokio::select! {
                () = shutdown.cancelled() => {}
                service = loaded => service?.close().await,
            }
        }
        service = &mut loaded => {
            let service = service?;
            let served = serving.await;
            service.close().await;
            served?;
        }
    }
    Ok(())
}

/// Opens the adapter on a thread of its own, then hands it over to the server.
async fn load<F, Fut, S>(open: F, loading: ServiceLoader<S>) -> Result<Arc<S>, RunError>
where
    F: FnOnce(Environment, Option<PathBuf>) -> Fut + Send + 'static,
    Fut: Future<Output = Result<S, RunError>>,
    S: RunService,
{
    let handle = tokio::runtime::Handle::current();
    let work = move || handle.block_on(open(environment::process(), environment::data_folder()));
    let service = Arc::new(tokio::task::spawn_blocking(work).await.map_err(std::io::Error::other)??);
    loading.set_ready(Arc::clone(&service));
    Ok(service)
}

/// Logs what is served.
pub(crate) fn log_served(served: &ServedAdapter) {
    tracing::info!(
        adapter = %served.catalog().adapter.name,
        operations = served.catalog().operations.len().saturating_sub(1),
        tools = served.catalog().tools.len(),
        "serving"
    );
}

async fn stop_after(shutdown: CancellationToken, signal: impl Future<Output = ()>) {
    signal.await;
    tracing::info!("stopping: running calls may finish");
    shutdown.cancel();
}

/// Completes when the system asks the process to stop. It listens from the moment it is created.
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
