//! TITLE-010.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::rules::names::spelling::clipped_name;
use crate::tool::{ParsedTool, value_member};

rule! {
    /// Title is not a string.
    ///
    /// ## What it does
    ///
    /// Checks for a `title` or `annotations.title` that is not a string, such as null, a number or a list.
    ///
    /// ## Why it matters
    ///
    /// MCP's schema allows only a string. Clients that validate the list, such as those built with the official TypeScript SDK,
    /// reject all of it because of one such tool.
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
    "TITLE-010" "title-not-a-string" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let annotations = value_member(tool.value, "annotations");
    for (pointer, holder) in [("/title", Some(tool.value)), ("/annotations/title", annotations)] {
        if holder.and_then(|holder| value_member(holder, "title")).is_some_and(|title| !title.is_string()) {
            let message = format!("The title of '{}' is not a string", clipped_name(tool.name));
            findings.tool(tool, pointer, message).help("write a string, or remove the title");
        }
    }
}
