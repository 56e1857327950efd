//! Status files of the servers on this machine: each server writes its state to a small file and removes the file when it stops.
//!
//! A server holds a lock beside its file. The system releases the lock when the server ends for any reason, so a file whose lock is
//! free is stale, even if another process has the same process id by now.

use crate::file::{create_private_file, create_private_folder};
use mcpaql_runtime::environment::user_folder;
use mcpaql_runtime::gateway::Gateway;
use serde_json::{Value, json};
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio_util::task::AbortOnDropHandle;

/// Minimum time between two writes of a status.
const MIN_WRITE_INTERVAL: Duration = Duration::from_secs(1);

/// The status file of this server. It is updated until it is dropped, and then removed.
#[derive(Debug)]
pub(crate) struct StatusFile {
    path: PathBuf,
    lock: Option<(PathBuf, File)>,
    _updater: AbortOnDropHandle<()>,
}

impl StatusFile {
    /// Writes the status file of a server and keeps it up to date; `served` says how to reach the server. Returns `None` if the folder
    /// cannot be written: serving does not need the file.
    pub(crate) fn publish(gateway: Gateway, served: String) -> Option<StatusFile> {
        let folder = folder()?;
        create_private_folder(&folder).ok()?;
        let pid = std::process::id();
        let (path, lock_path) = (folder.join(format!("{pid}.json")), folder.join(format!("{pid}.lock")));
        let lock = create_private_file(&lock_path).ok().filter(|file| file.try_lock().is_ok())?;
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let about = json!({"pid": pid, "started": started, "served": served});
        let updater = AbortOnDropHandle::new(tokio::spawn(update_status_file(gateway, about, path.clone())));
        Some(StatusFile { path, lock: Some((lock_path, lock)), _updater: updater })
    }
}

impl Drop for StatusFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        if let Some((path, lock)) = self.lock.take() {
            drop(lock);
            let _ = std::fs::remove_file(path);
        }
    }
}

async fn update_status_file(gateway: Gateway, about: Value, path: PathBuf) {
    let mut changes = gateway.state_changes();
    let mut written = String::new();
    loop {
        // The first time, this counts the tokens of all operations; calls must not wait for that.
        let counted = gateway.clone();
        let Ok(health) = tokio::task::spawn_blocking(move || counted.health()).await else { return };
        let mut status = health.to_json(true);
        if let (Some(status), Some(about)) = (status.as_object_mut(), about.as_object()) {
            status.extend(about.clone());
        }
        let now = status.to_string();
        if now != written {
            if let Err(error) = write(&path, &now) {
                tracing::debug!(%error, "cannot write the status file");
            }
            written = now;
        }
        tokio::time::sleep(MIN_WRITE_INTERVAL).await;
        // Calls change counters, but do not signal a change: write those after the interval.
        let _ = tokio::time::timeout(MIN_WRITE_INTERVAL, changes.changed()).await;
    }
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let temporary = path.with_extension("tmp");
    create_private_file(&temporary)?.write_all(text.as_bytes())?;
    std::fs::rename(&temporary, path)
}

/// Returns the running servers of this user, the oldest first. Removes stale files.
pub(crate) fn running_servers() -> Vec<Value> {
    let Some(entries) = folder().and_then(|folder| std::fs::read_dir(folder).ok()) else { return Vec::new() };
    let mut found: Vec<Value> = entries.flatten().filter_map(|entry| read(&entry.path())).collect();
    found.sort_by_key(|status| status.get("started").and_then(Value::as_u64));
    found
}

fn read(path: &Path) -> Option<Value> {
    if path.extension()? != "json" {
        return None;
    }
    let lock_path = path.with_extension("lock");
    let is_stale = match File::open(&lock_path) {
        Ok(lock) => lock.try_lock_shared().is_ok(),
        Err(_) => true,
    };
    if is_stale {
        let _ = std::fs::remove_file(path);
        let _ = std::fs::remove_file(lock_path);
        return None;
    }
    let mut text = String::new();
    File::open(path).ok()?.take(16 << 20).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

/// Returns `$XDG_RUNTIME_DIR/mcpaql`, or a folder in the user's cache directory.
fn folder() -> Option<PathBuf> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty());
    let runtime = runtime.map(|folder| PathBuf::from(folder).join("mcpaql"));
    runtime.or_else(|| Some(user_folder("XDG_CACHE_HOME", ".cache", "Library/Caches")?.join("run")))
}
