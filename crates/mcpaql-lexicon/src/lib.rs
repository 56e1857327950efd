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
mod sets;
mod stem;
pub mod verbs;
mod words;

pub use danger::{Danger, danger_of};
pub use effect::{Category, Effect};
pub use number::{is_plural, plural, singular};
pub use sentence::{
    OPENERS, PREPOSITIONS, first_sentence, first_words, opening, opening_verb, tells, told_verbs,
};
pub use sets::WordSet;
pub use stem::{doers, relatives, stem};
pub use words::{each_word, singulars, snake_case, spoken, words};
