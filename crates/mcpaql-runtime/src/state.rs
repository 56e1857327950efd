//! Data that outlives a call, and the files that store it.
//!
//! What always holds: a change that was acknowledged is on disk; several processes may share a file; and a file that
//! another program or a newer version wrote is never changed.

mod executions;
mod file;
mod instance;
mod stamp;

pub(crate) use executions::{ExecutionOutcome, ExecutionRow, ExecutionTable, NewExecution, StoredExecution};
pub use file::StoreError;
pub(crate) use file::{
    FileLayout, SQLITE_BUSY, SQLITE_CONSTRAINT, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_LOCKED, SQLITE_NOTADB,
    open_memory, open_reader, open_writer, sqlite_code,
};
pub(crate) use instance::{Instance, is_alive};
pub(crate) use mcpaql_core::timestamp::timestamp;
pub(crate) use stamp::{fresh_id, now};
