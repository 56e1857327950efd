//! Converts Markdown and HTML to plain paragraphs for models: links become their text, and formatting is removed.
//!
//! What always holds: the time is linear in the length of the text.

/// Returns plain text. Paragraphs are separated by an empty line, items of lists by a line break.
#[must_use]
pub(crate) fn flatten(text: &str) -> String {
    if text.contains(is_control_character) {
        return flatten(&text.replace(is_control_character, ""));
    }
    let text = text.trim();
    if !text.bytes().any(is_special) {
        return text.to_owned();
    }
    let mut out = PlainText { text: String::with_capacity(text.len()), gap: Gap::None };
    let mut paragraph = String::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(mark) = fence {
            fence = (!line.starts_with(mark)).then_some(mark);
            continue;
        }
        let line = without_quote(line);
        match block(line) {
            MarkdownBlock::Fence(mark) => {
                fence = Some(mark);
                flush(&mut paragraph, &mut out, Gap::Paragraph);
            }
            MarkdownBlock::Blank => flush(&mut paragraph, &mut out, Gap::Paragraph),
            MarkdownBlock::Item(item) => {
                flush(&mut paragraph, &mut out, Gap::Line);
                paragraph.push_str("- ");
                paragraph.push_str(item);
            }
            MarkdownBlock::Text(line) => {
                if !paragraph.is_empty() {
                    paragraph.push(' ');
                }
                paragraph.push_str(line);
            }
        }
    }
    flush(&mut paragraph, &mut out, Gap::Paragraph);
    out.text
}

fn is_special(byte: u8) -> bool {
    matches!(
        byte,
        b'[' | b'`' | b'<' | b'>' | b'&' | b'*' | b'_' | b'#' | b'|' | b'\\' | b'~' | b'\t' | b'\n' | b'\r'
    )
}

/// The separator before the next word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Line,
    Paragraph,
}

struct PlainText {
    text: String,
    gap: Gap,
}

impl PlainText {
    fn widen(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push_str(match self.gap {
                Gap::None => "",
                Gap::Space => " ",
                Gap::Line => "\n",
                Gap::Paragraph => "\n\n",
            });
        }
        self.gap = Gap::None;
        self.text.push_str(text);
    }

    /// Adds words; blanks between them become one space.
    fn words(&mut self, text: &str) {
        let mut rest = text;
        loop {
            let word = rest.trim_start();
            if word.len() < rest.len() {
                self.widen(Gap::Space);
            }
            let end = word.find(char::is_whitespace).unwrap_or(word.len());
            let Some((word, behind)) = word.split_at_checked(end) else { return };
            if word.is_empty() {
                return;
            }
            self.push(word);
            rest = behind;
        }
    }
}

enum MarkdownBlock<'l> {
    Blank,
    Fence(&'l str),
    Item(&'l str),
    Text(&'l str),
}

fn without_quote(line: &str) -> &str {
    let Some(quoted) = line.strip_prefix('>') else { return line };
    let quoted = quoted.trim_start_matches(['>', ' ']);
    // `> [!NOTE]` is only formatting.
    if quoted.starts_with("[!") && quoted.ends_with(']') { "" } else { quoted }
}

fn block(line: &str) -> MarkdownBlock<'_> {
    let bytes = line.as_bytes();
    match bytes {
        [] => MarkdownBlock::Blank,
        [b'`', b'`', b'`', ..] => fence(line, "```"),
        [b'~', b'~', b'~', ..] => fence(line, "~~~"),
        [b'#', ..] if line.trim_start_matches('#').starts_with(' ') => MarkdownBlock::Blank,
        [b'|', ..] => MarkdownBlock::Blank,
        [first @ (b'-' | b'=' | b'*' | b'_'), ..]
            if bytes.len() >= 3 && bytes.iter().all(|byte| byte == first || *byte == b' ') =>
        {
            MarkdownBlock::Blank
        }
        _ if line.contains("--|--") || line.contains("-- | --") || line.contains("-|-") => {
            MarkdownBlock::Blank
        }
        [b'-' | b'*' | b'+', b' ', ..] => MarkdownBlock::Item(line.get(2..).unwrap_or_default().trim_start()),
        [b'0'..=b'9', ..] => {
            let behind = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
            match behind.strip_prefix(". ").filter(|_| line.len() - behind.len() <= 2) {
                Some(item) => MarkdownBlock::Item(item.trim_start()),
                None => MarkdownBlock::Text(line),
            }
        }
        _ => MarkdownBlock::Text(line),
    }
}

/// Returns the block of a line with a fence; a fence that is closed on the same line is inline code.
fn fence<'l>(line: &'l str, mark: &'static str) -> MarkdownBlock<'l> {
    let inside = line.strip_prefix(mark).unwrap_or_default();
    if inside.contains(mark) { MarkdownBlock::Text(line) } else { MarkdownBlock::Fence(mark) }
}

fn flush(paragraph: &mut String, out: &mut PlainText, gap: Gap) {
    if !paragraph.is_empty() {
        inline(paragraph, out);
        paragraph.clear();
    }
    out.widen(gap);
}

/// Removes the formatting of a paragraph.
fn inline(text: &str, out: &mut PlainText) {
    let mut rest = text;
    let mut before = ' ';
    while !rest.is_empty() {
        let end = rest.bytes().position(is_special).unwrap_or(rest.len());
        let Some((plain, special)) = rest.split_at_checked(end) else { return };
        out.words(plain);
        before = plain.chars().next_back().unwrap_or(before);
        let mut letters = special.chars();
        let Some(letter) = letters.next() else { return };
        let behind = letters.as_str();
        rest = match letter {
            '`' | '\n' | '\r' | '\t' => {
                if letter != '`' {
                    out.widen(Gap::Space);
                }
                behind
            }
            '\\' => escape(behind, out),
            '[' => link(behind, out),
            '<' => tag(behind, out),
            '&' => entity(behind, out),
            '*' => stars(behind, before, out),
            '_' => underscores(behind, before, out),
            '~' if behind.starts_with('~') => behind.trim_start_matches('~'),
            _ => {
                let length = letter.len_utf8();
                out.push(special.get(..length).unwrap_or_default());
                behind
            }
        };
        before = letter;
    }
}

fn escape<'t>(behind: &'t str, out: &mut PlainText) -> &'t str {
    let mut letters = behind.chars();
    match letters.next() {
        Some(letter) if letter.is_ascii_punctuation() => {
            out.push(letter.encode_utf8(&mut [0; 4]));
            letters.as_str()
        }
        _ => {
            out.push("\\");
            behind
        }
    }
}

/// Handles `[text](url)`, `[text][name]` and `![image](url)`; the `!` has already been written.
fn link<'t>(behind: &'t str, out: &mut PlainText) -> &'t str {
    const MAX_LINK: usize = 400;
    let near = behind.get(..behind.floor_char_boundary(MAX_LINK)).unwrap_or_default();
    let Some(close) = closing(near, '[', ']') else {
        out.push("[");
        return behind;
    };
    let (inner, after) = (near.get(..close).unwrap_or_default(), behind.get(close + 1..).unwrap_or_default());
    let target = match after.chars().next() {
        Some('(') => closing(after.get(1..).unwrap_or_default(), '(', ')').map(|end| end + 2),
        Some('[') => after.find(']').map(|end| end + 1),
        _ => None,
    };
    let Some(target) = target else {
        out.push("[");
        return behind;
    };
    if out.gap == Gap::None && out.text.ends_with('!') {
        out.text.pop();
    } else {
        out.words(inner.replace(['`', '*'], "").trim());
    }
    after.get(target..).unwrap_or_default()
}

/// Returns the position of the bracket that closes an open one.
fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, letter) in text.char_indices().take(600) {
        if letter == open {
            depth += 1;
        } else if letter == close {
            if depth == 0 {
                return Some(index);
            }
            depth -= 1;
        }
    }
    None
}

const INLINE_TAGS: &[&str] = &[
    "a", "abbr", "b", "big", "center", "cite", "code", "em", "font", "fullname", "i", "img", "kbd", "mark",
    "s", "small", "span", "strong", "sub", "sup", "tt", "u", "var",
];
const BLOCK_TAGS: &[&str] = &[
    "blockquote",
    "br",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "important",
    "li",
    "note",
    "ol",
    "p",
    "para",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "ul",
];

fn tag<'t>(behind: &'t str, out: &mut PlainText) -> &'t str {
    if let Some(comment) = behind.strip_prefix("!--") {
        return comment.find("-->").and_then(|end| comment.get(end + 3..)).unwrap_or_default();
    }
    let named = behind.strip_prefix('/').unwrap_or(behind);
    let end = named.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(named.len());
    let name = named.get(..end.min(12)).unwrap_or_default().to_ascii_lowercase();
    let near = behind.get(..behind.floor_char_boundary(1000)).unwrap_or_default();
    let Some(close) = near.find('>') else {
        out.push("<");
        return behind;
    };
    let after = behind.get(close + 1..).unwrap_or_default();
    if BLOCK_TAGS.contains(&name.as_str()) {
        out.widen(if name == "li" || name == "br" { Gap::Line } else { Gap::Paragraph });
        if name == "li" && !behind.starts_with('/') {
            out.push("- ");
        }
        return after;
    }
    if INLINE_TAGS.contains(&name.as_str()) {
        return after;
    }
    if name.starts_with("http") || name == "mailto" {
        out.push(near.get(..close).unwrap_or_default());
        return after;
    }
    out.push("<");
    behind
}

fn entity<'t>(behind: &'t str, out: &mut PlainText) -> &'t str {
    let near = behind.get(..behind.floor_char_boundary(10)).unwrap_or_default();
    let Some((name, _)) = near.split_once(';') else {
        out.push("&");
        return behind;
    };
    let after = behind.get(name.len() + 1..).unwrap_or_default();
    let numbered = name.strip_prefix('#').and_then(|number| {
        let code = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        code.ok().and_then(char::from_u32)
    });
    let letter = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" | "ldquo" | "rdquo" => '"',
        "apos" | "lsquo" | "rsquo" => '\'',
        "nbsp" => ' ',
        "ndash" | "mdash" => '-',
        "hellip" => '…',
        _ => match numbered {
            Some(letter) => letter,
            None => {
                out.push("&");
                return behind;
            }
        },
    };
    if letter.is_whitespace() || letter.is_control() {
        out.widen(Gap::Space);
    } else {
        out.push(letter.encode_utf8(&mut [0; 4]));
    }
    after
}

/// Removes emphasis, but keeps multiplication and wildcards.
fn stars<'t>(behind: &'t str, before: char, out: &mut PlainText) -> &'t str {
    let double = behind.strip_prefix('*');
    let after = double.unwrap_or(behind);
    let opens = after.chars().next().is_some_and(|letter| !letter.is_whitespace());
    let closes = !before.is_whitespace() && out.gap == Gap::None;
    if double.is_some() || opens != closes || (opens && closes && before.is_alphanumeric()) {
        return after;
    }
    out.push("*");
    behind
}

/// Removes `_emphasis_`, but keeps `snake_case`.
fn underscores<'t>(behind: &'t str, before: char, out: &mut PlainText) -> &'t str {
    let after = behind.trim_start_matches('_');
    let inside = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '/' || letter == '{';
    let left = inside(before) && out.gap == Gap::None && !out.text.is_empty();
    let right = after.chars().next().is_some_and(inside);
    if left != right {
        return after;
    }
    out.push("_");
    behind
}

/// Whether the character is a control character other than a line break or a tab.
fn is_control_character(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\r' | '\t')
}

#[cfg(test)]
mod tests {
    use super::flatten;

    #[test]
    fn formatting_is_removed_and_words_stay() {
        for (markdown, plain) in [
            ("Plain words.", "Plain words."),
            ("See [the guide](https://a.b/c_(d)) now.", "See the guide now."),
            ("Uses `snake_case` and **bold** _it_ and *it*.", "Uses snake_case and bold it and it."),
            ("a < b && c &lt; d &amp; e&nbsp;f", "a < b && c < d & e f"),
            (
                "## Heading\n\nText of\ntwo lines.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nEnd.",
                "Text of two lines.\n\nEnd.",
            ),
            ("<p>One <b>two</b></p><ul><li>a</li><li>b</li></ul>", "One two\n\n- a\n- b"),
            ("Items:\n- one\n* two\n1. three", "Items:\n- one\n- two\n- three"),
            ("Code:\n```json\n{\"a\": 1}\n```\nafter", "Code:\n\nafter"),
            ("> [!NOTE]\n> Quoted text.", "Quoted text."),
            ("![logo](x.png) Text &#39;quoted&#39;", "Text 'quoted'"),
            ("Send the <token> as is; 2 * 3", "Send the <token> as is; 2 * 3"),
            ("A [list] of [things][ref] <!-- hidden -->end", "A [list] of things end"),
            ("", ""),
        ] {
            assert_eq!(flatten(markdown), plain, "{markdown:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_flattened(text in "[-a\\[\\]()<>&;#*_`|~!\\\\ \n\u{e9}]{0,60}") {
            let _ = flatten(&text);
        }
    }
}
