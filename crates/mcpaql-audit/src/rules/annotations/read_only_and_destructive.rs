//! HINT-002.

use crate::convention::Standard;
use crate::rule::{Findings, Fix, rule};
use crate::tool::ParsedTool;
use mcpaql_core::policy::HintOverrides;

rule! {
    /// A tool says that it only reads and that it destroys.
    ///
    /// ## What it does
    ///
    /// Looks for tools that write out both `readOnlyHint: true` and `destructiveHint: true`.
    ///
    /// ## Why it matters
    ///
    /// [MCP](https://modelcontextprotocol.io/specification/2025-11-25/schema#toolannotations) gives `destructiveHint` a meaning only
    /// where `readOnlyHint` is false. Clients differ in which of the two they act on, so that the same tool runs unasked in one and
    /// needs an approval in the next. Some SDKs write `destructiveHint: true`
    /// [by themselves](https://github.com/SigNoz/signoz-mcp-server/pull/102) on tools that say nothing about it.
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
    /// `readOnlyHint: false`: of two claims the one that warns is kept.
    "HINT-002" "read-only-and-destructive" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if tool.declared.read_only == Some(true) && tool.declared.destructive == Some(true) {
        let message = format!("The tool '{}' says that it only reads and that it destroys", tool.name);
        let finding = findings.tool(tool, "/annotations/destructiveHint", message);
        finding.help("one of the two is false");
        finding.fix(Fix::Hints(HintOverrides { read_only: Some(false), ..HintOverrides::default() }));
    }
}
