//! What a run is about to do, written before it does it, so that the next one can take it back if it is killed.
//!
//! What always holds: nothing outside the project's folder is touched, whatever the file says; what somebody wrote since stays.

use super::super::folder::{self, FileStep};
use super::{backup_path, remove_empty_folders, staged_path};
use mcpaql_generate::provenance::{hash, hash_bytes};
use serde_json::{Value, json};
use std::fs;
use std::io;
use std::path::Path;

const JOURNAL_FILE: &str = "journal.json";

/// Forgets what the run in that folder was about to do, which is done or taken back.
pub(super) fn remove(staging: &Path) -> io::Result<()> {
    match fs::remove_file(staging.join(JOURNAL_FILE)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// In order of the steps: each path, and the hash of what is put there.
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

    /// `None` where the run had not come so far.
    pub(super) fn read(staging: &Path) -> Option<Journal> {
        let rows: Vec<Value> =
            serde_json::from_str(&fs::read_to_string(staging.join(JOURNAL_FILE)).ok()?).ok()?;
        let row = |row: &Value| {
            let path = row.get("path")?.as_str()?.to_owned();
            Some((path, row.get("hash")?.as_str().map(str::to_owned)))
        };
        rows.iter().map(row).collect::<Option<Vec<_>>>().map(Journal)
    }

    /// Puts everything where it was.
    pub(super) fn roll_back(&self, root: &Path, staging: &Path) {
        for (index, (path, hash)) in self.0.iter().enumerate().rev() {
            if !folder::is_safe_path(path) {
                continue;
            }
            // What cannot be looked at was not put there.
            let Ok(found) = folder::read_file(root, path) else { continue };
            let is_ours = found.as_deref().is_none_or(|found| Some(hash_bytes(found)) == *hash);
            let aside = backup_path(staging, index);
            if !is_ours {
                continue;
            }
            if fs::symlink_metadata(&aside).is_ok_and(|aside| aside.is_file()) {
                let path = root.join(path);
                // Its folder may have been removed as one that nothing is left in.
                let _ = path.parent().map(fs::create_dir_all);
                let _ = fs::rename(aside, path);
            } else if found.is_some() && !staged_path(staging, index).exists() {
                let _ = fs::remove_file(root.join(path));
            }
        }
        let is_inside = |path: &&str| folder::is_safe_path(path) && folder::read_file(root, path).is_ok();
        remove_empty_folders(root, self.0.iter().map(|(path, _)| path.as_str()).filter(is_inside));
    }
}
