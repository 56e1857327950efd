//! Operations for tests.

use crate::facts::{Declared, Guard, Reach, infer};
use crate::operation::{Binding, Category, Danger, HttpBinding, Operation, Param, ParamLocation};
use serde_json::Value;

/// Returns an operation over HTTP without parameters.
pub(crate) fn operation(name: &str, category: Category) -> Operation {
    let binding = Binding::Http(HttpBinding::new("POST", Vec::new()));
    let danger = Danger::Reversible;
    let declared = Declared {
        category,
        effect: None,
        idempotent: None,
        danger,
        guard: Guard::None,
        reach: Reach::Open,
        binding: &binding,
    };
    let facts = infer(&declared);
    Operation::new(name, category, facts, binding)
}

/// Returns a parameter whose wire name is its name.
pub(crate) fn param(name: &str, location: ParamLocation, required: bool, schema: Value) -> Param {
    Param { required, ..Param::new(name, location, schema) }
}
