//! Views of an audit: every view is a function from a [`Report`] to text.
//!
//! What servers say is not to be trusted: no control or invisible character of theirs reaches a terminal, and nothing of theirs
//! is taken for markup of the format it stands in. Nor is anything shown that looks like a credential, wherever it stood.

mod full;
mod github;
mod json;
mod junit;
mod markdown;
mod sarif;

#[cfg(test)]
mod tests;

pub use full::{RenderOptions, full};
pub use github::github;
pub use json::{json, plain};
pub use junit::junit;
pub use markdown::markdown;
pub use sarif::sarif;

use crate::convention::RuleLevel;
use crate::report::{AuditReport, FailedServer, LocatedFinding};
use crate::text::credential;
use mcpaql_document::render::printable;
use std::borrow::Cow;

/// A view, to choose by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RenderFormat {
    /// For people at a terminal.
    #[default]
    Full,
    /// For programs.
    Json,
    /// For code scanning services.
    Sarif,
    /// For comments and pages.
    Markdown,
    /// For annotations of a GitHub workflow.
    Github,
    /// For build servers.
    Junit,
}

impl RenderFormat {
    /// Every format.
    pub const ALL: [RenderFormat; 6] = [
        RenderFormat::Full,
        RenderFormat::Json,
        RenderFormat::Sarif,
        RenderFormat::Markdown,
        RenderFormat::Github,
        RenderFormat::Junit,
    ];

    /// The name to choose it by.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            RenderFormat::Full => "full",
            RenderFormat::Json => "json",
            RenderFormat::Sarif => "sarif",
            RenderFormat::Markdown => "markdown",
            RenderFormat::Github => "github",
            RenderFormat::Junit => "junit",
        }
    }

    /// The format of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<RenderFormat> {
        RenderFormat::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// Renders a report in this format; the options matter to [`Format::Full`] alone.
    #[must_use]
    pub fn render(self, report: &AuditReport<'_>, options: RenderOptions) -> String {
        let text = match self {
            RenderFormat::Full => full(report, options),
            RenderFormat::Json => json(report),
            RenderFormat::Sarif => sarif(report),
            RenderFormat::Markdown => markdown(report),
            RenderFormat::Github => github(report),
            RenderFormat::Junit => junit(report),
        };
        match credential::masked(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(masked) => masked,
        }
    }
}

/// More of a server's text than this is nobody's to read.
const MAX_SHOWN_TEXT: usize = 300;

/// Foreign text on one line, without what a terminal would obey or nobody would see, and not endless.
#[must_use]
pub fn terminal_safe(text: &str) -> String {
    let text = credential::masked(text);
    let text = match text.char_indices().nth(MAX_SHOWN_TEXT) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => text,
    };
    printable(&text)
}

/// `3 tools`.
fn counted(count: usize, word: &str) -> String {
    format!("{} {word}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// `16 363`, as people read it.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// The tool of a finding as people call it; the server where it is about no tool.
fn subject(report: &AuditReport<'_>, found: &LocatedFinding<'_>) -> String {
    let place = &found.finding.place;
    match (report.tool(place), place.tool) {
        (Some(tool), _) if !tool.name.is_empty() => terminal_safe(tool.name),
        (_, Some(index)) => format!("tools[{index}]"),
        (_, None) => terminal_safe(report.server(place.server)),
    }
}

/// What is wrong and what to do about it, in one sentence.
fn sentence(found: &LocatedFinding<'_>) -> String {
    let finding = found.finding;
    let help = finding.help.as_ref().map(|help| format!("help: {}", terminal_safe(help)));
    let by = (!finding.required_by.is_empty())
        .then(|| format!("for {}", terminal_safe(&finding.required_by.join(", "))));
    let extra: Vec<String> = by.into_iter().chain(help).collect();
    match extra.as_slice() {
        [] => terminal_safe(&finding.message),
        extra => format!("{} ({})", terminal_safe(&finding.message), extra.join("; ")),
    }
}

/// The sentence, with the server and the tool before it unless it names them itself.
fn headline(report: &AuditReport<'_>, found: &LocatedFinding<'_>) -> String {
    let (server, subject) =
        (terminal_safe(report.server(found.finding.place.server)), subject(report, found));
    let sentence = sentence(found);
    if sentence.contains(&subject) || server == subject {
        format!("{server}: {sentence}")
    } else {
        format!("{server}: {subject}: {sentence}")
    }
}

/// The end of every report: how many findings, and in what.
fn summary(report: &AuditReport<'_>) -> String {
    let mut text = match [RuleLevel::Error, RuleLevel::Warning].map(|level| report.count(level)) {
        [0, 0] if report.count(RuleLevel::Advice) == 0 => "No findings".to_owned(),
        [errors, warnings] => {
            let advice = grouped(report.count(RuleLevel::Advice));
            format!("{}, {}, {advice} advice", counted(errors, "error"), counted(warnings, "warning"))
        }
    };
    let servers = counted(report.parsed_servers.len(), "server");
    text.push_str(&format!(" in {} of {servers}", counted(report.tools(), "tool")));
    if report.known_count > 0 {
        text.push_str(&format!("; {} known from the baseline", grouped(report.known_count)));
    }
    if !report.resolved.is_empty() {
        text.push_str(&format!("; {} of the baseline gone", grouped(report.resolved.len())));
    }
    let (in_part, not): (Vec<&FailedServer>, Vec<&FailedServer>) =
        report.input.failed.iter().partition(|failed| failed.in_part);
    for group in [not, in_part] {
        if let Some(first) = group.first() {
            text.push_str(&format!("; {} {}", counted(group.len(), "server"), first.verdict()));
        }
    }
    text
}

/// What could not be audited, and why.
fn failure(failed: &FailedServer) -> String {
    format!("{} was {}: {}", terminal_safe(&failed.name), failed.verdict(), terminal_safe(&failed.why))
}
