//! SCHEMA-001.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;
use serde_json::Value;

rule! {
    /// An input schema is not an object's.
    ///
    /// ## What it does
    ///
    /// Looks for tools without an `inputSchema`, or with one whose root does not say `type: object`.
    ///
    /// ## Why it matters
    ///
    /// MCP demands it, arguments are always an object, and clients drop the tool or refuse the whole list.
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
        Some(_) => format!("The input schema of '{}' is not an object's", tool.name),
    };
    findings.tool(tool, "/inputSchema", message).help("write `\"type\": \"object\"` at its root");
}
