//! NAME-010.

use super::spelling::clipped_name;
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;
use mcpaql_lexicon::verbs::contains_verb;

rule! {
    /// Name has no verb.
    ///
    /// ## What it does
    ///
    /// Checks for names without a known verb. Inflected verbs (`created`), verbs joined to another word (`listusers`), and
    /// verbs that a convention lists (`names.verbs`) are known, too.
    ///
    /// ## Why it matters
    ///
    /// A model chooses a tool by its name first, and a permission rule often sees nothing else: `document_manifest` may read,
    /// write or delete a manifest. MCP's own examples and every convention that we know start with the action.
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
    // A tool that serves many operations cannot have a fitting verb.
    if tool.words.is_empty() || tool.is_adapter {
        return;
    }
    if tool.words.iter().any(|word| contains_verb(word) || listed(word)) {
        return;
    }
    let message = format!("The name '{}' has no verb", clipped_name(tool.name));
    findings.tool(tool, "/name", message).help("start with a verb, such as get_, list_ or create_");
}
