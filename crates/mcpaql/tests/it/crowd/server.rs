//! An MCP server in a separate process, as the upstream of a gateway. It is this test program, started with one test that serves
//! instead of testing.

use serde_json::{Value, json};
use std::io::{BufRead, Write};

/// Environment variable that makes the test serve.
pub(super) const SERVES: &str = "CROWD_FIXTURE";

/// The arguments that run only the test that serves.
pub(super) const ARGUMENTS: [&str; 4] =
    ["crowd::server::serves_other_tests", "--exact", "--ignored", "--nocapture"];

#[test]
#[ignore = "serves other tests, which start it"]
fn serves_other_tests() {
    if std::env::var_os(SERVES).is_some() {
        let mut held = 0;
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            hear(&serde_json::from_str(&line).unwrap(), &mut held);
        }
        std::process::exit(0);
    }
}

fn hear(message: &Value, held: &mut usize) {
    let (id, params) = (&message["id"], &message["params"]);
    let result = match message["method"].as_str() {
        Some("initialize") => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "crowded", "version": "1"}}),
        Some("tools/list") => tools(),
        Some("tools/call") => match called(params, held) {
            Some(text) => json!({"content": [{"type": "text", "text": text}]}),
            None => return,
        },
        _ if id.is_null() => return,
        _ => json!({}),
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}", json!({"jsonrpc": "2.0", "id": id, "result": result})).unwrap();
    out.flush().unwrap();
}

fn tools() -> Value {
    let tool = |name: &str, properties: Value| {
        json!({"name": name, "description": "For tests", "annotations": {"readOnlyHint": true},
            "inputSchema": {"type": "object", "properties": properties}})
    };
    json!({"tools": [
        tool("get_echo", json!({"text": {"type": "string"}})),
        tool("get_held", json!({})),
        tool("get_nothing", json!({})),
        tool("get_much", json!({"bytes": {"type": "integer"}})),
    ]})
}

/// Returns the answer of a tool, or `None` for a call that is never answered.
fn called(params: &Value, held: &mut usize) -> Option<String> {
    let arguments = &params["arguments"];
    match params["name"].as_str().unwrap() {
        "get_echo" => Some(arguments["text"].as_str().unwrap().to_owned()),
        "get_held" => Some(json!({"calls": *held, "pid": std::process::id()}).to_string()),
        "get_nothing" => {
            *held += 1;
            None
        }
        _ => Some("y".repeat(usize::try_from(arguments["bytes"].as_u64().unwrap()).unwrap())),
    }
}
