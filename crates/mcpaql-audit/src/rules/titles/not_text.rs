//! TITLE-010.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::rules::names::spelling::clipped_name;
use crate::tool::{ParsedTool, value_member};

rule! {
    /// A title is not a string.
    ///
    /// ## What it does
    ///
    /// Looks for a `title` or `annotations.title` that is null, a number, a list or an object.
    ///
    /// ## Why it matters
    ///
    /// MCP's schema allows a string or nothing. Clients that check what they hear, those of the official TypeScript SDK among them, refuse the
    /// whole list for one such tool.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/title
    /// {"name": "create_issue", "title": null, "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "title": "Create issue", "inputSchema": {"type": "object"}}
    /// ```
    "TITLE-010" "not-text" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let annotations = value_member(tool.value, "annotations");
    for (pointer, holder) in [("/title", Some(tool.value)), ("/annotations/title", annotations)] {
        if holder.and_then(|holder| value_member(holder, "title")).is_some_and(|title| !title.is_string()) {
            let message = format!("The title of '{}' is not a string", clipped_name(tool.name));
            findings.tool(tool, pointer, message).help("write a text, or leave the member out");
        }
    }
}
