//! The journal of a run: its planned changes, written before they are made, so that the next run can roll them back if this one is
//! killed.
//!
//! What always holds: nothing outside the project folder is touched, whatever the journal contains; files that were edited since are
//! kept.

use super::super::folder::{self, FileStep};
use super::{backup_path, remove_empty_folders, staged_path};
use mcpaql_generate::provenance::{hash, hash_bytes};
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::Path;

const JOURNAL_FILE: &str = "journal.json";

/// Removes the journal of a run that is complete or rolled back.
pub(super) fn remove(staging: &Path) -> io::Result<()> {
    match fs::remove_file(staging.join(JOURNAL_FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The path of each step, and the hash of its new content, in order.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Journal(Vec<(String, Option<String>)>);

impl Journal {
    pub(super) fn of(steps: &[&FileStep]) -> Journal {
        Journal(steps.iter().map(|step| (step.path.clone(), step.new.as_deref().map(hash))).collect())
    }

    pub(super) fn write(&self, staging: &Path) -> io::Result<()> {
        let rows = self.0.iter().map(|(path, hash)| json!({"path": path, "hash": hash}));
        fs::write(staging.join(JOURNAL_FILE), Value::Array(rows.collect()).to_string())
    }

    /// Reads the journal. Returns `None` if the run was killed before it wrote one.
    pub(super) fn read(staging: &Path) -> Option<Journal> {
        let rows: Vec<Value> =
            serde_json::from_str(&fs::read_to_string(staging.join(JOURNAL_FILE)).ok()?).ok()?;
        let row = |row: &Value| {
            let path = row.get("path")?.as_str()?.to_owned();
            Some((path, row.get("hash")?.as_str().map(str::to_owned)))
        };
        rows.iter().map(row).collect::<Option<Vec<_>>>().map(Journal)
    }

    /// Undoes all changes.
    pub(super) fn roll_back(&self, root: &Path, staging: &Path) {
        for (index, (path, hash)) in self.0.iter().enumerate().rev() {
            if !folder::is_safe_path(path) {
                continue;
            }
            // A path that cannot be read was not written by the run.
            let Ok(found) = folder::read_file(root, path) else { continue };
            let is_ours = found.as_deref().is_none_or(|found| Some(hash_bytes(found)) == *hash);
            let backup = backup_path(staging, index);
            if !is_ours {
                continue;
            }
            if fs::symlink_metadata(&backup).is_ok_and(|found| found.is_file()) {
                let path = root.join(path);
                // Its folder may have been removed because it was empty.
                let _ = path.parent().map(fs::create_dir_all);
                let _ = fs::rename(backup, path);
            } else if found.is_some() && !staged_path(staging, index).exists() {
                let _ = fs::remove_file(root.join(path));
            }
        }
        let is_inside = |path: &&str| folder::is_safe_path(path) && folder::read_file(root, path).is_ok();
        remove_empty_folders(root, self.0.iter().map(|(path, _)| path.as_str()).filter(is_inside));
    }
}
