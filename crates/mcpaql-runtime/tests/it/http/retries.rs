//! Which requests are sent again, and the header that makes that safe.

use super::fixture::{http, operation, param};
use super::upstream::{Bare, Seen, Upstream, answer, json};
use super::{call, client, target};
use mcpaql_core::adapter::Auth;
use mcpaql_core::operation::{Category, Operation, ParamLocation};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const HEADER: &str = "idempotency-key";

/// Fails twice with this status, then answers.
async fn failing(status: u16) -> Upstream {
    Upstream::start(move |n, _| match n {
        0 | 1 => answer(status, &[("retry-after", "0")], ""),
        _ => json("{}"),
    })
    .await
}

fn of(category: Category, method: &str) -> Operation {
    Operation { category, ..operation(method, "/", vec![]) }
}

fn keys(seen: &[Seen]) -> Vec<&str> {
    seen.iter().map(|seen| seen.header(HEADER).unwrap_or_default()).collect()
}

#[tokio::test]
async fn creations_and_executions_are_never_repeated() {
    for status in [429, 502, 503, 504] {
        for category in [Category::Create, Category::Execute] {
            for method in ["POST", "PUT", "PATCH", "DELETE", "GET"] {
                let upstream = failing(status).await;
                let mut operation = of(category, method);
                // Not even if the document calls it idempotent.
                operation.facts.repeat = mcpaql_core::facts::Repeat::NoEffect;
                let client = client(&target(&upstream.url), &Auth::None);
                assert!(call(&client, &operation, json!({})).await.is_err());
                assert_eq!(upstream.seen().len(), 1, "{category:?} {method} {status}");
            }
        }
    }
}

#[tokio::test]
async fn updates_and_deletions_follow_their_method() {
    for category in [Category::Update, Category::Delete] {
        for (method, requests) in [("PUT", 3), ("DELETE", 3), ("PATCH", 1), ("POST", 1)] {
            let upstream = failing(503).await;
            let client = client(&target(&upstream.url), &Auth::None);
            let _ = call(&client, &of(category, method), json!({})).await;
            assert_eq!(upstream.seen().len(), requests, "{category:?} {method}");
        }
    }
}

/// Reads a whole request and closes the connection; the second request of a connection gets no answer.
async fn closes_after_one(mut stream: TcpStream) {
    let ok = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-type: application/json\r\n\r\n{}";
    let _ = stream.write_all(ok).await;
    let _ = stream.read(&mut [0; 4096]).await;
}

#[tokio::test]
async fn a_write_on_a_reused_connection_that_breaks_is_not_sent_again() {
    let upstream = Bare::start(closes_after_one).await;
    let client = client(&target(&upstream.url), &Auth::None);
    call(&client, &operation("GET", "/", vec![]), json!({})).await.unwrap();
    assert!(call(&client, &operation("POST", "/", vec![]), json!({})).await.is_err());
    assert_eq!(upstream.connections(), 1, "the request was not sent on another connection");
}

#[tokio::test]
async fn an_idempotency_header_is_the_same_for_each_repetition_and_new_for_each_call() {
    let upstream = Upstream::start(|n, _| if n % 3 < 2 { answer(503, &[], "") } else { json("{}") }).await;
    let client = client(&target(&upstream.url), &Auth::None);
    let with_key = |method| {
        let mut operation = operation(method, "/", vec![]);
        http(&mut operation).idempotency_header = Some("Idempotency-Key".into());
        operation
    };
    for method in ["POST", "PATCH"] {
        call(&client, &with_key(method), json!({})).await.unwrap();
    }
    let seen = upstream.seen();
    let [a, b, c, d, e, f] = keys(&seen)[..] else { panic!("{} requests", seen.len()) };
    assert!(a == b && b == c && d == e && e == f && a != d && a.len() >= 32, "{a} {d}");
    call(&client, &with_key("GET"), json!({})).await.unwrap();
    assert_eq!(keys(&upstream.seen()[6..]), ["", "", ""], "a read needs no key");
}

#[tokio::test]
async fn a_caller_may_send_its_own_key() {
    let upstream = failing(503).await;
    let client = client(&target(&upstream.url), &Auth::None);
    let mut create = operation("POST", "/", vec![param("Idempotency-Key", ParamLocation::Header)]);
    http(&mut create).idempotency_header = Some("Idempotency-Key".into());
    call(&client, &create, json!({"Idempotency-Key": "mine"})).await.unwrap();
    assert_eq!(keys(&upstream.seen()), ["mine", "mine", "mine"]);
}
