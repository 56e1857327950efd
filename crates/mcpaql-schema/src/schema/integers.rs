//! Normalizes whole numbers. JSON can write the integer 1000 as `1e3` or `1000.0`, and a target that expects an integer
//! must get one.
//!
//! What always holds: a float that is too large to be exact is never passed on as an integer.

use super::{AdditionalRule, SchemaId, SchemaSet, TypeSet};
use serde_json::{Number, Value};

/// From this size on, floats skip integers, so the original integer is unknown.
const MAX_EXACT_FLOAT: f64 = 9_007_199_254_740_992.0;
/// Maximum references that are followed from one value.
const MAX_REFERENCES: u8 = 16;

/// Returns whether a whole number may differ from the one that the caller wrote.
pub(super) fn is_inexact(number: &Number) -> bool {
    number.is_f64()
        && number.as_f64().is_some_and(|float| float.fract() == 0.0 && float.abs() >= MAX_EXACT_FLOAT)
}

/// Replaces whole floats with integers where the schema expects an integer and not a number.
pub(super) fn normalize_integers(schemas: &SchemaSet, id: SchemaId, value: &mut Value) {
    if has_float(value) {
        visit(schemas, id, value, MAX_REFERENCES);
    }
}

fn has_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.is_f64(),
        Value::Array(items) => items.iter().any(has_float),
        Value::Object(fields) => fields.values().any(has_float),
        _ => false,
    }
}

fn visit(schemas: &SchemaSet, id: SchemaId, value: &mut Value, fuel: u8) {
    let (Some(node), Some(fuel)) = (schemas.node(id), fuel.checked_sub(1)) else { return };
    if let Value::Number(number) = value {
        if !schemas.types(id, MAX_REFERENCES).intersects(TypeSet::FRACTION)
            && let Some(whole) = as_exact_integer(number)
        {
            *value = whole.into();
        }
        return;
    }
    let Some(rules) = node.rules.as_deref() else { return };
    match (&mut *value, &rules.array, &rules.object) {
        (Value::Array(items), Some(array), _) => {
            for (index, item) in items.iter_mut().enumerate() {
                if let Some(id) = array.prefix.get(index).copied().or(array.items) {
                    visit(schemas, id, item, MAX_REFERENCES);
                }
            }
        }
        (Value::Object(fields), _, Some(object)) => {
            for (name, field) in fields {
                match (object.properties.get(name), object.additional) {
                    (Some(&id), _) | (None, AdditionalRule::Schema(id)) => {
                        visit(schemas, id, field, MAX_REFERENCES)
                    }
                    (None, AdditionalRule::Any | AdditionalRule::None) => {}
                }
            }
        }
        _ => {}
    }
    for &id in rules.reference.iter().chain(&rules.all_of) {
        visit(schemas, id, value, fuel);
    }
}

#[allow(clippy::cast_possible_truncation, reason = "a float without fraction below 2^53 is an integer")]
fn as_exact_integer(number: &Number) -> Option<i64> {
    let float = number.as_f64().filter(|_| number.is_f64())?;
    (float.fract() == 0.0 && float.abs() < MAX_EXACT_FLOAT).then_some(float as i64)
}
