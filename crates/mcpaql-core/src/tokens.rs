//! An estimate of what text costs in a model's context, without carrying a vocabulary of megabytes.
//!
//! The estimate leans high, so a surface that keeps the estimated budget keeps the real one.

use serde_json::Value;
use std::io::{self, Write};

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
    // Counting cannot fail, and keys are text.
    let _ = serde_json::to_writer(&mut count, value);
    count.finish()
}

/// An estimate in the making.
#[derive(Debug, Default)]
struct Count {
    tokens: usize,
    word: usize,
    marks: usize,
}

impl Count {
    fn read(&mut self, text: &str) {
        for c in text.chars() {
            if c.is_ascii_alphanumeric() || c == '_' || (!c.is_ascii() && c.is_alphanumeric()) {
                if self.marks > 0 {
                    self.tokens += mark_cost(self.marks);
                    self.marks = 0;
                }
                self.word += letter_weight(c);
            } else {
                if self.word > 0 {
                    self.tokens += word_cost(self.word);
                    self.word = 0;
                }
                if !c.is_whitespace() {
                    self.marks += mark_weight(c);
                }
            }
        }
    }

    const fn finish(self) -> usize {
        self.tokens + word_cost(self.word) + mark_cost(self.marks)
    }
}

impl Write for Count {
    /// Writers of JSON pass on whole characters.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.read(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
