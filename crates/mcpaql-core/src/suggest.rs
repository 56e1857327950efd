//! Did-you-mean: the declared name that a misspelt one most likely meant.
//!
//! What always holds: results depend on the words alone (ties go to the earlier candidate), and a name that is merely
//! of the same length is never offered. Words are compared as written, as bags of tokens (`issue_create` is
//! `create_issue`) and without a plural's `s`; verbs that half of all operations start with count less than nouns.

use std::cmp::Ordering;

/// Below this a suggestion would mislead more often than help.
const THRESHOLD: f64 = 0.6;
/// From here on two words are the same, misspelt.
const SLIP: f64 = 0.85;
/// Longer words are not misspelt names.
const MAX_WORD: usize = 96;
/// Verbs that carry little information about which operation was meant.
const COMMON_VERBS: [&str; 20] = [
    "add", "create", "delete", "destroy", "edit", "fetch", "find", "get", "list", "make", "modify", "new",
    "read", "remove", "retrieve", "search", "set", "show", "update", "view",
];

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
    let word = Word::new(word);
    let mut scored: Vec<(f64, &'a str)> = candidates
        .into_iter()
        .filter(|candidate| candidate.len() <= MAX_WORD)
        .map(|candidate| (word.similarity(&Word::new(candidate)), candidate))
        .filter(|(score, _)| *score >= THRESHOLD)
        .collect();
    scored.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal));
    scored.into_iter().take(n).map(|(_, candidate)| candidate).collect()
}

/// Whether a word is a declared name but for a slip of the finger, its spelling or the order of its parts.
#[must_use]
pub(crate) fn is_slip(word: &str, candidate: &str) -> bool {
    word.len().max(candidate.len()) <= MAX_WORD && Word::new(word).similarity(&Word::new(candidate)) >= SLIP
}

/// `userID`, `user-id` and `User ID` as `user_id`; `HTTPServer` as `http_server`. Applying it twice changes nothing.
#[must_use]
pub fn snake_case(text: &str) -> String {
    // Most names are spelled so already.
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let gaps = text.starts_with('_') || text.ends_with('_') || text.contains("__");
    if text.bytes().all(plain) && !gaps {
        return text.to_owned();
    }
    if text.is_ascii() {
        return spelled(text, |index| text.as_bytes().get(index).copied().map(char::from));
    }
    let chars: Vec<char> = text.chars().collect();
    spelled(text, |index| chars.get(index).copied())
}

fn spelled(text: &str, char_at: impl Fn(usize) -> Option<char>) -> String {
    let mut out = String::with_capacity(text.len() + 4);
    let mut gap = false;
    for (index, ch) in text.chars().enumerate() {
        if !ch.is_alphanumeric() {
            gap = true;
            continue;
        }
        let previous = index.checked_sub(1).and_then(&char_at);
        if is_capital(ch) && previous.is_some_and(|p| starts_word(p, char_at(index + 1), char_at(index + 2)))
        {
            gap = true;
        }
        if gap && !out.is_empty() {
            out.push('_');
        }
        gap = false;
        if ch.is_ascii() {
            out.push(ch.to_ascii_lowercase());
        } else {
            out.extend(ch.to_lowercase().filter(|c| c.is_alphanumeric()));
        }
    }
    out
}

/// Whether an upper-case letter between these neighbours begins a word: after anything but an upper-case letter, or as
/// the last of a run that goes on in lower case (`HTTPServer`), unless what goes on is a plural's `s` (`userIDs`).
fn starts_word(previous: char, next: Option<char>, after: Option<char>) -> bool {
    if !is_capital(previous) {
        return previous.is_alphanumeric();
    }
    let plural = next == Some('s') && !after.is_some_and(char::is_lowercase);
    next.is_some_and(char::is_lowercase) && !plural
}

/// Some symbols are upper case by name but have no lower case; they are ordinary characters of a word.
fn is_capital(ch: char) -> bool {
    ch.is_ascii_uppercase() || (!ch.is_ascii() && ch.is_uppercase() && ch.to_lowercase().next() != Some(ch))
}

/// A name, taken apart once for all comparisons.
struct Word {
    snake: String,
    glued: String,
    tokens: Vec<String>,
    sorted: Vec<String>,
}

impl Word {
    fn new(text: &str) -> Self {
        let snake = snake_case(text);
        let tokens: Vec<String> = snake
            .split('_')
            .filter(|token| !token.is_empty())
            .map(|token| singular(token).to_owned())
            .collect();
        let mut sorted = tokens.clone();
        sorted.sort_unstable();
        Word { glued: tokens.concat(), snake, tokens, sorted }
    }

    fn similarity(&self, other: &Word) -> f64 {
        if self.tokens.is_empty() || other.tokens.is_empty() {
            return 0.0;
        }
        if self.snake == other.snake {
            return 1.0;
        }
        if self.glued == other.glued {
            return 0.98;
        }
        if self.sorted == other.sorted {
            return 0.96;
        }
        let spelling = if close(&self.glued, &other.glued) {
            strsim::normalized_damerau_levenshtein(&self.glued, &other.glued)
        } else {
            0.0
        };
        spelling.max(0.95 * self.overlap(other))
    }

    /// How much of both words' tokens pair up, from 0 to 1.
    fn overlap(&self, other: &Word) -> f64 {
        let mut free: Vec<&str> = other.tokens.iter().map(String::as_str).collect();
        let mut shared = 0.0;
        for token in &self.tokens {
            let best = free
                .iter()
                .enumerate()
                .map(|(index, candidate)| {
                    (index, alike(token, candidate) * weight(token).min(weight(candidate)))
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
        let total: f64 = self.tokens.iter().chain(&other.tokens).map(|token| weight(token)).sum();
        if total > 0.0 { 2.0 * shared / total } else { 0.0 }
    }
}

fn weight(token: &str) -> f64 {
    if COMMON_VERBS.contains(&token) { 0.5 } else { 1.0 }
}

/// How alike two tokens are: equal, an abbreviation of one another, or a slip of the finger apart.
fn alike(a: &str, b: &str) -> f64 {
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

/// One slip in a short word, up to three in a long one.
fn close(a: &str, b: &str) -> bool {
    let length = a.chars().count().max(b.chars().count());
    let allowed = (length / 4).clamp(1, 3);
    a.len().abs_diff(b.len()) <= allowed * 4 && strsim::damerau_levenshtein(a, b) <= allowed && length > 2
}

fn singular(token: &str) -> &str {
    if token.len() > 3 && !token.ends_with("ss") { token.strip_suffix('s').unwrap_or(token) } else { token }
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
    fn snake_case_knows_every_spelling() {
        for (text, expected) in [
            ("perPage", "per_page"),
            ("per-page", "per_page"),
            ("Per Page", "per_page"),
            ("per_page", "per_page"),
            ("HTTPServer", "http_server"),
            ("userID", "user_id"),
            ("userIDs", "user_ids"),
            ("getV2Repo", "get_v2_repo"),
            ("__meta--x__", "meta_x"),
            ("issues/create", "issues_create"),
            ("ÉtatCivil", "état_civil"),
            ("", ""),
            ("!!!", ""),
        ] {
            assert_eq!(snake_case(text), expected, "{text}");
        }
    }

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
        fn snake_case_is_idempotent(text in "\\PC{0,24}") {
            let once = snake_case(&text);
            prop_assert_eq!(snake_case(&once), once);
        }

        #[test]
        fn a_declared_name_finds_itself(word in "[a-z]{1,8}(_[a-z]{1,8}){0,3}") {
            prop_assert_eq!(nearest(&word, ["zzz_other", word.as_str()]), Some(word.as_str()));
        }
    }
}
