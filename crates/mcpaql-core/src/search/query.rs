//! A question as search understands it: what shall be done, and to what.

use super::index::Index;
use super::stem::{relatives, stem};
use super::vocabulary::Vocabulary;
use super::words::each_word;
use crate::operation::Category;

/// Longer questions are read up to here.
const MOST_BYTES: usize = 4096;
/// Further words are not read.
const MOST_WORDS: usize = 48;
/// How much a verb counts that half of all operations start with.
const COMMON_VERB: f32 = 0.2;
/// How much a word counts that looks like part of somebody's name or a title.
const PROPER_NAME: f32 = 0.35;
/// How much a word counts for another of its family.
const RELATIVE: f32 = 0.7;
/// How much a word counts for one that is spelt nearly alike.
const MISSPELT: f32 = 0.6;

/// What was asked.
#[derive(Debug, Default)]
pub(super) struct Query {
    /// The words that matter.
    pub(super) concepts: Vec<Concept>,
    /// What shall be done to the world, where the question says so.
    pub(super) intent: Option<Category>,
    /// Whether something is called by its name, which then has to be looked up first.
    pub(super) names: bool,
}

/// A word of the question.
#[derive(Debug)]
pub(super) struct Concept {
    /// How much it matters.
    pub(super) weight: f32,
    /// The stems that fit it, each with how well.
    pub(super) stems: Vec<(usize, f32)>,
}

/// A word as it was written.
#[derive(Debug)]
struct Word {
    text: String,
    stem: String,
    proper: bool,
}

/// Reads a question against the words that the index holds.
pub(super) fn read(index: &Index, question: &str) -> Query {
    let vocabulary = Vocabulary::get();
    let words = split(question);
    let mut query = Query { names: words.iter().any(|word| word.proper), ..Query::default() };
    let mut asked: Vec<(String, f32)> = Vec::new();
    let mut at = 0;
    let mut first = true;
    let mut verb_next = true;
    while let Some(word) = words.get(at) {
        if let Some((length, phrase)) = phrase_at(&words, at, vocabulary) {
            query.intent = query.intent.or(phrase.category);
            if !phrase.stands_for.is_empty() {
                let weight = if vocabulary.is_common(&phrase.stands_for) { COMMON_VERB } else { 1.0 };
                asked.push((phrase.stands_for.clone(), weight));
            }
            at += length;
            first = false;
            verb_next = false;
            continue;
        }
        at += 1;
        if first && vocabulary.asks(&word.text) {
            query.intent = query.intent.or(Some(Category::Read));
        }
        first = false;
        if vocabulary.is_empty(&word.text) {
            verb_next |= matches!(word.text.as_str(), "to" | "and" | "please" | "then" | "by" | "you");
            continue;
        }
        if verb_next && query.intent.is_none() {
            query.intent = vocabulary.verb(&word.stem);
        }
        verb_next = false;
        let weight = if word.proper {
            PROPER_NAME
        } else if vocabulary.is_common(&word.stem) {
            COMMON_VERB
        } else {
            1.0
        };
        asked.push((word.stem.clone(), weight));
    }
    query.concepts = concepts(index, &asked, vocabulary);
    query
}

fn split(question: &str) -> Vec<Word> {
    let question = question.get(..question.floor_char_boundary(MOST_BYTES)).unwrap_or_default();
    let shouted = !question.chars().any(char::is_lowercase);
    let mut words = Vec::new();
    let mut buffer = String::new();
    let mut quoted = false;
    let mut starts = true;
    for chunk in question.split_whitespace() {
        let opens = chunk.starts_with(['"', '“', '«']);
        quoted |= opens;
        let proper = !shouted && (quoted || (!starts && is_proper(chunk)));
        each_word(chunk, &mut buffer, |word| {
            if words.len() < MOST_WORDS {
                let mut stemmed = word.to_owned();
                stem(&mut stemmed);
                words.push(Word { text: word.to_owned(), stem: stemmed, proper });
            }
        });
        let closes = chunk.trim_end_matches(['.', ',', '?', '!', ';', ':']).ends_with(['"', '”', '»']);
        quoted &= !(closes && (!opens || chunk.chars().count() > 1));
        starts = chunk.ends_with(['.', '?', '!', ':']);
    }
    words
}

/// `Nolan` and `The`, but not `TV`, `pullRequest` or `I`.
fn is_proper(chunk: &str) -> bool {
    let mut letters = chunk.chars().filter(|c| c.is_alphabetic());
    letters.next().is_some_and(char::is_uppercase) && {
        let mut rest = letters.peekable();
        rest.peek().is_some() && rest.all(|c| !c.is_uppercase())
    }
}

fn phrase_at<'v>(
    words: &[Word],
    at: usize,
    vocabulary: &'v Vocabulary,
) -> Option<(usize, &'v super::vocabulary::Phrase)> {
    let first = words.get(at)?;
    vocabulary.phrases(&first.text).iter().find_map(|phrase| {
        let following = words.get(at + 1..at + 1 + phrase.rest.len())?;
        let same = following.iter().zip(&phrase.rest).all(|(word, part)| word.text == *part);
        same.then_some((1 + phrase.rest.len(), phrase))
    })
}

fn concepts(index: &Index, asked: &[(String, f32)], vocabulary: &Vocabulary) -> Vec<Concept> {
    let mut concepts: Vec<Concept> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (place, (stem, weight)) in asked.iter().enumerate() {
        if seen.contains(&stem.as_str()) || stem.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        seen.push(stem);
        let mut concept = Concept { weight: *weight, stems: Vec::new() };
        concept.add(index.find(stem), 1.0);
        let neighbours = [
            place.checked_sub(1).and_then(|before| asked.get(before)).map(|(before, _)| (before, stem)),
            asked.get(place + 1).map(|(after, _)| (stem, after)),
        ];
        for (one, other) in neighbours.into_iter().flatten() {
            concept.add(index.find(&format!("{one}{other}")), 1.0);
            for (others, much) in vocabulary.alike(&format!("{one} {other}")) {
                concept.add_all(index, others, *much);
            }
        }
        for (others, much) in vocabulary.alike(stem) {
            concept.add_all(index, others, *much);
        }
        for relative in relatives(stem) {
            concept.add(index.find(&relative), RELATIVE);
        }
        if concept.stems.is_empty() {
            for (id, much) in guesses(index, stem) {
                concept.add(Some(id), much);
            }
        }
        if !concept.stems.is_empty() {
            concepts.push(concept);
        }
    }
    concepts
}

impl Concept {
    fn add(&mut self, id: Option<usize>, weight: f32) {
        let Some(id) = id else { return };
        match self.stems.iter_mut().find(|(known, _)| *known == id) {
            Some((_, known)) => *known = known.max(weight),
            None => self.stems.push((id, weight)),
        }
    }

    /// Adds a word, or those of a turn of phrase, of which each says only a part.
    fn add_all(&mut self, index: &Index, stems: &[String], weight: f32) {
        let part = if stems.len() > 1 { 0.7 } else { 1.0 };
        for stem in stems {
            self.add(index.find(stem), weight * part);
        }
    }
}

/// What a word that the index does not hold may have meant: two words written as one, the start of a longer one, or a
/// slip of the hand.
fn guesses(index: &Index, stem: &str) -> Vec<(usize, f32)> {
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
fn nearest(index: &Index, stem: &str) -> Option<usize> {
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
