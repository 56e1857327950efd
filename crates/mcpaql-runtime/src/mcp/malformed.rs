//! Answers for bytes that are not a valid message, so that no client waits forever.
//!
//! Valid messages cost nothing extra: this runs only after parsing has failed. The answer contains the request's id and
//! nothing else from the message.

use crate::protocol::IdScan;
use mcpaql_core::syntax;
use rmcp::ErrorData;
use rmcp::model::{RequestId, ServerJsonRpcMessage};
use serde_json::{Value, json};

/// Maximum number of values in a message, as [`IdScan::values`] counts them. The protocol library needs about 220 bytes for
/// each while it reads a message, so this bounds the memory of any message.
pub(super) const MAX_VALUES: usize = 100_000;

const UNREADABLE: &str = "The message is not valid JSON: send one JSON-RPC 2.0 object in UTF-8, without lone surrogates, \
     with numbers in range and nested no deeper than 127 levels.";
/// Maximum digits of an integer in an error.
const MAX_SHOWN_DIGITS: usize = 40;
const NO_REQUEST: &str =
    "The message is not a JSON-RPC 2.0 request: send an object with jsonrpc, id, method and, if any, params.";

/// Returns the answer to a message that could not be parsed; `None` for messages that need no answer: notifications
/// and responses.
pub(super) fn answer(message: &[u8]) -> Option<ServerJsonRpcMessage> {
    let Ok(value) = serde_json::from_slice::<Value>(message) else {
        let mut id = IdScan::default();
        id.feed(message);
        return Some(ServerJsonRpcMessage::error(
            ErrorData::parse_error(UNREADABLE, None),
            request_id(id.id()),
        ));
    };
    let field = |key| value.get(key);
    let is_answer = field("method").is_none() && (field("result").is_some() || field("error").is_some());
    if is_answer || (field("id").is_none() && field("method").is_some_and(Value::is_string)) {
        return None;
    }
    let id = request_id(field("id").cloned());
    Some(ServerJsonRpcMessage::error(ErrorData::invalid_request(NO_REQUEST, None), id))
}

/// Returns the answer to a request with an integer that would change when it is parsed; `None` for other messages.
pub(super) fn inexact_integer(message: &[u8]) -> Option<ServerJsonRpcMessage> {
    let integer = syntax::inexact_integer(std::str::from_utf8(message).ok()?)?;
    let value: Value = serde_json::from_slice(message).ok()?;
    value.get("method")?;
    let id = request_id(value.get("id").cloned())?;
    let head: String = integer.chars().take(MAX_SHOWN_DIGITS).collect();
    let shown = if head.len() < integer.len() { format!("{head}…") } else { head };
    let message = format!(
        "The integer {shown} has more than 64 bits and would lose digits. Send it as text if the tool accepts text, or as a smaller number."
    );
    Some(ServerJsonRpcMessage::error(ErrorData::invalid_params(message, None), Some(id)))
}

/// The answer to a message longer than `limit` bytes.
pub(super) fn too_long(limit: usize, id: Option<Value>) -> ServerJsonRpcMessage {
    let message = format!("The message has more than the maximum of {limit} bytes; send a shorter one.");
    ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), request_id(id))
}

/// Returns the scan of a message with more than [`MAX_VALUES`] values; `None` for other messages.
pub(super) fn too_many_values(message: &[u8]) -> Option<IdScan> {
    // A value has at least one byte.
    if message.len() <= MAX_VALUES {
        return None;
    }
    let mut scan = IdScan::default();
    scan.feed(message);
    (scan.values() > MAX_VALUES).then_some(scan)
}

/// The answer to a message with more than [`MAX_VALUES`] values.
pub(super) fn too_many(id: Option<Value>) -> ServerJsonRpcMessage {
    let message = format!(
        "The message has more than the maximum of {MAX_VALUES} JSON values, of which an array or an object counts as two; \
         send a smaller one, or several."
    );
    ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), request_id(id))
}

/// The answer to a request whose id belongs to another request that is still running. It has no id, because an answer with
/// this id would end the other request.
pub(super) fn id_in_use(id: &RequestId) -> Value {
    let shown: String = id.to_string().chars().take(MAX_SHOWN_DIGITS).collect();
    let message =
        format!("Another request with the id {shown} is still running; use a new id for each request.");
    json!({"jsonrpc": "2.0", "id": null, "error": ErrorData::invalid_request(message, None)})
}

fn request_id(id: Option<Value>) -> Option<RequestId> {
    id.and_then(|id| serde_json::from_value(id).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(message: &[u8]) -> Option<(Value, Value)> {
        let mut answer = serde_json::to_value(answer(message)?).unwrap();
        Some((answer["error"]["code"].take(), answer["id"].take()))
    }

    #[test]
    fn an_unreadable_message_is_answered_with_its_id() {
        let deep = format!(r#"{{"id":"deep","params":{}{}}}"#, "[".repeat(130), "]".repeat(130));
        for (message, id) in [
            (&b"{bad"[..], Value::Null),
            (b"", Value::Null),
            (b"\xff", Value::Null),
            (b"]]]}}}{{{", Value::Null),
            (b"{\"id\":7,\"params\":{\"id\":8,\"a\":\"\xff\"}}", json!(7)),
            (br#"{"params":{"id":8,"a":"\ud800"}, "id" : "a\"b,}" }"#, json!("a\"b,}")),
            (br#"{"params":[1e400,{"id":3}],"id":-1}"#, json!(-1)),
            (br#"{"id":1,"id":2,"method":"#, json!(1)),
            (br#"{"id":1.5,"a":"\ud800"}"#, Value::Null),
            (br#"{"id":{"id":4},"a":"\ud800"}"#, Value::Null),
            (br#"{"a":"id","b":5,"c":"\ud800"}"#, Value::Null),
            (br#"[{"id":4,"a":"\ud800"}]"#, Value::Null),
            (deep.as_bytes(), json!("deep")),
        ] {
            let shown = String::from_utf8_lossy(message);
            assert_eq!(answered(message), Some((json!(-32700), id)), "{shown}");
        }
    }

    #[test]
    fn json_that_is_no_request_keeps_its_id() {
        for (message, id) in [
            (json!({"jsonrpc": "2.0", "id": "a", "method": 5}), json!("a")),
            (json!({"jsonrpc": "1.0", "id": 3, "method": "tools/list"}), json!(3)),
            (json!({"jsonrpc": "2.0", "id": [], "method": "tools/list"}), Value::Null),
            (json!({"jsonrpc": "2.0", "id": 4}), json!(4)),
            (json!([{"id": 1}]), Value::Null),
            (json!(1), Value::Null),
        ] {
            assert_eq!(answered(message.to_string().as_bytes()), Some((json!(-32600), id)), "{message}");
        }
    }

    #[test]
    fn an_integer_that_would_change_is_refused_in_requests() {
        let request =
            br#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"a":18446744073709551617}}"#;
        let answer = serde_json::to_value(inexact_integer(request).unwrap()).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(4), &json!(-32602)));
        assert!(answer["error"]["message"].as_str().unwrap().contains("18446744073709551617"), "{answer}");
        for other in [
            &br#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"a":18446744073709551615}}"#[..],
            br#"{"jsonrpc":"2.0","method":"notifications/x","params":{"a":18446744073709551617}}"#,
            br#"{"jsonrpc":"2.0","id":4,"result":{"a":18446744073709551617}}"#,
        ] {
            assert!(inexact_integer(other).is_none(), "{}", String::from_utf8_lossy(other));
        }
    }

    #[test]
    fn notifications_and_answers_are_never_answered() {
        for message in [
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": 5}),
            json!({"id": 1, "result": 5}),
            json!({"id": 1, "error": "x"}),
        ] {
            assert_eq!(answered(message.to_string().as_bytes()), None, "{message}");
        }
    }
}
