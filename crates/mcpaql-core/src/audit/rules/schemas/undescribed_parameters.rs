//! SCHEMA-002.

use crate::audit::finding::Findings;
use crate::audit::rule::rule;
use crate::audit::view::Tool;
use crate::convention::Standard;
use serde_json::Value;

rule! {
    /// A tool has parameters without a description.
    ///
    /// ## What it does
    ///
    /// Looks for top-level parameters that have no `description`, neither themselves nor in what they refer to.
    ///
    /// ## Why it matters
    ///
    /// The model guesses what `q`, `scope` or `id` mean, and guesses wrong: Anthropic asks for what each parameter means and how it affects the
    /// tool (https://docs.claude.com/en/docs/agents-and-tools/tool-use/implement-tool-use).
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
    "SCHEMA-002" "undescribed-parameters" Warning Tool(check)
}

/// How many are named.
const NAMED: usize = 6;

fn check(tool: &Tool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let Some(properties) = tool.schema.and_then(|schema| schema.get("properties")?.as_object()) else {
        return;
    };
    let missing: Vec<&str> = properties
        .iter()
        .filter(|(_, schema)| !is_described(tool, schema))
        .map(|(name, _)| name.as_str())
        .collect();
    let Some(first) = missing.first() else { return };
    let named: Vec<String> = missing.iter().take(NAMED).map(|name| format!("'{name}'")).collect();
    let more = missing.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let message = format!("Parameters of '{}' are not described: {}{more}", tool.name, named.join(", "));
    let finding = findings.tool(tool, crate::reader::child("/inputSchema/properties", first), message);
    let who: Vec<&str> = standard
        .demands(|convention| convention.schemas.described.then_some(()))
        .map(|(who, ())| who)
        .collect();
    if who.is_empty() {
        finding.advice();
    }
    for who in who {
        finding.by(who);
    }
}

fn is_described(tool: &Tool<'_>, schema: &Value) -> bool {
    let says = |schema: &Value| {
        schema.get("description").and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty())
    };
    let referred = |schema: &Value| {
        let reference = schema.get("$ref").and_then(Value::as_str)?.strip_prefix('#')?;
        tool.schema?.pointer(reference).map(says)
    };
    let variants = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    says(schema)
        || referred(schema) == Some(true)
        || variants.take(16).any(|variant| says(variant) || referred(variant) == Some(true))
}
