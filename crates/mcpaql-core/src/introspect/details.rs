//! Describes one operation in full. Nested object parameters are named types.

use crate::catalog::{Catalog, CatalogEntry, FullOperation, Producers};
use crate::lifecycle::{ExecutionAction, ExecutionStatus, Lifecycle};
use crate::links::MAX_NAMED_PRODUCERS;
use crate::operation::{Operation, Param};
use crate::signature::{self, TypeBudget};
use crate::tokens;
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Schema keywords that are shown beside a parameter's type.
const CONSTRAINTS: &[&str] = &[
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
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "nullable",
    "deprecated",
];

/// Describes an operation in full; `None` if it cannot be read.
pub(super) fn operation(catalog: &Catalog, entry: &CatalogEntry) -> Option<Value> {
    let full = catalog.full_operation(entry)?;
    let operation = full.operation;
    let mut out = Map::new();
    out.insert("name".into(), operation.name.as_str().into());
    out.insert("semantic_category".into(), operation.category.as_str().into());
    out.insert("endpoint".into(), operation.endpoint.as_str().into());
    out.insert("mcpTool".into(), entry.tool.as_str().into());
    out.insert("description".into(), operation.description.as_str().into());
    out.insert(
        "permissions".into(),
        json!({"readOnly": entry.hints.read_only, "destructive": entry.hints.destructive}),
    );
    let producers = catalog.producers(entry);
    out.insert(
        "parameters".into(),
        operation.params.iter().map(|param| parameter(param, &producers)).collect(),
    );
    out.insert("returns".into(), returns(full));
    out.insert("examples".into(), examples(operation));
    out.insert("danger".into(), operation.danger.as_str().into());
    out.insert("idempotent".into(), entry.hints.idempotent.into());
    out.insert("signature".into(), signature::line_with_types(operation, full.types).into());
    if !operation.tags.is_empty() {
        out.insert("tags".into(), json!(operation.tags));
    }
    if !operation.aliases.is_empty() {
        out.insert("aliases".into(), json!(operation.aliases));
    }
    if let Some(lifecycle) = &entry.operation.lifecycle {
        out.insert("lifecycle".into(), background(lifecycle));
    }
    if let Some(instead) = &operation.deprecated {
        out.insert(
            "deprecated".into(),
            if instead.is_empty() { true.into() } else { instead.as_str().into() },
        );
    }
    Some(Value::Object(out))
}

/// Maximum types of the parameters of a call.
const MAX_CALL_TYPES: usize = 12;
/// Maximum estimated tokens of what a call needs.
const MAX_CALL_TOKENS: usize = 118;
/// Maximum tokens of a signature, and maximum producers of an identifier, from long to short.
const CALL_SIZES: [(usize, usize); 6] = [(110, 3), (110, 1), (95, 1), (80, 1), (60, 1), (60, 0)];

/// Describes what a call needs: the signature with the types of its parameters, and the producers of its identifiers.
/// If the types do not fit, they are left out; then optional parameters are.
pub(super) fn signature_with_types(catalog: &Catalog, entry: &CatalogEntry) -> Option<Value> {
    let full = catalog.full_operation(entry)?;
    let call = Operation { returns: None, examples: Vec::new(), ..full.operation.clone() };
    let producers = catalog.producers(entry);
    let describe = |signature: String, named: usize| {
        let mut out = Map::new();
        out.insert("name".into(), call.name.as_str().into());
        out.insert("endpoint".into(), call.endpoint.as_str().into());
        out.insert("signature".into(), signature.into());
        let from = producers.iter().filter(|_| named > 0).map(|(param, names)| {
            (param.clone(), names.iter().copied().take(named).collect::<Vec<_>>().into())
        });
        let from: Map<String, Value> = from.collect();
        if !from.is_empty() {
            out.insert("from".into(), Value::Object(from));
        }
        Value::Object(out)
    };
    let fits = |shown: &Value| tokens::estimate(&shown.to_string()) <= MAX_CALL_TOKENS;
    let budget = TypeBudget { lines: MAX_CALL_TYPES, tokens: MAX_CALL_TOKENS };
    if let Some(whole) = signature::line_with_all_types(&call, full.types, budget)
        && let Some(shown) =
            [MAX_NAMED_PRODUCERS, 1].map(|named| describe(whole.clone(), named)).into_iter().find(fits)
    {
        return Some(shown);
    }
    let mut shown = Value::Null;
    for (tokens, named) in CALL_SIZES {
        shown = describe(signature::brief(&call, tokens), named);
        if fits(&shown) {
            break;
        }
    }
    Some(shown)
}

/// Describes an operation in a list: its signature, with types if they are few.
pub(super) fn list_signature(catalog: &Catalog, entry: &CatalogEntry) -> Option<Value> {
    let full = catalog.full_operation(entry)?;
    let call = Operation { returns: None, examples: Vec::new(), ..full.operation.clone() };
    let signature = match signature::line_with_all_types(&call, full.types, TypeBudget::LISTED) {
        Some(signature) => signature,
        None => signature::call(&call),
    };
    Some(json!({"name": call.name, "signature": signature}))
}

/// Describes how an operation runs in the background, and the operations to follow it.
fn background(lifecycle: &Lifecycle) -> Value {
    json!({
        "states": ExecutionStatus::ALL.map(ExecutionStatus::as_str),
        "survives_session": lifecycle.survives,
        "timeout_seconds": lifecycle.limit_ms().div_ceil(1000),
        "keep_seconds": lifecycle.keep_seconds,
        "operations": ExecutionAction::ALL.map(ExecutionAction::operation_name),
    })
}

fn examples(operation: &Operation) -> Value {
    let example = |example: &crate::operation::Example| {
        let mut out = Map::new();
        if !example.description.is_empty() {
            out.insert("description".into(), example.description.as_str().into());
        }
        out.insert("request".into(), json!({"operation": operation.name, "params": example.params}));
        Value::Object(out)
    };
    operation.examples.iter().map(example).collect()
}

/// Describes a parameter as `ParameterInfo`: flat, with its constraints.
fn parameter(param: &Param, producers: &Producers<'_>) -> Value {
    let mut out = field(&param.name, &param.schema, param.required);
    if !param.description.is_empty() {
        out.insert("description".into(), param.description.as_str().into());
    }
    if let Some(default) = param.default.as_ref().filter(|_| !param.sensitive) {
        out.insert("default".into(), default.clone());
    }
    if let Some(default) = param.api_default.as_ref().filter(|_| !param.sensitive) {
        out.insert("api_default".into(), default.clone());
    }
    if param.sensitive {
        out.insert("sensitive".into(), true.into());
    }
    if let Some((_, names)) = producers.iter().find(|(name, _)| *name == param.name) {
        out.insert("from".into(), json!(names));
    }
    if !is_flat(&param.schema) {
        // The complete schema, because the flat view does not show all of it.
        out.insert("schema".into(), param.schema.clone());
    }
    Value::Object(out)
}

/// Returns whether type, constraints and `items` describe the full schema.
fn is_flat(schema: &Value) -> bool {
    let nested = [
        "oneOf",
        "anyOf",
        "allOf",
        "not",
        "prefixItems",
        "properties",
        "patternProperties",
        "additionalProperties",
    ];
    nested.iter().all(|key| schema.get(key).is_none()) && schema.get("items").is_none_or(is_flat)
}

/// Describes a value by its schema: name, type, `required`, constraints and `items`.
pub(super) fn field(name: &str, schema: &Value, required: bool) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("name".into(), name.into());
    out.insert("type".into(), type_name(schema).into());
    out.insert("required".into(), required.into());
    for key in ["description", "default"].iter().chain(CONSTRAINTS) {
        if let Some(value) = schema.get(key) {
            out.insert((*key).to_owned(), value.clone());
        }
    }
    if let Some(items) = schema.get("items").filter(|items| items.is_object()) {
        let mut inner = field("item", items, true);
        inner.shift_remove("name");
        inner.shift_remove("required");
        out.insert("items".into(), Value::Object(inner));
    }
    out
}

/// Returns `string`, `array`, a type's name, or the signature's notation for other types.
fn type_name(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        _ => signature::type_of(schema),
    }
}

fn returns(full: FullOperation<'_>) -> Value {
    let Some(returns) = &full.operation.returns else {
        return json!({"name": "any", "kind": "scalar"});
    };
    let name = signature::type_of(&returns.schema);
    let mut out = Map::new();
    out.insert("name".into(), name.into());
    out.insert("kind".into(), kind(resolve(full.types, &returns.schema)).into());
    if !returns.description.is_empty() {
        out.insert("description".into(), returns.description.as_str().into());
    }
    Value::Object(out)
}

/// Follows one reference. A declared type is never only a reference to itself.
fn resolve<'v>(types: &'v IndexMap<String, Value>, schema: &'v Value) -> &'v Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/types/"));
    name.and_then(|name| types.get(name)).unwrap_or(schema)
}

pub(super) fn kind(schema: &Value) -> &'static str {
    if schema.get("enum").is_some() {
        "enum"
    } else if schema.get("oneOf").is_some() || schema.get("anyOf").is_some() {
        "union"
    } else if schema.get("properties").is_some()
        || schema.get("type").is_some_and(|kind| kind == "object" || kind == "array")
    {
        "object"
    } else {
        "scalar"
    }
}
