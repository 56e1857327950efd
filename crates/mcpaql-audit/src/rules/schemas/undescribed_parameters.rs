//! SCHEMA-002.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedTool, value_at, value_member};
use serde_json::Value;

rule! {
    /// Tool has parameters without a description.
    ///
    /// ## What it does
    ///
    /// Checks for top-level parameters without a `description`. The description may also be in a schema that the parameter
    /// refers to (`$ref`) or combines (`allOf`, `anyOf`, `oneOf`). It may also be in the description of the tool, after the
    /// parameter's name, as in Python's docstrings. If no convention requires descriptions of parameters, the finding is
    /// advice.
    ///
    /// ## Why it matters
    ///
    /// The model guesses what `q`, `scope` or `id` mean, and guesses wrong. Anthropic asks for the meaning of each parameter and its
    /// effect on the tool (https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/scope
    /// {"name": "search_issues", "description": "Finds issues.", "inputSchema": {"type": "object", "properties": {"scope": {"type": "string"}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "search_issues", "description": "Finds issues.", "inputSchema": {"type": "object", "properties": {"scope": {"type": "string", "description": "`mine` or `all`"}}}}
    /// ```
    "SCHEMA-002" "undescribed-parameters" Warning..Advice Tool(check)
}

/// Maximum number of parameters that the message names.
const MAX_NAMED_PARAMETERS: usize = 6;

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let Some(properties) = tool.schema.and_then(|schema| value_member(schema, "properties")?.as_object())
    else {
        return;
    };
    let missing: Vec<&str> = properties
        .iter()
        .filter(|(name, schema)| !is_described(tool, schema) && !is_explained(tool, name))
        .map(|(name, _)| name.as_str())
        .collect();
    let Some(first) = missing.first() else { return };
    let named: Vec<String> =
        missing.iter().take(MAX_NAMED_PARAMETERS).map(|name| format!("'{name}'")).collect();
    let more = missing.len().saturating_sub(MAX_NAMED_PARAMETERS);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!("Parameters of '{}' have no description: {}{more}", tool.name, named.join(", "));
    let finding = findings.tool(tool, mcpaql_core::reader::child("/inputSchema/properties", first), message);
    let who: Vec<&str> = standard
        .requirements(|convention| convention.schemas.described.then_some(()))
        .map(|(who, ())| who)
        .collect();
    if who.is_empty() {
        finding.downgrade_to_advice();
    }
    for who in who {
        finding.required_by(who);
    }
}

/// Returns whether the description of the tool contains `name:`, `name (string)` or the name in backticks.
fn is_explained(tool: &ParsedTool<'_>, name: &str) -> bool {
    let text = tool.description.unwrap_or_default();
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(position, _)| {
            let before = text.get(..position).and_then(|before| before.chars().next_back());
            let behind = text.get(position + name.len()..).unwrap_or_default();
            let begins = before.is_none_or(|c| !is_word(c));
            begins && [":", "`", " (", "**", " -", " –", "\":"].iter().any(|mark| behind.starts_with(mark))
        })
}

fn is_described(tool: &ParsedTool<'_>, schema: &Value) -> bool {
    let says = |schema: &Value| {
        value_member(schema, "description")
            .and_then(Value::as_str)
            .is_some_and(|text| !text.trim().is_empty())
    };
    let referred = |schema: &Value| {
        let reference = value_member(schema, "$ref").and_then(Value::as_str)?.strip_prefix('#')?;
        value_at(tool.schema?, reference).map(says)
    };
    if says(schema) {
        return true;
    }
    let variants =
        ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| value_member(schema, key)?.as_array()).flatten();
    let parts = value_member(schema, "properties")
        .and_then(Value::as_object)
        .into_iter()
        .flat_map(|map| map.values());
    parts.take(16).any(says)
        || referred(schema) == Some(true)
        || variants.take(16).any(|variant| says(variant) || referred(variant) == Some(true))
}
