//! The table of executions.
//!
//! What always holds: an execution in a final state never changes its state again, whichever process writes;
//! parameters of calls are never stored.

#[cfg(feature = "store")]
mod file;
mod memory;

use super::{StoreError, TableError};
#[cfg(feature = "store")]
use file::FileTable;
use mcpaql_core::error::OpError;
use mcpaql_core::lifecycle::ExecutionStatus;
use mcpaql_core::response::Answer;
use memory::MemoryTable;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::path::Path;

/// The executions of one adapter.
#[derive(Debug)]
pub(crate) enum ExecutionTable {
    /// They end with the process.
    Memory(MemoryTable),
    /// They outlive the process.
    #[cfg(feature = "store")]
    File(Box<FileTable>),
}

/// An execution without its outcome.
#[derive(Debug, Clone)]
pub(crate) struct ExecutionRow {
    pub(crate) seq: i64,
    pub(crate) id: String,
    pub(crate) operation: String,
    status: String,
    pub(crate) progress: i64,
    pub(crate) message: Option<String>,
    pub(crate) started_at: i64,
    pub(crate) finished_at: Option<i64>,
    pub(crate) expires_at: Option<i64>,
    pub(crate) instance: String,
    /// Who started it; unknown for executions of older versions.
    caller: Option<String>,
}

impl ExecutionRow {
    /// The state. An unknown state counts as failed, so that no caller waits for it.
    pub(crate) fn status(&self) -> ExecutionStatus {
        ExecutionStatus::parse(&self.status).unwrap_or(ExecutionStatus::Failed)
    }

    /// Whether this caller may see the execution.
    pub(crate) fn belongs_to(&self, caller: &str) -> bool {
        self.caller.as_deref().is_none_or(|owner| owner == caller)
    }
}

/// An execution to insert.
#[derive(Debug)]
pub(crate) struct NewExecution<'a> {
    pub(crate) id: &'a str,
    pub(crate) operation: &'a str,
    pub(crate) status: ExecutionStatus,
    pub(crate) progress: i64,
    pub(crate) keep_seconds: i64,
    pub(crate) instance: &'a str,
    pub(crate) caller: &'a str,
}

/// An execution with its outcome.
#[derive(Debug, Clone)]
pub(crate) struct StoredExecution {
    pub(crate) row: ExecutionRow,
    pub(crate) outcome: Option<ExecutionOutcome>,
}

/// The outcome of an execution.
#[derive(Debug, Clone)]
pub(crate) enum ExecutionOutcome {
    Done(StoredAnswer),
    Failed(OpError),
}

/// An answer as it is stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct StoredAnswer {
    pub(crate) data: Box<RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) warnings: Option<Box<RawValue>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) blocks: Vec<Value>,
}

impl ExecutionOutcome {
    /// Converts the outcome of a call, and returns it with its length in bytes.
    pub(crate) fn of(
        outcome: Result<Answer, OpError>,
    ) -> Result<(ExecutionOutcome, usize), serde_json::Error> {
        match outcome {
            Err(error) => Ok((ExecutionOutcome::Failed(error), 0)),
            Ok(Answer { data, warnings, blocks, .. }) => {
                let data = serde_json::value::to_raw_value(&data)?;
                let warnings =
                    (!warnings.is_empty()).then(|| serde_json::value::to_raw_value(&warnings)).transpose()?;
                let length = data.get().len()
                    + warnings.as_ref().map_or(0, |text| text.get().len())
                    + blocks.iter().map(|block| block.to_string().len()).sum::<usize>();
                Ok((ExecutionOutcome::Done(StoredAnswer { data, warnings, blocks }), length))
            }
        }
    }
}

/// Calls a method of the table, whichever it is. A table in memory has no errors and does not wait.
macro_rules! on_table {
    ($table:expr, $method:ident($($argument:expr),*)) => {
        match $table {
            ExecutionTable::Memory(table) => Ok(table.$method($($argument),*)),
            #[cfg(feature = "store")]
            ExecutionTable::File(table) => table.$method($($argument),*).await,
        }
    };
}

impl ExecutionTable {
    /// Opens the table in a file, which is created if needed. Without a path, or without the feature `store`, the table ends with the
    /// process.
    pub(crate) async fn open(path: Option<&Path>, adapter: &str) -> Result<ExecutionTable, StoreError> {
        match path {
            #[cfg(feature = "store")]
            Some(path) => Ok(ExecutionTable::File(Box::new(FileTable::open(path, adapter).await?))),
            _ => {
                let _ = adapter;
                Ok(ExecutionTable::Memory(MemoryTable::default()))
            }
        }
    }

    /// Inserts an execution; `None` if its id is taken.
    pub(crate) async fn insert(&self, new: &NewExecution<'_>) -> Result<Option<ExecutionRow>, TableError> {
        on_table!(self, insert(new))
    }

    /// Marks an execution as running.
    pub(crate) async fn begin(&self, id: &str, progress: i64) -> Result<(), TableError> {
        on_table!(self, begin(id, progress))
    }

    /// Updates the progress, which never decreases.
    pub(crate) async fn advance(
        &self,
        id: &str,
        progress: i64,
        message: Option<&str>,
    ) -> Result<(), TableError> {
        on_table!(self, advance(id, progress, message))
    }

    /// Stores the end of an execution, unless it has already ended.
    pub(crate) async fn finish(
        &self,
        id: &str,
        status: ExecutionStatus,
        message: Option<&str>,
        outcome: Option<&ExecutionOutcome>,
    ) -> Result<(), TableError> {
        on_table!(self, finish(id, status, message, outcome))
    }

    pub(crate) async fn get(&self, id: &str) -> Result<Option<StoredExecution>, TableError> {
        on_table!(self, get(id))
    }

    /// Returns a caller's executions before this sequence number, the newest first.
    pub(crate) async fn list(
        &self,
        caller: &str,
        status: Option<ExecutionStatus>,
        before: Option<i64>,
        count: i64,
    ) -> Result<Vec<ExecutionRow>, TableError> {
        on_table!(self, list(caller, status, before, count))
    }

    /// Returns the executions that have not ended.
    pub(crate) async fn unfinished(&self) -> Result<Vec<ExecutionRow>, TableError> {
        on_table!(self, unfinished())
    }

    /// Asks the process that runs the execution to stop it.
    pub(crate) async fn request_cancel(&self, id: &str) -> Result<(), TableError> {
        on_table!(self, request_cancel(id))
    }

    /// Returns whether a cancellation was requested.
    pub(crate) async fn is_cancel_requested(&self, id: &str) -> Result<bool, TableError> {
        on_table!(self, is_cancel_requested(id))
    }

    /// Deletes the expired executions of all adapters.
    pub(crate) async fn delete_expired(&self) -> Result<(), TableError> {
        on_table!(self, delete_expired())
    }
}
