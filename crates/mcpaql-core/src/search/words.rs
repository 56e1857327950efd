//! Text as words: what is compared when operations are searched.
//!
//! What always holds: words are lower case, hold letters and digits only, and are the same for `pullRequest`,
//! `pull-request`, `pull_request` and `Pull Request`; a word longer than [`LONGEST`] bytes is not a word.

use super::stem::singular;

/// Longer runs of letters are data, not words.
pub(super) const LONGEST: usize = 48;

/// Calls back with every word of the text in lower case, unstemmed.
pub(super) fn each_word(text: &str, buffer: &mut String, mut word: impl FnMut(&str)) {
    buffer.clear();
    let mut before: Option<char> = None;
    let mut chars = text.chars().peekable();
    while let Some(ch) = chars.next() {
        if !ch.is_alphanumeric() {
            // The apostrophe of `today's` and `don't` belongs to the word, with what follows it.
            if matches!(ch, '\'' | '’') && before.is_some() && chars.peek().is_some_and(|c| c.is_alphabetic())
            {
                while chars.peek().is_some_and(|c| c.is_alphabetic()) {
                    chars.next();
                }
            }
            flush(buffer, &mut word);
            before = None;
            continue;
        }
        if before.is_some_and(|before| splits(before, ch, chars.peek().copied())) {
            flush(buffer, &mut word);
        }
        if ch.is_ascii() {
            buffer.push(ch.to_ascii_lowercase());
        } else {
            buffer.extend(ch.to_lowercase().filter(|c| c.is_alphanumeric()));
        }
        before = Some(ch);
    }
    flush(buffer, &mut word);
}

fn flush(buffer: &mut String, word: &mut impl FnMut(&str)) {
    if !buffer.is_empty() && buffer.len() <= LONGEST {
        word(buffer);
    }
    buffer.clear();
}

/// Whether a word begins between these: `pullRequest`, `HTTPServer` (but `userIDs` ends in a plural).
fn splits(before: char, ch: char, after: Option<char>) -> bool {
    if !ch.is_uppercase() {
        return false;
    }
    before.is_lowercase()
        || (before.is_uppercase() && after.is_some_and(|after| after.is_lowercase() && after != 's'))
}

/// The words of the text without plural endings.
pub(crate) fn singulars(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    each_word(text, &mut String::new(), |word| {
        let mut word = word.to_owned();
        singular(&mut word);
        found.push(word);
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let mut found = Vec::new();
        each_word(text, &mut String::new(), |word| found.push(word.to_owned()));
        found
    }

    #[test]
    fn spellings_of_a_compound_are_the_same_words() {
        for text in
            ["pullRequest", "PullRequest", "pull-request", "pull_request", "Pull Request", "pull/request"]
        {
            assert_eq!(words(text), ["pull", "request"], "{text}");
        }
    }

    #[test]
    fn capitals_in_a_row_are_one_word() {
        assert_eq!(
            words("HTTPServer userIDs projectsV2"),
            ["http", "server", "user", "ids", "projects", "v2"]
        );
    }

    #[test]
    fn an_apostrophe_ends_a_word_and_takes_its_tail_along() {
        assert_eq!(words("today's list, don’t 'quote'"), ["today", "list", "don", "quote"]);
    }

    #[test]
    fn endless_words_are_no_words() {
        assert_eq!(words(&format!("a {} b", "x".repeat(1000))), ["a", "b"]);
    }

    #[test]
    fn other_scripts_are_words_too() {
        assert_eq!(words("Größe İstanbul 日本"), ["größe", "istanbul", "日本"]);
    }
}
