//! Secrets: values that travel to a target and nowhere else.
//!
//! What always holds: a [`Secret`] prints as `[redacted]`, whoever formats it; text that passes through a [`Mask`] holds
//! none of the values the mask knows, neither as they are nor in the spellings they take on the wire (percent-encoded,
//! base64, inside a JSON string).

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";

/// Values shorter than this occur by chance inside other words, so they are masked only where they stand alone.
const STANDALONE_BELOW_BYTES: usize = 4;

/// More values than this inside sensitive parameters cost more to look for than an echo of them is worth.
const MAX_SCALARS: usize = 100;

/// RFC 3986's unreserved characters stay, everything else is encoded.
const STRICT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// What JavaScript's `encodeURIComponent` leaves besides.
const LOOSE: &AsciiSet = &STRICT.remove(b'!').remove(b'\'').remove(b'(').remove(b')').remove(b'*');

/// A value that must not be shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a value.
    pub fn new(value: impl Into<String>) -> Self {
        Secret(value.into())
    }

    /// The value itself, to be sent and not to be kept.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether `other` is the same, in a time that depends on its length alone.
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

/// Takes known secrets out of text that is passed on.
#[derive(Clone, Default)]
pub struct Mask {
    /// Longest first, so that a secret inside another spelling never leaves the rest of it behind.
    needles: Vec<String>,
    /// More values than can be looked for: nothing passes.
    opaque: bool,
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({} spellings)", self.needles.len())
    }
}

impl Mask {
    /// Adds a secret in all its spellings; an empty one is nothing to hide.
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

    /// Adds the text of every scalar inside the values, booleans excepted. Where there are too many to look for, the mask
    /// lets nothing through any more.
    pub fn add_values<'a>(&mut self, values: impl IntoIterator<Item = &'a Value>) {
        let mut left: Vec<&Value> = values.into_iter().collect();
        let mut scalars = 0;
        while let Some(value) = left.pop() {
            let text = match value {
                Value::Null | Value::Bool(_) => continue,
                Value::Array(items) => {
                    left.extend(items);
                    continue;
                }
                Value::Object(fields) => {
                    left.extend(fields.values());
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

    /// Adds everything that another mask knows.
    pub(crate) fn join(&mut self, other: Mask) {
        self.opaque |= other.opaque;
        if !other.needles.is_empty() {
            self.needles.extend(other.needles);
            self.needles.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
            self.needles.dedup();
        }
    }

    /// Whether the text holds a secret.
    #[must_use]
    pub fn contains_secret(&self, text: &str) -> bool {
        self.opaque || self.needles.iter().any(|needle| next_hit(text, needle, 0).is_some())
    }

    /// The text without secrets.
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

    /// Masks every string, key and number inside a value.
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

    /// Length in bytes of the longest spelling: how much of a cut text's end may be half a secret.
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

/// `%2F` as `%2f`, the rest unchanged.
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
        if needle.len() >= STANDALONE_BELOW_BYTES || stands_alone(text, start, end) {
            return Some(start);
        }
        from = end;
    }
}

fn stands_alone(text: &str, start: usize, end: usize) -> bool {
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

    #[test]
    fn only_the_whole_value_matches() {
        let secret = Secret::new("hunter2");
        assert!(secret.matches(b"hunter2"));
        for other in ["", "hunter", "hunter22", "hunter3", "Hunter2"] {
            assert!(!secret.matches(other.as_bytes()), "{other}");
        }
    }
    use serde_json::json;

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
    fn short_secrets_are_masked_where_they_stand_alone() {
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
    fn more_values_than_can_be_looked_for_let_nothing_through() {
        let mut mask = Mask::default();
        mask.add_values([&json!((0..10_000).map(|n| format!("row {n}")).collect::<Vec<_>>())]);
        assert_eq!(mask.apply("anything"), "[redacted]");
        let mut value = json!({"a": "row 1", "b": 1});
        mask.apply_value(&mut value);
        assert!(!value.to_string().contains("row"), "{value}");
    }
}
