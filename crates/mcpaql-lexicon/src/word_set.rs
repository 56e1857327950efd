//! Sets and maps of words, each written as one text.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::OnceLock;

/// A set of words, written as one text. The set is built on first use.
#[derive(Debug)]
pub struct WordSet {
    list: &'static str,
    set: OnceLock<HashSet<&'static str, BuildWordHasher>>,
}

impl WordSet {
    /// Creates a set from words separated by spaces.
    #[must_use]
    pub const fn of(list: &'static str) -> WordSet {
        WordSet { list, set: OnceLock::new() }
    }

    /// Returns whether the set has a word. All words are lower case.
    #[must_use]
    pub fn contains(&self, word: &str) -> bool {
        // No listed word is longer, and hashing a long word takes long.
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

    /// Returns the words in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.list.split_whitespace()
    }
}

/// Maximum bytes of a listed word.
pub(crate) const MAX_WORD_BYTES: usize = 24;

/// A map from words.
pub(crate) type WordMap<T> = HashMap<&'static str, T, BuildWordHasher>;

/// A hash for short words. The words are known at compile time, so no input can add colliding ones.
pub(crate) type BuildWordHasher = BuildHasherDefault<WordHasher>;

/// Hashes a word by its start, its end and its length. Up to sixteen letters, this covers the whole word.
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

    /// The terminator of a string adds nothing.
    #[inline]
    fn write_u8(&mut self, _: u8) {}

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}
