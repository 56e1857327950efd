//! The order of JSON values, which filters, sorting and aggregation share.
//!
//! What always holds: it is a total order, and numbers are compared by their exact value, so 1 equals 1.0.

use serde_json::{Number, Value};
use std::cmp::Ordering;

/// Compares two values: false < true < numbers < strings < lists < objects, null first.
pub(super) fn compare(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b),
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Array(_), Value::Array(_)) | (Value::Object(_), Value::Object(_)) => {
            a.to_string().cmp(&b.to_string())
        }
        _ => rank(a).cmp(&rank(b)),
    }
}

/// Returns whether two values are equal; 1 equals 1.0.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b) == Ordering::Equal,
        _ => a == b,
    }
}

/// Compares two values of the same type that have an order; otherwise `None`.
pub(super) fn compare_same_type(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(_), Value::Number(_))
        | (Value::String(_), Value::String(_))
        | (Value::Bool(_), Value::Bool(_)) => Some(compare(a, b)),
        _ => None,
    }
}

const fn rank(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Number(_) => 2,
        Value::String(_) => 3,
        Value::Array(_) => 4,
        Value::Object(_) => 5,
    }
}

fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(a), None) => compare_with_float(a, float(b)),
        (None, Some(b)) => compare_with_float(b, float(a)).reverse(),
        (None, None) => float(a).total_cmp(&(float(b) + 0.0)),
    }
}

/// Returns an integer as it is.
pub(super) fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// Returns a number as a float. -0 becomes 0, so that both are equal.
pub(super) fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default() + 0.0
}

/// Compares an integer of 64 bits with a float, exactly.
fn compare_with_float(a: i128, b: f64) -> Ordering {
    // No integer of JSON is beyond these bounds.
    if b >= 1e30 {
        return Ordering::Less;
    }
    if b <= -1e30 {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the bounds above leave integers that fit")]
    let whole = b.trunc() as i128;
    a.cmp(&whole).then_with(|| 0.0_f64.total_cmp(&(b.fract() + 0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_compared_exactly() {
        let big = json!(9_007_199_254_740_993_u64);
        assert_eq!(compare(&big, &json!(9_007_199_254_740_992.0)), Ordering::Greater);
        assert_eq!(compare(&json!(-2), &json!(-1.5)), Ordering::Less);
        assert_eq!(compare(&json!(-1), &json!(-1.5)), Ordering::Greater);
        assert_eq!(compare(&json!(u64::MAX), &json!(1e300)), Ordering::Less);
        assert!(equal(&json!(1), &json!(1.0)) && equal(&json!(0), &json!(-0.0)));
        assert!(equal(&json!(0.0), &json!(-0.0)));
        assert!(!equal(&json!("1"), &json!(1)));
        assert_eq!(compare_same_type(&json!("1"), &json!(1)), None);
    }
}
