//! The real standard streams: this test binary starts itself as a server.

use crate::fixture::{Fixture, call, initialize};
use mcpaql_runtime::mcp::ServerLimits;
use mcpaql_runtime::serve::serve_stdio;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};
use tokio_util::sync::CancellationToken;

#[tokio::test]
#[ignore = "the server that the other tests start"]
async fn child() {
    serve_stdio(Fixture::new(), ServerLimits::default(), CancellationToken::new()).await.unwrap();
}

fn server() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--ignored", "--exact", "stdio::child", "--nocapture", "--quiet"]);
    command
}

fn conversation() -> Vec<u8> {
    let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    let messages = [initialize(), initialized, call(1, "echo", json!({"it": "x".repeat(100_000)}))];
    messages.iter().flat_map(|message| format!("{message}\n").into_bytes()).collect()
}

/// The messages of the protocol, without the lines of the child's test harness.
fn messages(output: &[u8]) -> Vec<Value> {
    let lines = output.split(|&byte| byte == b'\n');
    lines.filter_map(|line| serde_json::from_slice(line).ok()).filter(Value::is_object).collect()
}

fn assert_both_answered(output: &[u8]) {
    let messages = messages(output);
    let ids: Vec<_> = messages.iter().map(|message| &message["id"]).collect();
    assert_eq!(ids, [&json!(0), &json!(1)]);
    assert!(messages[1]["result"]["content"][0]["text"].as_str().unwrap().len() > 100_000);
}

#[test]
fn pipes_carry_a_conversation_to_its_end() {
    let mut child = server().stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(&conversation()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    assert_both_answered(&output.stdout);
}

#[test]
fn files_carry_a_conversation_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("in"), folder.path().join("out"));
    std::fs::write(&input, conversation()).unwrap();
    let status =
        server().stdin(File::open(&input).unwrap()).stdout(File::create(&output).unwrap()).status().unwrap();
    assert!(status.success());
    assert_both_answered(&std::fs::read(&output).unwrap());
}
