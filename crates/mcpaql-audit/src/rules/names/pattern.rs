//! NAME-009.

use super::brand::misspelled_word;
use super::missing_prefix::has_prefix;
use super::spelling::{clipped_name, is_snake};
use crate::convention::template::{self, PatternMismatch};
use crate::convention::{Characters, NameRequirements, Standard};
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;
use mcpaql_lexicon::verbs::is_verb;

rule! {
    /// Name does not follow the pattern of a convention.
    ///
    /// ## What it does
    ///
    /// Matches names against the patterns of conventions (`names.pattern`), such as `{product}_{verb}_{object}` with the
    /// products, verbs and objects that the convention lists. The verb may also come after the object, and a name with only a
    /// verb or only an object matches, too. Patterns with `{endpoint}` apply only to the tools of MCP-AQL adapters. Names that
    /// NAME-006, NAME-008 or NAME-012 reports are not reported again.
    ///
    /// ## Why it matters
    ///
    /// With a pattern, a reader who has seen three names can predict the fourth. MCP-AQL's `{adapter}_mcpaql_{endpoint}` keeps
    /// the tools of several adapters apart; with `mcp_aql_read`, they all had the same name.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/name with=lightdash
    /// {"name": "lightdash_tools__projects", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ```json bad at=/name with=mcpaql
    /// {"name": "mcpaql_read", "description": "Reads; see introspect.", "inputSchema": {"type": "object", "properties": {"operation": {}, "params": {}}}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=lightdash
    /// {"name": "lightdash_tools__list_projects", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ```json good with=mcpaql
    /// {"name": "apple_mail_mcpaql_read", "description": "Reads; see introspect.", "inputSchema": {"type": "object", "properties": {"operation": {}, "params": {}}}}
    /// ```
    "NAME-009" "name-pattern" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    if tool.name.is_empty() {
        return;
    }
    let unmet: Vec<(&str, (&str, PatternMismatch<'_>))> =
        standard.requirements(|convention| mismatch(tool, &convention.names)).collect();
    let Some((_, (pattern, mismatch))) = unmet.first() else { return };
    let verb = tool.words.first().filter(|word| pattern.starts_with("{product}") && is_verb(word));
    let why = match (mismatch, verb) {
        (PatternMismatch::Product | PatternMismatch::Vocabulary, Some(verb)) => {
            format!("it starts with the verb '{verb}' instead of a product")
        }
        (PatternMismatch::Text(text), _) => format!("'{text}' is missing"),
        (PatternMismatch::Empty(placeholder), _) => format!("{{{placeholder}}} is empty"),
        (PatternMismatch::Product, None) => "it does not start with a product".to_owned(),
        (PatternMismatch::Vocabulary, None) if pattern.starts_with("{product}") => {
            "no known verb or object follows the product".to_owned()
        }
        (PatternMismatch::Vocabulary, None) => "it has no known verb or object".to_owned(),
    };
    let message = format!("The name '{}' does not follow '{pattern}': {why}", clipped_name(tool.name));
    let finding = findings.tool(tool, "/name", message);
    if verb.is_some() && matches!(mismatch, PatternMismatch::Product | PatternMismatch::Vocabulary) {
        finding.help("put the product first");
    } else if *mismatch == PatternMismatch::Vocabulary {
        finding.help("rename it, or add its verb or object to your own convention");
    }
    for (who, _) in unmet {
        finding.required_by(who);
    }
}

fn mismatch<'s>(
    tool: &ParsedTool<'_>,
    names: &'s NameRequirements,
) -> Option<(&'s str, PatternMismatch<'s>)> {
    let pattern = names.pattern.as_deref()?;
    let applies = tool.is_adapter || !template::has_endpoint(pattern);
    let snake = names.characters != Some(Characters::Snake) || is_snake(tool.name);
    // NAME-006, NAME-008 and NAME-012.
    let is_reported = !snake || !has_prefix(tool.name, names) || misspelled_word(tool.name, names).is_some();
    if !applies || is_reported {
        return None;
    }
    Some((pattern, template::match_name(pattern, tool.name, names).err()?))
}
