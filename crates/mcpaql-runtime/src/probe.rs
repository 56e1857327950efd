//! Puts the hints of a running MCP server to the test: tools that say they only read are called, twice each, and what can be seen
//! of the state is compared before and after.
//!
//! What always holds: nothing is called but what `audit::probe` allows, one call at a time, so that a change belongs to the tool
//! that was called last. A snapshot that changes by itself proves nothing, so that nothing is called then.

use crate::mcp::Caller;
use crate::target::command::process::{self, Ending, Job};
use crate::upstream::Upstream;
use mcpaql_core::audit::Server;
use mcpaql_core::audit::probe::{Answers, Observed, Plan, plans};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::time::Duration;
use thiserror::Error;

/// A larger snapshot is none.
const LARGEST: usize = 64 << 20;

/// A command whose output is the state that can be seen, run by the shell.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// As typed.
    pub command: String,
    /// How long it may take.
    pub timeout: Duration,
}

/// What became of a tool.
#[derive(Debug, Clone, PartialEq)]
pub enum Probed {
    /// It was called twice.
    Seen(Observed),
    /// It was not called, for this reason.
    Left(String),
}

/// Why nothing can be concluded.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// The command cannot be run, or fails.
    #[error("the snapshot command {0}")]
    Snapshot(String),
    /// Its output differs although nothing was called.
    #[error("the snapshot changes by itself: two runs in a row gave different output")]
    Unstable,
}

/// Probes the tools of a server that runs, in order; `tell` hears the name of each tool before it is called.
///
/// # Errors
/// Where the snapshot cannot be taken or is of no use.
pub async fn probe(
    upstream: &Upstream,
    server: &Server,
    snapshot: Option<&Snapshot>,
    tell: impl Fn(&str),
) -> Result<Vec<(String, Probed)>, ProbeError> {
    let mut state = match snapshot {
        Some(snapshot) => Some(stable(snapshot).await?),
        None => None,
    };
    let mut probed = Vec::new();
    for (tool, plan) in plans(server) {
        let arguments = match plan {
            Plan::Call(arguments) => arguments,
            Plan::Leave(reason) => {
                probed.push((tool, Probed::Left(reason)));
                continue;
            }
        };
        tell(&tool);
        let first = call(upstream, &tool, &arguments).await;
        let second = call(upstream, &tool, &arguments).await;
        let answers = match (first, second) {
            (Some(first), Some(second)) if first == second => Answers::Same,
            (Some(_), Some(_)) => Answers::Different,
            _ => Answers::Failed,
        };
        let now = match snapshot {
            Some(snapshot) => Some(taken(snapshot).await?),
            None => None,
        };
        let changed = now != state;
        state = now;
        probed.push((tool, Probed::Seen(Observed { changed, answers })));
    }
    Ok(probed)
}

/// The answer of a call that succeeded.
async fn call(upstream: &Upstream, tool: &str, arguments: &Map<String, Value>) -> Option<Value> {
    let answer = upstream.call_tool(tool, arguments.clone(), &Caller::nobody()).await.ok()?;
    let failed = answer.get("isError") == Some(&Value::Bool(true));
    (!failed).then_some(answer)
}

/// A snapshot that is the same twice.
async fn stable(snapshot: &Snapshot) -> Result<Vec<u8>, ProbeError> {
    let first = taken(snapshot).await?;
    if taken(snapshot).await? == first { Ok(first) } else { Err(ProbeError::Unstable) }
}

async fn taken(snapshot: &Snapshot) -> Result<Vec<u8>, ProbeError> {
    let shell = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let args = [shell.1.to_owned(), snapshot.command.clone()];
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let variables: Vec<(String, String)> = std::env::vars_os().filter_map(text).collect();
    let job = Job {
        program: shell.0,
        args: &args,
        env: &variables,
        cwd: None,
        stdin: None,
        max_output: LARGEST,
        timeout: snapshot.timeout,
    };
    let finished = process::run(job).await;
    let finished = finished.map_err(|error| ProbeError::Snapshot(format!("cannot be run: {error}")))?;
    match finished.ending {
        Ending::Exited(status) if status.success() => Ok(finished.stdout),
        Ending::Exited(status) | Ending::Held(status) => {
            let said = String::from_utf8_lossy(&finished.stderr);
            let last = said.trim().lines().last().unwrap_or_default();
            let said = if last.is_empty() { String::new() } else { format!(": {last}") };
            Err(ProbeError::Snapshot(format!("failed with {status}{said}")))
        }
        Ending::TooLarge => Err(ProbeError::Snapshot("writes too much".to_owned())),
        Ending::TimedOut => Err(ProbeError::Snapshot("takes too long".to_owned())),
    }
}
