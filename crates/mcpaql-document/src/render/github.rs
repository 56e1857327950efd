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
#[must_use]
pub fn data(text: &str) -> String {
    escaped(text, b"%\r\n")
}

/// Text as a property of a workflow command.
#[must_use]
pub fn property(text: &str) -> String {
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
