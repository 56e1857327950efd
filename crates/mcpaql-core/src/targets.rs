//! Several upstreams of one kind behind one adapter: production and staging, ten clusters.
//!
//! Every operation takes a parameter that chooses the upstream. It is a parameter like any other to signatures,
//! introspection and validation; only the target knows that it is not sent.

use crate::adapter::Adapter;
use crate::operation::{Operation, Param, ParamLocation};
use serde_json::{Map, Value, json};

/// What the parameter is called, and what it is called where the operation has one of that name.
const NAMES: [&str; 2] = ["target", "upstream_target"];

/// Lets the callers of an operation choose among the adapter's upstreams, where there are several.
pub(crate) fn add_target_param(operation: &mut Operation, adapter: &Adapter) {
    if adapter.targets.is_empty() {
        return;
    }
    let name = free_name(operation);
    let names: Vec<&str> = adapter.targets.keys().map(String::as_str).collect();
    let told: Vec<String> = adapter
        .targets
        .iter()
        .filter(|(_, target)| !target.description.is_empty())
        .map(|(name, target)| format!("{name}: {}", target.description))
        .collect();
    let description = if told.is_empty() {
        "Which upstream".to_owned()
    } else {
        format!("Which upstream: {}", told.join("; "))
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

/// The same for an operation that was read later, by its head.
pub(crate) fn copy_target_param(operation: &mut Operation, head: &Operation) {
    for param in head.params.iter().filter(|param| param.location == ParamLocation::Target) {
        let param = Param { name: free_name(operation).to_owned(), ..param.clone() };
        add_to_examples(operation, &param);
        operation.params.insert(0, param);
    }
}

fn free_name(operation: &Operation) -> &'static str {
    let taken = |name: &str| operation.params.iter().any(|param| param.name == name || param.wire == name);
    NAMES.into_iter().find(|name| !taken(name)).unwrap_or("mcpaql_target")
}

/// An example is a whole call, so it chooses as well.
fn add_to_examples(operation: &mut Operation, param: &Param) {
    let first = param.schema.pointer("/enum/0").filter(|_| param.required);
    if let Some(first) = first {
        for example in &mut operation.examples {
            example.params.entry(param.name.clone()).or_insert_with(|| first.clone());
        }
    }
}

/// Takes the choice out of a call's arguments; `None` where there is nothing to choose.
pub fn take_target(operation: &Operation, args: &mut Map<String, Value>) -> Option<String> {
    let param = operation.params.iter().find(|param| param.location == ParamLocation::Target)?;
    match args.shift_remove(&param.name) {
        Some(Value::String(name)) => Some(name),
        _ => None,
    }
}
