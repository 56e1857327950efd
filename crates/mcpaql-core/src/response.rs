//! Outcome → envelope: `{"success":true,"data":…}` or `{"success":false,"error":{…}}`, minified, nothing echoed.
//!
//! Success may carry `warnings`; a failure is bare. A JSON body of an upstream passes through unparsed (`Payload::Raw`).

use crate::adapter::ErrorPolicy;
use crate::error::{OpError, Remedy};
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::Value;
use serde_json::value::RawValue;

/// What a target answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The operation's own data.
    pub data: Payload,
    /// What the agent should know besides.
    pub warnings: Vec<Warning>,
    /// MCP content blocks beside the data: images, sounds, resources.
    pub blocks: Vec<Value>,
}

impl Answer {
    /// An answer without warnings.
    pub fn new(data: impl Into<Payload>) -> Self {
        Answer { data: data.into(), warnings: Vec::new(), blocks: Vec::new() }
    }
}

/// The data of an answer, parsed or not.
#[derive(Debug, Clone)]
pub enum Payload {
    /// Built here.
    Value(Value),
    /// JSON text from elsewhere, known to be one valid value.
    Raw(Box<RawValue>),
}

impl Payload {
    /// The data as a value; parses what was passed through.
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

/// Something the agent should know although the call succeeded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Warning {
    /// `DEPRECATED_OPERATION` and the like.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
}

/// What goes back to the client: the envelope's text and MCP's `isError`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolReply {
    /// Minified JSON, the first text block of the result.
    pub text: String,
    /// MCP content blocks behind it, as they came.
    pub blocks: Vec<Value>,
    /// MCP's flag.
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

/// The envelope of an outcome.
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
                || error.code.remedy() != Remedy::Agent,
        },
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| {
        // Maps with string keys and numbers that came from JSON cannot fail to serialise.
        r#"{"success":false,"error":{"code":"INTERNAL_ERROR","message":"The answer could not be written."}}"#
            .into()
    })
}
