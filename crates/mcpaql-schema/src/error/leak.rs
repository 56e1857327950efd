//! The leak check of the specification: whether a message shows the inside of a program.
//!
//! The check has no word boundaries. It takes "at" and a word for a stack frame, so "what there", "that the" and "format
//! is" count, too.

/// Texts that name an exception or the source of a program.
const TRACES: [&str; 5] = ["typeerror", "referenceerror", "syntaxerror", "/src/", "/node_modules/"];

/// Returns whether the specification's leak check rejects a message.
#[must_use]
pub fn looks_internal(message: &str) -> bool {
    let lower = message.to_lowercase();
    TRACES.iter().any(|trace| lower.contains(trace))
        || followed_by(&lower, "at", |rest| {
            rest.trim_start().len() < rest.len() && !rest.trim_start().is_empty()
        })
        || [".ts:", ".js:"]
            .iter()
            .any(|place| followed_by(&lower, place, |rest| rest.starts_with(|c: char| c.is_ascii_digit())))
}

fn followed_by(text: &str, found: &str, fits: impl Fn(&str) -> bool) -> bool {
    text.match_indices(found).any(|(start, _)| text.get(start + found.len()..).is_some_and(&fits))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use regex::Regex;

    #[test]
    fn words_that_only_look_like_a_stack_frame_count_too() {
        for (message, expected) in [
            ("at Object.run", true),
            ("Use what there is.", true),
            ("The format\tis wrong.", true),
            ("Format: date", false),
            ("Look at", false),
            ("attach it", false),
            ("a TypeError", true),
            ("see /src/main", true),
            ("index.js:12", true),
            ("index.js: twelve", false),
        ] {
            assert_eq!(looks_internal(message), expected, "{message}");
        }
    }

    proptest! {
        #[test]
        fn the_result_is_that_of_the_pattern(text in "[aAtT \\t\\nx.]{0,12}") {
            let pattern = Regex::new(r"(?i)at\s+\S").unwrap();
            prop_assert_eq!(looks_internal(&text), pattern.is_match(&text));
        }
    }
}
