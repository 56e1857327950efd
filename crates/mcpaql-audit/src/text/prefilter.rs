//! One look at a text, for all rules at once: which of the words that rules ask for it holds, and what its characters are.
//!
//! Most rules about texts look for what hardly any text holds. What always holds: a text is read once and byte by byte, whatever
//! it says; case does not matter, and any white space is one blank; what is said to be missing is missing, and what may be there
//! is looked at closely by the rule that asks.

use super::patterns;
use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa::DFA;
use std::sync::LazyLock;

/// What was seen in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Prefilter {
    words: u64,
    marks: u8,
}

/// Words that somebody asks for together: a text holds one of them or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WordGroup(u64);

impl WordGroup {
    /// The beginnings of well-known keys.
    pub(crate) const KEY: WordGroup = WordGroup(1 << 63);
    /// What a password stands behind.
    pub(crate) const PASSWORD: WordGroup = WordGroup(1 << 62);
    /// The middle of an address.
    pub(crate) const ADDRESS: WordGroup = WordGroup(1 << 61);
    /// What stands before data and scripts in a link.
    pub(crate) const SCHEME: WordGroup = WordGroup(1 << 60);
    /// The beginning of a comment in HTML or Markdown.
    pub(crate) const COMMENT: WordGroup = WordGroup(1 << 59);
    /// Parts of names that ask for a secret.
    pub(crate) const SECRET: WordGroup = WordGroup(1 << 58);
    /// Any pattern of a poisoned tool.
    pub(crate) const POISON: WordGroup = WordGroup((1 << 58) - 1);

    /// What a pattern of a poisoned tool needs first.
    pub(crate) const fn poison(pattern: usize) -> WordGroup {
        WordGroup(1 << pattern)
    }
}

impl Prefilter {
    pub(crate) fn of(text: &str) -> Prefilter {
        let words = WORDS.as_ref().map_or(u64::MAX, |words| words.read(text));
        Prefilter { words, marks: character_flags(text) }
    }

    /// Whether any of the words may be there.
    #[inline]
    pub(crate) const fn holds(self, words: WordGroup) -> bool {
        self.words & words.0 != 0
    }

    /// Whether there is anything but printed ASCII, blanks, tabs and ends of lines.
    #[inline]
    pub(crate) const fn has_special_characters(self) -> bool {
        self.marks & (FOREIGN | CONTROL) != 0
    }

    /// Whether a control character may be there, besides tabs and ends of lines.
    #[inline]
    pub(crate) const fn may_control(self) -> bool {
        self.marks & CONTROL != 0
    }
}

/// What every known key begins with, and what stands in every private key; in lower case.
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
/// What passwords and the like are called, in lower case.
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

/// The words that are looked for, and who asks.
fn words() -> impl Iterator<Item = (&'static str, WordGroup)> {
    let fixed: [(&[&str], WordGroup); 6] = [
        (KEY_BEGINNINGS, WordGroup::KEY),
        (PASSWORD_NAMES, WordGroup::PASSWORD),
        (&["://"], WordGroup::ADDRESS),
        (&["data:", "javascript:"], WordGroup::SCHEME),
        (&["<!--", "[//]:"], WordGroup::COMMENT),
        (patterns::SECRET_NAMES, WordGroup::SECRET),
    ];
    let fixed = fixed.into_iter().flat_map(|(words, clue)| words.iter().map(move |word| (*word, clue)));
    fixed.chain(
        patterns::first_needs()
            .flat_map(|(pattern, words)| words.iter().map(move |word| (*word, WordGroup::poison(pattern)))),
    )
}

const FOREIGN: u8 = 1;
const CONTROL: u8 = 2;

/// What the characters of a text are.
fn character_flags(text: &str) -> u8 {
    // Without a way out, so that many bytes are compared at once.
    text.bytes().fold(0, |marks, byte| {
        let is_foreign = byte > 0x7f;
        // 0xc2 begins those control characters that are not of ASCII.
        let is_control = ((byte < b' ') & (byte != b'\t') & (byte != b'\n') & (byte != b'\r'))
            | (byte == 0x7f)
            | (byte == 0xc2);
        marks | (u8::from(is_foreign) * FOREIGN) | (u8::from(is_control) * CONTROL)
    })
}

/// An automaton over all words at once; nothing where it cannot be built, and then every word may be there.
static WORDS: LazyLock<Option<WordAutomaton>> = LazyLock::new(WordAutomaton::new);

struct WordAutomaton {
    automaton: DFA,
    start: StateID,
    /// The state behind two blanks, of which the second one changes nothing.
    blanks: StateID,
    /// By byte: in lower case, and a blank for all white space.
    folded: [u8; 256],
    /// By the number of a word, who asks.
    groups: Vec<u64>,
}

impl WordAutomaton {
    fn new() -> Option<WordAutomaton> {
        let (words, clues): (Vec<&str>, Vec<u64>) =
            words().map(|(word, clue)| (word, clue.0)).chain([("  ", 0)]).unzip();
        let automaton = DFA::builder().prefilter(false).build(words).ok()?;
        let start = automaton.start_state(Anchored::No).ok()?;
        let blanks = [b' '; 2];
        let blanks =
            blanks.iter().fold(start, |state, byte| automaton.next_state(Anchored::No, state, *byte));
        let folded = std::array::from_fn(|byte| match u8::try_from(byte).unwrap_or_default() {
            b'\t'..=b'\r' => b' ',
            byte => byte.to_ascii_lowercase(),
        });
        Some(WordAutomaton { automaton, start, blanks, folded, groups: clues })
    }

    /// Steps through the automaton instead of searching with it, so that case does not matter and any white space is one blank.
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

    /// Who asks for the words that end in a state.
    fn groups_ending_at(&self, state: StateID) -> u64 {
        if !self.automaton.is_match(state) {
            return 0;
        }
        (0..self.automaton.match_len(state))
            .filter_map(|index| self.groups.get(self.automaton.match_pattern(state, index).as_usize()))
            .fold(0, |found, clue| found | clue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_word_is_found_wherever_it_stands_and_however_it_is_spelled() {
        for (word, clue) in words() {
            for text in [
                word.to_owned(),
                format!("Text, then {} and more.", word.to_uppercase()),
                format!("é{}é", word.replace(' ', " \n\t ")),
                word.repeat(2),
            ] {
                assert!(Prefilter::of(&text).holds(clue), "{word} in {text:?}");
            }
            assert!(word.is_ascii() && !word.contains("  "), "{word}");
            assert_eq!(word, word.to_ascii_lowercase());
        }
        assert_eq!(Prefilter::of("Opens an issue of a repository.").words, 0);
    }

    #[test]
    fn odd_characters_are_seen() {
        for control in ["\u{1b}[0m", "\u{7f}", "a\u{0b}b", "\u{85}", "\0"] {
            assert!(Prefilter::of(control).may_control(), "{control:?}");
        }
        assert!(!Prefilter::of("日本 — ünïcode \n\t").may_control());
        assert!(!Prefilter::of("Plain: text\r\n\twith ~tilde").has_special_characters());
        for odd in ["caf\u{e9}", "\u{1b}[0m", "\u{7f}", "a\u{0b}b", "\u{200b}"] {
            assert!(Prefilter::of(odd).has_special_characters(), "{odd:?}");
        }
    }

    /// The same by looking for each word by itself.
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
        words().filter(|(word, _)| plain.contains(word)).fold(0, |found, (_, clue)| found | clue.0)
    }

    proptest! {
        #[test]
        fn nothing_is_missed_and_nothing_made_up(pieces in prop::collection::vec(0_usize..400, 0..8), cut in 0_usize..4) {
            let all: Vec<&str> = words().map(|(word, _)| word).collect();
            let text: String = pieces.iter().map(|piece| {
                let word = all.get(*piece).copied().unwrap_or(" the  ");
                word.get(..word.len().saturating_sub(cut)).unwrap_or(word)
            }).collect();
            prop_assert_eq!(Prefilter::of(&text).words, one_by_one(&text), "{:?}", text);
        }
    }
}
