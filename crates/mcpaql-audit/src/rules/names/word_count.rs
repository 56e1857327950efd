//! NAME-007.

use super::spelling::{clipped_name, required_by_all, unmet_requirements};
use crate::convention::Standard;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Name has fewer or more words than a convention allows.
    ///
    /// ## What it does
    ///
    /// Counts the words of a name if a convention sets a range (`names.words`). `createIssue` has two words.
    ///
    /// ## Why it matters
    ///
    /// A name of one word says neither what it acts on nor which product it belongs to. A name of many words uses up the length that
    /// clients allow, with details that belong in the description. The convention `product-action-object` requires two to four words.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/name with=product-action-object
    /// {"name": "generate", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=product-action-object
    /// {"name": "firefly_generate_image", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ```json good with=product-action-object
    /// {"name": "fireflyGenerateImage", "inputSchema": {"type": "object"}}
    /// ```
    "NAME-007" "word-count" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    if tool.name.is_empty() || standard.requirements(|convention| convention.names.words).next().is_none() {
        return;
    }
    let parts = tool.name.split(['_', '-', '.', ' ']).filter(|part| !part.is_empty());
    let count: usize = parts.map(|part| mcpaql_lexicon::words(part).len().max(1)).sum();
    let fits = |(least, most): &(usize, usize)| (*least..=*most).contains(&count);
    let who = unmet_requirements(standard, |convention| convention.names.words, fits);
    let demand = standard.requirements(|convention| convention.names.words).find(|(_, demand)| !fits(demand));
    if let Some((_, (least, most))) = demand {
        let words = if count == 1 { "word" } else { "words" };
        let message = format!(
            "The name '{}' has {count} {words} instead of {least} to {most}",
            clipped_name(tool.name)
        );
        required_by_all(findings.tool(tool, "/name", message), &who);
    }
}
