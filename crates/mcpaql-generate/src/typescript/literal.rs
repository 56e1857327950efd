//! Writes values as readable TypeScript literals: on one line if they fit, otherwise with one line per member.

use serde_json::{Map, Value};

/// Maximum width of a line.
const WIDTH: usize = 110;
/// The largest integer up to which a double holds every integer.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Returns a value as an expression. Its first line starts at `column`; further lines are indented by `depth` levels.
pub(super) fn literal(value: &Value, column: usize, depth: usize) -> String {
    let flat = flat(value);
    // A comma or a semicolon follows.
    if column + flat.len() < WIDTH {
        return flat;
    }
    let inner = depth + 1;
    let indent = "  ".repeat(inner);
    let members: Vec<String> = match value {
        Value::Array(items) if !items.is_empty() => {
            items.iter().map(|item| format!("{indent}{},\n", literal(item, indent.len(), inner))).collect()
        }
        Value::Object(fields) if !fields.is_empty() => fields
            .iter()
            .map(|(name, field)| {
                let exact = const_assertion(name);
                let name = key(name);
                let field = literal(field, indent.len() + name.len() + 2 + exact.len(), inner);
                format!("{indent}{name}: {field}{exact},\n")
            })
            .collect(),
        _ => return flat,
    };
    let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
    format!("{open}\n{}{}{close}", members.concat(), "  ".repeat(depth))
}

fn flat(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            format!("[{}]", items.iter().map(flat).collect::<Vec<_>>().join(", "))
        }
        Value::Object(fields) => object(fields),
        Value::String(text) => string(text),
        wide if is_wide(wide) => format!("{wide}n"),
        other => other.to_string(),
    }
}

fn object(fields: &Map<String, Value>) -> String {
    if fields.is_empty() {
        return "{}".to_owned();
    }
    let fields: Vec<String> = fields
        .iter()
        .map(|(name, value)| format!("{}: {}{}", key(name), flat(value), const_assertion(name)))
        .collect();
    format!("{{ {} }}", fields.join(", "))
}

/// Returns a text as a string. U+2028 and U+2029 are escaped, because some tools treat them as line ends.
pub(super) fn string(text: &str) -> String {
    Value::from(text).to_string().replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

/// Returns whether a literal is an integer that a `number` cannot hold, so that it must be a `bigint`.
pub(super) fn is_wide(literal: &Value) -> bool {
    (literal.is_i64() || literal.is_u64())
        && literal.as_f64().is_some_and(|number| number.abs() > MAX_SAFE_INTEGER)
}

/// Returns the suffix of a member's value. For `constructor`, TypeScript would widen the type of strings to `string`.
fn const_assertion(name: &str) -> &'static str {
    if name == "constructor" { " as const" } else { "" }
}

/// Returns the name of a member. Only in brackets is `__proto__` a member like any other.
pub(super) fn key(name: &str) -> String {
    if name == "__proto__" {
        return "[\"__proto__\"]".to_owned();
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$');
    if starts && name.chars().all(plain) { name.to_owned() } else { string(name) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_member_named_constructor_keeps_the_type_of_its_texts() {
        let value = json!({"constructor": {"in": "query"}, "x": {"in": "query"}});
        assert_eq!(literal(&value, 0, 0), r#"{ constructor: { in: "query" } as const, x: { in: "query" } }"#);
        assert!(literal(&value, WIDTH, 0).contains("  constructor: { in: \"query\" } as const,\n"));
    }

    #[test]
    fn values_that_fit_are_on_one_line() {
        let value = json!({"method": "GET", "x-y": [1, true, null], "a": {}});
        assert_eq!(literal(&value, 0, 0), r#"{ method: "GET", "x-y": [1, true, null], a: {} }"#);
        assert_eq!(
            literal(&json!([9007199254740991_u64, 9007199254740992_u64, 1.5]), 0, 0),
            "[9007199254740991, 9007199254740992n, 1.5]"
        );
    }

    #[test]
    fn longer_values_have_one_line_per_member() {
        let long = "x".repeat(100);
        let value = json!({"a": long, "b": ["y"]});
        assert_eq!(literal(&value, 0, 0), format!("{{\n  a: \"{long}\",\n  b: [\"y\"],\n}}"));
    }

    #[test]
    fn no_text_can_end_its_string() {
        assert_eq!(string("a\"b\\\n\u{2028}"), "\"a\\\"b\\\\\\n\\u2028\"");
        assert_eq!(key("__proto__"), "[\"__proto__\"]");
    }
}
