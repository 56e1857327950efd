//! Where a `$ref` leads.

use serde_json::Value;
use std::sync::Arc;

/// Something that can follow references.
pub trait Refs {
    /// The value a `$ref` leads to, read from `base` (a document id; "" is the main document); with the document it
    /// stands in. A chain of references is followed to its end.
    fn resolve(&self, base: &str, reference: &str) -> Option<Resolved>;
}

/// A value that a reference led to.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// What stands there.
    pub value: Arc<Value>,
    /// The document it stands in: what references inside `value` are read from.
    pub base: String,
    /// Where in that document, as a JSON pointer.
    pub pointer: String,
}
