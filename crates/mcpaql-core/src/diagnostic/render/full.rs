//! The message, the line it is about, and what to do: for people.

use super::{Located, Report, contrast, located, printable};
use crate::diagnostic::{Diagnostic, Severity};
use crate::error::Code;
use crate::source::Source;
use crate::source::lines::Lines;
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::borrow::Cow;

/// The reports as rustc would print them, a blank line behind each diagnostic.
#[must_use]
pub fn full(reports: &[Report<'_>], color: bool) -> String {
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = String::new();
    for (source, diagnostics) in reports {
        if diagnostics.is_empty() {
            continue;
        }
        let lines = Lines::new(&source.text);
        let shown = masked(source, diagnostics);
        for found in located(source, &lines, diagnostics) {
            text.push_str(&one(&renderer, source, &lines, &shown, &found));
            text.push_str("\n\n");
        }
    }
    text
}

fn one(renderer: &Renderer, source: &Source, lines: &Lines<'_>, shown: &str, found: &Located) -> String {
    let diagnostic = &found.diagnostic;
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    // One line is enough to know the place, and cheap in a document of megabytes.
    let start = lines.start(found.line);
    let line = shown.get(start..lines.start(found.line + 1)).unwrap_or_default();
    let line = line.trim_end_matches(['\n', '\r']);
    let from = found.start.saturating_sub(start).min(line.len());
    let to = found.end.saturating_sub(start).min(line.len()).max(from);
    let snippet = Snippet::source(line)
        .path(printable(&source.name))
        .line_start(found.line)
        .annotation(AnnotationKind::Primary.span(from..to));
    let mut group =
        level.primary_title(printable(&diagnostic.message)).id(diagnostic.code.as_str()).element(snippet);
    if let Some(contrast) = contrast(diagnostic) {
        group = group.element(Level::NOTE.message(printable(&contrast)));
    }
    if let Some(suggestion) = &diagnostic.suggestion {
        group = group.element(Level::HELP.message(printable(suggestion)));
    }
    renderer.render(&[group])
}

/// The text with stars in place of every credential that a diagnostic is about; all offsets stay as they are.
fn masked<'s>(source: &'s Source, diagnostics: &[Diagnostic]) -> Cow<'s, str> {
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
    // The second of two equal keys is not behind the pointer, but holds a credential as well.
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
