//! SCHEMA-005.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;
use serde_json::Value;

rule! {
    /// Required parameter is not declared.
    ///
    /// ## What it does
    ///
    /// Checks for names in `required` that are not in `properties` of the same schema. Variants, and objects composed of several
    /// schemas, are not checked.
    ///
    /// ## Why it matters
    ///
    /// A model has to pass a parameter of which it knows only the name. If other properties are not allowed, no call can succeed.
    /// Gemini rejects the request: "property is not defined" (https://github.com/MarkusPfundstein/mcp-obsidian/issues/105).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/required/1
    /// {"name": "create_issue", "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}}, "required": ["title", "repository"]}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}, "repository": {"type": "string"}}, "required": ["title", "repository"]}}
    /// ```
    "SCHEMA-005" "undeclared-required" Warning Tool(check)
}

/// Keywords that may declare the property instead.
const DECLARING_KEYWORDS: &[&str] =
    &["allOf", "anyOf", "oneOf", "$ref", "patternProperties", "if", "dependentSchemas"];

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    for schema in tool.tree.inputs().filter(|schema| !schema.is_variant) {
        let Some(required) = schema.get("required").and_then(Value::as_array) else { continue };
        if DECLARING_KEYWORDS.iter().any(|key| schema.has(key)) {
            continue;
        }
        let declared = schema.get("properties").and_then(Value::as_object);
        let missing = |name: &&Value| {
            name.as_str().is_some_and(|name| declared.is_none_or(|declared| !declared.contains_key(name)))
        };
        let Some(index) = required.iter().position(|name| missing(&name)) else { continue };
        let name = required.get(index).and_then(Value::as_str).unwrap_or_default();
        let message = format!("The schema of '{}' requires '{name}' but does not declare it", tool.name);
        let pointer = format!("{}/{index}", tool.tree.keyword_pointer(schema.at, "required"));
        findings
            .tool(tool, pointer, message)
            .help("declare it under `properties`, or remove it from `required`");
        return;
    }
}
