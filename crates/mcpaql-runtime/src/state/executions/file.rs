//! Executions in a SQLite file, which several processes share.

use super::{ExecutionOutcome, ExecutionRow, NewExecution, StoredExecution};
use crate::state::file::{self, FileLayout, StoreError};
use crate::state::{SQLITE_CONSTRAINT, now, sqlite_code};
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::lifecycle::ExecutionStatus;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row as _, SqliteConnection};
use std::path::Path;
use tokio::sync::Mutex;

/// The application id is "maqe" in ASCII.
const LAYOUT: FileLayout = FileLayout { application_id: 0x6d61_7165, migrations: &[LAYOUT_1, LAYOUT_2] };

const LAYOUT_1: &str = "
    CREATE TABLE executions (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        adapter TEXT NOT NULL,
        id TEXT NOT NULL UNIQUE,
        operation TEXT NOT NULL,
        status TEXT NOT NULL,
        progress INTEGER NOT NULL,
        message TEXT,
        started_at INTEGER NOT NULL,
        finished_at INTEGER,
        expires_at INTEGER,
        keep INTEGER NOT NULL,
        instance TEXT NOT NULL,
        cancel INTEGER NOT NULL DEFAULT 0,
        outcome TEXT
    ) STRICT;
    CREATE INDEX executions_newest ON executions (adapter, seq);
    CREATE INDEX executions_expiry ON executions (expires_at) WHERE expires_at IS NOT NULL;
";

const LAYOUT_2: &str = "ALTER TABLE executions ADD COLUMN caller TEXT;";

/// The executions of one adapter.
#[derive(Debug)]
pub(crate) struct FileTable {
    adapter: String,
    file: Mutex<SqliteConnection>,
}

impl FromRow<'_, SqliteRow> for ExecutionRow {
    fn from_row(row: &SqliteRow) -> Result<ExecutionRow, sqlx::Error> {
        Ok(ExecutionRow {
            seq: row.try_get("seq")?,
            id: row.try_get("id")?,
            operation: row.try_get("operation")?,
            status: row.try_get("status")?,
            progress: row.try_get("progress")?,
            message: row.try_get("message")?,
            started_at: row.try_get("started_at")?,
            finished_at: row.try_get("finished_at")?,
            expires_at: row.try_get("expires_at")?,
            instance: row.try_get("instance")?,
            caller: row.try_get("caller")?,
        })
    }
}

const COLUMNS: &str =
    "seq, id, operation, status, progress, message, started_at, finished_at, expires_at, instance, caller";

fn select(rest: &str) -> sqlx::AssertSqlSafe<String> {
    // Only constants of this module are inserted; values are bound.
    sqlx::AssertSqlSafe(format!("SELECT {COLUMNS} FROM executions WHERE adapter = ?1 AND {rest}"))
}

impl FileTable {
    /// Opens the table in a file, which is created if needed.
    pub(super) async fn open(path: &Path, adapter: &str) -> Result<FileTable, StoreError> {
        let file = file::open_writer(path, LAYOUT).await?;
        Ok(FileTable { adapter: adapter.to_owned(), file: Mutex::new(file) })
    }

    /// Inserts an execution; `None` if its id is taken.
    pub(super) async fn insert(&self, new: &NewExecution<'_>) -> Result<Option<ExecutionRow>, sqlx::Error> {
        let mut file = self.file.lock().await;
        let insert = sqlx::query(
            "INSERT INTO executions (adapter, id, operation, status, progress, started_at, keep, instance, caller) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        );
        let insert = insert
            .bind(&self.adapter)
            .bind(new.id)
            .bind(new.operation)
            .bind(new.status.as_str())
            .bind(new.progress)
            .bind(now())
            .bind(new.keep_seconds)
            .bind(new.instance)
            .bind(new.caller);
        match insert.execute(&mut *file).await {
            Ok(_) => {
                let row = sqlx::query_as(select("id = ?2")).bind(&self.adapter).bind(new.id);
                row.fetch_one(&mut *file).await.map(Some)
            }
            Err(error) if sqlite_code(&error) == Some(SQLITE_CONSTRAINT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Marks an execution as running.
    pub(super) async fn begin(&self, id: &str, progress: i64) -> Result<(), sqlx::Error> {
        let update = sqlx::query(
            "UPDATE executions SET status = 'running', progress = ?3 WHERE adapter = ?1 AND id = ?2 AND status = 'pending'",
        );
        let update = update.bind(&self.adapter).bind(id).bind(progress);
        update.execute(&mut *self.file.lock().await).await.map(drop)
    }

    /// Updates the progress, which never decreases.
    pub(super) async fn advance(
        &self,
        id: &str,
        progress: i64,
        message: Option<&str>,
    ) -> Result<(), sqlx::Error> {
        let update = sqlx::query(
            "UPDATE executions SET progress = max(progress, ?3), message = coalesce(?4, message) \
             WHERE adapter = ?1 AND id = ?2 AND status = 'running'",
        );
        let update = update.bind(&self.adapter).bind(id).bind(progress).bind(message);
        update.execute(&mut *self.file.lock().await).await.map(drop)
    }

    /// Stores the end of an execution, unless it has already ended.
    pub(super) async fn finish(
        &self,
        id: &str,
        status: ExecutionStatus,
        message: Option<&str>,
        outcome: Option<&ExecutionOutcome>,
    ) -> Result<(), sqlx::Error> {
        let text = outcome.map(to_text).transpose();
        let text = text.map_err(|error| sqlx::Error::Encode(Box::new(error)))?;
        let update = sqlx::query(
            "UPDATE executions SET status = ?3, message = ?4, outcome = ?5, finished_at = ?6, expires_at = ?6 + keep, \
             progress = CASE WHEN ?3 = 'completed' THEN 100 ELSE progress END \
             WHERE adapter = ?1 AND id = ?2 AND status IN ('pending', 'running')",
        );
        let update =
            update.bind(&self.adapter).bind(id).bind(status.as_str()).bind(message).bind(text).bind(now());
        update.execute(&mut *self.file.lock().await).await.map(drop)
    }

    pub(super) async fn get(&self, id: &str) -> Result<Option<StoredExecution>, sqlx::Error> {
        let mut file = self.file.lock().await;
        let row: Option<ExecutionRow> =
            sqlx::query_as(select("id = ?2")).bind(&self.adapter).bind(id).fetch_optional(&mut *file).await?;
        let Some(row) = row else { return Ok(None) };
        let status = row.status();
        let text: Option<String> = match status.is_final() {
            true => {
                sqlx::query_scalar("SELECT outcome FROM executions WHERE id = ?1")
                    .bind(id)
                    .fetch_one(&mut *file)
                    .await?
            }
            false => None,
        };
        Ok(Some(StoredExecution { row, outcome: text.and_then(|text| parse_outcome(status, &text)) }))
    }

    /// Returns a caller's executions before this sequence number, the newest first.
    pub(super) async fn list(
        &self,
        caller: &str,
        status: Option<ExecutionStatus>,
        before: Option<i64>,
        count: i64,
    ) -> Result<Vec<ExecutionRow>, sqlx::Error> {
        let rows = sqlx::query_as(select(
            "(?2 IS NULL OR status = ?2) AND seq < ?3 AND (caller IS NULL OR caller = ?5) ORDER BY seq DESC LIMIT ?4",
        ));
        let rows = rows
            .bind(&self.adapter)
            .bind(status.map(ExecutionStatus::as_str))
            .bind(before.unwrap_or(i64::MAX))
            .bind(count)
            .bind(caller);
        rows.fetch_all(&mut *self.file.lock().await).await
    }

    /// Returns the executions that have not ended.
    pub(super) async fn unfinished(&self) -> Result<Vec<ExecutionRow>, sqlx::Error> {
        let rows = sqlx::query_as(select("status IN ('pending', 'running')")).bind(&self.adapter);
        rows.fetch_all(&mut *self.file.lock().await).await
    }

    /// Asks the process that runs the execution to stop it.
    pub(super) async fn request_cancel(&self, id: &str) -> Result<(), sqlx::Error> {
        let update = sqlx::query("UPDATE executions SET cancel = 1 WHERE adapter = ?1 AND id = ?2");
        update.bind(&self.adapter).bind(id).execute(&mut *self.file.lock().await).await.map(drop)
    }

    /// Returns whether a cancellation was requested.
    pub(super) async fn is_cancel_requested(&self, id: &str) -> Result<bool, sqlx::Error> {
        let requested = sqlx::query_scalar("SELECT cancel FROM executions WHERE adapter = ?1 AND id = ?2");
        let requested: Option<i64> =
            requested.bind(&self.adapter).bind(id).fetch_optional(&mut *self.file.lock().await).await?;
        Ok(requested == Some(1))
    }

    /// Deletes the expired executions of all adapters.
    pub(super) async fn delete_expired(&self) -> Result<(), sqlx::Error> {
        let delete = sqlx::query("DELETE FROM executions WHERE expires_at <= ?1").bind(now());
        delete.execute(&mut *self.file.lock().await).await.map(drop)
    }
}

#[derive(Serialize, Deserialize)]
struct StoredError {
    code: String,
    message: String,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    details: Map<String, Value>,
}

fn to_text(outcome: &ExecutionOutcome) -> Result<String, serde_json::Error> {
    match outcome {
        ExecutionOutcome::Done(done) => serde_json::to_string(done),
        ExecutionOutcome::Failed(error) => serde_json::to_string(&StoredError {
            code: error.code.as_str().to_owned(),
            message: error.message.clone(),
            details: error.details.clone(),
        }),
    }
}

fn parse_outcome(status: ExecutionStatus, text: &str) -> Option<ExecutionOutcome> {
    if status == ExecutionStatus::Completed {
        return serde_json::from_str(text).ok().map(ExecutionOutcome::Done);
    }
    let stored: StoredError = serde_json::from_str(text).ok()?;
    let mut error = OpError::new(Code::parse(&stored.code).unwrap_or(Code::Internal), stored.message);
    error.details = stored.details;
    Some(ExecutionOutcome::Failed(error))
}
