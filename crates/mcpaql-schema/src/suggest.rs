//! Did-you-mean: finds the declared name that a misspelled one most likely means.
//!
//! ```
//! use mcpaql_schema::suggest::nearest;
//!
//! assert_eq!(nearest("issue_create", ["create_issue", "list_issues"]), Some("create_issue"));
//! assert_eq!(nearest("banana", ["create_issue", "list_issues"]), None);
//! ```
//!
//! What always holds: the result depends only on the words (the earlier candidate wins a tie), and a name that only has
//! the same length is never suggested.
//!
//! Names are compared as written, as sets of words (`issue_create` equals `create_issue`) and without a plural `s`.
//! Verbs that half of all operations start with count less than nouns.

use mcpaql_lexicon::singular;
pub use mcpaql_lexicon::snake_case;
use mcpaql_lexicon::verbs::is_common;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Minimum similarity of a suggestion. A lower one would mislead more often than help.
const SUGGESTION_THRESHOLD: f64 = 0.6;
/// Minimum similarity of two spellings of the same word.
const MISSPELLING_THRESHOLD: f64 = 0.85;
/// Maximum typing errors. With more it is another word, however long.
const MAX_EDITS: u32 = 3;
/// Maximum length of a misspelled name.
const MAX_NAME_LENGTH: usize = 96;

/// Returns the candidate nearest to `word`, if it is near enough.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_many(word, candidates, 1).into_iter().next()
}

/// Returns up to `n` candidates near `word`, nearest first.
#[must_use]
pub fn nearest_many<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, n: usize) -> Vec<&'a str> {
    if word.is_empty() || word.len() > MAX_NAME_LENGTH {
        return Vec::new();
    }
    let word = NameParts::new(word);
    let mut scored: Vec<(f64, &'a str)> = candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= MAX_NAME_LENGTH)
        .map(|candidate| (word.similarity(&NameParts::new(candidate)), candidate))
        .filter(|(score, _)| *score >= SUGGESTION_THRESHOLD)
        .collect();
    scored.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal));
    scored.into_iter().take(n).map(|(_, candidate)| candidate).collect()
}

/// Returns whether a word is a name with typing errors, another spelling or another order of its parts.
#[must_use]
pub fn is_misspelling(word: &str, candidate: &str) -> bool {
    word.len().max(candidate.len()) <= MAX_NAME_LENGTH
        && NameParts::new(word).similarity(&NameParts::new(candidate)) >= MISSPELLING_THRESHOLD
}

/// Compares words with many names, which are split once.
#[derive(Debug)]
pub struct NameMatcher<'a> {
    names: Vec<(NameParts, &'a str)>,
}

impl<'a> NameMatcher<'a> {
    /// Creates a matcher. Leaves out names that are too long.
    pub fn new(names: impl IntoIterator<Item = &'a str>) -> NameMatcher<'a> {
        let names = names.into_iter().filter(|name| name.len() <= MAX_NAME_LENGTH);
        NameMatcher { names: names.map(|name| (NameParts::new(name), name)).collect() }
    }

    /// Returns the name that a word misspells.
    pub fn find_misspelled(&self, word: &str) -> Option<&'a str> {
        if word.is_empty() || word.len() > MAX_NAME_LENGTH {
            return None;
        }
        let word = NameParts::new(word);
        let mut best: Option<(f64, &'a str)> = None;
        for (name, text) in self.names.iter().filter(|(name, _)| word.may_be_misspelling_of(name)) {
            let score = word.similarity(name);
            if score >= MISSPELLING_THRESHOLD && best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, text));
            }
        }
        best.map(|(_, name)| name)
    }
}

/// A name, split once for all comparisons.
#[derive(Debug)]
struct NameParts {
    snake: String,
    glued: String,
    letters: Letters,
    weight: f64,
    tokens: Vec<NameToken>,
}

/// A word of a name, and how much it says about the intended one.
#[derive(Debug)]
struct NameToken {
    text: String,
    weight: f64,
}

impl NameParts {
    fn new(text: &str) -> Self {
        let snake = snake_case(text);
        let tokens: Vec<NameToken> = snake
            .split('_')
            .filter(|token| !token.is_empty())
            .map(|token| regular(token).into_owned())
            .map(|text| NameToken { weight: weight(&text), text })
            .collect();
        let glued: String = tokens.iter().map(|token| token.text.as_str()).collect();
        let weight = tokens.iter().map(|token| token.weight).sum();
        NameParts { letters: letters(&glued), glued, snake, weight, tokens }
    }

    fn sorted(&self) -> Vec<&str> {
        let mut sorted: Vec<&str> = self.tokens.iter().map(|token| token.text.as_str()).collect();
        sorted.sort_unstable();
        sorted
    }

    fn similarity(&self, other: &NameParts) -> f64 {
        if self.tokens.is_empty() || other.tokens.is_empty() {
            return 0.0;
        }
        if self.snake == other.snake {
            return 1.0;
        }
        if self.glued == other.glued {
            return 0.98;
        }
        if self.letters == other.letters && self.sorted() == other.sorted() {
            return 0.96;
        }
        let spelling = (self.edits(other) <= MAX_EDITS)
            .then(|| close(&self.glued, &other.glued))
            .flatten()
            .unwrap_or_default();
        spelling.max(0.95 * self.overlap(other))
    }

    /// Returns whether the word can be a misspelling, without computing the similarity: either the whole name is
    /// spelled similarly, or enough of its parts are equal. Similar parts alone are never enough.
    fn may_be_misspelling_of(&self, other: &NameParts) -> bool {
        let is_shared = |token: &&NameToken| other.tokens.iter().any(|theirs| theirs.text == token.text);
        let same = self.tokens.iter().filter(is_shared).map(|token| token.weight);
        let (same, own, theirs) = (same.sum::<f64>(), self.weight, other.weight);
        let max_shared = same + 0.85 * (own.min(theirs) - same).max(0.0);
        // With a small tolerance, because sums of fractions are not exact.
        0.95 * 2.0 * max_shared >= (MISSPELLING_THRESHOLD - 0.001) * (own + theirs)
            || self.edits(other) <= MAX_EDITS
    }

    /// Returns the minimum typing errors between two names.
    fn edits(&self, other: &NameParts) -> u32 {
        min_edits(&self.letters, &other.letters)
    }

    /// Returns how many words of both names match, from 0 to 1.
    fn overlap(&self, other: &NameParts) -> f64 {
        let mut free: Vec<&NameToken> = other.tokens.iter().collect();
        let mut shared = 0.0;
        for token in &self.tokens {
            let best = free
                .iter()
                .enumerate()
                .map(|(index, candidate)| {
                    let similarity = token_similarity(&token.text, &candidate.text);
                    (index, similarity * token.weight.min(candidate.weight))
                })
                .filter(|(_, score)| *score > 0.0)
                .fold(None, |best: Option<(usize, f64)>, next| match best {
                    Some(best) if best.1 >= next.1 => Some(best),
                    _ => Some(next),
                });
            if let Some((index, score)) = best {
                shared += score;
                free.swap_remove(index);
            }
        }
        // Multiples of 0.5 add up exactly, in any order.
        let total = self.weight + other.weight;
        if total > 0.0 { 2.0 * shared / total } else { 0.0 }
    }
}

/// Returns the singular if its spelling is similar to the plural: a misspelled `people` does not mean `person`.
fn regular(token: &str) -> Cow<'_, str> {
    let one = singular(token);
    if token.starts_with(one.trim_end_matches('y')) { one } else { Cow::Borrowed(token) }
}

/// Weighs a word. Verbs that half of all operations have say little about the intended operation.
fn weight(token: &str) -> f64 {
    if is_common(token) { 0.5 } else { 1.0 }
}

/// Returns the similarity of two words: equal, one abbreviates the other, or a typing error.
fn token_similarity(a: &str, b: &str) -> f64 {
    if a == b {
        1.0
    } else if a.len().min(b.len()) >= 3 && (a.starts_with(b) || b.starts_with(a)) {
        0.85
    } else if a.len().min(b.len()) >= 3 && close(a, b).is_some() {
        0.8
    } else {
        0.0
    }
}

/// How often a word has each letter. Different letters may share a count.
type Letters = [u8; 32];

fn letters(word: &str) -> Letters {
    let mut letters = Letters::default();
    for c in word.chars() {
        if let Some(count) = letters.get_mut(u32::from(c) as usize % 32) {
            *count = count.saturating_add(1);
        }
    }
    letters
}

/// Returns the minimum typing errors between two words: each error removes or adds at most one letter.
fn min_edits(a: &Letters, b: &Letters) -> u32 {
    let missing =
        |a: &Letters, b: &Letters| a.iter().zip(b).map(|(a, b)| u32::from(a.saturating_sub(*b))).sum();
    u32::max(missing(a, b), missing(b, a))
}

/// Returns the similarity of two words that differ by one typing error if they are short, or by up to three if they are long.
fn close(a: &str, b: &str) -> Option<f64> {
    let lengths = (a.chars().count(), b.chars().count());
    let length = lengths.0.max(lengths.1);
    let allowed = u32::try_from(length / 4).unwrap_or(MAX_EDITS).clamp(1, MAX_EDITS);
    let is_possible = length > 2
        && lengths.0.abs_diff(lengths.1) <= allowed as usize
        && min_edits(&letters(a), &letters(b)) <= allowed;
    let edits = is_possible.then(|| strsim::damerau_levenshtein(a, b))?;
    (edits <= allowed as usize).then(|| 1.0 - edits as f64 / length as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const OPERATIONS: [&str; 7] = [
        "get_repo",
        "list_repos",
        "create_issue",
        "list_issues",
        "update_issue",
        "delete_label",
        "search_code",
    ];

    #[test]
    fn finds_what_was_meant() {
        for (word, expected) in [
            ("issue_create", "create_issue"),
            ("getRepo", "get_repo"),
            ("get_repos", "get_repo"),
            ("get_repository", "get_repo"),
            ("creat_issue", "create_issue"),
            ("crate_issue", "create_issue"),
            ("createissue", "create_issue"),
            ("list_issue", "list_issues"),
            ("edit_issue", "create_issue"),
        ] {
            assert_eq!(nearest(word, OPERATIONS), Some(expected), "{word}");
        }
        assert_eq!(nearest("perpage", ["page", "per_page"]), Some("per_page"));
        assert_eq!(nearest("force_create", ["username", "force"]), Some("force"));
        assert_eq!(nearest("colour", ["name", "color"]), Some("color"));
    }

    #[test]
    fn offers_nothing_rather_than_something_unrelated() {
        for word in ["", "x", "list_users", "send_mail", "ab", &"a".repeat(500)] {
            assert_eq!(nearest(word, OPERATIONS), None, "{word}");
        }
        assert_eq!(nearest("id", ["to", "if"]), None);
    }

    #[test]
    fn several_come_nearest_first() {
        assert_eq!(nearest_many("get_issue", OPERATIONS, 2), ["create_issue", "list_issues"]);
        assert_eq!(nearest_many("repo", OPERATIONS, 3), ["get_repo", "list_repos"]);
        assert!(nearest_many("repo", OPERATIONS, 0).is_empty());
    }

    proptest! {
        #[test]
        fn a_slip_among_many_is_the_nearest_if_that_is_one(
            word in "(get|list|set)_[a-d]{1,5}(_?[a-d]{1,4}s?){0,2}",
            names in prop::collection::vec("(get|list|set|Get)?_?[a-d]{1,5}(_?[a-d]{1,4}s?){0,2}", 0..12),
        ) {
            let names = || names.iter().map(String::as_str);
            let expected = nearest(&word, names()).filter(|near| is_misspelling(&word, near));
            prop_assert_eq!(NameMatcher::new(names()).find_misspelled(&word), expected);
        }

        #[test]
        fn a_declared_name_finds_itself(word in "[a-z]{1,8}(_[a-z]{1,8}){0,3}") {
            prop_assert_eq!(nearest(&word, ["zzz_other", word.as_str()]), Some(word.as_str()));
        }
    }
}
