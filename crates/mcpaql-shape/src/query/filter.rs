//! `filter`: conditions on fields, all of which an item must meet.
//!
//! | condition | meets it |
//! |---|---|
//! | a value | an equal value, or a list with it |
//! | a list | any of its values |
//! | `{"gt": 5, "lte": 9}` | all operators; see [`OPERATORS`] |
//! | `{"login": "ada"}` | the condition on the field inside |
//!
//! A missing field meets only `{"exists": false}`. `contains` and `starts_with` ignore case.

use super::compare::{compare_same_type, equal};
use super::path::FieldPath;
use mcpaql_schema::error::OpError;
use serde_json::{Map, Value};
use std::cmp::Ordering;

/// The operators of conditions.
pub const OPERATORS: [&str; 9] = ["gt", "gte", "lt", "lte", "contains", "starts_with", "in", "not", "exists"];
/// Maximum conditions of a filter.
const MAX_CONDITIONS: usize = 100;
/// Maximum nesting depth of conditions.
const MAX_DEPTH: usize = 8;

/// Conditions on fields. An item must meet all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct ItemFilter {
    conditions: Vec<FieldCondition>,
}

/// A condition on one field.
#[derive(Debug, Clone, PartialEq)]
struct FieldCondition {
    path: FieldPath,
    test: ValueTest,
}

/// What a value is compared with.
#[derive(Debug, Clone, PartialEq)]
enum ValueTest {
    AnyOf(Vec<Value>),
    Greater(Value),
    AtLeast(Value),
    Less(Value),
    AtMost(Value),
    /// In lower case, if it is a text.
    Contains(Value),
    StartsWith(String),
    Not(Vec<ValueTest>),
    Exists(bool),
}

impl ItemFilter {
    /// Reads a filter.
    ///
    /// # Errors
    /// When it is not an object, or an operator has a value that it cannot use.
    pub(super) fn read(value: &Value) -> Result<ItemFilter, OpError> {
        let Value::Object(fields) = value else {
            let message = r#"Parameter 'filter' must be an object of fields, such as {"state": "open"}."#;
            return Err(super::controls::invalid_type("filter", message, "object", value));
        };
        let mut conditions = Vec::new();
        read_fields(None, fields, 0, &mut conditions)?;
        Ok(ItemFilter { conditions })
    }

    /// Returns whether an item meets all conditions.
    #[must_use]
    pub fn matches(&self, item: &Value) -> bool {
        self.conditions.iter().all(|condition| condition.test.matches(&condition.path.values(item)))
    }

    /// The fields of its conditions. A field with several conditions comes several times.
    pub fn paths(&self) -> impl Iterator<Item = &FieldPath> {
        self.conditions.iter().map(|condition| &condition.path)
    }

    /// Returns this filter with other paths.
    pub(super) fn with_paths(mut self, path: impl Fn(&FieldPath) -> FieldPath) -> ItemFilter {
        for condition in &mut self.conditions {
            condition.path = path(&condition.path);
        }
        self
    }
}

fn invalid(message: impl Into<String>) -> OpError {
    super::controls::invalid_value("filter", message)
}

fn read_fields(
    outer: Option<&FieldPath>,
    fields: &Map<String, Value>,
    depth: usize,
    out: &mut Vec<FieldCondition>,
) -> Result<(), OpError> {
    if depth > MAX_DEPTH {
        return Err(invalid("Parameter 'filter' is nested too deeply; write fields as paths: 'user.login'."));
    }
    for (name, condition) in fields {
        let Some(path) = FieldPath::parse(name) else {
            return Err(invalid(
                "Parameter 'filter' has an empty field name; name a field or a dotted path.",
            ));
        };
        let path = outer.map_or_else(|| path.clone(), |outer| outer.join(&path));
        match condition {
            Value::Object(inner) if !inner.is_empty() && !inner.keys().any(|key| is_operator(key)) => {
                read_fields(Some(&path), inner, depth + 1, out)?;
            }
            condition => {
                for test in read_tests(&path, condition, depth)? {
                    out.push(FieldCondition { path: path.clone(), test });
                }
            }
        }
        if out.len() > MAX_CONDITIONS {
            return Err(invalid(format!(
                "Parameter 'filter' has more than {MAX_CONDITIONS} conditions; use fewer."
            )));
        }
    }
    Ok(())
}

fn is_operator(name: &str) -> bool {
    OPERATORS.contains(&name)
}

fn read_tests(path: &FieldPath, condition: &Value, depth: usize) -> Result<Vec<ValueTest>, OpError> {
    Ok(match condition {
        Value::Array(values) => vec![ValueTest::AnyOf(values.clone())],
        Value::Object(operators) => {
            let mut tests = Vec::with_capacity(operators.len());
            for (operator, operand) in operators {
                tests.push(read_operator(path, operator, operand, depth)?);
            }
            tests
        }
        scalar => vec![ValueTest::AnyOf(vec![scalar.clone()])],
    })
}

fn read_operator(
    path: &FieldPath,
    operator: &str,
    operand: &Value,
    depth: usize,
) -> Result<ValueTest, OpError> {
    let wrong = |expected: &str| {
        invalid(format!("Operator '{operator}' of field '{}' needs {expected}.", shown(path.as_str())))
    };
    let ordered = || match operand {
        Value::Number(_) | Value::String(_) | Value::Bool(_) => Ok(operand.clone()),
        _ => Err(wrong("a number, a text or a date")),
    };
    Ok(match operator {
        "gt" => ValueTest::Greater(ordered()?),
        "gte" => ValueTest::AtLeast(ordered()?),
        "lt" => ValueTest::Less(ordered()?),
        "lte" => ValueTest::AtMost(ordered()?),
        "contains" => ValueTest::Contains(match operand {
            Value::String(text) => text.to_lowercase().into(),
            Value::Array(_) | Value::Object(_) => return Err(wrong("one value")),
            scalar => scalar.clone(),
        }),
        "starts_with" => {
            ValueTest::StartsWith(operand.as_str().ok_or_else(|| wrong("a text"))?.to_lowercase())
        }
        "in" => ValueTest::AnyOf(operand.as_array().ok_or_else(|| wrong("a list of values"))?.clone()),
        "exists" => ValueTest::Exists(operand.as_bool().ok_or_else(|| wrong("true or false"))?),
        "not" if depth >= MAX_DEPTH => {
            return Err(invalid("Parameter 'filter' is nested too deeply; use fewer 'not'."));
        }
        "not" => ValueTest::Not(read_tests(path, operand, depth + 1)?),
        unknown => {
            let near = mcpaql_schema::suggest::nearest(unknown, OPERATORS);
            let hint = near.map_or_else(String::new, |near| format!(" Did you mean '{near}'?"));
            let message = format!(
                "Field '{}' has operators and the unknown one{}.{hint}",
                shown(path.as_str()),
                crate::answer::quoted_name(unknown)
            );
            return Err(invalid(message).with_detail("operators", OPERATORS.to_vec()));
        }
    })
}

/// A caller's text, shortened for messages.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(64).collect()
}

impl ValueTest {
    /// Tests the values that a path leads to. One of them must pass; for `not`, none of them.
    fn matches(&self, values: &[&Value]) -> bool {
        match self {
            ValueTest::Exists(expected) => values.is_empty() != *expected,
            ValueTest::Not(tests) => {
                let is_absent_allowed = tests.iter().any(|test| matches!(test, ValueTest::Exists(_)));
                (!values.is_empty() || is_absent_allowed) && !tests.iter().all(|test| test.matches(values))
            }
            test => values.iter().any(|value| test.passes(value)),
        }
    }

    fn passes(&self, value: &Value) -> bool {
        let ordered = |expected: &Value, wanted: fn(Ordering) -> bool| {
            compare_same_type(value, expected).is_some_and(wanted)
        };
        let passes = match self {
            ValueTest::AnyOf(expected) => expected.iter().any(|expected| equal(value, expected)),
            ValueTest::Greater(expected) => ordered(expected, Ordering::is_gt),
            ValueTest::AtLeast(expected) => ordered(expected, Ordering::is_ge),
            ValueTest::Less(expected) => ordered(expected, Ordering::is_lt),
            ValueTest::AtMost(expected) => ordered(expected, Ordering::is_le),
            ValueTest::Contains(Value::String(part)) => match value {
                Value::String(text) => text.to_lowercase().contains(part.as_str()),
                _ => false,
            },
            ValueTest::Contains(part) => matches!(value, Value::Array(_)) && equal(value, part),
            ValueTest::StartsWith(start) => {
                value.as_str().is_some_and(|text| text.to_lowercase().starts_with(start.as_str()))
            }
            ValueTest::Not(_) | ValueTest::Exists(_) => false,
        };
        let in_list = || match (self, value) {
            (
                ValueTest::Contains(part @ (Value::Number(_) | Value::Bool(_) | Value::Null)),
                Value::Array(items),
            ) => items.iter().any(|item| equal(item, part)),
            (_, Value::Array(items)) => items.iter().any(|item| !item.is_array() && self.passes(item)),
            _ => false,
        };
        passes || in_list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn matches(filter: Value, item: Value) -> bool {
        ItemFilter::read(&filter).unwrap().matches(&item)
    }

    #[test]
    fn conditions_mean_what_they_say() {
        let item = || {
            json!({"n": 5, "s": "Open Door", "l": ["a", "b"], "u": {"login": "ada"}, "z": null,
            "labels": [{"name": "bug"}, {"name": "ui"}], "d": "2026-03-01", "nums": [1, 2]})
        };
        for filter in [
            json!({}),
            json!({"n": 5.0, "s": "Open Door"}),
            json!({"n": [4, 5]}),
            json!({"n": {"gt": 4, "lte": 5}}),
            json!({"s": {"contains": "door"}}),
            json!({"s": {"starts_with": "open"}}),
            json!({"l": "b"}),
            json!({"l": {"contains": "a"}}),
            json!({"nums": {"contains": 2}}),
            json!({"labels.name": "ui"}),
            json!({"labels": {"name": "ui"}}),
            json!({"u": {"login": {"in": ["ada", "bob"]}}}),
            json!({"d": {"gte": "2026-01-01", "lt": "2027"}}),
            json!({"n": {"not": 6}}),
            json!({"n": {"not": {"gt": 5}}}),
            json!({"l": {"not": ["c"]}}),
            json!({"x": {"exists": false}}),
            json!({"z": {"exists": true}}),
            json!({"z": null}),
        ] {
            assert!(matches(filter.clone(), item()), "{filter}");
        }
        for filter in [
            json!({"n": "5"}),
            json!({"n": {"gt": "4"}}),
            json!({"n": {"gt": 5}}),
            json!({"n": 5, "s": "x"}),
            json!({"x": null}),
            json!({"x": {"not": 1}}),
            json!({"x": {"exists": true}}),
            json!({"l": {"not": "a"}}),
            json!({"labels.name": {"not": "ui"}}),
            json!({"n": []}),
        ] {
            assert!(!matches(filter.clone(), item()), "{filter}");
        }
    }

    #[test]
    fn bad_conditions_are_refused_with_a_reason() {
        for (filter, part) in [
            (json!("open"), "must be an object"),
            (json!({"n": {"in": 5}}), "'in' of field 'n' needs a list"),
            (json!({"n": {"gt": null}}), "needs a number"),
            (json!({"n": {"exists": "yes"}}), "needs true or false"),
            (json!({"n": {"gt": 1, "ltee": 3}}), "Did you mean 'lte'?"),
            (json!({"": 1}), "empty field name"),
        ] {
            let error = ItemFilter::read(&filter).unwrap_err();
            assert!(error.message.contains(part), "{filter}: {}", error.message);
        }
    }
}
