//! `aggregate`: counts, sums, averages and extremes of the items, also by group.
//!
//! A group is the text of a value. An item whose field is a list belongs to the group of each element, and an item without
//! the field to the group `null`.

use super::compare::{compare, float, integer};
use super::controls::{invalid_type, invalid_value};
use super::path::FieldPath;
use indexmap::IndexMap;
use mcpaql_schema::error::OpError;
use mcpaql_schema::suggest;
use serde_json::{Map, Number, Value};
use std::cmp::Ordering;

/// The words of an aggregation.
pub const FUNCTIONS: [&str; 6] = ["count", "group_by", "sum", "avg", "min", "max"];
/// Maximum aggregations in a call.
const MAX_AGGREGATIONS: usize = 50;

/// Aggregations by label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aggregations(Vec<(String, Aggregation)>);

/// One aggregation: functions, for all items or for each group.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Aggregation {
    group_by: Option<FieldPath>,
    functions: Vec<AggregateFunction>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum AggregateFunction {
    Count,
    Sum(FieldPath),
    Avg(FieldPath),
    Min(FieldPath),
    Max(FieldPath),
}

impl AggregateFunction {
    const fn name(&self) -> &'static str {
        match self {
            AggregateFunction::Count => "count",
            AggregateFunction::Sum(_) => "sum",
            AggregateFunction::Avg(_) => "avg",
            AggregateFunction::Min(_) => "min",
            AggregateFunction::Max(_) => "max",
        }
    }

    const fn path(&self) -> Option<&FieldPath> {
        match self {
            AggregateFunction::Count => None,
            AggregateFunction::Sum(path)
            | AggregateFunction::Avg(path)
            | AggregateFunction::Min(path)
            | AggregateFunction::Max(path) => Some(path),
        }
    }

    fn compute(&self, items: &[&Value]) -> Value {
        let values = |path: &FieldPath| -> Vec<Value> {
            items
                .iter()
                .flat_map(|item| path.values(item))
                .filter(|value| !value.is_null())
                .cloned()
                .collect()
        };
        match self {
            AggregateFunction::Count => items.len().into(),
            AggregateFunction::Sum(path) => sum(&numbers(&values(path))),
            AggregateFunction::Avg(path) => average(&numbers(&values(path))),
            AggregateFunction::Min(path) => extreme(values(path), Ordering::Less),
            AggregateFunction::Max(path) => extreme(values(path), Ordering::Greater),
        }
    }
}

impl Aggregations {
    /// Reads `aggregate`.
    ///
    /// # Errors
    /// When an aggregation has no function or an unknown one.
    pub(super) fn read(value: &Value) -> Result<Aggregations, OpError> {
        const FORM: &str = r#"Parameter 'aggregate' must be an object of labels, such as {"by_state": {"group_by": "state", "count": true}}."#;
        let Some(labels) = value.as_object() else {
            return Err(invalid_type("aggregate", FORM, "object", value));
        };
        if labels.is_empty() {
            return Err(invalid_value("aggregate", FORM));
        }
        if labels.len() > MAX_AGGREGATIONS {
            let message =
                format!("Parameter 'aggregate' has more than {MAX_AGGREGATIONS} labels; use fewer.");
            return Err(invalid_value("aggregate", message));
        }
        let read = |(label, value): (&String, &Value)| Ok((label.clone(), Aggregation::read(value)?));
        labels.iter().map(read).collect::<Result<_, OpError>>().map(Aggregations)
    }

    /// Computes all aggregations over the items, by label.
    #[must_use]
    pub fn compute(&self, items: &[Value]) -> Map<String, Value> {
        self.0.iter().map(|(label, aggregation)| (label.clone(), aggregation.compute(items))).collect()
    }

    /// Returns the fields of sums and averages that have values in the items, but no numbers.
    #[must_use]
    pub fn fields_without_numbers(&self, items: &[Value]) -> Vec<&FieldPath> {
        let functions = self.0.iter().flat_map(|(_, aggregation)| &aggregation.functions);
        let mut fields: Vec<&FieldPath> = Vec::new();
        for function in functions {
            if let AggregateFunction::Sum(path) | AggregateFunction::Avg(path) = function {
                let mut values =
                    items.iter().flat_map(|item| path.values(item)).filter(|value| !value.is_null());
                let is_text = values.next().is_some_and(|first| {
                    std::iter::once(first)
                        .chain(values)
                        .all(|value| numbers(std::slice::from_ref(value)).is_empty())
                });
                if is_text && !fields.contains(&path) {
                    fields.push(path);
                }
            }
        }
        fields
    }

    /// Returns the field of the first sum or average that has numbers and also values that are none, and the number of these.
    pub(super) fn skipped_values(&self, items: &[Value]) -> Option<(&FieldPath, usize)> {
        let functions = self.0.iter().flat_map(|(_, aggregation)| &aggregation.functions);
        functions
            .filter_map(|function| match function {
                AggregateFunction::Sum(path) | AggregateFunction::Avg(path) => Some(path),
                _ => None,
            })
            .find_map(|path| {
                let values =
                    || items.iter().flat_map(|item| path.values(item)).filter(|value| !value.is_null());
                let numbers =
                    values().filter(|value| !numbers(std::slice::from_ref(*value)).is_empty()).count();
                let skipped = values().count().saturating_sub(numbers);
                (numbers > 0 && skipped > 0).then_some((path, skipped))
            })
    }

    /// The fields that are read.
    pub fn paths(&self) -> impl Iterator<Item = &FieldPath> {
        self.0.iter().flat_map(|(_, aggregation)| {
            let fields = aggregation.functions.iter().filter_map(AggregateFunction::path);
            aggregation.group_by.iter().chain(fields)
        })
    }

    /// Returns these aggregations with other paths.
    pub(super) fn with_paths(mut self, path: impl Fn(&FieldPath) -> FieldPath) -> Aggregations {
        for (_, aggregation) in &mut self.0 {
            if let Some(group_by) = &mut aggregation.group_by {
                *group_by = path(group_by);
            }
            for function in &mut aggregation.functions {
                match function {
                    AggregateFunction::Count => {}
                    AggregateFunction::Sum(field)
                    | AggregateFunction::Avg(field)
                    | AggregateFunction::Min(field)
                    | AggregateFunction::Max(field) => *field = path(field),
                }
            }
        }
        self
    }
}

impl Aggregation {
    fn read(value: &Value) -> Result<Aggregation, OpError> {
        let Value::Object(members) = value else {
            let message =
                r#"Each label of 'aggregate' must be an object of functions, such as {"count": true}."#;
            return Err(invalid_type("aggregate", message, "object", value));
        };
        let mut aggregation = Aggregation { group_by: None, functions: Vec::new() };
        for (name, operand) in members {
            let path = || {
                operand.as_str().and_then(FieldPath::parse).ok_or_else(|| {
                    invalid_value(
                        "aggregate",
                        format!("Function '{name}' of 'aggregate' needs a field name."),
                    )
                })
            };
            match name.as_str() {
                "count" => match operand {
                    Value::Bool(true) => aggregation.functions.push(AggregateFunction::Count),
                    Value::Bool(false) => {}
                    _ => {
                        let message = "Function 'count' of 'aggregate' counts items; write true, and select the items with 'filter'.";
                        return Err(invalid_value("aggregate", message));
                    }
                },
                "group_by" | "groupBy" => aggregation.group_by = Some(path()?),
                "sum" => aggregation.functions.push(AggregateFunction::Sum(path()?)),
                "avg" => aggregation.functions.push(AggregateFunction::Avg(path()?)),
                "min" => aggregation.functions.push(AggregateFunction::Min(path()?)),
                "max" => aggregation.functions.push(AggregateFunction::Max(path()?)),
                unknown => return Err(unknown_function(unknown)),
            }
        }
        if aggregation.functions.is_empty() {
            aggregation.functions.push(AggregateFunction::Count);
        }
        Ok(aggregation)
    }

    fn compute(&self, items: &[Value]) -> Value {
        let Some(path) = &self.group_by else {
            return self.functions_of(&items.iter().collect::<Vec<_>>());
        };
        let mut groups: IndexMap<String, Vec<&Value>> = IndexMap::new();
        for item in items {
            let mut names: Vec<String> = path.values(item).into_iter().flat_map(group_names).collect();
            names.sort_unstable();
            names.dedup();
            if names.is_empty() {
                names.push("null".to_owned());
            }
            for name in names {
                groups.entry(name).or_default().push(item);
            }
        }
        Value::Object(groups.iter().map(|(name, items)| (name.clone(), self.functions_of(items))).collect())
    }

    fn functions_of(&self, items: &[&Value]) -> Value {
        match self.functions.as_slice() {
            [only] => only.compute(items),
            several => {
                let values =
                    several.iter().map(|function| (function.name().to_owned(), function.compute(items)));
                Value::Object(values.collect())
            }
        }
    }
}

fn unknown_function(name: &str) -> OpError {
    let near = suggest::nearest(name, FUNCTIONS);
    let hint = near.map_or_else(String::new, |near| format!(" Did you mean '{near}'?"));
    let message =
        format!("Parameter 'aggregate' has an unknown function{}.{hint}", crate::answer::quoted_name(name));
    invalid_value("aggregate", message).with_detail("functions", FUNCTIONS.to_vec())
}

fn group_names(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(group_names).collect(),
        // 1.0 is in the group of 1.
        Value::Number(number) if number.is_f64() => {
            let text = number.to_string();
            // -0 equals 0.
            let text = if number.as_f64() == Some(0.0) { "0".to_owned() } else { text };
            vec![text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)]
        }
        other => vec![other.to_string()],
    }
}

fn numbers(values: &[Value]) -> Vec<&Number> {
    let flat = values.iter().flat_map(|value| match value {
        Value::Array(items) => items.iter().collect(),
        other => vec![other],
    });
    flat.filter_map(|value| match value {
        Value::Number(number) => Some(number),
        _ => None,
    })
    .collect()
}

/// Adds numbers. Integers stay exact.
fn sum(numbers: &[&Number]) -> Value {
    let whole = numbers.iter().try_fold(0_i128, |sum, number| sum.checked_add(integer(number)?));
    match whole {
        Some(whole) => match (i64::try_from(whole), u64::try_from(whole)) {
            (Ok(whole), _) => whole.into(),
            (_, Ok(whole)) => whole.into(),
            #[expect(clippy::cast_precision_loss, reason = "JSON has no larger integers")]
            _ => (whole as f64).into(),
        },
        None => numbers.iter().map(|number| float(number)).sum::<f64>().into(),
    }
}

fn average(numbers: &[&Number]) -> Value {
    if numbers.is_empty() {
        return Value::Null;
    }
    // The sum may be outside of the range of doubles.
    let Some(total) = sum(numbers).as_f64() else { return Value::Null };
    #[expect(clippy::cast_precision_loss, reason = "no answer has so many items")]
    let average = total / numbers.len() as f64;
    average.into()
}

/// Returns the smallest or largest value; the first one if several are equal.
fn extreme(values: Vec<Value>, wanted: Ordering) -> Value {
    let better = |best: Value, value: Value| if compare(&value, &best) == wanted { value } else { best };
    values.into_iter().reduce(better).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn compute(aggregate: Value, items: Value) -> Value {
        let aggregations = Aggregations::read(&aggregate).unwrap();
        Value::Object(aggregations.compute(items.as_array().unwrap()))
    }

    #[test]
    fn functions_and_groups() {
        let items = json!([
            {"state": "open", "size": 2, "labels": ["a", "b"]},
            {"state": "closed", "size": 4.5, "labels": ["a"]},
            {"state": "open", "size": null},
            {"size": "x"},
        ]);
        assert_eq!(
            compute(
                json!({
                    "total": {"count": true},
                    "by_state": {"group_by": "state", "count": true},
                    "by_label": {"group_by": "labels"},
                    "size": {"sum": "size", "avg": "size", "min": "size", "max": "size"},
                    "largest": {"group_by": "state", "max": "size"},
                }),
                items,
            ),
            json!({
                "total": 4,
                "by_state": {"open": 2, "closed": 1, "null": 1},
                "by_label": {"a": 2, "b": 1, "null": 2},
                "size": {"sum": 6.5, "avg": 3.25, "min": 2, "max": "x"},
                "largest": {"open": 2, "closed": 4.5, "null": "x"},
            })
        );
        assert_eq!(
            compute(json!({"a": {"avg": "n"}, "s": {"sum": "n"}}), json!([])),
            json!({"a": null, "s": 0})
        );
        assert_eq!(
            compute(json!({"a": {"avg": "n"}}), json!([{"n": 1e308}, {"n": 1e308}])),
            json!({"a": null})
        );
    }

    #[test]
    fn integers_are_added_exactly() {
        let items = json!([{"n": 9_007_199_254_740_993_u64}, {"n": 2}]);
        assert_eq!(compute(json!({"s": {"sum": "n"}}), items), json!({"s": 9_007_199_254_740_995_u64}));
    }

    #[test]
    fn unknown_functions_are_refused() {
        let error = Aggregations::read(&json!({"a": {"average": "n"}})).unwrap_err();
        assert!(error.message.contains("unknown function 'average'"), "{}", error.message);
        for bad in [json!([]), json!({}), json!({"a": 1}), json!({"a": {"sum": true}})] {
            assert!(Aggregations::read(&bad).is_err(), "{bad}");
        }
    }
}
