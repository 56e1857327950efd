//! The serving process: start, output and exit.

use crate::documents;
use crate::fixture::{RawClient, RunOutput, ServerProcess, TestFolder, initialize, tools_call};
use serde_json::{Value, json};

#[tokio::test]
async fn nothing_but_the_protocol_is_on_standard_output() {
    let place = TestFolder::new();
    let mut command = place.binary(&["serve", "--data", "data"]);
    command.env("RUST_LOG", "mcpaql=trace,mcpaql_runtime=trace");
    // `receive` fails unless every line is a JSON-RPC message.
    let mut raw = RawClient::initialized(command).await;
    raw.send(&tools_call(1, "notebook_mcpaql_create", "create_note", json!({"title": "t"}))).await;
    assert_eq!(raw.envelope().await["success"], true);
    raw.end_input();
    assert_eq!(raw.receive().await, None);
    let (status, stderr) = raw.server.wait_for_exit().await;
    assert!(status.success());
    assert!(stderr.contains("serving"), "{stderr}");
}

#[tokio::test]
async fn the_end_of_input_stops_the_server() {
    let place = TestFolder::new();
    let ran = RunOutput::of(place.binary(&["serve"])).await;
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), ""));
    let ran = RunOutput::with_input(place.binary(&["serve"]), &format!("{}\n", initialize())).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(ran.json()["result"]["serverInfo"]["name"], "mcpaql");
}

#[tokio::test]
async fn the_log_can_be_json() {
    let place = TestFolder::new();
    let ran = RunOutput::of(place.binary(&["serve", "--log", "json"])).await;
    let lines: Vec<Value> = ran.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().any(|line| line["fields"]["adapter"] == "notebook"), "{}", ran.stderr);
}

#[tokio::test]
async fn a_document_that_cannot_be_served_stops_the_start() {
    let place = TestFolder::new();
    place.file("broken.md", "---\nname: broken\n---\n");
    let ran = place.run(&["serve", "broken.md"]).await;
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""));
    assert!(ran.stderr.contains("mcpaql check broken.md"), "{}", ran.stderr);
    let ran = place.run(&["serve", "absent.md"]).await;
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("absent.md"), "{}", ran.stderr);
}

#[tokio::test]
async fn two_adapters_share_a_server_unless_their_tools_share_a_name() {
    let place = TestFolder::new();
    place.file("a.md", &documents::http_document("first", "https://a.example.com"));
    place.file("b.md", &documents::http_document("second", "https://b.example.com"));
    let with_token = |args: &[&str]| {
        let mut command = place.binary(args);
        command.env("UPSTREAM_TOKEN", "t");
        command
    };
    let mut raw = RawClient::initialized(with_token(&["serve", "a.md", "b.md"])).await;
    raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    let listed = raw.receive().await.unwrap();
    let names: Vec<&str> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        ["first_mcpaql_read", "first_mcpaql_execute", "second_mcpaql_read", "second_mcpaql_execute"]
    );

    place.file("c.md", &documents::http_document("first", "https://c.example.com"));
    let ran = RunOutput::of(with_token(&["serve", "a.md", "c.md"])).await;
    assert_eq!(ran.status, Some(2));
    for part in ["first_mcpaql_execute", "a.md", "c.md", "prefix"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    let ran = RunOutput::of(with_token(&["serve", "a.md", "b.md", "--prefix", "x_"])).await;
    assert_eq!(ran.status, Some(2), "one prefix for both makes them collide");
}

#[tokio::test]
async fn a_public_address_needs_a_token() {
    let place = TestFolder::new();
    let ran = place.run(&["serve", "--http", "0.0.0.0:0"]).await;
    assert_eq!(ran.status, Some(2));
    for part in ["--token-env", "127.0.0.1"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    let ran = place.run(&["serve", "--http", "0.0.0.0:0", "--token-env", "ABSENT"]).await;
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("ABSENT"), "{}", ran.stderr);

    let allowed = ["serve", "--http", "0.0.0.0:0", "--allow-remote-without-authentication"];
    ServerProcess::start(place.binary(&allowed)).address().await;
}

#[tokio::test]
async fn health_is_open_and_tools_are_behind_the_token() {
    crate::fixture::install_crypto_provider();
    let place = TestFolder::new();
    let mut command = place.binary(&["serve", "--http", "127.0.0.1:0", "--token-env", "TOKEN"]);
    command.env("TOKEN", "hunter2-of-the-server").env("RUST_LOG", "mcpaql=trace,mcpaql_runtime=trace");
    let mut server = ServerProcess::start(command);
    let address = server.address().await;
    let http = reqwest::Client::new();

    let health = http.get(format!("http://{address}/healthz")).send().await.unwrap();
    assert_eq!(health.status(), 200);
    let health: Value = serde_json::from_str(&health.text().await.unwrap()).unwrap();
    assert_eq!(health["status"], "ok");

    let post = |token: &str| {
        http.post(format!("http://{address}/mcp"))
            .header("authorization", format!("Bearer {token}"))
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(initialize().to_string())
    };
    assert_eq!(post("hunter2-wrong").send().await.unwrap().status(), 401);
    assert_eq!(post("hunter2-of-the-server").send().await.unwrap().status(), 200);
    server.child.start_kill().unwrap();
    let (_, stderr) = server.wait_for_exit().await;
    assert!(!stderr.contains("hunter2"), "{stderr}");
}

#[tokio::test]
async fn secrets_are_never_logged() {
    let place = TestFolder::new();
    // Nothing listens on this port, so the call fails and its cause is logged.
    place.file("api.md", &documents::http_document("api", "http://127.0.0.1:9"));
    let mut command = place.binary(&["serve", "api.md"]);
    command
        .env("UPSTREAM_TOKEN", "hunter2")
        .env("RUST_LOG", "mcpaql=trace,mcpaql_runtime=trace,mcpaql_core=trace");
    let mut raw = RawClient::initialized(command).await;
    raw.send(&tools_call(1, "api_mcpaql_read", "get_thing", json!({"id": "1"}))).await;
    let envelope = raw.envelope().await;
    assert_eq!(envelope["success"], false);
    raw.end_input();
    let (_, stderr) = raw.server.wait_for_exit().await;
    assert!(stderr.contains("call failed"), "{stderr}");
    assert!(!stderr.contains("hunter2") && !envelope.to_string().contains("hunter2"), "{stderr}");
}

#[tokio::test]
async fn the_variable_of_a_missing_secret_is_named() {
    let place = TestFolder::new();
    place.file("api.md", &documents::http_document("api", "http://127.0.0.1:9"));
    let ran = place.run(&["call", "api.md", "get_thing", "id=1"]).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.stderr.contains("UPSTREAM_TOKEN"), "{}", ran.stderr);
}

#[tokio::test]
async fn a_large_adapter_is_served_with_a_small_surface() {
    let place = TestFolder::new();
    place.file("big.md", &documents::large_document(3000));
    let mut raw = RawClient::initialized(place.binary(&["serve", "big.md"])).await;
    raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    let listed = raw.receive().await.unwrap();
    let surface = listed["result"].to_string().len();
    assert!(surface < 20_000, "{surface} bytes");
    let params = json!({"name": "get_part_2999"});
    raw.send(&tools_call(2, "big_mcpaql_read", "introspect", params)).await;
    assert_eq!(raw.envelope().await["data"]["operation"]["name"], "get_part_2999");
}

#[cfg(unix)]
mod signals {
    use super::*;
    use crate::fixture::with_timeout;
    use rustix::process::Signal;

    async fn a_running_call_outlives(signal: Signal) {
        let place = TestFolder::new();
        place.file("shell.md", documents::command_document());
        let mut raw = RawClient::initialized(place.binary(&["serve", "shell.md"])).await;
        let (started, go) = (place.path().join("started"), place.path().join("go"));
        let params = json!({"started": started, "go": go});
        raw.send(&tools_call(1, "shell_mcpaql_execute", "wait_until", params)).await;
        with_timeout(async {
            while !started.exists() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        })
        .await;
        raw.server.signal(signal);
        raw.server.wait_for_stderr("stopping").await;
        std::fs::write(&go, "").unwrap();
        assert_eq!(raw.envelope().await, json!({"success": true, "data": "waited"}));
        assert_eq!(raw.receive().await, None);
        let (status, _) = raw.server.wait_for_exit().await;
        assert_eq!(status.code(), Some(0));
    }

    #[tokio::test]
    async fn a_running_call_outlives_sigterm() {
        a_running_call_outlives(Signal::TERM).await;
    }

    #[tokio::test]
    async fn a_running_call_outlives_sigint() {
        a_running_call_outlives(Signal::INT).await;
    }

    #[tokio::test]
    async fn an_http_server_exits_cleanly_too() {
        for signal in [Signal::TERM, Signal::INT] {
            let place = TestFolder::new();
            let mut server = ServerProcess::start(place.binary(&["serve", "--http", "127.0.0.1:0"]));
            server.address().await;
            server.signal(signal);
            assert_eq!(server.wait_for_exit().await.0.code(), Some(0));
        }
    }
}
