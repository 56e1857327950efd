//! A question as search understands it: what shall be done, and to what.

use super::index::SearchIndex;
use super::intent::Intent;
use super::question::{self, QueryTerm, Role};
use super::vocabulary::Vocabulary;
use crate::operation::Category;
use mcpaql_lexicon::{agent_noun_stems, related_stems};

/// How much a word counts for another of its family.
const RELATIVE: f32 = 0.6;
/// How much a deed counts for those who do it, where these are asked for.
const DOER: f32 = 1.25;
/// How much a word counts for one that is spelt nearly alike.
const MISSPELT: f32 = 0.6;
/// A word of this weight may be what a verb is about.
const NOUN: f32 = 0.5;

/// What was asked.
#[derive(Debug, Default)]
pub(super) struct Query {
    /// The words that matter.
    pub(super) concepts: Vec<Concept>,
    /// What shall be done to the world, where the question says so.
    pub(super) intent: Intent,
    /// Whether one thing is meant, or several, where the question says so.
    pub(super) number: Option<GrammaticalNumber>,
}

/// One or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GrammaticalNumber {
    /// `commit abc123`.
    One,
    /// `the secrets`.
    Several,
}

/// A word of the question.
#[derive(Debug)]
pub(super) struct Concept {
    /// How much it matters.
    pub(super) weight: f32,
    /// The stems that fit it, each with how well.
    pub(super) stems: Vec<(usize, f32)>,
    pub(super) role: Role,
    /// Whether one such thing is meant.
    pub(super) number: Option<GrammaticalNumber>,
    /// How rare the word itself is: one that stands for it says no more.
    pub(super) rarity: f32,
}

/// Reads a question against the words that the index holds.
pub(super) fn read(index: &SearchIndex, question: &str) -> Query {
    let vocabulary = Vocabulary::get();
    let words = question::split(question);
    let reading = question::parse_question(&words, vocabulary);
    let concepts = concepts(index, &reading.terms, reading.intent, vocabulary);
    Query { concepts, intent: reading.intent, number: reading.number }
}

fn concepts(
    index: &SearchIndex,
    asked: &[QueryTerm<'_>],
    intent: Intent,
    vocabulary: &Vocabulary,
) -> Vec<Concept> {
    let mut concepts: Vec<Concept> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (place, word) in asked.iter().enumerate() {
        let mut concept = Concept {
            weight: word.weight,
            stems: Vec::new(),
            role: word.role,
            number: word.number,
            rarity: f32::INFINITY,
        };
        for hint in word.hints {
            concept.add(index.find(hint), 1.0);
        }
        let stem = word.stem;
        let new =
            !stem.is_empty() && !seen.contains(&stem) && !stem.bytes().all(|byte| byte.is_ascii_digit());
        if new {
            seen.push(stem);
            let before = place.checked_sub(1).and_then(|before| asked.get(before));
            let after = asked.get(place + 1);
            if word.role == Role::Action {
                for doer in agent_noun_stems(stem) {
                    concept.add(index.find(&doer), DOER);
                }
            }
            concept.fill(index, stem, before.map(|word| word.stem), after.map(|word| word.stem), vocabulary);
            if intent.has(Category::Delete) {
                concept.add(index.find(&format!("un{stem}")), 1.0);
            }
        }
        if !concept.stems.is_empty() {
            concepts.push(concept);
        }
    }
    limit_verb_weights(&mut concepts);
    concepts
}

/// However rare a verb is, it says no more than what it is about: there may be no operation of that name.
fn limit_verb_weights(concepts: &mut [Concept]) {
    let nouns = concepts
        .iter()
        .filter(|concept| concept.role != Role::Verb && concept.weight >= NOUN && concept.rarity.is_finite());
    let most = nouns.map(|concept| concept.rarity).fold(0.0, f32::max);
    if most > 0.0 {
        for verb in concepts.iter_mut().filter(|concept| concept.role == Role::Verb) {
            verb.rarity = verb.rarity.min(most);
        }
    }
}

impl Concept {
    /// Everything in the index that a word may mean, next to the words around it.
    fn fill(
        &mut self,
        index: &SearchIndex,
        stem: &str,
        before: Option<&str>,
        after: Option<&str>,
        vocabulary: &Vocabulary,
    ) {
        if let Some(id) = index.find(stem) {
            self.add(Some(id), 1.0);
            self.rarity = index.rarity(id);
        }
        for (one, other) in
            [before.map(|before| (before, stem)), after.map(|after| (stem, after))].into_iter().flatten()
        {
            self.add(index.find(&format!("{one}{other}")), 1.0);
            for (others, much) in vocabulary.synonyms(&format!("{one} {other}")) {
                self.add_all(index, others, *much);
            }
        }
        for (others, much) in vocabulary.synonyms(stem) {
            self.add_all(index, others, *much);
        }
        for relative in related_stems(stem) {
            self.add(index.find(&relative), RELATIVE);
        }
        if self.stems.is_empty() {
            for (id, much) in guesses(index, stem) {
                self.add(Some(id), much);
            }
        }
    }

    fn add(&mut self, id: Option<usize>, weight: f32) {
        let Some(id) = id else { return };
        match self.stems.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => *known = known.max(weight),
            None => self.stems.push((id, weight)),
        }
    }

    /// Adds a word, or those of a turn of phrase, of which each says only a part.
    fn add_all(&mut self, index: &SearchIndex, stems: &[String], weight: f32) {
        let part = if stems.len() > 1 { 0.7 } else { 1.0 };
        for stem in stems {
            let doer = self.role == Role::Action && (stem.ends_with("er") || stem.ends_with("or"));
            self.add(index.find(stem), if doer { DOER } else { weight * part });
        }
    }
}

/// What a word that the index does not hold may have meant: two words written as one, the start of a longer one, or a
/// slip of the hand.
fn guesses(index: &SearchIndex, stem: &str) -> Vec<(usize, f32)> {
    let halves = (3..stem.len().saturating_sub(2)).find_map(|at| {
        let (one, other) = stem.split_at_checked(at)?;
        Some([index.find(one)?, index.find(other)?])
    });
    if let Some(halves) = halves {
        return halves.map(|id| (id, 0.8)).to_vec();
    }
    if stem.len() < 4 {
        return Vec::new();
    }
    let start = index.position(stem);
    if start < index.terms() && index.term(start).starts_with(stem) {
        return vec![(start, MISSPELT)];
    }
    nearest(index, stem).map(|id| (id, MISSPELT)).into_iter().collect()
}

/// The stem that is one slip away, or two in a long word, and starts with the same letter.
fn nearest(index: &SearchIndex, stem: &str) -> Option<usize> {
    let first = stem.chars().next()?;
    let slips = match stem.len() {
        0..5 => return None,
        5..8 => 1,
        _ => 2,
    };
    let mut best: Option<(usize, usize)> = None;
    let mut id = index.position(first.encode_utf8(&mut [0; 4]));
    while id < index.terms() && index.term(id).starts_with(first) {
        let term = index.term(id);
        if term.len().abs_diff(stem.len()) <= slips {
            let distance = strsim::osa_distance(stem, term);
            if distance <= slips && best.is_none_or(|(_, least)| distance < least) {
                best = Some((id, distance));
            }
        }
        id += 1;
    }
    best.map(|(id, _)| id)
}
