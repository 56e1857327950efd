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
//! What always holds: the JSON is minified and repeats none of the arguments. Only a success has `warnings`. The message of
//! an error has no trace of a program ([`error::looks_internal`]); one that has is in `details.reason`. A JSON body of an
//! upstream is passed on without parsing it ([`Payload::Raw`]).

use crate::adapter::ErrorPolicy;
use crate::error::{self, OpError, Remedy};
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The answer of a target.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The operation's own data.
    pub data: Payload,
    /// Warnings for the agent.
    pub warnings: Vec<Warning>,
    /// MCP content blocks in addition to the data: images, audio, resources.
    pub blocks: Vec<Value>,
    /// The result of the MCP server that answered, unchanged, if the caller wants plain results.
    pub original: Option<Map<String, Value>>,
}

impl Answer {
    /// Creates an answer without warnings.
    pub fn new(data: impl Into<Payload>) -> Self {
        Answer { data: data.into(), warnings: Vec::new(), blocks: Vec::new(), original: None }
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

/// Returns the warning about a page size over the maximum; `None` if it is not.
#[must_use]
pub fn clamped_page_warning(requested: usize, maximum: usize) -> Option<Warning> {
    let message = format!("A page has up to {maximum} items here, so 'first' was reduced to {maximum}.");
    (requested > maximum).then(|| {
        Warning::new("VALIDATION_CLAMPED_WARNING", message)
            .with_detail("param_name", "first")
            .with_detail("requested", requested)
            .with_detail("maximum", maximum)
    })
}

/// The response to a tool call: the envelope or the plain result, and MCP's `isError`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolReply {
    /// The first text block of the result: the envelope as minified JSON, or the data. There is no such block if it is
    /// empty.
    pub text: String,
    /// MCP content blocks that follow the text, unchanged.
    pub blocks: Vec<Value>,
    /// MCP's `isError`.
    pub is_error: bool,
    /// MCP's `structuredContent`.
    pub structured: Option<Value>,
    /// MCP's `_meta`.
    pub meta: Option<Map<String, Value>>,
}

impl ToolReply {
    /// Creates a reply of one text.
    #[must_use]
    pub fn text(text: impl Into<String>, is_error: bool) -> ToolReply {
        ToolReply { text: text.into(), is_error, ..ToolReply::default() }
    }
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

/// Returns an error as clients see it: code, message and details.
#[must_use]
pub fn error_json(error: &OpError) -> Value {
    let OpError { code, message, details, .. } = error;
    let mut details = details.clone();
    let mut out = Map::new();
    out.insert("code".into(), code.as_str().into());
    if error::looks_internal(message) {
        // Words of an upstream or of a handler. The details are not checked for traces of a program.
        out.insert("message".into(), format!("{} {}", code.meaning(), code.advice()).into());
        details.entry("reason").or_insert_with(|| message.as_str().into());
    } else {
        out.insert("message".into(), message.as_str().into());
    }
    if !details.is_empty() {
        out.insert("details".into(), Value::Object(details));
    }
    Value::Object(out)
}

struct FailureEnvelope<'a>(&'a OpError);

impl Serialize for FailureEnvelope<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("success", &false)?;
        map.serialize_entry("error", &error_json(self.0))?;
        map.end()
    }
}

/// Builds the envelope of an outcome.
#[must_use]
pub fn envelope(outcome: &Result<Answer, OpError>, policy: ErrorPolicy) -> ToolReply {
    match outcome {
        Ok(answer) => ToolReply {
            blocks: answer.blocks.clone(),
            ..ToolReply::text(json(&SuccessEnvelope(answer)), false)
        },
        Err(error) => {
            let is_error = policy == ErrorPolicy::All
                || error.undispatched
                || !matches!(error.code.remedy(), Remedy::Agent | Remedy::User);
            ToolReply::text(json(&FailureEnvelope(error)), is_error)
        }
    }
}

/// Builds the plain result of an outcome, as an MCP server without envelopes returns it. `is_structured` adds the data as
/// structured content.
#[must_use]
pub fn plain_result(outcome: &Result<Answer, OpError>, is_structured: bool) -> ToolReply {
    let answer = match outcome {
        Ok(answer) => answer,
        Err(error) => {
            let details = (!error.details.is_empty()).then(|| format!("\n{}", json(&error.details)));
            return ToolReply::text(format!("{}{}", error.message, details.unwrap_or_default()), true);
        }
    };
    let warnings = answer
        .warnings
        .iter()
        .map(|warning| serde_json::json!({"type": "text", "text": format!("Warning: {}", warning.message)}));
    let mut reply = match &answer.original {
        Some(result) => passed_on(result),
        None => {
            let (text, structured) = match &answer.data {
                Payload::Value(Value::String(text)) => (text.clone(), None),
                Payload::Value(value) => (json(value), is_structured.then(|| value.clone())),
                Payload::Raw(raw) => match serde_json::from_str(raw.get()) {
                    Ok(Value::String(text)) => (text, None),
                    value => (raw.get().to_owned(), value.ok().filter(|_| is_structured)),
                },
            };
            // A tool with an output schema always has structured content, which is an object.
            let empty = is_structured.then(|| Value::Object(Map::new()));
            let structured = structured.filter(Value::is_object).or(empty);
            ToolReply { blocks: answer.blocks.clone(), structured, ..ToolReply::text(text, false) }
        }
    };
    reply.blocks.extend(warnings);
    reply
}

/// The result of another MCP server, with its blocks in their order.
fn passed_on(result: &Map<String, Value>) -> ToolReply {
    let blocks = result.get("content").and_then(Value::as_array).cloned().unwrap_or_default();
    ToolReply {
        text: String::new(),
        blocks,
        is_error: result.get("isError") == Some(&Value::Bool(true)),
        structured: result.get("structuredContent").cloned(),
        meta: result.get("_meta").and_then(Value::as_object).cloned(),
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| {
        // Maps with string keys, and numbers that came from JSON, always serialize.
        r#"{"success":false,"error":{"code":"INTERNAL_ERROR","message":"The response could not be serialized."}}"#
            .into()
    })
}
