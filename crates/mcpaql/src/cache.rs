//! Caches the surface of the last start, which clients see until everything is loaded.
//!
//! The key of a surface is a fingerprint of everything it depends on: the version of the program, every text and every setting. A
//! cached surface is only a preview: the adapters are always compiled again, and clients are notified if the tools differ.
//!
//! The tools of MCP servers are cached in the same way. The key is a fingerprint of how the server is reached.

use crate::file::{create_private_file, create_private_folder};
use mcpaql_core::capture::Capture;
use mcpaql_core::catalog::Tool;
use mcpaql_runtime::environment::user_folder;
use mcpaql_runtime::mcp::Preview;
use mcpaql_runtime::protocol::Features;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Maximum number of files in each folder.
const MAX_CACHED_FILES: usize = 64;

/// The cache file of one surface.
#[derive(Debug)]
pub(crate) struct SurfaceCache {
    path: PathBuf,
}

impl SurfaceCache {
    /// Returns the cache for this fingerprint, or `None` if the user has no cache directory.
    pub(crate) fn new(fingerprint: &str) -> Option<SurfaceCache> {
        let name: String = fingerprint.chars().filter(char::is_ascii_alphanumeric).collect();
        Some(SurfaceCache { path: folder("surfaces")?.join(format!("{name}.json")) })
    }

    /// Reads the cached surface.
    pub(crate) fn read(&self) -> Option<Preview> {
        let text = std::fs::read_to_string(&self.path).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let tools: Option<Vec<Tool>> = value.get("tools")?.as_array()?.iter().map(Tool::from_json).collect();
        let instructions = value.get("instructions")?.as_str()?.to_owned();
        let flag = |key: &str| value.get(key).and_then(Value::as_bool).unwrap_or_default();
        let features = Features {
            resources: flag("resources"),
            prompts: flag("prompts"),
            subscriptions: flag("subscriptions"),
            completions: flag("completions"),
            logging: flag("logging"),
        };
        Some(Preview { tools: tools?.into(), features, tasks: flag("tasks"), instructions })
    }

    /// Writes a surface. Errors are only logged: serving does not need the cache.
    pub(crate) fn write(&self, preview: &Preview) {
        let Preview { tools, features, tasks, instructions } = preview;
        let tools: Vec<Value> = tools.iter().map(Tool::to_json).collect();
        let Features { resources, prompts, subscriptions, completions, logging } = features;
        let text = json!({
            "instructions": instructions, "resources": resources, "prompts": prompts, "subscriptions": subscriptions,
            "completions": completions, "logging": logging, "tasks": tasks, "tools": tools,
        });
        write(&self.path, &text.to_string());
    }
}

/// The cache file for the tools of one MCP server.
#[derive(Debug)]
pub(crate) struct CaptureCache {
    path: PathBuf,
}

impl CaptureCache {
    /// Returns the cache for this fingerprint, or `None` if the user has no cache directory.
    pub(crate) fn new(fingerprint: &str) -> Option<CaptureCache> {
        Some(CaptureCache { path: folder("servers")?.join(format!("{fingerprint}.json")) })
    }

    pub(crate) fn read(&self) -> Option<Capture> {
        let text = std::fs::read_to_string(&self.path).ok()?;
        Capture::from_json(serde_json::from_str(&text).ok()?)
    }

    pub(crate) fn write(&self, capture: &Capture) {
        write(&self.path, &capture.to_json().to_string());
    }
}

/// Writes a file completely or not at all. Only the user can read it: tools may have been listed with the user's credentials.
fn write(path: &Path, text: &str) {
    let Some(folder) = path.parent() else { return };
    let temporary = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = create_private_folder(folder)
        .and_then(|()| create_private_file(&temporary)?.write_all(text.as_bytes()))
        .and_then(|()| std::fs::rename(&temporary, path));
    match written {
        Ok(()) => prune(folder),
        Err(error) => {
            tracing::debug!(%error, "cannot write the cache");
            let _ = std::fs::remove_file(&temporary);
        }
    }
}

/// Removes the oldest files above the maximum number.
fn prune(folder: &Path) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut files: Vec<_> = entries
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .filter(|(_, path)| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort_unstable_by(|a, b| b.cmp(a));
    for (_, path) in files.into_iter().skip(MAX_CACHED_FILES) {
        let _ = std::fs::remove_file(path);
    }
}

/// Returns a folder in the user's cache directory: `$XDG_CACHE_HOME/mcpaql`, or the default of the platform.
fn folder(name: &str) -> Option<PathBuf> {
    Some(user_folder("XDG_CACHE_HOME", ".cache", "Library/Caches")?.join(name))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_cache_is_only_for_its_user() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("servers/a.json");
        write(&path, "{}");
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{}");
    }
}
