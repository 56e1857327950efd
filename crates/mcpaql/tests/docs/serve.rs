//! `mcpaql serve` with nothing configured, as a client starts it: over pipes.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(folder: &std::path::Path, args: &[&str]) -> Server {
    let child = Command::new(env!("CARGO_BIN_EXE_mcpaql"))
        .args(args)
        .current_dir(folder)
        .env("XDG_DATA_HOME", folder.join("data"))
        .env("XDG_STATE_HOME", folder.join("state"))
        .env("XDG_CONFIG_HOME", folder.join("config"))
        // Tools cached by another build would be announced as changed.
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .env_remove("RUST_LOG")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    Server(child)
}

fn initialize() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "docs", "version": "1"}}})
}

#[test]
fn nothing_configured_serves_a_notebook_over_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start(folder.path(), &["serve"]);
    let mut input = server.0.stdin.take().unwrap();
    let mut output = BufReader::new(server.0.stdout.take().unwrap());
    let mut ask = |message: Value| -> Value {
        writeln!(input, "{message}").unwrap();
        if message.get("id").is_none() {
            return Value::Null;
        }
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    let hello = ask(initialize());
    assert_eq!(hello["result"]["serverInfo"]["name"], "mcpaql", "{hello}");
    ask(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    let list = ask(json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"}));
    let names: Vec<&str> = list["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "notebook_mcpaql_create",
            "notebook_mcpaql_read",
            "notebook_mcpaql_update",
            "notebook_mcpaql_delete"
        ]
    );
    let call = ask(json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "notebook_mcpaql_create",
        "arguments": {"operation": "create_note", "params": {"title": "Hello"}}}}));
    let text = call["result"]["content"][0]["text"].as_str().unwrap();
    let envelope: Value = serde_json::from_str(text).unwrap();
    assert_eq!(envelope["data"]["title"], "Hello", "{envelope}");
    drop(input);
    assert!(server.0.wait().unwrap().success());
}

#[test]
fn http_asks_for_the_token_and_health_does_not() {
    let folder = tempfile::tempdir().unwrap();
    let child = Command::new(env!("CARGO_BIN_EXE_mcpaql"))
        .args(["serve", "--http", "127.0.0.1:0", "--token-env", "MCPAQL_TOKEN"])
        .current_dir(folder.path())
        .env("XDG_DATA_HOME", folder.path().join("data"))
        .env("MCPAQL_TOKEN", "correct horse battery")
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut server = Server(child);
    let mut log = BufReader::new(server.0.stderr.take().unwrap());
    let address = loop {
        let mut line = String::new();
        assert!(log.read_line(&mut line).unwrap() > 0, "the server ended");
        if let Some((_, rest)) = line.split_once("listening on http://") {
            break rest.trim().trim_end_matches("/mcp").to_owned();
        }
    };
    let body = initialize().to_string();
    let post = |token: &str| {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\n{token}Content-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        exchange(&address, &head)
    };
    let health = format!("GET /healthz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    assert!(exchange(&address, &health).contains(r#""status":"ok""#));
    assert!(post("").starts_with("HTTP/1.1 401"));
    assert!(post("Authorization: Bearer correct horse battery\r\n").contains(r#""serverInfo""#));
}

fn exchange(address: &str, request: &str) -> String {
    let mut connection = TcpStream::connect(address).unwrap();
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn another_machine_is_not_served_without_a_token() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = start(folder.path(), &["serve", "--http", "0.0.0.0:0"]);
    assert_eq!(server.0.wait().unwrap().code(), Some(2));
    let mut text = String::new();
    server.0.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(text.contains("--token-env"), "{text}");
}
