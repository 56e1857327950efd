//! Classifies operations: decides what an operation does from all evidence about it, with reasons.
//!
//! ```
//! use mcpaql_lexicon::Category;
//! use mcpaql_lexicon::classify::{Evidence, classify};
//!
//! let evidence = Evidence { method: Some("DELETE"), path: Some("/items/{id}"), name: "deleteItem", ..Evidence::default() };
//! assert_eq!(classify(&evidence).category, Category::Delete);
//! ```
//!
//! All sources of operations use this classifier.
//!
//! What always holds: a request that can write is classified as a read only if at least two independent kinds of
//! evidence agree and nothing contradicts them. An uncertain operation counts as a write and gets a note for review.
//! The same evidence always gives the same classification.

mod http;
mod params;
pub mod path;
mod prose;
mod text;
mod tool;

#[cfg(test)]
mod tests;

pub use http::strip_method;
pub use params::{ParamEvidence, ParamForm};
pub use text::program_word;

use crate::Effect;
use crate::{Category, Danger, danger_of};
use crate::{names, verbs};
use std::cell::OnceCell;

/// The evidence about an operation. Everything except the name may be missing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Evidence<'a> {
    /// The HTTP method, in any case.
    pub method: Option<&'a str>,
    /// The path template.
    pub path: Option<&'a str>,
    /// The operation id or tool name, in any spelling; may be empty.
    pub name: &'a str,
    /// The summary.
    pub summary: &'a str,
    /// The description.
    pub description: &'a str,
    /// Whether the result is a collection, directly or in an envelope.
    pub answers_collection: Option<bool>,
    /// Whether the request has a body.
    pub has_body: Option<bool>,
    /// The parameters.
    pub params: &'a [ParamEvidence<'a>],
    /// The fields of the answer.
    pub answer: &'a [ParamEvidence<'a>],
    /// The annotations of the source.
    pub annotations: ToolAnnotations,
    /// Whether the author of the operation chose its name. Then a reading verb needs no further evidence.
    pub named_by_author: bool,
    /// The effect that a person has declared. It overrides all other evidence.
    pub declared: Option<Effect>,
}

/// The hints that an MCP server gives for a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolAnnotations {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
}

/// How certain the classification is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// A guess. A READ with low confidence is a proposal and must not be published.
    Low,
    /// Probable.
    Medium,
    /// As certain as a description allows.
    High,
}

impl Confidence {
    /// The word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Confidence::Low => "low",
            Confidence::Medium => "medium",
            Confidence::High => "high",
        }
    }
}

/// The kind of evidence that a reason is based on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EvidenceKind {
    /// The method.
    Http,
    /// The operation id or the tool's name.
    Name,
    /// The shape of the path.
    Path,
    /// Summary or description.
    Summary,
    /// A parameter.
    Parameter,
    /// The result.
    Answer,
    /// A hint of the source.
    Annotation,
    /// A person has declared it.
    Declared,
}

impl EvidenceKind {
    /// The word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            EvidenceKind::Http => "http",
            EvidenceKind::Name => "name",
            EvidenceKind::Path => "path",
            EvidenceKind::Summary => "summary",
            EvidenceKind::Parameter => "parameter",
            EvidenceKind::Answer => "answer",
            EvidenceKind::Annotation => "annotation",
            EvidenceKind::Declared => "declared",
        }
    }
}

/// One reason for a classification.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// The kind of evidence.
    pub evidence: EvidenceKind,
    /// The reason as a fragment.
    pub text: String,
}

/// The result of the classifier, with reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classification {
    /// The kind of effect.
    pub effect: Effect,
    /// The category of the effect.
    pub category: Category,
    /// How bad it is if it runs by mistake.
    pub danger: Danger,
    /// Whether a second call changes nothing more, if known.
    pub idempotent: Option<bool>,
    /// How certain it is.
    pub confidence: Confidence,
    /// The reasons, in the order they were considered.
    pub reasons: Vec<Reason>,
    /// Set if a person should review it; one sentence.
    pub review: Option<String>,
}

impl Classification {
    /// Returns the category to serve the operation under. A read that is only a guess is served as EXECUTE.
    #[must_use]
    pub fn served_category(&self) -> Category {
        match (self.category, self.confidence) {
            (Category::Read, Confidence::Low) => Category::Execute,
            (category, _) => category,
        }
    }
}

/// Classifies an operation.
#[must_use]
pub fn classify(evidence: &Evidence<'_>) -> Classification {
    classify_words(evidence, &NameAndPath::of(evidence))
}

/// Classifies an operation twice: without its annotations, and with them.
#[must_use]
pub fn classify_without_and_with_annotations(evidence: &Evidence<'_>) -> (Classification, Classification) {
    let words = NameAndPath::of(evidence);
    let without_annotations =
        classify_words(&Evidence { annotations: ToolAnnotations::default(), ..*evidence }, &words);
    let has_annotations = evidence.annotations != ToolAnnotations::default();
    let with_annotations =
        if has_annotations { classify_words(evidence, &words) } else { without_annotations.clone() };
    (without_annotations, with_annotations)
}

fn classify_words(evidence: &Evidence<'_>, words: &NameAndPath) -> Classification {
    let draft = match (evidence.declared, evidence.method) {
        (Some(effect), _) => ClassificationDraft::new(effect, Confidence::High)
            .with_reason(EvidenceKind::Declared, format!("declared as {}", effect.as_str())),
        (None, Some(method)) => http::classify_request(evidence, words, &method.to_ascii_uppercase()),
        (None, None) => tool::classify_tool(evidence, words),
    };
    draft.finish(evidence, words)
}

/// Returns what contradicts the statement that an operation only reads, as a fragment such as "'create' in its name".
#[must_use]
pub fn contradicts_read(evidence: &Evidence<'_>) -> Option<String> {
    let words = NameAndPath::of(evidence);
    match evidence.method {
        Some(method) => http::contradiction(evidence, &words, &method.to_ascii_uppercase()),
        None => tool::contradiction(evidence, &words),
    }
}

/// Returns whether the classification may depend on whether the result is a collection, which is expensive to find out.
#[must_use]
pub fn needs_answer_shape(evidence: &Evidence<'_>) -> bool {
    evidence.declared.is_none()
        && evidence.answers_collection.is_none()
        && evidence.method.is_some_and(|method| method.eq_ignore_ascii_case("POST"))
        && http::may_read(evidence)
}

/// The name and the path, split once.
struct NameAndPath {
    parts: Vec<Vec<String>>,
    name: names::NameVerbs,
    shape: path::PathShape,
    /// What summary and description say. They are read once, although a tool is classified with and without its annotations.
    prose: OnceCell<prose::Prose>,
}

impl NameAndPath {
    fn of(evidence: &Evidence<'_>) -> NameAndPath {
        let parts = names::parts(strip_method(evidence.name, evidence.method));
        let shape = path::PathShape::of(evidence.path.unwrap_or_default());
        let name = names::name_verbs_with_path(&parts, shape.bare_verb());
        NameAndPath { name, parts, shape, prose: OnceCell::new() }
    }
}

/// An unfinished classification.
#[derive(Debug, Clone)]
struct ClassificationDraft {
    effect: Effect,
    confidence: Confidence,
    idempotent: Option<bool>,
    reasons: Vec<Reason>,
    review: Option<String>,
}

impl ClassificationDraft {
    fn new(effect: Effect, confidence: Confidence) -> ClassificationDraft {
        ClassificationDraft { effect, confidence, idempotent: None, reasons: Vec::new(), review: None }
    }

    fn with_reason(mut self, evidence: EvidenceKind, text: impl Into<String>) -> ClassificationDraft {
        self.reasons.push(Reason { evidence, text: text.into() });
        self
    }

    fn idempotent(mut self, idempotent: bool) -> ClassificationDraft {
        self.idempotent = Some(idempotent);
        self
    }

    fn confidence(mut self, confidence: Confidence) -> ClassificationDraft {
        self.confidence = confidence;
        self
    }

    /// Marks the classification for review by a person.
    fn review(mut self, text: impl Into<String>) -> ClassificationDraft {
        self.confidence = self.confidence.min(Confidence::Medium);
        self.review = Some(text.into());
        self
    }

    fn finish(self, evidence: &Evidence<'_>, words: &NameAndPath) -> Classification {
        let category = self.effect.category();
        // A read that is only a guess is not safe.
        let is_guess = category == Category::Read && self.confidence == Confidence::Low;
        let idempotent = match self.effect {
            Effect::Read | Effect::Compute if is_guess => None,
            Effect::Read | Effect::Compute => Some(true),
            _ => self.idempotent,
        };
        let (danger, reason) = danger(evidence, words, if is_guess { Category::Execute } else { category });
        let mut reasons = self.reasons;
        reasons.extend(reason);
        Classification {
            effect: self.effect,
            category,
            danger,
            idempotent,
            confidence: self.confidence,
            reasons,
            review: self.review,
        }
    }
}

/// Words that make a write dangerous anywhere in the name or at the end of the path.
const DANGEROUS: &[&str] = &["bypass", "force", "forced", "override", "permanent", "permanently", "purge"];

/// Returns the danger level by the words of the name from the verb on, otherwise by the category.
fn danger(evidence: &Evidence<'_>, words: &NameAndPath, category: Category) -> (Danger, Option<Reason>) {
    if category == Category::Read {
        return (Danger::Safe, None);
    }
    let from = words.name.lead.map_or((0, 0), |found| (found.part, found.word));
    let mut phrase: Vec<&str> = words
        .parts
        .get(from.0)
        .map(|part| part.iter().skip(from.1).map(String::as_str).collect())
        .unwrap_or_default();
    let deletes = evidence.method.is_some_and(|method| method.eq_ignore_ascii_case("DELETE"));
    if let Some(first) = phrase.first_mut()
        && deletes
        && let Some(verb) = verbs::verb(first)
    {
        // Some frameworks name every deletion `destroy`. The method tells the real effect.
        *first = verb.canonical;
    }
    // A pattern such as `truncate_*` also means the verb alone.
    let name = phrase.join("_");
    let by_name = danger_of(&format!("{name}_"), category).max(danger_of(&name, category));
    // `retry_destroy` destroys, although its verb is `retry`; `cancel_deletion` and `undo_delete` do not.
    let undoes = phrase
        .first()
        .is_some_and(|word| matches!(*word, "cancel" | "prevent" | "recover" | "restore" | "undo"));
    let destroys = |word: &&str| {
        verbs::verb(word).is_some_and(|verb| verb.acts() && verb.category() == Category::Delete)
    };
    let by_name = match phrase.iter().skip(1).find(|word| destroys(word)) {
        Some(_) if !undoes => by_name.max(Danger::Destructive),
        _ => by_name,
    };
    let is_annotated = evidence.annotations.destructive == Some(true);
    let (by_name, reason) = match by_name {
        danger if is_annotated && danger < Danger::Destructive => {
            let text = "annotated as destructive".to_owned();
            (Danger::Destructive, Some(Reason { evidence: EvidenceKind::Annotation, text }))
        }
        danger => (danger, None),
    };
    let mut all = words.parts.iter().flatten().chain(&words.shape.last);
    let safeguard = all.find(|word| DANGEROUS.contains(&word.as_str()));
    let text = match safeguard {
        Some(word) => format!("'{word}' bypasses a safeguard"),
        None if category == Category::Delete && deletes_many(words) => "deletes many at once".to_owned(),
        None => return (by_name, reason),
    };
    let reason = (by_name < Danger::Dangerous).then_some(Reason { evidence: EvidenceKind::Name, text });
    (by_name.max(Danger::Dangerous), reason)
}

fn deletes_many(words: &NameAndPath) -> bool {
    let mut all = words.parts.iter().flatten().chain(&words.shape.last);
    all.any(|word| matches!(word.as_str(), "bulk" | "batch" | "mass"))
}
