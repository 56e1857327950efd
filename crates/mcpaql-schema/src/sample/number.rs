//! Generates numbers within bounds.

use serde_json::{Number, Value, json};

/// Returns the simplest number that a schema accepts.
pub(super) fn number(schema: &Value) -> Option<Value> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let flag = |key: &str| schema.get(key) == Some(&Value::Bool(true));
    let (low, high) = (bound("minimum"), bound("maximum"));
    let above = bound("exclusiveMinimum").or(low.filter(|_| flag("exclusiveMinimum")));
    let below = bound("exclusiveMaximum").or(high.filter(|_| flag("exclusiveMaximum")));
    let step = bound("multipleOf").filter(|step| *step > 0.0);
    let is_integer = schema.get("type").is_some_and(|kind| kind == "integer");
    let fits = |value: f64| {
        value.is_finite()
            && low.is_none_or(|low| value >= low)
            && high.is_none_or(|high| value <= high)
            && above.is_none_or(|above| value > above)
            && below.is_none_or(|below| value < below)
            && (!is_integer || value.fract() == 0.0)
            && step.is_none_or(|step| ((value / step).round() * step - value).abs() < step * 1e-9)
    };
    // Bounds that are too large for a float are used as they are.
    let exact = || {
        ["minimum", "maximum"].iter().filter_map(|key| schema.get(*key)).find(|value| value.is_i64()).cloned()
    };
    let lowest = low.or(above);
    let highest = high.or(below);
    let stepped = step.map(|step| lowest.map_or(step, |lowest| ((lowest / step).floor() + 1.0) * step));
    let middle = lowest.zip(highest).map(|(lowest, highest)| f64::midpoint(lowest, highest));
    let near =
        [lowest, highest].into_iter().flatten().flat_map(|n| [n, n + 1.0, n - 1.0, n.ceil(), n.floor()]);
    let candidates = [Some(1.0), stepped, Some(0.0), middle].into_iter().flatten().chain(near);
    candidates
        .into_iter()
        .find(|value| fits(*value) && (value.abs() < 9e15 || !is_integer))
        .and_then(plain)
        .or_else(|| exact().filter(|_| step.is_none()))
}

/// Writes a whole number without a decimal point.
fn plain(value: f64) -> Option<Value> {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Some(json!(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}
