//! Verifies a log: every line, the chain of hashes, and the checkpoints.

use super::GENESIS;
use super::checkpoint::{Checkpoint, CheckpointKind, CheckpointProblem};
use crate::fingerprint::{canonical, from_hex, sha256_hex};
use serde_json::{Map, Value};

/// A problem of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogProblem {
    /// The line of the log, from 1; `None` if the problem is in the checkpoints or behind the last line.
    pub line: Option<u64>,
    /// The line of the checkpoints, from 1, if the problem is there.
    pub checkpoint_line: Option<u64>,
    /// What is wrong.
    pub kind: LogProblemKind,
    /// One sentence for the operator.
    pub message: String,
}

/// What is wrong with a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LogProblemKind {
    /// The last line has no end.
    Incomplete,
    /// A line does not have the form that the log writes.
    Malformed,
    /// A line does not have its hash.
    Changed,
    /// A line does not follow the one before it: lines are missing, or in another order.
    Gap,
    /// The log does not start with the first record, and no checkpoint says that older ones were deleted.
    MissingStart,
    /// Records that a checkpoint names are missing.
    MissingEnd,
    /// A record is not the one that a checkpoint names.
    Rewritten,
    /// A line of the checkpoints was changed or not signed by a trusted key.
    BadCheckpoint,
}

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VerifyReport {
    /// How many records were verified, up to the first problem.
    pub records: u64,
    /// The number of the first record.
    pub first_seq: Option<u64>,
    /// The number of the last record.
    pub last_seq: Option<u64>,
    /// The hash of the last record.
    pub last_hash: Option<String>,
    /// How many checkpoints confirm a record of the log.
    pub checkpoints: u64,
    /// How many records follow the last checkpoint. Only these can be missing or changed without a trace.
    pub unsigned: u64,
    /// The first problem of the log, or else of the checkpoints; `None` if the log is whole.
    pub problem: Option<LogProblem>,
}

/// A record that a checkpoint names.
type NamedRecord = (u64, [u8; 32]);

/// Verifies a log line by line, so that it never is in memory as a whole.
#[derive(Debug)]
pub struct LogVerifier {
    trusted: Vec<String>,
    /// The records that checkpoints name, in the order of their numbers once the first line of the log came.
    named: Vec<NamedRecord>,
    /// How many of `named` are before the current line.
    passed: usize,
    /// The last records that were deleted on purpose.
    starts: Vec<NamedRecord>,
    lines: u64,
    checkpoint_lines: u64,
    /// The number of the last record that a checkpoint names.
    confirmed_seq: u64,
    checkpoint_problem: Option<LogProblem>,
    report: VerifyReport,
}

impl LogVerifier {
    /// Creates a verifier that trusts signatures of these public keys, in hexadecimal.
    pub fn new<K: Into<String>>(trusted: impl IntoIterator<Item = K>) -> LogVerifier {
        LogVerifier {
            trusted: trusted.into_iter().map(Into::into).collect(),
            named: Vec::new(),
            passed: 0,
            starts: Vec::new(),
            lines: 0,
            checkpoint_lines: 0,
            confirmed_seq: 0,
            checkpoint_problem: None,
            report: VerifyReport::default(),
        }
    }

    /// Adds a line of the checkpoints, with its newline. All come before the lines of the log, in any order, from any number of copies.
    pub fn checkpoint(&mut self, line: &[u8]) {
        self.checkpoint_lines += 1;
        match Checkpoint::verify(line, &self.trusted) {
            Ok(checkpoint) => {
                let Some(hash) = from_hex(&checkpoint.hash) else { return };
                self.named.push((checkpoint.seq, hash));
                if checkpoint.kind == CheckpointKind::Start {
                    self.starts.push((checkpoint.seq, hash));
                }
            }
            Err(problem) => {
                let message = match problem {
                    CheckpointProblem::Malformed => "This line is not a checkpoint as the log writes it.",
                    CheckpointProblem::UntrustedKey => "This checkpoint is signed with an unknown key.",
                    CheckpointProblem::WrongSignature => "The signature of this checkpoint is wrong.",
                };
                self.checkpoint_problem.get_or_insert(LogProblem {
                    line: None,
                    checkpoint_line: Some(self.checkpoint_lines),
                    kind: LogProblemKind::BadCheckpoint,
                    message: message.to_owned(),
                });
            }
        }
    }

    /// Adds a line of the log, with its newline.
    pub fn line(&mut self, line: &[u8]) {
        self.lines += 1;
        if self.report.problem.is_some() {
            return;
        }
        if self.lines == 1 {
            self.named.sort_unstable();
        }
        if let Err((kind, message)) = self.check_line(line) {
            let line = Some(self.lines);
            self.report.problem = Some(LogProblem { line, checkpoint_line: None, kind, message });
        }
    }

    fn check_line(&mut self, line: &[u8]) -> Result<(), (LogProblemKind, String)> {
        let record = read_line(line)?;
        match (&self.report.last_hash, self.report.last_seq) {
            (Some(hash), Some(seq)) => {
                if record.prev != *hash || Some(record.seq) != seq.checked_add(1) {
                    let message = format!(
                        "Record {} does not follow record {seq}: lines are missing or in another order.",
                        record.seq
                    );
                    return Err((LogProblemKind::Gap, message));
                }
            }
            _ => self.check_start(&record)?,
        }
        self.check_named(&record)?;
        self.report.records += 1;
        self.report.first_seq.get_or_insert(record.seq);
        self.report.last_seq = Some(record.seq);
        self.report.last_hash = Some(record.hash);
        Ok(())
    }

    fn check_start(&self, record: &ChainedRecord) -> Result<(), (LogProblemKind, String)> {
        let is_first = record.seq == 1 && record.prev == GENESIS;
        let before = record.seq.checked_sub(1).zip(from_hex(&record.prev));
        if is_first || before.is_some_and(|before| self.starts.contains(&before)) {
            return Ok(());
        }
        let message = format!(
            "The log starts with record {}, and no signed checkpoint says why the older ones are gone.",
            record.seq
        );
        Err((LogProblemKind::MissingStart, message))
    }

    /// Compares a record with the checkpoints that name it.
    fn check_named(&mut self, record: &ChainedRecord) -> Result<(), (LogProblemKind, String)> {
        while let Some((seq, hash)) = self.named.get(self.passed).filter(|(seq, _)| *seq <= record.seq) {
            if *seq == record.seq {
                if Some(*hash) != from_hex(&record.hash) {
                    let message =
                        format!("Record {} is not the one that a signed checkpoint names.", record.seq);
                    return Err((LogProblemKind::Rewritten, message));
                }
                self.report.checkpoints += 1;
                self.confirmed_seq = record.seq;
            }
            self.passed += 1;
        }
        Ok(())
    }

    /// Ends the verification.
    #[must_use]
    pub fn finish(mut self) -> VerifyReport {
        let highest = |named: &[NamedRecord]| named.iter().map(|(seq, _)| *seq).max();
        // If everything was deleted on purpose, nothing is left of the log.
        let last = self.report.last_seq.max(highest(&self.starts)).unwrap_or(0);
        if self.report.problem.is_none()
            && let Some(named) = highest(&self.named).filter(|named| *named > last)
        {
            let message = format!(
                "A signed checkpoint names record {named}, but the log ends with record {last}: the end is missing."
            );
            self.report.problem = Some(LogProblem {
                line: None,
                checkpoint_line: None,
                kind: LogProblemKind::MissingEnd,
                message,
            });
        }
        let before_first = self.report.first_seq.map_or(0, |seq| seq.saturating_sub(1));
        let confirmed = self.confirmed_seq.max(before_first);
        self.report.unsigned = self.report.last_seq.map_or(0, |last| last.saturating_sub(confirmed));
        self.report.problem = self.report.problem.or(self.checkpoint_problem);
        self.report
    }
}

/// The parts of a line that form the chain.
struct ChainedRecord {
    seq: u64,
    prev: String,
    hash: String,
}

/// Reads a line and verifies its hash.
fn read_line(line: &[u8]) -> Result<ChainedRecord, (LogProblemKind, String)> {
    let malformed =
        || (LogProblemKind::Malformed, "This line is not a record as the log writes it.".to_owned());
    let Some(text) = line.strip_suffix(b"\n") else {
        let message = "This line has no end: it was not written completely, or its end was changed.";
        return Err((LogProblemKind::Incomplete, message.to_owned()));
    };
    let members: Map<String, Value> = serde_json::from_slice(text).map_err(|_| malformed())?;
    let mut record = Value::Object(members);
    // Another spelling of the same value is a change, too.
    if canonical(&record).as_bytes() != text {
        return Err(malformed());
    }
    let text_of = |key: &str| record.get(key).and_then(Value::as_str).map(str::to_owned);
    let seq = record.get("seq").and_then(Value::as_u64);
    let (Some(seq), Some(prev), Some(hash)) = (seq, text_of("prev"), text_of("hash")) else {
        return Err(malformed());
    };
    if let Value::Object(members) = &mut record {
        members.remove("hash");
    }
    if sha256_hex(canonical(&record).as_bytes()) != hash {
        let message = format!("Record {seq} was changed: its hash is another one.");
        return Err((LogProblemKind::Changed, message));
    }
    Ok(ChainedRecord { seq, prev, hash })
}

/// Verifies a log. All lines have their newline; files of a log that was rotated follow each other.
#[must_use]
pub fn verify_log<'a, K: Into<String>>(
    lines: impl IntoIterator<Item = &'a [u8]>,
    checkpoints: impl IntoIterator<Item = &'a [u8]>,
    trusted: impl IntoIterator<Item = K>,
) -> VerifyReport {
    let mut verifier = LogVerifier::new(trusted);
    checkpoints.into_iter().for_each(|line| verifier.checkpoint(line));
    lines.into_iter().for_each(|line| verifier.line(line));
    verifier.finish()
}
