//! Operations on a trash: moving something there, restoring it, and emptying the trash.

use crate::tool::ParsedTool;
use mcpaql_core::facts::Effect;
use mcpaql_lexicon::verbs::{self, Verb, Weight};
use mcpaql_lexicon::{WordSet, first_sentence, words};

/// Words for a trash. `bin` counts only after `recycle`.
static TRASH: WordSet = WordSet::of("trash trashbin trashcan trashed recyclebin wastebasket");
/// Verbs that take something out of the trash.
static RESTORING: WordSet = WordSet::of("recover reinstate restore undelete untrash");
/// Verbs that remove what is in the trash for good.
static EMPTYING: WordSet = WordSet::of("clear delete destroy empty erase expunge flush purge remove wipe");

/// Returns the effect of an operation on a trash: a soft deletion, a restoration or a deletion for good.
pub(super) fn trash_effect(tool: &ParsedTool<'_>) -> Option<Effect> {
    let has = |set: &WordSet| tool.words.iter().any(|word| set.contains(word));
    let named = mentions_trash(&tool.words);
    let said = || words(first_sentence(tool.description.unwrap_or_default()));
    let in_trash = || named || mentions_trash(&said());
    if has(&RESTORING) {
        return in_trash().then_some(Effect::Set);
    }
    let verb = |word: &String| verbs::verb(word).filter(|verb| verb.weight == Weight::Strong);
    // `trash_list` and `count_trashed_pages` read.
    if tool.words.iter().filter_map(verb).any(Verb::reads) {
        return None;
    }
    if has(&EMPTYING) {
        return if named {
            Some(Effect::Delete)
        } else {
            moves_to_trash(&said()).then_some(Effect::SoftDelete)
        };
    }
    let verb_first =
        tool.words.iter().any(|word| word == "trash") && !tool.words.iter().any(|word| word == "move");
    let trashes = (verb_first && !describes_read(tool)) || moves_to_trash(&tool.words);
    (trashes && tool.words.len() > 1).then_some(Effect::SoftDelete)
}

fn mentions_trash(words: &[String]) -> bool {
    words.iter().any(|word| TRASH.contains(word))
        || words.windows(2).any(|pair| matches!(pair, [one, two] if one == "recycle" && two == "bin"))
}

/// Returns whether the words say that something is moved to the trash.
fn moves_to_trash(words: &[String]) -> bool {
    let to = words.iter().position(|word| word == "to" || word == "into");
    let moves =
        words.iter().any(|word| matches!(word.as_str(), "move" | "moves" | "send" | "sends" | "moving"));
    moves && to.and_then(|to| words.get(to..)).is_some_and(mentions_trash)
}

fn describes_read(tool: &ParsedTool<'_>) -> bool {
    mcpaql_lexicon::opening_verb(tool.description.unwrap_or_default()).is_some_and(Verb::reads)
}
