//! Credentials: where they are sent, and where they never appear.

use super::fixture::{operation, param};
use super::upstream::{Upstream, answer, json};
use super::{TOKEN, bearer, call, client, env, target};
use mcpaql_core::adapter::{Auth, KeyLocation};
use mcpaql_core::error::Code;
use mcpaql_core::operation::ParamLocation;
use mcpaql_core::response::envelope;
use mcpaql_runtime::target::http::{HttpClient, HttpSetupError};
use serde_json::json;
use std::sync::{Arc, Mutex};

fn api_key(place: KeyLocation, prefix: &str) -> Auth {
    Auth::ApiKey { key_env: "API_TOKEN".into(), location: place, prefix: prefix.into() }
}

#[tokio::test]
async fn every_kind_of_credentials_goes_where_it_belongs() {
    for (auth, header, expected) in [
        (bearer(), "authorization", "Bearer tok_5ecret/+value"),
        (api_key(KeyLocation::Header("X-Key".into()), ""), "x-key", "tok_5ecret/+value"),
        (api_key(KeyLocation::Header("X-Key".into()), "Token "), "x-key", "Token tok_5ecret/+value"),
        (
            Auth::Basic { username_env: "API_TOKEN".into(), password_env: "API_TOKEN".into() },
            "authorization",
            "Basic dG9rXzVlY3JldC8rdmFsdWU6dG9rXzVlY3JldC8rdmFsdWU=",
        ),
    ] {
        let upstream = Upstream::start(|_, _| json("{}")).await;
        let client = client(&target(&upstream.url), &auth);
        call(&client, &operation("GET", "/", vec![]), json!({})).await.unwrap();
        assert_eq!(upstream.only().header(header), Some(expected));
    }
}

#[tokio::test]
async fn a_key_in_the_query_is_added_to_the_parameters() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let client = client(&target(&upstream.url), &api_key(KeyLocation::Query("key".into()), ""));
    let operation = operation("GET", "/a", vec![param("q", ParamLocation::Query)]);
    call(&client, &operation, json!({})).await.unwrap();
    call(&client, &operation, json!({"q": "x"})).await.unwrap();
    let uris: Vec<_> = upstream.seen().into_iter().map(|seen| seen.uri).collect();
    assert_eq!(uris, ["/a?key=tok_5ecret%2F%2Bvalue", "/a?q=x&key=tok_5ecret%2F%2Bvalue"]);
}

#[tokio::test]
async fn headers_of_the_target_are_filled_from_the_environment() {
    let upstream =
        Upstream::start(|_, seen| answer(200, &[], seen.header("x-org").unwrap().to_owned())).await;
    let mut target = target(&upstream.url);
    target.headers.insert("X-Org".into(), "org ${env:API_TOKEN}!".into());
    let answer =
        call(&client(&target, &Auth::None), &operation("GET", "/", vec![]), json!({})).await.unwrap();
    assert_eq!(upstream.only().header("x-org"), Some("org tok_5ecret/+value!"));
    assert_eq!(answer.data.into_value(), "org [redacted]!");
}

#[tokio::test]
async fn a_rotated_variable_works_without_a_restart() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let value = Arc::new(Mutex::new("first-token"));
    let current = Arc::clone(&value);
    let client = HttpClient::new(&target(&upstream.url), &bearer(), move |_| {
        Some((*current.lock().unwrap()).to_owned())
    })
    .unwrap();
    let operation = operation("GET", "/", vec![]);
    call(&client, &operation, json!({})).await.unwrap();
    *value.lock().unwrap() = "second-token";
    call(&client, &operation, json!({})).await.unwrap();
    let sent: Vec<_> =
        upstream.seen().iter().map(|seen| seen.header("authorization").unwrap().to_owned()).collect();
    assert_eq!(sent, ["Bearer first-token", "Bearer second-token"]);
}

#[tokio::test]
async fn a_missing_variable_fails_the_call_and_is_named() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let client =
        HttpClient::new(&target(&upstream.url), &bearer(), |_| None).expect("the server still starts");
    let error = call(&client, &operation("GET", "/", vec![]), json!({})).await.unwrap_err();
    assert_eq!(error.code, Code::PermissionDenied);
    assert!(error.message.contains("environment variable API_TOKEN"), "{}", error.message);
    assert!(upstream.seen().is_empty(), "nothing is sent without credentials");
}

/// Repeats the whole request in the body and in a header.
async fn echo(status: u16) -> Upstream {
    Upstream::start(move |_, seen| {
        let got = format!("{} {}", seen.uri, seen.header("authorization").unwrap_or_default());
        let body = json!({"message": format!("bad {got}"), "got": got, "sent": seen.body}).to_string();
        answer(status, &[("content-type", "application/json"), ("etag", &got)], body)
    })
    .await
}

fn hides_the_token(text: &str) {
    for spelling in [TOKEN, "tok_5ecret%2F%2Bvalue", "dG9rXzVlY3JldC8rdmFsdWU", "tok_5ecret"] {
        assert!(!text.contains(spelling), "{spelling} in {text}");
    }
    assert!(text.contains("[redacted]"), "{text}");
}

#[tokio::test]
async fn an_upstream_that_echoes_the_token_does_not_show_it() {
    let kinds = [
        bearer(),
        api_key(KeyLocation::Query("key".into()), ""),
        Auth::Basic { username_env: "API_TOKEN".into(), password_env: "API_TOKEN".into() },
    ];
    for auth in kinds {
        for status in [200, 400, 401, 500] {
            let upstream = echo(status).await;
            let client = client(&target(&upstream.url), &auth);
            let outcome = call(&client, &operation("GET", "/a", vec![]), json!({})).await;
            hides_the_token(&envelope(&outcome, Default::default()).text);
            hides_the_token(&format!("{outcome:?}"));
        }
        let upstream = echo(200).await;
        let client = client(&target(&upstream.url), &auth);
        let outcome = call(&client, &operation("HEAD", "/a", vec![]), json!({})).await;
        hides_the_token(&envelope(&outcome, Default::default()).text);
    }
}

#[tokio::test]
async fn a_sensitive_parameter_shows_in_no_error() {
    let upstream = echo(422).await;
    let client = client(&target(&upstream.url), &Auth::None);
    let params = ["password", "cvv", "path"].map(|name| {
        let place = if name == "path" { ParamLocation::Path } else { ParamLocation::Body };
        mcpaql_core::operation::Param { sensitive: true, ..param(name, place) }
    });
    let args = json!({"password": "correct \"horse\"", "cvv": 123, "path": "my file"});
    let outcome = call(&client, &operation("POST", "/x/{path}", params.to_vec()), args).await;
    let text = envelope(&outcome, Default::default()).text;
    for value in ["horse", "123", "my%20file", "my file"] {
        assert!(!text.contains(value), "{value} in {text}");
    }
}

/// Records all logs of the test binary. There is one for all tests, because tracing caches interest per process.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn the_log_names_the_template_and_the_status_but_no_value() {
    let log = Log::default();
    let writer = log.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::TRACE)
        .with_writer(move || writer.clone())
        .with_ansi(false)
        .init();
    for status in [200, 422] {
        let upstream = echo(status).await;
        let client =
            HttpClient::new(&target(&upstream.url), &bearer(), |_| Some("unlogged-token".into())).unwrap();
        let params = vec![param("owner", ParamLocation::Path), param("q", ParamLocation::Query)];
        let operation = operation("GET", "/logged/{owner}", params);
        let _ = call(&client, &operation, json!({"owner": "unlogged-owner", "q": "unlogged-query"})).await;
    }
    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let lines: Vec<_> = text.lines().filter(|line| line.contains("/logged/{owner}")).collect();
    assert_eq!(lines.len(), 2, "{text}");
    for (line, status) in lines.iter().zip(["status=200", "status=422"]) {
        for expected in ["method=\"GET\"", status, "elapsed="] {
            assert!(line.contains(expected), "{expected} in {line}");
        }
    }
    assert!(!text.contains("unlogged"), "{text}");
}

#[test]
fn debug_output_contains_no_secrets() {
    let client = client(&target("http://127.0.0.1:9"), &bearer());
    assert!(!format!("{client:?}").contains(TOKEN));
}

#[test]
fn invalid_targets_are_errors_with_a_reason() {
    let setup = |change: &dyn Fn(&mut mcpaql_core::adapter::HttpTarget)| {
        let mut target = target("https://api.example");
        change(&mut target);
        HttpClient::new(&target, &Auth::None, env).map(drop)
    };
    for url in ["api.example", "ftp://x", "https://user:word@x", "https://x?a=1", "https://x#a", ""] {
        let error = setup(&|target| target.base_url = url.into()).unwrap_err();
        assert!(matches!(error, HttpSetupError::BaseUrl { .. }), "{url}: {error}");
        assert!(!error.to_string().contains("word"), "{error}");
    }
    for url in ["http://api.example", "http://10.0.0.1", "http://localhost.evil.example", "http://[fe80::1]"]
    {
        assert!(
            matches!(setup(&|target| target.base_url = url.into()), Err(HttpSetupError::PlainHttp)),
            "{url}"
        );
        let allowed = setup(&|target| {
            target.base_url = url.into();
            target.allow_http = true;
        });
        assert!(allowed.is_ok());
    }
    for url in ["http://localhost:1", "http://127.8.9.1", "http://[::1]:80", "http://api.localhost"] {
        assert!(setup(&|target| target.base_url = url.into()).is_ok(), "{url}");
    }
    for (name, value) in
        [("Host", "x"), ("Content-Length", "0"), ("a b", "x"), ("X", "a\nb"), ("X", "${env:A")]
    {
        let error = setup(&|target| drop(target.headers.insert(name.into(), value.into()))).unwrap_err();
        assert!(matches!(error, HttpSetupError::Header { .. }), "{name}: {error}");
    }
}
