//! The leak check of the specification: whether a message shows the inside of a program.
//!
//! The check has no word boundaries. It takes "at" and a word for a stack frame, so "what there", "that the" and "format
//! is" count, too.

/// Names of exceptions.
const EXCEPTIONS: [&str; 3] = ["typeerror", "referenceerror", "syntaxerror"];
/// Places of the source of a program.
const SOURCES: [&str; 2] = ["/src/", "/node_modules/"];

/// Returns whether the specification's leak check rejects a message.
#[must_use]
pub fn looks_internal(message: &str) -> bool {
    let lower = message.to_ascii_lowercase();
    let has_any = |texts: &[&str]| texts.iter().any(|text| lower.contains(text));
    // Few messages have what all these texts have in common.
    lower.contains("error") && has_any(&EXCEPTIONS)
        || lower.contains('/') && has_any(&SOURCES)
        || followed_by(&lower, "at", |rest| {
            rest.trim_start().len() < rest.len() && !rest.trim_start().is_empty()
        })
        || lower.contains("s:")
            && [".ts:", ".js:"].iter().any(|place| {
                followed_by(&lower, place, |rest| rest.starts_with(|c: char| c.is_ascii_digit()))
            })
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
