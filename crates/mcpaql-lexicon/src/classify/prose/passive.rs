//! Reads passive statements: "the old key is invalidated", "will be marked as read".

use super::lists::{
    ANSWER_NOUNS, API_NOUNS, HABITS, ISSUED, PLAIN_PARTICIPLES, STATES, TIME_UNITS, TOOL_SUBJECTS,
};
use super::reader::Reader;
use super::verb_forms::{is_adverb, is_harmless, participle};
use crate::effect::Effect;
use crate::number::singular;
use crate::verbs::{self, VerbTrait};

/// Adverbs that show that something happens, and is not just a state.
const EVENT_ADVERBS: [&str; 13] = [
    "afterwards",
    "also",
    "automatically",
    "immediately",
    "instantly",
    "irreversibly",
    "permanently",
    "silently",
    "straightaway",
    "subsequently",
    "then",
    "thereafter",
    "thereby",
];
/// Past participles of rare irregular verbs.
const IRREGULAR: [&str; 9] = ["thrown", "driven", "begun", "torn", "shut", "lent", "dealt", "broken", "put"];
/// Receivers of a request: what is sent to one is the question.
const RECEIVERS: [&str; 10] =
    ["api", "apis", "server", "service", "provider", "endpoint", "engine", "backend", "stream", "model"];

impl Reader<'_, '_, '_> {
    /// Reads "is deleted", "will be marked as read". A state such as "is archived" counts only with a sign of an event.
    pub(super) fn read_passive(&mut self, aux: usize, negated: bool) {
        let before = if aux == 0 { "" } else { self.word(aux - 1) };
        let is_modal = self.word(aux) == "be" && before != "will";
        if negated || is_modal {
            return;
        }
        let is_get = matches!(self.word(aux), "get" | "gets");
        // "to get detailed information".
        if is_get && (before == "to" || aux == 0) {
            return;
        }
        let mut index = aux + 1;
        let mut event = before == "will" || self.word(aux) == "gets";
        while is_adverb(self.word(index)) || self.word(index) == "being" {
            let adverb = self.word(index);
            if matches!(adverb, "already" | "being" | "currently") || HABITS.contains(adverb) {
                return;
            }
            event |= EVENT_ADVERBS.contains(&adverb);
            index += 1;
        }
        if self.is_code(index) || self.starts_clause(index) {
            return;
        }
        self.prose.runs |= matches!(self.word(index), "evaluated" | "executed" | "run");
        let word = self.word(index);
        let next = self.word(index + 1);
        if is_get && !(next.is_empty() || self.starts_clause(index + 1) || crate::PREPOSITIONS.contains(next))
        {
            return;
        }
        // "The page is created by X" and "is updated every hour" describe the data.
        let by_tool = || (index + 2..index + 5).any(|at| TOOL_SUBJECTS.contains(self.word(at)));
        let describes =
            (next == "by" && !by_tool()) || next == "on" || HABITS.contains(next) || self.is_repeated(index);
        // "Every lookup is reported to the office."
        let is_recorded = matches!(
            word,
            "reported" | "entered" | "recorded" | "logged" | "passed" | "counted" | "written" | "noted"
        ) && matches!(next, "to" | "into" | "in" | "against")
            && (self.is_each_call(aux) || self.is_about_calls(aux));
        if is_recorded {
            return self.note_write(aux, index + 1, Effect::Append);
        }
        // "Messages you see here are gone afterwards."
        let is_gone = matches!(word, "gone" | "lost" | "spent" | "void")
            && (matches!(next, "afterwards" | "then" | "from")
                || self.sentence.iter().any(|word| word.word == "afterwards"));
        if is_gone && !describes {
            return self.note_write(aux, index + 1, Effect::Delete);
        }
        let Some(verb) = participle(word) else {
            let base = word.strip_suffix("ed").unwrap_or(word);
            if is_harmless(base) || is_harmless(word.strip_suffix('d').unwrap_or(word)) {
                return;
            }
            let unknown = IRREGULAR.contains(&word)
                || word.ends_with("ed") && word.len() > 4 && !PLAIN_PARTICIPLES.contains(word);
            if unknown && !describes && self.prose.doubt.is_none() {
                self.prose.doubt = Some(format!("{} {word}", self.word(aux)));
            }
            return;
        };
        let is_request = matches!(
            verb.word,
            "deny"
                | "reject"
                | "decline"
                | "abort"
                | "apply"
                | "select"
                | "execute"
                | "run"
                | "evaluate"
                | "perform"
                | "process"
                | "invoke"
                | "call"
                | "prepare"
                | "retry"
        );
        if !verb.writes() || is_harmless(verb.word) || is_request || describes {
            return;
        }
        let is_transport =
            verb.word == "send" && (index + 1..index + 6).any(|at| RECEIVERS.contains(&self.word(at)));
        if is_transport || self.is_about_the_answer(aux, index, verb) {
            return;
        }
        event |= (matches!(next, "as" | "first" | "again" | "once" | "at") || EVENT_ADVERBS.contains(&next))
            && self.word(index + 2) != "least";
        event |= verb.word == "truncate" && aux > 0 && self.is_stored_thing(aux);
        let is_distributive =
            self.word(self.clause_of(aux)) == "every" || self.word(self.clause_of(aux)) == "each";
        event |= is_distributive;
        event |=
            self.sentence.iter().any(|word| matches!(word.word.as_ref(), "afterwards" | "thereby" | "first"));
        let is_state = STATES.contains(verb.word) || PLAIN_PARTICIPLES.contains(word);
        if event || !is_state {
            self.note_write(aux, index + 1, verb.effect);
        }
    }

    /// Returns whether the subject is the uses of the operation: "lookups by nurses".
    fn is_about_calls(&self, aux: usize) -> bool {
        let start = self.word(self.clause_of(aux));
        matches!(
            start,
            "accesses"
                | "calls"
                | "invocations"
                | "lookups"
                | "queries"
                | "readings"
                | "reads"
                | "views"
                | "visits"
        )
    }

    /// Returns whether the subject is every use of the operation: "each call", "every lookup".
    fn is_each_call(&self, aux: usize) -> bool {
        let start = self.clause_of(aux);
        matches!(self.word(start), "each" | "every")
            && (start + 1..aux).any(|at| TOOL_SUBJECTS.contains(self.word(at)))
    }

    /// Returns whether what happens is a matter of time: "every 20 seconds", "after 24 hours".
    fn is_repeated(&self, participle: usize) -> bool {
        let time = |from: usize| (from..from + 4).any(|at| TIME_UNITS.contains(&singular(self.word(at))));
        (participle + 1..participle + 7).any(|at| {
            let word = self.word(at);
            matches!(word, "every" | "after" | "within" | "for" | "until") && time(at + 1)
        })
    }

    /// Returns whether the subject is a stored thing, such as "the log", and not a part of the answer.
    fn is_stored_thing(&self, aux: usize) -> bool {
        self.word(self.clause_of(aux)) == "the"
            && matches!(
                self.word(aux - 1),
                "buffer"
                    | "database"
                    | "file"
                    | "history"
                    | "index"
                    | "journal"
                    | "log"
                    | "queue"
                    | "table"
                    | "topic"
            )
    }

    /// Returns whether the subject is part of the answer or of the API, not something that is stored.
    fn is_about_the_answer(&self, aux: usize, participle: usize, verb: &verbs::Verb) -> bool {
        let subject = || (self.clause_of(aux)..aux).map(|at| self.word(at));
        let next = self.word(participle + 1);
        if subject().any(|word| API_NOUNS.contains(&singular(word))) {
            return true;
        }
        if verb.has(VerbTrait::Making) {
            return !subject().any(|word| ISSUED.contains(word));
        }
        let from_answer = matches!(next, "from" | "in")
            && (participle + 2..participle + 5).any(|at| {
                matches!(
                    self.word(at),
                    "response"
                        | "responses"
                        | "result"
                        | "results"
                        | "output"
                        | "answer"
                        | "list"
                        | "query"
                        | "text"
                        | "input"
                )
            });
        let is_cut = matches!(verb.word, "truncate" | "redact" | "strip" | "remove" | "set");
        let cut = is_cut && subject().any(|word| ANSWER_NOUNS.contains(&singular(word)));
        let fits = verb.word == "truncate"
            && !(aux > 0 && self.is_stored_thing(aux))
            && matches!(next, "to" | "at" | "after" | "for" | "if" | "when");
        let is_field = verb.word == "set" && (self.clause_of(aux)..aux).any(|at| self.is_code(at));
        from_answer || cut || fits || is_field
    }
}
