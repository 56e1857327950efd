//! Sentences about an operation: where the first one ends, and the verbs it says.

use crate::verbs::{self, Verb};
use crate::word_set::WordSet;
use crate::words::iter_words;
use std::borrow::Cow;

/// Words that stand before the verb of a sentence and say nothing.
pub static OPENERS: WordSet = WordSet::of(
    "a allow allows an api be can client clients endpoint for function helper is it let lets method operation perform \
     performs service that the this to us use used user users which will you your",
);
/// The same of sentences that describe an operation of an HTTP API.
static HTTP_OPENERS: WordSet = WordSet::of(
    "action call command http in one order post provide provides request resource rest route webservice",
);
/// Words that put something in relation to what follows.
pub static PREPOSITIONS: WordSet = WordSet::of(
    "about across as at between by for from in into near of on per to under using via with within",
);
/// Words before a full stop that ends no sentence.
const ABBREVIATIONS: [&str; 4] = ["etc", "vs", "No", "approx"];

/// The first sentence of a text without its full stop where another one follows; no more than the first line.
#[must_use]
pub fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    // Sooner found than a search for it is prepared.
    let stops = line.as_bytes().windows(2).enumerate().filter(|(_, pair)| pair == b". ");
    for (index, _) in stops {
        let (Some(before), Some(behind)) = (line.get(..index), line.get(index + 2..)) else { continue };
        let word = before.rsplit([' ', '(']).next().unwrap_or_default();
        let abbreviated = word.contains('.') || word.len() < 2 || ABBREVIATIONS.contains(&word);
        if !abbreviated && !behind.starts_with(char::is_lowercase) {
            return before;
        }
    }
    line
}

fn is_opener(word: &str) -> bool {
    OPENERS.contains(word) || HTTP_OPENERS.contains(word)
}

/// The words of the first sentence; what it gives as an example is not what it says.
pub fn first_words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let sentence = first_sentence(text);
    iter_words(sentence.split_once("e.g.").map_or(sentence, |(said, _)| said))
}

/// The same from the first one on that says something.
pub fn opening_words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    first_words(text).skip_while(|word| is_opener(word))
}

/// The verb that the first sentence opens with, in base or third person.
#[must_use]
pub fn opening_verb(text: &str) -> Option<&'static Verb> {
    verbs::inflected(&opening_words(text).next()?)
}

/// The verbs that the first sentence says one after another: the one it opens with, and those tied to it ("and then deletes").
pub fn sentence_verbs(text: &str) -> impl Iterator<Item = &'static Verb> {
    let mut tied = true;
    first_words(text).skip_while(|word| word == "tool" || is_opener(word)).filter_map(move |word| {
        let is_next = std::mem::replace(&mut tied, matches!(word.as_ref(), "and" | "or" | "then"));
        verbs::inflected(&word).filter(|_| is_next)
    })
}

/// Whether the first sentence has that verb, in any form.
#[must_use]
pub fn mentions_verb(text: &str, verb: &Verb) -> bool {
    first_words(text).filter_map(|word| verbs::inflected(&word)).any(|told| told.word == verb.word)
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
