//! SCHEMA-014.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedTool, ReferenceTarget, target, value_member};
use serde_json::Value;

rule! {
    /// `$ref` refers only to itself.
    ///
    /// ## What it does
    ///
    /// Checks for chains of references that return to their start without describing anything.
    ///
    /// ## Why it matters
    ///
    /// Some clients replace references with their targets before they pass a schema on. With a circle, they never finish, or
    /// fail with an overflow.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/issue/$ref
    /// {"name": "create_issue", "inputSchema": {"type": "object", "properties": {"issue": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "inputSchema": {"type": "object", "properties": {"parent": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "object", "properties": {"parent": {"$ref": "#/$defs/A"}}}}}}
    /// ```
    "SCHEMA-014" "circular-reference" Error Tool(check)
}

/// Maximum length of a chain of references; a longer one is treated as endless.
const MAX_REFERENCE_CHAIN: usize = 32;

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    for reference in &tool.tree.references {
        let Some(schema) = tool.tree.schemas.get(reference.schema) else { continue };
        let mut led = reference.target;
        for step in 0..=MAX_REFERENCE_CHAIN {
            let ReferenceTarget::Found(found) = led else { break };
            let Some(next) = value_member(found, "$ref").and_then(Value::as_str) else { break };
            led = target(&tool.tree, schema, next, tool.value);
            if step == MAX_REFERENCE_CHAIN {
                let message = format!("A reference in the schema of '{}' refers only to itself", tool.name);
                findings
                    .tool(tool, tool.tree.keyword_pointer(schema.at, "$ref"), message)
                    .help("describe the value instead");
                return;
            }
        }
    }
}
