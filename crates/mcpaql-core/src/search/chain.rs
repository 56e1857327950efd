//! Hits with the operations that produce their identifiers: the chain of calls that an agent needs, not only the last
//! one.

use super::index::SearchIndex;
use super::rank::Ranking;
use super::{SearchHit, query};
use crate::links::Links;

/// Maximum producers for one identifier.
const MAX_PRODUCERS_PER_PARAM: usize = 3;
/// Weight of the question compared with the order of the links.
const QUESTION_WEIGHT: f32 = 2.0;

/// A hit with the producers of its identifiers.
#[derive(Debug, Clone, PartialEq)]
pub struct HitWithProducers {
    /// The operation.
    pub hit: SearchHit,
    /// The producers, to be called first. Identifiers of an earlier hit are left out. So are common identifiers,
    /// because callers already have them.
    pub sources: Vec<ParamProducers>,
}

/// Identifiers with the same producers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamProducers {
    /// The parameters, as callers write them.
    pub params: Vec<String>,
    /// Positions of the operations that return them. Those that match the question come first.
    pub producers: Vec<usize>,
}

impl SearchIndex {
    /// Returns up to `limit` matching operations, among the positions for which `fits` is true, each with the producers
    /// of its identifiers.
    #[must_use]
    pub fn search_with_chain(
        &self,
        links: &Links,
        question: &str,
        limit: usize,
        fits: impl Fn(usize) -> bool,
    ) -> Vec<HitWithProducers> {
        let query = query::read(self, question);
        let ranking = Ranking::new(self, &query);
        let hits = ranking.hits(limit, fits);
        let mut named: Vec<(&str, Vec<usize>)> = Vec::new();
        let mut found = Vec::with_capacity(hits.len());
        for hit in hits {
            let mut sources: Vec<ParamProducers> = Vec::new();
            for source in links.for_operation(hit.position).filter(|source| !source.everywhere) {
                let producers = choose(&source.producers, &ranking);
                let named_before =
                    named.iter().any(|(param, others)| *param == source.param && *others == producers);
                if named_before {
                    continue;
                }
                named.push((&source.param, producers.clone()));
                match sources.iter_mut().find(|other| other.producers == producers) {
                    Some(other) => other.params.push(source.param.clone()),
                    None => sources.push(ParamProducers { params: vec![source.param.clone()], producers }),
                }
            }
            found.push(HitWithProducers { hit, sources });
        }
        found
    }
}

/// Chooses the producers that suit both the identifier and the question.
fn choose(producers: &[u32], ranking: &Ranking<'_>) -> Vec<usize> {
    let mut weighed: Vec<(f32, usize)> = producers
        .iter()
        .zip(1_u8..)
        .map(|(&position, rank)| {
            let relevance = ranking.relevance(position);
            (1.0 / f32::from(rank) + QUESTION_WEIGHT * relevance, position as usize)
        })
        .collect();
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0));
    weighed.into_iter().take(MAX_PRODUCERS_PER_PARAM).map(|(_, position)| position).collect()
}
