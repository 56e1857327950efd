//! TITLE-002.

use super::wording::{TitleSuggestions, is_human};
use crate::convention::Standard;
use crate::rule::{Findings, Fix, rule};
use crate::rules::names::spelling::clipped_name;
use crate::tool::ParsedServer;
use std::cell::LazyCell;

rule! {
    /// Title repeats the name or looks like an identifier.
    ///
    /// ## What it does
    ///
    /// Checks for titles in snake_case, camelCase or kebab-case, and for titles that are equal to the name.
    ///
    /// ## Why it matters
    ///
    /// Titles are for people, also for those who do not know the domain's terms ([MCP's schema,
    /// `BaseMetadata`](https://modelcontextprotocol.io/specification/2025-11-25/schema)). A client without a title shows the
    /// name anyway.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/title
    /// {"name": "create_issue", "title": "create_issue", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "create_issue", "title": "Create issue", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Fix
    ///
    /// Uses `annotations.title` if that is better. Otherwise writes a title derived from the name, if no other tool has that title.
    "TITLE-002" "title-like-identifier" Warning Server(check)
}

fn check(server: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let suggestions = LazyCell::new(|| TitleSuggestions::new(server));
    for tool in &server.tools {
        let Some(title) = tool.shown_title().filter(|title| !title.trim().is_empty()) else { continue };
        if is_human(title, tool.name) {
            continue;
        }
        let problem = if title == tool.name { "repeats the name" } else { "looks like an identifier" };
        let pointer = tool.shown_title_pointer();
        let finding = findings.tool(tool, pointer, format!("The title '{}' {problem}", clipped_name(title)));
        let other = tool.annotation_title.filter(|other| is_human(other, tool.name));
        finding.fix = match other {
            Some(other) => Some(Fix::Title(other.to_owned())),
            None => suggestions.fix(tool),
        };
        let help = match &finding.fix {
            Some(Fix::Title(title)) => format!("write it for people, such as '{}'", clipped_name(title)),
            _ => "write a few words for people".to_owned(),
        };
        finding.help(help);
    }
}
