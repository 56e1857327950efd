//! Resolves YAML scalars by a strict reading of the core schema of YAML 1.2.
//!
//! What always holds: only `true` and `false` are booleans. Digits with a leading zero, with underscores or with colons stay
//! text, because an author may have meant text.

use serde_json::{Number, Value};

/// A resolved scalar.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
}

/// Why a scalar cannot be resolved.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InvalidScalar {
    /// Infinite or not a number, which JSON cannot express.
    NotFinite,
    /// The value does not match its tag.
    Tag,
}

impl Scalar {
    /// The approximate size of a copy in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Scalar::Text(text) => text.len(),
            _ => 0,
        }
    }

    /// The scalar as the key of a member.
    pub(super) fn name(&self) -> String {
        match self {
            Scalar::Null => "null".to_owned(),
            Scalar::Bool(value) => value.to_string(),
            Scalar::Number(number) => number.to_string(),
            Scalar::Text(text) => text.clone(),
        }
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Value {
        match scalar {
            Scalar::Null => Value::Null,
            Scalar::Bool(value) => Value::Bool(value),
            Scalar::Number(number) => Value::Number(number),
            Scalar::Text(text) => Value::String(text),
        }
    }
}

/// Resolves an unquoted scalar without a tag; `None` means that it is text.
pub(super) fn plain(text: &str) -> Result<Option<Scalar>, InvalidScalar> {
    // Most scalars are words, and their first byte is enough to decide that.
    let Some(first) = text.bytes().next() else { return Ok(Some(Scalar::Null)) };
    match first {
        b'~' | b'n' | b'N' if matches!(text, "~" | "null" | "Null" | "NULL") => Ok(Some(Scalar::Null)),
        b't' if text == "true" => Ok(Some(Scalar::Bool(true))),
        b'f' if text == "false" => Ok(Some(Scalar::Bool(false))),
        b'0'..=b'9' | b'+' | b'-' | b'.' => Ok(number(text)?.map(Scalar::Number)),
        _ => Ok(None),
    }
}

/// Resolves a scalar whose tag names a type of the core schema.
pub(super) fn tagged(text: &str, suffix: &str) -> Result<Scalar, InvalidScalar> {
    let scalar = match suffix {
        "null" | "bool" | "int" | "float" => plain(text.trim())?,
        _ => return Ok(Scalar::Text(text.to_owned())),
    };
    match (suffix, scalar) {
        ("null", Some(scalar @ Scalar::Null)) | ("bool", Some(scalar @ Scalar::Bool(_))) => Ok(scalar),
        ("int", Some(Scalar::Number(number))) if !number.is_f64() => Ok(Scalar::Number(number)),
        ("float", Some(Scalar::Number(number))) => {
            let float = number.as_f64().and_then(Number::from_f64);
            float.map(Scalar::Number).ok_or(InvalidScalar::NotFinite)
        }
        _ => Err(InvalidScalar::Tag),
    }
}

fn number(text: &str) -> Result<Option<Number>, InvalidScalar> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(digits, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err(InvalidScalar::NotFinite);
    }
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let plain = digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
            return Ok(plain.then(|| u64::from_str_radix(digits, radix).ok().map(Number::from)).flatten());
        }
    }
    let leading_zero = digits.starts_with('0') && digits.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    if leading_zero {
        return Ok(None);
    }
    if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) {
        let unsigned = text.strip_prefix('+').unwrap_or(text);
        if let Ok(number) = unsigned.parse::<i64>() {
            return Ok(Some(number.into()));
        }
        if let Ok(number) = unsigned.parse::<u64>() {
            return Ok(Some(number.into()));
        }
    } else if !is_float(digits) {
        return Ok(None);
    }
    let float = text.parse::<f64>().ok().and_then(Number::from_f64);
    float.map(Some).ok_or(InvalidScalar::NotFinite)
}

/// Whether the text is a float: `.5`, `1.`, `1.5`, `1e3`, `1.5E-3`.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_fits = exponent.is_none_or(|exponent| {
        let unsigned = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !unsigned.is_empty() && digits(unsigned)
    });
    digits(whole) && digits(fraction) && !(whole.is_empty() && fraction.is_empty()) && exponent_fits
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(text: &str) -> Value {
        plain(text).unwrap().map_or_else(|| json!(text), Value::from)
    }

    #[test]
    fn only_true_and_false_are_booleans() {
        assert_eq!(read("true"), json!(true));
        assert_eq!(read("false"), json!(false));
        for text in ["y", "n", "yes", "no", "on", "off", "True", "FALSE"] {
            assert_eq!(read(text), json!(text), "{text}");
        }
    }

    #[test]
    fn an_empty_scalar_and_the_spellings_of_null_are_null() {
        for text in ["", "~", "null", "Null", "NULL"] {
            assert_eq!(read(text), Value::Null, "{text}");
        }
        assert_eq!(read("nil"), json!("nil"));
    }

    #[test]
    fn numbers_follow_the_core_schema() {
        for (text, value) in [
            ("0", json!(0)),
            ("42", json!(42)),
            ("+42", json!(42)),
            ("-7", json!(-7)),
            ("0x1F", json!(31)),
            ("0o17", json!(15)),
            ("1.0", json!(1.0)),
            ("1.", json!(1.0)),
            (".5", json!(0.5)),
            ("-0.5", json!(-0.5)),
            ("1e3", json!(1000.0)),
            ("1.5E-3", json!(0.0015)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("18446744073709551615", json!(u64::MAX)),
            ("18446744073709551616", json!(18446744073709551616.0)),
        ] {
            assert_eq!(read(text), value, "{text}");
        }
    }

    #[test]
    fn a_scalar_that_may_be_text_stays_text() {
        for text in [
            "1.0.0",
            "01234",
            "-007",
            "00.5",
            "1_000",
            "12:30",
            "2026-01-31",
            "1e",
            "e3",
            ".",
            "-",
            "+",
            "..",
            "-.",
            "0x",
            "0xZZ",
            "0x+1",
            "0o9",
            "inf",
            "nan",
            "NaN",
            "infinity",
            "--1",
            "+-1",
            ".e3",
            "1e+",
        ] {
            assert_eq!(read(text), json!(text), "{text}");
        }
    }

    #[test]
    fn a_number_that_json_cannot_express_is_refused() {
        for text in [".inf", "-.inf", "+.Inf", ".nan", ".NaN", "1e999", "-1e999"] {
            assert_eq!(plain(text), Err(InvalidScalar::NotFinite), "{text}");
        }
    }

    #[test]
    fn tags_decide_the_type() {
        assert_eq!(tagged("1", "str"), Ok(Scalar::Text("1".to_owned())));
        assert_eq!(tagged("1", "int").map(Value::from), Ok(json!(1)));
        assert_eq!(tagged("1", "float").map(Value::from), Ok(json!(1.0)));
        assert_eq!(tagged("true", "bool"), Ok(Scalar::Bool(true)));
        assert_eq!(tagged("", "null"), Ok(Scalar::Null));
        for (text, suffix) in [("x", "int"), ("1.5", "int"), ("yes", "bool"), ("0", "null"), ("x", "float")] {
            assert_eq!(tagged(text, suffix), Err(InvalidScalar::Tag), "{suffix} {text}");
        }
    }
}
