//! Converts JSON Schema to the form of documents: a name such as `string`, `Repository` or `Repository[]` if that is enough.
//!
//! What always holds: keywords have a fixed order, and keywords that documents do not support are left out, because the
//! document would not load with them.

use super::yaml::{YamlMembers, YamlValue};
use mcpaql_core::schema::keywords::DOCUMENT_KEYWORDS;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The keywords in the order in which they are written. The last one, `ref`, is only for authors.
pub(super) const ORDER: &[&str] = match DOCUMENT_KEYWORDS.split_last() {
    Some((_, written)) => written,
    None => &[],
};

/// The prefix of references to types in the model.
const TYPES: &str = "#/types/";
/// Keywords that contain values; they are never written for a secret.
const VALUE_KEYWORDS: &[&str] = &["default", "example", "examples"];

/// Converts a schema, to a name if it has nothing else.
pub(super) fn node(schema: &Value) -> YamlValue<'_> {
    match schema {
        Value::Bool(flag) => YamlValue::Bool(*flag),
        Value::Object(map) => members_node(keywords(map, false)),
        _ => YamlValue::from("any"),
    }
}

/// Returns a schema with these keywords: a name if it has only a type, one key per line if it has a description or
/// properties, and otherwise a short map.
pub(super) fn members_node(mut members: YamlMembers<'_>) -> YamlValue<'_> {
    match members.as_slice() {
        [] => return YamlValue::from("any"),
        [(key, YamlValue::Text(_))] if key == "type" => {}
        _ if members.iter().any(|(key, _)| matches!(&**key, "description" | "properties")) => {
            return YamlValue::Tall(members);
        }
        _ => return YamlValue::Map(members),
    }
    members.pop().map_or(YamlValue::Null, |(_, name)| name)
}

/// Converts the keywords of a schema; those of a secret without any value.
pub(super) fn keywords(map: &Map<String, Value>, secret: bool) -> YamlMembers<'_> {
    let secret = secret || map.get("format").is_some_and(|format| format == "password");
    let place = |key: &str| match ORDER.iter().position(|known| *known == key) {
        None if key.starts_with("x-") => Some(ORDER.len()),
        place => place,
    };
    let mut written: Vec<(usize, Cow<'_, str>, YamlValue<'_>)> = Vec::with_capacity(map.len());
    let list = map.get("type").is_some_and(|name| name == "array");
    let mut items = map.get("items").map(node);
    for (key, value) in map {
        let Some(place) = place(key).filter(|_| !(secret && VALUE_KEYWORDS.contains(&key.as_str()))) else {
            continue;
        };
        let (place, key, node) = match (key.as_str(), value) {
            ("type", _) if list => match &items {
                Some(YamlValue::Text(element)) => (place, "type", YamlValue::from(format!("{element}[]"))),
                _ => (place, "type", YamlValue::from(value)),
            },
            ("items", _) => match items.take() {
                Some(YamlValue::Text(element)) if list => {
                    items = Some(YamlValue::Text(element));
                    continue;
                }
                Some(node) => (place, "items", node),
                None => continue,
            },
            ("$ref", Value::String(target)) if !map.contains_key("type") => {
                match target.strip_prefix(TYPES) {
                    Some(name) => (0, "type", YamlValue::from(name)),
                    None => (place, "$ref", YamlValue::from(value)),
                }
            }
            ("title" | "description", Value::String(text)) if text.trim().is_empty() => continue,
            ("title" | "description", Value::String(text)) => {
                (place, key.as_str(), super::prose(text).into())
            }
            (key, value) => match keyword(key, value) {
                Some(node) => (place, key, node),
                None => continue,
            },
        };
        written.push((place, Cow::Borrowed(key), node));
    }
    written.sort_by_key(|(place, ..)| *place);
    written.into_iter().map(|(_, key, node)| (key, node)).collect()
}

/// Converts a keyword; `None` if its value has the wrong type, because the loader would reject it.
fn keyword<'a>(key: &str, value: &'a Value) -> Option<YamlValue<'a>> {
    match (key, value) {
        ("properties", Value::Object(fields)) => {
            let fields = fields.iter().map(|(name, schema)| (Cow::from(name), node(schema)));
            Some(YamlValue::Tall(fields.collect()))
        }
        // A boolean would apply to the field in its parent, and an empty list means nothing.
        ("required", Value::Array(names)) if !names.is_empty() => Some(YamlValue::from(value)),
        ("not" | "additionalProperties", schema) => Some(node(schema)),
        ("allOf" | "anyOf" | "oneOf" | "prefixItems", Value::Array(schemas)) => {
            Some(YamlValue::List(schemas.iter().map(node).collect()))
        }
        ("properties" | "required" | "allOf" | "anyOf" | "oneOf" | "prefixItems", _) => None,
        (_, value) => Some(YamlValue::from(value)),
    }
}
