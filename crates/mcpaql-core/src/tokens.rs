//! An estimate of what text costs in a model's context, without carrying a vocabulary of megabytes.
//!
//! The estimate leans high, so a surface that keeps the estimated budget keeps the real one.

/// Estimated tokens of a text: a word, underscores included, costs one for every seven letters, punctuation one for every three marks in a row.
#[must_use]
pub fn estimate(text: &str) -> usize {
    let mut tokens = 0;
    let mut word = 0;
    let mut marks = 0;
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            tokens += mark_cost(marks);
            marks = 0;
            word += if c.is_ascii() { 1 } else { 3 };
        } else {
            tokens += word_cost(word);
            word = 0;
            if !c.is_whitespace() {
                marks += 1;
            }
        }
    }
    tokens + word_cost(word) + mark_cost(marks)
}

fn word_cost(letters: usize) -> usize {
    letters.div_ceil(7)
}

fn mark_cost(marks: usize) -> usize {
    marks.div_ceil(3)
}
