//! Classifies tools without an HTTP method: by their annotations, name and description.
//!
//! Annotations are a claim, and a name is a proposal. If they disagree, the riskier one counts.

use super::{ClassificationDraft, Confidence, Evidence, EvidenceKind, NameAndPath, text};
use crate::Category;
use crate::Effect;
use crate::names::NameVerbs;
use crate::verbs::{self, Verb, VerbTrait, Weight, risk};
use crate::{WordSet, is_plural, mentions_verb, opening_verb, opening_words, singular};
use std::cell::LazyCell;

/// Nouns after an action that make it a noun: `send_status`, `start_times`.
static ATTRIBUTE_NOUNS: WordSet = WordSet::of(
    "action activity call candidate code config count date definition detail error event field form history id \
     info job limit list log metadata metric mode name note notification operation option order parameter \
     permission plan point policy queue rate reason report request requirement response result rule run schedule \
     schema script set setting state stats status step summary support task template time timestamp trigger type \
     url usage version window",
);

pub(super) fn classify_tool(evidence: &Evidence<'_>, words: &NameAndPath) -> ClassificationDraft {
    let verbs = &words.name;
    let sentence = if evidence.summary.is_empty() { evidence.description } else { evidence.summary };
    let described = opening_verb(sentence);
    let proposal = by_name(verbs).or_else(|| by_sentence(described));
    let hints = evidence.annotations;
    let draft = match hints.read_only {
        Some(true) if hints.destructive == Some(true) => contradictory(proposal),
        Some(true) => annotated_read(proposal, words, sentence),
        Some(false) => annotated_write(proposal),
        None => match proposal {
            Some(draft) if hints.destructive == Some(true) && is_read(&draft) => {
                ClassificationDraft::new(Effect::Execute, Confidence::Medium)
                    .with_reason(EvidenceKind::Annotation, "annotated as destructive")
                    .review("its name says that it reads, but it is annotated as destructive")
            }
            Some(draft) => without_annotations(draft, words, described, evidence),
            None => ClassificationDraft::new(Effect::Execute, Confidence::Low)
                .with_reason(EvidenceKind::Name, "the name has no clear verb")
                .review("its effect is unknown"),
        },
    };
    let deletes = draft.effect.category() == Category::Delete;
    let draft = match hints.destructive {
        Some(false) if deletes && draft.review.is_none() => {
            draft.review("it is annotated as not destructive, but its name suggests a deletion")
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

/// Classifies a tool that is annotated as read-only. The annotation counts unless the name, where it cannot be a noun,
/// says that the tool changes something.
fn annotated_read(
    proposal: Option<ClassificationDraft>,
    words: &NameAndPath,
    sentence: &str,
) -> ClassificationDraft {
    let verbs = &words.name;
    const REASON: &str = "annotated as read-only";
    let Some(draft) = proposal else {
        return ClassificationDraft::new(Effect::Read, Confidence::Medium)
            .with_reason(EvidenceKind::Annotation, REASON);
    };
    if is_read(&draft) {
        if let Some(verb) = later_changing_verb(words) {
            return riskier(verb)
                .with_reason(EvidenceKind::Annotation, REASON)
                .review(format!("it is annotated as read-only, but its name may mean '{}'", verb.word));
        }
        let mut draft = draft.with_reason(EvidenceKind::Annotation, REASON);
        draft.confidence = draft.confidence.max(Confidence::Medium);
        // The annotation settles doubts about the name.
        draft.review = None;
        return draft;
    }
    let found = [verbs.lead, verbs.second].into_iter().flatten().map(|found| found.verb);
    let changing = found.filter(|verb| verb.effect.category() != Category::Read);
    let makes = |verb: &Verb| verb.has(VerbTrait::Making);
    let certainly = |verb: &'static Verb| match verb.weight {
        Weight::Strong => !makes(verb),
        Weight::Weak | Weight::Doubtful => verb.has(VerbTrait::Acting) && mentions_verb(sentence, verb),
    };
    if changing.clone().any(certainly) {
        let review = "it is annotated as read-only, but its name suggests a write";
        return draft.with_reason(EvidenceKind::Annotation, REASON).review(review);
    }
    let read = ClassificationDraft::new(Effect::Read, Confidence::Medium)
        .with_reason(EvidenceKind::Annotation, REASON);
    match changing.clone().find(|verb| makes(verb)) {
        Some(verb) => {
            read.review(format!("it is annotated as read-only, but '{}' may store its result", verb.word))
        }
        None => read,
    }
}

/// Classifies a tool that is annotated as a write. Its name tells what it writes.
fn annotated_write(proposal: Option<ClassificationDraft>) -> ClassificationDraft {
    const REASON: &str = "annotated as not read-only";
    match proposal {
        Some(mut draft) if !is_read(&draft) => {
            draft.confidence = draft.confidence.max(Confidence::Medium);
            draft.with_reason(EvidenceKind::Annotation, REASON)
        }
        Some(_) => ClassificationDraft::new(Effect::Execute, Confidence::Medium)
            .with_reason(EvidenceKind::Annotation, REASON)
            .review("its name says that it reads, but it is annotated as a write"),
        None => ClassificationDraft::new(Effect::Execute, Confidence::Medium)
            .with_reason(EvidenceKind::Annotation, REASON),
    }
}

/// Classifies a tool with contradictory annotations. The riskier one counts.
fn contradictory(proposal: Option<ClassificationDraft>) -> ClassificationDraft {
    let draft = proposal.filter(|draft| !is_read(draft));
    let draft = draft.unwrap_or_else(|| ClassificationDraft::new(Effect::Execute, Confidence::Medium));
    draft
        .with_reason(EvidenceKind::Annotation, "annotated as read-only and as destructive")
        .review("it is annotated both as read-only and as destructive")
}

fn by_name(verbs: &NameVerbs) -> Option<ClassificationDraft> {
    let lead = verbs.lead?.verb;
    let confidence = if lead.weight == Weight::Strong { Confidence::High } else { Confidence::Low };
    let (effect, text) = verbs.effect()?;
    // If a name starts with a possible noun and ends with a changing verb, the changing verb counts.
    let second = verbs.second.map(|found| found.verb).filter(|verb| risk(verb.effect) > risk(effect));
    let draft = match second {
        Some(verb) if lead.weight != Weight::Strong => {
            ClassificationDraft::new(verb.effect, Confidence::Medium)
                .with_reason(EvidenceKind::Name, format!("'{}'", verb.word))
        }
        _ => ClassificationDraft::new(effect, confidence).with_reason(EvidenceKind::Name, text),
    };
    Some(match lead.weight {
        Weight::Doubtful => draft.review(format!("'{}' reads in some APIs and writes in others", lead.word)),
        _ => draft,
    })
}

fn by_sentence(described: Option<&'static Verb>) -> Option<ClassificationDraft> {
    let verb = described?;
    let draft = ClassificationDraft::new(verb.effect, Confidence::Low)
        .with_reason(EvidenceKind::Summary, format!("'{}'", verb.word));
    Some(if verb.reads() { draft.review("only its description says that it reads") } else { draft })
}

/// Returns the draft for a reading name with a writing verb that is hardly a noun.
fn riskier(verb: &Verb) -> ClassificationDraft {
    ClassificationDraft::new(verb.effect, Confidence::Medium)
        .with_reason(EvidenceKind::Name, format!("'{}'", verb.word))
}

/// Returns the verb and the words of its part, from the verb on.
fn words_from_verb(words: &NameAndPath) -> Option<(&'static Verb, &[String])> {
    let lead = words.name.lead?;
    Some((lead.verb, words.parts.get(lead.part)?.get(lead.word..)?))
}

/// Returns a writing verb after one that could be a noun, at the end or before its object: `read_receipt_send`,
/// `view_drop_table`, but not `list_start_times`.
fn later_changing_verb(words: &NameAndPath) -> Option<&'static Verb> {
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
        let changes = verb.acts() || verb.has(VerbTrait::Harming);
        let is_noun = name.get(index + 1).is_some_and(|next| ATTRIBUTE_NOUNS.contains(&singular(next)));
        (changes && !is_noun).then_some(verb)
    })
}

/// Returns a writing verb anywhere in the name.
fn writes_anywhere(words: &NameAndPath) -> Option<&'static Verb> {
    let all =
        words.parts.iter().flatten().filter_map(|word| verbs::verb(word).or_else(|| verbs::glued(word)));
    let listed = |verb: &Verb| verb.has(VerbTrait::Harming) || verb.has(VerbTrait::Risky);
    all.into_iter().find(|verb| verb.effect.category() != Category::Read && (verb.acts() || listed(verb)))
}

/// Returns the word that changes the meaning of a reading verb: `get rid of`, `check out`, `read in`, `list for sale`.
fn reversing_particle<'w>(verb: &Verb, words: &'w [impl AsRef<str>]) -> Option<&'w str> {
    let after = words.get(1..)?;
    let next = after.first().map(AsRef::as_ref);
    let particles: &[&str] = match verb.word {
        "get" => &["rid"],
        "check" => &["in", "out", "off"],
        "read" | "load" | "fetch" | "query" => &["in", "into"],
        "count" => &["down", "up"],
        "view" => &["as"],
        "list" => &["as", "off"],
        _ => &[],
    };
    let sale = after.windows(2).find_map(|pair| match pair {
        [word, what] if word.as_ref() == "for" => {
            let what = what.as_ref();
            matches!(what, "sale" | "rent" | "auction" | "lease" | "trade" | "hire").then_some(what)
        }
        _ => None,
    });
    next.filter(|next| particles.contains(next)).or(sale.filter(|_| verb.word == "list"))
}

/// The same for a name. `list_item_as_new` and `list_item_on_market` offer one thing, but `list_items_on_page` reads.
fn reversing_particle_in_name(words: &NameAndPath) -> Option<&str> {
    let (lead, name) = words_from_verb(words)?;
    let offer = || match name {
        [_, one, to, ..] if lead.word == "list" && !is_plural(one) => {
            matches!(to.as_str(), "as" | "on" | "to").then_some(to.as_str())
        }
        _ => None,
    };
    reversing_particle(lead, name).or_else(offer)
}

/// Classifies a tool without annotations. A read needs a name and a description that agree, and nothing against it. For
/// a name that its author chose, the description is not needed.
fn without_annotations(
    draft: ClassificationDraft,
    words: &NameAndPath,
    described: Option<&'static Verb>,
    evidence: &Evidence<'_>,
) -> ClassificationDraft {
    let Some(lead) = words.name.lead.filter(|_| is_read(&draft)).map(|found| found.verb) else {
        return draft;
    };
    if let Some(verb) = later_changing_verb(words) {
        return riskier(verb).review(format!("its name may mean '{}' or '{}'", lead.word, verb.word));
    }
    let objection = side_effect_word(words, described, evidence);
    // A description that is only a noun (`Log`, `Index`) confirms nothing.
    let confirmed = described
        .filter(|verb| lead.weight != Weight::Doubtful && verb.reads() && verb.weight == Weight::Strong);
    match (confirmed, objection) {
        (_, Some(word)) => draft
            .review(format!("its name says that it reads, but '{word}' suggests a write"))
            .confidence(Confidence::Low),
        (Some(verb), None) => draft
            .with_reason(EvidenceKind::Summary, format!("'{}' in the description", verb.word))
            .confidence(Confidence::Medium),
        (None, None) if evidence.named_by_author && lead.weight == Weight::Strong => {
            draft.confidence(Confidence::Medium)
        }
        (None, None) => draft.review("only its name says that it reads").confidence(Confidence::Low),
    }
}

/// Returns a word of the name or the description that contradicts a read.
fn side_effect_word(
    words: &NameAndPath,
    described: Option<&'static Verb>,
    evidence: &Evidence<'_>,
) -> Option<String> {
    let (summary, description) = (evidence.summary, evidence.description);
    let sentence = if summary.is_empty() { description } else { summary };
    // Computed on demand, because most sentences are not needed word by word.
    let opening = LazyCell::new(|| opening_words(sentence).collect::<Vec<_>>());
    // A caller who queries a whole database writes the query.
    let database = |word: &&str| matches!(*word, "database" | "db" | "graphql" | "sql");
    let queries = words.name.lead.is_some_and(|found| found.verb.word == "query");
    let name_words = || words.parts.iter().flatten().map(String::as_str);
    let database = || name_words().chain(opening.iter().map(AsRef::as_ref)).find(database);
    writes_anywhere(words)
        .map(|verb| verb.word.to_owned())
        .or_else(|| reversing_particle_in_name(words).map(str::to_owned))
        .or_else(|| described.and_then(|verb| reversing_particle(verb, &opening)).map(str::to_owned))
        .or_else(|| queries.then(database).flatten().map(str::to_owned))
        .or_else(|| text::changing_word(summary, description))
        .or_else(|| text::program_word(summary))
        .or_else(|| text::program_word(description))
}
