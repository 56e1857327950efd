//! Redirects between two upstreams: different ports are different origins.

use super::fixture::{operation, param};
use super::upstream::{Upstream, answer, json};
use super::{TOKEN, bearer, call, client, target};
use mcpaql_core::adapter::{Auth, KeyLocation};
use mcpaql_core::error::Code;
use mcpaql_core::operation::ParamLocation;
use serde_json::json;

/// Redirects every request to `to`.
async fn redirecting(status: u16, to: String) -> Upstream {
    Upstream::start(move |_, _| answer(status, &[("location", &to)], "")).await
}

/// Redirects `/start` to `/end`.
async fn turning(status: u16) -> Upstream {
    Upstream::start(move |_, seen| match seen.uri.split('?').next() {
        Some("/start") => answer(status, &[("location", "/end")], ""),
        _ => json(r#"{"end":true}"#),
    })
    .await
}

#[tokio::test]
async fn a_read_is_followed_on_its_origin_with_its_credentials() {
    for status in [301, 302, 303, 307, 308] {
        let upstream = turning(status).await;
        let mut target = target(&upstream.url);
        target.headers.insert("X-Extra".into(), "${env:API_TOKEN}".into());
        let answer =
            call(&client(&target, &bearer()), &operation("GET", "/start", vec![]), json!({})).await.unwrap();
        assert_eq!(answer.data.into_value(), json!({"end": true}));
        let seen = upstream.seen();
        assert_eq!(seen[1].uri, "/end");
        assert_eq!(seen[1].header("authorization"), Some("Bearer tok_5ecret/+value"));
        assert_eq!(seen[1].header("x-extra"), Some(TOKEN));
    }
}

#[tokio::test]
async fn a_key_in_the_query_is_sent_once() {
    let upstream = turning(302).await;
    let auth = Auth::ApiKey {
        key_env: "API_TOKEN".into(),
        location: KeyLocation::Query("key".into()),
        prefix: String::new(),
    };
    call(&client(&target(&upstream.url), &auth), &operation("GET", "/start", vec![]), json!({}))
        .await
        .unwrap();
    assert_eq!(upstream.seen()[1].uri, "/end?key=tok_5ecret%2F%2Bvalue");
}

#[tokio::test]
async fn another_origin_gets_no_credentials_and_no_headers_of_the_call() {
    let key = Auth::ApiKey {
        key_env: "API_TOKEN".into(),
        location: KeyLocation::Query("key".into()),
        prefix: String::new(),
    };
    for auth in [bearer(), key] {
        let other = Upstream::fixed(200, &[("content-type", "text/plain")], "file").await;
        let upstream = redirecting(302, format!("{}/file", other.url)).await;
        let mut target = target(&upstream.url);
        target.headers.insert("X-Extra".into(), "${env:API_TOKEN}".into());
        let operation = operation("GET", "/start", vec![param("X-Session", ParamLocation::Header)]);
        let answer = call(&client(&target, &auth), &operation, json!({"X-Session": "mine"})).await.unwrap();
        assert_eq!(answer.data.into_value(), "file");
        let seen = other.only();
        assert_eq!(seen.uri, "/file");
        for name in ["authorization", "x-extra", "x-session", "cookie", "referer"] {
            assert_eq!(seen.header(name), None, "{name}");
        }
    }
}

#[tokio::test]
async fn a_location_with_the_key_at_another_origin_is_not_followed() {
    let other = Upstream::fixed(200, &[], "").await;
    let upstream = redirecting(302, format!("{}/?token=tok_5ecret%2F%2Bvalue", other.url)).await;
    let client = client(&target(&upstream.url), &bearer());
    let error = call(&client, &operation("GET", "/", vec![]), json!({})).await.unwrap_err();
    assert_eq!(error.code, Code::Internal);
    assert!(!format!("{error:?}").contains("tok_5ecret"));
    assert!(other.seen().is_empty());
}

#[tokio::test]
async fn a_write_is_repeated_only_for_307_and_308_at_the_same_origin() {
    let post = operation("POST", "/start", vec![param("a", ParamLocation::Body)]);
    for status in [307, 308] {
        let upstream = turning(status).await;
        call(&client(&target(&upstream.url), &bearer()), &post, json!({"a": 1})).await.unwrap();
        let seen = &upstream.seen()[1];
        assert_eq!((seen.method.as_str(), seen.body.as_str()), ("POST", r#"{"a":1}"#));

        let other = Upstream::fixed(200, &[], "").await;
        let upstream = redirecting(status, other.url.clone()).await;
        assert!(call(&client(&target(&upstream.url), &bearer()), &post, json!({"a": 1})).await.is_err());
        assert!(other.seen().is_empty());
    }
    for status in [301, 302] {
        let upstream = turning(status).await;
        let error =
            call(&client(&target(&upstream.url), &bearer()), &post, json!({"a": 1})).await.unwrap_err();
        assert_eq!((error.code, upstream.seen().len()), (Code::Internal, 1));
    }
    let upstream = turning(303).await;
    call(&client(&target(&upstream.url), &bearer()), &post, json!({"a": 1})).await.unwrap();
    let seen = &upstream.seen()[1];
    assert_eq!((seen.method.as_str(), seen.body.as_str(), seen.header("content-type")), ("GET", "", None));
}

#[tokio::test]
async fn a_redirect_loop_ends_after_five_redirects() {
    let upstream = redirecting(302, "/again".into()).await;
    let error = super::get(&upstream.url).await.unwrap_err();
    assert_eq!((error.code, upstream.seen().len()), (Code::Internal, 6));
}

#[tokio::test]
async fn invalid_locations_are_refused() {
    for to in ["", "http://", "file:///etc/passwd", "javascript:alert(1)", "http://[::1", "http://192.0.2.1/"]
    {
        let upstream = Upstream::start(move |n, _| match (n, to) {
            (0, "") => answer(302, &[], ""),
            _ => answer(302, &[("location", to)], ""),
        })
        .await;
        let error = super::get(&upstream.url).await.unwrap_err();
        assert_eq!((error.code, upstream.seen().len()), (Code::Internal, 1), "{to}");
    }
}
