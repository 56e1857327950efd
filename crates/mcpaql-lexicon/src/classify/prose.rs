//! Reads the prose about an operation clause by clause, and finds what it says about the operation's effect.
//!
//! ```text
//! Returns the report and posts it to the channel.    → opens with a read, then writes: 'posts it'
//! The previous key is invalidated.                   → writes: 'is invalidated'
//! Lists users. Use `delete_user` to remove one.      → reads; the second sentence is about another operation
//! ```
//!
//! What always holds: a statement counts only in a main clause about this operation. Conditions, relative clauses,
//! purposes ("needed to create …"), negations and advice about other operations say nothing about its effect.

use crate::effect::{Category, Effect};
use crate::names;
use crate::number::singular;
use crate::verbs::{self, Verb, VerbTrait, Weight};
use std::borrow::Cow;

mod lists;

use lists::{
    ACTION_NOUNS, ADVERBS, ADVICE, ADVISING, COMPUTING, DENIALS, DETERMINERS, FRESH, HARMLESS, ISSUED,
    NEGATIONS, PARTICIPLES, PLAIN_PARTICIPLES, PROSE_VERBS, READERS, READING, READING_OBJECTS, RETURNING,
    RUNNING, STATES, SUBJECTS, SUBORDINATORS, USING_UP,
};
pub(super) use lists::{READING_LANGUAGES, TEXTS};

/// What a text says about an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Prose {
    /// What its first statement says.
    pub(super) opening: Opening,
    /// The first phrase that says that the operation changes something.
    pub(super) writes: Option<WritePhrase>,
    /// Whether the first statement is in the first sentence.
    pub(super) opens_first: bool,
    /// Whether it says that nothing is changed: "read-only", "does not modify".
    pub(super) denies: bool,
    /// Whether it says that the operation runs something: "executes the query".
    pub(super) runs: bool,
    /// A phrase that may say that the operation changes something, with a verb that is not known: "is rolled".
    pub(super) doubt: Option<String>,
    /// Whether the first sentence only names a thing: "Notes of a release".
    pub(super) names_thing: bool,
    /// Whether it says that the result is in the answer.
    pub(super) answers: bool,
}

/// The first statement of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Opening {
    /// There is no text.
    #[default]
    Missing,
    /// No statement has a verb: "Balance of the account".
    Phrase,
    /// It reads, by this verb: "Lists …".
    Reads(&'static str),
    /// It says only that something is returned.
    Returns,
    /// It reads in some APIs and writes in others: "Exports …".
    Doubtful(&'static str),
    /// It turns its arguments into an answer, or changes something in the same way: "Trims …".
    Computes,
    /// It does something else, or an unknown verb is used.
    Other,
}

/// A phrase that says that an operation changes something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WritePhrase {
    /// The words, such as "posts it".
    pub(super) text: String,
    /// The effect.
    pub(super) effect: Effect,
    /// Whether it is the verb of the first statement.
    pub(super) opens: bool,
}

/// Maximum bytes of a text that are read. Longer ones end in examples and reference tables.
const MAX_BYTES: usize = 8 * 1024;

/// Reads a text about an operation.
pub(super) fn read(text: &str) -> Prose {
    let text = truncate(text);
    let tokens = tokens(text);
    let lower = text.to_lowercase();
    let mut prose = Prose { denies: denies(&lower), ..Prose::default() };
    if let Some(phrase) = USING_UP.iter().find(|phrase| lower.contains(**phrase)) {
        prose.writes =
            Some(WritePhrase { text: phrase.trim().to_owned(), effect: Effect::Execute, opens: false });
    } else if let Some(text) = costs(&lower) {
        prose.writes = Some(WritePhrase { text, effect: Effect::Execute, opens: false });
    }
    if !tokens.is_empty() {
        prose.opening = Opening::Phrase;
    }
    prose.names_thing = sentences(&tokens).take(4).any(names_thing);
    prose.answers = ["answer", "reply", "response", "inline", "base64", "data uri", "returns", "as text"]
        .iter()
        .any(|word| lower.contains(word));
    let mut skipped_section = false;
    let mut in_reference = false;
    for (number, sentence) in sentences(&tokens).enumerate() {
        let Some(first) = sentence.first() else { continue };
        if first.gap == WordGap::Paragraph {
            skipped_section = false;
        }
        skipped_section |=
            matches!(first.word.as_ref(), "example" | "examples" | "eg" | "usage") && sentence.len() <= 2;
        let heads = ["args", "arguments", "parameters", "params", "raises", "inputs"];
        in_reference |= sentence.len() == 1 && heads.contains(&first.word.as_ref());
        let doubt = prose.doubt.clone();
        if !skipped_section {
            Reader { sentence, is_first: number == 0, prose: &mut prose }.read();
            prose.opens_first |= number == 0 && prose.opening != Opening::Phrase;
            if in_reference {
                // A reference of arguments and results is too technical to doubt every word.
                prose.doubt = doubt;
            }
        }
    }
    prose
}

/// Reads a summary and a description.
pub(super) fn read_both(summary: &str, description: &str) -> Prose {
    let first = read(summary);
    let second = read(description);
    Prose {
        opening: if matches!(first.opening, Opening::Missing | Opening::Phrase) {
            second.opening
        } else {
            first.opening
        },
        opens_first: first.opens_first || second.opens_first,
        writes: first.writes.or(second.writes),
        denies: first.denies || second.denies,
        runs: first.runs || second.runs,
        doubt: first.doubt.or(second.doubt),
        names_thing: if second.opening == Opening::Missing { first.names_thing } else { second.names_thing },
        answers: first.answers || second.answers,
    }
}

/// Returns whether a sentence names a thing, not an action: "Balances of all accounts".
fn names_thing(sentence: &[ProseWord<'_>]) -> bool {
    let word = |index: usize| sentence.get(index).map_or("", |token: &ProseWord<'_>| token.word.as_ref());
    let article = usize::from(matches!(word(0), "the" | "a" | "an" | "all" | "what" | "which" | "who"));
    let first = word(article);
    let is_verb = article == 0
        && (verbs::is_verb(first) && !verbs::verb(first).is_some_and(|verb| verb.has(VerbTrait::Thing)));
    let connected = sentence.iter().skip(1).any(|token| {
        matches!(
            token.word.as_ref(),
            "of" | "with"
                | "for"
                | "that"
                | "which"
                | "who"
                | "between"
                | "in"
                | "on"
                | "by"
                | "from"
                | "below"
                | "to"
                | "at"
        )
    });
    let acts = (0..4).any(|index| ACTION_NOUNS.contains(word(index)));
    !first.is_empty() && !is_verb && connected && !acts
}

/// Returns the longest start of a text within the limit.
fn truncate(text: &str) -> &str {
    let mut end = text.len().min(MAX_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or(text)
}

/// Reads the description of a switch: "If true, deletes …", "Whether to mark …", "Deletes …".
pub(super) fn read_switch(text: &str) -> Option<WritePhrase> {
    let lower = text.trim_start().to_ascii_lowercase();
    let openings = [
        "whether or not to ",
        "whether to ",
        "whether the tool should ",
        "set to true to ",
        "set true to ",
        "set to ",
        "set this to true to ",
        "true to ",
        "if true ",
        "if set ",
        "when true ",
        "also ",
        "optionally ",
        "flag to ",
    ];
    let rest = openings.iter().find_map(|opening| lower.strip_prefix(opening)).unwrap_or(&lower);
    let shapes = ["enable", "disable", "apply", "add", "allow", "generate", "activate"]
        .iter()
        .any(|verb| rest.starts_with(verb));
    if shapes { None } else { read(rest).writes }
}

/// Returns whether a text in lower case says that nothing is changed.
pub(super) fn denies(lower: &str) -> bool {
    let found = DENIALS.iter().filter_map(|denial| Some((denial, lower.find(denial)?)));
    // "Disabled in read-only mode" is about a write.
    let is_mode = |end: usize| lower.get(end..).is_some_and(|rest| rest.starts_with(" mode"));
    let mut found = found.filter(|(denial, at)| !is_mode(at + denial.len()));
    found.next().is_some() || selects_only(lower)
}

/// Returns whether a text says that only SELECT statements are accepted.
fn selects_only(lower: &str) -> bool {
    lower.contains("select")
        && ["only", "nothing else", "refused", "rejected", "not allowed", "fail"]
            .iter()
            .any(|word| lower.contains(word))
}

/// Returns a phrase that says that a call costs something: "costs 1 credit".
fn costs(lower: &str) -> Option<String> {
    let at = ["costs ", "uses up ", "consumes ", "spends "].iter().find_map(|verb| lower.find(verb))?;
    let words: Vec<&str> = lower
        .get(at..)?
        .split(|ch: char| !ch.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .take(5)
        .collect();
    let paid = [
        "credit", "credits", "token", "tokens", "cent", "cents", "coin", "coins", "unit", "units", "euro",
        "dollar", "quota",
    ];
    let end = words.iter().position(|word| paid.contains(word))?;
    words.get(..=end).map(|words| words.join(" "))
}

/// What stands between a word and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WordGap {
    /// A space, or nothing that matters.
    Space,
    /// A comma or a bracket.
    Comma,
    /// The end of a sentence, of a label or of a line.
    Sentence,
    /// An empty line, or the start of the text.
    Paragraph,
}

/// A word of a text.
#[derive(Debug, Clone)]
struct ProseWord<'t> {
    /// The word in lower case.
    word: Cow<'t, str>,
    /// What stands before it.
    gap: WordGap,
    /// Whether it is code: in backticks, or written like an identifier.
    is_code: bool,
}

/// Splits a text into words. Fenced code is left out.
fn tokens(text: &str) -> Vec<ProseWord<'_>> {
    let mut found: Vec<ProseWord<'_>> = Vec::new();
    let mut gap = WordGap::Paragraph;
    let mut quoted = false;
    for (index, piece) in text.split("```").enumerate() {
        if index % 2 == 1 {
            gap = gap.max(WordGap::Sentence);
            continue;
        }
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            let is_inner = |ch: char| ch.is_alphanumeric() || matches!(ch, '_' | '-' | '/');
            let end = rest.find(|ch: char| !is_inner(ch)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            let trimmed = word.trim_matches(['-', '/', '_']);
            if trimmed.is_empty() {
                if word.is_empty() {
                    quoted ^= first == '`';
                    let next = rest.get(first.len_utf8()..).unwrap_or_default();
                    gap = gap.max(gap_of(first, next, found.last()));
                    rest = next;
                } else {
                    // A dash or a bullet.
                    gap = gap.max(if word == "/" { WordGap::Space } else { WordGap::Sentence });
                    rest = after;
                }
                continue;
            }
            // The rest of a contraction: "doesn't".
            if rest.len() < piece.len()
                && matches!(trimmed, "t" | "s" | "ll" | "re" | "ve")
                && gap == WordGap::Space
                && piece.get(..piece.len() - rest.len()).is_some_and(|before| before.ends_with(['\'', '’']))
            {
                rest = after;
                continue;
            }
            let inner_capital =
                trimmed.chars().skip(1).any(char::is_uppercase) && trimmed.chars().any(char::is_lowercase);
            // `CREATE INDEX`, but "it DELETES the file".
            let keyword = trimmed.len() > 2
                && !trimmed.ends_with('S')
                && trimmed.bytes().all(|byte| byte.is_ascii_uppercase());
            let is_code = quoted || trimmed.contains('_') || inner_capital || keyword;
            let word = match trimmed.bytes().any(|byte| byte.is_ascii_uppercase() || !byte.is_ascii()) {
                true => Cow::Owned(trimmed.to_lowercase()),
                false => Cow::Borrowed(trimmed),
            };
            found.push(ProseWord { word, gap, is_code });
            gap = WordGap::Space;
            rest = after;
        }
    }
    found
}

/// Returns what a character between words means.
fn gap_of(ch: char, next: &str, before: Option<&ProseWord<'_>>) -> WordGap {
    let ends_word = next.chars().next().is_none_or(char::is_whitespace);
    match ch {
        '.' => {
            let abbreviated =
                before.is_some_and(|token| token.word.len() < 2 || token.word == "etc" || token.word == "vs");
            if ends_word && !abbreviated { WordGap::Sentence } else { WordGap::Space }
        }
        '!' | '?' | ';' | '|' | '—' | '–' | '•' | '*' | '→' => WordGap::Sentence,
        ':' if ends_word => WordGap::Sentence,
        '\n' => {
            let line = next.trim_start_matches([' ', '\t']);
            match line.chars().next() {
                Some('\n' | '\r') | None => WordGap::Paragraph,
                // A line that goes on.
                Some(first) if first.is_lowercase() || first.is_numeric() || first == '(' => WordGap::Space,
                _ => WordGap::Sentence,
            }
        }
        ',' | '(' | ')' | '[' | ']' => WordGap::Comma,
        _ => WordGap::Space,
    }
}

/// Splits words into sentences.
fn sentences<'a, 't>(tokens: &'a [ProseWord<'t>]) -> impl Iterator<Item = &'a [ProseWord<'t>]> {
    tokens.chunk_by(|_, next| next.gap < WordGap::Sentence)
}

/// Returns the word that changes the meaning of a reading verb: `get rid of`, `check out`, `read in`, `list for sale`.
pub(super) fn reversing_particle<'w>(verb: &Verb, words: &'w [impl AsRef<str>]) -> Option<&'w str> {
    let after = words.get(1..)?;
    let next = after.first().map(AsRef::as_ref);
    let particles: &[&str] = match verb.word {
        "get" => &["rid"],
        "check" => &["in", "out", "off"],
        "read" | "load" | "fetch" | "query" => &["in", "into"],
        "count" => &["down", "up"],
        "view" => &["as"],
        "list" => &["as", "off"],
        _ => &[],
    };
    let sale = after.windows(2).find_map(|pair| match pair {
        [word, what] if word.as_ref() == "for" => {
            let what = what.as_ref();
            matches!(what, "sale" | "rent" | "auction" | "lease" | "trade" | "hire").then_some(what)
        }
        _ => None,
    });
    next.filter(|next| particles.contains(next)).or(sale.filter(|_| verb.word == "list"))
}

/// Returns whether a read takes one thing out of a queue: "Gets the next job from the queue".
fn takes_from_queue(words: &[&str]) -> bool {
    let is_one =
        words.get(1).is_some_and(|word| matches!(*word, "a" | "an" | "one")) || words.contains(&"next");
    let out =
        words.windows(3).any(|three| matches!(three, ["from" | "off", _, queue] if queue.contains("queue")));
    is_one && out
}

/// Returns the verb of a word in prose: base form, third person or gerund.
fn verb_of(word: &str) -> Option<&'static Verb> {
    if word == "news" {
        return None;
    }
    verbs::inflected(word).or_else(|| {
        let base = regular_base(word);
        let (_, same) = PROSE_VERBS.iter().find(|(verb, _)| *verb == base)?;
        verbs::verb(same)
    })
}

/// Returns the base form of a verb: by the table, else by its ending.
fn base_of(word: &str) -> Cow<'_, str> {
    match verbs::inflected(word) {
        Some(verb) => Cow::Borrowed(verb.word),
        None => regular_base(word),
    }
}

/// Returns the base form of a regular verb form, without looking it up.
fn regular_base(word: &str) -> Cow<'_, str> {
    if let Some(stem) = word.strip_suffix("ies").filter(|stem| stem.len() > 1) {
        return Cow::Owned(format!("{stem}y"));
    }
    for ending in ["sses", "shes", "ches", "xes", "zes"] {
        if word.ends_with(ending) {
            return Cow::Borrowed(word.strip_suffix("es").unwrap_or(word));
        }
    }
    match word.strip_suffix('s').filter(|stem| !stem.ends_with('s') && stem.len() > 2) {
        Some(stem) => Cow::Borrowed(stem),
        None => Cow::Borrowed(word),
    }
}

/// Returns the verb of a past participle: `deleted`, `saved`, `applied`, `sent`.
pub(super) fn participle(word: &str) -> Option<&'static Verb> {
    if let Some((_, verb)) = PARTICIPLES.iter().find(|(participle, _)| *participle == word) {
        return verbs::verb(verb);
    }
    let stem = word.strip_suffix("ed")?;
    let doubled = || {
        let last = stem.chars().last()?;
        let short = stem.strip_suffix(last)?;
        short.ends_with(last).then(|| verbs::verb(short)).flatten()
    };
    verbs::verb(stem)
        .or_else(|| verbs::verb(&format!("{stem}e")))
        .or_else(|| stem.strip_suffix('i').and_then(|stem| verbs::verb(&format!("{stem}y"))))
        .or_else(doubled)
}

fn is_adverb(word: &str) -> bool {
    ADVERBS.contains(word)
        || (word.len() > 4 && word.ends_with("ly") && !matches!(word, "apply" | "reply" | "supply"))
}

fn is_harmless(base: &str) -> bool {
    HARMLESS.contains(base) || READING.contains(base) || RETURNING.contains(base)
}

fn writes(verb: &Verb) -> bool {
    verb.category() != Category::Read
}

/// Reads one sentence.
struct Reader<'s, 't, 'p> {
    sentence: &'s [ProseWord<'t>],
    is_first: bool,
    prose: &'p mut Prose,
}

impl Reader<'_, '_, '_> {
    fn word(&self, index: usize) -> &str {
        self.sentence.get(index).map_or("", |token| token.word.as_ref())
    }

    fn is_code(&self, index: usize) -> bool {
        self.sentence.get(index).is_some_and(|token| token.is_code)
    }

    fn starts_clause(&self, index: usize) -> bool {
        self.sentence.get(index).is_some_and(|token| token.gap >= WordGap::Comma)
    }

    fn read(&mut self) {
        let Some((start, opens)) = self.clause_start(0) else { return };
        let mut index = start;
        let mut is_imperative = false;
        if let Some(verb_at) = self.first_verb(start).filter(|_| opens) {
            let word = self.word(verb_at);
            is_imperative = base_of(word) == word;
            if self.is_advice(verb_at) {
                return;
            }
            self.read_first_verb(verb_at);
            index = verb_at + 1;
        }
        self.read_rest(index, is_imperative);
    }

    /// Returns where the first main clause starts, after conditions and purposes. `None` if the sentence is about
    /// something else.
    fn clause_start(&self, from: usize) -> Option<(usize, bool)> {
        let mut index = from;
        loop {
            let word = self.word(index);
            if word.is_empty() {
                return None;
            }
            let next = self.word(index + 1);
            let is_label = self.is_code(index) && index == 0 && self.sentence.len() == 1;
            if is_label || READERS.contains(word) {
                return None;
            }
            if ADVISING.contains(word) && (self.is_code(index + 1) || ADVICE.contains(next)) {
                return None;
            }
            // "Use this tool when …", "Call this before …".
            if matches!(word, "use" | "call" | "invoke") && next == "this" {
                let noun = usize::from(SUBJECTS.contains(self.word(index + 2))) + index + 2;
                if ADVICE.contains(self.word(noun)) || SUBORDINATORS.contains(self.word(noun)) {
                    return None;
                }
                return Some((index, true));
            }
            let is_condition = SUBORDINATORS.contains(word) && !matches!(word, "that" | "which")
                || matches!(
                    word,
                    "to" | "for"
                        | "in"
                        | "with"
                        | "without"
                        | "instead"
                        | "by"
                        | "on"
                        | "during"
                        | "from"
                        | "upon"
                );
            if !is_condition {
                return Some((index, true));
            }
            // "To remove one, use …" is about another operation.
            if word == "to" {
                return None;
            }
            // The clause after the comma.
            let comma = (index + 1..self.sentence.len()).find(|index| self.starts_clause(*index));
            let is_preposition = crate::PREPOSITIONS.contains(word);
            index = match comma {
                Some(comma) if !is_preposition || comma - index < 9 => comma,
                // "With the first view the grade is locked".
                _ if is_preposition && self.sentence.len() > index + 4 => return Some((index + 1, false)),
                // "For searching users": no main clause.
                _ => return None,
            };
        }
    }

    /// Returns the position of the verb of the first main clause, if it opens with one: "Lists …", "This tool will list …".
    fn first_verb(&self, start: usize) -> Option<usize> {
        let mut index = start;
        while SUBJECTS.contains(self.word(index)) || is_adverb(self.word(index)) {
            // "Use it" and "Provides a list": the last such word may be the verb.
            index += 1;
        }
        let word = self.word(index);
        if word == "pull" && self.word(index + 1).starts_with("request") {
            return None;
        }
        if word.is_empty()
            || self.is_code(index)
            || self.sentence.get(index)?.gap >= WordGap::Comma && index > start
        {
            return (index > start && RETURNING.contains(&base_of(self.word(index - 1)))).then(|| index - 1);
        }
        let base = base_of(word);
        let is_verb = READING.contains(&base)
            || HARMLESS.contains(&base)
            || RETURNING.contains(&base)
            || verb_of(word).is_some()
            || verbs::is_verb(&base)
            || self.looks_like_verb(index);
        if is_verb {
            return Some(index);
        }
        // "Provides the weather": the opener itself is the verb.
        (start..index).rev().find(|index| {
            let base = base_of(self.word(*index));
            RETURNING.contains(&base) || matches!(base.as_ref(), "query" | "perform" | "request" | "call")
        })
    }

    /// Returns whether an unknown word is used as a verb: "advances the".
    fn looks_like_verb(&self, index: usize) -> bool {
        let word = self.word(index);
        word.len() > 3
            && word.ends_with('s')
            && !word.ends_with("ss")
            && DETERMINERS.contains(self.word(index + 1))
    }

    fn has_object(&self, index: usize) -> bool {
        DETERMINERS.contains(self.word(index + 1)) && !self.starts_clause(index + 1)
    }

    /// Returns whether a verb runs something that only reads: "performs a semantic search", "sends a GET request".
    fn runs_a_read(&self, index: usize) -> bool {
        let reads = |next: usize| match self.is_code(next) {
            true => {
                let lead = names::name_verbs(&names::parts(self.word(next))).lead;
                READING_LANGUAGES.contains(self.word(next)) || lead.is_some_and(|found| found.verb.reads())
            }
            false => READING_OBJECTS.contains(self.word(next)) || READING_LANGUAGES.contains(self.word(next)),
        };
        RUNNING.contains(&base_of(self.word(index)))
            && (index + 1..index + 7).take_while(|next| !self.starts_clause(*next)).any(reads)
            && !(index + 1..index + 6).any(|next| {
                matches!(self.word(next), "sql" | "post" | "put" | "delete" | "patch" | "mutation")
            })
    }

    /// Returns whether the object of a verb is only a cache or the answer.
    fn object_is_answer(&self, index: usize) -> bool {
        if matches!(
            base_of(self.word(index)).as_ref(),
            "overwrite" | "post" | "save" | "send" | "store" | "upload" | "write"
        ) {
            return false;
        }
        let object = |next: usize| self.word(next);
        (index + 1..index + 5).take_while(|next| !self.starts_clause(*next)).any(|next| {
            matches!(
                object(next),
                "cache" | "cached" | "caches" | "response" | "output" | "results" | "answer"
            )
        })
    }

    /// Returns whether a sentence is advice: "Adjust the limit." after the first statement. "Delete it." is not.
    fn is_advice(&self, verb: usize) -> bool {
        let has_statement = !matches!(self.prose.opening, Opening::Missing | Opening::Phrase);
        let word = self.word(verb);
        has_statement
            && verb_of(word).is_some_and(|verb| verb.word == word && writes(verb))
            && verb == 0
            && !matches!(self.word(verb + 1), "it" | "them")
    }

    fn read_first_verb(&mut self, index: usize) {
        let word = self.word(index).to_owned();
        let word = word.as_str();
        let base = base_of(word).into_owned();
        let is_opening = self.prose.opening == Opening::Phrase || self.prose.opening == Opening::Missing;
        let found = verb_of(word);
        if matches!(base.as_str(), "execute" | "run" | "evaluate") {
            self.prose.runs = true;
        }
        if RETURNING.contains(&base) {
            self.find_issued(index);
            if is_opening {
                self.prose.opening = Opening::Returns;
            }
            return;
        }
        let says_read_only =
            || self.sentence.iter().any(|token| matches!(token.word.as_ref(), "read-only" | "readonly"));
        let runs_read_only = RUNNING.contains(&base) && self.is_first && says_read_only();
        if runs_read_only || self.runs_a_read(index) {
            if is_opening {
                self.prose.opening = Opening::Reads("search");
            }
            return;
        }
        let (is_read, name) = match found {
            Some(verb) if verb.reads() && !verb.has(VerbTrait::Twofold) => (true, verb.word),
            Some(verb) if verb.weight == Weight::Doubtful || verb.word == "test" => {
                if is_opening {
                    self.prose.opening = Opening::Doubtful(verb.word);
                }
                return;
            }
            _ if READING.contains(&base) => (true, found.map_or("", |verb| verb.word)),
            _ => (false, ""),
        };
        if is_read {
            let words: Vec<&str> =
                (index..self.sentence.len().min(index + 12)).map(|index| self.word(index)).collect();
            if found.is_some_and(|verb| reversing_particle(verb, &words).is_some())
                || takes_from_queue(&words)
            {
                self.note_write(index, index + 2, Effect::Execute);
            }
            self.find_issued(index);
            if is_opening {
                self.prose.opening = Opening::Reads(name);
            }
            return;
        }
        // "Uses the cache" says nothing, unless it is all that is said first.
        if HARMLESS.contains(&base) {
            let next = self.word(index + 1);
            if is_opening && self.is_first && word == base && !is_connector(next) && !NEGATIONS.contains(next)
            {
                self.prose.opening = Opening::Other;
            }
            return;
        }
        let next = self.word(index + 1);
        let is_noun =
            next.is_empty() || is_connector(next) || is_copula(next) || self.starts_clause(index + 1);
        if found.is_none() && (is_noun || (!self.has_object(index) && word == base)) {
            return;
        }
        if is_opening {
            self.prose.opening = if COMPUTING.contains(&base) { Opening::Computes } else { Opening::Other };
        }
        if let Some(verb) = found
            && writes(verb)
        {
            let makes_text = matches!(verb.word, "build" | "compose" | "make" | "draft")
                && (index + 1..index + 6).any(|next| TEXTS.contains(&singular(self.word(next))));
            if verb.has(VerbTrait::Making) || makes_text {
                if is_opening {
                    self.prose.opening = Opening::Doubtful(verb.word);
                }
                return;
            }
            // A noun: "Order details", "Renames are detected", "Sending is done by".
            let next = self.word(index + 1);
            let ends = next.is_empty() || self.starts_clause(index + 1);
            let is_noun = word.ends_with("ing")
                || is_copula(next)
                || (ends && verb.weight != Weight::Strong)
                || (index == 0 && ends && word != verb.word);
            let certain = verb.acts() || self.has_object(index) || (word != verb.word && !is_connector(next));
            let thing = is_noun || verb.has(VerbTrait::Thing) || is_connector(next) || word != verb.word;
            if certain && !is_noun {
                self.found_write(index, index + 1, verb);
            } else if is_opening && thing {
                self.prose.opening = Opening::Phrase;
            }
        }
    }

    /// Finds a thing that is made for the caller: "an access token", "a presigned URL".
    fn find_issued(&mut self, verb: usize) {
        let end = (verb + 1..verb + 7).find(|next| {
            let word = self.word(*next);
            self.starts_clause(*next)
                || SUBORDINATORS.contains(word)
                || matches!(word, "for" | "of" | "from" | "to" | "with" | "in" | "by")
        });
        let object = verb + 1..end.unwrap_or(verb + 7);
        let is_one = matches!(self.word(verb + 1), "a" | "an");
        let fresh = object.clone().any(|index| FRESH.contains(self.word(index)));
        let issued = object.clone().find(|index| ISSUED.contains(self.word(*index)));
        let access = object
            .clone()
            .any(|index| matches!(self.word(index), "access" | "refresh" | "auth" | "bearer" | "upload"));
        if let Some(at) = issued
            && (fresh || (access && is_one))
        {
            self.note_write(at.saturating_sub(1), at + 1, Effect::Session);
        }
    }

    fn found_write(&mut self, from: usize, to: usize, verb: &Verb) {
        // "Deletes nothing."
        if matches!(self.word(to), "nothing" | "no" | "none") {
            self.prose.denies = true;
            return;
        }
        if !self.object_is_answer(from) {
            let to = to + usize::from(self.has_object(to.saturating_sub(1)));
            self.note_write(from, to, verb.effect);
        }
    }

    fn note_write(&mut self, from: usize, to: usize, effect: Effect) {
        if self.prose.writes.is_none() {
            let words: Vec<&str> =
                (from..to).map(|index| self.word(index)).filter(|word| !word.is_empty()).collect();
            self.prose.writes = Some(WritePhrase {
                text: words.join(" "),
                effect,
                opens: self.prose.opening == Opening::Other,
            });
        }
    }

    /// Reads the clauses after the first verb.
    fn read_rest(&mut self, from: usize, is_imperative: bool) {
        let mut slot = false;
        let mut subordinate = false;
        // Whether a relative clause has had its verb. The next one belongs to the main clause.
        let mut relative_verb = false;
        let mut negated = 0usize;
        let mut index = from;
        while index < self.sentence.len() {
            let word = self.word(index);
            if self.starts_clause(index) {
                let nonrestrictive = word == "which";
                subordinate = false;
                slot = true;
                if nonrestrictive {
                    index += 1;
                    continue;
                }
                // Advice in a later clause: "…, use `x` instead".
                if index > from
                    && self.clause_start(index).is_none()
                    && (ADVISING.contains(word) || READERS.contains(word))
                {
                    return;
                }
            }
            negated = negated.saturating_sub(1);
            if NEGATIONS.contains(word) {
                negated = 5;
            } else if SUBORDINATORS.contains(word) {
                subordinate = true;
                relative_verb = false;
                slot = false;
            } else if subordinate && !relative_verb && is_finite(word) {
                relative_verb = true;
            } else if matches!(word, "and" | "then" | "or" | "but" | "plus") {
                slot = !subordinate;
            } else if matches!(word, "it" | "this") && slot {
                // "and it deletes": the next word may be the verb.
            } else if is_adverb(word) {
                // The slot stays as it is.
            } else if matches!(word, "is" | "are" | "get" | "gets" | "be") && (!subordinate || relative_verb)
            {
                self.read_passive(index, negated > 0);
                slot = false;
            } else {
                if negated == 0 && !self.is_code(index) {
                    self.read_later_verb(index, slot && self.agrees(index, is_imperative), subordinate);
                } else if negated > 0
                    && !subordinate
                    && verb_of(self.word(index)).is_some_and(|verb| verb.acts())
                {
                    self.prose.denies = true;
                }
                slot = false;
            }
            index += 1;
        }
    }

    /// Returns whether a verb can be joined to the first one: "Get it and save it", but not "Adjust it and save it" as
    /// advice in a later sentence.
    fn agrees(&self, index: usize, is_imperative: bool) -> bool {
        let is_base = base_of(self.word(index)) == self.word(index);
        !is_base || (is_imperative && (self.is_first || matches!(self.word(index + 1), "it" | "them")))
    }

    /// Reads "is deleted", "will be marked as read". A state such as "is archived" counts only with a sign of an event.
    fn read_passive(&mut self, aux: usize, negated: bool) {
        let before = if aux == 0 { "" } else { self.word(aux - 1) };
        let is_modal = self.word(aux) == "be" && before != "will";
        if negated || is_modal {
            return;
        }
        let mut index = aux + 1;
        let mut event = before == "will" || self.word(aux) == "gets";
        while is_adverb(self.word(index)) || self.word(index) == "being" {
            if matches!(self.word(index), "already" | "currently") {
                return;
            }
            event |= matches!(
                self.word(index),
                "afterwards"
                    | "also"
                    | "automatically"
                    | "immediately"
                    | "instantly"
                    | "irreversibly"
                    | "permanently"
                    | "silently"
                    | "then"
                    | "thereby"
            );
            index += 1;
        }
        if self.is_code(index) || self.starts_clause(index) {
            return;
        }
        if matches!(self.word(index), "evaluated" | "executed" | "run") {
            self.prose.runs = true;
        }
        let word = self.word(index);
        let next = self.word(index + 1);
        event |= matches!(
            next,
            "as" | "automatically"
                | "immediately"
                | "permanently"
                | "afterwards"
                | "first"
                | "again"
                | "once"
                | "at"
        ) && self.word(index + 2) != "least";
        event |= self
            .sentence
            .iter()
            .any(|token| matches!(token.word.as_ref(), "afterwards" | "thereby" | "first" | "every"));
        // "The page is created by X" and "is updated every hour" describe the data.
        let describes = matches!(next, "by" | "daily" | "hourly" | "weekly" | "frequently" | "on");
        let Some(verb) = participle(word) else {
            let base = word.strip_suffix("ed").unwrap_or(word);
            if is_harmless(base) || is_harmless(word.strip_suffix('d').unwrap_or(word)) {
                return;
            }
            let irregular = matches!(
                word,
                "brought" | "thrown" | "driven" | "begun" | "broken" | "torn" | "shut" | "lent" | "dealt"
            );
            let unknown =
                irregular || word.ends_with("ed") && word.len() > 4 && !PLAIN_PARTICIPLES.contains(word);
            if unknown && !describes && self.prose.doubt.is_none() {
                self.prose.doubt = Some(format!("{} {word}", self.word(aux)));
            }
            return;
        };
        if !writes(verb)
            || is_harmless(verb.word)
            || matches!(verb.word, "deny" | "reject" | "decline" | "abort" | "redact" | "apply" | "select")
        {
            return;
        }
        let receivers = [
            "api", "apis", "server", "service", "provider", "endpoint", "engine", "backend", "stream",
            "model",
        ];
        let is_transport =
            verb.word == "send" && (index + 1..index + 6).any(|next| receivers.contains(&self.word(next)));
        if is_transport {
            return;
        }
        let is_state = STATES.contains(verb.word) || PLAIN_PARTICIPLES.contains(word);
        if (event || !is_state) && !describes {
            self.note_write(aux, index + 1, verb.effect);
        }
    }

    /// Reads a possible verb after the first one.
    fn read_later_verb(&mut self, index: usize, slot: bool, subordinate: bool) {
        let word = self.word(index).to_owned();
        let word = word.as_str();
        let Some(verb) = verb_of(word).filter(|verb| writes(verb)) else {
            let before = if index == 0 { "" } else { self.word(index - 1) };
            let is_verb = verbs::inflected(word).is_none()
                && self.looks_like_verb(index)
                && (slot || matches!(before, "it" | "tool" | "also" | "then"))
                && !is_harmless(&base_of(word))
                && !COMPUTING.contains(&base_of(word));
            if is_verb && !subordinate && self.prose.doubt.is_none() {
                self.prose.doubt = Some(format!("{word} {}", self.word(index + 1)));
            }
            return;
        };
        if matches!(verb.word, "execute" | "run" | "evaluate") {
            self.prose.runs = true;
        }
        let before = if index == 0 { "" } else { self.word(index - 1) };
        let base = base_of(word);
        if subordinate || is_harmless(&base) || verb.has(VerbTrait::Making) || self.runs_a_read(index) {
            return;
        }
        let next = self.word(index + 1);
        let ends = next.is_empty() || self.starts_clause(index + 1);
        let object = self.has_object(index);
        if word.ends_with("ing") {
            // ", marking it as read" and "by deleting the".
            if verb.word == "make" {
                return;
            }
            let joined = self.starts_clause(index) || slot || matches!(before, "by" | "while");
            if joined && object && !self.is_noun_before(index) {
                self.found_write(index, index + 1, verb);
            }
            return;
        }
        let third_person = word != verb.word && word.ends_with('s');
        let certain = if third_person {
            // "posts it"; without an object only a verb that is hardly a noun: "sends email".
            let follows_noun = DETERMINERS.contains(before) || crate::PREPOSITIONS.contains(before);
            (object && !follows_noun && (slot || verb.acts()))
                || (slot && verb.acts() && !ends && !is_connector(next))
        } else {
            let nounlike = matches!(
                verb.word,
                "update"
                    | "upload"
                    | "move"
                    | "mark"
                    | "clone"
                    | "reserve"
                    | "register"
                    | "install"
                    | "put"
                    | "restore"
                    | "save"
                    | "restart"
                    | "mute"
                    | "toggle"
            );
            slot && (object || (verb.acts() && !nounlike && !ends && !is_connector(next)))
        };
        if certain {
            self.found_write(index, index + 1, verb);
        }
    }

    fn is_noun_before(&self, index: usize) -> bool {
        index > 0
            && matches!(
                self.word(index - 1),
                "for" | "of" | "about" | "before" | "after" | "when" | "without"
            )
    }
}

/// Returns whether the word before must be a noun: "Renames are …".
fn is_copula(word: &str) -> bool {
    SUBORDINATORS.contains(word)
        || matches!(
            word,
            "is" | "are"
                | "was"
                | "were"
                | "can"
                | "may"
                | "will"
                | "must"
                | "should"
                | "has"
                | "have"
                | "of"
        )
}

/// Returns whether a word is probably the verb of a clause.
fn is_finite(word: &str) -> bool {
    matches!(
        word,
        "is" | "are"
            | "was"
            | "were"
            | "has"
            | "have"
            | "had"
            | "do"
            | "does"
            | "can"
            | "may"
            | "fail"
            | "match"
            | "will"
    ) || verb_of(word).is_some_and(|verb| verb.word != word)
        || (word.len() > 3 && word.ends_with("ed"))
}

fn is_connector(word: &str) -> bool {
    crate::PREPOSITIONS.contains(word)
        || matches!(word, "and" | "or" | "is" | "are" | "was" | "were" | "has" | "have" | "that" | "which")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn writes_in(text: &str) -> Option<String> {
        read(text).writes.map(|phrase| phrase.text)
    }

    #[test]
    fn every_main_clause_is_read() {
        for (text, expected) in [
            ("Returns the report and posts it to the channel.", "posts it"),
            ("Gets a report. The previous key is invalidated.", "is invalidated"),
            ("Lists messages, marking them as read.", "marking them"),
            ("Shows a page. If it is old, it is deleted first.", "is deleted"),
            ("Reads the queue. Each message is returned once.", "returned once"),
            ("Looks up an address. Each call costs 1 credit.", "costs 1 credit"),
            ("Get an access token", "access token"),
        ] {
            assert_eq!(writes_in(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn clauses_about_other_things_say_nothing() {
        for text in [
            "Lists users. Use `delete_user` to remove one.",
            "Gets the fields needed to create an invoice.",
            "Finds files that were deleted.",
            "Shows a page. Does not modify anything.",
            "Lists posts and comments of a user.",
            "Gets a build. To cancel it, call cancel_build.",
            "Search code. Results are sorted by date.",
        ] {
            assert_eq!(writes_in(text), None, "{text}");
        }
        assert!(read("Executes a query. The connection is read-only.").denies);
        assert!(!read("[DISABLED in read-only mode] Creates a note.").denies);
    }

    #[test]
    fn the_first_statement_may_follow_a_label() {
        for (text, expected) in [
            ("Weather | Retrieve the forecast", Opening::Reads("retrieve")),
            ("Part of the suite. Returns all users.", Opening::Returns),
            ("This tool will list all users", Opening::Reads("list")),
            ("Balance of the account", Opening::Phrase),
            ("Exports a page", Opening::Doubtful("export")),
            ("", Opening::Missing),
        ] {
            assert_eq!(read(text).opening, expected, "{text}");
        }
    }
}
