//! SCHEMA-008.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;
use serde_json::Value;

rule! {
    /// `enum` is empty, repeats a value, or lists a value of the wrong type.
    ///
    /// ## What it does
    ///
    /// Checks for enums that are empty or list a string twice, and for values that the `type` of the same schema does not allow.
    ///
    /// ## Why it matters
    ///
    /// JSON Schema says that an enum should have at least one value and no duplicates (Validation, 6.1.2). Strict validators
    /// reject empty enums and duplicates. A value of the wrong type can never be passed.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/state/enum/1
    /// {"name": "list_issues", "inputSchema": {"type": "object", "properties": {"state": {"type": "string", "enum": ["open", 1]}}}}
    /// ```
    ///
    /// ```json bad at=/inputSchema/properties/state/enum
    /// {"name": "list_issues", "inputSchema": {"type": "object", "properties": {"state": {"type": "string", "enum": []}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "list_issues", "inputSchema": {"type": "object", "properties": {"state": {"type": ["string", "null"], "enum": ["open", "closed", null]}}}}
    /// ```
    "SCHEMA-008" "bad-enum" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    for schema in &tool.tree.schemas {
        let Some(values) = schema.get("enum").and_then(Value::as_array) else { continue };
        let Some((index, what)) = mistake(schema.map, values) else { continue };
        let message = format!("An enum of '{}' {what}", tool.name);
        let pointer = tool.tree.keyword_pointer(schema.at, "enum");
        let pointer = index.map_or(pointer.clone(), |index| format!("{pointer}/{index}"));
        findings.tool(tool, pointer, message).help("list each value once, with the type of the schema");
        return;
    }
}

fn mistake(map: &serde_json::Map<String, Value>, values: &[Value]) -> Option<(Option<usize>, &'static str)> {
    if values.is_empty() {
        return Some((None, "is empty"));
    }
    let mut seen = std::collections::HashSet::new();
    if let Some(index) = values.iter().position(|value| value.as_str().is_some_and(|text| !seen.insert(text)))
    {
        return Some((Some(index), "lists a value twice"));
    }
    let nullable = map.get("nullable").and_then(Value::as_bool) == Some(true);
    let fits = |value: &Value| (nullable && value.is_null()) || super::fits_type(map, value);
    values.iter().position(|value| !fits(value)).map(|index| (Some(index), "lists a value of the wrong type"))
}
