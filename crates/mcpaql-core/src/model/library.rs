//! Operations that are read one at a time, because reading all of them before the first answer would take too long.
//!
//! ```
//! use mcpaql_core::facts::{Facts, Reach};
//! use mcpaql_core::library::Outline;
//! use mcpaql_core::operation::{Binding, Category, Operation, Param, ParamLocation};
//!
//! let mut get = Operation::new("get_task", Category::Read, Facts::read(Reach::Process), Binding::Code);
//! get.params.push(Param::new("id", ParamLocation::Path, serde_json::json!({"type": "string"})));
//! let outline = Outline::of(&get, &Default::default());
//! assert!(outline.params[0].in_path);
//! ```
//!
//! The adapter has only their heads: operations without parameters, results and examples, but with everything that
//! tools and lists need. A library reads the rest on demand.

use crate::operation::{Operation, ParamLocation};
use indexmap::IndexMap;
use serde_json::Value;
use std::fmt;

/// Reads the full operations of an adapter.
pub trait Library: Send + Sync + fmt::Debug {
    /// Returns the full operation for the head at `index` in the adapter; `None` if it cannot be read.
    fn operation(&self, index: usize) -> Option<LibraryOperation>;

    /// Returns its outline for discovery. This must be much cheaper than reading the full operation.
    fn outline(&self, index: usize) -> Outline;

    /// Returns the names of all types.
    fn type_names(&self) -> Vec<String>;

    /// Returns the type with this name.
    fn type_named(&self, name: &str) -> Option<Value>;
}

/// An operation with the types that it uses.
#[derive(Debug, Clone)]
pub struct LibraryOperation {
    /// The full operation.
    pub operation: Operation,
    /// Every type its schemas refer to as `#/types/Name`, directly or through others.
    pub types: IndexMap<String, Value>,
}

/// The names of an operation's parameters and result fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// Parameters, with the names that callers use.
    pub params: Vec<ParamOutline>,
    /// The result, if it is known.
    pub answer: Option<AnswerOutline>,
}

/// The outline of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamOutline {
    /// Name, as callers write it.
    pub name: String,
    /// The caller must send it.
    pub required: bool,
    /// It is part of the path.
    pub in_path: bool,
    /// Its values are known: an enum, a constant or a boolean.
    pub is_choice: bool,
}

/// Returns whether a schema allows only known values: an enum, a constant or a boolean, or a list of them.
#[must_use]
pub fn is_choice(schema: &Value) -> bool {
    let single = |schema: &Value| {
        schema.get("enum").is_some()
            || schema.get("const").is_some()
            || schema.get("type").is_some_and(|kind| kind == "boolean")
    };
    single(schema) || schema.get("items").is_some_and(single)
}

/// The outline of a result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AnswerOutline {
    /// The named type of the result, or of its items.
    pub type_name: Option<String>,
    /// Whether the result is a list, directly or in an envelope.
    pub list: bool,
    /// The fields of the result, or of its items.
    pub fields: Vec<String>,
}

impl Outline {
    /// Returns the outline of a full operation.
    #[must_use]
    pub fn of(operation: &Operation, types: &IndexMap<String, Value>) -> Outline {
        let params = operation.params.iter().map(|param| ParamOutline {
            name: param.name.clone(),
            required: param.required,
            in_path: param.location == ParamLocation::Path,
            is_choice: is_choice(resolve_reference(&param.schema, types).1),
        });
        let answer = operation.returns.as_ref().map(|returns| AnswerOutline::of(&returns.schema, types));
        Outline { params: params.collect(), answer }
    }
}

impl AnswerOutline {
    /// Returns the outline of a schema: an object, a list of objects, or a list in an envelope.
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
        // An envelope has one list. An object with several lists is a resource itself.
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

/// Follows references up to a limit. Returns the schema and the name of the first reference.
pub(crate) fn resolve_reference<'v>(
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
