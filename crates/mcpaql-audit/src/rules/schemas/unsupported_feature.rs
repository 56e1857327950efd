//! SCHEMA-006.

use super::trap::{self, TrapLocation};
use crate::convention::{SchemaTrap, Standard};
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;
use serde_json::Value;

rule! {
    /// Schema uses a feature that a client does not support.
    ///
    /// ## What it does
    ///
    /// Checks for the features that client conventions list under `schemas.refuses`: `anyOf`, `oneOf` or `allOf` at the root,
    /// `type` as a list, arrays without `items`, tuples (`items` as a list), recursive `$ref` and others. `type` as a list is
    /// only a warning, because clients ignore it instead of rejecting the request.
    ///
    /// ## Why it matters
    ///
    /// Clients pass schemas on to model APIs, and if an API rejects one tool, it rejects the whole request. Anthropic:
    /// "input_schema does not support oneOf, allOf, or anyOf at the top level"
    /// (https://github.com/anthropics/claude-code/issues/5973), and Claude Code silently drops such tools
    /// (https://github.com/anthropics/claude-code/issues/95504). OpenAI has the same limit
    /// (https://github.com/langchain-ai/langchainjs/issues/9804). Visual Studio Code: "array type must have items"
    /// (https://github.com/microsoft/vscode/issues/246119).
    ///
    /// ## Bad
    ///
    /// ```json bad at=/inputSchema/anyOf
    /// {"name": "update_issue", "inputSchema": {"type": "object", "properties": {"title": {"type": "string"}, "body": {"type": "string"}}, "anyOf": [{"required": ["title"]}, {"required": ["body"]}]}}
    /// ```
    ///
    /// ```json bad at=/inputSchema/properties/labels
    /// {"name": "update_issue", "inputSchema": {"type": "object", "properties": {"labels": {"type": "array"}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "update_issue", "inputSchema": {"type": "object", "properties": {"title": {"type": "string", "description": "Give this or labels"}, "labels": {"type": "array", "items": {"type": "string"}}}}}
    /// ```
    "SCHEMA-006" "unsupported-feature" Error..Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let refused = trap::refused_traps(standard);
    if refused.is_empty() {
        return;
    }
    for TrapLocation { trap, pointer } in trap::find(&tool.tree, &refused) {
        let message = format!("The schema of '{}' {}", tool.name, trap::trap_message(trap));
        let types = tool.value.pointer(&pointer).and_then(Value::as_array);
        let is_choice = types.is_some_and(|types| types.iter().all(|name| name != "null"));
        let finding = findings.tool(tool, pointer, message);
        finding.help(match trap {
            SchemaTrap::TypeList if is_choice => trap::help(SchemaTrap::Union),
            trap => trap::help(trap),
        });
        if !trap::breaks_requests(trap) {
            finding.level = finding.level.min(crate::convention::RuleLevel::Warning);
        }
        for convention in &standard.conventions {
            if convention.schemas.refuses.contains(&trap) {
                finding.required_by(convention.name.as_str());
            }
        }
    }
}
