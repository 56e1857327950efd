//! Data that outlives a call, and the files that store it.
//!
//! What always holds: a change that was acknowledged is on disk; several processes may share a file; and a file that
//! another program or a newer version wrote is never changed.

mod executions;
#[cfg(feature = "store")]
mod file;
mod instance;
mod operator;
mod stamp;

pub(crate) use executions::{
    ExecutionOutcome, ExecutionRow, ExecutionTable, NewExecution, StoredAnswer, StoredExecution,
};
#[cfg(feature = "store")]
pub use file::StoreError;
#[cfg(feature = "store")]
pub(crate) use file::{
    FileLayout, SQLITE_BUSY, SQLITE_CONSTRAINT, SQLITE_CORRUPT, SQLITE_FULL, SQLITE_LOCKED, SQLITE_NOTADB,
    check_file, open_memory, open_reader, open_writer, sqlite_code,
};
pub(crate) use instance::{Instance, is_alive};
pub(crate) use mcpaql_core::timestamp::timestamp;
pub use operator::{
    Approval, Clock, Confirmation, ConfirmationKind, ConfirmationScope, ConfirmationStatus, Decided, Issued,
    NewConfirmation, OPERATOR_FILE, OperationPin, OperatorState, OperatorStateError, Pause, Redemption,
    TrustGrant,
};
pub(crate) use stamp::{fresh_id, now, random_bytes};

/// Why executions cannot be read or written.
#[cfg(feature = "store")]
pub(crate) use sqlx::Error as TableError;

/// Executions in memory can always be read and written.
#[cfg(not(feature = "store"))]
pub(crate) use std::convert::Infallible as TableError;

/// Without the feature `store`, there is no store that could fail.
#[cfg(not(feature = "store"))]
pub(crate) use std::convert::Infallible as StoreError;
