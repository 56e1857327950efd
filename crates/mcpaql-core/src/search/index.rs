//! The search index: for every stem, the operations that contain it and its weight there.

use super::rank::Ranking;
use super::vocabulary::Vocabulary;
use super::{Doc, SearchHit, each_word, query};
use crate::operation::Category;
use mcpaql_lexicon::questions::STOP_WORDS;
use mcpaql_lexicon::vectors::{TextVector, VectorSum, VectorTable};
use mcpaql_lexicon::{first_sentence, is_plural, snake_case, stem};
use std::collections::HashMap;

/// The field of an operation that a word is in.
#[derive(Debug, Clone, Copy)]
enum IndexField {
    /// The last literal segment of the path: the subject of the operation.
    Subject,
    /// The segment before it: what the subject belongs to.
    Owner,
    /// Earlier segments.
    Area,
    Placeholder,
    Name,
    Summary,
    Tag,
    Param,
    /// A parameter of an update. It often names what the update changes.
    BodyParam,
    Field,
    /// The description's first sentence.
    Sentence,
    /// The rest of the description.
    Description,
}

impl IndexField {
    /// Returns the weight of a word in this field.
    const fn weight(self) -> f32 {
        match self {
            IndexField::Subject => 2.6,
            IndexField::BodyParam => 0.8,
            IndexField::Name => 1.2,
            IndexField::Summary => 3.0,
            IndexField::Owner => 1.2,
            IndexField::Sentence => 0.8,
            IndexField::Tag => 0.8,
            IndexField::Field => 0.9,
            IndexField::Area => 0.5,
            IndexField::Param => 0.45,
            IndexField::Description => 0.3,
            IndexField::Placeholder => 0.25,
        }
    }

    /// Returns whether words in this field are text about the operation.
    const fn is_text(self) -> bool {
        matches!(
            self,
            IndexField::Name
                | IndexField::Summary
                | IndexField::Tag
                | IndexField::Sentence
                | IndexField::Description
        )
    }

    /// Returns whether words in this field name the operation.
    const fn is_head(self) -> bool {
        matches!(self, IndexField::Name | IndexField::Subject | IndexField::Owner | IndexField::Area)
    }
}

/// Weight at which further occurrences add little.
const WEIGHT_SATURATION: f32 = 3.0;
/// Weight of a word for the caller (`my`) in a head. It is implied.
const CALLER_WEIGHT: f32 = 0.5;
/// Maximum words of a description that are indexed. The important ones come first.
const MAX_DESCRIPTION_WORDS: usize = 60;
/// Maximum bytes of a description that are read.
const MAX_DESCRIPTION_BYTES: usize = 900;
/// Maximum parameters, and maximum result fields, that are indexed.
const MAX_NAMES: usize = 48;
/// Maximum words that the vector of an operation is made of. The important ones come first.
const MAX_VECTOR_WORDS: usize = 48;

/// An operation that contains a stem.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Posting {
    /// The operation.
    pub(super) doc: u32,
    /// The stem's weight there, as a fraction of [`FULL_WEIGHT`].
    weight: u16,
    marks: u8,
    /// How often it is in the text about the operation.
    count: u8,
}

/// The maximum weight.
const FULL_WEIGHT: f32 = 65_535.0;

/// The stem is part of the head.
const HEAD: u8 = 1;
/// A placeholder follows it in the path: the operation is about one such thing, or about a part of one.
const ONE: u8 = 2;
/// It is the last word of the path: the topic of the operation.
const TOPIC: u8 = 8;
/// It is a plural without a placeholder: the operation is about all such things.
const MANY: u8 = 4;

impl Posting {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the whole")]
    fn new(doc: u32, weight: f32, marks: u8, count: u8) -> Posting {
        Posting { doc, weight: (weight.clamp(0.0, 1.0) * FULL_WEIGHT) as u16, marks, count }
    }

    pub(super) fn count(self) -> f32 {
        f32::from(self.count)
    }

    pub(super) fn weight(self) -> f32 {
        f32::from(self.weight) / FULL_WEIGHT
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
pub(super) struct DocInfo {
    pub(super) category: Category,
    pub(super) deprecated: bool,
    /// Whether its path ends in a placeholder, so it is about one thing.
    pub(super) single: bool,
    /// Number of placeholders in its path.
    pub(super) needs: u8,
    /// Weight of all words of its head.
    pub(super) head: f32,
    /// Number of words of its head.
    pub(super) words: u8,
    /// Whether it returns several things.
    pub(super) list: bool,
    /// Position in the order of names. It breaks ties, so the order of adding does not matter.
    pub(super) rank: u32,
    /// Number of words in the text about it.
    pub(super) length: u16,
}

/// An index of operations.
#[derive(Debug, Clone, Default)]
pub struct SearchIndex {
    /// All stems in order, concatenated.
    text: String,
    /// Where each stem ends in `text`.
    ends: Vec<u32>,
    /// Where the postings of each stem end.
    runs: Vec<u32>,
    postings: Vec<Posting>,
    pub(super) docs: Vec<DocInfo>,
    /// Names in order, with their operations.
    names: Vec<(Box<str>, u32)>,
    /// The vector of each operation; empty without a table of vectors.
    pub(super) vectors: Vec<TextVector>,
    /// The vector of each stem; empty without a table of vectors.
    pub(super) stem_vectors: Vec<TextVector>,
    /// Mean number of words in the text about an operation.
    pub(super) mean_length: f32,
    /// Share of the operations that have a path.
    pub(super) paths: f32,
}

impl SearchIndex {
    /// Builds an index. A hit's position is the position in `docs`.
    #[must_use]
    pub fn build<'a>(docs: impl IntoIterator<Item = Doc<'a>>) -> SearchIndex {
        let mut builder = SearchIndexBuilder::default();
        for doc in docs {
            builder.add(&doc);
        }
        builder.finish()
    }

    /// Returns up to `limit` matching operations, best first, without duplicates.
    #[must_use]
    pub fn search(&self, question: &str, limit: usize) -> Vec<SearchHit> {
        self.search_among(question, limit, |_| true)
    }

    /// Searches only the operations at positions for which `fits` is true.
    #[must_use]
    pub fn search_among(&self, question: &str, limit: usize, fits: impl Fn(usize) -> bool) -> Vec<SearchHit> {
        Ranking::new(self, &query::read(self, question)).hits(limit, fits)
    }

    /// Returns the number of operations.
    #[must_use]
    pub fn len(&self) -> usize {
        self.docs.len()
    }

    /// Returns whether there are no operations.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.docs.is_empty()
    }

    pub(super) fn terms(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn term(&self, id: usize) -> &str {
        let start = id.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(id).copied().unwrap_or(start);
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Returns the position of the first stem that is not before `text` in the alphabet.
    pub(super) fn position(&self, text: &str) -> usize {
        let (mut low, mut high) = (0, self.terms());
        while low < high {
            let middle = usize::midpoint(low, high);
            if self.term(middle) < text { low = middle + 1 } else { high = middle }
        }
        low
    }

    /// Returns the operations with this name.
    pub(super) fn named(&self, name: &str) -> impl Iterator<Item = u32> {
        let start = self.names.partition_point(|(known, _)| **known < *name);
        let named = self.names.get(start..).unwrap_or_default();
        named.iter().take_while(move |(known, _)| **known == *name).map(|(_, doc)| *doc)
    }

    /// Returns the number of a stem.
    pub(super) fn find(&self, stem: &str) -> Option<usize> {
        let position = self.position(stem);
        (position < self.terms() && self.term(position) == stem).then_some(position)
    }

    pub(super) fn postings(&self, id: usize) -> &[Posting] {
        let start = id.checked_sub(1).and_then(|before| self.runs.get(before)).copied().unwrap_or(0);
        let end = self.runs.get(id).copied().unwrap_or(start);
        self.postings.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Returns how rare a stem is. Rare stems have more weight.
    pub(super) fn rarity(&self, id: usize) -> f32 {
        rarity(self.postings(id).len(), self.docs.len())
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of operations")]
fn rarity(holders: usize, all: usize) -> f32 {
    let (holders, all) = (holders as f32, all as f32);
    (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln()
}

/// What is known about a word.
#[derive(Debug, Clone, Copy)]
struct WordInfo {
    /// The number of its stem.
    stem: u32,
    /// Whether it is a stop word.
    empty: bool,
    /// Whether it names the subject in a name or path.
    names: bool,
    /// Its pieces: the first one in the list of all pieces, and their number.
    pieces: (u32, u8),
}

/// The occurrences of a stem in the current operation.
#[derive(Debug, Clone, Copy, Default)]
struct StemOccurrence {
    /// One bit for each field.
    fields: u16,
    weight: f32,
    marks: u8,
    count: u8,
}

/// Builds an index from operations that are added one at a time.
#[derive(Debug, Default)]
pub struct SearchIndexBuilder {
    /// All words so far, so that each is stemmed once.
    words: HashMap<Box<str>, WordInfo>,
    numbers: HashMap<Box<str>, u32>,
    /// The vector of the first word with each stem.
    stem_vectors: Vec<TextVector>,
    /// Stem and posting.
    found: Vec<(u32, Posting)>,
    docs: Vec<DocInfo>,
    /// The occurrences in the current operation, by stem.
    occurrences: Vec<StemOccurrence>,
    /// The stems of the current operation.
    touched: Vec<u32>,
    names: Vec<Box<str>>,
    buffer: String,
    /// The pieces of all words, for their vectors.
    pieces: Vec<u32>,
    vectors: Vec<TextVector>,
    /// The text of the current operation: its vector, and its number of words.
    sum: VectorSum,
    length: u16,
    /// Whether the current field only repeats the name, such as a title made from it. It is no further text.
    repeats_name: bool,
    paths: usize,
}

impl SearchIndexBuilder {
    /// Adds the next operation.
    pub fn add(&mut self, doc: &Doc<'_>) {
        let vocabulary = Vocabulary::get();
        self.read(doc.name, IndexField::Name, vocabulary);
        let single = self.read_path(doc.path, vocabulary);
        self.repeats_name = snake_case(doc.summary) == doc.name;
        self.read(doc.summary, IndexField::Summary, vocabulary);
        self.repeats_name = false;
        for tag in doc.tags {
            self.read(tag, IndexField::Tag, vocabulary);
        }
        for param in doc.params.iter().take(MAX_NAMES) {
            let place =
                if doc.category == Category::Update { IndexField::BodyParam } else { IndexField::Param };
            self.read(param, place, vocabulary);
        }
        for field in doc.fields.iter().take(MAX_NAMES) {
            self.read(field, IndexField::Field, vocabulary);
        }
        self.read_description(doc.description, vocabulary);
        self.finish_doc();
        let needs = u8::try_from(doc.path.matches('{').count()).unwrap_or(u8::MAX);
        self.docs.push(DocInfo {
            category: doc.category,
            deprecated: doc.deprecated,
            single,
            needs,
            head: 0.0,
            words: 0,
            list: doc.name.starts_with("list") || doc.name.starts_with("search"),
            rank: 0,
            length: std::mem::take(&mut self.length),
        });
        self.names.push(doc.name.into());
        self.paths += usize::from(!doc.path.is_empty());
        if VectorTable::get().is_some() {
            self.vectors.push(std::mem::take(&mut self.sum).vector());
        }
    }

    /// Returns the finished index.
    #[must_use]
    pub fn finish(mut self) -> SearchIndex {
        let mut stems: Vec<(Box<str>, u32)> = std::mem::take(&mut self.numbers).into_iter().collect();
        stems.sort_unstable();
        let mut index = SearchIndex { docs: std::mem::take(&mut self.docs), ..SearchIndex::default() };
        let mut by_name: Vec<(&str, &mut DocInfo)> =
            self.names.iter().map(|name| &**name).zip(&mut index.docs).collect();
        by_name.sort_by_key(|(name, _)| *name);
        for (rank, (_, info)) in by_name.into_iter().enumerate() {
            info.rank = number(rank);
        }
        let mut place = vec![0_u32; stems.len()];
        for (at, (stem, id)) in stems.iter().enumerate() {
            if let Some(slot) = place.get_mut(*id as usize) {
                *slot = number(at);
            }
            index.stem_vectors.extend(self.stem_vectors.get(*id as usize));
            index.text.push_str(stem);
            index.ends.push(number(index.text.len()));
        }
        // A counting sort by stem. It keeps the order of operations.
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
        let names = self.names.iter().zip(0..).map(|(name, doc)| (snake_case(name).into(), doc));
        index.names = names.collect();
        index.names.sort_unstable();
        index.vectors = std::mem::take(&mut self.vectors);
        let words: usize = index.docs.iter().map(|info| usize::from(info.length)).sum();
        index.mean_length = share(words, index.docs.len());
        index.paths = share(self.paths, index.docs.len());
        index
    }

    fn read(&mut self, text: &str, place: IndexField, vocabulary: &Vocabulary) {
        let mut buffer = std::mem::take(&mut self.buffer);
        each_word(text, &mut buffer, |word| {
            let known = self.word_info(word, vocabulary);
            self.add_occurrence(known, place, 0);
        });
        self.buffer = buffer;
    }

    fn word_info(&mut self, word: &str, vocabulary: &Vocabulary) -> WordInfo {
        if let Some(known) = self.words.get(word) {
            return *known;
        }
        let stemmed = stem(word);
        let empty = STOP_WORDS.contains(word);
        let names = !empty && stemmed.len() > 1 && !vocabulary.is_common(&stemmed);
        let next = number(self.numbers.len());
        let stem = *self.numbers.entry(stemmed.into()).or_insert(next);
        let start = number(self.pieces.len());
        if let Some(table) = VectorTable::get() {
            table.pieces(word, |piece| self.pieces.push(piece));
        }
        let count = self.pieces.len().saturating_sub(start as usize);
        if stem == next
            && let Some(table) = VectorTable::get()
        {
            let mut sum = VectorSum::default();
            let pieces = self.pieces.get(start as usize..).unwrap_or_default();
            pieces.iter().filter(|_| !empty).for_each(|piece| table.add(*piece, &mut sum));
            self.stem_vectors.push(sum.vector());
        }
        let pieces = (start, u8::try_from(count).unwrap_or(u8::MAX));
        let known = WordInfo { stem, empty, names, pieces };
        self.words.insert(word.into(), known);
        known
    }

    /// Adds a word to the vector of the current operation.
    fn add_to_vector(&mut self, known: WordInfo) {
        let Some(table) = VectorTable::get() else { return };
        if usize::from(self.length) < MAX_VECTOR_WORDS {
            let (start, count) = (known.pieces.0 as usize, usize::from(known.pieces.1));
            for piece in self.pieces.get(start..start + count).unwrap_or_default() {
                table.add(*piece, &mut self.sum);
            }
        }
    }

    /// Reads a path. The last literal segment counts most. Returns whether the path ends in a placeholder.
    fn read_path(&mut self, path: &str, vocabulary: &Vocabulary) -> bool {
        let segments = || path.split('/').filter(|segment| !segment.is_empty());
        let single = segments().next_back().is_some_and(|segment| segment.ends_with('}'));
        let mut place = 0;
        let mut one = false;
        for segment in segments().rev() {
            if segment.contains('{') {
                self.read(segment, IndexField::Placeholder, vocabulary);
                one = true;
                continue;
            }
            let stands = match place {
                0 => IndexField::Subject,
                1 => IndexField::Owner,
                _ => IndexField::Area,
            };
            self.read_segment(segment, stands, std::mem::take(&mut one), vocabulary);
            place += 1;
        }
        single
    }

    /// Reads a literal segment. Its last word is the noun: `branch-policies` are policies.
    fn read_segment(&mut self, segment: &str, place: IndexField, one: bool, vocabulary: &Vocabulary) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut before: Option<WordInfo> = None;
        let mut last = String::new();
        each_word(segment, &mut buffer, |word| {
            let known = self.word_info(word, vocabulary);
            if let Some(before) = before.replace(known) {
                self.add_occurrence(before, place, 0);
            }
            last.clear();
            last.push_str(word);
        });
        self.buffer = buffer;
        if let Some(known) = before {
            let plural = is_plural(&last);
            let topic = if matches!(place, IndexField::Subject) { TOPIC } else { 0 };
            self.add_occurrence(
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
        let text = text.get(..text.floor_char_boundary(MAX_DESCRIPTION_BYTES)).unwrap_or_default();
        let first = first_sentence(text);
        let rest = text.get(first.len()..).unwrap_or_default();
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut left = MAX_DESCRIPTION_WORDS;
        for (part, place) in [(first, IndexField::Sentence), (rest, IndexField::Description)] {
            each_word(part, &mut buffer, |word| {
                if left == 0 {
                    return;
                }
                let known = self.word_info(word, vocabulary);
                if !known.empty {
                    left -= 1;
                    self.add_occurrence(known, place, 0);
                }
            });
        }
        self.buffer = buffer;
    }

    /// Adds a word. It counts once for each field.
    fn add_occurrence(&mut self, known: WordInfo, place: IndexField, marks: u8) {
        let is_text = place.is_text() && !self.repeats_name;
        if is_text {
            self.add_to_vector(known);
            self.length = self.length.saturating_add(u16::from(!known.empty));
        }
        let index = known.stem as usize;
        if index >= self.occurrences.len() {
            self.occurrences.resize(index + 1, StemOccurrence::default());
        }
        let Some(occurrence) = self.occurrences.get_mut(index) else { return };
        let mark = 1_u16 << place as u8;
        if occurrence.fields == 0 {
            self.touched.push(known.stem);
        }
        if occurrence.fields & mark == 0 {
            occurrence.fields |= mark;
            occurrence.weight += place.weight();
        }
        occurrence.marks |= marks;
        occurrence.count = occurrence.count.saturating_add(u8::from(is_text));
        if place.is_head() && known.names {
            occurrence.marks |= HEAD;
        }
    }

    /// Turns the occurrences in the current operation into postings, one for each stem.
    fn finish_doc(&mut self) {
        let doc = number(self.docs.len());
        for stem in self.touched.drain(..) {
            let Some(occurrence) = self.occurrences.get_mut(stem as usize).map(std::mem::take) else {
                continue;
            };
            let weight = occurrence.weight / (occurrence.weight + WEIGHT_SATURATION);
            self.found.push((stem, Posting::new(doc, weight, occurrence.marks, occurrence.count)));
        }
    }
}

fn weigh_heads(index: &mut SearchIndex) {
    let mut heads = vec![(0.0_f32, 0_u8); index.docs.len()];
    let vocabulary = Vocabulary::get();
    for id in 0..index.terms() {
        let caller = vocabulary.is_caller(index.term(id));
        let rarity = index.rarity(id) * if caller { CALLER_WEIGHT } else { 1.0 };
        for posting in index.postings(id).iter().filter(|posting| posting.is_head()) {
            if let Some(head) = heads.get_mut(posting.doc as usize) {
                head.0 += rarity;
                head.1 = head.1.saturating_add(u8::from(!caller));
            }
        }
    }
    for (info, head) in index.docs.iter_mut().zip(heads) {
        (info.head, info.words) = head;
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of operations and words")]
fn share(part: usize, all: usize) -> f32 {
    if all == 0 { 0.0 } else { part as f32 / all as f32 }
}

/// Converts a count to the index's number type. No catalog has four billion words.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
