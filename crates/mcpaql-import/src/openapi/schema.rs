//! Converts OpenAPI schemas to the JSON Schema of operations.
//!
//! What always holds: a reference to an object becomes `{"$ref": "#/types/Name"}`, and `types` has the name. The content of a
//! type depends only on its name, except that a type which is too far away has no content. References to scalars and lists are
//! replaced by their content. No schema makes the conversion fail: invalid parts are left out and noted.

mod keywords;
mod object;
mod variants;
mod written_types;

#[cfg(test)]
mod tests;

pub(crate) use object::{AdditionalFields, ObjectShape, shape};
pub(super) use written_types::WrittenTypes;

use super::details::Context;
use super::refs::Resolved;
use super::text::{FIELD_TEXT, PARAM_TEXT, shorten};
use crate::report::Note;
use indexmap::IndexMap;
use mcpaql_core::schema::keywords::constrains;
use serde_json::{Map, Value, json};
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use written_types::{ReferencedType, WrittenType};

/// Maximum references between a request and a type with content.
const MAX_REFERENCES: usize = 6;
/// Maximum number of types with content per operation.
const MAX_TYPES: usize = 200;
/// Maximum nesting in one schema.
const MAX_NESTING: usize = 20;
/// Maximum number of types that are searched for `readOnly` and `writeOnly` fields.
const MAX_SEARCHED_TYPES: usize = 300;
/// Maximum values of an enum that replaces references to it.
const MAX_INLINE_ENUM: usize = 24;
/// Maximum nested lists that replace references to them.
const MAX_INLINE_LISTS: usize = 3;

/// The direction of a schema's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Values from the caller, without `readOnly` fields.
    Request,
    /// Values from the API, without `writeOnly` fields.
    Answer,
    /// Values of either direction, with all fields.
    Whole,
}

/// Maximum characters of descriptions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextLimits {
    /// For a parameter.
    pub(crate) param: usize,
    /// For a nested field.
    pub(crate) field: usize,
}

/// A referenced type that has not been written yet.
struct QueuedType {
    reached: ReferencedType,
    references: usize,
}

/// Writes the schemas of one operation and collects the types that they refer to.
pub(crate) struct SchemaWriter<'a> {
    cx: &'a Context<'a>,
    /// The referenced types, except shared ones.
    pub(crate) types: IndexMap<String, Value>,
    /// What was changed or left out.
    pub(crate) notes: Vec<Note>,
    /// The part that notes are about.
    pub(crate) place: String,
    pub(crate) side: Side,
    /// Maximum nesting of inline objects with content.
    pub(super) nesting: usize,
    /// Maximum lengths of descriptions.
    pub(crate) texts: TextLimits,
    /// Maximum references between a schema and a type with content.
    pub(crate) max_references: usize,
    known: HashSet<String>,
    queue: VecDeque<QueuedType>,
    references: usize,
    written: WrittenTypes,
    /// Whether types are kept in `written`, for the next operations.
    sharing: bool,
    /// The types that the current type refers to.
    reached: IndexMap<String, ReferencedType>,
    /// The number of types taken from the queue.
    finished: usize,
    /// The number of types without content.
    left_open: usize,
    answering: bool,
}

impl<'a> SchemaWriter<'a> {
    pub(crate) fn new(cx: &'a Context<'a>) -> SchemaWriter<'a> {
        SchemaWriter {
            cx,
            types: IndexMap::new(),
            notes: Vec::new(),
            place: String::new(),
            side: Side::Request,
            nesting: MAX_NESTING,
            texts: TextLimits { param: PARAM_TEXT, field: FIELD_TEXT },
            max_references: MAX_REFERENCES,
            known: HashSet::new(),
            queue: VecDeque::new(),
            references: 0,
            written: WrittenTypes::default(),
            sharing: false,
            reached: IndexMap::new(),
            finished: 0,
            left_open: 0,
            answering: false,
        }
    }

    /// Returns a writer for one of many operations, with the types of those before it.
    pub(super) fn with_shared_types(cx: &'a Context<'a>, written: &mut WrittenTypes) -> SchemaWriter<'a> {
        SchemaWriter { written: std::mem::take(written), sharing: true, ..SchemaWriter::new(cx) }
    }

    /// Returns the shared types, for the next operation.
    pub(super) fn return_shared_types(self, written: &mut WrittenTypes) {
        if self.sharing {
            *written = self.written;
        }
    }

    /// Starts the schema of the answer. Only its own type gets content.
    pub(super) fn start_answer(&mut self) {
        self.side = Side::Answer;
        self.answering = true;
        self.references = MAX_REFERENCES - 1;
        self.nesting = 3;
    }

    pub(super) fn note(&mut self, what: impl Into<String>, lost: bool) {
        self.notes.push(Note { place: self.place.clone(), what: what.into(), lost });
    }

    /// Writes the referenced types, the nearest first.
    pub(crate) fn finish(&mut self) {
        while let Some(QueuedType { reached, references }) = self.queue.pop_front() {
            let far = references > self.max_references || self.finished >= MAX_TYPES;
            self.finished += 1;
            if far {
                self.left_open += usize::from(!self.answering);
                self.types.insert(reached.name, reached.opaque);
            } else if let Some(body) = self.written.body(&reached.key) {
                self.notes.extend(body.notes.iter().cloned());
                for next in &body.reached {
                    if self.known.insert(next.name.clone()) {
                        self.queue
                            .push_back(QueuedType { reached: next.clone(), references: references + 1 });
                    }
                }
            } else if let Some(target) = self.written.target(&reached.key) {
                let body = self.referenced_type(&reached, &target, references);
                if self.sharing {
                    self.written.keep(reached.key, body);
                } else {
                    self.types.insert(body.name, body.value);
                }
            }
        }
        if self.left_open > 0 {
            let what = format!(
                "types without content, because they are too far from the request: {}",
                self.left_open
            );
            self.note(what, true);
            self.left_open = 0;
        }
    }

    /// Writes a referenced type; `references` is the number of references that lead to it.
    fn referenced_type(
        &mut self,
        reached: &ReferencedType,
        target: &Resolved,
        references: usize,
    ) -> WrittenType {
        let outer = (self.side, self.references, self.nesting);
        (self.side, self.references, self.nesting) = (reached.side, references, MAX_NESTING);
        let place = std::mem::replace(&mut self.place, reached.name.clone());
        let noted = self.notes.len();
        self.reached.clear();
        let value = self.body(target);
        self.place = place;
        (self.side, self.references, self.nesting) = outer;
        let notes = if self.sharing { self.notes.iter().skip(noted).cloned().collect() } else { Vec::new() };
        let next = std::mem::take(&mut self.reached).into_values().collect();
        WrittenType { name: reached.name.clone(), value, notes, reached: next }
    }

    /// Writes the content of a named type.
    pub(super) fn body(&mut self, target: &Resolved) -> Value {
        self.written(&target.value, &target.base, 0)
    }

    /// Writes a schema.
    pub(crate) fn schema(&mut self, schema: &Value, base: &str) -> Value {
        self.written(schema, base, 0)
    }

    fn written(&mut self, schema: &Value, base: &str, nesting: usize) -> Value {
        let map = match schema {
            Value::Bool(true) => return json!({}),
            Value::Bool(false) => return json!({"not": {}}),
            Value::Object(map) => map,
            _ => {
                self.note("a schema that is not an object", true);
                return json!({});
            }
        };
        if nesting > self.nesting {
            return opaque_schema(schema);
        }
        if let Some(Value::String(reference)) = map.get("$ref") {
            let target = self.write_reference(reference, base, nesting);
            return self.with_siblings(target, map, base, nesting);
        }
        if let Some(parts) = non_empty(map, "allOf") {
            return self.all_of(schema, map, parts, base, nesting);
        }
        self.write_keywords(map, base, nesting)
    }

    /// Writes the keywords of a schema without `$ref` and `allOf`.
    fn write_keywords(&mut self, map: &Map<String, Value>, base: &str, nesting: usize) -> Value {
        let mut out = Map::new();
        self.scalar_keywords(map, &mut out);
        self.list_keywords(map, &mut out, base, nesting);
        self.object_keywords(map, &mut out, base, nesting);
        for key in ["oneOf", "anyOf"] {
            if let Some(variants) = non_empty(map, key) {
                self.variants(key, variants, map, &mut out, base, nesting);
            }
        }
        if let Some(not) = map.get("not").filter(|not| not.is_object()) {
            let not = self.written(not, base, nesting + 1);
            out.insert("not".into(), not);
        }
        for key in
            ["if", "then", "else", "dependentRequired", "dependentSchemas", "contains", "propertyNames"]
        {
            if map.contains_key(key) {
                self.note(format!("'{key}' is checked only by the API"), true);
            }
        }
        annotate(map, &mut out, self.texts.field);
        Value::Object(out)
    }

    /// Writes a reference: to a named type, or its content if that is small.
    fn write_reference(&mut self, reference: &str, base: &str, nesting: usize) -> Value {
        let Some(target) = self.cx.refs.resolve(base, reference) else {
            self.note(format!("'{reference}' cannot be resolved"), true);
            return json!({});
        };
        if let Some(inline) = self.write_inline(&target, nesting) {
            return inline;
        }
        if !target.value.is_object() || target.value.get("$ref").is_some() {
            self.note(format!("'{reference}' is not a schema"), true);
            return json!({});
        }
        json!({"$ref": format!("#/types/{}", self.queue_type(target))})
    }

    /// Writes the content of a scalar or a list, which replaces the reference; `None` for other schemas.
    fn write_inline(&mut self, target: &Resolved, nesting: usize) -> Option<Value> {
        let map = target.value.as_object()?;
        let composed =
            ["allOf", "oneOf", "anyOf", "properties", "not", "$ref"].iter().any(|key| map.contains_key(*key));
        let values = map.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
        if composed || values > MAX_INLINE_ENUM {
            return None;
        }
        let kind = match map.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
            Some(Value::String(kind)) => Some(kind.as_str()),
            _ => None,
        };
        match kind {
            Some("object") => None,
            Some("array") if nesting > MAX_INLINE_LISTS => None,
            None if map.contains_key("additionalProperties") => None,
            _ => Some(self.written(&target.value, &target.base, nesting + 1)),
        }
    }

    /// Returns the name of a type and queues the type for writing.
    fn queue_type(&mut self, target: Resolved) -> String {
        let input = self.side == Side::Request && self.is_one_sided(&target);
        let name = self.cx.types.name(&target.base, &target.pointer, input);
        let new = self.known.insert(name.clone());
        if new || (self.sharing && !self.reached.contains_key(&name)) {
            let side = match self.side {
                Side::Whole => Side::Whole,
                _ if input => Side::Request,
                _ => Side::Answer,
            };
            let reached = ReferencedType::new(name.clone(), &target, side);
            self.written.remember_target(&reached.key, target);
            if self.sharing {
                self.reached.insert(name.clone(), reached.clone());
            }
            if new {
                self.queue.push_back(QueuedType { reached, references: self.references + 1 });
            }
        }
        name
    }

    /// Whether the type, or a type that it refers to, has `readOnly` or `writeOnly` fields. Such a type has two forms.
    fn is_one_sided(&mut self, target: &Resolved) -> bool {
        let start = key(target);
        if let Some(known) = self.written.one_sided.get(&start) {
            return *known;
        }
        let mut seen: HashSet<String> = HashSet::from([start.clone()]);
        let mut queue = VecDeque::from([(Arc::clone(&target.value), target.base.clone())]);
        let mut found = false;
        while let Some((value, base)) = queue.pop_front() {
            let mut references = Vec::new();
            if has_one_sided_fields(&value, &mut references, 0) {
                found = true;
                break;
            }
            for reference in references {
                if seen.len() < MAX_SEARCHED_TYPES
                    && let Some(next) = self.cx.refs.resolve(&base, &reference)
                    && seen.insert(key(&next))
                {
                    queue.push_back((next.value, next.base));
                }
            }
        }
        let known = &mut self.written.one_sided;
        if found {
            known.insert(start, true);
        } else if seen.len() < MAX_SEARCHED_TYPES {
            known.extend(seen.into_iter().map(|key| (key, false)));
        } else {
            known.insert(start, false);
        }
        found
    }

    /// Adds the keywords next to a reference: description, `nullable`, and since OpenAPI 3.1 any keyword.
    fn with_siblings(
        &mut self,
        target: Value,
        map: &Map<String, Value>,
        base: &str,
        nesting: usize,
    ) -> Value {
        let Value::Object(mut out) = target else { return target };
        if map.len() == 1 {
            return Value::Object(out);
        }
        let siblings: Map<String, Value> = map
            .iter()
            .filter(|(key, _)| key.as_str() != "$ref")
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        if self.cx.version.has_siblings() && siblings.keys().any(|key| constrains(key)) {
            let own = self.written(&Value::Object(siblings.clone()), base, nesting);
            let mut both = json!({"allOf": [Value::Object(out), own]});
            if let Some(both) = both.as_object_mut() {
                annotate(&siblings, both, self.texts.field);
            }
            return both;
        }
        annotate(&siblings, &mut out, self.texts.field);
        if siblings.get("nullable") == Some(&Value::Bool(true)) {
            out.insert("nullable".into(), true.into());
        }
        Value::Object(out)
    }
}

/// Adds description, default and deprecation.
fn annotate(map: &Map<String, Value>, out: &mut Map<String, Value>, limit: usize) {
    if let Some(text) = map.get("description").and_then(Value::as_str).map(|text| shorten(text, limit))
        && !text.is_empty()
    {
        out.insert("description".into(), text.into());
    }
    if let Some(default) = map.get("default")
        && matches!(default, Value::Bool(_) | Value::Number(_) | Value::String(_))
        && default.as_str().is_none_or(|text| text.len() <= 60)
    {
        out.insert("default".into(), default.clone());
    }
    if map.get("deprecated") == Some(&Value::Bool(true)) {
        out.insert("deprecated".into(), true.into());
    }
}

/// Returns the schema without its content: only the type.
fn opaque_schema(schema: &Value) -> Value {
    let kind = schema.get("type").and_then(Value::as_str);
    let object = ["properties", "allOf", "additionalProperties"].iter().any(|key| schema.get(key).is_some());
    match kind {
        Some(kind @ ("string" | "integer" | "number" | "boolean" | "array" | "object")) => {
            json!({"type": kind})
        }
        None if object => json!({"type": "object"}),
        _ => json!({}),
    }
}

fn non_empty<'v>(map: &'v Map<String, Value>, key: &str) -> Option<&'v Vec<Value>> {
    map.get(key).and_then(Value::as_array).filter(|list| !list.is_empty())
}

fn key(target: &Resolved) -> String {
    format!("{}#{}", target.base, target.pointer)
}

/// Whether a schema or an inline schema in it has `readOnly` or `writeOnly` fields. Collects its references, too.
fn has_one_sided_fields(value: &Value, references: &mut Vec<String>, depth: usize) -> bool {
    if depth > MAX_NESTING * 3 {
        return false;
    }
    match value {
        Value::Array(items) => items.iter().any(|item| has_one_sided_fields(item, references, depth + 1)),
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref") {
                references.push(reference.clone());
            }
            let flagged = |field: &Value| {
                ["readOnly", "writeOnly"].iter().any(|key| field.get(key) == Some(&Value::Bool(true)))
            };
            map.iter().any(|(key, inner)| match (key.as_str(), inner) {
                ("properties", Value::Object(fields)) => fields
                    .values()
                    .any(|field| flagged(field) || has_one_sided_fields(field, references, depth + 1)),
                ("enum" | "const" | "default" | "example" | "examples" | "discriminator", _) => false,
                (key, _) if key.starts_with("x-") => false,
                _ => has_one_sided_fields(inner, references, depth + 1),
            })
        }
        _ => false,
    }
}
