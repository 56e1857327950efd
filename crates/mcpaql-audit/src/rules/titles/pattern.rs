//! TITLE-007.

use crate::convention::{Convention, Standard, template};
use crate::rule::{Findings, rule};
use crate::rules::names::spelling::clipped_name;
use crate::tool::ParsedTool;

rule! {
    /// Title does not follow the pattern of a convention.
    ///
    /// ## What it does
    ///
    /// Matches titles against the patterns of conventions (`titles.pattern`), such as `{name} — {endpoint}`. Patterns with
    /// `{endpoint}` apply only to the tools of MCP-AQL adapters. The title of a tool that serves all endpoints has no endpoint.
    ///
    /// ## Why it matters
    ///
    /// The five tools of an adapter are listed next to those of other adapters: "Apple Mail — Read" says which adapter the tool
    /// belongs to and what it does.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/title with=mcpaql-issue
    /// {"name": "apple_mail_mcpaql_read", "title": "Read", "description": "Reads; see introspect.", "inputSchema": {"type": "object", "properties": {"operation": {}, "params": {}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=mcpaql-issue
    /// {"name": "apple_mail_mcpaql_read", "title": "Apple Mail — Read", "description": "Reads; see introspect.", "inputSchema": {"type": "object", "properties": {"operation": {}, "params": {}}}}
    /// ```
    "TITLE-007" "title-pattern" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let Some(title) = tool.shown_title().filter(|title| !title.trim().is_empty()) else { return };
    let unmet: Vec<(&str, &str)> =
        standard.requirements(|convention| unmet_pattern(tool, title, convention)).collect();
    let Some((_, pattern)) = unmet.first() else { return };
    let pointer = tool.shown_title_pointer();
    let message = format!("The title '{}' does not follow '{pattern}'", clipped_name(title));
    let finding = findings.tool(tool, pointer, message);
    for (who, _) in unmet {
        finding.required_by(who);
    }
}

fn unmet_pattern<'s>(tool: &ParsedTool<'_>, title: &str, convention: &'s Convention) -> Option<&'s str> {
    let pattern = convention.titles.pattern.as_deref()?;
    if !tool.is_adapter && template::has_endpoint(pattern) {
        return None;
    }
    let named = convention.names.pattern.as_deref();
    let named = named.and_then(|named| template::match_name(named, tool.name, &convention.names).ok());
    let serves_all = named.is_some_and(|named| named.lacks_endpoint);
    (!template::matches_title(pattern, title, serves_all)).then_some(pattern)
}
