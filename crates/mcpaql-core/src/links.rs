//! Links between operations: for every identifier that an operation needs, the operations that return it (its
//! producers).
//!
//! Links are inferred from paths, parameter names and results, never from calls. Optional identifiers have producers too;
//! parameters with known values (enums, booleans) have none.
//!
//! What always holds: a producer only reads, is not the operation itself, and does not need the identifier that it
//! returns. The best producer comes first. It needs the fewest identifiers besides those that the caller already has.

mod path;
mod producers;

use crate::library::Outline;
use crate::operation::Operation;
use path::{Nouns, OperationPath};
use producers::ProducerIndex;
use std::collections::HashMap;

/// Maximum number of producers that are shown for a parameter.
pub const MAX_NAMED_PRODUCERS: usize = 3;
/// If more than one in this many operations needs an identifier, callers are assumed to have it already.
const COMMON_IDENTIFIER_RATIO: usize = 3;
/// Minimum operations in a catalog for an identifier to count as common.
const MIN_OPERATIONS_FOR_COMMON: usize = 30;

/// The producers of all parameters of all operations.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// All distinct parameters with their producers. Many operations share them.
    sources: Vec<ParamLink>,
    /// Indexes into `sources`, for all operations in order.
    needed: Vec<u32>,
    /// Where each operation's part of `needed` ends.
    ends: Vec<u32>,
}

/// A parameter and the operations that return a value for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ParamLink {
    /// The parameter, as callers write it.
    pub param: String,
    /// Positions of operations, best first.
    pub producers: Vec<u32>,
    /// Whether it is common among the operations, so that callers are assumed to have it.
    pub everywhere: bool,
}

impl ParamLink {
    /// Returns the producers to show with the parameter.
    #[must_use]
    pub fn best(&self) -> &[u32] {
        self.producers.get(..MAX_NAMED_PRODUCERS).unwrap_or(&self.producers)
    }
}

impl Links {
    /// Returns the identifiers that the operation at `position` needs and that have producers, in the order of its
    /// parameters.
    pub fn for_operation(&self, position: usize) -> impl Iterator<Item = &ParamLink> {
        let end = |position: usize| self.ends.get(position).map(|end| *end as usize);
        let start = position.checked_sub(1).and_then(end).unwrap_or(0);
        let needed = end(position).and_then(|end| self.needed.get(start..end)).unwrap_or_default();
        needed.iter().filter_map(|number| self.sources.get(*number as usize))
    }
}

/// Infers the producers of every identifier that these operations need.
#[must_use]
pub fn producers(ops: &[(&Operation, Outline)]) -> Links {
    let mut nouns = Nouns::default();
    let paths: Vec<OperationPath> =
        ops.iter().map(|(op, outline)| OperationPath::new(op, outline, &mut nouns)).collect();
    let index = ProducerIndex::new(ops, &paths, &mut nouns);
    let mut users: HashMap<&str, usize> = HashMap::new();
    for need in paths.iter().flat_map(OperationPath::required) {
        *users.entry(&need.param).or_default() += 1;
    }
    let everywhere = |param: &str| {
        ops.len() >= MIN_OPERATIONS_FOR_COMMON
            && users.get(param).is_some_and(|users| users * COMMON_IDENTIFIER_RATIO > ops.len())
    };
    let mut links = Links::default();
    let mut numbers: HashMap<ParamLink, u32> = HashMap::new();
    for (position, path) in paths.iter().enumerate() {
        for need in &path.needs {
            let producers = index.producers_for(position, path, need, &paths);
            if producers.is_empty() {
                continue;
            }
            let everywhere = everywhere(&need.param);
            let source = ParamLink { param: need.param.clone(), producers, everywhere };
            let number = *numbers.entry(source).or_insert_with_key(|source| {
                links.sources.push(source.clone());
                u32::try_from(links.sources.len() - 1).unwrap_or(u32::MAX)
            });
            links.needed.push(number);
        }
        links.ends.push(u32::try_from(links.needed.len()).unwrap_or(u32::MAX));
    }
    links
}

#[cfg(test)]
mod tests;
