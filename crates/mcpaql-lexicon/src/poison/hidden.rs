//! Text that people do not read but models do: invisible characters that spell words, encodings, letters with blanks between them.

use crate::unicode;
use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use std::ops::Range;
use std::sync::LazyLock;

/// A hidden text.
#[derive(Debug)]
pub(super) struct HiddenText {
    pub(super) text: String,
    /// The place that hides it.
    pub(super) range: Range<usize>,
    pub(super) how: HiddenBy,
}

/// How a text is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HiddenBy {
    /// Invisible characters spell it.
    Characters,
    /// It is encoded.
    Encoding,
    /// Its letters are replaced or spaced.
    Spelling,
}

/// Maximum size of an encoded text that is decoded.
const MAX_DECODED: usize = 16 << 10;
/// Minimum length of an encoded text.
const MIN_ENCODED: usize = 16;

/// Returns the texts that a text hides.
pub(super) fn hidden_texts(text: &str) -> Vec<HiddenText> {
    let mut hidden = Vec::new();
    if !text.is_ascii() {
        hidden.extend(spelled(text));
    }
    hidden.extend(runs(text));
    hidden.extend(escapes(text));
    hidden.extend(whole(text));
    hidden
}

/// Returns the text that tag characters, variation selectors or zero-width characters spell.
fn spelled(text: &str) -> Option<HiddenText> {
    let (mut tags, mut selectors, mut bits) = (String::new(), Vec::new(), Vec::new());
    let mut range = text.len()..0;
    for (position, c) in unicode::hidden_characters(text) {
        let code = u32::from(c);
        match code {
            0xe0020..=0xe007e => tags.extend(char::from_u32(code - 0xe0000)),
            0xfe00..=0xfe0f => selectors.extend(u8::try_from(code - 0xfe00)),
            0xe0100..=0xe01ef => selectors.extend(u8::try_from(code - 0xe0100 + 16)),
            0x200b | 0x200e => bits.push(0),
            0x200c | 0x200d | 0x200f | 0x2060 | 0xfeff => bits.push(1_u8),
            _ => continue,
        }
        range = range.start.min(position)..range.end.max(position + c.len_utf8());
    }
    let by_bits: Vec<u8> =
        bits.chunks_exact(8).map(|byte| byte.iter().fold(0, |all, bit| (all << 1) | bit)).collect();
    let readable = |bytes: Vec<u8>| String::from_utf8(bytes).ok().filter(|text| is_prose(text, 4));
    let found = Some(tags)
        .filter(|tags| is_prose(tags, 3))
        .or_else(|| readable(selectors))
        .or_else(|| readable(by_bits))?;
    Some(HiddenText { text: found, range, how: HiddenBy::Characters })
}

/// Returns the decoded texts of runs of Base64 and hexadecimal digits.
fn runs(text: &str) -> Vec<HiddenText> {
    let is_code = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'_' | b'-');
    let (mut found, mut start) = (Vec::new(), None);
    for (position, byte) in text.bytes().chain([b' ']).enumerate() {
        match (is_code(byte), start) {
            (true, None) => start = Some(position),
            (false, Some(from)) => {
                start = None;
                if position - from >= MIN_ENCODED
                    && let Some(run) = text.get(from..position)
                    && let Some(decoded) = decoded(run)
                {
                    found.push(HiddenText { text: decoded, range: from..position, how: HiddenBy::Encoding });
                }
            }
            _ => {}
        }
    }
    found
}

const DECODING: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);

fn decoded(run: &str) -> Option<String> {
    let run = run.get(..run.len().min(MAX_DECODED))?;
    let readable = |bytes: Vec<u8>| String::from_utf8(bytes).ok().filter(|text| is_prose(text, 8));
    if run.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return readable(run.as_bytes().chunks_exact(2).filter_map(hex).collect());
    }
    // A word has no upper-case letters inside; text as Base64 always has some, or digits.
    if !run.bytes().skip(1).any(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()) {
        return None;
    }
    let alphabet = if run.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    GeneralPurpose::new(alphabet, DECODING).decode(run.trim_end_matches('=')).ok().and_then(readable)
}

fn hex(pair: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()
}

/// Returns a text whose characters are written as `%41`, `\u0041`, `\x41` or `&#65;`.
fn escapes(text: &str) -> Option<HiddenText> {
    if !text.contains(['%', '\\', '&']) {
        return None;
    }
    let (mut plain, mut count, mut rest) = (String::new(), 0, text);
    let mut range = text.len()..0;
    while let Some(c) = rest.chars().next() {
        let at = text.len() - rest.len();
        let escape = escape(rest);
        let (decoded, length) = escape.unwrap_or((c, c.len_utf8()));
        if escape.is_some() {
            count += 1;
            range = range.start.min(at)..at + length;
        }
        plain.push(decoded);
        rest = rest.get(length..).unwrap_or_default();
    }
    (count >= 4).then_some(HiddenText { text: plain, range, how: HiddenBy::Encoding })
}

fn escape(text: &str) -> Option<(char, usize)> {
    let digits = |from: usize, length: usize, radix: u32| {
        let code = u32::from_str_radix(text.get(from..from + length)?, radix).ok()?;
        Some((char::from_u32(code)?, from + length))
    };
    if text.starts_with('%') {
        return digits(1, 2, 16).filter(|(c, _)| c.is_ascii() && !c.is_control());
    }
    if text.starts_with("\\u{") {
        let end = text.get(3..12.min(text.len()))?.find('}')?;
        return digits(3, end, 16).map(|(c, end)| (c, end + 1));
    }
    if text.starts_with("\\u") {
        return digits(2, 4, 16);
    }
    if text.starts_with("\\x") {
        return digits(2, 2, 16);
    }
    let rest = text.strip_prefix("&#")?;
    let end = rest.find(';').filter(|end| *end < 8)?;
    let (from, radix) = if rest.starts_with(['x', 'X']) { (3, 16) } else { (2, 10) };
    digits(from, end + 2 - from, radix).map(|(c, end)| (c, end + 1))
}

/// Returns the whole text read in another way: rotated, backwards, with digits as letters, without blanks between letters.
fn whole(text: &str) -> Vec<HiddenText> {
    let mut readings: Vec<String> = Vec::new();
    let (rotates, reverses) = HINTS.as_ref().map_or((false, false), |hints| {
        hints.find_iter(text).fold((false, false), |(rotates, reverses), hint| {
            let is_rotated = hint.pattern().as_usize() < ROTATED.len();
            (rotates || is_rotated, reverses || !is_rotated)
        })
    });
    if rotates {
        readings.push(text.chars().map(rotated).collect());
    }
    if reverses {
        readings.push(text.chars().rev().filter(|c| !unicode::is_invisible(*c)).collect());
    }
    let pairs = || text.bytes().zip(text.bytes().skip(1));
    if pairs().filter(|(a, b)| a.is_ascii_digit() && b.is_ascii_alphabetic()).count() >= 2 {
        let lower = text.to_lowercase();
        let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).collect();
        if words.iter().filter(|word| is_digit_spelled(word)).count() >= 2 {
            readings.push(words.into_iter().map(with_letters).collect::<Vec<_>>().join(" "));
        }
    }
    readings.extend(joined_letters(text));
    readings
        .into_iter()
        .map(|reading| HiddenText { text: reading, range: 0..text.len(), how: HiddenBy::Spelling })
        .collect()
}

/// Words of attacks, rotated by 13 letters.
const ROTATED: &[&str] =
    &["vtaber", "cerivbhf", "vafgehpgvba", "gur hfre", "cnffjbeq", "flfgrz cebzcg", "sbetrg"];
/// Words of attacks, backwards.
const REVERSED: &[&str] = &["erongi", "suoiverp", "snoitcurtsni", "resu eht", "tpmorp", "drowssap", "tegrof"];

static HINTS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).build(ROTATED.iter().chain(REVERSED)).ok()
});

/// Rotates a letter by 13 places.
fn rotated(c: char) -> char {
    let turn = |base: u8| {
        let letter = u8::try_from(c).unwrap_or_default().wrapping_sub(base);
        char::from(base + (letter + 13) % 26)
    };
    match c {
        'a'..='z' => turn(b'a'),
        'A'..='Z' => turn(b'A'),
        c => c,
    }
}

/// Returns whether a word has digits in the places of letters: `1gn0re`.
fn is_digit_spelled(word: &str) -> bool {
    let digits = word.bytes().filter(u8::is_ascii_digit).count();
    let letters = word.bytes().filter(u8::is_ascii_alphabetic).count();
    word.len() >= 4
        && digits > 0
        && letters >= 2
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && word.bytes().zip(word.bytes().skip(1)).any(|(a, b)| a.is_ascii_digit() && b.is_ascii_alphabetic())
}

fn with_letters(word: &str) -> String {
    let letter = |c| match c {
        '0' => 'o',
        '1' => 'i',
        '3' => 'e',
        '4' => 'a',
        '5' => 's',
        '7' => 't',
        c => c,
    };
    if is_digit_spelled(word) { word.chars().map(letter).collect() } else { word.to_owned() }
}

/// Joins letters with blanks between them: `i g n o r e`. Several blanks end a word.
fn joined_letters(text: &str) -> Option<String> {
    // Six letters with single blanks between them.
    let (mut singles, mut longest) = (0_usize, 0);
    let bytes = text.as_bytes();
    for (index, byte) in bytes.iter().enumerate() {
        let is_blank = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_none_or(|byte| *byte == b' ');
        if byte.is_ascii_alphabetic() && is_blank(index.checked_sub(1)) && is_blank(Some(index + 1)) {
            singles += 1;
            longest = longest.max(singles);
        } else if *byte != b' ' {
            singles = 0;
        }
    }
    if longest < 6 {
        return None;
    }
    let mut joined = String::new();
    for part in text.split(' ') {
        let is_single = part.chars().count() == 1;
        if !is_single && !joined.ends_with(' ') {
            joined.push(' ');
        }
        joined.push_str(part);
        if part.chars().count() > 1 {
            joined.push(' ');
        }
    }
    Some(joined)
}

/// Returns whether decoded bytes are text that somebody wrote.
fn is_prose(text: &str, min: usize) -> bool {
    let letters = text.chars().filter(|c| c.is_alphabetic() || *c == ' ').count();
    let count = text.chars().count();
    count >= min
        && !text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t' | '\r'))
        && letters * 10 >= count * 7
}
