//! Which of the processes that share a data folder does some work, and whether it still lives.
//!
//! An instance holds a lock on a file of its own for as long as it lives, and the system takes the lock away when the
//! process ends, however it ends. So nobody has to send signs of life, and none is mistaken for another.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// This program, as far as it works for one adapter.
#[derive(Debug)]
pub(crate) struct Instance {
    pub(crate) id: String,
    /// `None` where nobody else can see the work.
    lock: Option<(PathBuf, File)>,
}

impl Instance {
    /// An instance among those of a folder, which is there; with a lock, so that the others know that it lives.
    pub(crate) fn register(folder: Option<&Path>) -> io::Result<Instance> {
        let id = Uuid::now_v7().simple().to_string();
        let Some(folder) = folder else { return Ok(Instance { id, lock: None }) };
        let path = path(folder, &id);
        let file = File::create_new(&path)?;
        file.lock()?;
        Ok(Instance { id, lock: Some((path, file)) })
    }
}

/// Whether another instance of that folder lives. In doubt it does: its work is not taken from it.
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
    // Shared, so that two that look do not take each other for the one they look for.
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
        let lives = |id: &str| is_alive(Some(folder.path()), id);
        let one = Instance::register(Some(folder.path())).unwrap();
        let other = Instance::register(Some(folder.path())).unwrap();
        let id = other.id.clone();
        assert!(lives(&id) && lives(&one.id));
        drop(other);
        assert!(lives(&one.id) && !lives(&id));
        // A process that was killed leaves its file behind without the lock.
        fs::write(path(folder.path(), "dead"), "").unwrap();
        assert!(!lives("dead"));
        assert!(!path(folder.path(), "dead").exists());
        assert!(!lives("../elsewhere"));
    }
}
