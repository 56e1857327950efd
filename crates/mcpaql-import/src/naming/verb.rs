//! Chooses the verb of an operation: the verb of its id, also if the table of verbs does not have it, or the verb of its summary.
//!
//! What always holds: an explicit `create`, `update` or `delete` that agrees with the category wins over words that are also
//! nouns, such as `alert` and `check`. A name of an operation that is not a READ does not start with `get` or `list`.

use super::path::PathWords;
use super::{NameInput, NameWord};
use mcpaql_core::operation::Category;
use mcpaql_lexicon::classify::path::PathShape;
use mcpaql_lexicon::names::{
    NameVerb, action_base, is_object_of_explicit_verb, name_verbs_with_path, opening_action,
};
use mcpaql_lexicon::verbs::{self, Verb, VerbTrait, Weight, risk};
use mcpaql_lexicon::{WordSet, is_plural, opening_words, singular};

/// Verbs that need the owner of their object to be clear.
pub(super) static GENERIC_VERBS: WordSet =
    WordSet::of("add check count create delete find get list post remove search set update");
/// Verbs of summaries that say nothing about the action.
static VAGUE_VERBS: WordSet = WordSet::of(
    "allow apply execute handle invoke make manage perform process provide return submit take use",
);

/// The verb of an id.
#[derive(Debug, Clone)]
pub(super) struct IdVerb {
    /// Index of the part of the id.
    pub(super) part: usize,
    /// Index of the word where the verb starts, with a verb that is joined to it by `and` or `or`.
    pub(super) start: usize,
    /// Index of the main verb.
    pub(super) word: usize,
    /// The verb as it is spelled in the id, without its object if both are one word.
    pub(super) spelled: NameWord,
    /// The verb as it is spelled in names.
    pub(super) canonical: NameWord,
}

impl IdVerb {
    fn known(lead: NameVerb, main: NameVerb) -> IdVerb {
        IdVerb {
            part: main.part,
            start: if lead.part == main.part { lead.word } else { main.word },
            word: main.word,
            spelled: main.verb.word.into(),
            canonical: main.verb.canonical.into(),
        }
    }

    fn unknown(part: usize, word: usize, spelled: &NameWord) -> IdVerb {
        IdVerb { part, start: word, word, spelled: spelled.clone(), canonical: spelled.clone() }
    }
}

/// Returns the verb of an id.
pub(super) fn id_verb(
    parts: &[Vec<NameWord>],
    input: &NameInput<'_>,
    method: &str,
    path: &PathWords,
) -> Option<IdVerb> {
    let found = name_verbs_with_path(parts, PathShape::of(input.path).bare_verb());
    let agrees = |verb: &Verb| input.category.is_none_or(|category| verb.category() == category);
    let lead = found.lead.filter(|lead| is_real_verb(lead, parts, method, path));
    if !lead.is_some_and(|lead| agrees(lead.verb))
        && let Some(explicit) = explicit_verb(parts, input.category)
    {
        return Some(IdVerb::known(explicit, explicit));
    }
    let is_read = input.category == Some(Category::Read);
    let lead = lead.filter(|lead| agrees(lead.verb) || leads(parts, lead) || lead.verb.reads());
    // `notifyNewAvailable` of a GET that checks something.
    let lead = lead.filter(|lead| !(is_read && lead.verb.acts() && lead.verb.word != "generate"));
    let may_be_noun = |verb: &Verb| verb.weight == Weight::Weak || verb.has(VerbTrait::Homograph);
    let lead = lead.filter(|lead| {
        !(may_be_noun(lead.verb) && is_object_of_explicit_verb(lead.verb.word, input.summary))
    });
    match lead {
        Some(lead) if leads(parts, &lead) => {}
        _ => {
            if let Some(unknown) = unknown_verb(parts, input, method, path) {
                return Some(unknown);
            }
        }
    }
    let lead = lead?;
    let mut chosen = IdVerb::known(lead, found.second.filter(|_| found.compound).unwrap_or(lead));
    // `load` means `get` only in a read.
    if lead.verb.has(VerbTrait::Twofold) && input.category.is_some_and(|category| category != Category::Read)
    {
        chosen.canonical = chosen.spelled.clone();
    }
    Some(chosen)
}

/// Returns an explicit `create`, `update` or `delete` at the start or the end of a part, if it agrees with the category.
fn explicit_verb(parts: &[Vec<NameWord>], category: Option<Category>) -> Option<NameVerb> {
    let category = category.filter(|category| *category != Category::Read)?;
    parts.iter().enumerate().rev().find_map(|(index, part)| {
        let edges = [0, part.len().checked_sub(1)?];
        let at = |word: usize| {
            let verb = verbs::verb(part.get(word)?)?;
            let is_explicit = verb.category() == category
                && (verb.has(VerbTrait::NeverNoun) || (word == 1 && verb.acts() && part.len() > 2));
            is_explicit.then_some(NameVerb { verb, part: index, word })
        };
        // `issueRemoveLabel`: the first word is a noun.
        let is_thing =
            part.first().and_then(|word| verbs::verb(word)).is_some_and(|verb| verb.has(VerbTrait::Thing));
        edges.into_iter().chain(is_thing.then_some(1)).find_map(at)
    })
}

/// Returns a verb that the table does not have: the first word of a part that is a verb in English, or that starts the summary.
fn unknown_verb(
    parts: &[Vec<NameWord>],
    input: &NameInput<'_>,
    method: &str,
    path: &PathWords,
) -> Option<IdVerb> {
    // Many summaries of deletions are copied from others.
    if method == "DELETE" {
        return None;
    }
    let opening = opening_action(input.summary);
    let may_act = method != "GET" || input.category.is_some_and(|category| category != Category::Read);
    parts.iter().enumerate().rev().find_map(|(index, part)| {
        let modifiers = part.iter().take_while(|word| verbs::is_modifier(word)).count();
        let word = part.get(modifiers)?;
        if verbs::verb(word).is_some() || is_plural(word) {
            return None;
        }
        let ends_path = ends_with_action(path, word);
        // "Dock Ship" of `/ships/{id}/dock`
        let starts_summary = || opening_words(input.summary).next().is_some_and(|first| *first == **word);
        let in_summary = opening.as_deref() == Some(&**word)
            || starts_in_third_person(word, part.get(modifiers + 1), input.summary)
            || (ends_path && method == "POST" && !path.params.is_empty() && starts_summary());
        let is_verb = in_summary || (may_act && verbs::is_verb(word) && part.len() > modifiers + 1);
        (is_verb && (in_summary || !path.has(word) || ends_path))
            .then(|| IdVerb::unknown(index, modifiers, word))
    })
}

/// Whether the summary is the name in the third person: `ReportPlaybackStart`, "Reports playback has started".
fn starts_in_third_person(word: &str, next: Option<&NameWord>, summary: &str) -> bool {
    let mut opening = opening_words(summary);
    let is_inflected = opening.next().is_some_and(|first| *first != *word && *singular(&first) == *word);
    is_inflected && next.is_some_and(|next| opening.take(3).any(|word| singular(&word) == singular(next)))
}

/// Whether the path ends with this action: `/vehicles/{id}/scrap`.
fn ends_with_action(path: &PathWords, word: &str) -> bool {
    !path.item
        && path.literals.last().is_some_and(|last| last.words.first().is_some_and(|first| **first == *word))
}

/// Whether only modifiers precede the verb in its part.
pub(super) fn leads(parts: &[Vec<NameWord>], found: &NameVerb) -> bool {
    parts
        .get(found.part)
        .is_some_and(|part| part.iter().take(found.word).all(|word| verbs::is_modifier(word)))
}

/// Whether the word is used as a verb, not as a noun among other nouns.
fn is_real_verb(found: &NameVerb, parts: &[Vec<NameWord>], method: &str, path: &PathWords) -> bool {
    let Some(part) = parts.get(found.part) else { return false };
    let leads = leads(parts, found);
    let last = found.word + 1 == part.len();
    match found.verb.weight {
        Weight::Strong => {
            leads
                || last
                || found.verb.has(VerbTrait::NeverNoun)
                || GENERIC_VERBS.contains(found.verb.canonical)
        }
        Weight::Doubtful => leads || last,
        Weight::Weak => {
            let acts = method != "GET" && (risk(found.verb.effect) > 0 || found.verb.has(VerbTrait::Twofold));
            (leads && acts && (part.len() > 1 || parts.len() > 1))
                || (last && (acts || found.verb.word == "index") && (parts.len() > 1 || path.is_call))
        }
    }
}

/// The verb of a summary.
#[derive(Debug)]
pub(super) struct SummaryVerb {
    pub(super) canonical: NameWord,
    /// Whether its object is a plural noun: "Import contacts".
    pub(super) many: bool,
}

/// Returns the verb of the summary of a request that is not a GET, if it agrees with the category and the sentence is about
/// this noun. The verb of the method is as good as a vague one.
pub(super) fn summary_verb(input: &NameInput<'_>, method: &str, noun: &str) -> Option<SummaryVerb> {
    if matches!(method, "GET" | "HEAD" | "OPTIONS" | "TRACE") {
        return None;
    }
    let base = opening_action(input.summary)?;
    let category = input.category?;
    if VAGUE_VERBS.contains(&base) {
        return None;
    }
    let spelled = match verbs::verb(&base) {
        Some(verb) if verb.category() == category && !verb.reads() => verb.canonical,
        // "Identify the language": it may store something.
        Some(verb) if verb.weight == Weight::Doubtful && category == Category::Execute => verb.canonical,
        // Deleting by another name: "Cancels a subscription".
        Some(verb) if verb.acts() && verb.category() == Category::Execute && category == Category::Delete => {
            verb.canonical
        }
        None if category == Category::Execute => &base,
        _ => return None,
    };
    let one = singular(noun);
    // Further words are often about something else: "To connect to a reader the app needs a token".
    let mut start = opening_words(input.summary).skip(1).take(6);
    let object = start.find(|word| singular(word) == one).filter(|_| *one != *base)?;
    let many = is_plural(&object) && !matches!(spelled, "create" | "update" | "delete");
    Some(SummaryVerb { canonical: spelled.into(), many })
}

/// An action at the end of a path.
#[derive(Debug)]
pub(super) struct PathAction {
    /// The position in the words of the last part.
    pub(super) word: usize,
    pub(super) canonical: NameWord,
    /// Whether it returns a collection.
    pub(super) many: bool,
}

/// Returns the action at the end of a path: `/pulls/{id}/merge`, `/trips/plan` with the summary "Plan a trip".
pub(super) fn path_action(input: &NameInput<'_>, method: &str, path: &PathWords) -> Option<PathAction> {
    if path.item {
        return None;
    }
    let words = &path.literals.last()?.words;
    let shape = PathShape::of(input.path);
    if let Some(verb) = shape.verb() {
        let is_read = input.category.is_none_or(|found| found == Category::Read);
        let is_noun = method == "GET"
            && ((verb.weight == Weight::Weak && (verb.category() == Category::Read || !path.is_call))
                || (verb.acts() && is_read && is_plural_compound(words)));
        // `DELETE /issues/{id}/watch` does not watch.
        let is_undone = method == "DELETE" && verb.category() != Category::Delete;
        if is_noun || is_undone {
            return None;
        }
        if let Some(word) = words.iter().position(|word| **word == *verb.word) {
            let many = matches!(verb.canonical, "list" | "search" | "query" | "count" | "find");
            let canonical = instead_of_read(verb.canonical, input, method, None);
            let canonical = canonical.unwrap_or_else(|| verb.canonical.into());
            return Some(PathAction { word, canonical, many });
        }
        return None;
    }
    let first = words.first().filter(|word| !matches!(method, "GET" | "DELETE") && !is_plural(word))?;
    let in_summary = opening_action(input.summary).is_some_and(|base| *base == **first);
    let is_verb = verbs::verb(first).map_or_else(
        || action_base(first).is_some(),
        |verb| risk(verb.effect) > 0 && !verb.has(VerbTrait::Thing),
    );
    let is_object = || opening_words(input.summary).skip(1).any(|word| singular(&word) == singular(first));
    // `/cards/{id}/shipping/deliver`, `/shorten`, `/answerQuery`
    let has_place = words.len() > 1 || path.len() == 1 || !path.params.is_empty();
    let is_action = in_summary || (is_verb && has_place && !is_plural_compound(words) && !is_object());
    is_action.then(|| PathAction { word: 0, canonical: first.clone(), many: false })
}

/// Whether the words are a noun: `merge-fields` and `delete-requests` are, `merge` and `delete-all` are not.
fn is_plural_compound(words: &[NameWord]) -> bool {
    words.len() > 1 && words.last().is_some_and(|word| is_plural(word))
}

/// Whether the summary says that the operation reads.
pub(super) fn is_described_as_read(input: &NameInput<'_>) -> bool {
    let opening = opening_action(input.summary);
    opening.and_then(|base| verbs::verb(&base)).is_some_and(|verb| verb.reads() || verb.word == "return")
}

/// Returns the verb for an operation that is called `get` or `list`, but is not a READ.
pub(super) fn instead_of_read(
    verb: &str,
    input: &NameInput<'_>,
    method: &str,
    noun: Option<&NameWord>,
) -> Option<NameWord> {
    let category = input.category.filter(|category| *category != Category::Read)?;
    if !matches!(verb, "get" | "list") {
        return None;
    }
    let by_summary = noun.and_then(|noun| summary_verb(input, method, noun));
    Some(match (by_summary, method, category) {
        (Some(found), ..) => found.canonical,
        (None, "DELETE", _) => "delete".into(),
        (None, "PUT" | "PATCH", Category::Update) => "update".into(),
        (None, ..) => "request".into(),
    })
}
