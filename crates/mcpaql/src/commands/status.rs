//! `mcpaql status`: shows running servers and the state of their adapters.

use crate::output::error_with_hint;
use crate::{CommandOutcome, args, output, status};
use anyhow::Result;
use mcpaql_runtime::fetch::{self, FetchError};
use serde_json::Value;

const COLUMNS: [&str; 9] =
    ["ADAPTER", "STATE", "OPERATIONS", "TOOLS", "TOKENS", "SAVED", "CALLS", "ERRORS", "P50/P95 MS"];

pub(crate) async fn run(args: args::StatusArgs) -> Result<CommandOutcome> {
    let servers = match &args.url {
        Some(url) => vec![fetch_status(url, args.token_env.as_deref()).await?],
        None => status::running_servers(),
    };
    if args.json {
        let data = match (&args.url, servers.as_slice()) {
            (Some(_), [server]) => server.clone(),
            _ => Value::Array(servers.clone()),
        };
        output::print_data(&serde_json::to_string_pretty(&data)?);
    } else {
        let texts: Vec<String> = servers.iter().map(|server| text(server, args.url.as_deref())).collect();
        if !texts.is_empty() {
            output::print_data(&texts.join("\n\n"));
        }
    }
    if servers.is_empty() {
        output::status_line("No running servers found");
        return Ok(CommandOutcome::CouldNotRun);
    }
    let is_ok = |server: &Value| text_field(server, "status") == "ok";
    Ok(if servers.iter().all(is_ok) { CommandOutcome::Clean } else { CommandOutcome::Findings })
}

async fn fetch_status(url: &str, token_env: Option<&str>) -> Result<Value> {
    let token = token_env.map(|name| super::read_token(name, "the server's token"));
    fetch::health(url, token.transpose()?.as_ref()).await.map_err(|error| match error {
        FetchError::Address(_) => error_with_hint(error.to_string(), "for example http://127.0.0.1:8080"),
        FetchError::Transport { reason, .. } => error_with_hint(
            format!("no server answers on {url}: {reason}"),
            "start one with `mcpaql serve --http PORT`",
        ),
        other => other.into(),
    })
}

fn text_field<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Formats the status of a server as text.
fn text(server: &Value, url: Option<&str>) -> String {
    let name = match (url, server.get("pid")) {
        (Some(url), _) => url.to_owned(),
        (None, pid) => {
            format!("{} (process {})", text_field(server, "served"), pid.cloned().unwrap_or_default())
        }
    };
    let mut lines = vec![format!("{name}: {}", text_field(server, "status"))];
    let Some(adapters) = server.get("adapters").and_then(Value::as_array) else {
        lines.push("Pass --token-env NAME to see its adapters".to_owned());
        return lines.join("\n");
    };
    let rows: Vec<[String; 9]> =
        std::iter::once(COLUMNS.map(str::to_owned)).chain(adapters.iter().map(row)).collect();
    lines.push(output::format_table(&rows, 2));
    for adapter in adapters {
        if let Some(reason) = adapter.get("reason").and_then(Value::as_str) {
            lines.push(format!("{}: {reason}", text_field(adapter, "name")));
        }
        lines.extend(flagged_lines(adapter));
    }
    output::sanitize(&lines.join("\n"))
}

/// Returns a line for each operation with a poisoned text.
fn flagged_lines(adapter: &Value) -> Vec<String> {
    let flagged = adapter.get("flagged").and_then(Value::as_array);
    let line = |one: &Value| {
        let first = one.pointer("/findings/0")?;
        let state = if one.get("withheld") == Some(&Value::Bool(true)) { "withheld" } else { "suspicious" };
        let operation = match text_field(one, "operation") {
            "" => String::new(),
            name => format!(" {name}"),
        };
        let (adapter, kind, evidence) =
            (text_field(adapter, "name"), text_field(first, "kind"), text_field(first, "evidence"));
        Some(format!("{adapter}:{operation} is {state} ({kind}): '{evidence}'"))
    };
    flagged.into_iter().flatten().filter_map(line).collect()
}

fn row(adapter: &Value) -> [String; 9] {
    let number = |key: &str| match adapter.get(key) {
        Some(Value::Number(number)) => number.to_string(),
        _ => "-".to_owned(),
    };
    let time = |key: &str| adapter.get("latency_ms").and_then(|times| times.get(key)).and_then(Value::as_f64);
    let latency = match (time("p50"), time("p95")) {
        (Some(p50), Some(p95)) => format!("{p50:.1}/{p95:.1}"),
        _ => "-".to_owned(),
    };
    [
        text_field(adapter, "name").to_owned(),
        text_field(adapter, "state").to_owned(),
        number("operations"),
        number("tools"),
        number("surface_tokens"),
        number("tokens_saved"),
        number("calls"),
        number("errors"),
        latency,
    ]
}
