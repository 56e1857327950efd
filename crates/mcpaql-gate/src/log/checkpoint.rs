//! Signed checkpoints: which record the log had reached, in a form that only the owner of the key can write.

use crate::fingerprint::{canonical, from_hex, to_hex};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair, UnparsedPublicKey};
use serde_json::{Value, json};
use std::fmt;

/// What is signed starts with this, so that a signature of something else is never a checkpoint.
const DOMAIN: &str = "mcpaql checkpoint 1\n";

/// The key that signs checkpoints.
#[derive(Clone)]
pub struct LogKey {
    seed: [u8; 32],
}

impl LogKey {
    /// Creates the key from its seed: 256 random bits.
    #[must_use]
    pub fn from_seed(seed: [u8; 32]) -> LogKey {
        LogKey { seed }
    }

    fn pair(&self) -> Option<Ed25519KeyPair> {
        // Every seed of 32 bytes is a key.
        Ed25519KeyPair::from_seed_unchecked(&self.seed).ok()
    }

    /// Returns the public key, in hexadecimal. Whoever has it can verify checkpoints.
    #[must_use]
    pub fn public(&self) -> String {
        self.pair().map(|pair| to_hex(pair.public_key().as_ref())).unwrap_or_default()
    }
}

impl fmt::Debug for LogKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LogKey(…)")
    }
}

/// What a checkpoint says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CheckpointKind {
    /// The log had this record, and all before it.
    Reached,
    /// The log starts after this record: the owner deleted it and all before it.
    Start,
}

impl CheckpointKind {
    /// The word in the line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            CheckpointKind::Reached => "reached",
            CheckpointKind::Start => "start",
        }
    }

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<CheckpointKind> {
        [CheckpointKind::Reached, CheckpointKind::Start].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// A checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// What it says.
    pub kind: CheckpointKind,
    /// The number of the record.
    pub seq: u64,
    /// The hash of the record.
    pub hash: String,
    /// When it was signed, as RFC 3339 in UTC.
    pub time: String,
}

impl Checkpoint {
    fn value(&self, key: &str) -> Value {
        json!({"kind": self.kind.as_str(), "seq": self.seq, "hash": self.hash, "time": self.time, "key": key})
    }

    /// Returns the signed line, with the newline that ends it.
    #[must_use]
    pub fn sign(&self, key: &LogKey) -> String {
        let mut value = self.value(&key.public());
        let signed = format!("{DOMAIN}{}", canonical(&value));
        let signature = key.pair().map(|pair| to_hex(pair.sign(signed.as_bytes()).as_ref()));
        if let Value::Object(members) = &mut value {
            members.insert("signature".to_owned(), signature.unwrap_or_default().into());
        }
        canonical(&value) + "\n"
    }

    /// Reads a line and verifies its signature. `trusted` are public keys in hexadecimal.
    ///
    /// # Errors
    /// When the line is not one that [`sign`](Checkpoint::sign) wrote with one of the keys.
    pub fn verify<K: AsRef<str>>(line: &[u8], trusted: &[K]) -> Result<Checkpoint, CheckpointProblem> {
        let malformed = CheckpointProblem::Malformed;
        let text = line.strip_suffix(b"\n").ok_or(malformed)?;
        let value: Value = serde_json::from_slice(text).map_err(|_| malformed)?;
        let text_of = |key: &str| value.get(key).and_then(Value::as_str);
        let key = text_of("key").ok_or(malformed)?;
        let checkpoint = Checkpoint {
            kind: text_of("kind").and_then(CheckpointKind::parse).ok_or(malformed)?,
            seq: value.get("seq").and_then(Value::as_u64).ok_or(malformed)?,
            hash: text_of("hash").and_then(from_hex::<32>).map(|hash| to_hex(&hash)).ok_or(malformed)?,
            time: text_of("time").ok_or(malformed)?.to_owned(),
        };
        let signature: [u8; 64] = text_of("signature").and_then(from_hex).ok_or(malformed)?;
        let bytes: [u8; 32] = from_hex(key).ok_or(malformed)?;
        // A line in another spelling was changed after it was written.
        if canonical(&value).as_bytes() != text || value.as_object().is_none_or(|members| members.len() != 6)
        {
            return Err(malformed);
        }
        if !trusted.iter().any(|trusted| trusted.as_ref() == key) {
            return Err(CheckpointProblem::UntrustedKey);
        }
        let signed = format!("{DOMAIN}{}", canonical(&checkpoint.value(key)));
        UnparsedPublicKey::new(&ED25519, bytes)
            .verify(signed.as_bytes(), &signature)
            .map_err(|_| CheckpointProblem::WrongSignature)?;
        Ok(checkpoint)
    }
}

/// Why a line is not a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CheckpointProblem {
    /// It does not have the form of one.
    Malformed,
    /// Its key is none of the trusted ones.
    UntrustedKey,
    /// Its signature is wrong.
    WrongSignature,
}
