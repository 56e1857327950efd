//! ECMA-262 patterns as JSON Schema means them, run by an engine that is linear in the text.
//!
//! What the two dialects spell alike but mean differently is translated; what the engine cannot do (look-around,
//! back references) does not compile, and the caller of [`Patterns::compile`] reports it.

use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use std::collections::HashMap;

/// Patterns repeat a lot within one document, and compiling one is the dearest step of compiling a schema.
#[derive(Debug, Clone, Default)]
pub(super) struct Patterns(HashMap<String, Option<Regex>>);

impl Patterns {
    pub(super) fn compile(&mut self, pattern: &str) -> Option<Regex> {
        if let Some(known) = self.0.get(pattern) {
            return known.clone();
        }
        let compiled = RegexBuilder::new(&translate(pattern))
            .size_limit(1 << 20)
            .dfa_size_limit(1 << 20)
            .nest_limit(64)
            .build()
            .ok();
        self.0.insert(pattern.to_owned(), compiled.clone());
        compiled
    }
}

/// Why a pattern is no regular expression in any dialect; nothing where another engine may know better.
#[must_use]
pub fn pattern_mistake(pattern: &str) -> Option<&'static str> {
    let parsed = ParserBuilder::new().nest_limit(64).build().parse(&translate(pattern));
    let text = parsed.err()?.to_string();
    let empty_class = pattern.contains("[]") || pattern.contains("[^]");
    let brace = pattern.contains('{');
    [
        ("unclosed group", "a '(' is never closed", true),
        ("unopened group", "a ')' closes nothing", true),
        // ECMA's empty class, and its literal brace.
        ("unclosed character class", "a '[' is never closed", !empty_class),
        ("repetition operator missing expression", "nothing stands before a repetition", !brace),
        ("incomplete escape sequence", "it ends in a backslash", true),
        ("invalid character class range", "a range of characters runs backwards", true),
    ]
    .into_iter()
    .find(|(theirs, _, sure)| *sure && text.contains(theirs))
    .map(|(_, ours, _)| ours)
}

/// ECMA's `\d` and `\w` are ASCII, and inside a class `[`, `&` and `~` are ordinary characters.
pub(crate) fn translate(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len() + 8);
    let mut chars = pattern.chars();
    let mut in_class = false;
    while let Some(ch) = chars.next() {
        match ch {
            '\\' => match chars.next() {
                Some('d') => out.push_str(if in_class { "0-9" } else { "[0-9]" }),
                Some('w') => out.push_str(if in_class { "0-9A-Za-z_" } else { "[0-9A-Za-z_]" }),
                Some('D') => out.push_str("[^0-9]"),
                Some('W') => out.push_str("[^0-9A-Za-z_]"),
                Some(other) => out.extend(['\\', other]),
                None => out.push('\\'),
            },
            '[' if !in_class => {
                in_class = true;
                out.push('[');
            }
            '[' | '&' | '~' if in_class => out.extend(['\\', ch]),
            ']' => {
                in_class = false;
                out.push(']');
            }
            _ => out.push(ch),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_mean_what_ecma_means() {
        let mut patterns = Patterns::default();
        for (pattern, text, expected) in [
            (r"^\d+$", "12", true),
            (r"^\d+$", "١٢", false),
            (r"^[\w.-]+$", "a_b.c-d", true),
            (r"^[\W]$", "é", true),
            (r"^[a[&&b]+$", "[&a", true),
            (r"^[^\s]+$", "a b", false),
            (r"^https?:\/\/", "https://x", true),
            ("b", "abc", true),
        ] {
            let regex = patterns.compile(pattern).expect(pattern);
            assert_eq!(regex.is_match(text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn what_the_engine_cannot_do_is_refused() {
        let mut patterns = Patterns::default();
        for pattern in ["(?=a)b", "(?!x)", r"(a)\1", "(", "[", r"\", "a{1000}{1000}{1000}"] {
            assert!(patterns.compile(pattern).is_none(), "{pattern}");
        }
    }
}
