//! Describes parameters and fields of types in the closed shape of the specification's `ParameterInfo`.
//!
//! What always holds: the shape has only the specification's keys. A constraint that it has no key for is a sentence of
//! the description, so a caller that reads only this shape can still make a valid call. [`extras`] returns the keywords
//! themselves.

use crate::schema::shorten;
use crate::signature;
use serde_json::{Map, Value, json};

/// Keywords that the shape has keys for.
const SHOWN_KEYWORDS: &[&str] =
    &["enum", "minimum", "maximum", "minLength", "maxLength", "pattern", "format"];
/// Keywords that become words of the description.
const WORDED_KEYWORDS: &[&str] = &[
    "const",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "nullable",
    "deprecated",
];
/// Keywords that make a schema more than a type with constraints.
const NESTED_KEYWORDS: &[&str] = &[
    "oneOf",
    "anyOf",
    "allOf",
    "not",
    "prefixItems",
    "properties",
    "patternProperties",
    "additionalProperties",
];
/// Maximum characters of a nested schema in a description.
const MAX_FORM_CHARS: usize = 300;

/// Describes a value by its schema: name, type, `required`, description, constraints and `items`.
pub(super) fn field(name: &str, schema: &Value, required: bool, description: &str) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("name".into(), name.into());
    out.insert("type".into(), type_name(schema).into());
    out.insert("required".into(), required.into());
    let description = described(description, schema);
    if !description.is_empty() {
        out.insert("description".into(), description.into());
    }
    for key in SHOWN_KEYWORDS {
        if let Some(value) = schema.get(key) {
            out.insert((*key).to_owned(), value.clone());
        }
    }
    if let Some(value) = schema.get("const") {
        out.insert("enum".into(), json!([value]));
    }
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        out.insert("items".into(), Value::Object(item(items)));
    }
    out
}

/// Returns the keywords that [`field`] has no keys for, and the whole schema if it is nested.
pub(super) fn extras(schema: &Value) -> Map<String, Value> {
    let keyword = |key: &&str| Some(((*key).to_owned(), schema.get(*key)?.clone()));
    let mut out: Map<String, Value> = WORDED_KEYWORDS.iter().filter_map(keyword).collect();
    if !is_flat(schema) {
        out.insert("schema".into(), schema.clone());
    }
    out
}

/// Describes the items of an array. They have an open shape.
fn item(schema: &Value) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("type".into(), type_name(schema).into());
    for key in ["description", "default"].iter().chain(SHOWN_KEYWORDS).chain(WORDED_KEYWORDS) {
        if let Some(value) = schema.get(key) {
            out.insert((*key).to_owned(), value.clone());
        }
    }
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        out.insert("items".into(), Value::Object(item(items)));
    }
    out
}

/// Returns a description with a sentence about the constraints that have no key.
pub(super) fn described(description: &str, schema: &Value) -> String {
    let description = description.trim();
    let mut clauses: Vec<String> =
        WORDED_KEYWORDS.iter().filter_map(|key| clause(key, schema.get(*key)?)).collect();
    if !is_flat(schema) {
        let form = signature::type_with_bounds(schema);
        if form != signature::type_of(schema) {
            clauses.push(format!("form: {}", shorten(&form, MAX_FORM_CHARS)));
        }
    }
    let sentence = clauses.join(", ");
    let mut letters = sentence.chars();
    let Some(first) = letters.next() else { return description.to_owned() };
    let sentence = format!("{}{}.", first.to_uppercase(), letters.as_str());
    match description {
        "" => sentence,
        whole if whole.ends_with(['.', '!', '?']) => format!("{whole} {sentence}"),
        open => format!("{open}. {sentence}"),
    }
}

fn clause(keyword: &str, value: &Value) -> Option<String> {
    let is_number = value.is_number();
    Some(match keyword {
        "exclusiveMinimum" if is_number => format!("greater than {value}"),
        "exclusiveMaximum" if is_number => format!("less than {value}"),
        "exclusiveMinimum" if value == &Value::Bool(true) => "the minimum itself is excluded".to_owned(),
        "exclusiveMaximum" if value == &Value::Bool(true) => "the maximum itself is excluded".to_owned(),
        "multipleOf" => format!("a multiple of {value}"),
        "minItems" if value != &json!(0) => format!("at least {value} item(s)"),
        "maxItems" => format!("at most {value} item(s)"),
        "minProperties" if value != &json!(0) => format!("at least {value} field(s)"),
        "maxProperties" => format!("at most {value} field(s)"),
        "uniqueItems" if value == &Value::Bool(true) => "without duplicates".to_owned(),
        "nullable" if value == &Value::Bool(true) => "may be null".to_owned(),
        "deprecated" if value == &Value::Bool(true) => "deprecated".to_owned(),
        _ => return None,
    })
}

/// Returns whether type, constraints and `items` describe the full schema.
fn is_flat(schema: &Value) -> bool {
    NESTED_KEYWORDS.iter().all(|key| schema.get(key).is_none()) && schema.get("items").is_none_or(is_flat)
}

/// Returns `string`, `array`, a type's name, or the signature's notation for other types.
fn type_name(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        _ => signature::type_of(schema),
    }
}

/// Returns the specification's kind of a type.
pub(super) fn kind(schema: &Value) -> &'static str {
    let has = |key: &str| schema.get(key).is_some();
    if let Some(Value::Array(values)) = schema.get("enum") {
        // The values of an enum are strings in the closed shape, and a caller would send them as strings.
        let is_text = values.iter().all(|value| value.is_string() || value.is_null());
        if is_text { "enum" } else { "scalar" }
    } else if has("oneOf") || has("anyOf") {
        "union"
    } else if has("properties") || schema.get("type").is_some_and(|kind| kind == "object" || kind == "array")
    {
        "object"
    } else {
        "scalar"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constraint_without_a_key_is_a_sentence_of_the_description() {
        let rows = [
            (
                json!({"type": "array", "maxItems": 3, "uniqueItems": true}),
                "",
                "At most 3 item(s), without duplicates.",
            ),
            (json!({"type": "string", "nullable": true}), "Its name", "Its name. May be null."),
            (
                json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.5}),
                "Price!",
                "Price! Greater than 0, a multiple of 0.5.",
            ),
            (
                json!({"oneOf": [{"type": "string", "minLength": 3}, {"type": "boolean"}]}),
                "",
                "Form: string(3.. chars) | boolean.",
            ),
            (json!({"type": "string", "maxLength": 3}), "Code", "Code"),
            (json!({"oneOf": [{"type": "string"}, {"type": "boolean"}]}), "", ""),
        ];
        for (schema, description, expected) in rows {
            assert_eq!(described(description, &schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_constant_is_an_enum_of_one_value() {
        let shown = field("kind", &json!({"const": 5}), true, "");
        assert_eq!(Value::Object(shown), json!({"name": "kind", "type": "5", "required": true, "enum": [5]}));
        assert_eq!(Value::Object(extras(&json!({"const": 5}))), json!({"const": 5}));
    }

    #[test]
    fn only_texts_are_values_of_an_enum() {
        assert_eq!(kind(&json!({"enum": ["a", null]})), "enum");
        assert_eq!(kind(&json!({"enum": [1, 2]})), "scalar");
    }
}
