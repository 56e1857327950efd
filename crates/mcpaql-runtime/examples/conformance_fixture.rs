//! A server for the official MCP conformance suite: our transport and protocol code, with those fixture tools of the
//! suite that a service can implement. Started by `.ci/conformance`; prints its address when it listens.

use mcpaql_core::catalog::Tool;
use mcpaql_core::policy::Hints;
use mcpaql_core::response::ToolReply;
use mcpaql_runtime::caller::{Ability, Caller};
use mcpaql_runtime::protocol::Features;
use mcpaql_runtime::serve::{HttpOptions, ServeError, serve_http};
use mcpaql_runtime::service::Service;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

struct Fixture {
    tools: Arc<[Tool]>,
    changes: watch::Sender<()>,
}

fn tool(name: &str, input_schema: Value) -> Tool {
    Tool {
        name: name.to_owned(),
        title: name.replace('_', " "),
        description: format!("Fixture tool {name} of the conformance suite"),
        input_schema,
        output_schema: None,
        max_result_chars: None,
        hints: Hints { read_only: true, destructive: false, idempotent: true, open_world: false }.into(),
        title_in_annotations: true,
    }
}

fn tools() -> Arc<[Tool]> {
    let nothing = || json!({"type": "object", "properties": {}});
    let keywords = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    let headers = json!({
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "priority": {"type": "integer", "x-mcp-header": "Priority"},
            "query": {"type": "string"},
        },
    });
    let mut tools = vec![tool("json_schema_2020_12_tool", keywords), tool("test_custom_headers", headers)];
    tools.extend(
        [
            "test_elicitation",
            "test_elicitation_sep1034_defaults",
            "test_elicitation_sep1330_enums",
            "test_error_handling",
            "test_logging_tool",
            "test_sampling",
            "test_simple_text",
            "test_streaming_elicitation",
            "test_tool_with_logging",
            "test_tool_with_progress",
            "test_trigger_tool_change",
        ]
        .map(|name| tool(name, nothing())),
    );
    tools.into()
}

/// The question that a tool asks its client.
fn question(tool: &str, arguments: &Map<String, Value>) -> Option<(Ability, Value)> {
    let argument = |key: &str| arguments.get(key).cloned().unwrap_or_default();
    let form = |message: Value, properties: Value| {
        let schema = json!({"type": "object", "properties": properties, "required": []});
        (Ability::Elicitation, json!({"message": message, "requestedSchema": schema}))
    };
    Some(match tool {
        "test_elicitation" => {
            form(argument("message"), json!({"username": {"type": "string"}, "email": {"type": "string"}}))
        }
        "test_elicitation_sep1034_defaults" => form(
            "Look at the defaults".into(),
            json!({
                "name": {"type": "string", "default": "John Doe"},
                "age": {"type": "integer", "default": 30},
                "score": {"type": "number", "default": 95.5},
                "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
                "verified": {"type": "boolean", "default": true},
            }),
        ),
        "test_elicitation_sep1330_enums" => {
            let titled = json!([{"const": "value1", "title": "One"}, {"const": "value2", "title": "Two"}]);
            let plain = json!(["option1", "option2", "option3"]);
            form(
                "Choose".into(),
                json!({
                    "untitledSingle": {"type": "string", "enum": plain},
                    "titledSingle": {"type": "string", "oneOf": titled},
                    "legacyEnum": {"type": "string", "enum": ["opt1", "opt2"], "enumNames": ["One", "Two"]},
                    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
                    "titledMulti": {"type": "array", "items": {"anyOf": titled}},
                }),
            )
        }
        "test_sampling" => {
            let message = json!({"role": "user", "content": {"type": "text", "text": argument("prompt")}});
            (Ability::Sampling, json!({"messages": [message], "maxTokens": 100}))
        }
        _ => return None,
    })
}

async fn log(caller: &Caller, text: &str) {
    caller.notify("notifications/message", json!({"level": "info", "data": text})).await;
}

impl Service for Fixture {
    fn tools(&self) -> Arc<[Tool]> {
        self.tools.clone()
    }

    fn instructions(&self) -> String {
        String::new()
    }

    fn features(&self) -> Features {
        Features { logging: true, ..Features::default() }
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> Option<ToolReply> {
        if let Some((ability, params)) = question(tool, &arguments) {
            let answer = caller.ask(ability, params).await;
            let is_error = answer.is_err();
            let text = answer.map_or_else(|refused| refused.to_string(), |answer| answer.to_string());
            return Some(ToolReply::text(text, is_error));
        }
        let text = match tool {
            "test_logging_tool" | "test_tool_with_logging" => {
                for text in ["Begun", "At work", "Done"] {
                    log(caller, text).await;
                }
                "Logged."
            }
            "test_simple_text" => "This is a simple text response for testing.",
            "test_error_handling" => {
                let text = "This tool intentionally returns an error for testing".to_owned();
                return Some(ToolReply::text(text, true));
            }
            "test_tool_with_progress" => {
                // Progress is sent every second; the suite expects three notifications.
                tokio::time::sleep(Duration::from_millis(3_500)).await;
                "Done."
            }
            "test_trigger_tool_change" => {
                self.changes.send_replace(());
                "Changed."
            }
            known if self.tools.iter().any(|tool| tool.name == known) => "ok",
            _ => return None,
        };
        Some(ToolReply::text(text, false))
    }

    fn changes(&self) -> Option<watch::Receiver<()>> {
        Some(self.changes.subscribe())
    }
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    let service = Arc::new(Fixture { tools: tools(), changes: watch::Sender::new(()) });
    let options = HttpOptions::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    serve_http(service, options, CancellationToken::new(), |addr| {
        let mut out = std::io::stdout();
        // If the address cannot be printed, the suite fails by itself.
        let _ = writeln!(out, "http://{addr}/mcp").and_then(|()| out.flush());
    })
    .await
}
