//! Addresses of operations and from the environment, and the credentials that are sent there.

use super::fixture::{http, operation};
use super::upstream::{Upstream, answer, json};
use super::{TOKEN, bearer, call, client, env, target};
use mcpaql_core::adapter::Auth;
use mcpaql_core::error::Code;
use mcpaql_runtime::target::http::{HttpClient, HttpSetupError};
use serde_json::json;

#[tokio::test]
async fn an_operation_may_have_another_address() {
    let (home, away) = (Upstream::start(|_, _| json("{}")).await, Upstream::start(|_, _| json("{}")).await);
    let client = client(&target(&home.url), &bearer());
    let mut upload = operation("GET", "/up", vec![]);
    http(&mut upload).base_url = Some(format!("{}/v2", away.url));
    call(&client, &upload, json!({})).await.unwrap();
    call(&client, &operation("GET", "/home", vec![]), json!({})).await.unwrap();
    assert_eq!(away.only().uri, "/v2/up");
    assert_eq!(away.only().header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
    assert_eq!(home.only().uri, "/home");
}

#[tokio::test]
async fn a_redirect_back_to_the_target_carries_no_credentials() {
    let home = Upstream::start(|_, _| json("{}")).await;
    let to = format!("{}/home", home.url);
    let away = Upstream::start(move |_, _| answer(302, &[("location", &to)], "")).await;
    let client = client(&target(&home.url), &bearer());
    let mut upload = operation("GET", "/up", vec![]);
    http(&mut upload).base_url = Some(away.url.clone());
    call(&client, &upload, json!({})).await.unwrap();
    assert_eq!(home.only().header("authorization"), None);
}

#[tokio::test]
async fn an_operation_s_own_address_is_checked_like_the_target_s() {
    let home = Upstream::start(|_, _| json("{}")).await;
    let client = client(&target(&home.url), &bearer());
    for bad in [
        "http://other.example",
        "ftp://x",
        "https://user:word@x",
        "https://x?y=1",
        "x",
        "https://${env:NOT_SET}",
    ] {
        let mut upload = operation("GET", "/up", vec![]);
        http(&mut upload).base_url = Some(bad.into());
        let error = call(&client, &upload, json!({})).await.unwrap_err();
        assert_eq!(error.code, Code::Internal, "{bad}");
        assert!(!error.message.contains("word"), "{error}");
    }
    assert!(home.seen().is_empty());
}

#[tokio::test]
async fn an_operation_may_have_no_credentials_or_its_own() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let client = client(&target(&upstream.url), &bearer());
    let mut open = operation("GET", "/open", vec![]);
    http(&mut open).auth = Some(Auth::None);
    call(&client, &open, json!({})).await.unwrap();
    let mut own = operation("GET", "/own", vec![]);
    let user = Auth::Basic { username_env: "API_TOKEN".into(), password_env: "API_TOKEN".into() };
    http(&mut own).auth = Some(user);
    call(&client, &own, json!({})).await.unwrap();
    let sent: Vec<_> =
        upstream.seen().iter().map(|seen| seen.header("authorization").map(str::to_owned)).collect();
    assert_eq!(sent[0], None);
    assert!(sent[1].as_deref().unwrap().starts_with("Basic "));
}

#[tokio::test]
async fn the_address_may_come_from_the_environment() {
    let upstream = Upstream::start(|_, _| json("{}")).await;
    let url = upstream.url.clone();
    let lookup = move |name: &str| (name == "API_URL").then(|| format!("{url}/v1\n"));
    let client = HttpClient::new(&target("${env:API_URL}"), &Auth::None, lookup).unwrap();
    call(&client, &operation("GET", "/a", vec![]), json!({})).await.unwrap();
    assert_eq!(upstream.only().uri, "/v1/a");

    let unset =
        HttpClient::new(&target("${env:API_URL}"), &Auth::None, env).expect("the server still starts");
    let error = call(&unset, &operation("GET", "/a", vec![]), json!({})).await.unwrap_err();
    assert!(error.message.contains("environment variable API_URL"), "{error}");
    let wrong = HttpClient::new(&target("${env:API_URL}"), &Auth::None, |_| Some("api.example".into()));
    assert!(matches!(wrong, Err(HttpSetupError::BaseUrl { .. })));
}
