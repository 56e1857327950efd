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
    is_one && out
}
