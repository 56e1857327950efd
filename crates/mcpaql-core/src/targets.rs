//! Several upstreams of the same kind behind one adapter, such as production and staging, or ten clusters.
//!
//! Every operation gets a parameter that chooses the upstream. Signatures, introspection and validation treat it like
//! any other parameter. It is never sent to the upstream.

use crate::adapter::Adapter;
use crate::operation::{Operation, Param, ParamLocation};
use serde_json::{Map, Value, json};

/// The name of the parameter, and its name if the operation already has a parameter with the first one.
const PARAM_NAMES: [&str; 2] = ["target", "upstream_target"];

/// Adds the parameter that chooses the upstream, if the adapter has several.
pub(crate) fn add_target_param(operation: &mut Operation, adapter: &Adapter) {
    if adapter.targets.is_empty() {
        return;
    }
    let name = free_name(operation);
    let names: Vec<&str> = adapter.targets.keys().map(String::as_str).collect();
    let descriptions: Vec<String> = adapter
        .targets
        .iter()
        .filter(|(_, target)| !target.description.is_empty())
        .map(|(name, target)| format!("{name}: {}", target.description))
        .collect();
    let description = if descriptions.is_empty() {
        "Which upstream".to_owned()
    } else {
        format!("Which upstream: {}", descriptions.join("; "))
    };
    let default = adapter.default_target.as_deref().map(Value::from);
    let param = Param {
        required: default.is_none(),
        default,
        description,
        ..Param::new(name, ParamLocation::Target, json!({"type": "string", "enum": names}))
    };
    add_to_examples(operation, &param);
    operation.params.insert(0, param);
}

/// Copies the parameter from the head to an operation that the library has returned.
pub(crate) fn copy_target_param(operation: &mut Operation, head: &Operation) {
    for param in head.params.iter().filter(|param| param.location == ParamLocation::Target) {
        let param = Param { name: free_name(operation).to_owned(), ..param.clone() };
        add_to_examples(operation, &param);
        operation.params.insert(0, param);
    }
}

fn free_name(operation: &Operation) -> &'static str {
    let taken = |name: &str| operation.params.iter().any(|param| param.name == name || param.wire == name);
    PARAM_NAMES.into_iter().find(|name| !taken(name)).unwrap_or("mcpaql_target")
}

/// Adds the first upstream to the examples if the parameter is required, because an example is a complete call.
fn add_to_examples(operation: &mut Operation, param: &Param) {
    let first = param.schema.pointer("/enum/0").filter(|_| param.required);
    if let Some(first) = first {
        for example in &mut operation.examples {
            example.params.entry(param.name.clone()).or_insert_with(|| first.clone());
        }
    }
}

/// Removes the chosen upstream from a call's arguments and returns it; `None` if there is no choice.
pub fn take_target(operation: &Operation, args: &mut Map<String, Value>) -> Option<String> {
    let param = operation.params.iter().find(|param| param.location == ParamLocation::Target)?;
    match args.shift_remove(&param.name) {
        Some(Value::String(name)) => Some(name),
        _ => None,
    }
}
