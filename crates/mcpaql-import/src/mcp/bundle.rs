//! Writes the discovery bundle: the captured answers of a server, the imported operations, and the reasons for each decision.
//!
//! What always holds: the bundle contains no secrets, neither tokens in descriptions nor values of variables. It contains no
//! time, so that the same server always gives the same bytes.

use super::ImportedServer;
use crate::report;
use mcpaql_core::adapter::{McpLink, TargetConfig};
use mcpaql_core::capture::Capture;
use mcpaql_core::operation::{Binding, Operation};
use mcpaql_document::load::{is_credential_name, without_credentials};
use serde_json::{Map, Value, json};

/// Replaces a secret.
const MASK: &str = "•••";
/// Keywords of a schema that contain values.
const VALUES: [&str; 5] = ["const", "default", "enum", "example", "examples"];

/// Returns the bundle of an imported server. The fingerprint is that of [`canonical`].
#[must_use]
pub fn bundle(capture: &Capture, imported: &ImportedServer, fingerprint: &str) -> Value {
    let rows = imported.adapter.operations.iter().zip(&imported.report.operations);
    let operations: Vec<Value> = rows
        .map(|(made, classified)| {
            let mut row = report::operation_json(classified, &imported.notes);
            if let Some(row) = row.as_object_mut() {
                add_operation_details(row, made);
            }
            row
        })
        .collect();
    let warnings: Vec<Value> = imported.report.diagnostics.iter().map(report::diagnostic_json).collect();
    let whole = json!({
        "provenance": provenance(capture, imported, fingerprint),
        "operations": operations,
        "types": imported.adapter.types,
        "warnings": warnings,
        "capture": capture.to_json(),
    });
    redacted("", whole, false)
}

/// Returns the text that identifies a server, independent of the order of its tools.
#[must_use]
pub fn canonical(capture: &Capture) -> String {
    let mut tools: Vec<(String, String)> = capture
        .tools
        .iter()
        .map(|tool| {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            (name, tool.to_string())
        })
        .collect();
    tools.sort_unstable();
    let mut text = String::new();
    for key in ["serverInfo", "instructions"] {
        text.extend(capture.initialize.get(key).map(|value| format!("{value}\n")));
    }
    tools.iter().for_each(|(_, tool)| {
        text.push_str(tool);
        text.push('\n');
    });
    text
}

/// Adds title, description, parameters and answer of an operation.
fn add_operation_details(row: &mut Map<String, Value>, operation: &Operation) {
    row.insert("title".to_owned(), operation.title.as_str().into());
    row.insert("description".to_owned(), operation.description.as_str().into());
    if let Binding::Mcp(mcp) = &operation.binding
        && !mcp.fixed.is_empty()
    {
        row.insert("fixed".to_owned(), mcp.fixed.clone().into());
    }
    let params: Vec<Value> = operation
        .params
        .iter()
        .map(|param| {
            json!({
                "name": param.name,
                "wire": param.wire,
                "required": param.required,
                "description": param.description,
                "schema": param.schema,
            })
        })
        .collect();
    row.insert("params".to_owned(), params.into());
    if let Some(returns) = &operation.returns {
        row.insert("returns".to_owned(), returns.schema.clone());
    }
}

fn provenance(capture: &Capture, imported: &ImportedServer, fingerprint: &str) -> Value {
    let server = capture.server();
    let member = |key: &str| server.and_then(|server| server.get(key)).cloned().unwrap_or_default();
    json!({
        "adapter": imported.adapter.name,
        "server": {"name": member("name"), "version": member("version")},
        "protocol_version": capture.initialize.get("protocolVersion").cloned().unwrap_or_default(),
        "reached": connection_summary(&imported.adapter.target),
        "fingerprint": fingerprint,
    })
}

/// Returns the command or URL of the server, with names of variables and headers but never their values.
fn connection_summary(target: &TargetConfig) -> Value {
    let TargetConfig::Mcp(target) = target else { return Value::Null };
    match &target.link {
        McpLink::Command(program) => {
            let env: Vec<&String> = program.env.iter().chain(program.set_env.keys()).collect();
            let command: Vec<String> = program.command.iter().map(|word| without_values(word)).collect();
            json!({"command": command, "env": env})
        }
        McpLink::Url { url, headers, .. } => {
            let headers: Vec<&String> = headers.keys().collect();
            json!({"url": without_credentials("base_url", url), "headers": headers})
        }
    }
}

/// Masks the values of `--api-key=…` and `TOKEN=…`.
fn without_values(word: &str) -> String {
    match word.split_once('=') {
        Some((name, value)) if is_credential_name(name) && !value.contains("${env:") => {
            format!("{name}={MASK}")
        }
        _ => word.to_owned(),
    }
}

/// Masks everything that looks like a secret. `secret` is set inside the schema of a secret.
fn redacted(key: &str, value: Value, secret: bool) -> Value {
    match value {
        Value::String(_) if secret && VALUES.contains(&key) => Value::from(MASK),
        Value::String(text) => Value::String(without_credentials("base_url", &text).into_owned()),
        Value::Array(items) => items.into_iter().map(|item| redacted(key, item, secret)).collect(),
        Value::Object(members) => {
            let environment = matches!(key, "env" | "environment" | "headers");
            let masked = members.into_iter().map(|(name, inner)| {
                let inner = match inner {
                    Value::String(_) if environment || is_credential_name(&name) => Value::from(MASK),
                    inner => {
                        let secret = is_credential_name(&name) || (secret && VALUES.contains(&name.as_str()));
                        redacted(&name, inner, secret)
                    }
                };
                (name, inner)
            });
            Value::Object(masked.collect())
        }
        plain => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_everywhere() {
        let token = ["ghp_", "0123456789abcdefghijABCDEFGHIJ"].concat();
        let found = redacted(
            "",
            json!({
                "description": format!("Use {token} as token"),
                "url": "https://user:hunter2@example.com/x?api_key=hunter2",
                "env": {"HOME": "hunter2"},
                "properties": {
                    "api_key": {"type": "string", "default": "hunter2", "description": "The key"},
                    "state": {"enum": ["open"], "default": "open"}
                },
                "password": "hunter2"
            }),
            false,
        );
        let text = found.to_string();
        assert!(!text.contains("hunter2") && !text.contains(&token), "{text}");
        assert_eq!(found["properties"]["state"], json!({"enum": ["open"], "default": "open"}));
        assert_eq!(found["properties"]["api_key"]["description"], "The key");
    }

    #[test]
    fn the_order_of_tools_does_not_matter() {
        let capture = |tools: Value| Capture::from_json(tools).unwrap();
        let one = capture(json!([{"name": "a"}, {"name": "b"}]));
        let other = capture(json!([{"name": "b"}, {"name": "a"}]));
        assert_eq!(canonical(&one), canonical(&other));
        assert_ne!(canonical(&one), canonical(&capture(json!([{"name": "a"}]))));
    }
}
