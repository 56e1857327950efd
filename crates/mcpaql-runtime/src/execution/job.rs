//! A running execution: it waits for a turn, records its progress, and ends in one of several ways.

use super::{ExecutionsShared, POLL_INTERVAL, STARTED_PERCENT, storage_error};
use crate::caller::{Progress, SessionWork};
use crate::limits::CallTurn;
use crate::state::ExecutionOutcome;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use mcpaql_core::error::{Code, LimitType, OpError};
use mcpaql_core::lifecycle::ExecutionStatus;
use mcpaql_core::response::Answer;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// The target's own timeout has the better message, so it gets this much time to come first.
const TIMEOUT_GRACE: Duration = Duration::from_secs(1);
/// The progress of an execution whose work is done.
const FINISHING_PERCENT: i64 = 90;

/// Why an execution stopped early.
enum StopReason {
    Requested,
    SessionEnded,
}

/// Marks an execution as running in this process until it is dropped.
pub(super) struct RunningExecution {
    pub(super) shared: Arc<ExecutionsShared>,
    pub(super) id: String,
    pub(super) cancel: CancellationToken,
}

impl Drop for RunningExecution {
    fn drop(&mut self) {
        self.shared.running().remove(&self.id);
        self.shared.changes.send_replace(());
    }
}

/// The turn of an execution, or its place in the queue.
pub(super) enum ExecutionTurn {
    Taken(CallTurn),
    Waiting(BoxFuture<'static, Result<CallTurn, OpError>>),
}

/// An execution and the limits it runs under.
pub(super) struct ExecutionJob {
    pub(super) entry: RunningExecution,
    /// The time that the target may take.
    pub(super) limit: Duration,
    /// Maximum size of the result.
    pub(super) max_result_bytes: usize,
    /// Present if the execution ends with its session.
    pub(super) session: Option<SessionWork>,
}

impl ExecutionJob {
    /// Runs the work to its end and stores the outcome.
    pub(super) async fn run(
        self,
        turn: ExecutionTurn,
        reports: watch::Receiver<Progress>,
        work: impl Future<Output = Result<Answer, OpError>> + Send,
    ) {
        // When another branch completes first, the work is dropped, which stops it.
        let ended = tokio::select! {
            biased;
            () = self.entry.cancel.cancelled() => Err(StopReason::Requested),
            () = self.cancel_requested() => Err(StopReason::Requested),
            () = self.session_ended() => Err(StopReason::SessionEnded),
            never = self.record_progress(reports) => match never {},
            outcome = self.work(turn, work) => Ok(outcome),
        };
        let (status, message, outcome) = match ended {
            Err(StopReason::Requested) => (ExecutionStatus::Cancelled, Some("Cancelled on request."), None),
            Err(StopReason::SessionEnded) => {
                (ExecutionStatus::Cancelled, Some("Cancelled because its session ended."), None)
            }
            Ok(outcome) => match self.stored_outcome(outcome) {
                ExecutionOutcome::Failed(error) => {
                    (ExecutionStatus::Failed, None, Some(ExecutionOutcome::Failed(error)))
                }
                done @ ExecutionOutcome::Done(_) => (ExecutionStatus::Completed, None, Some(done)),
            },
        };
        if let Err(error) =
            self.entry.shared.table.finish(&self.entry.id, status, message, outcome.as_ref()).await
        {
            tracing::error!(execution = %self.entry.id, %error, "outcome of execution not stored");
        }
    }

    /// Waits for a turn and runs the work, within its time limit. A panic becomes an error.
    async fn work(
        &self,
        turn: ExecutionTurn,
        work: impl Future<Output = Result<Answer, OpError>>,
    ) -> Result<Answer, OpError> {
        let _turn = match turn {
            ExecutionTurn::Taken(turn) => turn,
            ExecutionTurn::Waiting(waiting) => {
                let turn = waiting.await?;
                self.entry
                    .shared
                    .table
                    .begin(&self.entry.id, STARTED_PERCENT)
                    .await
                    .map_err(|error| storage_error(&error))?;
                self.entry.shared.changes.send_replace(());
                turn
            }
        };
        match timeout(self.limit + TIMEOUT_GRACE, AssertUnwindSafe(work).catch_unwind()).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => Err(OpError::new(
                Code::Internal,
                "The server failed during this execution. Tell the user; if it was a write, first check whether it took effect.",
            )),
            Err(_) => Err(OpError::new(
                Code::TransportTimeout,
                "The execution exceeded its time limit. Request less data; if it was a write, first check whether it took effect.",
            )),
        }
    }

    /// Returns the outcome to store. A result that is too large to be returned becomes an error.
    fn stored_outcome(&self, outcome: Result<Answer, OpError>) -> ExecutionOutcome {
        match ExecutionOutcome::of(outcome) {
            Ok((_, length)) if length > self.max_result_bytes => {
                let message = format!(
                    "The result has {length} bytes, more than the maximum of {}. Request less data.",
                    self.max_result_bytes
                );
                ExecutionOutcome::Failed(OpError::too_large(
                    message,
                    LimitType::ResponseSize,
                    Some(length),
                    self.max_result_bytes,
                ))
            }
            Ok((outcome, _)) => outcome,
            Err(error) => ExecutionOutcome::Failed(
                OpError::new(Code::Internal, "The result could not be serialized.").with_cause(error),
            ),
        }
    }

    /// Stores progress reports, at most once per poll interval. Never completes.
    async fn record_progress(&self, mut reports: watch::Receiver<Progress>) -> Infallible {
        while reports.changed().await.is_ok() {
            let progress = reports.borrow_and_update().clone();
            let stored = self
                .entry
                .shared
                .table
                .advance(&self.entry.id, percent(&progress), progress.message.as_deref())
                .await;
            if let Err(error) = stored {
                tracing::debug!(execution = %self.entry.id, %error, "progress of execution not stored");
            }
            self.entry.shared.changes.send_replace(());
            sleep(POLL_INTERVAL).await;
        }
        std::future::pending().await
    }

    /// Completes when the cancellation was requested through another process.
    async fn cancel_requested(&self) {
        if self.entry.shared.folder.is_none() {
            std::future::pending::<()>().await;
        }
        loop {
            sleep(POLL_INTERVAL).await;
            if matches!(self.entry.shared.table.is_cancel_requested(&self.entry.id).await, Ok(true)) {
                return;
            }
        }
    }

    async fn session_ended(&self) {
        match &self.session {
            Some(session) => session.ended().await,
            None => std::future::pending().await,
        }
    }
}

/// Maps the reported progress to the percentages that a running execution can have.
pub(super) fn percent(progress: &Progress) -> i64 {
    let share = progress.total.filter(|total| *total > 0.0).map_or(0.0, |total| progress.done / total);
    // The cast turns NaN into 0.
    STARTED_PERCENT + (share.clamp(0.0, 1.0) * (FINISHING_PERCENT - STARTED_PERCENT) as f64) as i64
}
