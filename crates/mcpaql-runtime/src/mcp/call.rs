//! Runs one call: sends progress while it runs, and answers even if it panics.

use crate::caller::Progress;
use crate::record;
use futures_util::FutureExt;
use mcpaql_core::adapter::ErrorPolicy;
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
    /// The value of `done` at the end, if the work reports it.
    pub(super) total: Option<f64>,
    pub(super) message: Option<String>,
}

/// The smallest step between two updates, so that a display does not change.
const MIN_STEP: f64 = 0.001;

/// Progress of a call, which strictly increases, as MCP requires.
///
/// Reports of an MCP server are passed on as they are. Other reported work is between 10 and 90 percent of 100; finishing
/// begins at 90. Without reports nobody knows how much is left: the update has no total, and a number below 1 that only
/// shows that the call is still running.
#[derive(Debug)]
struct ProgressScale {
    last: f64,
    reported: Progress,
}

impl Default for ProgressScale {
    fn default() -> Self {
        // The first report may be 0.
        ProgressScale { last: f64::NEG_INFINITY, reported: Progress::default() }
    }
}

impl ProgressScale {
    /// Returns the next progress to send; `None` if it can no longer increase.
    fn next(&mut self, seconds: u32) -> Option<ProgressUpdate> {
        let Progress { done, total, message, is_exact } = &self.reported;
        if *is_exact {
            return (*done > self.last && done.is_finite()).then(|| {
                self.last = *done;
                ProgressUpdate { done: *done, total: *total, message: message.clone() }
            });
        }
        let reported =
            total.filter(|total| *total > 0.0).map(|total| 10.0 + 80.0 * (done / total).clamp(0.0, 0.99));
        let elapsed = f64::from(seconds);
        let target = reported.unwrap_or(elapsed / (elapsed + 1000.0));
        // Progress increases even if the work does not report any, or clients would consider the call dead.
        let done = if target > self.last { target } else { self.last + MIN_STEP };
        let message = message.clone().unwrap_or_else(|| format!("Running for {seconds} s"));
        (done > self.last && done < 90.0).then(|| {
            self.last = done;
            ProgressUpdate { done, total: reported.map(|_| 100.0), message: Some(message) }
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
    AssertUnwindSafe(call)
        .catch_unwind()
        .await
        .unwrap_or_else(|_| Some(envelope(&Err(record::panicked()), ErrorPolicy::Unrecoverable)))
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
            assert!(last < update.done && update.done < 1.1, "{seconds}: {last} then {update:?}");
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
            scale.reported = Progress { total, ..Progress::new(done).with_message(format!("step {done}")) };
            announced.extend(scale.next(3));
        }
        assert_eq!(
            announced[0],
            ProgressUpdate { done: 18.0, total: Some(100.0), message: Some("step 1".into()) }
        );
        assert_eq!(announced[1].done, 50.0);
        assert!(announced.is_sorted_by(|a, b| a.done < b.done), "{announced:?}");
        assert!(announced.iter().all(|progress| progress.done < 90.0));
        scale.reported = Progress::new(f64::NAN).of(f64::NAN);
        assert!(scale.next(4).is_none_or(|progress| progress.done < 90.0));
    }

    #[test]
    fn progress_of_another_server_is_passed_on_as_it_is() {
        let mut scale = ProgressScale::default();
        assert!(scale.next(1).unwrap().done < 0.01, "less than the first report of a server");
        let mut sent = Vec::new();
        for done in [0.0, 0.1, 0.5, 0.5, 0.2, f64::NAN, 1.0, 95.0] {
            scale.reported = Progress::new(done).of(1.0).exact();
            sent.extend(scale.next(2));
            // Time alone changes nothing.
            assert_eq!(scale.next(3), None);
        }
        let expected =
            [0.1, 0.5, 1.0, 95.0].map(|done| ProgressUpdate { done, total: Some(1.0), message: None });
        assert_eq!(sent, expected);
        let mut first =
            ProgressScale { reported: Progress::new(0.0).of(3.0).exact(), ..ProgressScale::default() };
        assert_eq!(first.next(0).unwrap().done, 0.0);
        assert_eq!(first.next(1), None);
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
