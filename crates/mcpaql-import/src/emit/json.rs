//! Writes an adapter as JSON.
//!
//! JSON has no comments, so the source of the document is in the member `$comment`.

use super::yaml::{YamlMembers, YamlValue};
use super::{
    Provenance, has_written_operations, identity, mask, operation_node, order, target, text, type_nodes,
};
use mcpaql_core::adapter::{Adapter, Auth};
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The member for comments.
pub(super) const COMMENT: &str = "$comment";

/// Returns the document, with a line break at its end.
pub(super) fn write(adapter: &Adapter, provenance: &Provenance) -> String {
    let mut document = Map::new();
    document.insert(COMMENT.to_owned(), text::origin(provenance).into());
    add(&mut document, identity(adapter));
    add(&mut document, vec![(Cow::Borrowed("target"), target::target(&adapter.target))]);
    if !adapter.targets.is_empty() {
        add(&mut document, target::targets(adapter));
    }
    if adapter.auth != Auth::None {
        add(&mut document, vec![(Cow::Borrowed("auth"), target::auth(&adapter.auth))]);
    }
    if has_written_operations(adapter) {
        document.insert("operations".to_owned(), operations(adapter));
    }
    if !adapter.types.is_empty() {
        let types = type_nodes(adapter).map(|(name, node)| (name.into_owned(), value(node)));
        document.insert("types".to_owned(), types.collect::<Map<_, _>>().into());
    }
    format!("{:#}\n", Value::Object(document))
}

fn add(document: &mut Map<String, Value>, members: YamlMembers<'_>) {
    for (key, mut node) in members {
        mask(&key, &mut node);
        document.insert(key.into_owned(), value(node));
    }
}

fn operations(adapter: &Adapter) -> Value {
    let mut endpoints = Map::new();
    for operation in order(&adapter.operations) {
        let endpoint =
            endpoints.entry(operation.category.endpoint()).or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(list) = endpoint {
            list.push(value(operation_node(operation, adapter)));
        }
    }
    endpoints.into()
}

fn value(node: YamlValue<'_>) -> Value {
    match node {
        YamlValue::Null => Value::Null,
        YamlValue::Bool(flag) => flag.into(),
        YamlValue::Number(number) => number.into(),
        YamlValue::Text(text) => text.into_owned().into(),
        YamlValue::List(items) => items.into_iter().map(value).collect::<Vec<_>>().into(),
        YamlValue::Map(members) | YamlValue::Tall(members) => members
            .into_iter()
            .map(|(key, node)| (key.into_owned(), value(node)))
            .collect::<Map<_, _>>()
            .into(),
    }
}
