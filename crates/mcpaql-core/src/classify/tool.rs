//! Judging a tool that has no method: its hints, its name and its description.
//!
//! Hints are somebody's claim, a name is a proposal. Where they disagree the riskier one counts.

use super::verbs::{Verb, Weight, risk};
use super::words::Reading;
use super::{Confidence, Draft, Evidence, Kind, text};
use crate::facts::Effect;
use crate::operation::Category;

pub(super) fn judge(evidence: &Evidence<'_>, reading: &Reading) -> Draft {
    let sentence = if evidence.summary.is_empty() { evidence.description } else { evidence.summary };
    let told = text::opening_verb(sentence);
    let proposal = by_name(reading).or_else(|| by_sentence(told));
    let draft = match (evidence.annotations.read_only, proposal) {
        (Some(true), Some(draft)) if draft.effect.category() == Category::Read => {
            confirmed(draft).because(Kind::Annotation, "announced as read-only")
        }
        (Some(true), Some(draft)) => {
            let review = "it is announced as read-only, but its name says that it acts";
            draft.because(Kind::Annotation, "announced as read-only").review(review)
        }
        (Some(true), None) => {
            Draft::new(Effect::Read, Confidence::Medium).because(Kind::Annotation, "announced as read-only")
        }
        (Some(false), Some(draft)) if draft.effect.category() == Category::Read => {
            Draft::new(Effect::Execute, Confidence::Medium)
                .because(Kind::Annotation, "announced as not read-only")
                .review("its name says that it reads, but it is announced as a write")
        }
        (Some(false), Some(draft)) => draft.because(Kind::Annotation, "announced as not read-only"),
        (Some(false), None) => Draft::new(Effect::Execute, Confidence::Medium)
            .because(Kind::Annotation, "announced as not read-only"),
        (None, Some(draft)) => unannounced(draft, reading, told, evidence),
        (None, None) => Draft::new(Effect::Execute, Confidence::Low)
            .because(Kind::Name, "no verb says what it does")
            .review("nothing says what it does"),
    };
    match evidence.annotations.idempotent {
        Some(idempotent) => draft.idempotent(idempotent),
        None => draft,
    }
}

fn by_name(reading: &Reading) -> Option<Draft> {
    let lead = reading.lead?.verb;
    let sure = if lead.weight == Weight::Strong { Confidence::High } else { Confidence::Low };
    let (effect, text) = reading.effect()?;
    // A name that could be a noun at its beginning and acts at its end acts.
    let second = reading.second.map(|found| found.verb).filter(|verb| risk(verb.effect) > risk(effect));
    let draft = match second {
        Some(verb) if lead.weight != Weight::Strong => {
            Draft::new(verb.effect, Confidence::Medium).because(Kind::Name, format!("'{}'", verb.word))
        }
        _ => Draft::new(effect, sure).because(Kind::Name, text),
    };
    Some(match lead.weight {
        Weight::Doubtful => draft.review(format!("'{}' reads in one API and writes in another", lead.word)),
        _ => draft,
    })
}

fn by_sentence(told: Option<&'static Verb>) -> Option<Draft> {
    let verb = told?;
    let draft = Draft::new(verb.effect, Confidence::Low).because(Kind::Summary, format!("'{}'", verb.word));
    Some(if verb.reads() { draft.review("only its description says that it reads") } else { draft })
}

fn confirmed(mut draft: Draft) -> Draft {
    draft.confidence = draft.confidence.max(Confidence::Medium);
    draft
}

/// Nobody announced anything: a read needs the name and the description to say so, and nothing against it.
fn unannounced(
    draft: Draft,
    reading: &Reading,
    told: Option<&'static Verb>,
    evidence: &Evidence<'_>,
) -> Draft {
    if draft.effect.category() != Category::Read || reading.lead.is_none() {
        return draft;
    }
    let objection = text::objection(evidence.summary, evidence.description);
    let doubtful = reading.lead.is_some_and(|found| found.verb.weight == Weight::Doubtful);
    match (told.filter(|_| !doubtful), objection) {
        (_, Some(word)) => draft
            .review(format!("its name says that it reads, but '{word}' speaks against it"))
            .confidence(Confidence::Low),
        (Some(verb), None) if verb.reads() => draft
            .because(Kind::Summary, format!("the description says '{}'", verb.word))
            .confidence(Confidence::Medium),
        _ => draft.review("only its name says that it reads").confidence(Confidence::Low),
    }
}
