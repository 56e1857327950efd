//! HTTP, request by request.

use crate::fixture::{Fixture, READS, call, crypto, http, in_time, initialize, loopback, modern, tool};
use mcpaql_core::catalog::Tool;
use mcpaql_core::response::ToolReply;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::mcp::ServerLimits;
use mcpaql_runtime::secret::Secret;
use mcpaql_runtime::serve::{HttpLimits, HttpOptions, ServeError, serve_http};
use mcpaql_runtime::service::Service;
use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde_json::{Map, Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn request(addr: SocketAddr, method: Method, path: &str) -> RequestBuilder {
    crypto();
    reqwest::Client::new().request(method, format!("http://{addr}{path}"))
}

pub(crate) fn post(addr: SocketAddr, message: &Value) -> RequestBuilder {
    request(addr, Method::POST, "/mcp")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .body(message.to_string())
}

pub(crate) fn post_2026(addr: SocketAddr, message: &Value) -> RequestBuilder {
    let message = modern(message.clone());
    let request = post(addr, &message)
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", message["method"].as_str().unwrap());
    match message["params"]["name"].as_str() {
        Some(name) => request.header("mcp-name", name),
        None => request,
    }
}

pub(crate) async fn body(response: Response) -> Value {
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}

#[tokio::test]
async fn a_short_call_is_answered_in_json() {
    let (addr, _serving) = http(&Fixture::new(), loopback()).await;
    let echo = call(1, "echo", json!({"operation": "x"}));
    for request in [post(addr, &echo), post_2026(addr, &echo).header("mcp-param-operation", "x")] {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()["content-type"], "application/json");
        assert_eq!(body(response).await["result"]["content"][0]["text"], r#"{"operation":"x"}"#);
    }
}

#[tokio::test]
async fn a_header_that_contradicts_the_arguments_is_refused() {
    let (addr, _serving) = http(&Fixture::new(), loopback()).await;
    let echo = call(1, "echo", json!({"operation": "x"}));
    let response = post_2026(addr, &echo).header("mcp-param-operation", "y").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
    assert_eq!(body(response).await["error"]["code"], -32020);
}

#[tokio::test]
async fn a_malformed_call_has_invalid_parameters() {
    let (addr, _serving) = http(&Fixture::new(), loopback()).await;
    let malformed = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 7}});
    let answer = body(post(addr, &malformed).send().await.unwrap()).await;
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(1), &json!(-32602)), "{answer}");
}

#[tokio::test]
async fn unreadable_messages_are_answered_without_parser_messages() {
    let (addr, _serving) = http(&Fixture::new(), loopback()).await;
    let echo = call(1, "echo", json!({}));
    for (bytes, code, id) in [
        (r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"\ud800"}}"#, -32700, json!(4)),
        ("{bad", -32700, Value::Null),
        (r#"{"jsonrpc":"2.0","id":"a","method":5}"#, -32600, json!("a")),
    ] {
        for request in [post(addr, &echo), post_2026(addr, &echo)] {
            let response = request.body(bytes).send().await.unwrap();
            assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{bytes}");
            let answer = body(response).await;
            assert_eq!((&answer["error"]["code"], &answer["id"]), (&json!(code), &id), "{answer}");
            assert!(!answer.to_string().contains("column"), "{answer}");
        }
    }
    let other = request(addr, Method::POST, "/mcp")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "text/plain");
    assert_eq!(other.body("{bad").send().await.unwrap().status(), StatusCode::UNSUPPORTED_MEDIA_TYPE);
}

#[tokio::test]
async fn a_dropped_connection_stops_the_work() {
    let service = Fixture::new();
    let (addr, _serving) = http(&service, loopback()).await;
    let waiting = tokio::spawn(post_2026(addr, &call(1, "wait", json!({}))).send());
    service.wait_for_calls(1).await;
    waiting.abort();
    service.wait_for_drop().await;
}

#[tokio::test]
async fn a_client_of_the_older_revision_cancels_its_own_calls_and_no_others() {
    let service = Fixture::new();
    let (addr, _serving) = http(&service, loopback()).await;
    let begun = async || {
        let response = post(addr, &initialize()).send().await.unwrap();
        response.headers()["mcp-session-id"].to_str().unwrap().to_owned()
    };
    let (mine, theirs) = (begun().await, begun().await);
    let cancelled =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}});
    let [first, second] = [&mine, &theirs].map(|name| {
        tokio::spawn(post(addr, &call(1, "wait", json!({}))).header("mcp-session-id", name).send())
    });
    service.wait_for_calls(2).await;

    let evil =
        post(addr, &cancelled).header("mcp-session-id", &theirs).header("origin", "https://evil.example.com");
    assert_eq!(evil.send().await.unwrap().status(), StatusCode::FORBIDDEN);
    let response = post(addr, &cancelled).header("mcp-session-id", &mine).send().await.unwrap();
    assert_eq!(response.status(), StatusCode::ACCEPTED);
    service.wait_for_drop().await;
    assert!(body(first.await.unwrap().unwrap()).await["error"].is_object());

    service.gate.add_permits(1);
    assert_eq!(body(second.await.unwrap().unwrap()).await["result"]["isError"], false);
}

#[tokio::test]
async fn a_client_of_the_older_revision_gets_changes_on_a_standing_stream() {
    let service = Fixture::new();
    let (addr, serving) = http(&service, loopback()).await;
    let listen = || request(addr, Method::GET, "/mcp").header("accept", "text/event-stream");
    let evil = listen().header("origin", "https://evil.example.com").send().await.unwrap();
    assert_eq!(evil.status(), StatusCode::FORBIDDEN);
    let modern = listen().header("mcp-protocol-version", "2026-07-28").send().await.unwrap();
    assert_eq!(modern.status(), StatusCode::METHOD_NOT_ALLOWED);

    let mut stream = listen().send().await.unwrap();
    assert_eq!(stream.status(), StatusCode::OK);
    service.swap([]);
    let event = in_time(stream.chunk()).await.unwrap().unwrap();
    assert!(String::from_utf8_lossy(&event).contains("notifications/tools/list_changed"), "{event:?}");
    serving.shutdown.cancel();
    assert_eq!(in_time(stream.chunk()).await.unwrap(), None);
    serving.stopped().await.unwrap();
}

#[tokio::test]
async fn a_foreign_host_is_refused_and_a_configured_one_is_not() {
    let options = loopback().allow_host("api.example.com");
    let (addr, _serving) = http(&Fixture::new(), options).await;
    for (host, status) in [
        ("localhost:1234", StatusCode::OK),
        ("127.0.0.1", StatusCode::OK),
        ("[::1]:80", StatusCode::OK),
        ("api.example.com", StatusCode::OK),
        ("evil.example.com", StatusCode::FORBIDDEN),
        ("localhost.evil.example.com", StatusCode::FORBIDDEN),
    ] {
        let response = post(addr, &initialize()).header("host", host).send().await.unwrap();
        assert_eq!(response.status(), status, "{host}");
    }
}

#[tokio::test]
async fn every_host_is_allowed_if_configured() {
    let options = loopback().allow_host("*");
    let (addr, _serving) = http(&Fixture::new(), options).await;
    let response = post(addr, &initialize()).header("host", "anything.example.com").send().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_foreign_origin_is_refused_and_a_configured_one_is_not() {
    let options = loopback().allow_origin("https://app.example.com");
    let (addr, _serving) = http(&Fixture::new(), options).await;
    for (origin, status) in [
        ("http://localhost:5173", StatusCode::OK),
        ("https://127.0.0.1", StatusCode::OK),
        ("http://[::1]:8080", StatusCode::OK),
        ("https://app.example.com", StatusCode::OK),
        ("https://app.example.com:8443", StatusCode::FORBIDDEN),
        ("http://app.example.com", StatusCode::FORBIDDEN),
        ("https://evil.example.com", StatusCode::FORBIDDEN),
        ("null", StatusCode::FORBIDDEN),
        ("nonsense", StatusCode::FORBIDDEN),
    ] {
        let response = post(addr, &initialize()).header("origin", origin).send().await.unwrap();
        assert_eq!(response.status(), status, "{origin}");
    }
}

#[tokio::test]
async fn health_is_open_and_everything_else_needs_the_token() {
    let options = loopback().with_token(Secret::new("hunter2-hunter2-hunter2"));
    let (addr, _serving) = http(&Fixture::new(), options).await;

    let health = request(addr, Method::GET, "/healthz").send().await.unwrap();
    assert_eq!(health.status(), StatusCode::OK);
    assert_eq!(body(health).await["status"], "ok");

    let refused = post(addr, &initialize()).send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(refused.headers()["www-authenticate"], r#"Bearer realm="mcpaql""#);

    for header in [
        "Bearer hunter3-hunter2-hunter2",
        "Bearer ",
        "Basic hunter2-hunter2-hunter2",
        "hunter2-hunter2-hunter2",
    ] {
        let refused = post(addr, &initialize()).header("authorization", header).send().await.unwrap();
        assert_eq!(refused.status(), StatusCode::UNAUTHORIZED, "{header}");
        assert!(!refused.text().await.unwrap().contains("hunter2"));
    }
    let admitted = post(addr, &initialize()).header("authorization", "Bearer hunter2-hunter2-hunter2");
    let admitted = admitted.send().await.unwrap();
    assert_eq!(admitted.status(), StatusCode::OK);
}

#[tokio::test]
async fn a_body_over_one_mebibyte_is_refused() {
    let (addr, _serving) = http(&Fixture::new(), loopback()).await;
    let fits = post(addr, &call(1, "echo", json!({"it": "x".repeat(1_000_000)}))).send().await.unwrap();
    assert_eq!(fits.status(), StatusCode::OK);
    let large = post(addr, &call(1, "echo", json!({"it": "x".repeat(1 << 20)}))).send().await.unwrap();
    assert_eq!(large.status(), StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_browser_may_ask_and_read_answers_only_from_an_allowed_origin() {
    let options =
        loopback().allow_origin("https://app.example.com").with_token(Secret::new("hunter2-hunter2-hunter2"));
    let (addr, _serving) = http(&Fixture::new(), options).await;
    let preflight = |origin: &str| {
        request(addr, Method::OPTIONS, "/mcp")
            .header("origin", origin)
            .header("access-control-request-method", "POST")
            .header(
                "access-control-request-headers",
                "authorization,content-type,mcp-param-operation,x-other",
            )
    };
    let allowed = preflight("https://app.example.com").send().await.unwrap();
    assert_eq!(allowed.status(), StatusCode::NO_CONTENT);
    let text = |name: &str| allowed.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(text("access-control-allow-origin"), "https://app.example.com");
    assert_eq!(text("vary"), "origin");
    assert!(text("access-control-max-age").parse::<u32>().unwrap() > 0);
    for method in ["POST", "GET", "DELETE"] {
        assert!(text("access-control-allow-methods").contains(method));
    }
    for header in
        ["authorization", "content-type", "mcp-session-id", "mcp-protocol-version", "mcp-param-operation"]
    {
        assert!(text("access-control-allow-headers").split(", ").any(|name| name == header), "{header}");
    }
    assert!(!text("access-control-allow-headers").contains("x-other"));

    let refused = preflight("https://evil.example.com").send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    assert!(refused.headers().keys().all(|name| !name.as_str().starts_with("access-control")), "{refused:?}");

    // The page may also read why it is not served.
    let call = |origin: &str, token: &str| {
        post(addr, &initialize()).header("origin", origin).header("authorization", format!("Bearer {token}"))
    };
    for (token, status) in [("hunter2-hunter2-hunter2", StatusCode::OK), ("wrong", StatusCode::UNAUTHORIZED)]
    {
        let answer = call("https://app.example.com", token).send().await.unwrap();
        assert_eq!(answer.status(), status);
        assert_eq!(answer.headers()["access-control-allow-origin"], "https://app.example.com");
        assert!(
            answer.headers()["access-control-expose-headers"].to_str().unwrap().contains("mcp-session-id")
        );
    }
    let refused = call("https://evil.example.com", "hunter2-hunter2-hunter2").send().await.unwrap();
    assert_eq!(refused.status(), StatusCode::FORBIDDEN);
    assert!(!refused.headers().contains_key("access-control-allow-origin"));
}

#[tokio::test]
async fn wrong_tokens_are_logged_without_the_token_and_stopped() {
    let mut limits = HttpLimits::default();
    limits.failed_logins = 3;
    let options = loopback().with_token(Secret::new("hunter2-hunter2-hunter2")).with_connections(limits);
    let (addr, _serving) = http(&Fixture::new(), options).await;
    let try_token = |token: &'static str| {
        post(addr, &initialize()).header("authorization", format!("Bearer {token}")).send()
    };
    for _ in 0..3 {
        assert_eq!(try_token("guess-guess-guess-guess").await.unwrap().status(), StatusCode::UNAUTHORIZED);
    }
    let stopped = try_token("hunter2-hunter2-hunter2").await.unwrap();
    assert_eq!(stopped.status(), StatusCode::TOO_MANY_REQUESTS);
    assert!(stopped.headers()["retry-after"].to_str().unwrap().parse::<u32>().unwrap() <= 61);
    // The state of adapters does not tell whether a guess was right.
    let health =
        request(addr, Method::GET, "/healthz").bearer_auth("hunter2-hunter2-hunter2").send().await.unwrap();
    assert!(body(health).await.get("adapters").is_none());
}

#[tokio::test]
async fn callers_have_the_name_of_their_token() {
    #[derive(Debug)]
    struct Names;
    impl Service for Names {
        fn tools(&self) -> Arc<[Tool]> {
            [tool("who", READS)].into()
        }
        fn instructions(&self) -> String {
            String::new()
        }
        async fn call(&self, _: &str, _: Map<String, Value>, caller: &Caller) -> Option<ToolReply> {
            Some(ToolReply::text(caller.name().unwrap_or("nobody").to_owned(), false))
        }
    }
    let options = loopback()
        .with_named_token("alice", Secret::new("token-of-alice-123"))
        .with_named_token("bob", Secret::new("token-of-bob-12345"))
        .with_token(Secret::new("token-of-somebody"));
    let (addr, _serving) = http(&Arc::new(Names), options).await;
    for (token, name) in
        [("token-of-alice-123", "alice"), ("token-of-bob-12345", "bob"), ("token-of-somebody", "nobody")]
    {
        for request in [post(addr, &call(1, "who", json!({}))), post_2026(addr, &call(1, "who", json!({})))] {
            let answer = body(request.bearer_auth(token).send().await.unwrap()).await;
            assert_eq!(answer["result"]["content"][0]["text"], name, "{answer}");
        }
    }
}

async fn refused(options: HttpOptions) -> ServeError {
    serve_http(Fixture::new(), options, CancellationToken::new(), |_| panic!("it was bound"))
        .await
        .unwrap_err()
}

#[tokio::test]
async fn an_open_address_without_a_token_is_refused_unless_forced() {
    let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
    let error = refused(HttpOptions::new(everywhere)).await;
    assert!(matches!(error, ServeError::Unauthenticated(_)));
    assert!(error.to_string().contains("token"), "{error}");

    let mut forced = HttpOptions::new(everywhere);
    forced.allow_unauthenticated_remote = true;
    let guarded = HttpOptions::new(everywhere).with_token(Secret::new("hunter2-hunter2-hunter2"));
    for options in [forced, guarded] {
        let (_, serving) = http(&Fixture::new(), options).await;
        serving.shutdown.cancel();
        serving.stopped().await.unwrap();
    }
}

#[tokio::test]
async fn an_address_in_use_and_a_wrong_origin_are_named() {
    let (addr, _serving) = http(&Fixture::new(), loopback()).await;
    let error = refused(HttpOptions::new(addr)).await;
    assert!(error.to_string().contains(&addr.to_string()), "{error}");
    let error = refused(loopback().with_token(Secret::new("fifteen-letters"))).await;
    assert!(error.to_string().contains("16 characters") && !error.to_string().contains("fifteen"), "{error}");
    let error = refused(loopback().allow_origin("app.example.com")).await;
    assert!(error.to_string().contains("'app.example.com'"), "{error}");
}

#[tokio::test]
async fn a_stop_lets_running_calls_finish() {
    let service = Fixture::new();
    let (addr, serving) = http(&service, loopback()).await;
    let waiting = tokio::spawn(post(addr, &call(1, "wait", json!({}))).send());
    service.wait_for_calls(1).await;
    serving.shutdown.cancel();
    service.gate.add_permits(1);
    assert_eq!(body(waiting.await.unwrap().unwrap()).await["id"], 1);
    serving.stopped().await.unwrap();
    assert!(post(addr, &initialize()).send().await.is_err());
}

#[tokio::test]
async fn a_stop_drops_calls_after_the_grace_period() {
    let service = Fixture::new();
    let limits = ServerLimits::default().with_grace(Duration::from_millis(1));
    let (addr, serving) = http(&service, loopback().with_limits(limits)).await;
    let waiting = tokio::spawn(post(addr, &call(1, "wait", json!({}))).send());
    service.wait_for_calls(1).await;
    serving.shutdown.cancel();
    service.wait_for_drop().await;
    serving.stopped().await.unwrap();
    waiting.abort();
}
