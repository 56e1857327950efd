//! Builds the response envelope of a call: `{"success":true,"data":…}` or `{"success":false,"error":{…}}`.
//!
//! ```
//! use mcpaql_core::adapter::ErrorPolicy;
//! use mcpaql_core::response::{Answer, envelope};
//! use serde_json::json;
//!
//! let reply = envelope(&Ok(Answer::new(json!(["write"]))), ErrorPolicy::default());
//! assert_eq!(reply.text, r#"{"success":true,"data":["write"]}"#);
//! ```
//!
//! What always holds: the JSON is minified and repeats none of the arguments. Only a success has `warnings`. A JSON
//! body of an upstream is passed on without parsing it ([`Payload::Raw`]).

use crate::adapter::ErrorPolicy;
use crate::error::{OpError, Remedy};
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::Value;
use serde_json::value::RawValue;

/// The answer of a target.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The operation's own data.
    pub data: Payload,
    /// Warnings for the agent.
    pub warnings: Vec<Warning>,
    /// MCP content blocks in addition to the data: images, audio, resources.
    pub blocks: Vec<Value>,
}

impl Answer {
    /// Creates an answer without warnings.
    pub fn new(data: impl Into<Payload>) -> Self {
        Answer { data: data.into(), warnings: Vec::new(), blocks: Vec::new() }
    }
}

/// The data of an answer.
#[derive(Debug, Clone)]
pub enum Payload {
    /// A value that this program built.
    Value(Value),
    /// JSON text from an upstream, known to be one valid value.
    Raw(Box<RawValue>),
}

impl Payload {
    /// Returns the data as a value. Parses raw JSON text.
    #[must_use]
    pub fn into_value(self) -> Value {
        match self {
            Payload::Value(value) => value,
            Payload::Raw(raw) => serde_json::from_str(raw.get()).unwrap_or(Value::Null),
        }
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
    /// The warning's code, such as `DEPRECATED_OPERATION`.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
}

/// The response to a tool call: the envelope and MCP's `isError`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolReply {
    /// The envelope as minified JSON. It is the first text block of the result.
    pub text: String,
    /// MCP content blocks that follow the envelope, unchanged.
    pub blocks: Vec<Value>,
    /// MCP's `isError`.
    pub is_error: bool,
}

struct SuccessEnvelope<'a>(&'a Answer);

impl Serialize for SuccessEnvelope<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("success", &true)?;
        map.serialize_entry("data", &self.0.data)?;
        if !self.0.warnings.is_empty() {
            map.serialize_entry("warnings", &self.0.warnings)?;
        }
        map.end()
    }
}

struct FailureEnvelope<'a>(&'a OpError);

impl Serialize for FailureEnvelope<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OpError { code, message, details, .. } = self.0;
        let mut error = serde_json::Map::new();
        error.insert("code".into(), code.as_str().into());
        error.insert("message".into(), message.as_str().into());
        if !details.is_empty() {
            error.insert("details".into(), Value::Object(details.clone()));
        }
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("success", &false)?;
        map.serialize_entry("error", &error)?;
        map.end()
    }
}

/// Builds the envelope of an outcome.
#[must_use]
pub fn envelope(outcome: &Result<Answer, OpError>, policy: ErrorPolicy) -> ToolReply {
    match outcome {
        Ok(answer) => {
            ToolReply { text: json(&SuccessEnvelope(answer)), blocks: answer.blocks.clone(), is_error: false }
        }
        Err(error) => ToolReply {
            text: json(&FailureEnvelope(error)),
            blocks: Vec::new(),
            is_error: policy == ErrorPolicy::All
                || error.undispatched
                || !matches!(error.code.remedy(), Remedy::Agent | Remedy::User),
        },
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| {
        // Maps with string keys, and numbers that came from JSON, always serialize.
        r#"{"success":false,"error":{"code":"INTERNAL_ERROR","message":"The response could not be serialized."}}"#
            .into()
    })
}
