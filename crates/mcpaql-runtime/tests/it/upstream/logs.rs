//! What servers behind log, as far as clients in front want to hear it.

use super::requests::Client;
use super::{call as direct, said, upstream};
use crate::fixture::{Fixture, Raw, call, http, in_time, initialize, loopback, modern};
use crate::serve_http::{body, post, post_2026};
use mcpaql_core::catalog::Tool;
use mcpaql_core::response::ToolReply;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::mcp::ServerLimits;
use mcpaql_runtime::protocol::Features;
use mcpaql_runtime::service::Service;
use mcpaql_runtime::target::mcp::Upstream;
use reqwest::Response;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Passes every call on, and what is logged meanwhile.
struct Logged(Upstream);

impl Service for Logged {
    fn tools(&self) -> Arc<[Tool]> {
        Arc::from([])
    }

    fn instructions(&self) -> String {
        String::new()
    }

    fn features(&self) -> Features {
        Features { logging: true, ..Features::default() }
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> Option<ToolReply> {
        let result = self.0.call_tool(tool, arguments, caller).await.unwrap();
        let text = result["content"][0]["text"].as_str().unwrap().to_owned();
        Some(ToolReply { text, blocks: Vec::new(), is_error: false })
    }
}

fn set_level(level: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 8, "method": "logging/setLevel", "params": {"level": level}})
}

async fn greeted(raw: &mut Raw) -> Value {
    raw.send(&initialize()).await;
    let greeting = raw.receive().await.unwrap();
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    greeting["result"]["capabilities"].clone()
}

async fn ask(raw: &mut Raw, message: &Value) -> Value {
    raw.send(message).await;
    raw.receive().await.unwrap()
}

/// The levels of what is logged until the answer comes.
async fn heard(raw: &mut Raw, request: &Value) -> Vec<String> {
    raw.send(request).await;
    let mut levels = Vec::new();
    loop {
        let message = raw.receive().await.unwrap();
        if message.get("id").is_some() {
            assert!(message["result"].is_object(), "{message}");
            return levels;
        }
        assert_eq!(message["params"]["data"], message["params"]["level"], "{message}");
        levels.push(message["params"]["level"].as_str().unwrap().to_owned());
    }
}

/// The levels that the server behind was told to log from.
async fn told(upstream: &Upstream) -> Value {
    said(&direct(upstream, "levels", json!({})).await.unwrap())
}

#[tokio::test]
async fn a_client_hears_everything_until_it_says_from_which_level_on() {
    let upstream = upstream("logs");
    let mut raw = Raw::new(&Arc::new(Logged(upstream.clone())), ServerLimits::default());
    assert_eq!(greeted(&mut raw).await["logging"], json!({}));
    let log = call(1, "log", json!({}));
    assert_eq!(heard(&mut raw, &log).await, ["debug", "info", "warning", "error"]);
    assert_eq!(told(&upstream).await, json!([]));

    assert_eq!(ask(&mut raw, &set_level("warning")).await["result"], json!({}));
    assert_eq!(heard(&mut raw, &log).await, ["warning", "error"]);
    assert_eq!(heard(&mut raw, &log).await, ["warning", "error"]);
    assert_eq!(told(&upstream).await, json!(["warning"]), "a level is set once");
    assert_eq!(ask(&mut raw, &set_level("emergency")).await["result"], json!({}));
    assert_eq!(heard(&mut raw, &log).await, [""; 0]);
    assert_eq!(ask(&mut raw, &set_level("debug")).await["result"], json!({}));
    assert_eq!(heard(&mut raw, &log).await, ["debug", "info", "warning", "error"]);
    assert_eq!(told(&upstream).await, json!(["warning", "emergency", "debug"]));
}

#[tokio::test]
async fn a_level_that_is_none_changes_nothing() {
    let mut raw = Raw::new(&Arc::new(Logged(upstream("logs"))), ServerLimits::default());
    greeted(&mut raw).await;
    ask(&mut raw, &set_level("error")).await;
    for level in [json!("loud"), json!("ERROR"), json!(3), Value::Null] {
        let mut wrong = set_level("");
        wrong["params"]["level"] = level.clone();
        let error = ask(&mut raw, &wrong).await["error"].clone();
        assert_eq!(error["code"], -32602, "{level}: {error}");
        assert!(error["message"].as_str().unwrap().contains("debug, info, notice"), "{error}");
    }
    assert_eq!(heard(&mut raw, &call(1, "log", json!({}))).await, ["error"]);
}

#[tokio::test]
async fn without_a_handshake_each_request_says_what_it_wants_to_hear() {
    let upstream = upstream("logs");
    let mut raw = Raw::new(&Arc::new(Logged(upstream.clone())), ServerLimits::default());
    let discover = modern(json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}));
    assert_eq!(ask(&mut raw, &discover).await["result"]["capabilities"]["logging"], json!({}));
    assert_eq!(ask(&mut raw, &modern(set_level("debug"))).await["error"]["code"], -32601);
    let log = |level: Value| {
        let mut request = modern(call(1, "log", json!({})));
        request["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = level;
        request
    };
    assert_eq!(heard(&mut raw, &modern(call(1, "log", json!({})))).await, [""; 0]);
    assert_eq!(heard(&mut raw, &log(json!("loud"))).await, [""; 0]);
    assert_eq!(told(&upstream).await, json!([]));
    assert_eq!(heard(&mut raw, &log(json!("info"))).await, ["info", "warning", "error"]);
    assert_eq!(heard(&mut raw, &modern(call(1, "log", json!({})))).await, [""; 0]);
    assert_eq!(told(&upstream).await, json!(["info"]));
}

/// The levels of what a response brings besides the answer.
async fn levels(response: Response) -> Vec<String> {
    let text = in_time(response.text()).await.unwrap();
    let messages = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let messages = messages.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    messages.filter_map(|message| message["params"]["level"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn over_http_each_conversation_has_its_own_level() {
    let (addr, _serving) = http(&Arc::new(Logged(upstream("logs"))), loopback()).await;
    let quiet = Client::able(addr, json!({})).await;
    let curious = Client::able(addr, json!({"elicitation": {}})).await;
    let log = call(1, "log", json!({}));
    assert_eq!(body(quiet.send(&set_level("error")).await).await["result"], json!({}));
    assert_eq!(body(curious.send(&set_level("info")).await).await["result"], json!({}));
    assert_eq!(levels(quiet.send(&log).await).await, ["error"]);
    assert_eq!(levels(curious.send(&log).await).await, ["info", "warning", "error"]);
    assert_eq!(levels(quiet.send(&log).await).await, ["error"]);

    let nameless = body(post(addr, &set_level("error")).send().await.unwrap()).await;
    assert_eq!(nameless["error"]["code"], -32600, "{nameless}");
    assert!(nameless["error"]["message"].as_str().unwrap().contains("Mcp-Session-Id"), "{nameless}");
    let unknown = post(addr, &set_level("error")).header("mcp-session-id", "nobody's");
    assert_eq!(body(unknown.send().await.unwrap()).await["error"]["code"], -32600);
    assert_eq!(levels(post(addr, &log).send().await.unwrap()).await.len(), 4);
    assert_eq!(levels(post_2026(addr, &log).send().await.unwrap()).await, [""; 0]);
}

#[tokio::test]
async fn a_server_logs_as_much_as_the_most_curious_of_its_callers_wants() {
    let upstream = upstream("logs");
    let mut changed = upstream.tools_changed();
    let (addr, _serving) = http(&Arc::new(Logged(upstream.clone())), loopback()).await;
    let (quiet, curious) = (Client::able(addr, json!({})).await, Client::able(addr, json!({})).await);
    let silent = Client::able(addr, json!({})).await;
    quiet.send(&set_level("error")).await;
    curious.send(&set_level("debug")).await;
    let echo = call(2, "echo", json!({}));
    quiet.send(&echo).await;
    let held = post(addr, &call(1, "hold", json!({}))).header("mcp-session-id", &curious.conversation);
    let held = tokio::spawn(held.send());
    in_time(changed.changed()).await.unwrap();
    quiet.send(&echo).await;
    assert_eq!(told(&upstream).await, json!(["error", "debug"]), "a curious call is still running");
    held.abort();
    in_time(changed.changed()).await.unwrap();
    quiet.send(&echo).await;
    silent.send(&echo).await;
    assert_eq!(told(&upstream).await, json!(["error", "debug", "error", "info"]));
}

#[tokio::test]
async fn a_server_that_does_not_log_is_not_told_to_and_one_that_refuses_is_called_all_the_same() {
    for (faults, expected) in [("", json!([])), ("logs,stubborn", json!(["error"]))] {
        let upstream = upstream(faults);
        let mut raw = Raw::new(&Arc::new(Logged(upstream.clone())), ServerLimits::default());
        greeted(&mut raw).await;
        ask(&mut raw, &set_level("error")).await;
        assert_eq!(heard(&mut raw, &call(1, "log", json!({}))).await, ["error"], "{faults}");
        assert_eq!(told(&upstream).await, expected, "{faults}");
    }
}

#[tokio::test]
async fn a_server_without_a_handshake_is_told_with_each_request() {
    let mut raw = Raw::new(&Arc::new(Logged(upstream("stateless"))), ServerLimits::default());
    greeted(&mut raw).await;
    let meta = async |raw: &mut Raw| -> Value {
        let answer = ask(raw, &call(1, "meta", json!({}))).await;
        serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
    };
    assert_eq!(meta(&mut raw).await.get("io.modelcontextprotocol/logLevel"), None);
    ask(&mut raw, &set_level("notice")).await;
    assert_eq!(meta(&mut raw).await["io.modelcontextprotocol/logLevel"], "notice");
}

#[tokio::test]
async fn where_nothing_is_logged_there_is_no_level() {
    let mut raw = Raw::new(&Fixture::new(), ServerLimits::default());
    assert_eq!(greeted(&mut raw).await.get("logging"), None);
    for message in [set_level("error"), set_level("loud")] {
        assert_eq!(ask(&mut raw, &message).await["error"]["code"], -32601);
    }
}
