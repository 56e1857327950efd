//! Judging a tool that has no method: its hints, its name and its description.
//!
//! Hints are somebody's claim, a name is a proposal. Where they disagree the riskier one counts.

use super::{Confidence, Draft, Evidence, Kind, Words, text};
use crate::Category;
use crate::Effect;
use crate::names::Reading;
use crate::verbs::{self, Trait, Verb, Weight, risk};
use crate::{WordSet, is_plural, opening, opening_verb, singular, tells};
use std::cell::LazyCell;

/// Things that a deed has: before one of these the deed is a noun (`send_status`, `start_times`).
static ABOUT: WordSet = WordSet::of(
    "action activity call candidate code config count date definition detail error event field form history id \
     info job limit list log metadata metric mode name note notification operation option order parameter \
     permission plan point policy queue rate reason report request requirement response result rule run schedule \
     schema script set setting state stats status step summary support task template time timestamp trigger type \
     url usage version window",
);

pub(super) fn judge(evidence: &Evidence<'_>, words: &Words) -> Draft {
    let reading = &words.name;
    let sentence = if evidence.summary.is_empty() { evidence.description } else { evidence.summary };
    let told = opening_verb(sentence);
    let proposal = by_name(reading).or_else(|| by_sentence(told));
    let hints = evidence.annotations;
    let draft = match hints.read_only {
        Some(true) if hints.destructive == Some(true) => contradictory(proposal),
        Some(true) => announced(proposal, words, sentence),
        Some(false) => announced_write(proposal),
        None => match proposal {
            Some(draft) if hints.destructive == Some(true) && reads(&draft) => {
                Draft::new(Effect::Execute, Confidence::Medium)
                    .because(Kind::Annotation, "announced as destructive")
                    .review("its name says that it reads, but it is announced as destructive")
            }
            Some(draft) => unannounced(draft, words, told, evidence),
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
fn announced(proposal: Option<Draft>, words: &Words, sentence: &str) -> Draft {
    let reading = &words.name;
    const SAID: &str = "announced as read-only";
    let Some(draft) = proposal else {
        return Draft::new(Effect::Read, Confidence::Medium).because(Kind::Annotation, SAID);
    };
    if reads(&draft) {
        if let Some(verb) = acts_later(words) {
            return riskier(verb)
                .because(Kind::Annotation, SAID)
                .review(format!("it is announced as read-only, but its name may say '{}'", verb.word));
        }
        let mut draft = draft.because(Kind::Annotation, SAID);
        draft.confidence = draft.confidence.max(Confidence::Medium);
        // Whatever is doubtful about the name is settled by the server's word.
        draft.review = None;
        return draft;
    }
    let verbs = [reading.lead, reading.second].into_iter().flatten().map(|found| found.verb);
    let acting = verbs.filter(|verb| verb.effect.category() != Category::Read);
    let makes = |verb: &Verb| verb.has(Trait::Making);
    let surely = |verb: &'static Verb| match verb.weight {
        Weight::Strong => !makes(verb),
        Weight::Weak | Weight::Doubtful => verb.has(Trait::Acting) && tells(sentence, verb),
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

/// A read whose name has a writing verb that can hardly be a noun.
fn riskier(verb: &Verb) -> Draft {
    Draft::new(verb.effect, Confidence::Medium).because(Kind::Name, format!("'{}'", verb.word))
}

/// The words of the part with the verb, from the verb on.
fn from_lead(words: &Words) -> Option<(&'static Verb, &[String])> {
    let lead = words.name.lead?;
    Some((lead.verb, words.parts.get(lead.part)?.get(lead.word..)?))
}

/// A writing verb behind one that could be a noun, at the end or before its object: `read_receipt_send`,
/// `view_drop_table`, but not `list_start_times`.
fn acts_later(words: &Words) -> Option<&'static Verb> {
    let (lead, name) = from_lead(words)?;
    let has = |text: &str| words.parts.iter().flatten().any(|word| word == text);
    match lead.word {
        "get" if name.get(1).is_some_and(|next| next == "rid") => return verbs::verb("remove"),
        "read" if has("mark") => return verbs::verb("mark"),
        _ => {}
    }
    if lead.weight == Weight::Strong && !lead.has(Trait::Homograph) {
        return None;
    }
    let later = name.iter().enumerate().skip(1);
    later.filter_map(|(index, word)| Some((index, verbs::verb(word)?))).find_map(|(index, verb)| {
        let acts = verb.acts() || verb.has(Trait::Harming);
        let noun = name.get(index + 1).is_some_and(|next| ABOUT.contains(&singular(next)));
        (acts && !noun).then_some(verb)
    })
}

/// Any word of the name, wherever it stands, that writes.
fn writes_anywhere(words: &Words) -> Option<&'static Verb> {
    let all =
        words.parts.iter().flatten().filter_map(|word| verbs::verb(word).or_else(|| verbs::glued(word)));
    let listed = |verb: &Verb| verb.has(Trait::Harming) || verb.has(Trait::Risky);
    all.into_iter().find(|verb| verb.effect.category() != Category::Read && (verb.acts() || listed(verb)))
}

/// What makes another verb of a reading one: `get rid of`, `check out`, `read in`, `list for sale`.
fn turned<'w>(verb: &Verb, words: &'w [impl AsRef<str>]) -> Option<&'w str> {
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
fn name_turned(words: &Words) -> Option<&str> {
    let (lead, name) = from_lead(words)?;
    let offered = || match name {
        [_, one, to, ..] if lead.word == "list" && !is_plural(one) => {
            matches!(to.as_str(), "as" | "on" | "to").then_some(to.as_str())
        }
        _ => None,
    };
    turned(lead, name).or_else(offered)
}

/// Nobody announced anything: a read needs the name and the description to say so, and nothing against it. A name that its
/// author chose does without the description.
fn unannounced(draft: Draft, words: &Words, told: Option<&'static Verb>, evidence: &Evidence<'_>) -> Draft {
    let Some(lead) = words.name.lead.filter(|_| reads(&draft)).map(|found| found.verb) else { return draft };
    if let Some(verb) = acts_later(words) {
        return riskier(verb).review(format!("its name may say '{}' or '{}'", lead.word, verb.word));
    }
    let objection = against(words, told, evidence);
    // A description that says no more than a noun does (`Log`, `Index`) confirms nothing.
    let confirmed =
        told.filter(|verb| lead.weight != Weight::Doubtful && verb.reads() && verb.weight == Weight::Strong);
    match (confirmed, objection) {
        (_, Some(word)) => draft
            .review(format!("its name says that it reads, but '{word}' speaks against it"))
            .confidence(Confidence::Low),
        (Some(verb), None) => draft
            .because(Kind::Summary, format!("the description says '{}'", verb.word))
            .confidence(Confidence::Medium),
        (None, None) if evidence.named_by_author && lead.weight == Weight::Strong => {
            draft.confidence(Confidence::Medium)
        }
        (None, None) => draft.review("only its name says that it reads").confidence(Confidence::Low),
    }
}

/// A word of the name or the description that speaks against a read.
fn against(words: &Words, told: Option<&'static Verb>, evidence: &Evidence<'_>) -> Option<String> {
    let (summary, description) = (evidence.summary, evidence.description);
    let sentence = if summary.is_empty() { description } else { summary };
    // Most sentences speak against nothing that they would have to be taken apart for.
    let opening = LazyCell::new(|| opening(sentence).collect::<Vec<_>>());
    // Whoever queries a whole database writes the query.
    let database = |word: &&str| matches!(*word, "database" | "db" | "graphql" | "sql");
    let queries = words.name.lead.is_some_and(|found| found.verb.word == "query");
    let named = || words.parts.iter().flatten().map(String::as_str);
    let database = || named().chain(opening.iter().map(AsRef::as_ref)).find(database);
    writes_anywhere(words)
        .map(|verb| verb.word.to_owned())
        .or_else(|| name_turned(words).map(str::to_owned))
        .or_else(|| told.and_then(|verb| turned(verb, &opening)).map(str::to_owned))
        .or_else(|| queries.then(database).flatten().map(str::to_owned))
        .or_else(|| text::deed(summary, description))
        .or_else(|| text::program(summary))
        .or_else(|| text::program(description))
}
