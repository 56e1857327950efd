//! The report of an audit: the input, the findings and their locations, for renderers.

use crate::baseline::{Baseline, Fingerprint};
use crate::convention::{RuleLevel, Standard};
use crate::hints::{HintComparison, compare_hints};
use crate::rule::Finding;
use crate::score::{Score, scores};
use crate::tool::{ParsedServer, ParsedTool, ServerTools, ToolPlace, parse_servers};
use mcpaql_core::diagnostic::Span;
use mcpaql_document::render::json::field_path;
use mcpaql_document::source::Source;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Where the tools of a server come from.
#[derive(Debug, Clone, Default)]
pub enum ToolsOrigin {
    /// A running server; there is no file.
    #[default]
    Asked,
    /// A saved list of tools.
    List {
        /// The file.
        source: Source,
        /// Pointer to the list in it.
        pointer: String,
    },
    /// An adapter document.
    Document {
        /// The document.
        source: Source,
        /// Pointers to the operations, by the name of the tool.
        operations: HashMap<String, String>,
    },
}

impl ToolsOrigin {
    /// Returns the file, if there is one.
    #[must_use]
    pub fn source(&self) -> Option<&Source> {
        match self {
            ToolsOrigin::Asked => None,
            ToolsOrigin::List { source, .. } | ToolsOrigin::Document { source, .. } => Some(source),
        }
    }

    /// Returns the pointer to a place in the file.
    #[must_use]
    pub fn pointer(&self, server: &ServerTools, place: &ToolPlace) -> String {
        match (self, place.tool) {
            (ToolsOrigin::List { pointer, .. }, Some(tool)) => format!("{pointer}/{tool}{}", place.pointer),
            (ToolsOrigin::List { pointer, .. }, None) => pointer.clone(),
            (ToolsOrigin::Document { operations, .. }, Some(tool)) => {
                let name = server.tools.get(tool).and_then(|tool| tool.get("name")?.as_str());
                match name.and_then(|name| operations.get(name)) {
                    Some(operation) => format!("{operation}{}", document_pointer(&place.pointer)),
                    None => "/name".to_owned(),
                }
            }
            (ToolsOrigin::Document { .. }, None) => "/name".to_owned(),
            (ToolsOrigin::Asked, _) => String::new(),
        }
    }
}

/// Converts a pointer into a tool to a pointer into an operation of a document.
fn document_pointer(pointer: &str) -> String {
    match pointer.strip_prefix("/inputSchema/properties/") {
        Some(param) => format!("/params/{param}"),
        None if pointer.starts_with("/inputSchema") => "/params".to_owned(),
        None => match pointer {
            "/annotations/title" => "/title".to_owned(),
            _ => pointer.to_owned(),
        },
    }
}

/// The location of a finding.
#[derive(Debug, Clone)]
pub struct FindingLocation<'r> {
    /// The file, if there is one.
    pub file: Option<&'r str>,
    /// The line and column in the file.
    pub span: Option<Span>,
    /// The path, such as `tools[3].annotations.readOnlyHint`; empty for a finding about the server.
    pub path: String,
}

impl FindingLocation<'_> {
    /// Returns `file:line:column`, or the path if there is no file.
    #[must_use]
    pub fn to_text(&self) -> String {
        match (self.file, self.span) {
            (Some(file), Some(span)) => format!("{file}:{}:{}", span.line, span.column),
            _ => self.path.clone(),
        }
    }
}

/// A finding with its location.
#[derive(Debug)]
pub struct LocatedFinding<'r> {
    /// The finding.
    pub finding: &'r Finding,
    /// Its location.
    pub location: FindingLocation<'r>,
    /// Identifies the finding across audits.
    pub fingerprint: Fingerprint,
}

/// A server that could not be audited, or only in part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedServer {
    /// The name of the server, or the path or URL it should have been at.
    pub name: String,
    /// The reason, as a lower-case fragment.
    pub why: String,
    /// Whether a part of it was audited.
    pub in_part: bool,
}

impl FailedServer {
    /// Returns the label in reports.
    #[must_use]
    pub const fn verdict(&self) -> &'static str {
        if self.in_part { "audited only in part" } else { "not audited" }
    }

    /// Returns the entry in JSON reports.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({"server": self.name, "reason": self.why, "in_part": self.in_part})
    }
}

/// The input of an audit.
#[derive(Debug, Clone, Copy)]
pub struct AuditInput<'r> {
    /// The audited servers; places refer to them by index.
    pub servers: &'r [ServerTools],
    /// Where their tools come from, in the same order.
    pub origins: &'r [ToolsOrigin],
    /// Their cost as adapters in tokens, in the same order.
    pub as_adapters: &'r [Option<usize>],
    /// Servers that could not be audited.
    pub failed: &'r [FailedServer],
    /// The standard of the audit.
    pub standard: &'r Standard,
    /// The lowest level that makes the audit fail.
    pub fail_on: RuleLevel,
}

/// A report, ready to be rendered.
#[derive(Debug)]
pub struct AuditReport<'r> {
    /// The input of the audit.
    pub input: AuditInput<'r>,
    /// The parsed servers.
    pub parsed_servers: Vec<ParsedServer<'r>>,
    /// The scores of each server.
    pub scores: Vec<[Score; 6]>,
    /// The new findings, in the order of the audit.
    pub findings: Vec<LocatedFinding<'r>>,
    /// Number of findings that are left out because they are in the baseline.
    pub known_count: usize,
    /// Findings of the baseline that no longer occur.
    pub resolved: Vec<Fingerprint>,
}

impl<'r> AuditReport<'r> {
    /// Creates the report of an audit. Findings of the baseline are counted and left out.
    #[must_use]
    pub fn new(
        input: AuditInput<'r>,
        findings: &'r [Finding],
        baseline: Option<&Baseline>,
    ) -> AuditReport<'r> {
        AuditReport::from_servers(input, parse_servers(input.servers), findings, baseline)
    }

    /// Creates the report of servers that are already parsed.
    #[must_use]
    pub fn from_servers(
        input: AuditInput<'r>,
        parsed_servers: Vec<ParsedServer<'r>>,
        findings: &'r [Finding],
        baseline: Option<&Baseline>,
    ) -> AuditReport<'r> {
        let scores = parsed_servers.iter().map(|parsed| scores(parsed, findings)).collect();
        let prints = findings.iter().map(|finding| Fingerprint::of(finding, input.servers));
        let mut findings: Vec<LocatedFinding<'r>> = findings
            .iter()
            .zip(prints)
            .zip(finding_locations(input, findings))
            .map(|((finding, fingerprint), location)| LocatedFinding { finding, location, fingerprint })
            .collect();
        let all = findings.len();
        let mut resolved = Vec::new();
        if let Some(baseline) = baseline {
            let mut left = baseline.finding_counts(input.servers);
            findings.retain(|found| match left.get_mut(&found.fingerprint) {
                Some(count) if *count > 0 => {
                    *count -= 1;
                    false
                }
                _ => true,
            });
            resolved = left.into_iter().filter(|(_, count)| *count > 0).map(|(print, _)| print).collect();
            resolved.sort();
        }
        AuditReport { known_count: all - findings.len(), input, parsed_servers, scores, findings, resolved }
    }

    /// Returns the number of findings with a level.
    #[must_use]
    pub fn count(&self, level: RuleLevel) -> usize {
        self.findings.iter().filter(|found| found.finding.level == level).count()
    }

    /// Returns whether the audit fails: because of a finding at `fail_on` or above, or a server that could not be audited.
    #[must_use]
    pub fn fails(&self) -> bool {
        let bad = |found: &LocatedFinding<'_>| found.finding.level >= self.input.fail_on;
        !self.input.failed.is_empty() || self.findings.iter().any(bad)
    }

    /// Returns the number of tools of all servers.
    #[must_use]
    pub fn tools(&self) -> usize {
        self.parsed_servers.iter().map(|parsed| parsed.tools.len()).sum()
    }

    /// Returns the tool at a place.
    #[must_use]
    pub fn tool(&self, place: &ToolPlace) -> Option<&ParsedTool<'r>> {
        self.parsed_servers.get(place.server)?.tools.get(place.tool?)
    }

    /// Returns the name of a server.
    #[must_use]
    pub fn server(&self, index: usize) -> &'r str {
        self.input.servers.get(index).map_or("", |server| server.name.as_str())
    }

    /// Returns the cost of a server as an adapter, if it is not one already.
    #[must_use]
    pub fn as_adapter(&self, index: usize) -> Option<usize> {
        let is_adapter = self.parsed_servers.get(index).is_some_and(|parsed| parsed.is_adapter);
        if is_adapter {
            return None;
        }
        self.input.as_adapters.get(index).copied().flatten()
    }

    /// Returns the hints whose effective value differs from the policy, by server and tool.
    #[must_use]
    pub fn misleading_hints(&self) -> Vec<(&ParsedServer<'r>, &ParsedTool<'r>, HintComparison)> {
        let mut rows = Vec::new();
        for parsed in &self.parsed_servers {
            for tool in &parsed.tools {
                let differs = |comparison: &HintComparison| {
                    comparison.expected.is_some_and(|expected| expected != comparison.effective)
                };
                let rows_of = compare_hints(tool, &self.input.standard.policy).into_iter().filter(differs);
                rows.extend(rows_of.map(|comparison| (parsed, tool, comparison)));
            }
        }
        rows
    }
}

/// Returns the location of each finding. Each file is parsed only once.
fn finding_locations<'r>(input: AuditInput<'r>, findings: &[Finding]) -> Vec<FindingLocation<'r>> {
    let path = |place: &ToolPlace| {
        let tool = place.tool.map(|tool| format!("/tools/{tool}{}", place.pointer));
        tool.map(|pointer| field_path(&pointer)).unwrap_or_default()
    };
    let location = |finding: &Finding| FindingLocation { file: None, span: None, path: path(&finding.place) };
    let mut locations: Vec<FindingLocation<'r>> = findings.iter().map(location).collect();
    for (index, (server, origin)) in input.servers.iter().zip(input.origins).enumerate() {
        let Some(source) = origin.source().filter(|source| !source.text.is_empty()) else { continue };
        let own = findings.iter().zip(&mut locations).filter(|(finding, _)| finding.place.server == index);
        let (pointers, own): (Vec<String>, Vec<&mut FindingLocation<'r>>) =
            own.map(|(finding, location)| (origin.pointer(server, &finding.place), location)).unzip();
        if own.is_empty() {
            continue;
        }
        for (location, span) in own.into_iter().zip(source.spans(pointers.iter().map(String::as_str))) {
            (location.file, location.span) = (Some(source.name.as_str()), Some(span));
        }
    }
    locations
}
