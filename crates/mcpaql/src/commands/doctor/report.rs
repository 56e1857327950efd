//! The report of `doctor`: a list of results, as text and as JSON.
//!
//! What always holds: a warning or a problem has a next step; no text of other programs controls the terminal or starts a line.

use crate::output;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_document::source::Source;
use serde_json::{Value, json};
use std::fmt::Write as _;

/// A group of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DoctorSection {
    Configuration,
    Adapters,
    Data,
    Clients,
    RunningServers,
    McpServers,
}

impl DoctorSection {
    fn title(self) -> &'static str {
        match self {
            DoctorSection::Configuration => "Configuration",
            DoctorSection::Adapters => "Adapters",
            DoctorSection::Data => "Data folder",
            DoctorSection::Clients => "Clients",
            DoctorSection::RunningServers => "Running servers",
            DoctorSection::McpServers => "MCP servers",
        }
    }

    fn key(self) -> &'static str {
        match self {
            DoctorSection::Configuration => "configuration",
            DoctorSection::Adapters => "adapters",
            DoctorSection::Data => "data",
            DoctorSection::Clients => "clients",
            DoctorSection::RunningServers => "running_servers",
            DoctorSection::McpServers => "mcp_servers",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DoctorStatus {
    Ok,
    Warning,
    Problem,
}

impl DoctorStatus {
    fn as_str(self) -> &'static str {
        match self {
            DoctorStatus::Ok => "ok",
            DoctorStatus::Warning => "warning",
            DoctorStatus::Problem => "problem",
        }
    }

    /// Returns the escape sequence of its colour.
    fn color(self) -> &'static str {
        match self {
            DoctorStatus::Ok => "\x1b[32m",
            DoctorStatus::Warning => "\x1b[33m",
            DoctorStatus::Problem => "\x1b[31m",
        }
    }
}

/// What to do about a warning or a problem.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NextStep {
    /// A command to run. `…` stands for a value that only the user knows.
    Run(String),
    /// An instruction.
    Do(String),
}

#[derive(Debug)]
struct DoctorResult {
    section: DoctorSection,
    status: DoctorStatus,
    /// What was checked: a file, an adapter, a client.
    subject: String,
    message: String,
    next: Option<NextStep>,
}

impl DoctorResult {
    fn to_json(&self) -> Value {
        let mut value = json!({
            "section": self.section.key(),
            "status": self.status.as_str(),
            "subject": self.subject,
            "message": self.message,
        });
        let next = match &self.next {
            Some(NextStep::Run(command)) => Some(("command", command)),
            Some(NextStep::Do(text)) => Some(("fix", text)),
            None => None,
        };
        if let (Some(object), Some((key, text))) = (value.as_object_mut(), next) {
            object.insert(key.to_owned(), text.as_str().into());
        }
        value
    }

    fn text(&self, color: bool) -> String {
        let word = format!("{:7}", self.status.as_str());
        let word = if color { format!("{}{word}\x1b[0m", self.status.color()) } else { word };
        let subject = output::sanitize_line(&self.subject);
        let mut text = format!("  {word}  {subject}: {}", output::sanitize_line(&self.message));
        let next = match &self.next {
            Some(NextStep::Run(command)) => format!("run `{command}`"),
            Some(NextStep::Do(text)) => text.clone(),
            None => return text,
        };
        let _ = write!(text, "\n           → {}", output::sanitize_line(&next));
        text
    }
}

/// All results so far. Text is printed section by section, JSON at the end.
#[derive(Debug)]
pub(super) struct DoctorReport {
    results: Vec<DoctorResult>,
    /// Number of results that are already printed.
    printed: usize,
    json: bool,
}

impl DoctorReport {
    pub(super) fn new(json: bool) -> DoctorReport {
        DoctorReport { results: Vec::new(), printed: 0, json }
    }

    pub(super) fn ok(
        &mut self,
        section: DoctorSection,
        subject: impl Into<String>,
        message: impl Into<String>,
    ) {
        self.push(section, DoctorStatus::Ok, subject.into(), message.into(), None);
    }

    pub(super) fn warning(
        &mut self,
        section: DoctorSection,
        subject: impl Into<String>,
        message: impl Into<String>,
        next: NextStep,
    ) {
        self.push(section, DoctorStatus::Warning, subject.into(), message.into(), Some(next));
    }

    pub(super) fn problem(
        &mut self,
        section: DoctorSection,
        subject: impl Into<String>,
        message: impl Into<String>,
        next: NextStep,
    ) {
        self.push(section, DoctorStatus::Problem, subject.into(), message.into(), Some(next));
    }

    /// Adds an error as a problem. Its hint is the next step.
    pub(super) fn error(
        &mut self,
        section: DoctorSection,
        subject: impl Into<String>,
        error: &anyhow::Error,
        otherwise: &str,
    ) {
        let hint = error.downcast_ref::<output::HintedError>().map(|hinted| hinted.hint.as_str());
        let next = NextStep::Do(hint.unwrap_or(otherwise).to_owned());
        self.problem(section, subject, output::messages(error).join(": "), next);
    }

    fn push(
        &mut self,
        section: DoctorSection,
        status: DoctorStatus,
        subject: String,
        message: String,
        next: Option<NextStep>,
    ) {
        self.results.push(DoctorResult { section, status, subject, message, next });
    }

    fn count(&self, status: DoctorStatus) -> usize {
        self.results.iter().filter(|result| result.status == status).count()
    }

    pub(super) fn has_problems(&self) -> bool {
        self.count(DoctorStatus::Problem) > 0
    }

    /// Prints the results that are not printed yet, under the titles of their sections.
    pub(super) fn print_section(&mut self) {
        if self.json {
            return;
        }
        let color = output::use_color();
        let mut section = None;
        for result in self.results.iter().skip(self.printed) {
            if section != Some(result.section) {
                output::print_data(result.section.title());
                section = Some(result.section);
            }
            output::print_data(&result.text(color));
        }
        self.printed = self.results.len();
    }

    /// Prints the summary, or the whole report as JSON.
    pub(super) fn finish(&mut self) -> anyhow::Result<()> {
        let (problems, warnings) = (self.count(DoctorStatus::Problem), self.count(DoctorStatus::Warning));
        if self.json {
            let worst = self.results.iter().map(|result| result.status).max().unwrap_or(DoctorStatus::Ok);
            let results: Vec<Value> = self.results.iter().map(DoctorResult::to_json).collect();
            let report = json!({
                "status": worst.as_str(), "problems": problems, "warnings": warnings, "results": results,
            });
            output::print_data(&serde_json::to_string_pretty(&report)?);
            return Ok(());
        }
        self.print_section();
        output::print_data("");
        output::print_data(&match (problems, warnings) {
            (0, 0) => "No problems found".to_owned(),
            _ => {
                format!("{}, {}", output::counted(problems, "problem"), output::counted(warnings, "warning"))
            }
        });
        Ok(())
    }
}

/// Returns the position and the message of a problem in a file, and what to do about it.
pub(super) fn describe(source: &Source, diagnostic: &Diagnostic) -> (String, NextStep) {
    let position = match diagnostic.span {
        Some(span) if !diagnostic.is_outside() => format!("line {}, column {}: ", span.line, span.column),
        _ => String::new(),
    };
    let expected = || diagnostic.expected.as_ref().map(|expected| format!("expected {expected}"));
    let next = diagnostic.suggestion.clone().or_else(expected);
    let next = next.unwrap_or_else(|| format!("fix it in {}", source.name));
    (format!("{position}{}", diagnostic.message), NextStep::Do(next))
}

/// Returns the first of the worst problems.
pub(super) fn worst(diagnostics: &[Diagnostic]) -> Option<&Diagnostic> {
    let is_error = |one: &&Diagnostic| one.severity == Severity::Error;
    diagnostics.iter().find(is_error).or_else(|| diagnostics.first())
}
