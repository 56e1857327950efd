//! Renders diagnostics for people: the message, the line of the source, and the help.

use super::{LocatedDiagnostic, SourceReport, expected_and_found, located, printable};
use crate::source::Source;
use crate::source::lines::LineIndex;
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::error::Code;
use std::borrow::Cow;
use std::ops::Range;

/// Renders reports in the style of rustc, with a blank line after each diagnostic.
#[must_use]
pub fn full(reports: &[SourceReport<'_>], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for (source, diagnostics) in reports {
        if diagnostics.is_empty() {
            continue;
        }
        let lines = LineIndex::new(&source.text);
        let shown = mask_credentials(source, diagnostics);
        for found in located(source, &lines, diagnostics) {
            text.push_str(&render_diagnostic(&renderer, source, &lines, &shown, &found));
            text.push_str("\n\n");
        }
    }
    text
}

fn render_diagnostic(
    renderer: &Renderer,
    source: &Source,
    lines: &LineIndex<'_>,
    shown: &str,
    found: &LocatedDiagnostic,
) -> String {
    let diagnostic = &found.diagnostic;
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let (start, window, marked) = window(lines, shown, found);
    let name = printable(&source.name);
    let snippet =
        Snippet::source(window).line_start(found.line).annotation(AnnotationKind::Primary.span(marked));
    let title = level.primary_title(printable(&diagnostic.message)).id(diagnostic.code.as_str());
    // The span of a syntax error in the first column looks the same.
    let has_no_place = diagnostic.is_outside() && diagnostic.code != Code::SchemaSyntax;
    let mut group = if source.text.is_empty() || has_no_place {
        title.element(Origin::path(name))
    } else if start == lines.start(found.line) {
        title.element(snippet.path(name))
    } else {
        // The snippet would count columns from the start of the window.
        title.element(Origin::path(name).line(found.line).char_column(found.column)).element(snippet)
    };
    if source.text.is_empty() && !diagnostic.pointer.is_empty() {
        group = group.element(Level::NOTE.message(printable(&format!("in {}", diagnostic.pointer))));
    }
    if let Some(note) = expected_and_found(diagnostic) {
        group = group.element(Level::NOTE.message(printable(&note)));
    }
    if let Some(suggestion) = &diagnostic.suggestion {
        group = group.element(Level::HELP.message(printable(suggestion)));
    }
    renderer.render(&[group])
}

/// Maximum bytes of a line to show on each side of the position; more than fits on any screen.
const MAX_CONTEXT_BYTES: usize = 1024;

/// Returns the start of the window in the file, the window, and the part of it to underline. The window is one line at most,
/// and only a part of a very long line.
fn window<'t>(
    lines: &LineIndex<'_>,
    shown: &'t str,
    found: &LocatedDiagnostic,
) -> (usize, &'t str, Range<usize>) {
    let start =
        lines.start(found.line).max(shown.floor_char_boundary(found.start.saturating_sub(MAX_CONTEXT_BYTES)));
    let end = lines
        .start(found.line + 1)
        .min(shown.ceil_char_boundary(found.start.saturating_add(MAX_CONTEXT_BYTES)));
    let window = shown.get(start..end).unwrap_or_default().trim_end_matches(['\n', '\r']);
    let from = found.start.saturating_sub(start).min(window.len());
    let to = found.end.saturating_sub(start).min(window.len()).max(from);
    (start, window, from..to)
}

/// Returns the text with every reported credential replaced by stars; offsets do not change.
fn mask_credentials<'s>(source: &'s Source, diagnostics: &[Diagnostic]) -> Cow<'s, str> {
    let credentials: Vec<&Diagnostic> =
        diagnostics.iter().filter(|diagnostic| diagnostic.code == Code::SchemaEmbeddedCredential).collect();
    if credentials.is_empty() {
        return Cow::Borrowed(&source.text);
    }
    let mut hidden = source.value_ranges(credentials.iter().map(|diagnostic| diagnostic.pointer.as_str()));
    hidden.extend(
        credentials
            .iter()
            .filter(|diagnostic| !diagnostic.at_key)
            .filter_map(|diagnostic| diagnostic.span.map(|span| span.start..span.end)),
    );
    // The pointer leads to the first of two equal keys, but the second one contains a credential, too.
    hidden.extend(
        diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.code == Code::SchemaDuplicateName)
            .filter(|diagnostic| credentials.iter().any(|other| other.pointer == diagnostic.pointer))
            .filter_map(|diagnostic| {
                diagnostic.span.map(|span| span.end..end_of_line(&source.text, span.end))
            }),
    );
    let mut shown = String::with_capacity(source.text.len());
    for (offset, char) in source.text.char_indices() {
        let visible = matches!(char, '\n' | '\r') || !hidden.iter().any(|range| range.contains(&offset));
        if visible {
            shown.push(char);
        } else {
            shown.extend(std::iter::repeat_n('*', char.len_utf8()));
        }
    }
    Cow::Owned(shown)
}

fn end_of_line(text: &str, offset: usize) -> usize {
    let rest = text.get(offset..).unwrap_or_default();
    offset + rest.find('\n').unwrap_or(rest.len())
}
