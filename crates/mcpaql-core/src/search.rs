//! Search: finds operations by a question in plain words. It ranks in memory and runs no model.
//!
//! Four opinions are combined: the structure of question and operation, plain words (BM25), and, from a table of word
//! vectors, related words and the meaning of both texts.
//!
//! ```
//! use mcpaql_core::operation::Category;
//! use mcpaql_core::search::{Doc, SearchIndex};
//!
//! let names = [("create_issue", Category::Create), ("list_issues", Category::Read), ("list_labels", Category::Read)];
//! let index = SearchIndex::build(names.map(|(name, category)| Doc::new(name, category)));
//! let hits = index.search("which labels are there?", 1);
//! assert_eq!(names[hits[0].position].0, "list_labels");
//! ```
//!
//! An operation is a small document of weighted fields. Its *head* is the set of nouns in its name and path. Rare words
//! weigh more than common ones. Common verbs, which half of all operations start with, have little weight, but they
//! show the intended category. An operation ranks lower if its head has words that are not in the question.
//!
//! What always holds: an operation whose exact name is the question comes first. The same index and question give the
//! same hits in the same order, and the operation whose name sorts first wins a tie (of equal names, the earlier one). Any text is a valid question, even if it is empty, very long or in no language. The result
//! depends on no clock, file or random number.

mod chain;
mod fusion;
mod index;
mod intent;
mod query;
mod question;
mod rank;
mod vocabulary;

pub use chain::{HitWithProducers, ParamProducers};
pub use index::{SearchIndex, SearchIndexBuilder};

use crate::operation::Category;

/// Maximum bytes of a word. Longer runs of letters are data.
const MAX_WORD_BYTES: usize = 48;

/// Calls `word` with every word of the text.
fn each_word(text: &str, buffer: &mut String, mut word: impl FnMut(&str)) {
    mcpaql_lexicon::each_word(text, buffer, |found| {
        if found.len() <= MAX_WORD_BYTES {
            word(found);
        }
    });
}

/// An operation as a document to search.
#[derive(Debug, Clone, Copy)]
pub struct Doc<'a> {
    /// Name, such as `list_pull_requests`.
    pub name: &'a str,
    /// Path with placeholders, such as `/repos/{owner}/{repo}/pulls`; may be empty.
    pub path: &'a str,
    /// Summary in one line.
    pub summary: &'a str,
    /// Description.
    pub description: &'a str,
    /// Tags.
    pub tags: &'a [&'a str],
    /// Names of the parameters.
    pub params: &'a [&'a str],
    /// Category.
    pub category: Category,
    /// Whether it is deprecated.
    pub deprecated: bool,
    /// Names of the result's fields.
    pub fields: &'a [&'a str],
}

impl<'a> Doc<'a> {
    /// Creates a document with only a name and a category.
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

/// A search hit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchHit {
    /// Position of the operation among the indexed documents.
    pub position: usize,
    /// How well it matches. Scores are comparable only within one question.
    pub score: f32,
}

/// Returns whether a question asks for a change of this category. A question without a verb asks for none.
pub(crate) fn asks_for_change(question: &str, category: Category) -> bool {
    let words = question::split(question);
    let intent = question::parse_question(&words, vocabulary::Vocabulary::get()).intent;
    !intent.is_unknown() && intent.agreement(category) >= 0.5
}

#[cfg(test)]
pub(crate) mod tests;
