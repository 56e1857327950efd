//! The surfaces of earlier starts: what a client is shown before everything is read again.
//!
//! A surface is kept under a fingerprint of all that it was made from: the program's version, every text and every setting. It is
//! only a preview: what is served is compiled again, and clients are notified if it differs.
//!
//! What MCP servers said about themselves is kept in the same way, under a fingerprint of how they are reached.

use mcpaql_core::capture::Capture;
use mcpaql_core::catalog::Tool;
use mcpaql_runtime::environment::user_folder;
use mcpaql_runtime::mcp::Preview;
use mcpaql_runtime::protocol::Features;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Maximum number of files in each folder.
const MAX_CACHED_FILES: usize = 64;

/// Where one surface is kept.
#[derive(Debug)]
pub(crate) struct SurfaceCache {
    path: PathBuf,
}

impl SurfaceCache {
    /// The place of the surface with that fingerprint; `None` where there is no folder for it.
    pub(crate) fn new(fingerprint: &str) -> Option<SurfaceCache> {
        let name: String = fingerprint.chars().filter(char::is_ascii_alphanumeric).collect();
        Some(SurfaceCache { path: folder("surfaces")?.join(format!("{name}.json")) })
    }

    /// What was kept there.
    pub(crate) fn read(&self) -> Option<Preview> {
        let text = std::fs::read_to_string(&self.path).ok()?;
        let value: Value = serde_json::from_str(&text).ok()?;
        let tools: Option<Vec<Tool>> = value.get("tools")?.as_array()?.iter().map(Tool::from_json).collect();
        let instructions = value.get("instructions")?.as_str()?.to_owned();
        let said = |key: &str| value.get(key).and_then(Value::as_bool).unwrap_or_default();
        let features =
            Features { resources: said("resources"), prompts: said("prompts"), logging: said("logging") };
        Some(Preview { tools: tools?.into(), features, tasks: said("tasks"), instructions })
    }

    /// Keeps a surface. A cache that cannot be written is no reason not to serve.
    pub(crate) fn write(&self, preview: &Preview) {
        let Preview { tools, features, tasks, instructions } = preview;
        let tools: Vec<Value> = tools.iter().map(Tool::to_json).collect();
        let Features { resources, prompts, logging } = features;
        let text = json!({
            "instructions": instructions, "resources": resources, "prompts": prompts, "logging": logging,
            "tasks": tasks, "tools": tools,
        });
        write(&self.path, &text.to_string());
    }
}

/// Where what one server said is kept.
#[derive(Debug)]
pub(crate) struct CaptureCache {
    path: PathBuf,
}

impl CaptureCache {
    /// The place for the server with that fingerprint; `None` where there is no folder for it.
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

/// Writes a file as a whole or not at all.
fn write(path: &Path, text: &str) {
    let Some(folder) = path.parent() else { return };
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| std::fs::write(&beside, text))
        .and_then(|()| std::fs::rename(&beside, path));
    match written {
        Ok(()) => prune(folder),
        Err(error) => {
            tracing::debug!(%error, "nothing is cached");
            let _ = std::fs::remove_file(&beside);
        }
    }
}

/// Removes the oldest files.
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

/// The user's cache directory: `$XDG_CACHE_HOME/mcpaql`, else what the platform uses.
fn folder(name: &str) -> Option<PathBuf> {
    Some(user_folder("XDG_CACHE_HOME", ".cache", "Library/Caches")?.join(name))
}
