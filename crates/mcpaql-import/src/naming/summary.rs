//! Reads the object of a summary: "Set the Jira service of a project" is about a Jira service.
//!
//! What always holds: the summary only orders and completes words. An object whose words are not in the path gives no name,
//! because summaries are copied and shortened.

use super::NameWord;
use super::path::is_participle;
use mcpaql_lexicon::{PREPOSITIONS, WordSet, first_sentence, is_plural, opening_words, singular, words};

/// Words before a noun that add no information.
static DETERMINERS: WordSet = WordSet::of(
    "a all an any available certain currently each every existing given individual its multiple my new one our particular several single \
     specific specified some the their this your",
);
/// Words that end a noun phrase, besides prepositions.
static ENDS: WordSet = WordSet::of(
    "after also and associated based before belonging but if matching or related so that then used when where whether \
     which while who whose",
);
/// Nouns that only count another one: "a list of users".
static COUNTS: WordSet = WordSet::of("array collection list number page set");

/// The object of the verb that starts a summary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SummaryObject {
    /// One to four words.
    pub(super) words: Vec<NameWord>,
    /// Whether it is about many things.
    pub(super) many: bool,
    /// Whether it says so: "all users", "a list of users".
    pub(super) listed: bool,
}

impl SummaryObject {
    /// Returns the object, if the summary is a verb with one short noun phrase.
    pub(super) fn of(summary: &str) -> Option<SummaryObject> {
        let sentence = first_sentence(summary);
        let verb = opening_words(sentence).next()?;
        let is_verb = |token: &&str| words(token).first().is_some_and(|word| *word == *verb);
        let mut tokens = sentence.split_whitespace().skip_while(|token| !is_verb(token)).skip(1).peekable();
        let mut many = false;
        let mut found: Vec<NameWord> = Vec::new();
        while let Some(token) = tokens.next() {
            let plain = token.trim_end_matches(['.', ',', ':', ';', '!', '?', ')', '"']);
            let lower = plain.to_ascii_lowercase();
            let lower = lower.strip_suffix("'s").or(lower.strip_suffix("’s")).unwrap_or(&lower);
            if found.is_empty() && DETERMINERS.contains(lower) {
                many |= matches!(lower, "all" | "every" | "multiple" | "several");
            } else if found.is_empty() && COUNTS.contains(lower) && tokens.peek() == Some(&"of") {
                tokens.next();
                many = true;
            } else if PREPOSITIONS.contains(lower)
                || ENDS.contains(lower)
                || lower.starts_with('(')
                || (!found.is_empty() && (DETERMINERS.contains(lower) || ends_phrase(lower, tokens.peek())))
            {
                // "groups or projects" are two objects.
                if matches!(lower, "and" | "or") {
                    return None;
                }
                break;
            } else {
                let more = words(lower);
                let is_text = |ch: char| ch.is_ascii_alphanumeric() || matches!(ch, '-' | '_' | '/' | '\'');
                if more.is_empty() || !lower.chars().all(is_text) || more.iter().any(|word| !is_plain(word)) {
                    return None;
                }
                found.extend(more.into_iter().map(NameWord::from));
            }
            if plain.len() < token.len() && !found.is_empty() {
                break;
            }
        }
        // "the user list"
        if found.len() > 1 && found.last().is_some_and(|word| **word == *"list") {
            found.pop();
            many = true;
        }
        let head = found.last()?;
        let listed = many;
        many |= is_plural(head);
        (found.len() <= 4).then_some(SummaryObject { words: found, many, listed })
    }

    /// Whether it has the word, in singular or plural.
    pub(super) fn has(&self, word: &str) -> bool {
        let one = singular(word);
        self.words.iter().any(|known| singular(known) == one)
    }

    /// Whether this noun is its main word.
    pub(super) fn is_about(&self, noun: &str) -> bool {
        self.words.last().is_some_and(|head| singular(head) == singular(noun))
    }
}

/// Whether a participle follows its noun: "invitations sent by a user", not "enforced settings".
fn ends_phrase(word: &str, next: Option<&&str>) -> bool {
    is_participle(word) && next.is_none_or(|next| PREPOSITIONS.contains(&next.to_ascii_lowercase()))
}

fn is_plain(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_has_one_short_object_or_none() {
        for (summary, expected, many) in [
            ("Set the Jira service of a project", "jira service", false),
            ("Get a specific project's deploy keys", "project deploy keys", true),
            ("Returns a list of builds for the branch", "builds", true),
            ("This endpoint retrieves the user list.", "user", true),
            ("Get single deploy key", "deploy key", false),
            ("Add client-level roles to a group", "client level roles", true),
            ("Returns all invitations sent by the caller", "invitations", true),
            ("Make the role a composite role", "role", false),
            ("Update an existing +thing+ note", "", false),
            ("Lists groups or projects", "", false),
            ("Delete", "", false),
            ("Subscribe to a resource", "", false),
            ("", "", false),
        ] {
            let found = SummaryObject::of(summary);
            let words = found.as_ref().map(|object| object.words.join(" ")).unwrap_or_default();
            assert_eq!(
                (words.as_str(), found.is_some_and(|object| object.many)),
                (expected, many),
                "{summary}"
            );
        }
    }
}
