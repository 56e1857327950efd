//! Combines four independent opinions about an operation: its structure, its words, the meaning of its words and the meaning
//! of its text.
//!
//! - *Structure*: the roles of the words in the question, and the fields of the operation that they are in.
//! - *Words*: BM25 over names, summaries, tags and descriptions. It knows no grammar, so nothing misleads it. A repeated word
//!   counts once, and a word with a longer vector says more.
//! - *Related words*: how similar the most similar word of the operation is to each word of the question. One good match
//!   counts, however long the text is.
//! - *Meaning*: the similarity of the vectors of question and operation. It finds operations that share no word with the
//!   question.
//!
//! Each is divided by its best value, so that they are comparable. Structure is mostly in paths. So it counts more than
//! the others if the operations have paths, and less if they are tools with a name and a description.
//!
//! What always holds: a combined score is between 0 and 1. Without a table of vectors, the first two decide.

use super::index::SearchIndex;
use super::query::Query;

/// Weights if no operation has a path.
const TOOL_WEIGHTS: OpinionWeights =
    OpinionWeights { structure: 1.0, words: 1.5, related: 0.75, meaning: 1.0 };
/// Weights if all operations have paths.
const PATH_WEIGHTS: OpinionWeights =
    OpinionWeights { structure: 3.5, words: 0.1, related: 0.0, meaning: 0.8 };
/// Minimum similarity of an operation that shares no word with the question.
const MIN_SIMILARITY: f32 = 0.35;
/// Similarity of two words from which they count as related.
const RELATED_SIMILARITY: f32 = 0.4;
/// How fast the count of a word saturates in BM25.
const SATURATION: f32 = 1.5;
/// How much the length of a text counts in BM25.
const LENGTH_WEIGHT: f32 = 0.75;

/// The words and the meaning of every operation, compared with a question.
pub(super) struct Fusion {
    words: Vec<f32>,
    best_words: f32,
    related: Vec<f32>,
    best_related: f32,
    similarities: Vec<f32>,
    best_similarity: f32,
    /// The share of each opinion.
    shares: OpinionWeights,
}

#[derive(Clone, Copy)]
struct OpinionWeights {
    structure: f32,
    words: f32,
    related: f32,
    meaning: f32,
}

impl OpinionWeights {
    /// Returns the shares of the opinions, for operations of which this share has paths.
    fn shares(paths: f32, has_meaning: bool) -> OpinionWeights {
        let between = |tool: f32, path: f32| tool + (path - tool) * paths;
        let structure = between(TOOL_WEIGHTS.structure, PATH_WEIGHTS.structure);
        let words = between(TOOL_WEIGHTS.words, PATH_WEIGHTS.words);
        let meaning = if has_meaning { between(TOOL_WEIGHTS.meaning, PATH_WEIGHTS.meaning) } else { 0.0 };
        let related = if has_meaning { between(TOOL_WEIGHTS.related, PATH_WEIGHTS.related) } else { 0.0 };
        let all = structure + words + related + meaning;
        OpinionWeights {
            structure: structure / all,
            words: words / all,
            related: related / all,
            meaning: meaning / all,
        }
    }
}

impl Fusion {
    pub(super) fn new(index: &SearchIndex, query: &Query) -> Fusion {
        let words = bm25(index, &query.words);
        let similarities: Vec<f32> =
            index.vectors.iter().map(|vector| vector.similarity(&query.vector).max(0.0)).collect();
        let best = |values: &[f32]| values.iter().copied().fold(0.0, f32::max);
        let (best_words, best_similarity) = (best(&words), best(&similarities));
        let shares = OpinionWeights::shares(index.paths, best_similarity > 0.0);
        let related = if shares.related > 0.0 { related_words(index, query) } else { Vec::new() };
        let best_related = best(&related);
        Fusion { words, best_words, related, best_related, similarities, best_similarity, shares }
    }

    /// Returns the part of a score that comes from structure, which is a share of the best.
    pub(super) fn structure(&self, structure: f32) -> f32 {
        self.shares.structure * structure
    }

    /// Returns the part of an operation's score that comes from its words and its meaning.
    pub(super) fn rest(&self, doc: u32) -> f32 {
        let of_best = |values: &[f32], best: f32| {
            if best > 0.0 { values.get(doc as usize).copied().unwrap_or(0.0) / best } else { 0.0 }
        };
        self.shares.words * of_best(&self.words, self.best_words)
            + self.shares.related * of_best(&self.related, self.best_related)
            + self.shares.meaning * of_best(&self.similarities, self.best_similarity)
    }

    /// Returns whether an operation can be a hit although its structure does not match.
    pub(super) fn is_candidate(&self, doc: u32) -> bool {
        let at = |values: &[f32]| values.get(doc as usize).copied().unwrap_or(0.0);
        at(&self.words) > 0.0 || at(&self.similarities) >= MIN_SIMILARITY
    }
}

/// Adds up, for every operation, how similar its most similar word is to each word of the question.
fn related_words(index: &SearchIndex, query: &Query) -> Vec<f32> {
    let mut totals = vec![0.0; index.len()];
    let mut best = vec![0.0_f32; index.len()];
    let mut touched: Vec<u32> = Vec::new();
    for (vector, weight) in &query.word_vectors {
        for (id, stem) in index.stem_vectors.iter().enumerate() {
            let similarity = stem.similarity(vector) - RELATED_SIMILARITY;
            if similarity <= 0.0 {
                continue;
            }
            for posting in index.postings(id).iter().filter(|posting| posting.count() > 0.0) {
                let Some(slot) = best.get_mut(posting.doc as usize) else { continue };
                if *slot == 0.0 {
                    touched.push(posting.doc);
                }
                *slot = slot.max(similarity);
            }
        }
        for doc in touched.drain(..) {
            if let (Some(total), Some(slot)) = (totals.get_mut(doc as usize), best.get_mut(doc as usize)) {
                *total += weight * std::mem::take(slot);
            }
        }
    }
    totals
}

fn bm25(index: &SearchIndex, stems: &[(usize, f32)]) -> Vec<f32> {
    let mut scores = vec![0.0; index.len()];
    for (id, weight) in stems {
        let rarity = weight * index.rarity(*id);
        for posting in index.postings(*id) {
            let position = posting.doc as usize;
            let (Some(score), Some(info)) = (scores.get_mut(position), index.docs.get(position)) else {
                continue;
            };
            let length = f32::from(info.length) / index.mean_length.max(1.0);
            let count = posting.count();
            let limit = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length);
            *score += rarity * count * (SATURATION + 1.0) / (count + limit);
        }
    }
    scores
}
