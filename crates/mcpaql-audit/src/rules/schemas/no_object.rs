//! SCHEMA-001.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;
use serde_json::Value;

rule! {
    /// Input schema is missing or not of type `object`.
    ///
    /// ## What it does
    ///
    /// Checks for tools without an `inputSchema`, or with one whose root does not have `type: object`.
    ///
    /// ## Why it matters
    ///
    /// MCP requires an object, because arguments are always an object. Clients drop the tool or reject the whole list.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema
    /// {"name": "create_issue", "inputSchema": {"type": "string"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "inputSchema": {"type": "object"}}
    /// ```
    "SCHEMA-001" "no-object" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let root = tool.schema.and_then(|schema| schema.get("type")).and_then(Value::as_str);
    if root == Some("object") {
        return;
    }
    let message = match tool.schema {
        None => format!("The tool '{}' has no input schema", tool.name),
        Some(_) => format!("The root of the input schema of '{}' does not have the type 'object'", tool.name),
    };
    findings
        .tool(tool, "/inputSchema", message)
        .help("add `\"type\": \"object\"` to the root of `inputSchema`");
}
