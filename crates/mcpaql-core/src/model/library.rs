//! Operations that are read one at a time, because there are too many to read them all before the first answer.
//!
//! The adapter then holds only their heads: operations without parameters, answers and examples, but with everything that
//! tools and lists need. A library hands out the rest when somebody asks for it.

use crate::operation::{Operation, ParamLocation};
use indexmap::IndexMap;
use serde_json::Value;
use std::fmt;

/// Where the rest of an adapter's operations comes from.
pub trait Library: Send + Sync + fmt::Debug {
    /// Everything about the operation whose head stands at that position of the adapter; `None` where it cannot be read.
    fn operation(&self, index: usize) -> Option<LibraryOperation>;

    /// What discovery needs to know about it, which must be much cheaper than reading it whole.
    fn outline(&self, index: usize) -> Outline;

    /// The names of all types.
    fn type_names(&self) -> Vec<String>;

    /// The type of that name.
    fn type_named(&self, name: &str) -> Option<Value>;
}

/// An operation with the types that it reaches.
#[derive(Debug, Clone)]
pub struct LibraryOperation {
    /// The whole operation.
    pub operation: Operation,
    /// Every type its schemas refer to as `#/types/Name`, directly or through others.
    pub types: IndexMap<String, Value>,
}

/// What an operation takes and gives, in names only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// Parameters, by the names callers use.
    pub params: Vec<ParamOutline>,
    /// What comes back, where that is known.
    pub answer: Option<AnswerOutline>,
}

/// A parameter, in outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamOutline {
    /// As callers write it.
    pub name: String,
    /// Must be given.
    pub required: bool,
    /// Part of the path.
    pub in_path: bool,
}

/// An answer, in outline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerOutline {
    /// The named type of the answer, or of its items.
    pub type_name: Option<String>,
    /// Whether the answer is a collection, be it in an envelope.
    pub list: bool,
    /// The fields of the answer, or of its items.
    pub fields: Vec<String>,
}

impl Outline {
    /// The outline of a whole operation.
    #[must_use]
    pub fn of(operation: &Operation, types: &IndexMap<String, Value>) -> Outline {
        let params = operation.params.iter().map(|param| ParamOutline {
            name: param.name.clone(),
            required: param.required,
            in_path: param.location == ParamLocation::Path,
        });
        let answer = operation.returns.as_ref().map(|returns| AnswerOutline::of(&returns.schema, types));
        Outline { params: params.collect(), answer }
    }
}

impl AnswerOutline {
    /// The outline of what a schema describes: an object, a list of them, or a list in an envelope.
    #[must_use]
    pub fn of(schema: &Value, types: &IndexMap<String, Value>) -> AnswerOutline {
        let (name, schema) = resolve_reference(schema, types);
        if let Some(items) = schema.get("items") {
            return AnswerOutline { list: true, ..AnswerOutline::of_item(items, types) };
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        let lists: Vec<&Value> = properties
            .into_iter()
            .flatten()
            .filter_map(|(_, property)| resolve_reference(property, types).1.get("items"))
            .collect();
        // An envelope holds one list; an object with several is a thing of its own.
        match lists.as_slice() {
            [items] if properties.is_some_and(|properties| properties.len() <= 8) => {
                AnswerOutline { list: true, ..AnswerOutline::of_item(items, types) }
            }
            _ => AnswerOutline { type_name: name, list: false, fields: field_names(schema) },
        }
    }

    fn of_item(schema: &Value, types: &IndexMap<String, Value>) -> AnswerOutline {
        let (type_name, schema) = resolve_reference(schema, types);
        AnswerOutline { type_name, list: false, fields: field_names(schema) }
    }
}

fn field_names(schema: &Value) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.clone()).collect()
}

/// The schema behind a reference, with its name. References that lead on are followed a little.
fn resolve_reference<'v>(
    schema: &'v Value,
    types: &'v IndexMap<String, Value>,
) -> (Option<String>, &'v Value) {
    let (mut name, mut schema) = (None, schema);
    for _ in 0..8 {
        let target =
            schema.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix("#/types/"));
        let Some(target) = target else { break };
        name.get_or_insert_with(|| target.to_owned());
        let Some(next) = types.get(target) else { break };
        schema = next;
    }
    (name, schema)
}
