//! Texts that are not parsed: whether one is an HTML page, whether its integers fit a JSON value, and the white space of JSON.
//!
//! ```
//! use mcpaql_schema::syntax::{indented, inexact_integer, is_html_page, minified};
//!
//! assert!(is_html_page("<!-- cached --> <!DOCTYPE html>"));
//! assert_eq!(inexact_integer(r#"{"id": 18446744073709551617}"#), Some("18446744073709551617"));
//! assert_eq!(inexact_integer(r#"{"id": 18446744073709551615}"#), None);
//! assert_eq!(minified(r#"{ "n": [1E400] }"#), r#"{"n":[1E400]}"#);
//! assert_eq!(indented("[1E400]"), "[\n  1E400\n]");
//! ```

mod layout;
mod readable;

pub use layout::{indented, minified};
pub use readable::{ReadableChanges, readable};

/// Returns whether a text is a whole HTML page, by its start. A fragment of HTML is not a page.
#[must_use]
pub fn is_html_page(text: &str) -> bool {
    let mut head = trim_start(text);
    while head.starts_with("<!--")
        && let Some((_, rest)) = head.split_once("-->")
    {
        head = trim_start(rest);
    }
    let starts_with = |tag: &str| head.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag));
    starts_with("<!doctype html") || starts_with("<html")
}

fn trim_start(text: &str) -> &str {
    text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n'])
}

/// Digits of an integer that always fits 64 bits.
const SAFE_DIGITS: usize = 18;

/// Returns the first integer in a JSON text that would change when it is parsed: it needs more than 64 bits, and the nearest
/// double is another number. Numbers with a fraction or an exponent are doubles by their form.
#[must_use]
pub fn inexact_integer(json: &str) -> Option<&str> {
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = end_of_string(bytes, at + 1),
            b'-' | b'0'..=b'9' => {
                let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                let length = bytes.iter().skip(at).take_while(|byte| is_number(byte)).count();
                let number = json.get(at..at + length).unwrap_or_default();
                if length > SAFE_DIGITS && is_inexact(number) {
                    return Some(number);
                }
                at += length;
            }
            _ => at += 1,
        }
    }
    None
}

/// Returns the position after the quote that ends a string.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    at
}

fn is_inexact(number: &str) -> bool {
    let digits = number.strip_prefix('-').unwrap_or(number);
    let is_integer = digits.bytes().all(|byte| byte.is_ascii_digit());
    if !is_integer || number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok() {
        return false;
    }
    // Written without an exponent, a double has all its digits.
    digits.parse::<f64>().is_ok_and(|double| format!("{double:.0}") != digits.trim_start_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_that_change_are_found_and_others_are_not() {
        for (json, expected) in [
            ("18446744073709551616", None), // 2^64 is a double
            ("18446744073709551617", Some("18446744073709551617")),
            ("-9223372036854775808", None),
            ("-9223372036854775809", Some("-9223372036854775809")),
            ("100000000000000000000", None),
            ("123456789012345678901234567890", Some("123456789012345678901234567890")),
            ("1234567890123456789012345.5", None),
            ("12345678901234567890123e2", None),
            (r#"["12345678901234567890123", 1]"#, None),
            (r#"{"12345678901234567890123": "\"12345678901234567890123"}"#, None),
            (r#"{"a":[1,{"b":99999999999999999999}]}"#, Some("99999999999999999999")),
            (r#""open 99999999999999999999"#, None),
            ("", None),
        ] {
            assert_eq!(inexact_integer(json), expected, "{json}");
        }
        let long = "1".repeat(400);
        assert_eq!(inexact_integer(&long), Some(long.as_str()));
    }

    #[test]
    fn pages_start_with_html_after_comments() {
        for page in ["<!DOCTYPE html><p>", "\u{feff} <HTML>", "<!-- a --><!-- b -->\n<html lang=en>"] {
            assert!(is_html_page(page), "{page}");
        }
        for other in ["<p>fragment</p>", "openapi: 3.1.0 # <html>", "<!-- only a comment", "<?xml?>", "", "ä"]
        {
            assert!(!is_html_page(other), "{other}");
        }
    }
}
