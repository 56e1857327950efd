//! Patterns of JSON Schema (ECMA-262), run by a regex engine with linear time.
//!
//! Syntax with different meanings in the two dialects is translated. Patterns that the engine does not support
//! (look-around, back references, repetitions of very large classes) are rejected, and the caller of
//! [`SchemaPatternCache::read`] reports them. Reading a pattern is cheap: its automaton is built when the first value
//! is checked, because most patterns are never used.

use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// Maximum nesting depth of groups.
const MAX_NESTING: u32 = 64;
/// Maximum [`weight`] of an automaton. A larger one would make checks of long texts slow.
const MAX_WEIGHT: usize = 1 << 15;
/// Maximum bytes of an automaton; more than enough for `MAX_WEIGHT`.
const MAX_BYTES: usize = 1 << 22;

/// A pattern that this engine supports.
#[derive(Debug)]
pub(super) struct SchemaPattern {
    translated: String,
    automaton: OnceLock<Option<Regex>>,
}

impl SchemaPattern {
    /// Returns the pattern in the syntax of the engine.
    pub(super) fn translated(&self) -> &str {
        &self.translated
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        let automaton = self.automaton.get_or_init(|| {
            RegexBuilder::new(&self.translated)
                .size_limit(MAX_BYTES)
                .dfa_size_limit(1 << 20)
                .nest_limit(MAX_NESTING)
                .build()
                .ok()
        });
        automaton.as_ref().is_none_or(|regex| regex.is_match(text))
    }
}

/// The patterns of a document. The same pattern often appears many times.
#[derive(Debug, Clone, Default)]
pub(super) struct SchemaPatternCache(HashMap<String, Option<Arc<SchemaPattern>>>);

impl SchemaPatternCache {
    /// Returns the pattern; `None` if it is not supported.
    pub(super) fn read(&mut self, pattern: &str) -> Option<Arc<SchemaPattern>> {
        if let Some(known) = self.0.get(pattern) {
            return known.clone();
        }
        let translated = translate(pattern);
        let parsed = ParserBuilder::new().nest_limit(MAX_NESTING).build().parse(&translated).ok();
        let usable = parsed.is_some_and(|parsed| weight(&parsed) <= MAX_WEIGHT);
        let read = usable.then(|| Arc::new(SchemaPattern { translated, automaton: OnceLock::new() }));
        self.0.insert(pattern.to_owned(), read.clone());
        read
    }
}

/// Estimates the size of the automaton, roughly in states.
fn weight(pattern: &Hir) -> usize {
    let sum = |parts: &[Hir]| parts.iter().map(weight).fold(1, usize::saturating_add);
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len(),
        HirKind::Class(Class::Unicode(class)) if class.is_ascii() => 1 + class.ranges().len() / 4,
        // Other characters are byte sequences, parts of which all ranges share.
        HirKind::Class(Class::Unicode(class)) => 14 + class.ranges().len() * 3,
        HirKind::Class(Class::Bytes(class)) => 1 + class.ranges().len() / 4,
        HirKind::Repetition(repeated) => {
            let times = repeated.max.unwrap_or(repeated.min).max(1);
            (weight(&repeated.sub) + 1).saturating_mul(usize::try_from(times).unwrap_or(usize::MAX))
        }
        HirKind::Capture(group) => weight(&group.sub).saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
    }
}

/// Returns why a pattern is not a regular expression in any dialect; `None` if another engine may accept it.
#[must_use]
pub fn pattern_mistake(pattern: &str) -> Option<&'static str> {
    let parsed = ParserBuilder::new().nest_limit(MAX_NESTING).build().parse(&translate(pattern));
    let text = parsed.err()?.to_string();
    let empty_class = pattern.contains("[]") || pattern.contains("[^]");
    let brace = pattern.contains('{');
    [
        ("unclosed group", "a '(' is never closed", true),
        ("unopened group", "a ')' closes nothing", true),
        // Except for ECMA's empty class and literal brace.
        ("unclosed character class", "a '[' is never closed", !empty_class),
        ("repetition operator missing expression", "a repetition has nothing to repeat", !brace),
        ("incomplete escape sequence", "it ends in a backslash", true),
        ("invalid character class range", "a range of characters is reversed", true),
    ]
    .into_iter()
    .find(|(engine_message, _, certain)| *certain && text.contains(engine_message))
    .map(|(_, mistake, _)| mistake)
}

/// Translates a pattern to the engine's syntax. ECMA's `\d`, `\w` and `\b` are ASCII, and inside a class `[`, `&` and
/// `~` are ordinary characters.
#[must_use]
pub fn translate(pattern: &str) -> String {
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
                Some(edge @ ('b' | 'B')) if !in_class => {
                    out.push_str(if edge == 'b' { r"(?-u:\b)" } else { r"(?-u:\B)" });
                }
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
        let mut patterns = SchemaPatternCache::default();
        for (pattern, text, expected) in [
            (r"^\d+$", "12", true),
            (r"^\d+$", "١٢", false),
            (r"^[\w.-]+$", "a_b.c-d", true),
            (r"^[\W]$", "é", true),
            (r"^[a[&&b]+$", "[&a", true),
            (r"^[^\s]+$", "a b", false),
            (r"\bb", "éb", true),
            (r"\Bb", "éb", false),
            (r"^https?:\/\/", "https://x", true),
            ("b", "abc", true),
        ] {
            let read = patterns.read(pattern).expect(pattern);
            assert_eq!(read.is_match(text), expected, "{pattern} on {text}");
        }
    }

    #[test]
    fn what_the_engine_cannot_do_is_refused() {
        let mut patterns = SchemaPatternCache::default();
        for pattern in
            ["(?=a)b", "(?!x)", r"(a)\1", "(", "[", r"\", "a{1000}{1000}{1000}", r"^[\p{L}\p{N}]{0,256}$"]
        {
            assert!(patterns.read(pattern).is_none(), "{pattern}");
        }
    }

    #[test]
    fn what_is_read_can_be_checked() {
        let mut patterns = SchemaPatternCache::default();
        for pattern in [
            "^.{0,1023}$",
            "^.{0,1500}$",
            r"^(.|\n){0,900}$",
            r"^[^\s]{1,600}$",
            r"^[\p{L}\p{N}]{1,12}$",
            "^[0-9A-Za-z_]{1,8000}$",
            "^a{16000}$",
            "^(ab|cd|[^x]){900}$",
        ] {
            let read = patterns.read(pattern).expect(pattern);
            assert!(!read.is_match(&"x".repeat(40_000)), "{pattern}");
            assert!(read.automaton.get().is_some_and(Option::is_some), "{pattern} is too large");
        }
        assert!(
            patterns
                .read("^.{0,1023}$")
                .is_some_and(|read| read.is_match("ä") && !read.is_match(&"ä".repeat(1024)))
        );
    }

    #[test]
    fn reading_makes_no_automaton_and_equal_patterns_share_one() {
        let mut patterns = SchemaPatternCache::default();
        let (one, same) =
            (patterns.read("^a+$").expect("a pattern"), patterns.read("^a+$").expect("a pattern"));
        assert!(one.automaton.get().is_none());
        assert!(same.is_match("aa"));
        assert!(one.automaton.get().is_some());
    }
}
