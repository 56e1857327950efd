//! Turns parameters into evidence for the classifier of effects.
//!
//! ```
//! use mcpaql_core::evidence::of_schema;
//! use serde_json::json;
//!
//! let schema = json!({"properties": {"action": {"enum": ["list", "delete"]}}});
//! assert_eq!(of_schema(Some(&schema))[0].choices, ["list", "delete"]);
//! ```
//!
//! What always holds: parameters of documents, OpenAPI descriptions and MCP tools become the same evidence, so the classifier treats
//! them alike.

use crate::operation::Param;
use mcpaql_lexicon::classify::{ParamEvidence, ParamForm};
use serde_json::{Map, Value};

/// Returns the parameters of a tool's input schema as evidence.
#[must_use]
pub fn of_schema(schema: Option<&Value>) -> Vec<ParamEvidence<'_>> {
    let Some(root) = schema else { return Vec::new() };
    let properties = root.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, schema)| of_property(root, name, schema)).collect()
}

/// Returns the parameters of an operation as evidence.
#[must_use]
pub fn of_params(params: &[Param]) -> Vec<ParamEvidence<'_>> {
    params.iter().map(of_param).collect()
}

fn of_param(param: &Param) -> ParamEvidence<'_> {
    ParamEvidence {
        description: &param.description,
        ..of_property(&param.schema, &param.name, &param.schema)
    }
}

fn of_property<'a>(root: &'a Value, name: &'a str, schema: &'a Value) -> ParamEvidence<'a> {
    let schema = resolve(root, schema);
    let description = schema.get("description").and_then(Value::as_str).unwrap_or_default();
    let forms = || alternatives(schema).map(|schema| resolve(root, schema));
    let has_type = |name: &str| forms().any(|schema| is_type(schema, name));
    let choices: Vec<&str> = forms().flat_map(choices).collect();
    let form = match () {
        () if has_type("boolean") => ParamForm::Switch,
        () if has_type("string") || forms().all(|schema| schema.get("type").is_none()) => ParamForm::Text,
        () => ParamForm::Other,
    };
    ParamEvidence { name, description, form, choices }
}

/// Returns a schema and the alternatives in it.
fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    let list = |key: &str| schema.get(key).and_then(Value::as_array).into_iter().flatten();
    std::iter::once(schema).chain(list("anyOf")).chain(list("oneOf"))
}

fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|reference| reference.strip_prefix('#'));
    target.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

fn is_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(own)) => own == name,
        Some(Value::Array(list)) => list.iter().any(|own| own == name),
        _ => false,
    }
}

fn choices(schema: &Value) -> impl Iterator<Item = &str> {
    let object: Option<&Map<String, Value>> = schema.as_object();
    let list = object.and_then(|schema| schema.get("enum")?.as_array()).into_iter().flatten();
    list.chain(object.and_then(|schema| schema.get("const"))).filter_map(Value::as_str)
}
