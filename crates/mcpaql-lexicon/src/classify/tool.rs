//! Classifies tools without an HTTP method: by their annotations, name and description.
//!
//! Annotations are a claim, and a name is a proposal. If they disagree, the riskier one counts.

use super::prose::{self, Opening, PICTURES, Prose, TEXTS};
use super::{ClassificationDraft, Confidence, Evidence, EvidenceKind, NameAndPath, params, text};
use crate::Category;
use crate::Effect;
use crate::names::NameVerbs;
use crate::verbs::{self, Verb, VerbTrait, Weight, risk};
use crate::{WordSet, is_plural, mentions_verb, singular};

/// Nouns after an action that make it a noun: `send_status`, `start_times`.
static ATTRIBUTE_NOUNS: WordSet = WordSet::of(
    "action activity call candidate code config count date definition detail error event field form history id \
     info job limit list log metadata metric mode name note notification operation option order parameter \
     permission plan point policy queue rate reason report request requirement response result rule run schedule \
     schema script set setting state stats status step summary support task template time timestamp trigger type \
     url usage version window",
);

pub(super) fn classify_tool(evidence: &Evidence<'_>, words: &NameAndPath) -> ClassificationDraft {
    let text = prose::split_description(prose::truncate(evidence.description));
    let prose = words.prose.get_or_init(|| prose::read_both(evidence.summary, &text));
    let tool = ToolEvidence { evidence, words, prose, entries: &text.entries };
    let hints = evidence.annotations;
    let draft = match hints.read_only {
        Some(true) if hints.destructive == Some(true) => contradictory(tool.proposal()),
        Some(true) => tool.annotated_read(),
        Some(false) => annotated_write(tool.proposal()),
        None => match tool.without_annotations() {
            draft if hints.destructive == Some(true) && is_read(&draft) => {
                ClassificationDraft::new(Effect::Execute, Confidence::Medium)
                    .with_reason(EvidenceKind::Annotation, "annotated as destructive")
                    .review("its name says that it reads, but it is annotated as destructive")
            }
            draft => draft,
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

/// Returns what contradicts the statement that a tool only reads: its verb, or another sign in its name or description.
pub(super) fn contradiction(evidence: &Evidence<'_>, words: &NameAndPath) -> Option<String> {
    let text = prose::split_description(prose::truncate(evidence.description));
    let prose = words.prose.get_or_init(|| prose::read_both(evidence.summary, &text));
    let tool = ToolEvidence { evidence, words, prose, entries: &text.entries };
    let acts = tool
        .lead()
        .filter(|verb| verb.acts() && !verb.has(VerbTrait::Making) && tool.claim() == NameClaim::Writes);
    let by_verb = acts.map(|verb| format!("'{}' in its name", verb.word));
    by_verb.or_else(|| tool.name_sign().or_else(|| tool.description_sign()).map(|sign| sign.text))
}

fn is_read(draft: &ClassificationDraft) -> bool {
    draft.effect.category() == Category::Read
}

/// A sign that an operation changes something.
struct WriteSign {
    kind: EvidenceKind,
    text: String,
    effect: Effect,
}

impl WriteSign {
    /// Returns the effect of a tool with this sign. A read that also writes is an execution.
    fn effect(&self) -> Effect {
        if self.kind == EvidenceKind::Name { self.effect } else { Effect::Execute }
    }
}

/// The evidence about a tool, read once.
struct ToolEvidence<'a> {
    evidence: &'a Evidence<'a>,
    words: &'a NameAndPath,
    prose: &'a Prose,
    /// The parameters that the description describes.
    entries: &'a [(&'a str, &'a str)],
}

impl ToolEvidence<'_> {
    fn lead(&self) -> Option<&'static Verb> {
        self.words.name.lead.map(|found| found.verb)
    }

    /// Returns the effect that the name proposes, else the description.
    fn proposal(&self) -> Option<ClassificationDraft> {
        self.by_name().or_else(|| self.by_description())
    }

    fn by_description(&self) -> Option<ClassificationDraft> {
        let (effect, text) = match (&self.prose.writes, self.prose.opening) {
            (Some(phrase), _) => (phrase.effect, format!("the description says '{}'", phrase.text)),
            (None, Opening::Reads(_) | Opening::Returns) => {
                (Effect::Read, "the description says that it reads".to_owned())
            }
            (None, _) => return None,
        };
        Some(ClassificationDraft::new(effect, Confidence::Low).with_reason(EvidenceKind::Summary, text))
    }

    /// Returns the first sign of a write outside the main verb of the name.
    fn write_sign(&self) -> Option<WriteSign> {
        self.name_sign()
            .or_else(|| self.description_sign())
            .or_else(|| self.param_sign())
            .or_else(|| self.answer_sign())
            .or_else(|| self.program_sign().filter(|_| self.evidence.annotations.read_only.is_none()))
    }

    fn answer_sign(&self) -> Option<WriteSign> {
        let common =
            |verb: &Verb| verb.has(VerbTrait::Common) || matches!(verb.word, "search" | "query" | "describe");
        let reads_record = self.lead().is_some_and(|verb| verb.reads() && common(verb));
        let field = params::changed_field(self.evidence.answer, reads_record)?;
        let text = format!("'{field}' in its answer");
        Some(WriteSign { kind: EvidenceKind::Answer, text, effect: Effect::Execute })
    }

    fn name_sign(&self) -> Option<WriteSign> {
        let sign = |text: &str, effect| WriteSign {
            kind: EvidenceKind::Name,
            text: format!("'{text}' in its name"),
            effect,
        };
        let joined = self.words.name.second.filter(|found| self.words.name.compound && found.verb.writes());
        joined
            .map(|found| found.verb)
            .or_else(|| later_changing_verb(self.words))
            .map(|verb| sign(verb.word, verb.effect))
            .or_else(|| self.glued_verb().map(|verb| sign(verb.word, verb.effect)))
            .or_else(|| joined_action(self.words).map(|word| sign(word, Effect::Execute)))
            .or_else(|| self.queried_database().map(|word| sign(word, Effect::Execute)))
            .or_else(|| self.exclusive_thing().map(|word| sign(word, Effect::Execute)))
            .or_else(|| {
                reversing_particle_in_name(self.words).map(|particle| sign(particle, Effect::Execute))
            })
    }

    /// Returns a writing verb that is written together with its object or another verb: `deleteuser`, `getdel`.
    fn glued_verb(&self) -> Option<&'static Verb> {
        let words = || self.words.parts.iter().flatten();
        let glued = words().find_map(|word| verbs::glued(word)).filter(|verb| verb.writes());
        glued.or_else(|| words().find_map(|word| verbs::glued_command(word)))
    }

    /// Returns a verb that the main table does not have, at the start or the end of the name: `cordon_node`.
    fn further_verb(&self) -> Option<&'static Verb> {
        let parts = || self.words.parts.iter().rev();
        let first = parts().find_map(|part| {
            let verb = verbs::further(part.first()?)?;
            (verb.acts() || part.len() > 1).then_some(verb)
        });
        let last = || parts().find_map(|part| verbs::further(part.last()?)).filter(|verb| verb.acts());
        first.or_else(last)
    }

    /// Returns the database that the name queries. The caller writes the query, which may do anything.
    fn queried_database(&self) -> Option<&str> {
        let queries = self.lead().is_some_and(|verb| verb.word == "query") && !self.prose.denies;
        let is_database = |word: &&str| matches!(*word, "database" | "db" | "graphql" | "sql");
        let in_name = self.words.parts.iter().flatten().map(String::as_str).find(is_database);
        let opens = || {
            let mut words = self.evidence.description.split(|ch: char| !ch.is_alphanumeric()).take(8);
            words.find(|word| is_database(&word.to_lowercase().as_str()))
        };
        if queries { in_name.or_else(opens) } else { None }
    }

    /// Returns a thing that only one caller has at a time: getting it takes it.
    fn exclusive_thing(&self) -> Option<&str> {
        let gets = self.lead().is_some_and(|verb| verb.canonical == "get");
        let last = self.words.parts.last()?.last()?;
        let is_exclusive = matches!(last.as_str(), "lease" | "lock" | "mutex" | "semaphore" | "turn");
        // "Shows who holds a lock."
        let looks = matches!(self.prose.opening, Opening::Reads(_));
        (gets && is_exclusive && !looks).then_some(last.as_str())
    }

    /// Returns whether the description is an action in the words of the name: "Swipe on the screen".
    fn describes_gesture(&self) -> bool {
        let mut words = self.evidence.description.split_whitespace();
        let first = words.next().unwrap_or_default().to_ascii_lowercase();
        let has_place =
            words.next().is_some_and(|word| matches!(word, "at" | "in" | "into" | "on" | "onto" | "to"));
        let in_name = || self.words.parts.iter().flatten().any(|word| *word == first);
        has_place && verbs::further(&first).is_some() && in_name()
    }

    fn description_sign(&self) -> Option<WriteSign> {
        let phrase = self.prose.writes.as_ref()?;
        // "Runs a SELECT statement; others are rejected."
        let runs = ["run", "execute", "perform", "evaluate"].iter().any(|verb| phrase.text.starts_with(verb));
        if runs && self.prose.selects_only {
            return None;
        }
        let text = format!("'{}' in its description", phrase.text);
        Some(WriteSign { kind: EvidenceKind::Summary, text, effect: phrase.effect })
    }

    /// A program that the caller writes: "with your own script".
    fn program_sign(&self) -> Option<WriteSign> {
        // Without a parameter for it, the program is stored elsewhere: "saved queries".
        let params = self.evidence.params;
        if !params.is_empty() && !params.iter().any(params::may_hold_program) {
            return None;
        }
        let looks = matches!(self.lead().map(|verb| verb.effect), Some(Effect::Compute));
        // "Your query" is a program only if it is run.
        let runs = self.prose.runs || self.lead().is_some_and(|verb| verb.word == "query");
        let is_run = |word: &String| {
            runs || !matches!(word.as_str(), "query" | "queries" | "expression" | "expressions" | "code")
        };
        let word = text::open_ended_program(self.evidence.description)
            .filter(|word| !self.prose.denies && !looks && is_run(word))?;
        let text = format!("'{word}' of the caller in its description");
        Some(WriteSign { kind: EvidenceKind::Summary, text, effect: Effect::Execute })
    }

    fn param_sign(&self) -> Option<WriteSign> {
        let Evidence { params, description, .. } = self.evidence;
        let found = params::changing_param(params, self.entries, self.lead(), self.prose, description)?;
        Some(WriteSign { kind: EvidenceKind::Parameter, text: found.text, effect: found.effect })
    }

    /// Classifies a tool that is annotated as read-only. The annotation counts unless the name, where it cannot be a
    /// noun, the description or a parameter says that the tool changes something.
    fn annotated_read(&self) -> ClassificationDraft {
        const REASON: &str = "annotated as read-only";
        let proposal = self.by_name();
        let annotated = |draft: ClassificationDraft| draft.with_reason(EvidenceKind::Annotation, REASON);
        let verbs =
            [self.words.name.lead, self.words.name.second].into_iter().flatten().map(|found| found.verb);
        let further = self.further_verb().filter(|_| self.lead().is_none());
        let changing = verbs.chain(further).filter(|verb| verb.writes());
        let makes = |verb: &Verb| verb.has(VerbTrait::Making);
        let certainly = |verb: &'static Verb| match verb.weight {
            Weight::Strong => !makes(verb),
            Weight::Weak | Weight::Doubtful => {
                verb.has(VerbTrait::Acting) && mentions_verb(self.evidence.description, verb)
            }
        };
        // A weak verb is a verb if the description does not read either: "Takes a thread out of the inbox".
        let harms = |verb: &Verb| {
            verb.has(VerbTrait::Acting)
                || matches!(verb.word, "select" | "set")
                || matches!(
                    verb.effect,
                    Effect::Delete | Effect::SoftDelete | Effect::Unlink | Effect::Move | Effect::Send
                )
        };
        let acts = |verb: &'static Verb| {
            certainly(verb)
                || (verb.weight == Weight::Weak
                    && harms(verb)
                    && (self.prose.opening == Opening::Other || self.is_bare_verb(verb)))
        };
        match proposal {
            Some(draft)
                if self.claim() == NameClaim::Writes && !is_read(&draft) && changing.clone().any(acts) =>
            {
                return annotated(draft)
                    .review("it is annotated as read-only, but its name suggests a write");
            }
            _ => {}
        }
        if let Some(sign) = self.write_sign() {
            let draft = ClassificationDraft::new(sign.effect(), Confidence::Medium)
                .with_reason(sign.kind, sign.text.clone());
            return annotated(draft)
                .review(format!("it is annotated as read-only, but {} suggests a write", sign.text));
        }
        let mut draft = match by_name(&self.words.name).filter(is_read) {
            Some(draft) => annotated(draft),
            None => annotated(ClassificationDraft::new(Effect::Read, Confidence::Medium)),
        };
        draft.confidence = draft.confidence.max(Confidence::Medium);
        // The annotation settles doubts about the name.
        draft.review = None;
        match changing.clone().find(|verb| makes(verb)) {
            Some(verb) => draft
                .review(format!("it is annotated as read-only, but '{}' may store its result", verb.word)),
            None => draft,
        }
    }

    /// Classifies a tool without annotations. It is a read if its name or its description says so and nothing
    /// contradicts it.
    fn without_annotations(&self) -> ClassificationDraft {
        let named = self.by_name();
        let claim = self.claim();
        if claim == NameClaim::Writes {
            return named.unwrap_or_else(unknown);
        }
        if let Some(sign) = self.write_sign() {
            let effect =
                named.filter(|draft| !is_read(draft)).map_or_else(|| sign.effect(), |draft| draft.effect);
            return ClassificationDraft::new(effect, Confidence::Medium)
                .with_reason(sign.kind, sign.text.clone())
                .review(format!("it seems to read, but {} suggests a write", sign.text));
        }
        let (prose, opening) = (self.prose, self.prose.opening);
        let described = matches!(opening, Opening::Reads(_) | Opening::Returns);
        let pure = opening == Opening::Computes && params::has_payload(self.evidence.params);
        let in_answer = |verb: &str| match verb {
            "generate" => claim == NameClaim::Reads || prose.makes_text,
            "download" | "export" => claim == NameClaim::Reads,
            _ => false,
        };
        let computes =
            pure || matches!(opening, Opening::Doubtful(verb) if !leaves_a_file(verb) || in_answer(verb));
        // A clear name, and a later statement that agrees: "Catches wrong types. It returns the problems."
        let agrees =
            opening == Opening::Other && prose.says_read && self.lead().is_some_and(|verb| verb.reads());
        let names_thing = opening == Opening::Phrase
            && (prose.names_thing || self.restates_name())
            && !self.describes_gesture();
        let derives = names_thing && self.derives_text();
        let reads = prose.doubt.is_none()
            && match claim {
                NameClaim::Reads => described || computes || agrees || opening == Opening::Phrase,
                NameClaim::Unclear => computes || derives || matches!(opening, Opening::Reads(_)),
                NameClaim::Nothing => {
                    described
                        || computes
                        || derives
                        || (names_thing && !params::has_payload(self.evidence.params))
                }
                NameClaim::Computes("generate") => !matches!(opening, Opening::Missing | Opening::Other),
                NameClaim::Computes(verb) => {
                    (described || matches!(opening, Opening::Doubtful(_)) || names_thing)
                        && (!leaves_a_file(verb) || prose.answers)
                }
                NameClaim::Runs => prose.selects_only || matches!(opening, Opening::Reads(_)),
                NameClaim::Writes => false,
            };
        let by_author =
            self.evidence.named_by_author && opening == Opening::Missing && claim == NameClaim::Reads;
        let named_read = named.filter(is_read);
        if reads || by_author {
            let mut draft =
                named_read.unwrap_or_else(|| ClassificationDraft::new(Effect::Read, Confidence::Medium));
            if described || computes || names_thing {
                draft = draft.with_reason(EvidenceKind::Summary, "the description says that it reads");
            }
            draft.review = None;
            return draft.confidence(Confidence::Medium);
        }
        match named_read {
            Some(draft) => {
                let review = match &prose.doubt {
                    Some(phrase) => {
                        format!("it seems to read, but '{phrase}' in its description may be a write")
                    }
                    None if opening == Opening::Missing => "only its name says that it reads".to_owned(),
                    None => "its name says that it reads, but its description does not".to_owned(),
                };
                draft.review(review).confidence(Confidence::Low)
            }
            None => self.by_name().unwrap_or_else(unknown),
        }
    }

    /// Returns the effect that the name proposes.
    fn by_name(&self) -> Option<ClassificationDraft> {
        by_name(&self.words.name).or_else(|| {
            let verb = self.further_verb().filter(|verb| verb.acts())?;
            let draft = ClassificationDraft::new(verb.effect, Confidence::Medium);
            Some(draft.with_reason(EvidenceKind::Name, format!("'{}'", verb.word)))
        })
    }

    /// Returns whether a thing that is made is only drawn. A graph or a map may also be stored.
    fn may_draw(&self, lead: &Verb, thing: &str) -> bool {
        !PICTURES.contains(&singular(thing))
            || (lead.has(VerbTrait::Making) && matches!(self.prose.opening, Opening::Doubtful(_)))
    }

    /// Returns whether the description starts with the thing that the name ends with: `reminders_due`, "Reminders due today".
    fn restates_name(&self) -> bool {
        let mut words = self.evidence.description.split(|ch: char| !ch.is_alphanumeric());
        let first =
            words.find(|word| !matches!(word.to_ascii_lowercase().as_str(), "all" | "the" | "a" | "an"));
        let first = first.unwrap_or_default().to_ascii_lowercase();
        let thing = singular(&first);
        is_plural(&first)
            && verbs::inflected(&first).is_none()
            && self.words.parts.iter().flatten().any(|word| singular(word) == thing)
    }

    /// Returns whether the name is a verb that only derives a text from its arguments: `hash_text`.
    fn derives_text(&self) -> bool {
        let first = self.words.parts.last().and_then(|part| part.first()).map_or("", String::as_str);
        matches!(
            first,
            "hash"
                | "digest"
                | "format"
                | "slugify"
                | "diff"
                | "normalize"
                | "normalise"
                | "tokenize"
                | "count"
        )
    }

    /// Returns whether the verb starts the name.
    fn leads(&self) -> bool {
        self.words.name.lead.is_some_and(|found| found.word == 0)
    }

    /// Returns whether a weak verb of the name has an object, and the description does not read: `archive_thread`.
    fn is_bare_verb(&self, verb: &Verb) -> bool {
        let name = words_from_verb(self.words);
        let object = name
            .filter(|(lead, name)| lead.word == verb.word && name.len() > 1)
            .and_then(|(_, name)| name.last());
        let is_noun = object.is_none_or(|last| ATTRIBUTE_NOUNS.contains(&singular(last)));
        let reads = matches!(self.prose.opening, Opening::Reads(_) | Opening::Returns | Opening::Missing);
        verb.has(VerbTrait::Acting) && !is_noun && !reads && !self.prose.says_read && !self.prose.names_thing
    }

    /// Returns what the name says about the effect.
    fn claim(&self) -> NameClaim {
        let Some(lead) = self.lead() else {
            let further = self.further_verb();
            if further.is_some_and(Verb::acts) && !matches!(self.prose.opening, Opening::Reads(_)) {
                return NameClaim::Writes;
            }
            let unknown =
                self.words.parts.iter().filter_map(|part| part.first()).any(|word| verbs::is_verb(word));
            return if unknown || further.is_some() { NameClaim::Unclear } else { NameClaim::Nothing };
        };
        let last = self.words.parts.last().and_then(|part| part.last()).map_or("", String::as_str);
        let first = self.words.parts.last().and_then(|part| part.first()).map_or("", String::as_str);
        let is_trial = matches!(last, "preview" | "whatif" | "estimate" | "simulation")
            || (matches!(first, "plan" | "preview" | "simulate" | "estimate")
                && self.lead().is_some_and(Verb::writes));
        if is_trial && !self.words.name.compound {
            return NameClaim::Nothing;
        }
        let opening = self.prose.opening;
        match lead.weight {
            Weight::Doubtful => NameClaim::Computes(lead.word),
            _ if by_name(&self.words.name).as_ref().is_some_and(is_read) => match lead.weight {
                Weight::Strong => NameClaim::Reads,
                _ => NameClaim::Nothing,
            },
            _ if self.words.name.compound => NameClaim::Writes,
            _ if makes(lead) && TEXTS.contains(&singular(last)) && self.may_draw(lead, last) => {
                NameClaim::Computes("generate")
            }
            // A noun that looks like a verb: `merge_conflicts`.
            Weight::Strong
                if (matches!(lead.word, "install" | "merge" | "restore" | "update" | "upload")
                    && is_plural(last)
                    || ATTRIBUTE_NOUNS.contains(&singular(last)))
                    && matches!(opening, Opening::Reads(_)) =>
            {
                NameClaim::Nothing
            }
            _ if matches!(lead.word, "execute" | "run" | "perform" | "evaluate" | "submit" | "invoke") => {
                let reads =
                    (matches!(opening, Opening::Reads(_)) && self.prose.opens_first) || self.prose.denies;
                let is_noun = lead.has(VerbTrait::Thing)
                    && opening != Opening::Other
                    && ATTRIBUTE_NOUNS.contains(&singular(last));
                match () {
                    () if is_noun => NameClaim::Nothing,
                    () if reads => NameClaim::Runs,
                    () => NameClaim::Writes,
                }
            }
            Weight::Weak => {
                let is_noun = match opening {
                    Opening::Reads(_) => true,
                    Opening::Returns => lead.has(VerbTrait::Thing),
                    // `open_incidents`, "Incidents nobody has closed"; `resolve_handle`, "User id behind a handle".
                    Opening::Phrase => {
                        (lead.has(VerbTrait::Thing) || lead.has(VerbTrait::Mild)) && self.prose.names_thing
                            || (matches!(lead.word, "clean" | "complete" | "draft" | "empty" | "open")
                                && self.restates_name())
                    }
                    Opening::Doubtful(_) => self.prose.makes_text && !self.leads(),
                    _ => false,
                };
                if is_noun { NameClaim::Nothing } else { NameClaim::Writes }
            }
            Weight::Strong => NameClaim::Writes,
        }
    }
}

/// What a name says about the effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameClaim {
    /// It reads.
    Reads,
    /// It computes something with this verb, which may also store it.
    Computes(&'static str),
    /// It runs something, which may only read.
    Runs,
    /// It has a verb that does not tell the effect: `expand_image`.
    Unclear,
    /// Nothing: it has no verb, or one that is used as a noun.
    Nothing,
    /// It writes.
    Writes,
}

/// Returns whether a verb may leave a file behind instead of answering.
fn leaves_a_file(verb: &str) -> bool {
    matches!(verb, "download" | "export" | "generate" | "regenerate" | "render" | "screenshot" | "transcribe")
}

fn makes(verb: &Verb) -> bool {
    verb.has(VerbTrait::Making) || matches!(verb.word, "build" | "compose" | "draft" | "make")
}

fn unknown() -> ClassificationDraft {
    ClassificationDraft::new(Effect::Execute, Confidence::Low)
        .with_reason(EvidenceKind::Name, "the name has no clear verb")
        .review("its effect is unknown")
}

/// Returns an action that is joined to the verb: `scan_and_quarantine`.
fn joined_action(words: &NameAndPath) -> Option<&str> {
    words.parts.iter().find_map(|part| {
        part.windows(2).find_map(|pair| match pair {
            [and, word] if and == "and" || and == "then" => {
                let reads = verbs::verb(word).is_some_and(|verb| !verb.writes());
                (verbs::is_verb(word) && !reads).then_some(word.as_str())
            }
            _ => None,
        })
    })
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
    if (lead.weight == Weight::Strong && !lead.has(VerbTrait::Homograph)) || lead.word == "preview" {
        return None;
    }
    let later = name.iter().enumerate().skip(1);
    later.filter_map(|(index, word)| Some((index, verbs::verb(word)?))).find_map(|(index, verb)| {
        let ends = index + 1 == name.len() && !matches!(verb.word, "run" | "set" | "store" | "void");
        let changes = verb.acts() || verb.has(VerbTrait::Harming) || (ends && verb.has(VerbTrait::Risky));
        // `list_trash`, `send_status`.
        let is_noun = (lead.word == "list" && index == 1 && verb.weight == Weight::Weak)
            // `list_send_failures`
            || (lead.word == "list" && index + 2 == name.len() && name.last().is_some_and(|last| is_plural(last)))
            || name.get(index + 1).is_some_and(|next| ATTRIBUTE_NOUNS.contains(&singular(next)));
        (changes && !is_noun).then_some(verb)
    })
}

/// Returns a word of a name that changes the meaning of its reading verb. `list_item_as_new` and `list_item_on_market` offer one thing, but `list_items_on_page` reads.
fn reversing_particle_in_name(words: &NameAndPath) -> Option<&str> {
    let (lead, name) = words_from_verb(words)?;
    let offer = || match name {
        [_, one, to, ..] if lead.word == "list" && !is_plural(one) => {
            matches!(to.as_str(), "as" | "on" | "to").then_some(to.as_str())
        }
        _ => None,
    };
    prose::reversing_particle(lead, name).or_else(offer)
}
