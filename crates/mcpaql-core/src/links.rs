//! Where identifiers come from: for every identifier an operation needs, the operations that return one.
//!
//! Inferred from paths, parameter names and answers, never from calls. What always holds: a producer reads and nothing
//! else, is not the operation itself, and does not need the identifier it is to provide; the best stands first, and that is
//! the one that needs the fewest identifiers the caller does not have yet.

mod path;
mod producers;

use crate::library::Outline;
use crate::operation::Operation;
use path::{Nouns, OperationPath};
use producers::ProducerIndex;
use std::collections::HashMap;

/// Producers of which an adapter document names no more.
pub const MAX_NAMED_PRODUCERS: usize = 3;
/// An identifier that more than one operation in so many needs is known to whoever calls any of them.
const COMMON_IDENTIFIER_RATIO: usize = 3;
/// In smaller catalogs nothing is everywhere.
const MIN_OPERATIONS_FOR_COMMON: usize = 30;

/// The producers of all parameters of all operations.
#[derive(Debug, Clone, Default)]
pub struct Links {
    /// Every distinct parameter with its producers, which many operations share.
    sources: Vec<ParamLink>,
    /// Positions in `sources`, all operations one after another.
    wanted: Vec<u32>,
    /// Where each operation's part of `wanted` ends.
    ends: Vec<u32>,
}

/// A parameter and the operations that return a value for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ParamLink {
    /// The parameter, as callers write it.
    pub param: String,
    /// Positions of operations, the best first.
    pub producers: Vec<u32>,
    /// Whether so many operations need it that it says little about this one.
    pub everywhere: bool,
}

impl ParamLink {
    /// The producers that are worth naming wherever the parameter is shown.
    #[must_use]
    pub fn best(&self) -> &[u32] {
        self.producers.get(..MAX_NAMED_PRODUCERS).unwrap_or(&self.producers)
    }
}

impl Links {
    /// The identifiers that the operation at that position needs and somebody returns, in the order of its parameters.
    pub fn for_operation(&self, position: usize) -> impl Iterator<Item = &ParamLink> {
        let end = |at: usize| self.ends.get(at).map(|end| *end as usize);
        let start = position.checked_sub(1).and_then(end).unwrap_or(0);
        let wanted = end(position).and_then(|end| self.wanted.get(start..end)).unwrap_or_default();
        wanted.iter().filter_map(|number| self.sources.get(*number as usize))
    }
}

/// Infers the producers of every identifier that these operations need.
#[must_use]
pub fn producers(ops: &[(&Operation, Outline)]) -> Links {
    let mut nouns = Nouns::default();
    let routes: Vec<OperationPath> =
        ops.iter().map(|(op, outline)| OperationPath::new(op, outline, &mut nouns)).collect();
    let supply = ProducerIndex::new(ops, &routes, &mut nouns);
    let mut users: HashMap<&str, usize> = HashMap::new();
    for need in routes.iter().flat_map(|route| &route.needs) {
        *users.entry(&need.param).or_default() += 1;
    }
    let everywhere = |param: &str| {
        ops.len() >= MIN_OPERATIONS_FOR_COMMON
            && users.get(param).is_some_and(|users| users * COMMON_IDENTIFIER_RATIO > ops.len())
    };
    let mut links = Links::default();
    let mut numbers: HashMap<ParamLink, u32> = HashMap::new();
    for (position, route) in routes.iter().enumerate() {
        for need in &route.needs {
            let producers = supply.producers_for(position, route, need, &routes);
            if producers.is_empty() {
                continue;
            }
            let everywhere = everywhere(&need.param);
            let source = ParamLink { param: need.param.clone(), producers, everywhere };
            let number = *numbers.entry(source).or_insert_with_key(|source| {
                links.sources.push(source.clone());
                u32::try_from(links.sources.len() - 1).unwrap_or(u32::MAX)
            });
            links.wanted.push(number);
        }
        links.ends.push(u32::try_from(links.wanted.len()).unwrap_or(u32::MAX));
    }
    links
}

#[cfg(test)]
mod tests;
