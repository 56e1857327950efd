//! Finds evidence that a tool destroys data: in its name, its description, its parameters or its document.

use super::{described_action, is_confirmed};
use crate::tool::{ParsedTool, listed_effects};
use mcpaql_core::facts::Effect;
use mcpaql_lexicon::classify::Confidence;
use mcpaql_lexicon::verbs::{self, Weight};
use mcpaql_lexicon::{first_sentence, iter_words};

/// Phrases of descriptions for something that is lost for good.
const FINAL: &[&str] = &[
    "cannot be undone",
    "can not be undone",
    "can't be undone",
    "irreversibl",
    "permanently delet",
    "permanently destroy",
    "permanently eras",
    "permanently remov",
    "permanent deletion",
];

/// Returns what says that a tool deletes or overwrites something, as a fragment after "but".
pub(crate) fn evidence_of_deletion(tool: &ParsedTool<'_>) -> Option<String> {
    if let Some(known) = tool.known {
        let deletes = known.facts.effect == Effect::Delete;
        return deletes.then(|| "its adapter document declares a deletion".to_owned());
    }
    let by_name = &tool.by_name;
    let sure = (by_name.confidence == Confidence::High && by_name.review.is_none()) || is_confirmed(tool);
    if by_name.effect == Effect::Delete && sure {
        return Some("its name suggests a deletion".to_owned());
    }
    if listed_effects(tool).contains(&Effect::Delete) {
        return Some("a value of its parameters deletes something".to_owned());
    }
    let described = described_action(tool).filter(|verb| verb.weight == Weight::Strong);
    if let Some(verb) = described.filter(|verb| verb.effect == Effect::Delete) {
        return Some(format!("its description starts with '{}'", verb.word));
    }
    let adds = matches!(
        by_name.effect,
        Effect::Create | Effect::Append | Effect::Send | Effect::Read | Effect::Compute
    );
    if adds {
        return None;
    }
    if overwrites(tool) {
        return Some("it says that it overwrites something".to_owned());
    }
    let text = tool.description.unwrap_or_default().to_ascii_lowercase();
    let phrase = FINAL.iter().find(|phrase| text.contains(**phrase))?;
    Some(format!("its description says '{phrase}'"))
}

/// Returns whether the name or the first sentence says that something is overwritten.
fn overwrites(tool: &ParsedTool<'_>) -> bool {
    let said: Vec<_> = iter_words(first_sentence(tool.description.unwrap_or_default())).collect();
    let denied =
        said.iter().any(|word| matches!(word.as_ref(), "not" | "never" | "without" | "if" | "unless" | "no"));
    let in_text = said.iter().any(|word| verbs::inflected(word).is_some_and(|verb| verb.word == "overwrite"));
    tool.words.iter().any(|word| word == "overwrite") || (in_text && !denied)
}
