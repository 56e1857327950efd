//! The examples in discrete mode: the tools that a client sees, and the request of each call.
//!
//! The expected tables are written by hand from the intended surface, never copied from the output of this program.

mod firefly;
mod lightdash;
mod nextcloud;

use crate::fixture::{BINARY, Revision, TestClient, TestFolder, Wire, connect_with};
use crate::openapi::ReceivedRequest;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

type ResponseFn = Box<dyn Fn(&ReceivedRequest) -> Response + Send + Sync>;

/// A fake API that records the requests it receives.
struct FakeApi {
    arrived: Mutex<Vec<ReceivedRequest>>,
    answer: ResponseFn,
}

impl FakeApi {
    /// Starts the API, and returns its URL.
    async fn start(
        answer: impl Fn(&ReceivedRequest) -> Response + Send + Sync + 'static,
    ) -> (Arc<FakeApi>, String) {
        let api = Arc::new(FakeApi { arrived: Mutex::default(), answer: Box::new(answer) });
        let router = Router::new().fallback(record_request).with_state(Arc::clone(&api));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (api, url)
    }

    /// Returns the requests since the last call.
    fn received_requests(&self) -> Vec<ReceivedRequest> {
        std::mem::take(&mut self.arrived.lock().unwrap())
    }

    /// Returns the only request since the last call.
    fn only_request(&self) -> ReceivedRequest {
        let arrived = self.received_requests();
        assert_eq!(arrived.len(), 1, "{arrived:?}");
        arrived.into_iter().next().unwrap()
    }
}

async fn record_request(State(api): State<Arc<FakeApi>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 24).await.unwrap();
    let target = parts.uri.path_and_query().unwrap().to_string();
    let arrived = ReceivedRequest { method: parts.method.to_string(), target, headers: parts.headers, body };
    let response = (api.answer)(&arrived);
    api.arrived.lock().unwrap().push(arrived);
    response
}

fn replies(status: u16, body: Value) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    (status, [("content-type", "application/json")], body.to_string()).into_response()
}

fn example(file: &str) -> String {
    format!("{}/../../examples/{file}", env!("CARGO_MANIFEST_DIR"))
}

/// Serves an example with these variables, and connects a client.
async fn serve(file: &str, variables: &[(&str, &str)]) -> (TestClient, TestFolder) {
    let place = TestFolder::new();
    let client = connect_with(&place, &[example(file).as_str()], Wire::Stdio, Revision::V2025, |command| {
        command.envs(variables.iter().copied());
    })
    .await;
    (client, place)
}

/// Name, title and annotations of a tool.
type Row<'a> = (&'a str, &'a str, Value);

/// Checks that the list has exactly these tools, each with exactly this title and these annotations.
async fn assert_shows(client: &TestClient, expected: &[Row<'_>]) {
    let tools = client.tools().await;
    let mut found: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let mut names: Vec<&str> = expected.iter().map(|(name, ..)| *name).collect();
    found.sort_unstable();
    names.sort_unstable();
    assert_eq!(found, names);
    for (name, title, annotations) in expected {
        let tool = tools.iter().find(|tool| tool["name"] == *name).unwrap();
        let keys: Vec<&str> = tool.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["name", "title", "description", "inputSchema", "annotations"], "{name}");
        assert_eq!(tool["title"], *title);
        assert_eq!(tool["annotations"], *annotations, "{name}");
        for (param, schema) in tool["inputSchema"]["properties"].as_object().unwrap() {
            assert!(!schema["description"].as_str().unwrap_or_default().is_empty(), "{name}.{param}");
        }
    }
}

/// Makes a call that must succeed, and returns its data.
async fn data(client: &TestClient, tool: &str, arguments: Value) -> Value {
    let (envelope, flagged) = client.call_confirmed(tool, arguments.clone()).await;
    assert!(envelope["success"] == true && !flagged, "{tool} {arguments}: {envelope}");
    envelope["data"].clone()
}

/// Makes a call that must fail, and returns the code and the whole error.
async fn refusal(client: &TestClient, tool: &str, arguments: Value) -> (String, Value) {
    let (envelope, _) = client.call_confirmed(tool, arguments.clone()).await;
    assert_eq!(envelope["success"], false, "{tool} {arguments}: {envelope}");
    (envelope["error"]["code"].as_str().unwrap().to_owned(), envelope["error"].clone())
}

/// Checks that `mcpaql audit` has no findings, not even advice, for an example: neither for the document nor for its saved tools.
async fn assert_passes(file: &str, options: &[&str]) {
    let place = TestFolder::new();
    let document = example(file);
    let server = ["--", BINARY, "serve", document.as_str(), "--no-watch"];
    for source in [&[document.as_str()][..], &server] {
        let run = place.run(&[&["audit", "--format", "json"], options, source].concat()).await;
        assert_eq!(run.status, Some(0), "{run:?}");
        assert_eq!(run.json()["findings"], json!([]), "{run:?}");
    }
    let run = place.run(&["check", &document]).await;
    // A policy that reproduces another project's surface may leave out a hint, and `check` says so.
    let warnings = run.stdout.matches("warning[").count();
    let about_hints = run.stdout.matches("no destructiveHint, which clients take as destructive").count();
    assert!(run.status == Some(0) && warnings == about_hints, "{run:?}");
}
