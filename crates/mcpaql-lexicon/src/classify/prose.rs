//! Reads the prose about an operation clause by clause, and finds what it says about the operation's effect.
//!
//! ```text
//! Returns the report and posts it to the channel.    → opens with a read, then writes: 'posts it'
//! The previous key is invalidated.                   → writes: 'is invalidated'
//! Lists users. Use `delete_user` to remove one.      → reads; the second sentence is about another operation
//! A daily job deletes old rows.                      → says nothing: the subject is not the operation
//! ```
//!
//! What always holds: a statement counts only in a main clause whose subject is this operation, or in the passive voice.
//! Conditions, relative clauses, purposes ("needed to create …"), negations and advice about other operations say nothing
//! about its effect.

use crate::effect::Effect;
use crate::verbs::{self, Verb, VerbTrait};

mod idioms;
mod lists;
mod outcome;
mod passive;
mod reader;
mod reference;
mod verb_forms;
mod words;

pub(super) use lists::{PICTURES, READING_LANGUAGES, TEXTS};
pub(super) use reference::{SplitDescription, split_description};
pub(super) use verb_forms::participle;

use lists::{ACTION_NOUNS, DENIALS, USING_UP};
use reader::Reader;
use words::{ProseWord, WordGap, prose_words, sentences};

/// What a text says about an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Prose {
    /// What its first statement says.
    pub(super) opening: Opening,
    /// The first phrase that says that the operation changes something.
    pub(super) writes: Option<WritePhrase>,
    /// Whether the first statement is in the first sentence.
    pub(super) opens_first: bool,
    /// Whether it says that nothing is changed: "read-only", "does not modify".
    pub(super) denies: bool,
    /// Whether it says that the operation runs something: "executes the query".
    pub(super) runs: bool,
    /// A phrase that may say that the operation changes something, with a verb that is not known: "is rolled".
    pub(super) doubt: Option<String>,
    /// Whether the first sentence only names a thing: "Notes of a release".
    pub(super) names_thing: bool,
    /// Whether it says that the result is in the answer.
    pub(super) answers: bool,
    /// Whether one of its statements says that the operation reads or returns something.
    pub(super) says_read: bool,
    /// Whether it says that it runs only SELECT statements.
    pub(super) selects_only: bool,
    /// Whether it makes a text or a picture for the answer: "generates a chart".
    pub(super) makes_text: bool,
}

/// The first statement of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Opening {
    /// There is no text.
    #[default]
    Missing,
    /// No statement has a verb: "Balance of the account".
    Phrase,
    /// It reads, by this verb: "Lists …".
    Reads(&'static str),
    /// It says only that something is returned.
    Returns,
    /// It reads in some APIs and writes in others: "Exports …".
    Doubtful(&'static str),
    /// It turns its arguments into an answer, or changes something in the same way: "Trims …".
    Computes,
    /// It does something else, or an unknown verb is used.
    Other,
}

/// A phrase that says that an operation changes something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WritePhrase {
    /// The words, such as "posts it".
    pub(super) text: String,
    /// The effect.
    pub(super) effect: Effect,
    /// Whether it is the verb of the first statement.
    pub(super) opens: bool,
}

/// Maximum bytes of a text that are read. Longer ones end in examples and reference tables.
const MAX_BYTES: usize = 8 * 1024;

/// Reads a text about an operation.
pub(super) fn read(text: &str) -> Prose {
    read_pieces(&split_description(truncate(text)))
}

/// Reads a text without its reference of arguments.
pub(super) fn read_pieces(text: &SplitDescription<'_>) -> Prose {
    let mut prose = Prose::default();
    let mut all = Vec::new();
    for piece in &text.prose {
        let lower = piece.to_lowercase();
        prose.denies |= denies(&lower);
        let mentions_write = ["insert", "update", "delete"].iter().any(|word| lower.contains(word));
        prose.selects_only |= selects_only(&lower) && !mentions_write;
        if prose.writes.is_none() {
            let using_up = USING_UP.iter().find(|phrase| lower.contains(**phrase));
            let text = using_up.map(|phrase| phrase.trim().to_owned()).or_else(|| costs(&lower));
            prose.writes = text.map(|text| WritePhrase { text, effect: Effect::Execute, opens: false });
        }
        prose.answers |=
            ["answer", "reply", "response", "inline", "base64", "data uri", "returns", "as text"]
                .iter()
                .any(|word| lower.contains(word));
        all.extend(prose_words(piece));
    }
    if !all.is_empty() {
        prose.opening = Opening::Phrase;
    }
    prose.names_thing = sentences(&all).take(4).any(names_thing);
    // "How many pieces are left": the answer to a question.
    if sentences(&all).next().is_some_and(is_question) {
        prose.opening = Opening::Reads("describe");
        prose.opens_first = true;
        prose.says_read = true;
    }
    let (mut skipped_section, mut is_imperative) = (false, false);
    for (number, sentence) in sentences(&all).enumerate() {
        let Some(first) = sentence.first() else { continue };
        if first.gap == WordGap::Paragraph {
            skipped_section = false;
        }
        skipped_section |= sentence.len() <= 2
            && matches!(
                first.word.as_ref(),
                "example"
                    | "examples"
                    | "eg"
                    | "usage"
                    | "raises"
                    | "throws"
                    | "changelog"
                    | "deprecated"
                    | "deprecations"
            );
        if !skipped_section {
            let may_command = number == 0 || (number < 3 && is_imperative);
            Reader { sentence, is_first: number == 0, may_command, is_statement: false, prose: &mut prose }
                .read();
            prose.opens_first |= number == 0 && prose.opening != Opening::Phrase;
            is_imperative |= number == 0 && verbs::verb(&first.word).is_some();
        }
    }
    prose
}

/// Reads a summary and a description.
pub(super) fn read_both(summary: &str, description: &SplitDescription<'_>) -> Prose {
    let second = read_pieces(description);
    if summary.is_empty() {
        return second;
    }
    let first = read(summary);
    Prose {
        opening: if matches!(first.opening, Opening::Missing | Opening::Phrase) {
            second.opening
        } else {
            first.opening
        },
        opens_first: first.opens_first || second.opens_first,
        writes: first.writes.or(second.writes),
        denies: first.denies || second.denies,
        runs: first.runs || second.runs,
        doubt: first.doubt.or(second.doubt),
        names_thing: if second.opening == Opening::Missing { first.names_thing } else { second.names_thing },
        answers: first.answers || second.answers,
        says_read: first.says_read || second.says_read,
        makes_text: first.makes_text || second.makes_text,
        selects_only: first.selects_only || second.selects_only,
    }
}

/// Returns whether a sentence is a question without an answer: "Who changed a page", but not "When a user signs in, …".
fn is_question(sentence: &[ProseWord<'_>]) -> bool {
    let asks = sentence.first().is_some_and(|first| {
        matches!(
            first.word.as_ref(),
            "how" | "what" | "when" | "where" | "whether" | "which" | "who" | "whose" | "why"
        )
    });
    let is_condition = sentence.first().is_some_and(|first| matches!(first.word.as_ref(), "when" | "where"));
    asks && sentence.len() > 2
        && !(is_condition && sentence.iter().skip(1).any(|token| token.gap == WordGap::Comma))
}

/// Returns whether a sentence names a thing, not an action: "Balances of all accounts".
fn names_thing(sentence: &[ProseWord<'_>]) -> bool {
    let word = |index: usize| sentence.get(index).map_or("", |token: &ProseWord<'_>| token.word.as_ref());
    let article = usize::from(matches!(word(0), "the" | "a" | "an" | "all" | "what" | "which" | "who"));
    let first = word(article);
    let is_verb = article == 0
        && (verbs::is_verb(first) && !verbs::verb(first).is_some_and(|verb| verb.has(VerbTrait::Thing)));
    // "Call recordings of …", but "Transfer playback to …".
    let may_act = article == 0 && verbs::is_verb(first);
    let connected = sentence.iter().skip(1).any(|token| {
        if may_act && token.word == "to" {
            return false;
        }
        matches!(
            token.word.as_ref(),
            "of" | "with"
                | "for"
                | "that"
                | "which"
                | "who"
                | "between"
                | "in"
                | "on"
                | "by"
                | "from"
                | "below"
                | "to"
                | "at"
                | "as"
                | "behind"
                | "per"
                | "since"
                | "near"
                | "due"
        )
    });
    // "Payment methods" are no payment.
    let ends =
        |word: &str| word.is_empty() || matches!(word, "of" | "for" | "to" | "with" | "from" | "by" | "and");
    let acts = (0..4).any(|index| ACTION_NOUNS.contains(word(index)) && ends(word(index + 1)));
    !first.is_empty() && !is_verb && connected && !acts
}

/// Returns the longest start of a text within the limit.
pub(super) fn truncate(text: &str) -> &str {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// Reads the description of a switch: "If true, deletes …", "Whether to mark …", "Deletes …".
pub(super) fn read_switch(text: &str) -> Option<WritePhrase> {
    let lower = text.trim_start().to_ascii_lowercase();
    let openings = [
        "whether or not to ",
        "whether to ",
        "whether the tool should ",
        "set to true to ",
        "set true to ",
        "set to ",
        "set this to true to ",
        "true to ",
        "if true ",
        "if set ",
        "when true ",
        "also ",
        "optionally ",
        "flag to ",
    ];
    let rest = openings.iter().find_map(|opening| lower.strip_prefix(opening)).unwrap_or(&lower);
    // "default true; false performs the migration"
    let off = lower.split([';', '.', ',']).map(str::trim).find_map(|part| part.strip_prefix("false "));
    if let Some(phrase) = off.and_then(|rest| read(rest).writes) {
        return Some(phrase);
    }
    let shapes = ["enable", "disable", "apply", "add", "allow", "generate", "activate"]
        .iter()
        .any(|verb| rest.starts_with(verb));
    if shapes { None } else { read(rest).writes }
}

/// Returns whether a text in lower case says that nothing is changed.
pub(super) fn denies(lower: &str) -> bool {
    let found = DENIALS.iter().filter_map(|denial| Some((denial, lower.find(denial)?)));
    // "Disabled in read-only mode" is about a write.
    let is_mode = |end: usize| lower.get(end..).is_some_and(|rest| rest.starts_with(" mode"));
    let mut found = found.filter(|(denial, at)| !is_mode(at + denial.len()));
    found.next().is_some() || selects_only(lower)
}

/// Returns whether a text says that only SELECT statements are accepted.
fn selects_only(lower: &str) -> bool {
    let limits = ["only", "nothing else", "refused", "rejected", "not allowed", "fail"];
    // In another sentence, such words are about something else.
    lower
        .lines()
        .flat_map(|line| line.split(". "))
        .any(|sentence| sentence.contains("select") && limits.iter().any(|word| sentence.contains(word)))
}

/// Returns a phrase that says that a call costs something: "costs 1 credit".
fn costs(lower: &str) -> Option<String> {
    if lower.contains(" uses up ") {
        return Some("uses up".to_owned());
    }
    // "Items are never served twice."
    if let Some((before, _)) = lower.split_once(" twice") {
        let is_never = before.rsplit(' ').take(3).any(|word| matches!(word, "not" | "never"));
        let is_served = before.rsplit(' ').next().is_some_and(|word| word.ends_with("ed") || word == "given");
        if is_never && is_served {
            return Some("twice".to_owned());
        }
    }
    let verbs = ["costs ", "charges ", "consumes ", "spends ", "deducts ", "burns ", "bills "];
    let at = verbs.iter().find_map(|verb| lower.find(verb))?;
    let words: Vec<&str> = lower
        .get(at..)?
        .split(|ch: char| !ch.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(5)
        .collect();
    let paid = [
        "credit",
        "credits",
        "token",
        "tokens",
        "cent",
        "cents",
        "coin",
        "coins",
        "unit",
        "units",
        "euro",
        "dollar",
        "quota",
        "euros",
        "dollars",
        "eur",
        "usd",
        "fee",
        "fees",
        "wallet",
        "allowance",
        "redemption",
        "redemptions",
        "balance",
        "points",
    ];
    let end = words.iter().position(|word| paid.contains(word))?;
    words.get(..=end).map(|words| words.join(" "))
}

/// Returns the word that changes the meaning of a reading verb: `get rid of`, `check out`, `read in`, `list for sale`.
pub(super) fn reversing_particle<'w>(verb: &Verb, words: &'w [impl AsRef<str>]) -> Option<&'w str> {
    let after = words.get(1..)?;
    let next = after.first().map(AsRef::as_ref);
    let particles: &[&str] = match verb.word {
        "get" => &["rid"],
        "check" => &["in", "out", "off"],
        "read" | "load" | "fetch" | "query" => &["in", "into"],
        "count" => &["down", "up"],
        "view" => &["as"],
        "list" => &["as", "off"],
        _ => &[],
    };
    let sale = after.windows(2).find_map(|pair| match pair {
        [word, what] if word.as_ref() == "for" => {
            let what = what.as_ref();
            matches!(what, "sale" | "rent" | "auction" | "lease" | "trade" | "hire").then_some(what)
        }
        _ => None,
    });
    next.filter(|next| particles.contains(next)).or(sale.filter(|_| verb.word == "list"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes_in(text: &str) -> Option<String> {
        read(text).writes.map(|phrase| phrase.text)
    }

    #[test]
    fn every_main_clause_is_read() {
        for (text, expected) in [
            ("Returns the report and posts it to the channel.", "posts it"),
            ("Gets a report. The previous key is invalidated.", "is invalidated"),
            ("Lists messages, marking them as read.", "marking them"),
            ("Shows a page. If it is old, it is deleted first.", "is deleted"),
            ("Reads the queue. Each message is returned once.", "returned once"),
            ("Looks up an address. Each call costs 1 credit.", "costs 1 credit"),
            ("Get an access token", "access token"),
            ("Views a story; the author sees you among the viewers.", "author sees you"),
            ("Scans a folder; infected files go to quarantine.", "files go to"),
            ("Analyses a repository. Findings become issues.", "findings become issues"),
            ("Lists devices, kicking out those not seen lately.", "kicking"),
            ("Fetches mail, where it is deleted thereafter.", "is deleted"),
            ("Finds a code. The old one is invalid.", "one is"),
        ] {
            assert_eq!(writes_in(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn clauses_about_other_things_say_nothing() {
        for text in [
            "Lists users. Use `delete_user` to remove one.",
            "Gets the fields needed to create an invoice.",
            "Finds files that were deleted.",
            "Shows a page. Does not modify anything.",
            "Lists posts and comments of a user.",
            "Gets a build. To cancel it, call cancel_build.",
            "Search code. Results are sorted by date.",
            "Lists files that will be deleted tonight.",
            "Finds pages which the author sees.",
            "Shows a cart. Add with `add_to_cart`.",
            "Posts waiting for approval.",
        ] {
            assert_eq!(writes_in(text), None, "{text}");
        }
        assert!(read("Executes a query. The connection is read-only.").denies);
        assert!(!read("[DISABLED in read-only mode] Creates a note.").denies);
    }

    #[test]
    fn the_first_statement_may_follow_a_label() {
        for (text, expected) in [
            ("Weather | Retrieve the forecast", Opening::Reads("retrieve")),
            ("Part of the suite. Returns all users.", Opening::Returns),
            ("This tool will list all users", Opening::Reads("list")),
            ("Balance of the account", Opening::Phrase),
            ("Exports a page", Opening::Doubtful("export")),
            ("Hands out the next number", Opening::Other),
            ("How many pieces are left", Opening::Reads("describe")),
            ("", Opening::Missing),
        ] {
            assert_eq!(read(text).opening, expected, "{text}");
        }
    }
}
