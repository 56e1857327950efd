//! HINT-004.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedServer;
use mcpaql_core::operation::Category;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// No tool of a server has any hint.
    ///
    /// ## What it does
    ///
    /// Looks for servers of which no tool writes out any of `readOnlyHint`, `destructiveHint`, `idempotentHint` and `openWorldHint`.
    ///
    /// ## Why it matters
    ///
    /// To say nothing is [not neutral](https://github.com/fstamatelopoulos/cerefox/pull/185): MCP's defaults make each of its tools,
    /// searches included, one that may destroy. Clients ask before every call, and the question before the one call that matters
    /// looks like all others.
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

fn check(surface: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let silent = surface.tools.iter().all(|tool| tool.declared == HintOverrides::default());
    let message = match surface.tools.len() {
        0 => return,
        1 => "The only tool has no hint, so that clients take it for one that may destroy".to_owned(),
        count => format!(
            "None of the {count} tools has a hint, so that clients take every one of them for one that may destroy"
        ),
    };
    if silent {
        let reads = surface.tools.iter().any(|tool| tool.by_name.category == Category::Read);
        findings.server(surface, message).help(if reads {
            "begin with `readOnlyHint` on the tools that only read"
        } else {
            "begin with `destructiveHint: false` on the tools that only add"
        });
    }
}
