//! The data of an answer, and its warnings.

use mcpaql_schema::syntax::{ReadableChanges, inexact_integer, readable};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The data of an answer.
#[derive(Debug, Clone)]
pub enum Payload {
    /// A value that this program built.
    Value(Value),
    /// JSON text from an upstream, known to be one valid value.
    Raw(Box<RawValue>),
}

impl Payload {
    /// Returns the data as a value. See [`parse`](Payload::parse).
    #[must_use]
    pub fn into_value(self) -> Value {
        self.parse().0
    }

    /// Returns the data as a value, and what has another form in it because no value can hold it, such as `1e400`.
    #[must_use]
    pub fn parse(self) -> (Value, ReadableChanges) {
        let raw = match self {
            Payload::Value(value) => return (value, ReadableChanges::default()),
            Payload::Raw(raw) => raw,
        };
        match serde_json::from_str(raw.get()) {
            Ok(value) if !has_rounded_integer(&value, &raw) => (value, ReadableChanges::default()),
            _ => {
                let (text, changes) = readable(raw.get());
                (serde_json::from_str(&text).unwrap_or_else(|_| Value::from(raw.get())), changes)
            }
        }
    }
}

/// Integers below this number fit 64 bits.
const LEAST_LARGE: f64 = 9_223_372_036_854_775_808.0;

/// Returns whether a value that was read from JSON text has an integer with fewer digits than in the text.
pub(crate) fn has_rounded_integer(value: &Value, text: &RawValue) -> bool {
    has_large_double(value) && inexact_integer(text.get()).is_some()
}

fn has_large_double(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            number.is_f64() && number.as_f64().is_some_and(|number| number.abs() >= LEAST_LARGE)
        }
        Value::Array(items) => items.iter().any(has_large_double),
        Value::Object(members) => members.values().any(has_large_double),
        _ => false,
    }
}

impl From<Value> for Payload {
    fn from(value: Value) -> Self {
        Payload::Value(value)
    }
}

impl From<Box<RawValue>> for Payload {
    fn from(raw: Box<RawValue>) -> Self {
        Payload::Raw(raw)
    }
}

impl Serialize for Payload {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Payload::Value(value) => value.serialize(serializer),
            Payload::Raw(raw) => raw.serialize(serializer),
        }
    }
}

/// A warning for the agent about a call that succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// The warning's code, such as `DEPRECATION_WARNING`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    /// Machine-readable details.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

impl Warning {
    /// Creates a warning without details.
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Warning { code, message: message.into(), details: Map::new() }
    }

    /// Adds a detail.
    #[must_use]
    pub fn with_detail(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.details.insert(key.to_owned(), value.into());
        self
    }
}

/// Maximum characters of a name in a message.
const MAX_NAME_CHARACTERS: usize = 64;

/// Returns whether a name may stand in a message. Names come from callers and from the data of an API, which must not put
/// their own sentences there.
#[must_use]
pub(crate) fn is_plain_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ':');
    !name.is_empty() && name.chars().count() <= MAX_NAME_CHARACTERS && name.chars().all(plain)
}

/// Quotes a caller's name for a message. Returns an empty text if it is not a plain name, so that callers cannot put
/// their own sentences into a message.
#[must_use]
pub fn quoted_name(name: &str) -> String {
    if is_plain_name(name) { format!(" '{name}'") } else { String::new() }
}
