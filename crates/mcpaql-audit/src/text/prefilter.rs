//! Reads a text once for all rules: which of the words that rules look for it contains, and which kinds of characters.
//!
//! Most rules about texts look for words that hardly any text contains, so a single pass rules out most texts.
//!
//! What always holds: a text is read once, byte by byte. Case is ignored, and any white space counts as one blank. A word that the
//! prefilter does not report is not in the text; a word that it reports may be, and the rule has to check.

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use std::sync::LazyLock;

/// The result of reading a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Prefilter {
    words: u64,
    marks: u8,
}

/// A group of words that a rule looks for together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordGroup(u64);

impl WordGroup {
    /// Prefixes of well-known keys.
    pub(crate) const KEY: WordGroup = WordGroup(1 << 63);
    /// Names of passwords and tokens.
    pub(crate) const PASSWORD: WordGroup = WordGroup(1 << 62);
    /// The `://` of an address.
    pub(crate) const ADDRESS: WordGroup = WordGroup(1 << 61);
    /// Schemes of data and script links.
    pub(crate) const SCHEME: WordGroup = WordGroup(1 << 60);
    /// The start of a comment in HTML or Markdown.
    pub(crate) const COMMENT: WordGroup = WordGroup(1 << 59);
}

impl Prefilter {
    pub(crate) fn of(text: &str) -> Prefilter {
        let words = WORDS.as_ref().map_or(u64::MAX, |words| words.read(text));
        Prefilter { words, marks: character_flags(text) }
    }

    /// Returns whether the text may contain any of the words.
    #[inline]
    pub(crate) const fn holds(self, words: WordGroup) -> bool {
        self.words & words.0 != 0
    }

    /// Returns whether the text has anything other than printable ASCII, blanks, tabs and line breaks.
    #[inline]
    pub(crate) const fn has_special_characters(self) -> bool {
        self.marks & (FOREIGN | CONTROL) != 0
    }

    /// Returns whether the text may have control characters other than tabs and line breaks.
    #[inline]
    pub(crate) const fn may_control(self) -> bool {
        self.marks & CONTROL != 0
    }
}

/// Prefixes of all known keys, and the header of private keys, in lower case.
const KEY_BEGINNINGS: &[&str] = &[
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_live_",
    "rk_live_",
    "xox",
    "akia",
    "aiza",
    "npm_",
    "hf_",
    "sg.",
    "eyj",
    "private key-----",
];
/// Names of passwords, keys and tokens, in lower case.
const PASSWORD_NAMES: &[&str] = &[
    "password",
    "passwd",
    "pwd",
    "apikey",
    "api_key",
    "api-key",
    "secretkey",
    "secret_key",
    "secret-key",
    "accesskey",
    "access_key",
    "access-key",
    "clientsecret",
    "client_secret",
    "client-secret",
    "authtoken",
    "auth_token",
    "auth-token",
    "accesstoken",
    "access_token",
    "access-token",
];

/// Returns all words with their group.
fn words() -> impl Iterator<Item = (&'static str, WordGroup)> {
    let groups: [(&[&str], WordGroup); 5] = [
        (KEY_BEGINNINGS, WordGroup::KEY),
        (PASSWORD_NAMES, WordGroup::PASSWORD),
        (&["://"], WordGroup::ADDRESS),
        (&["data:", "javascript:"], WordGroup::SCHEME),
        (&["<!--", "[//]:"], WordGroup::COMMENT),
    ];
    groups.into_iter().flat_map(|(words, group)| words.iter().map(move |word| (*word, group)))
}

const FOREIGN: u8 = 1;
const CONTROL: u8 = 2;

/// Returns the kinds of characters in a text.
fn character_flags(text: &str) -> u8 {
    // No early exit, so that the compiler can vectorize the loop.
    text.bytes().fold(0, |marks, byte| {
        let is_foreign = byte > 0x7f;
        // 0xc2 is the first byte of control characters outside ASCII.
        let is_control = ((byte < b' ') & (byte != b'\t') & (byte != b'\n') & (byte != b'\r'))
            | (byte == 0x7f)
            | (byte == 0xc2);
        marks | (u8::from(is_foreign) * FOREIGN) | (u8::from(is_control) * CONTROL)
    })
}

/// The automaton; `None` if it cannot be built, and then every word is reported.
static WORDS: LazyLock<Option<WordAutomaton>> = LazyLock::new(WordAutomaton::new);

struct WordAutomaton {
    automaton: DFA,
    start: StateID,
    /// The state after two blanks; further blanks are skipped.
    blanks: StateID,
    /// Maps each byte to lower case, and white space to a blank.
    folded: [u8; 256],
    /// The groups of each word, by its pattern number.
    groups: Vec<u64>,
}

impl WordAutomaton {
    fn new() -> Option<WordAutomaton> {
        let (words, groups): (Vec<&str>, Vec<u64>) =
            words().map(|(word, group)| (word, group.0)).chain([("  ", 0)]).unzip();
        let automaton = DFA::builder().prefilter(false).build(words).ok()?;
        let start = automaton.start_state(Anchored::No).ok()?;
        let blanks = [b' '; 2];
        let blanks =
            blanks.iter().fold(start, |state, byte| automaton.next_state(Anchored::No, state, *byte));
        let folded = std::array::from_fn(|byte| match u8::try_from(byte).unwrap_or_default() {
            b'\t'..=b'\r' => b' ',
            byte => byte.to_ascii_lowercase(),
        });
        Some(WordAutomaton { automaton, start, blanks, folded, groups })
    }

    /// Returns the groups of all words in a text. Steps through the automaton byte by byte, to ignore case and repeated white space.
    fn read(&self, text: &str) -> u64 {
        let (mut found, mut state) = (0, self.start);
        for byte in text.bytes() {
            let byte = self.folded.get(usize::from(byte)).copied().unwrap_or(byte);
            let next = self.automaton.next_state(Anchored::No, state, byte);
            if self.automaton.is_special(next) {
                if next == self.blanks {
                    continue;
                }
                found |= self.groups_ending_at(next);
            }
            state = next;
        }
        found
    }

    /// Returns the groups of the words that end in a state.
    fn groups_ending_at(&self, state: StateID) -> u64 {
        if !self.automaton.is_match(state) {
            return 0;
        }
        (0..self.automaton.match_len(state))
            .filter_map(|index| self.groups.get(self.automaton.match_pattern(state, index).as_usize()))
            .fold(0, |found, group| found | group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_word_is_found_at_any_position_and_in_any_case() {
        for (word, group) in words() {
            for text in [
                word.to_owned(),
                format!("Text, then {} and more.", word.to_uppercase()),
                format!("é{}é", word.replace(' ', " \n\t ")),
                word.repeat(2),
            ] {
                assert!(Prefilter::of(&text).holds(group), "{word} in {text:?}");
            }
            assert!(word.is_ascii() && !word.contains("  "), "{word}");
            assert_eq!(word, word.to_ascii_lowercase());
        }
        assert_eq!(Prefilter::of("Opens an issue of a repository.").words, 0);
    }

    #[test]
    fn special_characters_are_detected() {
        for control in ["\u{1b}[0m", "\u{7f}", "a\u{0b}b", "\u{85}", "\0"] {
            assert!(Prefilter::of(control).may_control(), "{control:?}");
        }
        assert!(!Prefilter::of("日本 — ünïcode \n\t").may_control());
        assert!(!Prefilter::of("Plain: text\r\n\twith ~tilde").has_special_characters());
        for odd in ["caf\u{e9}", "\u{1b}[0m", "\u{7f}", "a\u{0b}b", "\u{200b}"] {
            assert!(Prefilter::of(odd).has_special_characters(), "{odd:?}");
        }
    }

    /// Finds the words one by one, for comparison.
    fn one_by_one(text: &str) -> u64 {
        let blank = |c: char| c.is_ascii_whitespace() || c == '\u{b}';
        let mut plain = String::new();
        for c in text.chars() {
            match blank(c) {
                true if plain.ends_with(' ') => {}
                true => plain.push(' '),
                false => plain.push(c.to_ascii_lowercase()),
            }
        }
        words().filter(|(word, _)| plain.contains(word)).fold(0, |found, (_, group)| found | group.0)
    }

    proptest! {
        #[test]
        fn the_automaton_finds_the_same_words_as_a_plain_search(pieces in prop::collection::vec(0_usize..400, 0..8), cut in 0_usize..4) {
            let all: Vec<&str> = words().map(|(word, _)| word).collect();
            let text: String = pieces.iter().map(|piece| {
                let word = all.get(*piece).copied().unwrap_or(" the  ");
                word.get(..word.len().saturating_sub(cut)).unwrap_or(word)
            }).collect();
            prop_assert_eq!(Prefilter::of(&text).words, one_by_one(&text), "{:?}", text);
        }
    }
}
