//! Runs one call: sends progress while it runs, and answers even if it panics.

use crate::caller::Progress;
use futures_util::FutureExt;
use mcpaql_core::adapter::ErrorPolicy;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::response::{ToolReply, envelope};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

const SECOND: Duration = Duration::from_secs(1);

/// Progress that is sent to the client.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProgressUpdate {
    pub(super) done: f64,
    /// 100 if the work reports how much of it is done.
    pub(super) total: Option<f64>,
    pub(super) message: String,
}

/// The smallest step between two updates, so that a display does not change.
const MIN_STEP: f64 = 0.001;

/// Progress of a call, which strictly increases, as MCP requires, and stays below 90, where finishing begins.
///
/// Only reported work has a total, and is between 10 and 90 percent of it. Without reports nobody knows how much is left:
/// the update has no total, and a number below 10 that only shows that the call is still running.
#[derive(Debug, Default)]
struct ProgressScale {
    last: f64,
    reported: Progress,
}

impl ProgressScale {
    /// Returns the next progress to send; `None` if it can no longer increase.
    fn next(&mut self, seconds: u32) -> Option<ProgressUpdate> {
        let Progress { done, total, message } = &self.reported;
        let reported =
            total.filter(|total| *total > 0.0).map(|total| 10.0 + 80.0 * (done / total).clamp(0.0, 0.99));
        let elapsed = f64::from(seconds);
        let target = reported.unwrap_or(10.0 * elapsed / (elapsed + 20.0));
        // Progress increases even if the work does not report any, or clients would consider the call dead.
        let done = if target > self.last { target } else { self.last + MIN_STEP };
        let message = message.clone().unwrap_or_else(|| format!("Running for {seconds} s"));
        (done > self.last && done < 90.0).then(|| {
            self.last = done;
            ProgressUpdate { done, total: reported.map(|_| 100.0), message }
        })
    }
}

/// Runs `call` to its end and sends progress every second, and whenever the work reports progress. If the call ends
/// while progress is being sent, sending is finished first, so that no progress follows the answer.
pub(super) async fn with_progress<T, F: Future<Output = ()>>(
    call: impl Future<Output = T>,
    mut reports: watch::Receiver<Progress>,
    announce: impl Fn(ProgressUpdate) -> F,
) -> T {
    let mut call = pin!(call);
    let mut scale = ProgressScale::default();
    let mut ticks = interval_at(Instant::now() + SECOND, SECOND);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut seconds = 0;
    loop {
        tokio::select! {
            biased;
            outcome = &mut call => return outcome,
            _ = ticks.tick() => seconds += 1,
            Ok(()) = reports.changed() => scale.reported = reports.borrow_and_update().clone(),
        }
        let Some(progress) = scale.next(seconds) else { continue };
        let mut sending = pin!(announce(progress));
        tokio::select! {
            outcome = &mut call => {
                sending.await;
                return outcome;
            }
            () = &mut sending => {}
        }
    }
}

/// Runs `call` and turns a panic into an error. The panic hook logs the panic itself.
pub(super) async fn without_panic(call: impl Future<Output = Option<ToolReply>>) -> Option<ToolReply> {
    // The future is dropped right after a panic, so nothing can observe its inconsistent state.
    AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| {
        let error = OpError::new(
            Code::Internal,
            "The server failed during this call. Tell the user; if it was a write, first check whether it took effect.",
        );
        Some(envelope(&Err(error), ErrorPolicy::Unrecoverable))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_reports_progress_rises_strictly_and_claims_no_share() {
        let mut scale = ProgressScale::default();
        let mut last = 0.0;
        for seconds in (1..=1000).chain([86_400, 86_401, 10_000_000, 10_000_001]) {
            let update = scale.next(seconds).unwrap();
            assert!(last < update.done && update.done < 10.1, "{seconds}: {last} then {update:?}");
            assert_eq!(update.total, None);
            last = update.done;
        }
    }

    #[test]
    fn reported_progress_and_elapsed_time_increase_together() {
        let mut scale = ProgressScale::default();
        let mut announced = Vec::new();
        for (done, total) in
            [(1.0, Some(10.0)), (5.0, Some(10.0)), (2.0, Some(10.0)), (7.0, None), (1e9, Some(0.0))]
        {
            scale.reported = Progress { done, total, message: Some(format!("step {done}")) };
            announced.extend(scale.next(3));
        }
        assert_eq!(announced[0], ProgressUpdate { done: 18.0, total: Some(100.0), message: "step 1".into() });
        assert_eq!(announced[1].done, 50.0);
        assert!(announced.is_sorted_by(|a, b| a.done < b.done), "{announced:?}");
        assert!(announced.iter().all(|progress| progress.done < 90.0));
        scale.reported = Progress { done: f64::NAN, total: Some(f64::NAN), message: None };
        assert!(scale.next(4).is_none_or(|progress| progress.done < 90.0));
    }

    #[tokio::test]
    async fn a_panic_becomes_an_internal_error() {
        let reply = without_panic(async { panic!("secret detail") }).await.unwrap();
        assert!(reply.is_error);
        assert!(
            reply.text.starts_with(r#"{"success":false,"error":{"code":"INTERNAL_ERROR""#),
            "{}",
            reply.text
        );
        assert!(!reply.text.contains("secret detail"));
    }
}
