//! JSON text that a value can hold. A parser rejects or changes some valid JSON: numbers outside of the range of doubles,
//! integers of more than 64 bits, halves of surrogate pairs, and values that are nested too deeply.

use super::{end_of_string, is_inexact};

/// Levels that a value may have. Deeper ones become a string; parsers reject more than 127.
const MAX_LEVELS: usize = 100;
/// The spelling of the replacement character in JSON.
const REPLACEMENT: &str = "\\ufffd";

/// What [`readable`] changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadableChanges {
    /// Numbers are strings now, with all their digits.
    pub numbers: bool,
    /// Halves of surrogate pairs are U+FFFD now.
    pub characters: bool,
    /// Values at deep levels are strings of JSON now.
    pub levels: bool,
}

impl ReadableChanges {
    /// Returns whether nothing was changed.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self == ReadableChanges::default()
    }
}

/// Returns valid JSON text with the same data in a form that a value can hold, and what was changed for that.
#[must_use]
pub fn readable(json: &str) -> (String, ReadableChanges) {
    let bytes = json.as_bytes();
    let mut out = String::with_capacity(json.len());
    let mut changes = ReadableChanges::default();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        let end = match byte {
            b'"' => end_of_string(bytes, at + 1).min(bytes.len()),
            b'-' | b'0'..=b'9' => end_of_number(bytes, at),
            b'{' | b'[' if depth == MAX_LEVELS => end_of_container(bytes, at),
            _ => at + 1,
        };
        let token = json.get(at..end).unwrap_or_default();
        match byte {
            b'"' => changes.characters |= push_string(&mut out, token),
            b'-' | b'0'..=b'9' if !is_exact(token) => {
                changes.numbers = true;
                out.extend(["\"", token, "\""]);
            }
            b'{' | b'[' if depth == MAX_LEVELS => {
                changes.levels = true;
                out.push_str(&serde_json::Value::from(token).to_string());
            }
            b'{' | b'[' => {
                depth += 1;
                out.push_str(token);
            }
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                out.push_str(token);
            }
            _ => out.push_str(token),
        }
        at = end;
    }
    (out, changes)
}

fn end_of_number(bytes: &[u8], at: usize) -> usize {
    let is_number = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    at + bytes.iter().skip(at).take_while(is_number).count()
}

/// Returns the position after the bracket that closes the one at a position.
fn end_of_container(bytes: &[u8], mut at: usize) -> usize {
    let mut open = 0_usize;
    while let Some(byte) = bytes.get(at) {
        at = match byte {
            b'"' => end_of_string(bytes, at + 1).min(bytes.len()),
            _ => at + 1,
        };
        match byte {
            b'{' | b'[' => open += 1,
            b'}' | b']' if open <= 1 => break,
            b'}' | b']' => open -= 1,
            _ => {}
        }
    }
    at
}

/// Returns whether a parsed number is the written one, as far as a double can be.
fn is_exact(number: &str) -> bool {
    !is_inexact(number) && number.parse::<f64>().is_ok_and(f64::is_finite)
}

/// Writes a string with its quotes. Returns whether it had half of a surrogate pair.
fn push_string(out: &mut String, string: &str) -> bool {
    let mut rest = string;
    let mut has_half = false;
    while let Some((before, escape)) = rest.find('\\').and_then(|at| rest.split_at_checked(at)) {
        out.push_str(before);
        let is_high = |unit: u16| (0xd800..0xdc00).contains(&unit);
        let is_low = |unit: u16| (0xdc00..0xe000).contains(&unit);
        let length = match (code_unit(escape), escape.get(6..).and_then(code_unit)) {
            (Some(high), Some(low)) if is_high(high) && is_low(low) => 12,
            (Some(half), _) if is_high(half) || is_low(half) => {
                has_half = true;
                out.push_str(REPLACEMENT);
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            (Some(_), _) => 6,
            (None, _) => 2,
        };
        let (kept, after) = escape.split_at_checked(length).unwrap_or((escape, ""));
        out.push_str(kept);
        rest = after;
    }
    out.push_str(rest);
    has_half
}

/// Returns the code unit of an escape such as `\ud83d`.
fn code_unit(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn read(json: &str) -> (Value, ReadableChanges) {
        let (text, changes) = readable(json);
        (serde_json::from_str(&text).unwrap_or_else(|error| panic!("{text}: {error}")), changes)
    }

    #[test]
    fn everything_that_a_value_cannot_hold_stays_in_another_form() {
        let numbers = ReadableChanges { numbers: true, ..ReadableChanges::default() };
        let characters = ReadableChanges { characters: true, ..ReadableChanges::default() };
        for (text, expected, changes) in [
            (r#"{"a": 1e400, "b": [-1E999]}"#, json!({"a": "1e400", "b": ["-1E999"]}), numbers),
            ("123456789012345678901234567890", json!("123456789012345678901234567890"), numbers),
            (r#""\ud800""#, json!("\u{fffd}"), characters),
            (r#"["a\udc00b", "\ud83d\ud83d\ude00"]"#, json!(["a\u{fffd}b", "\u{fffd}😀"]), characters),
            (r#"{"\ud83d": "\\ud83d"}"#, json!({"\u{fffd}": "\\ud83d"}), characters),
        ] {
            assert_eq!(read(text), (expected, changes), "{text}");
        }
    }

    #[test]
    fn deep_values_become_strings_of_json() {
        let text = format!("{}{}{}", "[".repeat(500), r#"{"a":"]\"["}"#, "]".repeat(500));
        let (mut value, changes) = read(&text);
        assert!(changes.levels && !changes.numbers);
        for _ in 0..MAX_LEVELS {
            value = value.as_array_mut().and_then(Vec::pop).unwrap();
        }
        let inner = format!("{}{}{}", "[".repeat(400), r#"{"a":"]\"["}"#, "]".repeat(400));
        assert_eq!(value, json!(inner));
    }

    #[test]
    fn text_that_a_value_can_hold_is_not_changed() {
        for text in [
            r#"{ "a": [1, -2.5e-3, 18446744073709551615, true, null, "\"\\\n\u00e9é\ud83d\ude00"] }"#,
            "[]",
            "0",
            "",
        ] {
            assert_eq!(readable(text), (text.to_owned(), ReadableChanges::default()), "{text}");
        }
    }

    #[test]
    fn broken_text_causes_no_panic() {
        let whole = r#"{"a":"\ud83d\ude00\u12","b":[1e9,-]}é"#;
        for (end, _) in whole.char_indices() {
            let _ = readable(whole.get(..end).unwrap());
        }
    }
}
