//! Removes invalid examples, generates missing ones, and writes the signature that errors show.

use crate::operation::{Category, Example, Operation, Param, ParamLocation, fills_default};
use crate::sample;
use crate::schema::SchemaSet;
use crate::signature::{self, TypeBudget};
use crate::validate::{CompiledParams, SizeLimits};
use indexmap::IndexMap;
use serde_json::{Map, Value};

/// Removes examples that do not validate, and generates one if none is left.
pub(crate) fn fix_examples(
    operation: &mut Operation,
    params: &CompiledParams,
    types: &IndexMap<String, Value>,
    schemas: &SchemaSet,
    limits: &SizeLimits,
) {
    let fits = |example: &Map<String, Value>| params.validate(example.clone(), schemas, limits).is_ok();
    operation.examples.retain(|example| fits(&example.params));
    // Replace secret values with generated ones.
    for param in operation.params.iter().filter(|param| param.sensitive) {
        for example in &mut operation.examples {
            if let Some(value) = example.params.get_mut(&param.name) {
                *value = sample::sample(&param.name, &param.schema, types).unwrap_or_else(|| "…".into());
            }
        }
    }
    operation.examples.retain(|example| fits(&example.params));
    if operation.examples.is_empty() {
        let attempts: [(SampleFn, bool); 4] = [
            (sample::sample, true),
            (sample::sample_without_examples, true),
            (sample::sample, false),
            (sample::sample_without_examples, false),
        ];
        let mut calls =
            attempts.into_iter().filter_map(|(sample, change)| sample_call(operation, types, sample, change));
        if let Some(params) = calls.find(fits) {
            operation.examples.push(Example { description: String::new(), params });
        }
    }
}

type SampleFn = fn(&str, &Value, &IndexMap<String, Value>) -> Option<Value>;

/// Generates a call with the required parameters. With `change`, an update also gets a field to change.
fn sample_call(
    operation: &Operation,
    types: &IndexMap<String, Value>,
    sample: SampleFn,
    change: bool,
) -> Option<Map<String, Value>> {
    let mut call = Map::new();
    let value = |param: &Param| sample(&param.name, &param.schema, types);
    let required = |param: &&Param| param.required && !fills_default(operation, param);
    for param in operation.params.iter().filter(required) {
        call.insert(param.name.clone(), value(param)?);
    }
    let changes = |param: &Param| param.location != ParamLocation::Path;
    if change
        && operation.category == Category::Update
        && !operation.params.iter().filter(required).any(changes)
        && let Some((name, value)) = operation
            .params
            .iter()
            .filter(|param| changes(param) && !param.sensitive)
            .find_map(|param| Some((param.name.clone(), value(param)?)))
    {
        call.insert(name, value);
    }
    Some(call)
}

/// Returns the signature of a call with the types of its parameters. With it, a caller can fix its call without
/// introspection.
pub(crate) fn call_signature(operation: &Operation, types: &IndexMap<String, Value>) -> String {
    let call = Operation { returns: None, examples: Vec::new(), ..operation.clone() };
    signature::line_with_types_within(&call, types, TypeBudget::ERROR)
}
