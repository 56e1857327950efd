//! Renders diagnostics as JSON, for programs.

use super::{LocatedDiagnostic, SourceReport, located};
use crate::source::lines::LineIndex;
use serde::Serialize;
use std::fmt::Write as _;

/// Writes a pretty-printed array with one object per diagnostic.
#[must_use]
pub fn json(reports: &[SourceReport<'_>]) -> String {
    let found: Vec<(&str, LocatedDiagnostic)> = reports
        .iter()
        .flat_map(|(source, diagnostics)| {
            let located = located(source, &LineIndex::new(&source.text), diagnostics);
            located.into_iter().map(|found| (source.name.as_str(), found))
        })
        .collect();
    let entries: Vec<JsonDiagnostic<'_>> =
        found.iter().map(|(file, found)| JsonDiagnostic::new(file, found)).collect();
    // Structs of strings and numbers always serialize.
    let mut text = serde_json::to_string_pretty(&entries).unwrap_or_default();
    text.push('\n');
    text
}

#[derive(Serialize)]
struct JsonDiagnostic<'d> {
    file: &'d str,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    severity: &'static str,
    code: &'static str,
    message: &'d str,
    field_path: String,
    pointer: &'d str,
    expected: Option<&'d str>,
    found: Option<&'d str>,
    suggestion: Option<&'d str>,
}

impl<'d> JsonDiagnostic<'d> {
    fn new(file: &'d str, found: &'d LocatedDiagnostic) -> JsonDiagnostic<'d> {
        let diagnostic = &found.diagnostic;
        JsonDiagnostic {
            file,
            line: found.line,
            column: found.column,
            end_line: found.end_line,
            end_column: found.end_column,
            severity: diagnostic.severity.as_str(),
            code: diagnostic.code.as_str(),
            message: &diagnostic.message,
            field_path: field_path(&diagnostic.pointer),
            pointer: &diagnostic.pointer,
            expected: diagnostic.expected.as_deref(),
            found: diagnostic.found.as_deref(),
            suggestion: diagnostic.suggestion.as_deref(),
        }
    }
}

/// Converts a JSON pointer to the form `endpoints.read[0].params["a.b"]`.
#[must_use]
pub fn field_path(pointer: &str) -> String {
    let mut path = String::new();
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        let word = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '$');
        if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            let _ = write!(path, "[{name}]");
        } else if !name.is_empty() && name.chars().all(word) {
            if !path.is_empty() {
                path.push('.');
            }
            path.push_str(&name);
        } else {
            let _ = write!(path, "[{}]", serde_json::Value::String(name));
        }
    }
    path
}
