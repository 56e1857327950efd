//! The life of an upstream: started when it is first needed, one start at a time, and again after it died, not too often.
//!
//! What always holds: a start outlives the call that began it, so that one caller's impatience costs nobody else a start; while
//! an upstream is left alone after failures, calls fail at once and say for how long; whoever drops the last handle ends it all.

use super::calls::Changes;
use super::error::UpstreamError;
use super::session::{Link, Session};
use serde_json::{Map, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// The longest an upstream is left alone.
const LONGEST: Duration = Duration::from_secs(30);
/// One that has run this long has not failed to start, however it ends.
const SETTLED: Duration = Duration::from_secs(10);

/// How an upstream is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
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

type Started = Result<Arc<Session>, UpstreamError>;

/// What is needed to start it.
pub(super) struct Plan {
    pub(super) link: Link,
    pub(super) name: String,
    pub(super) limit: usize,
    pub(super) start_timeout: Duration,
}

/// The life of one upstream. Tasks that start and watch it share it.
pub(super) struct Life {
    plan: Plan,
    book: Mutex<Book>,
    state: watch::Sender<State>,
    changes: Changes,
}

struct Book {
    phase: Phase,
    /// In a row.
    failures: u32,
    /// Counts starts, so that one that was given up does not pass for the next.
    starts: u64,
    /// The last answer to a handshake.
    greeting: Option<Arc<Map<String, Value>>>,
}

enum Phase {
    Idle,
    Starting { number: u64, outcome: watch::Receiver<Option<Started>>, task: AbortHandle },
    Running { session: Arc<Session>, since: Instant },
    Down { until: Instant, why: UpstreamError },
}

/// How long an upstream is left alone after so many failures in a row.
fn delay(failures: u32) -> Duration {
    match failures {
        0 | 1 => Duration::ZERO,
        more => Duration::from_millis(500).saturating_mul(1 << (more - 2).min(10)).min(LONGEST),
    }
}

impl Life {
    pub(super) fn new(plan: Plan) -> Arc<Life> {
        Life::sharing(plan, Changes::default())
    }

    /// One that tells of changes together with others.
    pub(super) fn sharing(plan: Plan, changes: Changes) -> Arc<Life> {
        let book = Mutex::new(Book { phase: Phase::Idle, failures: 0, starts: 0, greeting: None });
        Arc::new(Life { plan, book, state: watch::Sender::new(State::Idle), changes })
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    pub(super) fn changes(&self) -> &Changes {
        &self.changes
    }

    pub(super) fn name(&self) -> &str {
        &self.plan.name
    }

    pub(super) fn is_program(&self) -> bool {
        matches!(self.plan.link, Link::Program(_))
    }

    /// The conversation that is under way, if one is.
    pub(super) fn running(&self) -> Option<Arc<Session>> {
        match &self.book().phase {
            Phase::Running { session, .. } => Some(Arc::clone(session)),
            _ => None,
        }
    }

    pub(super) fn greeting(&self) -> Option<Arc<Map<String, Value>>> {
        self.book().greeting.clone()
    }

    pub(super) fn remember(&self, greeting: &Map<String, Value>) {
        self.book().greeting.get_or_insert_with(|| Arc::new(greeting.clone()));
    }

    /// A conversation: the one that is under way, or a new one.
    pub(super) async fn session(self: &Arc<Self>) -> Started {
        let mut outcome = {
            let mut book = self.book();
            match &book.phase {
                Phase::Running { session, .. } if session.calls().end_reason().is_none() => {
                    return Ok(Arc::clone(session));
                }
                // The task that watches it has not come round to it yet.
                Phase::Running { session, since } => {
                    let (why, since) = (session.calls().end_reason(), *since);
                    self.fallen(&mut book, why, since);
                }
                Phase::Idle | Phase::Starting { .. } | Phase::Down { .. } => {}
            }
            match &book.phase {
                Phase::Starting { outcome, .. } => outcome.clone(),
                Phase::Down { until, why } if *until > Instant::now() => {
                    return Err(resting(why, until.saturating_duration_since(Instant::now())));
                }
                _ => self.begin(&mut book),
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

    fn begin(self: &Arc<Self>, book: &mut Book) -> watch::Receiver<Option<Started>> {
        let (told, outcome) = watch::channel(None);
        book.starts += 1;
        let number = book.starts;
        self.state.send_replace(State::Starting);
        let life = Arc::clone(self);
        let task = tokio::spawn(async move {
            let Plan { link, name, limit, start_timeout } = &life.plan;
            let started = Session::start(link, name, *limit, life.changes.clone(), *start_timeout).await;
            let started = started.map(Arc::new);
            life.started(&started, number);
            told.send_replace(Some(started));
        });
        book.phase = Phase::Starting { number, outcome: outcome.clone(), task: task.abort_handle() };
        outcome
    }

    fn started(self: &Arc<Self>, started: &Started, start: u64) {
        let mut book = self.book();
        if !matches!(book.phase, Phase::Starting { number, .. } if number == start) {
            // It was closed meanwhile; whoever still waits for it may use it, and then it ends.
            return;
        }
        match started {
            Ok(session) => {
                let since = Instant::now();
                book.phase = Phase::Running { session: Arc::clone(session), since };
                book.greeting = Some(Arc::new(session.greeting()));
                let (server, version) = session.about();
                tracing::debug!(%server, %version, "MCP server started");
                self.state.send_replace(State::Running { server, version });
                let (life, calls) = (Arc::downgrade(self), Arc::clone(session.calls()));
                tokio::spawn(async move {
                    calls.ended().await;
                    if let Some(life) = life.upgrade() {
                        life.died(&calls);
                    }
                });
            }
            Err(why) => {
                tracing::warn!(server = %self.plan.name, reason = %why, "MCP server did not start");
                self.fail(&mut book, why.clone());
            }
        }
    }

    /// A conversation has ended. One that was closed, or replaced, is no news.
    fn died(&self, calls: &Arc<super::calls::Calls>) {
        let mut book = self.book();
        if let Phase::Running { session, since } = &book.phase
            && Arc::ptr_eq(session.calls(), calls)
        {
            let since = *since;
            let why = calls.end_reason();
            if let Some(why) = &why {
                tracing::warn!(server = %self.plan.name, reason = %why, "MCP server went away");
            }
            self.fallen(&mut book, why, since);
        }
    }

    fn fallen(&self, book: &mut Book, why: Option<UpstreamError>, since: Instant) {
        if since.elapsed() >= SETTLED {
            book.failures = 0;
        }
        match why {
            Some(why) => self.fail(book, why),
            None => book.phase = Phase::Idle,
        }
    }

    fn fail(&self, book: &mut Book, why: UpstreamError) {
        book.failures = book.failures.saturating_add(1);
        self.state.send_replace(State::Failed { reason: why.to_string() });
        book.phase = Phase::Down { until: Instant::now() + delay(book.failures), why };
    }

    /// Ends what is under way; the next call starts anew.
    pub(super) async fn close(&self) {
        if let Some(session) = self.end() {
            session.close().await;
        }
    }

    /// Lets go of everything without waiting for it.
    pub(super) fn end(&self) -> Option<Arc<Session>> {
        let mut book = self.book();
        book.failures = 0;
        let phase = std::mem::replace(&mut book.phase, Phase::Idle);
        drop(book);
        self.state.send_replace(State::Idle);
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
fn resting(why: &UpstreamError, left: Duration) -> UpstreamError {
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
        assert_eq!(delay(u32::MAX), LONGEST);
    }
}
