//! Tests of parameters: equality, comparison, membership, pattern, presence.

use super::MatchResult;
use regex::Regex;
use serde_json::{Map, Value};

/// A test of the parameter with a path.
#[derive(Debug, Clone, PartialEq)]
pub struct ParamTest {
    /// The name of the parameter; members of objects follow after a dot, such as `customer.country`.
    pub path: String,
    /// What must hold. All conditions must.
    pub conditions: Vec<ParamCondition>,
}

/// One condition for the value of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum ParamCondition {
    /// It equals a value.
    Eq(Value),
    /// It equals no value of this kind, or is absent.
    Ne(Value),
    /// It is greater.
    Gt(Value),
    /// It is greater or equal.
    Gte(Value),
    /// It is less.
    Lt(Value),
    /// It is less or equal.
    Lte(Value),
    /// It equals one of several values.
    In(Vec<Value>),
    /// It equals none of several values, or is absent.
    NotIn(Vec<Value>),
    /// It is a text in which the pattern is found.
    Pattern(ParamPattern),
    /// It is present and not null, or the opposite.
    Exists(bool),
}

/// A compiled pattern. Patterns are equal if their texts are equal.
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

impl ParamTest {
    /// Tests the parameters of a call.
    #[must_use]
    pub fn test(&self, _args: &Map<String, Value>) -> MatchResult {
        MatchResult::Unknown
    }
}
