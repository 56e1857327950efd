//! SCHEMA-004.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedTool, Reference, ReferenceTarget};

rule! {
    /// `$ref` points to another document.
    ///
    /// ## What it does
    ///
    /// Checks for references to an `http` or `https` address that is not the `$id` of any part of the schema.
    ///
    /// ## Why it matters
    ///
    /// MCP does not allow clients to follow references over the network automatically (MCP 2026-07-28, Tools), so the model
    /// sees no schema at all. A client that follows them anyway may fetch any address that the server's author chooses.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/issue/$ref
    /// {"name": "create_issue", "inputSchema": {"type": "object", "properties": {"issue": {"$ref": "https://example.com/schemas/issue.json"}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "inputSchema": {"type": "object", "properties": {"issue": {"$ref": "#/$defs/Issue"}}, "$defs": {"Issue": {"type": "object"}}}}
    /// ```
    "SCHEMA-004" "network-reference" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    for Reference { schema, target, .. } in &tool.tree.references {
        if let (ReferenceTarget::Network, Some(schema)) = (target, tool.tree.schemas.get(*schema)) {
            let message = format!("The schema of '{}' refers to another document", tool.name);
            findings
                .tool(tool, tool.tree.keyword_pointer(schema.at, "$ref"), message)
                .help("copy the schema into `$defs`");
            return;
        }
    }
}
