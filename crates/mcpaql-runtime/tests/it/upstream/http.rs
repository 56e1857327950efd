//! Upstreams over streamable HTTP: our own server, and one with scripted answers.

use super::{call, environment};
use crate::fixture::{self, Fixture, in_time, loopback};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Method, Response, StatusCode};
use axum::routing::any;
use mcpaql_core::adapter::{Auth, McpLink, McpTarget};
use mcpaql_core::error::Code;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::target::mcp::{Upstream, UpstreamError, UpstreamState as Health};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::mpsc;

fn target(addr: SocketAddr) -> McpTarget {
    McpTarget::new(McpLink::Url {
        url: format!("http://{addr}/mcp?tenant=a"),
        headers: [("X-Tenant".to_owned(), "t-${env:TOKEN}".to_owned())].into_iter().collect(),
        allow_http: false,
    })
}

fn upstream(addr: SocketAddr) -> Upstream {
    let auth = Auth::Bearer {
        token_env: "TOKEN".to_owned(),
        header: "Authorization".to_owned(),
        prefix: "Bearer ".to_owned(),
    };
    Upstream::new(&target(addr), &auth, &environment()).unwrap()
}

#[tokio::test]
async fn our_own_server_is_an_upstream_like_any_other() {
    let service = Fixture::new();
    let (addr, serving) = fixture::http(&service, loopback()).await;
    let upstream = upstream(addr);
    let capture = in_time(upstream.capture()).await.unwrap();
    assert_eq!(capture.server().unwrap()["name"], "mcpaql");
    assert_eq!(capture.tools.len(), 5);
    let calls = (0..64).map(|n| {
        let upstream = upstream.clone();
        tokio::spawn(async move {
            let result = call(&upstream, "echo", json!({"n": n})).await.unwrap();
            assert_eq!(result["content"][0]["text"], json!({"n": n}).to_string());
        })
    });
    for call in calls.collect::<Vec<_>>() {
        in_time(call).await.unwrap();
    }
    let mut changed = upstream.tools_changed();
    // The stream for changes may not be open yet, so the change is announced until it arrives.
    in_time(async {
        while !changed.has_changed().unwrap() {
            service.swap([fixture::tool(
                "only",
                mcpaql_core::policy::Hints {
                    read_only: true,
                    destructive: false,
                    idempotent: true,
                    open_world: false,
                },
            )]);
            tokio::task::yield_now().await;
        }
    })
    .await;
    changed.mark_unchanged();
    let holding = upstream.clone();
    let task =
        tokio::spawn(async move { holding.call_tool("wait", Default::default(), &Caller::nobody()).await });
    service.wait_for_calls(1).await;
    task.abort();
    service.wait_for_drop().await;
    upstream.close().await;
    serving.shutdown.cancel();
    serving.stopped().await.unwrap();
}

/// A request that a scripted server received.
#[derive(Debug)]
struct ReceivedRequest {
    method: Method,
    headers: HeaderMap,
    query: String,
    body: Value,
}

type Script = dyn Fn(&ReceivedRequest, usize) -> Response<Body> + Send + Sync;

#[derive(Clone)]
struct Scripted {
    script: Arc<Script>,
    heard: mpsc::UnboundedSender<ReceivedRequest>,
    count: Arc<AtomicUsize>,
}

fn json_answer(body: &Value) -> Response<Body> {
    Response::builder().header("content-type", "application/json").body(Body::from(body.to_string())).unwrap()
}

fn events(text: impl Into<Body>) -> Response<Body> {
    Response::builder().header("content-type", "text/event-stream").body(text.into()).unwrap()
}

fn status(code: u16) -> Response<Body> {
    Response::builder().status(code).body(Body::empty()).unwrap()
}

fn answer(heard: &ReceivedRequest, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": heard.body["id"], "result": result})
}

/// A server that starts a new session on each handshake and leaves other requests to `script`, which gets the number
/// of handshakes.
async fn scripted(
    script: impl Fn(&ReceivedRequest, usize) -> Response<Body> + Send + Sync + 'static,
) -> (SocketAddr, mpsc::UnboundedReceiver<ReceivedRequest>) {
    let (heard, told) = mpsc::unbounded_channel();
    let state = Scripted { script: Arc::new(script), heard, count: Arc::default() };
    let router = Router::new()
        .route(
            "/mcp",
            any(|State(state): State<Scripted>, request: axum::extract::Request| async move {
                let (parts, body) = request.into_parts();
                let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
                let heard = ReceivedRequest {
                    method: parts.method,
                    query: parts.uri.query().unwrap_or_default().to_owned(),
                    headers: parts.headers,
                    body: serde_json::from_slice(&body).unwrap_or_default(),
                };
                let response = if heard.body["method"] == "initialize" {
                    let count = state.count.fetch_add(1, Ordering::SeqCst) + 1;
                    let hello = answer(
                        &heard,
                        json!({"protocolVersion": "2025-06-18", "capabilities": {},
                        "serverInfo": {"name": "scripted", "version": "1"}}),
                    );
                    let mut response = json_answer(&hello);
                    response.headers_mut().insert("mcp-session-id", format!("s{count}").parse().unwrap());
                    response
                } else if heard.body["id"].is_null() && heard.method == Method::POST {
                    status(202)
                } else {
                    (state.script)(&heard, state.count.load(Ordering::SeqCst))
                };
                state.heard.send(heard).unwrap();
                response
            }),
        )
        .with_state(state);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    (addr, told)
}

#[tokio::test]
async fn every_request_carries_session_revision_and_credentials() {
    let (addr, mut told) = scripted(|heard, _| match heard.method {
        Method::POST => json_answer(&answer(heard, json!({"ok": true}))),
        _ => status(405),
    })
    .await;
    let upstream = upstream(addr);
    assert_eq!(call(&upstream, "x", json!({})).await.unwrap(), json!({"ok": true}));
    upstream.close().await;
    let mut seen = Vec::new();
    while let Ok(heard) = told.try_recv() {
        assert_eq!(heard.headers["authorization"], "Bearer s3cret-token");
        assert_eq!(heard.headers["x-tenant"], "t-s3cret-token");
        assert_eq!(heard.query, "tenant=a");
        if heard.body["method"] != "initialize" {
            assert_eq!(heard.headers["mcp-session-id"], "s1");
            assert_eq!(heard.headers["mcp-protocol-version"], "2025-06-18");
        }
        seen.push(format!("{} {}", heard.method, heard.body["method"].as_str().unwrap_or_default()));
    }
    assert_eq!(seen.first().unwrap(), "POST initialize");
    assert!(seen.contains(&"POST notifications/initialized".to_owned()), "{seen:?}");
    assert_eq!(seen.last().unwrap(), "DELETE ", "{seen:?}");
}

#[tokio::test]
async fn a_call_is_not_sent_again_if_it_may_have_run() {
    let (addr, _told) = scripted(|heard, greeted| match (&heard.method, greeted) {
        (&Method::POST, 1) => {
            // The protocol's answer for an unknown session is 404. This one may come from the tool.
            let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "No such session"}});
            let mut response = json_answer(&error);
            *response.status_mut() = StatusCode::BAD_REQUEST;
            response
        }
        (&Method::POST, _) => json_answer(&answer(heard, "ran twice".into())),
        _ => status(405),
    })
    .await;
    let error = call(&upstream(addr), "pay", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("no longer knows the session"), "{error}");
}

#[tokio::test]
async fn a_lost_session_is_started_again() {
    let (addr, _told) = scripted(|heard, greeted| match (&heard.method, greeted) {
        (&Method::POST, 1) => status(404),
        (&Method::POST, 2) => {
            let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "No valid session"}});
            let mut response = json_answer(&error);
            *response.status_mut() = StatusCode::BAD_REQUEST;
            response
        }
        (&Method::POST, _) => {
            json_answer(&answer(heard, heard.headers["mcp-session-id"].to_str().unwrap().into()))
        }
        _ => status(405),
    })
    .await;
    let upstream = upstream(addr);
    // Each call starts a new session once; a server that loses every session is not retried forever.
    let error = call(&upstream, "x", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("no longer knows the session"), "{error}");
    let again = in_time(async {
        loop {
            match call(&upstream, "x", json!({})).await {
                Err(UpstreamError::Unavailable { retry_after: Some(wait), .. }) => {
                    tokio::time::sleep(wait).await
                }
                outcome => return outcome,
            }
        }
    });
    assert_eq!(again.await.unwrap(), "s3");
}

#[tokio::test]
async fn a_stream_carries_questions_notifications_and_the_answer() {
    let (addr, mut told) = scripted(|heard, _| match heard.method {
        Method::POST => {
            let question = json!({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": {}});
            let changed = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
            let answer = answer(heard, json!({"ok": 1}));
            events(format!(
                ": hi\r\n\r\ndata: {question}\r\n\r\nevent: message\ndata: {changed}\n\ndata: {answer}\n\n"
            ))
        }
        _ => status(405),
    })
    .await;
    let upstream = upstream(addr);
    assert_eq!(call(&upstream, "x", json!({})).await.unwrap(), json!({"ok": 1}));
    assert_eq!(*upstream.tools_changed().borrow(), 1);
    let refused = in_time(async {
        loop {
            let heard = told.recv().await.unwrap();
            if heard.body["id"] == "q" {
                return heard.body;
            }
        }
    });
    assert_eq!(refused.await["result"]["action"], "cancel");
}

#[tokio::test]
async fn a_broken_stream_is_resumed_where_it_ended() {
    let asked = Arc::new(Mutex::new(Value::Null));
    let (addr, _told) = scripted(move |heard, _| match heard.method {
        Method::POST => {
            *asked.lock().unwrap() = heard.body["id"].clone();
            events("id: e7\nretry: 1\ndata:\n\n")
        }
        Method::GET if heard.headers.get("last-event-id").is_some_and(|id| id == "e7") => {
            let answer = json!({"jsonrpc": "2.0", "id": *asked.lock().unwrap(), "result": "resumed"});
            events(format!("data: {answer}\n\n"))
        }
        _ => status(405),
    })
    .await;
    assert_eq!(call(&upstream(addr), "x", json!({})).await.unwrap(), "resumed");
}

#[tokio::test]
async fn invalid_answers_are_errors_with_a_reason() {
    let (addr, _told) = scripted(|heard, _| match heard.body["params"]["name"].as_str() {
        Some("cut") => events("data: {\"half"),
        Some("silent") => status(202),
        Some("big") => json_answer(&answer(heard, "x".repeat(11 << 20).into())),
        Some("big stream") => events(format!("data: {}\n\n", answer(heard, "x".repeat(11 << 20).into()))),
        Some("rpc") => {
            let error =
                json!({"jsonrpc": "2.0", "id": heard.body["id"], "error": {"code": -32001, "message": "no"}});
            let mut response = json_answer(&error);
            *response.status_mut() = StatusCode::BAD_REQUEST;
            response
        }
        Some("status") => Response::builder().status(503).body(Body::from("s3cret-token is busy")).unwrap(),
        Some("away") => Response::builder()
            .status(307)
            .header("location", "https://evil.example/")
            .body(Body::empty())
            .unwrap(),
        _ => status(405),
    })
    .await;
    let upstream = upstream(addr);
    for tool in ["cut", "silent"] {
        let error = call(&upstream, tool, json!({})).await.unwrap_err();
        assert!(matches!(error, UpstreamError::Unavailable { .. }), "{tool}: {error:?}");
    }
    for tool in ["big", "big stream"] {
        let error = call(&upstream, tool, json!({})).await.unwrap_err();
        assert!(matches!(error, UpstreamError::TooLarge { .. }), "{tool}: {error:?}");
    }
    let error = call(&upstream, "rpc", json!({})).await.unwrap_err();
    assert!(matches!(error, UpstreamError::Refused { code: -32001, .. }), "{error:?}");
    for (tool, code) in [("status", Code::Internal), ("away", Code::Internal)] {
        let error = call(&upstream, tool, json!({})).await.unwrap_err();
        let UpstreamError::Refusal(refusal) = &error else { panic!("{tool}: {error:?}") };
        assert_eq!(refusal.code, code);
        assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
    }
}

#[tokio::test]
async fn a_web_page_is_not_an_mcp_server() {
    for page in ["<!doctype html><title>Hello</title>", "", "{\"hello\": 1}"] {
        let router = Router::new().route("/mcp", any(move || async move { page }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        let error = call(&upstream(addr), "x", json!({})).await.unwrap_err();
        assert!(matches!(error, UpstreamError::NotMcp { .. }), "{page}: {error:?}");
    }
}

#[tokio::test]
async fn a_server_that_does_not_run_fails_and_recovers() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    let upstream = upstream(addr);
    let error = call(&upstream, "x", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("cannot be reached"), "{error}");
    assert!(matches!(&*upstream.state().borrow(), Health::Failed { .. }));
    let service = Fixture::new();
    let options = mcpaql_runtime::serve::HttpOptions::new(addr);
    let (_, _serving) = fixture::http(&service, options).await;
    let result = call(&upstream, "echo", json!({})).await.unwrap();
    assert_eq!(result["content"][0]["text"], "{}");
}

#[tokio::test]
async fn credentials_that_are_not_set_are_named() {
    let auth = Auth::Bearer {
        token_env: "NOT_SET_HERE".to_owned(),
        header: "Authorization".to_owned(),
        prefix: "Bearer ".to_owned(),
    };
    let addr = SocketAddr::from(([127, 0, 0, 1], 9));
    let upstream = Upstream::new(&target(addr), &auth, &environment()).unwrap();
    let error = call(&upstream, "x", json!({})).await.unwrap_err();
    assert!(
        matches!(&error, UpstreamError::Refusal(error) if error.code == Code::PermissionDenied),
        "{error:?}"
    );
    let plain = McpLink::Url {
        url: "http://mcp.example/".to_owned(),
        headers: Default::default(),
        allow_http: false,
    };
    assert!(Upstream::new(&McpTarget::new(plain), &Auth::None, &environment()).is_err());
}
