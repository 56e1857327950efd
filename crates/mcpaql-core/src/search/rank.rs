//! Which operations answer a question best.

use super::Hit;
use super::index::{Card, Index};
use super::query::{Number, Query};
use crate::operation::Category;

/// How many of the best are looked at more closely.
const SHORTLIST: usize = 64;
/// How many hits are chosen from these with an eye on each other; who reads further wants the plain order.
const CHOSEN: usize = 20;
/// How much of an operation's score does not depend on what its head says beyond the question.
const ANY_HEAD: f32 = 0.45;
/// How much less an operation is worth for each placeholder of its path: of two that fit, the simpler one is meant.
const EFFORT: f32 = 0.015;
/// What a word is still worth to the next hit after a hit has answered it.
const ANSWERED: f32 = 0.7;

/// What a question is worth to every operation.
pub(super) struct Ranking<'q> {
    index: &'q Index,
    query: &'q Query,
    found: Found,
}

impl<'q> Ranking<'q> {
    pub(super) fn new(index: &'q Index, query: &'q Query) -> Ranking<'q> {
        Ranking { index, query, found: Found::new(index, query) }
    }

    /// How well the operation at that position fits.
    pub(super) fn score(&self, doc: u32) -> f32 {
        self.index.cards.get(doc as usize).map_or(0.0, |card| self.found.score(doc, card, self.query))
    }

    /// At most `limit` operations among those that fit, the best first.
    pub(super) fn hits(&self, limit: usize, fits: impl Fn(usize) -> bool) -> Vec<Hit> {
        let fitting = self.found.docs.iter().filter(|doc| fits(**doc as usize));
        let mut list: Vec<(u32, f32)> = fitting.map(|&doc| (doc, self.score(doc))).collect();
        let rank = |doc: u32| self.index.cards.get(doc as usize).map(|card| card.rank);
        list.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| rank(a.0).cmp(&rank(b.0))));
        let far = list.split_off(list.len().min(SHORTLIST));
        let mut hits = spread(&mut list, &self.found, limit.min(CHOSEN));
        // Further hits are never better than the last one that was chosen, as a score says how far down it stands.
        let mut least = hits.last().map_or(0.0, |hit| hit.score);
        for (doc, score) in list.into_iter().chain(far).take(limit.saturating_sub(hits.len())) {
            least = least.min(score);
            hits.push(Hit { position: doc as usize, score: least });
        }
        hits
    }
}

/// What the words of a question found.
struct Found {
    /// For each concept the operations that hold it, in order, with what it is worth there.
    worth: Vec<Vec<(u32, f32)>>,
    /// Every operation that holds any.
    docs: Vec<u32>,
    total: Vec<f32>,
    /// How much of each operation's head was asked for.
    head: Vec<f32>,
}

impl Found {
    fn new(index: &Index, query: &Query) -> Found {
        let count = index.len();
        let mut found = Found {
            worth: Vec::with_capacity(query.concepts.len()),
            docs: Vec::new(),
            total: vec![0.0; count],
            head: vec![0.0; count],
        };
        let mut best = vec![(0.0_f32, 0.0_f32); count];
        for concept in &query.concepts {
            let mut touched: Vec<u32> = Vec::new();
            for &(id, fit) in &concept.stems {
                let rarity = index.rarity(id);
                let said = rarity.min(concept.rarity);
                for posting in index.postings(id) {
                    let Some(slot) = best.get_mut(posting.doc as usize) else { continue };
                    if slot.0 == 0.0 {
                        touched.push(posting.doc);
                    }
                    slot.0 = slot.0.max(concept.weight * fit * said * posting.weight());
                    if posting.is_head() {
                        slot.1 = slot.1.max(fit.sqrt() * concept.weight.min(1.0) * rarity);
                    }
                }
            }
            touched.sort_unstable();
            let mut worth = Vec::with_capacity(touched.len());
            for doc in touched {
                let at = doc as usize;
                let (Some(slot), Some(total), Some(head)) =
                    (best.get_mut(at), found.total.get_mut(at), found.head.get_mut(at))
                else {
                    continue;
                };
                if *total == 0.0 {
                    found.docs.push(doc);
                }
                *total += slot.0;
                *head += slot.1;
                worth.push((doc, slot.0));
                *slot = (0.0, 0.0);
            }
            found.worth.push(worth);
        }
        found
    }

    fn score(&self, doc: u32, card: &Card, query: &Query) -> f32 {
        let at = doc as usize;
        let total = self.total.get(at).copied().unwrap_or(0.0);
        let head = self.head.get(at).copied().unwrap_or(0.0);
        let asked = if card.head > 0.0 { (head / card.head).min(1.0) } else { 1.0 };
        let deprecated = if card.deprecated { 0.7 } else { 1.0 };
        let simple = 1.0 - EFFORT * f32::from(card.needs.min(8));
        total
            * (ANY_HEAD + (1.0 - ANY_HEAD) * asked)
            * agreement(query.intent, card.category)
            * deprecated
            * fits_number(query, card)
            * simple
    }

    fn worth(&self, concept: usize, doc: u32) -> f32 {
        let Some(list) = self.worth.get(concept) else { return 0.0 };
        let at = list.binary_search_by_key(&doc, |(doc, _)| *doc);
        at.ok().and_then(|at| list.get(at)).map_or(0.0, |(_, worth)| *worth)
    }
}

/// Whether it is about one thing where one is meant, and about several where several are.
fn fits_number(query: &Query, card: &Card) -> f32 {
    match query.number {
        Some(Number::Several) if card.single && card.category == Category::Read => 0.8,
        Some(Number::One) if !card.single && card.category == Category::Read => 0.9,
        _ => 1.0,
    }
}

/// How well an operation's category fits what shall be done.
const fn agreement(intent: Option<Category>, category: Category) -> f32 {
    use Category::{Create, Delete, Execute, Read, Update};
    match (intent, category) {
        (None, Read) => 1.0,
        (None, _) => 0.85,
        (Some(Read), Read)
        | (Some(Create), Create)
        | (Some(Update), Update)
        | (Some(Delete), Delete)
        | (Some(Execute), Execute) => 1.0,
        (Some(Create | Update | Execute), Create | Update | Execute) => 0.8,
        (Some(Delete), Update | Execute) => 0.6,
        _ => 0.4,
    }
}

/// Takes the best, then the best for what the ones before have not answered yet: a question often asks for several things.
fn spread(list: &mut Vec<(u32, f32)>, found: &Found, limit: usize) -> Vec<Hit> {
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
            let total = found.total.get(doc as usize).copied().unwrap_or(0.0);
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
        hits.push(Hit { position: doc as usize, score });
    }
    hits
}
