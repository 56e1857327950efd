//! COST-001.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

/// Nine in ten tools of real servers cost less.
const MAX_TOOL_TOKENS: usize = 1000;

rule! {
    /// Tool costs more tokens than nine in ten tools of real servers.
    ///
    /// ## What it does
    ///
    /// Checks for tools whose name, description and schema together cost more than 1000 tokens (estimated).
    ///
    /// ## Why it matters
    ///
    /// Most clients put every tool into every conversation, used or not, and its tokens are paid for with every message.
    ///
    /// ## Bad
    ///
    /// ```json bad at=
    /// {"name": "create_issue", "description": "Opens an issue in a repository. (×300)", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "description": "Opens an issue in a repository.", "inputSchema": {"type": "object"}}
    /// ```
    "COST-001" "heavy-tool" Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if tool.tokens > MAX_TOOL_TOKENS {
        let message = format!("The tool '{}' costs about {} tokens", tool.name, tool.tokens);
        findings.tool(tool, "", message).help("shorten it, or move rarely needed details elsewhere");
    }
}
