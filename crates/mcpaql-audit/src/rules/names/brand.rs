//! NAME-012.

use super::spelling::clipped_name;
use crate::convention::{NameRequirements, Standard};
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Name uses a forbidden spelling of a required word, such as `mcp_aql` for `mcpaql`.
    ///
    /// ## What it does
    ///
    /// Applies to the tools of MCP-AQL adapters. A convention can require a word (`names.word`) and forbid other spellings of
    /// it (`names.not_words`): `mcpaql`, but not `aql` or `mcp_aql`. Checks for the forbidden spellings.
    ///
    /// ## Why it matters
    ///
    /// AQL is also the name of ArangoDB's query language and of other languages. The word `mcpaql` distinguishes an adapter's
    /// tools from all others in a list and separates the adapter from the endpoint. The name `mcp_aql_read` is the same for
    /// every adapter, so two adapters collide.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/name with=mcpaql
    /// {"name": "apple_mail_aql_read", "description": "Reads; see introspect.", "inputSchema": {"type": "object", "properties": {"operation": {}, "params": {}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=mcpaql
    /// {"name": "apple_mail_mcpaql_read", "description": "Reads; see introspect.", "inputSchema": {"type": "object", "properties": {"operation": {}, "params": {}}}}
    /// ```
    ///
    /// ```json good with=mcpaql
    /// {"name": "arango_run_aql", "description": "Runs a query in ArangoDB's language.", "inputSchema": {"type": "object"}}
    /// ```
    "NAME-012" "brand-spelling" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    if !tool.is_adapter {
        return;
    }
    let unmet: Vec<(&str, (&str, &str))> =
        standard.requirements(|convention| misspelled_word(tool.name, &convention.names)).collect();
    let Some((_, (wrong, word))) = unmet.first() else { return };
    let message = format!("The name '{}' contains '{wrong}' instead of '{word}'", clipped_name(tool.name));
    let finding =
        findings.tool(tool, "/name", message).help(format!("rename it to <adapter>_{word}_<endpoint>"));
    for (who, _) in unmet {
        finding.required_by(who);
    }
}

/// Returns the misspelling in a name and the correct word.
pub(super) fn misspelled_word<'s>(name: &str, names: &'s NameRequirements) -> Option<(&'s str, &'s str)> {
    let word = names.word.as_deref()?;
    let segments: Vec<String> = name.split(['_', '-', '.']).map(str::to_ascii_lowercase).collect();
    let holds = |wrong: &&String| {
        let wrong: Vec<&str> = wrong.split('_').collect();
        segments.windows(wrong.len()).any(|window| window == wrong)
    };
    names.not_words.iter().find(holds).map(|wrong| (wrong.as_str(), word))
}
