//! Callers with their own credentials: the server gets each caller's values only for that caller.

use super::environment;
use crate::fixture::{self, Raw, Serving, crypto, in_time, loopback, modern};
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Method, Response};
use axum::routing::any;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::mcp::ServerLimits;
use mcpaql_runtime::open::open;
use mcpaql_runtime::secret::Secret;
use mcpaql_runtime::target::mcp::Upstream;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::sync::Semaphore;

/// Maximum number of callers with conversations.
const MAX_CALLERS: usize = 64;

/// An MCP server that identifies users by a token, and binds each session to its user.
struct Server {
    /// The headers of the first request of each session.
    sessions: Mutex<Vec<HeaderMap>>,
    ended: Mutex<Vec<String>>,
    gone: Semaphore,
    holding: Semaphore,
    gate: Semaphore,
}

/// The token of a user. Answers contain the user's name, because a token would be masked.
fn token(user: usize) -> String {
    format!("secret-token-{user}")
}

fn text(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned()
}

fn user(headers: &HeaderMap) -> String {
    text(headers, "x-user-token").replace("secret-token-", "user ")
}

impl Server {
    async fn listen() -> (Arc<Server>, SocketAddr) {
        let server = Arc::new(Server {
            sessions: Mutex::default(),
            ended: Mutex::default(),
            gone: Semaphore::new(0),
            holding: Semaphore::new(0),
            gate: Semaphore::new(0),
        });
        let router = Router::new().route("/mcp", any(answer)).with_state(Arc::clone(&server));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        (server, addr)
    }

    /// The users who started sessions, in order.
    fn users(&self) -> Vec<String> {
        self.sessions.lock().unwrap().iter().map(user).collect()
    }

    async fn result(&self, headers: &HeaderMap, message: &Value) -> Value {
        let (user, secret) = (user(headers), text(headers, "x-user-token"));
        let said = |text: String| json!({"result": {"content": [{"type": "text", "text": text}]}});
        let session: usize = text(headers, "mcp-session-id").parse().unwrap();
        let began = text(&self.sessions.lock().unwrap()[session], "x-user-token");
        if began != secret {
            return said("another's session".to_owned());
        }
        match (message["method"].as_str().unwrap(), message["params"]["name"].as_str().unwrap_or_default()) {
            ("tools/list", _) => {
                json!({"result": {"tools": [{"name": "whoami", "inputSchema": {"type": "object"}}]}})
            }
            ("tools/call", "whoami") => {
                let authorization = text(headers, "authorization");
                said(json!({"user": user, "session": session, "authorization": authorization}).to_string())
            }
            ("tools/call", "hold") => {
                self.holding.add_permits(1);
                self.gate.acquire().await.unwrap().forget();
                said(json!({"user": user}).to_string())
            }
            ("tools/call", "echo") => said(format!("you sent {secret}")),
            ("tools/call", "fail") => {
                let mut failed = said(format!("{secret} is not welcome"));
                failed["result"]["isError"] = true.into();
                failed
            }
            ("tools/call", _) => json!({"error": {
                "code": -32000, "message": format!("{secret} is not welcome"), "data": {"token": secret}}}),
            ("resources/read", _) => json!({"result": {
                "contents": [{"uri": "user://me", "text": format!("{user} {secret}")}]}}),
            ("resources/list", _) => json!({"result": {"resources": [{"uri": "user://me", "name": user}]}}),
            ("resources/templates/list", _) => json!({"error": {"code": -32601, "message": "no templates"}}),
            ("prompts/list", _) => json!({"result": {"prompts": [{"name": "greet"}]}}),
            ("prompts/get", _) => json!({"error": {"code": -32602, "message": format!("no, {secret}")}}),
            other => panic!("{other:?}"),
        }
    }
}

async fn answer(State(server): State<Arc<Server>>, request: Request) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let response = Response::builder().header("content-type", "application/json");
    if parts.method == Method::DELETE {
        server.ended.lock().unwrap().push(user(&parts.headers));
        server.gone.add_permits(1);
    }
    if parts.method != Method::POST || message["id"].is_null() {
        return response.status(405).body(Body::empty()).unwrap();
    }
    let mut answer = json!({"jsonrpc": "2.0", "id": message["id"]});
    if message["method"] != "initialize" {
        let said = server.result(&parts.headers, &message).await;
        answer.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
        return response.body(Body::from(answer.to_string())).unwrap();
    }
    let number = {
        let mut sessions = server.sessions.lock().unwrap();
        sessions.push(parts.headers.clone());
        sessions.len() - 1
    };
    if user(&parts.headers) == "user 403" || parts.headers.contains_key("x-refuse") {
        let message = format!("unknown: {}", text(&parts.headers, "x-user-token"));
        answer["error"] = json!({"code": -32001, "message": message});
    } else {
        answer["result"] = json!({"protocolVersion": "2025-06-18", "capabilities": {"resources": {}, "prompts": {}},
            "serverInfo": {"name": "users", "version": "1"}});
    }
    response.header("mcp-session-id", number.to_string()).body(Body::from(answer.to_string())).unwrap()
}

/// A gateway for the server that forwards the headers.
async fn gateway(addr: SocketAddr, target: Value, auth: Value) -> (Arc<Gateway>, Upstream) {
    crypto();
    let operations = ["whoami", "hold", "echo", "fail", "refuse"].map(|name| json!({"name": name}));
    let mut document = json!({
        "type": "adapter", "name": "far", "version": "1.0.0", "description": "A server far away", "mode": "discrete",
        "target": {"transport": "mcp", "url": format!("http://{addr}/mcp"), "caller_headers": ["X-User-Token"]},
        "auth": auth,
        "operations": {"read": operations},
    });
    document["target"].as_object_mut().unwrap().extend(target.as_object().unwrap().clone());
    let checked = check::check(&Source::new("a.json", document.to_string()), &AdapterSettings::default());
    let catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let served = open(catalog, "a.json", None, &environment()).await.unwrap();
    let upstream = Upstream::clone(served.upstreams()[0]);
    (Arc::new(Gateway::new(vec![served]).unwrap()), upstream)
}

/// The server, and its gateway over HTTP.
async fn served() -> (Arc<Server>, SocketAddr, Upstream, Serving) {
    let (server, addr) = Server::listen().await;
    let (gateway, upstream) = gateway(addr, json!({}), json!({"type": "none"})).await;
    let (front, serving) = fixture::http(&gateway, loopback()).await;
    (server, front, upstream, serving)
}

async fn request(front: SocketAddr, method: &str, params: Value, headers: &[(&str, &str)]) -> Value {
    let message = modern(json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}));
    let mut request = reqwest::Client::new()
        .post(format!("http://{front}/mcp"))
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", method);
    for key in ["name", "uri"] {
        if let Some(name) = message["params"][key].as_str() {
            request = request.header("mcp-name", name);
        }
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let response = in_time(request.body(message.to_string()).send()).await.unwrap();
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}

/// The envelope of a call.
async fn call(front: SocketAddr, tool: &str, headers: &[(&str, &str)]) -> Value {
    let answer = request(front, "tools/call", json!({"name": tool, "arguments": {}}), headers).await;
    serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap()
}

async fn call_as(front: SocketAddr, tool: &str, user: usize) -> Value {
    call(front, tool, &[("x-user-token", &token(user))]).await
}

#[tokio::test]
async fn callers_are_separated_and_one_caller_has_one_session() {
    let (server, front, _upstream, _serving) = served().await;
    let calls = (0..60).map(|n| {
        tokio::spawn(async move {
            let user = n % 3;
            let answer = call_as(front, "far_whoami", user).await;
            assert_eq!(answer["data"]["user"], format!("user {user}"), "{answer}");
            answer["data"]["session"].as_u64().unwrap()
        })
    });
    let mut sessions = Vec::new();
    for call in calls.collect::<Vec<_>>() {
        sessions.push(in_time(call).await.unwrap());
    }
    for (n, session) in sessions.iter().enumerate() {
        assert_eq!(*session, sessions[n % 3], "the session of user {}", n % 3);
    }
    let mut users = server.users();
    users.sort();
    assert_eq!(users, ["user 0", "user 1", "user 2"]);
}

#[tokio::test]
async fn clients_of_the_older_revisions_send_credentials_too() {
    let (_server, front, _upstream, _serving) = served().await;
    let request = reqwest::Client::new()
        .post(format!("http://{front}/mcp"))
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("x-user-token", token(8))
        .body(fixture::call(1, "far_whoami", json!({})).to_string());
    let text = in_time(request.send()).await.unwrap().text().await.unwrap();
    assert!(text.contains("user 8"), "{text}");
}

#[tokio::test]
async fn the_error_names_the_missing_header() {
    let (server, front, _upstream, _serving) = served().await;
    for headers in [&[][..], &[("x-user-token", "")], &[("x-user-token", "a"), ("x-user-token", "b")]] {
        let answer = call(front, "far_whoami", headers).await;
        assert_eq!(answer["error"]["code"], "PERMISSION_DENIED", "{answer}");
        assert_eq!(answer["error"]["details"]["header"], "X-User-Token");
        let message = answer["error"]["message"].as_str().unwrap();
        assert!(message.contains("X-User-Token") && message.contains("tell the user"), "{message}");
    }
    assert_eq!(server.users(), Vec::<String>::new(), "no session was started");
}

#[tokio::test]
async fn there_are_no_headers_over_standard_streams() {
    let (server, addr) = Server::listen().await;
    let (gateway, _) = gateway(addr, json!({}), json!({"type": "none"})).await;
    let mut raw = Raw::new(&gateway, ServerLimits::default());
    raw.send(&modern(fixture::call(1, "far_whoami", json!({})))).await;
    let answer = raw.receive().await.unwrap();
    let envelope: Value =
        serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(envelope["error"]["code"], "PERMISSION_DENIED", "{envelope}");
    assert!(envelope["error"]["message"].as_str().unwrap().contains("over HTTP"), "{envelope}");
    assert_eq!(server.users(), Vec::<String>::new());
}

#[tokio::test]
async fn answers_never_contain_the_credentials_of_a_caller() {
    let (_server, front, upstream, _serving) = served().await;
    let masked = |answer: &Value| {
        let text = answer.to_string();
        assert!(text.contains("[redacted]") && !text.contains("secret-token"), "{text}");
    };
    masked(&call_as(front, "far_echo", 1).await);
    masked(&call_as(front, "far_fail", 1).await);
    masked(&call_as(front, "far_refuse", 1).await);
    masked(&call_as(front, "far_whoami", 403).await);
    let header = ("x-user-token", token(7));
    let headers = [(header.0, header.1.as_str())];
    let read = request(front, "resources/read", json!({"uri": "mcpaql://far/user://me"}), &headers).await;
    masked(&read);
    assert_eq!(read["result"]["contents"][0]["text"], "user 7 [redacted]");
    masked(&request(front, "prompts/get", json!({"name": "far_greet"}), &headers).await);
    assert!(!format!("{upstream:?}").contains("secret-token"));
}

#[tokio::test]
async fn resources_are_listed_as_each_caller_sees_them() {
    let (_server, front, _upstream, _serving) = served().await;
    call_as(front, "far_whoami", 1).await;
    for user in [1, 2] {
        let token = token(user);
        let listed = request(front, "resources/list", json!({}), &[("x-user-token", &token)]).await;
        assert_eq!(listed["result"]["resources"][0]["name"], format!("user {user}"), "{listed}");
    }
    let listed = request(front, "resources/list", json!({}), &[]).await;
    assert_eq!(listed["result"]["resources"], json!([]), "{listed}");
}

#[tokio::test]
async fn tools_are_listed_with_the_adapter_s_own_credentials() {
    let (server, addr) = Server::listen().await;
    let own = json!({"headers": {"X-User-Token": "${env:TOKEN}"}, "caller_headers": ["X-User-Token", "Authorization"]});
    let auth = json!({"type": "bearer", "token_env": "TOKEN"});
    let (gateway, upstream) = gateway(addr, own, auth).await;
    let capture = in_time(upstream.capture()).await.unwrap();
    assert_eq!(capture.tools[0]["name"], "whoami");
    let (front, _serving) = fixture::http(&gateway, loopback()).await;
    let headers = [("x-user-token", "secret-token-5"), ("authorization", "Bearer theirs-alone")];
    let answer = call(front, "far_whoami", &headers).await;
    assert_eq!(answer["data"]["user"], "user 5", "{answer}");
    assert_eq!(answer["data"]["authorization"], "[redacted]", "{answer}");
    let seen: Vec<(String, String)> = server
        .sessions
        .lock()
        .unwrap()
        .iter()
        .map(|headers| {
            assert_eq!(
                (
                    headers.get_all("x-user-token").iter().count(),
                    headers.get_all("authorization").iter().count()
                ),
                (1, 1)
            );
            (text(headers, "x-user-token"), text(headers, "authorization"))
        })
        .collect();
    let pair = |token: &str, bearer: &str| (token.to_owned(), bearer.to_owned());
    assert_eq!(
        seen,
        [pair("s3cret-token", "Bearer s3cret-token"), pair("secret-token-5", "Bearer theirs-alone")]
    );
}

#[tokio::test]
async fn a_refused_handshake_shows_no_credentials_either() {
    let (_server, addr) = Server::listen().await;
    let own = json!({"headers": {"X-User-Token": "${env:TOKEN}", "X-Refuse": "1"}});
    let (_gateway, upstream) = gateway(addr, own, json!({"type": "none"})).await;
    let error = in_time(upstream.start()).await.unwrap_err().to_string();
    assert!(error.contains("unknown: [redacted]"), "{error}");
    assert!(!format!("{:?}", *upstream.state().borrow()).contains("s3cret-token"));
}

#[tokio::test]
async fn the_adapters_other_credentials_are_sent_too() {
    let (server, addr) = Server::listen().await;
    let auth = json!({"type": "bearer", "token_env": "TOKEN"});
    let (gateway, _upstream) = gateway(addr, json!({}), auth).await;
    let (front, _serving) = fixture::http(&gateway, loopback()).await;
    let headers = [("x-user-token", "secret-token-1"), ("x-other", "1"), ("accept-language", "la")];
    assert_eq!(call(front, "far_whoami", &headers).await["success"], true);
    let sessions = server.sessions.lock().unwrap();
    assert_eq!(text(&sessions[0], "authorization"), "Bearer s3cret-token");
    for name in ["x-other", "accept-language"] {
        assert_eq!(sessions[0].get(name), None, "no other header of the caller is forwarded");
    }
}

#[tokio::test]
async fn the_token_of_our_own_server_is_not_forwarded() {
    let (server, addr) = Server::listen().await;
    let (gateway, _upstream) =
        gateway(addr, json!({"caller_headers": ["Authorization"]}), json!({"type": "none"})).await;
    let options = loopback().with_token(Secret::new("ours-and-ours-alone"));
    let (front, _serving) = fixture::http(&gateway, options).await;
    let answer = call(front, "far_whoami", &[("authorization", "Bearer ours-and-ours-alone")]).await;
    assert_eq!(answer["error"]["details"]["header"], "Authorization", "{answer}");
    assert_eq!(server.users(), Vec::<String>::new());
}

#[tokio::test]
async fn callers_beyond_the_limit_get_an_error_and_idle_ones_are_closed() {
    let (server, front, upstream, _serving) = served().await;
    let held: Vec<_> = (0..MAX_CALLERS)
        .map(|user| tokio::spawn(async move { call_as(front, "far_hold", user).await }))
        .collect();
    in_time(server.holding.acquire_many(u32::try_from(MAX_CALLERS).unwrap())).await.unwrap().forget();
    let answer = call_as(front, "far_whoami", 1000).await;
    assert_eq!(answer["error"]["code"], "RATE_LIMIT_EXCEEDED", "{answer}");
    assert_eq!(answer["error"]["details"]["maximum"], MAX_CALLERS);
    assert_eq!(
        call_as(front, "far_whoami", 3).await["data"]["user"],
        "user 3",
        "existing callers keep their conversation"
    );
    server.gate.add_permits(MAX_CALLERS);
    for (user, call) in held.into_iter().enumerate() {
        assert_eq!(in_time(call).await.unwrap()["data"]["user"], format!("user {user}"));
    }
    let answer = call_as(front, "far_whoami", 1000).await;
    assert_eq!(answer["data"]["user"], "user 1000", "{answer}");
    assert_eq!(server.users().len(), MAX_CALLERS + 1);
    in_time(upstream.close()).await;
    // The session that was closed ends in the background.
    in_time(server.gone.acquire_many(u32::try_from(MAX_CALLERS + 1).unwrap())).await.unwrap().forget();
    let mut ended = server.ended.lock().unwrap().clone();
    ended.sort();
    let mut expected = server.users();
    expected.sort();
    assert_eq!(ended, expected, "all sessions have ended");
}

#[tokio::test]
async fn a_caller_without_a_client_has_no_credentials() {
    let (_server, addr) = Server::listen().await;
    let (_gateway, upstream) = gateway(addr, json!({}), json!({"type": "none"})).await;
    let error =
        in_time(upstream.call_tool("whoami", Default::default(), &Caller::nobody())).await.unwrap_err();
    assert!(error.to_string().contains("X-User-Token"), "{error}");
}
