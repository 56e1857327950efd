//! Plain results: tools that answer like those of a server without envelopes.

use super::{adapter, served};
use crate::fixture::{Raw, crypto, initialize, modern};
use crate::http::upstream::{Upstream, answer};
use mcpaql_core::adapter::Mode;
use mcpaql_runtime::dispatch::ServedAdapter;
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::mcp::ServerLimits;
use serde_json::{Value, json};
use std::sync::Arc;

async fn client(served: ServedAdapter) -> Raw {
    let gateway = Arc::new(Gateway::new(vec![served]).unwrap());
    let mut raw = Raw::new(&gateway, ServerLimits::default());
    raw.send(&initialize()).await;
    raw.receive().await.unwrap();
    raw
}

async fn ask(raw: &mut Raw, method: &str, params: Value) -> Value {
    raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).await;
    raw.receive().await.unwrap()["result"].take()
}

async fn call(raw: &mut Raw, tool: &str, arguments: Value) -> Value {
    ask(raw, "tools/call", json!({"name": tool, "arguments": arguments})).await
}

const THINGS: &str = r#"
results: plain
tool_names: { pattern: "{operation}" }
types: { Thing: { type: object, properties: { id: { type: integer }, next: { type: Thing } } } }
target: { base_url: "BASE" }
operations:
  read:
    - { name: get_named, maps_to: GET /named, returns: { type: Thing } }
    - { name: get_large, maps_to: GET /large, returns: { type: Thing } }
    - { name: get_infinite, maps_to: GET /infinite, returns: { type: Thing } }
    - { name: get_other, maps_to: GET /list, returns: { type: Thing } }
    - { name: get_nothing, maps_to: GET /nothing, returns: { type: Thing } }
    - name: get_thing
      maps_to: GET /things/{id}
      params: { id: { type: integer, required: true } }
      returns: { properties: { id: { type: integer }, tags: { type: array, items: { type: string, enum: [a] } } }, required: [id] }
    - { name: list_things, maps_to: GET /list }
    - { name: get_text, maps_to: GET /text }
    - { name: get_image, maps_to: GET /image }
    - { name: get_missing, maps_to: GET /missing }
"#;

#[tokio::test]
async fn an_api_answers_like_a_plain_server() {
    let upstream = Upstream::start(|_, seen| match seen.uri.as_str() {
        "/things/7" => {
            answer(200, &[("content-type", "application/json")], r#"{"id": 7, "tags": null, "x": 1.10}"#)
        }
        "/list" => answer(200, &[("content-type", "application/json")], "[1, 2]"),
        "/named" => answer(200, &[("content-type", "application/json")], r#"{"id": 1}"#),
        "/large" => answer(200, &[("content-type", "application/json")], r#"{"id": 123456789012345678901}"#),
        "/infinite" => answer(200, &[("content-type", "application/json")], r#"{"id": 1e400}"#),
        "/nothing" => answer(204, &[], ""),
        "/text" => answer(200, &[("content-type", "text/plain")], "words"),
        "/image" => answer(200, &[("content-type", "image/png")], "png"),
        _ => answer(404, &[("content-type", "application/json")], r#"{"message": "no such thing"}"#),
    })
    .await;
    let document = adapter("things", &THINGS.replace("BASE", &upstream.url));
    let mut raw = client(served(&document, Mode::Discrete, None).await).await;
    let tools = ask(&mut raw, "tools/list", json!({})).await["tools"].take();
    let tool = |name: &str| tools.as_array().unwrap().iter().find(|tool| tool["name"] == name).unwrap();
    assert_eq!(
        tool("get_thing")["outputSchema"],
        json!({"type": "object", "properties": {
            "id": {"type": ["integer", "null"]},
            "tags": {"type": ["array", "null"], "items": {"type": ["string", "null"]}}}})
    );
    assert_eq!(tool("list_things").get("outputSchema"), None);
    let thing = call(&mut raw, "get_thing", json!({"id": 7})).await;
    assert_eq!(thing["content"], json!([{"type": "text", "text": r#"{"id":7,"tags":null,"x":1.10}"#}]));
    assert_eq!(thing["structuredContent"], json!({"id": 7, "tags": null, "x": 1.10}));
    let schema = &tool("get_named")["outputSchema"];
    assert_eq!(
        (&schema["type"], &schema["properties"]["id"]["type"][0]),
        (&json!("object"), &json!("integer"))
    );
    for (tool, text, structured) in [
        ("get_named", r#"{"id":1}"#, json!({"id": 1})),
        ("get_infinite", r#"{"id":1e400}"#, json!({"id": "1e400"})),
        ("get_other", "[1,2]", json!({"result": [1, 2]})),
        ("get_nothing", "null", json!({})),
        ("get_large", r#"{"id":123456789012345678901}"#, json!({"id": 123456789012345678901_f64})),
    ] {
        let found = call(&mut raw, tool, json!({})).await;
        assert_eq!(
            (&found["content"][0]["text"], &found["structuredContent"]),
            (&json!(text), &structured),
            "{tool}"
        );
        let is_warned = found["content"].as_array().unwrap().len() > 1;
        assert_eq!(is_warned, tool == "get_large", "{found}");
    }
    let list = call(&mut raw, "list_things", json!({})).await;
    assert_eq!((&list["content"][0]["text"], list.get("structuredContent")), (&json!("[1,2]"), None));
    assert_eq!(call(&mut raw, "get_text", json!({})).await["content"][0]["text"], "words");
    assert_eq!(call(&mut raw, "get_image", json!({})).await["content"][1]["type"], "image");
    for (tool, arguments, expected) in [
        ("get_missing", json!({}), "The API answered 404: no such thing"),
        ("get_thing", json!({"id": "x"}), "Parameter 'id' expected 'integer'"),
    ] {
        let failed = call(&mut raw, tool, arguments).await;
        let text = failed["content"][0]["text"].as_str().unwrap();
        assert!(failed["isError"] == true && text.starts_with(expected), "{failed}");
        assert_eq!(failed.get("structuredContent"), None);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn the_result_prompts_and_resources_of_a_server_are_its_own() {
    let server = crate::upstream::command("");
    let target =
        json!({"transport": "mcp", "start": "eager", "command": server.command, "set_env": server.set_env});
    let document = adapter(
        "far",
        &format!(
            "results: plain\ntool_names: {{ pattern: \"{{operation}}\" }}\ntarget: {target}\noperations: {{ execute: [{{ name: result, params: {{ result: {{ type: object }} }} }}] }}"
        ),
    );
    let served = served(&document, Mode::Discrete, None).await;
    crate::fixture::in_time(served.upstreams()[0].start()).await.unwrap();
    let mut raw = client(served).await;
    for (is_error, blocks) in [
        (
            false,
            json!([{"type": "image", "data": "aGk=", "mimeType": "image/png"}, {"type": "text", "text": "{\"a\": 1}"}]),
        ),
        (true, json!([{"type": "text", "text": "It failed"}])),
    ] {
        let result = json!({
            "content": blocks, "structuredContent": {"a": 1}, "isError": is_error, "_meta": {"example.com/x": 1},
        });
        let found = call(&mut raw, "result", json!({"result": result})).await;
        assert_eq!(found, result);
    }
    for result in [json!({"content": []}), json!({"content": [{"type": "text", "text": ""}]})] {
        assert_eq!(call(&mut raw, "result", json!({"result": result})).await, result);
    }
    let prompts = ask(&mut raw, "prompts/list", json!({})).await;
    let name = prompts["prompts"][0]["name"].clone();
    assert!(!name.as_str().unwrap().starts_with("far_"), "{prompts}");
    assert!(ask(&mut raw, "prompts/get", json!({"name": name})).await.get("messages").is_some());
    let resources = ask(&mut raw, "resources/list", json!({})).await;
    assert_eq!(resources["resources"][0]["uri"], "file:///notes/a b?x=1#y");
    let read = ask(&mut raw, "resources/read", json!({"uri": "file:///notes/a b?x=1#y"})).await;
    assert_eq!(read["contents"][0]["uri"], "file:///notes/a b?x=1#y");
}

/// The answer of a server that speaks both kinds of revisions, and asks for a name in those without a handshake.
fn asking_server(message: &Value) -> Value {
    let params = &message["params"];
    match message["method"].as_str() {
        Some("initialize") => {
            json!({"result": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "asking", "version": "1"}}})
        }
        Some("server/discover") => {
            json!({"result": {"resultType": "complete", "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "asking", "version": "1"}}})
        }
        Some("tools/call") if params["requestState"].is_null() => json!({"result": {
            "resultType": "input_required", "requestState": "signed",
            "inputRequests": {"user_name": {"method": "elicitation/create", "params": {"mode": "form",
                "message": "Your name?", "requestedSchema": {"type": "object", "properties": {}}}}}}}),
        Some("tools/call") if params["requestState"] != "signed" => {
            json!({"error": {"code": -32602, "message": "Invalid requestState"}})
        }
        Some("tools/call") => {
            let able = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"];
            let text = format!("{} {able}", params["inputResponses"]["user_name"]["content"]["name"]);
            json!({"result": {"resultType": "complete", "content": [{"type": "text", "text": text}]}})
        }
        _ => json!({"error": {"code": -32601, "message": "unknown"}}),
    }
}

#[tokio::test]
async fn questions_of_a_server_without_a_handshake_reach_the_client_with_their_keys_and_state() {
    crypto();
    let upstream = Upstream::start(|_, seen| {
        let message: Value = serde_json::from_str(&seen.body).unwrap_or_default();
        if seen.method != "POST" {
            return answer(405, &[], "");
        }
        if message["id"].is_null() {
            return answer(202, &[], "");
        }
        let mut said = asking_server(&message);
        (said["jsonrpc"], said["id"]) = (json!("2.0"), message["id"].clone());
        answer(200, &[("content-type", "application/json")], said.to_string())
    })
    .await;
    let document = adapter(
        "far",
        &format!(
            "results: plain\ntool_names: {{ pattern: \"{{operation}}\" }}\ntarget: {{ transport: mcp, url: \"{}\" }}\noperations: {{ execute: [{{ name: greet }}] }}",
            upstream.url
        ),
    );
    let gateway = Arc::new(Gateway::new(vec![served(&document, Mode::Discrete, None).await]).unwrap());
    let mut raw = Raw::new(&gateway, ServerLimits::default());
    let able = json!({"elicitation": {"form": {}}});
    let mut request = async |rest: Value| {
        let mut params = json!({"name": "greet", "arguments": {}});
        params.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        let mut message =
            modern(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
        message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = able.clone();
        raw.send(&message).await;
        raw.receive().await.unwrap()
    };
    let asked = request(json!({})).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    assert_eq!(asked["result"]["requestState"], "signed");
    assert_eq!(asked["result"]["inputRequests"]["user_name"]["method"], "elicitation/create");
    let responses = json!({"user_name": {"action": "accept", "content": {"name": "Ann"}}});
    let done = request(json!({"inputResponses": responses, "requestState": "signed"})).await;
    assert_eq!(done["result"]["content"][0]["text"], format!("\"Ann\" {able}"), "{done}");
    let refused = request(json!({"inputResponses": responses, "requestState": "forged"})).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}
