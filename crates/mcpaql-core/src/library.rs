//! Operations that are read one at a time, because there are too many to read them all before the first answer.
//!
//! The adapter then holds only their heads: operations without parameters, answers and examples, but with everything that
//! tools and lists need. A library hands out the rest when somebody asks for it.

use crate::operation::Operation;
use indexmap::IndexMap;
use serde_json::Value;
use std::fmt;

/// Where the rest of an adapter's operations comes from.
pub trait Library: Send + Sync + fmt::Debug {
    /// Everything about the operation whose head stands at that position of the adapter; `None` where it cannot be read.
    fn operation(&self, index: usize) -> Option<Full>;

    /// What discovery needs to know about it, which must be much cheaper than reading it whole.
    fn outline(&self, index: usize) -> Outline;

    /// The names of all types.
    fn type_names(&self) -> Vec<String>;

    /// The type of that name.
    fn type_named(&self, name: &str) -> Option<Value>;
}

/// An operation with the types that it reaches.
#[derive(Debug, Clone)]
pub struct Full {
    /// The whole operation.
    pub operation: Operation,
    /// Every type its schemas refer to as `#/types/Name`, directly or through others.
    pub types: IndexMap<String, Value>,
}

/// What an operation takes and gives, in names only.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline {
    /// Parameters, by the names callers use.
    pub params: Vec<Need>,
    /// What comes back, where that is known.
    pub answer: Option<Given>,
}

/// A parameter, in outline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Need {
    /// As callers write it.
    pub name: String,
    /// Must be given.
    pub required: bool,
    /// Part of the path.
    pub in_path: bool,
}

/// An answer, in outline.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    /// The named type of the answer, or of its items.
    pub type_name: Option<String>,
    /// Whether the answer is a collection, be it in an envelope.
    pub list: bool,
    /// The fields of the answer, or of its items.
    pub fields: Vec<String>,
}
