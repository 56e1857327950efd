//! TITLE-002.

use super::wording::{TitleSuggestions, is_human};
use crate::convention::Standard;
use crate::rule::{Findings, Fix, rule};
use crate::rules::names::spelling::clipped_name;
use crate::tool::ParsedServer;
use std::cell::LazyCell;

rule! {
    /// A title is the name again, or looks like one.
    ///
    /// ## What it does
    ///
    /// Looks for titles in snake, camel or kebab case, and for those that repeat the name as it is.
    ///
    /// ## Why it matters
    ///
    /// MCP has titles for people, "even by those unfamiliar with domain-specific terminology"
    /// ([schema, `BaseMetadata`](https://modelcontextprotocol.io/specification/2025-11-25/schema)); a client that finds none shows the
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
    /// The title of `annotations` where that is better, or one made of the name where no other tool has it.
    "TITLE-002" "not-human" Warning Server(check)
}

fn check(surface: &ParsedServer<'_>, _: &Standard, findings: &mut Findings<'_>) {
    let wordings = LazyCell::new(|| TitleSuggestions::new(surface));
    for tool in &surface.tools {
        let Some(title) = tool.shown_title().filter(|title| !title.trim().is_empty()) else { continue };
        if is_human(title, tool.name) {
            continue;
        }
        let again = if title == tool.name { "the name again" } else { "not made for people" };
        let pointer = if tool.title.is_some() { "/title" } else { "/annotations/title" };
        let finding = findings.tool(tool, pointer, format!("The title '{}' is {again}", clipped_name(title)));
        let other = tool.annotation_title.filter(|other| is_human(other, tool.name));
        finding.fix = match other {
            Some(other) => Some(Fix::Title(other.to_owned())),
            None => wordings.fix(tool),
        };
        let help = match &finding.fix {
            Some(Fix::Title(title)) => format!("write it as people would: '{}'", clipped_name(title)),
            _ => "write a few words, as people would".to_owned(),
        };
        finding.help(help);
    }
}
