//! Parses a question word by word: the action, its object, and how much each word counts.
//!
//! What always holds: every word is read once, from left to right, up to [`MAX_QUESTION_WORDS`] words.

use super::each_word;
use super::intent::Intent;
use super::query::GrammaticalNumber;
use super::vocabulary::{QueryPhrase, Vocabulary};
use crate::operation::Category;
use mcpaql_lexicon::questions::{
    CLAUSE_OPENERS, DETERMINERS, PARTICLES, PERSON_NOUNS, PHASE_VERBS, QUESTION_WORDS, QUOTE_OPENERS,
    STOP_WORDS, YES_NO_WORDS,
};
use mcpaql_lexicon::{is_plural, singular, stem};

/// Maximum bytes of a question. The rest is ignored.
const MAX_QUESTION_BYTES: usize = 4096;
/// Maximum words of a question. The rest is ignored.
const MAX_QUESTION_WORDS: usize = 96;
/// Weight of a verb that half of all operations start with.
const COMMON_VERB: f32 = 0.3;
/// Weight of a word that looks like part of a person's name or a title.
const PROPER_NAME: f32 = 0.2;
/// Weight of a noun that only introduces another one: `the title of an issue`.
const LIGHT_NOUN: f32 = 0.3;
/// Weight of the first verb of a command, if it is a rare one.
const COMMAND: f32 = 1.5;
/// Weight of the words that a word hints at.
const HINT: f32 = 0.22;
/// Weight of `check` in a yes-or-no question.
const CHECK: f32 = 0.6;
/// Minimum weight of a main word. After one, further clauses count less.
const MIN_MAIN_WEIGHT: f32 = 0.9;
/// Factor for the weight of each further clause.
const CLAUSE_DECAY: f32 = 0.8;
/// Minimum weight of a further clause.
const MIN_CLAUSE_WEIGHT: f32 = 0.5;
/// Maximum distance between a verb and its particle.
const MAX_PARTICLE_DISTANCE: usize = 5;

/// A word of the question.
#[derive(Debug)]
pub(super) struct QuestionWord {
    text: String,
    stem: String,
    proper: bool,
}

/// A term of the query: a stem, its weight and its role.
pub(super) struct QueryTerm<'q> {
    pub(super) stem: &'q str,
    pub(super) weight: f32,
    /// Stems that the word hints at. The word itself has no meaning then.
    pub(super) hints: &'q [String],
    pub(super) role: Role,
    pub(super) number: Option<GrammaticalNumber>,
}

/// The role of a word in the question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The action.
    Verb,
    /// The object of the action.
    Object,
    /// The action of the people that the question asks for: `who watches`.
    Action,
    /// Anything else.
    Other,
}

impl<'q> QueryTerm<'q> {
    const fn new(stem: &'q str, weight: f32, role: Role) -> QueryTerm<'q> {
        QueryTerm { stem, weight, hints: &[], role, number: None }
    }
}

/// A parsed question, and the state of the parser.
pub(super) struct ParsedQuestion<'q> {
    pub(super) terms: Vec<QueryTerm<'q>>,
    pub(super) intent: Intent,
    pub(super) number: Option<GrammaticalNumber>,
    words: &'q [QuestionWord],
    vocabulary: &'q Vocabulary,
    /// The noun phrase of the current word.
    group: NounPhrase,
    /// Whether a verb may come next.
    verb_next: bool,
    /// Whether a quotation or a name follows.
    content: bool,
    /// Whether `who` was read, and the action of these people comes next.
    who: bool,
    /// The weight of the current clause.
    clause_weight: f32,
}

/// Words that form a phrase. The last one is its noun: `the stale feature branch`.
#[derive(Debug, Default)]
struct NounPhrase {
    /// The last meaningful word so far.
    last: Option<usize>,
    /// Whether an article before them means a single one.
    one: bool,
    /// Whether a determiner before them means a known one.
    known: bool,
    /// Whether an earlier phrase was the object.
    done: bool,
}

/// Parses the words of a question in order.
pub(super) fn parse_question<'q>(
    words: &'q [QuestionWord],
    vocabulary: &'q Vocabulary,
) -> ParsedQuestion<'q> {
    let mut parsed = ParsedQuestion {
        terms: Vec::new(),
        intent: Intent::default(),
        number: None,
        words,
        vocabulary,
        group: NounPhrase::default(),
        verb_next: true,
        content: false,
        who: false,
        clause_weight: 1.0,
    };
    if is_yes_no_question(words) {
        parsed.terms.push(QueryTerm::new("check", CHECK, Role::Other));
    }
    let mut index = 0;
    while let Some(word) = words.get(index) {
        index += parsed.take(index, word);
    }
    parsed.close_group();
    parsed
}

impl<'q> ParsedQuestion<'q> {
    /// Reads the word or phrase at `at`. Returns the number of words read.
    fn take(&mut self, at: usize, word: &'q QuestionWord) -> usize {
        let vocabulary = self.vocabulary;
        if let Some((length, phrase)) = phrase_at(self.words, at, vocabulary) {
            self.take_phrase(phrase);
            return length;
        }
        if at == 0 && QUESTION_WORDS.contains(&word.text) {
            self.intent = Intent::of(Category::Read);
        }
        let caller = means_caller(self.words, at);
        let hints = vocabulary.hints(if caller { "my" } else { &word.text });
        if !hints.is_empty() {
            self.terms.push(QueryTerm { hints, ..QueryTerm::new("", HINT, Role::Other) });
        }
        if matches!(word.text.as_str(), "who" | "whom") {
            self.number = self.number.or(Some(GrammaticalNumber::Several));
            self.who = true;
        }
        if CLAUSE_OPENERS.contains(&word.text) && self.terms.iter().any(|term| term.weight >= MIN_MAIN_WEIGHT)
        {
            self.clause_weight *= CLAUSE_DECAY;
        }
        let next = self.words.get(at + 1);
        let before = at.checked_sub(1).and_then(|before| self.words.get(before));
        let introduced = before.is_some_and(|before| vocabulary.is_light(&before.stem));
        let quotes = QUOTE_OPENERS.contains(&word.text) && !self.terms.is_empty() && !introduced;
        self.content |= quotes;
        let of_whom =
            next.is_some_and(|next| next.text == "who") && PERSON_NOUNS.contains(&singular(&word.text));
        if quotes || of_whom || STOP_WORDS.contains(&word.text) {
            self.take_function_word(word);
        } else if self.verb_next && self.intent.is_unknown() && is_stop_doing(word, next) {
            self.intent = Intent::of(Category::Delete);
            self.verb_next = false;
        } else if self.verb_next && PHASE_VERBS.contains(&word.text) && next.is_some_and(is_gerund) {
            // The next word is the verb.
        } else {
            self.take_word(word, at == 0, next);
        }
        1
    }

    fn take_phrase(&mut self, phrase: &'q QueryPhrase) {
        self.close_group();
        self.intent = self.intent.or(phrase.intent);
        if !phrase.stands_for.is_empty() {
            let role = if phrase.intent.is_unknown() { Role::Other } else { Role::Verb };
            let weight = verb_weight(&phrase.stands_for, self.vocabulary);
            self.terms.push(QueryTerm::new(&phrase.stands_for, weight, role));
        }
        self.verb_next = false;
    }

    /// Reads a word that only says something about the next words.
    fn take_function_word(&mut self, word: &QuestionWord) {
        self.close_group();
        let text = word.text.as_str();
        self.group.one = matches!(text, "a" | "an" | "this" | "that");
        self.group.known = DETERMINERS.contains(text) && !matches!(text, "all" | "every" | "these" | "those");
        self.verb_next |= matches!(text, "to" | "and" | "please" | "then" | "by" | "you");
    }

    /// Reads a meaningful word.
    fn take_word(&mut self, word: &'q QuestionWord, first: bool, next: Option<&QuestionWord>) {
        let mut weight = verb_weight(&word.stem, self.vocabulary);
        let verb = if self.verb_next { self.verb(word, first, next) } else { Intent::default() };
        let light = !word.proper
            && !self.content
            && self.vocabulary.is_light(&word.stem)
            && next.is_some_and(|next| matches!(next.text.as_str(), "of" | "for" | "about" | "on"));
        let mut role = Role::Other;
        if !verb.is_unknown() && self.intent.is_unknown() {
            role = Role::Verb;
            if weight >= 1.0 {
                weight = COMMAND;
            }
        } else if weight >= 1.0 && !light {
            self.number = self.number.or(word.number());
        }
        self.intent = self.intent.or(verb);
        self.verb_next = false;
        if weight >= 1.0 && std::mem::take(&mut self.who) {
            role = Role::Action;
        }
        if word.proper || self.content {
            weight *= PROPER_NAME;
        } else if light {
            weight *= LIGHT_NOUN;
        }
        // `users located in Berlin`: the participle ends the phrase.
        if word.text.len() > 4 && word.text.ends_with("ed") && self.group.last.is_some() {
            self.close_group();
        } else if role == Role::Other && weight >= MIN_MAIN_WEIGHT {
            self.group.last = Some(self.terms.len());
        }
        weight *= self.clause_weight.max(MIN_CLAUSE_WEIGHT);
        self.terms.push(QueryTerm { number: word.number(), ..QueryTerm::new(&word.stem, weight, role) });
    }

    /// Returns the intent of a word that may be a verb. A plural is not a verb; the first word before an article is
    /// always one.
    fn verb(&self, word: &QuestionWord, first: bool, next: Option<&QuestionWord>) -> Intent {
        if word.number() == Some(GrammaticalNumber::Several) {
            return Intent::default();
        }
        let known = self.vocabulary.verb(&word.stem);
        let is_command = first && next.is_some_and(|next| DETERMINERS.contains(&next.text));
        if is_command { known.or(Intent::ANY_ACTION) } else { known }
    }

    /// Ends the current noun phrase. Its last word may be the object.
    fn close_group(&mut self) {
        let (one, known) = (self.group.one, self.group.known);
        (self.group.one, self.group.known) = (false, false);
        let Some(word) = self.group.last.take().and_then(|last| self.terms.get_mut(last)) else { return };
        if known {
            word.number = word.number.or(Some(GrammaticalNumber::One));
        }
        if std::mem::replace(&mut self.group.done, true) {
            return;
        }
        word.role = Role::Object;
        if one {
            self.number = self.number.or(Some(GrammaticalNumber::One));
        }
    }
}

/// Weighs a word that may be a verb. `find` counts fully, because it means an operation that searches.
fn verb_weight(stem: &str, vocabulary: &Vocabulary) -> f32 {
    if vocabulary.is_common(stem) && stem != "find" { COMMON_VERB } else { 1.0 }
}

/// Returns whether this is a yes-or-no question: `is she a member`, but not `can you show me`.
fn is_yes_no_question(words: &[QuestionWord]) -> bool {
    let mut texts = words.iter().map(|word| word.text.as_str());
    let first = texts.next().unwrap_or_default();
    let polite = match texts.next().unwrap_or_default() {
        "you" | "there" => true,
        "i" | "we" => matches!(first, "can" | "could"),
        _ => false,
    };
    (YES_NO_WORDS.contains(first) && !polite) || words.iter().take(3).any(|word| word.text == "whether")
}

/// Returns whether `I` or `me` means the caller's own things, and not the person asking.
fn means_caller(words: &[QuestionWord], at: usize) -> bool {
    let text = |at: Option<usize>| at.and_then(|at| words.get(at)).map_or("", |word| word.text.as_str());
    let (before, after) = (text(at.checked_sub(1)), text(Some(at + 1)));
    match text(Some(at)) {
        "i" => {
            let wishes = matches!(
                after,
                "can" | "like" | "must" | "need" | "should" | "want" | "wish" | "wonder" | "would"
            );
            let asks = matches!(before, "can" | "could" | "may" | "shall" | "should")
                || (before == "do" && text(at.checked_sub(2)) == "how");
            !wishes && !asks
        }
        "me" => matches!(before, "about" | "by" | "for" | "mention" | "mentions" | "of" | "to" | "with"),
        _ => false,
    }
}

/// Returns whether this is `stop following`, the opposite of following.
fn is_stop_doing(word: &QuestionWord, next: Option<&QuestionWord>) -> bool {
    matches!(word.text.as_str(), "cease" | "quit" | "stop") && next.is_some_and(is_gerund)
}

/// Returns whether a word looks like `following`.
fn is_gerund(word: &QuestionWord) -> bool {
    word.text.ends_with("ing") && word.text.len() > 5
}

impl QuestionWord {
    /// Returns the word in lower case.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Returns the stem, unless this is a stop word.
    pub(super) fn meaningful_stem(&self) -> Option<&str> {
        (!STOP_WORDS.contains(&self.text)).then_some(self.stem.as_str())
    }

    /// Returns `Several` for a plural, and `One` for the number or hash of a single thing.
    fn number(&self) -> Option<GrammaticalNumber> {
        if self.text.bytes().any(|byte| byte.is_ascii_digit()) {
            return Some(GrammaticalNumber::One);
        }
        (!self.proper && is_plural(&self.text)).then_some(GrammaticalNumber::Several)
    }
}

/// Returns the part of a question that is read.
pub(super) fn limited(question: &str) -> &str {
    question.get(..question.floor_char_boundary(MAX_QUESTION_BYTES)).unwrap_or_default()
}

/// Splits a question into words.
pub(super) fn split(question: &str) -> Vec<QuestionWord> {
    let question = limited(question);
    let all_upper_case = !question.chars().any(char::is_lowercase);
    let mut words = Vec::new();
    let mut buffer = String::new();
    let mut quoted = false;
    let mut starts = true;
    for chunk in question.split_whitespace() {
        let opens = chunk.starts_with(['"', '“', '«']);
        quoted |= opens;
        let proper = !all_upper_case && (quoted || (!starts && is_proper(chunk)));
        each_word(chunk, &mut buffer, |word| {
            if words.len() < MAX_QUESTION_WORDS {
                words.push(QuestionWord { text: word.to_owned(), stem: stem(word), proper });
            }
        });
        let closes = chunk.trim_end_matches(['.', ',', '?', '!', ';', ':']).ends_with(['"', '”', '»']);
        quoted &= !(closes && (!opens || chunk.chars().count() > 1));
        starts = chunk.ends_with(['.', '?', '!', ':']);
    }
    words
}

/// Returns whether a word looks like a proper name: `Nolan` and `The`, but not `TV`, `pullRequest` or `I`.
fn is_proper(chunk: &str) -> bool {
    let mut letters = chunk.chars().filter(|c| c.is_alphabetic());
    letters.next().is_some_and(char::is_uppercase) && {
        let mut rest = letters.peekable();
        rest.peek().is_some() && rest.all(|c| !c.is_uppercase())
    }
}

fn phrase_at<'v>(
    words: &[QuestionWord],
    at: usize,
    vocabulary: &'v Vocabulary,
) -> Option<(usize, &'v QueryPhrase)> {
    let first = words.get(at)?;
    let following = words.get(at + 1..)?;
    vocabulary.phrases(&first.text).iter().find_map(|phrase| {
        let same = following.len() >= phrase.rest.len()
            && following.iter().zip(&phrase.rest).all(|(word, part)| word.text == *part);
        let enclosing = || match phrase.rest.as_slice() {
            [particle] if PARTICLES.contains(particle) => {
                following.iter().take(MAX_PARTICLE_DISTANCE).any(|word| word.text == *particle)
            }
            _ => false,
        };
        // A distant particle has no meaning itself and is skipped when it is read.
        if same { Some((1 + phrase.rest.len(), phrase)) } else { enclosing().then_some((1, phrase)) }
    })
}
