//! Converts the result of a tool to data and content blocks.
//!
//! | result | data | content blocks |
//! |---|---|---|
//! | structured content | the structured content | texts with other content, and everything that is not text |
//! | structured content that repeats the blocks | as without it | all |
//! | one text that is JSON | the JSON, unparsed | everything that is not text |
//! | one text | a string | everything that is not text |
//! | several texts | an array of the above | everything that is not text |
//! | no text | `{"blocks": […]}`: the media type or URI of each block | all |
//! | nothing | null | |
//! | an MCP-AQL envelope, in any of these forms | the envelope's data | |
//! | `isError` | a failure | |
//!
//! What always holds: nothing is wrapped twice or returned twice; blocks are not changed; JSON is passed on as text,
//! without white space between its tokens.

use super::{duplicates, links, tool_error};
use crate::secret::Mask;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::response::{Answer, Payload, Warning};
use mcpaql_core::syntax::{inexact_integer, minified};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Longer numbers lose digits in some JSON readers.
const MAX_DIGITS: usize = 15;

/// The keys that an MCP-AQL envelope of a success may have.
const ENVELOPE_KEYS: [&str; 4] = ["success", "data", "warnings", "_meta"];

/// A result whose content is parsed as `C`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "C: Deserialize<'de>"))]
struct ToolResult<'a, C> {
    content: Option<C>,
    #[serde(borrow, default)]
    structured_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    is_error: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct AnyBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

/// A text block, the only kind in most results.
#[derive(Deserialize)]
struct TextBlock<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
}

/// The texts and the other blocks of a result.
#[derive(Default)]
struct ToolContent<'a> {
    texts: Vec<Cow<'a, str>>,
    blocks: Vec<Value>,
}

/// Converts a result to an answer, with its resources addressed by adapter. `mask` is called only if something may have to be
/// hidden.
pub(super) fn answer(
    result: &RawValue,
    adapter: Option<&str>,
    mask: impl Fn() -> Mask,
) -> Result<Answer, OpError> {
    let parts = read(result.get()).map_err(|_| {
        OpError::new(Code::Internal, "The MCP server's answer is not a tool result; tell the user.")
    })?;
    if parts.content.is_none() && parts.structured_content.is_none() && parts.is_error.is_none() {
        // Not valid MCP, but still the tool's answer.
        return Ok(Answer::new(raw(result.get()).unwrap_or(Payload::Value(Value::Null))));
    }
    let content = parts.content.unwrap_or_default();
    if parts.is_error.is_some_and(|flag| flag.get() == "true") {
        return Err(failure(content.texts, parts.structured_content, &mask()));
    }
    let ToolContent { mut texts, mut blocks } = content;
    let structured = parts.structured_content.filter(|value| value.get() != "null");
    // What the server sends as blocks is not also data.
    let structured = structured.filter(|structured| !(texts.is_empty() && has_only(structured, &blocks)));
    if let Some(adapter) = adapter {
        blocks.iter_mut().for_each(|block| links::address_block(adapter, block));
    }
    let data = match structured {
        Some(structured) => {
            drop_repeated(&mut texts, structured);
            let kept = texts.into_iter().map(|text| json!({"type": "text", "text": text}));
            blocks.splice(0..0, kept);
            structured_data(structured, parts.meta)
        }
        None => text_data(texts, &blocks),
    };
    envelope(data, &mask).map(|answer| answer.with_blocks(blocks))
}

/// Keeps a result as the server sent it. Only the secrets of a failure are masked.
pub(super) fn original(
    result: &RawValue,
    adapter: Option<&str>,
    mask: impl Fn() -> Mask,
) -> Result<Answer, OpError> {
    let parsed = serde_json::from_str(result.get());
    let mut value: Value = parsed.unwrap_or_else(|_| Payload::from(result.to_owned()).into_value());
    if value.get("isError") == Some(&Value::Bool(true)) {
        mask().apply_value(&mut value);
    }
    match value {
        Value::Object(original)
            if original.contains_key("content") || original.contains_key("structuredContent") =>
        {
            // In a text, the digits stay.
            let rounded = inexact_integer(result.get()).map(|integer| {
                let integer: String = integer.chars().take(40).collect();
                let message = format!(
                    "Integers of more than 64 bits, such as {integer}, lost digits in structuredContent."
                );
                Warning::new("INTEGER_ROUNDED", message)
            });
            let answer = Answer::new(Value::Null).with_original(original);
            Ok(answer.with_warnings(rounded.into_iter().collect()))
        }
        _ => answer(result, adapter, mask),
    }
}

impl<'a, C> ToolResult<'a, C> {
    fn map<D>(self, convert: impl FnOnce(C) -> D) -> ToolResult<'a, D> {
        let ToolResult { content, structured_content, is_error, meta } = self;
        ToolResult { content: content.map(convert), structured_content, is_error, meta }
    }
}

/// Parses the result once if it has only texts, otherwise block by block.
fn read(text: &str) -> Result<ToolResult<'_, ToolContent<'_>>, serde_json::Error> {
    if let Ok(parts) = serde_json::from_str::<ToolResult<'_, Vec<TextBlock<'_>>>>(text)
        && parts.content.iter().flatten().all(|block| block.kind == "text")
    {
        return Ok(parts.map(|blocks| ToolContent {
            texts: blocks.into_iter().map(|block| block.text).collect(),
            blocks: Vec::new(),
        }));
    }
    serde_json::from_str::<ToolResult<'_, &RawValue>>(text).map(|parts| parts.map(content))
}

fn content(raw: &RawValue) -> ToolContent<'_> {
    let mut content = ToolContent::default();
    let blocks: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
    for block in blocks {
        match serde_json::from_str::<AnyBlock<'_>>(block.get()) {
            Ok(AnyBlock { kind, text: Some(text) }) if kind == "text" => content.texts.push(text),
            _ => match serde_json::from_str::<Value>(block.get()) {
                Ok(block) => content.blocks.push(block),
                // JSON that cannot be a `Value` is still text.
                Err(_) => content.texts.push(Cow::Borrowed(block.get())),
            },
        }
    }
    content
}

/// Returns the text without white space if it is valid JSON.
fn raw(text: &str) -> Option<Payload> {
    RawValue::from_string(minified(text.trim())).ok().map(Payload::Raw)
}

/// Returns a text as JSON if it is JSON, otherwise as a string. A text that only looks like a number, such as a hash,
/// stays a string.
fn parse_text(text: Cow<'_, str>) -> Payload {
    let trimmed = text.trim_matches([' ', '\t', '\r', '\n', '\u{feff}']);
    let is_json = match trimmed.as_bytes().first() {
        Some(b'{' | b'[' | b'"') => true,
        Some(b'0'..=b'9' | b'-') => {
            trimmed.len() <= MAX_DIGITS
                && trimmed.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.'))
        }
        _ => matches!(trimmed, "true" | "false" | "null"),
    };
    is_json
        .then(|| raw(trimmed))
        .flatten()
        .unwrap_or_else(|| Payload::Value(Value::String(text.into_owned())))
}

fn text_data(mut texts: Vec<Cow<'_, str>>, blocks: &[Value]) -> Payload {
    match (texts.pop(), texts.is_empty()) {
        (None, _) if blocks.is_empty() => Payload::Value(Value::Null),
        (None, _) => Payload::Value(json!({"blocks": blocks.iter().map(label).collect::<Vec<_>>()})),
        (Some(only), true) => parse_text(only),
        (Some(last), false) => {
            texts.push(last);
            let values: Vec<Payload> = texts.into_iter().map(parse_text).collect();
            let array = serde_json::value::to_raw_value(&values).map(Payload::Raw);
            array.unwrap_or(Payload::Value(Value::Null))
        }
    }
}

/// A short label for a block.
fn label(block: &Value) -> &str {
    let text = |value: &'_ Value, key: &str| value.get(key).and_then(Value::as_str).map(str::len);
    let label_key = ["mimeType", "uri"].into_iter().find(|key| text(block, key).is_some());
    let inner = block.get("resource").unwrap_or(block);
    let uri = inner.get("uri").and_then(Value::as_str);
    let kind = block.get("type").and_then(Value::as_str).unwrap_or("unknown");
    match kind {
        "resource" | "resource_link" => uri.unwrap_or(kind),
        _ => label_key.and_then(|key| block.get(key)).and_then(Value::as_str).unwrap_or(kind),
    }
}

/// Returns whether structured content consists of the blocks.
fn has_only(structured: &RawValue, blocks: &[Value]) -> bool {
    !blocks.is_empty()
        && serde_json::from_str::<Value>(structured.get())
            .is_ok_and(|structured| duplicates::repeats_blocks(&structured, blocks))
}

/// Removes texts that repeat the structured content.
fn drop_repeated(texts: &mut Vec<Cow<'_, str>>, structured: &RawValue) {
    // The usual duplicate is found without building a value.
    let plain = minified(structured.get());
    texts.retain(|text| minified(text.trim()) != plain);
    if texts.is_empty() {
        return;
    }
    if let Ok(structured) = serde_json::from_str::<Value>(&plain) {
        duplicates::drop_duplicate_texts(texts, &structured);
    }
}

/// Returns structured content. If its server marked it as wrapped, because the protocol requires an object, it is
/// unwrapped.
fn structured_data(structured: &RawValue, meta: Option<&RawValue>) -> Payload {
    #[derive(Deserialize)]
    struct Wrapped<'a> {
        #[serde(borrow)]
        result: &'a RawValue,
    }
    let meta = meta.and_then(|meta| serde_json::from_str::<Value>(meta.get()).ok());
    let is_wrapped =
        meta.is_some_and(|meta| meta.pointer("/fastmcp/wrap_result") == Some(&Value::Bool(true)));
    let inner = is_wrapped.then(|| serde_json::from_str::<Wrapped<'_>>(structured.get()).ok()).flatten();
    let text = inner.map_or(structured.get(), |wrapped| wrapped.result.get());
    raw(text).unwrap_or(Payload::Value(Value::Null))
}

#[derive(Deserialize)]
struct Envelope<'a> {
    success: bool,
    #[serde(borrow, default)]
    data: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
    #[serde(default)]
    warnings: Option<Value>,
}

/// Takes the data or the error out of an MCP-AQL envelope.
fn envelope(data: Payload, mask: &impl Fn() -> Mask) -> Result<Answer, OpError> {
    let Payload::Raw(raw_data) = &data else { return Ok(Answer::new(data)) };
    // A cheap check that most other values fail.
    if !raw_data.get().starts_with('{') || !raw_data.get().contains("\"success\":") {
        return Ok(Answer::new(data));
    }
    let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(raw_data.get()) else {
        return Ok(Answer::new(data));
    };
    if let (false, Some(error)) = (envelope.success, envelope.error) {
        let error = serde_json::from_str::<Map<String, Value>>(error.get()).ok();
        if let Some(error) = error.and_then(|error| tool_error::envelope_error(&error, &mask())) {
            return Err(error);
        }
        return Ok(Answer::new(data));
    }
    let keys: Map<String, Value> = match serde_json::from_str(raw_data.get()) {
        Ok(keys) => keys,
        Err(_) => return Ok(Answer::new(data)),
    };
    let is_envelope = envelope.success && keys.keys().all(|key| ENVELOPE_KEYS.contains(&key.as_str()));
    match envelope.data.filter(|_| is_envelope) {
        Some(inside) => {
            let mut answer = Answer::new(inside.to_owned());
            answer.warnings = warnings(envelope.warnings);
            Ok(answer)
        }
        None => Ok(Answer::new(data)),
    }
}

fn warnings(values: Option<Value>) -> Vec<Warning> {
    let Some(Value::Array(values)) = values else { return Vec::new() };
    let text = |warning: &Value| match warning {
        Value::String(text) => Some(text.clone()),
        other => other.get("message").and_then(Value::as_str).map(str::to_owned),
    };
    values.iter().filter_map(text).map(|message| Warning::new("UPSTREAM_WARNING", message)).collect()
}

fn failure(texts: Vec<Cow<'_, str>>, structured: Option<&RawValue>, mask: &Mask) -> OpError {
    let content = match (texts.as_slice(), structured.and_then(|raw| serde_json::from_str(raw.get()).ok())) {
        ([], Some(structured)) => structured,
        ([text], _) => {
            let text = text.trim();
            let json = text.starts_with('{').then(|| serde_json::from_str::<Value>(text).ok()).flatten();
            json.unwrap_or_else(|| text.into())
        }
        (texts, _) => texts.join("\n").into(),
    };
    if content.get("success") == Some(&Value::Bool(false))
        && let Some(Value::Object(error)) = content.get("error")
        && let Some(error) = tool_error::envelope_error(error, mask)
    {
        return error;
    }
    tool_error::tool_error(content, mask)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unwrapped(result: Value) -> Result<(Value, Vec<Value>), OpError> {
        let result = RawValue::from_string(result.to_string()).unwrap();
        answer(&result, None, Mask::default).map(|answer| (answer.data.into_value(), answer.blocks))
    }

    fn texts(texts: &[&str]) -> Value {
        texts.iter().map(|text| json!({"type": "text", "text": text})).collect()
    }

    #[test]
    fn a_text_is_read_as_json_or_as_a_string() {
        for (said, data) in [
            (vec!["hello"], json!("hello")),
            (vec!["{\n  \"a\": [1, 2]\n}\n"], json!({"a": [1, 2]})),
            (vec!["[1]", "plain", "{\"a\":1}"], json!([[1], "plain", {"a": 1}])),
            (vec!["\"quoted\""], json!("quoted")),
            (vec!["true"], json!(true)),
            (vec!["42"], json!(42)),
            (vec!["-1.5"], json!(-1.5)),
            (vec!["4e12345"], json!("4e12345")),
            (vec!["12345678901234567890"], json!("12345678901234567890")),
            (vec!["007"], json!("007")),
            (vec!["{broken"], json!("{broken")),
            (vec!["[INFO] started"], json!("[INFO] started")),
            (vec![" indented\n"], json!(" indented\n")),
            (vec![""], json!("")),
            (vec![], Value::Null),
        ] {
            let (found, blocks) = unwrapped(json!({"content": texts(&said)})).unwrap();
            assert_eq!((found, blocks.len()), (data, 0), "{said:?}");
        }
    }

    #[test]
    fn a_plain_result_with_lost_digits_has_a_warning() {
        for (number, count) in [("123456789012345678901", 1), ("5", 0)] {
            let result = format!(
                r#"{{"content":[{{"type":"text","text":"99999999999999999999"}}],"structuredContent":{{"n":{number}}}}}"#
            );
            let answer = original(&RawValue::from_string(result).unwrap(), None, Mask::default).unwrap();
            assert_eq!(answer.warnings.len(), count, "{number}");
            assert!(answer.original.is_some());
        }
    }

    #[test]
    fn json_keeps_its_digits_its_order_and_its_depth() {
        let text = r#"{"z": 1.10, "a": 12345678901234567890.5, "\ud800": "\ud800"}"#;
        let result = json!({"content": texts(&[text])}).to_string();
        let result = RawValue::from_string(result).unwrap();
        let Payload::Raw(raw) = answer(&result, None, Mask::default).unwrap().data else { panic!("parsed") };
        assert_eq!(raw.get(), r#"{"z":1.10,"a":12345678901234567890.5,"\ud800":"\ud800"}"#);
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        let result = RawValue::from_string(json!({"content": texts(&[&deep])}).to_string()).unwrap();
        assert!(matches!(answer(&result, None, Mask::default).unwrap().data, Payload::Raw(_)));
    }

    #[test]
    fn structured_content_is_returned_once() {
        let structured = json!({"b": 1, "a": {"x": [1.0]}});
        for twin in [
            vec![r#"{"b":1,"a":{"x":[1.0]}}"#],
            vec!["{\n \"a\": {\"x\": [1.0]},\n \"b\": 1\n}"],
            vec![r#"{"x":[1]}"#],
            vec![],
        ] {
            let found = unwrapped(json!({"content": texts(&twin), "structuredContent": structured})).unwrap();
            assert_eq!(found, (structured.clone(), vec![]), "{twin:?}");
        }
        let (data, blocks) =
            unwrapped(json!({"content": texts(&["Found one."]), "structuredContent": structured})).unwrap();
        assert_eq!((data, blocks), (structured, vec![json!({"type": "text", "text": "Found one."})]));
    }

    #[test]
    fn a_result_that_was_wrapped_for_the_protocol_is_unwrapped() {
        for (twins, result) in [
            (vec!["one", "two"], json!(["one", "two"])),
            (vec!["5"], json!(5)),
            (vec!["words"], json!("words")),
            (vec!["{\"id\":1}", "{\"id\":2}"], json!([{"id": 1}, {"id": 2}])),
        ] {
            let wrapped = json!({"content": texts(&twins), "structuredContent": {"result": result}});
            assert_eq!(unwrapped(wrapped.clone()).unwrap(), (json!({"result": result}), vec![]));
            let mut marked = wrapped;
            marked["_meta"] = json!({"fastmcp": {"wrap_result": true}});
            assert_eq!(unwrapped(marked).unwrap(), (result, vec![]));
        }
    }

    #[test]
    fn blocks_other_than_text_are_returned_unchanged() {
        let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png", "x-odd": {"a": 1}});
        let link =
            json!({"type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain"});
        let odd = json!({"type": "hologram"});
        let (data, blocks) = unwrapped(json!({"content": [image, link, odd]})).unwrap();
        assert_eq!(data, json!({"blocks": ["image/png", "file:///a", "hologram"]}));
        assert_eq!(blocks, [image.clone(), link, odd]);
        let twice = json!({"content": [image], "structuredContent": {"content": [image]}});
        assert_eq!(unwrapped(twice).unwrap(), (json!({"blocks": ["image/png"]}), vec![image.clone()]));
        let (data, blocks) = unwrapped(json!({"content": [{"type": "text", "text": "[1]"}, image]})).unwrap();
        assert_eq!((data, blocks), (json!([1]), vec![image]));
    }

    #[test]
    fn an_envelope_is_not_put_into_another() {
        let inner = json!({"success": true, "data": {"a": 1}, "warnings": [{"code": "W", "message": "old"}]});
        for result in [
            json!({"content": texts(&[&inner.to_string()])}),
            json!({"content": [], "structuredContent": inner}),
        ] {
            let raw = RawValue::from_string(result.to_string()).unwrap();
            let answer = answer(&raw, None, Mask::default).unwrap();
            assert_eq!(answer.warnings[0].message, "old");
            assert_eq!(answer.data.into_value(), json!({"a": 1}));
        }
        let failed = json!({"success": false, "error": {"code": "NOT_FOUND_RESOURCE", "message": "None."}});
        for is_error in [false, true] {
            let error = unwrapped(json!({"content": texts(&[&failed.to_string()]), "isError": is_error}))
                .unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (Code::NotFoundResource, "None."));
        }
        for other in [
            json!({"success": true, "data": 1, "total": 2}),
            json!({"success": false, "error": "text"}),
            json!({"success": "yes", "data": 1}),
            json!({"success": true}),
        ] {
            let (data, _) = unwrapped(json!({"content": texts(&[&other.to_string()])})).unwrap();
            assert_eq!(data, other, "not an envelope, so it is data");
        }
    }

    #[test]
    fn a_failed_tool_is_an_error_with_its_message() {
        let error =
            unwrapped(json!({"content": texts(&["Nothing", "matches"]), "isError": true})).unwrap_err();
        assert!(error.message.starts_with("The tool failed: Nothing; "), "{}", error.message);
        assert_eq!(error.details["upstream"], "Nothing\nmatches");
        let error =
            unwrapped(json!({"content": [], "structuredContent": {"message": "gone"}, "isError": true}));
        assert!(error.unwrap_err().message.contains("gone"));
    }

    #[test]
    fn odd_results_are_neither_lost_nor_fatal() {
        assert_eq!(unwrapped(json!({"toolResult": {"a": 1}})).unwrap().0, json!({"toolResult": {"a": 1}}));
        assert_eq!(unwrapped(json!({"content": "text"})).unwrap().0, Value::Null);
        assert_eq!(unwrapped(json!({"content": [{"type": "text"}, 5]})).unwrap().1.len(), 2);
        assert_eq!(unwrapped(json!({"content": [], "structuredContent": null})).unwrap().0, Value::Null);
        assert_eq!(unwrapped(json!(5)).unwrap_err().code, Code::Internal);
        let lone =
            RawValue::from_string(r#"{"content":[{"type":"text","text":"\ud800"}]}"#.to_owned()).unwrap();
        let Payload::Raw(raw) = answer(&lone, None, Mask::default).unwrap().data else { panic!("parsed") };
        assert_eq!(raw.get(), r#"{"type":"text","text":"\ud800"}"#);
    }
}
