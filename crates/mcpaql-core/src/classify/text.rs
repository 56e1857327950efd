//! What the sentences about an operation say, and the words that forbid calling it a read.

use super::verbs::{self, Verb, WordSet, set};
use super::words::{Pieces, spoken, tokens, words};
use crate::operation::Category;
use std::borrow::Cow;
use std::sync::LazyLock;

/// Nouns that are handed out, used up or run: where one stands, a POST that "gets" still changes something.
static TELLTALES: WordSet = LazyLock::new(|| {
    set("access_token async asynchronous asynchronously authentication bulk captcha command commands \
         credential credentials cypher export exports file flux gql graphql influxql job login mutation \
         mutations oauth otp password presigned queue queued script scripts session signed sparql sql \
         statement statements task token tokens transaction upload webhook lock lease subscription checkout \
         activation code verification return payment reservation booking report callback email sms \
         notification")
});
/// What is handed out or taken even by a tool that only "gets" it.
static HANDED_OUT: WordSet = LazyLock::new(|| {
    set(
        "access_token activation booking captcha checkout lease login oauth otp payment pending presigned queue \
         reservation sms token tokens",
    )
});
/// Words that stand before the verb of a sentence and say nothing.
static OPENERS: WordSet = LazyLock::new(|| {
    set(
        "a allow allows an api be call can client clients endpoint for function helper is it lets let method \
         operation perform performs provide provides request route service that the this to use used user \
         users which will you your http post rest one us in order action command webservice resource",
    )
});

/// What a caller can put anything into.
static LANGUAGES: WordSet = LazyLock::new(|| {
    set(
        "bash cypher gql graphql javascript mutation mutations powershell shell sparql sql statement statements",
    )
});
/// The same, where a word before it says that it is the caller's own.
static PROGRAMS: WordSet = LazyLock::new(|| {
    set("code command commands expression expressions program programs python queries query script scripts")
});
/// Words that leave to the caller what is meant.
static OPEN_ENDED: WordSet =
    LazyLock::new(|| set("adhoc any arbitrary custom given hoc own provided raw specified supplied your"));

/// The verb that the first sentence opens with, in base or third person.
#[must_use]
pub(super) fn opening_verb(text: &str) -> Option<&'static Verb> {
    let mut words = plain(first_sentence(text)).skip_while(|word| OPENERS.contains(word.as_ref()));
    verbs::inflected(&words.next()?)
}

/// The verbs that the first sentence says one after another: the one it opens with, and those tied to it ("and then deletes").
pub fn told_verbs(text: &str) -> impl Iterator<Item = &'static Verb> {
    let is_opener = |word: &Cow<'_, str>| word == "tool" || OPENERS.contains(word.as_ref());
    let words: Vec<Cow<'_, str>> = plain(first_sentence(text)).skip_while(is_opener).collect();
    let mut tied = true;
    words.into_iter().filter_map(move |word| {
        let is_next = std::mem::replace(&mut tied, matches!(word.as_ref(), "and" | "or" | "then"));
        verbs::inflected(&word).filter(|_| is_next)
    })
}

/// The words of the first sentence from the one on that says something.
#[must_use]
pub(super) fn opening(text: &str) -> Vec<Cow<'_, str>> {
    plain(first_sentence(text)).skip_while(|word| OPENERS.contains(word.as_ref())).collect()
}

/// The words of a text, copied only where they are not spelled like that.
fn plain(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    tokens(text).flat_map(|(token, is_word)| match is_word {
        true => Pieces::One(Some(Cow::Borrowed(token))),
        false => Pieces::of(token, words),
    })
}

/// A word that says that the caller sends a program, which may do anything: "with any SQL", "a raw query".
#[must_use]
pub fn program(text: &str) -> Option<String> {
    let first =
        plain(first_sentence(text)).find(|word| LANGUAGES.contains(word.as_ref())).map(Cow::into_owned);
    first.or_else(|| {
        let program = |word: &str| LANGUAGES.contains(word) || PROGRAMS.contains(word);
        // Whether one of the two words before leaves it open.
        let mut open = (false, false);
        let found = plain(text).find(|word| {
            let found = (open.0 || open.1) && program(word);
            open = (open.1, word.len() <= 9 && OPEN_ENDED.contains(word.as_ref()));
            found
        });
        found.map(Cow::into_owned)
    })
}

/// Whether the first sentence has that verb, in any form.
#[must_use]
pub(super) fn tells(text: &str, verb: &Verb) -> bool {
    spoken(first_sentence(text)).filter_map(|word| verbs::inflected(&word)).any(|told| told.word == verb.word)
}

/// The text up to its first full stop.
#[must_use]
pub fn first_sentence(text: &str) -> &str {
    let line = text.lines().next().unwrap_or(text);
    // Sooner found than a search for it is prepared.
    let stop = line.as_bytes().windows(2).position(|pair| pair == b". ");
    stop.and_then(|stop| line.get(..stop)).unwrap_or(line)
}

/// A word of these sentences that speaks against a read: a verb that changes something, or a noun that is handed out.
#[must_use]
pub(super) fn objection(summary: &str, description: &str) -> Option<String> {
    against(summary, description, &TELLTALES)
}

/// The same about a tool whose name reads: it may well get a file or list jobs, so that only deeds and what is handed out
/// speak against it.
#[must_use]
pub(super) fn deed(summary: &str, description: &str) -> Option<String> {
    against(summary, description, &HANDED_OUT)
}

fn against(summary: &str, description: &str, nouns: &WordSet) -> Option<String> {
    let speaks = |word: &str| nouns.contains(word) || acts(word, true);
    let in_first = |text: &str| spoken(first_sentence(text)).find(|word| speaks(word)).map(Cow::into_owned);
    in_first(summary).or_else(|| in_first(description)).or_else(|| {
        let mut also = Also::default();
        let found = spoken(description).find(|word| {
            also.hear(word);
            acts(word, false)
        });
        found.map(Cow::into_owned).or(also.act)
    })
}

/// "Also can be used to update …": what an operation does besides.
#[derive(Debug, Default)]
struct Also {
    /// Words that still belong to the last "also".
    left: usize,
    /// Whether its "to" was heard.
    to: bool,
    /// The first deed of that kind.
    act: Option<String>,
}

impl Also {
    /// "See also: create a user" speaks of another one.
    fn hear(&mut self, word: &str) {
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
pub(super) fn telltale(words: &[String]) -> Option<&str> {
    words.iter().map(String::as_str).find(|word| TELLTALES.contains(word) || acts(word, true))
}

/// In the first sentence every changing verb counts, later only one in the third person: "creates", not "create".
fn acts(word: &str, first: bool) -> bool {
    let found = if first { verbs::inflected(word) } else { inflected_only(word) };
    found
        .is_some_and(|verb| verb.acts() || (first && verb.weight == verbs::Weight::Doubtful && is_trap(verb)))
}

fn is_trap(verb: &Verb) -> bool {
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
            assert_eq!(program(text).as_deref(), expected, "{text}");
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
            assert!(objection(summary, description).is_some(), "{summary}");
        }
        assert_eq!(
            objection("Search users", "Returns users that were created lately. See also: create a user."),
            None
        );
    }
}
