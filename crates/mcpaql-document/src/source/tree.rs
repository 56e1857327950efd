//! Where things stand: the shape of a document with the byte range of every key and value.
//!
//! Nodes are shared, because a YAML alias is another name for a node and must not copy it. A tree is never deeper than
//! [`MAX_DEPTH`], so walking or dropping it recursively is safe.

use super::scalar::Scalar;
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::ops::Range;
use std::rc::Rc;

/// How deep collections may nest; the same bound that the JSON parser has.
pub(super) const MAX_DEPTH: usize = 128;

/// A value of the text.
#[derive(Debug)]
pub(super) struct SourceNode {
    pub(super) range: Range<usize>,
    pub(super) kind: NodeKind,
    /// Levels below and including this one, aliases expanded.
    pub(super) height: usize,
    /// What a copy would cost, aliases expanded.
    pub(super) size: usize,
}

/// What a node is.
#[derive(Debug)]
pub(super) enum NodeKind {
    Scalar(Scalar),
    List(Vec<Rc<SourceNode>>),
    Map(IndexMap<String, MappingMember>),
}

/// One entry of a mapping, kept under its name.
#[derive(Debug, Clone)]
pub(super) struct MappingMember {
    pub(super) key: Range<usize>,
    pub(super) value: Rc<SourceNode>,
}

/// A rough price per node, so that a bomb of empty nodes counts too.
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

    /// Where to look for a value that begins here: a mapping shows its first key, everything else its first line.
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

/// The part of a range that stands on its first line.
pub(super) fn first_line(text: &str, range: &Range<usize>) -> Range<usize> {
    let line = text.get(range.clone()).and_then(|part| part.lines().next()).unwrap_or_default();
    range.start..range.start + line.trim_end().len()
}

/// The value that a tree stands for; nodes that nobody else holds are moved, not copied.
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

/// The range behind a JSON pointer. Where the text has nothing, its nearest parent answers.
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

/// The range of the value behind a JSON pointer, if the text has it.
pub(super) fn find_value(root: &SourceNode, pointer: &str) -> Option<Range<usize>> {
    find_node(root, pointer).map(|node| node.range.clone())
}

/// The value behind a JSON pointer, if the text has it.
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
