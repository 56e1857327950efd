//! Classifies HTTP operations: by the method first, then by the verb of the name, the shape of the path and the
//! summary.

use super::path::PathShape;
use super::prose::{self, Opening, Prose};
use super::{ClassificationDraft, Confidence, Evidence, EvidenceKind, NameAndPath, text};
use crate::Category;
use crate::Effect;
use crate::names::{
    NameVerb, NameVerbs, action_base, clear_opening_verb, is_object_of_explicit_verb, opening_action,
};
use crate::verbs::{self, Verb, VerbTrait, Weight};
use crate::{is_plural, opening_verb, words};

/// Words at the end of a GET's path that mean it changes something.
const CHANGING_PATH_WORDS: [&str; 7] =
    ["activate", "confirm", "connect", "refresh", "reload", "reset", "sync"];

/// A sign that a request changes something.
struct ChangeSign {
    word: String,
    effect: Effect,
    kind: EvidenceKind,
}

/// The evidence that the rules use, split once.
struct HttpEvidence<'a> {
    evidence: &'a Evidence<'a>,
    method: &'a str,
    parts: &'a [Vec<String>],
    name: NameVerbs,
    shape: &'a PathShape,
}

pub(super) fn classify_request(
    evidence: &Evidence<'_>,
    words: &NameAndPath,
    method: &str,
) -> ClassificationDraft {
    let http = HttpEvidence::new(evidence, words, method);
    match method {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY" => http.get(),
        "PUT" => http.put(),
        "PATCH" => http.patch(),
        "DELETE" => http.delete(),
        _ => http.post(),
    }
}

/// Returns what contradicts the statement that a request only reads.
pub(super) fn contradiction(evidence: &Evidence<'_>, words: &NameAndPath, method: &str) -> Option<String> {
    let http = HttpEvidence::new(evidence, words, method);
    let found = |verb: &Verb, kind: EvidenceKind| format!("'{}' in its {}", verb.word, kind.as_str());
    match method {
        "GET" | "HEAD" | "OPTIONS" | "TRACE" | "QUERY" => {
            http.get_that_changes().map(|sign| format!("'{}' in its {}", sign.word, sign.kind.as_str()))
        }
        "POST" => {
            let described_as_read =
                http.summary_verb().is_some_and(|verb| verb.reads() || verb.word == "return");
            let acts = |verb: &&'static Verb| {
                verb.acts() && !matches!(verb.word, "execute" | "generate" | "perform" | "submit" | "invoke")
            };
            let lead = http.name.lead.filter(|found| leads(http.parts, found)).map(|found| found.verb);
            lead.filter(acts).filter(|_| !described_as_read).map(|verb| found(verb, EvidenceKind::Name))
        }
        _ => Some(format!("the method {method}")),
    }
}

/// Returns whether a POST may be a read.
pub(super) fn may_read(evidence: &Evidence<'_>) -> bool {
    let words = NameAndPath::of(evidence);
    let http = HttpEvidence::new(evidence, &words, "POST");
    http.read_evidence().count() > 0 && http.objection().is_none()
}

/// Returns the name without the method that generators add to it: `GET_DeleteTags`, `postUsers`, `listUsingGET_1`.
#[must_use]
pub fn strip_method<'n>(name: &'n str, method: Option<&str>) -> &'n str {
    let Some(method) = method else { return name };
    let name = match name.rsplit_once(['_', '-']) {
        Some((rest, number)) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            rest
        }
        _ => name,
    };
    let name = match split_trailing_method(name, method) {
        Some((rest, word))
            if word.bytes().all(|byte| byte.is_ascii_uppercase()) && rest.ends_with("Using") =>
        {
            rest.strip_suffix("Using").unwrap_or(rest)
        }
        _ => name,
    };
    let name = match name.split_at_checked(method.len()) {
        Some((word, rest)) if word.eq_ignore_ascii_case(method) && echoes_method(word, rest) => rest,
        _ => name,
    };
    let name = match split_trailing_method(name, method) {
        Some((rest, word))
            if rest.len() > 1 && rest.ends_with(['_', '-', '.']) && echoes_method(word, "__") =>
        {
            rest.trim_end_matches(['_', '-', '.'])
        }
        _ => name,
    };
    name.trim_start_matches(['_', '-', '/', '.'])
}

/// Returns whether a word is only the method. `get` and `delete` are usual verbs unless they are upper case; `post` is
/// rarely a real verb.
fn echoes_method(word: &str, rest: &str) -> bool {
    let bare = rest.len() > 1 && !rest.starts_with(|ch: char| ch.is_ascii_lowercase());
    let upper_case = word.bytes().all(|byte| byte.is_ascii_uppercase());
    bare && (upper_case || ["post", "put", "patch"].iter().any(|method| word.eq_ignore_ascii_case(method)))
}

/// Splits off the method at the end of a name. Returns the rest and the method as written.
fn split_trailing_method<'n>(name: &'n str, method: &str) -> Option<(&'n str, &'n str)> {
    let (rest, word) = name.split_at_checked(name.len().checked_sub(method.len())?)?;
    word.eq_ignore_ascii_case(method).then_some((rest, word))
}

impl<'a> HttpEvidence<'a> {
    fn new(evidence: &'a Evidence<'a>, words: &'a NameAndPath, method: &'a str) -> HttpEvidence<'a> {
        let mut name = words.name;
        // A possible noun in the middle counts as a noun, and so does a word after the method: `patchVolumeClaim`.
        let after_method = strip_method(evidence.name, Some(method)).len() < evidence.name.len();
        name.lead = name.lead.filter(|found| {
            let is_certain = match found.verb.weight {
                Weight::Weak => false,
                _ => !after_method || found.verb.has(VerbTrait::NeverNoun),
            };
            is_certain || leads(&words.parts, found)
        });
        let http = HttpEvidence { evidence, method, name, parts: &words.parts, shape: &words.shape };
        http.without_nouns(after_method)
    }

    /// Removes a verb that is a noun here: `alertPolicy` with the summary "Update alert policy", and `PostCheckoutSessions` with
    /// "Creates a session".
    fn without_nouns(mut self, after_method: bool) -> HttpEvidence<'a> {
        let explicit = self.summary_verb().filter(|verb| verb.has(VerbTrait::NeverNoun) && !verb.reads());
        let text = self.summary();
        // `PostLinkTokens` of `/link_tokens`
        let collection = Some(&self.shape.last).filter(|words| words.len() > 1);
        let collection = collection.filter(|words| words.last().is_some_and(|word| is_plural(word)));
        let starts_collection =
            |verb: &str| collection.is_some_and(|words| words.first().is_some_and(|word| word == verb));
        let is_noun = |verb: &Verb| {
            let is_other = explicit.is_some_and(|explicit| explicit.word != verb.word);
            (after_method && (is_other || starts_collection(verb.word)))
                || is_object_of_explicit_verb(verb.word, text)
        };
        self.name.lead =
            self.name.lead.filter(|found| found.verb.weight != Weight::Weak || !is_noun(found.verb));
        self
    }

    /// Returns the summary, or else the description.
    fn summary(&self) -> &'a str {
        if self.evidence.summary.is_empty() { self.evidence.description } else { self.evidence.summary }
    }

    fn lead(&self) -> Option<&'static Verb> {
        self.name.lead.map(|found| found.verb)
    }

    /// Reads the summary and the description.
    fn prose(&self) -> Prose {
        let text = prose::split_description(prose::truncate(self.evidence.description));
        prose::read_both(self.evidence.summary, &text)
    }

    /// Reads the summary and the first sentence of the description, which is enough for most requests.
    fn opening_prose(&self) -> Prose {
        let first = crate::first_sentence(self.evidence.description);
        prose::read_both(self.evidence.summary, &prose::split_description(prose::truncate(first)))
    }

    fn summary_verb(&self) -> Option<&'static Verb> {
        opening_verb(self.summary())
    }

    fn draft(&self, effect: Effect, confidence: Confidence) -> ClassificationDraft {
        ClassificationDraft::new(effect, confidence).with_reason(EvidenceKind::Http, self.method)
    }

    fn get(&self) -> ClassificationDraft {
        if let Some(ChangeSign { word, effect, kind }) = self.get_that_changes() {
            return self
                .draft(effect, Confidence::Low)
                .with_reason(kind, format!("'{word}' changes something"))
                .review(format!("it is a {}, but '{word}' changes something; is it a read?", self.method))
                .confidence(Confidence::Low);
        }
        // If every call has a name, its first word is a verb, known or not.
        let first_word = self.parts.last().and_then(|part| part.first()).filter(|_| self.shape.rpc);
        if let Some(word) = first_word.filter(|word| verbs::verb(word).is_none_or(|verb| !verb.reads())) {
            return self
                .draft(Effect::Execute, Confidence::Low)
                .with_reason(EvidenceKind::Name, format!("the call is named '{word} …'"))
                .review(format!("it is a {}, but '{word}' is not a known read; is it a read?", self.method))
                .confidence(Confidence::Low);
        }
        if let Some(word) = self.unknown_verb_of_get() {
            return self
                .draft(Effect::Execute, Confidence::Low)
                .with_reason(EvidenceKind::Name, format!("'{word}' is an action"))
                .review(format!("it is a {}, but '{word}' is not a known read; is it a read?", self.method))
                .confidence(Confidence::Low);
        }
        match self.lead() {
            Some(verb) if verb.reads() => self
                .draft(Effect::Read, Confidence::High)
                .with_reason(EvidenceKind::Name, format!("'{}' reads", verb.word)),
            Some(verb) if verb.weight == Weight::Strong => self
                .draft(Effect::Read, Confidence::Medium)
                .with_reason(EvidenceKind::Name, format!("'{}' is the verb of the name", verb.word)),
            _ => self.draft(Effect::Read, Confidence::High),
        }
    }

    /// Returns a verb with an object that starts the name of a GET and that the table does not have, if no text says that it
    /// reads: `recoverGroup`.
    fn unknown_verb_of_get(&self) -> Option<&str> {
        let [first, _, ..] = self.parts.last()?.as_slice() else { return None };
        let is_unknown = verbs::verb(first).is_none() && verbs::is_verb(first) && !is_plural(first);
        if !is_unknown || self.lead().is_some_and(Verb::reads) {
            return None;
        }
        let prose = self.opening_prose();
        let described_as_read = matches!(prose.opening, Opening::Reads(_) | Opening::Returns)
            || self
                .summary_verb()
                .is_some_and(|verb| verb.category() == Category::Read || verb.word == "return");
        let is_verb = match self.summary() {
            "" => !self.shape.last.contains(first) && !self.shape.before.contains(first),
            text => opening_action(text).as_ref() == Some(first) || is_before_object(first, text),
        };
        (!described_as_read && is_verb).then_some(first)
    }

    /// Returns the sign that a GET changes something: a verb in its name or its path, or what its text says first.
    fn get_that_changes(&self) -> Option<ChangeSign> {
        let sign = |(verb, kind): (&'static Verb, EvidenceKind)| ChangeSign {
            word: verb.word.to_owned(),
            effect: verb.effect,
            kind,
        };
        let by_verb = self.changing_verb();
        let named_as_read = self.lead().is_some_and(Verb::reads);
        if by_verb.is_none() && (named_as_read || self.shape.rpc) {
            return None;
        }
        let prose = self.opening_prose();
        match by_verb {
            // The text may show that the verb is a noun: `requestUser`, `login_list`.
            Some((verb, kind)) => {
                let described =
                    matches!(prose.opening, Opening::Reads(_) | Opening::Returns) && prose.writes.is_none();
                let is_noun = verb.weight != Weight::Strong || matches!(verb.word, "login" | "send" | "stop");
                (!(described && is_noun) || self.shape.rpc).then(|| sign((verb, kind)))
            }
            None => {
                // "Manage notes", "Redirects to …", "Sends events" are said of reads, too.
                let vague = [
                    "manage", "redirect", "send", "inform", "execute", "run", "import", "add", "block",
                    "invoke", "perform", "apply", "call",
                ];
                let phrase = prose.writes.filter(|phrase| {
                    phrase.opens && !vague.iter().any(|verb| phrase.text.starts_with(verb))
                })?;
                Some(ChangeSign { word: phrase.text, effect: phrase.effect, kind: EvidenceKind::Summary })
            }
        }
    }

    /// Returns the verb by which a GET changes something: in its name, its path or its summary.
    fn changing_verb(&self) -> Option<(&'static Verb, EvidenceKind)> {
        // A GET returns what it generates.
        let acts = |verb: &&'static Verb| verb.acts() && verb.word != "generate";
        let summary = self.summary_verb();
        let described_as_read = summary.is_some_and(|verb| verb.reads() || verb.word == "return");
        if let Some(second) = self.name.second.filter(|found| self.name.compound && found.verb.acts()) {
            return Some((second.verb, EvidenceKind::Name));
        }
        // A `get` at the start of a name may only repeat the method.
        let named_as_read = self.lead().is_some_and(|lead| lead.reads() && lead.word != "get");
        if let Some(verb) = self.shape.verb().filter(acts) {
            return (!described_as_read && !named_as_read).then_some((verb, EvidenceKind::Path));
        }
        if let Some(verb) = self.lead().filter(acts) {
            return (!described_as_read).then_some((verb, EvidenceKind::Name));
        }
        // A weaker verb counts if it starts the name before its object, or is a call of its own (`views.open`). The
        // summary may overrule it, unless all calls of the API have names.
        let weaker = self.name.lead.filter(|found| {
            let rest = self.parts.get(found.part).map_or(0, Vec::len);
            let is_verb = leads(self.parts, found) && (rest > 1 || self.parts.len() > 1);
            is_verb && found.verb.effect.category() != Category::Read && found.verb.word != "generate"
        });
        if let Some(found) = weaker.filter(|_| !described_as_read || self.shape.rpc) {
            return Some((found.verb, EvidenceKind::Name));
        }
        // `/views.open`: the call is after the dot.
        let called = self.evidence.path.and_then(|path| path.rsplit('/').next()?.rsplit_once('.'));
        let called = called.and_then(|(_, call)| verbs::verb(words(call).first()?));
        if let Some(verb) =
            called.filter(|verb| verb.effect.category() != Category::Read && !described_as_read)
        {
            return Some((verb, EvidenceKind::Path));
        }
        if let Some(word) = self.shape.last.last().filter(|word| CHANGING_PATH_WORDS.contains(&word.as_str()))
            && let Some(verb) = verbs::verb(word).filter(|_| !described_as_read && self.shape.last.len() == 1)
        {
            return Some((verb, EvidenceKind::Path));
        }
        // "Invoke function …" and "Performs a search" say nothing about the effect.
        let is_vague = |verb: &Verb| matches!(verb.word, "invoke" | "perform" | "execute" | "apply");
        summary
            .filter(|verb| acts(verb) && !is_vague(verb) && !named_as_read)
            .map(|verb| (verb, EvidenceKind::Summary))
    }

    /// Returns the kinds of evidence that a POST only reads. Two with the same words count once.
    fn read_evidence(&self) -> impl Iterator<Item = (EvidenceKind, String)> {
        let name = self.name.lead.filter(|found| found.verb.has(VerbTrait::Queries) && self.leads(found));
        let name = name.map(|found| found.verb);
        let path =
            self.shape.verb().filter(|verb| verb.has(VerbTrait::Queries)).or_else(|| self.search_segment());
        let summary = self
            .summary_verb()
            .filter(|verb| verb.has(VerbTrait::Queries) || matches!(verb.word, "return" | "show" | "view"));
        let last = self.parts.last();
        // A path that is the operation's name (`/#Action=ListTables`), or a summary that repeats it, is not further
        // evidence.
        let path_echoes =
            last.is_some_and(|words| *words == self.shape.last && (words.len() > 1 || self.shape.rpc));
        let summary_words = words(self.evidence.summary);
        let summary_echoes = !summary_words.is_empty() && self.parts.concat() == summary_words;
        let answer = self.evidence.answers_collection == Some(true);
        let name = name.filter(|_| !(path_echoes && path.is_some()));
        let summary = summary.filter(|_| !(summary_echoes && (name.is_some() || path_echoes)));
        [
            path.map(|verb| (EvidenceKind::Path, format!("'{}' in the path", verb.word))),
            name.map(|verb| (EvidenceKind::Name, format!("'{}' in the name", verb.word))),
            summary.map(|verb| (EvidenceKind::Summary, format!("'{}' in the summary", verb.word))),
            answer.then(|| (EvidenceKind::Answer, "it returns a list".to_owned())),
        ]
        .into_iter()
        .flatten()
    }

    /// Returns whether the verb starts its part of the name, or ends both the name and the path (`filesSearch`).
    fn leads(&self, found: &NameVerb) -> bool {
        let part = self.parts.get(found.part);
        let ends =
            part.is_some_and(|part| found.word + 1 == part.len() && self.shape.last.last() == part.last());
        ends || leads(self.parts, found)
    }

    /// Returns the verb of `/search/users`, which is before its object.
    fn search_segment(&self) -> Option<&'static Verb> {
        let [word] = self.shape.before.as_slice() else { return None };
        (word == "search" && !self.shape.item && !self.shape.under_item)
            .then(|| verbs::verb("search"))
            .flatten()
    }

    /// Returns why a POST that seems to read may not be a read.
    fn objection(&self) -> Option<(EvidenceKind, String)> {
        let checks_in_or_out = |part: &[String]| {
            part.windows(2).any(
                |pair| matches!(pair, [verb, particle] if verb == "check" && matches!(particle.as_str(), "in" | "out")),
            )
        };
        if self.parts.iter().any(|part| checks_in_or_out(part)) || checks_in_or_out(&self.shape.last) {
            return Some((EvidenceKind::Name, "checking in or out changes something".to_owned()));
        }
        let suspicious = |word: &str| format!("'{word}' suggests a write");
        let other = |verb: &&'static Verb| {
            !(verb.has(VerbTrait::Queries) || (verb.reads() && verb.weight == Weight::Weak))
        };
        if let Some(verb) = self.lead().filter(other) {
            return Some((EvidenceKind::Name, suspicious(verb.word)));
        }
        if let Some(verb) = self.shape.verb().filter(other) {
            return Some((EvidenceKind::Path, suspicious(verb.word)));
        }
        if self.shape.bare_query() {
            return Some((EvidenceKind::Path, "a query in a query language can write".to_owned()));
        }
        let described = self.summary_verb().filter(|verb| !verb.reads() && verb.word != "return");
        if let Some(verb) = described {
            return Some((EvidenceKind::Summary, suspicious(verb.word)));
        }
        let in_name = self.parts.iter().find_map(|part| text::side_effect_word_in(part));
        in_name
            .map(|word| (EvidenceKind::Name, suspicious(word)))
            .or_else(|| {
                text::side_effect_word_in(&self.shape.last).map(|word| (EvidenceKind::Path, suspicious(word)))
            })
            .or_else(|| {
                text::side_effect_word(self.evidence.summary, self.evidence.description)
                    .map(|word| (EvidenceKind::Summary, suspicious(&word)))
            })
            .or_else(|| self.prose().writes.map(|phrase| (EvidenceKind::Summary, suspicious(&phrase.text))))
    }

    fn post(&self) -> ClassificationDraft {
        let reads: Vec<(EvidenceKind, String)> = self.read_evidence().collect();
        // The same person writes names and summaries, and a summary alone is prose. So one of the kinds must be the
        // path or the result, and one the path or the name.
        let has = |kinds: [EvidenceKind; 2]| reads.iter().any(|(kind, _)| kinds.contains(kind));
        let enough = reads.len() >= 2
            && has([EvidenceKind::Path, EvidenceKind::Answer])
            && has([EvidenceKind::Path, EvidenceKind::Name]);
        let objection = self.objection();
        if enough && objection.is_none() && self.method == "POST" {
            let confidence = if reads.len() > 2 { Confidence::High } else { Confidence::Medium };
            let computes =
                self.lead().or(self.shape.verb()).is_some_and(|verb| verb.effect == Effect::Compute);
            let effect = if computes { Effect::Compute } else { Effect::Read };
            return reads
                .into_iter()
                .fold(self.draft(effect, confidence), |draft, (kind, text)| draft.with_reason(kind, text));
        }
        let draft = self.post_that_writes();
        if !reads.iter().any(|(kind, _)| *kind != EvidenceKind::Answer) {
            return draft;
        }
        let why = objection.map_or_else(|| "there is only one indication".to_owned(), |(_, text)| text);
        reads
            .into_iter()
            .fold(draft, |draft, (kind, text)| draft.with_reason(kind, text))
            .review(format!("it is probably read-only, but {why}; set its category in the overrides"))
    }

    fn post_that_writes(&self) -> ClassificationDraft {
        let path = self.shape.verb().filter(|verb| verb.effect.category() != Category::Read);
        if self.shape.starts_run()
            && self.lead().is_none_or(|verb| verb.effect.category() == Category::Create)
        {
            return self
                .draft(Effect::Execute, Confidence::Medium)
                .with_reason(EvidenceKind::Path, "items added there are runs");
        }
        let bare = self.shape.bare_verb().filter(|verb| verb.effect.category() != Category::Read);
        if let Some((effect, text)) = self.name.effect()
            && effect.category() != Category::Read
        {
            let generic =
                matches!(self.lead().map(|verb| verb.word), Some("create" | "add" | "post" | "make" | "new"));
            if let Some(verb) = bare.filter(|_| generic) {
                let draft = self.draft(verb.effect, Confidence::Medium);
                return draft.with_reason(EvidenceKind::Path, format!("the path ends in '{}'", verb.word));
            }
            let agrees = path.is_none_or(|verb| verb.effect.category() == effect.category());
            let confidence = if agrees { Confidence::High } else { Confidence::Medium };
            return self.draft(effect, confidence).with_reason(EvidenceKind::Name, text);
        }
        if let Some(verb) = path {
            let draft = self.draft(verb.effect, Confidence::Medium);
            return draft.with_reason(EvidenceKind::Path, format!("the path ends in '{}'", verb.word));
        }
        if self.shape.verb().is_some() {
            return self
                .draft(Effect::Execute, Confidence::Low)
                .with_reason(EvidenceKind::Path, "the path is an action");
        }
        let described = clear_opening_verb(self.summary());
        let changes = |verb: &&Verb| {
            let may_be_noun = verb.has(VerbTrait::Thing) || verb.word == "return";
            verb.acts() || (verb.weight == Weight::Weak && verb.category() != Category::Read && !may_be_noun)
        };
        if let Some(verb) = described.filter(changes) {
            let draft = self.draft(verb.effect, Confidence::Medium);
            return draft.with_reason(EvidenceKind::Summary, format!("'{}' in the summary", verb.word));
        }
        if self.lead().is_some() {
            return self
                .draft(Effect::Execute, Confidence::Low)
                .with_reason(EvidenceKind::Name, "the verb does not tell what it writes");
        }
        if let Some(word) = self.unknown_verb() {
            return self
                .draft(Effect::Execute, Confidence::Medium)
                .with_reason(EvidenceKind::Name, format!("'{word}' is an action"));
        }
        let reads = |verb: &&Verb| {
            verb.word == "return" || (verb.weight != Weight::Weak && verb.category() == Category::Read)
        };
        if let Some(verb) = described.filter(reads) {
            return self.draft(Effect::Execute, Confidence::Low).with_reason(
                EvidenceKind::Summary,
                format!("'{}' in the summary creates nothing", verb.word),
            );
        }
        if self.shape.item {
            return self
                .draft(Effect::Update, Confidence::Medium)
                .with_reason(EvidenceKind::Path, "the path names an existing item");
        }
        let plural = self.shape.last.last().is_some_and(|word| is_plural(word));
        // `POST /reports/mileage`, called `mileage_report`: nothing says that it creates something.
        if !plural && self.method == "POST" && self.summary_verb().is_none() {
            return self
                .draft(Effect::Execute, Confidence::Low)
                .with_reason(EvidenceKind::Name, "neither name nor summary has a verb");
        }
        let confidence = if plural { Confidence::High } else { Confidence::Medium };
        self.draft(Effect::Create, confidence).with_reason(EvidenceKind::Path, "the path names a collection")
    }

    /// Returns a verb that the table does not have: it starts the name or ends the path, and it is a verb in English or starts
    /// the summary.
    fn unknown_verb(&self) -> Option<String> {
        let opening = opening_action(self.summary());
        let starts = self.parts.iter().rev().filter_map(|part| part.first());
        let ends = self.shape.last.first().filter(|_| !self.shape.item);
        let is_known = |word: &String| verbs::verb(word).is_some() || is_plural(word);
        let in_path = |word: &String| self.shape.last.contains(word) || self.shape.before.contains(word);
        let is_noun_at_end = !self.shape.under_item && self.shape.last.len() == 1;
        let mut candidates =
            starts.map(|word| (word, in_path(word))).chain(ends.map(|word| (word, is_noun_at_end)));
        candidates.find_map(|(word, is_noun)| {
            let is_verb = opening.as_ref() == Some(word) || (!is_noun && action_base(word).is_some());
            (is_verb && !is_known(word)).then(|| word.clone())
        })
    }

    /// Classifies a PUT. It sets a state, and setting it twice changes nothing more. With a verb that adds (`add`,
    /// `create`), it is a CREATE that may be repeated. A connection without such a verb is a state that is set.
    fn put(&self) -> ClassificationDraft {
        let set = |text: &str| {
            self.draft(Effect::Set, Confidence::High).with_reason(EvidenceKind::Http, text).idempotent(true)
        };
        let path = self.shape.bare_verb().filter(|verb| verb.effect.category() != Category::Read);
        let lead = self.lead().filter(|verb| verb.word != "put");
        match (self.name.effect(), lead, path) {
            (Some((effect, text)), Some(lead), _) if !matches!(effect.category(), Category::Read) => {
                let effect = match effect {
                    Effect::Create | Effect::Append
                        if self.shape.ends_in_link() || lead.canonical == "add" =>
                    {
                        Effect::Append
                    }
                    // With any name, a PUT replaces existing data.
                    Effect::Create | Effect::Append | Effect::Update => Effect::Set,
                    other => other,
                };
                let is_strong = lead.weight == Weight::Strong;
                let confidence = if is_strong { Confidence::High } else { Confidence::Medium };
                let draft = self.draft(effect, confidence).with_reason(EvidenceKind::Name, text);
                match effect.category() {
                    Category::Execute => draft,
                    _ => draft.idempotent(true),
                }
            }
            (_, Some(lead), _) if lead.reads() && lead.weight == Weight::Strong => {
                set("sets a state").review(format!("it is a PUT, but '{}' reads", lead.word))
            }
            (_, _, Some(verb)) => self
                .draft(verb.effect, Confidence::Medium)
                .with_reason(EvidenceKind::Path, format!("the path ends in '{}'", verb.word)),
            _ if self.shape.ends_in_link() => set("sets a state")
                .with_reason(EvidenceKind::Path, "the path names a connection, which exists or not"),
            _ => set("sets a state"),
        }
    }

    fn patch(&self) -> ClassificationDraft {
        let update = self.draft(Effect::Update, Confidence::High);
        match self.lead() {
            Some(verb) if verb.reads() && verb.weight == Weight::Strong => {
                update.review(format!("it is a PATCH, but '{}' reads", verb.word))
            }
            Some(verb)
                if verb.acts() && !matches!(verb.effect.category(), Category::Update | Category::Create) =>
            {
                self.draft(verb.effect, Confidence::Medium)
                    .with_reason(EvidenceKind::Name, format!("'{}'", verb.word))
            }
            Some(verb) if verb.effect == Effect::Set => self.draft(Effect::Set, Confidence::High),
            _ => match self
                .shape
                .bare_verb()
                .filter(|verb| verb.acts() && verb.effect.category() != Category::Update)
            {
                Some(verb) => self
                    .draft(verb.effect, Confidence::Medium)
                    .with_reason(EvidenceKind::Path, format!("the path ends in '{}'", verb.word)),
                None => update,
            },
        }
    }

    fn delete(&self) -> ClassificationDraft {
        let lead = self.lead();
        match lead {
            Some(verb) if verb.effect == Effect::Unlink => self
                .draft(Effect::Unlink, Confidence::High)
                .with_reason(EvidenceKind::Name, format!("'{}' ends a connection", verb.word)),
            Some(verb) if verb.reads() && verb.weight == Weight::Strong => self
                .draft(Effect::Delete, Confidence::Medium)
                .review(format!("it is a DELETE, but '{}' reads", verb.word)),
            _ if self.shape.ends_in_link() => self
                .draft(Effect::Unlink, Confidence::High)
                .with_reason(EvidenceKind::Path, "the path names a connection"),
            Some(verb) if verb.effect == Effect::SoftDelete => self
                .draft(Effect::SoftDelete, Confidence::High)
                .with_reason(EvidenceKind::Name, format!("'{}'", verb.word)),
            _ => self.draft(Effect::Delete, Confidence::High),
        }
    }
}

/// Returns whether a text uses the word as a verb: "allows a founder to recover a group".
fn is_before_object(word: &str, text: &str) -> bool {
    let words = words(text);
    let object =
        |next: &String| matches!(next.as_str(), "a" | "an" | "the" | "all" | "your" | "their" | "its");
    words.windows(2).any(|pair| matches!(pair, [verb, next] if verb == word && object(next)))
}

fn leads(parts: &[Vec<String>], found: &NameVerb) -> bool {
    let before = parts.get(found.part).into_iter().flatten().take(found.word);
    before.into_iter().all(|word| verbs::is_modifier(word) || word == "deprecated")
}
