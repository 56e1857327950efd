//! `--probe`: tests the hints of one server by calling its tools.

use super::super::probe::{self, SnapshotCommand, ToolProbe};
use super::{ServerToAudit, Sources};
use crate::output::error_with_hint;
use crate::servers::{self, Interrupted};
use crate::{args, output};
use anyhow::Result;
use mcpaql_audit::ToolsOrigin;
use mcpaql_audit::probe::{AnswerComparison, ProbeResult};
use std::collections::BTreeMap;
use std::time::Duration;

/// Asks and probes the named server, and adds it with the results of the probe.
pub(super) async fn probe(
    sources: &mut Sources,
    asked: Vec<ServerToAudit>,
    args: &args::AuditArgs,
) -> Result<()> {
    let Ok([asked]) = <[ServerToAudit; 1]>::try_from(asked) else {
        return Err(error_with_hint(
            "--probe needs exactly one server that can be called",
            "pass one command after `--`, or one --url; with several servers, a change cannot be traced to one of them",
        ));
    };
    let timeout = Duration::from_secs(args.timeout);
    let snapshot = args.snapshot.clone().map(|command| SnapshotCommand { command, timeout });
    let asked = asked.with_timeout(args.timeout);
    let ServerToAudit { target, auth, environment, .. } = &asked;
    let result = servers::capture_server_with(target, auth, environment, async |upstream, capture| {
        let mut server = asked.server(capture);
        let on_call = |tool: &str| {
            if output::stderr_is_terminal() {
                output::status_line(&format!("Calling {tool}"));
            }
        };
        let probed = probe::probe(upstream, &server, snapshot.as_ref(), on_call).await?;
        output::status_lines(&summary(&probed, snapshot.is_some()));
        for (tool, probed) in probed {
            match probed {
                ToolProbe::Called(observed) => drop(server.observed.insert(tool, observed)),
                ToolProbe::Skipped(reason) => drop(server.unprobed.insert(tool, reason)),
            }
        }
        Ok(server)
    });
    match result.await {
        Ok((capture, server)) => {
            sources.add_with_gap(server, ToolsOrigin::Asked, capture.incomplete_reason.map(str::to_owned))
        }
        Err(error) if error.is::<Interrupted>() => return Err(error),
        Err(error) => sources.add_failure(asked.name, error),
    }
    Ok(())
}

/// Summarizes how many tools were called with which result, and why the others were skipped.
fn summary(probed: &[(String, ToolProbe)], has_snapshot: bool) -> String {
    let mut skipped: BTreeMap<&str, usize> = BTreeMap::new();
    let mut results = [
        (AnswerComparison::Same, 0, "gave the same answer twice"),
        (AnswerComparison::Different, 0, "gave another answer the second time"),
        (AnswerComparison::Refused, 0, "rejected the generated arguments"),
        (AnswerComparison::Failed, 0, "did not answer"),
    ];
    let mut changed = 0;
    for (_, probed) in probed {
        match probed {
            ToolProbe::Skipped(reason) => *skipped.entry(reason).or_default() += 1,
            ToolProbe::Called(ProbeResult { answers, changed: state_changed }) => {
                changed += usize::from(*state_changed == Some(true));
                results.iter_mut().filter(|(kind, ..)| kind == answers).for_each(|(_, count, _)| *count += 1);
            }
        }
    }
    let called: usize = results.iter().map(|(_, count, _)| count).sum();
    let mut text = format!("Called {called} of {} tools", probed.len());
    let results = results.iter().filter(|(_, count, _)| *count > 0);
    let results: Vec<String> = results.map(|(_, count, what)| format!("{count} {what}")).collect();
    if !results.is_empty() {
        text.push_str(&format!(": {}", results.join(", ")));
    }
    if changed > 0 {
        text.push_str(&format!("; {changed} changed the state"));
    }
    if !has_snapshot {
        text.push_str("; without --snapshot, only answers were compared");
    }
    for (reason, count) in skipped {
        text.push_str(&format!("\n  {count} skipped: {}", output::sanitize_line(reason)));
    }
    text
}
