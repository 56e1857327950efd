//! Finds secrets in texts, however they are encoded: JSON escapes (`\u0041`, `\/`), percent-encoding (`%2f`, `%2F`, `+`), one
//! inside the other, and base64 in both alphabets at every alignment.
//!
//! What always holds: a text is read once for all secrets, and only the surroundings of an escape are decoded. So a text
//! without escapes costs one pass, whatever the number of secrets.

use aho_corasick::{AhoCorasick, AhoCorasickKind, Input, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use std::ops::Range;

/// How many encodings inside each other are decoded.
const MAX_DEPTH: usize = 2;
/// How much longer an escaped character is: `\u0041`.
const ESCAPED_LENGTH: usize = 6;
/// Shorter parts of base64 occur by chance.
const MIN_BASE64_LENGTH: usize = 8;

/// A compiled search for some secrets.
#[derive(Debug)]
pub(super) struct SecretSearch {
    /// `None` if the secrets are too large for an automaton, which no credential is.
    automaton: Option<AhoCorasick>,
    /// The longest distance from the start of a secret to an escape in it.
    reach: usize,
    /// Whether `+` may stand for a character of a secret.
    has_space: bool,
}

impl SecretSearch {
    pub(super) fn new(secrets: &[String]) -> SecretSearch {
        let mut patterns: Vec<String> = secrets.iter().flat_map(|secret| forms(secret)).collect();
        patterns.sort_unstable();
        patterns.dedup();
        let longest = patterns.iter().map(String::len).max().unwrap_or_default();
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            // Built for each call, so building must be cheap.
            .kind(Some(AhoCorasickKind::NoncontiguousNFA))
            .build(&patterns)
            .ok();
        let has_space = secrets.iter().any(|secret| secret.contains(' '));
        SecretSearch { automaton, reach: longest.saturating_mul(ESCAPED_LENGTH), has_space }
    }

    /// Returns the parts of the text that contain a secret, in order and without overlap.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found = Vec::new();
        self.search(text.as_bytes(), 0, &mut |range| found.push(range));
        found.sort_unstable_by_key(|range| range.start);
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(found.len());
        for range in found {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        merged
    }

    fn search(&self, text: &[u8], depth: usize, found: &mut dyn FnMut(Range<usize>)) {
        let Some(automaton) = &self.automaton else { return found(0..text.len()) };
        let mut from = 0;
        // Secrets may overlap.
        while let Some(hit) = automaton.find(Input::new(text).range(from..)) {
            found(hit.range());
            from = hit.start() + 1;
        }
        if depth == MAX_DEPTH {
            return;
        }
        for encoding in
            [Encoding::Json, Encoding::Percent { with_plus: false }, Encoding::Percent { with_plus: true }]
        {
            if matches!(encoding, Encoding::Percent { with_plus: true }) && !self.has_space {
                continue;
            }
            for region in regions(text, encoding, self.reach) {
                let Some(encoded) = text.get(region.clone()) else { continue };
                let decoded = Decoded::of(encoded, encoding);
                if !decoded.escapes.is_empty() {
                    self.search(&decoded.text, depth + 1, &mut |range| {
                        let range = decoded.original(&range);
                        found(region.start + range.start..region.start + range.end);
                    });
                }
            }
        }
    }
}

/// The secret itself, and the part of its base64 that does not depend on its neighbours, for each alignment.
fn forms(secret: &str) -> Vec<String> {
    let mut forms = vec![secret.to_owned()];
    for (before, skipped) in [(0, 0), (1, 2), (2, 3)] {
        let shifted = format!("{}{secret}", ".".repeat(before));
        for encoded in [STANDARD_NO_PAD.encode(&shifted), URL_SAFE_NO_PAD.encode(&shifted)] {
            // The last character contains bits of the next byte, unless the bytes are complete.
            let whole = shifted.len() * 8 / 6;
            let part = encoded.get(skipped..whole).unwrap_or_default();
            if part.len() >= MIN_BASE64_LENGTH || (before == 0 && part.len() >= 5) {
                forms.push(part.to_owned());
            }
        }
    }
    forms
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Json,
    Percent { with_plus: bool },
}

impl Encoding {
    fn starts(self, byte: u8) -> bool {
        match self {
            Encoding::Json => byte == b'\\',
            Encoding::Percent { with_plus } => byte == b'%' || (with_plus && byte == b'+'),
        }
    }

    /// Decodes the escape that the text starts with. Returns its bytes and its length.
    fn decode(self, text: &[u8]) -> Option<(Vec<u8>, usize)> {
        match (self, text) {
            (Encoding::Percent { .. }, [b'%', high, low, ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                let byte = u8::try_from(digit(high)? * 16 + digit(low)?).ok()?;
                Some((vec![byte], 3))
            }
            (Encoding::Percent { with_plus: true }, [b'+', ..]) => Some((vec![b' '], 1)),
            (Encoding::Json, [b'\\', b'u', ..]) => {
                let first = unit(text)?;
                let pair = text.get(6..).and_then(unit);
                let (code, length) = match (first, pair) {
                    (0xd800..=0xdbff, Some(second @ 0xdc00..=0xdfff)) => {
                        (0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00), 12)
                    }
                    _ => (first, 6),
                };
                Some((char::from_u32(code)?.to_string().into_bytes(), length))
            }
            (Encoding::Json, [b'\\', escaped, ..]) => {
                let byte = match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'f' => 12,
                    b'"' | b'\\' | b'/' | b'\'' => *escaped,
                    _ => return None,
                };
                Some((vec![byte], 2))
            }
            _ => None,
        }
    }
}

/// The number of `\u0041`.
fn unit(text: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(text.strip_prefix(b"\\u")?.get(..4)?).ok()?;
    digits
        .bytes()
        .all(|digit| digit.is_ascii_hexdigit())
        .then(|| u32::from_str_radix(digits, 16).ok())
        .flatten()
}

/// The surroundings of all escapes in which a secret may be.
fn regions(text: &[u8], encoding: Encoding, reach: usize) -> Vec<Range<usize>> {
    let mut regions: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.iter().position(|byte| encoding.starts(*byte)))
    {
        let at = from + at;
        let end = (at + reach + ESCAPED_LENGTH).min(text.len());
        match regions.last_mut() {
            Some(last) if at.saturating_sub(reach) <= last.end => last.end = end,
            _ => regions.push(at.saturating_sub(reach)..end),
        }
        from = at + 1;
    }
    regions
}

/// A text without its escapes, and where they were.
struct Decoded {
    text: Vec<u8>,
    escapes: Vec<Escape>,
}

struct Escape {
    decoded: Range<usize>,
    original: Range<usize>,
}

impl Decoded {
    fn of(original: &[u8], encoding: Encoding) -> Decoded {
        let (mut text, mut escapes) = (Vec::with_capacity(original.len()), Vec::new());
        let mut position = 0;
        while let Some(rest) = original.get(position..).filter(|rest| !rest.is_empty()) {
            let plain = rest.iter().position(|byte| encoding.starts(*byte)).unwrap_or(rest.len());
            text.extend(rest.get(..plain).unwrap_or_default());
            position += plain;
            let Some(rest) = rest.get(plain..).filter(|rest| !rest.is_empty()) else { break };
            match encoding.decode(rest) {
                Some((bytes, length)) => {
                    let start = text.len();
                    text.extend(bytes);
                    escapes
                        .push(Escape { decoded: start..text.len(), original: position..position + length });
                    position += length;
                }
                None => {
                    text.extend(rest.first());
                    position += 1;
                }
            }
        }
        Decoded { text, escapes }
    }

    /// Returns the part of the original text that a part of the decoded text came from.
    fn original(&self, part: &Range<usize>) -> Range<usize> {
        let before = |position: usize, is_end: bool| {
            let count = self.escapes.partition_point(|escape| match is_end {
                true => escape.decoded.start < position,
                false => escape.decoded.start <= position,
            });
            match count.checked_sub(1).and_then(|last| self.escapes.get(last)) {
                None => position,
                Some(escape) if is_end && position <= escape.decoded.end => escape.original.end,
                Some(escape) if !is_end && position < escape.decoded.end => escape.original.start,
                Some(escape) => escape.original.end + (position - escape.decoded.end),
            }
        };
        before(part.start, false)..before(part.end, true)
    }
}
