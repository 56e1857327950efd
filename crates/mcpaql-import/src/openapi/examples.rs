//! Reads the examples of a document.

use super::details::Context;
use super::params::{UnwrittenParam, locate_value};
use indexmap::IndexMap;
use mcpaql_core::operation::{Example, Operation, Param, ParamLocation};
use mcpaql_core::sample::sample;
use mcpaql_core::schema::SchemaSet;
use mcpaql_core::validate::{CompiledParams, SizeLimits};
use serde_json::{Map, Value};

/// Maximum length of an example, in bytes of JSON. A longer one costs more than it helps.
const MAX_EXAMPLE: usize = 1500;

/// Returns the example of a parameter or a media type.
pub(super) fn example_of(cx: &Context<'_>, node: &Value, base: &str) -> Option<Value> {
    if let Some(example) = node.get("example").or_else(|| node.get("x-example")) {
        return Some(example.clone());
    }
    let first = match node.get("examples")? {
        Value::Object(named) => named.values().next()?,
        Value::Array(list) => return list.first().cloned(),
        _ => return None,
    };
    let first = locate_value(cx, first, base)?;
    first.node.get("value").or_else(|| first.node.get("dataValue")).cloned()
}

/// Returns the example in a schema.
pub(super) fn schema_example(schema: &Value) -> Option<Value> {
    schema.get("example").or_else(|| schema.get("examples").and_then(|list| list.get(0))).cloned()
}

/// Keeps only examples that are valid for the operation, because documents sometimes contradict themselves.
pub(super) fn keep_valid(
    head: &Operation,
    params: &[Param],
    examples: Vec<Example>,
    types: &IndexMap<String, Value>,
) -> Vec<Example> {
    if examples.is_empty() {
        return examples;
    }
    let operation = Operation { params: params.to_vec(), ..head.clone() };
    let (mut schemas, _) = SchemaSet::compile(types);
    let (compiled, _) = CompiledParams::compile(&operation, &mut schemas, "");
    let fits = |example: &Example| {
        compiled.validate(example.params.clone(), &schemas, &SizeLimits::default()).is_ok()
    };
    examples.into_iter().filter(fits).collect()
}

/// Returns an example call with values of the document, if it has any. Other required parameters get sample values.
pub(super) fn call(
    drafts: &[UnwrittenParam],
    params: &[Param],
    body: Option<&Value>,
    whole: bool,
    types: &IndexMap<String, Value>,
) -> Vec<Example> {
    let mut call = Map::new();
    let mut own = false;
    for (draft, param) in drafts.iter().zip(params) {
        let single = || draft.example.clone().filter(|_| draft.required);
        let given = match (draft.location, whole, body) {
            (ParamLocation::Body, true, Some(body)) => Some(body.clone()),
            (ParamLocation::Body, false, Some(Value::Object(fields))) => fields.get(&draft.wire).cloned(),
            _ => single(),
        };
        let given = given.filter(|value| !value.is_null());
        own |= given.is_some();
        if let Some(value) = given {
            call.insert(param.name.clone(), value);
        } else if param.required {
            let Some(value) = sample(&param.name, &param.schema, types) else { return Vec::new() };
            call.insert(param.name.clone(), value);
        }
    }
    let small = serde_json::to_string(&call).is_ok_and(|text| text.len() <= MAX_EXAMPLE);
    if own && small { vec![Example { description: String::new(), params: call }] } else { Vec::new() }
}
