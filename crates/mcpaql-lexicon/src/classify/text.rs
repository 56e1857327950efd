//! What the sentences about an operation say, and the words that forbid calling it a read.

use crate::Category;
use crate::verbs::{self, Verb, Weight};
use crate::{WordSet, first_words, iter_words};
use std::borrow::Cow;

/// Nouns that are handed out, used up or run: where one stands, a POST that "gets" still changes something.
static SIDE_EFFECT_NOUNS: WordSet = WordSet::of(
    "access_token async asynchronous asynchronously authentication bulk captcha command commands \
         credential credentials cypher export exports file flux gql graphql influxql job login mutation \
         mutations oauth otp password presigned queue queued script scripts session signed sparql sql \
         statement statements task token tokens transaction upload webhook lock lease subscription checkout \
         activation code verification return payment reservation booking report callback email sms \
         notification",
);
/// What is handed out or taken even by a tool that only "gets" it.
static ISSUED_NOUNS: WordSet = WordSet::of(
    "access_token activation booking captcha checkout lease login oauth otp payment pending presigned queue \
         reservation sms token tokens",
);
/// What a caller can put anything into.
static LANGUAGES: WordSet = WordSet::of(
    "bash cypher gql graphql javascript mutation mutations powershell shell sparql sql statement statements",
);
/// The same, where a word before it says that it is the caller's own.
static PROGRAMS: WordSet = WordSet::of(
    "code command commands expression expressions program programs python queries query script scripts",
);
/// Words that leave to the caller what is meant.
static OPEN_ENDED: WordSet =
    WordSet::of("adhoc any arbitrary custom given hoc own provided raw specified supplied your");

/// A word that says that the caller sends a program, which may do anything: "with any SQL", "a raw query".
#[must_use]
pub fn program_word(text: &str) -> Option<String> {
    let first = first_words(text).find(|word| LANGUAGES.contains(word.as_ref())).map(Cow::into_owned);
    first.or_else(|| {
        let program = |word: &str| LANGUAGES.contains(word) || PROGRAMS.contains(word);
        // Whether one of the two words before leaves it open.
        let mut open = (false, false);
        let found = iter_words(text).find(|word| {
            let found = (open.0 || open.1) && program(word);
            open = (open.1, word.len() <= 9 && OPEN_ENDED.contains(word.as_ref()));
            found
        });
        found.map(Cow::into_owned)
    })
}

/// A word of these sentences that speaks against a read: a verb that changes something, or a noun that is handed out.
#[must_use]
pub(super) fn side_effect_word(summary: &str, description: &str) -> Option<String> {
    find_side_effect_word(summary, description, &SIDE_EFFECT_NOUNS)
}

/// The same about a tool whose name reads: it may well get a file or list jobs, so that only deeds and what is handed out
/// speak against it.
#[must_use]
pub(super) fn changing_word(summary: &str, description: &str) -> Option<String> {
    find_side_effect_word(summary, description, &ISSUED_NOUNS)
}

fn find_side_effect_word(summary: &str, description: &str, nouns: &WordSet) -> Option<String> {
    let speaks = |word: &str| nouns.contains(word) || is_changing_word(word, true);
    let in_first = |text: &str| first_words(text).find(|word| speaks(word)).map(Cow::into_owned);
    in_first(summary).or_else(|| in_first(description)).or_else(|| {
        let mut also = AlsoClause::default();
        let found = iter_words(description).find(|word| {
            also.read_word(word);
            is_changing_word(word, false)
        });
        found.map(Cow::into_owned).or(also.act)
    })
}

/// "Also can be used to update …": what an operation does besides.
#[derive(Debug, Default)]
struct AlsoClause {
    /// Words that still belong to the last "also".
    left: usize,
    /// Whether its "to" was heard.
    to: bool,
    /// The first deed of that kind.
    act: Option<String>,
}

impl AlsoClause {
    /// "See also: create a user" speaks of another one.
    fn read_word(&mut self, word: &str) {
        if word == "also" {
            (self.left, self.to) = (8, false);
        } else if self.left > 0 && self.act.is_none() {
            self.left -= 1;
            self.to |= word == "to";
            if self.to && verbs::verb(word).is_some_and(Verb::acts) {
                self.act = Some(word.to_owned());
            }
        }
    }
}

/// A word of a name or a path that speaks against a read.
#[must_use]
pub(super) fn side_effect_word_in(words: &[String]) -> Option<&str> {
    words
        .iter()
        .map(String::as_str)
        .find(|word| SIDE_EFFECT_NOUNS.contains(word) || is_changing_word(word, true))
}

/// In the first sentence every changing verb counts, later only one in the third person: "creates", not "create".
fn is_changing_word(word: &str, first: bool) -> bool {
    let found = if first { verbs::inflected(word) } else { inflected_only(word) };
    found.is_some_and(|verb| {
        verb.acts() || (first && verb.weight == Weight::Doubtful && has_hidden_side_effect(verb))
    })
}

fn has_hidden_side_effect(verb: &Verb) -> bool {
    verb.effect.category() == Category::Read
        && matches!(verb.word, "export" | "download" | "convert" | "poll" | "snapshot" | "render")
}

fn inflected_only(word: &str) -> Option<&'static Verb> {
    (word.ends_with('s') && verbs::verb(word).is_none()).then(|| verbs::inflected(word)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_of_the_caller_is_found() {
        for (text, expected) in [
            ("Queries the database with any SQL", Some("sql")),
            ("Find things. Takes an arbitrary search expression", Some("expression")),
            ("Check a box with your own script", Some("script")),
            ("Search code in repositories", None),
            ("List the commands of a bot", None),
            ("any", None),
            ("", None),
        ] {
            assert_eq!(program_word(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_speaks_against_a_read_is_found() {
        for (summary, description) in [
            ("Search and save the result", ""),
            ("Find items", "Finds items. Creates an entry in the audit log."),
            ("Get an access token", ""),
            ("Query", "Executes a SQL statement"),
            ("List things", "Starts listing. It deletes what is old."),
        ] {
            assert!(side_effect_word(summary, description).is_some(), "{summary}");
        }
        assert_eq!(
            side_effect_word(
                "Search users",
                "Returns users that were created lately. See also: create a user."
            ),
            None
        );
    }
}
