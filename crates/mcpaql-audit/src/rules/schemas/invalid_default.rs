//! SCHEMA-010.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;
use serde_json::Value;

rule! {
    /// Default does not fit its own schema.
    ///
    /// ## What it does
    ///
    /// Checks for a `default` that the `type` of the same schema does not allow, or that its `enum` does not list. A default of
    /// `null` is only advice.
    ///
    /// ## Why it matters
    ///
    /// Models and forms copy the default, and the server's own validation rejects it.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/count/default
    /// {"name": "list_issues", "inputSchema": {"type": "object", "properties": {"count": {"type": "integer", "default": "30"}}}}
    /// ```
    ///
    /// ```json bad at=/inputSchema/properties/state/default
    /// {"name": "list_issues", "inputSchema": {"type": "object", "properties": {"state": {"type": "string", "enum": ["open", "closed"], "default": "all"}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "list_issues", "inputSchema": {"type": "object", "properties": {"count": {"type": "integer", "default": 30}}}}
    /// ```
    "SCHEMA-010" "invalid-default" Warning..Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let mut doubtful = None;
    for schema in tool.tree.inputs() {
        let Some(default) = schema.get("default") else { continue };
        let listed =
            schema.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(default));
        if listed && super::fits_type(schema.map, default) {
            continue;
        }
        if default.is_null() {
            doubtful = doubtful.or(Some(schema));
            continue;
        }
        let message = format!("A default of '{}' does not fit its schema", tool.name);
        findings
            .tool(tool, tool.tree.keyword_pointer(schema.at, "default"), message)
            .help("use a value that fits, or remove the default");
        return;
    }
    if let Some(schema) =
        doubtful.filter(|schema| schema.get("nullable").and_then(Value::as_bool) != Some(true))
    {
        let message = format!("A default of '{}' is null, which its schema does not allow", tool.name);
        findings
            .tool(tool, tool.tree.keyword_pointer(schema.at, "default"), message)
            .help("remove the default")
            .downgrade_to_advice();
    }
}
