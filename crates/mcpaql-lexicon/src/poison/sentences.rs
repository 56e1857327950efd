//! Splits a folded text into sentences, each with its tokens in one language.

use super::signals::{ENGLISH, EVERY_LANGUAGE, LANGUAGES, Signal, SignalSet, SignalWord, tokens};
use std::ops::Range;

/// A sentence, seen in one language.
#[derive(Debug)]
pub(super) struct Sentence<'t> {
    pub(super) text: &'t str,
    /// Position in the folded text.
    pub(super) range: Range<usize>,
    /// Position among the sentences of the text.
    pub(super) number: usize,
    pub(super) language: u8,
    tokens: Vec<SignalWord>,
    pub(super) all: SignalSet,
}

/// Returns the sentences of a folded text, numbered from `first`. A sentence with words of several languages is returned once for each of them.
pub(super) fn sentences<'t>(text: &'t str, first: usize, is_own: &dyn Fn(&str) -> bool) -> Vec<Sentence<'t>> {
    let tokens = tokens(text);
    let signals_of =
        |words: &[SignalWord]| words.iter().fold(SignalSet::default(), |all, word| all.with(word.signals));
    if tokens.is_empty() || !may_match(signals_of(&tokens), text) {
        return Vec::new();
    }
    let mut sentences = Vec::new();
    for (number, range) in (first..).zip(ranges(text)) {
        let from = tokens.partition_point(|token| token.start < range.start);
        let own = tokens.get(from..).unwrap_or_default();
        let own = own.get(..own.partition_point(|token| token.start < range.end)).unwrap_or_default();
        let Some(part) = text.get(range.clone()) else { continue };
        if !may_match(signals_of(own), part) {
            continue;
        }
        let mut counts = [0_usize; LANGUAGES as usize];
        for token in own {
            if let Some(count) = counts.get_mut(usize::from(token.language)) {
                *count += 1;
            }
        }
        let mut neutral: Vec<SignalWord> = Vec::new();
        let mut has_marks = false;
        for (language, count) in counts.iter().enumerate().skip(usize::from(ENGLISH)) {
            let language = u8::try_from(language).unwrap_or_default();
            if !speaks(language, *count, &counts) {
                continue;
            }
            if !std::mem::replace(&mut has_marks, true) {
                neutral.extend(own.iter().filter(|token| token.language == EVERY_LANGUAGE));
                add_marks(part, range.start, is_own, &mut neutral);
            }
            let mut tokens: Vec<SignalWord> =
                own.iter().filter(|token| token.language == language).chain(&neutral).copied().collect();
            tokens.sort_by_key(|token| token.start);
            let all = signals_of(&tokens);
            sentences.push(Sentence { text: part, range: range.clone(), number, language, tokens, all });
        }
    }
    sentences
}

/// Signals without which no rule matches, each with the signals that it needs beside it.
const TRIGGERS: &[(&[Signal], &[Signal])] = {
    use Signal::*;
    const NOUNS: &[Signal] = &[Instructions, Rules, Restrictions, SystemPrompt, Everything, Call, Tool];
    &[
        (&[Override, Void, Off, Priority], NOUNS),
        (&[Tell, Know], &[Not, MustNot, NoNeed]),
        (&[Hide, Covertly, Pretend], &[]),
        (&[Role, FromNow, Mode, OtherServer, SideEffect, KeyPath, SecretFile, SystemPrompt, Inventory], &[]),
        (&[Consent, Ask, Skip], &[Already, Confirm]),
        (&[NoMatter, EveryMessage], &[Call]),
        (&[Conversation, Environment], &[]),
        (&[Secret], &[Give, Gives, Whole]),
        (&[AnyTool, Recipient], &[Change, Give, Go]),
        (
            &[Thought, Consequence, Distrust, OverUser, AsOrders, Decode, Lie, Ours, Unwatched, ForTheUser],
            &[],
        ),
        (&[Weaken], &[Protection]),
        (&[Seen, Record, Model], &[Give, Secret, Address]),
        (&[Broken], &[Tool, AnyTool, ThisTool]),
        (&[When], &[Conversation]),
        (&[OtherServer], &[Secret]),
        (&[Tell], &[Not]),
        (&[Confirm], &[Void, You]),
        (&[Ask], &[Before, Secret, Call]),
        (&[AnswerText], &[Hide, Skip, Not, You, Model]),
    ]
};

/// Returns whether a rule may match a text with these signals, or one of its sentences. Most texts are ruled out here.
fn may_match(signals: SignalSet, text: &str) -> bool {
    let has = |wanted: &[Signal]| wanted.is_empty() || signals.meets(SignalSet::any(wanted));
    TRIGGERS.iter().any(|(triggers, beside)| has(triggers) && has(beside))
        || text.contains("://")
        || text.contains(['@', '+', '|'])
        || text.contains("rm -")
        || text.contains("dd if=")
        || text.contains("mkfs.")
        || text.contains("powershell")
}

/// Returns whether a sentence may be in a language: it has words of that language, and not many more English ones. Several languages
/// share words.
fn speaks(language: u8, count: usize, counts: &[usize]) -> bool {
    let english = counts.get(usize::from(ENGLISH)).copied().unwrap_or_default();
    match language {
        ENGLISH => count > 0,
        _ => count > 1 && count * 2 > english,
    }
}

impl Sentence<'_> {
    pub(super) fn has(&self, signal: Signal) -> bool {
        self.all.has(signal)
    }

    pub(super) fn has_any(&self, signals: &[Signal]) -> bool {
        self.all.meets(SignalSet::any(signals))
    }

    /// Returns the tokens with any of these signals.
    pub(super) fn tokens(&self, signals: &[Signal]) -> impl Iterator<Item = SignalWord> + '_ {
        let set = SignalSet::any(signals);
        self.tokens.iter().copied().filter(move |token| token.signals.meets(set))
    }

    /// Returns whether a token with one of these signals is at most `distance` bytes away from `token`, on either side.
    pub(super) fn near(&self, token: SignalWord, signals: &[Signal], distance: usize) -> bool {
        self.tokens(signals).any(|other| {
            let same = other.start == token.start && other.end == token.end;
            !same && gap(token, other) <= distance
        })
    }

    /// Returns the first token with one of these signals after `token`, at most `distance` bytes away.
    pub(super) fn after(&self, token: SignalWord, signals: &[Signal], distance: usize) -> Option<SignalWord> {
        self.tokens(signals).find(|other| other.start >= token.end && other.start - token.end <= distance)
    }

    /// Returns whether a token with one of these signals ends at most `distance` bytes before `token`.
    pub(super) fn follows(&self, token: SignalWord, signals: &[Signal], distance: usize) -> bool {
        self.tokens(signals).any(|other| other.end <= token.start && token.start - other.end <= distance)
    }

    /// Returns the text between two tokens.
    pub(super) fn between(&self, first: SignalWord, second: SignalWord) -> &str {
        let from = first.end.saturating_sub(self.range.start);
        let to = second.start.saturating_sub(self.range.start);
        self.text.get(from..to).unwrap_or_default()
    }

    /// Returns whether a token is the first word of the sentence.
    pub(super) fn starts_with(&self, token: SignalWord) -> bool {
        let before = self.text.get(..token.start.saturating_sub(self.range.start)).unwrap_or_default();
        !before.chars().any(char::is_alphanumeric)
    }
}

fn gap(one: SignalWord, other: SignalWord) -> usize {
    if one.end <= other.start { other.start - one.end } else { one.start.saturating_sub(other.end) }
}

/// Returns the ranges of sentences: up to a full stop before a blank, a mark of Chinese or Japanese, or a line break that does not
/// continue a sentence.
fn ranges(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((position, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let ends = match c {
            '.' | '!' | '?' => {
                next.is_none_or(char::is_whitespace) && !is_abbreviation(text, start, position)
            }
            '。' | '！' | '？' => true,
            '\n' => next.is_none_or(|next| !next.is_alphanumeric()) || ends_line(text, position),
            _ => false,
        };
        if ends {
            ranges.push(start..position + c.len_utf8());
            start = position + c.len_utf8();
        }
    }
    ranges.push(start..text.len());
    ranges.retain(|range| !range.is_empty());
    ranges
}

/// Returns whether a line that ends at `position` is complete: it ends with a colon, or it is short.
fn ends_line(text: &str, position: usize) -> bool {
    let line = text.get(..position).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
    line.trim_end().ends_with([':', '#', '>', ']']) || line.len() < 40
}

fn is_abbreviation(text: &str, start: usize, position: usize) -> bool {
    let before = text.get(start..position).unwrap_or_default();
    ["e.g", "i.e", "z.b", " vs", " etc", "u.a"].iter().any(|end| before.ends_with(end))
}

/// Adds addresses, names of tools and commands, which mean the same in every language.
fn add_marks(text: &str, from: usize, is_own: &dyn Fn(&str) -> bool, tokens: &mut Vec<SignalWord>) {
    let mut add = |range: Range<usize>, signal| {
        let (start, end) = (from + range.start, from + range.end);
        tokens.push(SignalWord { start, end, signals: SignalSet::of(signal), language: EVERY_LANGUAGE });
    };
    let mut position = 0;
    for word in
        text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '`' | '(' | ')' | ',' | '，' | '、'))
    {
        let range = position..position + word.len();
        position = text
            .get(range.end..)
            .and_then(|rest| rest.chars().next())
            .map_or(range.end, |c| range.end + c.len_utf8());
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
        // A link of Markdown leads people to documentation.
        let is_link = text.get(..range.start).is_some_and(|before| before.ends_with("]("));
        if is_address(word) && !is_link {
            add(range, Signal::Address);
        } else if (is_tool_name(bare) || is_quoted_name(text, range.start, bare)) && !is_own(bare) {
            add(range, Signal::Identifier);
        }
    }
    for range in named_parameters(text) {
        add(range, Signal::Parameter);
    }
    if let Some(range) = command(text) {
        add(range, Signal::Command);
    }
    if let Some(range) = phone_number(text) {
        add(range, Signal::Address);
    }
}

/// Returns names in backticks or quotes after a preposition: "in `note`".
fn named_parameters(text: &str) -> impl Iterator<Item = Range<usize>> + '_ {
    quoted_names(text, '`').chain(quoted_names(text, '"'))
}

fn quoted_names(text: &str, quote: char) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut open = None;
    text.match_indices(quote).filter_map(move |(at, _)| {
        let Some(start) = open.take() else {
            open = Some(at);
            return None;
        };
        let name = text.get(start + 1..at)?;
        let before = text.get(..start)?.trim_end().trim_end_matches(" the").trim_end_matches(" parameter");
        let leads = [
            " in", " into", " as", " to", " inside", " with", " via", " through", " under", "fill",
            "populate", "set",
        ];
        let is_name =
            name.len() < 40 && !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        (is_name && leads.iter().any(|word| before.ends_with(word))).then_some(start..at + 1)
    })
}

/// Returns whether a word is a web or mail address.
fn is_address(word: &str) -> bool {
    let is_mail = || {
        word.split_once('@').is_some_and(|(user, host)| {
            user.chars().next_back().is_some_and(char::is_alphanumeric)
                && host.split_once('.').is_some_and(|(name, end)| {
                    !name.is_empty() && end.chars().next().is_some_and(char::is_alphabetic)
                })
        })
    };
    word.contains("://") || is_mail() || is_wallet(word) || is_host(word)
}

/// Returns whether a word is the name of a host with at least three parts: `metrics.evil.example`.
fn is_host(word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let end = word.rsplit('.').next().unwrap_or_default();
    word.len() < 80
        && word.matches('.').count() >= 2
        && matches!(
            end,
            "com"
                | "net"
                | "org"
                | "io"
                | "dev"
                | "app"
                | "example"
                | "ru"
                | "cn"
                | "xyz"
                | "site"
                | "info"
                | "cc"
                | "me"
        )
        && word.split('.').all(|part| {
            !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        })
}

/// Returns whether a word is the address of a wallet: `bc1q…`, `0x…`.
fn is_wallet(word: &str) -> bool {
    let is_long = |rest: &str, least: usize| {
        rest.len() >= least && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let word = word.trim_end_matches(['.', '…', ';', ':']);
    word.strip_prefix("bc1").is_some_and(|rest| is_long(rest, 6))
        || word.strip_prefix("0x").is_some_and(|rest| is_long(rest, 24))
}

/// Returns whether a word is spelled like the name of a tool: `send_email`.
fn is_tool_name(word: &str) -> bool {
    word.len() < 64
        && word.split('_').count() > 1
        && word.split('_').all(|part| !part.is_empty())
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Returns whether a word in backticks is spelled with hyphens, like the name of a tool: `send-email`.
fn is_quoted_name(text: &str, start: usize, word: &str) -> bool {
    let is_quoted = text.get(..start).is_some_and(|before| before.ends_with('`'));
    is_quoted && is_tool_name(&word.replace('-', "_"))
}

/// Finds a command that downloads and runs a program, or deletes files.
fn command(text: &str) -> Option<Range<usize>> {
    let deletes = ["rm -rf", "rm -fr", "mkfs.", "dd if=", "powershell -e", "base64 -d |", "| sudo bash"];
    if let Some(at) = deletes.iter().find_map(|command| text.find(command)) {
        return Some(at..at + 6);
    }
    let start = text.find("curl ").or_else(|| text.find("wget "))?;
    let pipe = start + text.get(start..)?.find('|')?;
    let program = text.get(pipe + 1..)?.trim_start().split(|c: char| !c.is_alphanumeric()).next()?;
    matches!(program, "sh" | "bash" | "zsh" | "dash" | "python" | "python3" | "node" | "sudo")
        .then_some(start..pipe + 1)
}

/// Finds a telephone number: `+`, then at least nine digits.
fn phone_number(text: &str) -> Option<Range<usize>> {
    text.match_indices('+').find_map(|(at, _)| {
        let rest = text.get(at + 1..)?;
        let number = rest.split(|c: char| !(c.is_ascii_digit() || matches!(c, ' ' | '-'))).next()?;
        (number.bytes().filter(u8::is_ascii_digit).count() > 8).then_some(at..at + 1 + number.len())
    })
}
