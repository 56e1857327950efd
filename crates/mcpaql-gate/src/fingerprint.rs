//! Canonical JSON, its hash, and the differences of two values.
//!
//! ```
//! use mcpaql_gate::fingerprint::{canonical, diff, fingerprint};
//! use serde_json::json;
//!
//! assert_eq!(canonical(&json!({"b": [1, 2.0], "a": null})), r#"{"a":null,"b":[1,2.0]}"#);
//! assert_eq!(fingerprint(&json!({"a": 1, "b": 2})), fingerprint(&json!({"b": 2, "a": 1})));
//!
//! let changes = diff(&json!({"host": "a.example", "path": "/"}), &json!({"host": "b.example", "path": "/"}));
//! assert_eq!(changes[0].path, "host");
//! assert_eq!(changes[0].after, Some(json!("b.example")));
//! ```
//!
//! What always holds: values that differ only in the order of members have the same canonical text; all others have different ones. `1` and
//! `1.0` are different.

use serde_json::Value;
use sha2::{Digest, Sha256};

/// Writes a value without white space, with sorted members.
#[must_use]
pub fn canonical(value: &Value) -> String {
    let mut out = String::new();
    write_canonical(&mut out, value);
    out
}

fn write_canonical(out: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                write_canonical(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, value)) in members.into_iter().enumerate() {
                out.push_str(if index > 0 { "," } else { "" });
                out.push_str(&Value::from(key.as_str()).to_string());
                out.push(':');
                write_canonical(out, value);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

/// Returns the fingerprint of a value, such as `sha256:9f86d0…`.
#[must_use]
pub fn fingerprint(value: &Value) -> String {
    format!("sha256:{}", sha256_hex(canonical(value).as_bytes()))
}

/// Returns the SHA-256 hash of bytes, in hexadecimal.
#[must_use]
pub fn sha256_hex(bytes: &[u8]) -> String {
    to_hex(&Sha256::digest(bytes))
}

/// Writes bytes in hexadecimal.
#[must_use]
pub fn to_hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Reads bytes in hexadecimal, in lower case as [`to_hex`] writes them.
#[must_use]
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

/// One difference of two values.
#[derive(Debug, Clone, PartialEq)]
pub struct ValueChange {
    /// Where, such as `request.headers[0]`; empty for the whole value.
    pub path: String,
    /// The old value; `None` if there was none.
    pub before: Option<Value>,
    /// The new value; `None` if there is none.
    pub after: Option<Value>,
}

/// Returns the differences of two values, in the order of the old one.
#[must_use]
pub fn diff(old: &Value, new: &Value) -> Vec<ValueChange> {
    let mut changes = Vec::new();
    compare("", Some(old), Some(new), &mut changes);
    changes
}

fn compare(path: &str, old: Option<&Value>, new: Option<&Value>, changes: &mut Vec<ValueChange>) {
    match (old, new) {
        (Some(Value::Object(before)), Some(Value::Object(after))) => {
            let added = after.keys().filter(|key| !before.contains_key(*key));
            for key in before.keys().chain(added) {
                compare(&member(path, key), before.get(key), after.get(key), changes);
            }
        }
        (Some(Value::Array(before)), Some(Value::Array(after))) => {
            let start = before.iter().zip(after).take_while(|(a, b)| a == b).count();
            let pairs = before.iter().skip(start).rev().zip(after.iter().skip(start).rev());
            let end = pairs.take_while(|(a, b)| a == b).count();
            for index in start..(before.len().max(after.len()) - end) {
                // The equal end does not count: its items only have other indexes.
                let old = before.get(index).filter(|_| index + end < before.len());
                let new = after.get(index).filter(|_| index + end < after.len());
                compare(&format!("{path}[{index}]"), old, new, changes);
            }
        }
        (old, new) if old == new => {}
        (old, new) => {
            changes.push(ValueChange { path: path.to_owned(), before: old.cloned(), after: new.cloned() })
        }
    }
}

fn member(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn canonical_text_has_sorted_members_and_unchanged_numbers() {
        let value = json!({"b": {"z": 1, "a": -0.5}, "a": [true, null, "é\n\"", 1e300, u64::MAX], "B": 1.0});
        let expected = r#"{"B":1.0,"a":[true,null,"é\n\"",1e300,18446744073709551615],"b":{"a":-0.5,"z":1}}"#;
        assert_eq!(canonical(&value), expected);
        assert_eq!(canonical(&json!({})), "{}");
        assert_eq!(canonical(&json!([[], ""])), r#"[[],""]"#);
    }

    #[test]
    fn the_fingerprint_is_the_hash_of_the_canonical_text() {
        assert_eq!(
            fingerprint(&json!({})),
            "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        );
        assert_ne!(fingerprint(&json!({"n": 1})), fingerprint(&json!({"n": 1.0})));
        assert_ne!(fingerprint(&json!({"n": 1})), fingerprint(&json!({"n": "1"})));
    }

    #[test]
    fn hexadecimal_is_read_back_only_as_it_is_written() {
        let bytes = [0, 1, 0xab, 0xff];
        assert_eq!(to_hex(&bytes), "0001abff");
        assert_eq!(from_hex::<4>("0001abff"), Some(bytes));
        for wrong in ["0001ABff", "0001abf", "0001abff0", "0001abfg", "", "0001ab é"] {
            assert_eq!(from_hex::<4>(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn differences_name_their_place() {
        let changes = diff(
            &json!({"request": {"url": "a", "headers": ["x", "y"]}, "gone": 1}),
            &json!({"request": {"url": "b", "headers": ["x", "z", "y"]}, "new": 2}),
        );
        assert_eq!(changes.len(), 4);
        assert_eq!((changes[0].path.as_str(), &changes[0].after), ("request.url", &Some(json!("b"))));
        assert_eq!((changes[1].path.as_str(), &changes[1].after), ("request.headers[1]", &Some(json!("z"))));
        assert_eq!(changes[1].before, None);
        assert_eq!((changes[2].path.as_str(), &changes[2].before), ("gone", &Some(json!(1))));
        assert_eq!((changes[3].path.as_str(), &changes[3].before), ("new", &None));
        assert_eq!(diff(&json!(1), &json!("1")).len(), 1);
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            (-1e6..1e6f64).prop_map(Value::from),
            "[a-c.]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-c]{1,2}", inner, 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    fn reversed(value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                members.iter().rev().map(|(key, value)| (key.clone(), reversed(value))).collect()
            }
            Value::Array(items) => items.iter().map(reversed).collect(),
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn the_order_of_members_does_not_matter_and_everything_else_does(a in values(), b in values()) {
            prop_assert_eq!(canonical(&a), canonical(&reversed(&a)));
            prop_assert_eq!(serde_json::from_str::<Value>(&canonical(&a)).unwrap(), a.clone());
            prop_assert_eq!(canonical(&a) == canonical(&b), a == b);
        }

        #[test]
        fn only_equal_values_have_no_differences(a in values(), b in values()) {
            prop_assert!(diff(&a, &a).is_empty());
            prop_assert_eq!(diff(&a, &b).is_empty(), a == b);
        }
    }
}
