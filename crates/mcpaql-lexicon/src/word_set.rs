//! Sets and tables of words, written as one text each.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::OnceLock;

/// Some words, written as one text and looked up in a set that is built when it is first used.
#[derive(Debug)]
pub struct WordSet {
    list: &'static str,
    set: OnceLock<HashSet<&'static str, BuildWordHasher>>,
}

impl WordSet {
    /// The words of a text, with blanks between them.
    #[must_use]
    pub const fn of(list: &'static str) -> WordSet {
        WordSet { list, set: OnceLock::new() }
    }

    /// Whether a word is one of them; they are lower case.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        // No word of a list is longer, and hashing others would take long.
        word.len() <= MAX_WORD_BYTES && self.set.get_or_init(|| self.build()).contains(word)
    }

    fn build(&self) -> HashSet<&'static str, BuildWordHasher> {
        debug_assert!(
            self.iter().all(|word| word.len() <= MAX_WORD_BYTES),
            "a word is too long: {}",
            self.list
        );
        self.iter().collect()
    }

    /// The words in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.list.split_whitespace()
    }
}

/// Longer words stand in no list.
pub(crate) const MAX_WORD_BYTES: usize = 24;

/// Something about each of some words.
pub(crate) type WordMap<T> = HashMap<&'static str, T, BuildWordHasher>;

/// A hash for short words that are known beforehand: nobody can choose them so that they collide.
pub(crate) type BuildWordHasher = BuildHasherDefault<WordHasher>;

/// Hashes a word by how it begins, how it ends and how long it is, which is all of it up to sixteen letters.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WordHasher(u64);

impl Hasher for WordHasher {
    #[inline]
    fn write(&mut self, word: &[u8]) {
        let (first, last) = match (word.first_chunk(), word.last_chunk()) {
            (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
            _ => match (word.first_chunk(), word.last_chunk()) {
                (Some(first), Some(last)) => {
                    (u64::from(u32::from_le_bytes(*first)), u64::from(u32::from_le_bytes(*last)))
                }
                _ => (word.iter().fold(0, |all, byte| (all << 8) | u64::from(*byte)), 0),
            },
        };
        let mixed = (first ^ last.rotate_left(29) ^ word.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= mixed ^ (mixed >> 32);
    }

    /// The end of a text says nothing more.
    #[inline]
    fn write_u8(&mut self, _: u8) {}

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
