//! Logs of upstream servers, as far as clients want them.

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

/// Forwards every call, and the logs during it.
struct LoggingService(Upstream);

impl Service for LoggingService {
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
        Some(ToolReply::text(text, false))
    }
}

fn set_level(level: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": 8, "method": "logging/setLevel", "params": {"level": level}})
}

async fn perform_handshake(raw: &mut Raw) -> Value {
    raw.send(&initialize()).await;
    let greeting = raw.receive().await.unwrap();
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    greeting["result"]["capabilities"].clone()
}

async fn ask(raw: &mut Raw, message: &Value) -> Value {
    raw.send(message).await;
    raw.receive().await.unwrap()
}

/// The levels of the log messages until the answer arrives.
async fn levels_until_answer(raw: &mut Raw, request: &Value) -> Vec<String> {
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

/// The log levels that were set on the upstream server.
async fn levels_set_on(upstream: &Upstream) -> Value {
    said(&direct(upstream, "levels", json!({})).await.unwrap())
}

#[tokio::test]
async fn a_client_gets_all_logs_until_it_sets_a_level() {
    let upstream = upstream("logs");
    let mut raw = Raw::new(&Arc::new(LoggingService(upstream.clone())), ServerLimits::default());
    assert_eq!(perform_handshake(&mut raw).await["logging"], json!({}));
    let log = call(1, "log", json!({}));
    assert_eq!(levels_until_answer(&mut raw, &log).await, ["debug", "info", "warning", "error"]);
    assert_eq!(levels_set_on(&upstream).await, json!([]));

    assert_eq!(ask(&mut raw, &set_level("warning")).await["result"], json!({}));
    assert_eq!(levels_until_answer(&mut raw, &log).await, ["warning", "error"]);
    assert_eq!(levels_until_answer(&mut raw, &log).await, ["warning", "error"]);
    assert_eq!(levels_set_on(&upstream).await, json!(["warning"]), "a level is set once");
    assert_eq!(ask(&mut raw, &set_level("emergency")).await["result"], json!({}));
    assert_eq!(levels_until_answer(&mut raw, &log).await, [""; 0]);
    assert_eq!(ask(&mut raw, &set_level("debug")).await["result"], json!({}));
    assert_eq!(levels_until_answer(&mut raw, &log).await, ["debug", "info", "warning", "error"]);
    assert_eq!(levels_set_on(&upstream).await, json!(["warning", "emergency", "debug"]));
}

#[tokio::test]
async fn an_invalid_level_changes_nothing() {
    let mut raw = Raw::new(&Arc::new(LoggingService(upstream("logs"))), ServerLimits::default());
    perform_handshake(&mut raw).await;
    ask(&mut raw, &set_level("error")).await;
    for level in [json!("loud"), json!("ERROR"), json!(3), Value::Null] {
        let mut wrong = set_level("");
        wrong["params"]["level"] = level.clone();
        let error = ask(&mut raw, &wrong).await["error"].clone();
        assert_eq!(error["code"], -32602, "{level}: {error}");
        assert!(error["message"].as_str().unwrap().contains("debug, info, notice"), "{error}");
    }
    assert_eq!(levels_until_answer(&mut raw, &call(1, "log", json!({}))).await, ["error"]);
}

#[tokio::test]
async fn without_a_handshake_each_request_has_its_own_level() {
    let upstream = upstream("logs");
    let mut raw = Raw::new(&Arc::new(LoggingService(upstream.clone())), ServerLimits::default());
    let discover = modern(json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {}}));
    assert_eq!(ask(&mut raw, &discover).await["result"]["capabilities"]["logging"], json!({}));
    assert_eq!(ask(&mut raw, &modern(set_level("debug"))).await["error"]["code"], -32601);
    let log = |level: Value| {
        let mut request = modern(call(1, "log", json!({})));
        request["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = level;
        request
    };
    assert_eq!(levels_until_answer(&mut raw, &modern(call(1, "log", json!({})))).await, [""; 0]);
    assert_eq!(levels_until_answer(&mut raw, &log(json!("loud"))).await, [""; 0]);
    assert_eq!(levels_set_on(&upstream).await, json!([]));
    assert_eq!(levels_until_answer(&mut raw, &log(json!("info"))).await, ["info", "warning", "error"]);
    assert_eq!(levels_until_answer(&mut raw, &modern(call(1, "log", json!({})))).await, [""; 0]);
    assert_eq!(levels_set_on(&upstream).await, json!(["info"]));
}

/// The levels of the log messages in a response.
async fn levels(response: Response) -> Vec<String> {
    let text = in_time(response.text()).await.unwrap();
    let messages = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let messages = messages.filter_map(|data| serde_json::from_str::<Value>(data).ok());
    messages.filter_map(|message| message["params"]["level"].as_str().map(str::to_owned)).collect()
}

#[tokio::test]
async fn over_http_each_conversation_has_its_own_level() {
    let (addr, _serving) = http(&Arc::new(LoggingService(upstream("logs"))), loopback()).await;
    let quiet = Client::able(addr, json!({})).await;
    let curious = Client::able(addr, json!({"elicitation": {}})).await;
    let log = call(1, "log", json!({}));
    assert_eq!(body(quiet.send(&set_level("error")).await).await["result"], json!({}));
    assert_eq!(body(curious.send(&set_level("info")).await).await["result"], json!({}));
    assert_eq!(levels(quiet.send(&log).await).await, ["error"]);
    assert_eq!(levels(curious.send(&log).await).await, ["info", "warning", "error"]);
    assert_eq!(levels(quiet.send(&log).await).await, ["error"]);

    let without_session = body(post(addr, &set_level("error")).send().await.unwrap()).await;
    assert_eq!(without_session["error"]["code"], -32600, "{without_session}");
    assert!(
        without_session["error"]["message"].as_str().unwrap().contains("Mcp-Session-Id"),
        "{without_session}"
    );
    let unknown = post(addr, &set_level("error")).header("mcp-session-id", "nobody's");
    assert_eq!(body(unknown.send().await.unwrap()).await["error"]["code"], -32600);
    assert_eq!(levels(post(addr, &log).send().await.unwrap()).await.len(), 4);
    assert_eq!(levels(post_2026(addr, &log).send().await.unwrap()).await, [""; 0]);
}

#[tokio::test]
async fn a_server_logs_with_the_lowest_level_of_its_callers() {
    let upstream = upstream("logs");
    let mut changed = upstream.tools_changed();
    let (addr, _serving) = http(&Arc::new(LoggingService(upstream.clone())), loopback()).await;
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
    assert_eq!(
        levels_set_on(&upstream).await,
        json!(["error", "debug"]),
        "a call with this level is still running"
    );
    held.abort();
    in_time(changed.changed()).await.unwrap();
    quiet.send(&echo).await;
    silent.send(&echo).await;
    assert_eq!(levels_set_on(&upstream).await, json!(["error", "debug", "error", "info"]));
}

#[tokio::test]
async fn servers_that_do_not_log_get_no_level_and_a_refused_level_is_ignored() {
    for (faults, expected) in [("", json!([])), ("logs,stubborn", json!(["error"]))] {
        let upstream = upstream(faults);
        let mut raw = Raw::new(&Arc::new(LoggingService(upstream.clone())), ServerLimits::default());
        perform_handshake(&mut raw).await;
        ask(&mut raw, &set_level("error")).await;
        assert_eq!(levels_until_answer(&mut raw, &call(1, "log", json!({}))).await, ["error"], "{faults}");
        assert_eq!(levels_set_on(&upstream).await, expected, "{faults}");
    }
}

#[tokio::test]
async fn a_server_without_a_handshake_gets_the_level_with_each_request() {
    let mut raw = Raw::new(&Arc::new(LoggingService(upstream("stateless"))), ServerLimits::default());
    perform_handshake(&mut raw).await;
    let meta = async |raw: &mut Raw| -> Value {
        let answer = ask(raw, &call(1, "meta", json!({}))).await;
        serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
    };
    assert_eq!(meta(&mut raw).await.get("io.modelcontextprotocol/logLevel"), None);
    ask(&mut raw, &set_level("notice")).await;
    assert_eq!(meta(&mut raw).await["io.modelcontextprotocol/logLevel"], "notice");
}

#[tokio::test]
async fn without_logging_no_level_can_be_set() {
    let mut raw = Raw::new(&Fixture::new(), ServerLimits::default());
    assert_eq!(perform_handshake(&mut raw).await.get("logging"), None);
    for message in [set_level("error"), set_level("loud")] {
        assert_eq!(ask(&mut raw, &message).await["error"]["code"], -32601);
    }
}
