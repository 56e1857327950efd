//! Renders an audit: each format is a function from an [`AuditReport`] to text.
//!
//! ```
//! use mcpaql_audit::convention::{RuleLevel, Standard};
//! use mcpaql_audit::render::{RenderFormat, RenderOptions};
//! use mcpaql_audit::{AuditInput, AuditReport, ServerTools, audit};
//!
//! let tools = vec![serde_json::json!({"name": "create issue", "inputSchema": {"type": "object"}})];
//! let servers = [ServerTools { name: "tracker".to_owned(), tools, ..ServerTools::default() }];
//! let standard = Standard::default();
//! let findings = audit(&servers, &standard);
//! let input = AuditInput {
//!     servers: &servers,
//!     origins: &[],
//!     as_adapters: &[],
//!     failed: &[],
//!     standard: &standard,
//!     fail_on: RuleLevel::Warning,
//! };
//! let report = AuditReport::new(input, &findings, None);
//! assert!(RenderFormat::Full.render(&report, RenderOptions::default()).contains("error[NAME-001]"));
//! ```
//!
//! What always holds: text from servers is untrusted. None of its control or invisible characters reaches a terminal, and none of it
//! is interpreted as markup of the output format. Anything that looks like a credential is masked.

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

/// An output format.
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

    /// Returns the name of the format.
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

    /// Returns the format with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<RenderFormat> {
        RenderFormat::ALL.into_iter().find(|format| format.as_str() == name)
    }

    /// Renders a report. Only [`RenderFormat::Full`] uses the options.
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

/// Maximum number of characters of a server's text that are shown.
const MAX_SHOWN_TEXT: usize = 300;

/// Returns a server's text on one line: truncated, with credentials masked and without control or invisible characters.
#[must_use]
pub fn terminal_safe(text: &str) -> String {
    let text = credential::masked(text);
    let text = match text.char_indices().nth(MAX_SHOWN_TEXT) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => text,
    };
    printable(&text)
}

/// Returns a count with its noun: `3 tools`.
fn counted(count: usize, word: &str) -> String {
    format!("{} {word}{}", grouped(count), if count == 1 { "" } else { "s" })
}

/// Returns a number with grouped digits: `16 363`.
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

/// Returns the name of the tool of a finding, or of the server if it is about the whole server.
fn subject(report: &AuditReport<'_>, found: &LocatedFinding<'_>) -> String {
    let place = &found.finding.place;
    match (report.tool(place), place.tool) {
        (Some(tool), _) if !tool.name.is_empty() => terminal_safe(tool.name),
        (_, Some(index)) => format!("tools[{index}]"),
        (_, None) => terminal_safe(report.server(place.server)),
    }
}

/// Returns the message, the conventions and the help of a finding in one sentence.
fn sentence(found: &LocatedFinding<'_>) -> String {
    let finding = found.finding;
    let help = finding.help.as_ref().map(|help| format!("help: {}", terminal_safe(help)));
    let by = (!finding.required_by.is_empty()).then(|| conventions(&finding.required_by));
    let extra: Vec<String> = by.into_iter().chain(help).collect();
    match extra.as_slice() {
        [] => terminal_safe(&finding.message),
        extra => format!("{} ({})", terminal_safe(&finding.message), extra.join("; ")),
    }
}

/// Returns the names of conventions, such as `convention: mcpaql`.
fn conventions(names: &[String]) -> String {
    let noun = if names.len() == 1 { "convention" } else { "conventions" };
    format!("{noun}: {}", terminal_safe(&names.join(", ")))
}

/// Returns the sentence with the server before it, and with the tool unless the sentence names it.
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

/// Returns the last line of a report: the number of findings, tools and servers.
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
        text.push_str(&format!("; {} from the baseline no longer found", grouped(report.resolved.len())));
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

/// Returns why a server could not be audited.
fn failure(failed: &FailedServer) -> String {
    format!("{} was {}: {}", terminal_safe(&failed.name), failed.verdict(), terminal_safe(&failed.why))
}
