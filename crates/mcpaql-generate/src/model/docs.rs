//! Writes texts of documents as comments. No text can end its comment, add a line or exceed the width.

/// The kind of comment that a text is written into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CommentStyle {
    /// `///` or `#`: ends with its line.
    Line,
    /// `/** … */`.
    Block,
    /// `"""…"""`, not raw.
    Triple,
}

/// Returns the lines of a text, wrapped at about this width; none for an empty text. Paragraphs are separated by an empty line. Only
/// words that are longer than a line are broken, except URLs.
pub(crate) fn doc_lines(text: &str, docs: CommentStyle, width: usize) -> Vec<String> {
    let width = width.max(20);
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        // Tabs and control characters become spaces; characters that reorder or hide text are removed.
        let blank = |ch: char| ch.is_whitespace() || ch.is_control();
        let clean: String =
            line.chars().filter(|ch| !is_hiding(*ch)).map(|ch| if blank(ch) { ' ' } else { ch }).collect();
        let clean = comment_safe(&clean, docs);
        let mut words =
            clean.split(' ').filter(|word| !word.is_empty()).flat_map(|word| break_word(word, width));
        let Some(mut current) = words.next() else {
            if lines.last().is_some_and(|last| !last.is_empty()) {
                lines.push(String::new());
            }
            continue;
        };
        for word in words {
            if columns(&current) + 1 + columns(&word) > width {
                lines.push(std::mem::replace(&mut current, word));
            } else {
                current.push(' ');
                current.push_str(&word);
            }
        }
        lines.push(current);
    }
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// Returns the text without sequences that end the comment.
fn comment_safe(text: &str, docs: CommentStyle) -> String {
    match docs {
        CommentStyle::Line => text.to_owned(),
        CommentStyle::Block => text.replace("*/", "* /").replace("/*", "/ *"),
        // A quote could end the string, and a backslash would start an escape.
        CommentStyle::Triple => text.replace('\\', "\\\\").replace('"', "'"),
    }
}

/// Returns whether a character changes the direction of text or has no width. Such characters make source code misleading.
fn is_hiding(ch: char) -> bool {
    matches!(ch, '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}' | '\u{00AD}')
}

fn break_word(word: &str, width: usize) -> Vec<String> {
    if columns(word) <= width || word.contains("://") {
        return vec![word.to_owned()];
    }
    let mut parts: Vec<String> = Vec::new();
    let mut part = String::new();
    let mut escaped = false;
    for ch in word.chars() {
        // A backslash stays with the character that it escapes.
        if columns(&part) >= width && !escaped {
            parts.push(std::mem::take(&mut part));
        }
        escaped = ch == '\\' && !escaped;
        part.push(ch);
    }
    parts.push(part);
    parts
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_is_wrapped_in_paragraphs() {
        let text = "  One two three four five six.\r\n\n\n- a\tb\n\n";
        assert_eq!(doc_lines(text, CommentStyle::Line, 20), ["One two three four", "five six.", "", "- a b"]);
        assert_eq!(doc_lines(" \n ", CommentStyle::Line, 20), [""; 0]);
    }

    #[test]
    fn nothing_ends_a_comment() {
        assert_eq!(doc_lines("a */ b /* c", CommentStyle::Block, 80), ["a * / b / * c"]);
        assert_eq!(doc_lines("\"\"\" \\d \"", CommentStyle::Triple, 80), ["''' \\\\d '"]);
        assert_eq!(doc_lines("a\u{202E}b\u{2028}c\u{0}d", CommentStyle::Line, 80), ["ab c d"]);
    }

    #[test]
    fn addresses_stay_whole_and_other_long_words_do_not() {
        let address = "https://example.com/a/very/long/address";
        assert_eq!(doc_lines(address, CommentStyle::Line, 20), [address]);
        assert_eq!(
            doc_lines(&"x".repeat(45), CommentStyle::Line, 20),
            ["x".repeat(20), "x".repeat(20), "x".repeat(5)]
        );
    }

    proptest! {
        #[test]
        fn lines_are_lines(text in "(\\PC|\n|\r|[\"\\\\*/ ]){0,80}", width in 0_usize..60) {
            for docs in [CommentStyle::Line, CommentStyle::Block, CommentStyle::Triple] {
                let lines = doc_lines(&text, docs, width);
                for line in &lines {
                    prop_assert!(!line.contains(char::is_control));
                    prop_assert_eq!(line.trim_matches(' '), line.as_str());
                    prop_assert!(line.contains("://") || columns(line) <= width.max(20) + 1);
                    prop_assert!(docs != CommentStyle::Block || !line.contains("*/"));
                    prop_assert!(docs != CommentStyle::Triple || !line.contains('"'));
                }
                prop_assert!(lines.last().is_none_or(|last| !last.is_empty()));
            }
        }
    }
}
