//! Introspection: pure views of the catalog.
//!
//! Both query forms read the compiled operations that validation reads. Nested object parameters appear as named types, so a
//! `ParameterInfo` stays flat and nothing of the source schema is lost.

use crate::catalog::{Catalog, Entry};
use crate::error::{Code, OpError};
use crate::operation::{Operation, Param};
use crate::request;
use crate::response::{Answer, Warning};
use crate::signature;
use crate::suggest;
use serde_json::{Map, Value, json};

/// The specification this implements.
pub const PROTOCOL_VERSION: &str = "1.0.0-draft";

/// Keywords of a schema that stand beside a parameter's type.
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

/// Answers `introspect` for arguments that are already validated.
///
/// # Errors
/// Never for a name that does not exist: that is a success with null and a warning, as the protocol says.
pub fn answer(catalog: &Catalog, args: &Map<String, Value>) -> Result<Answer, OpError> {
    let query = args.get("query").and_then(Value::as_str).unwrap_or("operations");
    let names: Option<Vec<&str>> = match args.get("name") {
        None | Some(Value::Null) => None,
        Some(Value::Array(names)) => Some(names.iter().filter_map(Value::as_str).collect()),
        Some(name) => Some(name.as_str().into_iter().collect()),
    };
    let several = matches!(args.get("name"), Some(Value::Array(_)));
    match (query, names) {
        ("operations", None) => Ok(Answer::new(list_operations(catalog))),
        ("types", None) => Ok(Answer::new(list_types(catalog))),
        ("operations", Some(names)) => Ok(details(&names, several, "operation", |name| {
            catalog.get(name).map(|entry| operation_details(catalog, entry)).ok_or_else(|| {
                unknown(
                    "operation",
                    name,
                    catalog.operations.iter().map(|entry| entry.operation.name.as_str()),
                )
            })
        })),
        ("types", Some(names)) => Ok(details(&names, several, "type", |name| {
            type_details(catalog, name).ok_or_else(|| {
                unknown(
                    "type",
                    name,
                    PROTOCOL_TYPES.iter().copied().chain(catalog.types.keys().map(String::as_str)),
                )
            })
        })),
        (other, _) => Err(OpError::new(
            Code::InvalidValue,
            format!("Parameter 'query' must be 'operations' or 'types', not '{other}'."),
        )),
    }
}

/// One result under `key`, or several under its plural.
fn details(
    names: &[&str],
    several: bool,
    key: &str,
    mut find: impl FnMut(&str) -> Result<Value, Warning>,
) -> Answer {
    let mut warnings = Vec::new();
    let mut found = Vec::new();
    for name in names {
        match find(name) {
            Ok(value) => found.push(value),
            Err(warning) => {
                warnings.push(warning);
                if !several {
                    found.push(Value::Null);
                }
            }
        }
    }
    let mut data = Map::new();
    if several {
        data.insert(format!("{key}s"), Value::Array(found));
    } else {
        data.insert(key.to_owned(), found.pop().unwrap_or(Value::Null));
    }
    Answer { data: Value::Object(data).into(), warnings }
}

fn unknown<'a>(kind: &str, name: &str, candidates: impl Iterator<Item = &'a str>) -> Warning {
    let near = suggest::nearest_many(name, candidates, 3);
    let hint = if near.is_empty() {
        format!("List all with query '{kind}s'.")
    } else {
        format!("Nearest: {}.", near.join(", "))
    };
    Warning { code: "NOT_FOUND", message: format!("There is no {kind}{}. {hint}", request::quoted(name)) }
}

fn list_operations(catalog: &Catalog) -> Value {
    let operations: Vec<Value> = catalog
        .operations
        .iter()
        .map(|entry| {
            let operation = &entry.operation;
            json!({
                "name": operation.name,
                "semantic_category": operation.category.as_str(),
                "endpoint": operation.endpoint,
                "description": summary(operation),
            })
        })
        .collect();
    json!({"_protocol": protocol(catalog), "operations": operations})
}

/// The first sentence, which is all a list needs.
fn summary(operation: &Operation) -> &str {
    let text = operation.description.trim();
    let text = if text.is_empty() { operation.title.as_str() } else { text };
    let line = text.lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line, |(first, _)| first)
}

/// `_protocol`: who answers, what it can do and what it will not take.
fn protocol(catalog: &Catalog) -> Value {
    let limits = &catalog.limits;
    json!({
        "version": PROTOCOL_VERSION,
        "conformance": "level-2",
        "mode": catalog.mode.as_str(),
        "profile": catalog.profile,
        "adapter": catalog.adapter.name,
        "display_name": catalog.adapter.display_name,
        "capabilities": {
            "batch": false,
            "field_selection": false,
            "aggregations": false,
            "computed_fields": false,
            "pagination": false,
            "relationship_queries": false,
            "warnings": true,
            "confirmation": false,
            "dangerous_operations": true,
        },
        "limits": {
            "max_request_size": limits.request_bytes,
            "max_response_size": limits.response_bytes,
            "max_string_length": limits.string_bytes,
            "max_array_elements": limits.array_items,
            "max_nesting_depth": limits.depth,
        },
        "concurrency": {"parallel_calls": true},
    })
}

fn operation_details(catalog: &Catalog, entry: &Entry) -> Value {
    let operation = &entry.operation;
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
    out.insert("parameters".into(), operation.params.iter().map(parameter).collect());
    out.insert("returns".into(), returns(catalog, operation));
    out.insert("examples".into(), examples(operation));
    out.insert("danger".into(), operation.danger.as_str().into());
    out.insert("idempotent".into(), entry.hints.idempotent.into());
    out.insert("signature".into(), signature::with_types(operation, &catalog.types).into());
    if !operation.tags.is_empty() {
        out.insert("tags".into(), json!(operation.tags));
    }
    if !operation.aliases.is_empty() {
        out.insert("aliases".into(), json!(operation.aliases));
    }
    if let Some(instead) = &operation.deprecated {
        out.insert(
            "deprecated".into(),
            if instead.is_empty() { true.into() } else { instead.as_str().into() },
        );
    }
    Value::Object(out)
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

/// A parameter as `ParameterInfo`: flat, with its constraints.
fn parameter(param: &Param) -> Value {
    let mut out = field(&param.name, &param.schema, param.required);
    if !param.description.is_empty() {
        out.insert("description".into(), param.description.as_str().into());
    }
    if let Some(default) = param.default.as_ref().filter(|_| !param.sensitive) {
        out.insert("default".into(), default.clone());
    }
    if param.sensitive {
        out.insert("sensitive".into(), true.into());
    }
    if !is_flat(&param.schema) {
        // Whatever the flat view cannot say is here.
        out.insert("schema".into(), param.schema.clone());
    }
    Value::Object(out)
}

/// Whether type, constraints and `items` say all that the schema says.
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

/// Name, type, `required`, constraints and `items` of anything that has a schema.
fn field(name: &str, schema: &Value, required: bool) -> Map<String, Value> {
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

/// `string`, `array`, a type's name, or the signature's spelling for what has no single name.
fn type_name(schema: &Value) -> String {
    match schema.get("type") {
        Some(Value::String(name)) => name.clone(),
        _ => signature::type_of(schema),
    }
}

fn returns(catalog: &Catalog, operation: &Operation) -> Value {
    let Some(returns) = &operation.returns else {
        return json!({"name": "any", "kind": "scalar"});
    };
    let name = signature::type_of(&returns.schema);
    let mut out = Map::new();
    out.insert("name".into(), name.into());
    out.insert("kind".into(), kind(&resolve(catalog, &returns.schema)).into());
    if !returns.description.is_empty() {
        out.insert("description".into(), returns.description.as_str().into());
    }
    Value::Object(out)
}

/// Follows a reference once; declared types are never mere aliases of themselves.
fn resolve(catalog: &Catalog, schema: &Value) -> Value {
    let name = schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/types/"));
    name.and_then(|name| catalog.types.get(name)).unwrap_or(schema).clone()
}

fn kind(schema: &Value) -> &'static str {
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

/// The protocol's own types.
pub const PROTOCOL_TYPES: &[&str] = &[
    "SemanticCategory",
    "OperationInput",
    "OperationResult",
    "OperationSuccess",
    "OperationFailure",
    "EndpointPermissions",
    "FieldSelection",
];

fn list_types(catalog: &Catalog) -> Value {
    let own = catalog.types.iter().map(|(name, schema)| {
        let mut out = Map::new();
        out.insert("name".into(), name.as_str().into());
        out.insert("kind".into(), kind(schema).into());
        if let Some(description) = schema.get("description") {
            out.insert("description".into(), description.clone());
        }
        Value::Object(out)
    });
    let protocol = PROTOCOL_TYPES.iter().filter_map(|name| protocol_type(name)).map(|details| {
        let shown = ["name", "kind", "description"];
        shown
            .iter()
            .filter_map(|key| details.get(key).map(|value| ((*key).to_owned(), value.clone())))
            .collect()
    });
    json!({"types": protocol.chain(own).collect::<Vec<_>>()})
}

fn type_details(catalog: &Catalog, name: &str) -> Option<Value> {
    if let Some(details) = protocol_type(name) {
        return Some(details);
    }
    let schema = catalog.types.get(name)?;
    let mut out = Map::new();
    out.insert("name".into(), name.into());
    out.insert("kind".into(), kind(schema).into());
    if let Some(description) = schema.get("description") {
        out.insert("description".into(), description.clone());
    }
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
    // Whatever the flat view cannot say is here: the type as it was declared.
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
            "name": name, "kind": "object", "description": "What every tool takes",
            "fields": [
                {"name": "operation", "type": "string", "required": true, "description": "Operation name"},
                {"name": "params", "type": "object", "required": false, "description": "Operation parameters"},
            ],
        }),
        "OperationResult" => json!({
            "name": name, "kind": "union", "description": "What every call answers",
            "members": ["OperationSuccess", "OperationFailure"],
        }),
        "OperationSuccess" => json!({
            "name": name, "kind": "object", "description": "A call that worked",
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
            "name": name, "kind": "object", "description": "Whether an operation reads only or may destroy",
            "fields": [
                {"name": "readOnly", "type": "boolean", "required": true},
                {"name": "destructive", "type": "boolean", "required": true},
            ],
        }),
        "FieldSelection" => json!({
            "name": name, "kind": "union", "description": "Which fields of an answer to return (not offered by this server yet)",
            "members": ["string", "string[]"],
        }),
        _ => return None,
    };
    Some(details)
}
