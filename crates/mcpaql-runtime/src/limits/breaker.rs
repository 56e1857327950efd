//! Circuit breakers: a target that fails again and again is left alone for a while, then one call tries it again.
//!
//! A failure belongs to its cause: one operation of one caller. So a call that always breaks its target does not block other calls.
//! The whole target is left alone only if several causes fail in a row.
//!
//! Calls that ran at the same time count as one failure, because they may have one reason, such as a server that was restarted.
//!
//! What always holds: after a break, one call at a time tries the target. A success closes the circuit.

use crate::caller::CallerShare;
use mcpaql_core::error::{Code, OpError};
use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How many failures in a row open a circuit.
const MAX_FAILURES: u32 = 5;
/// How many causes must fail for the whole target to be left alone.
const MIN_CAUSES: usize = 2;
/// The first break; doubled after each failed try, up to the maximum.
const MIN_BREAK: Duration = Duration::from_secs(1);
const MAX_BREAK: Duration = Duration::from_secs(30);
/// Maximum number of causes that are remembered. Without failures, none is.
const MAX_CAUSES: usize = 1024;

/// The circuit breakers of one adapter: one for each of its targets.
#[derive(Debug, Default)]
pub(crate) struct Breakers(Mutex<HashMap<String, Arc<Breaker>>>);

impl Breakers {
    /// Returns the breaker of a target, by the name that calls select it with; empty for the only target.
    pub(crate) fn of(&self, target: &str) -> Arc<Breaker> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get(target) {
            Some(breaker) => Arc::clone(breaker),
            None => Arc::clone(all.entry(target.to_owned()).or_default()),
        }
    }

    /// Returns how long a target has been left alone, and why.
    pub(crate) fn failing(&self) -> Option<(Duration, String)> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.iter().find_map(|(name, breaker)| {
            let (since, failures) = breaker.failing()?;
            let which = if name.is_empty() { String::new() } else { format!(" of the target '{name}'") };
            Some((
                since,
                format!("the last {failures} calls{which} failed; it is tried again from time to time"),
            ))
        })
    }
}

/// The circuit breaker of one target.
#[derive(Debug, Default)]
pub(crate) struct Breaker(Mutex<BreakerState>);

#[derive(Debug, Default)]
struct BreakerState {
    whole: Circuit,
    /// The causes that have failed since the last success.
    failed: HashSet<u64>,
    causes: HashMap<u64, Circuit>,
    /// The number of the last call.
    last: u64,
}

/// Failures in a row.
#[derive(Debug, Default, Clone, Copy)]
struct Circuit {
    failures: u32,
    /// The last call that had started when a failure was counted.
    counted: u64,
    open: Option<OpenCircuit>,
}

#[derive(Debug, Clone, Copy)]
struct OpenCircuit {
    since: Instant,
    until: Instant,
    /// A call is trying the target.
    is_tried: bool,
}

/// A call that may run. Its outcome is reported with [`BreakerPass::end`]; a call that is dropped has none.
#[derive(Debug)]
pub(crate) struct BreakerPass {
    breaker: Arc<Breaker>,
    cause: u64,
    number: u64,
}

/// Returns the cause of a call's failures.
fn cause(operation: &str, caller: &CallerShare) -> u64 {
    let mut hasher = DefaultHasher::new();
    (operation, caller).hash(&mut hasher);
    hasher.finish()
}

impl Breaker {
    fn state(&self) -> MutexGuard<'_, BreakerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets a call run.
    ///
    /// # Errors
    /// When the target is left alone.
    pub(crate) fn enter(
        self: &Arc<Self>,
        operation: &str,
        caller: &CallerShare,
    ) -> Result<BreakerPass, OpError> {
        let cause = cause(operation, caller);
        let now = Instant::now();
        let mut state = self.state();
        let left = state.whole.left(now).max(state.causes.get(&cause).and_then(|circuit| circuit.left(now)));
        if let Some(left) = left {
            return Err(refused(left));
        }
        state.whole.start_trying();
        state.causes.get_mut(&cause).into_iter().for_each(Circuit::start_trying);
        state.last += 1;
        Ok(BreakerPass { breaker: Arc::clone(self), cause, number: state.last })
    }

    fn failing(&self) -> Option<(Duration, u32)> {
        let whole = self.state().whole;
        whole.open.map(|open| (open.since.elapsed(), whole.failures))
    }
}

impl Circuit {
    /// Returns how long calls must still wait.
    fn left(&self, now: Instant) -> Option<Duration> {
        let open = self.open?;
        match open.until.checked_duration_since(now).filter(|left| !left.is_zero()) {
            Some(left) => Some(left),
            None => open.is_tried.then_some(MIN_BREAK),
        }
    }

    fn start_trying(&mut self) {
        self.open.iter_mut().for_each(|open| open.is_tried = true);
    }

    fn stop_trying(&mut self) {
        self.open.iter_mut().for_each(|open| open.is_tried = false);
    }

    /// Counts the failure of a call, if the call has started after the last failure. `last` is the last call that has started.
    fn fail(&mut self, number: u64, last: u64, may_open: bool) {
        if number <= self.counted {
            return;
        }
        self.counted = last;
        self.failures = self.failures.saturating_add(1);
        if may_open && self.failures >= MAX_FAILURES {
            let now = Instant::now();
            let doublings = (self.failures - MAX_FAILURES).min(10);
            let until = now + MIN_BREAK.saturating_mul(1 << doublings).min(MAX_BREAK);
            let since = self.open.map_or(now, |open| open.since);
            self.open = Some(OpenCircuit { since, until, is_tried: false });
        }
    }
}

impl BreakerPass {
    /// Reports the outcome of the call.
    pub(crate) fn end<T>(self, outcome: &Result<T, OpError>) {
        let is_failure = outcome
            .as_ref()
            .is_err_and(|error| matches!(error.code, Code::TransportConnection | Code::TransportTimeout));
        let mut state = self.breaker.state();
        if !is_failure {
            state.whole = Circuit::default();
            state.failed.clear();
            state.causes.remove(&self.cause);
            return;
        }
        if state.failed.len() < MAX_CAUSES {
            state.failed.insert(self.cause);
        }
        if state.causes.len() >= MAX_CAUSES && !state.causes.contains_key(&self.cause) {
            state.causes.clear();
        }
        let last = state.last;
        state.causes.entry(self.cause).or_default().fail(self.number, last, true);
        let may_open = state.failed.len() >= MIN_CAUSES;
        state.whole.fail(self.number, last, may_open);
    }
}

impl Drop for BreakerPass {
    fn drop(&mut self) {
        let mut state = self.breaker.state();
        state.whole.stop_trying();
        state.causes.get_mut(&self.cause).into_iter().for_each(Circuit::stop_trying);
    }
}

fn refused(left: Duration) -> OpError {
    let seconds = left.as_secs() + u64::from(left.subsec_nanos() > 0);
    let message = format!(
        "The target did not answer the last calls, so this call was not sent. Try again in {seconds} s, or tell the user."
    );
    OpError::new(Code::TransportConnection, message).with_detail("retry_after_seconds", seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::{Caller, CallerName};

    fn share(name: &str) -> CallerShare {
        Caller::nobody().named(CallerName::new(name).unwrap()).share()
    }

    fn down() -> Result<(), OpError> {
        Err(OpError::new(Code::TransportConnection, "down"))
    }

    /// Sends a call, and returns whether it ran.
    fn call(
        breaker: &Arc<Breaker>,
        (operation, caller): (&str, &str),
        outcome: &Result<(), OpError>,
    ) -> bool {
        let pass = breaker.enter(operation, &share(caller));
        pass.map(|pass| pass.end(outcome)).is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn one_cause_blocks_only_itself() {
        let breaker = Arc::new(Breaker::default());
        let crash = ("crash", "mallory");
        assert_eq!((0..20).filter(|_| call(&breaker, crash, &down())).count(), 5);
        let error = breaker.enter("crash", &share("mallory")).unwrap_err();
        assert_eq!(
            (error.code, &error.details["retry_after_seconds"]),
            (Code::TransportConnection, &1.into())
        );
        assert!(!mcpaql_core::error::looks_internal(&error.message), "{}", error.message);
        assert!(call(&breaker, ("crash", "alice"), &Ok(())), "the same operation of another caller");
        assert!(call(&breaker, ("read", "mallory"), &Ok(())), "another operation of the same caller");
        assert_eq!(breaker.failing(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_target_that_fails_for_several_causes_is_tried_by_one_call_at_a_time() {
        let breaker = Arc::new(Breaker::default());
        for number in 0..5 {
            assert!(call(&breaker, (["a", "b"][number % 2], "x"), &down()));
        }
        assert!(!call(&breaker, ("c", "y"), &Ok(())), "nobody calls a target that is down");
        assert!(breaker.failing().is_some());
        tokio::time::advance(MIN_BREAK).await;
        let trying = breaker.enter("c", &share("y")).unwrap();
        assert!(!call(&breaker, ("d", "y"), &Ok(())), "one call tries it");
        drop(trying);
        let trying = breaker.enter("c", &share("y")).unwrap();
        trying.end(&down());
        tokio::time::advance(MIN_BREAK).await;
        assert!(!call(&breaker, ("c", "y"), &Ok(())), "the break is longer now");
        tokio::time::advance(MIN_BREAK).await;
        assert!(call(&breaker, ("c", "y"), &Ok(())));
        assert!(call(&breaker, ("d", "y"), &Ok(())) && breaker.failing().is_none());
    }

    #[tokio::test(start_paused = true)]
    async fn calls_that_fail_at_the_same_time_count_once() {
        let breaker = Arc::new(Breaker::default());
        let running: Vec<BreakerPass> =
            (0..50).map(|number| breaker.enter(["a", "b"][number % 2], &share("x")).unwrap()).collect();
        running.into_iter().for_each(|pass| pass.end(&down()));
        assert!(call(&breaker, ("a", "x"), &Ok(())), "one crash of a server is one failure");
    }

    #[tokio::test(start_paused = true)]
    async fn errors_of_a_target_that_answers_open_nothing() {
        let breaker = Arc::new(Breaker::default());
        let refused = Err(OpError::new(Code::InvalidValue, "no"));
        assert!((0..50).all(|_| call(&breaker, ("a", "x"), &refused)));
        assert!((0..50).all(|number: u32| call(
            &breaker,
            ("a", "x"),
            &if number.is_multiple_of(3) { Ok(()) } else { down() }
        )));
    }
}
