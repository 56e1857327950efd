//! One client on a byte stream, message by message.

use crate::fixture::{Fixture, Raw, call, initialize, modern};
use mcpaql_runtime::mcp::{PendingService, Preview, ServerLimits};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

#[tokio::test]
async fn a_malformed_call_has_invalid_parameters() {
    let mut raw = Raw::initialized(&Fixture::new(), ServerLimits::default()).await;
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
async fn a_caller_without_a_progress_token_gets_no_progress() {
    let service = Fixture::new();
    let mut raw = Raw::initialized(&service, ServerLimits::default()).await;
    let mut accompanied = call(1, "wait", json!({}));
    accompanied["params"]["_meta"] = json!({"progressToken": "mine"});
    raw.send(&accompanied).await;
    raw.send(&call(2, "wait", json!({}))).await;
    service.wait_for_calls(2).await;
    for _ in 0..2 {
        let news = raw.receive().await.unwrap();
        assert_eq!(news["method"], "notifications/progress");
        assert_eq!(news["params"]["progressToken"], "mine");
    }
}

#[tokio::test]
async fn a_progress_token_in_the_arguments_counts_too() {
    let service = Fixture::new();
    let mut raw = Raw::initialized(&service, ServerLimits::default()).await;
    raw.send(&call(1, "wait", json!({"_meta": {"progressToken": "inside"}}))).await;
    let news = raw.receive().await.unwrap();
    assert_eq!(news["method"], "notifications/progress");
    assert_eq!(news["params"]["progressToken"], "inside");
}

#[tokio::test]
async fn a_list_in_the_newer_revision_has_a_time_to_live() {
    let mut raw = Raw::new(&Fixture::new(), ServerLimits::default());
    raw.send(&modern(json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}))).await;
    let result = raw.receive().await.unwrap()["result"].take();
    assert!(result["ttlMs"].is_u64(), "{result}");
    assert_eq!(result["cacheScope"], "private");
    assert_eq!(result["resultType"], "complete");
}

#[tokio::test]
async fn a_list_in_the_older_revision_has_no_fields_of_the_newer_one() {
    let mut raw = Raw::initialized(&Fixture::new(), ServerLimits::default()).await;
    raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    let result = raw.receive().await.unwrap()["result"].take();
    assert_eq!(result.as_object().unwrap().keys().collect::<Vec<_>>(), ["tools"], "{result}");
}

#[tokio::test]
async fn a_notification_before_the_handshake_does_not_end_the_conversation() {
    let mut raw = Raw::new(&Fixture::new(), ServerLimits::default());
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    raw.send(&initialize()).await;
    assert_eq!(raw.receive().await.unwrap()["result"]["protocolVersion"], "2025-11-25");
}

#[tokio::test]
async fn the_end_of_input_waits_for_running_calls() {
    let service = Fixture::new();
    let mut raw = Raw::initialized(&service, ServerLimits::default()).await;
    raw.send(&call(1, "wait", json!({}))).await;
    raw.send(&call(2, "wait", json!({}))).await;
    service.wait_for_calls(2).await;
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}))
        .await;
    service.wait_for_drop().await;
    raw.end_input().await;
    service.gate.add_permits(1);
    assert_eq!(raw.receive().await.unwrap()["id"], 1);
    assert_eq!(raw.receive().await, None);
    raw.serving.stopped().await.unwrap();
}

#[tokio::test]
async fn empty_input_is_not_a_failure() {
    let mut raw = Raw::new(&Fixture::new(), ServerLimits::default());
    raw.end_input().await;
    assert_eq!(raw.receive().await, None);
    raw.serving.stopped().await.unwrap();
}

#[tokio::test]
async fn a_stop_lets_running_calls_finish_and_takes_no_new_ones() {
    let service = Fixture::new();
    let mut raw = Raw::initialized(&service, ServerLimits::default()).await;
    raw.send(&call(1, "wait", json!({}))).await;
    service.wait_for_calls(1).await;
    raw.serving.shutdown.cancel();
    raw.send(&call(2, "wait", json!({}))).await;
    service.gate.add_permits(2);
    assert_eq!(raw.receive().await.unwrap()["id"], 1);
    assert_eq!(raw.receive().await, None);
    raw.serving.stopped().await.unwrap();
    assert_eq!(service.gate.available_permits(), 1);
}

#[tokio::test]
async fn a_stop_drops_calls_after_the_grace_period() {
    let service = Fixture::new();
    let limits = ServerLimits::default().with_grace(Duration::from_millis(1));
    let mut raw = Raw::initialized(&service, limits).await;
    raw.send(&call(1, "wait", json!({}))).await;
    service.wait_for_calls(1).await;
    raw.serving.shutdown.cancel();
    service.wait_for_drop().await;
    raw.serving.stopped().await.unwrap();
}

#[tokio::test]
async fn unreadable_messages_are_answered_and_the_conversation_continues() {
    let mut raw = Raw::initialized(&Fixture::new(), ServerLimits::default()).await;
    let with = |value: &[u8]| {
        let head =
            br#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"echo","arguments":{"it":"#;
        [head, value, b"}}}"].concat()
    };
    let deep = format!("{}{}", "[".repeat(130), "]".repeat(130));
    for (line, code, id) in [
        (b"{bad".to_vec(), -32700, Value::Null),
        (with(b"\"\xff\""), -32700, json!(9)),
        (with(br#""\ud800""#), -32700, json!(9)),
        (with(b"1e400"), -32700, json!(9)),
        (with(deep.as_bytes()), -32700, json!(9)),
        (br#"{"jsonrpc":"2.0","id":"a","method":5}"#.to_vec(), -32600, json!("a")),
    ] {
        let shown = String::from_utf8_lossy(&line).into_owned();
        raw.send_line(&line).await;
        let answer = raw.receive().await.unwrap();
        assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{shown}: {answer}");
        raw.send(&call(10, "echo", json!({}))).await;
        assert_eq!(raw.receive().await.unwrap()["id"], 10, "{shown}");
    }
}

#[tokio::test]
async fn a_line_over_the_limit_is_answered_and_skipped() {
    let mut raw = Raw::initialized(&Fixture::new(), ServerLimits::default()).await;
    let mut long = call(1, "echo", json!({"it": "x".repeat(16 * 1024 * 1024)})).to_string();
    let at = long.rfind('}').unwrap();
    long.replace_range(at.., r#","id":2}"#);
    let id = long.find(r#""id":1,"#).unwrap();
    long.replace_range(id..id + 7, "");
    raw.send_line(long.as_bytes()).await;
    let answer = raw.receive().await.unwrap();
    assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(-32600), &json!(2)), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("16777216"), "{answer}");
    raw.send(&call(3, "echo", json!({}))).await;
    assert_eq!(raw.receive().await.unwrap()["id"], 3);
}

#[tokio::test]
async fn an_unreadable_message_before_the_handshake_does_not_prevent_it() {
    let mut raw = Raw::new(&Fixture::new(), ServerLimits::default());
    raw.send_line(b"\r").await;
    raw.send_line(b"nonsense").await;
    assert_eq!(raw.receive().await.unwrap()["error"]["code"], -32700);
    raw.send(&initialize()).await;
    assert_eq!(raw.receive().await.unwrap()["id"], 0);
}

#[tokio::test]
async fn a_handshake_does_not_wait_forever_for_a_loading_service() {
    let (pending, loading) = PendingService::<Fixture>::new();
    let mut raw = Raw::new(&Arc::new(pending), ServerLimits::default());
    raw.send(&initialize()).await;
    let handshake = raw.receive().await.unwrap()["result"].take();
    assert!(handshake["instructions"].as_str().unwrap().contains("introspect"), "{handshake}");
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    raw.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).await;
    raw.send(&call(3, "echo", json!({"it": "x"}))).await;
    raw.send(&json!({"jsonrpc": "2.0", "id": 4, "method": "ping"})).await;
    assert_eq!(raw.receive().await.unwrap()["id"], 4, "requests that need no service are answered");
    let service = Fixture::new();
    loading.set_ready(service.clone());
    let mut answers = [raw.receive().await.unwrap(), raw.receive().await.unwrap()];
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(answers[0]["result"]["tools"].as_array().unwrap().len(), 5);
    assert_eq!(answers[1]["result"]["content"][0]["text"], r#"{"it":"x"}"#);
    service.swap([]);
    assert_eq!(raw.receive().await.unwrap()["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn the_handshake_of_a_ready_service_has_its_own_instructions() {
    let (pending, loading) = PendingService::<Fixture>::new();
    loading.set_ready(Fixture::new());
    let mut raw = Raw::new(&Arc::new(pending), ServerLimits::default());
    raw.send(&initialize()).await;
    assert_eq!(raw.receive().await.unwrap()["result"]["instructions"], "Fixture instructions");
}

#[tokio::test]
async fn the_handshake_waits_shortly_for_a_service_that_is_nearly_ready() {
    let (pending, loading) = PendingService::<Fixture>::new();
    let mut raw = Raw::new(&Arc::new(pending), ServerLimits::default());
    raw.send(&initialize()).await;
    // The handshake has started by now.
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    loading.set_ready(Fixture::new());
    let handshake = raw.receive().await.unwrap()["result"].take();
    assert_eq!(handshake["instructions"], "Fixture instructions");
    assert_eq!(handshake["capabilities"].get("extensions"), None, "no undeclared extensions: {handshake}");
}

#[tokio::test]
async fn known_tools_are_listed_immediately_and_updated_when_they_have_changed() {
    for changed in [false, true] {
        let service = Fixture::new();
        let (pending, loading) = PendingService::<Fixture>::new();
        loading.set_preview(Preview { instructions: "As before".to_owned(), ..Preview::of(&*service) });
        let mut raw = Raw::new(&Arc::new(pending), ServerLimits::default());
        raw.send(&initialize()).await;
        assert_eq!(raw.receive().await.unwrap()["result"]["instructions"], "As before");
        raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        raw.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).await;
        assert_eq!(raw.receive().await.unwrap()["result"]["tools"].as_array().unwrap().len(), 5);
        if changed {
            service.swap([]);
        }
        loading.set_ready(service);
        if changed {
            assert_eq!(raw.receive().await.unwrap()["method"], "notifications/tools/list_changed");
        }
        raw.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})).await;
        let answer = raw.receive().await.unwrap();
        assert_eq!(
            answer["result"]["tools"].as_array().unwrap().len(),
            if changed { 0 } else { 5 },
            "{answer}"
        );
    }
}
