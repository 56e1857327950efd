//! The format of the log: records, the hash chain, signed checkpoints, verification.

mod checkpoint;
mod record;
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
