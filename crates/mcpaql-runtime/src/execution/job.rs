//! One execution while it is worked on: its turn, its news, and the ways in which it ends.

use super::{ExecutionsShared, POLL_INTERVAL, STARTED_PERCENT, storage_error};
use crate::caller::{Progress, SessionWork};
use crate::limits;
use crate::state::ExecutionOutcome;
use futures_util::FutureExt;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::lifecycle::ExecutionStatus;
use mcpaql_core::response::Answer;
use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

/// The target's own limit has the better words, so it gets to speak first.
const TIMEOUT_GRACE: Duration = Duration::from_secs(1);
/// Where finishing begins.
const FINISHING_PERCENT: i64 = 90;

/// Why work stopped before its end.
enum StopReason {
    Asked,
    SessionEnded,
}

/// That this process works on an execution; it does no longer when this is dropped, however that comes about.
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

/// One execution while it is worked on.
pub(super) struct ExecutionJob {
    pub(super) entry: RunningExecution,
    /// How long the target may take.
    pub(super) limit: Duration,
    /// The longest result.
    pub(super) max_result_bytes: usize,
    /// Where it ends with its session.
    pub(super) session: Option<SessionWork>,
}

impl ExecutionJob {
    /// Works to the end, whichever it is, and writes it down.
    pub(super) async fn run(
        self,
        turn: Option<OwnedSemaphorePermit>,
        reports: watch::Receiver<Progress>,
        work: impl Future<Output = Result<Answer, OpError>> + Send,
    ) {
        // Leaving the last branch drops the work, which is how it stops.
        let ended = tokio::select! {
            biased;
            () = self.entry.cancel.cancelled() => Err(StopReason::Asked),
            () = self.cancel_requested() => Err(StopReason::Asked),
            () = self.session_ended() => Err(StopReason::SessionEnded),
            never = self.record_progress(reports) => match never {},
            outcome = self.work(turn, work) => Ok(outcome),
        };
        let (status, message, outcome) = match ended {
            Err(StopReason::Asked) => (ExecutionStatus::Cancelled, Some("Cancelled on request."), None),
            Err(StopReason::SessionEnded) => (
                ExecutionStatus::Cancelled,
                Some("Cancelled because the session that started it ended."),
                None,
            ),
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
            tracing::error!(execution = %self.entry.id, %error, "what came of an execution could not be kept");
        }
    }

    /// Waits for its turn and works, for no longer than it may and without a panic that nobody hears of.
    async fn work(
        &self,
        turn: Option<OwnedSemaphorePermit>,
        work: impl Future<Output = Result<Answer, OpError>>,
    ) -> Result<Answer, OpError> {
        let _turn = match turn {
            Some(turn) => Some(turn),
            None => {
                // The semaphore is never closed.
                let turn = Arc::clone(&self.entry.shared.turns).acquire_owned().await.ok();
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
                "The server failed during this execution; tell the user, and for a write first read whether it took effect.",
            )),
            Err(_) => Err(OpError::new(
                Code::TransportTimeout,
                "The execution took longer than it may; ask for less, and for a write first read whether it took effect.",
            )),
        }
    }

    /// What is kept of an outcome: a result that could never be returned is refused like any other answer.
    fn stored_outcome(&self, outcome: Result<Answer, OpError>) -> ExecutionOutcome {
        match ExecutionOutcome::of(outcome) {
            Ok((_, length)) if length > self.max_result_bytes => {
                let message = format!(
                    "The result has {length} bytes, more than the {} that are kept; ask for less.",
                    self.max_result_bytes
                );
                ExecutionOutcome::Failed(limits::too_large(
                    message,
                    "max_response_size",
                    Some(length),
                    self.max_result_bytes,
                ))
            }
            Ok((outcome, _)) => outcome,
            Err(error) => ExecutionOutcome::Failed(
                OpError::new(Code::Internal, "The result could not be written.").with_cause(error),
            ),
        }
    }

    /// Writes down how far the work has come, not more often than anybody looks; never ends.
    async fn record_progress(&self, mut reports: watch::Receiver<Progress>) -> Infallible {
        while reports.changed().await.is_ok() {
            let heard = reports.borrow_and_update().clone();
            let told = self
                .entry
                .shared
                .table
                .advance(&self.entry.id, percent(&heard), heard.message.as_deref())
                .await;
            if let Err(error) = told {
                tracing::debug!(execution = %self.entry.id, %error, "progress could not be kept");
            }
            self.entry.shared.changes.send_replace(());
            sleep(POLL_INTERVAL).await;
        }
        std::future::pending().await
    }

    /// Completes when another process was asked to cancel it.
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

/// What the work says of itself, within the part of the scale that is running's own.
pub(super) fn percent(progress: &Progress) -> i64 {
    let share = progress.total.filter(|total| *total > 0.0).map_or(0.0, |total| progress.done / total);
    // Within the bounds of the scale, and a NaN becomes its beginning.
    STARTED_PERCENT + (share.clamp(0.0, 1.0) * (FINISHING_PERCENT - STARTED_PERCENT) as f64) as i64
}
