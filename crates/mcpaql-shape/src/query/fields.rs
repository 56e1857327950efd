//! `fields`: a preset, a list of paths, or both.
//!
//! What always holds: the result is part of the input, in the same order. Text that is not selected is skipped without
//! building values.

use super::path::FieldPath;
use super::preset::{FieldPreset, without_noise};
use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};
use std::cell::Cell;
use std::fmt;

/// The fields to return.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSelection {
    /// The preset; without one, only `paths`.
    pub preset: Option<FieldPreset>,
    /// Fields in addition to the preset.
    pub paths: Vec<FieldPath>,
    /// Fields that the document selects. An item without them causes no warning.
    pub declared: Vec<FieldPath>,
}

impl FieldSelection {
    /// The selected fields, without those of the preset.
    pub(super) fn all_paths(&self) -> impl Iterator<Item = &FieldPath> {
        self.paths.iter().chain(&self.declared)
    }
}

/// Selected paths as a tree, and which of them led to a value.
#[derive(Debug)]
pub(super) struct FieldTree {
    root: FieldNode,
    found: Vec<Cell<bool>>,
}

#[derive(Debug, Default)]
struct FieldNode {
    members: Vec<(String, FieldNode)>,
    /// The positions of the paths that end here. The whole value is selected if there are any.
    ends: Vec<usize>,
}

impl FieldNode {
    fn add(&mut self, parts: &[String], position: usize) {
        let Some((first, rest)) = parts.split_first() else {
            self.ends.push(position);
            return;
        };
        self.member(first).add(rest, position);
        if !rest.is_empty() {
            // A name may contain dots itself.
            self.member(&parts.join(".")).ends.push(position);
        }
    }

    fn member(&mut self, name: &str) -> &mut FieldNode {
        let position = self.members.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.members.push((name.to_owned(), FieldNode::default()));
            self.members.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "the position was found or added above")]
        &mut self.members[position].1
    }

    fn get(&self, name: &str) -> Option<&FieldNode> {
        self.members.iter().find(|(known, _)| known == name).map(|(_, node)| node)
    }
}

impl FieldTree {
    pub(super) fn new<'p>(paths: impl IntoIterator<Item = &'p FieldPath>) -> FieldTree {
        let mut root = FieldNode::default();
        let mut found = Vec::new();
        for path in paths {
            root.add(path.parts(), found.len());
            found.push(Cell::new(false));
        }
        FieldTree { root, found }
    }

    /// Returns whether each path led to a value.
    pub(super) fn found(&self) -> impl Iterator<Item = bool> {
        self.found.iter().map(Cell::get)
    }

    fn mark(&self, node: &FieldNode) -> bool {
        for position in &node.ends {
            if let Some(found) = self.found.get(*position) {
                found.set(true);
            }
        }
        !node.ends.is_empty()
    }

    /// Returns the selected part of an item. An item that is not an object stays as it is.
    pub(super) fn select(&self, item: Value) -> Value {
        match item {
            Value::Object(_) | Value::Array(_) => {
                let empty =
                    if item.is_array() { Value::Array(Vec::new()) } else { Value::Object(Map::new()) };
                self.part(item, &self.root).unwrap_or(empty)
            }
            scalar => scalar,
        }
    }

    fn part(&self, value: Value, node: &FieldNode) -> Option<Value> {
        if self.mark(node) {
            return Some(value);
        }
        match value {
            Value::Object(map) => {
                let members = map.into_iter().filter_map(|(name, member)| {
                    let selected = self.part(member, node.get(&name)?)?;
                    Some((name, selected))
                });
                let members: Map<String, Value> = members.collect();
                (!members.is_empty()).then_some(Value::Object(members))
            }
            Value::Array(items) => {
                let items: Vec<Value> = items.into_iter().filter_map(|item| self.part(item, node)).collect();
                (!items.is_empty()).then_some(Value::Array(items))
            }
            _ => None,
        }
    }

    /// Reads the selected part of JSON text. The items are the list or the object behind `place`; everything beside
    /// them is kept.
    ///
    /// # Errors
    /// When the text is not JSON.
    pub(super) fn read(&self, text: &str, place: &[String]) -> Result<Value, serde_json::Error> {
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let value = ItemsReader { tree: self, place }.deserialize(&mut deserializer)?;
        deserializer.end()?;
        Ok(value)
    }
}

/// Reads a value with the items in it.
struct ItemsReader<'t> {
    tree: &'t FieldTree,
    place: &'t [String],
}

impl<'de> DeserializeSeed<'de> for ItemsReader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ItemsReader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut out = Vec::new();
        while let Some(item) = items.next_element_seed(PartReader::item(self.tree))? {
            out.push(item.unwrap_or_else(|| Value::Object(Map::new())));
        }
        Ok(Value::Array(out))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let Some((first, rest)) = self.place.split_first() else {
            let item = PartReader::item(self.tree).visit_map(members)?;
            return Ok(item.unwrap_or_else(|| Value::Object(Map::new())));
        };
        let mut out = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            let member = if name == *first {
                members.next_value_seed(ItemsReader { tree: self.tree, place: rest })?
            } else {
                members.next_value()?
            };
            out.insert(name, member);
        }
        Ok(Value::Object(out))
    }
}

/// Reads the selected part of a value.
#[derive(Clone, Copy)]
struct PartReader<'t> {
    tree: &'t FieldTree,
    node: &'t FieldNode,
    is_item: bool,
}

impl<'t> PartReader<'t> {
    fn item(tree: &'t FieldTree) -> Self {
        PartReader { tree, node: &tree.root, is_item: true }
    }

    fn scalar<E: serde::de::Error>(self, value: impl Into<Value>) -> Result<Option<Value>, E> {
        Ok(self.is_item.then(|| value.into()))
    }
}

impl<'de> DeserializeSeed<'de> for PartReader<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<Value>, D::Error> {
        if self.tree.mark(self.node) {
            return serde::Deserialize::deserialize(deserializer).map(Some);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for PartReader<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Option<Value>, E> {
        self.scalar(Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Option<Value>, E> {
        self.scalar(value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Option<Value>, E> {
        self.scalar(value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Option<Value>, E> {
        self.scalar(value)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Option<Value>, E> {
        self.scalar(value)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Option<Value>, E> {
        self.scalar(value)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Option<Value>, A::Error> {
        let inner = PartReader { is_item: false, ..self };
        let mut out = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            out.extend(item);
        }
        Ok((!out.is_empty() || self.is_item).then_some(Value::Array(out)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Option<Value>, A::Error> {
        let mut out = Map::new();
        while let Some(key) = members.next_key_seed(NameReader(self.node))? {
            match key {
                None => {
                    members.next_value::<IgnoredAny>()?;
                }
                Some((name, node)) => {
                    let reader = PartReader { tree: self.tree, node, is_item: false };
                    match members.next_value_seed(reader)? {
                        Some(member) => out.insert(name.to_owned(), member),
                        // The last member of the same name counts.
                        None => out.shift_remove(name),
                    };
                }
            }
        }
        Ok((!out.is_empty()).then_some(Value::Object(out)))
    }
}

/// Looks up the name of a member, without copying it.
struct NameReader<'t>(&'t FieldNode);

impl<'de, 't> DeserializeSeed<'de> for NameReader<'t> {
    type Value = Option<(&'t str, &'t FieldNode)>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'t> Visitor<'_> for NameReader<'t> {
    type Value = Option<(&'t str, &'t FieldNode)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        let known = self.0.members.iter().find(|(known, _)| known == name);
        Ok(known.map(|(name, node)| (name.as_str(), node)))
    }
}

/// Returns an item without links, nulls and empty containers, but with these fields.
pub(super) fn standard_with(item: Value, extra: &FieldTree) -> Value {
    if !item.is_object() {
        return item;
    }
    let requested = (!extra.found.is_empty()).then(|| extra.select(item.clone()));
    let mut kept = without_noise(item);
    if let Some(requested) = requested {
        merge(&mut kept, requested);
    }
    kept
}

/// Adds the members of an object that are missing in another.
fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        for (name, member) in from {
            match into.get_mut(&name) {
                Some(known) => merge(known, member),
                None => {
                    into.insert(name, member);
                }
            }
        }
    }
}

/// Reads the first items of a list in JSON text, at most `count`, and only those before one that no value can hold.
pub(super) fn first_items(text: &str, place: &[String], count: usize) -> Vec<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let mut out = Vec::new();
    // The reader stops with an error after the last item that it needs.
    let _ = SampleReader { place, count, out: &mut out }.deserialize(&mut deserializer);
    out
}

struct SampleReader<'s> {
    place: &'s [String],
    count: usize,
    out: &'s mut Vec<Value>,
}

impl<'de> DeserializeSeed<'de> for SampleReader<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for SampleReader<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list or an object")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while let Some(item) = items.next_element()? {
            self.out.push(item);
            if self.out.len() >= self.count {
                return Err(A::Error::custom("enough"));
            }
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Some((first, rest)) = self.place.split_first() else {
            let mut item = Map::new();
            while let Some((name, member)) = members.next_entry()? {
                item.insert(name, member);
            }
            self.out.push(Value::Object(item));
            return Ok(());
        };
        while let Some(name) = members.next_key::<String>()? {
            if name == *first {
                return members.next_value_seed(SampleReader { place: rest, ..self });
            }
            members.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}
