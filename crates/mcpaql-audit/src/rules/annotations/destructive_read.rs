//! HINT-006.

use crate::convention::Standard;
use crate::inferred_effect::certainly_reads;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Tool is marked destructive but only reads.
    ///
    /// ## What it does
    ///
    /// Checks for tools with `destructiveHint: true` whose name and description both say that they only read, such as searches that
    /// are sent as a POST.
    ///
    /// ## Why it matters
    ///
    /// Clients warn before the call, and some hide the tool from users who want only safe tools. The mistake is common if
    /// hints are derived from HTTP methods, or [are the same for all
    /// tools](https://github.com/TeraSky-OSS/backstage-plugins/issues/193).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/destructiveHint
    /// {"name": "search_issues", "description": "Searches issues by text.", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": false, "destructiveHint": true}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "search_issues", "description": "Searches issues by text.", "inputSchema": {"type": "object"},
    ///  "annotations": {"readOnlyHint": true, "destructiveHint": false}}
    /// ```
    "HINT-006" "destructive-read" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if tool.declared.destructive != Some(true)
        || tool.declared.read_only == Some(true)
        || !certainly_reads(tool)
    {
        return;
    }
    let message = format!(
        "The tool '{}' is marked destructive, but its name and description say that it only reads",
        tool.name
    );
    let finding = findings.tool(tool, "/annotations/destructiveHint", message);
    finding.help("if it only reads, set `readOnlyHint: true` and `destructiveHint: false`");
}
