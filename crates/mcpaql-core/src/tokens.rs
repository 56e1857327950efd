//! An estimate of what text costs in a model's context, without carrying a vocabulary of megabytes.
//!
//! The estimate leans high, so a surface that keeps the estimated budget keeps the real one.

/// Estimated tokens of a text: a word, underscores included, costs one for every seven letters, punctuation one for
/// every three marks in a row; other scripts and pictograms cost more.
#[must_use]
pub fn estimate(text: &str) -> usize {
    let mut tokens = 0;
    let mut word = 0;
    let mut marks = 0;
    for c in text.chars() {
        if c.is_alphanumeric() || c == '_' {
            tokens += mark_cost(marks);
            marks = 0;
            word += letter_weight(c);
        } else {
            tokens += word_cost(word);
            word = 0;
            if !c.is_whitespace() {
                marks += mark_weight(c);
            }
        }
    }
    tokens + word_cost(word) + mark_cost(marks)
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

fn word_cost(letters: usize) -> usize {
    letters.div_ceil(7)
}

fn mark_cost(marks: usize) -> usize {
    marks.div_ceil(3)
}
