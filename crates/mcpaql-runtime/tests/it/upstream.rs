//! Upstreams as real processes and real connections, with their typical failures.

mod callers;
mod faults;
mod http;
mod isolation;
mod lifecycle;
mod logs;
mod passing;
mod questions;
mod requests;
mod server;

use mcpaql_core::adapter::{Auth, McpCommand, McpLink, McpTarget};
use mcpaql_core::catalog::Tool;
use mcpaql_core::response::ToolReply;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::environment::{self, Environment};
use mcpaql_runtime::service::Service;
use mcpaql_runtime::target::mcp::{Upstream, UpstreamError};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The command of the test server with these faults.
pub(crate) fn command(faults: &str) -> McpCommand {
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    let arguments = server::ARGUMENTS.iter().map(|argument| (*argument).to_owned());
    McpCommand {
        command: std::iter::once(program).chain(arguments).collect(),
        cwd: None,
        env: Vec::new(),
        set_env: [(server::FAULTS.to_owned(), faults.to_owned())].into_iter().collect(),
    }
}

fn target(command: McpCommand) -> McpTarget {
    McpTarget::new(McpLink::Command(command))
}

/// The environment of this process, with a secret.
fn environment() -> Environment {
    let process = environment::process();
    Arc::new(move |name| match name {
        "TOKEN" => Some("s3cret-token".to_owned()),
        "UNWANTED" => Some("unwanted".to_owned()),
        _ => process(name),
    })
}

fn over(target: &McpTarget) -> Upstream {
    Upstream::new(target, &Auth::None, &environment()).unwrap()
}

fn upstream(faults: &str) -> Upstream {
    over(&target(command(faults)))
}

async fn call(upstream: &Upstream, tool: &str, arguments: Value) -> Result<Value, UpstreamError> {
    let arguments = arguments.as_object().unwrap().clone();
    crate::fixture::in_time(upstream.call_tool(tool, arguments, &Caller::nobody())).await
}

/// Forwards every call.
struct ForwardingService(Upstream);

impl Service for ForwardingService {
    fn tools(&self) -> Arc<[Tool]> {
        Arc::from([])
    }

    fn instructions(&self) -> String {
        String::new()
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> Option<ToolReply> {
        let result = self.0.call_tool(tool, arguments, caller).await;
        let text = result.map_or_else(
            |error| error.to_string(),
            |result| result["content"][0]["text"].as_str().unwrap().to_owned(),
        );
        Some(ToolReply::text(text, false))
    }
}

/// The JSON in the text of a result.
fn said(result: &Value) -> Value {
    serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap()
}

async fn pid(upstream: &Upstream) -> rustix::process::Pid {
    let result = call(upstream, "environment", json!({})).await.unwrap();
    let pid = said(&result)["pid"].as_i64().unwrap();
    rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap()
}
