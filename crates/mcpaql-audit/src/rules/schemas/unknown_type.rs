//! SCHEMA-007.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;
use serde_json::Value;

rule! {
    /// Schema uses a type that JSON does not have.
    ///
    /// ## What it does
    ///
    /// Checks for a `type` other than `string`, `integer`, `number`, `boolean`, `array`, `object` and `null`.
    ///
    /// ## Why it matters
    ///
    /// A schema with `int`, `str` or `any` is invalid. Anthropic's API rejects the request with all tools: "JSON schema is invalid.
    /// It must match JSON Schema draft 2020-12" (https://github.com/afrise/MCPSharp/issues/9).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/count/type
    /// {"name": "list_issues", "inputSchema": {"type": "object", "properties": {"count": {"type": "int"}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "list_issues", "inputSchema": {"type": "object", "properties": {"count": {"type": ["integer", "null"]}}}}
    /// ```
    "SCHEMA-007" "unknown-type" Error Tool(check)
}

const TYPES: &[&str] = &["string", "integer", "number", "boolean", "array", "object", "null"];

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    for schema in &tool.tree.schemas {
        let unknown = match schema.get("type") {
            Some(Value::String(name)) => Some(name).filter(|name| !TYPES.contains(&name.as_str())),
            Some(Value::Array(names)) => names.iter().find_map(|name| match name {
                Value::String(name) if !TYPES.contains(&name.as_str()) => Some(name),
                _ => None,
            }),
            _ => None,
        };
        let Some(name) = unknown else { continue };
        let message =
            format!("The schema of '{}' uses the type '{name}', which JSON does not have", tool.name);
        let finding = findings.tool(tool, tool.tree.keyword_pointer(schema.at, "type"), message);
        match mcpaql_core::schema::nearest_type(&name.to_ascii_lowercase()) {
            Some(meant) => finding.help(format!("write `{meant}`")),
            None => finding.help("remove `type` to allow any value"),
        };
        return;
    }
}
