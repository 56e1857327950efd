//! One client on a byte stream, looked at message by message.

use crate::fixture::{Fixture, Raw, call, initialize, modern};
use mcpaql_runtime::mcp::Limits;
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn a_malformed_call_is_a_fault_of_the_parameters() {
    let mut raw = Raw::initialized(&Fixture::new(), Limits::default()).await;
    for params in [json!({}), json!({"name": 7}), json!({"name": "echo", "arguments": []}), Value::Null] {
        raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
        let answer = raw.receive().await.unwrap();
        assert_eq!(
            (&answer["id"], &answer["error"]["code"]),
            (&json!(1), &json!(-32602)),
            "{params}: {answer}"
        );
    }
    raw.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/nope"})).await;
    assert_eq!(raw.receive().await.unwrap()["error"]["code"], -32601);
}

#[tokio::test]
async fn nothing_is_announced_to_a_caller_that_gave_no_token() {
    let service = Fixture::new();
    let mut raw = Raw::initialized(&service, Limits::default()).await;
    let mut accompanied = call(1, "wait", json!({}));
    accompanied["params"]["_meta"] = json!({"progressToken": "mine"});
    raw.send(&accompanied).await;
    raw.send(&call(2, "wait", json!({}))).await;
    service.begun(2).await;
    for _ in 0..2 {
        let news = raw.receive().await.unwrap();
        assert_eq!(news["method"], "notifications/progress");
        assert_eq!(news["params"]["progressToken"], "mine");
    }
}

#[tokio::test]
async fn a_list_in_the_newer_revision_says_how_long_it_holds() {
    let mut raw = Raw::new(&Fixture::new(), Limits::default());
    raw.send(&modern(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}))).await;
    let result = raw.receive().await.unwrap()["result"].take();
    assert!(result["ttlMs"].is_u64(), "{result}");
    assert_eq!(result["cacheScope"], "private");
    assert_eq!(result["resultType"], "complete");
}

#[tokio::test]
async fn a_notification_before_the_handshake_does_not_end_the_conversation() {
    let mut raw = Raw::new(&Fixture::new(), Limits::default());
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    raw.send(&initialize()).await;
    assert_eq!(raw.receive().await.unwrap()["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn the_end_of_input_waits_for_running_calls() {
    let service = Fixture::new();
    let mut raw = Raw::initialized(&service, Limits::default()).await;
    raw.send(&call(1, "wait", json!({}))).await;
    raw.send(&call(2, "wait", json!({}))).await;
    service.begun(2).await;
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}))
        .await;
    service.dropped().await;
    raw.end_input().await;
    service.gate.add_permits(1);
    assert_eq!(raw.receive().await.unwrap()["id"], 1);
    assert_eq!(raw.receive().await, None);
    raw.serving.stopped().await.unwrap();
}

#[tokio::test]
async fn input_that_ends_before_it_begins_is_no_failure() {
    let mut raw = Raw::new(&Fixture::new(), Limits::default());
    raw.end_input().await;
    assert_eq!(raw.receive().await, None);
    raw.serving.stopped().await.unwrap();
}

#[tokio::test]
async fn a_stop_lets_running_calls_finish_and_takes_no_new_ones() {
    let service = Fixture::new();
    let mut raw = Raw::initialized(&service, Limits::default()).await;
    raw.send(&call(1, "wait", json!({}))).await;
    service.begun(1).await;
    raw.serving.shutdown.cancel();
    raw.send(&call(2, "wait", json!({}))).await;
    service.gate.add_permits(2);
    assert_eq!(raw.receive().await.unwrap()["id"], 1);
    assert_eq!(raw.receive().await, None);
    raw.serving.stopped().await.unwrap();
    assert_eq!(service.gate.available_permits(), 1);
}

#[tokio::test]
async fn a_stop_drops_what_outlives_the_grace_period() {
    let service = Fixture::new();
    let limits = Limits { grace: Duration::from_millis(1), ..Limits::default() };
    let mut raw = Raw::initialized(&service, limits).await;
    raw.send(&call(1, "wait", json!({}))).await;
    service.begun(1).await;
    raw.serving.shutdown.cancel();
    service.dropped().await;
    raw.serving.stopped().await.unwrap();
}
