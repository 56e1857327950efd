//! Vectors of texts: texts with a similar meaning have similar vectors, even if they have no word in common.
//!
//! A table has a vector for each of some thousand words and parts of words. The vector of a text is the sum of those of
//! its words, scaled to length one. Nothing is computed by a model. The table was learned from one; see
//! `bench/retrieval/vectors`.
//!
//! The file, in this order, with little-endian numbers:
//!
//! | bytes | contents |
//! |---|---|
//! | 4 | `MQV1` |
//! | 4, 4, 4 | `s`, the pieces that start a word; `c`, the pieces that continue one; `d`, the dimensions |
//! | `s + c` | length of each piece, in bytes |
//! | `s + c` | scale of each vector: `2^((byte - 255) / 16)` |
//! | `(s + c) · d` | the vectors, one signed byte for each dimension |
//! | the rest | the pieces in alphabetical order, first those that start a word |
//!
//! What always holds: the same text has the same vector on every machine. A text without known words has none. Without
//! the feature `vectors` there is no table.

use std::sync::LazyLock;

/// Number of dimensions.
pub const DIMENSIONS: usize = 64;
/// Maximum bytes of a word. Longer runs of letters are data.
const MAX_WORD_BYTES: usize = 24;
/// Bytes before the lengths.
const HEADER_BYTES: usize = 16;
const MAGIC: &[u8] = b"MQV1";

#[cfg(feature = "vectors")]
static FILE: &[u8] = include_bytes!("vectors/table.bin");

/// The table of vectors.
#[derive(Debug)]
pub struct VectorTable {
    /// Number of pieces that start a word. They come first.
    starts: usize,
    /// Where each piece ends in `text`.
    ends: Vec<u32>,
    scales: &'static [u8],
    vectors: &'static [u8],
    text: &'static [u8],
}

impl VectorTable {
    /// Returns the table, read on first use; `None` without the feature `vectors`.
    #[must_use]
    pub fn get() -> Option<&'static VectorTable> {
        #[cfg(feature = "vectors")]
        static TABLE: LazyLock<Option<VectorTable>> = LazyLock::new(|| VectorTable::read(FILE));
        #[cfg(not(feature = "vectors"))]
        static TABLE: LazyLock<Option<VectorTable>> = LazyLock::new(|| VectorTable::read(&[]));
        TABLE.as_ref()
    }

    fn read(file: &'static [u8]) -> Option<VectorTable> {
        let (header, rest) = file.split_at_checked(HEADER_BYTES)?;
        let number = |at: usize| {
            let bytes: [u8; 4] = header.get(at..at + 4)?.try_into().ok()?;
            usize::try_from(u32::from_le_bytes(bytes)).ok()
        };
        let (starts, continuing, dimensions) = (number(4)?, number(8)?, number(12)?);
        if !header.starts_with(MAGIC) || dimensions != DIMENSIONS {
            return None;
        }
        let count = starts.checked_add(continuing)?;
        let (lengths, rest) = rest.split_at_checked(count)?;
        let (scales, rest) = rest.split_at_checked(count)?;
        let (vectors, text) = rest.split_at_checked(count.checked_mul(DIMENSIONS)?)?;
        let mut end = 0;
        let ends: Vec<u32> = lengths
            .iter()
            .map(|length| {
                end += u32::from(*length);
                end
            })
            .collect();
        (end as usize == text.len()).then_some(VectorTable { starts, ends, scales, vectors, text })
    }

    /// Calls `piece` with the number of every piece of a word: the longest known pieces from left to right. A word that
    /// cannot be split into known pieces has none. The word is lower case.
    pub fn pieces(&self, word: &str, mut piece: impl FnMut(u32)) {
        for letters in word.split(|c: char| !c.is_ascii_lowercase()) {
            if letters.is_empty() || letters.len() > MAX_WORD_BYTES {
                continue;
            }
            let mut found = [0_u32; MAX_WORD_BYTES];
            let mut count = 0;
            let mut rest = letters.as_bytes();
            while !rest.is_empty() {
                let Some((number, length)) = self.longest(rest, count == 0) else { break };
                if let Some(slot) = found.get_mut(count) {
                    *slot = number;
                }
                count += 1;
                rest = rest.get(length..).unwrap_or_default();
            }
            if rest.is_empty() {
                found.iter().take(count).for_each(|number| piece(*number));
            }
        }
    }

    /// Returns the longest piece that the letters start with, and its length.
    fn longest(&self, letters: &[u8], first: bool) -> Option<(u32, usize)> {
        (1..=letters.len()).rev().find_map(|length| {
            let number = self.find(letters.get(..length)?, first)?;
            Some((u32::try_from(number).ok()?, length))
        })
    }

    fn find(&self, piece: &[u8], first: bool) -> Option<usize> {
        let (mut low, mut high) = if first { (0, self.starts) } else { (self.starts, self.ends.len()) };
        while low < high {
            let middle = usize::midpoint(low, high);
            match self.piece(middle).cmp(piece) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    fn piece(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(number).copied().unwrap_or(start);
        self.text.get(start as usize..end as usize).unwrap_or_default()
    }

    /// Adds the vector of a piece to a sum.
    pub fn add(&self, piece: u32, sum: &mut VectorSum) {
        let number = piece as usize;
        let start = number * DIMENSIONS;
        let (Some(scale), Some(vector)) =
            (self.scales.get(number), self.vectors.get(start..start + DIMENSIONS))
        else {
            return;
        };
        let scale = ((f32::from(*scale) - 255.0) / 16.0).exp2();
        for (total, byte) in sum.0.iter_mut().zip(vector) {
            *total += scale * f32::from(i8::from_le_bytes([*byte]));
        }
    }
}

/// The sum of the vectors of some words.
#[derive(Debug, Clone)]
pub struct VectorSum([f32; DIMENSIONS]);

impl Default for VectorSum {
    fn default() -> VectorSum {
        VectorSum([0.0; DIMENSIONS])
    }
}

impl VectorSum {
    /// Returns the length of the sum. Words with much meaning are long.
    #[must_use]
    pub fn length(&self) -> f32 {
        self.0.iter().map(|value| value * value).sum::<f32>().sqrt()
    }

    /// Returns the vector of the text; zero if none of its words is known.
    #[must_use]
    pub fn vector(&self) -> TextVector {
        let length = self.length();
        if length <= 0.0 {
            return TextVector::default();
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most 127")]
        TextVector(self.0.map(|value| (value / length * TextVector::ONE).round() as i8))
    }
}

/// The vector of a text, of length one or zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextVector([i8; DIMENSIONS]);

impl Default for TextVector {
    fn default() -> TextVector {
        TextVector([0; DIMENSIONS])
    }
}

impl TextVector {
    /// The value that stands for one.
    const ONE: f32 = 127.0;

    /// Returns the cosine of the angle between two vectors: 1 for the same meaning, about 0 for unrelated texts.
    #[must_use]
    pub fn similarity(&self, other: &TextVector) -> f32 {
        let dot: i32 = self.0.iter().zip(&other.0).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
        #[expect(clippy::cast_precision_loss, reason = "at most 64 · 127²")]
        let dot = dot as f32;
        dot / (TextVector::ONE * TextVector::ONE)
    }
}

#[cfg(test)]
#[cfg(feature = "vectors")]
mod tests {
    use super::*;
    use crate::words::each_word;

    fn vector(text: &str) -> TextVector {
        let table = VectorTable::get().unwrap();
        let mut sum = VectorSum::default();
        each_word(text, &mut String::new(), |word| table.pieces(word, |piece| table.add(piece, &mut sum)));
        sum.vector()
    }

    fn pieces(word: &str) -> Vec<String> {
        let table = VectorTable::get().unwrap();
        let mut found = Vec::new();
        table.pieces(word, |number| {
            found.push(String::from_utf8(table.piece(number as usize).to_vec()).unwrap());
        });
        found
    }

    /// The checksum that `train.py` prints: FNV-1a over the bytes.
    fn checksum(bytes: &[u8]) -> u64 {
        bytes
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
    }

    #[test]
    fn the_file_is_the_one_that_was_trained() {
        assert_eq!(format!("{:016x}", checksum(FILE)), include_str!("vectors/checksum").trim());
        assert!(FILE.len() < 2_200_000, "{}", FILE.len());
    }

    #[test]
    fn pieces_are_sorted_so_that_they_are_found() {
        let table = VectorTable::get().unwrap();
        for range in [0..table.starts, table.starts..table.ends.len()] {
            let all: Vec<&[u8]> = range.map(|number| table.piece(number)).collect();
            assert!(all.len() > 1000 && all.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn a_damaged_file_is_no_table() {
        assert!(VectorTable::read(&[]).is_none());
        assert!(VectorTable::read(b"MQV1").is_none());
        let cut: &'static [u8] = FILE.get(..FILE.len() - 1).unwrap();
        assert!(VectorTable::read(cut).is_none());
        assert!(VectorTable::read(Box::leak(vec![0xff; 64].into_boxed_slice())).is_none());
    }

    #[test]
    fn a_word_is_split_into_the_longest_known_pieces() {
        assert_eq!(pieces("weather"), ["weather"]);
        assert!(pieces("unforecastable").len() > 1);
        assert_eq!(pieces("unforecastable").concat(), "unforecastable");
        assert_eq!(pieces("weather2"), ["weather"]);
        assert!(pieces("名前").is_empty());
        assert!(pieces(&"a".repeat(25)).is_empty());
    }

    #[test]
    fn texts_with_a_similar_meaning_have_similar_vectors() {
        let question = vector("how hot will it be tomorrow");
        let near = question.similarity(&vector("weather forecast"));
        let far = question.similarity(&vector("delete a user account"));
        assert!(near > far + 0.15, "{near} {far}");
    }

    #[test]
    fn a_text_without_known_words_is_similar_to_nothing() {
        assert_eq!(vector("12345 …"), TextVector::default());
        assert!(vector("12345").similarity(&vector("weather")).abs() < f32::EPSILON);
    }
}
