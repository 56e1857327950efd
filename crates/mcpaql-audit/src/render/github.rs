//! Workflow commands that GitHub shows as annotations of a change.

use super::{Report, failure, headline, shown};
use crate::convention::Level;
use mcpaql_document::render::github::{data, property};
use std::fmt::Write as _;

/// `::error file=…,line=…,col=…,title=CODE::message`, one per line; findings without a file have their path in the message.
#[must_use]
pub fn github(report: &Report<'_>) -> String {
    let mut text = String::new();
    for found in &report.found {
        let command = match found.finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Advice => "notice",
        };
        let place = match (found.spot.file, found.spot.span) {
            (Some(file), Some(span)) => {
                format!("file={},line={},col={},", property(&shown(file)), span.line, span.column)
            }
            _ => String::new(),
        };
        let path = if place.is_empty() { format!(" [{}]", shown(&found.spot.path)) } else { String::new() };
        let message = format!("{}{path}", headline(report, found));
        let title = property(found.finding.rule.code);
        let _ = writeln!(text, "::{command} {place}title={title}::{}", data(&message));
    }
    for failed in report.audited.failed {
        let _ = writeln!(text, "::error title=mcpaql audit::{}", data(&failure(failed)));
    }
    text
}
