//! Reads descriptions of operations: where the first sentence ends, and its verbs.

use crate::verbs::{self, Verb};
use crate::word_set::WordSet;
use crate::words::iter_words;
use std::borrow::Cow;

/// Words without meaning before the verb of a sentence.
pub static OPENERS: WordSet = WordSet::of(
    "a allow allows an api be can client clients endpoint for function helper is it let lets method operation perform \
     performs service that the this to us use used user users which will you your",
);
/// Further such words in descriptions of HTTP operations.
static HTTP_OPENERS: WordSet = WordSet::of(
    "action call command http in one order post provide provides request resource rest route webservice",
);
/// Prepositions.
pub static PREPOSITIONS: WordSet = WordSet::of(
    "about across as at between by for from in into near of on per to under using via with within",
);
/// Abbreviations that end with a full stop.
const ABBREVIATIONS: [&str; 4] = ["etc", "vs", "No", "approx"];

/// Returns the first sentence of a text, at most the first line. The full stop is left out if another sentence follows.
#[must_use]
pub fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    // Faster than a string search for this short pattern.
    let stops = line.as_bytes().windows(2).enumerate().filter(|(_, pair)| pair == b". ");
    for (index, _) in stops {
        let (Some(before), Some(after)) = (line.get(..index), line.get(index + 2..)) else { continue };
        let word = before.rsplit([' ', '(']).next().unwrap_or_default();
        let abbreviated = word.contains('.') || word.len() < 2 || ABBREVIATIONS.contains(&word);
        if !abbreviated && !after.starts_with(char::is_lowercase) {
            return before;
        }
    }
    line
}

fn is_opener(word: &str) -> bool {
    OPENERS.contains(word) || HTTP_OPENERS.contains(word)
}

/// Returns the words of the first sentence, without examples.
pub fn first_words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let sentence = first_sentence(text);
    iter_words(sentence.split_once("e.g.").map_or(sentence, |(before, _)| before))
}

/// Returns the words of the first sentence, from the first meaningful one.
pub fn opening_words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    first_words(text).skip_while(|word| is_opener(word))
}

/// Returns the verb that starts the first sentence, in base form or third person.
#[must_use]
pub fn opening_verb(text: &str) -> Option<&'static Verb> {
    verbs::inflected(&opening_words(text).next()?)
}

/// Returns the verbs of the first sentence in order: the one that starts it, and those joined to it ("and then
/// deletes").
pub fn sentence_verbs(text: &str) -> impl Iterator<Item = &'static Verb> {
    let mut joined = true;
    first_words(text).skip_while(|word| word == "tool" || is_opener(word)).filter_map(move |word| {
        let is_next = std::mem::replace(&mut joined, matches!(word.as_ref(), "and" | "or" | "then"));
        verbs::inflected(&word).filter(|_| is_next)
    })
}

/// Returns whether the first sentence has a verb, in any form.
#[must_use]
pub fn mentions_verb(text: &str, verb: &Verb) -> bool {
    first_words(text).filter_map(|word| verbs::inflected(&word)).any(|found| found.word == verb.word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_where_the_next_one_begins() {
        for (text, expected) in [
            ("Gets it. Then more.", "Gets it"),
            ("Gets it.", "Gets it."),
            ("Gets it, e.g. Some. Then.", "Gets it, e.g. Some"),
            ("Uses v1.2 of it", "Uses v1.2 of it"),
            ("Lists users, etc. and more", "Lists users, etc. and more"),
            ("One\ntwo", "One"),
            ("", ""),
        ] {
            assert_eq!(first_sentence(text), expected, "{text}");
        }
    }

    #[test]
    fn a_sentence_opens_with_its_verb() {
        for (text, expected) in [
            ("Returns a list of users.", Some("return")),
            ("This endpoint allows you to search for users", Some("search")),
            ("Use this method to delete a user", Some("delete")),
            ("Search", Some("search")),
            ("The users of a team", None),
            ("", None),
        ] {
            assert_eq!(opening_verb(text).map(|verb| verb.word), expected, "{text}");
        }
    }
}
