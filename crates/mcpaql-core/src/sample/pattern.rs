//! Regular expression → texts that it matches, the plainest first.

use crate::schema::translate;
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Longer texts are no examples.
const MAX_TEXT: usize = 400;
/// How often something that may be repeated is, beyond what must be.
const MAX_REPEATS: u32 = 64;
/// Letters that read as an example, in the order they are taken.
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "1234567890";

/// Proposals: whether one fits is for the caller to check.
pub(super) fn texts(pattern: &str) -> impl Iterator<Item = String> {
    let parsed = ParserBuilder::new().nest_limit(64).build().parse(&translate(pattern)).ok();
    let ways =
        [1, 0].into_iter().chain(2..=MAX_REPEATS).flat_map(|more| (0..3).map(move |branch| (more, branch)));
    parsed.into_iter().flat_map(move |hir| {
        ways.clone().filter_map(move |(more, branch)| {
            let mut writer = PatternSampler { out: String::new(), more, branch, turn: 0 };
            writer.write(&hir, 0).then_some(writer.out)
        })
    })
}

struct PatternSampler {
    out: String,
    more: u32,
    /// Which alternative is taken.
    branch: usize,
    /// Characters that were chosen so far.
    turn: usize,
}

impl PatternSampler {
    /// Adds what the expression matches; false where nothing plain does.
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
                    self.turn += 1;
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

    /// A character of the class: letters in turn, else digits in turn, else its first one that can be seen.
    fn pick(&self, class: &Class) -> Option<char> {
        let Class::Unicode(class) = class else { return None };
        let holds = |ch: &char| class.iter().any(|range| range.start() <= *ch && *ch <= range.end());
        let of = |all: &str| {
            let known: Vec<char> = all.chars().filter(holds).collect();
            known.get(self.turn % known.len().max(1)).copied()
        };
        let seen = || class.iter().map(|range| range.start()).find(|ch| !ch.is_control());
        of(LETTERS)
            .or_else(|| of(DIGITS))
            .or_else(seen)
            .or_else(|| class.iter().next().map(|range| range.start()))
    }
}
