//! Tests of parameters: equality, comparison, membership, pattern, presence.

use super::MatchResult;
use super::number::compare_numbers;
use mcpaql_schema::schema::translate;
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};
use std::cmp::Ordering;

/// Maximum bytes of a compiled pattern.
const MAX_PATTERN_BYTES: usize = 1 << 22;

/// A test of the parameter with a path.
#[derive(Debug, Clone, PartialEq)]
pub struct ParamTest {
    /// The name of the parameter; members of objects follow after a dot, such as `customer.country`. A list on the way means each of
    /// its items, and a number one of them.
    pub path: String,
    /// What must hold. All conditions must.
    pub conditions: Vec<ParamCondition>,
}

/// One condition for the value of a parameter. Null counts as absent.
///
/// If the value is a list, the condition is tested for each item, and it is [`MatchResult::Unknown`] if only some items fit.
#[derive(Debug, Clone, PartialEq)]
pub enum ParamCondition {
    /// It equals a value. Numbers are compared exactly: `1` equals `1.0`. A text that spells the number is unknown.
    Eq(Value),
    /// The opposite of [`Eq`](ParamCondition::Eq), so it also holds if the parameter is absent.
    Ne(Value),
    /// It is greater: a number than a number, a text than a text. Other types are unknown.
    Gt(Value),
    /// It is greater or equal.
    Gte(Value),
    /// It is less.
    Lt(Value),
    /// It is less or equal.
    Lte(Value),
    /// It equals one of several values.
    In(Vec<Value>),
    /// The opposite of [`In`](ParamCondition::In), so it also holds if the parameter is absent.
    NotIn(Vec<Value>),
    /// It is a text in which the pattern is found. Other types are unknown.
    Pattern(ParamPattern),
    /// It is present and not null, or the opposite.
    Exists(bool),
}

/// A compiled pattern, as in JSON Schema. Patterns are equal if their texts are equal.
#[derive(Debug, Clone)]
pub struct ParamPattern {
    text: String,
    regex: Regex,
}

impl PartialEq for ParamPattern {
    fn eq(&self, other: &ParamPattern) -> bool {
        self.text == other.text
    }
}

impl ParamPattern {
    /// Compiles a pattern; `None` if the engine does not support it.
    #[must_use]
    pub fn new(text: &str) -> Option<ParamPattern> {
        let regex = RegexBuilder::new(&translate(text)).size_limit(MAX_PATTERN_BYTES).build().ok()?;
        Some(ParamPattern { text: text.to_owned(), regex })
    }

    /// Returns the pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl ParamTest {
    /// Tests the parameters of a call.
    #[must_use]
    pub fn test(&self, args: &Map<String, Value>) -> MatchResult {
        let values = self.values(args);
        self.conditions.iter().map(|condition| condition.test(&values)).min().unwrap_or(MatchResult::Yes)
    }

    /// Returns the values with the path. `None` stands for an absent one.
    fn values<'a>(&self, args: &'a Map<String, Value>) -> Vec<Option<&'a Value>> {
        let mut found = Vec::new();
        let (first, rest) = self.path.split_once('.').unwrap_or((&self.path, ""));
        match args.get(first) {
            Some(value) => descend(value, rest, &mut found),
            None => found.push(None),
        }
        if !rest.is_empty()
            && let Some(value) = args.get(&self.path)
        {
            // A parameter may have a dot in its name.
            found.retain(Option::is_some);
            found.push(Some(value));
        }
        found
    }
}

/// Collects the values below a value. A list on the way means each of its items.
fn descend<'a>(value: &'a Value, path: &str, found: &mut Vec<Option<&'a Value>>) {
    if path.is_empty() {
        found.push(Some(value).filter(|value| !value.is_null()));
        return;
    }
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    match value {
        Value::Object(members) => match members.get(first) {
            Some(value) => descend(value, rest, found),
            None => found.push(None),
        },
        Value::Array(items) => match first.parse::<usize>() {
            Ok(index) => match items.get(index) {
                Some(value) => descend(value, rest, found),
                None => found.push(None),
            },
            Err(_) if items.is_empty() => found.push(None),
            Err(_) => items.iter().for_each(|item| descend(item, path, found)),
        },
        _ => found.push(None),
    }
}

impl ParamCondition {
    fn test(&self, values: &[Option<&Value>]) -> MatchResult {
        match self {
            ParamCondition::Ne(value) => opposite(any_equal(values, std::slice::from_ref(value))),
            ParamCondition::Eq(value) => any_equal(values, std::slice::from_ref(value)),
            ParamCondition::In(expected) => any_equal(values, expected),
            ParamCondition::NotIn(expected) => opposite(any_equal(values, expected)),
            ParamCondition::Exists(wanted) => {
                all(values.iter().map(|value| known(value.is_some() == *wanted)))
            }
            ParamCondition::Gt(bound) => ordered(values, bound, Ordering::is_gt),
            ParamCondition::Gte(bound) => ordered(values, bound, Ordering::is_ge),
            ParamCondition::Lt(bound) => ordered(values, bound, Ordering::is_lt),
            ParamCondition::Lte(bound) => ordered(values, bound, Ordering::is_le),
            ParamCondition::Pattern(pattern) => each(values, &|value| match value {
                Value::String(text) => known(pattern.regex.is_match(text)),
                _ => MatchResult::Unknown,
            }),
        }
    }
}

fn known(fits: bool) -> MatchResult {
    if fits { MatchResult::Yes } else { MatchResult::No }
}

fn opposite(result: MatchResult) -> MatchResult {
    match result {
        MatchResult::Yes => MatchResult::No,
        MatchResult::No => MatchResult::Yes,
        MatchResult::Unknown => MatchResult::Unknown,
    }
}

/// Combines the results of several values: unknown unless all agree, and no if there are none.
fn all(results: impl Iterator<Item = MatchResult>) -> MatchResult {
    let mut results = results;
    let Some(first) = results.next() else { return MatchResult::No };
    if results.all(|result| result == first) { first } else { MatchResult::Unknown }
}

/// Tests each value, and each item of a list.
fn each(values: &[Option<&Value>], test: &dyn Fn(&Value) -> MatchResult) -> MatchResult {
    all(values.iter().map(|value| match value {
        None | Some(Value::Null) => MatchResult::No,
        Some(Value::Array(items)) => each(&items.iter().map(Some).collect::<Vec<_>>(), test),
        Some(value) => test(value),
    }))
}

fn ordered(values: &[Option<&Value>], bound: &Value, fits: impl Fn(Ordering) -> bool) -> MatchResult {
    each(values, &|value| match (value, bound) {
        (Value::Number(value), Value::Number(bound)) => known(fits(compare_numbers(value, bound))),
        (Value::String(value), Value::String(bound)) => known(fits(value.cmp(bound))),
        _ => MatchResult::Unknown,
    })
}

/// Tests whether the values equal one of the expected values. A list may equal one as a whole, or with its items.
fn any_equal(values: &[Option<&Value>], expected: &[Value]) -> MatchResult {
    let one = |value: &Value| expected.iter().map(|expected| equality(value, expected)).max();
    all(values.iter().map(|value| match value {
        None | Some(Value::Null) => MatchResult::No,
        Some(value) if one(value) == Some(MatchResult::Yes) => MatchResult::Yes,
        Some(Value::Array(items)) => any_equal(&items.iter().map(Some).collect::<Vec<_>>(), expected),
        Some(value) => one(value).unwrap_or(MatchResult::No),
    }))
}

/// Compares two values. A text and a number or a boolean of the same spelling are unknown: the operator may have left out the quotes, or
/// the caller may have added them.
fn equality(value: &Value, expected: &Value) -> MatchResult {
    match (value, expected) {
        (Value::String(text), other @ (Value::Number(_) | Value::Bool(_)))
        | (other @ (Value::Number(_) | Value::Bool(_)), Value::String(text)) => {
            let spelled = serde_json::from_str::<Value>(text.trim());
            if spelled.is_ok_and(|spelled| is_equal(&spelled, other)) {
                MatchResult::Unknown
            } else {
                MatchResult::No
            }
        }
        _ => known(is_equal(value, expected)),
    }
}

/// Compares JSON values: `1` equals `1.0`, and the order of members does not matter.
fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare_numbers(a, b).is_eq(),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| is_equal(a, b)))
        }
        _ => a == b,
    }
}
