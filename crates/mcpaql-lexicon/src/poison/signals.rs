//! The signals that words give: who is addressed, what is asked for, how. Rules combine signals; no word is a finding by itself.
//!
//! The words of each language are in `words/`. A rule needs all its signals in one language, so that a word that means something
//! else in another language does no harm.

use super::normal::fold;
use aho_corasick::{AhoCorasick, MatchKind};
use std::collections::BTreeMap;
use std::sync::LazyLock;

macro_rules! signals {
    ($($name:ident $word:literal)*) => {
        /// One signal.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub(super) enum Signal { $($name,)* }

        impl Signal {
            fn parse(word: &str) -> Option<Signal> {
                match word { $($word => Some(Signal::$name),)* _ => None }
            }
        }
    };
}

signals! {
    Override "override" Instructions "instructions" Rules "rules" Restrictions "restrictions" Previous "previous"
    Everything "everything" Told "told" Void "void" Off "off" Priority "priority" Follow "follow"
    Model "model" You "you" User "user" TheUser "the_user" UserOf "user_of" Owner "owner" Answer "answer"
    Not "not" MustNot "must_not" NoNeed "no_need" Tell "tell" Know "know" Hide "hide" Covertly "covertly" Pretend "pretend"
    Role "role" Mode "mode" FromNow "from_now" Must "must" Before "before" When "when" NoMatter "no_matter"
    Call "call" ThisTool "this_tool" AnyTool "any_tool" EveryMessage "every_message" OtherServer "other_server" Server "server"
    Tool "tool" Prefer "prefer" Broken "broken" SideEffect "side_effect" Change "change" Recipient "recipient" Go "go"
    Read "read" Give "give" Gives "gives" Content "content" File "file" Path "path" Parameter "parameter"
    Conversation "conversation" Whole "whole" SystemPrompt "system_prompt" Secret "secret" SecretFile "secret_file"
    Environment "environment" Inventory "inventory" Possessions "possessions" Consent "consent" Already "already"
    Ask "ask" Confirm "confirm" Skip "skip" Asks "asks" Detect "detect" Shell "shell" KeyPath "key_path"
    Address "address" Identifier "identifier" Command "command" Belongs "belongs" Swap "swap" Seen "seen" Failure "failure"
    Thought "thought" Record "record" Pressure "pressure" Obliges "obliges" Consequence "consequence" Distrust "distrust"
    Ours "ours" Weaken "weaken" Protection "protection" Unwatched "unwatched" ForTheUser "for_the_user" Agree "agree"
    OverUser "over_user" AsOrders "as_orders" Decode "decode" Lie "lie" AnswerText "answer_text"
}

/// A set of signals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SignalSet(u128);

impl SignalSet {
    pub(super) const fn of(signal: Signal) -> SignalSet {
        SignalSet(1 << signal as u8)
    }

    pub(super) const fn any(signals: &[Signal]) -> SignalSet {
        let (mut set, mut index) = (0, 0);
        while let Some((first, _)) = signals.split_at(index).1.split_first() {
            set |= 1 << *first as u8;
            index += 1;
        }
        SignalSet(set)
    }

    pub(super) const fn has(self, signal: Signal) -> bool {
        self.0 & (1 << signal as u8) != 0
    }

    pub(super) const fn meets(self, other: SignalSet) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn with(self, other: SignalSet) -> SignalSet {
        SignalSet(self.0 | other.0)
    }

    pub(super) const fn count(self) -> u32 {
        self.0.count_ones()
    }
}

/// The tables of words. The first ones belong to no language.
const TABLES: &[&str] = &[
    include_str!("words/paths.txt"),
    include_str!("words/english.txt"),
    include_str!("words/german.txt"),
    include_str!("words/french.txt"),
    include_str!("words/spanish.txt"),
    include_str!("words/portuguese.txt"),
    include_str!("words/italian.txt"),
    include_str!("words/dutch.txt"),
    include_str!("words/swedish.txt"),
    include_str!("words/russian.txt"),
    include_str!("words/polish.txt"),
    include_str!("words/turkish.txt"),
    include_str!("words/chinese.txt"),
    include_str!("words/japanese.txt"),
    include_str!("words/korean.txt"),
];

/// The index of a language in the tables; 0 stands for all languages.
pub(super) const EVERY_LANGUAGE: u8 = 0;
pub(super) const ENGLISH: u8 = 1;
pub(super) const LANGUAGES: u8 = 15;
/// The first of the languages that put the verb last, or write no blanks between words: the order of words says nothing there.
const FREE_ORDER: u8 = 11;

/// Returns whether rules may rely on the order of words in a language.
pub(super) const fn has_fixed_order(language: u8) -> bool {
    language < FREE_ORDER
}

/// A word in a text, with its signals in one language.
#[derive(Debug, Clone, Copy)]
pub(super) struct SignalWord {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) signals: SignalSet,
    pub(super) language: u8,
}

struct Words {
    automaton: AhoCorasick,
    /// The meanings of each pattern.
    meanings: Vec<Vec<Meaning>>,
}

#[derive(Debug, Clone, Copy)]
struct Meaning {
    language: u8,
    signals: SignalSet,
    /// Further letters may follow.
    is_stem: bool,
}

static WORDS: LazyLock<Option<Words>> = LazyLock::new(Words::build);

impl Words {
    /// Returns `None` if the automaton cannot be built; then no words are found.
    fn build() -> Option<Words> {
        let mut table: BTreeMap<String, Vec<Meaning>> = BTreeMap::new();
        for (language, (signal, word)) in
            TABLES.iter().zip(0..).flat_map(|(text, language)| lines(text).map(move |line| (language, line)))
        {
            let is_stem = word.ends_with('*');
            // In paths, `_` is a letter.
            let text = match language {
                EVERY_LANGUAGE => fold(word),
                _ => fold(&word.trim_end_matches('*').replace('_', " ")),
            };
            let meanings = table.entry(text).or_default();
            match meanings.iter_mut().find(|one| one.language == language && one.is_stem == is_stem) {
                Some(meaning) => meaning.signals = meaning.signals.with(SignalSet::of(signal)),
                None => meanings.push(Meaning { language, signals: SignalSet::of(signal), is_stem }),
            }
        }
        let automaton = AhoCorasick::builder().match_kind(MatchKind::Standard).build(table.keys()).ok()?;
        Some(Words { automaton, meanings: table.into_values().collect() })
    }
}

/// Returns the words of a table with their signals.
fn lines(text: &'static str) -> impl Iterator<Item = (Signal, &'static str)> {
    let lines = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split_once(':'));
    lines
        .filter_map(|(name, words)| Some((Signal::parse(name)?, words)))
        .flat_map(|(signal, words)| words.split_whitespace().map(move |word| (signal, word)))
}

/// Returns the words of a folded text that give signals, in order.
pub(super) fn tokens(text: &str) -> Vec<SignalWord> {
    let Some(words) = WORDS.as_ref() else { return Vec::new() };
    let mut tokens = Vec::new();
    for found in words.automaton.find_overlapping_iter(text) {
        let (start, end) = (found.start(), found.end());
        let Some(meanings) = words.meanings.get(found.pattern().as_usize()) else { continue };
        let Some(matched) = text.get(start..end) else { continue };
        let is_dense = matched.chars().next().is_some_and(is_dense);
        let before = text.get(..start).and_then(|rest| rest.chars().next_back());
        let after = text.get(end..).and_then(|rest| rest.chars().next());
        let starts_inside = !is_dense
            && before.is_some_and(|c| continues(c) && !is_dense_neighbour(c))
            && matched.chars().next().is_some_and(char::is_alphanumeric);
        if starts_inside {
            continue;
        }
        let ends_inside = !is_dense
            && after.is_some_and(|c| continues(c) && !is_dense_neighbour(c))
            && matched.chars().next_back().is_some_and(char::is_alphanumeric);
        for meaning in meanings {
            if ends_inside && !meaning.is_stem {
                continue;
            }
            tokens.push(SignalWord { start, end, signals: meaning.signals, language: meaning.language });
        }
    }
    tokens.sort_by_key(|token| (token.start, token.end));
    tokens
}

fn continues(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns whether a letter belongs to a script without blanks between words, or with endings attached to words.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// A Latin word directly before or after such a letter is still a word.
fn is_dense_neighbour(c: char) -> bool {
    is_dense(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_names_a_signal() {
        for line in TABLES.iter().flat_map(|text| text.lines()).filter(|line| !line.starts_with('#')) {
            let name = line.split(':').next().unwrap();
            assert!(Signal::parse(name).is_some(), "{line}");
        }
        assert_eq!(TABLES.len(), usize::from(LANGUAGES));
    }
}
