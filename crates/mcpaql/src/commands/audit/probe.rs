//! Puts the hints of a running MCP server to the test: tools that say they only read are called, twice where they answer, and
//! what can be seen of the state is compared before and after.
//!
//! What always holds: nothing is called but what `audit::probe` allows, one call at a time, so that a change belongs to the tool
//! that was called last. A tool is found silent only where the server was free to hear the call: a program that did not answer is
//! started anew before the next one, and behind an address nobody is blamed until an answer comes. A snapshot that changes by itself proves nothing, so that nothing is called then.

use mcpaql_audit::ServerTools;
use mcpaql_audit::probe::{AnswerComparison, ProbePlan, ProbeResult, probe_plans};
use mcpaql_core::error::Code;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::process::{self, ProcessEnd, ProcessSpec};
use mcpaql_runtime::target::mcp::{Upstream, UpstreamError};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::time::Duration;
use thiserror::Error;

/// A larger snapshot is none.
const MAX_SNAPSHOT_BYTES: usize = 64 << 20;

/// After this many calls in a row without an answer nothing more is called.
const MAX_FAILURES: usize = 3;

/// How long it is waited for a server that ended to be started again.
const MAX_RESTART_WAIT: Duration = Duration::from_secs(5);

/// A command whose output is the state that can be seen, run by the shell.
#[derive(Debug, Clone)]
pub(crate) struct SnapshotCommand {
    /// As typed.
    pub(crate) command: String,
    /// How long it may take.
    pub(crate) timeout: Duration,
}

/// What became of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ToolProbe {
    /// It was called.
    Called(ProbeResult),
    /// It was not called, for this reason.
    Skipped(String),
}

/// Why nothing can be concluded.
#[derive(Debug, Error)]
pub(crate) enum ProbeError {
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
pub(crate) async fn probe(
    upstream: &Upstream,
    server: &ServerTools,
    snapshot: Option<&SnapshotCommand>,
    tell: impl Fn(&str),
) -> Result<Vec<(String, ToolProbe)>, ProbeError> {
    let mut state = match snapshot {
        Some(snapshot) => Some(take_stable_snapshot(snapshot).await?),
        None => None,
    };
    let mut probed = Vec::new();
    let mut failures = 0;
    let mut busy = false;
    for (tool, plan) in probe_plans(server) {
        let arguments = match plan {
            ProbePlan::Call(arguments) => arguments,
            ProbePlan::Leave(reason) => {
                probed.push((tool, ToolProbe::Skipped(reason)));
                continue;
            }
        };
        if failures >= MAX_FAILURES {
            probed.push((tool, ToolProbe::Skipped("the server failed three times in a row".to_owned())));
            continue;
        }
        tell(&tool);
        let tried = call_twice(upstream, &tool, &arguments).await;
        if matches!(tried, ProbeCall::TimedOut) {
            // What still works on one call may not hear the next.
            upstream.close().await;
        }
        let answers = match tried {
            ProbeCall::Answered(answers) => answers,
            ProbeCall::TimedOut if !busy => AnswerComparison::Failed,
            ProbeCall::TimedOut => {
                failures += 1;
                let reason = "an earlier call may still keep the server busy".to_owned();
                probed.push((tool, ToolProbe::Skipped(reason)));
                continue;
            }
            ProbeCall::Unreachable => {
                failures += 1;
                probed.push((tool, ToolProbe::Skipped("the server does not start again".to_owned())));
                continue;
            }
        };
        // A program was ended, whatever is behind an address goes on.
        busy = matches!(tried, ProbeCall::TimedOut) && !upstream.is_program();
        failures = if answers == AnswerComparison::Failed { failures + 1 } else { 0 };
        let now = match snapshot {
            Some(snapshot) => Some(take_snapshot(snapshot).await?),
            None => None,
        };
        let changed = now.as_ref().map(|now| state.as_ref() != Some(now));
        state = now;
        probed.push((tool, ToolProbe::Called(ProbeResult { changed, answers })));
    }
    Ok(probed)
}

/// What came of a tool's two calls.
#[derive(Clone, Copy)]
enum ProbeCall {
    Answered(AnswerComparison),
    /// There was no answer in time.
    TimedOut,
    /// It was not called, since the server could not be reached.
    Unreachable,
}

/// How two answers compare; there is no second call where the first came to nothing.
async fn call_twice(upstream: &Upstream, tool: &str, arguments: &Map<String, Value>) -> ProbeCall {
    let mut started = upstream.start().await;
    if let Err(UpstreamError::Unavailable { retry_after: Some(wait), .. }) = &started
        && *wait <= MAX_RESTART_WAIT
    {
        tokio::time::sleep(*wait).await;
        started = upstream.start().await;
    }
    // It failed over an earlier call, which is not the fault of this tool.
    if started.is_err() {
        return ProbeCall::Unreachable;
    }
    let first = match call(upstream, tool, arguments).await {
        Ok(first) => first,
        Err(error) => return classify_error(&error),
    };
    let is_refused = |answer: &Value| answer.get("isError") == Some(&Value::Bool(true));
    if is_refused(&first) {
        return ProbeCall::Answered(AnswerComparison::Refused);
    }
    match call(upstream, tool, arguments).await {
        Ok(second) if second == first => ProbeCall::Answered(AnswerComparison::Same),
        Ok(second) if is_refused(&second) => ProbeCall::Answered(AnswerComparison::Refused),
        Ok(_) => ProbeCall::Answered(AnswerComparison::Different),
        Err(error) => classify_error(&error),
    }
}

/// What it means that there is no answer.
fn classify_error(error: &UpstreamError) -> ProbeCall {
    match error {
        // Nobody's arguments are to blame for a server that is at its end, such as one that answers 500.
        UpstreamError::Refusal(error) if matches!(error.code, Code::Internal | Code::TransportTimeout) => {
            ProbeCall::Answered(AnswerComparison::Failed)
        }
        // Some servers refuse arguments by an error of the protocol.
        UpstreamError::Refused { .. } | UpstreamError::Refusal(_) => {
            ProbeCall::Answered(AnswerComparison::Refused)
        }
        UpstreamError::Timeout { .. } => ProbeCall::TimedOut,
        // The server ended meanwhile and is left alone: this call did not reach it.
        UpstreamError::Unavailable { retry_after: Some(_), .. } => ProbeCall::Unreachable,
        _ => ProbeCall::Answered(AnswerComparison::Failed),
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
async fn take_stable_snapshot(snapshot: &SnapshotCommand) -> Result<Vec<u8>, ProbeError> {
    let first = take_snapshot(snapshot).await?;
    if take_snapshot(snapshot).await? == first { Ok(first) } else { Err(ProbeError::Unstable) }
}

async fn take_snapshot(snapshot: &SnapshotCommand) -> Result<Vec<u8>, ProbeError> {
    let shell = if cfg!(windows) { ("cmd", "/C") } else { ("sh", "-c") };
    let args = [shell.1.to_owned(), snapshot.command.clone()];
    let text =
        |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    let variables: Vec<(String, String)> = std::env::vars_os().filter_map(text).collect();
    let job = ProcessSpec {
        program: shell.0,
        args: &args,
        env: &variables,
        cwd: None,
        stdin: None,
        max_output: MAX_SNAPSHOT_BYTES,
        timeout: snapshot.timeout,
    };
    let finished = process::run(job).await;
    let finished = finished.map_err(|error| ProbeError::Snapshot(format!("cannot be run: {error}")))?;
    match finished.ending {
        ProcessEnd::Exited(status) if status.success() => Ok(finished.stdout),
        ProcessEnd::Exited(status) | ProcessEnd::Held(status) => {
            let said = String::from_utf8_lossy(&finished.stderr);
            let last = said.trim().lines().last().unwrap_or_default();
            let said = if last.is_empty() { String::new() } else { format!(": {last}") };
            Err(ProbeError::Snapshot(format!("failed with {status}{said}")))
        }
        ProcessEnd::TooLarge => Err(ProbeError::Snapshot("writes too much".to_owned())),
        ProcessEnd::TimedOut => Err(ProbeError::Snapshot("takes too long".to_owned())),
    }
}
