//! Generates texts that match a regular expression, simplest first.

use crate::schema::translate;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Maximum characters of a text.
const MAX_TEXT: usize = 400;
/// Maximum additional repetitions.
const MAX_REPEATS: u32 = 64;
/// Letters for examples, in the order of their use.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "1234567890";

/// Returns proposals. The caller must check whether they fit.
pub(super) fn texts(pattern: &str) -> impl Iterator<Item = String> {
    let parsed = ParserBuilder::new().nest_limit(64).build().parse(&translate(pattern)).ok();
    let choices =
        [1, 0].into_iter().chain(2..=MAX_REPEATS).flat_map(|more| (0..3).map(move |branch| (more, branch)));
    parsed.into_iter().flat_map(move |hir| {
        choices.clone().filter_map(move |(more, branch)| {
            let mut writer = PatternSampler { out: String::new(), more, branch, chosen: 0 };
            writer.write(&hir, 0).then_some(writer.out)
        })
    })
}

struct PatternSampler {
    out: String,
    more: u32,
    /// The alternative to take.
    branch: usize,
    /// Number of characters chosen so far.
    chosen: usize,
}

impl PatternSampler {
    /// Appends a match of the expression. Returns false if there is no simple one.
    fn write(&mut self, hir: &Hir, depth: usize) -> bool {
        if depth > 64 || self.out.len() > MAX_TEXT {
            return false;
        }
        match hir.kind() {
            HirKind::Empty | HirKind::Look(_) => true,
            HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
                Ok(text) => {
                    self.out.push_str(text);
                    true
                }
                Err(_) => false,
            },
            HirKind::Class(class) => match self.pick(class) {
                Some(ch) => {
                    self.out.push(ch);
                    self.chosen += 1;
                    true
                }
                None => false,
            },
            HirKind::Repetition(repetition) => {
                let wanted =
                    repetition.min.saturating_add(self.more).saturating_sub(u32::from(repetition.min > 0));
                let times = wanted.min(repetition.max.unwrap_or(u32::MAX)).max(repetition.min);
                (0..times).all(|_| self.write(&repetition.sub, depth + 1))
            }
            HirKind::Capture(capture) => self.write(&capture.sub, depth + 1),
            HirKind::Concat(parts) => parts.iter().all(|part| self.write(part, depth + 1)),
            HirKind::Alternation(parts) => {
                parts.get(self.branch % parts.len().max(1)).is_some_and(|part| self.write(part, depth + 1))
            }
        }
    }

    /// Chooses a character of the class: letters in turn, otherwise digits in turn, otherwise the first visible one.
    fn pick(&self, class: &Class) -> Option<char> {
        let Class::Unicode(class) = class else { return None };
        let contains = |ch: &char| class.iter().any(|range| range.start() <= *ch && *ch <= range.end());
        let nth_of = |all: &str| {
            let known: Vec<char> = all.chars().filter(contains).collect();
            known.get(self.chosen % known.len().max(1)).copied()
        };
        let visible = || class.iter().map(|range| range.start()).find(|ch| !ch.is_control());
        nth_of(LETTERS)
            .or_else(|| nth_of(DIGITS))
            .or_else(visible)
            .or_else(|| class.iter().next().map(|range| range.start()))
    }
}
