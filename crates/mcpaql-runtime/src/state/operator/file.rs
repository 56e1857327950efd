//! The operator's state in a SQLite file, which several processes share.
//!
//! Every change that depends on what is stored runs in one transaction that has the write lock from the start, so no other
//! process comes between reading and writing. The statements are those that PostgreSQL has, too.

mod backup;
mod confirmations;
mod grants;
mod history;

use super::OperatorStateError;
use super::clock::{ClockReading, Moment};
use crate::state::file::{self, FileLayout};
use sqlx::{Connection, Sqlite, SqliteConnection, Transaction};
use std::path::{Path, PathBuf};
use tokio::sync::Mutex;

/// The application id is "maqo" in ASCII.
const LAYOUT: FileLayout = FileLayout { application_id: 0x6d61_716f, migrations: &[LAYOUT_1] };

const LAYOUT_1: &str = "
    CREATE TABLE marks (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
    INSERT INTO marks (name, value) VALUES ('revision', 0), ('latest', 0);
    CREATE TABLE grants (
        subject TEXT PRIMARY KEY,
        kind TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        level TEXT NOT NULL,
        accepts_edits INTEGER NOT NULL,
        content TEXT NOT NULL,
        granted_at INTEGER NOT NULL,
        granted_by TEXT NOT NULL
    ) STRICT;
    CREATE TABLE baselines (adapter TEXT PRIMARY KEY, pinned_at INTEGER NOT NULL) STRICT;
    CREATE TABLE pins (
        adapter TEXT NOT NULL,
        operation TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        content TEXT NOT NULL,
        PRIMARY KEY (adapter, operation)
    ) STRICT;
    CREATE TABLE pauses (
        adapter TEXT PRIMARY KEY,
        except_reads INTEGER NOT NULL,
        paused_by TEXT NOT NULL,
        paused_at INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE confirmations (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        id TEXT NOT NULL UNIQUE,
        token_start TEXT,
        token_hash TEXT,
        adapter TEXT NOT NULL,
        operation TEXT NOT NULL,
        call_hash TEXT NOT NULL,
        caller TEXT NOT NULL,
        danger TEXT NOT NULL,
        request TEXT NOT NULL,
        state_hash TEXT,
        issued_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        status TEXT NOT NULL,
        decided_by TEXT,
        decided_at INTEGER
    ) STRICT;
    CREATE INDEX confirmations_token ON confirmations (token_start) WHERE token_start IS NOT NULL;
    CREATE INDEX confirmations_scope ON confirmations (caller, adapter, operation, call_hash);
    CREATE INDEX confirmations_status ON confirmations (status);
    CREATE TABLE windows (
        counter TEXT PRIMARY KEY,
        buckets TEXT NOT NULL,
        ends_at INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX windows_end ON windows (ends_at);
    CREATE TABLE successes (operation TEXT PRIMARY KEY, succeeded_at INTEGER NOT NULL) STRICT;
";

/// The tables with content, in an order in which they can be filled.
const TABLES: [&str; 7] = ["grants", "baselines", "pins", "pauses", "confirmations", "windows", "successes"];

/// The open file.
#[derive(Debug)]
pub(super) struct FileState {
    path: PathBuf,
    /// Commits are on disk before they are acknowledged.
    writer: Mutex<SqliteConnection>,
    /// Does not wait for the writer.
    reader: Mutex<SqliteConnection>,
    /// Its commits survive the end of the process. A failure of power may lose the last of them, because a call that is only
    /// counted should not wait for the disk.
    counters: Mutex<SqliteConnection>,
}

impl FileState {
    pub(super) async fn open(path: &Path) -> Result<FileState, OperatorStateError> {
        let failed = |error| OperatorStateError::Open(Box::new(error));
        let writer = file::open_writer(path, LAYOUT).await.map_err(failed)?;
        let reader = file::open_reader(path).await.map_err(failed)?;
        let mut counters = file::open_writer(path, LAYOUT).await.map_err(failed)?;
        sqlx::query("PRAGMA synchronous = NORMAL").execute(&mut counters).await.map_err(storage)?;
        let path = path.to_owned();
        Ok(FileState {
            path,
            writer: Mutex::new(writer),
            reader: Mutex::new(reader),
            counters: Mutex::new(counters),
        })
    }

    pub(super) async fn revision(&self) -> Result<i64, OperatorStateError> {
        let mut reader = self.reader.lock().await;
        let revision = sqlx::query_scalar("SELECT value FROM marks WHERE name = 'revision'");
        revision.fetch_one(&mut *reader).await.map_err(storage)
    }
}

fn storage(error: impl std::error::Error + Send + Sync + 'static) -> OperatorStateError {
    OperatorStateError::Storage(Box::new(error))
}

/// Begins a transaction that has the write lock.
async fn begin(file: &mut SqliteConnection) -> Result<Transaction<'_, Sqlite>, sqlx::Error> {
    file.begin_with("BEGIN IMMEDIATE").await
}

/// Tells every process that something has changed.
async fn advance_revision(file: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE marks SET value = value + 1 WHERE name = 'revision'").execute(file).await.map(drop)
}

/// Returns the time, compared with the latest time that any process saw.
async fn moment(file: &mut SqliteConnection, reading: ClockReading) -> Result<Moment, sqlx::Error> {
    let stored = sqlx::query_scalar("SELECT value FROM marks WHERE name = 'latest'").fetch_one(file).await?;
    Ok(reading.moment(stored))
}

fn undecodable(text: &str) -> sqlx::Error {
    sqlx::Error::Decode(format!("unknown value '{}'", text.chars().take(40).collect::<String>()).into())
}
