//! Workflow commands that GitHub shows as annotations of a change.

use super::{Report, located, printable, sentence};
use crate::source::lines::Lines;
use std::fmt::Write as _;

/// `::error file=…,line=…,col=…,title=CODE::message`, one per line.
#[must_use]
pub fn github(reports: &[Report<'_>]) -> String {
    let mut text = String::new();
    for (source, diagnostics) in reports {
        for found in located(source, &Lines::new(&source.text), diagnostics) {
            let _ = writeln!(
                text,
                "::{} file={},line={},col={},title={}::{}",
                found.diagnostic.severity.as_str(),
                property(&printable(&source.name)),
                found.line,
                found.column,
                property(found.diagnostic.code.as_str()),
                data(&printable(&sentence(&found.diagnostic))),
            );
        }
    }
    text
}

/// Text as the message of a workflow command.
pub(crate) fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text as a property of a workflow command.
pub(crate) fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
