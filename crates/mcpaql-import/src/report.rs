//! The report of an import: the operations that were imported or left out and why, and how each was classified.
//!
//! ```
//! use mcpaql_import::openapi;
//! use std::sync::Arc;
//!
//! let text = r#"{"openapi": "3.1.0", "info": {"title": "Shop", "version": "1"}, "servers": [{"url": "https://shop.example"}],
//!     "paths": {"/items": {"get": {"operationId": "listItems", "summary": "Lists items"}}}}"#;
//! let import = openapi::open(text.to_owned(), &Default::default(), Arc::new(openapi::NoLoader)).unwrap();
//! let summary = import.report.summary(&Default::default(), "--report text");
//! assert!(summary.starts_with("Imported 1 of 1 operations"));
//! ```

use indexmap::IndexMap;
use mcpaql_core::adapter::Adapter;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::error::Code;
use mcpaql_core::operation::Category;
use mcpaql_lexicon::classify::{Classification, Confidence};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// A note about a part of an operation that was changed or left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The name of the part.
    pub place: String,
    /// What was changed or left out.
    pub what: String,
    /// Whether information of the description is lost.
    pub lost: bool,
}

impl Note {
    pub(crate) fn lost(place: impl Into<String>, what: impl Into<String>) -> Note {
        Note { place: place.into(), what: what.into(), lost: true }
    }

    pub(crate) fn changed(place: impl Into<String>, what: impl Into<String>) -> Note {
        Note { place: place.into(), what: what.into(), lost: false }
    }
}

/// Operation → its notes; operations without notes are left out.
pub type Notes = IndexMap<String, Vec<Note>>;

/// The result of an import.
#[derive(Debug, Clone, Default)]
pub struct ImportReport {
    /// Problems of the description.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of operations that cannot be called and were left out; `diagnostics` has the reasons.
    pub skipped: usize,
    /// The number of operations that `include`, `exclude` or an override left out.
    pub excluded: usize,
    /// Parts of the description that cannot be called, such as webhooks, with their number.
    pub ignored: Vec<(String, usize)>,
    /// The imported operations, in the order of the adapter.
    pub operations: Vec<ClassifiedOperation>,
}

/// An imported operation and its classification.
#[derive(Debug, Clone)]
pub struct ClassifiedOperation {
    /// The name in the adapter.
    pub name: String,
    /// The name in the description.
    pub source_id: Option<String>,
    /// The request or tool in the description.
    pub origin: OperationOrigin,
    /// The category that the operation is served under.
    pub category: Category,
    /// The classification, with its evidence.
    pub decision: Classification,
    /// Whether an override exists for the operation.
    pub corrected: bool,
}

/// The origin of an operation in the description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationOrigin {
    /// An HTTP request.
    Request {
        /// The method in upper case.
        method: String,
        /// The path as in the description.
        path: String,
    },
    /// A tool of an MCP server, by name.
    Tool(String),
}

impl std::fmt::Display for OperationOrigin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            OperationOrigin::Request { method, path } => write!(f, "{method} {path}"),
            OperationOrigin::Tool(name) => write!(f, "tool {name}"),
        }
    }
}

impl ClassifiedOperation {
    /// Returns the reason why a person should review the operation, if there is one.
    #[must_use]
    pub fn review(&self) -> Option<String> {
        if self.corrected {
            return None;
        }
        let decision = &self.decision;
        let unsure = || {
            (decision.confidence == Confidence::Low)
                .then(|| "it is not certain; set its category in the overrides if it is wrong".to_owned())
        };
        decision.review.clone().or_else(unsure)
    }
}

impl ImportReport {
    /// Returns the operations that a person should review, with the reasons.
    pub fn reviews(&self) -> impl Iterator<Item = (&ClassifiedOperation, String)> {
        self.operations.iter().filter_map(|operation| Some((operation, operation.review()?)))
    }

    /// Returns the report after all operations were read in full. `adapter` has the readable ones; the others are reported and
    /// counted as skipped.
    #[must_use]
    pub fn without_unreadable(mut self, adapter: &Adapter) -> ImportReport {
        let kept: HashSet<&str> =
            adapter.operations.iter().map(|operation| operation.name.as_str()).collect();
        let (read, unreadable): (Vec<ClassifiedOperation>, Vec<ClassifiedOperation>) =
            self.operations.into_iter().partition(|operation| kept.contains(operation.name.as_str()));
        self.skipped += unreadable.len();
        self.diagnostics.extend(unreadable.iter().map(|operation| {
            let message = format!("{} was left out: its details cannot be read", operation.origin);
            Diagnostic::error(Code::SchemaUnsupported, "/paths", message)
        }));
        self.operations = read;
        self
    }

    /// Returns the complete report for programs.
    #[must_use]
    pub fn to_json(&self, notes: &Notes) -> Value {
        let mut by_category = Map::new();
        for category in Category::ALL {
            let count = self.operations.iter().filter(|operation| operation.category == category).count();
            by_category.insert(category.as_str().to_owned(), count.into());
        }
        json!({
            "counts": {
                "operations": self.operations.len() + self.skipped + self.excluded,
                "imported": self.operations.len(),
                "skipped": self.skipped,
                "excluded": self.excluded,
                "to_review": self.reviews().count(),
                "by_category": by_category,
                "ignored": self.ignored.iter().cloned().collect::<IndexMap<String, usize>>(),
            },
            "operations": self.operations.iter().map(|operation| operation_json(operation, notes)).collect::<Vec<_>>(),
            "diagnostics": self.diagnostics.iter().map(diagnostic_json).collect::<Vec<_>>(),
        })
    }

    /// Returns a summary of a few lines for people; `flag` is the CLI flag that shows the complete report.
    #[must_use]
    pub fn summary(&self, notes: &Notes, flag: &str) -> String {
        let mut lines = Vec::new();
        let all = self.operations.len() + self.skipped;
        lines.push(format!("Imported {} of {all} operations", self.operations.len()));
        if self.excluded > 0 {
            lines.push(format!("  {} excluded", plural(self.excluded, "more was", "more were")));
        }
        if self.skipped > 0 {
            lines.push(format!(
                "  {} left out",
                plural(self.skipped, "cannot be called and was", "cannot be called and were")
            ));
        }
        let changed = notes.values().filter(|notes| notes.iter().any(|note| note.lost)).count();
        if changed > 0 {
            lines.push(format!("  {changed} imported in part: an adapter cannot express the rest"));
        }
        let reviews: Vec<(&ClassifiedOperation, String)> = self.reviews().collect();
        if !reviews.is_empty() {
            lines.push(format!("  {} should be reviewed:", reviews.len()));
            for (operation, why) in reviews.iter().take(MAX_SUMMARY_ITEMS) {
                lines.push(format!("    {} ({}): {why}", operation.name, operation.origin));
            }
            if reviews.len() > MAX_SUMMARY_ITEMS {
                lines.push(format!("    and {} more, with {flag}", reviews.len() - MAX_SUMMARY_ITEMS));
            }
        }
        if !self.diagnostics.is_empty() {
            lines.push(format!("  {}:", plural(self.diagnostics.len(), "problem", "problems")));
            lines.extend(
                self.diagnostics
                    .iter()
                    .take(MAX_SUMMARY_ITEMS)
                    .map(|problem| format!("    {}", line(problem))),
            );
            if self.diagnostics.len() > MAX_SUMMARY_ITEMS {
                lines.push(format!(
                    "    and {} more, with {flag}",
                    self.diagnostics.len() - MAX_SUMMARY_ITEMS
                ));
            }
        }
        lines.join("\n")
    }

    /// Returns the complete report for people, with a line per operation.
    #[must_use]
    pub fn text(&self, notes: &Notes) -> String {
        let mut lines = vec![self.summary(notes, "--report text"), String::new()];
        for operation in &self.operations {
            let decision = &operation.decision;
            let reasons: Vec<&str> = decision.reasons.iter().map(|reason| reason.text.as_str()).collect();
            let sure = decision.confidence.as_str();
            lines.push(format!(
                "{} -> {} [{}, {}, confidence {sure}]: {}",
                operation.origin,
                operation.name,
                operation.category,
                decision.danger.as_str(),
                reasons.join("; ")
            ));
            lines.extend(operation.review().map(|why| format!("    review: {why}")));
            for note in notes.get(&operation.name).into_iter().flatten() {
                let kind = if note.lost { "lost" } else { "changed" };
                lines.push(format!("    {kind} {}: {}", note.place, note.what));
            }
        }
        lines.extend(self.diagnostics.iter().skip(MAX_SUMMARY_ITEMS).map(line));
        lines.join("\n")
    }
}

/// Maximum number of operations to review, and of problems, that a summary names.
const MAX_SUMMARY_ITEMS: usize = 10;

/// Returns the line of a problem. A problem of flags or of the configuration has none.
fn line_number(problem: &Diagnostic) -> Option<usize> {
    problem.span.filter(|_| !problem.is_outside()).map(|span| span.line)
}

fn line(problem: &Diagnostic) -> String {
    match line_number(problem) {
        Some(line) => format!("line {line}: {}", problem.message),
        None if problem.pointer.is_empty() => problem.message.clone(),
        None => format!("{}: {}", problem.pointer, problem.message),
    }
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

pub(crate) fn operation_json(operation: &ClassifiedOperation, notes: &Notes) -> Value {
    let decision = &operation.decision;
    let reasons: Vec<Value> = decision
        .reasons
        .iter()
        .map(|reason| json!({"evidence": reason.evidence.as_str(), "reason": reason.text}))
        .collect();
    let mut out = json!({
        "name": operation.name,
        "source_id": operation.source_id,
    });
    if let Some(out) = out.as_object_mut() {
        match &operation.origin {
            OperationOrigin::Request { method, path } => {
                out.insert("method".into(), method.as_str().into());
                out.insert("path".into(), path.as_str().into());
            }
            OperationOrigin::Tool(name) => {
                out.insert("tool".into(), name.as_str().into());
            }
        }
        out.insert("category".into(), operation.category.as_str().into());
        out.insert("effect".into(), decision.effect.as_str().into());
        out.insert("danger".into(), decision.danger.as_str().into());
        out.insert("confidence".into(), decision.confidence.as_str().into());
        out.insert("reasons".into(), reasons.into());
        if operation.corrected {
            out.insert("corrected".into(), true.into());
        }
        out.extend(operation.review().map(|why| ("review".to_owned(), Value::from(why))));
        if let Some(notes) = notes.get(&operation.name) {
            let notes: Vec<Value> = notes
                .iter()
                .map(|note| json!({"place": note.place, "what": note.what, "lost": note.lost}))
                .collect();
            out.insert("notes".into(), notes.into());
        }
    }
    out
}

pub(crate) fn diagnostic_json(problem: &Diagnostic) -> Value {
    json!({
        "severity": match problem.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "pointer": problem.pointer,
        "line": line_number(problem),
        "message": problem.message,
        "suggestion": problem.suggestion,
    })
}
