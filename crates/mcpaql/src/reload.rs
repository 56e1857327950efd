//! Reloads adapters when their files change. Adapters that did not change are not touched.
//!
//! The modification time and size of each file are checked every second; SIGHUP reloads everything. If the new version of an adapter
//! has errors, they are printed, and the previous version is still served.
//!
//! A new version that can reach more than the served one (a host, a program, a variable, a credential, a file, the data folder) waits for
//! `mcpaql trust`, and so does every new content of a configuration that was found in the working folder.

use crate::args;
use crate::documents::{AdapterEnvironment, AdapterPlan, AdapterRequest, PlanPurpose};
use crate::trust::content::{OuterReach, reach_of};
use crate::trust::{self, UntrustedConfig};
use crate::{operator, output};
use anyhow::{Context, Result};
use mcpaql_runtime::gate::Gate;
use mcpaql_runtime::gateway::{Gateway, MemberOrigin};
use mcpaql_runtime::limits::{MemoryLimit, set_memory_limit};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
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

/// A running server, as reloading sees it.
#[derive(Debug, Clone)]
pub(crate) struct ReloadedServer {
    pub(crate) args: Arc<args::ServeArgs>,
    pub(crate) gateway: Gateway,
    pub(crate) gate: Gate,
    pub(crate) environment: Option<AdapterEnvironment>,
    /// What the served version reaches, apart from its documents.
    pub(crate) reach: Arc<Mutex<OuterReach>>,
}

/// A new version that the operator must approve first.
#[derive(Debug)]
struct UnapprovedEdit(String);

impl fmt::Display for UnapprovedEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnapprovedEdit {}

impl WatchedFiles {
    /// Returns the files of a plan, and the operator's rules.
    pub(crate) fn of(plan: &mut AdapterPlan, read_at: SystemTime) -> WatchedFiles {
        let mut paths = std::mem::take(&mut plan.files);
        paths.extend(operator::config_path());
        WatchedFiles { paths, read_at }
    }
}

/// Reloads the files on each change, until the last sender of `hangups` is dropped.
pub(crate) async fn reload_on_change(
    server: ReloadedServer,
    mut files: WatchedFiles,
    mut hangups: watch::Receiver<()>,
) {
    let mut is_waiting = false;
    loop {
        let is_watching = !server.args.no_watch;
        tokio::select! {
            hangup = hangups.changed() => {
                if hangup.is_err() {
                    return;
                }
            }
            () = wait_for_edit(files.clone()), if is_watching => {}
            () = wait_for_operator(&server.gate), if is_waiting => {}
        }
        let work = server.clone();
        let handle = tokio::runtime::Handle::current();
        // Set before reading, so that a failed reload is not repeated until the next change.
        files.read_at = SystemTime::now();
        let reloaded = tokio::task::spawn_blocking(move || reload(&work, &handle)).await;
        match reloaded.context("reloading was interrupted").flatten() {
            Ok(reloaded) => (files, is_waiting) = (reloaded, false),
            Err(error) if error.is::<UnapprovedEdit>() => {
                if !is_waiting {
                    tracing::warn!("{error}; the previous version is still served");
                }
                is_waiting = true;
            }
            Err(error) => {
                output::print_error(&error);
                tracing::warn!("reload failed; the previous version is still served");
            }
        }
    }
}

fn reload(server: &ReloadedServer, handle: &tokio::runtime::Handle) -> Result<WatchedFiles> {
    let ReloadedServer { args, gateway, gate, environment, reach } = server;
    let read_at = SystemTime::now();
    reload_rules(gate);
    let mut plan = plan_to_serve(args).map_err(|error| waiting_or(error, &args.documents))?;
    apply_process_limits(&plan);
    let outer = plan.outer_reach();
    let subjects = plan.subjects();
    let is_granted = plan.is_found || plan.is_granted(&trust::grants()?);
    plan.set_trust(gate)?;
    let files = WatchedFiles::of(&mut plan, read_at);
    let new_environment = plan.environment.clone();
    let members = plan.members(Some(gateway), !args.no_cache)?;
    if !is_granted {
        let mut served = reach.lock().unwrap_or_else(PoisonError::into_inner).clone();
        gateway.snapshot().adapters().iter().for_each(|adapter| served.extend(reach_of(adapter.catalog())));
        let mut wanted = outer.clone();
        for member in &members {
            if let MemberOrigin::Compiled(catalog) = &member.origin {
                wanted.extend(reach_of(catalog));
            }
        }
        if !wanted.is_subset(&served) {
            let names: Vec<&str> = subjects.iter().map(|subject| subject.shown.as_str()).collect();
            return Err(unapproved(&names).into());
        }
    }
    if let (Some(environment), Some(new)) = (environment, &new_environment) {
        environment.replace(new);
    }
    handle.block_on(gateway.replace(members))?;
    *reach.lock().unwrap_or_else(PoisonError::into_inner) = outer;
    tracing::info!(adapters = gateway.slots().len(), tools = gateway.tools().len(), "reloaded");
    Ok(files)
}

/// Returns the error for a version that reaches more than the served one.
fn unapproved(names: &[&str]) -> UnapprovedEdit {
    let commands: Vec<String> =
        names.iter().map(|name| format!("`mcpaql trust {}`", trust::typed_path(name))).collect();
    UnapprovedEdit(format!(
        "an edit can reach more than before (a host, a program, a variable, a credential or a file), and waits for {}",
        commands.join(" and ")
    ))
}

/// Returns the error of a plan, as a wait if the configuration must be trusted again.
fn waiting_or(error: anyhow::Error, documents: &[String]) -> anyhow::Error {
    match error.downcast_ref::<UntrustedConfig>() {
        Some(untrusted) if documents.is_empty() => UnapprovedEdit(format!(
            "{}, and the edit waits for `{}`",
            untrusted.message(),
            untrusted.command()
        ))
        .into(),
        _ => error,
    }
}

/// Reads the operator's rules again. If they have errors, the rules before them still decide.
fn reload_rules(gate: &Gate) {
    match operator::gate_config() {
        Ok(config) => gate.set_config(config),
        Err(error) => {
            output::print_error(&error);
            tracing::warn!("the previous rules still decide");
        }
    }
}

/// Waits until the operator has decided something.
async fn wait_for_operator(gate: &Gate) {
    let before = gate.state().revision().await.ok();
    loop {
        tokio::time::sleep(POLL_INTERVAL).await;
        if gate.state().revision().await.ok() != before {
            return;
        }
    }
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
        purpose: PlanPurpose::Run,
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
