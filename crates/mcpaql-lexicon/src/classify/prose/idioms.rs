//! Reads verbs whose effect depends on their object or particle: "makes it the default", "logs the user out".

use super::Opening;
use super::lists::{FRESH, ISSUED, PLACES, SUBORDINATORS, TICKETS};
use super::reader::Reader;
use crate::effect::Effect;
use crate::number::singular;

impl Reader<'_, '_, '_> {
    /// Reads verbs whose effect depends on their object: "makes it the default", "resolves the incident", "tells the team
    /// that …", "exports it to a folder". Returns whether it was one.
    pub(super) fn read_idiom(&mut self, index: usize, base: &str) -> bool {
        let effect = match base {
            "make" => {
                let state = |word: &str| {
                    matches!(
                        word,
                        "active"
                            | "current"
                            | "default"
                            | "primary"
                            | "private"
                            | "public"
                            | "visible"
                            | "permanent"
                    )
                };
                self.words_after(index, 7).any(state).then_some(Effect::Set)
            }
            "resolve" => {
                let ticket = self.words_after(index, 4).any(|word| TICKETS.contains(&singular(word)));
                ticket.then_some(Effect::Set)
            }
            "tell" | "inform" => {
                let reader = matches!(self.word(index + 1), "you" | "us" | "me" | "apart");
                (!reader && self.words_after(index, 6).skip(1).any(|word| word == "that"))
                    .then_some(Effect::Send)
            }
            "answer" => {
                let call =
                    self.words_after(index, 4).any(|word| matches!(word, "call" | "invitation" | "ticket"));
                call.then_some(Effect::Execute)
            }
            "dump" | "download" | "export" | "render" | "generate" => {
                let mut after =
                    self.words_after(index, 14).skip_while(|word| !matches!(*word, "to" | "into" | "onto"));
                let place = |word: &str| PLACES.contains(&singular(word));
                (after.next().is_some() && after.take(5).any(place)).then_some(Effect::Create)
            }
            "log" | "sign" => {
                let particle = |word: &str| matches!(word, "out" | "off" | "in" | "on" | "up");
                let first = self.words_after(index, 1).next();
                let later = || self.words_after(index, 6).any(|word| matches!(word, "out" | "off"));
                (first.is_some_and(particle) || later()).then_some(Effect::Session)
            }
            "subscribe" | "unsubscribe" => {
                matches!(self.word(index + 1), "to" | "from" | "for").then_some(Effect::Set)
            }
            "bring" => {
                let place = |word: &str| {
                    matches!(
                        word,
                        "front"
                            | "foreground"
                            | "up"
                            | "online"
                            | "offline"
                            | "down"
                            | "line"
                            | "back"
                            | "date"
                    )
                };
                self.words_after(index, 7).any(place).then_some(Effect::Set)
            }
            "give" | "gives" => {
                let grant = |word: &str| {
                    matches!(word, "access" | "control" | "focus" | "permission" | "permissions" | "rights")
                };
                (self.is_first && self.has_object(index) && self.words_after(index, 6).any(grant))
                    .then_some(Effect::Set)
            }
            "pop" => (self.word(index + 1) == "up").then_some(Effect::Execute),
            "look" => (self.word(index + 1) == "after").then_some(Effect::Update),
            "get" => self.words_after(index, 8).any(|word| word == "going").then_some(Effect::Execute),
            "check" | "count" | "see" | "show" | "read" => {
                let last = self.words_after(index, 9).last();
                last.filter(|word| matches!(*word, "in" | "out" | "off" | "away")).map(|_| Effect::Execute)
            }
            "take" => self.words_after(index, 8).any(|word| word == "out").then_some(Effect::Move),
            "vote" => (self.is_first && self.word(index + 1) == "for").then_some(Effect::Append),
            _ => None,
        };
        let Some(effect) = effect else { return false };
        self.open(Opening::Other);
        self.note_write(index, index + 2, effect);
        true
    }

    /// Finds a value that the caller may pass to change something: "pass `level` to change it".
    pub(super) fn find_setting(&mut self) {
        let passes = |word: &str| matches!(word, "pass" | "give" | "supply" | "provide" | "specify" | "send");
        let changes = |word: &str| {
            matches!(word, "alter" | "change" | "modify" | "overwrite" | "replace" | "set" | "update")
        };
        let pronoun = |word: &str| matches!(word, "it" | "them" | "one");
        let is_setting = |at: &usize| {
            self.word(*at) == "to"
                && changes(self.word(at + 1))
                && pronoun(self.word(at + 2))
                && (self.clause_of(*at)..*at).any(|before| passes(self.word(before)))
        };
        if let Some(at) = (2..self.sentence.len()).find(is_setting) {
            self.note_write(at + 1, at + 3, Effect::Set);
        }
    }

    /// Finds things of before that end with the call: "earlier sessions of the customer end".
    pub(super) fn find_ended(&mut self) {
        let is_old =
            |word: &str| matches!(word, "earlier" | "former" | "old" | "older" | "previous" | "prior");
        let ends = |word: &str| {
            matches!(
                word,
                "cease"
                    | "ceases"
                    | "end"
                    | "ends"
                    | "expire"
                    | "expires"
                    | "lapse"
                    | "lapses"
                    | "stop"
                    | "stops"
            )
        };
        let is_dead = |at: usize| {
            matches!(self.word(at), "is" | "are")
                && matches!(
                    self.word(at + 1),
                    "dead" | "gone" | "invalid" | "obsolete" | "unusable" | "useless" | "void" | "worthless"
                )
        };
        let is_ended = |at: &usize| {
            let start = self.clause_of(*at);
            let next = self.word(at + 1);
            let is_last =
                next.is_empty() || self.starts_clause(at + 1) || matches!(next, "at" | "working" | "being");
            (ends(self.word(*at)) && is_last || is_dead(*at))
                && (start..(start + 3).min(*at)).any(|before| is_old(self.word(before)))
        };
        if let Some(at) = (1..self.sentence.len()).find(is_ended) {
            self.note_write(at.saturating_sub(1), at + 1, Effect::Unlink);
        }
    }

    /// Finds a thing that is made for the caller: "an access token", "a presigned URL".
    pub(super) fn find_issued(&mut self, verb: usize) {
        let end = (verb + 1..verb + 7).find(|next| {
            let word = self.word(*next);
            self.starts_clause(*next)
                || SUBORDINATORS.contains(word)
                || matches!(word, "for" | "of" | "from" | "to" | "with" | "in" | "by")
        });
        let stored = end.is_some_and(|end| self.word(end) == "by");
        let object = verb + 1..end.unwrap_or(verb + 7);
        let is_one = matches!(self.word(verb + 1), "a" | "an") && !stored && self.word(verb + 2) != "single";
        let fresh = object.clone().any(|index| FRESH.contains(self.word(index)));
        let issued = object.clone().find(|index| ISSUED.contains(self.word(*index)));
        let access = object
            .clone()
            .any(|index| matches!(self.word(index), "access" | "refresh" | "auth" | "bearer" | "upload"));
        if let Some(at) = issued
            && (fresh || (access && is_one))
        {
            self.note_write(at.saturating_sub(1), at + 1, Effect::Session);
        }
    }
}

/// Returns whether a read takes one thing out of a queue: "Gets the next job from the queue".
pub(super) fn takes_from_queue(words: &[&str]) -> bool {
    let is_one =
        words.get(1).is_some_and(|word| matches!(*word, "a" | "an" | "one")) || words.contains(&"next");
    let out =
        words.windows(3).any(|three| matches!(three, ["from" | "off", _, queue] if queue.contains("queue")));
    // Entries that a group of consumers has got are not given to it again.
    (is_one && out) || words.windows(2).any(|pair| matches!(pair, ["consumer", "group"]))
}
