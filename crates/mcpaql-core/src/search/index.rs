//! The index: every stem with the operations that hold it, and how much it counts there.

use super::rank::Ranking;
use super::vocabulary::Vocabulary;
use super::{Doc, Hit, each_word, query};
use crate::operation::Category;
use mcpaql_lexicon::questions::EMPTY;
use mcpaql_lexicon::{first_sentence, is_plural, stem};
use std::collections::HashMap;

/// Where a word stands.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// The last literal segment of the path, which says what the operation is about.
    Subject,
    /// The segment before, which says whose.
    Owner,
    /// Further to the front.
    Area,
    Placeholder,
    Name,
    Summary,
    Tag,
    Param,
    /// A parameter of an operation that changes something, which often is what it changes.
    BodyParam,
    Field,
    /// The description's first sentence.
    Sentence,
    /// The rest of it.
    Description,
}

impl Place {
    /// How much a word counts there.
    const fn weight(self) -> f32 {
        match self {
            Place::Subject => 2.6,
            Place::BodyParam => 0.8,
            Place::Name => 1.2,
            Place::Summary => 3.0,
            Place::Owner => 1.2,
            Place::Sentence => 0.8,
            Place::Tag => 0.8,
            Place::Field => 0.9,
            Place::Area => 0.5,
            Place::Param => 0.45,
            Place::Description => 0.3,
            Place::Placeholder => 0.25,
        }
    }

    /// Whether the words there name the operation.
    const fn is_head(self) -> bool {
        matches!(self, Place::Name | Place::Subject | Place::Owner | Place::Area)
    }
}

/// Where further words hardly add anything.
const ENOUGH: f32 = 3.0;
/// How much a word for the caller counts in a head: whose things are meant goes without saying.
const CALLER: f32 = 0.5;
/// Words of a description that are read; what matters is said first.
const DESCRIPTION_WORDS: usize = 60;
/// Bytes of a description in which they are looked for.
const DESCRIPTION_BYTES: usize = 900;
/// Parameters, and fields of an answer, that are read.
const NAMES: usize = 48;

/// One operation that holds a stem.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Posting {
    /// Which.
    pub(super) doc: u32,
    /// How much the stem counts there, in parts of [`WHOLE`].
    weight: u16,
    marks: u16,
}

/// The weight of a word that says everything.
const WHOLE: f32 = 65_535.0;

/// The stem is part of the head.
const HEAD: u16 = 1;
/// A placeholder follows it in the path: the operation is about one such thing, or about what belongs to one.
const ONE: u16 = 2;
/// It stands last in the path, which says what the operation is about.
const TOPIC: u16 = 8;
/// A plural without one: the operation is about all such things.
const MANY: u16 = 4;

impl Posting {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the whole")]
    fn new(doc: u32, weight: f32, marks: u16) -> Posting {
        Posting { doc, weight: (weight.clamp(0.0, 1.0) * WHOLE) as u16, marks }
    }

    pub(super) fn weight(self) -> f32 {
        f32::from(self.weight) / WHOLE
    }

    pub(super) const fn is_head(self) -> bool {
        self.marks & HEAD != 0
    }

    pub(super) const fn is_topic(self) -> bool {
        self.marks & TOPIC != 0
    }

    pub(super) const fn is_many(self) -> bool {
        self.marks & MANY != 0 && self.marks & ONE == 0
    }
}

/// What ranking needs to know about an operation.
#[derive(Debug, Clone, Copy)]
pub(super) struct Card {
    pub(super) category: Category,
    pub(super) deprecated: bool,
    /// Whether its path ends in a placeholder, so that it is about one thing.
    pub(super) single: bool,
    /// How many placeholders its path has.
    pub(super) needs: u8,
    /// How much all words of its head weigh.
    pub(super) head: f32,
    /// How many these are.
    pub(super) words: u8,
    /// Whether it gives several things.
    pub(super) list: bool,
    /// Its place in the order of names: of two that fit equally well the same one is first, however they were added.
    pub(super) rank: u32,
}

/// Operations, ready to be searched.
#[derive(Debug, Clone, Default)]
pub struct Index {
    /// All stems in order, one after another.
    text: String,
    /// Where each stem ends in `text`.
    ends: Vec<u32>,
    /// Where the postings of each stem end.
    runs: Vec<u32>,
    postings: Vec<Posting>,
    pub(super) cards: Vec<Card>,
}

impl Index {
    /// An index of these operations; a hit's position is the place in this order.
    #[must_use]
    pub fn build<'a>(docs: impl IntoIterator<Item = Doc<'a>>) -> Index {
        let mut builder = Builder::default();
        for doc in docs {
            builder.add(&doc);
        }
        builder.finish()
    }

    /// At most `limit` operations that fit the question, the best first, none of them twice.
    #[must_use]
    pub fn search(&self, question: &str, limit: usize) -> Vec<Hit> {
        self.search_among(question, limit, |_| true)
    }

    /// The same among the operations at positions that `fits` lets through.
    #[must_use]
    pub fn search_among(&self, question: &str, limit: usize, fits: impl Fn(usize) -> bool) -> Vec<Hit> {
        Ranking::new(self, &query::read(self, question)).hits(limit, fits)
    }

    /// How many operations it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cards.len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.cards.is_empty()
    }

    pub(super) fn terms(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn term(&self, id: usize) -> &str {
        let start = id.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(id).copied().unwrap_or(start);
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The first stem that is not before `text` in the alphabet.
    pub(super) fn position(&self, text: &str) -> usize {
        let (mut low, mut high) = (0, self.terms());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.term(middle) < text { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// The number of that stem.
    pub(super) fn find(&self, stem: &str) -> Option<usize> {
        let at = self.position(stem);
        (at < self.terms() && self.term(at) == stem).then_some(at)
    }

    pub(super) fn postings(&self, id: usize) -> &[Posting] {
        let start = id.checked_sub(1).and_then(|before| self.runs.get(before)).copied().unwrap_or(0);
        let end = self.runs.get(id).copied().unwrap_or(start);
        self.postings.get(start as usize..end as usize).unwrap_or_default()
    }

    /// How much a stem says: the rarer, the more.
    pub(super) fn rarity(&self, id: usize) -> f32 {
        rarity(self.postings(id).len(), self.cards.len())
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of operations")]
fn rarity(holders: usize, all: usize) -> f32 {
    let (holders, all) = (holders as f32, all as f32);
    (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln()
}

/// What is known of a word.
#[derive(Debug, Clone, Copy)]
struct Known {
    /// The number of its stem.
    stem: u32,
    /// Whether it says nothing.
    empty: bool,
    /// Whether it says, in a name or path, what the operation is about.
    names: bool,
}

/// What an operation holds of a stem.
#[derive(Debug, Clone, Copy, Default)]
struct Held {
    /// A bit for each place.
    places: u16,
    weight: f32,
    marks: u16,
}

/// An index in the making, for operations that are read one at a time.
#[derive(Debug, Default)]
pub struct Builder {
    /// Every word that was seen, so that each is looked at once.
    words: HashMap<Box<str>, Known>,
    numbers: HashMap<Box<str>, u32>,
    /// Stem, operation, weight.
    found: Vec<(u32, Posting)>,
    cards: Vec<Card>,
    /// What the present operation holds, by stem.
    held: Vec<Held>,
    /// The stems it holds.
    touched: Vec<u32>,
    names: Vec<Box<str>>,
    buffer: String,
}

impl Builder {
    /// Adds the next operation.
    pub fn add(&mut self, doc: &Doc<'_>) {
        let vocabulary = Vocabulary::get();
        self.read(doc.name, Place::Name, vocabulary);
        let single = self.read_path(doc.path, vocabulary);
        self.read(doc.summary, Place::Summary, vocabulary);
        for tag in doc.tags {
            self.read(tag, Place::Tag, vocabulary);
        }
        for param in doc.params.iter().take(NAMES) {
            let place = if doc.category == Category::Update { Place::BodyParam } else { Place::Param };
            self.read(param, place, vocabulary);
        }
        for field in doc.fields.iter().take(NAMES) {
            self.read(field, Place::Field, vocabulary);
        }
        self.read_description(doc.description, vocabulary);
        self.keep();
        let needs = u8::try_from(doc.path.matches('{').count()).unwrap_or(u8::MAX);
        self.cards.push(Card {
            category: doc.category,
            deprecated: doc.deprecated,
            single,
            needs,
            head: 0.0,
            words: 0,
            list: doc.name.starts_with("list") || doc.name.starts_with("search"),
            rank: 0,
        });
        self.names.push(doc.name.into());
    }

    /// The finished index.
    #[must_use]
    pub fn finish(mut self) -> Index {
        let mut stems: Vec<(Box<str>, u32)> = std::mem::take(&mut self.numbers).into_iter().collect();
        stems.sort_unstable();
        let mut index = Index { cards: std::mem::take(&mut self.cards), ..Index::default() };
        let mut by_name: Vec<(&str, &mut Card)> =
            self.names.iter().map(|name| &**name).zip(&mut index.cards).collect();
        by_name.sort_by_key(|(name, _)| *name);
        for (rank, (_, card)) in by_name.into_iter().enumerate() {
            card.rank = number(rank);
        }
        let mut place = vec![0_u32; stems.len()];
        for (at, (stem, id)) in stems.iter().enumerate() {
            if let Some(slot) = place.get_mut(*id as usize) {
                *slot = number(at);
            }
            index.text.push_str(stem);
            index.ends.push(number(index.text.len()));
        }
        // A counting sort by stem; operations were added in order and stay so.
        let mut runs = vec![0_u32; stems.len()];
        for (stem, _) in &mut self.found {
            *stem = place.get(*stem as usize).copied().unwrap_or(0);
            if let Some(count) = runs.get_mut(*stem as usize) {
                *count += 1;
            }
        }
        let mut start = 0;
        for run in &mut runs {
            let count = *run;
            *run = start;
            start += count;
        }
        index.postings = vec![Posting::default(); self.found.len()];
        for (stem, posting) in &self.found {
            if let Some(at) = runs.get_mut(*stem as usize) {
                if let Some(slot) = index.postings.get_mut(*at as usize) {
                    *slot = *posting;
                }
                *at += 1;
            }
        }
        index.runs = runs;
        weigh_heads(&mut index);
        index
    }

    fn read(&mut self, text: &str, place: Place, vocabulary: &Vocabulary) {
        let mut buffer = std::mem::take(&mut self.buffer);
        each_word(text, &mut buffer, |word| {
            let known = self.know(word, vocabulary);
            self.hold(known, place, 0);
        });
        self.buffer = buffer;
    }

    fn know(&mut self, word: &str, vocabulary: &Vocabulary) -> Known {
        if let Some(known) = self.words.get(word) {
            return *known;
        }
        let stemmed = stem(word);
        let empty = EMPTY.contains(word);
        let names = !empty && stemmed.len() > 1 && !vocabulary.is_common(&stemmed);
        let next = number(self.numbers.len());
        let stem = *self.numbers.entry(stemmed.into()).or_insert(next);
        let known = Known { stem, empty, names };
        self.words.insert(word.into(), known);
        known
    }

    /// Reads the literal segments, of which the last says most; says whether a placeholder ends the path.
    fn read_path(&mut self, path: &str, vocabulary: &Vocabulary) -> bool {
        let segments = || path.split('/').filter(|segment| !segment.is_empty());
        let single = segments().next_back().is_some_and(|segment| segment.ends_with('}'));
        let mut place = 0;
        let mut one = false;
        for segment in segments().rev() {
            if segment.contains('{') {
                self.read(segment, Place::Placeholder, vocabulary);
                one = true;
                continue;
            }
            let stands = match place {
                0 => Place::Subject,
                1 => Place::Owner,
                _ => Place::Area,
            };
            self.read_segment(segment, stands, std::mem::take(&mut one), vocabulary);
            place += 1;
        }
        single
    }

    /// Reads a literal segment, of which the last word says what all are about: `branch-policies` are policies.
    fn read_segment(&mut self, segment: &str, place: Place, one: bool, vocabulary: &Vocabulary) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut before: Option<Known> = None;
        let mut last = String::new();
        each_word(segment, &mut buffer, |word| {
            let known = self.know(word, vocabulary);
            if let Some(before) = before.replace(known) {
                self.hold(before, place, 0);
            }
            last.clear();
            last.push_str(word);
        });
        self.buffer = buffer;
        if let Some(known) = before {
            let plural = is_plural(&last);
            let topic = if matches!(place, Place::Subject) { TOPIC } else { 0 };
            self.hold(
                known,
                place,
                topic
                    | if one {
                        ONE
                    } else if plural {
                        MANY
                    } else {
                        0
                    },
            );
        }
    }

    fn read_description(&mut self, text: &str, vocabulary: &Vocabulary) {
        let text = text.get(..text.floor_char_boundary(DESCRIPTION_BYTES)).unwrap_or_default();
        let first = first_sentence(text);
        let rest = text.get(first.len()..).unwrap_or_default();
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut left = DESCRIPTION_WORDS;
        for (part, place) in [(first, Place::Sentence), (rest, Place::Description)] {
            each_word(part, &mut buffer, |word| {
                if left == 0 {
                    return;
                }
                let known = self.know(word, vocabulary);
                if !known.empty {
                    left -= 1;
                    self.hold(known, place, 0);
                }
            });
        }
        self.buffer = buffer;
    }

    /// A word counts once in each place.
    fn hold(&mut self, known: Known, place: Place, marks: u16) {
        let at = known.stem as usize;
        if at >= self.held.len() {
            self.held.resize(at + 1, Held::default());
        }
        let Some(held) = self.held.get_mut(at) else { return };
        let mark = 1_u16 << place as u8;
        if held.places == 0 {
            self.touched.push(known.stem);
        }
        if held.places & mark == 0 {
            held.places |= mark;
            held.weight += place.weight();
        }
        held.marks |= marks;
        if place.is_head() && known.names {
            held.marks |= HEAD;
        }
    }

    /// Turns what is held of the present operation into postings, one for each stem.
    fn keep(&mut self) {
        let doc = number(self.cards.len());
        for stem in self.touched.drain(..) {
            let Some(held) = self.held.get_mut(stem as usize).map(std::mem::take) else { continue };
            let weight = held.weight / (held.weight + ENOUGH);
            self.found.push((stem, Posting::new(doc, weight, held.marks)));
        }
    }
}

fn weigh_heads(index: &mut Index) {
    let mut heads = vec![(0.0_f32, 0_u8); index.cards.len()];
    let vocabulary = Vocabulary::get();
    for id in 0..index.terms() {
        let caller = vocabulary.is_caller(index.term(id));
        let rarity = index.rarity(id) * if caller { CALLER } else { 1.0 };
        for posting in index.postings(id).iter().filter(|posting| posting.is_head()) {
            if let Some(head) = heads.get_mut(posting.doc as usize) {
                head.0 += rarity;
                head.1 = head.1.saturating_add(u8::from(!caller));
            }
        }
    }
    for (card, head) in index.cards.iter_mut().zip(heads) {
        (card.head, card.words) = head;
    }
}

/// A count as the index stores it; a catalog of four thousand million words does not come up.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
