//! OAuth 2.0 with a token endpoint and an API in one upstream.

use super::fixture::operation;
use super::upstream::{Seen, Upstream, answer};
use super::{call, target};
use axum::response::Response;
use mcpaql_core::adapter::{Auth, OAuth2};
use mcpaql_core::error::Code;
use mcpaql_core::response::envelope;
use mcpaql_runtime::target::http::HttpClient;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const SECRET: &str = "cl13nt-s3cret";

fn oauth(url: &str, refresh: bool) -> Auth {
    Auth::OAuth2(OAuth2 {
        token_url: format!("{url}/token"),
        client_id_env: "ID".into(),
        client_secret_env: Some("SECRET".into()),
        refresh_token_env: refresh.then(|| "REFRESH".into()),
        scopes: vec!["read".into(), "write".into()],
    })
}

fn env(name: &str) -> Option<String> {
    match name {
        "ID" => Some("my-client".into()),
        "SECRET" => Some(SECRET.into()),
        "REFRESH" => Some("refresh-0".into()),
        _ => None,
    }
}

fn say(status: u16, body: Value) -> Response {
    answer(status, &[("content-type", "application/json")], body.to_string())
}

/// An API that accepts only the newest token, and an endpoint that issues `token-1`, `token-2` and so on.
async fn service(expires_in: Value) -> Upstream {
    let issued = Arc::new(AtomicUsize::new(0));
    Upstream::start(move |_, seen| {
        if seen.uri == "/token" {
            let n = issued.fetch_add(1, Ordering::SeqCst) + 1;
            return say(200, json!({"access_token": format!("token-{n}"), "token_type": "bearer", "expires_in": expires_in}));
        }
        let wanted = format!("Bearer token-{}", issued.load(Ordering::SeqCst));
        let status = if seen.header("authorization") == Some(&wanted) { 200 } else { 401 };
        say(status, json!({"got": seen.header("authorization")}))
    })
    .await
}

fn token_requests(upstream: &Upstream) -> Vec<Seen> {
    upstream.seen().into_iter().filter(|seen| seen.uri == "/token").collect()
}

fn client(upstream: &Upstream, refresh: bool) -> HttpClient {
    HttpClient::new(&target(&upstream.url), &oauth(&upstream.url, refresh), env).unwrap()
}

async fn get(client: &HttpClient) -> Result<Value, mcpaql_core::error::OpError> {
    let answer = call(client, &operation("GET", "/thing", vec![]), json!({})).await?;
    Ok(answer.data.into_value())
}

#[tokio::test]
async fn a_token_is_fetched_once_sent_and_hidden() {
    let upstream = service(json!(3600)).await;
    let client = client(&upstream, false);
    for _ in 0..3 {
        assert_eq!(get(&client).await.unwrap(), json!({"got": "Bearer [redacted]"}));
    }
    let [visit] = <[Seen; 1]>::try_from(token_requests(&upstream)).unwrap();
    assert_eq!(visit.body, "grant_type=client_credentials&scope=read+write");
    assert_eq!(visit.header("content-type"), Some("application/x-www-form-urlencoded"));
    // my-client:cl13nt-s3cret
    assert_eq!(visit.header("authorization"), Some("Basic bXktY2xpZW50OmNsMTNudC1zM2NyZXQ="));
    assert_eq!(visit.header("accept"), Some("application/json"));
    assert!(!format!("{client:?}").contains("token-1"));
}

#[tokio::test]
async fn a_token_that_expires_immediately_is_fetched_for_every_call() {
    let upstream = service(json!("0")).await;
    let client = client(&upstream, false);
    for _ in 0..2 {
        get(&client).await.unwrap();
    }
    assert_eq!(token_requests(&upstream).len(), 2);
}

#[tokio::test]
async fn calls_that_need_a_token_share_one_fetch() {
    let upstream = service(json!(3600)).await;
    let client = client(&upstream, false);
    let calls = (0..20).map(|_| get(&client));
    for outcome in futures_util::future::join_all(calls).await {
        outcome.unwrap();
    }
    assert_eq!(token_requests(&upstream).len(), 1);
}

#[tokio::test]
async fn calls_that_need_a_token_share_its_failure_too() {
    let upstream = Upstream::start(|_, _| say(503, json!({}))).await;
    let client = client(&upstream, false);
    let calls = (0..20).map(|_| get(&client));
    for outcome in futures_util::future::join_all(calls).await {
        assert_eq!(outcome.unwrap_err().code, Code::TransportConnection);
    }
    assert_eq!(upstream.seen().len(), 1);
    get(&client).await.unwrap_err();
    assert_eq!(upstream.seen().len(), 2, "the next call retries");
}

#[tokio::test]
async fn a_refused_token_is_renewed_once_even_for_a_write() {
    let upstream = Upstream::start(|before, seen| match (seen.uri.as_str(), before) {
        ("/token", before) => {
            say(200, json!({"access_token": format!("token-{before}"), "expires_in": 3600}))
        }
        (_, 1) => say(401, json!({})),
        _ => say(200, json!({})),
    })
    .await;
    let client = client(&upstream, false);
    call(&client, &operation("POST", "/thing", vec![]), json!({})).await.unwrap();
    let sent: Vec<_> = upstream
        .seen()
        .into_iter()
        .filter(|seen| seen.uri == "/thing")
        .map(|seen| seen.header("authorization").unwrap().to_owned())
        .collect();
    assert_eq!(sent, ["Bearer token-0", "Bearer token-2"]);
}

#[tokio::test]
async fn an_api_that_refuses_every_token_is_asked_twice() {
    let upstream = Upstream::start(|before, seen| match seen.uri.as_str() {
        "/token" => say(200, json!({"access_token": format!("token-{before}")})),
        _ => say(401, json!({"message": seen.header("authorization")})),
    })
    .await;
    let client = client(&upstream, false);
    let error = get(&client).await.unwrap_err();
    assert_eq!(error.code, Code::PermissionDenied);
    let uris: Vec<_> = upstream.seen().into_iter().map(|seen| seen.uri).collect();
    assert_eq!(uris, ["/token", "/thing", "/token", "/thing"]);
    let text = envelope(&Err(error), Default::default()).text;
    assert!(!text.contains("token-"), "both tokens are hidden: {text}");
}

#[tokio::test]
async fn a_plain_token_that_is_refused_is_not_sent_again() {
    let upstream = Upstream::fixed(401, &[], "no").await;
    super::call(
        &super::client(&target(&upstream.url), &super::bearer()),
        &operation("GET", "/", vec![]),
        json!({}),
    )
    .await
    .unwrap_err();
    assert_eq!(upstream.seen().len(), 1);
}

#[tokio::test]
async fn a_service_that_wants_the_secret_in_the_body_gets_it_there() {
    for (status, body) in [
        (401, json!({"error": "invalid_client"})),
        (400, json!({"error": "invalid_client"})),
        (401, json!(null)),
    ] {
        let refusal = body.clone();
        let upstream =
            Upstream::start(move |_, seen| match (seen.uri.as_str(), seen.header("authorization")) {
                ("/token", Some(_)) => say(status, refusal.clone()),
                ("/token", None) => say(200, json!({"access_token": "t0ken", "expires_in": 0})),
                _ => say(200, json!({})),
            })
            .await;
        let client = client(&upstream, false);
        get(&client).await.unwrap();
        get(&client).await.unwrap();
        let token_requests = token_requests(&upstream);
        assert_eq!(token_requests.len(), 3, "the method that works is remembered");
        let expected = format!(
            "grant_type=client_credentials&scope=read+write&client_id=my-client&client_secret={SECRET}"
        );
        assert_eq!(
            (token_requests[1].body.as_str(), token_requests[2].body.as_str()),
            (expected.as_str(), expected.as_str())
        );
    }
}

#[tokio::test]
async fn a_refresh_token_that_is_replaced_is_kept() {
    let upstream = Upstream::start(|before, seen| match seen.uri.as_str() {
        "/token" => say(200, json!({"access_token": "t0ken", "expires_in": 0, "refresh_token": format!("refresh-{}", before + 1)})),
        _ => say(200, json!({})),
    })
    .await;
    let client = client(&upstream, true);
    for _ in 0..3 {
        get(&client).await.unwrap();
    }
    let sent: Vec<_> = token_requests(&upstream)
        .into_iter()
        .map(|seen| seen.body.split('&').find(|pair| pair.starts_with("refresh_token=")).unwrap().to_owned())
        .collect();
    assert_eq!(sent, ["refresh_token=refresh-0", "refresh_token=refresh-1", "refresh_token=refresh-3"]);
}

#[tokio::test]
async fn a_cancelled_call_does_not_lose_the_token_it_asked_for() {
    let (release, gate) = std::sync::mpsc::channel::<()>();
    let gate = Arc::new(std::sync::Mutex::new(gate));
    let upstream = Upstream::start(move |_, seen| {
        if seen.uri == "/token" {
            tokio::task::block_in_place(|| gate.lock().unwrap().recv().ok());
            return say(200, json!({"access_token": "t0ken", "expires_in": 3600}));
        }
        say(200, json!({}))
    });
    // The endpoint blocks a thread, so it needs its own runtime.
    let (url, seen) = {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || {
            let runtime =
                tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async move {
                let upstream = Arc::new(upstream.await);
                let _ = sender.send((upstream.url.clone(), Arc::clone(&upstream)));
                std::future::pending::<()>().await;
            });
        });
        receiver.await.unwrap()
    };
    let client = HttpClient::new(&target(&url), &oauth(&url, true), env).unwrap();
    {
        // Polled until the token endpoint gets the request, then dropped, which cancels the call.
        let mut call = std::pin::pin!(get(&client));
        assert!(futures_util::poll!(&mut call).is_pending());
    }
    release.send(()).unwrap();
    get(&client).await.unwrap();
    assert_eq!(token_requests(&seen).len(), 1, "the token of the cancelled call is used");
}

#[tokio::test]
async fn a_refusal_names_the_variables_and_shows_no_secret() {
    for (status, body, says) in [
        (
            400,
            json!({"error": "invalid_grant", "error_description": format!("bad {SECRET}")}),
            "refused the credentials (invalid_grant)",
        ),
        (401, json!({"error": format!("nope {SECRET}")}), "with status 401"),
        (302, json!({}), "with status 302"),
        (200, json!({"token": "x"}), "answered without a token"),
        (200, json!({"access_token": "x".repeat(100_000)}), "answered without a token"),
    ] {
        let upstream = Upstream::start(move |_, _| say(status, body.clone())).await;
        let error = get(&client(&upstream, true)).await.unwrap_err();
        assert_eq!(error.code, Code::PermissionDenied);
        assert!(error.message.contains(says), "{}", error.message);
        assert!(error.message.contains("ID, SECRET, REFRESH"), "{}", error.message);
        assert!(!format!("{error:?}").contains(SECRET), "{error:?}");
    }
    let error =
        get(&HttpClient::new(&target("http://127.0.0.1:9"), &oauth("http://127.0.0.1:9", false), env)
            .unwrap())
        .await
        .unwrap_err();
    assert_eq!(error.code, Code::TransportConnection);
    let unset = HttpClient::new(&target("http://127.0.0.1:9"), &oauth("http://127.0.0.1:9", false), |name| {
        (name == "ID").then(|| "x".into())
    });
    let error = get(&unset.unwrap()).await.unwrap_err();
    assert!(error.message.contains("environment variable SECRET"), "{}", error.message);
}

#[tokio::test]
async fn a_changed_variable_makes_a_new_token() {
    let upstream = service(json!(3600)).await;
    let secret = Arc::new(AtomicUsize::new(1));
    let current = Arc::clone(&secret);
    let lookup = move |name: &str| match name {
        "SECRET" => Some(format!("secret-{}", current.load(Ordering::SeqCst))),
        name => env(name),
    };
    let client = HttpClient::new(&target(&upstream.url), &oauth(&upstream.url, false), lookup).unwrap();
    get(&client).await.unwrap();
    secret.store(2, Ordering::SeqCst);
    get(&client).await.unwrap();
    assert_eq!(token_requests(&upstream).len(), 2);
}

#[tokio::test]
async fn a_token_endpoint_without_tls_must_be_on_this_machine() {
    let upstream = service(json!(3600)).await;
    let auth = Auth::OAuth2(OAuth2 {
        token_url: "http://login.example/token".into(),
        client_id_env: "ID".into(),
        client_secret_env: Some("SECRET".into()),
        refresh_token_env: None,
        scopes: vec![],
    });
    let client = HttpClient::new(&target(&upstream.url), &auth, env).unwrap();
    assert_eq!(get(&client).await.unwrap_err().code, Code::Internal);
    assert!(upstream.seen().is_empty());
}
