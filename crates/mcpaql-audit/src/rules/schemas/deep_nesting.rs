//! SCHEMA-012.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Schema is nested too deeply.
    ///
    /// ## What it does
    ///
    /// Checks for arguments with more than ten levels of nested values. Variants (`anyOf`, `oneOf`, `allOf`) do not add a
    /// level.
    ///
    /// ## Why it matters
    ///
    /// OpenAI rejects deeper schemas in strict mode (https://platform.openai.com/docs/guides/structured-outputs), and models
    /// close the wrong number of brackets long before that.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/a/items/items/items/items/items/items/items/items/items/items
    /// {"name": "set_matrix", "inputSchema": {"type": "object", "properties": {"a": {"items": {"items": {"items": {"items": {"items": {"items": {"items": {"items": {"items": {"items": {"type": "number"}}}}}}}}}}}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "set_matrix", "inputSchema": {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}}}}
    /// ```
    "SCHEMA-012" "deep-nesting" Advice Tool(check)
}

const MAX_NESTING: usize = 10;

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    if let Some(schema) = tool.tree.inputs().find(|schema| schema.depth > MAX_NESTING) {
        let message =
            format!("The schema of '{}' has more than {MAX_NESTING} levels of nested values", tool.name);
        findings
            .tool(tool, tool.tree.pointer(schema.at), message)
            .help("use identifiers of nested objects instead of the objects");
    }
}
