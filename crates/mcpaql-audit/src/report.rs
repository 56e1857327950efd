//! An audit as a whole: what was audited, what was found and where it stands, for renderers to show.

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

/// Where the tools of a server were found.
#[derive(Debug, Clone, Default)]
pub enum ToolsOrigin {
    /// Nobody can look it up: a server that was asked.
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
        /// By the name of a tool, the pointer to the operation that it is.
        operations: HashMap<String, String>,
    },
}

impl ToolsOrigin {
    /// The text, where there is one.
    #[must_use]
    pub fn source(&self) -> Option<&Source> {
        match self {
            ToolsOrigin::Asked => None,
            ToolsOrigin::List { source, .. } | ToolsOrigin::Document { source, .. } => Some(source),
        }
    }

    /// Where a place of the tools stands in the text.
    #[must_use]
    pub fn pointer(&self, server: &ServerTools, place: &ToolPlace) -> String {
        match (self, place.tool) {
            (ToolsOrigin::List { pointer, .. }, Some(tool)) => format!("{pointer}/{tool}{}", place.pointer),
            (ToolsOrigin::List { pointer, .. }, None) => pointer.clone(),
            (ToolsOrigin::Document { operations, .. }, Some(tool)) => {
                let name = server.tools.get(tool).and_then(|tool| tool.get("name")?.as_str());
                match name.and_then(|name| operations.get(name)) {
                    Some(operation) => format!("{operation}{}", written(&place.pointer)),
                    None => "/name".to_owned(),
                }
            }
            (ToolsOrigin::Document { .. }, None) => "/name".to_owned(),
            (ToolsOrigin::Asked, _) => String::new(),
        }
    }
}

/// A place of a tool as a document has it.
fn written(pointer: &str) -> String {
    match pointer.strip_prefix("/inputSchema/properties/") {
        Some(param) => format!("/params/{param}"),
        None if pointer.starts_with("/inputSchema") => "/params".to_owned(),
        None => match pointer {
            "/annotations/title" => "/title".to_owned(),
            _ => pointer.to_owned(),
        },
    }
}

/// Where a finding stands, for people and programs.
#[derive(Debug, Clone)]
pub struct FindingLocation<'r> {
    /// The file, where there is one.
    pub file: Option<&'r str>,
    /// Where in the file.
    pub span: Option<Span>,
    /// Such as `tools[3].annotations.readOnlyHint`; empty for a server as a whole.
    pub path: String,
}

impl FindingLocation<'_> {
    /// `file:line:column`, else the path.
    #[must_use]
    pub fn to_text(&self) -> String {
        match (self.file, self.span) {
            (Some(file), Some(span)) => format!("{file}:{}:{}", span.line, span.column),
            _ => self.path.clone(),
        }
    }
}

/// A finding and where it stands.
#[derive(Debug)]
pub struct LocatedFinding<'r> {
    /// What was found.
    pub finding: &'r Finding,
    /// Where.
    pub location: FindingLocation<'r>,
    /// What makes it the same finding at the next audit.
    pub fingerprint: Fingerprint,
}

/// A server that could not be audited, or not as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedServer {
    /// What the client calls it, or where it was to be found; as the server is called where it was audited in part.
    pub name: String,
    /// Why, as a fragment.
    pub why: String,
    /// Whether what there was of it was audited.
    pub in_part: bool,
}

impl FailedServer {
    /// What became of it, as a label.
    #[must_use]
    pub const fn verdict(&self) -> &'static str {
        if self.in_part { "audited only in part" } else { "not audited" }
    }

    /// The same for programs.
    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({"server": self.name, "reason": self.why, "in_part": self.in_part})
    }
}

/// What was audited and how.
#[derive(Debug, Clone, Copy)]
pub struct AuditInput<'r> {
    /// In the order of places.
    pub servers: &'r [ServerTools],
    /// Where their tools were found, in the same order.
    pub origins: &'r [ToolsOrigin],
    /// What they would cost as adapters, in the same order.
    pub as_adapters: &'r [Option<usize>],
    /// What could not be audited.
    pub failed: &'r [FailedServer],
    /// What they were held against.
    pub standard: &'r Standard,
    /// The mildest level that fails.
    pub fail_on: RuleLevel,
}

/// An audit, ready to be shown.
#[derive(Debug)]
pub struct AuditReport<'r> {
    /// What was audited.
    pub input: AuditInput<'r>,
    /// The servers, read.
    pub parsed_servers: Vec<ParsedServer<'r>>,
    /// By server.
    pub scores: Vec<[Score; 6]>,
    /// What is new, in the order of the audit.
    pub findings: Vec<LocatedFinding<'r>>,
    /// How many findings are not shown because the baseline has them.
    pub known_count: usize,
    /// What the baseline has and the audit has not.
    pub resolved: Vec<Fingerprint>,
}

impl<'r> AuditReport<'r> {
    /// The report of an audit; what the baseline has is counted and left out.
    #[must_use]
    pub fn new(
        audited: AuditInput<'r>,
        findings: &'r [Finding],
        baseline: Option<&Baseline>,
    ) -> AuditReport<'r> {
        AuditReport::from_servers(audited, parse_servers(audited.servers), findings, baseline)
    }

    /// The same of servers that were read already.
    #[must_use]
    pub fn from_servers(
        input: AuditInput<'r>,
        parsed_servers: Vec<ParsedServer<'r>>,
        findings: &'r [Finding],
        baseline: Option<&Baseline>,
    ) -> AuditReport<'r> {
        let scores = parsed_servers.iter().map(|surface| scores(surface, findings)).collect();
        let prints = findings.iter().map(|finding| Fingerprint::of(finding, input.servers));
        let mut findings: Vec<LocatedFinding<'r>> = findings
            .iter()
            .zip(prints)
            .zip(finding_locations(input, findings))
            .map(|((finding, fingerprint), spot)| LocatedFinding { finding, location: spot, fingerprint })
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

    /// How many findings of a level.
    #[must_use]
    pub fn count(&self, level: RuleLevel) -> usize {
        self.findings.iter().filter(|found| found.finding.level == level).count()
    }

    /// Whether the audit fails: by a finding that is bad enough, or because something could not be audited.
    #[must_use]
    pub fn fails(&self) -> bool {
        let bad = |found: &LocatedFinding<'_>| found.finding.level >= self.input.fail_on;
        !self.input.failed.is_empty() || self.findings.iter().any(bad)
    }

    /// What the tools of all servers are, in number.
    #[must_use]
    pub fn tools(&self) -> usize {
        self.parsed_servers.iter().map(|surface| surface.tools.len()).sum()
    }

    /// The tool that a finding is about.
    #[must_use]
    pub fn tool(&self, place: &ToolPlace) -> Option<&ParsedTool<'r>> {
        self.parsed_servers.get(place.server)?.tools.get(place.tool?)
    }

    /// What the client calls a server.
    #[must_use]
    pub fn server(&self, index: usize) -> &'r str {
        self.input.servers.get(index).map_or("", |server| server.name.as_str())
    }

    /// What a server would cost as an adapter, where it is none.
    #[must_use]
    pub fn as_adapter(&self, index: usize) -> Option<usize> {
        let is_adapter = self.parsed_servers.get(index).is_some_and(|surface| surface.is_adapter);
        if is_adapter {
            return None;
        }
        self.input.as_adapters.get(index).copied().flatten()
    }

    /// Hints that clients take for something else than the policy would have them, by server and tool.
    #[must_use]
    pub fn misleading_hints(&self) -> Vec<(&ParsedServer<'r>, &ParsedTool<'r>, HintComparison)> {
        let mut rows = Vec::new();
        for surface in &self.parsed_servers {
            for tool in &surface.tools {
                let differs = |facing: &HintComparison| {
                    facing.expected.is_some_and(|expected| expected != facing.effective)
                };
                let rows_of = compare_hints(tool, &self.input.standard.policy).into_iter().filter(differs);
                rows.extend(rows_of.map(|facing| (surface, tool, facing)));
            }
        }
        rows
    }
}

/// Where each finding stands. A text is read once, however much was found in it.
fn finding_locations<'r>(audited: AuditInput<'r>, findings: &[Finding]) -> Vec<FindingLocation<'r>> {
    let path = |place: &ToolPlace| {
        let tool = place.tool.map(|tool| format!("/tools/{tool}{}", place.pointer));
        tool.map(|pointer| field_path(&pointer)).unwrap_or_default()
    };
    let spot = |finding: &Finding| FindingLocation { file: None, span: None, path: path(&finding.place) };
    let mut spots: Vec<FindingLocation<'r>> = findings.iter().map(spot).collect();
    for (index, (server, origin)) in audited.servers.iter().zip(audited.origins).enumerate() {
        let Some(source) = origin.source().filter(|source| !source.text.is_empty()) else { continue };
        let own = findings.iter().zip(&mut spots).filter(|(finding, _)| finding.place.server == index);
        let (pointers, own): (Vec<String>, Vec<&mut FindingLocation<'r>>) =
            own.map(|(finding, spot)| (origin.pointer(server, &finding.place), spot)).unzip();
        if own.is_empty() {
            continue;
        }
        for (spot, span) in own.into_iter().zip(source.spans(pointers.iter().map(String::as_str))) {
            (spot.file, spot.span) = (Some(source.name.as_str()), Some(span));
        }
    }
    spots
}
