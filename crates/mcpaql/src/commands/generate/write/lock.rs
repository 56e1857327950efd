//! Whose turn it is to write into a project's folder: of whoever holds the lock in its staging folder.
//!
//! What always holds: no two runs hold it together, also where one takes back what another left; a run that ended, however it
//! ended, holds nothing.

use super::journal;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// What tells a run that goes on from one that was killed.
const LOCK_FILE: &str = "lock";

/// A staging folder that no other run works in.
pub(super) struct StagingLock {
    staging: PathBuf,
    lock: File,
}

impl StagingLock {
    /// Takes the folder, which is there; `None` where another run has it or has just removed it.
    pub(super) fn acquire(staging: &Path) -> io::Result<Option<StagingLock>> {
        let path = staging.join(LOCK_FILE);
        let lock = match open_lock_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let is_ours = match lock.try_lock() {
            // Whoever had it may have removed it since it was opened.
            Ok(()) => is_at(&lock, &path),
            Err(TryLockError::WouldBlock) => false,
            // Where files cannot be locked, the folder alone keeps others out.
            Err(TryLockError::Error(_)) => true,
        };
        Ok(is_ours.then(|| StagingLock { staging: staging.to_path_buf(), lock }))
    }

    /// Whether another run works in the folder, for whoever changes nothing.
    pub(super) fn is_held(staging: &Path) -> bool {
        let lock = File::open(staging.join(LOCK_FILE));
        lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Removes the folder and lets others have their turn.
    pub(super) fn release(self) -> io::Result<()> {
        // Whoever finds the rest must not take back what is done.
        journal::remove(&self.staging)?;
        let removed = fs::remove_dir_all(&self.staging);
        drop(self.lock);
        match removed {
            // Some systems keep what is open until it is closed.
            Err(_) => match fs::remove_dir(&self.staging) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
            Ok(()) => Ok(()),
        }
    }
}

/// The file, which is made where there is none; no link is followed to make one.
fn open_lock_file(path: &Path) -> io::Result<File> {
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => match File::create_new(path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => File::open(path),
            other => other,
        },
        other => other,
    }
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let key = |found: &fs::Metadata| (found.dev(), found.ino());
    matches!((file.metadata(), fs::metadata(path)), (Ok(held), Ok(there)) if key(&held) == key(&there))
}

/// Elsewhere no file takes the place of one that is open.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}
