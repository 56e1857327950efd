//! The report as Markdown, for comments and wikis.

use super::{AuditReport, LocatedFinding, counted, grouped, sentence, subject, summary, terminal_safe};
use crate::convention::RuleLevel;
use crate::score::CONTEXT_WINDOW;
use std::fmt::Write as _;

/// Renders a table of servers, a table of findings with the worst first, and a table of hints that differ from the policy.
#[must_use]
pub fn markdown(report: &AuditReport<'_>) -> String {
    let mut text = format!("# Audit of {}\n\n{}.\n", counted(report.tools(), "tool"), summary(report));
    servers(report, &mut text);
    findings(report, &mut text);
    hints(report, &mut text);
    text
}

fn servers(report: &AuditReport<'_>, text: &mut String) {
    if report.parsed_servers.is_empty() {
        return;
    }
    text.push_str(
        "\n| server | tools | tokens, estimated | of a window | as adapter | names | titles | annotations | descriptions | schemas | cost |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (parsed, scores) in report.parsed_servers.iter().zip(&report.scores) {
        let tokens = parsed.tokens();
        let adapter = report.as_adapter(parsed.index).map_or_else(|| "–".to_owned(), grouped);
        let points: Vec<String> = scores
            .iter()
            .map(|score| if parsed.tools.is_empty() { "–".to_owned() } else { score.points.to_string() })
            .collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {}% | {adapter} | {} |",
            cell(&parsed.server.name),
            parsed.tools.len(),
            grouped(tokens),
            percent(tokens),
            points.join(" | ")
        );
    }
    for failed in report.input.failed {
        let (name, why) = (cell(&failed.name), cell(&failed.why));
        let _ = writeln!(text, "\n{name} was {}: {why}", failed.verdict());
    }
}

pub(super) fn percent(tokens: usize) -> String {
    let tenths = tokens.saturating_mul(1000) / CONTEXT_WINDOW;
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn findings(report: &AuditReport<'_>, text: &mut String) {
    if report.findings.is_empty() {
        return;
    }
    text.push_str("\n| | rule | server | tool | finding | where |\n|---|---|---|---|---|---|\n");
    for level in RuleLevel::ALL.into_iter().rev() {
        for found in report.findings.iter().filter(|found| found.finding.level == level) {
            row(report, found, text);
        }
    }
}

fn row(report: &AuditReport<'_>, found: &LocatedFinding<'_>, text: &mut String) {
    let _ = writeln!(
        text,
        "| {} | {} | {} | {} | {} | {} |",
        found.finding.level.as_str(),
        found.finding.rule.code,
        cell(report.server(found.finding.place.server)),
        cell(&subject(report, found)),
        cell(&sentence(found)),
        cell(&found.location.to_text())
    );
}

fn hints(report: &AuditReport<'_>, text: &mut String) {
    let rows = report.misleading_hints();
    if rows.is_empty() {
        return;
    }
    text.push_str(
        "\n| server | tool | hint | declared | effective | expected |\n|---|---|---|---|---|---|\n",
    );
    for (parsed, tool, comparison) in rows {
        let word = |value: Option<bool>| value.map_or_else(|| "–".to_owned(), |value| value.to_string());
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            cell(&parsed.server.name),
            cell(tool.name),
            comparison.hint.key(),
            word(comparison.declared),
            comparison.effective,
            word(comparison.expected)
        );
    }
}

/// Returns a server's text as a table cell, without markup, links or mentions.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in terminal_safe(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A mention would notify a person.
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    // Links that are made of plain addresses.
    out.replace("://", ":&#47;&#47;").replace("www.", "www&#46;")
}
