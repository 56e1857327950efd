//! COST-001.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

/// Nine in ten tools of real servers cost less.
const MAX_TOOL_TOKENS: usize = 1000;

rule! {
    /// Tool uses more tokens than 90% of the tools of real servers.
    ///
    /// ## What it does
    ///
    /// Checks for tools whose name, description and schema together cost more than 1000 tokens (estimated).
    ///
    /// ## Why it matters
    ///
    /// Most clients send every tool with every message, even if it is not used, so its tokens are charged each time.
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
