//! The thread that writes the log. It collects records while it writes, so that many durable ones need one write.

use super::OperatorLogError;
use super::chain::LogChain;
use crate::state::{Clock, timestamp};
use mcpaql_gate::config::LogConfig;
use mcpaql_gate::log::{LogRecord, RecordKind};
use serde_json::{Map, Value};
use std::path::Path;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// The longest time that a record waits.
const BATCH_DELAY: Duration = Duration::from_millis(200);
/// How often a log that cannot be written is tried again.
const RETRY_DELAY: Duration = Duration::from_secs(1);
/// Records that wait while the log cannot be written. Further ones are dropped, and the log says how many.
const MAX_WAITING: usize = 20_000;
/// How often old files are looked for.
const PRUNE_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// Tells a caller that its records are on disk.
pub(super) type LogReply = oneshot::Sender<Result<(), OperatorLogError>>;

/// What the thread has to do.
#[derive(Debug, Default)]
pub(super) struct LogQueue {
    work: Mutex<LogWork>,
    wake: Condvar,
}

#[derive(Debug, Default)]
struct LogWork {
    waiting: Vec<(LogRecord, Option<LogReply>)>,
    flushes: Vec<LogReply>,
    /// When the waiting records must be written.
    due: Option<Instant>,
    /// Records that could not wait, because too many did.
    dropped: u64,
    /// The handles are gone, or somebody has closed the log.
    is_closed: bool,
    closed: Vec<oneshot::Sender<()>>,
    /// The thread has ended, or was never started.
    has_ended: bool,
}

impl LogQueue {
    fn work(&self) -> MutexGuard<'_, LogWork> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a record. The thread wakes up for the first one of a batch, and for one that somebody waits for.
    pub(super) fn add(&self, record: LogRecord, reply: Option<LogReply>) {
        let mut work = self.work();
        if work.is_closed {
            return;
        }
        let is_awaited = reply.is_some();
        if work.waiting.len() >= MAX_WAITING && !is_awaited {
            work.dropped += 1;
            return;
        }
        work.waiting.push((record, reply));
        let delay = if is_awaited { Duration::ZERO } else { BATCH_DELAY };
        if is_awaited || work.due.is_none() {
            work.due = Some(Instant::now() + delay);
            self.wake.notify_one();
        }
    }

    /// Writes all records now. Without a thread, the reply is dropped.
    pub(super) fn flush(&self, reply: LogReply) {
        let mut work = self.work();
        if !work.is_closed {
            work.flushes.push(reply);
            self.wake.notify_one();
        }
    }

    /// Ends the thread after everything is written.
    pub(super) fn close(&self, closed: Option<oneshot::Sender<()>>) {
        let mut work = self.work();
        work.is_closed = true;
        if !work.has_ended {
            work.closed.extend(closed);
        }
        self.wake.notify_one();
    }

    /// Refuses all work, because there is no thread.
    pub(super) fn end(&self) {
        let mut work = self.work();
        *work = LogWork { is_closed: true, has_ended: true, ..LogWork::default() };
    }

    /// Waits for work, at most until this time, and takes it.
    fn take(&self, until: Instant) -> LogWork {
        let mut work = self.work();
        loop {
            let end = work.due.unwrap_or(until).min(until);
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || work.is_closed || !work.flushes.is_empty() {
                let is_closed = work.is_closed;
                return std::mem::replace(&mut *work, LogWork { is_closed, ..LogWork::default() });
            }
            work = self.wake.wait_timeout(work, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

#[derive(Debug)]
pub(super) struct LogWriter {
    chain: LogChain,
    clock: Clock,
    /// Records that could not be written yet, and for which nobody waits.
    kept: Vec<Map<String, Value>>,
    dropped: u64,
    is_failing: bool,
}

impl LogWriter {
    pub(super) fn new(folder: &Path, config: &LogConfig, clock: Clock) -> LogWriter {
        let chain = LogChain::new(folder, config, clock.clone());
        LogWriter { chain, clock, kept: Vec::new(), dropped: 0, is_failing: false }
    }

    /// Works until the log is closed or its last handle is gone.
    pub(super) fn run(mut self, queue: &LogQueue) {
        self.prune();
        let mut next_prune = Instant::now() + PRUNE_INTERVAL;
        loop {
            let retry = (!self.kept.is_empty()).then(|| Instant::now() + RETRY_DELAY);
            let work = queue.take(retry.map_or(next_prune, |retry| retry.min(next_prune)));
            let written = self.write(work.waiting, work.dropped);
            work.flushes.into_iter().for_each(|reply| drop(reply.send(written.clone())));
            if work.is_closed {
                if !self.kept.is_empty() {
                    tracing::error!(records = self.kept.len(), "records of the log are lost");
                }
                self.chain.finish();
                let late = queue.work().closed.drain(..).collect::<Vec<_>>();
                queue.end();
                work.closed.into_iter().chain(late).for_each(|closed| drop(closed.send(())));
                return;
            }
            if next_prune <= Instant::now() {
                self.prune();
                next_prune = Instant::now() + PRUNE_INTERVAL;
            }
        }
    }

    /// Writes records, after those that could not be written before. After an error, durable ones are refused and the others wait on.
    fn write(
        &mut self,
        waiting: Vec<(LogRecord, Option<LogReply>)>,
        dropped: u64,
    ) -> Result<(), OperatorLogError> {
        self.dropped += dropped;
        if waiting.is_empty() && self.kept.is_empty() && self.dropped == 0 {
            return Ok(());
        }
        let mut records = std::mem::take(&mut self.kept);
        if self.dropped > 0 {
            records.push(self.loss());
        }
        let mut replies = Vec::with_capacity(waiting.len());
        for (record, reply) in waiting {
            replies.push((records.len(), reply));
            records.push(record.into_map());
        }
        let written = self.chain.append(&records);
        match &written {
            Ok(()) => {
                self.dropped = 0;
                if std::mem::take(&mut self.is_failing) {
                    tracing::info!("the log can be written again");
                }
            }
            Err(error) => {
                if !std::mem::replace(&mut self.is_failing, true) {
                    tracing::error!(%error, "the log cannot be written; operations that need it are refused");
                }
                let refused: Vec<usize> =
                    replies.iter().filter(|(_, reply)| reply.is_some()).map(|(index, _)| *index).collect();
                self.keep(records, &refused);
            }
        }
        for (_, reply) in replies {
            if let Some(reply) = reply {
                let _ = reply.send(written.clone());
            }
        }
        written
    }

    /// Keeps records that nobody waits for, until the log can be written. The refused ones are in ascending order.
    fn keep(&mut self, records: Vec<Map<String, Value>>, refused: &[usize]) {
        let is_loss = |record: &Map<String, Value>| {
            record.get("kind").and_then(Value::as_str) == Some(RecordKind::Loss.as_str())
        };
        let kept = records.into_iter().enumerate().filter(|(index, _)| refused.binary_search(index).is_err());
        self.kept = kept.map(|(_, record)| record).filter(|record| !is_loss(record)).collect();
        let surplus = self.kept.len().saturating_sub(MAX_WAITING);
        self.kept.truncate(MAX_WAITING);
        self.dropped += surplus as u64;
    }

    fn loss(&self) -> Map<String, Value> {
        let time = timestamp(self.clock.now_ms().div_euclid(1000));
        let mut record = LogRecord::new(RecordKind::Loss, time);
        record.details.insert("records".to_owned(), self.dropped.into());
        record.into_map()
    }

    fn prune(&mut self) {
        if let Err(error) = self.chain.prune() {
            tracing::warn!(%error, "old files of the log not deleted");
        }
    }
}
