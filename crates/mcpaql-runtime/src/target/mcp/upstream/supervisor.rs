//! Supervises an upstream: starts it on first use, one start at a time, and restarts it after failures with
//! increasing delays.
//!
//! What always holds: a crash during calls delays only those calls (see `suspects`); a start outlives the call that began it, so a cancelled call does not stop it for others;
//! during a restart delay, calls fail immediately and report the remaining time; dropping the last handle ends
//! everything.

use super::asking::QuestionSource;
use super::calls::Changes;
use super::error::UpstreamError;
use super::session::{SessionOpening, UpstreamLink, UpstreamSession};
use super::suspects::{CrashCause, Suspects};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// Maximum delay before a restart.
const MAX_RESTART_DELAY: Duration = Duration::from_secs(30);
/// An upstream that has run for this long counts as started successfully, even if it fails later.
const STABLE_AFTER: Duration = Duration::from_secs(10);

/// The state of an upstream.
#[non_exhaustive]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UpstreamState {
    /// Not needed yet, or closed.
    Idle,
    /// Being started.
    Starting,
    /// Running: it has answered the handshake.
    Running {
        /// The server's name.
        server: String,
        /// The server's version.
        version: String,
    },
    /// Not started, or disconnected; the next call retries.
    Failed {
        /// What happened, as a sentence without its full stop.
        reason: String,
    },
}

type StartResult = Result<Arc<UpstreamSession>, UpstreamError>;

/// The options for starting an upstream.
pub(super) struct StartOptions {
    pub(super) link: UpstreamLink,
    pub(super) name: String,
    pub(super) limit: usize,
    pub(super) start_timeout: Duration,
    pub(super) questions: QuestionSource,
}

/// Supervises one upstream. The tasks that start and watch the upstream share the supervisor.
pub(super) struct Supervisor {
    options: StartOptions,
    inner: Mutex<SupervisorState>,
    state: watch::Sender<UpstreamState>,
    changes: Changes,
}

struct SupervisorState {
    phase: Phase,
    /// Consecutive failures.
    failures: u32,
    /// Counts starts, so that an abandoned start is not mistaken for the current one.
    starts: u64,
    /// The last answer to a handshake.
    handshake: Option<Arc<Map<String, Value>>>,
    suspects: Suspects,
}

enum Phase {
    Idle,
    Starting { number: u64, outcome: watch::Receiver<Option<StartResult>>, task: AbortHandle },
    Running { session: Arc<UpstreamSession>, since: Instant },
    Down { until: Instant, error: UpstreamError },
}

/// The restart delay after this many consecutive failures.
fn delay(failures: u32) -> Duration {
    match failures {
        0 | 1 => Duration::ZERO,
        more => Duration::from_millis(500).saturating_mul(1 << (more - 2).min(10)).min(MAX_RESTART_DELAY),
    }
}

impl Supervisor {
    pub(super) fn new(options: StartOptions) -> Arc<Supervisor> {
        Supervisor::with_changes(options, Changes::default())
    }

    /// Returns a supervisor that shares its counters of changes with others.
    pub(super) fn with_changes(options: StartOptions, changes: Changes) -> Arc<Supervisor> {
        let inner = Mutex::new(SupervisorState {
            phase: Phase::Idle,
            failures: 0,
            starts: 0,
            handshake: None,
            suspects: Suspects::default(),
        });
        Arc::new(Supervisor { options, inner, state: watch::Sender::new(UpstreamState::Idle), changes })
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
        &self.options.name
    }

    /// Maximum size of an answer.
    pub(super) fn limit(&self) -> usize {
        self.options.limit
    }

    pub(super) fn questions(&self) -> &QuestionSource {
        &self.options.questions
    }

    pub(super) fn is_program(&self) -> bool {
        matches!(self.options.link, UpstreamLink::Program(_))
    }

    /// The current session, if the upstream is running.
    pub(super) fn running(&self) -> Option<Arc<UpstreamSession>> {
        match &self.inner().phase {
            Phase::Running { session, .. } => Some(Arc::clone(session)),
            _ => None,
        }
    }

    pub(super) fn handshake(&self) -> Option<Arc<Map<String, Value>>> {
        self.inner().handshake.clone()
    }

    pub(super) fn remember(&self, handshake: &Map<String, Value>) {
        self.inner().handshake.get_or_insert_with(|| Arc::new(handshake.clone()));
    }

    /// Returns the current session, or starts a new one.
    pub(super) async fn session(self: &Arc<Self>) -> StartResult {
        let mut outcome = {
            let mut inner = self.inner();
            match &inner.phase {
                Phase::Running { session, .. } if session.calls().end_reason().is_none() => {
                    return Ok(Arc::clone(session));
                }
                // The task that watches the session has not noticed its end yet.
                Phase::Running { session, since } => {
                    let (calls, since) = (Arc::clone(session.calls()), *since);
                    self.record_exit(&mut inner, &calls, since);
                }
                Phase::Idle | Phase::Starting { .. } | Phase::Down { .. } => {}
            }
            match &inner.phase {
                Phase::Starting { outcome, .. } => outcome.clone(),
                Phase::Down { until, error } if *until > Instant::now() => {
                    return Err(backing_off_error(error, until.saturating_duration_since(Instant::now())));
                }
                _ => self.begin(&mut inner),
            }
        };
        let started = outcome.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone());
        started.unwrap_or_else(|| {
            Err(UpstreamError::Unavailable {
                server: self.options.name.clone(),
                reason: "was closed".to_owned(),
                cause: None,
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
            let StartOptions { link, name, limit, start_timeout, questions } = &supervisor.options;
            let started = UpstreamSession::start(
                link,
                (name, questions),
                *limit,
                supervisor.changes.clone(),
                *start_timeout,
                SessionOpening::Negotiated,
            )
            .await;
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
            // It was closed in the meantime. Calls that wait for it may still use it; then it ends.
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
            Err(error) => {
                let cause = error.cause();
                tracing::warn!(server = %self.options.name, reason = %error, cause, "MCP server did not start");
                self.fail(&mut inner, error.clone());
            }
        }
    }

    /// Handles the end of a session. A session that was closed or replaced is ignored.
    fn conversation_ended(&self, calls: &Arc<super::calls::Calls>) {
        let mut inner = self.inner();
        if let Phase::Running { session, since } = &inner.phase
            && Arc::ptr_eq(session.calls(), calls)
        {
            let since = *since;
            let error = calls.end_reason();
            if let Some(error) = &error {
                tracing::warn!(server = %self.options.name, reason = %error, "MCP server disconnected");
            }
            self.record_exit(&mut inner, calls, since);
        }
    }

    /// Returns an error for a call that crashed the server and must wait.
    pub(super) fn check_suspect(&self, cause: CrashCause) -> Result<(), UpstreamError> {
        let Some(left) = self.inner().suspects.left(cause) else { return Ok(()) };
        Err(UpstreamError::Unavailable {
            server: self.options.name.clone(),
            reason: "ended during the last calls of this kind".to_owned(),
            cause: None,
            retry_after: Some(left),
        })
    }

    /// Records that a call was answered.
    pub(super) fn record_answer(&self, cause: CrashCause) {
        self.inner().suspects.answered(cause);
    }

    fn record_exit(&self, inner: &mut SupervisorState, calls: &super::calls::Calls, since: Instant) {
        let error = calls.end_reason();
        if since.elapsed() >= STABLE_AFTER {
            inner.failures = 0;
        }
        match error {
            Some(error) if inner.suspects.charge(&calls.ended_during(), delay) => {
                // Only the calls that may be the cause wait.
                self.state.send_replace(UpstreamState::Failed { reason: error.to_string() });
                inner.phase = Phase::Down { until: Instant::now(), error };
            }
            Some(error) => self.fail(inner, error),
            None => inner.phase = Phase::Idle,
        }
    }

    fn fail(&self, inner: &mut SupervisorState, error: UpstreamError) {
        inner.failures = inner.failures.saturating_add(1);
        self.state.send_replace(UpstreamState::Failed { reason: error.to_string() });
        inner.phase = Phase::Down { until: Instant::now() + delay(inner.failures), error };
    }

    /// Ends the session. The next call starts a new one.
    pub(super) async fn close(&self) {
        if let Some(session) = self.end() {
            session.close().await;
        }
    }

    /// Ends the session without waiting.
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

/// The error for calls during a restart delay.
fn backing_off_error(error: &UpstreamError, left: Duration) -> UpstreamError {
    match error {
        UpstreamError::Unavailable { server, reason, cause, .. } => UpstreamError::Unavailable {
            server: server.clone(),
            reason: reason.clone(),
            cause: cause.clone(),
            retry_after: Some(left),
        },
        UpstreamError::Timeout { server, after } => UpstreamError::Unavailable {
            server: server.clone(),
            reason: format!("did not answer the handshake within {} ms", after.as_millis()),
            cause: None,
            retry_after: Some(left),
        },
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restart_delays_increase_up_to_the_maximum() {
        let waits: Vec<u128> = (1..10).map(|failures| delay(failures).as_millis()).collect();
        assert_eq!(waits, [0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
        assert_eq!(delay(u32::MAX), MAX_RESTART_DELAY);
    }
}
