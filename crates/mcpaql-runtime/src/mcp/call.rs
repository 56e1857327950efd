//! Running one call: progress while it lasts, an answer even when it panics.

use futures_util::FutureExt;
use mcpaql_core::adapter::ErrorPolicy;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::response::{Reply, envelope};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

const SECOND: Duration = Duration::from_secs(1);

/// What a client hears while a call runs.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Progress {
    pub(super) done: f64,
    pub(super) message: String,
}

impl Progress {
    /// The announcement after that many seconds: rises for ever and never reaches 90, the start of finishing.
    fn after(seconds: u32) -> Self {
        let elapsed = f64::from(seconds);
        Progress {
            done: 10.0 + 80.0 * elapsed / (elapsed + 20.0),
            message: format!("Running for {seconds} s"),
        }
    }
}

/// Runs `call` to its end and announces progress every second. An announcement under way when the call ends is
/// finished first, so that none follows the answer.
pub(super) async fn with_progress<T, F: Future<Output = ()>>(
    call: impl Future<Output = T>,
    announce: impl Fn(Progress) -> F,
) -> T {
    let mut call = pin!(call);
    let mut ticks = interval_at(Instant::now() + SECOND, SECOND);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut seconds = 0;
    loop {
        tokio::select! {
            biased;
            outcome = &mut call => return outcome,
            _ = ticks.tick() => seconds += 1,
        }
        let mut sending = pin!(announce(Progress::after(seconds)));
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
pub(super) async fn without_panic(call: impl Future<Output = Option<Reply>>) -> Option<Reply> {
    // The future is dropped right after a panic, so nothing can see what it left half done.
    AssertUnwindSafe(call).catch_unwind().await.unwrap_or_else(|_| {
        let error = OpError::new(
            Code::Internal,
            "The server failed while it handled this call; repeat it once, then tell the user.",
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
            let now = Progress::after(seconds).done;
            assert!(last < now && now < 90.0, "{seconds}: {last} then {now}");
            last = now;
        }
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
