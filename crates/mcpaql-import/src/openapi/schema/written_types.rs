//! Types that many operations refer to, written once for all of them.
//!
//! The content of a type depends only on its name, so its body, notes and references are the same for all operations.

use super::super::refs::Resolved;
use super::{Side, opaque_schema};
use crate::report::Note;
use serde_json::Value;
use std::collections::HashMap;

/// The types that were written so far.
#[derive(Debug, Default)]
pub(in super::super) struct WrittenTypes {
    bodies: HashMap<String, WrittenType>,
    /// The sources of types that are not written yet.
    targets: HashMap<String, Resolved>,
    /// Position of a type → whether it has two forms.
    pub(super) one_sided: HashMap<String, bool>,
}

/// A written type, with its notes and references.
#[derive(Debug)]
pub(super) struct WrittenType {
    pub(super) name: String,
    pub(super) value: Value,
    pub(super) notes: Vec<Note>,
    pub(super) reached: Vec<ReferencedType>,
}

/// A referenced type.
#[derive(Debug, Clone)]
pub(super) struct ReferencedType {
    pub(super) name: String,
    /// Name and position, because types of two documents may have the same name.
    pub(super) key: String,
    pub(super) side: Side,
    /// The schema without content, for operations that are too far away.
    pub(super) opaque: Value,
}

impl ReferencedType {
    pub(super) fn new(name: String, target: &Resolved, side: Side) -> ReferencedType {
        let key = format!("{name} {}#{}", target.base, target.pointer);
        ReferencedType { name, key, side, opaque: opaque_schema(&target.value) }
    }
}

impl WrittenTypes {
    /// Remembers the source of a type.
    pub(super) fn remember_target(&mut self, key: &str, target: Resolved) {
        if !self.bodies.contains_key(key) {
            self.targets.entry(key.to_owned()).or_insert(target);
        }
    }

    pub(super) fn body(&self, key: &str) -> Option<&WrittenType> {
        self.bodies.get(key)
    }

    /// Takes the source of a type, which is needed only once.
    pub(super) fn target(&mut self, key: &str) -> Option<Resolved> {
        self.targets.remove(key)
    }

    pub(super) fn keep(&mut self, key: String, body: WrittenType) {
        self.bodies.insert(key, body);
    }

    /// Returns all types with their names, in no particular order.
    pub(in super::super) fn into_types(self) -> impl Iterator<Item = (String, Value)> {
        self.bodies.into_values().map(|body| (body.name, body.value))
    }
}
