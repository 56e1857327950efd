//! Ranks the operations that match a question.

use super::SearchHit;
use super::fusion::Fusion;
use super::index::{DocInfo, SearchIndex};
use super::query::{Concept, GrammaticalNumber, Query};
use super::question::Role;
use crate::operation::Category;

/// Number of best operations that are compared with each other.
const SHORTLIST_SIZE: usize = 64;
/// Maximum hits that are diversified. Later hits are in plain order.
const MAX_DIVERSIFIED: usize = 20;
/// Share of a score that does not depend on additional words in the head.
const MIN_HEAD: f32 = 0.45;
/// Share of a score that does not depend on how much of the question matches.
const MIN_COVERAGE: f32 = 0.35;
/// Share of a score that does not depend on the object.
const MIN_OBJECT: f32 = 0.85;
/// Weight at which the object matches fully.
const FULL_OBJECT_WEIGHT: f32 = 0.5;
/// Penalty for each word of the head that is not in the question, even if it is common.
const EXTRA_WORD_PENALTY: f32 = 0.02;
/// Penalty for each placeholder of the path. Of two matches, the simpler one is more likely.
const PLACEHOLDER_PENALTY: f32 = 0.01;
/// Factor for a deprecated operation.
const DEPRECATED_FACTOR: f32 = 0.7;
/// Factor for a read of one thing if several are wanted.
const SINGLE_READ_FACTOR: f32 = 0.85;
/// Factor for a list if one thing is wanted.
const LIST_FACTOR: f32 = 0.72;
/// Factor for a read of all things, not called a list, if one is wanted.
const ALL_READ_FACTOR: f32 = 0.8;
/// Factor for a change of all things if one is wanted.
const ALL_CHANGED_FACTOR: f32 = 0.9;
/// Factor for a deletion of one thing if several are wanted. Often there is no other.
const ONE_DELETED_FACTOR: f32 = 0.95;
/// Penalty for each further word that means one thing while the operation is about all of them.
const MISMATCH_PENALTY: f32 = 0.1;
/// Factor for a read whose topic is not the object but something that belongs to it.
const OFF_TOPIC_FACTOR: f32 = 0.9;
/// Minimum fit of a stem that can be the topic of an operation.
const MIN_TOPIC_FIT: f32 = 0.7;
/// Additional score of an operation that the question names. Other scores are at most 1.
const NAMED_SCORE: f32 = 2.0;
/// Factor for a word that an earlier hit has already covered.
const COVERED_FACTOR: f32 = 0.7;

/// The scores of all operations for a question.
pub(super) struct Ranking<'q> {
    index: &'q SearchIndex,
    query: &'q Query,
    found: QueryMatches,
    /// The highest structural score.
    best: f32,
    fusion: Fusion,
}

/// An operation in the list of candidates.
#[derive(Clone, Copy)]
struct Candidate {
    doc: u32,
    /// The part of its score that comes from its structure.
    structure: f32,
    score: f32,
}

impl<'q> Ranking<'q> {
    pub(super) fn new(index: &'q SearchIndex, query: &'q Query) -> Ranking<'q> {
        let found = QueryMatches::new(index, query);
        let scores = found.docs.iter().filter_map(|doc| {
            let info = index.docs.get(*doc as usize)?;
            Some(found.score(*doc, info, query))
        });
        let best = scores.fold(0.0, f32::max);
        Ranking { index, query, found, best, fusion: Fusion::new(index, query) }
    }

    /// Returns how well the structure of the operation at a position matches, as a share of the best.
    pub(super) fn relevance(&self, doc: u32) -> f32 {
        let score = |info| self.found.score(doc, info, self.query);
        let score = self.index.docs.get(doc as usize).map_or(0.0, score);
        if self.best > 0.0 { score / self.best } else { 0.0 }
    }

    /// Returns up to `limit` of the operations for which `fits` is true, best first.
    pub(super) fn hits(&self, limit: usize, fits: impl Fn(usize) -> bool) -> Vec<SearchHit> {
        let mut list: Vec<Candidate> = (0..self.index.docs.len())
            .filter(|position| fits(*position))
            .filter_map(|position| self.candidate(u32::try_from(position).ok()?))
            .collect();
        let rank = |doc: u32| self.index.docs.get(doc as usize).map(|info| info.rank);
        list.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then_with(|| rank(a.doc).cmp(&rank(b.doc))));
        let far = list.split_off(list.len().min(SHORTLIST_SIZE));
        let mut hits = diversify(&mut list, &self.found, limit.min(MAX_DIVERSIFIED));
        // Scores never increase down the list, so cap further hits at the score of the last chosen one.
        let mut lowest = hits.last().map_or(0.0, |hit| hit.score);
        for candidate in list.into_iter().chain(far).take(limit.saturating_sub(hits.len())) {
            lowest = lowest.min(candidate.score);
            hits.push(SearchHit { position: candidate.doc as usize, score: lowest });
        }
        hits
    }

    /// Scores an operation; `None` if it does not match at all. An operation that the question names comes first.
    fn candidate(&self, doc: u32) -> Option<Candidate> {
        let relevance = self.relevance(doc);
        let named = self.query.named.contains(&doc);
        (relevance > 0.0 || named || self.fusion.is_candidate(doc)).then(|| {
            let structure = self.fusion.structure(relevance);
            let name = if named { NAMED_SCORE } else { 0.0 };
            Candidate { doc, structure, score: structure + self.fusion.rest(doc) + name }
        })
    }
}

/// What the words of a question match.
struct QueryMatches {
    /// For each concept, the operations that contain it, in order, with its worth there.
    worth: Vec<Vec<(u32, f32)>>,
    /// All operations that match any concept.
    docs: Vec<u32>,
    /// The totals of each operation.
    tally: Vec<Tally>,
    /// Weight of the whole question.
    weight: f32,
    /// Whether the question has an object.
    object: bool,
}

/// What one or all words of a question match in an operation.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// Worth of the matching words.
    worth: f32,
    /// How much of its head is in the question.
    head: f32,
    /// How much of the question it covers.
    covered: f32,
    /// How many words of its head are in the question.
    heads: f32,
    /// How well it matches the object.
    object: f32,
    /// Whether it is about all things that the word names.
    many: bool,
    /// Number of words that mean one thing while it is about all of them.
    mismatches: f32,
    /// The same for the object.
    all: bool,
    /// Whether its topic is the object, and not something that belongs to it.
    topic: bool,
}

impl QueryMatches {
    fn new(index: &SearchIndex, query: &Query) -> QueryMatches {
        let mut found = QueryMatches {
            worth: Vec::with_capacity(query.concepts.len()),
            docs: Vec::new(),
            tally: vec![Tally::default(); index.len()],
            weight: query.concepts.iter().map(|concept| concept.weight).sum(),
            object: query.concepts.iter().any(|concept| concept.role == Role::Object),
        };
        let mut best = vec![Tally::default(); index.len()];
        for concept in &query.concepts {
            let touched = weigh(index, concept, &mut best);
            let mut worth = Vec::with_capacity(touched.len());
            for doc in touched {
                let index = doc as usize;
                let (Some(one), Some(all)) = (best.get_mut(index), found.tally.get_mut(index)) else {
                    continue;
                };
                if all.worth == 0.0 {
                    found.docs.push(doc);
                }
                all.worth += one.worth;
                all.head += one.head;
                all.covered += one.covered;
                all.heads += one.heads;
                all.object += one.object;
                all.topic |= one.topic;
                if concept.number == Some(GrammaticalNumber::One) && one.many {
                    if concept.role == Role::Object { all.all = true } else { all.mismatches += 1.0 }
                }
                worth.push((doc, one.worth));
                *one = Tally::default();
            }
            found.worth.push(worth);
        }
        found
    }

    fn score(&self, doc: u32, info: &DocInfo, query: &Query) -> f32 {
        let Some(tally) = self.tally.get(doc as usize) else { return 0.0 };
        let head = if info.head > 0.0 { (tally.head / info.head).min(1.0) } else { 1.0 };
        let covered = if self.weight > 0.0 { (tally.covered / self.weight).min(1.0) } else { 0.0 };
        let object = if self.object { (tally.object / FULL_OBJECT_WEIGHT).min(1.0) } else { 1.0 };
        let deprecated = if info.deprecated { DEPRECATED_FACTOR } else { 1.0 };
        let simple = 1.0 - PLACEHOLDER_PENALTY * f32::from(info.needs.min(8));
        let extra_words = (f32::from(info.words) - tally.heads).clamp(0.0, 8.0);
        tally.worth
            * with_minimum(MIN_HEAD, head)
            * with_minimum(MIN_COVERAGE, covered)
            * with_minimum(MIN_OBJECT, object)
            * query.intent.agreement(info.category)
            * self.fits_number(tally, info, query)
            * deprecated
            * simple
            * (1.0 - EXTRA_WORD_PENALTY * extra_words)
    }

    /// Returns whether the operation is about one or several things, as the question wants.
    fn fits_number(&self, tally: &Tally, info: &DocInfo, query: &Query) -> f32 {
        let others = 1.0 - MISMATCH_PENALTY * tally.mismatches.min(4.0);
        let object = match info.category {
            Category::Update | Category::Delete if tally.all => ALL_CHANGED_FACTOR,
            Category::Delete if info.single && query.number == Some(GrammaticalNumber::Several) => {
                ONE_DELETED_FACTOR
            }
            Category::Read => {
                let read = match query.number {
                    Some(GrammaticalNumber::Several) if info.single => SINGLE_READ_FACTOR,
                    Some(GrammaticalNumber::One) if info.list => LIST_FACTOR,
                    _ if tally.all && !info.list => ALL_READ_FACTOR,
                    _ => 1.0,
                };
                if self.object && !tally.topic { read * OFF_TOPIC_FACTOR } else { read }
            }
            _ => 1.0,
        };
        others * object
    }

    fn worth(&self, concept: usize, doc: u32) -> f32 {
        let Some(list) = self.worth.get(concept) else { return 0.0 };
        let at = list.binary_search_by_key(&doc, |(doc, _)| *doc);
        at.ok().and_then(|at| list.get(at)).map_or(0.0, |(_, worth)| *worth)
    }
}

/// Weighs one word of the question against every operation that contains it or a related stem. The best stem counts.
/// Returns the operations in order.
fn weigh(index: &SearchIndex, concept: &Concept, best: &mut [Tally]) -> Vec<u32> {
    let mut touched: Vec<u32> = Vec::new();
    for &(id, fit) in &concept.stems {
        let rarity = index.rarity(id);
        let shared_rarity = rarity.min(concept.rarity);
        for posting in index.postings(id) {
            let Some(slot) = best.get_mut(posting.doc as usize) else { continue };
            if slot.worth == 0.0 {
                touched.push(posting.doc);
            }
            slot.worth = slot.worth.max(concept.weight * fit * shared_rarity * posting.weight());
            slot.covered = slot.covered.max(concept.weight * fit * posting.weight().sqrt());
            slot.many |= posting.is_many();
            if concept.role == Role::Object {
                slot.topic |= posting.is_topic() && fit >= MIN_TOPIC_FIT;
                slot.object = slot.object.max(fit * posting.weight());
            }
            if posting.is_head() {
                slot.heads = slot.heads.max(fit);
                slot.head = slot.head.max(fit.sqrt() * concept.weight.min(1.0) * rarity);
            }
        }
    }
    touched.sort_unstable();
    touched
}

/// Scales `share` so that the result is at least `minimum`.
fn with_minimum(minimum: f32, share: f32) -> f32 {
    minimum + (1.0 - minimum) * share
}

/// Picks the best hit, then repeatedly the best for the words that earlier hits have not covered. A question often asks
/// for several things.
fn diversify(list: &mut Vec<Candidate>, found: &QueryMatches, limit: usize) -> Vec<SearchHit> {
    let concepts = found.worth.len();
    let mut left = vec![1.0_f32; concepts];
    let mut hits = Vec::with_capacity(limit.min(list.len()));
    while hits.len() < limit && !list.is_empty() {
        let mut best: Option<(usize, f32)> = None;
        for (index, candidate) in list.iter().enumerate() {
            // Scores only decrease, so no later operation can be better.
            if best.is_some_and(|(_, highest)| candidate.score <= highest) {
                break;
            }
            let total = found.tally.get(candidate.doc as usize).map_or(0.0, |tally| tally.worth);
            let worth = |concept: usize| found.worth(concept, candidate.doc);
            let still: f32 = (0..concepts).zip(&left).map(|(concept, left)| worth(concept) * left).sum();
            let covered = if total > 0.0 { 1.0 - still / total } else { 0.0 };
            let now = candidate.score - candidate.structure * covered;
            if best.is_none_or(|(_, highest)| now > highest) {
                best = Some((index, now));
            }
        }
        let Some((index, score)) = best else { break };
        let Candidate { doc, .. } = list.remove(index);
        for (concept, left) in left.iter_mut().enumerate() {
            if found.worth(concept, doc) > 0.0 {
                *left *= COVERED_FACTOR;
            }
        }
        hits.push(SearchHit { position: doc as usize, score });
    }
    hits
}
