//! DESC-001.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Tool has no description.
    ///
    /// ## What it does
    ///
    /// Checks for tools whose `description` is missing or empty.
    ///
    /// ## Why it matters
    ///
    /// A model chooses a tool by its description. Without one it guesses from the name.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/description
    /// {"name": "create_issue", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "description": "Opens an issue in a repository.", "inputSchema": {"type": "object"}}
    /// ```
    "DESC-001" "missing-description" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if tool.description.is_none_or(|text| text.trim().is_empty()) {
        findings.tool(tool, "/description", format!("The tool '{}' has no description", tool.name));
    }
}
