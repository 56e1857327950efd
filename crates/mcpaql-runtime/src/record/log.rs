//! The operator's log: one record for each decision and call, in files that several processes append to.
//!
//! ```
//! use mcpaql_gate::config::LogConfig;
//! use mcpaql_gate::log::{LogRecord, RecordKind};
//! use mcpaql_runtime::operator::Clock;
//! use mcpaql_runtime::record::{OperatorLog, verify_folder};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! let log = OperatorLog::open(folder, &LogConfig::default(), Clock::system());
//! log.append_durable(LogRecord::new(RecordKind::Pause, "2026-01-01T00:00:00Z")).await?;
//! log.close().await;
//! let report = verify_folder(folder, &[], &[])?;
//! assert_eq!((report.records, report.problem), (1, None));
//! # Ok(())
//! # }
//! ```
//!
//! What always holds:
//! - Each record names the hash of the one before, whichever process wrote it. After each write, a signed checkpoint names the last record.
//! - A durable record is on disk before [`OperatorLog::append_durable`] returns. Other records are on disk a fifth of a second later, or when the
//!   log is closed or dropped.
//! - A record that was not acknowledged leaves no trace: an incomplete line is cut off.
//! - Files are deleted only after a signed checkpoint says where the log starts from then on.

mod chain;
mod checkpoints;
mod folder;
mod reader;
mod writer;

pub use reader::{LogReader, log_public_key, verify_folder};

use crate::state::Clock;
use mcpaql_gate::config::LogConfig;
use mcpaql_gate::log::LogRecord;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use tokio::sync::oneshot;
use writer::{LogQueue, LogWriter};

/// Why the log cannot be written or read. For the operator: the message contains paths.
#[non_exhaustive]
#[derive(Debug, Clone, thiserror::Error)]
pub enum OperatorLogError {
    /// A file or a folder cannot be read or written.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// What was tried, such as `write`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: Arc<io::Error>,
    },
    /// The last line is not a record.
    #[error(
        "the end of {} was changed; run `mcpaql log --verify`, then move the folder of the log away to start a new one",
        path.display()
    )]
    Damaged {
        /// The file of the log.
        path: PathBuf,
    },
    /// The file is not a key.
    #[error("{} is not a key of the log; restore it, or delete it to sign with a new key", path.display())]
    Key {
        /// The file of the key.
        path: PathBuf,
    },
    /// Another process does not release the log.
    #[error("another process has locked {} for more than five seconds", path.display())]
    Locked {
        /// The file with the lock.
        path: PathBuf,
    },
    /// The log has been closed.
    #[error("the log is closed")]
    Closed,
}

impl OperatorLogError {
    fn file(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> OperatorLogError {
        move |source| OperatorLogError::File { action, path: path.to_owned(), source: Arc::new(source) }
    }
}

/// The operator's log; clones share everything. Processes that open the same folder write one log.
#[derive(Debug, Clone)]
pub struct OperatorLog {
    shared: Arc<OperatorLogShared>,
}

#[derive(Debug)]
struct OperatorLogShared {
    queue: Arc<LogQueue>,
    thread: Option<JoinHandle<()>>,
}

impl OperatorLog {
    /// Opens the log in the operator's state folder. A thread of its own writes it, so that a slow disk delays no call.
    ///
    /// This never fails. If the log cannot be written, [`append_durable`](OperatorLog::append_durable) says why, and works again as soon as
    /// the cause is gone.
    #[must_use]
    pub fn open(folder: &Path, config: &LogConfig, clock: Clock) -> OperatorLog {
        let queue = Arc::new(LogQueue::default());
        let (writer, work) = (LogWriter::new(folder, config, clock), Arc::clone(&queue));
        let thread = thread::Builder::new().name("mcpaql-log".to_owned()).spawn(move || writer.run(&work));
        if let Err(error) = &thread {
            tracing::error!(%error, "the log cannot be written");
            queue.end();
        }
        OperatorLog { shared: Arc::new(OperatorLogShared { queue, thread: thread.ok() }) }
    }

    /// Appends a record, and returns when it is on disk, with all records before it.
    ///
    /// # Errors
    /// When the record cannot be written. It is then not in the log, and what it is about must not happen.
    pub async fn append_durable(&self, record: LogRecord) -> Result<(), OperatorLogError> {
        let (reply, written) = oneshot::channel();
        self.shared.queue.add(record, Some(reply));
        written.await.unwrap_or(Err(OperatorLogError::Closed))
    }

    /// Appends a record soon, without waiting. If the log cannot be written, the record waits until it can.
    pub fn append_batched(&self, record: LogRecord) {
        self.shared.queue.add(record, None);
    }

    /// Writes all waiting records.
    ///
    /// # Errors
    /// When they cannot be written. They still wait.
    pub async fn flush(&self) -> Result<(), OperatorLogError> {
        let (reply, written) = oneshot::channel();
        self.shared.queue.flush(reply);
        written.await.unwrap_or(Err(OperatorLogError::Closed))
    }

    /// Writes all waiting records and the last checkpoint, and ends the log for all clones.
    pub async fn close(&self) {
        let (closed, ended) = oneshot::channel();
        self.shared.queue.close(Some(closed));
        let _ = ended.await;
    }
}

impl Drop for OperatorLogShared {
    fn drop(&mut self) {
        // The thread writes what waits, and ends.
        self.queue.close(None);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;
