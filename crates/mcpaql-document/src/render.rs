//! Views of diagnostics.
//!
//! Every view is a function from sources and diagnostics to text. The order is that of the files, then by position and
//! code, so that the same problems always print the same. A credential that a diagnostic is about is masked wherever
//! the source is quoted, and no control character of a document reaches a terminal.

mod concise;
mod full;
pub mod github;
pub mod json;
pub mod sarif;

pub use concise::concise;
pub use full::full;
pub use github::github;
pub use json::json;
pub use sarif::sarif;

use crate::source::Source;
use crate::source::lines::Lines;
use mcpaql_core::diagnostic::Diagnostic;
use std::fmt::Write as _;

/// A document with what was found in it.
pub type Report<'a> = (&'a Source, &'a [Diagnostic]);

/// A view, to choose by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// For people: the message with the lines it is about.
    #[default]
    Full,
    /// For editors and `grep`: one line each.
    Concise,
    /// For programs.
    Json,
    /// For code scanning services.
    Sarif,
    /// For annotations of a GitHub workflow.
    Github,
}

impl Style {
    /// Every style.
    pub const ALL: &[Style] = &[Style::Full, Style::Concise, Style::Json, Style::Sarif, Style::Github];

    /// The name to choose it by.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Style::Full => "full",
            Style::Concise => "concise",
            Style::Json => "json",
            Style::Sarif => "sarif",
            Style::Github => "github",
        }
    }

    /// Finds a style by its name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Style> {
        Style::ALL.iter().copied().find(|style| style.as_str() == name)
    }

    /// Renders reports in this style. `color` matters to [`Style::Full`] alone.
    #[must_use]
    pub fn render(self, reports: &[Report<'_>], color: bool) -> String {
        match self {
            Style::Full => full(reports, color),
            Style::Concise => concise(reports),
            Style::Json => json(reports),
            Style::Sarif => sarif(reports),
            Style::Github => github(reports),
        }
    }
}

/// A diagnostic with where it begins and ends, both from 1, the end behind the last character.
struct Located {
    diagnostic: Diagnostic,
    start: usize,
    end: usize,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

/// The diagnostics of a source in the order to show them, each with its place.
fn located(source: &Source, lines: &Lines<'_>, diagnostics: &[Diagnostic]) -> Vec<Located> {
    let mut diagnostics = diagnostics.to_vec();
    source.locate(&mut diagnostics);
    let mut located: Vec<Located> = diagnostics
        .into_iter()
        .map(|diagnostic| {
            let (start, end) = diagnostic.span.map_or((0, 0), |span| (span.start, span.end.max(span.start)));
            let (line, column) = lines.position(start);
            let (end_line, end_column) = lines.position(end);
            Located { diagnostic, start, end, line, column, end_line, end_column }
        })
        .collect();
    located.sort_by(|a, b| (a.start, a.diagnostic.code.as_str()).cmp(&(b.start, b.diagnostic.code.as_str())));
    located
}

/// `expected X, found Y`, as far as known.
fn contrast(diagnostic: &Diagnostic) -> Option<String> {
    match (&diagnostic.expected, &diagnostic.found) {
        (Some(expected), Some(found)) => Some(format!("expected {expected}, found {found}")),
        (Some(expected), None) => Some(format!("expected {expected}")),
        (None, Some(found)) => Some(format!("found {found}")),
        (None, None) => None,
    }
}

/// The message with everything else in brackets behind it.
fn sentence(diagnostic: &Diagnostic) -> String {
    let help = diagnostic.suggestion.as_ref().map(|suggestion| format!("help: {suggestion}"));
    let extra: Vec<String> = contrast(diagnostic).into_iter().chain(help).collect();
    match extra.as_slice() {
        [] => diagnostic.message.clone(),
        extra => format!("{} ({})", diagnostic.message, extra.join("; ")),
    }
}

/// The text on one line, control characters written out: names come from the document and may hold anything.
#[must_use]
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '\n' | '\t' => shown.push(' '),
            '\r' => {}
            _ if char.is_control() || is_unseen(char) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(char));
            }
            _ => shown.push(char),
        }
    }
    shown
}

/// Characters that nobody sees, and those that reorder what stands around them.
#[must_use]
pub const fn is_unseen(char: char) -> bool {
    matches!(
        char,
        '\u{ad}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests;
