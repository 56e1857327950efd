//! One look at a text, for all rules at once: which of the telling words it holds, and what its characters are.
//!
//! Most rules about texts look for what hardly any text holds. What always holds: a text is read once and byte by byte, whatever
//! it says; case does not matter, and any white space is one blank; what is said to be missing is missing, and what may be there
//! is looked at closely by the rule that asks.

use super::patterns;
use std::sync::LazyLock;

/// What was seen in a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Prefilter {
    words: u64,
    marks: u8,
}

/// Words that somebody asks for together: a text holds one of them or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clue(u64);

impl Clue {
    /// The beginnings of well-known keys.
    pub(crate) const KEY: Clue = Clue(1 << 63);
    /// What a password stands behind.
    pub(crate) const PASSWORD: Clue = Clue(1 << 62);
    /// The middle of an address.
    pub(crate) const ADDRESS: Clue = Clue(1 << 61);
    /// What stands before data and scripts in a link.
    pub(crate) const SCHEME: Clue = Clue(1 << 60);
    /// The beginning of a comment in HTML or Markdown.
    pub(crate) const COMMENT: Clue = Clue(1 << 59);
    /// Parts of names that ask for a secret.
    pub(crate) const SECRET: Clue = Clue(1 << 58);
    /// Any pattern of a poisoned tool.
    pub(crate) const POISON: Clue = Clue((1 << 58) - 1);

    /// What a pattern of a poisoned tool needs first.
    pub(crate) const fn poison(pattern: usize) -> Clue {
        Clue(1 << pattern)
    }
}

impl Prefilter {
    pub(crate) fn of(text: &str) -> Prefilter {
        READER.read(text)
    }

    /// Whether any of the words may be there.
    #[inline]
    pub(crate) const fn holds(self, words: Clue) -> bool {
        self.words & words.0 != 0
    }

    /// Whether there is anything but printed ASCII, blanks, tabs and ends of lines.
    #[inline]
    pub(crate) const fn is_odd(self) -> bool {
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
fn words() -> impl Iterator<Item = (&'static str, Clue)> {
    let fixed: [(&[&str], Clue); 6] = [
        (KEY_BEGINNINGS, Clue::KEY),
        (PASSWORD_NAMES, Clue::PASSWORD),
        (&["://"], Clue::ADDRESS),
        (&["data:", "javascript:"], Clue::SCHEME),
        (&["<!--", "[//]:"], Clue::COMMENT),
        (patterns::SECRET_NAMES, Clue::SECRET),
    ];
    let fixed = fixed.into_iter().flat_map(|(words, telling)| words.iter().map(move |word| (*word, telling)));
    fixed.chain(
        patterns::first_needs()
            .flat_map(|(pattern, words)| words.iter().map(move |word| (*word, Clue::poison(pattern)))),
    )
}

const FOREIGN: u8 = 1;
const CONTROL: u8 = 2;

/// What the characters of a text are.
fn marks(text: &str) -> u8 {
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

/// Classes of bytes: more than there are characters in words.
const CLASSES: usize = 64;
const BLANK: u8 = 1;

static READER: LazyLock<Reader> = LazyLock::new(|| Reader::new(words()));

/// An automaton that is in one state for each beginning of a word, as Aho and Corasick have it.
///
/// A state is the index of its row, so that the next one is found with an addition.
struct Reader {
    /// By byte, its class. Characters that are in no word share class 0.
    classes: [u8; 256],
    /// By state and class, the next state.
    next: Vec<u32>,
    /// By row, what ends there.
    found: Vec<u64>,
}

/// Set in a state where a word ends.
const END: u32 = 1 << 31;

impl Reader {
    fn new(words: impl Iterator<Item = (&'static str, Clue)>) -> Reader {
        let words: Vec<(&str, Clue)> = words.collect();
        let mut reader = Reader { classes: classes(&words), next: vec![0; CLASSES], found: vec![0] };
        let mut blanks = Vec::new();
        for (word, telling) in words {
            let mut state = 0;
            for byte in word.bytes() {
                let class = reader.class(byte);
                state = match reader.step(state, class) {
                    0 => {
                        let new = u32::try_from(reader.next.len()).unwrap_or_default();
                        reader.next.resize(reader.next.len() + CLASSES, 0);
                        reader.found.push(0);
                        reader.set(state, class, new);
                        if class == BLANK {
                            blanks.push(new);
                        }
                        new
                    }
                    known => known,
                };
            }
            if let Some(found) = reader.found.get_mut(row(state)) {
                *found |= telling.0;
            }
        }
        reader.complete(&blanks);
        reader
    }

    /// Adds where to go on when a word does not: with the longest beginning of another that was read, too.
    fn complete(&mut self, blanks: &[u32]) {
        let every = || 0..CLASSES as u8;
        let begun = every().map(|class| self.step(0, class)).filter(|state| *state != 0);
        let mut open: Vec<(u32, u32)> = begun.map(|state| (state, 0)).collect();
        let mut read = 0;
        while let Some((state, other)) = open.get(read).copied() {
            read += 1;
            let also = self.ends(other);
            if let Some(found) = self.found.get_mut(row(state)) {
                *found |= also;
            }
            for class in every() {
                let beside = self.step(other, class);
                match self.step(state, class) {
                    0 => self.set(state, class, beside),
                    known => open.push((known, beside)),
                }
            }
        }
        // A second blank changes nothing.
        for state in blanks {
            self.set(*state, BLANK, *state);
        }
        let found = &self.found;
        let ends = |state: u32| found.get(row(state)).is_some_and(|found| *found != 0);
        for next in self.next.iter_mut().filter(|next| ends(**next)) {
            *next |= END;
        }
    }

    #[inline]
    fn class(&self, byte: u8) -> u8 {
        self.classes.get(usize::from(byte)).copied().unwrap_or_default()
    }

    #[inline]
    fn step(&self, state: u32, class: u8) -> u32 {
        self.next.get(state as usize + usize::from(class)).copied().unwrap_or_default()
    }

    #[inline]
    fn ends(&self, state: u32) -> u64 {
        self.found.get(row(state)).copied().unwrap_or_default()
    }

    fn set(&mut self, state: u32, class: u8, next: u32) {
        if let Some(slot) = self.next.get_mut(state as usize + usize::from(class)) {
            *slot = next;
        }
    }

    fn read(&self, text: &str) -> Prefilter {
        let (mut words, mut state) = (0, 0);
        for byte in text.bytes() {
            state = self.step(state, self.class(byte));
            if state & END != 0 {
                state &= !END;
                words |= self.ends(state);
            }
        }
        Prefilter { words, marks: marks(text) }
    }
}

const fn row(state: u32) -> usize {
    state as usize / CLASSES
}

/// Every character of the words has a class, small and capital letters the same.
fn classes(words: &[(&str, Clue)]) -> [u8; 256] {
    let mut classes = [0; 256];
    let mut last = BLANK;
    let mut set = |byte: u8, class: u8| {
        if let Some(slot) = classes.get_mut(usize::from(byte)) {
            *slot = class;
        }
    };
    for blank in [b' ', b'\t', b'\n', 0x0b, 0x0c, b'\r'] {
        set(blank, BLANK);
    }
    let mut known = vec![b' '];
    for byte in words.iter().flat_map(|(word, _)| word.bytes()) {
        if !known.contains(&byte) {
            known.push(byte);
            last += 1;
            set(byte, last);
            set(byte.to_ascii_uppercase(), last);
        }
    }
    debug_assert!(usize::from(last) < CLASSES, "words have more characters than there are classes");
    classes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_word_is_found_wherever_it_stands_and_however_it_is_spelled() {
        for (word, telling) in words() {
            for text in [
                word.to_owned(),
                format!("Text, then {} and more.", word.to_uppercase()),
                format!("é{}é", word.replace(' ', " \n\t ")),
                word.repeat(2),
            ] {
                assert!(Prefilter::of(&text).holds(telling), "{word} in {text:?}");
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
        assert!(!Prefilter::of("Plain: text\r\n\twith ~tilde").is_odd());
        for odd in ["caf\u{e9}", "\u{1b}[0m", "\u{7f}", "a\u{0b}b", "\u{200b}"] {
            assert!(Prefilter::of(odd).is_odd(), "{odd:?}");
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
        words().filter(|(word, _)| plain.contains(word)).fold(0, |found, (_, telling)| found | telling.0)
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
