//! The caller's answer for each kind of response.

use super::fixture::operation;
use super::upstream::{Upstream, answer};
use super::{call, client, get, target};
use mcpaql_core::adapter::{Auth, ErrorPolicy};
use mcpaql_core::error::Code;
use mcpaql_core::response::{Payload, envelope};
use serde_json::{Value, json};

#[tokio::test]
async fn json_passes_through_unparsed() {
    let upstream =
        Upstream::fixed(200, &[("content-type", "application/json")], "{\"n\": 1.10, \"a\":[ ]}").await;
    let outcome = get(&upstream.url).await;
    assert!(matches!(outcome.as_ref().unwrap().data, Payload::Raw(_)));
    let reply = envelope(&outcome, ErrorPolicy::default());
    assert_eq!(reply.text, r#"{"success":true,"data":{"n":1.10,"a":[]}}"#);
}

#[tokio::test]
async fn text_binary_and_empty_bodies() {
    for (status, headers, body, expected) in [
        (200, &[("content-type", "text/plain; charset=utf-8")][..], "grün", json!("grün")),
        (200, &[("content-type", "text/html")], "<p>", json!("<p>")),
        (
            200,
            &[("content-type", "application/pdf")],
            "%PDF",
            json!({"media_type": "application/pdf", "bytes": 4}),
        ),
        (200, &[("content-type", "application/json")], "", Value::Null),
        (201, &[], "", Value::Null),
        (204, &[], "", Value::Null),
        (205, &[], "", Value::Null),
    ] {
        let upstream = Upstream::start(move |_, _| answer(status, headers, body)).await;
        assert_eq!(get(&upstream.url).await.unwrap().data.into_value(), expected, "{status} {headers:?}");
    }
}

#[tokio::test]
async fn a_file_follows_the_envelope_as_a_content_block() {
    let upstream = Upstream::fixed(200, &[("content-type", "image/gif")], "GIF89a").await;
    let reply = envelope(&get(&upstream.url).await, ErrorPolicy::default());
    assert_eq!(reply.text, r#"{"success":true,"data":{"media_type":"image/gif","bytes":6}}"#);
    assert_eq!(reply.blocks, [json!({"type": "image", "data": "R0lGODlh", "mimeType": "image/gif"})]);
}

#[tokio::test]
async fn a_maintenance_page_is_not_an_answer() {
    let page = "<!doctype html><title>We'll be back</title><p>Maintenance until 9</p>";
    let upstream = Upstream::fixed(200, &[("content-type", "text/html")], page).await;
    let outcome = get(&upstream.url).await;
    assert!(envelope(&outcome, ErrorPolicy::default()).is_error);
    let error = outcome.unwrap_err();
    assert!(error.message.contains("HTML page ('We'll be back')"), "{}", error.message);
    assert_eq!(error.details["upstream"]["body"], "We'll be back Maintenance until 9");
}

#[tokio::test]
async fn invalid_json_is_text_with_a_warning() {
    let upstream = Upstream::fixed(200, &[("content-type", "application/json")], "oops {").await;
    let answer = get(&upstream.url).await.unwrap();
    assert_eq!(answer.warnings[0].code, "UPSTREAM_NOT_JSON");
    assert_eq!(answer.data.into_value(), "oops {");
}

#[tokio::test]
async fn a_head_answers_with_its_headers() {
    let upstream =
        Upstream::fixed(200, &[("etag", "\"7\""), ("set-cookie", "a=b"), ("content-type", "x/y")], "").await;
    let client = client(&target(&upstream.url), &Auth::None);
    let answer = call(&client, &operation("HEAD", "/", vec![]), json!({})).await.unwrap();
    let data = answer.data.into_value();
    assert_eq!(data["status"], 200);
    assert_eq!(data["headers"]["etag"], "\"7\"");
    assert_eq!(data["headers"]["content-type"], "x/y");
    assert_eq!(data["headers"].get("set-cookie"), None);
}

#[tokio::test]
async fn every_status_maps_to_the_code_of_the_protocol() {
    for (status, code, is_error) in [
        (400, Code::InvalidType, false),
        (422, Code::InvalidType, false),
        (401, Code::PermissionDenied, false),
        (403, Code::PermissionDenied, false),
        (404, Code::NotFoundResource, false),
        (410, Code::NotFoundResource, false),
        (409, Code::ConflictExists, false),
        (412, Code::ConflictVersion, false),
        (429, Code::RateLimitExceeded, false),
        (500, Code::Internal, true),
        (502, Code::Internal, true),
        (503, Code::Internal, true),
        (504, Code::Internal, true),
    ] {
        let body = r#"{"message":"Nothing of this name","code":17}"#;
        let upstream =
            Upstream::start(move |_, _| answer(status, &[("content-type", "application/json")], body)).await;
        let outcome = get(&upstream.url).await;
        let reply = envelope(&outcome, ErrorPolicy::default());
        let error = outcome.unwrap_err();
        assert_eq!((error.code, reply.is_error), (code, is_error), "{status}");
        let expected = json!({"status": status, "body": {"message": "Nothing of this name", "code": 17}});
        assert_eq!(error.details["upstream"], expected);
        assert!(
            error.message.starts_with(&format!("The API answered {status}: Nothing of this name; ")),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_value_that_the_upstream_rejects_is_an_invalid_value() {
    let upstream = Upstream::fixed(
        422,
        &[("content-type", "application/json")],
        r#"{"detail":"state: must be one of a, b"}"#,
    );
    let error = get(&upstream.await.url).await.unwrap_err();
    assert_eq!(error.code, Code::InvalidValue);
    assert_eq!(
        error.message,
        "The API answered 422: state: must be one of a, b; correct the value and call again."
    );
}

#[tokio::test]
async fn a_rate_limit_says_when_to_retry() {
    let upstream = Upstream::fixed(429, &[("retry-after", "3600")], "slow down").await;
    let error = get(&upstream.url).await.unwrap_err();
    assert_eq!(error.code, Code::RateLimitExceeded);
    assert_eq!(error.details["retry_after_seconds"], 3600);
    assert_eq!(error.details["upstream"]["body"], "slow down");
    assert_eq!(upstream.seen().len(), 1, "an hour is longer than the call may take");
}

#[tokio::test]
async fn not_modified_is_not_a_failure() {
    let upstream = Upstream::fixed(304, &[], "").await;
    let answer = get(&upstream.url).await.unwrap();
    assert_eq!(answer.warnings[0].code, "NOT_MODIFIED");
    assert_eq!(answer.data.into_value(), Value::Null);
}
