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
use mcpaql_schema::syntax::inexact_integer;
pub(crate) use mcpaql_shape::quoted_name;
pub use mcpaql_shape::{Payload, Warning};
use serde::Serialize;
use serde::ser::SerializeMap;
use serde_json::{Map, Value};

/// The answer of a target.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Answer {
    /// The operation's own data.
    pub data: Payload,
    /// Warnings for the agent.
    pub warnings: Vec<Warning>,
    /// MCP content blocks in addition to the data: images, audio, resources.
    pub blocks: Vec<Value>,
    /// The result of the MCP server that answered, unchanged, if the caller wants plain results.
    pub original: Option<Map<String, Value>>,
    /// A message of the protocol that the client gets in place of a result.
    pub protocol: Option<Box<ProtocolReply>>,
    /// The address of the next page, if the upstream names it in a `Link` header.
    pub next_page: Option<String>,
}

/// A message of the protocol in place of the result of a tool. The MCP server behind the tool sent it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProtocolReply {
    /// The server needs input of the client: `inputRequests` and `requestState`, for the next call.
    InputRequired(Map<String, Value>),
    /// A JSON-RPC error that the client must handle.
    Error {
        /// The code.
        code: i64,
        /// The message.
        message: String,
        /// Additional data.
        data: Option<Value>,
    },
}

impl Answer {
    /// Creates an answer without warnings.
    pub fn new(data: impl Into<Payload>) -> Self {
        Answer {
            data: data.into(),
            warnings: Vec::new(),
            blocks: Vec::new(),
            original: None,
            protocol: None,
            next_page: None,
        }
    }

    /// Replaces the warnings.
    #[must_use]
    pub fn with_warnings(mut self, warnings: Vec<Warning>) -> Self {
        self.warnings = warnings;
        self
    }

    /// Replaces the content blocks.
    #[must_use]
    pub fn with_blocks(mut self, blocks: Vec<Value>) -> Self {
        self.blocks = blocks;
        self
    }

    /// Replaces the result by a message of the protocol.
    #[must_use]
    pub fn with_protocol(mut self, protocol: ProtocolReply) -> Self {
        self.protocol = Some(Box::new(protocol));
        self
    }

    /// Keeps the result of the MCP server that answered, unchanged.
    #[must_use]
    pub fn with_original(mut self, original: Map<String, Value>) -> Self {
        self.original = Some(original);
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
    /// Whether this is the result of another MCP server. Its blocks are the whole content.
    pub is_passed_on: bool,
    /// Whether `isError` is left out, as that server did.
    pub omits_is_error: bool,
    /// A message of the protocol in place of this result.
    pub protocol: Option<Box<ProtocolReply>>,
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

/// The envelope of an outcome, as a part of another text.
pub(crate) struct OutcomeEnvelope<'a>(pub(crate) &'a Result<Answer, OpError>);

impl Serialize for OutcomeEnvelope<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Ok(answer) => SuccessEnvelope(answer).serialize(serializer),
            Err(error) => FailureEnvelope(error).serialize(serializer),
        }
    }
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
            // Clients check types against the output schema, so an integer stays a number even if it loses digits.
            let value = match &answer.data {
                Payload::Raw(raw) => serde_json::from_str(raw.get()).ok(),
                Payload::Value(value) => Some(value.clone()),
            };
            let value = value.unwrap_or_else(|| answer.data.clone().into_value());
            let text = match (&answer.data, &value) {
                (Payload::Raw(raw), Value::String(text)) if raw.get().starts_with('"') => {
                    serde_json::from_str(raw.get()).unwrap_or_else(|_| text.clone())
                }
                (Payload::Raw(raw), _) => raw.get().to_owned(),
                (Payload::Value(_), Value::String(text)) => text.clone(),
                (Payload::Value(_), value) => json(value),
            };
            let lost = lost_digits(&answer.data).filter(|_| is_structured);
            let structured = is_structured.then(|| structured_content(value));
            let blocks = answer.blocks.iter().cloned().chain(lost).collect();
            ToolReply { blocks, structured, ..ToolReply::text(text, false) }
        }
    };
    reply.blocks.extend(warnings);
    reply
}

/// Returns data as structured content, which a tool with an output schema always has and which is an object. Other data is in
/// its member `result`.
fn structured_content(data: Value) -> Value {
    match data {
        Value::Object(_) => data,
        Value::Null => Value::Object(Map::new()),
        other => serde_json::json!({ "result": other }),
    }
}

/// Warns, as a content block, that the structured content of JSON text has other integers than the text.
fn lost_digits(data: &Payload) -> Option<Value> {
    let Payload::Raw(raw) = data else { return None };
    let integer: String = inexact_integer(raw.get())?.chars().take(40).collect();
    let text = format!(
        "Warning: Integers of more than 64 bits, such as {integer}, lost digits in structuredContent. The text has all digits."
    );
    Some(serde_json::json!({"type": "text", "text": text}))
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
        is_passed_on: true,
        omits_is_error: !result.contains_key("isError"),
        protocol: None,
    }
}

pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| {
        // Maps with string keys, and numbers that came from JSON, always serialize.
        r#"{"success":false,"error":{"code":"INTERNAL_ERROR","message":"The response could not be serialized."}}"#
            .into()
    })
}
