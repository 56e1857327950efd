//! Finds operations by what somebody wants to do: ranked, in memory, in words, without a model.
//!
//! What always holds: the same index and question give the same hits in the same order, ties going to the earlier
//! operation; any text is a question, be it empty, endless or in no language at all; nothing here reads a clock, a file or
//! chance.
//!
//! An operation is a small document of weighted fields. Its *head* is what names it: the nouns of its name and path.
//! Rare words weigh more than common ones, the verbs that half of all operations start with hardly count as words but say
//! which category is meant, and an operation whose head holds words that nobody asked for stands behind one that holds
//! only what was asked.

mod chain;
mod index;
mod intent;
mod query;
mod question;
mod rank;
mod vocabulary;

pub use chain::{HitWithProducers, ParamProducers};
pub use index::{SearchIndex, SearchIndexBuilder};

use crate::operation::Category;

/// Longer runs of letters are data, not words.
const MAX_WORD_BYTES: usize = 48;

/// Calls back with every word of the text.
fn each_word(text: &str, buffer: &mut String, mut word: impl FnMut(&str)) {
    mcpaql_lexicon::each_word(text, buffer, |found| {
        if found.len() <= MAX_WORD_BYTES {
            word(found);
        }
    });
}

/// An operation as search reads it.
#[derive(Debug, Clone, Copy)]
pub struct Doc<'a> {
    /// Its name: `list_pull_requests`.
    pub name: &'a str,
    /// Its path with placeholders: `/repos/{owner}/{repo}/pulls`; empty where there is none.
    pub path: &'a str,
    /// What it does, in a line.
    pub summary: &'a str,
    /// What it does, at length.
    pub description: &'a str,
    /// The groups it is in.
    pub tags: &'a [&'a str],
    /// The names of its parameters.
    pub params: &'a [&'a str],
    /// What it does to the world.
    pub category: Category,
    /// Whether its author discourages it.
    pub deprecated: bool,
    /// The names of its answer's fields.
    pub fields: &'a [&'a str],
}

impl<'a> Doc<'a> {
    /// An operation of which nothing is known but this.
    #[must_use]
    pub const fn new(name: &'a str, category: Category) -> Doc<'a> {
        Doc {
            name,
            path: "",
            summary: "",
            description: "",
            tags: &[],
            params: &[],
            category,
            deprecated: false,
            fields: &[],
        }
    }
}

/// An operation that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchHit {
    /// Its position among the documents the index was built from.
    pub position: usize,
    /// How well it fits; only to be compared with other hits of the same question.
    pub score: f32,
}

#[cfg(test)]
pub(crate) mod tests;
