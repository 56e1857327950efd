//! Serves files as they are after an edit; adapters that did not change are not touched.
//!
//! Files are looked at every second, by time and size; SIGHUP has everything read again. What cannot be served any more stays as it
//! was, and what is wrong with it is shown.

use crate::args;
use crate::documents::{Plan, Request};
use crate::output;
use anyhow::{Context, Result};
use mcpaql_runtime::gateway::Gateway;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::sync::watch;

const SECOND: Duration = Duration::from_secs(1);
/// An edit is over when nothing was written for this long.
const SETTLED: Duration = Duration::from_millis(100);

/// Files that were read, and when that began.
#[derive(Debug, Clone)]
pub(crate) struct Files {
    pub(crate) paths: Vec<PathBuf>,
    pub(crate) since: SystemTime,
}

/// Serves what the files say until the last sender of `hangups` is gone.
pub(crate) async fn keep_up(
    args: Arc<args::Serve>,
    gateway: Gateway,
    mut files: Files,
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
            () = edited(files.clone()), if is_watching => {}
        }
        let (work, served) = (Arc::clone(&args), gateway.clone());
        let handle = tokio::runtime::Handle::current();
        // What cannot be read now was looked at all the same.
        files.since = SystemTime::now();
        let read = tokio::task::spawn_blocking(move || read_again(&work, &served, &handle)).await;
        match read.context("reading was interrupted").flatten() {
            Ok(now) => files = now,
            Err(error) => {
                output::failure(&error);
                tracing::warn!("everything stays as it was");
            }
        }
    }
}

fn read_again(args: &args::Serve, gateway: &Gateway, handle: &tokio::runtime::Handle) -> Result<Files> {
    let since = SystemTime::now();
    let mut plan = plan(args)?;
    let files = Files { paths: std::mem::take(&mut plan.files), since };
    let members = plan.members(Some(gateway), !args.no_cache)?;
    handle.block_on(gateway.replace(members))?;
    tracing::info!(adapters = gateway.slots().len(), tools = gateway.tools().len(), "read again");
    Ok(files)
}

/// What is to be served.
pub(crate) fn plan(args: &args::Serve) -> Result<Plan> {
    let request = Request {
        documents: &args.documents,
        descriptions: &args.openapi,
        importing: args.importing.clone(),
        config: args.config.as_deref(),
        flags: args.surface.settings(),
        data: args.data.clone(),
        ..Request::default()
    };
    request.resolve()
}

/// Ends when one of the files has changed since it was read, and the edit is over.
async fn edited(files: Files) {
    let paths = Arc::new(files.paths);
    let fresh = |look: &mut Look| {
        // Written while it was read: the change may have been missed.
        if look.is_some_and(|(written, _)| written + SETTLED >= files.since) {
            *look = None;
        }
    };
    let mut before = looks(&paths).await;
    before.iter_mut().for_each(fresh);
    let mut now = looks(&paths).await;
    while now == before {
        tokio::time::sleep(SECOND).await;
        now = looks(&paths).await;
    }
    loop {
        tokio::time::sleep(SETTLED).await;
        let later = looks(&paths).await;
        if later == now {
            return;
        }
        now = later;
    }
}

type Look = Option<(SystemTime, u64)>;

/// Time and size of each file; nothing for one that is not there.
async fn looks(files: &Arc<Vec<PathBuf>>) -> Vec<Look> {
    let look = |path: &PathBuf| -> Look {
        let metadata = std::fs::metadata::<&Path>(path).ok()?;
        Some((metadata.modified().ok()?, metadata.len()))
    };
    let files = Arc::clone(files);
    // A network drive may take its time.
    let looked = tokio::task::spawn_blocking(move || files.iter().map(look).collect()).await;
    looked.unwrap_or_default()
}
