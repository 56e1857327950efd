//! Converts the schemas of documents to plain JSON Schema.
//!
//! Documents may use a few short forms: the name of a type instead of a schema (`type: Repository`, `ref: Repository`), the
//! generator's `{array: string}` and `{object: {…}}`, and `required: true` on a field instead of a list on its parent. The
//! model has only JSON Schema, with references written as `{"$ref": "#/types/Name"}`.

use mcpaql_core::diagnostic::{Diagnostic, field_path};
use mcpaql_core::error::Code;
use mcpaql_core::reader::{DocumentObject, DocumentReader, child, short_value};
use mcpaql_core::suggest;
use serde_json::{Map, Value, json};

/// The JSON types.
pub(super) const PRIMITIVES: &[&str] = &["string", "integer", "number", "boolean", "array", "object", "null"];

/// The keywords of schemas in documents.
pub use mcpaql_core::schema::keywords::DOCUMENT_KEYWORDS as SCHEMA_KEYS;

/// Converts a schema of the document to plain JSON Schema; `types` are the names of the declared types.
pub(super) fn schema(reader: &mut DocumentReader, value: &Value, pointer: &str, types: &[String]) -> Value {
    match value {
        Value::String(name) => reference(reader, name, pointer, types),
        Value::Bool(_) => value.clone(),
        Value::Object(map) => {
            let object = DocumentObject { map, pointer: pointer.to_owned() };
            if let Some(short_form) = generator_form(reader, &object, types) {
                return short_form;
            }
            reader.check_keys(&object, SCHEMA_KEYS);
            Value::Object(keywords(reader, &object, types))
        }
        other => {
            reader.wrong_type(pointer, "object", other);
            json!({})
        }
    }
}

/// Converts `{array: T}`, `{object: {name: T}}` and `{ref: Name}`, if the object has no other key.
fn generator_form(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    types: &[String],
) -> Option<Value> {
    let mut members = object.map.iter();
    let (Some((key, value)), None) = (members.next(), members.next()) else { return None };
    let pointer = object.pointer_to(key);
    match key.as_str() {
        "array" => Some(json!({"type": "array", "items": schema(reader, value, &pointer, types)})),
        "object" => {
            let fields = reader.object(value, &pointer)?;
            let properties: Map<String, Value> = fields
                .map
                .iter()
                .map(|(name, field)| (name.clone(), schema(reader, field, &fields.pointer_to(name), types)))
                .collect();
            Some(json!({"type": "object", "properties": properties}))
        }
        "ref" => match value {
            Value::String(name) => Some(reference(reader, name, &pointer, types)),
            other => {
                reader.wrong_type(&pointer, "string", other);
                Some(json!({}))
            }
        },
        _ => None,
    }
}

/// Converts the keywords of a schema object. Values that are not schemas are kept.
pub(super) fn keywords(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    types: &[String],
) -> Map<String, Value> {
    let mut out = Map::new();
    let mut required = Vec::new();
    for (key, value) in object.map {
        let pointer = object.pointer_to(key);
        match key.as_str() {
            "type" => type_keyword(reader, value, &pointer, types, &mut out),
            "$ref" | "ref" => match value {
                Value::String(name) => {
                    let name = name.strip_prefix("#/types/").unwrap_or(name);
                    merge(&mut out, reference(reader, name, &pointer, types));
                }
                other => reader.wrong_type(&pointer, "string", other),
            },
            "properties" => {
                let Some(fields) = reader.object(value, &pointer) else { continue };
                let mut properties = Map::new();
                for (name, field) in fields.map {
                    if let Some(Value::Bool(true)) = field.get("required") {
                        required.push(Value::from(name.as_str()));
                    }
                    properties.insert(name.clone(), schema(reader, field, &fields.pointer_to(name), types));
                }
                out.insert(key.clone(), Value::Object(properties));
            }
            "required" => match value {
                Value::Bool(_) => {} // goes into the parent's `required` list
                Value::Array(names) => required.extend(names.iter().cloned()),
                other => reader.wrong_type(&pointer, "boolean", other),
            },
            "items" | "not" => {
                out.insert(key.clone(), schema(reader, value, &pointer, types));
            }
            "additionalProperties" if !value.is_boolean() => {
                out.insert(key.clone(), schema(reader, value, &pointer, types));
            }
            "oneOf" | "anyOf" | "allOf" | "prefixItems" => {
                let Value::Array(variants) = value else {
                    reader.wrong_type(&pointer, "array", value);
                    continue;
                };
                let variants: Vec<Value> = variants
                    .iter()
                    .enumerate()
                    .map(|(index, variant)| schema(reader, variant, &child(&pointer, index), types))
                    .collect();
                out.insert(key.clone(), Value::Array(variants));
            }
            _ => {
                out.insert(key.clone(), value.clone());
            }
        }
    }
    if !required.is_empty() {
        out.insert("required".into(), Value::Array(required));
    }
    out
}

fn type_keyword(
    reader: &mut DocumentReader,
    value: &Value,
    pointer: &str,
    types: &[String],
    out: &mut Map<String, Value>,
) {
    match value {
        Value::Array(names)
            if names.iter().all(|name| name.as_str().is_some_and(|name| PRIMITIVES.contains(&name))) =>
        {
            out.insert("type".into(), value.clone());
        }
        Value::String(_) | Value::Object(_) => merge(out, schema(reader, value, pointer, types)),
        other => reader.push(
            Diagnostic::error(
                Code::SchemaInvalidType,
                pointer,
                format!("Field '{}' is not a type", field_path(pointer)),
            )
            .expected(format!("one of {}, or a declared type", PRIMITIVES.join(", ")))
            .found(short_value(other)),
        ),
    }
}

fn merge(out: &mut Map<String, Value>, schema: Value) {
    if let Value::Object(map) = schema {
        out.extend(map);
    }
}

/// Converts the name of a JSON type or a declared type; a trailing `[]` makes it an array.
fn reference(reader: &mut DocumentReader, name: &str, pointer: &str, types: &[String]) -> Value {
    if let Some(element) = name.strip_suffix("[]") {
        return json!({"type": "array", "items": reference(reader, element, pointer, types)});
    }
    if PRIMITIVES.contains(&name) {
        return json!({"type": name});
    }
    if name == "any" {
        return json!({});
    }
    if types.iter().any(|known| known == name) {
        return json!({"$ref": format!("#/types/{name}")});
    }
    let mut diagnostic = Diagnostic::error(
        Code::SchemaUnresolvedRef,
        pointer,
        format!("Type '{name}' is neither a JSON type nor declared in types"),
    )
    .found(name);
    let candidates = PRIMITIVES.iter().copied().chain(types.iter().map(String::as_str));
    if let Some(word) = suggest::nearest(name, candidates) {
        diagnostic = diagnostic.suggest(format!("did you mean `{word}`?"));
    }
    reader.push(diagnostic);
    json!({})
}
