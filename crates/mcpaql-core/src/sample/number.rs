//! Numbers within bounds.

use serde_json::{Number, Value, json};

/// The plainest number that a schema admits.
pub(super) fn number(schema: &Value) -> Option<Value> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let flag = |key: &str| schema.get(key) == Some(&Value::Bool(true));
    let (low, high) = (bound("minimum"), bound("maximum"));
    let above = bound("exclusiveMinimum").or(low.filter(|_| flag("exclusiveMinimum")));
    let below = bound("exclusiveMaximum").or(high.filter(|_| flag("exclusiveMaximum")));
    let step = bound("multipleOf").filter(|step| *step > 0.0);
    let whole = schema.get("type").is_some_and(|kind| kind == "integer");
    let fits = |value: f64| {
        value.is_finite()
            && low.is_none_or(|low| value >= low)
            && high.is_none_or(|high| value <= high)
            && above.is_none_or(|above| value > above)
            && below.is_none_or(|below| value < below)
            && (!whole || value.fract() == 0.0)
            && step.is_none_or(|step| ((value / step).round() * step - value).abs() < step * 1e-9)
    };
    // Bounds too large for a float are told exactly.
    let exact = || {
        ["minimum", "maximum"].iter().filter_map(|key| schema.get(*key)).find(|value| value.is_i64()).cloned()
    };
    let least = low.or(above);
    let most = high.or(below);
    let stepped = step.map(|step| least.map_or(step, |least| ((least / step).floor() + 1.0) * step));
    let middle = least.zip(most).map(|(least, most)| f64::midpoint(least, most));
    let near =
        [least, most].into_iter().flatten().flat_map(|at| [at, at + 1.0, at - 1.0, at.ceil(), at.floor()]);
    let candidates = [Some(1.0), stepped, Some(0.0), middle].into_iter().flatten().chain(near);
    candidates
        .into_iter()
        .find(|value| fits(*value) && (value.abs() < 9e15 || !whole))
        .and_then(plain)
        .or_else(|| exact().filter(|_| step.is_none()))
}

/// A whole number without a point.
fn plain(value: f64) -> Option<Value> {
    if value.fract() == 0.0 && value.abs() < 9e15 {
        return Some(json!(value as i64));
    }
    Number::from_f64(value).map(Value::Number)
}
