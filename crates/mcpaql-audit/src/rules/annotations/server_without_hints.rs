//! HINT-004.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;
use mcpaql_core::operation::Category;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// No tool of the server has any hint.
    ///
    /// ## What it does
    ///
    /// Checks for servers where no tool sets `readOnlyHint`, `destructiveHint`, `idempotentHint` or `openWorldHint`.
    ///
    /// ## Why it matters
    ///
    /// A missing hint is [not neutral](https://github.com/fstamatelopoulos/cerefox/pull/185): with MCP's defaults every tool,
    /// even a search, may be destructive. Clients ask before every call, so users cannot tell the dangerous calls from the
    /// others.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/tools
    /// {"tools": [{"name": "list_notes", "inputSchema": {"type": "object"}}, {"name": "delete_note", "inputSchema": {"type": "object"}}]}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"tools": [
    ///   {"name": "list_notes", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "destructiveHint": false}},
    ///   {"name": "delete_note", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": false, "destructiveHint": true}}
    /// ]}
    /// ```
    "HINT-004" "server-without-hints" Warning Server(check)
}

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let has_no_hints = server.tools.iter().all(|tool| tool.declared == HintOverrides::default());
    let message = match server.tools.len() {
        0 => return,
        1 => "The only tool has no hints, so clients treat it as destructive".to_owned(),
        count => format!("None of the {count} tools has hints, so clients treat all of them as destructive"),
    };
    if has_no_hints {
        let reads = server.tools.iter().any(|tool| tool.by_name.category == Category::Read);
        findings.server(server, message).help(if reads {
            "start with `readOnlyHint` on the tools that only read"
        } else {
            "start with `destructiveHint: false` on the tools that only add"
        });
    }
}
