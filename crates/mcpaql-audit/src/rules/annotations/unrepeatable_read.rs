//! HINT-008.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// A tool says that it only reads and that it must not be repeated.
    ///
    /// ## What it does
    ///
    /// Looks for tools that write out both `readOnlyHint: true` and `idempotentHint: false`.
    ///
    /// ## Why it matters
    ///
    /// [MCP](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations) gives `idempotentHint` a meaning only
    /// where `readOnlyHint` is false: what changes nothing can be repeated, even if the answer differs each time. A client that
    /// looks at the one hint alone will not retry a failed read.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/idempotentHint
    /// {"name": "get_weather", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "idempotentHint": false}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "get_weather", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "idempotentHint": true}}
    /// ```
    "HINT-008" "unrepeatable-read" Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if tool.declared.read_only != Some(true) || tool.declared.idempotent != Some(false) {
        return;
    }
    let message = format!("The tool '{}' only reads, and yet says that it must not be repeated", tool.name);
    let finding = findings.tool(tool, "/annotations/idempotentHint", message);
    finding.help("say `idempotentHint: true`; an answer that changes with time is no effect");
}
