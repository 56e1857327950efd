//! SCHEMA-003.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedTool, Reference, ReferenceTarget};

rule! {
    /// `$ref` points to a schema that does not exist.
    ///
    /// ## What it does
    ///
    /// Checks for references to a part of the schema that does not exist.
    ///
    /// ## Why it matters
    ///
    /// Validators reject the whole schema: clients of the TypeScript SDK cannot list the tool, and model APIs reject the request.
    /// References break if a document's components are not copied along, which happens in imports from OpenAPI.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/issue/$ref
    /// {"name": "create_issue", "inputSchema": {"type": "object", "properties": {"issue": {"$ref": "#/components/schemas/Issue"}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "inputSchema": {"type": "object", "properties": {"issue": {"$ref": "#/$defs/Issue"}}, "$defs": {"Issue": {"type": "object"}}}}
    /// ```
    "SCHEMA-003" "dangling-reference" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, _: &Standard, findings: &mut Findings<'_>) {
    for Reference { schema, written, target } in &tool.tree.references {
        if let (ReferenceTarget::Missing, Some(schema)) = (target, tool.tree.schemas.get(*schema)) {
            let message =
                format!("The schema of '{}' refers to '{written}', which does not exist", tool.name);
            findings
                .tool(tool, tool.tree.keyword_pointer(schema.at, "$ref"), message)
                .help("add the schema under `$defs`");
            return;
        }
    }
}
