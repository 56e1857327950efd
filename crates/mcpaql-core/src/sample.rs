//! Schema → a value that fits it, for examples. `None` where nothing safe can be made up.
//!
//! A sample is a proposal: whoever shows it validates it first.

use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Objects nested deeper than this have no plain example.
const MAX_DEPTH: usize = 6;

/// A value of that schema: the author's own example first, then the plainest value within the bounds. References are
/// looked up in `types`.
pub(crate) fn sample(name: &str, schema: &Value, types: &IndexMap<String, Value>) -> Option<Value> {
    Sampler { types }.value(name, schema, 0)
}

struct Sampler<'t> {
    types: &'t IndexMap<String, Value>,
}

impl Sampler<'_> {
    fn value(&self, name: &str, schema: &Value, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        let first_of = |key: &str| schema.get(key).and_then(Value::as_array).and_then(|list| list.first());
        let given = schema.get("example").or_else(|| first_of("examples")).or_else(|| schema.get("const"));
        if let Some(value) = given.or_else(|| first_of("enum")).or_else(|| schema.get("default")) {
            return Some(value.clone()).filter(|value| !value.is_null());
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let target = target.strip_prefix("#/types/")?;
            return self.value(name, self.types.get(target)?, depth + 1);
        }
        let variants = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(key).and_then(Value::as_array));
        if let Some(variants) = variants {
            return variants.iter().find_map(|variant| self.value(name, variant, depth + 1));
        }
        match kind(schema)? {
            "string" => text(name, schema),
            "boolean" => Some(json!(true)),
            "integer" | "number" => number(schema),
            "array" => self.array(name, schema, depth),
            "object" => self.object(schema, depth),
            _ => None,
        }
    }

    fn array(&self, name: &str, schema: &Value, depth: usize) -> Option<Value> {
        let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
        if bound("minItems").unwrap_or(0) > 1 || bound("maxItems") == Some(0) {
            return None;
        }
        let item = self.value(name.strip_suffix('s').unwrap_or(name), schema.get("items")?, depth + 1)?;
        Some(json!([item]))
    }

    /// The required fields; the first one that can be made up where none is required.
    fn object(&self, schema: &Value, depth: usize) -> Option<Value> {
        let fields = schema.get("properties")?.as_object()?;
        let required = schema.get("required").and_then(Value::as_array);
        let mut out = Map::new();
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            out.insert(name.to_owned(), self.value(name, fields.get(name)?, depth + 1)?);
        }
        if out.is_empty() {
            let first =
                fields.iter().find_map(|(name, field)| Some((name, self.value(name, field, depth + 1)?)));
            out.extend(first.map(|(name, value)| (name.clone(), value)));
        }
        Some(Value::Object(out))
    }
}

/// The first type that is not null; what has properties is an object.
fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        Some(kind) => kind.as_str(),
        None if schema.get("properties").is_some() => Some("object"),
        None => None,
    }
}

fn text(name: &str, schema: &Value) -> Option<Value> {
    let value = match schema.get("format").and_then(Value::as_str) {
        _ if schema.get("pattern").is_some() => return None,
        Some("date") => "2026-01-31".to_owned(),
        Some("date-time") => "2026-01-31T12:00:00Z".to_owned(),
        Some("time") => "12:00:00Z".to_owned(),
        Some("email") => "ada@example.com".to_owned(),
        Some("uri" | "url") => "https://example.com".to_owned(),
        Some("uuid") => "7c9e6679-7425-40de-944b-e07fc1f90ae7".to_owned(),
        Some("hostname") => "example.com".to_owned(),
        Some("ipv4") => "192.0.2.1".to_owned(),
        Some(_) => return None,
        None => return Some(json!(words(name, schema)?)),
    };
    let length = value.chars().count() as u64;
    let fits = length >= bound(schema, "minLength").unwrap_or(0)
        && length <= bound(schema, "maxLength").unwrap_or(u64::MAX);
    fits.then(|| json!(value))
}

/// `some due day`, cut or repeated until it fits.
fn words(name: &str, schema: &Value) -> Option<String> {
    let plain = format!("some {}", name.replace('_', " "));
    let least = bound(schema, "minLength").unwrap_or(0);
    let most = bound(schema, "maxLength").unwrap_or(u64::MAX);
    // A longer text would be no example but a nuisance.
    if least > most || least > 200 {
        return None;
    }
    let mut text = plain.clone();
    while (text.chars().count() as u64) < least {
        text.push(' ');
        text.push_str(&plain);
    }
    Some(text.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect())
}

fn bound(schema: &Value, key: &str) -> Option<u64> {
    schema.get(key).and_then(Value::as_u64)
}

fn number(schema: &Value) -> Option<Value> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let odd = ["exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
    if odd.iter().any(|key| schema.get(*key).is_some()) {
        return schema.get("multipleOf").filter(|step| step.is_u64()).cloned();
    }
    let (low, high) = (bound("minimum").unwrap_or(f64::MIN), bound("maximum").unwrap_or(f64::MAX));
    if (low..=high).contains(&1.0) {
        return Some(json!(1));
    }
    schema.get("minimum").or_else(|| schema.get("maximum")).filter(|value| value.is_i64()).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_fit_their_schema() {
        let due = json!({"type": "object", "properties": {"day": {"type": "integer"}, "note": {"type": "string"}}, "required": ["day"]});
        let types =
            IndexMap::from([("Due".to_owned(), due), ("Loop".to_owned(), json!({"$ref": "#/types/Loop"}))]);
        let rows = [
            (json!({"type": "string"}), Some(json!("some due day"))),
            (json!({"type": "string", "maxLength": 3}), Some(json!("som"))),
            (json!({"type": "string", "minLength": 20}), Some(json!("some due day some due day"))),
            (json!({"type": "string", "format": "date"}), Some(json!("2026-01-31"))),
            (json!({"type": "string", "format": "date", "maxLength": 3}), None),
            (json!({"type": "string", "format": "ipv6"}), None),
            (json!({"type": "string", "pattern": "^x$"}), None),
            (json!({"type": "string", "pattern": "^x$", "examples": ["x"]}), Some(json!("x"))),
            (json!({"type": "string", "enum": ["low", "high"]}), Some(json!("low"))),
            (json!({"type": ["null", "boolean"]}), Some(json!(true))),
            (json!({"type": "integer"}), Some(json!(1))),
            (json!({"type": "integer", "minimum": 5}), Some(json!(5))),
            (json!({"type": "integer", "maximum": -5}), Some(json!(-5))),
            (json!({"type": "number", "multipleOf": 3}), Some(json!(3))),
            (json!({"type": "number", "exclusiveMinimum": 3}), None),
            (json!({"type": "array", "items": {"type": "integer"}}), Some(json!([1]))),
            (json!({"type": "array"}), None),
            (json!({"type": "object"}), None),
            (json!({"properties": {"a": {"type": "boolean"}}}), Some(json!({"a": true}))),
            (json!({"anyOf": [{"type": "array"}, {"type": "boolean"}]}), Some(json!(true))),
            (json!({"$ref": "#/types/Due"}), Some(json!({"day": 1}))),
            (json!({"$ref": "#/types/Nowhere"}), None),
            (json!({"$ref": "#/types/Loop"}), None),
        ];
        for (schema, expected) in rows {
            assert_eq!(sample("due_day", &schema, &types), expected, "{schema}");
        }
    }
}
