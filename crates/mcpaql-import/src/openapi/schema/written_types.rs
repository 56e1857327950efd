//! Types that many operations reach, written once for all of them.
//!
//! What a name stands for depends on the name alone, so what was written for one operation does for every other one: its
//! body, its notes, and the types that it leads to.

use super::super::refs::Resolved;
use super::{Side, opaque_schema};
use crate::report::Note;
use serde_json::Value;
use std::collections::HashMap;

/// The types that were written so far.
#[derive(Debug, Default)]
pub(in super::super) struct WrittenTypes {
    bodies: HashMap<String, WrittenType>,
    /// What is still to be written, where no operation came near enough yet.
    targets: HashMap<String, Resolved>,
    /// Place → whether what stands there has two forms.
    pub(super) one_sided: HashMap<String, bool>,
}

/// A type, and all that writing it again would bring about.
#[derive(Debug)]
pub(super) struct WrittenType {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) notes: Vec<Note>,
    pub(super) reached: Vec<ReferencedType>,
}

/// A type that was referred to.
#[derive(Debug, Clone)]
pub(super) struct ReferencedType {
    pub(super) name: String,
    /// The name and where the type stands: two documents may want the same name.
    pub(super) key: String,
    pub(super) side: Side,
    /// All that is said of it where it is too far away.
    pub(super) opaque: Value,
}

impl ReferencedType {
    pub(super) fn new(name: String, target: &Resolved, side: Side) -> ReferencedType {
        let key = format!("{name} {}#{}", target.base, target.pointer);
        ReferencedType { name, key, side, opaque: opaque_schema(&target.value) }
    }
}

impl WrittenTypes {
    /// Remembers what a type will be written from.
    pub(super) fn remember_target(&mut self, key: &str, target: Resolved) {
        if !self.bodies.contains_key(key) {
            self.targets.entry(key.to_owned()).or_insert(target);
        }
    }

    pub(super) fn body(&self, key: &str) -> Option<&WrittenType> {
        self.bodies.get(key)
    }

    /// What the type is written from, which is needed only once.
    pub(super) fn target(&mut self, key: &str) -> Option<Resolved> {
        self.targets.remove(key)
    }

    pub(super) fn keep(&mut self, key: String, body: WrittenType) {
        self.bodies.insert(key, body);
    }

    /// Every type with its name, in no order.
    pub(in super::super) fn into_types(self) -> impl Iterator<Item = (String, Value)> {
        self.bodies.into_values().map(|body| (body.name, body.value))
    }
}
