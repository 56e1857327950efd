//! Finds the optional parameters that a question speaks of, so that a hit shows them first.
//!
//! A question speaks of a parameter if it has a word of its name or one of its values, or if it is about the same thing.
//! Words of the operation's name do not count: they are about the operation, not about one of its parameters.

use crate::operation::{Operation, Param};
use mcpaql_lexicon::questions::STOP_WORDS;
use mcpaql_lexicon::vectors::{TextVector, VectorSum, VectorTable};
use mcpaql_lexicon::{each_word, first_sentence, stem};
use serde_json::Value;
use std::collections::HashSet;

/// Score of a word of the name, or of a value.
const NAME_SCORE: f32 = 2.0;
/// Score of each further one.
const FURTHER_WORD_SCORE: f32 = 0.5;
/// Score of a word of the description.
const DESCRIPTION_SCORE: f32 = 0.4;
/// Minimum score of a parameter that the question speaks of.
const MIN_SCORE: f32 = 1.0;
/// Minimum similarity that counts.
const MIN_SIMILARITY: f32 = 0.3;
/// Score of a parameter with the meaning of the question.
const SIMILARITY_SCORE: f32 = 2.0;
/// Maximum values of an enum that are read.
const MAX_VALUES: usize = 40;
/// Minimum letters of a word of a description that counts.
const MIN_WORD_LETTERS: usize = 4;

/// A question, read once for all hits.
pub(crate) struct MentionedWords {
    stems: HashSet<String>,
    vector: TextVector,
}

impl MentionedWords {
    pub(crate) fn new(question: &str) -> MentionedWords {
        MentionedWords { stems: stems(question), vector: vector(question) }
    }

    /// Returns the names of the optional parameters that the question speaks of, best first.
    pub(crate) fn params<'o>(&self, operation: &'o Operation) -> Vec<&'o str> {
        let about = stems(&operation.name);
        let asked: HashSet<&str> =
            self.stems.iter().filter(|stem| !about.contains(*stem)).map(String::as_str).collect();
        let optional = operation.params.iter().filter(|param| !param.required);
        let scored = optional.map(|param| (self.score(param, &asked), param.name.as_str()));
        let mut scored: Vec<(f32, &str)> = scored.filter(|(score, _)| *score >= MIN_SCORE).collect();
        scored.sort_by(|a, b| b.0.total_cmp(&a.0));
        scored.into_iter().map(|(_, name)| name).collect()
    }

    fn score(&self, param: &Param, asked: &HashSet<&str>) -> f32 {
        let mut named = stems(&param.name);
        for value in values(&param.schema) {
            named.extend(stems(value));
        }
        let sentence = first_sentence(&param.description);
        #[expect(clippy::cast_precision_loss, reason = "words of a sentence")]
        let common = |stems: &HashSet<String>, least: usize| {
            stems.iter().filter(|stem| stem.len() >= least && asked.contains(stem.as_str())).count() as f32
        };
        let by_name = match common(&named, 2) {
            words if words > 0.0 => NAME_SCORE + FURTHER_WORD_SCORE * (words - 1.0).min(4.0),
            _ => 0.0,
        };
        let by_description = DESCRIPTION_SCORE * common(&stems(sentence), MIN_WORD_LETTERS).min(2.0);
        let similarity = vector(&format!("{} {sentence}", param.name)).similarity(&self.vector);
        let by_meaning = if similarity >= MIN_SIMILARITY { SIMILARITY_SCORE * similarity } else { 0.0 };
        by_name + by_description + by_meaning
    }
}

/// Returns the values of an enum, or of the items of a list.
fn values(schema: &Value) -> impl Iterator<Item = &str> {
    let own = schema.get("enum").and_then(Value::as_array);
    let items = schema.get("items").and_then(|items| items.get("enum")).and_then(Value::as_array);
    own.into_iter().chain(items).flatten().take(MAX_VALUES).filter_map(Value::as_str)
}

fn stems(text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    each_word(text, &mut String::new(), |word| {
        if !STOP_WORDS.contains(word) {
            found.insert(stem(word));
        }
    });
    found
}

fn vector(text: &str) -> TextVector {
    let mut sum = VectorSum::default();
    if let Some(table) = VectorTable::get() {
        each_word(text, &mut String::new(), |word| table.pieces(word, |piece| table.add(piece, &mut sum)));
    }
    sum.vector()
}
