//! Traffic between a client and an upstream server: questions, progress, logs, cancellation, results.

use super::{ForwardingService, call, command, environment, over, said, target, upstream};
use crate::fixture::{Raw, in_time, modern};
use mcpaql_core::adapter::McpCommand;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::error::Code;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::mcp::ServerLimits;
use mcpaql_runtime::open::open;
use mcpaql_runtime::target::mcp::Upstream;
use serde_json::{Value, json};
use std::sync::Arc;

#[tokio::test]
async fn questions_are_answered_even_if_no_client_can_be_asked() {
    let upstream = upstream("");
    let asked = call(&upstream, "elicitation/create", json!({"message": "?"})).await.unwrap();
    assert_eq!(said(&asked)["result"], json!({"action": "cancel"}));
    let asked = call(&upstream, "sampling/createMessage", json!({})).await.unwrap();
    assert!(said(&asked)["error"]["code"].is_i64());
    let asked = call(&upstream, "roots/list", json!({})).await.unwrap();
    assert_eq!(said(&asked)["error"]["code"], -32601);
    let asked = call(&upstream, "ping", json!({})).await.unwrap();
    assert_eq!(said(&asked)["result"], json!({}));
}

/// A client that can be asked, after the handshake, and its upstream server.
async fn client() -> (Raw, Upstream) {
    client_of(upstream("")).await
}

async fn client_of(upstream: Upstream) -> (Raw, Upstream) {
    let mut raw = Raw::new(&Arc::new(ForwardingService(upstream.clone())), ServerLimits::default());
    raw.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}, "sampling": {}},
        "clientInfo": {"name": "raw", "version": "0"}}}))
        .await;
    raw.receive().await.unwrap();
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    (raw, upstream)
}

fn tool_call(id: u32, tool: &str, arguments: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, "_meta": {"progressToken": format!("p{id}")}}})
}

fn text(message: &Value) -> Value {
    serde_json::from_str(message["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn questions_and_answers_are_forwarded_unchanged() {
    let (mut raw, _upstream) = client().await;
    for (id, method, answer) in [
        (1, "elicitation/create", json!({"action": "accept", "content": {"a": [1]}})),
        (
            2,
            "sampling/createMessage",
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "t"}}),
        ),
    ] {
        let params =
            json!({"message": "Sure?", "requestedSchema": {"type": "object"}, "x-odd": {"deep": null}});
        raw.send(&tool_call(id, method, params.clone())).await;
        let mut question = raw.receive().await.unwrap();
        // The connection to the client has its own token.
        question["params"].as_object_mut().unwrap().remove("_meta");
        assert_eq!((&question["method"], &question["params"]), (&json!(method), &params));
        raw.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": answer})).await;
        let answered = raw.receive().await.unwrap();
        assert_eq!(text(&answered)["result"], answer, "{answered}");
    }
    raw.send(&tool_call(3, "elicitation/create", json!({}))).await;
    let question = raw.receive().await.unwrap();
    let error = json!({"code": -1, "message": "The user has left"});
    raw.send(&json!({"jsonrpc": "2.0", "id": question["id"], "error": error})).await;
    assert_eq!(text(&raw.receive().await.unwrap())["error"], error);
}

#[tokio::test]
async fn progress_and_logs_come_before_the_answer() {
    let (mut raw, _upstream) = client().await;
    raw.send(&tool_call(1, "progress", json!({}))).await;
    let mut heard = Vec::new();
    loop {
        let message = raw.receive().await.unwrap();
        if message.get("id").is_some() {
            assert_eq!(message["result"]["content"][0]["text"], "done");
            break;
        }
        heard.push(message);
    }
    let logged = heard.iter().find(|message| message["method"] == "notifications/message").unwrap();
    assert_eq!(logged["params"], json!({"level": "warning", "data": {"x": 1}}));
    let news: Vec<&Value> =
        heard.iter().filter(|message| message["method"] == "notifications/progress").collect();
    // Only the latest progress must reach a client, and it must arrive before the end.
    assert!(news.iter().all(|news| news["params"]["progressToken"] == "p1"), "{news:?}");
    assert!(news.is_sorted_by_key(|news| news["params"]["progress"].as_f64().unwrap().to_bits()), "{news:?}");
}

#[tokio::test]
async fn secrets_of_a_server_are_in_no_log_and_no_progress() {
    let fixture = McpCommand { env: vec!["TOKEN".to_owned()], ..command("") };
    let (mut raw, _upstream) = client_of(over(&target(fixture))).await;
    raw.send(&tool_call(1, "confide", json!({}))).await;
    let (mut logged, mut news) = (None, None);
    while logged.is_none() || news.is_none() {
        let message = raw.receive().await.unwrap();
        match message["method"].as_str() {
            Some("notifications/message") => logged = Some(message["params"].clone()),
            // The progress that a call has started is our own.
            Some("notifications/progress") if message["params"]["message"] != "with [redacted]" => {
                assert!(!message.to_string().contains("s3cret"), "{message}");
            }
            _ => news = Some(message["params"]["message"].clone()),
        }
    }
    let data = json!({"token": "[redacted]", "inside": ["Bearer [redacted]"]});
    assert_eq!(logged, Some(json!({"level": "warning", "logger": "[redacted]", "data": data})));
    assert_eq!(news, Some(json!("with [redacted]")));
}

#[tokio::test]
async fn a_client_that_cancels_or_disconnects_stops_the_upstream_work() {
    let (mut raw, upstream) = client().await;
    let mut changed = upstream.tools_changed();
    raw.send(&tool_call(1, "hold", json!({}))).await;
    in_time(changed.changed()).await.unwrap();
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}))
        .await;
    in_time(changed.changed()).await.unwrap();
    let heard = said(&call(&upstream, "cancelled", json!({})).await.unwrap());
    assert_eq!((heard["ids"].as_array().unwrap().len(), &heard["ids"]), (1, &heard["held"]));
    // A question of a call that is gone is answered too, or the server would wait forever.
    raw.send(&tool_call(2, "elicitation/create", json!({}))).await;
    raw.receive().await.unwrap();
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}))
        .await;
    in_time(changed.changed()).await.unwrap();
}

/// A call in a revision without a handshake, by a client that can be asked, with additional parameters.
fn modern_call(tool: &str, extra: Value) -> Value {
    let mut request = modern(json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call",
        "params": {"name": tool, "arguments": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}}}));
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    for (key, value) in extra.as_object().unwrap() {
        request["params"][key] = value.clone();
    }
    request
}

#[tokio::test]
async fn without_a_handshake_a_question_is_the_answer_and_the_next_request_continues_the_call() {
    let upstream = upstream("");
    let mut raw = Raw::new(&Arc::new(ForwardingService(upstream.clone())), ServerLimits::default());
    raw.send(&modern_call("elicitation/create", json!({}))).await;
    let mut asked = raw.receive().await.unwrap()["result"].take();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = asked["inputRequests"]["question"].take();
    assert_eq!(
        (&question["method"], &question["params"]["message"]),
        (&json!("elicitation/create"), &json!("Sure?"))
    );
    let state = asked["requestState"].as_str().unwrap();
    assert!(state.len() >= 64);

    let answer = json!({"action": "accept", "content": {"a": 1}});
    let back = json!({"inputResponses": {"question": answer}, "requestState": state});
    raw.send(&modern_call("echo", back.clone())).await;
    assert_eq!(raw.receive().await.unwrap()["error"]["code"], -32602, "the state belongs to another tool");
    raw.send(&modern_call("elicitation/create", back.clone())).await;
    let done = raw.receive().await.unwrap();
    assert_eq!(text(&done)["result"], answer, "{done}");
    raw.send(&modern_call("elicitation/create", back)).await;
    assert_eq!(raw.receive().await.unwrap()["error"]["code"], -32602, "a state works once");

    raw.send(&modern_call("elicitation/create", json!({}))).await;
    let asked = raw.receive().await.unwrap();
    let back = json!({"requestState": asked["result"]["requestState"]});
    raw.send(&modern_call("elicitation/create", back)).await;
    let done = raw.receive().await.unwrap();
    assert_eq!(text(&done)["result"], json!({"action": "cancel"}), "no answer is no consent");
}

#[tokio::test]
async fn without_a_handshake_an_open_question_does_not_block_others() {
    let mut raw = Raw::new(&Arc::new(ForwardingService(upstream(""))), ServerLimits::default());
    let mut states = Vec::new();
    for _ in 0..2 {
        raw.send(&modern_call("elicitation/create", json!({}))).await;
        let asked = raw.receive().await.unwrap();
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        states.push(asked["result"]["requestState"].clone());
    }
    for (n, state) in states.into_iter().enumerate() {
        let answer = json!({"action": "accept", "content": {"n": n}});
        let back = json!({"inputResponses": {"question": answer}, "requestState": state});
        raw.send(&modern_call("elicitation/create", back)).await;
        assert_eq!(text(&raw.receive().await.unwrap())["result"], answer, "each call has its own answer");
    }
}

#[tokio::test]
async fn without_a_handshake_a_client_without_abilities_is_not_asked() {
    let mut raw = Raw::new(&Arc::new(ForwardingService(upstream(""))), ServerLimits::default());
    let mut request = modern_call("elicitation/create", json!({}));
    request["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    raw.send(&request).await;
    assert_eq!(text(&raw.receive().await.unwrap())["result"], json!({"action": "cancel"}));
}

#[tokio::test]
async fn input_that_a_server_requests_with_its_answer_comes_from_the_caller() {
    let through = Arc::new(ForwardingService(upstream("stateless")));
    let mut raw = Raw::new(&through, ServerLimits::default());
    raw.send(&modern_call("asks", json!({}))).await;
    let asked = raw.receive().await.unwrap();
    assert_eq!(asked["result"]["inputRequests"]["question"]["params"]["message"], "Sure?", "{asked}");
    let answer = json!({"action": "decline"});
    let back =
        json!({"inputResponses": {"question": answer}, "requestState": asked["result"]["requestState"]});
    raw.send(&modern_call("asks", back)).await;
    assert_eq!(text(&raw.receive().await.unwrap()), json!({"a": answer}));
    let endless = json!({"result": {"resultType": "input_required", "requestState": "x"}});
    let error = call(&through.0, "result", endless).await.unwrap_err();
    assert!(error.to_string().contains("too often"), "{error}");
}

fn document() -> String {
    let target = command("");
    json!({
        "type": "adapter", "name": "far", "version": "1.0.0", "description": "A server far away",
        "target": {"transport": "mcp", "command": target.command, "set_env": target.set_env},
        "operations": {"execute": [
            {"name": "echo_it", "tool": "echo", "fixed": {"mode": "loud"},
                "params": {"some_name": {"type": "string", "as": "someName"}}},
            {"name": "give", "tool": "result", "params": {"result": {"type": "object", "additionalProperties": true}}},
            {"name": "nothing", "tool": "nonsense"},
            {"name": "die"},
        ]},
    })
    .to_string()
}

#[tokio::test]
async fn an_operation_is_a_tool_of_the_upstream_server() {
    let checked = check::check(&Source::new("far.json", document()), &AdapterSettings::default());
    let catalog = checked.catalog.unwrap();
    assert!(checked.diagnostics.is_empty(), "{:?}", checked.diagnostics);
    let served = open(catalog, "far.json", None, &environment()).await.unwrap();
    let run = async |operation: &str, params: Value| {
        let params = params.as_object().unwrap().clone();
        in_time(served.call_operation(operation, params, &Caller::nobody())).await
    };
    let answer = run("echo_it", json!({"some_name": "x"})).await.unwrap();
    assert_eq!(answer.data.into_value(), json!({"someName": "x", "mode": "loud"}));
    let image = json!({"type": "image", "data": "aGk=", "mimeType": "image/png", "x-odd": 1});
    let result = json!({"content": [{"type": "text", "text": "{\"a\": 1}"}, image]});
    let answer = run("give", json!({"result": result})).await.unwrap();
    assert_eq!((answer.data.into_value(), answer.blocks), (json!({"a": 1}), vec![image]));
    let failing = json!({"content": [{"type": "text", "text": "No such thing"}], "isError": true});
    assert_eq!(run("give", json!({"result": failing})).await.unwrap_err().code, Code::NotFoundResource);
    assert_eq!(run("nothing", json!({})).await.unwrap_err().code, Code::NotFoundOperation);
    let error = run("die", json!({})).await.unwrap_err();
    assert_eq!(error.code, Code::TransportConnection);
    assert!(
        error.message.starts_with("The MCP server 'fixture' exited with status 7: out of cheese; "),
        "{}",
        error.message
    );
}
