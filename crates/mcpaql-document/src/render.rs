//! Renders diagnostics in five formats. Each format is a function from sources and diagnostics to text.
//!
//! ```
//! use mcpaql_document::render::DiagnosticFormat;
//! use mcpaql_document::{check::check, source::Source};
//!
//! let source = Source::new("shop.yaml", "name: shop\ntype: adaptor\n");
//! let checked = check(&source, &Default::default());
//! let report = DiagnosticFormat::Concise.render(&[(&source, &checked.diagnostics)], false);
//! assert!(report.contains("shop.yaml:2:7"));
//! ```
//!
//! What always holds: diagnostics are sorted by file, position and code, so that the output is stable. A credential is masked
//! wherever the source is quoted. No control character of a document reaches a terminal.

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

/// A document and its diagnostics.
pub type SourceReport<'a> = (&'a Source, &'a [Diagnostic]);

/// An output format for diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DiagnosticFormat {
    /// For people: messages with the lines of the source.
    #[default]
    Full,
    /// For editors and `grep`: one line per diagnostic.
    Concise,
    /// For programs.
    Json,
    /// For code scanning services.
    Sarif,
    /// For annotations of a GitHub workflow.
    Github,
}

impl DiagnosticFormat {
    /// All formats.
    pub const ALL: &[DiagnosticFormat] = &[
        DiagnosticFormat::Full,
        DiagnosticFormat::Concise,
        DiagnosticFormat::Json,
        DiagnosticFormat::Sarif,
        DiagnosticFormat::Github,
    ];

    /// The name of the format.
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

    /// Finds a format by its name.
    #[must_use]
    pub fn parse(name: &str) -> Option<DiagnosticFormat> {
        DiagnosticFormat::ALL.iter().copied().find(|format| format.as_str() == name)
    }

    /// Renders reports in this format. Only [`DiagnosticFormat::Full`] uses `color`.
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

/// A diagnostic and its position. Lines and columns count from 1; the end is exclusive.
struct LocatedDiagnostic {
    diagnostic: Diagnostic,
    start: usize,
    end: usize,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

/// Returns the diagnostics of a source with their positions, sorted.
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

/// Returns `expected X; found Y`, `expected X` or `found Y`. A value that the message already names is left out.
fn expected_and_found(diagnostic: &Diagnostic) -> Option<String> {
    let is_named = |found: &&String| {
        let bare = found.trim_matches('`');
        ['\'', '`'].iter().any(|quote| diagnostic.message.contains(&format!("{quote}{bare}{quote}")))
    };
    match (&diagnostic.expected, diagnostic.found.as_ref().filter(|found| !is_named(found))) {
        (Some(expected), Some(found)) => Some(format!("expected {expected}; found {found}")),
        (Some(expected), None) => Some(format!("expected {expected}")),
        (None, Some(found)) => Some(format!("found {found}")),
        (None, None) => None,
    }
}

/// Returns the message, followed by everything else in parentheses.
fn sentence(diagnostic: &Diagnostic) -> String {
    let help = diagnostic.suggestion.as_ref().map(|suggestion| format!("help: {suggestion}"));
    let extra: Vec<String> = expected_and_found(diagnostic).into_iter().chain(help).collect();
    match extra.as_slice() {
        [] => diagnostic.message.clone(),
        extra => format!("{} ({})", diagnostic.message, extra.join("; ")),
    }
}

/// Returns the text on one line with control characters escaped. Names come from the document and may contain anything.
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

/// Whether the character is invisible or changes the direction of the text around it.
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
