//! `mcpaql log`: shows, follows and verifies the operator's log.
//!
//! What always holds: the log is only read; a record is printed in full before the next one.

use crate::{CommandOutcome, args, operator, output, since};
use anyhow::{Context, Result};
use mcpaql_core::gate::log::{LogRecord, LogVerifier, VerifyReport};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often `--follow` looks for new records.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) fn run(args: &args::LogArgs) -> Result<CommandOutcome> {
    let Some(log) = LogFiles::find() else {
        anyhow::bail!("there is no folder for the log: HOME is not set");
    };
    if args.verify {
        return verify(&log, args);
    }
    let filter = RecordFilter {
        since: args.since.as_deref().map(since::parse).transpose()?,
        adapter: args.adapter.clone(),
        json: args.json,
    };
    let files = log.files()?;
    if files.is_empty() && !args.follow {
        output::status_line("The log is empty");
        return Ok(CommandOutcome::Clean);
    }
    let mut reader = LogReader::default();
    loop {
        reader.read_new(&log.files()?, |line| filter.print(line))?;
        if !args.follow {
            return Ok(CommandOutcome::Clean);
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// The files of the log.
#[derive(Debug)]
pub(super) struct LogFiles {
    folder: PathBuf,
}

impl LogFiles {
    pub(super) fn find() -> Option<LogFiles> {
        Some(LogFiles { folder: operator::log_folder()? })
    }

    /// Returns the files with records, the oldest first.
    pub(super) fn files(&self) -> Result<Vec<PathBuf>> {
        let entries = match std::fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).with_context(|| format!("cannot read {}", self.folder.display())),
        };
        let is_numbered = |path: &PathBuf| {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            path.extension().is_some_and(|extension| extension == "jsonl")
                && !stem.is_empty()
                && stem.bytes().all(|byte| byte.is_ascii_digit())
        };
        let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(is_numbered).collect();
        files.sort();
        Ok(files)
    }

    fn checkpoints(&self) -> PathBuf {
        self.folder.join("checkpoints.jsonl")
    }
}

/// Reads complete lines, and remembers where it stopped.
#[derive(Debug, Default)]
pub(super) struct LogReader {
    file: Option<PathBuf>,
    offset: u64,
}

impl LogReader {
    /// Calls a function with each new line, without its newline.
    pub(super) fn read_new(&mut self, files: &[PathBuf], mut each: impl FnMut(&str)) -> Result<()> {
        for path in files.iter().filter(|path| self.file.as_ref().is_none_or(|last| *path >= last)) {
            if self.file.as_ref() != Some(path) {
                self.file = Some(path.clone());
                self.offset = 0;
            }
            let mut file = match File::open(path) {
                Ok(file) => file,
                // It was deleted because it was too old.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
            };
            file.seek(SeekFrom::Start(self.offset))?;
            let mut reader = BufReader::new(file);
            let mut line = Vec::new();
            loop {
                line.clear();
                let read = reader.read_until(b'\n', &mut line)?;
                // A line without an end is still being written.
                let Some(text) = line.strip_suffix(b"\n") else { break };
                self.offset = self.offset.saturating_add(u64::try_from(read)?);
                each(&String::from_utf8_lossy(text));
            }
        }
        Ok(())
    }
}

/// Which records to print, and how.
struct RecordFilter {
    since: Option<String>,
    adapter: Option<String>,
    json: bool,
}

impl RecordFilter {
    fn print(&self, line: &str) {
        let Some(record) = parse(line) else {
            output::status_line("warning: a line of the log is not a record; `mcpaql log --verify` says more");
            return;
        };
        let is_old = self.since.as_ref().is_some_and(|since| record.time < *since);
        let is_other = self.adapter.is_some() && self.adapter != record.adapter;
        if is_old || is_other {
            return;
        }
        if self.json {
            output::print_data(line);
        } else {
            output::print_data(&text(&record));
        }
    }
}

/// Parses a line of the log.
pub(super) fn parse(line: &str) -> Option<LogRecord> {
    LogRecord::from_map(serde_json::from_str::<Value>(line).ok()?.as_object()?)
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

fn verify(log: &LogFiles, args: &args::LogArgs) -> Result<CommandOutcome> {
    let mut keys = args.key.clone();
    if keys.is_empty() {
        keys.extend(operator::log_public_key()?);
    }
    let mut verifier = LogVerifier::new(keys);
    for path in std::iter::once(log.checkpoints()).chain(args.checkpoints.clone()) {
        let is_copy = args.checkpoints.as_ref() == Some(&path);
        each_raw_line(&path, !is_copy, |line| verifier.checkpoint(line))?;
    }
    for path in log.files()? {
        each_raw_line(&path, false, |line| verifier.line(line))?;
    }
    let report = verifier.finish();
    if args.json {
        output::print_data(&serde_json::to_string_pretty(&report_json(&report))?);
    } else {
        output::print_data(&output::sanitize(&report_text(&report)));
    }
    Ok(if report.problem.is_some() { CommandOutcome::Findings } else { CommandOutcome::Clean })
}

/// Calls a function with each line, with its newline.
fn each_raw_line(path: &Path, may_be_missing: bool, mut each: impl FnMut(&[u8])) -> Result<()> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if may_be_missing && error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", path.display())),
    };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    while reader.read_until(b'\n', &mut line)? > 0 {
        each(&line);
        line.clear();
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_still_written_is_read_when_it_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        let log = LogFiles { folder: folder.path().to_owned() };
        let path = folder.path().join("000001.jsonl");
        std::fs::write(&path, "a\nb").unwrap();
        std::fs::write(log.checkpoints(), "no record\n").unwrap();
        let (mut reader, mut seen) = (LogReader::default(), Vec::new());
        reader.read_new(&log.files().unwrap(), |line| seen.push(line.to_owned())).unwrap();
        assert_eq!(seen, ["a"]);
        std::fs::write(&path, "a\nbc\n").unwrap();
        std::fs::write(folder.path().join("000002.jsonl"), "d\n").unwrap();
        reader.read_new(&log.files().unwrap(), |line| seen.push(line.to_owned())).unwrap();
        assert_eq!(seen, ["a", "bc", "d"]);
    }
}
