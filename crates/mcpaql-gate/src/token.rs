//! Confirmation tokens and quota tokens, and the hash of the call that a token belongs to.
//!
//! ```
//! use mcpaql_gate::token::{GateToken, hash, is_equal};
//!
//! let token = GateToken::confirmation([7; 32]); // random bytes of the operating system
//! assert!(token.expose().starts_with("conf_"));
//! assert_eq!(format!("{token:?}"), "GateToken(…)");
//! assert!(is_equal(&hash(token.expose()), &token.hash()));
//! ```
//!
//! What always holds: `Debug` never prints a token. The state keeps hashes only, so whoever reads it cannot confirm a call.

use crate::fingerprint::{canonical, canonical_object, sha256_hex};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::fmt;

/// How confirmation tokens start.
pub const CONFIRMATION_PREFIX: &str = "conf_";
/// How tokens that continue after the pause of a quota start.
pub const QUOTA_PREFIX: &str = "quota_continue_";
/// A token that confirms one call, or continues after the pause of a quota.
#[derive(Clone)]
pub struct GateToken(String);

impl GateToken {
    /// Creates a token that confirms one call, from 256 random bits.
    #[must_use]
    pub fn confirmation(random: [u8; 32]) -> GateToken {
        GateToken::new(CONFIRMATION_PREFIX, random)
    }

    /// Creates a token that continues after the pause of a quota, from 256 random bits.
    #[must_use]
    pub fn quota(random: [u8; 32]) -> GateToken {
        GateToken::new(QUOTA_PREFIX, random)
    }

    fn new(prefix: &str, random: [u8; 32]) -> GateToken {
        GateToken(format!("{prefix}{}", URL_SAFE_NO_PAD.encode(random)))
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
}

impl fmt::Debug for GateToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GateToken(…)")
    }
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
    let names = canonical(&Value::Array(vec![adapter.into(), operation.into()]));
    sha256_hex(format!("[{names},{}]", canonical_object(args)).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_token_has_256_bits_and_its_own_form() {
        let token = GateToken::confirmation([0xfb; 32]);
        assert_eq!(token.expose(), "conf_-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_s");
        assert_eq!(token.expose().len(), "conf_".len() + 43);
        let quota = GateToken::quota([1; 32]);
        assert!(quota.expose().starts_with("quota_continue_"));
        assert_eq!(quota.expose().len(), "quota_continue_".len() + 43);
    }

    #[test]
    fn debug_never_prints_a_token() {
        let (token, quota) = (GateToken::confirmation([7; 32]), GateToken::quota([7; 32]));
        let printed = format!("{token:?} {token:#?} {quota:?} {quota:#?}");
        assert_eq!(printed, "GateToken(…) GateToken(…) GateToken(…) GateToken(…)");
    }

    #[test]
    fn hashes_are_equal_only_for_the_same_token() {
        let hash_of = |byte| GateToken::confirmation([byte; 32]).hash();
        assert!(is_equal(&hash_of(1), &hash(GateToken::confirmation([1; 32]).expose())));
        assert!(!is_equal(&hash_of(1), &hash_of(2)));
        for bit in 0..256 {
            let (a, mut b) = (hash_of(3), hash_of(3));
            b[bit / 8] ^= 1 << (bit % 8);
            assert!(!is_equal(&a, &b), "bit {bit}");
        }
    }

    #[test]
    fn the_hash_of_a_call_covers_adapter_operation_and_every_parameter() {
        let args = |value: Value| value.as_object().unwrap().clone();
        let base = call_hash("shop", "delete_order", &args(json!({"id": 1, "force": true})));
        assert_eq!(base, call_hash("shop", "delete_order", &args(json!({"force": true, "id": 1}))));
        for other in [
            call_hash("shop2", "delete_order", &args(json!({"id": 1, "force": true}))),
            call_hash("shop", "delete_orders", &args(json!({"id": 1, "force": true}))),
            call_hash("shop", "delete_order", &args(json!({"id": 2, "force": true}))),
            call_hash("shop", "delete_order", &args(json!({"id": "1", "force": true}))),
            call_hash("shop", "delete_order", &args(json!({"id": 1}))),
            call_hash("shop", "delete_order", &args(json!({"id": 1, "force": true, "x": null}))),
        ] {
            assert_ne!(base, other);
        }
        // The parts cannot be shifted into each other.
        assert_ne!(call_hash("a", "b,c", &Map::new()), call_hash("a,b", "c", &Map::new()));
    }
}
