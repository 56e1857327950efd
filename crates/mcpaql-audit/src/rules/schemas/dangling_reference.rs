//! SCHEMA-003.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::{ParsedTool, Reference, ReferenceTarget};

rule! {
    /// A `$ref` leads nowhere.
    ///
    /// ## What it does
    ///
    /// Looks for references to a part of the schema that is not there.
    ///
    /// ## Why it matters
    ///
    /// Validators refuse the whole schema: the TypeScript SDK's clients then cannot list the tool, and model APIs reject the request.
    /// References are lost when a document's components are not carried along, which importers of OpenAPI do.
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
            let message = format!("The schema of '{}' refers to '{written}', which is not there", tool.name);
            findings
                .tool(tool, tool.tree.keyword_pointer(schema.at, "$ref"), message)
                .help("carry it along under `$defs`");
            return;
        }
    }
}
