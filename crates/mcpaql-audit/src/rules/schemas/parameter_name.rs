//! SCHEMA-011.

use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Parameter has a name that a client rejects.
    ///
    /// ## What it does
    ///
    /// Checks for top-level parameters whose name contains a character that a convention does not allow, or is longer than it allows.
    ///
    /// ## Why it matters
    ///
    /// Anthropic's API rejects the request with all tools: "Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'"
    /// (https://github.com/twilio-labs/mcp/issues/56). Names such as `filter[name]` and `StartTime<` come from APIs that were
    /// imported unchanged.
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
        let message = format!("Clients reject the name of the parameter '{name}' of '{}'", tool.name);
        let finding =
            findings.tool(tool, mcpaql_core::reader::child("/inputSchema/properties", name), message);
        finding.help("use a short name of letters, digits, '_' and '-'");
        for convention in who {
            finding.required_by(convention.name.as_str());
        }
        return;
    }
}
