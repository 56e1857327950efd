//! The calls of one adapter that run at the same time, and the calls that wait for a turn.

use super::load::AdapterLoad;
use super::memory::{self, CountedCall};
use crate::caller::{Caller, CallerShare};
use mcpaql_core::error::{Code, OpError};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Default maximum number of calls of one adapter that run at the same time.
const MAX_RUNNING_CALLS: usize = 256;
/// Default maximum number of calls of one adapter that wait for a turn.
const MAX_WAITING_CALLS: usize = 1024;
/// Maximum number of calls of one caller that wait for a turn.
const MAX_WAITING_CALLS_PER_CALLER: usize = 256;
/// When a refused call may be sent again.
const RETRY_AFTER_SECONDS: u64 = 5;

/// Limits the calls of one adapter that run at the same time. Further calls wait in order. A caller can take three quarters of the
/// turns, so that there is always one for another caller.
#[derive(Debug)]
pub(crate) struct RunningCalls {
    turns: Arc<Semaphore>,
    maximum: usize,
    max_waiting: usize,
    state: Mutex<RunningState>,
}

#[derive(Debug, Default)]
struct RunningState {
    callers: HashMap<CallerShare, CallerTurns>,
    waiting: usize,
    /// When the running calls started, by number.
    started: BTreeMap<u64, Instant>,
    next: u64,
    /// Since when all turns are taken while calls wait.
    saturated: Option<Instant>,
}

#[derive(Debug)]
struct CallerTurns {
    turns: Arc<Semaphore>,
    waiting: usize,
    running: usize,
}

/// The turn of one running call. Dropping it ends the turn.
#[derive(Debug)]
pub(crate) struct CallTurn {
    calls: Arc<RunningCalls>,
    caller: CallerShare,
    number: u64,
    permits: Option<[OwnedSemaphorePermit; 2]>,
    _counted: CountedCall,
}

/// A call that waits for its turn. Dropping it leaves the queue.
struct WaitingTurn<'a> {
    calls: &'a RunningCalls,
    caller: &'a CallerShare,
}

impl RunningCalls {
    pub(crate) fn new(maximum: usize) -> RunningCalls {
        RunningCalls::with_queue(maximum, MAX_WAITING_CALLS)
    }

    /// Limits the calls that run at the same time, and those that wait. A caller can take three quarters of the queue, too.
    pub(crate) fn with_queue(maximum: usize, max_waiting: usize) -> RunningCalls {
        let maximum = maximum.clamp(1, Semaphore::MAX_PERMITS);
        let turns = Arc::new(Semaphore::new(maximum));
        RunningCalls { turns, maximum, max_waiting, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, RunningState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a turn.
    ///
    /// # Errors
    /// When too many calls wait, or the process has too little memory.
    pub(crate) async fn acquire(self: &Arc<Self>, caller: &Caller) -> Result<CallTurn, OpError> {
        Arc::clone(self).acquire_for(caller.share()).await
    }

    /// Waits for a turn, without a reference to the caller.
    ///
    /// # Errors
    /// When too many calls wait, or the process has too little memory.
    pub(crate) async fn acquire_for(self: Arc<Self>, caller: CallerShare) -> Result<CallTurn, OpError> {
        memory::check()?;
        let own = self.join_queue(&caller)?;
        let waiting = WaitingTurn { calls: &self, caller: &caller };
        // The semaphores are never closed.
        let closed = |_| OpError::new(Code::Internal, "The server is ending.");
        let own = own.acquire_owned().await.map_err(closed)?;
        let all = Arc::clone(&self.turns).acquire_owned().await.map_err(closed)?;
        let number = self.state().start(&caller);
        drop(waiting);
        let permits = Some([own, all]);
        Ok(CallTurn { calls: self, caller, number, permits, _counted: CountedCall::new() })
    }

    /// Adds a call to the queue, and returns the turns of its caller.
    fn join_queue(&self, caller: &CallerShare) -> Result<Arc<Semaphore>, OpError> {
        let maximum = self.maximum - self.maximum / 4;
        let mut state = self.state();
        let all_waiting = state.waiting;
        let new = || CallerTurns { turns: Arc::new(Semaphore::new(maximum)), waiting: 0, running: 0 };
        let own = state.callers.entry(caller.clone()).or_insert_with(new);
        if own.turns.available_permits() == 0 || self.turns.available_permits() == 0 {
            let own_maximum = (self.max_waiting - self.max_waiting / 4).min(MAX_WAITING_CALLS_PER_CALLER);
            if own.waiting >= own_maximum {
                return Err(refused("You have", own_maximum));
            }
            if all_waiting >= self.max_waiting {
                return Err(refused("This adapter has", self.max_waiting));
            }
        }
        own.waiting += 1;
        let turns = Arc::clone(&own.turns);
        state.waiting += 1;
        if state.saturated.is_none() && self.turns.available_permits() == 0 {
            state.saturated = Some(Instant::now());
        }
        Ok(turns)
    }

    /// Returns how busy the adapter is.
    pub(crate) fn load(&self) -> AdapterLoad {
        let state = self.state();
        let now = Instant::now();
        AdapterLoad {
            running: state.started.len(),
            waiting: state.waiting,
            oldest: state.started.first_key_value().map(|(_, started)| now.duration_since(*started)),
            saturated: state.saturated.map(|since| now.duration_since(since)),
            failing: None,
        }
    }
}

impl RunningState {
    fn start(&mut self, caller: &CallerShare) -> u64 {
        if let Some(own) = self.callers.get_mut(caller) {
            own.running += 1;
        }
        self.next += 1;
        self.started.insert(self.next, Instant::now());
        self.next
    }

    /// Forgets a caller without calls.
    fn release(&mut self, caller: &CallerShare, change: impl FnOnce(&mut CallerTurns)) {
        if let Some(own) = self.callers.get_mut(caller) {
            change(own);
            if own.running == 0 && own.waiting == 0 {
                self.callers.remove(caller);
            }
        }
    }
}

impl Drop for WaitingTurn<'_> {
    fn drop(&mut self) {
        let mut state = self.calls.state();
        state.waiting = state.waiting.saturating_sub(1);
        if state.waiting == 0 {
            state.saturated = None;
        }
        state.release(self.caller, |own| own.waiting = own.waiting.saturating_sub(1));
    }
}

impl Drop for CallTurn {
    fn drop(&mut self) {
        let mut state = self.calls.state();
        state.started.remove(&self.number);
        // Before the caller is forgotten, so that a new entry cannot give it more turns.
        self.permits = None;
        state.release(&self.caller, |own| own.running = own.running.saturating_sub(1));
    }
}

impl Default for RunningCalls {
    fn default() -> Self {
        RunningCalls::new(MAX_RUNNING_CALLS)
    }
}

fn refused(who: &str, maximum: usize) -> OpError {
    let message = format!(
        "{who} too many waiting calls. Wait for earlier calls to end, then try again in {RETRY_AFTER_SECONDS} s."
    );
    OpError::new(Code::RateLimitExceeded, message)
        .with_detail("maximum", maximum)
        .with_detail("retry_after_seconds", RETRY_AFTER_SECONDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::caller::CallerName;
    use futures_util::FutureExt;
    use futures_util::future::join_all;
    use std::time::Duration;

    fn named(name: &str) -> Caller {
        Caller::nobody().named(CallerName::new(name).unwrap())
    }

    #[tokio::test]
    async fn one_caller_cannot_take_all_turns() {
        let calls = Arc::new(RunningCalls::new(8));
        let (busy, other) = (named("busy"), named("other"));
        let held = join_all((0..6).map(|_| calls.acquire(&busy))).await;
        assert!(held.iter().all(Result::is_ok));
        assert!(calls.acquire(&busy).now_or_never().is_none(), "six of eight turns are its share");
        assert!(calls.acquire(&other).now_or_never().is_some());
        drop(held);
        assert!(calls.acquire(&busy).now_or_never().is_some());
        assert!(calls.state().callers.is_empty(), "callers without calls are forgotten");
        for (maximum, share) in [(1, 1), (2, 2), (3, 3), (4, 3), (256, 192)] {
            let calls = RunningCalls::new(maximum);
            assert_eq!(calls.join_queue(&busy.share()).unwrap().available_permits(), share);
        }
    }

    #[tokio::test]
    async fn a_full_queue_refuses_calls_and_a_call_that_is_dropped_leaves_it() {
        let calls = Arc::new(RunningCalls::new(1));
        let turn = calls.acquire(&named("first")).await.unwrap();
        let mut waiting = Vec::new();
        for caller in ["a", "b", "c", "d"] {
            let caller = named(caller);
            for _ in 0..MAX_WAITING_CALLS_PER_CALLER {
                let (calls, caller) = (Arc::clone(&calls), caller.clone());
                let mut one = async move { calls.acquire(&caller).await }.boxed();
                assert!((&mut one).now_or_never().is_none());
                waiting.push(one);
            }
            let error = calls.acquire(&caller).now_or_never().unwrap().unwrap_err();
            assert_eq!(error.code, Code::RateLimitExceeded);
            assert!(error.message.starts_with("You have too many"), "{}", error.message);
        }
        let error = calls.acquire(&named("e")).now_or_never().unwrap().unwrap_err();
        assert!(error.message.starts_with("This adapter has too many"), "{}", error.message);
        assert_eq!((calls.load().running, calls.load().waiting), (1, MAX_WAITING_CALLS));
        assert!(calls.load().saturated.is_some());
        drop(waiting);
        drop(turn);
        assert_eq!(calls.load(), AdapterLoad::default());
        assert!(calls.acquire(&named("e")).now_or_never().unwrap().is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn the_load_shows_how_long_the_oldest_call_runs() {
        let calls = Arc::new(RunningCalls::default());
        let old = calls.acquire(&Caller::nobody()).await.unwrap();
        tokio::time::advance(Duration::from_secs(20)).await;
        let young = calls.acquire(&Caller::nobody()).await.unwrap();
        assert_eq!(calls.load().oldest, Some(Duration::from_secs(20)));
        drop(old);
        assert_eq!(calls.load().oldest, Some(Duration::ZERO));
        drop(young);
        assert_eq!(calls.load().oldest, None);
    }
}
