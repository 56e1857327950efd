//! Renders one line per diagnostic, in the format that editors parse.

use super::{SourceReport, located, printable, sentence};
use crate::source::lines::LineIndex;
use std::fmt::Write as _;

/// Writes `file:line:column: error[CODE]: message (expected X; found Y; help: Z)`, one per line.
#[must_use]
pub fn concise(reports: &[SourceReport<'_>]) -> String {
    let mut text = String::new();
    for (source, diagnostics) in reports {
        for found in located(source, &LineIndex::new(&source.text), diagnostics) {
            let (name, severity, code) =
                (printable(&source.name), found.diagnostic.severity.as_str(), found.diagnostic.code);
            let message = printable(&sentence(&found.diagnostic));
            let _ = writeln!(text, "{name}:{}:{}: {severity}[{code}]: {message}", found.line, found.column);
        }
    }
    text
}
