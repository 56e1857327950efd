//! Supervises an upstream: started when it is first needed, one start at a time, and again after it died, not too often.
//!
//! What always holds: a start outlives the call that began it, so that one caller's impatience costs nobody else a start; while
//! an upstream is left alone after failures, calls fail at once and say for how long; whoever drops the last handle ends it all.

use super::calls::Changes;
use super::error::UpstreamError;
use super::session::{UpstreamLink, UpstreamSession};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// The longest an upstream is left alone.
const MAX_RESTART_DELAY: Duration = Duration::from_secs(30);
/// One that has run this long has not failed to start, however it ends.
const STABLE_AFTER: Duration = Duration::from_secs(10);

/// How an upstream is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpstreamState {
    /// Nobody needed it yet, or it was closed.
    Idle,
    /// It is being started.
    Starting,
    /// It has answered the handshake.
    Running {
        /// What it calls itself.
        server: String,
        /// The version it says.
        version: String,
    },
    /// It could not be started, or it went away; the next call tries again.
    Failed {
        /// What happened, as one sentence without its end.
        reason: String,
    },
}

type StartResult = Result<Arc<UpstreamSession>, UpstreamError>;

/// What is needed to start it.
pub(super) struct StartOptions {
    pub(super) link: UpstreamLink,
    pub(super) name: String,
    pub(super) limit: usize,
    pub(super) start_timeout: Duration,
}

/// Supervises one upstream. The tasks that start and watch it share it.
pub(super) struct Supervisor {
    plan: StartOptions,
    inner: Mutex<SupervisorState>,
    state: watch::Sender<UpstreamState>,
    changes: Changes,
}

struct SupervisorState {
    phase: Phase,
    /// In a row.
    failures: u32,
    /// Counts starts, so that one that was given up does not pass for the next.
    starts: u64,
    /// The last answer to a handshake.
    handshake: Option<Arc<Map<String, Value>>>,
}

enum Phase {
    Idle,
    Starting { number: u64, outcome: watch::Receiver<Option<StartResult>>, task: AbortHandle },
    Running { session: Arc<UpstreamSession>, since: Instant },
    Down { until: Instant, why: UpstreamError },
}

/// How long an upstream is left alone after that many failures in a row.
fn delay(failures: u32) -> Duration {
    match failures {
        0 | 1 => Duration::ZERO,
        more => Duration::from_millis(500).saturating_mul(1 << (more - 2).min(10)).min(MAX_RESTART_DELAY),
    }
}

impl Supervisor {
    pub(super) fn new(plan: StartOptions) -> Arc<Supervisor> {
        Supervisor::with_changes(plan, Changes::default())
    }

    /// One that tells of changes together with others.
    pub(super) fn with_changes(plan: StartOptions, changes: Changes) -> Arc<Supervisor> {
        let inner =
            Mutex::new(SupervisorState { phase: Phase::Idle, failures: 0, starts: 0, handshake: None });
        Arc::new(Supervisor { plan, inner, state: watch::Sender::new(UpstreamState::Idle), changes })
    }

    fn inner(&self) -> MutexGuard<'_, SupervisorState> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> watch::Receiver<UpstreamState> {
        self.state.subscribe()
    }

    pub(super) fn changes(&self) -> &Changes {
        &self.changes
    }

    pub(super) fn name(&self) -> &str {
        &self.plan.name
    }

    pub(super) fn is_program(&self) -> bool {
        matches!(self.plan.link, UpstreamLink::Program(_))
    }

    /// The conversation that is under way, if one is.
    pub(super) fn running(&self) -> Option<Arc<UpstreamSession>> {
        match &self.inner().phase {
            Phase::Running { session, .. } => Some(Arc::clone(session)),
            _ => None,
        }
    }

    pub(super) fn handshake(&self) -> Option<Arc<Map<String, Value>>> {
        self.inner().handshake.clone()
    }

    pub(super) fn remember(&self, greeting: &Map<String, Value>) {
        self.inner().handshake.get_or_insert_with(|| Arc::new(greeting.clone()));
    }

    /// A conversation: the one that is under way, or a new one.
    pub(super) async fn session(self: &Arc<Self>) -> StartResult {
        let mut outcome = {
            let mut inner = self.inner();
            match &inner.phase {
                Phase::Running { session, .. } if session.calls().end_reason().is_none() => {
                    return Ok(Arc::clone(session));
                }
                // The task that watches it has not come round to it yet.
                Phase::Running { session, since } => {
                    let (why, since) = (session.calls().end_reason(), *since);
                    self.record_exit(&mut inner, why, since);
                }
                Phase::Idle | Phase::Starting { .. } | Phase::Down { .. } => {}
            }
            match &inner.phase {
                Phase::Starting { outcome, .. } => outcome.clone(),
                Phase::Down { until, why } if *until > Instant::now() => {
                    return Err(backing_off_error(why, until.saturating_duration_since(Instant::now())));
                }
                _ => self.begin(&mut inner),
            }
        };
        let started = outcome.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone());
        started.unwrap_or_else(|| {
            Err(UpstreamError::Unavailable {
                server: self.plan.name.clone(),
                reason: "was closed".to_owned(),
                retry_after: None,
            })
        })
    }

    fn begin(self: &Arc<Self>, inner: &mut SupervisorState) -> watch::Receiver<Option<StartResult>> {
        let (sender, outcome) = watch::channel(None);
        inner.starts += 1;
        let number = inner.starts;
        self.state.send_replace(UpstreamState::Starting);
        let supervisor = Arc::clone(self);
        let task = tokio::spawn(async move {
            let StartOptions { link, name, limit, start_timeout } = &supervisor.plan;
            let started =
                UpstreamSession::start(link, name, *limit, supervisor.changes.clone(), *start_timeout).await;
            let started = started.map(Arc::new);
            supervisor.record_start(&started, number);
            sender.send_replace(Some(started));
        });
        inner.phase = Phase::Starting { number, outcome: outcome.clone(), task: task.abort_handle() };
        outcome
    }

    fn record_start(self: &Arc<Self>, started: &StartResult, start: u64) {
        let mut inner = self.inner();
        if !matches!(inner.phase, Phase::Starting { number, .. } if number == start) {
            // It was closed meanwhile; whoever still waits for it may use it, and then it ends.
            return;
        }
        match started {
            Ok(session) => {
                let since = Instant::now();
                inner.phase = Phase::Running { session: Arc::clone(session), since };
                inner.handshake = Some(Arc::new(session.handshake()));
                let (server, version) = session.name_and_version();
                tracing::debug!(%server, %version, "MCP server started");
                self.state.send_replace(UpstreamState::Running { server, version });
                let (supervisor, calls) = (Arc::downgrade(self), Arc::clone(session.calls()));
                tokio::spawn(async move {
                    calls.ended().await;
                    if let Some(supervisor) = supervisor.upgrade() {
                        supervisor.conversation_ended(&calls);
                    }
                });
            }
            Err(why) => {
                tracing::warn!(server = %self.plan.name, reason = %why, "MCP server did not start");
                self.fail(&mut inner, why.clone());
            }
        }
    }

    /// A conversation has ended. One that was closed, or replaced, is no news.
    fn conversation_ended(&self, calls: &Arc<super::calls::Calls>) {
        let mut inner = self.inner();
        if let Phase::Running { session, since } = &inner.phase
            && Arc::ptr_eq(session.calls(), calls)
        {
            let since = *since;
            let why = calls.end_reason();
            if let Some(why) = &why {
                tracing::warn!(server = %self.plan.name, reason = %why, "MCP server went away");
            }
            self.record_exit(&mut inner, why, since);
        }
    }

    fn record_exit(&self, inner: &mut SupervisorState, why: Option<UpstreamError>, since: Instant) {
        if since.elapsed() >= STABLE_AFTER {
            inner.failures = 0;
        }
        match why {
            Some(why) => self.fail(inner, why),
            None => inner.phase = Phase::Idle,
        }
    }

    fn fail(&self, inner: &mut SupervisorState, why: UpstreamError) {
        inner.failures = inner.failures.saturating_add(1);
        self.state.send_replace(UpstreamState::Failed { reason: why.to_string() });
        inner.phase = Phase::Down { until: Instant::now() + delay(inner.failures), why };
    }

    /// Ends what is under way; the next call starts anew.
    pub(super) async fn close(&self) {
        if let Some(session) = self.end() {
            session.close().await;
        }
    }

    /// Lets go of everything without waiting for it.
    pub(super) fn end(&self) -> Option<Arc<UpstreamSession>> {
        let mut inner = self.inner();
        inner.failures = 0;
        let phase = std::mem::replace(&mut inner.phase, Phase::Idle);
        drop(inner);
        self.state.send_replace(UpstreamState::Idle);
        match phase {
            Phase::Running { session, .. } => Some(session),
            Phase::Starting { task, .. } => {
                task.abort();
                None
            }
            Phase::Idle | Phase::Down { .. } => None,
        }
    }
}

/// What a call is told while an upstream is left alone.
fn backing_off_error(why: &UpstreamError, left: Duration) -> UpstreamError {
    match why {
        UpstreamError::Unavailable { server, reason, .. } => UpstreamError::Unavailable {
            server: server.clone(),
            reason: reason.clone(),
            retry_after: Some(left),
        },
        UpstreamError::Timeout { server, after } => UpstreamError::Unavailable {
            server: server.clone(),
            reason: format!("did not answer the handshake within {} ms", after.as_millis()),
            retry_after: Some(left),
        },
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_that_keeps_failing_is_left_alone_longer_but_not_for_ever() {
        let waits: Vec<u128> = (1..10).map(|failures| delay(failures).as_millis()).collect();
        assert_eq!(waits, [0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
        assert_eq!(delay(u32::MAX), MAX_RESTART_DELAY);
    }
}
