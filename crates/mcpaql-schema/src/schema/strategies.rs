//! Generators for property tests: schemas, values that fit them, and arbitrary JSON.

#![allow(clippy::indexing_slicing, clippy::unwrap_used, reason = "only tests use it")]

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Generates any JSON value, a few levels deep.
pub fn any_json() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-5_i64..6).prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        prop_oneof![
            Just("open"),
            Just("string"),
            Just("#/types/Node"),
            Just("date"),
            Just("(?=x)"),
            Just("^a+$")
        ]
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((key(), inner), 0..5).prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
    .boxed()
}

/// Generates keys. Most are keywords, so arbitrary JSON is often nearly a schema.
fn key() -> BoxedStrategy<String> {
    const KEYS: [&str; 32] = [
        "type",
        "nullable",
        "enum",
        "const",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "items",
        "prefixItems",
        "minItems",
        "maxItems",
        "uniqueItems",
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
        "minProperties",
        "oneOf",
        "anyOf",
        "allOf",
        "not",
        "$ref",
        "sensitive",
        "a",
        "b",
        "name",
    ];
    prop_oneof![4 => proptest::sample::select(&KEYS[..]).prop_map(str::to_owned), 1 => "\\PC{0,6}"].boxed()
}

/// Generates schemas that at least one value fits.
pub fn schema() -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "string", "format": "date-time"})),
        Just(json!({"type": "string", "format": "uuid", "nullable": true})),
        (-50_i64..50, 0_i64..50)
            .prop_map(|(low, span)| json!({"type": "integer", "minimum": low, "maximum": low + span})),
        (-50_i64..50).prop_map(|low| json!({"type": ["number", "null"], "exclusiveMinimum": low})),
        (0_u64..4, 0_u64..4)
            .prop_map(|(low, span)| json!({"type": "string", "minLength": low, "maxLength": low + span})),
        vec("[a-z]{1,6}", 1..4).prop_map(|words| json!({"enum": words})),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0_u64..3)
                .prop_map(|(items, min)| json!({"type": "array", "items": items, "minItems": min})),
            vec(inner.clone(), 1..4).prop_map(|variants| json!({"oneOf": variants})),
            inner.clone().prop_map(|values| json!({"type": "object", "additionalProperties": values})),
            (vec(("[a-z]{1,5}(_[a-z]{1,5})?", inner, any::<bool>()), 1..4), any::<bool>()).prop_map(object),
        ]
    })
    .boxed()
}

fn object((fields, open): (Vec<(String, Value, bool)>, bool)) -> Value {
    let required: Vec<&String> =
        fields.iter().filter(|(_, _, required)| *required).map(|(name, ..)| name).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema, _)| (name.clone(), schema.clone())).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": open})
}

/// Returns a value that fits a schema of [`schema`]. `seed` decides between alternatives.
#[must_use]
pub fn fitting(schema: &Value, seed: &mut u64) -> Value {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    let roll = *seed >> 33;
    if let Some(values) = schema["enum"].as_array() {
        return values[roll as usize % values.len()].clone();
    }
    if let Some(variants) = schema["oneOf"].as_array() {
        return fitting(&variants[roll as usize % variants.len()], seed);
    }
    if schema["nullable"] == true && roll.is_multiple_of(4) {
        return Value::Null;
    }
    match schema["type"].as_str() {
        Some("boolean") => json!(roll.is_multiple_of(2)),
        Some("integer") => {
            json!(schema["minimum"].as_i64().unwrap() + i64::from(schema["minimum"] != schema["maximum"]))
        }
        Some("string") => match schema["format"].as_str() {
            Some("uuid") => json!("123e4567-e89b-12d3-a456-426614174000"),
            Some(_) => json!("2025-01-31T09:30:00Z"),
            None => json!("é".repeat(schema["maxLength"].as_u64().unwrap() as usize)),
        },
        Some("array") => {
            let length = schema["minItems"].as_u64().unwrap() + roll % 2;
            (0..length).map(|_| fitting(&schema["items"], seed)).collect()
        }
        Some("object") => match schema["properties"].as_object() {
            None => json!({"any key": fitting(&schema["additionalProperties"], seed)}),
            Some(properties) => {
                let required: Vec<&str> = super::required_fields(schema);
                let fields = properties
                    .iter()
                    .filter(|(name, _)| required.contains(&name.as_str()) || roll.is_multiple_of(2));
                fields
                    .map(|(name, property)| (name.clone(), fitting(property, seed)))
                    .collect::<Map<_, _>>()
                    .into()
            }
        },
        _ if schema["type"].is_array() => {
            if roll.is_multiple_of(3) {
                Value::Null
            } else {
                json!(schema["exclusiveMinimum"].as_f64().unwrap() + 0.5)
            }
        }
        _ => json!([roll]),
    }
}
