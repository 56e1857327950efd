//! Secrets: values that are sent to a target and nowhere else.
//!
//! ```
//! use mcpaql_runtime::secret::{Mask, Secret};
//!
//! let token = Secret::new("s3cret-token");
//! assert_eq!(format!("{token:?}"), "[redacted]");
//! let mut mask = Mask::default();
//! mask.add(token.expose());
//! assert_eq!(mask.apply("rejected: s3cret-token"), "rejected: [redacted]");
//! ```
//!
//! What always holds: a [`Secret`] always prints as `[redacted]`. A text that went through a [`Mask`] contains none
//! of the mask's secrets, neither literally nor encoded: with JSON escapes, percent-encoded, as base64, or two of these
//! inside each other.

mod credential;
mod search;

pub(crate) use credential::is_credential;
use search::SecretSearch;
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The replacement for a secret.
pub const REDACTED: &str = "[redacted]";

/// Shorter secrets occur by chance inside other words, so they are masked only as separate words.
const STANDALONE_BELOW_BYTES: usize = 4;
/// How much longer an encoded secret is: `\u0041`.
const MAX_ENCODED_LENGTH: usize = 6;

/// Maximum number of values in sensitive parameters that are masked one by one; more would cost too much to search
/// for.
const MAX_SCALARS: usize = 100;

/// Lines of a secret from this length on are secrets themselves, because texts are often read line by line.
const MIN_LINE_BYTES: usize = 8;

/// A value that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Secret(value.into())
    }

    /// Returns the value, to be sent and not to be stored.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether `other` is the same value, in a time that depends only on its length.
    #[must_use]
    pub fn matches(&self, other: &[u8]) -> bool {
        let own = self.0.as_bytes();
        let difference = own.iter().zip(other).fold(0, |seen, (a, b)| std::hint::black_box(seen | (a ^ b)));
        own.len() == other.len() && difference == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(REDACTED)
    }
}

/// Removes known secrets from texts.
#[derive(Clone, Default)]
pub struct Mask {
    /// Longest first.
    secrets: Vec<String>,
    /// Secrets that are masked only as separate words, longest first.
    words: Vec<String>,
    /// There are too many values to search for, so everything is masked.
    opaque: bool,
    /// Compiled when it is first needed; shared by all copies.
    search: Arc<OnceLock<SecretSearch>>,
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({} secrets)", self.secrets.len() + self.words.len())
    }
}

impl Mask {
    /// Adds a secret. An empty secret is ignored.
    pub fn add(&mut self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        let lines = secret.lines().filter(|line| line.len() >= MIN_LINE_BYTES && line.len() < secret.len());
        let added: Vec<String> = std::iter::once(secret).chain(lines).map(str::to_owned).collect();
        self.insert(added);
    }

    fn insert(&mut self, added: Vec<String>) {
        for secret in added {
            let list =
                if secret.len() < STANDALONE_BELOW_BYTES { &mut self.words } else { &mut self.secrets };
            let order = |known: &String| secret.len().cmp(&known.len()).then_with(|| known.cmp(&secret));
            if let Err(position) = list.binary_search_by(order) {
                list.insert(position, secret);
                self.search = Arc::default();
            }
        }
    }

    /// Adds the text of every scalar in the values, except booleans. If there are too many, the mask hides all text.
    pub fn add_values<'a>(&mut self, values: impl IntoIterator<Item = &'a Value>) {
        let mut remaining: Vec<&Value> = values.into_iter().collect();
        let mut scalars = 0;
        while let Some(value) = remaining.pop() {
            let text = match value {
                Value::Null | Value::Bool(_) => continue,
                Value::Array(items) => {
                    remaining.extend(items);
                    continue;
                }
                Value::Object(fields) => {
                    remaining.extend(fields.values());
                    continue;
                }
                Value::Number(number) => number.to_string(),
                Value::String(text) => text.clone(),
            };
            scalars += 1;
            if scalars > MAX_SCALARS {
                self.opaque = true;
                return;
            }
            self.add(&text);
        }
    }

    /// Adds all secrets of another mask.
    #[cfg(feature = "http")]
    pub(crate) fn join(&mut self, other: Mask) {
        self.opaque |= other.opaque;
        if self.secrets.is_empty() && self.words.is_empty() {
            *self = Mask { opaque: self.opaque, ..other };
            return;
        }
        self.insert(other.secrets);
        self.insert(other.words);
    }

    /// Returns whether there is nothing to mask.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.secrets.is_empty() && self.words.is_empty() && !self.opaque
    }

    /// Returns whether the text contains a secret.
    #[must_use]
    pub fn contains_secret(&self, text: &str) -> bool {
        self.opaque
            || !self.find(text).is_empty()
            || self.words.iter().any(|word| next_word(text, word, 0).is_some())
    }

    fn find(&self, text: &str) -> Vec<Range<usize>> {
        if self.secrets.is_empty() || text.len() < STANDALONE_BELOW_BYTES {
            return Vec::new();
        }
        self.search.get_or_init(|| SecretSearch::new(&self.secrets)).find(text)
    }

    /// Returns the text without secrets.
    #[must_use]
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.opaque && !text.is_empty() {
            return Cow::Borrowed(REDACTED);
        }
        let mut masked = Cow::Borrowed(text);
        let found = self.find(text);
        if !found.is_empty() {
            let mut replaced = String::with_capacity(text.len());
            let mut done = 0;
            for range in found {
                let Some(plain) = text.get(done..range.start) else { return Cow::Borrowed(REDACTED) };
                replaced.push_str(plain);
                replaced.push_str(REDACTED);
                done = range.end;
            }
            let Some(rest) = text.get(done..) else { return Cow::Borrowed(REDACTED) };
            replaced.push_str(rest);
            masked = Cow::Owned(replaced);
        }
        for word in &self.words {
            if let Some(replaced) = replace_word(&masked, word) {
                masked = Cow::Owned(replaced);
            }
        }
        masked
    }

    /// Masks every string, key and number in a value.
    pub fn apply_value(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => {
                let text = number.to_string();
                if self.contains_secret(&text) {
                    *value = Value::String(self.apply(&text).into_owned());
                }
            }
            Value::String(text) => {
                if self.contains_secret(text) {
                    *text = self.apply(text).into_owned();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply_value(item)),
            Value::Object(fields) => {
                for (key, mut field) in std::mem::take(fields) {
                    self.apply_value(&mut field);
                    fields.insert(self.apply(&key).into_owned(), field);
                }
            }
        }
    }

    /// Returns the length of the part of a truncated text that cannot contain the beginning of a secret.
    #[must_use]
    pub fn safe_length(&self, text: &str) -> usize {
        let longest = self.secrets.first().or(self.words.first()).map_or(0, String::len);
        let without = |factor: usize| text.len().saturating_sub(longest.saturating_mul(factor));
        // Base64 is a third longer. With escapes, a secret is much longer.
        let end = text.as_bytes().get(without(2)..).unwrap_or_default();
        without(if end.iter().any(|byte| matches!(byte, b'\\' | b'%')) { MAX_ENCODED_LENGTH } else { 2 })
    }
}

fn next_word(text: &str, word: &str, from: usize) -> Option<usize> {
    let mut from = from;
    loop {
        let start = from + text.get(from..)?.find(word)?;
        let end = start + word.len();
        if is_separate_word(text, start, end) {
            return Some(start);
        }
        from = end;
    }
}

fn is_separate_word(text: &str, start: usize, end: usize) -> bool {
    let before = text.get(..start).and_then(|head| head.chars().next_back());
    let after = text.get(end..).and_then(|tail| tail.chars().next());
    !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric)
}

fn replace_word(text: &str, needle: &str) -> Option<String> {
    let mut hit = next_word(text, needle, 0)?;
    let mut replaced = String::with_capacity(text.len());
    let mut done = 0;
    loop {
        replaced.push_str(text.get(done..hit)?);
        replaced.push_str(REDACTED);
        done = hit + needle.len();
        match next_word(text, needle, done) {
            Some(next) => hit = next,
            None => {
                replaced.push_str(text.get(done..)?);
                return Some(replaced);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
    use serde_json::json;

    #[test]
    fn only_the_whole_value_matches() {
        let secret = Secret::new("hunter2");
        assert!(secret.matches(b"hunter2"));
        for other in ["", "hunter", "hunter22", "hunter3", "Hunter2"] {
            assert!(!secret.matches(other.as_bytes()), "{other}");
        }
    }

    fn escaped(text: &str) -> String {
        text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect()
    }

    fn percent(text: &str, upper: bool) -> String {
        text.bytes().map(|byte| if upper { format!("%{byte:02X}") } else { format!("%{byte:02x}") }).collect()
    }

    fn mask(secrets: &[&str]) -> Mask {
        let mut mask = Mask::default();
        secrets.iter().for_each(|secret| mask.add(secret));
        mask
    }

    #[test]
    fn a_secret_never_prints_its_value() {
        let secret = Secret::new("hunter2");
        assert_eq!(
            format!("{secret} {secret:?} {:?}", Some(&secret)),
            "[redacted] [redacted] Some([redacted])"
        );
        assert!(!format!("{:?}", mask(&["hunter2"])).contains("hunter2"));
    }

    #[test]
    fn every_spelling_is_masked() {
        let secret = "p/w +\"1é";
        let mask = mask(&[secret]);
        for spelling in [
            "p/w +\"1é",
            "p%2Fw%20%2B%221%C3%A9",
            "p%2fw%20%2b%221%c3%a9",
            "p%2Fw+%2B%221%C3%A9",
            r#"p/w +\"1é"#,
            r#"p\/w +\"1é"#,
            &escaped(secret),
            &escaped(secret).replace("\\u0070", "p"),
            &escaped(secret).to_uppercase().replace("\\U", "\\u"),
            &percent(secret, true),
            &percent(secret, false),
            // Inside each other: JSON in JSON, an address in JSON, an address in an address.
            &escaped(secret).replace('\\', "\\\\"),
            &percent(secret, true).replace('%', "\\u0025"),
            &percent(secret, true).replace('%', "%25"),
        ] {
            let text = format!("before {spelling} after");
            assert_eq!(mask.apply(&text), "before [redacted] after", "{spelling}");
        }
    }

    #[test]
    fn base64_is_masked_at_every_alignment() {
        let secret = "s3cret-token-1";
        let mask = mask(&[secret]);
        for before in ["", "a", "ab", "abc", "user:"] {
            let text = format!("{before}{secret}>>>???");
            for encoded in [
                STANDARD.encode(&text),
                URL_SAFE_NO_PAD.encode(&text),
                percent(&STANDARD.encode(&text), true),
            ] {
                let masked = mask.apply(&encoded).into_owned();
                assert!(masked.contains(REDACTED), "{encoded}");
                for cut in 0..masked.len() {
                    let rest =
                        masked.get(cut..).and_then(|rest| STANDARD_NO_PAD.decode(rest.get(..16)?).ok());
                    let rest =
                        rest.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
                    assert!(!rest.contains("cret") && !rest.contains("token"), "{masked}: {rest}");
                }
            }
        }
    }

    #[test]
    fn secrets_that_overlap_and_lines_of_a_secret_leave_nothing() {
        assert_eq!(mask(&["abcdefgh", "ghijklmn"]).apply("<abcdefghijklmn>"), "<[redacted]>");
        let key = mask(&["-----BEGIN KEY-----\nMIIBVQIBADAN\nq8s=\n-----END KEY-----"]);
        assert_eq!(key.apply("line: MIIBVQIBADAN"), "line: [redacted]");
    }

    #[test]
    fn masked_json_is_still_json() {
        let mask = mask(&["tok_5ecret/+value"]);
        let body = format!(
            r#"{{"a": "x{}y", "b": "tok_5ecret\/+value", "c": "plain \n"}}"#,
            escaped("tok_5ecret/+value")
        );
        let masked: Value = serde_json::from_str(&mask.apply(&body)).unwrap();
        assert_eq!(masked, json!({"a": "x[redacted]y", "b": "[redacted]", "c": "plain \n"}));
    }

    proptest::proptest! {
        #[test]
        fn no_encoding_of_a_secret_survives(secret in "[ -~é💡]{4,24}", before in "[a-z\\\\%+ ]{0,9}", form in 0..5_usize) {
            let mask = mask(&[&secret]);
            let encoded = match form {
                0 => secret.clone(),
                1 => escaped(&secret),
                2 => percent(&secret, true),
                3 => percent(&percent(&secret, false), true),
                _ => serde_json::to_string(&secret).unwrap(),
            };
            proptest::prop_assert!(mask.contains_secret(&format!("x{encoded}y")), "{}", encoded);
            let text = format!("{before}{}", percent(&secret, true));
            proptest::prop_assert!(mask.contains_secret(&text), "{}", text);
            proptest::prop_assert!(!mask.contains_secret(&mask.apply(&text).replace(REDACTED, "")), "{}", text);
        }
    }

    #[test]
    fn a_secret_inside_a_longer_one_leaves_nothing_behind() {
        assert_eq!(mask(&["abcd", "abcdefgh"]).apply("abcdefgh abcd"), "[redacted] [redacted]");
    }

    #[test]
    fn short_secrets_are_masked_as_separate_words() {
        assert_eq!(
            mask(&["123"]).apply("cvv 123, order 41235 (123)"),
            "cvv [redacted], order 41235 ([redacted])"
        );
        assert_eq!(mask(&[""]).apply("nothing to hide"), "nothing to hide");
    }

    #[test]
    fn values_are_masked_in_strings_keys_and_numbers() {
        let mut value = json!({"abcdef": ["x abcdef y", 987654, 1, true, null]});
        let mut mask = mask(&["abcdef"]);
        mask.add_values([&json!({"pin": 987654, "on": true})]);
        mask.apply_value(&mut value);
        assert_eq!(value, json!({"[redacted]": ["x [redacted] y", "[redacted]", 1, true, null]}));
    }
    #[test]
    fn too_many_values_mask_everything() {
        let mut mask = Mask::default();
        mask.add_values([&json!((0..10_000).map(|n| format!("row {n}")).collect::<Vec<_>>())]);
        assert_eq!(mask.apply("anything"), "[redacted]");
        let mut value = json!({"a": "row 1", "b": 1});
        mask.apply_value(&mut value);
        assert!(!value.to_string().contains("row"), "{value}");
    }
}
