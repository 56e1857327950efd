//! JSON-RPC messages: parses incoming ones without building values, and writes outgoing ones.

use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// The revision that is requested first; any answer of the server is accepted.
pub(super) const REVISION: &str = "2025-11-25";
/// The first revision without a handshake.
pub(super) const STATELESS_REVISION: &str = "2026-07-28";

/// MCP error code: the server does not support the revision.
pub(super) const UNSUPPORTED_REVISION: i64 = -32022;

/// A message of a server.
#[derive(Debug)]
pub(super) enum UpstreamMessage<'a> {
    /// The answer to a request of ours.
    Answer { id: u64, outcome: Result<&'a RawValue, &'a RawValue> },
    /// A request of the server.
    Request { id: &'a RawValue, method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// A notification, which needs no answer.
    Notification { method: Cow<'a, str>, params: Option<&'a RawValue> },
}

#[derive(Deserialize)]
struct MessageFields<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Returns a field that is present, even if it is null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// Returns the messages in a text: one, or those of a batch. Values that are not messages are skipped; `None` if the
/// text is not JSON.
pub(super) fn read(text: &str) -> Option<Vec<UpstreamMessage<'_>>> {
    if text.starts_with('[') {
        let batch: Vec<&RawValue> = serde_json::from_str(text).ok()?;
        return Some(batch.into_iter().filter_map(|raw| message(raw.get()).ok().flatten()).collect());
    }
    message(text).ok().map(|message| message.into_iter().collect())
}

fn message(text: &str) -> Result<Option<UpstreamMessage<'_>>, serde_json::Error> {
    let MessageFields { id, method, params, result, error } = serde_json::from_str(text)?;
    let id = id.filter(|id| id.get() != "null");
    let error = error.filter(|error| error.get() != "null");
    Ok(match (id, method, error.map(Err).or(result.map(Ok))) {
        (Some(id), Some(method), _) => Some(UpstreamMessage::Request { id, method, params }),
        (None, Some(method), _) => Some(UpstreamMessage::Notification { method, params }),
        (Some(id), None, Some(outcome)) => {
            // Some servers send the id as a string.
            let id = id.get().trim_matches('"').parse().ok();
            id.map(|id| UpstreamMessage::Answer { id, outcome })
        }
        // A log line that happens to be JSON.
        _ => None,
    })
}

/// A request of ours, as a line. `meta` is merged into the `_meta` of the parameters.
pub(super) fn request(
    id: u64,
    method: &str,
    params: &Map<String, Value>,
    meta: Map<String, Value>,
) -> String {
    let request = RpcRequest { jsonrpc: "2.0", id, method, params: RpcParams { params, meta } };
    let mut text = serde_json::to_string(&request).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Serialize)]
struct RpcRequest<'a> {
    jsonrpc: &'static str,
    id: u64,
    method: &'a str,
    params: RpcParams<'a>,
}

struct RpcParams<'a> {
    params: &'a Map<String, Value>,
    meta: Map<String, Value>,
}

impl Serialize for RpcParams<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let own = self.params.get("_meta").and_then(Value::as_object);
        let mut meta = own.cloned().unwrap_or_default();
        meta.extend(self.meta.clone());
        let meta = Some(meta).filter(|meta| !meta.is_empty());
        let params = self.params.iter().filter(|(key, _)| *key != "_meta");
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in params {
            map.serialize_entry(key, value)?;
        }
        if let Some(meta) = meta {
            map.serialize_entry("_meta", &meta)?;
        }
        map.end()
    }
}

/// A notification of ours.
pub(super) fn notification(method: &str, params: Option<Value>) -> String {
    match params {
        Some(params) => line(&json!({"jsonrpc": "2.0", "method": method, "params": params})),
        None => line(&json!({"jsonrpc": "2.0", "method": method})),
    }
}

/// The answer to a request of the server.
pub(super) fn answer(id: &RawValue, outcome: Result<Value, Value>) -> String {
    match outcome {
        Ok(result) => line(&json!({"jsonrpc": "2.0", "id": id, "result": result})),
        Err(error) => line(&json!({"jsonrpc": "2.0", "id": id, "error": error})),
    }
}

fn line(message: &Value) -> String {
    let mut text = message.to_string();
    text.push('\n');
    text
}

/// Name and version of this client, in the form of every revision.
pub(super) fn client_info() -> Value {
    json!({"name": "mcpaql", "title": "MCP-AQL", "version": env!("CARGO_PKG_VERSION")})
}

/// The capabilities of this client. Questions are forwarded to the caller.
pub(super) fn capabilities() -> Value {
    json!({"elicitation": {"form": {}, "url": {}}, "sampling": {}})
}

/// The key of the client's capabilities in each request of revisions without a handshake.
pub(super) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

/// The `_meta` of each request in revisions without a handshake.
pub(super) fn stateless_meta(capabilities: Value) -> Map<String, Value> {
    let mut meta = Map::new();
    meta.insert("io.modelcontextprotocol/protocolVersion".into(), STATELESS_REVISION.into());
    meta.insert("io.modelcontextprotocol/clientInfo".into(), client_info());
    meta.insert(CLIENT_CAPABILITIES.into(), capabilities);
    meta
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Option<Vec<String>> {
        let describe = |message: &UpstreamMessage<'_>| match message {
            UpstreamMessage::Answer { id, outcome: Ok(raw) } => format!("{id}={raw}"),
            UpstreamMessage::Answer { id, outcome: Err(raw) } => format!("{id}!{raw}"),
            UpstreamMessage::Request { id, method, .. } => format!("{id}?{method}"),
            UpstreamMessage::Notification { method, .. } => method.to_string(),
        };
        Some(read(text)?.iter().map(describe).collect())
    }

    #[test]
    fn messages_are_distinguished() {
        for (text, expected) in [
            (r#"{"jsonrpc":"2.0","id":1,"result":{"a": 1}}"#, vec![r#"1={"a": 1}"#]),
            (r#"{"id":"7","result":null,"jsonrpc":"2.0"}"#, vec!["7=null"]),
            (r#"{"id":2,"error":{"code":-1}}"#, vec![r#"2!{"code":-1}"#]),
            (r#"{"id":2,"result":5,"error":null}"#, vec!["2=5"]),
            (r#"{"id":"x","method":"ping"}"#, vec![r#""x"?ping"#]),
            (r#"{"method":"n\u006ftify","params":[]}"#, vec!["notify"]),
            (r#"[{"id":1,"result":1},5,{"id":2,"result":2}]"#, vec!["1=1", "2=2"]),
            (r#"{"level":"info","id":3}"#, vec![]),
            (r#"{"id":"abc","result":1}"#, vec![]),
            (r#"{"id":null,"error":{}}"#, vec![]),
        ] {
            assert_eq!(kinds(text).unwrap(), expected, "{text}");
        }
        for text in ["", "hello", "{", r#"{"id":1,"result":}"#, "[1,", r#"{"id":1,"id":1,"result":1}"#] {
            assert_eq!(kinds(text), None, "{text}");
        }
    }

    #[test]
    fn a_request_is_one_line_with_its_meta_joined() {
        let params = json!({"_meta": {"a": 1}, "name": "x\ny"});
        let meta = json!({"b": 2});
        let line = request(7, "m", params.as_object().unwrap(), meta.as_object().unwrap().clone());
        let expected =
            r#"{"jsonrpc":"2.0","id":7,"method":"m","params":{"name":"x\ny","_meta":{"a":1,"b":2}}}"#;
        assert_eq!(line, format!("{expected}\n"));
        assert!(request(1, "m", &Map::new(), Map::new()).ends_with("\"params\":{}}\n"));
    }

    #[test]
    fn deep_nesting_and_lone_surrogates_are_no_problem() {
        let deep = format!(r#"{{"id":1,"result":{}"\ud800"{}}}"#, "[".repeat(5000), "]".repeat(5000));
        assert_eq!(kinds(&deep).unwrap().len(), 1);
    }
}
