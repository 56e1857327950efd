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
use crate::source::lines::LineIndex;
use mcpaql_core::diagnostic::Diagnostic;
use std::fmt::Write as _;

/// A document with what was found in it.
pub type SourceReport<'a> = (&'a Source, &'a [Diagnostic]);

/// A view, to choose by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiagnosticFormat {
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

impl DiagnosticFormat {
    /// Every style.
    pub const ALL: &[DiagnosticFormat] = &[
        DiagnosticFormat::Full,
        DiagnosticFormat::Concise,
        DiagnosticFormat::Json,
        DiagnosticFormat::Sarif,
        DiagnosticFormat::Github,
    ];

    /// The name to choose it by.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            DiagnosticFormat::Full => "full",
            DiagnosticFormat::Concise => "concise",
            DiagnosticFormat::Json => "json",
            DiagnosticFormat::Sarif => "sarif",
            DiagnosticFormat::Github => "github",
        }
    }

    /// Finds a style by its name.
    #[must_use]
    pub fn parse(name: &str) -> Option<DiagnosticFormat> {
        DiagnosticFormat::ALL.iter().copied().find(|style| style.as_str() == name)
    }

    /// Renders reports in this style. `color` matters to [`Style::Full`] alone.
    #[must_use]
    pub fn render(self, reports: &[SourceReport<'_>], color: bool) -> String {
        match self {
            DiagnosticFormat::Full => full(reports, color),
            DiagnosticFormat::Concise => concise(reports),
            DiagnosticFormat::Json => json(reports),
            DiagnosticFormat::Sarif => sarif(reports),
            DiagnosticFormat::Github => github(reports),
        }
    }
}

/// A diagnostic with where it begins and ends, both from 1, the end behind the last character.
struct LocatedDiagnostic {
    diagnostic: Diagnostic,
    start: usize,
    end: usize,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

/// The diagnostics of a source in the order to show them, each with its place.
fn located(source: &Source, lines: &LineIndex<'_>, diagnostics: &[Diagnostic]) -> Vec<LocatedDiagnostic> {
    let mut diagnostics = diagnostics.to_vec();
    source.locate(&mut diagnostics);
    let mut located: Vec<LocatedDiagnostic> = diagnostics
        .into_iter()
        .map(|diagnostic| {
            let (start, end) = diagnostic.span.map_or((0, 0), |span| (span.start, span.end.max(span.start)));
            let (line, column) = lines.position(start);
            let (end_line, end_column) = lines.position(end);
            LocatedDiagnostic { diagnostic, start, end, line, column, end_line, end_column }
        })
        .collect();
    located.sort_by(|a, b| (a.start, a.diagnostic.code.as_str()).cmp(&(b.start, b.diagnostic.code.as_str())));
    located
}

/// `expected X, found Y`, as far as known.
fn expected_and_found(diagnostic: &Diagnostic) -> Option<String> {
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
    let extra: Vec<String> = expected_and_found(diagnostic).into_iter().chain(help).collect();
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
            _ if char.is_control() || is_invisible(char) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(char));
            }
            _ => shown.push(char),
        }
    }
    shown
}

/// Characters that nobody sees, and those that reorder what stands around them.
#[must_use]
pub const fn is_invisible(char: char) -> bool {
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
