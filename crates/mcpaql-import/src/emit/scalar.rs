//! Writes a text as a YAML scalar.
//!
//! What always holds: parsers of YAML 1.1 and 1.2 read back the same text. A text is quoted only if one of them would read
//! something else. Invisible characters and characters that change the text direction are escaped.

use std::fmt::Write;

/// Words that YAML 1.1 or 1.2 does not read as text.
const WORDS: &[&str] = &["y", "n", "yes", "no", "on", "off", "true", "false", "null"];

/// Returns a text on one line. `in_flow` is set inside `[…]` and `{…}`, where more texts need quotes.
pub(super) fn inline(text: &str, in_flow: bool) -> String {
    if is_plain(text, in_flow) { text.to_owned() } else { quoted(text) }
}

/// Returns a key, quoted unless it is a plain word.
pub(super) fn key(text: &str) -> String {
    let first = |first: char| first.is_ascii_alphabetic() || matches!(first, '_' | '$');
    let word = text.starts_with(first)
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_$-./".contains(&byte))
        && !is_word(text);
    if word { text.to_owned() } else { quoted(text) }
}

/// Whether the character can be written without an escape.
pub(super) fn is_printable(ch: char) -> bool {
    match ch {
        ' '..='~' | '\u{a0}'..='\u{200a}' | '\u{2010}'..='\u{2027}' | '\u{202f}'..='\u{2065}' => true,
        '\u{206a}'..='\u{d7ff}' | '\u{e000}'..='\u{fefe}' | '\u{ff00}'..='\u{fffd}' => true,
        ch => ch >= '\u{10000}',
    }
}

fn is_plain(text: &str, in_flow: bool) -> bool {
    let Some(first) = text.chars().next() else { return false };
    if first == ' ' || "-?:,[]{}#&*!|>'\"%@`".contains(first) || text.ends_with([' ', ':']) {
        return false;
    }
    let breaks = if in_flow {
        text.contains([',', '[', ']', '{', '}', ':']) || text.contains(" #")
    } else {
        text.contains(": ") || text.contains(" #")
    };
    !breaks && text.chars().all(is_printable) && !is_word(text) && !is_number_or_date(text)
}

fn is_word(text: &str) -> bool {
    matches!(text, "~" | "=" | "<<") || WORDS.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Whether YAML 1.1 or 1.2 may read the text as a number or a time: `012`, `1e3`, `0x1f`, `1_000`, `12:30`, `1.0.0`, `.inf`,
/// `2026-01-31T…`.
fn is_number_or_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    if !bytes.first().is_some_and(|first| first.is_ascii_digit() || b"+.".contains(first)) {
        return false;
    }
    let unsigned = text.strip_prefix('+').unwrap_or(text);
    let lower = unsigned.to_ascii_lowercase();
    let radix = ["0x", "0o", "0b"].iter().any(|prefix| lower.starts_with(prefix));
    let digits = unsigned.bytes().all(|byte| byte.is_ascii_digit() || b"_.:,eE+-".contains(&byte));
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let date = (0..4).all(is_digit) && bytes.get(4) == Some(&b'-') && is_digit(5);
    radix || digits || date || matches!(lower.as_str(), ".inf" | ".nan")
}

/// Quotes a text: in single quotes if it has double quotes or backslashes and needs no escape, and in double quotes otherwise.
fn quoted(text: &str) -> String {
    if text.contains(['"', '\\']) && text.chars().all(is_printable) {
        return format!("'{}'", text.replace('\'', "''"));
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for ch in text.chars() {
        match ch {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ch if is_printable(ch) => out.push(ch),
            ch => {
                let code = u32::from(ch);
                // Writing to a string cannot fail.
                let _ = match code {
                    0..=0xff => write!(out, "\\x{code:02x}"),
                    0x100..=0xffff => write!(out, "\\u{code:04x}"),
                    _ => write!(out, "\\U{code:08x}"),
                };
            }
        }
    }
    out.push('"');
    out
}

/// Returns the header and the lines of a literal block (`|`). Returns `None` unless the text has several lines and no blanks
/// that a parser or an editor might lose.
pub(super) fn literal(text: &str) -> Option<(&'static str, std::str::Split<'_, char>)> {
    let (body, clipped) = match text.strip_suffix('\n') {
        Some(body) => (body, true),
        None => (text, false),
    };
    let seen = |line: &str| line.is_empty() || !line.starts_with('\t') && !line.trim().is_empty();
    let last = body.rsplit('\n').next().unwrap_or_default();
    let fits = text.contains('\n')
        && !last.is_empty()
        && body.split('\n').all(seen)
        && body.chars().all(|ch| is_printable(ch) || matches!(ch, '\n' | '\t'));
    // If the first line does not show the indentation of the block, the header has to.
    let header = match (text.starts_with([' ', '\n']), clipped) {
        (false, false) => "|-",
        (false, true) => "|",
        (true, false) => "|2-",
        (true, true) => "|2",
    };
    fits.then(|| (header, body.split('\n')))
}

/// Minimum length of a sentence that ends a line.
const MIN_SENTENCE_LINE: usize = 40;

/// Returns the lines of a folded block (`>-`), or `None` if the text cannot be folded. Lines end with sentences, so that a
/// changed sentence does not change the lines of the others.
pub(super) fn folded(text: &str, width: usize) -> Option<Vec<&str>> {
    if text.starts_with(' ') || text.ends_with(' ') || !text.chars().all(is_printable) {
        return None;
    }
    let mut lines = Vec::new();
    let (mut start, mut last) = (0, None);
    let bytes = text.as_bytes();
    for (at, _) in text.match_indices(' ') {
        // A line break is read as one space, so only a single space can become one.
        if bytes.get(at + 1) == Some(&b' ') || at.checked_sub(1).and_then(|at| bytes.get(at)) == Some(&b' ') {
            continue;
        }
        if let Some(fit) = last
            && at - start > width
        {
            lines.push(text.get(start..fit)?);
            start = fit + 1;
        }
        last = Some(at);
        let sentence = text.get(start..at)?;
        if sentence.len() >= MIN_SENTENCE_LINE && sentence.ends_with(['.', '!', '?']) {
            lines.push(sentence);
            (start, last) = (at + 1, None);
        }
    }
    if let Some(fit) = last
        && fit > start
        && text.len() - start > width
    {
        lines.push(text.get(start..fit)?);
        start = fit + 1;
    }
    lines.push(text.get(start..)?);
    (lines.len() > 1).then_some(lines)
}
