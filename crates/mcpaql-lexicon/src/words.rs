//! Splits texts and identifiers into words.
//!
//! What always holds: words are lower case and have only letters and digits. They are the same for `pullRequest`,
//! `pull-request`, `pull_request` and `Pull Request`.

use crate::number::singular;
use crate::verbs::verb;
use std::borrow::Cow;
use std::str::Chars;

/// Calls `word` with every word of the text.
pub fn each_word(text: &str, buffer: &mut String, mut word: impl FnMut(&str)) {
    let mut flush = |buffer: &mut String| {
        if !buffer.is_empty() {
            word(buffer);
        }
        buffer.clear();
    };
    buffer.clear();
    let mut previous: Option<char> = None;
    let mut rest = text.chars();
    while let Some(ch) = rest.next() {
        if !ch.is_alphanumeric() {
            if matches!(ch, '\'' | '’') && previous.is_some() {
                skip_contraction(&mut rest);
            }
            flush(buffer);
            previous = None;
            continue;
        }
        if is_capital(ch) && previous.is_some_and(|previous| starts_word(previous, rest.clone())) {
            flush(buffer);
        }
        if ch.is_ascii() {
            buffer.push(ch.to_ascii_lowercase());
        } else {
            buffer.extend(ch.to_lowercase().filter(|c| c.is_alphanumeric()));
        }
        previous = Some(ch);
    }
    flush(buffer);
}

/// Skips the end of a contraction (`today's`, `don't`), which has no meaning.
fn skip_contraction(rest: &mut Chars<'_>) {
    let tail = rest.as_str();
    let end = tail.find(|c: char| !c.is_alphanumeric()).unwrap_or(tail.len());
    if let Some((word, after)) = tail.split_at_checked(end)
        && ["s", "t", "d", "m", "ll", "re", "ve"].iter().any(|short| word.eq_ignore_ascii_case(short))
    {
        *rest = after.chars();
    }
}

/// Returns whether an upper-case letter between these starts a word: it follows any other character, or it is the last
/// of a run that continues in lower case (`HTTPServer`), unless that is only a plural `s` (`userIDs`).
fn starts_word(previous: char, mut rest: Chars<'_>) -> bool {
    if !is_capital(previous) {
        return true;
    }
    let next = rest.next();
    let plural = next == Some('s') && !rest.next().is_some_and(char::is_lowercase);
    next.is_some_and(char::is_lowercase) && !plural
}

/// Returns whether a character is upper case. Some symbols are upper case by name but have no lower case; they are
/// ordinary characters.
fn is_capital(ch: char) -> bool {
    ch.is_ascii_uppercase() || (!ch.is_ascii() && ch.is_uppercase() && ch.to_lowercase().next() != Some(ch))
}

/// Converts a name to snake_case: `userID`, `user-id` and `User ID` become `user_id`, `HTTPServer` becomes
/// `http_server`. Applying it twice changes nothing.
#[must_use]
pub fn snake_case(text: &str) -> String {
    // Most names are already in snake_case.
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let gaps = text.starts_with('_') || text.ends_with('_') || text.contains("__");
    if text.bytes().all(plain) && !gaps {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 4);
    each_word(text, &mut String::new(), |word| {
        if !out.is_empty() {
            out.push('_');
        }
        out.push_str(word);
    });
    out
}

/// Returns the words of the text, in the singular.
#[must_use]
pub fn singulars(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_word(text, &mut String::new(), |word| found.push(singular(word).into_owned()));
    found
}

/// Returns the words of a text. Words that belong together are joined: `OAuth` and `log in` are one word.
#[must_use]
pub fn words(text: &str) -> Vec<String> {
    iter_words(text).map(Cow::into_owned).collect()
}

/// Like [`words`], as an iterator that copies only words that change.
pub fn iter_words(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let mut single = tokens(text).flat_map(|(token, is_word)| Pieces::of(token, is_word));
    let mut last: Option<Cow<'_, str>> = None;
    std::iter::from_fn(move || {
        loop {
            let Some(word) = single.next() else { return last.take() };
            match &mut last {
                Some(last) if joins(last, &word) => last.to_mut().push_str(&word),
                last => {
                    if let Some(complete) = last.replace(word) {
                        return Some(complete);
                    }
                }
            }
        }
    })
}

/// The words of a token. Most tokens are one word.
enum Pieces<'t> {
    One(Option<Cow<'t, str>>),
    Many(std::vec::IntoIter<String>),
}

impl<'t> Pieces<'t> {
    /// Splits a token. A token with only an upper-case first letter, or only upper-case letters, is one word.
    fn of(token: &'t str, is_word: bool) -> Pieces<'t> {
        if is_word {
            return Pieces::One(Some(Cow::Borrowed(token)));
        }
        let is_lower = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        match token.as_bytes() {
            [b'A'..=b'Z', rest @ ..]
                if rest.iter().all(is_lower) || rest.iter().all(u8::is_ascii_uppercase) =>
            {
                Pieces::One(Some(Cow::Owned(token.to_ascii_lowercase())))
            }
            _ => {
                let mut words = Vec::new();
                each_word(token, &mut String::new(), |word| words.push(word.to_owned()));
                Pieces::Many(words.into_iter())
            }
        }
    }
}

impl<'t> Iterator for Pieces<'t> {
    type Item = Cow<'t, str>;

    #[inline]
    fn next(&mut self) -> Option<Cow<'t, str>> {
        match self {
            Pieces::One(word) => word.take(),
            Pieces::Many(words) => words.next().map(Cow::Owned),
        }
    }
}

/// Splits a text at punctuation and spaces. Returns each token, and whether it has only lower-case ASCII letters and
/// digits.
fn tokens(text: &str) -> impl Iterator<Item = (&str, bool)> {
    let mut rest = text;
    let tokens = std::iter::from_fn(move || {
        let from = rest.bytes().position(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii())?;
        let token = rest.get(from..)?;
        let is_lower = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let end = token.bytes().position(|byte| !is_lower(&byte)).unwrap_or(token.len());
        let is_mixed =
            token.as_bytes().get(end).is_some_and(|byte| byte.is_ascii_uppercase() || !byte.is_ascii());
        if !is_mixed {
            rest = token.get(end..)?;
            return Some((token.get(..end)?, true));
        }
        let end = token.find(|ch: char| !ch.is_alphanumeric()).unwrap_or(token.len());
        let mark = token.get(end..)?.chars().next().map_or(0, char::len_utf8);
        rest = token.get(end + mark..)?;
        Some((token.get(..end)?, false))
    });
    // Punctuation outside ASCII may leave an empty token.
    tokens.filter(|(token, _)| !token.is_empty())
}

fn joins(first: &str, second: &str) -> bool {
    seconds(first).contains(&second) || (first == "re" && verb(&format!("re{second}")).is_some())
}

/// Returns the words that form one word with the word before: `OAuth`, `log in`. It is a `match` for speed, because it
/// runs for every word of every text.
fn seconds(first: &str) -> &'static [&'static str] {
    match first {
        "o" => &["auth"],
        "i" => &["ds", "pv4", "pv6"],
        "my" | "postgre" => &["sql"],
        "mongo" => &["db"],
        "you" => &["tube"],
        "un" => &["follow", "subscribe", "star", "lock", "archive"],
        "ip" => &["v4", "v6"],
        "log" => &["in", "out", "off"],
        "git" => &["hub", "lab"],
        "web" => &["hook", "hooks"],
        "who" => &["am"],
        "sign" => &["in", "out", "up"],
        "look" => &["up"],
        "shut" | "tear" => &["down"],
        "auto" => &["complete"],
        "open" => &["id"],
        "roll" => &["back"],
        "fail" => &["over"],
        "java" => &["script"],
        "graph" => &["ql"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_word(text, &mut String::new(), |word| found.push(word.to_owned()));
        found
    }

    #[test]
    fn spellings_of_a_compound_are_the_same_words() {
        for text in
            ["pullRequest", "PullRequest", "pull-request", "pull_request", "Pull Request", "pull/request"]
        {
            assert_eq!(split(text), ["pull", "request"], "{text}");
        }
    }

    #[test]
    fn capitals_in_a_row_are_one_word() {
        assert_eq!(
            split("HTTPServer userIDs projectsV2"),
            ["http", "server", "user", "ids", "projects", "v2"]
        );
    }

    #[test]
    fn the_end_of_a_contraction_is_no_word() {
        assert_eq!(split("today's list, don’t 'quote'"), ["today", "list", "don", "quote"]);
        assert_eq!(split("type d'utilisateur"), ["type", "d", "utilisateur"]);
    }

    #[test]
    fn other_scripts_are_words_too() {
        assert_eq!(split("Größe İstanbul 日本"), ["größe", "istanbul", "日本"]);
    }

    #[test]
    fn words_that_belong_together_are_joined() {
        assert_eq!(words("Log in with OAuth"), ["login", "with", "oauth"]);
        assert_eq!(words("re-run the GitHub workflow"), ["rerun", "the", "github", "workflow"]);
    }

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

    proptest! {
        #[test]
        fn snake_case_is_idempotent(text in "\\PC{0,24}") {
            let once = snake_case(&text);
            prop_assert_eq!(snake_case(&once), once);
        }
    }
}
