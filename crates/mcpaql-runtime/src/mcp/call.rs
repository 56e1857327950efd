//! Running one call: progress while it lasts, an answer even when it panics.

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

/// What a client hears while a call runs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ProgressUpdate {
    pub(super) done: f64,
    pub(super) message: String,
}

impl ProgressUpdate {
    /// The announcement after that many seconds: rises for ever and never reaches 90, the start of finishing.
    fn after(seconds: u32) -> Self {
        let elapsed = f64::from(seconds);
        ProgressUpdate {
            done: 10.0 + 80.0 * elapsed / (elapsed + 20.0),
            message: format!("Running for {seconds} s"),
        }
    }
}

/// One scale for what the work says of itself and for the clock: it rises strictly and stays below 90.
#[derive(Debug, Default)]
struct ProgressScale {
    last: f64,
    heard: Progress,
}

impl ProgressScale {
    /// What is to be announced after that many seconds; `None` where it could not rise any more.
    fn next(&mut self, seconds: u32) -> Option<ProgressUpdate> {
        let clock = ProgressUpdate::after(seconds);
        let Progress { done, total, message } = &self.heard;
        let told =
            total.filter(|total| *total > 0.0).map(|total| 10.0 + 80.0 * (done / total).clamp(0.0, 0.99));
        let told = told.unwrap_or(clock.done);
        // Work that stands still is announced as well, or a client would think that it has died.
        let done = if told > self.last { told } else { self.last + (90.0 - self.last) / 100.0 };
        (done > self.last && done < 90.0).then(|| {
            self.last = done;
            ProgressUpdate { done, message: message.clone().unwrap_or(clock.message) }
        })
    }
}

/// Runs `call` to its end and announces progress every second. An announcement under way when the call ends is
/// finished first, so that none follows the answer. What the work says of itself is announced when it is said.
pub(super) async fn with_progress<T, F: Future<Output = ()>>(
    call: impl Future<Output = T>,
    mut heard: watch::Receiver<Progress>,
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
            Ok(()) = heard.changed() => scale.heard = heard.borrow_and_update().clone(),
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

/// Runs `call` and turns a panic into an answer; the panic itself is in the log through the panic hook.
pub(super) async fn without_panic(call: impl Future<Output = Option<ToolReply>>) -> Option<ToolReply> {
    // The future is dropped right after a panic, so nothing can see what it left half done.
    AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| {
        let error = OpError::new(
            Code::Internal,
            "The server failed during this call; tell the user, and for a write first read whether it took effect.",
        );
        Some(envelope(&Err(error), ErrorPolicy::Unrecoverable))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_rises_strictly_and_stays_below_ninety() {
        let mut last = 10.0;
        for seconds in (1..=1000).chain([86_400, 86_401, 10_000_000, 10_000_001]) {
            let now = ProgressUpdate::after(seconds).done;
            assert!(last < now && now < 90.0, "{seconds}: {last} then {now}");
            last = now;
        }
    }

    #[test]
    fn what_the_work_says_and_the_clock_rise_together() {
        let mut scale = ProgressScale::default();
        let mut announced = Vec::new();
        for (done, total) in
            [(1.0, Some(10.0)), (5.0, Some(10.0)), (2.0, Some(10.0)), (7.0, None), (1e9, Some(0.0))]
        {
            scale.heard = Progress { done, total, message: Some(format!("step {done}")) };
            announced.extend(scale.next(3));
        }
        assert_eq!(announced[0], ProgressUpdate { done: 18.0, message: "step 1".into() });
        assert_eq!(announced[1].done, 50.0);
        assert!(announced.is_sorted_by(|a, b| a.done < b.done), "{announced:?}");
        assert!(announced.iter().all(|progress| progress.done < 90.0));
        scale.heard = Progress { done: f64::NAN, total: Some(f64::NAN), message: None };
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
