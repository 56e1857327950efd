//! Decodes arbitrary text as a cursor. Only the text that the signer wrote is a cursor, and only of its own list.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mcpaql_core::shape::CursorSigner;
use serde_json::{Value, json};

fuzz_target!(|input: (&str, &str, usize)| {
    let (text, scope, position) = input;
    let scope: Value = serde_json::from_str(scope).unwrap_or_else(|_| json!(scope));
    let signer = CursorSigner::new("adapter", "list_things", [("scope", &scope)]);
    if let Some(position) = signer.decode(text) {
        assert_eq!(signer.encode(position), text);
    }
    let cursor = signer.encode(position);
    assert_eq!(signer.decode(&cursor), Some(position));
    let other = CursorSigner::new("adapter", "list_others", [("scope", &scope)]);
    assert_eq!(other.decode(&cursor), None);
});
