//! `--probe`: one server whose word is put to the test.

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

/// Asks and probes the one server that was named; what was seen goes with its tools.
pub(super) async fn probe(
    sources: &mut Sources,
    asked: Vec<ServerToAudit>,
    args: &args::AuditArgs,
) -> Result<()> {
    let Ok([asked]) = <[ServerToAudit; 1]>::try_from(asked) else {
        return Err(error_with_hint(
            "--probe takes one server that can be called",
            "name one command behind `--`, or one --url: a change must belong to one server",
        ));
    };
    let timeout = Duration::from_secs(args.timeout);
    let snapshot = args.snapshot.clone().map(|command| SnapshotCommand { command, timeout });
    let asked = asked.with_timeout(args.timeout);
    let ServerToAudit { target, auth, environment, .. } = &asked;
    let heard = servers::capture_server_with(target, auth, environment, async |upstream, capture| {
        let mut server = asked.server(capture);
        let tell = |tool: &str| {
            if output::stderr_is_terminal() {
                output::status_line(&format!("Calling {tool}"));
            }
        };
        let probed = probe::probe(upstream, &server, snapshot.as_ref(), tell).await?;
        output::status_lines(&summary(&probed, snapshot.is_some()));
        for (tool, probed) in probed {
            match probed {
                ToolProbe::Called(observed) => drop(server.observed.insert(tool, observed)),
                ToolProbe::Skipped(reason) => drop(server.unprobed.insert(tool, reason)),
            }
        }
        Ok(server)
    });
    match heard.await {
        Ok((capture, server)) => {
            sources.add_with_gap(server, ToolsOrigin::Asked, capture.incomplete_reason.map(str::to_owned))
        }
        Err(error) if error.is::<Interrupted>() => return Err(error),
        Err(error) => sources.add_failure(asked.name, error),
    }
    Ok(())
}

/// How many tools were called and what came of it, and why the others were not.
fn summary(probed: &[(String, ToolProbe)], compared: bool) -> String {
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    let mut seen = [
        (AnswerComparison::Same, 0, "answered twice the same"),
        (AnswerComparison::Different, 0, "answered differently the second time"),
        (AnswerComparison::Refused, 0, "refused the made-up arguments"),
        (AnswerComparison::Failed, 0, "did not answer"),
    ];
    let mut changed = 0;
    for (_, probed) in probed {
        match probed {
            ToolProbe::Skipped(reason) => *left.entry(reason).or_default() += 1,
            ToolProbe::Called(ProbeResult { answers, changed: seen_change }) => {
                changed += usize::from(*seen_change == Some(true));
                seen.iter_mut().filter(|(kind, ..)| kind == answers).for_each(|(_, count, _)| *count += 1);
            }
        }
    }
    let called: usize = seen.iter().map(|(_, count, _)| count).sum();
    let mut text = format!("Called {called} of {} tools", probed.len());
    let seen = seen.iter().filter(|(_, count, _)| *count > 0);
    let seen: Vec<String> = seen.map(|(_, count, what)| format!("{count} {what}")).collect();
    if !seen.is_empty() {
        text.push_str(&format!(": {}", seen.join(", ")));
    }
    if changed > 0 {
        text.push_str(&format!("; {changed} changed the state"));
    }
    if !compared {
        text.push_str("; without --snapshot only answers were compared");
    }
    for (reason, count) in left {
        text.push_str(&format!("\n  {count} left alone: {}", output::sanitize_line(reason)));
    }
    text
}
