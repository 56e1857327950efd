//! `mcpaql log`: shows, follows and verifies the operator's log.
//!
//! What always holds: the log is only read; a record is printed in full before the next one.

use crate::{CommandOutcome, args, operator, output, since};
use anyhow::{Context, Result};
use mcpaql_core::gate::log::{LogRecord, VerifyReport};
use mcpaql_runtime::record::{LogReader, verify_folder};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often `--follow` looks for new records.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) fn run(args: &args::LogArgs) -> Result<CommandOutcome> {
    let folder = operator::state_folder().context("there is no folder for the log: HOME is not set")?;
    if args.verify {
        return verify(&folder, args);
    }
    let filter = RecordFilter {
        since: args.since.as_deref().map(since::parse).transpose()?,
        adapter: args.adapter.clone(),
        json: args.json,
    };
    let mut reader = LogReader::open(&folder);
    let found = reader.read_new(|line| filter.print(line))?;
    if found == 0 && !args.follow && !args.json {
        output::status_line("The log is empty");
    }
    if !args.follow {
        return Ok(CommandOutcome::Clean);
    }
    loop {
        std::thread::sleep(POLL_INTERVAL);
        reader.read_new(|line| filter.print(line))?;
    }
}

/// Which records to print, and how.
struct RecordFilter {
    since: Option<String>,
    adapter: Option<String>,
    json: bool,
}

impl RecordFilter {
    fn print(&self, line: &[u8]) {
        let Some(record) = parse(line) else {
            output::status_line(
                "warning: a line of the log is not a record; `mcpaql log --verify` says more",
            );
            return;
        };
        let is_old = self.since.as_ref().is_some_and(|since| record.time < *since);
        let is_other = self.adapter.is_some() && self.adapter != record.adapter;
        if is_old || is_other {
            return;
        }
        if self.json {
            output::print_data(&String::from_utf8_lossy(line));
        } else {
            output::print_data(&text(&record));
        }
    }
}

/// Parses a line of the log.
pub(super) fn parse(line: &[u8]) -> Option<LogRecord> {
    LogRecord::from_map(serde_json::from_slice::<Value>(line).ok()?.as_object()?)
}

/// Returns a record as one line of text.
fn text(record: &LogRecord) -> String {
    let mut words = vec![record.time.clone(), format!("{:<8}", record.kind.as_str())];
    words.extend(record.caller.clone());
    let call = [record.adapter.as_deref(), record.operation.as_deref()];
    words.extend(call.into_iter().flatten().map(str::to_owned));
    let decided = record.decided_by.as_deref().map(|by| format!(" ({by})")).unwrap_or_default();
    words.extend(record.decision.as_deref().map(|decision| format!("{decision}{decided}")));
    words.extend(record.outcome.as_deref().map(|outcome| format!("→ {outcome}")));
    words.extend(record.duration_ms.map(|ms| format!("{ms} ms")));
    words.extend(record.params.as_ref().map(Value::to_string));
    words.extend(record.details.iter().map(|(key, value)| match value {
        Value::String(text) => format!("{key}={text}"),
        other => format!("{key}={other}"),
    }));
    output::sanitize_line(&words.join(" "))
}

fn verify(folder: &Path, args: &args::LogArgs) -> Result<CommandOutcome> {
    let configured = operator::gate_config().ok().and_then(|config| config.log.checkpoint_file);
    let configured = configured.map(PathBuf::from).filter(|file| args.checkpoints.is_none() && file.exists());
    let copies: Vec<PathBuf> = args.checkpoints.iter().cloned().chain(configured).collect();
    let report = verify_folder(folder, &copies, &args.key)?;
    if args.json {
        output::print_data(&serde_json::to_string_pretty(&report_json(&report))?);
    } else {
        output::print_data(&output::sanitize(&report_text(&report)));
    }
    Ok(if report.problem.is_some() { CommandOutcome::Findings } else { CommandOutcome::Clean })
}

fn report_text(report: &VerifyReport) -> String {
    let records = output::counted(usize::try_from(report.records).unwrap_or(usize::MAX), "record");
    let mut lines = Vec::new();
    match &report.problem {
        None => lines.push(format!("The log is whole: {records}")),
        Some(problem) => {
            let place = match (problem.line, problem.checkpoint_line) {
                (Some(line), _) => format!("record line {line}: "),
                (None, Some(line)) => format!("checkpoint line {line}: "),
                (None, None) => String::new(),
            };
            lines.push(format!("The log was changed or is damaged: {place}{}", problem.message));
        }
    }
    lines.push(format!(
        "{} signed checkpoints confirm it; {} records came after the last one",
        report.checkpoints, report.unsigned
    ));
    lines.join("\n")
}

fn report_json(report: &VerifyReport) -> Value {
    let problem = report.problem.as_ref().map(|problem| {
        json!({"kind": format!("{:?}", problem.kind), "line": problem.line, "checkpoint_line": problem.checkpoint_line, "message": problem.message})
    });
    json!({
        "whole": report.problem.is_none(),
        "records": report.records,
        "first": report.first_seq,
        "last": report.last_seq,
        "last_hash": report.last_hash,
        "checkpoints": report.checkpoints,
        "unsigned": report.unsigned,
        "problem": problem,
    })
}
