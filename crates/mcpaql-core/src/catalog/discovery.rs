//! Finding operations: by what they do, by what they give, by a name that is nearly theirs.

use super::{Catalog, Entry};
use crate::operation::INTROSPECT;
use crate::suggest;

/// The parameters of an operation that other operations have values for, with the names of these, the best first.
pub type Producers<'c> = Vec<(String, Vec<&'c str>)>;

/// So many operations are offered for a name that there is not.
const OFFERED: usize = 3;

impl Catalog {
    /// The operations that fit a question, the best first.
    #[must_use]
    pub fn search(&self, question: &str, limit: usize) -> Vec<&Entry> {
        let names = self.operations.iter().map(|entry| entry.operation.name.as_str());
        let near = suggest::nearest_many(question, names.filter(|name| *name != INTROSPECT), limit);
        near.into_iter().filter_map(|name| self.get(name)).collect()
    }

    /// Where the values of an operation's parameters come from: as its author says, else as the operations show.
    #[must_use]
    pub fn producers<'c>(&'c self, entry: &'c Entry) -> Producers<'c> {
        let declared = self.whole(entry).into_iter().flat_map(|whole| &whole.operation.params);
        declared
            .filter(|param| !param.from.is_empty())
            .map(|param| (param.name.clone(), param.from.iter().map(String::as_str).collect()))
            .collect()
    }

    /// What a name that there is not may have meant: a slip of the finger first, else what its words and the parameters
    /// beside it are about.
    pub(crate) fn meant<'k>(&self, name: &str, params: impl Iterator<Item = &'k str>) -> Vec<&Entry> {
        let names = || self.operations.iter().map(|entry| entry.operation.name.as_str());
        let near = suggest::nearest_many(name, names(), OFFERED);
        let slips = near.iter().copied().filter(|candidate| suggest::is_slip(name, candidate));
        let mut words = suggest::snake_case(name).replace('_', " ");
        for param in params {
            words.push(' ');
            words.push_str(&suggest::snake_case(param).replace('_', " "));
        }
        let found: Vec<&str> =
            self.search(&words, OFFERED).into_iter().map(|entry| entry.operation.name.as_str()).collect();
        let mut offered: Vec<&str> = Vec::new();
        for name in slips.chain(found.iter().copied()).chain(near.iter().copied()) {
            if offered.len() < OFFERED && !offered.contains(&name) {
                offered.push(name);
            }
        }
        offered.into_iter().filter_map(|name| self.get(name)).collect()
    }
}
