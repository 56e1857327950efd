//! SQLite files: opening, migrating, and errors.
//!
//! A file is never deleted, repaired or converted without the operator's knowledge. A file that another program or a
//! newer version wrote is not changed; it is reported.

use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, Connection, SqliteConnection};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The layout of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileLayout {
    /// Marks a SQLite file as one of this kind.
    pub(crate) application_id: i64,
    /// The SQL that migrates a file to each layout from the previous layout.
    pub(crate) migrations: &'static [&'static str],
}

impl FileLayout {
    fn newest(&self) -> i64 {
        i64::try_from(self.migrations.len()).unwrap_or(i64::MAX)
    }
}

const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Why a store cannot be opened. For the operator: the message may contain paths.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The folder or the file cannot be created.
    #[error("cannot create the store {}", path.display())]
    Create {
        /// The store's file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a SQLite file, or is damaged.
    #[error("{} is not a SQLite file, or is damaged; it was not changed. Restore a backup or use another file", path.display())]
    Damaged {
        /// The store's file.
        path: PathBuf,
        /// SQLite's error.
        source: sqlx::Error,
    },
    /// A SQLite file of another program.
    #[error("{} belongs to another program; use another file", path.display())]
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
    /// The name of a field is not supported.
    #[error(
        "field '{field}' of resource '{resource}' cannot be stored: use letters, digits and '_', and none of id, created_at, updated_at, _etag"
    )]
    Field {
        /// The resource.
        resource: String,
        /// The field.
        field: String,
    },
    /// Another error of SQLite.
    #[error("cannot open the store {}", path.display())]
    Open {
        /// The store's file.
        path: PathBuf,
        /// SQLite's error.
        source: sqlx::Error,
    },
}

/// SQLite's primary result code, if SQLite failed.
pub(crate) fn sqlite_code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

pub(crate) const SQLITE_BUSY: i32 = 5;
pub(crate) const SQLITE_LOCKED: i32 = 6;
pub(crate) const SQLITE_CORRUPT: i32 = 11;
pub(crate) const SQLITE_FULL: i32 = 13;
pub(crate) const SQLITE_CONSTRAINT: i32 = 19;
pub(crate) const SQLITE_NOTADB: i32 = 26;

/// Opens a file for writing, and creates or migrates it if needed.
pub(crate) async fn open_writer(path: &Path, layout: FileLayout) -> Result<SqliteConnection, StoreError> {
    let failed = |source| failure(path, source);
    create_private(path).map_err(|source| StoreError::Create { path: path.to_owned(), source })?;
    let mut writer = options(path).connect().await.map_err(failed)?;
    let found = inspect(path, &mut writer, layout).await?;
    enter_wal(&mut writer).await.map_err(failed)?;
    if found < layout.newest() {
        migrate(path, &mut writer, layout).await?;
    } else {
        // SQLite opens a file that cannot be written for reading only, without an error.
        let change = writer.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
        change.rollback().await.map_err(failed)?;
    }
    Ok(writer)
}

/// Opens a file for reading only.
pub(crate) async fn open_reader(path: &Path) -> Result<SqliteConnection, StoreError> {
    let options = options(path).pragma("query_only", "ON");
    options.connect().await.map_err(|source| failure(path, source))
}

/// Checks that a file can be opened and has a known layout, without changing it.
pub(crate) async fn check_file(path: &Path, layout: FileLayout) -> Result<(), StoreError> {
    let mut reader = open_reader(path).await?;
    inspect(path, &mut reader, layout).await.map(drop)
}

/// Opens a database in memory.
pub(crate) async fn open_memory(layout: FileLayout) -> Result<SqliteConnection, StoreError> {
    let path = Path::new(":memory:");
    let options = SqliteConnectOptions::new().in_memory(true).disable_statement_logging();
    let mut writer = options.connect().await.map_err(|source| failure(path, source))?;
    migrate(path, &mut writer, layout).await?;
    Ok(writer)
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .busy_timeout(BUSY_TIMEOUT)
        // Otherwise every call would log its statements.
        .disable_statement_logging()
}

fn failure(path: &Path, source: sqlx::Error) -> StoreError {
    let path = path.to_owned();
    match sqlite_code(&source) {
        Some(SQLITE_NOTADB | SQLITE_CORRUPT) => StoreError::Damaged { path, source },
        _ => StoreError::Open { path, source },
    }
}

/// Creates the folder, and an empty file that only this user can read, unless it exists. Returns whether it was created. SQLite gives its
/// additional files the same permissions.
///
/// An existing file is not opened: closing it would release the locks that SQLite has on it in this process.
pub(crate) fn create_private(path: &Path) -> io::Result<bool> {
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
    match file.write(true).create_new(true).open(path) {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !path.is_dir() => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns the file's layout, or an error if the file must not be changed.
async fn inspect(path: &Path, file: &mut SqliteConnection, known: FileLayout) -> Result<i64, StoreError> {
    let sql = "SELECT (SELECT application_id FROM pragma_application_id), \
               (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)";
    let (application, layout, objects): (i64, i64, i64) =
        sqlx::query_as(sql).fetch_one(file).await.map_err(|source| failure(path, source))?;
    match application {
        ours if ours == known.application_id && layout > known.newest() => {
            Err(StoreError::Newer { path: path.to_owned(), found: layout, known: known.newest() })
        }
        ours if ours == known.application_id => Ok(layout),
        0 if layout == 0 && objects == 0 => Ok(0),
        _ => Err(StoreError::Foreign { path: path.to_owned() }),
    }
}

/// The journal mode is stored in the file, and the switch does not wait for locks. So retry while another process
/// switches.
async fn enter_wal(file: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let started = tokio::time::Instant::now();
    loop {
        match sqlx::query("PRAGMA journal_mode = WAL").execute(&mut *file).await {
            Err(error) if sqlite_code(&error) == Some(SQLITE_BUSY) && started.elapsed() < BUSY_TIMEOUT => {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            outcome => return outcome.map(drop),
        }
    }
}

async fn migrate(path: &Path, file: &mut SqliteConnection, layout: FileLayout) -> Result<(), StoreError> {
    let failed = |source| failure(path, source);
    let mut change = file.begin_with("BEGIN IMMEDIATE").await.map_err(failed)?;
    // Another process may have migrated the file in the meantime.
    let found = inspect(path, &mut change, layout).await?;
    for step in layout.migrations.iter().skip(usize::try_from(found).unwrap_or_default()) {
        sqlx::raw_sql(*step).execute(&mut *change).await.map_err(failed)?;
    }
    let (application, newest) = (layout.application_id, layout.newest());
    let mark = format!("PRAGMA application_id = {application}; PRAGMA user_version = {newest};");
    sqlx::raw_sql(sqlx::AssertSqlSafe(mark)).execute(&mut *change).await.map_err(failed)?;
    change.commit().await.map_err(failed)
}
