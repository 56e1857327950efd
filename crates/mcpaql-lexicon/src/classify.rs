//! What an operation does, judged from everything that is known about it, with the reasons.
//!
//! One classifier for every source of operations. What always holds: a request that can write is called a read only where
//! at least two independent kinds of evidence say so and nothing contradicts; whatever is uncertain stays on the side that
//! writes and carries a sentence for review. The same evidence always gives the same decision.

mod http;
pub mod path;
mod text;
mod tool;

#[cfg(test)]
mod tests;

pub use http::strip_method;
pub use text::program_word;

use crate::Effect;
use crate::{Category, Danger, danger_of};
use crate::{names, verbs};

/// What is known about an operation. Everything but the name may be missing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Evidence<'a> {
    /// The HTTP method, in any case.
    pub method: Option<&'a str>,
    /// The path template.
    pub path: Option<&'a str>,
    /// The operation id or the tool's name, in any spelling; empty where there is none.
    pub name: &'a str,
    /// The short text.
    pub summary: &'a str,
    /// The long text.
    pub description: &'a str,
    /// Whether the answer is a collection, be it in an envelope.
    pub answers_collection: Option<bool>,
    /// Whether the request has a body.
    pub has_body: Option<bool>,
    /// What the source itself announces.
    pub annotations: ToolAnnotations,
    /// Whether whoever wrote the operation chose its name: then a verb that reads needs nobody to agree with it.
    pub named_by_author: bool,
    /// What somebody who knows has said; it ends every discussion.
    pub declared: Option<Effect>,
}

/// The hints of an MCP tool, as far as its server gave any.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolAnnotations {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
}

/// How sure the classifier is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Confidence {
    /// A guess; a READ of low confidence is a proposal and not to be published.
    Low,
    /// Probable.
    Medium,
    /// As sure as a description can make it.
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

/// Where a reason comes from.
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
    /// What comes back.
    Answer,
    /// A hint that the source gives.
    Annotation,
    /// Somebody said so.
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
            EvidenceKind::Answer => "answer",
            EvidenceKind::Annotation => "annotation",
            EvidenceKind::Declared => "declared",
        }
    }
}

/// One reason for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// Where it comes from.
    pub evidence: EvidenceKind,
    /// What it says, as a fragment.
    pub text: String,
}

/// What the classifier decided, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classification {
    /// The kind of effect.
    pub effect: Effect,
    /// The category that follows from it.
    pub category: Category,
    /// How bad it is when it runs by mistake.
    pub danger: Danger,
    /// Whether a second call changes nothing more, where that is known.
    pub idempotent: Option<bool>,
    /// How sure.
    pub confidence: Confidence,
    /// In the order they were weighed.
    pub reasons: Vec<Reason>,
    /// Set where a person should look; one sentence.
    pub review: Option<String>,
}

impl Classification {
    /// The category to serve the operation under: a read that is only a guess is served as EXECUTE.
    #[must_use]
    pub fn served_category(&self) -> Category {
        match (self.category, self.confidence) {
            (Category::Read, Confidence::Low) => Category::Execute,
            (category, _) => category,
        }
    }
}

/// Decides what an operation does.
#[must_use]
pub fn classify(evidence: &Evidence<'_>) -> Classification {
    classify_words(evidence, &NameAndPath::of(evidence))
}

/// The same twice: as if the source announced nothing, and as it does.
#[must_use]
pub fn classify_without_and_with_annotations(evidence: &Evidence<'_>) -> (Classification, Classification) {
    let words = NameAndPath::of(evidence);
    let unannounced =
        classify_words(&Evidence { annotations: ToolAnnotations::default(), ..*evidence }, &words);
    let is_announced = evidence.annotations != ToolAnnotations::default();
    let announced = if is_announced { classify_words(evidence, &words) } else { unannounced.clone() };
    (unannounced, announced)
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

/// Whether knowing if the answer is a collection could change the decision: it is costly to find out.
#[must_use]
pub fn needs_answer_shape(evidence: &Evidence<'_>) -> bool {
    evidence.declared.is_none()
        && evidence.answers_collection.is_none()
        && evidence.method.is_some_and(|method| method.eq_ignore_ascii_case("POST"))
        && http::may_read(evidence)
}

/// Name and path, taken apart once.
struct NameAndPath {
    parts: Vec<Vec<String>>,
    name: names::NameVerbs,
    shape: path::PathShape,
}

impl NameAndPath {
    fn of(evidence: &Evidence<'_>) -> NameAndPath {
        let parts = names::parts(strip_method(evidence.name, evidence.method));
        let name = names::name_verbs(&parts);
        NameAndPath { name, parts, shape: path::PathShape::of(evidence.path.unwrap_or_default()) }
    }
}

/// A decision in the making.
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

    /// Uncertain enough for a person to look.
    fn review(mut self, text: impl Into<String>) -> ClassificationDraft {
        self.confidence = self.confidence.min(Confidence::Medium);
        self.review = Some(text.into());
        self
    }

    fn finish(self, evidence: &Evidence<'_>, words: &NameAndPath) -> Classification {
        let category = self.effect.category();
        // A read that is only a guess is no safer than what it may be instead.
        let guessed = category == Category::Read && self.confidence == Confidence::Low;
        let idempotent = match self.effect {
            Effect::Read | Effect::Compute if guessed => None,
            Effect::Read | Effect::Compute => Some(true),
            _ => self.idempotent,
        };
        let (danger, reason) = danger(evidence, words, if guessed { Category::Execute } else { category });
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

/// Words that make a write dangerous wherever they stand in the name or the end of the path.
const DANGEROUS: &[&str] = &["bypass", "force", "forced", "override", "permanent", "permanently", "purge"];

/// Danger by the name's own words from the verb on, by the category otherwise.
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
        // Some frameworks call every deletion `destroy`; the method says what is meant.
        *first = verb.canonical;
    }
    // A pattern such as `truncate_*` means the bare verb, too.
    let name = phrase.join("_");
    let by_name = danger_of(&format!("{name}_"), category).max(danger_of(&name, category));
    let announced = evidence.annotations.destructive == Some(true);
    let (by_name, said) = match by_name {
        danger if announced && danger < Danger::Destructive => {
            let text = "announced as destructive".to_owned();
            (Danger::Destructive, Some(Reason { evidence: EvidenceKind::Annotation, text }))
        }
        danger => (danger, None),
    };
    let mut all = words.parts.iter().flatten().chain(&words.shape.last);
    let safeguard = all.find(|word| DANGEROUS.contains(&word.as_str()));
    let text = match safeguard {
        Some(word) => format!("'{word}' goes around a safeguard"),
        None if category == Category::Delete && deletes_many(words) => "deletes many at once".to_owned(),
        None => return (by_name, said),
    };
    let reason = (by_name < Danger::Dangerous).then_some(Reason { evidence: EvidenceKind::Name, text });
    (by_name.max(Danger::Dangerous), reason)
}

fn deletes_many(words: &NameAndPath) -> bool {
    let mut all = words.parts.iter().flatten().chain(&words.shape.last);
    all.any(|word| matches!(word.as_str(), "bulk" | "batch" | "mass"))
}
