//! HINT-002.

use crate::convention::Standard;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// Tool is marked both read-only and destructive.
    ///
    /// ## What it does
    ///
    /// Checks for tools that set both `readOnlyHint: true` and `destructiveHint: true`.
    ///
    /// ## Why it matters
    ///
    /// [MCP](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations) defines `destructiveHint` only for
    /// tools with `readOnlyHint: false`. Clients differ in which of the two hints they use, so the same tool runs without approval in
    /// one client and needs approval in another. Some SDKs set `destructiveHint: true`
    /// [by themselves](https://github.com/SigNoz/signoz-mcp-server/pull/102) on tools that do not set it.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/destructiveHint
    /// {"name": "get_issue", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "destructiveHint": true}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "get_issue", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true, "destructiveHint": false}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Sets `readOnlyHint: false`. Of the two hints, the one that warns is kept.
    "HINT-002" "read-only-and-destructive" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if tool.declared.read_only == Some(true) && tool.declared.destructive == Some(true) {
        let message = format!("The tool '{}' is marked both read-only and destructive", tool.name);
        let finding = findings.tool(tool, "/annotations/destructiveHint", message);
        finding.help("correct one of the two hints");
        finding.fix(Fix::Hints(HintOverrides { read_only: Some(false), ..HintOverrides::default() }));
    }
}
