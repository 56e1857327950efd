//! Renders diagnostics as workflow commands, which GitHub shows as annotations of a pull request.

use super::{SourceReport, located, printable, sentence};
use crate::source::lines::LineIndex;
use std::fmt::Write as _;

/// Writes `::error file=…,line=…,col=…,title=CODE::message`, one per line.
#[must_use]
pub fn github(reports: &[SourceReport<'_>]) -> String {
    let mut text = String::new();
    for (source, diagnostics) in reports {
        for found in located(source, &LineIndex::new(&source.text), diagnostics) {
            let _ = writeln!(
                text,
                "::{} file={},line={},col={},title={}::{}",
                found.diagnostic.severity.as_str(),
                escape_property(&printable(&source.name)),
                found.line,
                found.column,
                escape_property(found.diagnostic.code.as_str()),
                escape_message(&printable(&sentence(&found.diagnostic))),
            );
        }
    }
    text
}

/// Escapes the message of a workflow command.
#[must_use]
pub fn escape_message(text: &str) -> String {
    escaped(text, b"%\r\n")
}

/// Escapes a property of a workflow command.
#[must_use]
pub fn escape_property(text: &str) -> String {
    escaped(text, b"%\r\n:,")
}

fn escaped(text: &str, special: &[u8]) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|byte| special.contains(&byte)) {
        let (plain, behind) = rest.split_at_checked(at).unwrap_or((rest, ""));
        escaped.push_str(plain);
        let mut behind = behind.chars();
        let _ = behind.next().map(|special| write!(escaped, "%{:02X}", u32::from(special)));
        rest = behind.as_str();
    }
    escaped.push_str(rest);
    escaped
}
