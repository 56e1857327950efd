//! NAME-010.

use super::spelling::clipped_name;
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;
use mcpaql_lexicon::verbs::contains_verb;

rule! {
    /// A name says no verb.
    ///
    /// ## What it does
    ///
    /// Looks for names none of whose words is a verb that we know, be it inflected or joined to another word, or one that a
    /// convention lists (`names.verbs`).
    ///
    /// ## Why it matters
    ///
    /// A model chooses by the name first, and a rule about permissions often has nothing else: `document_manifest` may read, write or
    /// delete one. MCP's own examples and every convention that we know begin with what is done.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/name
    /// {"name": "document_manifest", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good
    /// {"name": "get_document_manifest", "inputSchema": {"type": "object"}}
    /// ```
    "NAME-010" "no-verb" Advice Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    let listed = |word: &str| {
        let lists = |convention: &crate::convention::Convention| {
            convention.names.verbs.iter().any(|verb| verb == word)
        };
        standard.conventions.iter().any(lists)
    };
    // One tool for everything has no verb that would be right.
    if tool.words.is_empty() || tool.is_adapter {
        return;
    }
    if tool.words.iter().any(|word| contains_verb(word) || listed(word)) {
        return;
    }
    let message = format!("The name '{}' says no verb", clipped_name(tool.name));
    findings.tool(tool, "/name", message).help("begin with what it does, such as get_, list_ or create_");
}
