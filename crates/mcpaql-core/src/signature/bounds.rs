//! Writes constraints of a value besides its type, if a caller would likely violate them otherwise.

use crate::schema::shorten;
use serde_json::{Map, Value};

/// Maximum characters of a pattern. A longer one does not help.
const MAX_PATTERN_CHARS: usize = 40;
/// Maximum length limit that is shown. Longer texts and lists are rarely written by accident.
const MAX_SHOWN_LENGTH: u64 = 100;
/// Bounds from here on are only the range of a machine integer.
const MACHINE_INTEGER_BOUND: f64 = 2_147_483_647.0;

/// Writes the constraints of a type: `1..100`, `..80 chars`, `/^[0-9a-f]{40}$/`.
pub(super) fn bounds(kind: &str, map: &Map<String, Value>) -> Option<String> {
    match kind {
        "string" => pattern(map).or_else(|| length(map)),
        "integer" | "number" => range(map),
        "array" => items(map),
        _ => None,
    }
}

/// Returns whether a schema only limits the length of strings, which is not worth showing inside a list.
pub(super) fn only_length(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "string") && schema.get("pattern").is_none()
}

/// Writes the default of the target: ` /* default 30 */`. Empty values are not shown.
pub(super) fn default_comment(default: &Value) -> Option<String> {
    let is_shown = match default {
        Value::Null | Value::Bool(false) | Value::Object(_) => false,
        Value::Bool(true) | Value::Number(_) => true,
        Value::String(text) => !text.is_empty() && !text.contains("*/"),
        Value::Array(items) => !items.is_empty() && items.iter().all(Value::is_number),
    };
    is_shown.then(|| format!(" /* default {} */", shorten(&default.to_string(), 32)))
}

fn pattern(map: &Map<String, Value>) -> Option<String> {
    let pattern = map.get("pattern")?.as_str()?;
    let shown =
        !pattern.is_empty() && pattern.len() <= MAX_PATTERN_CHARS && !pattern.contains(char::is_control);
    shown.then(|| format!("/{}/", escape_slashes(pattern)))
}

/// Escapes slashes of a pattern outside of classes, so that it can be written between slashes.
fn escape_slashes(pattern: &str) -> String {
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
    // A minimum of one character is usual.
    let min = bound("minLength").filter(|min| *min > 1);
    let max = bound("maxLength").filter(|max| *max <= MAX_SHOWN_LENGTH);
    span(min, max).map(|span| format!("{span} chars"))
}

fn items(map: &Map<String, Value>) -> Option<String> {
    let bound = |key: &str| map.get(key).and_then(Value::as_u64);
    let min = bound("minItems").filter(|min| *min > 0);
    let max = bound("maxItems").filter(|max| *max <= MAX_SHOWN_LENGTH);
    span(min, max).map(|span| format!("{span} items"))
}

fn span(min: Option<u64>, max: Option<u64>) -> Option<String> {
    match (min, max) {
        (None, None) => None,
        (Some(min), Some(max)) if min == max => Some(min.to_string()),
        (min, max) => {
            let text = |bound: Option<u64>| bound.map(|bound| bound.to_string()).unwrap_or_default();
            Some(format!("{}..{}", text(min), text(max)))
        }
    }
}

fn range(map: &Map<String, Value>) -> Option<String> {
    let number = |key: &str| {
        map.get(key).filter(|bound| bound.as_f64().is_some_and(|n| n.abs() < MACHINE_INTEGER_BOUND))
    };
    // OpenAPI 3.0 has a flag for exclusive bounds, JSON Schema a keyword.
    let is_flag_set = |key: &str| map.get(key) == Some(&Value::Bool(true));
    let bound = |plain: &str, exclusive: &str, sign: &str| match (number(plain), number(exclusive)) {
        (_, Some(bound)) => Some(format!("{sign}{bound}")),
        (Some(bound), None) if is_flag_set(exclusive) => Some(format!("{sign}{bound}")),
        (Some(bound), None) => Some(bound.to_string()),
        (None, None) => None,
    };
    let min = bound("minimum", "exclusiveMinimum", ">");
    let max = bound("maximum", "exclusiveMaximum", "<");
    // Minimums of zero and one are usual.
    let is_usual = matches!(min.as_deref(), Some("0" | "1"));
    match (min, max) {
        (None, None) => None,
        (Some(_), None) if is_usual => None,
        (Some(min), None) if min.starts_with('>') => Some(min),
        (None, Some(max)) if max.starts_with('<') => Some(max),
        (min, max) => Some(format!("{}..{}", min.unwrap_or_default(), max.unwrap_or_default())),
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
