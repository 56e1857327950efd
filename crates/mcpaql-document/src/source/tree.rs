//! The tree of a document, with the byte range of every key and value.
//!
//! What always holds: a YAML alias shares its node and never copies it. A tree is never deeper than [`MAX_DEPTH`], so it is
//! safe to walk or drop it recursively.

use super::scalar::Scalar;
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::ops::Range;
use std::rc::Rc;

/// Maximum levels of nested collections; `serde_json` has the same limit.
pub(super) const MAX_DEPTH: usize = 128;

/// A value and its range in the text.
#[derive(Debug)]
pub(super) struct SourceNode {
    pub(super) range: Range<usize>,
    pub(super) kind: NodeKind,
    /// Levels of collections from this node down, with aliases expanded.
    pub(super) height: usize,
    /// The approximate size of a copy in bytes, with aliases expanded.
    pub(super) size: usize,
}

/// The content of a node.
#[derive(Debug)]
pub(super) enum NodeKind {
    Scalar(Scalar),
    List(Vec<Rc<SourceNode>>),
    Map(IndexMap<String, MappingMember>),
}

/// The value of a mapping's member, and the range of its key.
#[derive(Debug, Clone)]
pub(super) struct MappingMember {
    pub(super) key: Range<usize>,
    pub(super) value: Rc<SourceNode>,
}

/// Approximate size of a node itself, so that aliases of many empty nodes also reach the limit.
const NODE_SIZE: usize = 16;

impl SourceNode {
    pub(super) fn new(range: Range<usize>, kind: NodeKind) -> SourceNode {
        let (height, size) = match &kind {
            NodeKind::Scalar(scalar) => (0, scalar.size()),
            NodeKind::List(items) => measure(items.iter().map(|item| (0, item))),
            NodeKind::Map(members) => {
                measure(members.iter().map(|(name, member)| (name.len(), &member.value)))
            }
        };
        SourceNode { range, kind, height, size: size.saturating_add(NODE_SIZE) }
    }

    /// The range that stands for the start of this value: the first key of a mapping, or else the first line.
    fn beginning(&self, text: &str) -> Range<usize> {
        if let NodeKind::Map(members) = &self.kind
            && let Some(first) = members.values().find(|member| member.key.start == self.range.start)
        {
            return first.key.clone();
        }
        first_line(text, &self.range)
    }
}

fn measure<'n>(children: impl Iterator<Item = (usize, &'n Rc<SourceNode>)>) -> (usize, usize) {
    let (mut height, mut size) = (0, 0_usize);
    for (name, child) in children {
        height = height.max(child.height);
        size = size.saturating_add(name).saturating_add(child.size);
    }
    (height + 1, size)
}

/// Returns the first line of a range.
pub(super) fn first_line(text: &str, range: &Range<usize>) -> Range<usize> {
    let line = text.get(range.clone()).and_then(|part| part.lines().next()).unwrap_or_default();
    range.start..range.start + line.trim_end().len()
}

/// Converts a tree to its value; nodes that are not shared are moved, not copied.
pub(super) fn into_value(node: Rc<SourceNode>) -> Value {
    match Rc::try_unwrap(node) {
        Ok(node) => match node.kind {
            NodeKind::Scalar(scalar) => scalar.into(),
            NodeKind::List(items) => Value::Array(items.into_iter().map(into_value).collect()),
            NodeKind::Map(members) => Value::Object(
                members.into_iter().map(|(name, member)| (name, into_value(member.value))).collect(),
            ),
        },
        Err(shared) => to_value(&shared),
    }
}

fn to_value(node: &SourceNode) -> Value {
    match &node.kind {
        NodeKind::Scalar(scalar) => scalar.clone().into(),
        NodeKind::List(items) => items.iter().map(|item| to_value(item)).collect(),
        NodeKind::Map(members) => {
            let mut map = Map::with_capacity(members.len());
            map.extend(members.iter().map(|(name, member)| (name.clone(), to_value(&member.value))));
            Value::Object(map)
        }
    }
}

/// Returns the range of the value at a JSON pointer, or the range of its nearest parent if the value is missing.
pub(super) fn find(root: &SourceNode, text: &str, pointer: &str, at_key: bool) -> Range<usize> {
    let mut node = root;
    let mut key: Option<&Range<usize>> = None;
    for segment in pointer.split('/').skip(1) {
        match child(node, &unescape(segment)) {
            Some((child_key, child)) => {
                key = child_key;
                node = child;
            }
            None => return key.cloned().unwrap_or_else(|| node.beginning(text)),
        }
    }
    match key {
        Some(key) if at_key || node.range.is_empty() => key.clone(),
        _ if at_key => node.beginning(text),
        _ => node.range.clone(),
    }
}

/// Returns the range of the value at a JSON pointer.
pub(super) fn find_value(root: &SourceNode, pointer: &str) -> Option<Range<usize>> {
    find_node(root, pointer).map(|node| node.range.clone())
}

/// Returns the node at a JSON pointer.
pub(super) fn find_node<'n>(root: &'n SourceNode, pointer: &str) -> Option<&'n SourceNode> {
    let segments = pointer.split('/').skip(1);
    segments
        .into_iter()
        .try_fold(root, |node, segment| child(node, &unescape(segment)).map(|(_, child)| child))
}

fn child<'n>(node: &'n SourceNode, segment: &str) -> Option<(Option<&'n Range<usize>>, &'n SourceNode)> {
    match &node.kind {
        NodeKind::Scalar(_) => None,
        NodeKind::List(items) => {
            let item = items.get(segment.parse::<usize>().ok()?)?;
            Some((None, item))
        }
        NodeKind::Map(members) => {
            let member = members.get(segment)?;
            Some((Some(&member.key), &member.value))
        }
    }
}

fn unescape(segment: &str) -> String {
    segment.replace("~1", "/").replace("~0", "~")
}

/// Appends a reference token to a JSON pointer.
pub(super) fn push_segment(pointer: &mut String, name: &str) {
    pointer.push('/');
    for char in name.chars() {
        match char {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            _ => pointer.push(char),
        }
    }
}
