//! HINT-009.

use crate::convention::Standard;
use crate::inferred_effect::certainly_reads;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// A tool says that it does not only read, but everything else about it says so.
    ///
    /// ## What it does
    ///
    /// Looks for `readOnlyHint: false` on tools whose name and description both say that they read, and which take no parameter
    /// that has them write a file. It judges as the importers of this program do.
    ///
    /// ## Why it matters
    ///
    /// Clients that run only read-only tools freely ask before each call, or
    /// [cannot use it at all](https://github.com/sourcebot-dev/sourcebot/pull/1013). If it does change something, its name should
    /// say so.
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
    "HINT-009" "unannounced-read" Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    // What says that it destroys is another rule's.
    if tool.declared.read_only != Some(false)
        || tool.declared.destructive == Some(true)
        || !certainly_reads(tool)
    {
        return;
    }
    let message = format!(
        "The tool '{}' says that it does not only read, but its name and description say that it does",
        tool.name
    );
    let finding = findings.tool(tool, "/annotations/readOnlyHint", message);
    finding.help("say `readOnlyHint: true`, or in name and description what it changes");
}
