//! NAME-001.

use crate::audit::finding::Findings;
use crate::audit::rule::rule;
use crate::audit::view::Tool;
use crate::convention::{Characters, Standard};

rule! {
    /// A name holds a character that MCP does not allow.
    ///
    /// ## What it does
    ///
    /// Looks for characters in a tool's name other than ASCII letters, digits, `_`, `-` and `.`.
    ///
    /// ## Why it matters
    ///
    /// MCP allows no others (Tools, "Tool Names"), and clients pass names on to model APIs that refuse the whole request when one
    /// of its tools has such a name: one bad tool takes all others along.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/name
    /// {"name": "create issue", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "inputSchema": {"type": "object"}}
    /// ```
    "NAME-001" "illegal-characters" Error Tool(check)
}

fn check(tool: &Tool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if let Some(bad) = tool.name.chars().find(|c| !Characters::Mcp.allow(*c)) {
        let message = format!("The name '{}' holds '{bad}', which MCP does not allow", tool.name);
        findings.tool(tool, "/name", message).help("use letters, digits, '_' and '-'");
    }
}
