//! Lists and describes types: those of the protocol, then those of the adapter.
//!
//! What always holds: a list and a description have the closed shapes of the specification. [`DetailLevel::Full`] adds the
//! declared schema. A page that the caller did not ask for is announced in a warning, because the list has no place for it.

use super::args::{DetailLevel, IntrospectArgs};
use super::fields::{described, field, kind};
use super::page::{self, Page};
use super::protocol::page_protocol;
use crate::catalog::Catalog;
use crate::error::OpError;
use crate::response::{Answer, Warning};
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
    let rows = shown.iter().filter_map(|name| describe_type(catalog, name, Some(detail))).collect();
    let mut data = Map::new();
    let mut warnings: Vec<Warning> = page.clamped_warning().into_iter().collect();
    if options.paged() {
        data.insert("_protocol".into(), page_protocol(&page));
    } else if page.is_part() {
        warnings.push(truncated_warning(&page, names.len()));
    }
    data.insert("types".into(), rows);
    Ok(Answer::new(Value::Object(data)).with_warnings(warnings))
}

fn truncated_warning(page: &Page, total: usize) -> Warning {
    let shown = page.range.len();
    let message =
        format!("These are {shown} of {total} types. Get the others in pages, with 'first' and 'after'.");
    Warning::new("VALIDATION_TRUNCATED_WARNING", message)
        .with_detail("field", "types")
        .with_detail("original_count", total)
        .with_detail("truncated_count", shown)
        .with_detail("limit", shown)
        .with_detail("pageInfo", page.info())
}

/// Describes a type; without a detail level, as the specification does.
pub(super) fn describe_type(catalog: &Catalog, name: &str, detail: Option<DetailLevel>) -> Option<Value> {
    let is_protocol_type = PROTOCOL_TYPES.contains(&name);
    match detail {
        None => type_details(catalog, name),
        Some(DetailLevel::Full) => {
            let mut details = type_details(catalog, name)?;
            if let (Some(members), false) = (details.as_object_mut(), is_protocol_type) {
                members.insert("schema".into(), catalog.type_named(name)?);
            }
            Some(details)
        }
        Some(DetailLevel::Names) => {
            (is_protocol_type || catalog.type_named(name).is_some()).then(|| name.into())
        }
        Some(DetailLevel::Signature) if !is_protocol_type => {
            let schema = catalog.type_named(name)?;
            Some(json!({"name": name, "signature": signature::type_line(name, &schema)}))
        }
        Some(DetailLevel::Signature | DetailLevel::Summary) => {
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
    let description = type_description(schema);
    if !description.is_empty() {
        out.insert("description".into(), description.into());
    }
    out
}

/// Returns the description of a type, with what its kind has no key for.
fn type_description(schema: &Value) -> String {
    let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
    let own = match kind(schema) {
        "object" if schema.get("properties").is_some() => String::new(),
        "object" | "scalar" => signature::type_with_bounds(schema),
        _ => String::new(),
    };
    let described = described(text("description"), schema);
    match (own.as_str(), described.as_str()) {
        ("" | "object" | "any", _) => described,
        (_, "") => format!("A value of the form {own}."),
        (_, text) if text.contains(&own) => described,
        (_, text) if text.ends_with(['.', '!', '?']) => format!("{text} Its form is {own}."),
        _ => format!("{described}. Its form is {own}."),
    }
}

/// Describes a type in the closed shape of the specification's `TypeDetails`.
fn type_details(catalog: &Catalog, name: &str) -> Option<Value> {
    if let Some(details) = protocol_type(name) {
        return Some(details);
    }
    let schema = &catalog.type_named(name)?;
    let mut out = type_header(name, schema);
    match kind(schema) {
        "enum" => {
            let values = schema.get("enum").and_then(Value::as_array);
            let texts = values.into_iter().flatten().filter(|value| value.is_string()).cloned();
            out.insert("values".into(), texts.collect());
        }
        "union" => {
            let variants = schema.get("oneOf").or_else(|| schema.get("anyOf")).and_then(Value::as_array);
            let members: Vec<String> = variants.into_iter().flatten().map(signature::type_of).collect();
            out.insert("members".into(), json!(members));
        }
        // A list, and an object with free names, have no fields.
        "object" => {
            out.insert("fields".into(), fields(schema));
        }
        _ => {}
    }
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
        .map(|(name, property)| {
            let description = property.get("description").and_then(Value::as_str).unwrap_or_default();
            let mut shown = field(name, property, required.contains(&name.as_str()), description);
            shown.extend(property.get("default").map(|default| ("default".to_owned(), default.clone())));
            Value::Object(shown)
        })
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
                {"name": "success", "type": "boolean", "required": true, "enum": [true]},
                {"name": "data", "type": "any", "required": true},
                {"name": "warnings", "type": "array", "required": false, "items": {"type": "object"}},
            ],
        }),
        "OperationFailure" => json!({
            "name": name, "kind": "object", "description": "A call that failed",
            "fields": [
                {"name": "success", "type": "boolean", "required": true, "enum": [false]},
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
            "name": name, "kind": "union", "description": "Which fields of a result to return: minimal, standard, full, or a list of paths",
            "members": ["string", "string[]"],
        }),
        _ => return None,
    };
    Some(details)
}
