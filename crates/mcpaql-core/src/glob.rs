//! Patterns of names with `?` and `*`.
//!
//! ```
//! assert!(mcpaql_core::glob::matches("get_*", "get_repo", None));
//! ```

/// Returns whether a text matches a glob, ignoring case. `?` matches one character and `*` any number of characters, but not
/// `separator`; `**` matches any number of any characters.
#[must_use]
pub fn matches(glob: &str, text: &str, separator: Option<char>) -> bool {
    let lower = |text: &str| text.chars().flat_map(char::to_lowercase).collect::<Vec<char>>();
    let (glob, text) = (lower(glob), lower(text));
    // Row by row: which prefixes of the text match the glob so far.
    let mut fits = vec![false; text.len() + 1];
    fits.first_mut().into_iter().for_each(|start| *start = true);
    let mut rest = glob.iter().copied().peekable();
    while let Some(piece) = rest.next() {
        let doubled = piece == '*' && rest.next_if_eq(&'*').is_some();
        let mut next = vec![false; fits.len()];
        let mut reached = false;
        for position in 0..fits.len() {
            let before = position.checked_sub(1);
            let letter = before.and_then(|before| text.get(before)).copied();
            let from = before.and_then(|before| fits.get(before)).copied().unwrap_or(false);
            let here = fits.get(position).copied().unwrap_or(false);
            let now = match piece {
                '*' => {
                    let stopped = !doubled && letter.is_some() && letter == separator;
                    reached = here || (reached && !stopped);
                    reached
                }
                '?' => from && letter != separator,
                piece => from && letter == Some(piece),
            };
            if let Some(slot) = next.get_mut(position) {
                *slot = now;
            }
        }
        fits = next;
    }
    fits.last().copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn globs() {
        for (glob, text, separator, fits) in [
            ("get_*", "get_repo", None, true),
            ("get_*", "list_repos", None, false),
            ("*", "", None, true),
            ("repos/*", "repos/get-content", None, true),
            ("/repos/*", "/repos/a", Some('/'), true),
            ("/repos/*", "/repos/a/b", Some('/'), false),
            ("/repos/**", "/repos/a/b", Some('/'), true),
            ("/repos/**/b", "/repos/a/x/b", Some('/'), true),
            ("/repos/?", "/repos//", Some('/'), false),
            ("Issues", "issues", None, true),
            ("a*b*c", "aXbYbZc", None, true),
            ("a*b*c", "aXbYbZ", None, false),
        ] {
            assert_eq!(matches(glob, text, separator), fits, "{glob} {text}");
        }
    }

    proptest! {
        #[test]
        fn every_text_matches_itself_and_two_stars(text in "[a-z/_]{0,20}") {
            prop_assert!(matches(&text, &text, Some('/')));
            prop_assert!(matches("**", &text, Some('/')));
        }
    }
}
