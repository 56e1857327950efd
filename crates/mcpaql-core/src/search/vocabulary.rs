//! The lexicon, indexed by stem, for questions and operations.

use super::intent::Intent;
use mcpaql_lexicon::questions::{
    CALLER_WORDS, LIGHT_NOUNS, PERSON_NOUNS, PERSON_PRONOUNS, PHRASES, POSSESSIVES, RELATED_WORDS, SYNONYMS,
};
use mcpaql_lexicon::{stem, verbs};
use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Weight of a synonym.
const SAME_WEIGHT: f32 = 0.8;
/// Weight of a related word.
const NEAR_WEIGHT: f32 = 0.4;

/// The lexicon by stem.
pub(super) struct Vocabulary {
    common: HashSet<String>,
    verbs: HashMap<String, Intent>,
    light: HashSet<String>,
    caller: HashSet<String>,
    /// Stems that a word hints at, in addition to its own meaning.
    hints: HashMap<&'static str, Vec<String>>,
    phrases: HashMap<&'static str, Vec<QueryPhrase>>,
    synonyms: HashMap<String, Vec<(Vec<String>, f32)>>,
}

/// A phrase with a meaning of its own.
pub(super) struct QueryPhrase {
    /// Its words after the first, unstemmed.
    pub(super) rest: Vec<&'static str>,
    /// The intent of the phrase.
    pub(super) intent: Intent,
    /// The stem that replaces it; may be empty.
    pub(super) stands_for: String,
}

fn stems<'w>(words: impl Iterator<Item = &'w str>) -> HashSet<String> {
    words.map(stem).collect()
}

impl Vocabulary {
    /// Returns the vocabulary, built on first use.
    pub(super) fn get() -> &'static Vocabulary {
        static VOCABULARY: LazyLock<Vocabulary> = LazyLock::new(Vocabulary::new);
        &VOCABULARY
    }

    fn new() -> Vocabulary {
        let mut verbs: HashMap<String, Intent> = HashMap::new();
        for (word, category) in verbs::question_verbs() {
            let known: &mut Intent = verbs.entry(stem(word)).or_default();
            *known = known.and(Intent::of(category));
        }
        let mut phrases: HashMap<&'static str, Vec<QueryPhrase>> = HashMap::new();
        for (words, category, stands_for) in PHRASES {
            let mut words = words.split(' ');
            let first = words.next().unwrap_or_default();
            let stands_for = stem(stands_for);
            let mut intent = category.map(Intent::of).unwrap_or_default();
            if !intent.is_unknown() {
                intent = intent.and(verbs.get(&stands_for).copied().unwrap_or_default());
            }
            let phrase = QueryPhrase { rest: words.collect(), intent, stands_for };
            phrases.entry(first).or_default().push(phrase);
        }
        for several in phrases.values_mut() {
            several.sort_by_key(|phrase| std::cmp::Reverse(phrase.rest.len()));
        }
        Vocabulary {
            common: stems(verbs::common_verbs()),
            verbs,
            light: stems(LIGHT_NOUNS.iter()),
            caller: stems(CALLER_WORDS.iter()),
            hints: hints(),
            phrases,
            synonyms: build_synonyms(),
        }
    }

    /// Returns whether half of all operations start with this verb.
    pub(super) fn is_common(&self, stem: &str) -> bool {
        self.common.contains(stem)
    }

    /// Returns the intent of a verb.
    pub(super) fn verb(&self, stem: &str) -> Intent {
        self.verbs.get(stem).copied().unwrap_or_default()
    }

    /// Returns whether a noun has little meaning before `of`.
    pub(super) fn is_light(&self, stem: &str) -> bool {
        self.light.contains(stem)
    }

    /// Returns whether a word means the caller.
    pub(super) fn is_caller(&self, stem: &str) -> bool {
        self.caller.contains(stem)
    }

    /// Returns the stems that a word hints at. The word is not stemmed.
    pub(super) fn hints(&self, word: &str) -> &[String] {
        self.hints.get(word).map_or(&[], Vec::as_slice)
    }

    /// Returns the phrases that start with a word, longest first. The word is not stemmed.
    pub(super) fn phrases(&self, first: &str) -> &[QueryPhrase] {
        self.phrases.get(first).map_or(&[], Vec::as_slice)
    }

    /// Returns the synonyms of a stem, as stems of one or more words, with their weights.
    pub(super) fn synonyms(&self, stem: &str) -> &[(Vec<String>, f32)] {
        self.synonyms.get(stem).map_or(&[], Vec::as_slice)
    }
}

fn hints() -> HashMap<&'static str, Vec<String>> {
    let mut all = HashMap::new();
    for (words, hinted) in [(&PERSON_PRONOUNS, &PERSON_NOUNS), (&POSSESSIVES, &CALLER_WORDS)] {
        for word in words.iter() {
            all.insert(word, hinted.iter().map(stem).collect());
        }
    }
    all
}

fn build_synonyms() -> HashMap<String, Vec<(Vec<String>, f32)>> {
    let mut all: HashMap<String, Vec<(Vec<String>, f32)>> = HashMap::new();
    for (groups, weight) in [(SYNONYMS, SAME_WEIGHT), (RELATED_WORDS, NEAR_WEIGHT)] {
        for group in groups {
            let members: Vec<Vec<String>> =
                group.split(' ').map(|member| member.split('_').map(stem).collect()).collect();
            for member in &members {
                let others = all.entry(member.join(" ")).or_default();
                for other in &members {
                    if other != member && !others.iter().any(|(known, _)| known == other) {
                        others.push((other.clone(), weight));
                    }
                }
            }
        }
    }
    all
}
