//! Turns a question into a query against the index: the intent and the weighted stems.

use super::index::SearchIndex;
use super::intent::Intent;
use super::question::{self, QueryTerm, Role};
use super::vocabulary::Vocabulary;
use crate::operation::Category;
use mcpaql_lexicon::vectors::{TextVector, VectorSum, VectorTable};
use mcpaql_lexicon::{agent_noun_stems, related_stems, snake_case};

/// Weight of a related word.
const RELATED_WEIGHT: f32 = 0.6;
/// Weight of the noun for those who do something (`watcher`), if the question asks who does it.
const AGENT_NOUN_WEIGHT: f32 = 1.25;
/// Weight of a word with a similar spelling.
const MISSPELLED_WEIGHT: f32 = 0.6;
/// Minimum weight of a word that can be the object of a verb.
const MIN_NOUN_WEIGHT: f32 = 0.5;

/// A question as a query.
#[derive(Debug, Default)]
pub(super) struct Query {
    /// The important words.
    pub(super) concepts: Vec<Concept>,
    /// The intended categories, if the question shows them.
    pub(super) intent: Intent,
    /// Whether the question asks for one thing or several, if known.
    pub(super) number: Option<GrammaticalNumber>,
    /// The stems of all words that are not stop words, as they are in the index, and how much each word says.
    pub(super) words: Vec<(usize, f32)>,
    /// The vector of the question.
    pub(super) vector: TextVector,
    /// The vector and the weight of each word that is not a stop word.
    pub(super) word_vectors: Vec<(TextVector, f32)>,
    /// Operations whose exact name is in the question.
    pub(super) named: Vec<u32>,
}

/// Singular or plural.
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
    /// Its weight.
    pub(super) weight: f32,
    /// The matching stems, each with how well it matches.
    pub(super) stems: Vec<(usize, f32)>,
    pub(super) role: Role,
    /// Whether one such thing is wanted or several.
    pub(super) number: Option<GrammaticalNumber>,
    /// How rare the word itself is. A word that replaces it never counts as rarer.
    pub(super) rarity: f32,
}

/// Reads a question, using the stems of the index.
pub(super) fn read(index: &SearchIndex, question: &str) -> Query {
    let vocabulary = Vocabulary::get();
    let words = question::split(question);
    let parsed = question::parse_question(&words, vocabulary);
    let concepts = concepts(index, &parsed.terms, parsed.intent, vocabulary);
    let table = VectorTable::get().filter(|_| !index.vectors.is_empty());
    let mut sum = VectorSum::default();
    let (mut matched, mut word_vectors) = (Vec::new(), Vec::new());
    let mut seen: Vec<&str> = Vec::new();
    for word in &words {
        let mut own = VectorSum::default();
        if let Some(table) = table {
            table.pieces(word.text(), |piece| {
                table.add(piece, &mut sum);
                table.add(piece, &mut own);
            });
        }
        // A repeated word is no more important.
        let Some(stem) = word.meaningful_stem().filter(|stem| !seen.contains(stem)) else { continue };
        seen.push(stem);
        let length = own.length();
        if length > 0.0 {
            word_vectors.push((own.vector(), length));
        }
        matched.extend(index.find(stem).map(|id| (id, if length > 0.0 { length } else { 1.0 })));
    }
    Query {
        concepts,
        intent: parsed.intent,
        number: parsed.number,
        words: matched,
        vector: sum.vector(),
        word_vectors,
        named: named(index, question),
    }
}

/// Returns the operations that the question names: it is a name, or one of its words is a name of several words.
fn named(index: &SearchIndex, question: &str) -> Vec<u32> {
    let mut found: Vec<u32> = index.named(&snake_case(question::limited(question))).collect();
    for word in question::limited(question).split_whitespace() {
        let name = word.trim_matches(|c: char| !c.is_alphanumeric());
        if name.contains('_') {
            found.extend(index.named(&snake_case(name)));
        }
    }
    found
}

fn concepts(
    index: &SearchIndex,
    terms: &[QueryTerm<'_>],
    intent: Intent,
    vocabulary: &Vocabulary,
) -> Vec<Concept> {
    let mut concepts: Vec<Concept> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (position, word) in terms.iter().enumerate() {
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
            let before = position.checked_sub(1).and_then(|before| terms.get(before));
            let after = terms.get(position + 1);
            if word.role == Role::Action {
                for noun in agent_noun_stems(stem) {
                    concept.add(index.find(&noun), AGENT_NOUN_WEIGHT);
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

/// Limits the weight of verbs. A rare verb counts no more than its object, because there may be no operation with this
/// verb.
fn limit_verb_weights(concepts: &mut [Concept]) {
    let nouns = concepts.iter().filter(|concept| {
        concept.role != Role::Verb && concept.weight >= MIN_NOUN_WEIGHT && concept.rarity.is_finite()
    });
    let rarest = nouns.map(|concept| concept.rarity).fold(0.0, f32::max);
    if rarest > 0.0 {
        for verb in concepts.iter_mut().filter(|concept| concept.role == Role::Verb) {
            verb.rarity = verb.rarity.min(rarest);
        }
    }
}

impl Concept {
    /// Adds all stems of the index that a word may mean, considering the words around it.
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
            for (others, weight) in vocabulary.synonyms(&format!("{one} {other}")) {
                self.add_all(index, others, *weight);
            }
        }
        for (others, weight) in vocabulary.synonyms(stem) {
            self.add_all(index, others, *weight);
        }
        for relative in related_stems(stem) {
            self.add(index.find(&relative), RELATED_WEIGHT);
        }
        if self.stems.is_empty() {
            for (id, weight) in guesses(index, stem) {
                self.add(Some(id), weight);
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

    /// Adds a word, or the words of a phrase. Each word of a phrase counts only in part.
    fn add_all(&mut self, index: &SearchIndex, stems: &[String], weight: f32) {
        let part = if stems.len() > 1 { 0.7 } else { 1.0 };
        for stem in stems {
            let is_agent_noun = self.role == Role::Action && (stem.ends_with("er") || stem.ends_with("or"));
            self.add(index.find(stem), if is_agent_noun { AGENT_NOUN_WEIGHT } else { weight * part });
        }
    }
}

/// Guesses what a word that is not in the index means: two words written as one, the start of a longer word, or a
/// misspelling.
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
        return vec![(start, MISSPELLED_WEIGHT)];
    }
    nearest(index, stem).map(|id| (id, MISSPELLED_WEIGHT)).into_iter().collect()
}

/// Returns the stem that is one typing error away (two in a long word) and starts with the same letter.
fn nearest(index: &SearchIndex, stem: &str) -> Option<usize> {
    let first = stem.chars().next()?;
    let max_errors = match stem.len() {
        0..5 => return None,
        5..8 => 1,
        _ => 2,
    };
    let mut best: Option<(usize, usize)> = None;
    let mut id = index.position(first.encode_utf8(&mut [0; 4]));
    while id < index.terms() && index.term(id).starts_with(first) {
        let term = index.term(id);
        if term.len().abs_diff(stem.len()) <= max_errors {
            let distance = strsim::osa_distance(stem, term);
            if distance <= max_errors && best.is_none_or(|(_, least)| distance < least) {
                best = Some((id, distance));
            }
        }
        id += 1;
    }
    best.map(|(id, _)| id)
}
