//! The index and the language it is asked in, as data.
//!
//! What always holds: numbers are those that search reckons with, written as short as they can be told apart; sets are in order.

use super::index::Index;
use super::vocabulary::Vocabulary;
use serde_json::{Map, Number, Value, json};
use std::collections::BTreeMap;

/// The language of questions, which is the same for every adapter.
pub(crate) fn lexicon() -> Value {
    Vocabulary::get().data()
}

impl Index {
    /// The stems in order, what each says, and what is known of the operations.
    pub(crate) fn data(&self) -> Value {
        let stems: Vec<&str> = (0..self.terms()).map(|id| self.term(id)).collect();
        let postings: Vec<Value> = (0..self.terms())
            .map(|id| self.postings(id).iter().flat_map(|posting| posting.data()).collect())
            .collect();
        let rarity: BTreeMap<usize, f32> =
            (0..self.terms()).map(|id| (self.postings(id).len(), self.rarity(id))).collect();
        let rarity: Map<String, Value> =
            rarity.into_iter().map(|(holders, rarity)| (holders.to_string(), single(rarity))).collect();
        let cards: Vec<Value> = self
            .cards
            .iter()
            .map(|card| {
                let flags = u8::from(card.deprecated) | u8::from(card.single) << 1 | u8::from(card.list) << 2;
                json!([card.category as u8, flags, card.needs, single(card.head), card.words, card.rank])
            })
            .collect();
        json!({"stems": stems, "postings": postings, "rarity": rarity, "cards": cards})
    }
}

/// A float of single precision, in as few digits as it has.
pub(super) fn single(number: f32) -> Value {
    let short = number.to_string().parse().ok().and_then(Number::from_f64);
    short.map_or(Value::Null, |number| match number.as_f64() {
        Some(float) if float.fract() == 0.0 && float.abs() < 1e9 => whole(float),
        _ => number.into(),
    })
}

#[expect(clippy::cast_possible_truncation, reason = "a small whole number")]
fn whole(float: f64) -> Value {
    (float as i64).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_float_is_written_short_and_read_as_itself() {
        for (number, text) in
            [(0.3_f32, "0.3"), (2.0, "2"), (0.0, "0"), (6.801_283, "6.801283"), (1e-7, "1e-7")]
        {
            let written = single(number);
            assert_eq!(written.to_string(), text);
            assert_eq!(written.as_f64().map(|read| read as f32), Some(number));
        }
    }
}
