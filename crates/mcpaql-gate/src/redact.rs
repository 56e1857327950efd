//! Parameters as the log and approvals show them: without secrets, and short.
//!
//! ```
//! use mcpaql_gate::redact::redact;
//! use serde_json::json;
//!
//! let args = json!({"user": "alice", "password": "hunter2", "card": "4111", "note": "x".repeat(300)});
//! let shown = redact(args.as_object().unwrap(), &["card"]);
//! assert_eq!(shown["user"], "alice");
//! assert_eq!(shown["password"], "…");
//! assert_eq!(shown["card"], "…");
//! assert_eq!(shown["note"], format!("{}… (300 characters)", "x".repeat(100)));
//! ```
//!
//! What always holds: no part of a sensitive value is left, at any depth, and the size of the result has a bound.

use mcpaql_lexicon::snake_case;
use serde_json::{Map, Value};

/// What replaces a secret.
pub const REDACTED: &str = "…";

/// Longer texts are shortened.
const MAX_TEXT: usize = 200;
/// Characters that a shortened text keeps.
const KEPT_TEXT: usize = 100;
/// Maximum members of an object and items of a list.
const MAX_ITEMS: usize = 50;
/// Maximum nesting.
const MAX_DEPTH: usize = 8;
/// Maximum values in all.
const MAX_VALUES: usize = 500;

/// Words of names whose values are secrets in every API.
const SECRET_WORDS: &[&str] = &[
    "password",
    "passwords",
    "passwd",
    "pwd",
    "passphrase",
    "passcode",
    "secret",
    "secrets",
    "token",
    "tokens",
    "credential",
    "credentials",
    "authorization",
    "cookie",
    "cookies",
    "otp",
    "apikey",
    "bearer",
    "cvv",
    "cvc",
];
/// Words before `key` that make it a secret.
const SECRET_KEYS: &[&str] = &["api_key", "private_key", "access_key", "signing_key", "encryption_key"];

/// Returns the parameters without the values of sensitive ones, and with long texts and lists shortened.
///
/// A parameter is sensitive if `sensitive` contains its name or its path with dots (upper and lower case do not matter), or if its name has
/// a word such as `password` or `token`.
#[must_use]
pub fn redact(args: &Map<String, Value>, sensitive: &[&str]) -> Value {
    let mut redactor = Redactor { sensitive, left: MAX_VALUES };
    redactor.object(args, "", 0)
}

/// Returns whether a value is the replacement of another one, so that nobody can tell what it was.
#[must_use]
pub fn is_redacted(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text == REDACTED || text.contains("… ("))
}

struct Redactor<'a> {
    sensitive: &'a [&'a str],
    left: usize,
}

impl Redactor<'_> {
    fn value(&mut self, value: &Value, path: &str, depth: usize) -> Value {
        if self.left == 0 || depth > MAX_DEPTH {
            return REDACTED.into();
        }
        self.left -= 1;
        match value {
            Value::Object(members) => self.object(members, path, depth),
            Value::Array(items) => {
                let shown = items.iter().take(MAX_ITEMS).map(|item| self.value(item, path, depth + 1));
                let mut shown: Vec<Value> = shown.collect();
                if items.len() > MAX_ITEMS {
                    shown.push(format!("… ({} more)", items.len() - MAX_ITEMS).into());
                }
                shown.into()
            }
            Value::String(text) => shorten(text).into(),
            other => other.clone(),
        }
    }

    fn object(&mut self, members: &Map<String, Value>, path: &str, depth: usize) -> Value {
        let mut shown = Map::new();
        for (name, value) in members.iter().take(MAX_ITEMS) {
            let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
            let value = if self.is_sensitive(name, &path) {
                REDACTED.into()
            } else {
                self.value(value, &path, depth + 1)
            };
            shown.insert(shorten(name), value);
        }
        if members.len() > MAX_ITEMS {
            shown.insert(REDACTED.to_owned(), format!("… ({} more)", members.len() - MAX_ITEMS).into());
        }
        Value::Object(shown)
    }

    fn is_sensitive(&self, name: &str, path: &str) -> bool {
        let is_named = |entry: &&str| entry.eq_ignore_ascii_case(name) || entry.eq_ignore_ascii_case(path);
        self.sensitive.iter().any(|entry| is_named(entry)) || is_secret_name(name)
    }
}

fn is_secret_name(name: &str) -> bool {
    let words = snake_case(name);
    words.split('_').any(|word| SECRET_WORDS.contains(&word))
        || SECRET_KEYS.iter().any(|key| words.ends_with(key))
}

fn shorten(text: &str) -> String {
    let length = text.chars().count();
    if length <= MAX_TEXT {
        return text.to_owned();
    }
    let kept: String = text.chars().take(KEPT_TEXT).collect();
    format!("{kept}… ({length} characters)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn shown(args: &Value, sensitive: &[&str]) -> Value {
        redact(args.as_object().unwrap(), sensitive)
    }

    #[test]
    fn names_of_secrets_are_recognized_in_every_spelling() {
        for name in [
            "password",
            "userPassword",
            "API_KEY",
            "apiKey",
            "X-Api-Key",
            "access_token",
            "clientSecret",
            "Authorization",
            "private-key",
        ] {
            assert_eq!(shown(&json!({ name: "s3cret" }), &[]), json!({ name: "…" }), "{name}");
        }
        for name in ["key", "name", "keyword", "tokenizer", "secretary", "monkey"] {
            assert_eq!(shown(&json!({ name: "open" }), &[]), json!({ name: "open" }), "{name}");
        }
    }

    #[test]
    fn sensitive_parameters_are_hidden_at_every_depth_and_by_path() {
        let args = json!({"customer": {"iban": "DE1", "name": "n"}, "list": [{"IBAN": "DE2"}], "name": "n"});
        assert_eq!(
            shown(&args, &["iban", "customer.name"]),
            json!({"customer": {"iban": "…", "name": "…"}, "list": [{"IBAN": "…"}], "name": "n"})
        );
        assert_eq!(shown(&json!({"password": {"old": "a", "new": ["b"]}}), &[]), json!({"password": "…"}));
    }

    #[test]
    fn long_values_say_how_long_they_are() {
        let items: Vec<u32> = (0..60).collect();
        let result = shown(&json!({"items": items, "text": "é".repeat(201)}), &[]);
        assert_eq!(result["items"].as_array().unwrap().len(), 51);
        assert_eq!(result["items"][50], "… (10 more)");
        assert_eq!(result["text"], format!("{}… (201 characters)", "é".repeat(100)));
        assert!(is_redacted(&result["text"]) && is_redacted(&json!("…")) && !is_redacted(&json!("a…")));
        let mut deep = json!("end");
        for _ in 0..20 {
            deep = json!({ "a": deep });
        }
        assert!(!shown(&deep, &[]).to_string().contains("end"));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(json!("s3cret")), Just(json!(1)), "[a-z]{0,300}".prop_map(Value::from)];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map("(password|iban|a|b|c)", inner, 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    /// Replaces every text that is not below a sensitive name.
    fn without_open_texts(value: &Value) -> Value {
        match value {
            Value::Object(members) => members
                .iter()
                .map(|(name, value)| {
                    let hidden = name == "password" || name == "iban";
                    (name.clone(), if hidden { json!(["s3cret", value]) } else { without_open_texts(value) })
                })
                .collect(),
            Value::Array(items) => items.iter().map(without_open_texts).collect(),
            Value::String(_) => json!("open"),
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn no_sensitive_value_is_left_and_the_size_has_a_bound(value in values()) {
            let shown = shown(&json!({"all": without_open_texts(&value)}), &["iban"]).to_string();
            prop_assert!(!shown.contains("s3cret"), "{}", shown);
            prop_assert!(shown.len() < MAX_VALUES * (4 * MAX_TEXT + 40));
        }
    }
}
