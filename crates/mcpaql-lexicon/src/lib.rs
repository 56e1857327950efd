//! What the words of an API mean: verbs and their effects, nouns in singular and plural, stems, names and sentences.
//!
//! There is one table of each kind, and everything that reads English stands on it: the classifier, the namer, search, the
//! links between operations and the rules of the audit. What always holds: everything here is a function of the words alone.

pub mod classify;
mod danger;
mod effect;
pub mod names;
mod number;
pub mod questions;
mod sentence;
mod stem;
pub mod verbs;
mod word_set;
mod words;

pub use danger::{Danger, danger_of};
pub use effect::{Category, Effect};
pub use number::{is_plural, plural, singular};
pub use sentence::{
    OPENERS, PREPOSITIONS, first_sentence, first_words, mentions_verb, opening_verb, opening_words,
    sentence_verbs,
};
pub use stem::{agent_noun_stems, related_stems, stem};
pub use word_set::WordSet;
pub use words::{each_word, iter_words, singulars, snake_case, words};
