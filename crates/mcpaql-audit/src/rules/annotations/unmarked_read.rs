//! HINT-009.

use crate::convention::Standard;
use crate::inferred_effect::certainly_reads;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Tool has `readOnlyHint: false` but only reads.
    ///
    /// ## What it does
    ///
    /// Checks for `readOnlyHint: false` on tools whose name and description both say that they read, and that have no parameter for
    /// an output file. Tools are classified the same way as in an import.
    ///
    /// ## Why it matters
    ///
    /// Many clients run read-only tools without asking. They ask before each call of this tool, or [cannot use it at
    /// all](https://github.com/sourcebot-dev/sourcebot/pull/1013). If the tool does change something, its name should say so.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/readOnlyHint
    /// {"name": "list_issues", "description": "Lists the issues of a repository.", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": false}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "list_issues", "description": "Lists the issues of a repository.", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": true}}
    /// ```
    ///
    /// ```json good
    /// {"name": "get_request", "description": "Gets a request.",
    ///  "inputSchema": {"type": "object", "properties": {"responseFilePath": {"type": "string"}}},
    ///  "annotations": {"readOnlyHint": false}}
    /// ```
    "HINT-009" "unmarked-read" Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    // HINT-006 reports tools with `destructiveHint: true`.
    if tool.declared.read_only != Some(false)
        || tool.declared.destructive == Some(true)
        || !certainly_reads(tool)
    {
        return;
    }
    let message = format!(
        "The tool '{}' has `readOnlyHint: false`, but its name and description say that it only reads",
        tool.name
    );
    let finding = findings.tool(tool, "/annotations/readOnlyHint", message);
    finding.help("set `readOnlyHint: true`, or say in the name and description what it changes");
}
