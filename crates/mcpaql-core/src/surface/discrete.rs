//! Builds the tool of a single operation. Its schema includes the types it needs.

use crate::adapter::ResultForm;
use crate::catalog::{Catalog, CatalogEntry, Tool};
use crate::operation::{Binding, McpBinding, Operation, Param, assumed_default, fills_default};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Added to the description of an operation that runs in the background.
const BACKGROUND: &str = "Runs in the background: returns an execution_id for get_execution, which waits.";

/// Builds the tool of an operation. `params` are those of the document; for a library operation they are read again.
pub(super) fn operation_tool(catalog: &Catalog, entry: &CatalogEntry, params: &[Param]) -> Option<Tool> {
    let full = catalog.read_from_library(entry);
    let (operation, params, types) = match &full {
        Some(full) => (&full.operation, full.operation.params.as_slice(), &full.types),
        None if catalog.is_deferred(entry) => return None,
        None => (&entry.operation, params, &catalog.types),
    };
    let schema =
        own_schema(catalog, operation, params).unwrap_or_else(|| built_schema(operation, params, types));
    let description = if operation.description.is_empty() {
        operation.title.clone()
    } else {
        operation.description.clone()
    };
    let description = match entry.operation.lifecycle {
        Some(_) => format!("{description} {BACKGROUND}"),
        None => description,
    };
    let description = match operation.deprecated.as_deref().map(str::trim) {
        None => description,
        Some("") => format!("Deprecated. {description}"),
        Some(instead) => format!("Deprecated. {instead} {description}"),
    };
    Some(Tool {
        name: entry.tool.clone(),
        title: operation.title.clone(),
        description,
        input_schema: schema,
        output_schema: output_schema(catalog, operation, types),
        max_result_chars: None,
        hints: entry.hints.select(entry.written_hints),
        title_in_annotations: catalog.title_in_annotations,
    })
}

/// The schema of the MCP server that runs the tool, for plain results. Parameters are accepted by the server's own names.
fn own_schema(catalog: &Catalog, operation: &Operation, params: &[Param]) -> Option<Value> {
    let Binding::Mcp(McpBinding { input_schema: Some(Value::Object(own)), .. }) = &operation.binding else {
        return None;
    };
    // A call that selects its server has a parameter that the server does not know.
    if catalog.results != ResultForm::Plain || !catalog.adapter.targets.is_empty() {
        return None;
    }
    let mut schema = own.clone();
    let names = schema.get("properties").and_then(Value::as_object);
    let is_listed = |param: &Param| names.is_some_and(|names| names.contains_key(&param.wire));
    if params.iter().all(is_listed) {
        // Calls with other parameters are refused, whatever the server says.
        schema.insert("additionalProperties".into(), false.into());
    }
    Some(Value::Object(schema))
}

/// Builds the schema from the parameters that calls are validated with.
fn built_schema(operation: &Operation, params: &[Param], types: &IndexMap<String, Value>) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for param in params {
        let mut schema = param.schema.as_object().cloned().unwrap_or_default();
        if !param.description.is_empty() {
            schema.insert("description".into(), param.description.as_str().into());
        }
        let filled = param.default.as_ref().filter(|_| !param.sensitive);
        if let Some(default) = filled.or_else(|| assumed_default(operation, param)) {
            schema.insert("default".into(), default.clone());
        }
        properties.insert(param.name.clone(), Value::Object(schema));
        if param.required && !fills_default(operation, param) {
            required.push(Value::from(param.name.as_str()));
        }
    }
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), Value::Object(properties));
    if !required.is_empty() {
        schema.insert("required".into(), Value::Array(required));
    }
    schema.insert("additionalProperties".into(), false.into());
    let mut schema = Value::Object(schema);
    let defs = definitions(&mut schema, types);
    if let (Some(root), false) = (schema.as_object_mut(), defs.is_empty()) {
        root.insert("$defs".into(), Value::Object(defs));
    }
    schema
}

/// The schema of plain results, if the result is declared as an object.
fn output_schema(catalog: &Catalog, operation: &Operation, types: &IndexMap<String, Value>) -> Option<Value> {
    let returns = operation.returns.as_ref().filter(|_| catalog.results == ResultForm::Plain)?;
    let schema = tolerant(&returns.schema, types, MAX_OUTPUT_DEPTH, true);
    // The protocol requires an object.
    (schema.get("type").is_some_and(|kind| kind == "object")).then_some(schema)
}

/// Types inside types that an output schema describes.
const MAX_OUTPUT_DEPTH: usize = 6;

/// Returns a schema that describes a value but rejects only wrong types. Clients reject a whole answer that does not match
/// its schema, and APIs return more, less and other values than they declare. Only the root is never null.
fn tolerant(schema: &Value, types: &IndexMap<String, Value>, depth: usize, is_root: bool) -> Value {
    let named = schema.get("$ref").and_then(Value::as_str).and_then(|name| name.strip_prefix("#/types/"));
    if let Some(name) = named {
        let next = types.get(name).filter(|_| depth > 0);
        return next.map_or_else(|| json!({}), |schema| tolerant(schema, types, depth - 1, is_root));
    }
    let Value::Object(members) = schema else { return json!({}) };
    let mut out = Map::new();
    match members.get("type") {
        Some(Value::String(kind)) if is_root => drop(out.insert("type".into(), kind.as_str().into())),
        Some(Value::String(kind)) if kind != "null" => {
            out.insert("type".into(), json!([kind, "null"]));
        }
        None if is_root && members.contains_key("properties") => {
            out.insert("type".into(), "object".into());
        }
        _ => {}
    }
    out.extend(members.get("description").cloned().map(|text| ("description".to_owned(), text)));
    if let Some(Value::Object(properties)) = members.get("properties").filter(|_| depth > 0) {
        let properties =
            properties.iter().map(|(name, inner)| (name.clone(), tolerant(inner, types, depth - 1, false)));
        out.insert("properties".into(), Value::Object(properties.collect()));
    }
    if let Some(items) = members.get("items").filter(|_| depth > 0) {
        out.insert("items".into(), tolerant(items, types, depth - 1, false));
    }
    Value::Object(out)
}

/// Rewrites `#/types/X` to `#/$defs/X` and collects the needed types, each once.
fn definitions(schema: &mut Value, types: &IndexMap<String, Value>) -> Map<String, Value> {
    let mut needed = Vec::new();
    rewrite(schema, &mut needed);
    let mut defs = Map::new();
    while let Some(name) = needed.pop() {
        if defs.contains_key(&name) {
            continue;
        }
        let mut definition = types.get(&name).cloned().unwrap_or_else(|| json!({}));
        rewrite(&mut definition, &mut needed);
        defs.insert(name, definition);
    }
    defs.sort_keys();
    defs
}

fn rewrite(value: &mut Value, needed: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            spell_out_null(map);
            for (key, member) in map {
                let name = member.as_str().and_then(|text| text.strip_prefix("#/types/")).map(str::to_owned);
                match name {
                    Some(name) if key == "$ref" => {
                        *member = Value::from(format!("#/$defs/{name}"));
                        needed.push(name);
                    }
                    _ => rewrite(member, needed),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rewrite(item, needed)),
        _ => {}
    }
}

/// Replaces `nullable`, which is not JSON Schema: clients that validate would reject null.
fn spell_out_null(map: &mut Map<String, Value>) {
    // If it is not a boolean, it is a property with that name.
    if map.get("nullable").is_none_or(|value| !value.is_boolean()) {
        return;
    }
    if map.shift_remove("nullable") != Some(Value::Bool(true)) {
        return;
    }
    if let Some(Value::Array(values)) = map.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    let has_enum = map.contains_key("enum");
    match map.get_mut("type") {
        Some(Value::Array(kinds)) => kinds.push("null".into()),
        Some(kind) => *kind = json!([kind.take(), "null"]),
        None if has_enum => {}
        None => {
            let schema = std::mem::take(map);
            map.insert("anyOf".into(), json!([schema, {"type": "null"}]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_is_spelled_the_way_json_schema_does() {
        let rows = [
            (json!({"type": "string", "nullable": true}), json!({"type": ["string", "null"]})),
            (json!({"type": "string", "nullable": false}), json!({"type": "string"})),
            (json!({"enum": ["a"], "nullable": true}), json!({"enum": ["a", null]})),
            (
                json!({"$ref": "#/types/A", "nullable": true}),
                json!({"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]}),
            ),
            (
                json!({"type": "object", "properties": {"nullable": {"type": "string", "nullable": true}}}),
                json!({"type": "object", "properties": {"nullable": {"type": ["string", "null"]}}}),
            ),
        ];
        for (mut schema, expected) in rows {
            rewrite(&mut schema, &mut Vec::new());
            assert_eq!(schema, expected);
        }
    }
}
