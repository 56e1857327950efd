//! The store's file: opening, versions, and what is refused.
//!
//! A file is never deleted, repaired or converted behind the operator's back: what this program did not write, or a newer one
//! wrote, is left untouched and reported.

use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Marks a SQLite file as ours ("maql").
const APPLICATION_ID: i64 = 0x6d61_716c;
/// The newest layout, and the step that leads to each from the one before.
const MIGRATIONS: &[&str] = &[LAYOUT_1];
const BUSY: Duration = Duration::from_secs(5);

const LAYOUT_1: &str = "
    CREATE TABLE records (
        seq INTEGER PRIMARY KEY AUTOINCREMENT,
        adapter TEXT NOT NULL,
        resource TEXT NOT NULL,
        id TEXT NOT NULL,
        version INTEGER NOT NULL,
        created_at INTEGER NOT NULL,
        updated_at INTEGER NOT NULL,
        body TEXT NOT NULL,
        head TEXT NOT NULL,
        rest TEXT NOT NULL,
        UNIQUE (adapter, resource, id)
    ) STRICT;
    CREATE INDEX records_newest ON records (adapter, resource, seq);
    CREATE TABLE indexed (
        adapter TEXT NOT NULL,
        resource TEXT NOT NULL,
        search TEXT NOT NULL,
        PRIMARY KEY (adapter, resource)
    ) STRICT, WITHOUT ROWID;
";

/// Why the store cannot be served. For the operator: it may name paths.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder or the file cannot be made.
    #[error("cannot create the store {}", path.display())]
    Create {
        /// The store's file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Not SQLite, or damaged.
    #[error("{} is not a SQLite file, or is damaged; it was left as it is. Restore a copy or name another file", path.display())]
    Damaged {
        /// The store's file.
        path: PathBuf,
        /// What SQLite said.
        source: sqlx::Error,
    },
    /// SQLite, but somebody else's.
    #[error("{} belongs to another program; name another file", path.display())]
    Foreign {
        /// The store's file.
        path: PathBuf,
    },
    /// Written by a newer version of this program.
    #[error("{} was written by a newer version (layout {found}, known up to {known}); update this program", path.display())]
    Newer {
        /// The store's file.
        path: PathBuf,
        /// Its layout.
        found: i64,
        /// The newest layout known here.
        known: i64,
    },
    /// A field has a name that the store cannot keep.
    #[error(
        "field '{field}' of resource '{resource}' cannot be stored: use letters, digits and '_', and none of id, created_at, updated_at, _etag"
    )]
    Field {
        /// The resource.
        resource: String,
        /// The field.
        field: String,
    },
    /// SQLite failed otherwise.
    #[error("cannot open the store {}", path.display())]
    Open {
        /// The store's file.
        path: PathBuf,
        /// What SQLite said.
        source: sqlx::Error,
    },
}

/// SQLite's primary result code, where it was SQLite that failed.
pub(super) fn sqlite_code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

pub(super) const SQLITE_BUSY: i32 = 5;
pub(super) const SQLITE_LOCKED: i32 = 6;
pub(super) const SQLITE_CORRUPT: i32 = 11;
pub(super) const SQLITE_FULL: i32 = 13;
pub(super) const SQLITE_CONSTRAINT: i32 = 19;
pub(super) const SQLITE_NOTADB: i32 = 26;

/// Opens the file for writing, making and migrating it where needed.
pub(super) async fn open_writer(path: &Path) -> Result<SqliteConnection, StoreError> {
    let failed = |source| failure(path, source);
    create(path).map_err(|source| StoreError::Create { path: path.to_owned(), source })?;
    let mut writer = options(path).connect().await.map_err(failed)?;
    let layout = inspect(path, &mut writer).await?;
    enter_wal(&mut writer).await.map_err(failed)?;
    if layout < known_layout() {
        migrate(path, &mut writer).await?;
    }
    Ok(writer)
}

/// Opens the file for reading alone.
pub(super) async fn open_reader(path: &Path) -> Result<SqliteConnection, StoreError> {
    let options = options(path).pragma("query_only", "ON");
    options.connect().await.map_err(|source| failure(path, source))
}

/// A store that ends with the process.
pub(super) async fn open_memory() -> Result<SqliteConnection, StoreError> {
    let path = Path::new(":memory:");
    let options = SqliteConnectOptions::new().in_memory(true).disable_statement_logging();
    let mut writer = options.connect().await.map_err(|source| failure(path, source))?;
    migrate(path, &mut writer).await?;
    Ok(writer)
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY)
        // Statements would show up in the log with every call.
        .disable_statement_logging()
}

fn failure(path: &Path, source: sqlx::Error) -> StoreError {
    let path = path.to_owned();
    match sqlite_code(&source) {
        Some(SQLITE_NOTADB | SQLITE_CORRUPT) => StoreError::Damaged { path, source },
        _ => StoreError::Open { path, source },
    }
}

/// Makes the folder and an empty file that only this user can read: SQLite gives its side files the same rights.
fn create(path: &Path) -> io::Result<()> {
    let mut folder = fs::DirBuilder::new();
    let mut file = fs::OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folder.mode(0o700);
        file.mode(0o600);
    }
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        folder.recursive(true).create(parent)?;
    }
    file.append(true).create(true).open(path).map(drop)
}

/// The file's layout, or why it is not ours to touch.
async fn inspect(path: &Path, file: &mut SqliteConnection) -> Result<i64, StoreError> {
    let sql = "SELECT (SELECT application_id FROM pragma_application_id), \
               (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)";
    let (application, layout, objects): (i64, i64, i64) =
        sqlx::query_as(sql).fetch_one(file).await.map_err(|source| failure(path, source))?;
    match application {
        APPLICATION_ID if layout > known_layout() => {
            Err(StoreError::Newer { path: path.to_owned(), found: layout, known: known_layout() })
        }
        APPLICATION_ID => Ok(layout),
        0 if layout == 0 && objects == 0 => Ok(0),
        _ => Err(StoreError::Foreign { path: path.to_owned() }),
    }
}

fn known_layout() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// The journal mode is a property of the file, and the switch cannot wait for a lock: try while another process switches.
async fn enter_wal(file: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let started = tokio::time::Instant::now();
    loop {
        match sqlx::query("PRAGMA journal_mode = WAL").execute(&mut *file).await {
            Err(error) if sqlite_code(&error) == Some(SQLITE_BUSY) && started.elapsed() < BUSY => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            outcome => return outcome.map(drop),
        }
    }
}

async fn migrate(path: &Path, file: &mut SqliteConnection) -> Result<(), StoreError> {
    let failed = |source| failure(path, source);
    let mut change = file.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    // Another process may have been faster.
    let layout = inspect(path, &mut change).await?;
    for step in MIGRATIONS.iter().skip(usize::try_from(layout).unwrap_or_default()) {
        sqlx::raw_sql(*step).execute(&mut *change).await.map_err(failed)?;
    }
    let mark = format!("PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {};", known_layout());
    sqlx::raw_sql(sqlx::AssertSqlSafe(mark)).execute(&mut *change).await.map_err(failed)?;
    change.commit().await.map_err(failed)
}
