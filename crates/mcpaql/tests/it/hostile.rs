//! Clients and systems that would end the server or fill its memory: the binary itself, measured from outside.

use crate::fixture::{
    RawClient, RunOutput, ServerProcess, TestFolder, initialize, install_crypto_provider, tools_call,
    with_timeout,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::AsyncWriteExt;

const MEGABYTE: usize = 1_000_000;

/// A value of `/proc/PID/status`, in bytes.
fn memory(server: &ServerProcess, key: &str) -> usize {
    let path = format!("/proc/{}/status", server.child.id().unwrap());
    let status = std::fs::read_to_string(path).unwrap();
    let line = status.lines().find(|line| line.starts_with(key)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

async fn assert_serves(raw: &mut RawClient, id: u32) {
    raw.send(&tools_call(id, "notebook_mcpaql_read", "list_notes", json!({}))).await;
    loop {
        let answer = raw.receive().await.unwrap();
        if answer["id"] == id {
            assert_eq!(answer["result"]["isError"], false, "{answer}");
            return;
        }
    }
}

#[tokio::test]
async fn a_line_of_15_megabytes_costs_at_most_four_times_its_size() {
    let place = TestFolder::new();
    for item in ["{}", "1", "\"\"", "[]", "{\"a\":null}"] {
        let mut raw = RawClient::initialized(place.binary(&["serve", "notebook"])).await;
        assert_serves(&mut raw, 1).await;
        let before = memory(&raw.server, "VmRSS");
        let items = format!("{item},").repeat(15 * MEGABYTE / (item.len() + 1));
        let params = json!({"title": "x", "body": "@"});
        let line = tools_call(2, "notebook_mcpaql_create", "create_note", params).to_string();
        let line = line.replace(r#""@""#, &format!("[{items}0]"));
        let size = line.len();
        raw.send_text(&line).await;
        let answer = raw.receive().await.unwrap();
        assert_eq!(answer["id"], 2);
        assert!(answer["error"]["message"].as_str().unwrap().contains("JSON values"), "{answer}");
        assert_serves(&mut raw, 3).await;
        let most = memory(&raw.server, "VmHWM").saturating_sub(before);
        assert!(most <= 4 * size, "{item}: {} MB for a line of {} MB", most / MEGABYTE, size / MEGABYTE);
    }
}

#[tokio::test]
async fn a_client_that_never_reads_costs_little_memory() {
    let place = TestFolder::new();
    for method in ["tools/list", "notifications/initialized"] {
        let mut raw = RawClient::initialized(place.binary(&["serve", "notebook"])).await;
        assert_serves(&mut raw, 1).await;
        let before = memory(&raw.server, "VmRSS");
        let mut input = raw.take_input();
        // Without back-pressure, this alone would make several hundred megabytes of answers or tasks.
        let flood = async {
            for id in 2..30_000 {
                let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
                if method.starts_with("notifications") {
                    message.as_object_mut().unwrap().remove("id");
                }
                input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
            }
        };
        // It stands still when the server stops reading.
        let _ = tokio::time::timeout(Duration::from_secs(5), flood).await;
        let most = memory(&raw.server, "VmHWM").saturating_sub(before);
        assert!(most <= 40 * MEGABYTE, "{method}: {} MB", most / MEGABYTE);
    }
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn above_its_memory_limit_the_server_refuses_calls_and_recovers() {
    let place = TestFolder::new();
    place.file("shell.md", crate::documents::command_document());
    place.file(
        "mcpaql.yaml",
        "limits: {memory: 32MB}\nadapters: [{document: shell.md}, {builtin: notebook}]\n",
    );
    place.trust();
    let mut raw = RawClient::initialized(place.binary(&["serve", "--data", "data"])).await;
    assert_serves(&mut raw, 1).await;
    assert!(memory(&raw.server, "VmRSS") > 32 << 20, "the limit is too high for this test");
    let (started, go) = (place.path().join("started"), place.path().join("go"));
    let params = json!({"started": started, "go": go});
    raw.send(&tools_call(2, "shell_mcpaql_execute", "wait_until", params)).await;
    with_timeout(async {
        while !started.exists() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
    raw.send(&tools_call(3, "notebook_mcpaql_read", "list_notes", json!({}))).await;
    let refused = raw.envelope().await;
    assert_eq!(refused["error"]["code"], "RATE_LIMIT_EXCEEDED", "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("memory"), "{refused}");
    std::fs::write(&go, "").unwrap();
    assert_eq!(raw.envelope().await["data"], "waited");
    assert_serves(&mut raw, 4).await;
}

#[tokio::test]
async fn signals_of_the_system_do_not_end_the_server() {
    let place = TestFolder::new();
    let mut raw = RawClient::initialized(place.binary(&["serve", "notebook"])).await;
    for (id, signal) in [(1, Signal::XFSZ), (2, Signal::PIPE)] {
        raw.server.signal(signal);
        assert_serves(&mut raw, id).await;
    }
}

#[tokio::test]
async fn a_full_file_fails_the_call_that_writes_and_nothing_else() {
    let place = TestFolder::new();
    let mut command = tokio::process::Command::new("sh");
    // Files of at most 512 KB or 1 MB, depending on the shell.
    let script = format!("ulimit -f 1000; exec '{}' serve notebook", crate::fixture::BINARY);
    command
        .args(["-c", &script])
        .current_dir(place.path())
        .env_clear()
        .env("HOME", place.path())
        .kill_on_drop(true);
    let mut raw = RawClient::initialized(command).await;
    assert_serves(&mut raw, 1).await;
    let mut error = String::new();
    for id in 2..60 {
        let params = json!({"title": "large", "body": "x".repeat(90_000)});
        raw.send(&tools_call(id, "notebook_mcpaql_create", "create_note", params)).await;
        let answer = raw.receive().await.unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        if text.contains(r#""success":false"#) {
            error = text.to_owned();
            break;
        }
    }
    assert!(!error.is_empty() && !error.contains("VALIDATION"), "the limit was never reached: {error}");
    assert_serves(&mut raw, 90).await;
}

#[tokio::test]
async fn tokens_certificates_and_limits_are_flags() {
    install_crypto_provider();
    let place = TestFolder::new();
    let certificates = concat!(env!("CARGO_MANIFEST_DIR"), "/../mcpaql-runtime/tests/it/certificates");
    let (cert, key) = (format!("{certificates}/first.cert.pem"), format!("{certificates}/first.key.pem"));
    let start = |more: &[&str]| {
        let mut command = place.binary(&[&["serve", "notebook", "--http", "127.0.0.1:0"], more].concat());
        command
            .env("ALICE", "the-token-of-alice")
            .env("BOB", "the-token-of-bob-1")
            .env("SHORT", "fifteen-letters");
        command
    };
    let both =
        ["--token-env", "alice=ALICE", "--token-env", "bob=BOB", "--tls-cert", &cert, "--tls-key", &key];
    let mut server = ServerProcess::start(start(&[&both[..], &["--max-connections", "2"]].concat()));
    let stderr = server.wait_for_stderr("/mcp").await;
    let (_, rest) = stderr.split_once("https://127.0.0.1:").unwrap();
    let port = rest.split_once('/').unwrap().0;
    let pem = reqwest::Certificate::from_pem(&std::fs::read(&cert).unwrap()).unwrap();
    let http = reqwest::Client::builder().tls_certs_only([pem]).build().unwrap();
    for (token, status) in
        [("the-token-of-alice", 200), ("the-token-of-bob-1", 200), ("the-token-of-carl-1", 401)]
    {
        let answer = http
            .post(format!("https://localhost:{port}/mcp"))
            .bearer_auth(token)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(initialize().to_string());
        assert_eq!(with_timeout(answer.send()).await.unwrap().status(), status, "{token}");
    }
    let stderr = server.wait_for_stderr("wrong token").await;
    assert!(stderr.contains("127.0.0.1") && !stderr.contains("carl"), "{stderr}");

    for (more, parts) in [
        (&["--token-env", "SHORT"][..], &["16 characters", "hint:", "urandom"][..]),
        (&["--token-env", "a=ALICE", "--token-env", "b=ALICE"], &["'b'", "same value"]),
        (&["--token-env", "two words=ALICE"], &["name"]),
        (&["--tls-cert", &cert], &["--tls-key"]),
        (&["--tls-cert", &cert, "--tls-key", &cert], &["no private key", "hint:"]),
        (&["--max-connections", "0"], &["--max-connections"]),
    ] {
        let ran = RunOutput::of(start(more)).await;
        assert_eq!(ran.status, Some(2), "{more:?}: {ran:?}");
        assert!(parts.iter().all(|part| ran.stderr.contains(part)), "{more:?}: {}", ran.stderr);
        assert!(!ran.stderr.contains("fifteen") && !ran.stderr.contains("the-token"), "{}", ran.stderr);
    }
}

#[tokio::test]
async fn plain_text_beyond_this_machine_is_warned_about() {
    let place = TestFolder::new();
    let mut command = place.binary(&["serve", "notebook", "--http", "0.0.0.0:0", "--token-env", "TOKEN"]);
    command.env("TOKEN", "a-token-that-is-long-enough");
    let mut server = ServerProcess::start(command);
    server.wait_for_stderr("without TLS").await;
    let mut server = ServerProcess::start(place.binary(&["serve", "notebook", "--http", "127.0.0.1:0"]));
    let stderr = server.wait_for_stderr("/mcp").await;
    assert!(!stderr.contains("TLS"), "{stderr}");
}

#[tokio::test]
async fn a_handshake_that_cannot_be_read_does_not_end_the_server() {
    let place = TestFolder::new();
    let mut raw = RawClient::start(place.binary(&["serve", "notebook"]));
    raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}})).await;
    assert_eq!(raw.receive().await.unwrap()["error"]["code"], -32602);
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    raw.send(&initialize()).await;
    let answer: Value = raw.receive().await.unwrap();
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
    assert_serves(&mut raw, 2).await;
}
