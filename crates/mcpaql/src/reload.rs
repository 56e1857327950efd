//! Reloads adapters when their files change. Adapters that did not change are not touched.
//!
//! The modification time and size of each file are checked every second; SIGHUP reloads everything. If the new version of an adapter
//! has errors, they are printed, and the previous version is still served.

use crate::args;
use crate::documents::{AdapterEnvironment, AdapterPlan, AdapterRequest};
use crate::output;
use anyhow::{Context, Result};
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::limits::{MemoryLimit, set_memory_limit};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::watch;

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// An edit is complete when the files have not changed for this time.
const SETTLE_TIME: Duration = Duration::from_millis(100);

/// The files to watch, and when reading them started.
#[derive(Debug, Clone)]
pub(crate) struct WatchedFiles {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) read_at: SystemTime,
}

/// Reloads the files on each change, until the last sender of `hangups` is dropped.
pub(crate) async fn reload_on_change(
    args: Arc<args::ServeArgs>,
    gateway: Gateway,
    environment: Option<AdapterEnvironment>,
    mut files: WatchedFiles,
    mut hangups: watch::Receiver<()>,
) {
    loop {
        let is_watching = !args.no_watch;
        tokio::select! {
            hangup = hangups.changed() => {
                if hangup.is_err() {
                    return;
                }
            }
            () = wait_for_edit(files.clone()), if is_watching => {}
        }
        let (work, served, values) = (Arc::clone(&args), gateway.clone(), environment.clone());
        let handle = tokio::runtime::Handle::current();
        // Set before reading, so that a failed reload is not repeated until the next change.
        files.read_at = SystemTime::now();
        let reloaded =
            tokio::task::spawn_blocking(move || reload(&work, &served, values.as_ref(), &handle)).await;
        match reloaded.context("reloading was interrupted").flatten() {
            Ok(reloaded) => files = reloaded,
            Err(error) => {
                output::print_error(&error);
                tracing::warn!("reload failed; the previous version is still served");
            }
        }
    }
}

fn reload(
    args: &args::ServeArgs,
    gateway: &Gateway,
    environment: Option<&AdapterEnvironment>,
    handle: &tokio::runtime::Handle,
) -> Result<WatchedFiles> {
    let read_at = SystemTime::now();
    let mut plan = plan_to_serve(args)?;
    apply_process_limits(&plan);
    let files = WatchedFiles { paths: std::mem::take(&mut plan.files), read_at };
    let new_environment = plan.environment.clone();
    let members = plan.members(Some(gateway), !args.no_cache)?;
    if let (Some(environment), Some(new)) = (environment, &new_environment) {
        environment.replace(new);
    }
    handle.block_on(gateway.replace(members))?;
    tracing::info!(adapters = gateway.slots().len(), tools = gateway.tools().len(), "reloaded");
    Ok(files)
}

/// Returns the plan for the arguments of `serve`.
pub(crate) fn plan_to_serve(args: &args::ServeArgs) -> Result<AdapterPlan> {
    let request = AdapterRequest {
        documents: &args.documents,
        descriptions: &args.openapi,
        servers: &args.mcp,
        import_options: args.import_options.clone(),
        config: args.config.as_deref(),
        flags: args.surface.settings(),
        data: args.data.clone(),
        ..AdapterRequest::default()
    };
    Ok(AdapterPlan { is_live: true, ..request.resolve()? })
}

/// Applies the limits of the configuration to this process.
pub(crate) fn apply_process_limits(plan: &AdapterPlan) {
    set_memory_limit(plan.memory.map_or(MemoryLimit::OfContainer, MemoryLimit::Bytes));
}

/// Waits until one of the files has changed since it was read and the edit is complete.
async fn wait_for_edit(files: WatchedFiles) {
    let paths = Arc::new(files.paths);
    let discard_recent = |stamp: &mut FileStamp| {
        // The file was written around the time it was read, so the change may have been missed.
        if stamp.is_some_and(|(written, _)| written + SETTLE_TIME >= files.read_at) {
            *stamp = None;
        }
    };
    let mut before = file_stamps(&paths).await;
    before.iter_mut().for_each(discard_recent);
    let mut now = file_stamps(&paths).await;
    while now == before {
        tokio::time::sleep(POLL_INTERVAL).await;
        now = file_stamps(&paths).await;
    }
    loop {
        tokio::time::sleep(SETTLE_TIME).await;
        let later = file_stamps(&paths).await;
        if later == now {
            return;
        }
        now = later;
    }
}

/// The modification time and size of a file.
type FileStamp = Option<(SystemTime, u64)>;

/// Returns the modification time and size of each file, or `None` for a missing file.
async fn file_stamps(files: &Arc<Vec<PathBuf>>) -> Vec<FileStamp> {
    let stamp = |path: &PathBuf| -> FileStamp {
        let metadata = std::fs::metadata::<&Path>(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    let files = Arc::clone(files);
    // A network drive may be slow.
    let stamps = tokio::task::spawn_blocking(move || files.iter().map(stamp).collect()).await;
    stamps.unwrap_or_default()
}
