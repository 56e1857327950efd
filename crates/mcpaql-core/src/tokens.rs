//! Estimates how many tokens a text costs in a model's context, without a vocabulary of several megabytes.
//!
//! What always holds: the estimate is on the high side, so a surface within the estimated budget is within the real
//! one.

use serde_json::Value;

/// Estimates the tokens of a text. A word, including underscores, costs one token for every seven letters; punctuation
/// one for every three characters in a row. Other scripts and emoji cost more.
#[must_use]
pub fn estimate(text: &str) -> usize {
    let mut count = TokenCounter::default();
    count.read(text);
    count.finish()
}

/// Estimates the tokens of a value as compact JSON, without serializing it.
#[must_use]
pub fn estimate_json(value: &Value) -> usize {
    let mut count = TokenCounter::default();
    count.value(value, 0);
    count.finish()
}

/// Maximum nesting depth. Deeper values, which do not occur, are not counted.
const MAX_DEPTH: usize = 256;

/// A running estimate.
#[derive(Debug, Default)]
struct TokenCounter {
    tokens: usize,
    word: usize,
    marks: usize,
}

impl TokenCounter {
    fn read(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_ascii_alphanumeric() || c == '_' || (!c.is_ascii() && c.is_alphanumeric()) {
                self.letters(letter_weight(c));
            } else if c.is_whitespace() {
                self.marks(0);
            } else {
                self.marks(mark_weight(c));
            }
        }
    }

    #[inline]
    const fn letters(&mut self, weight: usize) {
        if self.marks > 0 {
            self.tokens += mark_cost(self.marks);
            self.marks = 0;
        }
        self.word += weight;
    }

    #[inline]
    const fn marks(&mut self, weight: usize) {
        if self.word > 0 {
            self.tokens += word_cost(self.word);
            self.word = 0;
        }
        self.marks += weight;
    }

    fn value(&mut self, value: &Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match value {
            Value::Null => self.letters(4),
            Value::Bool(yes) => self.letters(if *yes { 4 } else { 5 }),
            Value::Number(number) => self.read(&number.to_string()),
            Value::String(text) => self.string(text),
            Value::Array(items) => {
                self.marks(1);
                for (index, item) in items.iter().enumerate() {
                    self.marks(usize::from(index > 0));
                    self.value(item, depth + 1);
                }
                self.marks(1);
            }
            Value::Object(map) => {
                self.marks(1);
                for (index, (key, item)) in map.iter().enumerate() {
                    self.marks(usize::from(index > 0));
                    self.string(key);
                    self.marks(1);
                    self.value(item, depth + 1);
                }
                self.marks(1);
            }
        }
    }

    /// Counts a JSON string, including quotation marks and escapes.
    fn string(&mut self, text: &str) {
        self.marks(1);
        let mut letters = 0;
        for (index, byte) in text.bytes().enumerate() {
            let kind = BYTE_KINDS.get(usize::from(byte)).copied().unwrap_or(ByteKind::Inside);
            if kind == ByteKind::Letter {
                letters += 1;
                continue;
            }
            if letters > 0 {
                self.letters(letters);
                letters = 0;
            }
            match kind {
                ByteKind::Letter | ByteKind::Inside => {}
                ByteKind::Blank => self.marks(0),
                ByteKind::Mark => self.marks(1),
                ByteKind::Escaped => self.escaped_byte(byte),
                ByteKind::Begin => self.read(text.get(index..).and_then(first).unwrap_or_default()),
            }
        }
        if letters > 0 {
            self.letters(letters);
        }
        self.marks(1);
    }

    fn escaped_byte(&mut self, byte: u8) {
        match byte {
            b'"' | b'\\' => self.marks(2),
            b'\n' | b'\t' | b'\r' | 8 | 12 => {
                self.marks(1);
                self.letters(1);
            }
            0..=31 => {
                self.marks(1);
                self.letters(5);
            }
            _ => self.marks(1),
        }
    }

    const fn finish(self) -> usize {
        self.tokens + word_cost(self.word) + mark_cost(self.marks)
    }
}

/// The kind of a byte in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ByteKind {
    Letter,
    Blank,
    Mark,
    /// A character that JSON escapes.
    Escaped,
    /// The first byte of a character outside ASCII.
    Begin,
    /// A further byte of such a character.
    Inside,
}

static BYTE_KINDS: [ByteKind; 256] = {
    let mut kinds = [ByteKind::Mark; 256];
    let mut byte = 0;
    while byte < kinds.len() {
        #[expect(
            clippy::indexing_slicing,
            reason = "the loop stops at the end of the array, and the table is built at compile time"
        )]
        let kind = &mut kinds[byte];
        *kind = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => ByteKind::Letter,
            b' ' => ByteKind::Blank,
            b'"' | b'\\' | 0..=31 => ByteKind::Escaped,
            0x80..=0xbf => ByteKind::Inside,
            0xc0.. => ByteKind::Begin,
            _ => ByteKind::Mark,
        };
        byte += 1;
    }
    kinds
};

/// Returns the first character of a text.
fn first(text: &str) -> Option<&str> {
    text.get(..text.chars().next()?.len_utf8())
}

/// Returns how many letters a character counts as. In scripts without spaces, each is about one token.
fn letter_weight(c: char) -> usize {
    match c {
        c if c.is_ascii() => 1,
        '\u{2e80}'.. => 7,
        _ => 3,
    }
}

/// Returns how many marks a character counts as. An emoji is several.
fn mark_weight(c: char) -> usize {
    match c {
        c if c.is_ascii() => 1,
        '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 6,
        '\u{1f000}'.. => 12,
        _ => 3,
    }
}

const fn word_cost(letters: usize) -> usize {
    letters.div_ceil(7)
}

const fn mark_cost(marks: usize) -> usize {
    marks.div_ceil(3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_costs_what_its_text_costs() {
        for value in [
            json!(null),
            json!({"name": "create_issue", "description": "Opens an issue.\n\t\"Quoted\" — ünïcode 日本 😀", "n": [1, 2.5, -3e10]}),
            json!([{"a": {"b": []}}, true, "\u{1}\u{7f}"]),
        ] {
            assert_eq!(estimate_json(&value), estimate(&value.to_string()), "{value}");
        }
    }
}
