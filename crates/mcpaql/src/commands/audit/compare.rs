//! `--diff-policy`: shows which hints of tools change from one policy to another.

use super::sources::Sources;
use crate::output;
use mcpaql_audit::render::{RenderFormat, plain, terminal_safe};
use mcpaql_audit::{FailedServer, HintChange, ServerTools, compare};
use mcpaql_core::policy::Policy;
use serde_json::{Value, json};

/// Returns every hint that differs between the two policies.
pub(super) fn compare_policies(
    sources: &Sources,
    from: &Policy,
    to: &Policy,
    format: RenderFormat,
) -> String {
    let servers = &sources.servers;
    let changes = compare(servers, from, to);
    match format {
        RenderFormat::Json => plain(&as_json(sources, &changes, from, to)),
        _ => table(servers, &changes, from, to),
    }
}

fn server<'s>(servers: &'s [ServerTools], change: &HintChange) -> &'s str {
    servers.get(change.server).map_or("", |server| server.name.as_str())
}

fn as_json(sources: &Sources, changes: &[HintChange], from: &Policy, to: &Policy) -> Value {
    let row = |change: &HintChange| {
        json!({
            "server": server(&sources.servers, change),
            "tool": change.tool,
            "hint": change.hint.key(),
            "from": change.from,
            "to": change.to,
        })
    };
    let failed: Vec<Value> = sources.failed.iter().map(FailedServer::to_json).collect();
    let changes: Vec<Value> = changes.iter().map(row).collect();
    json!({"from": from.name, "to": to.name, "changes": changes, "failed": failed})
}

fn table(servers: &[ServerTools], changes: &[HintChange], from: &Policy, to: &Policy) -> String {
    let word = |hint: Option<bool>| hint.map_or("–", |hint| if hint { "true" } else { "false" });
    let mut rows = vec![["SERVER", "TOOL", "HINT", &from.name, &to.name].map(terminal_safe)];
    rows.extend(changes.iter().map(|change| {
        let names = [server(servers, change), change.tool.as_str(), change.hint.key()].map(terminal_safe);
        let [server, tool, hint] = names;
        [server, tool, hint, word(change.from).to_owned(), word(change.to).to_owned()]
    }));
    let tools: std::collections::HashSet<(usize, usize)> =
        changes.iter().map(|change| (change.server, change.position)).collect();
    let all: usize = servers.iter().map(|server| server.tools.len()).sum();
    if changes.is_empty() {
        return format!("No hints of {all} tools would change\n");
    }
    let summary = format!("{} hints would change, in {} of {all} tools", changes.len(), tools.len());
    format!("{}\n{summary}\n", output::format_table(&rows, 5))
}
