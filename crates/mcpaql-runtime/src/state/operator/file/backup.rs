//! Backups of the whole state, while processes use it.

use super::{FileState, LAYOUT, TABLES, advance_revision, begin, storage};
use crate::state::file;
use crate::state::fresh_id;
use crate::state::operator::OperatorStateError;
use sqlx::{Connection, SqliteConnection};
use std::fs;
use std::path::{Path, PathBuf};

impl FileState {
    /// Writes the state of one moment to a new file.
    pub(in crate::state::operator) async fn backup(&self, to: &Path) -> Result<(), OperatorStateError> {
        let failed = |problem| OperatorStateError::Backup { path: to.to_owned(), problem };
        match file::create_private(to) {
            Ok(true) => {}
            Ok(false) => return Err(failed("this file exists; name a new file")),
            Err(error) => return Err(storage(error)),
        }
        let text = to.to_str().ok_or_else(|| failed("the path must be UTF-8"))?;
        // SQLite copies into the empty file that was just created, which only this user can read.
        let copied = async {
            let mut reader = file::open_writer(&self.path, LAYOUT).await.map_err(storage)?;
            let copy = sqlx::query("VACUUM INTO ?1").bind(text).execute(&mut reader).await;
            copy.map_err(storage)?;
            reader.close().await.map_err(storage)?;
            fs::File::open(to).and_then(|file| file.sync_all()).map_err(storage)
        };
        let copied = copied.await;
        if copied.is_err() {
            let _ = fs::remove_file(to);
        }
        copied
    }

    /// Replaces the state with that of a backup. Confirmations that were open then are not valid: they may have been used since.
    pub(in crate::state::operator) async fn restore(&self, from: &Path) -> Result<(), OperatorStateError> {
        let failed = |problem| OperatorStateError::Backup { path: from.to_owned(), problem };
        if fs::canonicalize(from).ok() == fs::canonicalize(&self.path).ok() {
            return Err(failed("this is the state itself; name a backup"));
        }
        let is_backup = file::check_file(from, LAYOUT).await;
        is_backup.map_err(|error| OperatorStateError::Open(Box::new(error)))?;
        // An older layout is migrated in a copy, so that the backup stays as it is.
        let copy = TemporaryCopy(self.path.with_file_name(format!("{}.sqlite", fresh_id("restore"))));
        file::create_private(&copy.0).map_err(storage)?;
        fs::copy(from, &copy.0).map_err(storage)?;
        let migrated = file::open_writer(&copy.0, LAYOUT).await;
        let migrated = migrated.map_err(|error| OperatorStateError::Open(Box::new(error)))?;
        migrated.close().await.map_err(storage)?;
        let mut file = file::open_writer(&self.path, LAYOUT).await.map_err(storage)?;
        replace(&mut file, &copy.0).await.map_err(storage)?;
        file.close().await.map_err(storage)
    }
}

/// Replaces all rows in one transaction. Other processes keep their connections and see the change.
async fn replace(file: &mut SqliteConnection, from: &Path) -> Result<(), sqlx::Error> {
    let attach = sqlx::query("ATTACH DATABASE ?1 AS backup").bind(from.to_string_lossy().into_owned());
    attach.execute(&mut *file).await?;
    let mut change = begin(file).await?;
    for table in TABLES {
        // The names are constants of this module.
        let sql = format!("DELETE FROM main.{table}; INSERT INTO main.{table} SELECT * FROM backup.{table};");
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql)).execute(&mut *change).await?;
    }
    let expire = "UPDATE confirmations SET status = 'expired' WHERE status IN ('open', 'approved')";
    sqlx::query(expire).execute(&mut *change).await?;
    advance_revision(&mut change).await?;
    change.commit().await
}

/// A file that is deleted in the end.
struct TemporaryCopy(PathBuf);

impl Drop for TemporaryCopy {
    fn drop(&mut self) {
        for end in ["", "-wal", "-shm"] {
            let mut name = self.0.clone().into_os_string();
            name.push(end);
            let _ = fs::remove_file(name);
        }
    }
}
