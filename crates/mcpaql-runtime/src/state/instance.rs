//! Identifies the processes that share a data folder, and detects whether they are alive.
//!
//! An instance holds a lock on its own file. The system releases the lock when the process ends, even after a crash.
//! So no heartbeats are needed, and no process is mistaken for another.

use crate::process::run_id;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// This process, as the owner of executions of one adapter.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) id: String,
    /// `None` without a data folder, where no other process can see the work.
    lock: Option<(PathBuf, File)>,
}

impl Instance {
    /// Registers an instance in an existing folder, with a lock that shows it is alive.
    pub(crate) fn register(folder: Option<&Path>) -> io::Result<Instance> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        // The run is part of the id, so that another process can find the programs of this one.
        let id = format!("{}{:x}", run_id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let Some(folder) = folder else { return Ok(Instance { id, lock: None }) };
        let path = path(folder, &id);
        let file = File::create_new(&path)?;
        file.lock()?;
        Ok(Instance { id, lock: Some((path, file)) })
    }
}

/// Returns whether another instance in the folder is alive. Returns true if this is uncertain, so that the work of the
/// instance is not marked as failed.
pub(crate) fn is_alive(folder: Option<&Path>, id: &str) -> bool {
    let Some(folder) = folder else { return false };
    if !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return false;
    }
    let path = path(folder, id);
    let file = match File::open(&path) {
        Ok(file) => file,
        Err(error) => return error.kind() != io::ErrorKind::NotFound,
    };
    // A shared lock, so that two processes that check at the same time do not see each other's lock.
    match file.try_lock_shared() {
        Ok(()) => {
            let _ = fs::remove_file(&path);
            false
        }
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some((path, _)) = &self.lock {
            let _ = fs::remove_file(path);
        }
    }
}

fn path(folder: &Path, id: &str) -> PathBuf {
    folder.join(format!("executions-{id}.lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_lives_until_its_lock_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let is_alive_here = |id: &str| is_alive(Some(folder.path()), id);
        let one = Instance::register(Some(folder.path())).unwrap();
        let other = Instance::register(Some(folder.path())).unwrap();
        let id = other.id.clone();
        assert!(is_alive_here(&id) && is_alive_here(&one.id));
        drop(other);
        assert!(is_alive_here(&one.id) && !is_alive_here(&id));
        // A process that was killed leaves its file behind, without the lock.
        fs::write(path(folder.path(), "dead"), "").unwrap();
        assert!(!is_alive_here("dead"));
        assert!(!path(folder.path(), "dead").exists());
        assert!(!is_alive_here("../elsewhere"));
    }
}
