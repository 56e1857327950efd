//! A page for comments and wikis.

use super::{Found, Report, counted, grouped, sentence, shown, subject, summary};
use crate::convention::Level;
use crate::score::WINDOW;
use std::fmt::Write as _;

/// A table of servers, then one of findings, the worst first.
#[must_use]
pub fn markdown(report: &Report<'_>) -> String {
    let mut text = format!("# Audit of {}\n\n{}.\n", counted(report.tools(), "tool"), summary(report));
    servers(report, &mut text);
    findings(report, &mut text);
    hints(report, &mut text);
    text
}

fn servers(report: &Report<'_>, text: &mut String) {
    if report.surfaces.is_empty() {
        return;
    }
    text.push_str(
        "\n| server | tools | tokens, estimated | of a window | as adapter | names | titles | annotations | descriptions | schemas | cost |\n\
         |---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for (surface, scores) in report.surfaces.iter().zip(&report.scores) {
        let tokens = surface.tokens();
        let adapter = report.as_adapter(surface.index).map_or_else(|| "–".to_owned(), grouped);
        let points: Vec<String> = scores
            .iter()
            .map(|score| if surface.tools.is_empty() { "–".to_owned() } else { score.points.to_string() })
            .collect();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {}% | {adapter} | {} |",
            cell(&surface.server.name),
            surface.tools.len(),
            grouped(tokens),
            percent(tokens),
            points.join(" | ")
        );
    }
    for failed in report.audited.failed {
        let (name, why) = (cell(&failed.name), cell(&failed.why));
        let _ = writeln!(text, "\n{name} was {}: {why}", failed.verdict());
    }
}

pub(super) fn percent(tokens: usize) -> String {
    let tenths = tokens.saturating_mul(1000) / WINDOW;
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn findings(report: &Report<'_>, text: &mut String) {
    if report.found.is_empty() {
        return;
    }
    text.push_str("\n| | rule | server | tool | finding | where |\n|---|---|---|---|---|---|\n");
    for level in Level::ALL.into_iter().rev() {
        for found in report.found.iter().filter(|found| found.finding.level == level) {
            row(report, found, text);
        }
    }
}

fn row(report: &Report<'_>, found: &Found<'_>, text: &mut String) {
    let _ = writeln!(
        text,
        "| {} | {} | {} | {} | {} | {} |",
        found.finding.level.as_str(),
        found.finding.rule.code,
        cell(report.server(found.finding.place.server)),
        cell(&subject(report, found)),
        cell(&sentence(found)),
        cell(&found.spot.shown())
    );
}

fn hints(report: &Report<'_>, text: &mut String) {
    let rows = report.misleading();
    if rows.is_empty() {
        return;
    }
    text.push_str(
        "\n| server | tool | hint | declared | effective | expected |\n|---|---|---|---|---|---|\n",
    );
    for (surface, tool, facing) in rows {
        let word = |said: Option<bool>| said.map_or_else(|| "–".to_owned(), |said| said.to_string());
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            cell(&surface.server.name),
            cell(tool.name),
            facing.hint.key(),
            word(facing.declared),
            facing.effective,
            word(facing.expected)
        );
    }
}

/// Text of somebody else as a cell: nothing in it is markup, a link or a mention.
fn cell(text: &str) -> String {
    let mut out = String::new();
    for c in shown(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A mention would call somebody.
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
