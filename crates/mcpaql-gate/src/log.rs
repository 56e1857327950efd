//! The format of the log: records, the hash chain, signed checkpoints, verification.
//!
//! ```
//! use mcpaql_gate::log::{Checkpoint, CheckpointKind, GENESIS, LogKey, LogRecord, RecordKind, seal, verify_log};
//!
//! let record = |text: &str| LogRecord { caller: Some(text.to_owned()), ..LogRecord::new(RecordKind::Call, "2026-01-02T03:04:05Z") };
//! let first = seal(record("alice").into_map(), 1, GENESIS);
//! let second = seal(record("bob").into_map(), 2, &first.hash);
//!
//! let key = LogKey::from_seed([7; 32]); // random bytes of the operating system
//! let time = "2026-01-02T03:04:06Z".to_owned();
//! let checkpoint = Checkpoint { kind: CheckpointKind::Reached, seq: 2, hash: second.hash.clone(), time }.sign(&key);
//!
//! let report = verify_log([first.line.as_bytes(), second.line.as_bytes()], [checkpoint.as_bytes()], [key.public()]);
//! assert_eq!((report.records, report.unsigned, report.problem), (2, 0, None));
//!
//! let report = verify_log([first.line.as_bytes()], [checkpoint.as_bytes()], [key.public()]);
//! assert!(report.problem.unwrap().message.contains("the end is missing"));
//! ```
//!
//! A line is canonical JSON. `hash` is the SHA-256 hash of the canonical record without `hash`, and `prev` is the hash of the line before, so
//! nobody can change, remove or reorder lines without writing all later ones again. A checkpoint is signed with Ed25519 and names a record, so
//! nobody without the key can do that either. What a log cannot show: records that were removed together with every copy of the checkpoints
//! that name them. So copies belong elsewhere.
//!
//! When old files are deleted, a checkpoint of the kind [`CheckpointKind::Start`] names the last deleted record; without it, the log counts as
//! damaged.
//!
//! What always holds: [`verify_log`] accepts only the exact bytes that [`seal`] wrote, in their order.

mod checkpoint;
mod record;
#[cfg(test)]
mod tests;
mod verify;

pub use checkpoint::{Checkpoint, CheckpointKind, CheckpointProblem, LogKey};
pub use record::{LogRecord, RecordKind};
pub use verify::{LogProblem, LogProblemKind, LogVerifier, VerifyReport, verify_log};

use crate::fingerprint::{canonical, sha256_hex};
use serde_json::{Map, Value};

/// What the first record of a log names as the hash of the record before it.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// A line of the log, and its hash, which the next line names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedLine {
    /// The line, with the newline that ends it.
    pub line: String,
    /// Its number.
    pub seq: u64,
    /// Its hash, in hexadecimal.
    pub hash: String,
}

/// Writes a record as the next line of a log. `prev` is the hash of the line before, or [`GENESIS`]. The first line has the number 1.
#[must_use]
pub fn seal(mut record: Map<String, Value>, seq: u64, prev: &str) -> SealedLine {
    record.insert("seq".to_owned(), seq.into());
    record.insert("prev".to_owned(), prev.into());
    record.remove("hash");
    let mut record = Value::Object(record);
    let hash = sha256_hex(canonical(&record).as_bytes());
    if let Value::Object(members) = &mut record {
        members.insert("hash".to_owned(), hash.as_str().into());
    }
    SealedLine { line: canonical(&record) + "\n", seq, hash }
}

/// Returns the number and the hash of a line, without verification; `None` if it is not a whole line of a log.
#[must_use]
pub fn seq_and_hash(line: &str) -> Option<(u64, String)> {
    let record: Value = serde_json::from_str(line.strip_suffix('\n')?).ok()?;
    let hash = record.get("hash")?.as_str().filter(|hash| hash.len() == GENESIS.len())?;
    Some((record.get("seq")?.as_u64()?, hash.to_owned()))
}
