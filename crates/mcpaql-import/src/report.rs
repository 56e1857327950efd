//! Every decision of an import, as data: what was taken, what was not and why, what was judged and how surely.

use indexmap::IndexMap;
use mcpaql_core::adapter::Adapter;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::error::Code;
use mcpaql_core::operation::Category;
use mcpaql_lexicon::classify::{Classification, Confidence};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Something that was changed or left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The part of the operation, by name.
    pub place: String,
    /// What happened to it.
    pub what: String,
    /// Whether something that the document says is not said any more.
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

/// Operation → what was changed or left out of it; those without notes are not there.
pub type Notes = IndexMap<String, Vec<Note>>;

/// What happened during an import.
#[derive(Debug, Clone, Default)]
pub struct ImportReport {
    /// Problems, each with its place in the description.
    pub diagnostics: Vec<Diagnostic>,
    /// Operations that cannot be called and were left out; why stands among the diagnostics.
    pub skipped: usize,
    /// Operations that were not asked for.
    pub excluded: usize,
    /// Parts of the description that are no operations to call, with how many there are.
    pub ignored: Vec<(String, usize)>,
    /// In the order of the adapter.
    pub operations: Vec<ClassifiedOperation>,
}

/// One operation and how it was judged.
#[derive(Debug, Clone)]
pub struct ClassifiedOperation {
    /// Its name in the adapter.
    pub name: String,
    /// Its name in the description.
    pub source_id: Option<String>,
    /// What it is in the description.
    pub origin: OperationOrigin,
    /// The category it is served under.
    pub category: Category,
    /// What it was judged by.
    pub decision: Classification,
    /// Whether somebody corrected it.
    pub corrected: bool,
}

/// What an operation is in the description it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationOrigin {
    /// A request.
    Request {
        /// In upper case.
        method: String,
        /// As the description has it.
        path: String,
    },
    /// A tool of an MCP server, by its own name.
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
    /// Why a person should look at it, where one should.
    #[must_use]
    pub fn review(&self) -> Option<String> {
        if self.corrected {
            return None;
        }
        let decision = &self.decision;
        let unsure = || (decision.confidence == Confidence::Low).then(|| "The evidence is weak.".to_owned());
        decision.review.clone().or_else(unsure)
    }
}

impl ImportReport {
    /// The operations that a person should look at, each with why.
    pub fn reviews(&self) -> impl Iterator<Item = (&ClassifiedOperation, String)> {
        self.operations.iter().filter_map(|judged| Some((judged, judged.review()?)))
    }

    /// The same after every operation was read whole: those that could not be are told, and not counted as imported.
    #[must_use]
    pub fn without_unreadable(mut self, adapter: &Adapter) -> ImportReport {
        let kept: HashSet<&str> =
            adapter.operations.iter().map(|operation| operation.name.as_str()).collect();
        let (read, lost): (Vec<ClassifiedOperation>, Vec<ClassifiedOperation>) =
            self.operations.into_iter().partition(|judged| kept.contains(judged.name.as_str()));
        self.skipped += lost.len();
        self.diagnostics.extend(lost.iter().map(|judged| {
            let message = format!("{} was left out: it cannot be read whole", judged.origin);
            Diagnostic::error(Code::SchemaUnsupported, "/paths", message)
        }));
        self.operations = read;
        self
    }

    /// Everything, for programs. `notes` tell what was changed or left out of each operation.
    #[must_use]
    pub fn to_json(&self, notes: &Notes) -> Value {
        let mut by_category = Map::new();
        for category in Category::ALL {
            let count = self.operations.iter().filter(|judged| judged.category == category).count();
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
            "operations": self.operations.iter().map(|judged| operation(judged, notes)).collect::<Vec<_>>(),
            "diagnostics": self.diagnostics.iter().map(diagnostic).collect::<Vec<_>>(),
        })
    }

    /// What a person wants to know at the end, in a few lines; `flag` is what shows the rest.
    #[must_use]
    pub fn summary(&self, notes: &Notes, flag: &str) -> String {
        let mut lines = Vec::new();
        let all = self.operations.len() + self.skipped;
        lines.push(format!("Imported {} of {all} operations", self.operations.len()));
        if self.excluded > 0 {
            lines.push(format!("  {} not asked for", plural(self.excluded, "more was", "more were")));
        }
        if self.skipped > 0 {
            lines.push(format!(
                "  {} left out",
                plural(self.skipped, "cannot be called and was", "cannot be called and were")
            ));
        }
        let changed = notes.values().filter(|notes| notes.iter().any(|note| note.lost)).count();
        if changed > 0 {
            lines.push(format!("  {changed} lost a part that cannot be expressed"));
        }
        let reviews: Vec<(&ClassifiedOperation, String)> = self.reviews().collect();
        if !reviews.is_empty() {
            lines.push(format!("  {} should be looked at:", reviews.len()));
            for (judged, why) in reviews.iter().take(MAX_SUMMARY_ITEMS) {
                lines.push(format!("    {} ({}): {why}", judged.name, judged.origin));
            }
            if reviews.len() > MAX_SUMMARY_ITEMS {
                lines.push(format!("    and {} more, with {flag}", reviews.len() - MAX_SUMMARY_ITEMS));
            }
        }
        if !self.diagnostics.is_empty() {
            lines.push(format!("  {} odd:", plural(self.diagnostics.len(), "place is", "places are")));
            lines.extend(
                self.diagnostics.iter().take(MAX_SUMMARY_ITEMS).map(|odd| format!("    {}", line(odd))),
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

    /// Every decision, a line each, for people.
    #[must_use]
    pub fn text(&self, notes: &Notes) -> String {
        let mut lines = vec![self.summary(notes, "--report text"), String::new()];
        for judged in &self.operations {
            let decision = &judged.decision;
            let reasons: Vec<&str> = decision.reasons.iter().map(|reason| reason.text.as_str()).collect();
            let sure = decision.confidence.as_str();
            lines.push(format!(
                "{} -> {} [{}, {}, {sure}]: {}",
                judged.origin,
                judged.name,
                judged.category,
                decision.danger.as_str(),
                reasons.join("; ")
            ));
            lines.extend(judged.review().map(|why| format!("    look at it: {why}")));
            for note in notes.get(&judged.name).into_iter().flatten() {
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

fn line(odd: &Diagnostic) -> String {
    match odd.span {
        Some(span) => format!("line {}: {}", span.line, odd.message),
        None if odd.pointer.is_empty() => odd.message.clone(),
        None => format!("{}: {}", odd.pointer, odd.message),
    }
}

fn plural(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

pub(crate) fn operation(judged: &ClassifiedOperation, notes: &Notes) -> Value {
    let decision = &judged.decision;
    let reasons: Vec<Value> = decision
        .reasons
        .iter()
        .map(|reason| json!({"evidence": reason.evidence.as_str(), "reason": reason.text}))
        .collect();
    let mut out = json!({
        "name": judged.name,
        "source_id": judged.source_id,
    });
    if let Some(out) = out.as_object_mut() {
        match &judged.origin {
            OperationOrigin::Request { method, path } => {
                out.insert("method".into(), method.as_str().into());
                out.insert("path".into(), path.as_str().into());
            }
            OperationOrigin::Tool(name) => {
                out.insert("tool".into(), name.as_str().into());
            }
        }
        out.insert("category".into(), judged.category.as_str().into());
        out.insert("effect".into(), decision.effect.as_str().into());
        out.insert("danger".into(), decision.danger.as_str().into());
        out.insert("confidence".into(), decision.confidence.as_str().into());
        out.insert("reasons".into(), reasons.into());
        if judged.corrected {
            out.insert("corrected".into(), true.into());
        }
        out.extend(judged.review().map(|why| ("review".to_owned(), Value::from(why))));
        if let Some(notes) = notes.get(&judged.name) {
            let notes: Vec<Value> = notes
                .iter()
                .map(|note| json!({"place": note.place, "what": note.what, "lost": note.lost}))
                .collect();
            out.insert("notes".into(), notes.into());
        }
    }
    out
}

pub(crate) fn diagnostic(odd: &Diagnostic) -> Value {
    json!({
        "severity": match odd.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "pointer": odd.pointer,
        "line": odd.span.map(|span| span.line),
        "message": odd.message,
        "suggestion": odd.suggestion,
    })
}
