//! NAME-003.

use super::spelling::clipped_name;
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

/// Maximum length of a name in MCP, in characters.
const MAX_MCP_NAME: usize = 128;

rule! {
    /// Name is longer than MCP allows.
    ///
    /// ## What it does
    ///
    /// Checks for names of more than 128 characters. NAME-005 checks the shorter limits of clients.
    ///
    /// ## Why it matters
    ///
    /// MCP allows 1 to 128 characters
    /// ([Tools, "Tool Names"](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names)).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/name
    /// {"name": "create_issue_in_the_repository_that_was_opened_last_by_the_person_who_is_signed_in_and_assign_it_to_everybody_who_has_ever_written_code", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "inputSchema": {"type": "object"}}
    /// ```
    "NAME-003" "name-too-long" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    // Cheap test first: a name never has more characters than bytes.
    if tool.name.len() <= MAX_MCP_NAME {
        return;
    }
    let length = tool.name.chars().count();
    if length > MAX_MCP_NAME {
        let message = format!(
            "The name '{}' has {length} characters; MCP allows at most {MAX_MCP_NAME}",
            clipped_name(tool.name)
        );
        findings.tool(tool, "/name", message).help("move details into the description");
    }
}
