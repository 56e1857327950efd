//! Calls to real upstreams: results, progress and cancellation.

use crate::documents;
use crate::fixture::{
    ALL_CONNECTIONS, Revision, TestClient, TestFolder, Wire, connect, connect_with, request, with_timeout,
};
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use rmcp::model::{CallToolRequest, ClientRequest};
use rmcp::service::PeerRequestOptions;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

const TOKEN: &str = "hunter2-upstream";

/// An upstream. `/slow` signals its start in `begun` and ends when `gate` gets a permit; an aborted request increments `dropped`.
struct Upstream {
    begun: Semaphore,
    gate: Semaphore,
    dropped: Semaphore,
}

struct Abandoned(Option<Arc<Upstream>>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        if let Some(upstream) = self.0.take() {
            upstream.dropped.add_permits(1);
        }
    }
}

async fn thing(Path(id): Path<String>, headers: HeaderMap) -> impl IntoResponse {
    let expected = format!("Bearer {TOKEN}");
    if headers.get("authorization").is_none_or(|value| value != expected.as_str()) {
        return (StatusCode::UNAUTHORIZED, Json(json!("who are you")));
    }
    match id.as_str() {
        "broken" => (StatusCode::INTERNAL_SERVER_ERROR, Json(json!(format!("it broke with {TOKEN}")))),
        "missing" => (StatusCode::NOT_FOUND, Json(json!({"message": "no such thing"}))),
        _ => (StatusCode::OK, Json(json!({"id": id}))),
    }
}

async fn slow(State(upstream): State<Arc<Upstream>>) -> Json<Value> {
    let mut abandoned = Abandoned(Some(Arc::clone(&upstream)));
    upstream.begun.add_permits(1);
    upstream.gate.acquire().await.unwrap().forget();
    abandoned.0 = None;
    Json(json!({"done": true}))
}

impl Upstream {
    async fn start() -> (Arc<Self>, String) {
        let upstream = Arc::new(Upstream {
            begun: Semaphore::new(0),
            gate: Semaphore::new(0),
            dropped: Semaphore::new(0),
        });
        let router = Router::new()
            .route("/things/{id}", get(thing))
            .route("/slow", post(slow))
            .with_state(Arc::clone(&upstream));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (upstream, url)
    }
}

async fn serve_upstream(place: &TestFolder, url: &str, wire: Wire, revision: Revision) -> TestClient {
    place.file("upstream.md", &documents::http_document("upstream", url));
    connect_with(place, &["upstream.md"], wire, revision, |command| {
        command.env("UPSTREAM_TOKEN", TOKEN);
    })
    .await
}

fn slow_call() -> Value {
    json!({"operation": "run_slowly"})
}

#[tokio::test]
async fn answers_and_errors_of_an_api_are_returned_as_envelopes() {
    let (_, url) = Upstream::start().await;
    for (wire, revision) in ALL_CONNECTIONS {
        let place = TestFolder::new();
        let client = serve_upstream(&place, &url, wire, revision).await;
        let tool = "upstream_mcpaql_read";
        let get = |id: &str| json!({"operation": "get_thing", "params": {"id": id}});

        let (answer, is_error) = client.call(tool, get("a b/c")).await;
        assert_eq!((answer, is_error), (json!({"success": true, "data": {"id": "a b/c"}}), false));

        let (missing, is_error) = client.call(tool, get("missing")).await;
        assert_eq!((&missing["error"]["code"], is_error), (&json!("NOT_FOUND_RESOURCE"), false));
        assert!(missing["error"]["details"]["upstream"].to_string().contains("no such thing"), "{missing}");

        let (broken, is_error) = client.call(tool, get("broken")).await;
        assert!(is_error, "{broken}");
        assert!(!broken.to_string().contains(TOKEN), "{broken}");

        let reads = &client.tools().await[0]["annotations"];
        assert_eq!(reads["openWorldHint"], true);
    }
}

#[tokio::test]
async fn a_call_on_the_command_line_prints_the_files_of_an_answer() {
    let image = || async { ([("content-type", "image/png")], "png") };
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/image", get(image));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let place = TestFolder::new();
    place.file(
        "images.yaml",
        &format!(
            "name: images\ntype: adapter\nversion: \"1.0.0\"\ndescription: Images\ntarget: {{ base_url: \"{url}\" }}\n\
             operations: {{ read: [{{ name: get_image, maps_to: GET /image }}] }}\n"
        ),
    );
    let ran = place.run(&["call", "images.yaml", "get_image"]).await;
    let block = r#"{"type":"image","data":"cG5n","mimeType":"image/png"}"#;
    let expected = format!("{{\n  \"media_type\": \"image/png\",\n  \"bytes\": 3\n}}\n{block}\n");
    assert_eq!((ran.status, ran.stdout), (Some(0), expected), "{}", ran.stderr);
}

#[tokio::test]
async fn a_call_on_the_command_line_prints_data_as_it_was_answered() {
    let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
    let rows = format!(
        r#"[{{"d":1e400,"l":"\ud800","i":123456789012345678901234567890,"e":1E5}},{{"d":1,"d":{deep}}}]"#
    );
    let body = format!(r#"{{"items":{rows},"total":2}}"#);
    let answer = body.clone();
    let rows_answer = async move || ([("content-type", "application/json")], answer);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = Router::new().route("/rows", get(rows_answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    let place = TestFolder::new();
    place.file(
        "rows.yaml",
        &format!(
            "name: rows\ntype: adapter\nversion: \"1.0.0\"\ndescription: Rows\ntarget: {{ base_url: \"{url}\" }}\n\
             operations: {{ read: [{{ name: get_rows, maps_to: GET /rows }}] }}\n"
        ),
    );
    let call = async |flags: &[&str]| {
        let ran = place.run(&[&["call", "rows.yaml", "get_rows"], flags].concat()).await;
        assert_eq!(ran.status, Some(0), "{ran:?}");
        ran
    };
    let compact = |text: &str| text.replace([' ', '\n'], "");
    assert_eq!(compact(&call(&[]).await.stdout), body);
    assert_eq!(
        compact(&call(&["--format", "ndjson"]).await.stdout),
        compact(rows.strip_prefix('[').unwrap().strip_suffix(']').unwrap()).replace("},{", "}{")
    );
    let table = call(&["--format", "table"]).await.stdout;
    for text in ["1e400", r#""\ud800""#, "123456789012345678901234567890", "1E5"] {
        assert!(table.contains(text), "{table}");
    }
    let shaped = call(&["--fields", "d"]).await;
    assert!(
        shaped.stdout.contains(r#""d": "1e400""#) && !shaped.stdout.contains(r#""l""#),
        "{}",
        shaped.stdout
    );
    assert!(shaped.stderr.contains("Some data has another form"), "{}", shaped.stderr);
    let ran = place.run(&["call", "rows.yaml", "get_rows", "a=1", "a=2"]).await;
    assert!(ran.status == Some(2) && ran.stderr.contains("'a' is given twice"), "{ran:?}");
}

#[tokio::test]
async fn an_api_that_cannot_be_reached_is_an_error_for_the_host() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let place = TestFolder::new();
    let client = serve_upstream(&place, &url, Wire::Stdio, Revision::V2025).await;
    let arguments = json!({"operation": "get_thing", "params": {"id": "1"}});
    let (envelope, is_error) = client.call("upstream_mcpaql_read", arguments).await;
    assert_eq!(
        (&envelope["error"]["code"], is_error),
        (&json!("TRANSPORT_CONNECTION_FAILED"), true),
        "{envelope}"
    );
}

#[tokio::test]
async fn a_long_request_is_accompanied_by_rising_progress() {
    let (upstream, url) = Upstream::start().await;
    for (wire, revision) in ALL_CONNECTIONS {
        println!("{wire:?} {revision:?}");
        let place = TestFolder::new();
        let mut client = serve_upstream(&place, &url, wire, revision).await;
        let peer = client.peer.peer().clone();
        let running =
            tokio::spawn(
                async move { peer.call_tool(request("upstream_mcpaql_execute", slow_call())).await },
            );
        let first = with_timeout(client.progress.recv()).await.unwrap();
        let second = with_timeout(client.progress.recv()).await.unwrap();
        assert!(first.progress < second.progress && second.progress <= 100.0, "{first:?} {second:?}");
        assert!(second.message.is_some());
        upstream.gate.add_permits(1);
        assert_eq!(with_timeout(running).await.unwrap().unwrap().is_error, Some(false));
    }
}

async fn cancel_once(client: &TestClient, tool: &str, arguments: Value, begun: impl Future<Output = ()>) {
    let call = ClientRequest::CallToolRequest(CallToolRequest::new(request(tool, arguments)));
    let handle = client.peer.send_cancellable_request(call, PeerRequestOptions::no_options()).await.unwrap();
    begun.await;
    handle.cancel(Some("enough".to_owned())).await.unwrap();
}

#[tokio::test]
async fn cancelling_a_call_aborts_the_request_upstream() {
    let (upstream, url) = Upstream::start().await;
    for (wire, revision) in ALL_CONNECTIONS {
        println!("{wire:?} {revision:?}");
        let place = TestFolder::new();
        let client = serve_upstream(&place, &url, wire, revision).await;
        cancel_once(&client, "upstream_mcpaql_execute", slow_call(), async {
            with_timeout(upstream.begun.acquire()).await.unwrap().forget();
        })
        .await;
        with_timeout(upstream.dropped.acquire()).await.unwrap().forget();
        let arguments = json!({"operation": "get_thing", "params": {"id": "1"}});
        assert_eq!(client.call("upstream_mcpaql_read", arguments).await.0["success"], true);
    }
}

#[cfg(unix)]
mod programs {
    use super::*;
    use rustix::process::{Pid, test_kill_process};
    use std::time::Duration;

    /// Polls for the file, which another process writes.
    pub(super) async fn pid_in(path: std::path::PathBuf) -> Pid {
        with_timeout(async {
            loop {
                // The file exists before its content is written.
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                if let Ok(pid) = text.trim().parse() {
                    return Pid::from_raw(pid).unwrap();
                }
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        })
        .await
    }

    #[tokio::test]
    async fn a_program_answers_through_a_tool() {
        let place = TestFolder::new();
        place.file("shell.md", documents::command_document());
        for (wire, revision) in ALL_CONNECTIONS {
            let client = connect(&place, &["shell.md"], wire, revision).await;
            let arguments = json!({"operation": "say", "params": {"text": "a; $(b) 'c' é"}});
            let (envelope, is_error) = client.call("shell_mcpaql_read", arguments).await;
            assert_eq!((envelope, is_error), (json!({"success": true, "data": "a; $(b) 'c' é"}), false));
        }
    }

    #[tokio::test]
    async fn cancelling_a_call_ends_the_program_and_its_children() {
        let place = TestFolder::new();
        place.file("shell.md", documents::command_document());
        for (wire, revision) in ALL_CONNECTIONS {
            println!("{wire:?} {revision:?}");
            let client = connect(&place, &["shell.md"], wire, revision).await;
            let file = place.path().join(format!("{wire:?}-{revision:?}"));
            let arguments = json!({"operation": "wait_for_ever", "params": {"started": file}});
            let mut grandchild = None;
            cancel_once(&client, "shell_mcpaql_execute", arguments, async {
                grandchild = Some(pid_in(file.clone()).await);
            })
            .await;
            let grandchild = grandchild.unwrap();
            with_timeout(async {
                while test_kill_process(grandchild).is_ok() && !is_zombie(grandchild) {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            })
            .await;
        }
    }

    /// Whether the process has exited, but its parent has not collected its status.
    fn is_zombie(pid: Pid) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
        stat.is_ok_and(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z')))
    }
}
