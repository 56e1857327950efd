//! Plain results: tools that answer like those of a server without envelopes.

use super::{adapter, served};
use crate::fixture::{Raw, initialize};
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
target: { base_url: "BASE" }
operations:
  read:
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
    let prompts = ask(&mut raw, "prompts/list", json!({})).await;
    let name = prompts["prompts"][0]["name"].clone();
    assert!(!name.as_str().unwrap().starts_with("far_"), "{prompts}");
    assert!(ask(&mut raw, "prompts/get", json!({"name": name})).await.get("messages").is_some());
    let resources = ask(&mut raw, "resources/list", json!({})).await;
    assert_eq!(resources["resources"][0]["uri"], "file:///notes/a b?x=1#y");
    let read = ask(&mut raw, "resources/read", json!({"uri": "file:///notes/a b?x=1#y"})).await;
    assert_eq!(read["contents"][0]["uri"], "file:///notes/a b?x=1#y");
}
