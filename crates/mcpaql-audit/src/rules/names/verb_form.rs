//! NAME-021.

use super::pattern::{mismatch, renamed};
use super::spelling::clipped_name;
use crate::convention::Standard;
use crate::convention::action_words::ActionProblem;
use crate::convention::template::PatternMismatch;
use crate::rule::{Findings, rule};
use crate::tool::ParsedTool;

rule! {
    /// Verb of a name is not in its base form.
    ///
    /// ## What it does
    ///
    /// If the pattern of a convention has a verb (`{verb}` in `names.pattern`), checks for names whose only verb is inflected:
    /// `generates`, `generating` or `generated` instead of `generate`. Plural nouns such as `orders` are not verbs.
    ///
    /// ## Why it matters
    ///
    /// A name is a command. A model that has seen `firefly_generate_image` calls `firefly_expand_image`, not
    /// `firefly_expands_image`. The past form means something else: `shop_deleted_items` can be a list of items that were deleted,
    /// or the deletion of items.
    ///
    /// ## Bad
    ///
    /// ```json bad at=/name with=product-action-object
    /// {"name": "firefly_generates_image", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ```json bad at=/name with=product-action-object
    /// {"name": "firefly_generating_image", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ## Good
    ///
    /// ```json good with=product-action-object
    /// {"name": "firefly_generate_image", "inputSchema": {"type": "object"}}
    /// ```
    ///
    /// ```json good
    /// {"name": "firefly_generates_image", "inputSchema": {"type": "object"}}
    /// ```
    "NAME-021" "verb-form" Warning Tool(check)
}

fn check(tool: &ParsedTool<'_>, standard: &Standard, findings: &mut Findings<'_>) {
    if tool.name.is_empty() {
        return;
    }
    let form = |names| match mismatch(tool, names) {
        Some((_, PatternMismatch::Action(ActionProblem::Form { word, better }))) => Some((word, better)),
        _ => None,
    };
    let unmet: Vec<(&str, (String, Option<String>))> =
        standard.requirements(|convention| form(&convention.names)).collect();
    let Some((_, (word, better))) = unmet.first() else { return };
    let message =
        format!("The verb '{word}' of the name '{}' is not in its base form", clipped_name(tool.name));
    let finding = findings.tool(tool, "/name", message);
    let better = better.as_deref().and_then(|words| renamed(tool.name, words));
    finding.help(match better {
        Some(name) => format!("rename it to {name}"),
        None => "start with a verb in its base form, such as 'get' or 'list'".to_owned(),
    });
    for (who, _) in unmet {
        finding.required_by(who);
    }
}
