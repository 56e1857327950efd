//! The total time of a call. A target restarts its own time limit when there is progress, so only this limit ends a call that makes
//! progress for ever.

use mcpaql_core::error::{Code, OpError};
use std::time::Duration;
use tokio::time::timeout;

/// Waits for a call, but never longer than `milliseconds`. Then the call is dropped, which stops its work.
pub(crate) async fn within<T>(
    milliseconds: u64,
    call: impl Future<Output = Result<T, OpError>>,
) -> Result<T, OpError> {
    match timeout(Duration::from_millis(milliseconds), call).await {
        Ok(outcome) => outcome,
        Err(_) => {
            let seconds = milliseconds.div_ceil(1000);
            let message = format!(
                "The call was stopped after {seconds} s, the longest time for a call. If it was a write, first check whether it took effect."
            );
            Err(OpError::new(Code::TransportTimeout, message).with_detail("max_seconds", seconds))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_call_ends_even_if_it_makes_progress_for_ever() {
        let busy = async {
            loop {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        let outcome: Result<(), OpError> = within(1500, busy).await;
        let error = outcome.unwrap_err();
        assert_eq!((error.code, &error.details["max_seconds"]), (Code::TransportTimeout, &2.into()));
        assert_eq!(within(1, async { Ok(1) }).await.unwrap(), 1);
    }
}
