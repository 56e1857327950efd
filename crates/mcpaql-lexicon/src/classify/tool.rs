//! Judging a tool that has no method: its hints, its name and its description.
//!
//! Hints are somebody's claim, a name is a proposal. Where they disagree the riskier one counts.

use super::{ClassificationDraft, Confidence, Evidence, EvidenceKind, NameAndPath, text};
use crate::Category;
use crate::Effect;
use crate::names::NameVerbs;
use crate::verbs::{self, Verb, VerbTrait, Weight, risk};
use crate::{WordSet, is_plural, mentions_verb, opening_verb, opening_words, singular};
use std::cell::LazyCell;

/// Things that a deed has: before one of these the deed is a noun (`send_status`, `start_times`).
static ATTRIBUTE_NOUNS: WordSet = WordSet::of(
    "action activity call candidate code config count date definition detail error event field form history id \
     info job limit list log metadata metric mode name note notification operation option order parameter \
     permission plan point policy queue rate reason report request requirement response result rule run schedule \
     schema script set setting state stats status step summary support task template time timestamp trigger type \
     url usage version window",
);

pub(super) fn classify_tool(evidence: &Evidence<'_>, words: &NameAndPath) -> ClassificationDraft {
    let reading = &words.name;
    let sentence = if evidence.summary.is_empty() { evidence.description } else { evidence.summary };
    let told = opening_verb(sentence);
    let proposal = by_name(reading).or_else(|| by_sentence(told));
    let hints = evidence.annotations;
    let draft = match hints.read_only {
        Some(true) if hints.destructive == Some(true) => contradictory(proposal),
        Some(true) => announced_read(proposal, words, sentence),
        Some(false) => announced_write(proposal),
        None => match proposal {
            Some(draft) if hints.destructive == Some(true) && is_read(&draft) => {
                ClassificationDraft::new(Effect::Execute, Confidence::Medium)
                    .with_reason(EvidenceKind::Annotation, "announced as destructive")
                    .review("its name says that it reads, but it is announced as destructive")
            }
            Some(draft) => unannounced(draft, words, told, evidence),
            None => ClassificationDraft::new(Effect::Execute, Confidence::Low)
                .with_reason(EvidenceKind::Name, "no verb says what it does")
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

fn is_read(draft: &ClassificationDraft) -> bool {
    draft.effect.category() == Category::Read
}

/// The server says that it reads: that counts unless the name, where it cannot be a noun, says that it acts.
fn announced_read(
    proposal: Option<ClassificationDraft>,
    words: &NameAndPath,
    sentence: &str,
) -> ClassificationDraft {
    let reading = &words.name;
    const REASON: &str = "announced as read-only";
    let Some(draft) = proposal else {
        return ClassificationDraft::new(Effect::Read, Confidence::Medium)
            .with_reason(EvidenceKind::Annotation, REASON);
    };
    if is_read(&draft) {
        if let Some(verb) = acts_later(words) {
            return riskier(verb)
                .with_reason(EvidenceKind::Annotation, REASON)
                .review(format!("it is announced as read-only, but its name may say '{}'", verb.word));
        }
        let mut draft = draft.with_reason(EvidenceKind::Annotation, REASON);
        draft.confidence = draft.confidence.max(Confidence::Medium);
        // Whatever is doubtful about the name is settled by the server's word.
        draft.review = None;
        return draft;
    }
    let verbs = [reading.lead, reading.second].into_iter().flatten().map(|found| found.verb);
    let acting = verbs.filter(|verb| verb.effect.category() != Category::Read);
    let makes = |verb: &Verb| verb.has(VerbTrait::Making);
    let surely = |verb: &'static Verb| match verb.weight {
        Weight::Strong => !makes(verb),
        Weight::Weak | Weight::Doubtful => verb.has(VerbTrait::Acting) && mentions_verb(sentence, verb),
    };
    if acting.clone().any(surely) {
        let review = "it is announced as read-only, but its name says that it acts";
        return draft.with_reason(EvidenceKind::Annotation, REASON).review(review);
    }
    let read = ClassificationDraft::new(Effect::Read, Confidence::Medium)
        .with_reason(EvidenceKind::Annotation, REASON);
    match acting.clone().find(|verb| makes(verb)) {
        Some(verb) => read
            .review(format!("it is announced as read-only, though '{}' may keep what it makes", verb.word)),
        None => read,
    }
}

/// The server says that it writes; what it writes is the name's to say.
fn announced_write(proposal: Option<ClassificationDraft>) -> ClassificationDraft {
    const REASON: &str = "announced as not read-only";
    match proposal {
        Some(mut draft) if !is_read(&draft) => {
            draft.confidence = draft.confidence.max(Confidence::Medium);
            draft.with_reason(EvidenceKind::Annotation, REASON)
        }
        Some(_) => ClassificationDraft::new(Effect::Execute, Confidence::Medium)
            .with_reason(EvidenceKind::Annotation, REASON)
            .review("its name says that it reads, but it is announced as a write"),
        None => ClassificationDraft::new(Effect::Execute, Confidence::Medium)
            .with_reason(EvidenceKind::Annotation, REASON),
    }
}

/// The server contradicts itself, so that the worse is believed.
fn contradictory(proposal: Option<ClassificationDraft>) -> ClassificationDraft {
    let draft = proposal.filter(|draft| !is_read(draft));
    let draft = draft.unwrap_or_else(|| ClassificationDraft::new(Effect::Execute, Confidence::Medium));
    draft
        .with_reason(EvidenceKind::Annotation, "announced as read-only and as destructive")
        .review("it is announced as read-only and as destructive, which cannot both be")
}

fn by_name(reading: &NameVerbs) -> Option<ClassificationDraft> {
    let lead = reading.lead?.verb;
    let sure = if lead.weight == Weight::Strong { Confidence::High } else { Confidence::Low };
    let (effect, text) = reading.effect()?;
    // A name that could be a noun at its beginning and acts at its end acts.
    let second = reading.second.map(|found| found.verb).filter(|verb| risk(verb.effect) > risk(effect));
    let draft = match second {
        Some(verb) if lead.weight != Weight::Strong => {
            ClassificationDraft::new(verb.effect, Confidence::Medium)
                .with_reason(EvidenceKind::Name, format!("'{}'", verb.word))
        }
        _ => ClassificationDraft::new(effect, sure).with_reason(EvidenceKind::Name, text),
    };
    Some(match lead.weight {
        Weight::Doubtful => draft.review(format!("'{}' reads in one API and writes in another", lead.word)),
        _ => draft,
    })
}

fn by_sentence(told: Option<&'static Verb>) -> Option<ClassificationDraft> {
    let verb = told?;
    let draft = ClassificationDraft::new(verb.effect, Confidence::Low)
        .with_reason(EvidenceKind::Summary, format!("'{}'", verb.word));
    Some(if verb.reads() { draft.review("only its description says that it reads") } else { draft })
}

/// A read whose name has a writing verb that can hardly be a noun.
fn riskier(verb: &Verb) -> ClassificationDraft {
    ClassificationDraft::new(verb.effect, Confidence::Medium)
        .with_reason(EvidenceKind::Name, format!("'{}'", verb.word))
}

/// The words of the part with the verb, from the verb on.
fn words_from_verb(words: &NameAndPath) -> Option<(&'static Verb, &[String])> {
    let lead = words.name.lead?;
    Some((lead.verb, words.parts.get(lead.part)?.get(lead.word..)?))
}

/// A writing verb behind one that could be a noun, at the end or before its object: `read_receipt_send`,
/// `view_drop_table`, but not `list_start_times`.
fn acts_later(words: &NameAndPath) -> Option<&'static Verb> {
    let (lead, name) = words_from_verb(words)?;
    let has = |text: &str| words.parts.iter().flatten().any(|word| word == text);
    match lead.word {
        "get" if name.get(1).is_some_and(|next| next == "rid") => return verbs::verb("remove"),
        "read" if has("mark") => return verbs::verb("mark"),
        _ => {}
    }
    if lead.weight == Weight::Strong && !lead.has(VerbTrait::Homograph) {
        return None;
    }
    let later = name.iter().enumerate().skip(1);
    later.filter_map(|(index, word)| Some((index, verbs::verb(word)?))).find_map(|(index, verb)| {
        let acts = verb.acts() || verb.has(VerbTrait::Harming);
        let noun = name.get(index + 1).is_some_and(|next| ATTRIBUTE_NOUNS.contains(&singular(next)));
        (acts && !noun).then_some(verb)
    })
}

/// Any word of the name, wherever it stands, that writes.
fn writes_anywhere(words: &NameAndPath) -> Option<&'static Verb> {
    let all =
        words.parts.iter().flatten().filter_map(|word| verbs::verb(word).or_else(|| verbs::glued(word)));
    let listed = |verb: &Verb| verb.has(VerbTrait::Harming) || verb.has(VerbTrait::Risky);
    all.into_iter().find(|verb| verb.effect.category() != Category::Read && (verb.acts() || listed(verb)))
}

/// What makes another verb of a reading one: `get rid of`, `check out`, `read in`, `list for sale`.
fn reversing_particle<'w>(verb: &Verb, words: &'w [impl AsRef<str>]) -> Option<&'w str> {
    let behind = words.get(1..)?;
    let next = behind.first().map(AsRef::as_ref);
    let particles: &[&str] = match verb.word {
        "get" => &["rid"],
        "check" => &["in", "out", "off"],
        "read" | "load" | "fetch" | "query" => &["in", "into"],
        "count" => &["down", "up"],
        "view" => &["as"],
        "list" => &["as", "off"],
        _ => &[],
    };
    let sold = behind.windows(2).find_map(|pair| match pair {
        [word, what] if word.as_ref() == "for" => {
            let what = what.as_ref();
            matches!(what, "sale" | "rent" | "auction" | "lease" | "trade" | "hire").then_some(what)
        }
        _ => None,
    });
    next.filter(|next| particles.contains(next)).or(sold.filter(|_| verb.word == "list"))
}

/// The same about a name, where `list_item_as_new` and `list_item_on_market` offer one thing, and `list_items_on_page` reads.
fn reversing_particle_in_name(words: &NameAndPath) -> Option<&str> {
    let (lead, name) = words_from_verb(words)?;
    let offered = || match name {
        [_, one, to, ..] if lead.word == "list" && !is_plural(one) => {
            matches!(to.as_str(), "as" | "on" | "to").then_some(to.as_str())
        }
        _ => None,
    };
    reversing_particle(lead, name).or_else(offered)
}

/// Nobody announced anything: a read needs the name and the description to say so, and nothing against it. A name that its
/// author chose does without the description.
fn unannounced(
    draft: ClassificationDraft,
    words: &NameAndPath,
    told: Option<&'static Verb>,
    evidence: &Evidence<'_>,
) -> ClassificationDraft {
    let Some(lead) = words.name.lead.filter(|_| is_read(&draft)).map(|found| found.verb) else {
        return draft;
    };
    if let Some(verb) = acts_later(words) {
        return riskier(verb).review(format!("its name may say '{}' or '{}'", lead.word, verb.word));
    }
    let objection = side_effect_word(words, told, evidence);
    // A description that says no more than a noun does (`Log`, `Index`) confirms nothing.
    let confirmed =
        told.filter(|verb| lead.weight != Weight::Doubtful && verb.reads() && verb.weight == Weight::Strong);
    match (confirmed, objection) {
        (_, Some(word)) => draft
            .review(format!("its name says that it reads, but '{word}' speaks against it"))
            .confidence(Confidence::Low),
        (Some(verb), None) => draft
            .with_reason(EvidenceKind::Summary, format!("the description says '{}'", verb.word))
            .confidence(Confidence::Medium),
        (None, None) if evidence.named_by_author && lead.weight == Weight::Strong => {
            draft.confidence(Confidence::Medium)
        }
        (None, None) => draft.review("only its name says that it reads").confidence(Confidence::Low),
    }
}

/// A word of the name or the description that speaks against a read.
fn side_effect_word(
    words: &NameAndPath,
    told: Option<&'static Verb>,
    evidence: &Evidence<'_>,
) -> Option<String> {
    let (summary, description) = (evidence.summary, evidence.description);
    let sentence = if summary.is_empty() { description } else { summary };
    // Most sentences speak against nothing that they would have to be taken apart for.
    let opening = LazyCell::new(|| opening_words(sentence).collect::<Vec<_>>());
    // Whoever queries a whole database writes the query.
    let database = |word: &&str| matches!(*word, "database" | "db" | "graphql" | "sql");
    let queries = words.name.lead.is_some_and(|found| found.verb.word == "query");
    let named = || words.parts.iter().flatten().map(String::as_str);
    let database = || named().chain(opening.iter().map(AsRef::as_ref)).find(database);
    writes_anywhere(words)
        .map(|verb| verb.word.to_owned())
        .or_else(|| reversing_particle_in_name(words).map(str::to_owned))
        .or_else(|| told.and_then(|verb| reversing_particle(verb, &opening)).map(str::to_owned))
        .or_else(|| queries.then(database).flatten().map(str::to_owned))
        .or_else(|| text::changing_word(summary, description))
        .or_else(|| text::program_word(summary))
        .or_else(|| text::program_word(description))
}
