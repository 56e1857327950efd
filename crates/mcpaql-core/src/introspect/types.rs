//! Lists and describes types: those of the protocol, then those of the adapter.

use super::args::{DetailLevel, IntrospectArgs};
use super::details::{field, kind};
use super::page::{self, Page};
use crate::catalog::Catalog;
use crate::error::OpError;
use crate::response::Answer;
use crate::signature;
use serde_json::{Map, Value, json};

/// Default page size of type details.
const FULL_PAGE_SIZE: usize = 10;

/// The types of the protocol.
pub const PROTOCOL_TYPES: &[&str] = &[
    "SemanticCategory",
    "OperationInput",
    "OperationResult",
    "OperationSuccess",
    "OperationFailure",
    "EndpointPermissions",
    "FieldSelection",
];

/// Lists the types, in pages if there are many.
pub(super) fn list(catalog: &Catalog, options: &IntrospectArgs<'_>) -> Result<Answer, OpError> {
    let names: Vec<String> =
        PROTOCOL_TYPES.iter().map(|name| (*name).to_owned()).chain(catalog.type_names()).collect();
    let detail = options.detail.unwrap_or(DetailLevel::Summary);
    let (size, max) = match detail {
        DetailLevel::Names => (page::MAX_LIST_PAGE_SIZE, page::MAX_LIST_PAGE_SIZE),
        DetailLevel::Full => (FULL_PAGE_SIZE, page::MAX_LIST_PAGE_SIZE),
        _ if names.len() <= page::MAX_UNPAGED_ITEMS => (page::MAX_UNPAGED_ITEMS, page::MAX_LIST_PAGE_SIZE),
        _ => (page::LIST_PAGE_SIZE, page::MAX_LIST_PAGE_SIZE),
    };
    let page = Page::of(options, names.len(), size, max)?;
    let shown = names.get(page.range.clone()).unwrap_or_default();
    let mut data = Map::new();
    data.insert(
        "types".into(),
        shown.iter().filter_map(|name| describe_type(catalog, name, detail)).collect(),
    );
    if options.paged() || page.is_part() {
        data.insert("pageInfo".into(), page.info());
    }
    Ok(Answer::new(Value::Object(data)))
}

/// Describes a type, at the requested detail level.
pub(super) fn describe_type(catalog: &Catalog, name: &str, detail: DetailLevel) -> Option<Value> {
    match detail {
        DetailLevel::Full => type_details(catalog, name),
        DetailLevel::Names => {
            let known = PROTOCOL_TYPES.contains(&name) || catalog.type_named(name).is_some();
            known.then(|| name.into())
        }
        DetailLevel::Signature if !PROTOCOL_TYPES.contains(&name) => {
            let schema = catalog.type_named(name)?;
            Some(json!({"name": name, "signature": signature::type_line(name, &schema)}))
        }
        DetailLevel::Signature | DetailLevel::Summary => {
            let details = match protocol_type(name) {
                Some(details) => details,
                None => type_header(name, &catalog.type_named(name)?).into(),
            };
            let shown = ["name", "kind", "description"].into_iter();
            Some(shown.filter_map(|key| Some((key, details.get(key)?.clone()))).collect())
        }
    }
}

/// Returns the fields that start every description of a type.
fn type_header(name: &str, schema: &Value) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("name".into(), name.into());
    out.insert("kind".into(), kind(schema).into());
    if let Some(description) = schema.get("description") {
        out.insert("description".into(), description.clone());
    }
    out
}

fn type_details(catalog: &Catalog, name: &str) -> Option<Value> {
    if let Some(details) = protocol_type(name) {
        return Some(details);
    }
    let schema = &catalog.type_named(name)?;
    let mut out = type_header(name, schema);
    match kind(schema) {
        "enum" => {
            out.insert("values".into(), schema.get("enum").cloned().unwrap_or_default());
        }
        "union" => {
            let variants = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
            let members: Vec<String> = variants.into_iter().flatten().map(signature::type_of).collect();
            out.insert("members".into(), json!(members));
        }
        "object" if schema.get("properties").is_some() => {
            out.insert("fields".into(), fields(schema));
        }
        _ => {
            let shape = field(name, schema, true);
            out.extend(
                shape
                    .into_iter()
                    .filter(|(key, _)| !["name", "required", "description"].contains(&key.as_str())),
            );
        }
    }
    // The declared schema, because the flat view does not show all of it.
    out.insert("schema".into(), schema.clone());
    Some(Value::Object(out))
}

fn fields(schema: &Value) -> Value {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flatten()
        .map(|(name, property)| Value::Object(field(name, property, required.contains(&name.as_str()))))
        .collect()
}

fn protocol_type(name: &str) -> Option<Value> {
    let details = match name {
        "SemanticCategory" => json!({
            "name": name, "kind": "enum", "description": "What an operation does to the world",
            "values": crate::operation::Category::ALL.map(crate::operation::Category::as_str),
        }),
        "OperationInput" => json!({
            "name": name, "kind": "object", "description": "The arguments of every tool",
            "fields": [
                {"name": "operation", "type": "string", "required": true, "description": "Operation name"},
                {"name": "params", "type": "object", "required": false, "description": "Operation parameters"},
            ],
        }),
        "OperationResult" => json!({
            "name": name, "kind": "union", "description": "The result of every call",
            "members": ["OperationSuccess", "OperationFailure"],
        }),
        "OperationSuccess" => json!({
            "name": name, "kind": "object", "description": "A successful call",
            "fields": [
                {"name": "success", "type": "boolean", "required": true, "const": true},
                {"name": "data", "type": "any", "required": true},
                {"name": "warnings", "type": "array", "required": false, "items": {"type": "object"}},
            ],
        }),
        "OperationFailure" => json!({
            "name": name, "kind": "object", "description": "A call that failed",
            "fields": [
                {"name": "success", "type": "boolean", "required": true, "const": false},
                {"name": "error", "type": "object", "required": true, "description": "code, message and optional details"},
            ],
        }),
        "EndpointPermissions" => json!({
            "name": name, "kind": "object", "description": "Whether an operation is read-only or may be destructive",
            "fields": [
                {"name": "readOnly", "type": "boolean", "required": true},
                {"name": "destructive", "type": "boolean", "required": true},
            ],
        }),
        "FieldSelection" => json!({
            "name": name, "kind": "union", "description": "Which fields of a result to return (not supported by this server yet)",
            "members": ["string", "string[]"],
        }),
        _ => return None,
    };
    Some(details)
}
