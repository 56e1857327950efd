//! SCHEMA-011.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// A parameter has a name that a client refuses.
    ///
    /// ## What it does
    ///
    /// Looks for top-level parameters whose name holds a character, or is longer, than a convention allows.
    ///
    /// ## Why it matters
    ///
    /// Anthropic's API refuses the request with all tools: "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
    /// (https://github.com/twilio-labs/mcp/issues/56). Names such as `filter[name]` and `StartTime<` come from APIs that were imported as they are.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/properties/filter[name]
    /// {"name": "list_issues", "inputSchema": {"type": "object", "properties": {"filter[name]": {"type": "string"}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "list_issues", "inputSchema": {"type": "object", "properties": {"filter_name": {"type": "string"}}}}
    /// ```
    "SCHEMA-011" "parameter-name" Error Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let Some(properties) = tool.schema.and_then(|schema| schema.get("properties")?.as_object()) else {
        return;
    };
    let refuses = |convention: &crate::convention::Convention, name: &str| {
        let schemas = &convention.schemas;
        let long =
            schemas.parameter_length.is_some_and(|most| name.len() > most && name.chars().count() > most);
        let illegal = schemas
            .parameter_characters
            .is_some_and(|characters| name.is_empty() || name.chars().any(|c| !characters.allow(c)));
        long || illegal
    };
    for name in properties.keys() {
        let mut who = standard.conventions.iter().filter(|convention| refuses(convention, name)).peekable();
        if who.peek().is_none() {
            continue;
        }
        let message =
            format!("The name of the parameter '{name}' of '{}' is one that clients refuse", tool.name);
        let finding =
            findings.tool(tool, mcpaql_core::reader::child("/inputSchema/properties", name), message);
        finding.help("use letters, digits, '_' and '-', and not many");
        for convention in who {
            finding.required_by(convention.name.as_str());
        }
        return;
    }
}
