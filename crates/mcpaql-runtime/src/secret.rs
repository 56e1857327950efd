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
//! of the mask's secrets, neither literally nor in their encodings (percent-encoded, base64, inside a JSON string).

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// The replacement for a secret.
pub const REDACTED: &str = "[redacted]";

/// Shorter secrets occur by chance inside other words, so they are masked only as separate words.
const STANDALONE_BELOW_BYTES: usize = 4;

/// Maximum number of values in sensitive parameters that are masked one by one; more would cost too much to search
/// for.
const MAX_SCALARS: usize = 100;

/// Encodes everything but RFC 3986's unreserved characters.
const STRICT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// Also keeps the characters that JavaScript's `encodeURIComponent` keeps.
const LOOSE: &AsciiSet = &STRICT.remove(b'!').remove(b'\'').remove(b'(').remove(b')').remove(b'*');

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
    /// Longest first, so that masking one secret never leaves parts of a longer one.
    needles: Vec<String>,
    /// There are too many values to search for, so everything is masked.
    opaque: bool,
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({} spellings)", self.needles.len())
    }
}

impl Mask {
    /// Adds a secret in all its encodings. An empty secret is ignored.
    pub fn add(&mut self, secret: &str) {
        if secret.is_empty() {
            return;
        }
        self.needles.push(secret.to_owned());
        if secret.len() >= STANDALONE_BELOW_BYTES {
            self.needles.extend(spellings(secret));
        }
        self.needles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.needles.dedup();
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
        if !other.needles.is_empty() {
            self.needles.extend(other.needles);
            self.needles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
            self.needles.dedup();
        }
    }

    /// Returns whether the text contains a secret.
    #[must_use]
    pub fn contains_secret(&self, text: &str) -> bool {
        self.opaque || self.needles.iter().any(|needle| next_hit(text, needle, 0).is_some())
    }

    /// Returns the text without secrets.
    #[must_use]
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.opaque && !text.is_empty() {
            return Cow::Borrowed(REDACTED);
        }
        let mut masked = Cow::Borrowed(text);
        for needle in &self.needles {
            if let Some(replaced) = replace(&masked, needle) {
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

    /// The length in bytes of the longest secret in any encoding. The end of a truncated text may contain up to this
    /// many bytes of a secret.
    #[must_use]
    pub fn max_length(&self) -> usize {
        self.needles.first().map_or(0, String::len)
    }
}

fn spellings(secret: &str) -> Vec<String> {
    let strict = utf8_percent_encode(secret, STRICT).to_string();
    let quoted = Value::from(secret).to_string();
    let quoted =
        quoted.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(secret).to_owned();
    vec![
        lower_hex(&strict),
        strict.replace("%20", "+"),
        strict,
        utf8_percent_encode(secret, LOOSE).to_string(),
        STANDARD_NO_PAD.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
        quoted.replace('/', "\\/"),
        quoted,
    ]
}

/// Turns `%2F` into `%2f` and keeps the rest.
fn lower_hex(encoded: &str) -> String {
    let mut left = 0_u8;
    encoded
        .chars()
        .map(|c| {
            if c == '%' {
                left = 2;
                return c;
            }
            if left > 0 {
                left -= 1;
                return c.to_ascii_lowercase();
            }
            c
        })
        .collect()
}

fn next_hit(text: &str, needle: &str, from: usize) -> Option<usize> {
    let mut from = from;
    loop {
        let start = from + text.get(from..)?.find(needle)?;
        let end = start + needle.len();
        if needle.len() >= STANDALONE_BELOW_BYTES || is_separate_word(text, start, end) {
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

fn replace(text: &str, needle: &str) -> Option<String> {
    let mut hit = next_hit(text, needle, 0)?;
    let mut replaced = String::with_capacity(text.len());
    let mut done = 0;
    loop {
        replaced.push_str(text.get(done..hit)?);
        replaced.push_str(REDACTED);
        done = hit + needle.len();
        match next_hit(text, needle, done) {
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
    use serde_json::json;

    #[test]
    fn only_the_whole_value_matches() {
        let secret = Secret::new("hunter2");
        assert!(secret.matches(b"hunter2"));
        for other in ["", "hunter", "hunter22", "hunter3", "Hunter2"] {
            assert!(!secret.matches(other.as_bytes()), "{other}");
        }
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
            &STANDARD_NO_PAD.encode(secret),
            &URL_SAFE_NO_PAD.encode(secret),
        ] {
            let text = format!("before {spelling} after");
            assert_eq!(mask.apply(&text), "before [redacted] after", "{spelling}");
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
