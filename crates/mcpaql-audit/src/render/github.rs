//! GitHub workflow commands, which appear as annotations of a change.

use super::{AuditReport, failure, headline, terminal_safe};
use crate::convention::RuleLevel;
use mcpaql_document::render::github::{escape_message, escape_property};
use std::fmt::Write as _;

/// Renders one command per line: `::error file=…,line=…,col=…,title=CODE::message`. Findings without a file have their path in the
/// message.
#[must_use]
pub fn github(report: &AuditReport<'_>) -> String {
    let mut text = String::new();
    for found in &report.findings {
        let command = match found.finding.level {
            RuleLevel::Error => "error",
            RuleLevel::Warning => "warning",
            RuleLevel::Advice => "notice",
        };
        let place = match (found.location.file, found.location.span) {
            (Some(file), Some(span)) => {
                format!(
                    "file={},line={},col={},",
                    escape_property(&terminal_safe(file)),
                    span.line,
                    span.column
                )
            }
            _ => String::new(),
        };
        let path = if place.is_empty() {
            format!(" [{}]", terminal_safe(&found.location.path))
        } else {
            String::new()
        };
        let message = format!("{}{path}", headline(report, found));
        let title = escape_property(found.finding.rule.code);
        let _ = writeln!(text, "::{command} {place}title={title}::{}", escape_message(&message));
    }
    for failed in report.input.failed {
        let _ = writeln!(text, "::error title=mcpaql audit::{}", escape_message(&failure(failed)));
    }
    text
}
