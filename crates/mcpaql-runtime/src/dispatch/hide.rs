//! Removes hidden fields from an outcome before anything else reads it.
//!
//! | part of an outcome | how it is searched |
//! |---|---|
//! | data, structured content, `_meta` | as JSON |
//! | text blocks, the text of embedded resources | as JSON if they are JSON; if another text names a hidden field, all texts are left out |
//! | message and details of an error, such as the body of an upstream | as JSON, and their texts like text blocks |
//! | images and other binary blocks | not |

use crate::state::{ExecutionOutcome, StoredAnswer};
use mcpaql_core::error::OpError;
use mcpaql_core::response::{Answer, Payload, ProtocolReply};
use mcpaql_core::shape::HiddenFields;
use serde_json::Value;
use serde_json::value::to_raw_value;

/// Removes hidden fields from the outcome of a call.
pub(super) fn hide(outcome: Result<Answer, OpError>, hidden: &HiddenFields) -> Result<Answer, OpError> {
    if hidden.is_empty() {
        return outcome;
    }
    match outcome {
        Ok(mut answer) => {
            answer.data = hidden.remove_from(answer.data);
            hide_in_blocks(&mut answer.blocks, hidden);
            for warning in &mut answer.warnings {
                hide_in_text(&mut warning.message, hidden);
                warning.details.values_mut().for_each(|value| hide_in_details(value, hidden));
            }
            if let Some(original) = &mut answer.original {
                for name in ["structuredContent", "_meta"] {
                    if let Some(value) = original.get_mut(name) {
                        hidden.remove_from_value(value);
                    }
                }
                if let Some(Value::Array(blocks)) = original.get_mut("content") {
                    hide_in_blocks(blocks, hidden);
                }
            }
            if let Some(ProtocolReply::Error { message, data, .. }) = answer.protocol.as_deref_mut() {
                hide_in_text(message, hidden);
                data.iter_mut().for_each(|data| hide_in_details(data, hidden));
            }
            Ok(answer)
        }
        Err(error) => Err(hide_in_error(error, hidden)),
    }
}

/// Removes hidden fields from the stored outcome of background work. It may be older than the document.
pub(super) fn hide_in_stored(outcome: ExecutionOutcome, hidden: &HiddenFields) -> ExecutionOutcome {
    if hidden.is_empty() {
        return outcome;
    }
    match outcome {
        ExecutionOutcome::Failed(error) => ExecutionOutcome::Failed(hide_in_error(error, hidden)),
        ExecutionOutcome::Done(StoredAnswer { data, warnings, mut blocks }) => {
            let data = match hidden.remove_from(Payload::Raw(data)) {
                Payload::Raw(raw) => raw,
                // A value always serializes.
                Payload::Value(value) => to_raw_value(&value).unwrap_or_default(),
            };
            hide_in_blocks(&mut blocks, hidden);
            ExecutionOutcome::Done(StoredAnswer { data, warnings, blocks })
        }
    }
}

/// The message of an error that may repeat a hidden field of its details.
const HIDDEN_MESSAGE: &str = "The call failed; the message is left out, because it may have a hidden field.";

fn hide_in_error(mut error: OpError, hidden: &HiddenFields) -> OpError {
    let mut texts = vec![&mut error.message];
    error.details.values_mut().for_each(|value| collect_texts(value, &mut texts));
    if hidden.remove_from_texts(&mut texts) {
        HIDDEN_MESSAGE.clone_into(&mut error.message);
    }
    error.details.values_mut().for_each(|value| hidden.remove_from_value(value));
    error
}

/// Details have bodies of upstreams, parsed or as text.
fn hide_in_details(value: &mut Value, hidden: &HiddenFields) {
    let mut texts = Vec::new();
    collect_texts(value, &mut texts);
    hidden.remove_from_texts(&mut texts);
    hidden.remove_from_value(value);
}

fn collect_texts<'v>(value: &'v mut Value, out: &mut Vec<&'v mut String>) {
    match value {
        Value::String(text) => out.push(text),
        Value::Array(items) => items.iter_mut().for_each(|item| collect_texts(item, out)),
        Value::Object(members) => members.values_mut().for_each(|member| collect_texts(member, out)),
        _ => {}
    }
}

fn hide_in_text(text: &mut String, hidden: &HiddenFields) {
    hidden.remove_from_texts(&mut [text]);
}

/// Removes hidden fields from content blocks of MCP.
fn hide_in_blocks(blocks: &mut [Value], hidden: &HiddenFields) {
    let texts = blocks.iter_mut().filter_map(|block| {
        let place = if block.get("resource").is_some() { "/resource/text" } else { "/text" };
        match block.pointer_mut(place) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    });
    hidden.remove_from_texts(&mut texts.collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::error::Code;
    use mcpaql_core::shape::FieldPath;
    use serde_json::json;

    fn hidden() -> HiddenFields {
        HiddenFields::new(FieldPath::parse("ssn"))
    }

    #[test]
    fn no_part_of_an_answer_has_a_hidden_field() {
        let json_text = "{\"ssn\": \"123-45\", \"id\": 1}";
        let blocks = vec![
            json!({"type": "text", "text": json_text}),
            json!({"type": "text", "text": "ssn: 123-45"}),
            json!({"type": "resource", "resource": {"uri": "a://b", "text": json_text}}),
        ];
        let original = json!({"content": blocks.clone(), "structuredContent": {"people": [{"ssn": "123-45"}]}, "isError": false});
        let answer = Answer::new(json!([{"ssn": "123-45", "id": 1}]))
            .with_blocks(blocks)
            .with_original(original.as_object().unwrap().clone());
        let answer = hide(Ok(answer), &hidden()).unwrap();
        let shown = format!("{:?} {:?} {:?}", answer.data, answer.blocks, answer.original);
        assert!(!shown.contains("123-45"), "{shown}");
        assert!(shown.contains("a://b"), "{shown}");
        let error = OpError::new(Code::Internal, "ssn: 123-45 is taken")
            .with_detail("upstream", json!({"status": 409, "body": {"ssn": "123-45", "text": json_text}}));
        let error = hide(Err(error), &hidden()).unwrap_err();
        let shown = format!("{} {:?}", error.message, error.details);
        assert!(!shown.contains("123-45"), "{shown}");
        assert!(shown.contains("409"), "{shown}");
    }

    #[test]
    fn a_value_in_the_next_text_is_hidden_too() {
        let text = |text: &str| json!({"type": "text", "text": text});
        let answer = Answer::new(json!(["ssn:", "  123-45"])).with_blocks(vec![text("ssn:"), text("123-45")]);
        let answer = hide(Ok(answer), &hidden()).unwrap();
        let shown = format!("{:?} {:?}", answer.data, answer.blocks);
        assert!(!shown.contains("123-45"), "{shown}");
        let lines =
            mcpaql_core::response::Payload::Raw(to_raw_value(&["{\"ssn\": [", "\"123-45\"]}"]).unwrap());
        assert!(!format!("{:?}", hidden().remove_from(lines)).contains("123-45"));
        let error = OpError::new(Code::Internal, "sh failed with exit status 3: 123-45")
            .with_detail("stderr", "ssn:\n  123-45");
        let error = hide(Err(error), &hidden()).unwrap_err();
        let shown = format!("{} {:?}", error.message, error.details);
        assert!(!shown.contains("123-45"), "{shown}");
        let plain = hide(Ok(Answer::new(json!(["All", "is well"]))), &hidden()).unwrap();
        assert_eq!(plain.data.into_value(), json!(["All", "is well"]));
    }
}
