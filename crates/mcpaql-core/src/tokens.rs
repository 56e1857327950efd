//! An estimate of what text costs in a model's context, without carrying a vocabulary of megabytes.
//!
//! The estimate leans high, so a surface that keeps the estimated budget keeps the real one.

use serde_json::Value;

/// Estimated tokens of a text: a word, underscores included, costs one for every seven letters, punctuation one for
/// every three marks in a row; other scripts and pictograms cost more.
#[must_use]
pub fn estimate(text: &str) -> usize {
    let mut count = Count::default();
    count.read(text);
    count.finish()
}

/// Estimated tokens of a value as compact JSON, which is not written out for it.
#[must_use]
pub fn estimate_json(value: &Value) -> usize {
    let mut count = Count::default();
    count.value(value, 0);
    count.finish()
}

/// Deeper values cost nothing; nobody writes them.
const MAX_DEPTH: usize = 256;

/// An estimate in the making: an automaton, because a text is looked at byte by byte.
#[derive(Debug, Default)]
struct Count {
    tokens: usize,
    /// Marks since the last word as far as they share a token, or behind those states the letters of a word.
    state: u8,
}

/// Marks that share a token, and letters that do.
const MARKS: u8 = 3;
const LETTERS: u8 = 7;

/// Set where a token begins.
const BEGINS: u8 = 0x80;

/// By state and kind of byte, the next state.
static STEPS: [[u8; 4]; 16] = {
    let mut steps = [[0; 4]; 16];
    let mut state = 0;
    while state < MARKS + LETTERS {
        let (marks, letters) = if state < MARKS { (state, LETTERS) } else { (MARKS, state - MARKS) };
        #[expect(
            clippy::indexing_slicing,
            reason = "there are more rows than states, and this is computed when it is compiled"
        )]
        let step = &mut steps[state as usize];
        *step = [
            // The token of the last letters is full, or they were none.
            if letters == 0 || state < MARKS {
                BEGINS | (MARKS + 1)
            } else {
                MARKS + (letters + 1) % LETTERS
            },
            if state < MARKS { state } else { 0 },
            if marks == 0 || state >= MARKS { BEGINS | 1 } else { (marks + 1) % MARKS },
            state,
        ];
        state += 1;
    }
    steps
};

impl Count {
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
    fn step(&mut self, kind: Kind) {
        let steps = STEPS.get(usize::from(self.state & 15)).copied().unwrap_or_default();
        let next = steps.get(kind as usize & 3).copied().unwrap_or_default();
        self.tokens += usize::from(next / BEGINS);
        self.state = next % BEGINS;
    }

    fn letters(&mut self, weight: usize) {
        (0..weight).for_each(|_| self.step(Kind::Letter));
    }

    /// Marks, be it none: whatever is no letter ends a word.
    fn marks(&mut self, weight: usize) {
        self.step(Kind::Blank);
        (0..weight).for_each(|_| self.step(Kind::Mark));
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

    /// A text between quotation marks, with what JSON escapes in it.
    fn string(&mut self, text: &str) {
        self.step(Kind::Mark);
        for (at, byte) in text.bytes().enumerate() {
            match KINDS.get(usize::from(byte)).copied().unwrap_or(Kind::Inside) {
                kind @ (Kind::Letter | Kind::Blank | Kind::Mark) => self.step(kind),
                Kind::Inside => {}
                Kind::Escaped => self.odd(byte),
                Kind::Begin => self.read(text.get(at..).and_then(first).unwrap_or_default()),
            }
        }
        self.step(Kind::Mark);
    }

    fn odd(&mut self, byte: u8) {
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
        self.tokens
    }
}

/// What a byte of a text is; the first three are columns of [`STEPS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Letter,
    Blank,
    Mark,
    /// A mark that JSON writes with a backslash.
    Escaped,
    /// The first of a character that is not of ASCII.
    Begin,
    /// Another one of it.
    Inside,
}

static KINDS: [Kind; 256] = {
    let mut kinds = [Kind::Mark; 256];
    let mut byte = 0;
    while byte < kinds.len() {
        #[expect(
            clippy::indexing_slicing,
            reason = "the loop ends with the array, and this is computed when it is compiled"
        )]
        let kind = &mut kinds[byte];
        *kind = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => Kind::Letter,
            b' ' => Kind::Blank,
            b'"' | b'\\' | 0..=31 => Kind::Escaped,
            0x80..=0xbf => Kind::Inside,
            0xc0.. => Kind::Begin,
            _ => Kind::Mark,
        };
        byte += 1;
    }
    kinds
};

/// The first character of a text.
fn first(text: &str) -> Option<&str> {
    text.get(..text.chars().next()?.len_utf8())
}

/// Letters of a token: scripts without spaces have about one for each.
fn letter_weight(c: char) -> usize {
    match c {
        c if c.is_ascii() => 1,
        '\u{2e80}'.. => 7,
        _ => 3,
    }
}

/// Marks of a token: a pictogram is several.
fn mark_weight(c: char) -> usize {
    match c {
        c if c.is_ascii() => 1,
        '\u{200b}'..='\u{200f}' | '\u{fe00}'..='\u{fe0f}' => 6,
        '\u{1f000}'.. => 12,
        _ => 3,
    }
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

    #[test]
    fn letters_and_marks_share_tokens() {
        for (text, tokens) in [
            ("", 0),
            ("   ", 0),
            ("letters", 1),
            ("lettered", 2),
            ("a b", 2),
            ("snake_case_name", 3),
            ("...", 1),
            ("....", 2),
            (". . .", 1),
            (". . . .", 2),
            ("a.b", 3),
            ("end. Begin", 3),
            ("日本", 2),
            ("😀", 4),
            ("ünï", 1),
        ] {
            assert_eq!(estimate(text), tokens, "{text}");
        }
    }
}
