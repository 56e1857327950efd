//! A question as search understands it: what shall be done, and to what.

use super::index::Index;
use super::stem::{relatives, singular, stem};
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
const PROPER_NAME: f32 = 0.25;
/// How much a word counts for another of its family.
const RELATIVE: f32 = 0.7;
/// How much a word counts for one that is spelt nearly alike.
const MISSPELT: f32 = 0.6;

/// How much the verb counts that a command starts with, where it is a rare one.
const COMMAND: f32 = 1.2;
/// How much `find` asks for an operation that searches.
const SEARCH: f32 = 0.7;
/// How much a word counts for what it hints at.
const HINT: f32 = 0.3;
/// Once a word of this weight was said, others may be said in addition.
const ASIDE: f32 = 0.9;
/// What is said in addition counts no less than this.
const LEAST_ASIDE: f32 = 0.5;
/// How far a verb's second word may stand from its first.
const REACH: usize = 5;

/// What was asked.
#[derive(Debug, Default)]
pub(super) struct Query {
    /// The words that matter.
    pub(super) concepts: Vec<Concept>,
    /// What shall be done to the world, where the question says so.
    pub(super) intent: Option<Category>,
    /// Whether one thing is meant, or several, where the question says so.
    pub(super) number: Option<Number>,
}

/// One or several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
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
    /// How rare the word itself is: one that stands for it says no more.
    pub(super) rarity: f32,
}

/// A word as it was written.
#[derive(Debug)]
struct Word {
    text: String,
    stem: String,
    proper: bool,
}

/// A stem that was asked for.
struct Asked<'q> {
    stem: &'q str,
    weight: f32,
    /// Only hints at these, and means nothing itself.
    hints: &'q [String],
}

/// Reads a question against the words that the index holds.
pub(super) fn read(index: &Index, question: &str) -> Query {
    let vocabulary = Vocabulary::get();
    let words = split(question);
    let mut query = Query::default();
    let asked = query.understand(&words, vocabulary);
    query.concepts = concepts(index, &asked, query.intent, vocabulary);
    query
}

impl Query {
    /// Takes the words in turn: what shall be done, to how many, and which stems count how much.
    fn understand<'q>(&mut self, words: &'q [Word], vocabulary: &'q Vocabulary) -> Vec<Asked<'q>> {
        let mut asked: Vec<Asked<'q>> = Vec::new();
        let mut at = 0;
        let mut verb_next = true;
        let mut content = false;
        let mut aside = 1.0_f32;
        while let Some(word) = words.get(at) {
            if let Some((length, phrase)) = phrase_at(words, at, vocabulary) {
                self.intent = self.intent.or(phrase.category);
                if !phrase.stands_for.is_empty() {
                    asked.push(Asked {
                        stem: &phrase.stands_for,
                        weight: verb_weight(&phrase.stands_for, vocabulary),
                        hints: &[],
                    });
                }
                at += length;
                verb_next = false;
                continue;
            }
            if at == 0 && vocabulary.asks(&word.text) {
                self.intent = Some(Category::Read);
            }
            at += 1;
            let hints = vocabulary.hints(&word.text);
            if !hints.is_empty() {
                asked.push(Asked { stem: "", weight: HINT, hints });
            }
            if matches!(word.text.as_str(), "who" | "whom") {
                self.number = self.number.or(Some(Number::Several));
            }
            if asked.iter().any(|asked| asked.weight >= ASIDE) {
                aside *= vocabulary.turns_aside(&word.text);
            }
            let follows = vocabulary.quotes(&word.text) && !asked.is_empty();
            content |= follows;
            if follows || vocabulary.is_empty(&word.text) {
                verb_next |= matches!(word.text.as_str(), "to" | "and" | "please" | "then" | "by" | "you");
                continue;
            }
            let mut weight = verb_weight(&word.stem, vocabulary);
            let verb = vocabulary.verb(&word.stem).filter(|_| verb_next);
            if weight >= 1.0 && verb.is_some() && self.intent.is_none() {
                weight = COMMAND;
            } else if weight >= 1.0 && self.number.is_none() {
                self.number = word.number();
            }
            self.intent = self.intent.or(verb);
            verb_next = false;
            if word.proper || content {
                weight *= PROPER_NAME;
            }
            weight *= aside.max(LEAST_ASIDE);
            asked.push(Asked { stem: &word.stem, weight, hints: &[] });
        }
        asked
    }
}

/// How much a word counts that may be a verb.
fn verb_weight(stem: &str, vocabulary: &Vocabulary) -> f32 {
    match stem {
        "find" | "search" => SEARCH,
        _ if vocabulary.is_common(stem) => COMMON_VERB,
        _ => 1.0,
    }
}

impl Word {
    /// Whether it is a plural, or the number or hash of one thing.
    fn number(&self) -> Option<Number> {
        if self.text.bytes().any(|byte| byte.is_ascii_digit()) {
            return Some(Number::One);
        }
        let mut one = self.text.clone();
        singular(&mut one);
        (!self.proper && one != self.text).then_some(Number::Several)
    }
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
    let following = words.get(at + 1..)?;
    vocabulary.phrases(&first.text).iter().find_map(|phrase| {
        let same = following.len() >= phrase.rest.len()
            && following.iter().zip(&phrase.rest).all(|(word, part)| word.text == *part);
        let enclosing = || match phrase.rest.as_slice() {
            [particle] if vocabulary.is_particle(particle) => {
                following.iter().take(REACH).any(|word| word.text == *particle)
            }
            _ => false,
        };
        // A particle at a distance says nothing by itself and is passed over in its turn.
        if same { Some((1 + phrase.rest.len(), phrase)) } else { enclosing().then_some((1, phrase)) }
    })
}

fn concepts(
    index: &Index,
    asked: &[Asked<'_>],
    intent: Option<Category>,
    vocabulary: &Vocabulary,
) -> Vec<Concept> {
    let mut concepts: Vec<Concept> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for (place, word) in asked.iter().enumerate() {
        let mut concept = Concept { weight: word.weight, stems: Vec::new(), rarity: f32::INFINITY };
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
            concept.fill(index, stem, before.map(|word| word.stem), after.map(|word| word.stem), vocabulary);
            if intent == Some(Category::Delete) {
                concept.add(index.find(&format!("un{stem}")), 1.0);
            }
        }
        if !concept.stems.is_empty() {
            concepts.push(concept);
        }
    }
    concepts
}

impl Concept {
    /// Everything in the index that a word may mean, next to the words around it.
    fn fill(
        &mut self,
        index: &Index,
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
            for (others, much) in vocabulary.alike(&format!("{one} {other}")) {
                self.add_all(index, others, *much);
            }
        }
        for (others, much) in vocabulary.alike(stem) {
            self.add_all(index, others, *much);
        }
        for relative in relatives(stem) {
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
