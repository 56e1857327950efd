//! SCHEMA-013.

use crate::audit::finding::Findings;
use crate::audit::rule::rule;
use crate::audit::view::Tool;
use crate::convention::Standard;
use serde_json::Value;

rule! {
    /// A `pattern` is no regular expression.
    ///
    /// ## What it does
    ///
    /// Looks for patterns that no dialect of regular expressions can read.
    ///
    /// ## Why it matters
    ///
    /// Validators refuse the schema, or take every value for wrong.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/id/pattern
    /// {"name": "get_issue", "inputSchema": {"type": "object", "properties": {"id": {"type": "string", "pattern": "^[a-z+$"}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "get_issue", "inputSchema": {"type": "object", "properties": {"id": {"type": "string", "pattern": "^(?!x)[a-z]+$"}}}}
    /// ```
    "SCHEMA-013" "invalid-pattern" Error Tool(check)
}

/// A longer one is not read: reading takes time.
const LONGEST: usize = 4096;

fn check(tool: &Tool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    for schema in &tool.tree.schemas {
        let Some(pattern) =
            schema.map.get("pattern").and_then(Value::as_str).filter(|text| text.len() <= LONGEST)
        else {
            continue;
        };
        if let Some(mistake) = crate::schema::pattern_mistake(pattern) {
            let message = format!("A pattern of '{}' is no regular expression: {mistake}", tool.name);
            findings.tool(tool, tool.tree.below(schema.at, "pattern"), message);
            return;
        }
    }
}
