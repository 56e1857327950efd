//! Serves files as they are after an edit; adapters that did not change are not touched.
//!
//! Files are looked at every second, by time and size; SIGHUP has everything read again. What cannot be served any more stays as it
//! was, and what is wrong with it is shown.

use crate::args;
use crate::documents::{AdapterPlan, AdapterRequest};
use crate::output;
use anyhow::{Context, Result};
use mcpaql_runtime::gateway::Gateway;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::watch;

const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// An edit is over when nothing was written for this long.
const SETTLE_TIME: Duration = Duration::from_millis(100);

/// Files that were read, and when that began.
#[derive(Debug, Clone)]
pub(crate) struct WatchedFiles {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) read_at: SystemTime,
}

/// Serves what the files say until the last sender of `hangups` is gone.
pub(crate) async fn reload_on_change(
    args: Arc<args::ServeArgs>,
    gateway: Gateway,
    mut files: WatchedFiles,
    mut hangups: watch::Receiver<()>,
) {
    loop {
        let is_watching = !args.no_watch;
        tokio::select! {
            told = hangups.changed() => {
                if told.is_err() {
                    return;
                }
            }
            () = wait_for_edit(files.clone()), if is_watching => {}
        }
        let (work, served) = (Arc::clone(&args), gateway.clone());
        let handle = tokio::runtime::Handle::current();
        // What cannot be read now was looked at all the same.
        files.read_at = SystemTime::now();
        let read = tokio::task::spawn_blocking(move || reload(&work, &served, &handle)).await;
        match read.context("reading was interrupted").flatten() {
            Ok(now) => files = now,
            Err(error) => {
                output::print_error(&error);
                tracing::warn!("everything stays as it was");
            }
        }
    }
}

fn reload(
    args: &args::ServeArgs,
    gateway: &Gateway,
    handle: &tokio::runtime::Handle,
) -> Result<WatchedFiles> {
    let since = SystemTime::now();
    let mut plan = plan_to_serve(args)?;
    let files = WatchedFiles { paths: std::mem::take(&mut plan.files), read_at: since };
    let members = plan.members(Some(gateway), !args.no_cache)?;
    handle.block_on(gateway.replace(members))?;
    tracing::info!(adapters = gateway.slots().len(), tools = gateway.tools().len(), "read again");
    Ok(files)
}

/// What is to be served.
pub(crate) fn plan_to_serve(args: &args::ServeArgs) -> Result<AdapterPlan> {
    let request = AdapterRequest {
        documents: &args.documents,
        descriptions: &args.openapi,
        import_options: args.import_options.clone(),
        config: args.config.as_deref(),
        flags: args.surface.settings(),
        data: args.data.clone(),
        ..AdapterRequest::default()
    };
    request.resolve()
}

/// Ends when one of the files has changed since it was read, and the edit is over.
async fn wait_for_edit(files: WatchedFiles) {
    let paths = Arc::new(files.paths);
    let fresh = |look: &mut FileStamp| {
        // Written while it was read: the change may have been missed.
        if look.is_some_and(|(written, _)| written + SETTLE_TIME >= files.read_at) {
            *look = None;
        }
    };
    let mut before = file_stamps(&paths).await;
    before.iter_mut().for_each(fresh);
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

type FileStamp = Option<(SystemTime, u64)>;

/// Time and size of each file; nothing for one that is not there.
async fn file_stamps(files: &Arc<Vec<PathBuf>>) -> Vec<FileStamp> {
    let look = |path: &PathBuf| -> FileStamp {
        let metadata = std::fs::metadata::<&Path>(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    let files = Arc::clone(files);
    // A network drive may take its time.
    let looked = tokio::task::spawn_blocking(move || files.iter().map(look).collect()).await;
    looked.unwrap_or_default()
}
