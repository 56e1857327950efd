//! NAME-002.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Tool has no name.
    ///
    /// ## What it does
    ///
    /// Checks for tools whose `name` is missing, blank or not a string, and for entries of the list that are not objects.
    ///
    /// ## Why it matters
    ///
    /// MCP requires a name of 1 to 128 characters, and a tool without a name cannot be called. Clients that validate the list reject
    /// all of it.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/name
    /// {"name": "", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "inputSchema": {"type": "object"}}
    /// ```
    "NAME-002" "missing-name" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if !tool.name.trim().is_empty() {
        return;
    }
    if !tool.value.is_object() {
        let place = tool.place("");
        let message = format!("Entry {} of the list is not an object", place.tool.unwrap_or(0));
        findings.tool(tool, "", message).help("write an object with `name` and `inputSchema`");
        return;
    }
    let message = match tool.value.get("name") {
        Some(name) if !name.is_string() => "The name of the tool is not a string",
        Some(_) => "The name of the tool is blank",
        None => "The tool has no name",
    };
    findings.tool(tool, "/name", message);
}
