//! The lock of a project folder: only the run that holds the lock in its staging folder may write.
//!
//! What always holds: two runs never hold the lock at the same time, not even to roll back an interrupted run; a run that ended for any
//! reason does not hold it.

use super::journal;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Locked while a run is active, free after it was killed.
const LOCK_FILE: &str = "lock";

/// A staging folder that this run has locked.
pub(super) struct StagingLock {
    staging: PathBuf,
    lock: File,
}

impl StagingLock {
    /// Locks an existing staging folder. Returns `None` if another run holds it or has just removed it.
    pub(super) fn acquire(staging: &Path) -> io::Result<Option<StagingLock>> {
        let path = staging.join(LOCK_FILE);
        let lock = match open_lock_file(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let is_ours = match lock.try_lock() {
            // The previous holder may have removed the file after it was opened here.
            Ok(()) => is_at(&lock, &path),
            Err(TryLockError::WouldBlock) => false,
            // The file system does not support locks; the existence of the folder keeps other runs out.
            Err(TryLockError::Error(_)) => true,
        };
        Ok(is_ours.then(|| StagingLock { staging: staging.to_path_buf(), lock }))
    }

    /// Whether another run holds the lock. Does not take it.
    pub(super) fn is_held(staging: &Path) -> bool {
        let lock = File::open(staging.join(LOCK_FILE));
        lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
    }

    /// Removes the staging folder and releases the lock.
    pub(super) fn release(self) -> io::Result<()> {
        // Without a journal, the next run does not roll back the completed changes.
        journal::remove(&self.staging)?;
        let removed = fs::remove_dir_all(&self.staging);
        drop(self.lock);
        match removed {
            // Some systems cannot remove open files, so try again after closing the lock.
            Err(_) => match fs::remove_dir(&self.staging) {
                Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            },
            Ok(()) => Ok(()),
        }
    }
}

/// Opens the lock file, or creates it without following links.
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

/// On other systems, an open file cannot be replaced.
#[cfg(not(unix))]
fn is_at(_file: &File, path: &Path) -> bool {
    path.exists()
}
