//! Which operations answer a question best.

use super::SearchHit;
use super::index::{DocInfo, SearchIndex};
use super::query::{Concept, GrammaticalNumber, Query};
use super::question::Role;
use crate::operation::Category;

/// How many of the best are looked at more closely.
const SHORTLIST: usize = 64;
/// How many hits are chosen from these with an eye on each other; who reads further wants the plain order.
const MAX_DIVERSIFIED: usize = 20;
/// How much of an operation's score does not depend on what its head says beyond the question.
const ANY_HEAD: f32 = 0.45;
/// How much of it does not depend on how much of the question it has something to say about.
const ANY_PART: f32 = 0.35;
/// How much of it does not depend on what it says about what shall be dealt with.
const ANY_OBJECT: f32 = 0.85;
/// Where it says enough about that.
const OBJECT: f32 = 0.5;
/// How much less an operation is worth for each word of its head that nobody asked for, be it as common as it may.
const UNASKED: f32 = 0.02;
/// How much less an operation is worth for each placeholder of its path: of two that fit, the simpler one is meant.
const EFFORT: f32 = 0.01;
/// What an operation is worth that its author discourages.
const DEPRECATED: f32 = 0.7;
/// What a read of one thing is worth where several are meant.
const SINGLE: f32 = 0.85;
/// What a list is worth where one thing is meant.
const LIST: f32 = 0.72;
/// What a read of all is worth where one is meant, though nothing calls it a list.
const ALL_READ: f32 = 0.8;
/// What a change to all is worth where one is meant.
const ALL_CHANGED: f32 = 0.9;
/// What a deletion of one is worth where several are meant: often there is no other.
const ONE_DELETED: f32 = 0.95;
/// How much less an operation is worth for each further thing of which one is meant where it is about all.
const MISMATCH: f32 = 0.1;
/// What a read is worth that is about something of what shall be dealt with.
const OFF_TOPIC: f32 = 0.9;
/// A stem that fits so well may say what an operation is about.
const FITS: f32 = 0.7;
/// What a word is still worth to the next hit after a hit has answered it.
const ANSWERED: f32 = 0.7;

/// What a question is worth to every operation.
pub(super) struct Ranking<'q> {
    index: &'q SearchIndex,
    query: &'q Query,
    found: QueryMatches,
}

impl<'q> Ranking<'q> {
    pub(super) fn new(index: &'q SearchIndex, query: &'q Query) -> Ranking<'q> {
        Ranking { index, query, found: QueryMatches::new(index, query) }
    }

    /// How well the operation at that position fits.
    pub(super) fn score(&self, doc: u32) -> f32 {
        self.index.docs.get(doc as usize).map_or(0.0, |card| self.found.score(doc, card, self.query))
    }

    /// At most `limit` operations among those that fit, the best first.
    pub(super) fn hits(&self, limit: usize, fits: impl Fn(usize) -> bool) -> Vec<SearchHit> {
        let fitting = self.found.docs.iter().filter(|doc| fits(**doc as usize));
        let mut list: Vec<(u32, f32)> = fitting.map(|&doc| (doc, self.score(doc))).collect();
        let rank = |doc: u32| self.index.docs.get(doc as usize).map(|card| card.rank);
        list.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| rank(a.0).cmp(&rank(b.0))));
        let far = list.split_off(list.len().min(SHORTLIST));
        let mut hits = diversify(&mut list, &self.found, limit.min(MAX_DIVERSIFIED));
        // Further hits are never better than the last one that was chosen, as a score says how far down it stands.
        let mut least = hits.last().map_or(0.0, |hit| hit.score);
        for (doc, score) in list.into_iter().chain(far).take(limit.saturating_sub(hits.len())) {
            least = least.min(score);
            hits.push(SearchHit { position: doc as usize, score: least });
        }
        hits
    }
}

/// What the words of a question found.
struct QueryMatches {
    /// For each concept the operations that hold it, in order, with what it is worth there.
    worth: Vec<Vec<(u32, f32)>>,
    /// Every operation that holds any.
    docs: Vec<u32>,
    /// What was found of each operation.
    tally: Vec<Tally>,
    /// How much the question asks for.
    asked: f32,
    /// Whether it says what shall be dealt with.
    object: bool,
}

/// What one or all words of a question found of an operation.
#[derive(Clone, Copy, Default)]
struct Tally {
    /// How much the words are worth.
    worth: f32,
    /// How much of its head was asked for.
    head: f32,
    /// How much of the question it has something to say about.
    covered: f32,
    /// How many words of its head were asked for.
    heads: f32,
    /// How much it says about what shall be dealt with.
    object: f32,
    /// Whether it is about all of what the word names.
    many: bool,
    /// How many words name one thing where it is about all of them.
    mismatches: f32,
    /// The same for what shall be dealt with.
    all: bool,
    /// Whether it is about what shall be dealt with, and not only about something of it.
    topic: bool,
}

impl QueryMatches {
    fn new(index: &SearchIndex, query: &Query) -> QueryMatches {
        let mut found = QueryMatches {
            worth: Vec::with_capacity(query.concepts.len()),
            docs: Vec::new(),
            tally: vec![Tally::default(); index.len()],
            asked: query.concepts.iter().map(|concept| concept.weight).sum(),
            object: query.concepts.iter().any(|concept| concept.role == Role::Object),
        };
        let mut best = vec![Tally::default(); index.len()];
        for concept in &query.concepts {
            let touched = weigh(index, concept, &mut best);
            let mut worth = Vec::with_capacity(touched.len());
            for doc in touched {
                let at = doc as usize;
                let (Some(one), Some(all)) = (best.get_mut(at), found.tally.get_mut(at)) else { continue };
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

    fn score(&self, doc: u32, card: &DocInfo, query: &Query) -> f32 {
        let Some(tally) = self.tally.get(doc as usize) else { return 0.0 };
        let head = if card.head > 0.0 { (tally.head / card.head).min(1.0) } else { 1.0 };
        let covered = if self.asked > 0.0 { (tally.covered / self.asked).min(1.0) } else { 0.0 };
        let object = if self.object { (tally.object / OBJECT).min(1.0) } else { 1.0 };
        let deprecated = if card.deprecated { DEPRECATED } else { 1.0 };
        let simple = 1.0 - EFFORT * f32::from(card.needs.min(8));
        let unasked = (f32::from(card.words) - tally.heads).clamp(0.0, 8.0);
        tally.worth
            * with_minimum(ANY_HEAD, head)
            * with_minimum(ANY_PART, covered)
            * with_minimum(ANY_OBJECT, object)
            * query.intent.agreement(card.category)
            * self.fits_number(tally, card, query)
            * deprecated
            * simple
            * (1.0 - UNASKED * unasked)
    }

    /// Whether it is about one thing where one is meant, and about several where several are.
    fn fits_number(&self, tally: &Tally, card: &DocInfo, query: &Query) -> f32 {
        let others = 1.0 - MISMATCH * tally.mismatches.min(4.0);
        let object = match card.category {
            Category::Update | Category::Delete if tally.all => ALL_CHANGED,
            Category::Delete if card.single && query.number == Some(GrammaticalNumber::Several) => {
                ONE_DELETED
            }
            Category::Read => {
                let read = match query.number {
                    Some(GrammaticalNumber::Several) if card.single => SINGLE,
                    Some(GrammaticalNumber::One) if card.list => LIST,
                    _ if tally.all && !card.list => ALL_READ,
                    _ => 1.0,
                };
                if self.object && !tally.topic { read * OFF_TOPIC } else { read }
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

/// Weighs one word of the question against every operation that holds it or what it may stand for: the best of these
/// counts. Gives the operations in order.
fn weigh(index: &SearchIndex, concept: &Concept, best: &mut [Tally]) -> Vec<u32> {
    let mut touched: Vec<u32> = Vec::new();
    for &(id, fit) in &concept.stems {
        let rarity = index.rarity(id);
        let said = rarity.min(concept.rarity);
        for posting in index.postings(id) {
            let Some(slot) = best.get_mut(posting.doc as usize) else { continue };
            if slot.worth == 0.0 {
                touched.push(posting.doc);
            }
            slot.worth = slot.worth.max(concept.weight * fit * said * posting.weight());
            slot.covered = slot.covered.max(concept.weight * fit * posting.weight().sqrt());
            slot.many |= posting.is_many();
            if concept.role == Role::Object {
                slot.topic |= posting.is_topic() && fit >= FITS;
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

/// A score of which `least` is given in any case.
fn with_minimum(least: f32, share: f32) -> f32 {
    least + (1.0 - least) * share
}

/// Takes the best, then the best for what the ones before have not answered yet: a question often asks for several things.
fn diversify(list: &mut Vec<(u32, f32)>, found: &QueryMatches, limit: usize) -> Vec<SearchHit> {
    let concepts = found.worth.len();
    let mut left = vec![1.0_f32; concepts];
    let mut hits = Vec::with_capacity(limit.min(list.len()));
    while hits.len() < limit && !list.is_empty() {
        let mut best: Option<(usize, f32)> = None;
        for (place, &(doc, score)) in list.iter().enumerate() {
            // Scores only fall, so nothing behind this one can be better.
            if best.is_some_and(|(_, most)| score <= most) {
                break;
            }
            let total = found.tally.get(doc as usize).map_or(0.0, |tally| tally.worth);
            let still: f32 =
                (0..concepts).zip(&left).map(|(concept, left)| found.worth(concept, doc) * left).sum();
            let now = if total > 0.0 { score * still / total } else { 0.0 };
            if best.is_none_or(|(_, most)| now > most) {
                best = Some((place, now));
            }
        }
        let Some((place, score)) = best else { break };
        let (doc, _) = list.remove(place);
        for (concept, left) in left.iter_mut().enumerate() {
            if found.worth(concept, doc) > 0.0 {
                *left *= ANSWERED;
            }
        }
        hits.push(SearchHit { position: doc as usize, score });
    }
    hits
}
