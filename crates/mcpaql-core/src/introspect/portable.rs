//! What introspection answers, as data: each operation and type once, in the longest form; shorter ones are parts of it.

use super::ask::Detail;
use super::{PROTOCOL_TYPES, details, hits, protocol, types};
use crate::catalog::{Catalog, Entry, Whole};
use crate::operation::{INTROSPECT, Operation};
use crate::request;
use crate::signature;
use indexmap::IndexSet;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Sizes of brief signatures: that of an unknown operation's suggestions, then those of a search, from generous to terse.
pub(crate) fn brief_sizes() -> Vec<usize> {
    let mut sizes = vec![request::SIGNATURE];
    for size in hits::SIZES {
        if sizes.last() != Some(&size.signature) {
            sizes.push(size.signature);
        }
    }
    sizes
}

/// `_protocol`.
pub(crate) fn protocol_of(catalog: &Catalog) -> Value {
    protocol::protocol(catalog)
}

/// Adds what lists, searches and details say about an operation beyond its head; gives what they say about its parameters.
pub(crate) fn describe(
    catalog: &Catalog,
    entry: &Entry,
    whole: Whole<'_>,
    out: &mut Map<String, Value>,
) -> Vec<Value> {
    let summary = super::summary(&entry.operation);
    let found = super::summary(whole.operation);
    let repeats = hits::repeats(&found, whole.operation);
    if found != summary {
        out.insert("hit_summary".into(), found.into());
    }
    out.insert("summary".into(), summary.into());
    if repeats {
        out.insert("repeats".into(), true.into());
    }
    out.insert("brief".into(), briefs(whole.operation).into());
    let listed = details::listed(catalog, entry).and_then(|row| row.get("signature").cloned());
    if listed.as_ref().and_then(Value::as_str) != Some(whole.signature) {
        out.insert("listed".into(), listed.unwrap_or_default());
    }
    let mut details = match details::operation(catalog, entry) {
        Some(Value::Object(details)) => details,
        _ => Map::new(),
    };
    // The head stands in the operation itself.
    for key in ["name", "semantic_category", "endpoint", "mcpTool"] {
        details.shift_remove(key);
    }
    let parameters = details.shift_remove("parameters");
    out.insert("details".into(), details.into());
    match parameters {
        Some(Value::Array(parameters)) => parameters,
        _ => Vec::new(),
    }
}

/// The brief signatures in order of their sizes; null is the one before.
fn briefs(operation: &Operation) -> Vec<Value> {
    let mut before = String::new();
    brief_sizes()
        .into_iter()
        .map(|size| {
            let brief = signature::brief(operation, size);
            if brief == before {
                return Value::Null;
            }
            before.clone_from(&brief);
            brief.into()
        })
        .collect()
}

/// All types: the protocol's, those that a list shows, and those that only operations know.
pub(crate) fn types_of(catalog: &Catalog) -> Value {
    let mut names: IndexSet<String> = PROTOCOL_TYPES.iter().map(|name| (*name).to_owned()).collect();
    names.extend(catalog.type_names());
    let listed = names.len();
    // Most operations share the types of their document, which are looked at once.
    let mut seen = HashSet::new();
    for entry in &catalog.operations {
        let whole = catalog.whole(entry).filter(|_| entry.operation.name != INTROSPECT);
        let types = whole.map(|whole| whole.types).filter(|types| seen.insert(std::ptr::from_ref(*types)));
        names.extend(types.into_iter().flat_map(|types| types.keys().cloned()));
    }
    let types: Vec<Value> = names.iter().filter_map(|name| one(catalog, name)).collect();
    json!({"listed": listed, "all": types})
}

fn one(catalog: &Catalog, name: &str) -> Option<Value> {
    let details = types::one(catalog, name, Detail::Full)?;
    let signed = types::one(catalog, name, Detail::Signature)?;
    let mut out = Map::new();
    out.insert("details".into(), details);
    if let Some(signature) = signed.get("signature") {
        out.insert("signature".into(), signature.clone());
    }
    Some(out.into())
}
