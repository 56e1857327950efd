//! Confirmation tokens and quota tokens, and the hash of the call that a token belongs to.
//!
//! ```
//! use mcpaql_gate::token::{ConfirmationToken, hash, is_equal};
//!
//! let token = ConfirmationToken::from_bytes([7; 32]); // random bytes of the operating system
//! assert!(token.expose().starts_with("conf_"));
//! assert_eq!(format!("{token:?}"), "ConfirmationToken(…)");
//! assert!(is_equal(&hash(token.expose()), &token.hash()));
//! ```
//!
//! What always holds: `Debug` never prints a token. The state keeps hashes only, so whoever reads it cannot confirm a call.

use crate::fingerprint::{canonical, sha256_hex};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt;

/// How confirmation tokens start.
pub const CONFIRMATION_PREFIX: &str = "conf_";
/// How tokens that continue after the pause of a quota start.
pub const QUOTA_PREFIX: &str = "quota_continue_";
/// Letters of 256 random bits.
const RANDOM_LETTERS: usize = 43;

/// A token that confirms one call.
#[derive(Clone)]
pub struct ConfirmationToken(String);

/// A token that continues after the pause of a quota.
#[derive(Clone)]
pub struct QuotaToken(String);

impl ConfirmationToken {
    /// Creates a token from 256 random bits.
    #[must_use]
    pub fn from_bytes(random: [u8; 32]) -> ConfirmationToken {
        ConfirmationToken(format!("{CONFIRMATION_PREFIX}{}", URL_SAFE_NO_PAD.encode(random)))
    }

    /// Returns the text, for the one answer that issues the token.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the hash, for the state.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        hash(&self.0)
    }

    /// Returns whether a text has the form of such a token.
    #[must_use]
    pub fn has_form(text: &str) -> bool {
        has_form(text, CONFIRMATION_PREFIX)
    }
}

impl QuotaToken {
    /// Creates a token from 256 random bits.
    #[must_use]
    pub fn from_bytes(random: [u8; 32]) -> QuotaToken {
        QuotaToken(format!("{QUOTA_PREFIX}{}", URL_SAFE_NO_PAD.encode(random)))
    }

    /// Returns the text, for the one answer that issues the token.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns the hash, for the state.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        hash(&self.0)
    }

    /// Returns whether a text has the form of such a token.
    #[must_use]
    pub fn has_form(text: &str) -> bool {
        has_form(text, QUOTA_PREFIX)
    }
}

impl fmt::Debug for ConfirmationToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ConfirmationToken(…)")
    }
}

impl fmt::Debug for QuotaToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("QuotaToken(…)")
    }
}

fn has_form(text: &str, prefix: &str) -> bool {
    text.strip_prefix(prefix).is_some_and(|random| {
        random.len() == RANDOM_LETTERS
            && random.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    })
}

/// Returns the hash of the text of a token.
#[must_use]
pub fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

/// Compares two hashes in a time that does not depend on them.
#[must_use]
pub fn is_equal(a: &[u8; 32], b: &[u8; 32]) -> bool {
    let difference = a.iter().zip(b).fold(0, |sum, (a, b)| std::hint::black_box(sum | (a ^ b)));
    std::hint::black_box(difference) == 0
}

/// Returns the hash of a call, in hexadecimal: of the adapter, the operation and the parameters without a token.
#[must_use]
pub fn call_hash(adapter: &str, operation: &str, args: &Map<String, Value>) -> String {
    let call = Value::Array(vec![adapter.into(), operation.into(), Value::Object(args.clone())]);
    sha256_hex(canonical(&call).as_bytes())
}
