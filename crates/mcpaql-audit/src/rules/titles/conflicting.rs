//! TITLE-005.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::rules::names::spelling::clipped_name;
use crate::tool::ParsedTool;

rule! {
    /// Tool has different values in `title` and `annotations.title`.
    ///
    /// ## What it does
    ///
    /// Compares the two titles of tools that have both.
    ///
    /// ## Why it matters
    ///
    /// Clients show `title` first, then `annotations.title`, then the name
    /// ([schema, `BaseMetadata`](https://modelcontextprotocol.io/specification/2025-11-25/schema)). Older clients know only
    /// `annotations.title`, so people see different titles for the same tool.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/annotations/title
    /// {"name": "create_issue", "title": "Create issue", "inputSchema": {"type": "object"}, "annotations": {"title": "New ticket"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "title": "Create issue", "inputSchema": {"type": "object"}, "annotations": {"title": "Create issue"}}
    /// ```
    "TITLE-005" "conflicting-titles" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let Some((title, other)) = tool.title.zip(tool.annotation_title) else { return };
    if title.trim() != other.trim() {
        let message = format!(
            "The title is '{}', but `annotations.title` is '{}'",
            clipped_name(title),
            clipped_name(other)
        );
        findings.tool(tool, "/annotations/title", message).help("write the same title in both places");
    }
}
