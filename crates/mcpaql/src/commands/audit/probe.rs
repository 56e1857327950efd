//! Tests the hints of a running MCP server: calls tools that are marked read-only, twice if they answer, and compares snapshots of the
//! state before and after.
//!
//! What always holds: only tools that `mcpaql_audit::probe` allows are called, one at a time, so that a change belongs to the last called
//! tool. A tool counts as not answering only if the server could receive the call: a program that did not answer is restarted before
//! the next call; with a URL, after one timeout no tool is blamed until the server answers again. If the snapshot changes by itself,
//! it proves nothing, so no tool is called.

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

/// Maximum size of a snapshot.
const MAX_SNAPSHOT_BYTES: usize = 64 << 20;

/// Maximum number of calls in a row without an answer; then probing stops.
const MAX_FAILURES: usize = 3;

/// Maximum time to wait until a server that ended may be restarted.
const MAX_RESTART_WAIT: Duration = Duration::from_secs(5);

/// A shell command whose output is a snapshot of the state.
#[derive(Debug, Clone)]
pub(crate) struct SnapshotCommand {
    /// The command as the user wrote it.
    pub(crate) command: String,
    /// Maximum duration.
    pub(crate) timeout: Duration,
}

/// The result of probing one tool.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum ToolProbe {
    /// The tool was called.
    Called(ProbeResult),
    /// The tool was not called, for this reason.
    Skipped(String),
}

/// Why a probe has no result.
#[derive(Debug, Error)]
pub(crate) enum ProbeError {
    /// The snapshot command cannot be run or fails.
    #[error("the snapshot command {0}")]
    Snapshot(String),
    /// The snapshot differs although no tool was called.
    #[error("the snapshot changes by itself: two runs in a row gave different output")]
    Unstable,
}

/// Probes the tools of a running server, in order. Calls `on_call` with the name of each tool before the tool is called.
///
/// # Errors
/// When the snapshot cannot be taken, or changes by itself.
pub(crate) async fn probe(
    upstream: &Upstream,
    server: &ServerTools,
    snapshot: Option<&SnapshotCommand>,
    on_call: impl Fn(&str),
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
        on_call(&tool);
        let result = call_twice(upstream, &tool, &arguments).await;
        if matches!(result, ProbeCall::TimedOut) {
            // A server that still works on this call may not receive the next one.
            upstream.close().await;
        }
        let answers = match result {
            ProbeCall::Answered(answers) => answers,
            ProbeCall::TimedOut if !busy => AnswerComparison::Failed,
            ProbeCall::TimedOut => {
                failures += 1;
                let reason = "the server may still be busy with an earlier call".to_owned();
                probed.push((tool, ToolProbe::Skipped(reason)));
                continue;
            }
            ProbeCall::Unreachable => {
                failures += 1;
                probed.push((tool, ToolProbe::Skipped("the server cannot be restarted".to_owned())));
                continue;
            }
        };
        // A program was stopped above, but a server behind a URL keeps working on the call.
        busy = matches!(result, ProbeCall::TimedOut) && !upstream.is_program();
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

/// The result of calling a tool twice.
#[derive(Clone, Copy)]
enum ProbeCall {
    Answered(AnswerComparison),
    /// The tool did not answer in time.
    TimedOut,
    /// The tool was not called because the server cannot be reached.
    Unreachable,
}

/// Calls a tool twice and compares the answers. There is no second call if the first one failed.
async fn call_twice(upstream: &Upstream, tool: &str, arguments: &Map<String, Value>) -> ProbeCall {
    let mut started = upstream.start().await;
    if let Err(UpstreamError::Unavailable { retry_after: Some(wait), .. }) = &started
        && *wait <= MAX_RESTART_WAIT
    {
        tokio::time::sleep(*wait).await;
        started = upstream.start().await;
    }
    // An earlier call made the server fail, not this tool.
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

/// Returns what an error says about the tool.
fn classify_error(error: &UpstreamError) -> ProbeCall {
    match error {
        // A server error, such as HTTP 500, is not caused by the made-up arguments.
        UpstreamError::Refusal(error) if matches!(error.code, Code::Internal | Code::TransportTimeout) => {
            ProbeCall::Answered(AnswerComparison::Failed)
        }
        // Some servers reject arguments with a protocol error.
        UpstreamError::Refused { .. } | UpstreamError::Refusal(_) => {
            ProbeCall::Answered(AnswerComparison::Refused)
        }
        UpstreamError::Timeout { .. } => ProbeCall::TimedOut,
        // The server has ended and is not restarted yet: this call did not reach it.
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

/// Takes two snapshots, which must be equal.
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
            let stderr = String::from_utf8_lossy(&finished.stderr);
            let last = stderr.trim().lines().last().unwrap_or_default();
            let reason = if last.is_empty() { String::new() } else { format!(": {last}") };
            Err(ProbeError::Snapshot(format!("failed with {status}{reason}")))
        }
        ProcessEnd::TooLarge => {
            Err(ProbeError::Snapshot(format!("printed more than {MAX_SNAPSHOT_BYTES} bytes")))
        }
        ProcessEnd::TimedOut => {
            Err(ProbeError::Snapshot(format!("did not end within {} s", snapshot.timeout.as_secs())))
        }
    }
}
