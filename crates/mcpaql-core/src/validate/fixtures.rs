//! Operations for tests.

use crate::facts::{Declared, Guard, Reach, infer};
use crate::operation::{Binding, Category, Danger, HttpBinding, Operation, Param, ParamLocation};
use regex::Regex;
use serde_json::Value;
use std::sync::LazyLock;

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

/// Returns whether the leak check of the reference implementation rejects a message: it treats "at" and a word as a
/// stack frame, even inside a word ("that name").
pub(crate) fn trips_leak_check(message: &str) -> bool {
    static FRAME: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"(?i)at\s+\S").unwrap());
    FRAME.is_match(message)
}
