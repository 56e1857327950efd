//! What to answer to bytes that are no message of the protocol, so that nobody waits for an answer that never comes.
//!
//! Costs nothing where a message can be read: it is asked only after reading has failed. Nothing of what was sent is
//! quoted but the request's id.

use rmcp::ErrorData;
use rmcp::model::{RequestId, ServerJsonRpcMessage};
use serde_json::Value;

/// The longest id that is looked for in what cannot be read, in bytes as written.
const ID_BYTES: usize = 256;

const UNREADABLE: &str = "The message cannot be read as JSON: send one JSON-RPC 2.0 object in UTF-8, without lone surrogates, \
     with numbers in range and nested no deeper than 127 levels.";
const NO_REQUEST: &str =
    "The message is no JSON-RPC 2.0 request: send an object with jsonrpc, id, method and, if any, params.";

/// The answer to a message that could not be read; `None` for what is never answered: a notification or an answer.
pub(super) fn answer(message: &[u8]) -> Option<ServerJsonRpcMessage> {
    let Ok(value) = serde_json::from_slice::<Value>(message) else {
        let mut id = IdScan::default();
        id.feed(message);
        return Some(ServerJsonRpcMessage::error(ErrorData::parse_error(UNREADABLE, None), id.found));
    };
    let said = |key| value.get(key);
    let is_answer = said("method").is_none() && (said("result").is_some() || said("error").is_some());
    if is_answer || (said("id").is_none() && said("method").is_some_and(Value::is_string)) {
        return None;
    }
    let id = said("id").cloned().and_then(|id| serde_json::from_value(id).ok());
    Some(ServerJsonRpcMessage::error(ErrorData::invalid_request(NO_REQUEST, None), id))
}

/// The answer to a message longer than `limit` bytes.
pub(super) fn too_long(limit: usize, id: Option<RequestId>) -> ServerJsonRpcMessage {
    let message = format!("The message has more than {limit} bytes, the most that are read; send less.");
    ServerJsonRpcMessage::error(ErrorData::invalid_request(message, None), id)
}

/// Finds the `id` among the outermost members of a message that is broken elsewhere, piece by piece and in little memory.
#[derive(Default)]
pub(crate) struct IdScan {
    pub(super) found: Option<RequestId>,
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// The outermost key or value being read, as written.
    token: Vec<u8>,
    is_id: bool,
}

impl IdScan {
    /// The id where it is a number that counts something, as ours are.
    pub(crate) fn number(&self) -> Option<u64> {
        match self.found {
            Some(RequestId::Number(number)) => u64::try_from(number).ok(),
            _ => None,
        }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.in_string {
                self.keep(byte);
                self.in_string = self.escaped || byte != b'"';
                self.escaped = !self.escaped && byte == b'\\';
                continue;
            }
            match byte {
                b'"' => {
                    self.in_string = true;
                    self.keep(byte);
                }
                b'{' | b'[' => {
                    self.keep(byte);
                    self.depth += 1;
                }
                b'}' | b']' => {
                    self.end_member();
                    self.depth = self.depth.saturating_sub(1);
                }
                b',' => self.end_member(),
                b':' if self.depth == 1 => {
                    self.is_id = self.token == br#""id""#;
                    self.token.clear();
                }
                byte if byte.is_ascii_whitespace() => {}
                byte => self.keep(byte),
            }
        }
    }

    /// A token that is too long to be an id keeps one byte too many, and so is none.
    fn keep(&mut self, byte: u8) {
        if self.depth == 1 && self.token.len() <= ID_BYTES {
            self.token.push(byte);
        }
    }

    fn end_member(&mut self) {
        if self.depth != 1 {
            return;
        }
        if self.is_id && self.found.is_none() && self.token.len() <= ID_BYTES {
            self.found = serde_json::from_slice(&self.token).ok();
        }
        self.is_id = false;
        self.token.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn answered(message: &[u8]) -> Option<(Value, Value)> {
        let mut answer = serde_json::to_value(answer(message)?).unwrap();
        Some((answer["error"]["code"].take(), answer["id"].take()))
    }

    #[test]
    fn an_unreadable_message_is_answered_to_whoever_sent_it() {
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
    fn notifications_and_answers_are_never_answered() {
        for message in [
            json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": 5}),
            json!({"id": 1, "result": 5}),
            json!({"id": 1, "error": "x"}),
        ] {
            assert_eq!(answered(message.to_string().as_bytes()), None, "{message}");
        }
    }

    #[test]
    fn the_scan_goes_piece_by_piece_and_remembers_little() {
        let mut scan = IdScan::default();
        for byte in br#"{"a":"\\","id":"x"}"# {
            scan.feed(&[*byte]);
        }
        assert_eq!(scan.found, Some(RequestId::String("x".into())));
        let mut scan = IdScan::default();
        scan.feed(format!(r#"{{"id":"{}","#, "x".repeat(100_000)).as_bytes());
        assert_eq!(scan.found, None);
        assert!(scan.token.capacity() <= 2 * ID_BYTES + 2);
    }
}
