//! Schema → a value that fits it, for examples. `None` where nothing safe can be made up.

use serde_json::{Value, json};

/// A value of that schema: the author's own example first, then the plainest value within the bounds.
pub(super) fn sample(name: &str, schema: &Value) -> Option<Value> {
    let first_of = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|list| list.first());
    let given = schema.get("example").or_else(|| first_of("examples")).or_else(|| schema.get("const"));
    if let Some(value) = given.or_else(|| first_of("enum")).or_else(|| schema.get("default")) {
        return Some(value.clone()).filter(|value| !value.is_null());
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => {
            kinds.iter().find_map(|kind| kind.as_str().filter(|&kind| kind != "null"))
        }
        Some(kind) => kind.as_str(),
        None => None,
    };
    match kind? {
        "string" => text(name, schema),
        "boolean" => Some(json!(true)),
        "integer" | "number" => number(schema),
        "array" => array(name, schema),
        _ => None,
    }
}

fn text(name: &str, schema: &Value) -> Option<Value> {
    let value = match schema.get("format").and_then(Value::as_str) {
        _ if schema.get("pattern").is_some() => return None,
        Some("date") => "2026-01-31".to_owned(),
        Some("date-time") => "2026-01-31T12:00:00Z".to_owned(),
        Some("email") => "ada@example.com".to_owned(),
        Some("uri" | "url") => "https://example.com".to_owned(),
        Some(_) => return None,
        None => format!("some {}", name.replace('_', " ")),
    };
    let length = value.chars().count() as u64;
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
    let fits = length >= bound("minLength").unwrap_or(0) && length <= bound("maxLength").unwrap_or(u64::MAX);
    fits.then(|| json!(value))
}

fn number(schema: &Value) -> Option<Value> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let odd = ["exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
    if odd.iter().any(|key| schema.get(*key).is_some()) {
        return None;
    }
    let (low, high) = (bound("minimum").unwrap_or(f64::MIN), bound("maximum").unwrap_or(f64::MAX));
    if (low..=high).contains(&1.0) {
        return Some(json!(1));
    }
    schema.get("minimum").or_else(|| schema.get("maximum")).filter(|value| value.is_i64()).cloned()
}

fn array(name: &str, schema: &Value) -> Option<Value> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
    if bound("minItems").unwrap_or(0) > 1 || bound("maxItems") == Some(0) {
        return None;
    }
    let item = sample(name.strip_suffix('s').unwrap_or(name), schema.get("items")?)?;
    Some(json!([item]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_their_schema() {
        let rows = [
            (json!({"type": "string"}), Some(json!("some due day"))),
            (json!({"type": "string", "maxLength": 3}), None),
            (json!({"type": "string", "format": "date"}), Some(json!("2026-01-31"))),
            (json!({"type": "string", "format": "ipv6"}), None),
            (json!({"type": "string", "pattern": "^x$"}), None),
            (json!({"type": "string", "pattern": "^x$", "examples": ["x"]}), Some(json!("x"))),
            (json!({"type": "string", "enum": ["low", "high"]}), Some(json!("low"))),
            (json!({"type": ["null", "boolean"]}), Some(json!(true))),
            (json!({"type": "integer"}), Some(json!(1))),
            (json!({"type": "integer", "minimum": 5}), Some(json!(5))),
            (json!({"type": "integer", "maximum": -5}), Some(json!(-5))),
            (json!({"type": "number", "multipleOf": 3}), None),
            (json!({"type": "array", "items": {"type": "integer"}}), Some(json!([1]))),
            (json!({"type": "array"}), None),
            (json!({"type": "object"}), None),
            (json!({"$ref": "#/types/Due"}), None),
        ];
        for (schema, expected) in rows {
            assert_eq!(sample("due_day", &schema), expected, "{schema}");
        }
    }
}
