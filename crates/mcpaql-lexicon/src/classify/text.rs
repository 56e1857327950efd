//! Reads the summary and description of an operation, and finds words that contradict a read.

use crate::Category;
use crate::verbs::{self, Verb, Weight};
use crate::{WordSet, first_words, iter_words};
use std::borrow::Cow;

/// Nouns that are issued, consumed or run. With one of these, a POST that "gets" something still changes something.
static SIDE_EFFECT_NOUNS: WordSet = WordSet::of(
    "access_token async asynchronous asynchronously authentication bulk captcha command commands \
         credential credentials cypher export exports file flux gql graphql influxql job login mutation \
         mutations oauth otp password presigned queue queued script scripts session signed sparql sql \
         statement statements task token tokens transaction upload webhook lock lease subscription checkout \
         activation code verification return payment reservation booking report callback email sms \
         notification",
);
/// Languages that a caller can write anything in.
static LANGUAGES: WordSet = WordSet::of(
    "bash cypher gql graphql javascript mutation mutations powershell shell sparql sql statement statements",
);
/// Further ones that count only after a word of `OPEN_ENDED`.
static PROGRAMS: WordSet = WordSet::of(
    "code command commands expression expressions program programs python queries query script scripts",
);
/// Words that leave the content to the caller.
static OPEN_ENDED: WordSet =
    WordSet::of("adhoc any arbitrary custom given hoc own provided raw specified supplied your");

/// Returns a word that means the caller sends a program, which may do anything: "with any SQL", "a raw query".
#[must_use]
pub fn program_word(text: &str) -> Option<String> {
    let first = first_words(text).find(|word| LANGUAGES.contains(word.as_ref())).map(Cow::into_owned);
    first.or_else(|| open_ended_program(text))
}

/// Returns a word for a program that the caller writes as they like: "a raw query".
pub(super) fn open_ended_program(text: &str) -> Option<String> {
    let is_program = |word: &str| LANGUAGES.contains(word) || PROGRAMS.contains(word);
    // Whether each of the two words before is open-ended.
    let mut open = (false, false);
    let found = iter_words(text).find(|word| {
        let found = (open.0 || open.1) && is_program(word);
        open = (open.1, word.len() <= 9 && OPEN_ENDED.contains(word.as_ref()));
        found
    });
    found.map(Cow::into_owned)
}

/// Returns a word of these texts that contradicts a read: a verb that changes something, or a noun that suggests a side
/// effect, such as `token` or `job`.
#[must_use]
pub(super) fn side_effect_word(summary: &str, description: &str) -> Option<String> {
    let contradicts = |word: &str| SIDE_EFFECT_NOUNS.contains(word) || is_changing_word(word, true);
    let in_first = |text: &str| first_words(text).find(|word| contradicts(word)).map(Cow::into_owned);
    in_first(summary).or_else(|| in_first(description)).or_else(|| {
        let mut also = AlsoClause::default();
        let found = iter_words(description).find(|word| {
            also.read_word(word);
            is_changing_word(word, false)
        });
        found.map(Cow::into_owned).or(also.verb)
    })
}

/// "Also can be used to update …": a further effect of an operation.
#[derive(Debug, Default)]
struct AlsoClause {
    /// Remaining words of the last "also" clause.
    left: usize,
    /// Whether its "to" was read.
    to: bool,
    /// The first changing verb in such a clause.
    verb: Option<String>,
}

impl AlsoClause {
    /// Reads the next word. "See also: create a user" is about another operation.
    fn read_word(&mut self, word: &str) {
        if word == "also" {
            (self.left, self.to) = (8, false);
        } else if self.left > 0 && self.verb.is_none() {
            self.left -= 1;
            self.to |= word == "to";
            if self.to && verbs::verb(word).is_some_and(Verb::acts) {
                self.verb = Some(word.to_owned());
            }
        }
    }
}

/// Returns a word of a name or a path that contradicts a read.
#[must_use]
pub(super) fn side_effect_word_in(words: &[String]) -> Option<&str> {
    words
        .iter()
        .map(String::as_str)
        .find(|word| SIDE_EFFECT_NOUNS.contains(word) || is_changing_word(word, true))
}

/// Returns whether a word is a changing verb. In the first sentence every form counts, later only the third person:
/// "creates", not "create".
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
