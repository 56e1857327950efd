//! DESC-004.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Tool of an MCP-AQL adapter does not say how to find its operations.
    ///
    /// ## What it does
    ///
    /// Checks for tools with MCP-AQL's `operation` and `params` whose description does not mention `introspect`.
    ///
    /// ## Why it matters
    ///
    /// The schema of such a tool does not list its operations. A model that is not told to introspect invents them (MCP-AQL,
    /// "Introspection").
    ///
    /// ## Bad
    ///
    /// ```json bad at=/description
    /// {"name": "shop_mcpaql_read", "description": "Reads from the shop.", "inputSchema": {"type": "object", "properties": {"operation": {"type": "string"}, "params": {"type": "object"}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "shop_mcpaql_read", "description": "Reads from the shop. Find operations with introspect.", "inputSchema": {"type": "object", "properties": {"operation": {"type": "string"}, "params": {"type": "object"}}}}
    /// ```
    "DESC-004" "no-introspection" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let text = tool.description.unwrap_or_default();
    if tool.is_adapter && !text.contains("introspect") && !text.contains("Introspect") {
        let message = format!("The description of '{}' does not say how to find its operations", tool.name);
        findings
            .tool(tool, "/description", message)
            .help("mention the operation `introspect` and how to call it");
    }
}
