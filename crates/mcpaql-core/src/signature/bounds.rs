//! What a value must keep to besides its type, as far as a caller gets it wrong without being told.

use crate::schema::shorten;
use serde_json::{Map, Value};

/// A longer pattern is no hint any more.
const LONG_PATTERN: usize = 40;
/// Longer texts and lists are rarely written by accident.
const MAX_SHOWN_LENGTH: u64 = 100;
/// From here on a bound is only the width of a machine's integer.
const MACHINE_INTEGER_BOUND: f64 = 2_147_483_647.0;

/// `1..100`, `..80 chars`, `/^[0-9a-f]{40}$/`.
pub(super) fn bounds(kind: &str, map: &Map<String, Value>) -> Option<String> {
    match kind {
        "string" => pattern(map).or_else(|| length(map)),
        "integer" | "number" => range(map),
        "array" => items(map),
        _ => None,
    }
}

/// Whether a schema only says how long its texts are, which is noise inside a list.
pub(super) fn only_length(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "string") && schema.get("pattern").is_none()
}

/// ` /* default 30 */`: what the target takes where a caller says nothing. Empty values go without saying.
pub(super) fn default_comment(default: &Value) -> Option<String> {
    let says_something = match default {
        Value::Null | Value::Bool(false) | Value::Object(_) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty() && !text.contains("*/"),
        Value::Array(items) => !items.is_empty() && items.iter().all(Value::is_number),
    };
    says_something.then(|| format!(" /* default {} */", shorten(&default.to_string(), 32)))
}

fn pattern(map: &Map<String, Value>) -> Option<String> {
    let pattern = map.get("pattern")?.as_str()?;
    let shown = !pattern.is_empty() && pattern.len() <= LONG_PATTERN && !pattern.contains(char::is_control);
    shown.then(|| format!("/{}/", slashed(pattern)))
}

/// The pattern as it stands between slashes: one of its own outside a class would end it.
fn slashed(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 4);
    let (mut escaped, mut in_class) = (false, false);
    for ch in pattern.chars() {
        if ch == '/' && !escaped && !in_class {
            out.push('\\');
        }
        in_class = if escaped { in_class } else { (in_class || ch == '[') && ch != ']' };
        escaped = ch == '\\' && !escaped;
        out.push(ch);
    }
    out
}

fn length(map: &Map<String, Value>) -> Option<String> {
    let bound = |key: &str| map.get(key).and_then(Value::as_u64);
    // One character is what every text has.
    let least = bound("minLength").filter(|least| *least > 1);
    let most = bound("maxLength").filter(|most| *most <= MAX_SHOWN_LENGTH);
    span(least, most).map(|span| format!("{span} chars"))
}

fn items(map: &Map<String, Value>) -> Option<String> {
    let bound = |key: &str| map.get(key).and_then(Value::as_u64);
    let least = bound("minItems").filter(|least| *least > 0);
    let most = bound("maxItems").filter(|most| *most <= MAX_SHOWN_LENGTH);
    span(least, most).map(|span| format!("{span} items"))
}

fn span(least: Option<u64>, most: Option<u64>) -> Option<String> {
    match (least, most) {
        (None, None) => None,
        (Some(least), Some(most)) if least == most => Some(least.to_string()),
        (least, most) => {
            let text = |bound: Option<u64>| bound.map(|bound| bound.to_string()).unwrap_or_default();
            Some(format!("{}..{}", text(least), text(most)))
        }
    }
}

fn range(map: &Map<String, Value>) -> Option<String> {
    let number = |key: &str| {
        map.get(key).filter(|bound| bound.as_f64().is_some_and(|n| n.abs() < MACHINE_INTEGER_BOUND))
    };
    // OpenAPI 3.0 marks a bound as exclusive, JSON Schema has a keyword for it.
    let marked = |key: &str| map.get(key) == Some(&Value::Bool(true));
    let bound = |plain: &str, exclusive: &str, sign: &str| match (number(plain), number(exclusive)) {
        (_, Some(bound)) => Some(format!("{sign}{bound}")),
        (Some(bound), None) if marked(exclusive) => Some(format!("{sign}{bound}")),
        (Some(bound), None) => Some(bound.to_string()),
        (None, None) => None,
    };
    let least = bound("minimum", "exclusiveMinimum", ">");
    let most = bound("maximum", "exclusiveMaximum", "<");
    // Counting from nought or one is what everybody does.
    let usual = matches!(least.as_deref(), Some("0" | "1"));
    match (least, most) {
        (None, None) => None,
        (Some(_), None) if usual => None,
        (Some(least), None) if least.starts_with('>') => Some(least),
        (None, Some(most)) if most.starts_with('<') => Some(most),
        (least, most) => Some(format!("{}..{}", least.unwrap_or_default(), most.unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::render::TypeFormat;
    use super::*;
    use serde_json::json;

    #[test]
    fn bounds_are_said_where_a_caller_would_get_them_wrong() {
        for (schema, expected) in [
            (json!({"type": "integer", "minimum": 1, "maximum": 100}), "integer(1..100)"),
            (json!({"type": "integer", "minimum": 1}), "integer"),
            (json!({"type": "integer", "minimum": 10}), "integer(10..)"),
            (json!({"type": "integer", "maximum": 2_147_483_647}), "integer"),
            (json!({"type": "number", "exclusiveMinimum": 0}), "number(>0)"),
            (json!({"type": "number", "minimum": 0, "exclusiveMinimum": true}), "number(>0)"),
            (json!({"type": "number", "minimum": 0, "exclusiveMaximum": 1}), "number(0..<1)"),
            (json!({"type": "string", "maxLength": 80}), "string(..80 chars)"),
            (json!({"type": "string", "minLength": 40, "maxLength": 40}), "string(40 chars)"),
            (json!({"type": "string", "minLength": 1, "maxLength": 65536}), "string"),
            (
                json!({"type": "string", "pattern": "^[0-9a-f]{40}$", "maxLength": 40}),
                "string(/^[0-9a-f]{40}$/)",
            ),
            (json!({"type": "string", "pattern": "^/a\\/[/b]"}), "string(/^\\/a\\/[/b]/)"),
            (json!({"type": "string", "pattern": "x".repeat(99), "maxLength": 9}), "string(..9 chars)"),
            (json!({"type": "string", "format": "email", "maxLength": 80}), "string(email)"),
            (
                json!({"type": "array", "items": {"type": "string", "maxLength": 9}, "minItems": 1, "maxItems": 10}),
                "string[](1..10 items)",
            ),
            (
                json!({"type": "array", "items": {"type": "string", "pattern": "^a"}, "maxItems": 1000}),
                "string(/^a/)[]",
            ),
        ] {
            assert_eq!(TypeFormat::FULL.text(&schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_default_of_the_target_is_a_comment_unless_it_is_empty() {
        let with = |default: Value| {
            TypeFormat::FULL.text(&json!({"properties": {"a": {"type": "string", "default": default}}}))
        };
        assert_eq!(with(json!("open")), "{ a?: string /* default \"open\" */ }");
        assert_eq!(with(json!(30)), "{ a?: string /* default 30 */ }");
        for nothing in [json!(null), json!(false), json!(""), json!([]), json!({}), json!("*/")] {
            assert_eq!(with(nothing), "{ a?: string }");
        }
    }
}
