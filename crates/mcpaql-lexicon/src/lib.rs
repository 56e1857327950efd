//! The English words of APIs: verbs and their effects, singular and plural nouns, stems, names and sentences.
//!
//! There is one table of each kind, and all code that reads English uses it: the classifier, the namer, search, the
//! links between operations and the audit rules.
//!
//! What always holds: every result depends only on the words.

pub mod classify;
mod danger;
mod effect;
pub mod names;
mod number;
pub mod poison;
pub mod questions;
mod sentence;
mod stem;
pub mod unicode;
pub mod vectors;
pub mod verbs;
mod word_set;
mod words;

pub use danger::{Danger, danger_of, danger_of_start};
pub use effect::{Category, Effect};
pub use number::{is_plural, plural, singular};
pub use sentence::{
    OPENERS, PREPOSITIONS, first_sentence, first_words, mentions_verb, opening_verb, opening_words,
    sentence_verbs,
};
pub use stem::{agent_noun_stems, related_stems, stem};
pub use word_set::WordSet;
pub use words::{each_word, iter_words, singulars, snake_case, words};
