//! NAME-009.

use super::brand::misspelled_word;
use super::missing_prefix::has_prefix;
use super::spelling::{clipped_name, is_snake};
use crate::convention::action_words::ActionProblem;
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
    /// products, verbs and objects that the convention lists. Every action needs an object, and the verb comes first. It may
    /// follow an object of two words or more, such as `smart_object`. Patterns with `{endpoint}` apply only to the tools of
    /// MCP-AQL adapters. Names that NAME-006, NAME-008, NAME-012 or NAME-021 reports are not reported again.
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
    /// ```json bad at=/name with=product-action-object
    /// {"name": "firefly_generate", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ```json bad at=/name with=product-action-object
    /// {"name": "firefly_image_generate", "inputSchema": {"type": "object"}}
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
    /// ```json good with=product-action-object
    /// {"name": "firefly_generate_image", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ```json good with=product-action-object
    /// {"name": "photoshop_smart_object_replace", "inputSchema": {"type": "object"}}
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
    let unmet: Vec<(&str, (&str, PatternMismatch<'_>))> = standard
        .requirements(|convention| mismatch(tool, &convention.names))
        .filter(|(_, (_, mismatch))| !is_form(mismatch))
        .collect();
    let Some((_, (pattern, mismatch))) = unmet.first() else { return };
    let starts_with_product = pattern.starts_with("{product}");
    let verb = tool.words.first().filter(|word| starts_with_product && is_verb(word));
    let better = |words: &str| renamed(tool.name, words).map(|name| format!("rename it to {name}"));
    let (why, help) = match (mismatch, verb) {
        (PatternMismatch::Text(text), _) => (format!("'{text}' is missing"), None),
        (PatternMismatch::Empty(placeholder), _) => (format!("{{{placeholder}}} is empty"), None),
        (_, Some(verb)) => {
            let why = format!("it starts with the verb '{verb}' instead of a product");
            (why, Some("put the product first".to_owned()))
        }
        (PatternMismatch::Product, None) => ("it does not start with a product".to_owned(), None),
        (PatternMismatch::Action(ActionProblem::Object(verb)), None) => {
            let help = format!("say what it acts on, such as {}_<object>", clipped_name(tool.name));
            (format!("nothing says what it acts on after '{verb}'"), Some(help))
        }
        (PatternMismatch::Action(ActionProblem::Order { verb, better: words }), None) => {
            (format!("the verb '{verb}' comes after its object"), better(words))
        }
        (PatternMismatch::Action(_), None) => {
            let place = if starts_with_product {
                "no known verb or object follows the product"
            } else {
                "it has no known verb or object"
            };
            let help = "rename it, or add its verb or object to your own convention";
            (place.to_owned(), Some(help.to_owned()))
        }
    };
    let message = format!("The name '{}' does not follow '{pattern}': {why}", clipped_name(tool.name));
    let finding = findings.tool(tool, "/name", message);
    finding.help = help;
    for (who, _) in unmet {
        finding.required_by(who);
    }
}

/// Returns whether NAME-021 reports the mismatch.
fn is_form(mismatch: &PatternMismatch<'_>) -> bool {
    matches!(mismatch, PatternMismatch::Action(ActionProblem::Form { .. }))
}

/// Returns a name with other words for action and object, which end it.
pub(super) fn renamed(name: &str, words: &str) -> Option<String> {
    let count = words.split('_').count();
    let (kept, _) = name.rmatch_indices('_').nth(count - 1).map(|(at, _)| name.split_at(at + 1))?;
    Some(format!("{kept}{words}"))
}

/// Returns the pattern of a convention that a name does not follow, and why. Names that other rules report are left out.
pub(super) fn mismatch<'s>(
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
