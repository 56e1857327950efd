//! `mcpaql audit`: checks the tools of any server.

mod fixes;
mod hostile_servers;
mod probing;
mod sources;
mod standards;
#[cfg(unix)]
mod streams;

use crate::fixture::{RunOutput, TestFolder};
use serde_json::{Value, json};

/// Two tools: one is marked both read-only and destructive, the other has a name that no client accepts.
fn tools() -> Value {
    json!({"tools": [
        {"name": "delete note", "title": "Delete note", "description": "Removes a note and everything that hangs on it.",
         "inputSchema": {"type": "object"}},
        {"name": "get_note", "title": "Get note", "description": "Gives the text and the labels of one note.",
         "inputSchema": {"type": "object"},
         "annotations": {"readOnlyHint": true, "destructiveHint": true, "idempotentHint": true, "openWorldHint": false}},
    ]})
}

/// Returns a folder with these tools as `notes.json`.
fn notes() -> TestFolder {
    let place = TestFolder::new();
    place.file("notes.json", &format!("{:#}", tools()));
    place
}

/// Runs an audit, and returns the report as JSON, too.
async fn report(place: &TestFolder, args: &[&str]) -> (RunOutput, Value) {
    let ran = place.run(&[&["audit", "--format", "json"], args].concat()).await;
    let report = if ran.stdout.is_empty() { Value::Null } else { ran.json() };
    (ran, report)
}

/// Returns `RULE tool` for every finding.
fn finding_codes(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap_or_else(|| panic!("{report}"));
    let shown = |finding: &Value| {
        format!("{} {}", finding["rule"].as_str().unwrap(), finding["tool"].as_str().unwrap_or("-"))
    };
    findings.iter().map(shown).collect()
}
