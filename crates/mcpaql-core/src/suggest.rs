//! Did-you-mean: the declared name that a misspelt one most likely meant.
//!
//! What always holds: results depend on the words alone (ties go to the earlier candidate), and a name that is merely
//! of the same length is never offered. Words are compared as written, as bags of tokens (`issue_create` is
//! `create_issue`) and without a plural's `s`; verbs that half of all operations start with count less than nouns.

use mcpaql_lexicon::singular;
pub use mcpaql_lexicon::snake_case;
use mcpaql_lexicon::verbs::is_common;
use std::borrow::Cow;
use std::cmp::Ordering;

/// Below this a suggestion would mislead more often than help.
const THRESHOLD: f64 = 0.6;
/// From here on two words are the same, misspelt.
const MISSPELLING_THRESHOLD: f64 = 0.85;
/// More slips are another word, however long it is.
const MAX_EDITS: u32 = 3;
/// Longer words are not misspelt names.
const MAX_WORD: usize = 96;

/// The candidate nearest to `word`, if any is near enough to be offered.
#[must_use]
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_many(word, candidates, 1).into_iter().next()
}

/// Up to `n` candidates near `word`, the nearest first.
#[must_use]
pub fn nearest_many<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>, n: usize) -> Vec<&'a str> {
    if word.is_empty() || word.len() > MAX_WORD {
        return Vec::new();
    }
    let word = NameParts::new(word);
    let mut scored: Vec<(f64, &'a str)> = candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= MAX_WORD)
        .map(|candidate| (word.similarity(&NameParts::new(candidate)), candidate))
        .filter(|(score, _)| *score >= THRESHOLD)
        .collect();
    scored.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal));
    scored.into_iter().take(n).map(|(_, candidate)| candidate).collect()
}

/// Whether a word is a declared name but for a slip of the finger, its spelling or the order of its parts.
#[must_use]
pub fn is_misspelling(word: &str, candidate: &str) -> bool {
    word.len().max(candidate.len()) <= MAX_WORD
        && NameParts::new(word).similarity(&NameParts::new(candidate)) >= MISSPELLING_THRESHOLD
}

/// Many names that words are compared with, taken apart once.
#[derive(Debug)]
pub struct NameMatcher<'a> {
    names: Vec<(NameParts, &'a str)>,
}

impl<'a> NameMatcher<'a> {
    /// These names; longer ones than a name can be are left out.
    pub fn new(names: impl IntoIterator<Item = &'a str>) -> NameMatcher<'a> {
        let names = names.into_iter().filter(|name| name.len() <= MAX_WORD);
        NameMatcher { names: names.map(|name| (NameParts::new(name), name)).collect() }
    }

    /// The name that a word is but for a slip of the finger, its spelling or the order of its parts.
    pub fn find_misspelled(&self, word: &str) -> Option<&'a str> {
        if word.is_empty() || word.len() > MAX_WORD {
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

/// A name, taken apart once for all comparisons.
#[derive(Debug)]
struct NameParts {
    snake: String,
    glued: String,
    letters: Letters,
    weight: f64,
    tokens: Vec<String>,
}

impl NameParts {
    fn new(text: &str) -> Self {
        let snake = snake_case(text);
        let tokens: Vec<String> = snake
            .split('_')
            .filter(|token| !token.is_empty())
            .map(|token| regular(token).into_owned())
            .collect();
        let glued = tokens.concat();
        let weight = tokens.iter().map(|token| weight(token)).sum();
        NameParts { letters: letters(&glued), glued, snake, weight, tokens }
    }

    fn sorted(&self) -> Vec<&str> {
        let mut sorted: Vec<&str> = self.tokens.iter().map(String::as_str).collect();
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
        let spelling = if close(&self.glued, &other.glued) {
            strsim::normalized_damerau_levenshtein(&self.glued, &other.glued)
        } else {
            0.0
        };
        spelling.max(0.95 * self.overlap(other))
    }

    /// Whether the similarity could be a slip's: as a whole it is written nearly alike, or enough of its parts are the same,
    /// because parts that are only alike are not enough.
    fn may_be_misspelling_of(&self, other: &NameParts) -> bool {
        let same = self.tokens.iter().filter(|token| other.tokens.contains(token)).map(|token| weight(token));
        let (same, own, theirs) = (same.sum::<f64>(), self.weight, other.weight);
        let most = same + 0.85 * (own.min(theirs) - same).max(0.0);
        // A little more than it says, because sums of fractions are not exact.
        0.95 * 2.0 * most >= (MISSPELLING_THRESHOLD - 0.001) * (own + theirs)
            || min_edits(&self.letters, &other.letters) <= MAX_EDITS
    }

    /// How much of both words' tokens pair up, from 0 to 1.
    fn overlap(&self, other: &NameParts) -> f64 {
        let mut free: Vec<&str> = other.tokens.iter().map(String::as_str).collect();
        let mut shared = 0.0;
        for token in &self.tokens {
            let best = free
                .iter()
                .enumerate()
                .map(|(index, candidate)| {
                    (index, token_similarity(token, candidate) * weight(token).min(weight(candidate)))
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
        // Halves add up exactly, in whatever order.
        let total = self.weight + other.weight;
        if total > 0.0 { 2.0 * shared / total } else { 0.0 }
    }
}

/// The singular, where it is spelled like the plural: `person` says nothing about how somebody misspells `people`.
fn regular(token: &str) -> Cow<'_, str> {
    let one = singular(token);
    if token.starts_with(one.trim_end_matches('y')) { one } else { Cow::Borrowed(token) }
}

/// Verbs that half of all operations have carry little information about which one was meant.
fn weight(token: &str) -> f64 {
    if is_common(token) { 0.5 } else { 1.0 }
}

/// How alike two tokens are: equal, an abbreviation of one another, or a slip of the finger apart.
fn token_similarity(a: &str, b: &str) -> f64 {
    if a == b {
        1.0
    } else if a.len().min(b.len()) >= 3 && (a.starts_with(b) || b.starts_with(a)) {
        0.85
    } else if a.len().min(b.len()) >= 3 && close(a, b) {
        0.8
    } else {
        0.0
    }
}

/// How often a word has each letter, told apart roughly.
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

/// Slips that two words are apart at least: each takes away or brings in one letter at most.
fn min_edits(a: &Letters, b: &Letters) -> u32 {
    let gone = |a: &Letters, b: &Letters| a.iter().zip(b).map(|(a, b)| u32::from(a.saturating_sub(*b))).sum();
    u32::max(gone(a, b), gone(b, a))
}

/// One slip in a short word, up to three in a long one.
fn close(a: &str, b: &str) -> bool {
    let lengths = (a.chars().count(), b.chars().count());
    let length = lengths.0.max(lengths.1);
    let allowed = u32::try_from(length / 4).unwrap_or(MAX_EDITS).clamp(1, MAX_EDITS);
    let may_be = length > 2
        && lengths.0.abs_diff(lengths.1) <= allowed as usize
        && min_edits(&letters(a), &letters(b)) <= allowed;
    may_be && strsim::damerau_levenshtein(a, b) <= allowed as usize
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
