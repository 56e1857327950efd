//! Credentials that an API repeats, in every spelling.

use super::fixture::operation;
use super::upstream::{Bare, Upstream, answer};
use super::{TOKEN, bearer, call, client, target};
use mcpaql_core::adapter::Auth;
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// The token with JSON escapes for every character.
fn escaped() -> String {
    TOKEN.bytes().map(|byte| format!("\\u{byte:04x}")).collect()
}

#[tokio::test]
async fn escapes_in_an_answer_do_not_hide_a_token() {
    for (status, kind) in [
        (200, "application/json"),
        (200, "text/plain"),
        (200, "application/octet-stream"),
        (400, "application/json"),
    ] {
        let body = format!(
            r#"{{"a": "{}", "b": "tok_5ecret\/+value", "c": "tok_5ecret%2f%2Bvalue", "d": "Bearer {TOKEN}"}}"#,
            escaped()
        );
        let upstream =
            Upstream::start(move |_, _| answer(status, &[("content-type", kind)], body.clone())).await;
        let client = client(&target(&upstream.url), &bearer());
        let shown = match call(&client, &operation("GET", "/", vec![]), json!({})).await {
            Ok(answer) => format!("{} {}", answer.data.into_value(), json!(answer.blocks)),
            Err(error) => format!("{} {}", error.message, json!(error.details)),
        };
        for part in ["5ecret", "\\u0074\\u006f", "u0035"] {
            assert!(!shown.contains(part), "{kind} {status}: {shown}");
        }
        assert!(shown.contains("[redacted]"), "{shown}");
    }
}

#[tokio::test]
async fn a_token_between_two_chunks_is_masked() {
    let upstream = Bare::start(|mut stream: TcpStream| async move {
        let filler = "x".repeat(100_000);
        let body = format!("{{\"a\": \"{filler}{}\"}}", escaped());
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let _ = stream.write_all(head.as_bytes()).await;
        for part in body.as_bytes().chunks(40_007) {
            let _ = stream.write_all(part).await;
            let _ = stream.flush().await;
            tokio::task::yield_now().await;
        }
    })
    .await;
    let client = client(&target(&upstream.url), &bearer());
    let answer = call(&client, &operation("GET", "/", vec![]), json!({})).await.unwrap();
    let value = answer.data.into_value();
    assert_eq!(value["a"].as_str().unwrap().len(), 100_000 + "[redacted]".len());
}

#[tokio::test]
async fn a_variable_in_the_path_of_the_address_is_a_secret() {
    let upstream = Upstream::start(|_, seen| answer(404, &[], format!("no route {}", seen.uri))).await;
    let mut target = target("");
    target.base_url = format!("{}/bot${{env:API_TOKEN}}", upstream.url);
    let client = client(&target, &Auth::None);
    let error = call(&client, &operation("GET", "/getMe", vec![]), json!({})).await.unwrap_err();
    let shown = format!("{} {}", error.message, json!(error.details));
    assert!(upstream.only().uri.contains("tok_5ecret") && !shown.contains("5ecret"), "{shown}");
}
