//! HINT-008.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Tool is marked read-only but not idempotent.
    ///
    /// ## What it does
    ///
    /// Checks for tools that set both `readOnlyHint: true` and `idempotentHint: false`.
    ///
    /// ## Why it matters
    ///
    /// [MCP](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations) defines `idempotentHint` only for tools
    /// with `readOnlyHint: false`: a tool that changes nothing can be repeated, even if the answer differs each time. A client that
    /// looks only at `idempotentHint` does not retry a failed read.
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
    "HINT-008" "non-idempotent-read" Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if tool.declared.read_only != Some(true) || tool.declared.idempotent != Some(false) {
        return;
    }
    let message = format!("The tool '{}' is marked read-only but not idempotent", tool.name);
    let finding = findings.tool(tool, "/annotations/idempotentHint", message);
    finding.help("set `idempotentHint: true`; an answer that changes over time is not an effect");
}
