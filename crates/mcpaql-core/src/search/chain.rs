//! Hits with the operations that provide what they need: the chain an agent has to walk, not only its last link.

use super::index::SearchIndex;
use super::rank::Ranking;
use super::{SearchHit, query};
use crate::links::Links;

/// Producers that are named for one identifier.
const MAX_PRODUCERS_PER_PARAM: usize = 2;
/// How much the question counts against the order that links have by themselves.
const QUESTION_WEIGHT: f32 = 2.0;

/// A hit and where its identifiers come from.
#[derive(Debug, Clone, PartialEq)]
pub struct HitWithProducers {
    /// The operation.
    pub hit: SearchHit,
    /// What has to be asked before. Left out are identifiers that were named for a hit before this one, and those that
    /// nearly every operation needs, which a caller has already.
    pub sources: Vec<ParamProducers>,
}

/// Identifiers that come from the same operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParamProducers {
    /// The parameters, as callers write them.
    pub params: Vec<String>,
    /// Positions of the operations that return them: those that fit the question first.
    pub producers: Vec<usize>,
}

impl SearchIndex {
    /// At most `limit` operations that fit the question, among those at positions that `fits` lets through, each with
    /// where its identifiers come from.
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
        let best = hits.first().map_or(0.0, |hit| hit.score);
        let mut said: Vec<(&str, Vec<usize>)> = Vec::new();
        let mut found = Vec::with_capacity(hits.len());
        for hit in hits {
            let mut sources: Vec<ParamProducers> = Vec::new();
            for source in links.for_operation(hit.position).filter(|source| !source.everywhere) {
                let producers = choose(&source.producers, &ranking, best);
                let said_before =
                    said.iter().any(|(param, named)| *param == source.param && *named == producers);
                if said_before {
                    continue;
                }
                said.push((&source.param, producers.clone()));
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

/// The producers that fit both the identifier and the question.
fn choose(producers: &[u32], ranking: &Ranking<'_>, best: f32) -> Vec<usize> {
    let mut weighed: Vec<(f32, usize)> = producers
        .iter()
        .zip(1_u8..)
        .map(|(&position, place)| {
            let asked = if best > 0.0 { ranking.score(position) / best } else { 0.0 };
            (1.0 / f32::from(place) + QUESTION_WEIGHT * asked, position as usize)
        })
        .collect();
    weighed.sort_by(|a, b| b.0.total_cmp(&a.0));
    weighed.into_iter().take(MAX_PRODUCERS_PER_PARAM).map(|(_, position)| position).collect()
}
