//! SCHEMA-009.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;
use serde_json::Value;

rule! {
    /// `enum` lists more values than a model can use.
    ///
    /// ## What it does
    ///
    /// Checks for enums with more values than a convention allows, or with more than 100 if no convention sets a limit.
    /// Without such a convention, the finding is advice.
    ///
    /// ## Why it matters
    ///
    /// The model reads every value in every conversation. OpenAI accepts at most 1 000 enum values in a whole schema, and
    /// fewer if they are long (https://platform.openai.com/docs/guides/structured-outputs).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/country/enum
    /// {"name": "list_taxes", "inputSchema": {"type": "object", "properties": {"country": {"enum": [{"×": 130, "n": "{n}"}]}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "list_taxes", "inputSchema": {"type": "object", "properties": {"country": {"type": "string", "description": "Two letters, as in ISO 3166"}}}}
    /// ```
    "SCHEMA-009" "large-enum" Warning..Advice Tool(check)
}

/// The limit if no convention sets one.
const DEFAULT_MAX_ENUM: usize = 100;

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let demands: Vec<(&str, usize)> =
        standard.requirements(|convention| convention.schemas.max_enum).collect();
    let least = demands.iter().map(|(_, most)| *most).min().unwrap_or(DEFAULT_MAX_ENUM);
    for schema in tool.tree.inputs() {
        let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| values.len() > least)
        else {
            continue;
        };
        let message = format!("An enum of '{}' lists {} values", tool.name, values.len());
        let finding = findings.tool(tool, tool.tree.keyword_pointer(schema.at, "enum"), message);
        finding.help("describe the values, or add a tool that lists them");
        if demands.is_empty() {
            finding.downgrade_to_advice();
        }
        for (who, _) in demands.iter().filter(|(_, most)| values.len() > *most) {
            finding.required_by(*who);
        }
        return;
    }
}
