//! Finds out whether a question already contains the value of an identifier.

use mcpaql_lexicon::questions::SYNONYMS;
use mcpaql_lexicon::{WordSet, iter_words, singular};

/// Numbers in words.
static ORDINALS: WordSet =
    WordSet::of("first second third fourth fifth sixth seventh eighth ninth tenth last final");
/// Last words of identifiers that count things: the second season.
static COUNTING: WordSet = WordSet::of("number num no");

/// Minimum length of a number or a mixture of letters and digits that can only be an identifier.
const MIN_IDENTIFIER_LENGTH: usize = 7;

/// What a question says about the things that it is about.
#[derive(Default)]
pub(super) struct GivenWords {
    /// Whether the question names a thing: `Titanic`.
    pub(super) name_something: bool,
    /// The nouns right before or after a name, and their synonyms: `the movie Titanic`.
    kinds: Vec<String>,
    /// Whether a value is an identifier whatever is before it: `#12`, a hash, a UUID.
    certain: bool,
    /// The nouns of things that the agent knows, and their synonyms: `issue 12`, `this issue`.
    known: Vec<String>,
    /// The nouns right after a number in words: `the second season`.
    counted: Vec<String>,
}

impl GivenWords {
    pub(super) fn new(question: &str) -> GivenWords {
        let mut found = GivenWords::default();
        // The last two words that are not empty.
        let mut before = [String::new(), String::new()];
        let (mut starts, mut after_name) = (true, false);
        for chunk in question.split_whitespace() {
            let text = chunk.trim_matches(|c: char| !c.is_alphanumeric() && c != '#');
            let word = text.to_lowercase();
            let [far, near] = &before;
            let is_name = chunk.starts_with(['"', '“', '«'])
                || matches!(near.as_str(), "called" | "named" | "titled")
                || (!starts && is_proper(text));
            if is_name {
                found.name_something = true;
                let noun = if matches!(near.as_str(), "called" | "named" | "titled") { far } else { near };
                found.kinds.extend(meanings(noun));
            } else if after_name {
                found.kinds.extend(meanings(&word));
            }
            if has_value(text) {
                found.certain |= is_certain(text);
                found.known.extend(before.iter().flat_map(|noun| meanings(noun)));
            }
            if matches!(near.as_str(), "this" | "that") {
                found.known.extend(meanings(&word));
            }
            if ORDINALS.contains(near) {
                found.counted.extend(meanings(&word));
            }
            starts = chunk.ends_with(['.', '?', '!', ':']);
            after_name = is_name && !chunk.ends_with([',', '.', '?', '!']);
            // `issue number 12` is about an issue, and `the movie "The Office"` about a movie.
            if !matches!(word.as_str(), "number" | "no" | "id" | "with" | "is" | "the" | "a" | "") {
                let [_, near] = before;
                before = [near, word];
            }
        }
        found
    }

    /// Returns whether the question contains the value of a parameter.
    pub(super) fn give(&self, param: &str) -> bool {
        let counts = iter_words(param).last().is_some_and(|last| COUNTING.contains(&last));
        self.certain || has_word(param, &self.known) || (counts && has_word(param, &self.counted))
    }

    /// Returns whether a parameter identifies a thing of the kind that the question names.
    pub(super) fn name(&self, param: &str) -> bool {
        has_word(param, &self.kinds)
    }
}

/// Returns whether a parameter has one of these words in its name, except for the last, such as `id`.
fn has_word(param: &str, nouns: &[String]) -> bool {
    let words: Vec<_> = iter_words(param).collect();
    let kinds = words.split_last().map_or(&[] as &[_], |(_, kinds)| kinds);
    kinds.iter().any(|word| nouns.iter().any(|noun| *noun == singular(word)))
}

/// Returns whether a word looks like a proper name: `Nolan` and `The`, but not `TV`, `pullRequest` or `I`.
fn is_proper(text: &str) -> bool {
    let mut letters = text.chars().filter(|c| c.is_alphabetic());
    letters.next().is_some_and(char::is_uppercase)
        && letters.next().is_some_and(char::is_lowercase)
        && !letters.any(char::is_uppercase)
}

fn has_value(text: &str) -> bool {
    text.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_certain(text: &str) -> bool {
    let id = text.strip_prefix('#');
    id.is_some()
        || text.len() >= MIN_IDENTIFIER_LENGTH
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && text.bytes().filter(u8::is_ascii_digit).count() > 2
}

/// Returns the singular of a noun and the words of its synonyms: `pull` and `request` for `pr`.
fn meanings(word: &str) -> Vec<String> {
    let one = singular(word).into_owned();
    let groups = SYNONYMS.iter().filter(|group| group.split(' ').any(|member| member == one));
    let mut all: Vec<String> = groups.flat_map(|group| group.split([' ', '_'])).map(str::to_owned).collect();
    all.push(one);
    all
}
