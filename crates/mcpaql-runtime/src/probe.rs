//! Puts the hints of a running MCP server to the test: tools that say they only read are called, twice where they answer, and
//! what can be seen of the state is compared before and after.
//!
//! What always holds: nothing is called but what `audit::probe` allows, one call at a time, so that a change belongs to the tool
//! that was called last. A snapshot that changes by itself proves nothing, so that nothing is called then.

use crate::mcp::Caller;
use crate::target::command::process::{self, Ending, Job};
use crate::upstream::{Upstream, UpstreamError};
use mcpaql_core::audit::Server;
use mcpaql_core::audit::probe::{Answers, Observed, Plan, plans};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::time::Duration;
use thiserror::Error;

/// A larger snapshot is none.
const LARGEST: usize = 64 << 20;

/// So many calls in a row without an answer, and nothing more is called.
const PATIENCE: usize = 3;

/// How long it is waited for a server that ended to be started again.
const PAUSE: Duration = Duration::from_secs(5);

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
    /// It was called.
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
    let mut failures = 0;
    for (tool, plan) in plans(server) {
        let arguments = match plan {
            Plan::Call(arguments) => arguments,
            Plan::Leave(reason) => {
                probed.push((tool, Probed::Left(reason)));
                continue;
            }
        };
        if failures >= PATIENCE {
            probed.push((tool, Probed::Left("the server failed three times in a row".to_owned())));
            continue;
        }
        tell(&tool);
        let Some(answers) = answers(upstream, &tool, &arguments).await else {
            failures += 1;
            probed.push((tool, Probed::Left("the server does not start again".to_owned())));
            continue;
        };
        failures = if answers == Answers::Failed { failures + 1 } else { 0 };
        let now = match snapshot {
            Some(snapshot) => Some(taken(snapshot).await?),
            None => None,
        };
        let changed = now.as_ref().map(|now| state.as_ref() != Some(now));
        state = now;
        probed.push((tool, Probed::Seen(Observed { changed, answers })));
    }
    Ok(probed)
}

/// How two answers compare; there is no second call where the first came to nothing. `None` where the tool was not called.
async fn answers(upstream: &Upstream, tool: &str, arguments: &Map<String, Value>) -> Option<Answers> {
    let mut first = call(upstream, tool, arguments).await;
    if let Err(UpstreamError::Unavailable { retry_after: Some(wait), .. }) = &first
        && *wait <= PAUSE
    {
        tokio::time::sleep(*wait).await;
        first = call(upstream, tool, arguments).await;
    }
    let first = match first {
        Ok(first) => first,
        // It failed over an earlier call, which is not the fault of this tool.
        Err(UpstreamError::Unavailable { retry_after: Some(_), .. }) => return None,
        Err(error) => return Some(missing(&error)),
    };
    let is_refused = |answer: &Value| answer.get("isError") == Some(&Value::Bool(true));
    if is_refused(&first) {
        return Some(Answers::Refused);
    }
    Some(match call(upstream, tool, arguments).await {
        Ok(second) if second == first => Answers::Same,
        Ok(second) if is_refused(&second) => Answers::Refused,
        Ok(_) => Answers::Different,
        Err(error) => missing(&error),
    })
}

/// What it means that there is no answer.
fn missing(error: &UpstreamError) -> Answers {
    match error {
        // Some servers refuse arguments by an error of the protocol.
        UpstreamError::Refused { .. } | UpstreamError::Refusal(_) => Answers::Refused,
        _ => Answers::Failed,
    }
}

async fn call(
    upstream: &Upstream,
    tool: &str,
    arguments: &Map<String, Value>,
) -> Result<Value, UpstreamError> {
    upstream.call_tool(tool, arguments.clone(), &Caller::nobody()).await
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
