//! Judging a tool that has no method: its hints, its name and its description.
//!
//! Hints are somebody's claim, a name is a proposal. Where they disagree the riskier one counts.

use super::verbs::{Verb, Weight, risk};
use super::words::Reading;
use super::{Confidence, Draft, Evidence, Kind, text};
use crate::facts::Effect;
use crate::operation::Category;

/// Verbs that name a thing as often as a deed, and do act where the description says so, too.
const ACTING: &[&str] = &[
    "archive", "charge", "clean", "cleanup", "clear", "deploy", "deposit", "dispatch", "drop", "email",
    "forward", "kill", "launch", "message", "pay", "play", "post", "purchase", "push", "refund", "release",
    "reset", "revert", "rollback", "run", "schedule", "start", "transfer", "trash", "withdraw",
];
/// Verbs that make something, which is as often an answer as it is kept.
const MAKING: &[&str] = &["generate", "regenerate", "render"];

pub(super) fn judge(evidence: &Evidence<'_>, reading: &Reading) -> Draft {
    let sentence = if evidence.summary.is_empty() { evidence.description } else { evidence.summary };
    let told = text::opening_verb(sentence);
    let proposal = by_name(reading).or_else(|| by_sentence(told));
    let hints = evidence.annotations;
    let draft = match hints.read_only {
        Some(true) if hints.destructive == Some(true) => contradictory(proposal),
        Some(true) => announced(proposal, reading, sentence),
        Some(false) => announced_write(proposal),
        None => match proposal {
            Some(draft) if hints.destructive == Some(true) && reads(&draft) => {
                Draft::new(Effect::Execute, Confidence::Medium)
                    .because(Kind::Annotation, "announced as destructive")
                    .review("its name says that it reads, but it is announced as destructive")
            }
            Some(draft) => unannounced(draft, reading, told, evidence),
            None => Draft::new(Effect::Execute, Confidence::Low)
                .because(Kind::Name, "no verb says what it does")
                .review("nothing says what it does"),
        },
    };
    let deletes = draft.effect.category() == Category::Delete;
    let draft = match hints.destructive {
        Some(false) if deletes && draft.review.is_none() => {
            draft.review("it is announced as harmless, but its name says that it removes something")
        }
        _ => draft,
    };
    match hints.idempotent {
        Some(idempotent) => draft.idempotent(idempotent),
        None => draft,
    }
}

fn reads(draft: &Draft) -> bool {
    draft.effect.category() == Category::Read
}

/// The server says that it reads: that counts unless the name, where it cannot be a noun, says that it acts.
fn announced(proposal: Option<Draft>, reading: &Reading, sentence: &str) -> Draft {
    const SAID: &str = "announced as read-only";
    let Some(draft) = proposal else {
        return Draft::new(Effect::Read, Confidence::Medium).because(Kind::Annotation, SAID);
    };
    if reads(&draft) {
        let mut draft = draft.because(Kind::Annotation, SAID);
        draft.confidence = draft.confidence.max(Confidence::Medium);
        // Whatever is doubtful about the name is settled by the server's word.
        draft.review = None;
        return draft;
    }
    let verbs = [reading.lead, reading.second].into_iter().flatten().map(|found| found.verb);
    let acting = verbs.filter(|verb| verb.effect.category() != Category::Read);
    let makes = |verb: &Verb| MAKING.contains(&verb.word);
    let surely = |verb: &'static Verb| match verb.weight {
        Weight::Strong => !makes(verb),
        Weight::Weak | Weight::Doubtful => ACTING.contains(&verb.word) && text::tells(sentence, verb),
    };
    if acting.clone().any(surely) {
        let review = "it is announced as read-only, but its name says that it acts";
        return draft.because(Kind::Annotation, SAID).review(review);
    }
    let read = Draft::new(Effect::Read, Confidence::Medium).because(Kind::Annotation, SAID);
    match acting.clone().find(|verb| makes(verb)) {
        Some(verb) => read
            .review(format!("it is announced as read-only, though '{}' may keep what it makes", verb.word)),
        None => read,
    }
}

/// The server says that it writes; what it writes is the name's to say.
fn announced_write(proposal: Option<Draft>) -> Draft {
    const SAID: &str = "announced as not read-only";
    match proposal {
        Some(mut draft) if !reads(&draft) => {
            draft.confidence = draft.confidence.max(Confidence::Medium);
            draft.because(Kind::Annotation, SAID)
        }
        Some(_) => Draft::new(Effect::Execute, Confidence::Medium)
            .because(Kind::Annotation, SAID)
            .review("its name says that it reads, but it is announced as a write"),
        None => Draft::new(Effect::Execute, Confidence::Medium).because(Kind::Annotation, SAID),
    }
}

/// The server contradicts itself, so that the worse is believed.
fn contradictory(proposal: Option<Draft>) -> Draft {
    let draft = proposal.filter(|draft| !reads(draft));
    let draft = draft.unwrap_or_else(|| Draft::new(Effect::Execute, Confidence::Medium));
    draft
        .because(Kind::Annotation, "announced as read-only and as destructive")
        .review("it is announced as read-only and as destructive, which cannot both be")
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
    let objection = text::deed(evidence.summary, evidence.description);
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
