//! Resolves `$ref` within a tool.

use super::tree::{Schema, ToolTree, value_member};
use serde_json::Value;
use std::borrow::Cow;

/// The target of a reference.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ReferenceTarget<'a> {
    /// A schema of the same tool.
    Found(&'a Value),
    /// The target does not exist.
    Missing,
    /// A document on the network.
    Network,
    /// Unknown: finding the target would require resolving identifiers.
    Unknown,
}

/// A reference in a schema of a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reference<'a> {
    /// Index of the schema with the reference.
    pub(crate) schema: usize,
    pub(crate) written: &'a str,
    pub(crate) target: ReferenceTarget<'a>,
}

/// Returns the references of a tool, in the order of its schemas.
pub(crate) fn tool_references<'a>(tree: &ToolTree<'a>, tool: &'a Value) -> Vec<Reference<'a>> {
    let schemas = tree.schemas.iter().enumerate();
    let referring = schemas.filter_map(|(index, schema)| Some((index, schema, written(schema)?)));
    let reference = |(index, schema, written)| Reference {
        schema: index,
        written,
        target: target(tree, schema, written, tool),
    };
    referring.map(reference).collect()
}

/// Returns the `$ref` of a schema.
pub(crate) fn written<'a>(schema: &Schema<'a>) -> Option<&'a str> {
    schema.get("$ref").and_then(Value::as_str)
}

pub(crate) fn target<'a>(
    tree: &ToolTree<'a>,
    schema: &Schema<'a>,
    reference: &str,
    tool: &'a Value,
) -> ReferenceTarget<'a> {
    let key = if schema.is_input { "inputSchema" } else { "outputSchema" };
    let Some(root) = value_member(tool, key) else { return ReferenceTarget::Missing };
    let Some(fragment) = reference.strip_prefix('#') else {
        let named = tree.schemas.iter().any(|schema| has_id(schema, reference));
        let network = reference.starts_with("http://") || reference.starts_with("https://");
        return match (named, network) {
            (true, _) => ReferenceTarget::Unknown,
            (false, true) => ReferenceTarget::Network,
            (false, false) => ReferenceTarget::Missing,
        };
    };
    if fragment.is_empty() {
        return ReferenceTarget::Found(root);
    }
    if let Some(found) = fragment.starts_with('/').then(|| value_at(root, &decoded(fragment))).flatten() {
        return ReferenceTarget::Found(found);
    }
    // A pointer below a nested `$id` starts at that schema.
    let identified = |schema: &Schema<'_>| {
        schema.parent.is_some()
            && schema.get("$id").or_else(|| schema.get("id")).is_some_and(Value::is_string)
    };
    let anchored = tree.schemas.iter().any(|schema| has_id(schema, reference));
    if anchored || tree.schemas.iter().any(identified) {
        ReferenceTarget::Unknown
    } else {
        ReferenceTarget::Missing
    }
}

fn has_id(schema: &Schema<'_>, reference: &str) -> bool {
    let is = |key: &str, text: &str| schema.get(key).and_then(Value::as_str) == Some(text);
    is("$id", reference)
        || is("id", reference)
        || reference.strip_prefix('#').is_some_and(|name| is("$anchor", name))
}

/// Returns the value at a pointer. Copies no keys if the pointer has no escapes and passes only objects.
pub(crate) fn value_at<'a>(root: &'a Value, pointer: &str) -> Option<&'a Value> {
    let Some(keys) = pointer.strip_prefix('/').filter(|keys| !keys.contains('~')) else {
        return root.pointer(pointer);
    };
    let mut here = root;
    for key in keys.split('/') {
        here = match here {
            Value::Object(_) => value_member(here, key)?,
            _ => return root.pointer(pointer),
        };
    }
    Some(here)
}

/// Decodes the percent escapes of a URI fragment.
fn decoded(fragment: &str) -> Cow<'_, str> {
    if !fragment.contains('%') {
        return Cow::Borrowed(fragment);
    }
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'%'));
                rest = ahead;
            }
            _ => bytes.push(byte),
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}
