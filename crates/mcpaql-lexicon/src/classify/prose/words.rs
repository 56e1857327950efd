//! Splits prose into words and sentences. Markup, addresses and fenced code say nothing about an operation.

use std::borrow::Cow;

/// What is between a word and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WordGap {
    /// A space, or nothing that matters.
    Space,
    /// A comma or a bracket.
    Comma,
    /// The end of a sentence, of a label or of a line.
    Sentence,
    /// An empty line, or the start of the text.
    Paragraph,
}

/// A word of a text.
#[derive(Debug, Clone)]
pub(super) struct ProseWord<'t> {
    /// The word in lower case.
    pub(super) word: Cow<'t, str>,
    /// The word as it is written.
    pub(super) written: &'t str,
    /// What is before it.
    pub(super) gap: WordGap,
    /// Whether it is code: in backticks, or written like an identifier.
    pub(super) is_code: bool,
}

/// Splits a text into words. Fenced code is left out.
pub(super) fn prose_words(text: &str) -> Vec<ProseWord<'_>> {
    let mut splitter = Splitter { found: Vec::new(), gap: WordGap::Paragraph, quoted: false };
    for (index, piece) in text.split("```").enumerate() {
        if index % 2 == 0 {
            splitter.split(piece);
        } else {
            splitter.gap = splitter.gap.max(WordGap::Sentence);
        }
    }
    splitter.found
}

/// Splits words into sentences.
pub(super) fn sentences<'a, 't>(words: &'a [ProseWord<'t>]) -> impl Iterator<Item = &'a [ProseWord<'t>]> {
    words.chunk_by(|_, next| next.gap < WordGap::Sentence)
}

struct Splitter<'t> {
    found: Vec<ProseWord<'t>>,
    gap: WordGap,
    quoted: bool,
}

impl<'t> Splitter<'t> {
    fn split(&mut self, piece: &'t str) {
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            if let Some((after, gap)) = markup(rest) {
                self.gap = self.gap.max(gap);
                rest = after;
                continue;
            }
            let is_inner = |ch: char| ch.is_alphanumeric() || matches!(ch, '_' | '-' | '/');
            let end = rest.find(|ch: char| !is_inner(ch)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            if word.is_empty() {
                self.quoted ^= first == '`';
                let next = rest.get(first.len_utf8()..).unwrap_or_default();
                self.gap = self.gap.max(gap_of(first, next, self.found.last()));
                rest = next;
                continue;
            }
            let before = piece.get(..piece.len() - rest.len()).unwrap_or_default();
            rest = after;
            let trimmed = word.trim_matches(['-', '/', '_']);
            if trimmed.is_empty() {
                // A dash or a bullet.
                self.gap = self.gap.max(if word == "/" { WordGap::Space } else { WordGap::Sentence });
            } else if is_contraction(trimmed, before) && self.gap == WordGap::Space {
                // The rest of "doesn't".
            } else if self.gap >= WordGap::Sentence && is_choice(trimmed) {
                // "Add/Modify/Delete a person".
                for (index, part) in trimmed.split('/').enumerate() {
                    if index > 0 {
                        let word = ProseWord {
                            word: Cow::Borrowed("or"),
                            written: "or",
                            gap: WordGap::Space,
                            is_code: false,
                        };
                        self.found.push(word);
                    }
                    self.push(part, false);
                }
            } else {
                self.push(trimmed, word.starts_with('/') || trimmed.matches('/').count() > 1);
            }
        }
    }

    fn push(&mut self, written: &'t str, is_path: bool) {
        let has_lower = written.chars().any(char::is_lowercase);
        let inner_capital = has_lower && written.chars().skip(1).any(char::is_uppercase);
        // `CREATE INDEX`, but "it DELETES the file".
        let keyword = written.len() > 2
            && !written.ends_with('S')
            && written.bytes().all(|byte| byte.is_ascii_uppercase());
        let is_code = self.quoted || is_path || written.contains('_') || inner_capital || keyword;
        let word = match written.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii()) {
            true => Cow::Owned(written.to_lowercase()),
            false => Cow::Borrowed(written),
        };
        self.found.push(ProseWord { word, written, gap: self.gap, is_code });
        self.gap = WordGap::Space;
    }
}

/// Returns whether a word is the rest of a contraction.
fn is_contraction(word: &str, before: &str) -> bool {
    matches!(word, "t" | "s" | "ll" | "re" | "ve") && before.ends_with(['\'', '’'])
}

/// Returns whether a word joins several verbs: "Add/Modify/Delete".
fn is_choice(word: &str) -> bool {
    word.contains('/')
        && word.split('/').all(|part| {
            let lower = part.to_ascii_lowercase();
            crate::verbs::inflected(&lower).or_else(|| crate::verbs::further_inflected(&lower)).is_some()
        })
}

/// Returns the text after a tag or an address at its start, and the gap that it leaves.
fn markup(text: &str) -> Option<(&str, WordGap)> {
    const MAX_TAG_BYTES: usize = 300;
    let tag = text
        .strip_prefix('<')
        .filter(|tag| tag.starts_with(|ch: char| ch.is_ascii_alphabetic() || ch == '/'));
    if let Some(tag) = tag {
        let end = tag.bytes().take(MAX_TAG_BYTES).position(|byte| byte == b'>')?;
        let name = tag.trim_start_matches('/');
        let length = name.find(|ch: char| !ch.is_ascii_alphanumeric()).unwrap_or(name.len());
        let name = name.get(..length).unwrap_or_default();
        let inline =
            ["a", "b", "i", "em", "strong", "code", "span", "sup", "sub", "u", "tt", "font", "img", "var"];
        let is_inline = inline.iter().any(|inline| name.eq_ignore_ascii_case(inline));
        return Some((tag.get(end + 1..)?, if is_inline { WordGap::Space } else { WordGap::Sentence }));
    }
    let address = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    let ends = |ch: char| ch.is_whitespace() || matches!(ch, ')' | '>' | '"' | '\'' | ']' | '`');
    let whole = address.get(..address.find(ends).unwrap_or(address.len()))?;
    Some((address.get(whole.trim_end_matches(['.', ',', ';']).len()..)?, WordGap::Space))
}

/// Returns what a character between words means.
fn gap_of(ch: char, next: &str, before: Option<&ProseWord<'_>>) -> WordGap {
    let ends_word = next.chars().next().is_none_or(char::is_whitespace);
    match ch {
        '.' => {
            let abbreviated =
                before.is_some_and(|word| word.word.len() < 2 || word.word == "etc" || word.word == "vs");
            if (ends_word && !abbreviated) || next.starts_with('<') {
                WordGap::Sentence
            } else {
                WordGap::Space
            }
        }
        '!' | '?' | ';' | '|' | '—' | '–' | '•' | '*' | '→' => WordGap::Sentence,
        ':' if ends_word => WordGap::Sentence,
        '\n' => {
            let line = next.trim_start_matches([' ', '\t']);
            match line.chars().next() {
                Some('\n' | '\r') | None => WordGap::Paragraph,
                // A line that goes on.
                Some(first) if first.is_lowercase() || first.is_numeric() || first == '(' => WordGap::Space,
                _ => WordGap::Sentence,
            }
        }
        ',' | '(' | ')' | '[' | ']' => WordGap::Comma,
        _ => WordGap::Space,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<String> {
        let words = prose_words(text);
        let join = |sentence: &[ProseWord<'_>]| {
            sentence.iter().map(|word| word.word.as_ref()).collect::<Vec<_>>().join(" ")
        };
        sentences(&words).map(join).collect()
    }

    #[test]
    fn markup_and_addresses_are_no_words() {
        for (text, expected) in [
            ("<p>Gets it.</p><p>Then <b>more</b>.</p>", vec!["gets it", "then more"]),
            ("See https://example.com/delete/it. Done.", vec!["see", "done"]),
            ("Add/Modify/Delete a person", vec!["add or modify or delete a person"]),
            ("Gets read/write access", vec!["gets read/write access"]),
            ("1 < 2 and 3 > 2", vec!["1 2 and 3 2"]),
            ("It doesn't stop", vec!["it doesn stop"]),
            ("", vec![]),
        ] {
            assert_eq!(split(text), expected, "{text}");
        }
    }
}
