//! Clients on a byte stream that send too much, or that do not keep to the protocol.

use crate::fixture::{Fixture, Raw, call, in_time, initialize, modern, stream};
use mcpaql_runtime::mcp::ServerLimits;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

#[tokio::test]
async fn a_second_request_with_the_same_id_is_refused_and_the_first_is_answered() {
    let service = Fixture::new();
    let mut raw = Raw::initialized(&service, ServerLimits::default()).await;
    raw.send(&call(1, "wait", json!({}))).await;
    service.wait_for_calls(1).await;
    raw.send(&call(1, "echo", json!({}))).await;
    let refused = raw.receive().await.unwrap();
    assert_eq!(refused.get("id"), Some(&Value::Null), "{refused}");
    assert_eq!(refused["error"]["code"], -32600);
    assert!(refused["error"]["message"].as_str().unwrap().contains("id 1 "), "{refused}");
    service.gate.add_permits(1);
    let first = raw.receive().await.unwrap();
    assert_eq!((&first["id"], &first["result"]["isError"]), (&json!(1), &json!(false)), "{first}");
    // An answered request no longer uses its id.
    for _ in 0..100 {
        raw.send(&call(1, "echo", json!({}))).await;
        let again = raw.receive().await.unwrap();
        assert_eq!((&again["id"], &again["result"]["isError"]), (&json!(1), &json!(false)), "{again}");
    }
}

#[tokio::test]
async fn the_id_of_a_cancelled_request_gets_no_answer_of_another() {
    let service = Fixture::new();
    let mut raw = Raw::initialized(&service, ServerLimits::default()).await;
    raw.send(&call(1, "wait", json!({}))).await;
    service.wait_for_calls(1).await;
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}))
        .await;
    raw.send(&call(1, "echo", json!({}))).await;
    assert_eq!(raw.receive().await.unwrap()["id"], Value::Null);
    raw.send(&call(2, "echo", json!({}))).await;
    assert_eq!(raw.receive().await.unwrap()["id"], 2);
}

#[tokio::test]
async fn a_handshake_that_cannot_be_read_is_answered_and_may_be_repeated() {
    for params in [
        json!({}),
        json!({"protocolVersion": 5, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}),
        json!({"protocolVersion": "2025-11-25", "capabilities": "none"}),
        Value::Null,
    ] {
        let mut raw = Raw::new(&Fixture::new(), ServerLimits::default());
        raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).await;
        let refused = raw.receive().await.unwrap();
        assert_eq!(
            (&refused["id"], &refused["error"]["code"]),
            (&json!(1), &json!(-32602)),
            "{params}: {refused}"
        );
        assert!(refused["error"]["message"].as_str().unwrap().contains("protocolVersion"), "{refused}");
        // Clients that do not notice the error go on like this.
        raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        raw.send(&json!({"jsonrpc": "2.0", "id": 9, "result": {}})).await;
        raw.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "ping"})).await;
        assert_eq!(raw.receive().await.unwrap()["id"], 2);
        raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}))
            .await;
        raw.send(&initialize()).await;
        assert_eq!(raw.receive().await.unwrap()["result"]["protocolVersion"], "2025-11-25");
        raw.send(&call(3, "echo", json!({}))).await;
        assert_eq!(raw.receive().await.unwrap()["id"], 3);
    }
}

#[tokio::test]
async fn a_session_without_a_handshake_reads_notifications() {
    let service = Fixture::new();
    let mut raw = Raw::new(&service, ServerLimits::default());
    // Refused because of its metadata, so it starts no session.
    raw.send(&call(1, "wait", json!({}))).await;
    assert_eq!(raw.receive().await.unwrap()["error"]["code"], -32602);
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    raw.send(&modern(call(2, "wait", json!({})))).await;
    service.wait_for_calls(1).await;
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}))
        .await;
    service.wait_for_drop().await;
}

#[tokio::test]
async fn a_line_with_too_many_values_is_refused_before_it_is_parsed() {
    let mut raw = Raw::initialized(&Fixture::new(), ServerLimits::default()).await;
    let many = format!("[{}0]", "{},".repeat(2_000_000));
    let with = |message: Value| message.to_string().replace(r#""@""#, &many);
    raw.send_line(with(call(7, "echo", json!({"it": "@"}))).as_bytes()).await;
    let answer = raw.receive().await.unwrap();
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(7), &json!(-32600)), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("100000"), "{answer}");
    // Neither is ever answered.
    raw.send_line(with(json!({"jsonrpc": "2.0", "id": 3, "result": {"it": "@"}})).as_bytes()).await;
    raw.send(&call(8, "echo", json!({}))).await;
    assert_eq!(raw.receive().await.unwrap()["id"], 8);
    // A long text is one value.
    raw.send(&call(9, "echo", json!({"it": "[{,:".repeat(1_000_000)}))).await;
    assert_eq!(raw.receive().await.unwrap()["result"]["isError"], false);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_not_read_either() {
    let service = Fixture::new();
    let (near, _serving) = stream(&service, ServerLimits::default());
    let (reader, mut writer) = tokio::io::split(near);
    let mut lines = BufReader::new(reader).lines();
    writer.write_all(format!("{}\n", initialize()).as_bytes()).await.unwrap();
    in_time(lines.next_line()).await.unwrap().unwrap();
    let message = format!("{}\n", call(1, "echo", json!({"it": "x".repeat(100_000)})));
    let sent = Arc::new(AtomicUsize::new(0));
    const REQUESTS: usize = 1000;
    let writing = tokio::spawn({
        let sent = Arc::clone(&sent);
        async move {
            for id in 0..REQUESTS {
                let message = message.replacen(r#""id":1"#, &format!(r#""id":{}"#, id + 1), 1);
                writer.write_all(message.as_bytes()).await.unwrap();
                sent.fetch_add(1, Ordering::SeqCst);
            }
            writer
        }
    });
    // Until writing stands still.
    let mut before = usize::MAX;
    while before != sent.load(Ordering::SeqCst) {
        before = sent.load(Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    // 100 MB were to be sent; the limit is 4 MB, and one message may exceed it.
    assert!(before < 100, "{before} requests were read");
    let mut answered = std::collections::HashSet::new();
    while answered.len() < REQUESTS {
        let line = in_time(lines.next_line()).await.unwrap().unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["result"]["isError"], false, "{line}");
        assert!(answered.insert(answer["id"].as_u64().unwrap()));
    }
    in_time(writing).await.unwrap();
}

#[tokio::test]
async fn further_requests_wait_while_too_many_are_running() {
    let service = Fixture::new();
    let (near, _serving) = stream(&service, ServerLimits::default());
    let (reader, mut writer) = tokio::io::split(near);
    let mut lines = BufReader::new(reader).lines();
    writer.write_all(format!("{}\n", initialize()).as_bytes()).await.unwrap();
    in_time(lines.next_line()).await.unwrap().unwrap();
    const REQUESTS: u32 = 3000;
    let writing = tokio::spawn(async move {
        for id in 1..=REQUESTS {
            writer.write_all(format!("{}\n", call(id, "wait", json!({}))).as_bytes()).await.unwrap();
        }
        writer
    });
    service.wait_for_calls(1024).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(service.started.available_permits(), 0, "more than 1024 calls run");
    service.gate.add_permits(usize::try_from(REQUESTS).unwrap());
    for _ in 0..REQUESTS {
        in_time(lines.next_line()).await.unwrap().unwrap();
    }
    in_time(writing).await.unwrap();
}
