//! Executions: calls that run in the background. Each has an id, with which callers ask for its state.
//!
//! ```
//! use mcpaql_runtime::execution::{ExecutionLimits, Executions};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let limits = ExecutionLimits::default().with_running(4);
//! let executions = Executions::open(None, "reports", limits).await?;
//! # let _ = executions;
//! # Ok(())
//! # }
//! ```
//!
//! What always holds:
//! - An execution goes from pending to running to completed, failed or cancelled. After that its state never changes.
//! - At most [`ExecutionLimits::running`] executions run at the same time, and one caller has at most three quarters of them.
//! - Cancelling an execution drops its future, which stops the work of the target.
//! - The parameters of a call are not stored.
//! - If the process of an execution ends, the next process that reads the execution marks it as failed, with that
//!   reason.

mod job;
mod task;
mod view;

pub use task::{BackgroundTask, TaskState};

use crate::caller::{Caller, Progress, Session};
use crate::limits::RunningCalls;
use crate::process::{EXIT_GRACE, RUN_LENGTH, end_orphans};
use crate::state::{
    self, ExecutionOutcome, ExecutionRow, ExecutionTable, Instance, NewExecution, StoreError,
    StoredExecution, TableError,
};
use futures_util::FutureExt;
use job::{ExecutionJob, ExecutionTurn, RunningExecution};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::lifecycle::{
    DEFAULT_EXECUTIONS_PAGE_SIZE, ExecutionAction, ExecutionStatus, Lifecycle, MAX_EXECUTIONS_PAGE_SIZE,
    MAX_WAIT_SECONDS,
};
use mcpaql_core::response::{self, Answer, ToolReply, Warning};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

/// The name of the executions file in a data folder.
pub const EXECUTIONS_FILE: &str = "executions.sqlite";

/// How often the table is polled for changes by other processes.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// How long a cancellation waits for the end before it answers with the current state.
const CANCEL_WAIT: Duration = Duration::from_secs(5);
/// Bytes reserved in an answer for the fields around a result.
const RESULT_OVERHEAD_BYTES: usize = 4096;
/// Ids collide only if two share a millisecond and 19 random bits.
const ID_ATTEMPTS: usize = 8;
/// The message of an execution whose server was restarted.
const RESTARTED: &str = match cfg!(target_os = "linux") {
    true => {
        "The server was restarted while this execution ran, and its program was ended. Start it again; if it was a write, first check whether it took effect."
    }
    false => {
        "The server was restarted while this execution ran. Its program may still run: check whether it took effect before you start it again."
    }
};
/// The progress of an execution that starts to run.
const STARTED_PERCENT: i64 = 10;

/// The limits of the executions of one adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExecutionLimits {
    /// Maximum number that run at the same time; further ones wait.
    pub running: usize,
    /// Maximum number that wait; further ones are refused.
    pub waiting: usize,
}

impl Default for ExecutionLimits {
    fn default() -> Self {
        ExecutionLimits { running: 16, waiting: 256 }
    }
}

impl ExecutionLimits {
    /// Returns these limits with another maximum number of running executions.
    #[must_use]
    pub const fn with_running(self, running: usize) -> ExecutionLimits {
        ExecutionLimits { running, ..self }
    }

    /// Returns these limits with another maximum number of waiting executions.
    #[must_use]
    pub const fn with_waiting(self, waiting: usize) -> ExecutionLimits {
        ExecutionLimits { waiting, ..self }
    }
}

/// The executions of one adapter; clones share everything.
#[derive(Debug, Clone)]
pub struct Executions {
    shared: Arc<ExecutionsShared>,
}

#[derive(Debug)]
struct ExecutionsShared {
    table: ExecutionTable,
    /// The data folder, where other processes find this process.
    folder: Option<PathBuf>,
    instance: OnceLock<Instance>,
    limits: ExecutionLimits,
    turns: Arc<RunningCalls>,
    /// The executions that run in this process, by id.
    running: Mutex<HashMap<String, CancellationToken>>,
    changes: watch::Sender<()>,
}

impl Executions {
    /// Opens the executions of an adapter in a data folder. Without a folder they end with the process. Executions of
    /// processes that have ended are marked as failed.
    ///
    /// # Errors
    /// When the file cannot be created or read, or is not an executions file.
    pub async fn open(
        folder: Option<&Path>,
        adapter: &str,
        limits: ExecutionLimits,
    ) -> Result<Executions, StoreError> {
        // Without the feature `store`, no other process sees the executions.
        let folder = folder.filter(|_| cfg!(feature = "store"));
        let path = folder.map(|folder| folder.join(EXECUTIONS_FILE));
        let table = ExecutionTable::open(path.as_deref(), adapter).await?;
        let shared = ExecutionsShared {
            table,
            folder: folder.map(Path::to_owned),
            instance: OnceLock::new(),
            limits,
            turns: Arc::new(RunningCalls::with_queue(limits.running, limits.waiting)),
            running: Mutex::default(),
            changes: watch::Sender::default(),
        };
        let executions = Executions { shared: Arc::new(shared) };
        let recovered = async {
            executions.shared.table.delete_expired().await?;
            for row in executions.shared.table.unfinished().await? {
                executions.shared.fail_if_orphaned(&row).await?;
            }
            Ok::<(), TableError>(())
        };
        match recovered.await {
            Ok(()) => Ok(executions),
            #[cfg(feature = "store")]
            Err(source) => Err(StoreError::Open { path: path.unwrap_or_default(), source }),
        }
    }

    /// Starts work in the background and answers immediately. `max_answer_bytes` is the size limit of an answer with
    /// the result.
    ///
    /// # Errors
    /// When too many executions wait, or the execution cannot be stored.
    pub(crate) async fn start<F>(
        &self,
        operation: &str,
        lifecycle: Lifecycle,
        max_answer_bytes: usize,
        caller: &Caller,
        work: impl FnOnce(Caller) -> F,
    ) -> Result<Answer, OpError>
    where
        F: Future<Output = Result<Answer, OpError>> + Send + 'static,
    {
        let shared = &self.shared;
        shared.table.delete_expired().await.map_err(|error| storage_error(&error))?;
        let ExecutionLimits { running, waiting } = shared.limits;
        if shared.running().len() >= running.saturating_add(waiting) {
            let message =
                "Too many executions are waiting. Wait for one in list_executions to end, or cancel one.";
            return Err(
                OpError::new(Code::RateLimitExceeded, message).with_detail("maximum", running + waiting)
            );
        }
        let mut waiting = Box::pin(Arc::clone(&shared.turns).acquire_for(caller.share()));
        let turn = (&mut waiting).now_or_never().transpose()?;
        let (status, progress) = match turn {
            Some(_) => (ExecutionStatus::Running, STARTED_PERCENT),
            None => (ExecutionStatus::Pending, 0),
        };
        let turn = turn.map_or(ExecutionTurn::Waiting(waiting), ExecutionTurn::Taken);
        let keep = i64::try_from(lifecycle.keep_seconds).unwrap_or(i64::MAX / 2);
        let (entry, row) = shared.register(operation, (status, progress), keep, caller.identity()).await?;
        caller.record_execution(&row.id);
        let (listener, heard) = Caller::listener();
        let job = ExecutionJob {
            entry,
            limit: Duration::from_millis(lifecycle.limit_ms()),
            max_result_bytes: max_answer_bytes.saturating_sub(RESULT_OVERHEAD_BYTES),
            session: caller.session().filter(|_| !lifecycle.survives).map(Session::start_work),
        };
        tokio::spawn(job.run(turn, heard, work(caller.for_background(listener))));
        view::started(&row)
    }

    /// Answers a request about executions. `hide` removes the hidden fields of an operation from its outcome.
    ///
    /// # Errors
    /// When the execution does not exist, or the table cannot be read.
    pub(crate) async fn answer(
        &self,
        action: ExecutionAction,
        args: &Map<String, Value>,
        caller: &Caller,
        hide: impl FnOnce(&str, ExecutionOutcome) -> ExecutionOutcome,
    ) -> Result<Answer, OpError> {
        let id = args.get("execution_id").and_then(Value::as_str).unwrap_or_default();
        match action {
            ExecutionAction::List => self.list(args, caller.identity()).await,
            ExecutionAction::Get => {
                let wait = args.get("wait").and_then(Value::as_f64).unwrap_or_default();
                let wait = Duration::try_from_secs_f64(wait).unwrap_or_default();
                let mut kept = self.shared.get_own(id, wait, caller).await?;
                kept.outcome = kept.outcome.map(|outcome| hide(&kept.row.operation, outcome));
                view::with_outcome(kept)
            }
            ExecutionAction::Cancel => {
                let before = self.shared.get_own(id, Duration::ZERO, caller).await?;
                let status = before.row.status();
                if status.is_final() {
                    let mut answer = view::without_outcome(&before.row)?;
                    if status != ExecutionStatus::Cancelled {
                        let message =
                            format!("Nothing to cancel: the execution is already {}.", status.as_str());
                        answer.warnings.push(Warning::new("ALREADY_ENDED", message));
                    }
                    return Ok(answer);
                }
                let after = self.shared.cancel(id).await?.ok_or_else(|| not_found(id))?;
                view::without_outcome(&after.row)
            }
        }
    }

    async fn list(&self, args: &Map<String, Value>, caller: &str) -> Result<Answer, OpError> {
        let text = |key: &str| args.get(key).and_then(Value::as_str);
        let status = text("status").and_then(ExecutionStatus::parse);
        let before = match text("after") {
            None => None,
            Some(cursor) => Some(view::parse_cursor(cursor).ok_or_else(|| {
                let message =
                    "Parameter 'after' is not a cursor of this list. Use 'endCursor' of the previous page.";
                OpError::new(Code::InvalidValue, message).with_detail("param_name", "after")
            })?),
        };
        let first = args.get("first").and_then(Value::as_u64).and_then(|first| usize::try_from(first).ok());
        let requested = first.unwrap_or(DEFAULT_EXECUTIONS_PAGE_SIZE);
        let first = requested.min(MAX_EXECUTIONS_PAGE_SIZE);
        let table = &self.shared.table;
        // The list must not show orphaned executions as running.
        for row in table.unfinished().await.map_err(|error| storage_error(&error))? {
            self.shared.fail_if_orphaned(&row).await.map_err(|error| storage_error(&error))?;
        }
        table.delete_expired().await.map_err(|error| storage_error(&error))?;
        let count = i64::try_from(first + 1).unwrap_or(i64::MAX);
        let rows = table.list(caller, status, before, count).await.map_err(|error| storage_error(&error))?;
        let mut answer = view::list(&rows, first, before.is_none())?;
        answer.warnings.extend(response::clamped_page_warning(requested, MAX_EXECUTIONS_PAGE_SIZE));
        Ok(answer)
    }

    /// Returns an execution of this caller as a task; `None` if this adapter has no such execution with this id.
    pub(crate) async fn task(
        &self,
        id: &str,
        caller: &Caller,
        reply: impl FnOnce(&str, ExecutionOutcome) -> ToolReply,
    ) -> Option<BackgroundTask> {
        let kept = self.shared.get(id, Duration::ZERO, None).await.ok()??;
        let kept = Some(kept).filter(|kept| kept.row.belongs_to(caller.identity()))?;
        Some(view::task(kept, reply))
    }

    /// Cancels an execution and returns it as a task; `None` if this adapter has no execution with this id. The caller was checked
    /// with [`task`](Executions::task).
    pub(crate) async fn cancel_task(
        &self,
        id: &str,
        reply: impl FnOnce(&str, ExecutionOutcome) -> ToolReply,
    ) -> Option<BackgroundTask> {
        let kept = self.shared.cancel(id).await.ok()??;
        Some(view::task(kept, reply))
    }
}

impl ExecutionsShared {
    fn running(&self) -> MutexGuard<'_, HashMap<String, CancellationToken>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The identity of this process for other processes, registered on first use.
    fn instance(&self) -> Result<&Instance, OpError> {
        if let Some(instance) = self.instance.get() {
            return Ok(instance);
        }
        let fresh = Instance::register(self.folder.as_deref())
            .map_err(|error| OpError::new(Code::Internal, STORAGE_FAILED).with_cause(error))?;
        Ok(self.instance.get_or_init(|| fresh))
    }

    /// Registers an execution under a new id, in memory before the table: a process that finds it in the table must
    /// see it as running.
    async fn register(
        self: &Arc<Self>,
        operation: &str,
        (status, progress): (ExecutionStatus, i64),
        keep_seconds: i64,
        caller: &str,
    ) -> Result<(RunningExecution, ExecutionRow), OpError> {
        let instance = self.instance()?.id.as_str();
        for _ in 0..ID_ATTEMPTS {
            let id = state::fresh_id("execution");
            if self.running().contains_key(&id) {
                continue;
            }
            let cancel = CancellationToken::new();
            self.running().insert(id.clone(), cancel.clone());
            let entry = RunningExecution { shared: Arc::clone(self), id, cancel };
            let new =
                NewExecution { id: &entry.id, operation, status, progress, keep_seconds, instance, caller };
            if let Some(row) = self.table.insert(&new).await.map_err(|error| storage_error(&error))? {
                return Ok((entry, row));
            }
        }
        Err(OpError::new(Code::Internal, STORAGE_FAILED).with_cause("no free id found"))
    }

    /// Ends the programs of a process that is gone. Returns false if one of them cannot be ended; then its execution still runs.
    async fn end_programs_of(&self, instance: &str) -> bool {
        let Some(run) = instance.get(..RUN_LENGTH).map(str::to_owned) else { return true };
        let ended = tokio::task::spawn_blocking(move || end_orphans(&run, EXIT_GRACE));
        ended.await.is_ok_and(|left| left == 0)
    }

    /// Marks an execution as failed if no process runs it, and returns whether it did.
    async fn fail_if_orphaned(&self, row: &ExecutionRow) -> Result<bool, TableError> {
        let own = self.instance.get().is_some_and(|instance| instance.id == row.instance);
        let is_alive = match own {
            true => self.running().contains_key(&row.id),
            false => state::is_alive(self.folder.as_deref(), &row.instance),
        };
        if is_alive {
            return Ok(false);
        }
        // It may have ended since the row was read; then this changes nothing.
        let (reason, message) = if own {
            (
                "result_not_stored",
                "The server could not store the result of this execution. If it was a write, first check whether it took effect.",
            )
        } else {
            if !self.end_programs_of(&row.instance).await {
                return Ok(false);
            }
            ("server_restarted", RESTARTED)
        };
        let outcome =
            ExecutionOutcome::Failed(OpError::new(Code::Internal, message).with_detail("reason", reason));
        self.table.finish(&row.id, ExecutionStatus::Failed, None, Some(&outcome)).await?;
        Ok(true)
    }

    /// Returns an execution, if requested after waiting for its end. The caller receives its progress while it waits.
    async fn get(
        &self,
        id: &str,
        wait: Duration,
        caller: Option<&Caller>,
    ) -> Result<Option<StoredExecution>, OpError> {
        let deadline = Instant::now() + wait.min(Duration::from_secs(MAX_WAIT_SECONDS));
        let mut changes = self.changes.subscribe();
        loop {
            changes.mark_unchanged();
            let kept = self.table.get(id).await.map_err(|error| storage_error(&error))?;
            let Some(kept) = kept.filter(|kept| !is_expired(&kept.row)) else { return Ok(None) };
            if kept.row.status().is_final() {
                return Ok(Some(kept));
            }
            if self.fail_if_orphaned(&kept.row).await.map_err(|error| storage_error(&error))? {
                continue;
            }
            if let Some(caller) = caller {
                let (done, message) = (kept.row.progress as f64, kept.row.message.clone());
                caller.report_progress(Progress { message, ..Progress::new(done).of(100.0) });
            }
            if Instant::now() >= deadline {
                return Ok(Some(kept));
            }
            let next_poll = deadline.min(Instant::now() + POLL_INTERVAL);
            let _ = timeout_at(next_poll, changes.changed()).await;
        }
    }

    /// Returns an execution of this caller, if requested after waiting for its end.
    async fn get_own(&self, id: &str, wait: Duration, caller: &Caller) -> Result<StoredExecution, OpError> {
        // A stranger must not even learn how long it runs.
        let known = self.get(id, Duration::ZERO, None).await?;
        if !known.is_some_and(|kept| kept.row.belongs_to(caller.identity())) {
            return Err(not_found(id));
        }
        self.get(id, wait, Some(caller)).await?.ok_or_else(|| not_found(id))
    }

    /// Cancels an execution and waits shortly for its end.
    async fn cancel(&self, id: &str) -> Result<Option<StoredExecution>, OpError> {
        let own = self.running().get(id).cloned();
        match own {
            Some(token) => token.cancel(),
            None => self.table.request_cancel(id).await.map_err(|error| storage_error(&error))?,
        }
        self.get(id, CANCEL_WAIT, None).await
    }
}

fn is_expired(row: &ExecutionRow) -> bool {
    row.expires_at.is_some_and(|end| end <= state::now())
}

const STORAGE_FAILED: &str = "The server could not read or store executions; tell the user.";

fn storage_error(error: &TableError) -> OpError {
    OpError::new(Code::Internal, STORAGE_FAILED).with_cause(error)
}

fn not_found(id: &str) -> OpError {
    let id: String = id.chars().filter(char::is_ascii_alphanumeric).take(64).collect();
    let message = "No execution has this id; it may have expired. Find it with list_executions.";
    OpError::new(Code::NotFoundResource, message)
        .with_detail("resource_type", "execution")
        .with_detail("resource_id", id)
}

#[cfg(test)]
mod tests;
