//! SCHEMA-013.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedServer, ParsedTool};
use serde_json::Value;
use std::collections::HashMap;

rule! {
    /// `pattern` is not a regular expression.
    ///
    /// ## What it does
    ///
    /// Checks for patterns that no dialect of regular expressions accepts.
    ///
    /// ## Why it matters
    ///
    /// Validators reject the schema, or reject every value.
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
    "SCHEMA-013" "invalid-pattern" Error Server(check)
}

/// Maximum length of a pattern that is checked, because parsing takes time.
const MAX_PATTERN: usize = 4096;

/// The mistakes of patterns by their text: parsing takes time, and many tools use the same patterns.
type CheckedPatterns<'a> = HashMap<&'a str, Option<&'static str>>;

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let mut read = CheckedPatterns::new();
    for tool in &server.tools {
        check_tool(tool, &mut read, findings);
    }
}

fn check_tool<'a>(tool: &ParsedTool<'a>, read: &mut CheckedPatterns<'a>, findings: &mut Findings<'_>) {
    for schema in &tool.tree.schemas {
        let pattern = schema.get("pattern").and_then(Value::as_str).filter(|text| text.len() <= MAX_PATTERN);
        let Some(pattern) = pattern else { continue };
        let mistake = read.entry(pattern).or_insert_with(|| mcpaql_core::schema::pattern_mistake(pattern));
        if let Some(mistake) = mistake {
            let message = format!("A pattern of '{}' is not a regular expression: {mistake}", tool.name);
            findings.tool(tool, tool.tree.keyword_pointer(schema.at, "pattern"), message);
            return;
        }
    }
}
