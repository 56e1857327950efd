//! The baseline for a gateway: an MCP server that answers at once, and a minimal rmcp proxy for it.

use anyhow::{Context, Result};
use rmcp::ErrorData;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ServerCapabilities, ServerConfig,
};
use rmcp::service::{Peer, RequestContext, RoleClient, RoleServer, ServiceExt};
use rmcp::transport::io::stdio_pipes;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use std::io::{BufRead, Write};
use std::process::Stdio;
use tokio::process::Command;

/// The tools: a small answer, ten kilobytes of structured content, and ten kilobytes of text only.
pub(crate) const TOOLS: [&str; 3] = ["get_issue", "list_issues", "search_issues"];
const LISTED: u64 = 50;

#[derive(serde::Deserialize)]
struct Asked<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(default)]
    method: &'a str,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

#[derive(serde::Deserialize)]
struct Called<'a> {
    name: &'a str,
}

fn issue(number: u64) -> Value {
    json!({"number": number, "title": "An issue", "state": "open", "labels": ["bug", "later"], "comments": 3,
        "body": "What happened, what was expected, and how to see it: every step, \"quoted\" where it matters."})
}

/// Structured content with the same content as text, as most servers send it.
fn result(structured: &Value) -> String {
    let content = json!([{"type": "text", "text": structured.to_string()}]);
    json!({"content": content, "structuredContent": structured, "isError": false}).to_string()
}

/// Text only, as servers without structured content send it.
fn text(value: &Value) -> String {
    json!({"content": [{"type": "text", "text": value.to_string()}]}).to_string()
}

/// Serves the tools over standard input and output, line by line, without a library.
pub(crate) fn serve_tools() -> Result<()> {
    let tool = |name| json!({"name": name, "description": "Issues", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}});
    let tools = json!({"tools": TOOLS.map(tool)}).to_string();
    let issues = json!({"issues": (1..=LISTED).map(issue).collect::<Vec<_>>()});
    let answers = [result(&issue(7)), result(&issues), text(&issues)];
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let (mut line, mut answer) = (String::new(), Vec::new());
    while input.read_line(&mut line)? > 0 {
        let asked: Asked<'_> = serde_json::from_str(&line)?;
        let greeting;
        let result = match asked.method {
            "initialize" => {
                let about = json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "issues", "version": "1"}});
                greeting = about.to_string();
                &greeting
            }
            "tools/list" => &tools,
            "tools/call" => {
                let params = asked.params.context("a call has parameters")?;
                let called: Called<'_> = serde_json::from_str(params.get())?;
                let place = TOOLS.iter().position(|tool| *tool == called.name);
                place.and_then(|place| answers.get(place)).context("unknown tool")?
            }
            _ => "{}",
        };
        if let Some(id) = asked.id {
            answer.clear();
            writeln!(answer, r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)?;
            output.write_all(&answer)?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

/// An adapter document for this server.
pub(crate) fn document() -> Result<String> {
    let operation = |tool| json!({"name": tool, "tool": tool, "description": "Issues"});
    let document = json!({
        "name": "issues",
        "type": "adapter",
        "version": "1.0.0",
        "description": "Issues of an MCP server.",
        "target": {"transport": "mcp", "command": [std::env::current_exe()?, "mcp-server"]},
        "operations": {"read": TOOLS.map(operation)},
    });
    Ok(document.to_string())
}

struct Proxy {
    behind: Peer<RoleClient>,
}

impl ServerHandler for Proxy {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("proxy", "0.1.0"))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let answer = self.behind.call_tool_once(request).await;
        answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}

/// Starts a server and passes calls on to it.
pub(crate) async fn proxy(command: &[&str]) -> Result<()> {
    let (program, arguments) = command.split_first().context("a proxy needs a command")?;
    let mut child = Command::new(program);
    let mut child =
        child.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true).spawn()?;
    let streams = (
        child.stdout.take().context("no standard output")?,
        child.stdin.take().context("no standard input")?,
    );
    let client = ().serve(streams).await?;
    let proxy = Proxy { behind: client.peer().clone() };
    proxy.serve(stdio_pipes()).await?.waiting().await?;
    Ok(())
}
