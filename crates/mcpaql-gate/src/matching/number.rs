//! The exact order of JSON numbers.

use serde_json::Number;
use std::cmp::Ordering;

/// Integers of JSON values have at most 64 bits, so none is beyond this bound.
const BEYOND_INTEGERS: f64 = 1e30;

/// Compares two numbers by their exact value, so that 1 equals 1.0 and no digit of a large integer is lost.
pub(super) fn compare_numbers(a: &Number, b: &Number) -> Ordering {
    match (integer(a), integer(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(a), None) => compare_with_float(a, float(b)),
        (None, Some(b)) => compare_with_float(b, float(a)).reverse(),
        (None, None) => float(a).total_cmp(&float(b)),
    }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

/// Returns a number as a float. -0 becomes 0, so that both are equal.
fn float(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default() + 0.0
}

fn compare_with_float(a: i128, b: f64) -> Ordering {
    if b >= BEYOND_INTEGERS {
        return Ordering::Less;
    }
    if b <= -BEYOND_INTEGERS {
        return Ordering::Greater;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the bounds above leave integers that fit")]
    let whole = b.trunc() as i128;
    a.cmp(&whole).then_with(|| 0.0_f64.total_cmp(&(b.fract() + 0.0)))
}
