//! Forms of verbs in prose: third person, gerund and participle.

use super::lists::{ADVERBS, ASIDES, HARMLESS, PARTICIPLES, READING, RETURNING, SUBORDINATORS};
use crate::verbs::{self, Verb};
use std::borrow::Cow;

/// Returns the verb of a word in prose: base form, third person or gerund.
pub(super) fn verb_of(word: &str) -> Option<&'static Verb> {
    if word == "news" {
        return None;
    }
    verbs::inflected(word).or_else(|| verbs::further_inflected(word))
}

/// Returns the base form of a verb: by the tables, else by its ending.
pub(super) fn base_of(word: &str) -> Cow<'_, str> {
    match verbs::inflected(word) {
        Some(verb) => Cow::Borrowed(verb.word),
        None => regular_base(word),
    }
}

/// Returns the base form of a regular verb form, without looking it up.
fn regular_base(word: &str) -> Cow<'_, str> {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return Cow::Owned(format!("{stem}y"));
    }
    for ending in ["sses", "shes", "ches", "xes", "zes"] {
        if word.ends_with(ending) {
            return Cow::Borrowed(word.strip_suffix("es").unwrap_or(word));
        }
    }
    match word.strip_suffix('s').filter(|stem| !stem.ends_with('s') && stem.len() > 2) {
        Some(stem) => Cow::Borrowed(stem),
        None => Cow::Borrowed(word),
    }
}

/// Returns the verb of a past participle: `deleted`, `saved`, `applied`, `sent`.
pub(in crate::classify) fn participle(word: &str) -> Option<&'static Verb> {
    if let Some((_, verb)) = PARTICIPLES.iter().find(|(participle, _)| *participle == word) {
        return verbs::verb(verb);
    }
    // `unchanged` and `unmodified` are states.
    let further = || verbs::past_form(word, verbs::further).filter(|_| !word.starts_with("un"));
    verbs::past_form(word, verbs::verb).or_else(further)
}

pub(super) fn is_adverb(word: &str) -> bool {
    ADVERBS.contains(word)
        || (word.len() > 4 && word.ends_with("ly") && !matches!(word, "apply" | "reply" | "supply"))
}

/// Returns whether a verb in base form says nothing about a change in a later clause.
pub(super) fn is_harmless(base: &str) -> bool {
    HARMLESS.contains(base) || ASIDES.contains(base) || READING.contains(base) || RETURNING.contains(base)
}

/// Returns whether the word before must be a noun: "Renames are …".
pub(super) fn is_copula(word: &str) -> bool {
    SUBORDINATORS.contains(word)
        || matches!(
            word,
            "is" | "are"
                | "was"
                | "were"
                | "can"
                | "may"
                | "will"
                | "must"
                | "should"
                | "has"
                | "have"
                | "of"
        )
}

/// Returns whether a word is probably the verb of a clause.
pub(super) fn is_finite(word: &str) -> bool {
    matches!(
        word,
        "is" | "are"
            | "was"
            | "were"
            | "has"
            | "have"
            | "had"
            | "do"
            | "does"
            | "can"
            | "may"
            | "fail"
            | "match"
            | "will"
            | "began"
            | "broke"
            | "came"
            | "did"
            | "fell"
            | "gave"
            | "got"
            | "kept"
            | "left"
            | "lost"
            | "made"
            | "ran"
            | "rose"
            | "sent"
            | "took"
            | "went"
            | "won"
            | "wrote"
    ) || verb_of(word).is_some_and(|verb| verb.word != word)
        || (word.len() > 3 && word.ends_with("ed"))
}

/// Returns whether a word only helps another verb.
pub(super) fn is_modal(word: &str) -> bool {
    matches!(word, "can" | "could" | "had" | "has" | "have" | "may" | "might" | "must" | "should" | "will")
}

pub(super) fn is_connector(word: &str) -> bool {
    crate::PREPOSITIONS.contains(word)
        || matches!(word, "and" | "or" | "is" | "are" | "was" | "were" | "has" | "have" | "that" | "which")
}
