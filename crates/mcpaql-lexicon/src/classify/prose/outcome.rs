//! Reads what happens to things and people besides the answer: "the author sees you", "a new session begins", "files go to
//! quarantine", "findings become issues".

use super::lists::{ANSWER_NOUNS, API_NOUNS, DETERMINERS, NEGATIONS, SUBORDINATORS};
use super::reader::Reader;
use super::verb_forms::{is_copula, verb_of};
use crate::effect::Effect;
use crate::number::singular;
use crate::word_set::WordSet;

/// People other than the caller. What they get or see is an effect.
static PEOPLE: WordSet = WordSet::of(
    "admin administrator applicant approver assignee attendee audience author bidder borrower buyer candidate caregiver \
     colleague contact contractor courier creator crew customer debtor doctor donor driver employee employer everyone family \
     follower friend guest holder host invitee landlord manager member neighbor neighbour nurse officer opponent organiser \
     organizer owner parent participant partner passenger patient payee payer people player police recipient rider seller \
     sender shopper sponsor staff student subscriber supervisor supplier teacher team teammate tenant vendor viewer visitor voter \
     worker",
);
/// What people do when something reaches them.
static RECEIVING: WordSet =
    WordSet::of("get gets hear hears learn learns notice notices receive receives see sees");
/// What things become without any change of theirs.
static PLAIN_STATES: WordSet = WordSet::of(
    "apparent available clear difficult easier evident expensive important large larger less likely long longer more necessary \
     noticeable obsolete older outdated possible relevant slow slower stale too true unavailable unclear useful useless",
);
/// Where a thing goes that is moved.
static DIRECTIONS: WordSet = WordSet::of("away from into live offline online onto out to");
/// Modal verbs, and words that show that a verb is no statement about the call.
static MODALS: WordSet = WordSet::of("can could had has have may might must ought should to would");

impl Reader<'_, '_, '_> {
    /// Finds the first statement about what becomes of a thing or reaches a person.
    pub(super) fn find_outcome(&mut self) {
        let found = (1..self.sentence.len()).find_map(|at| Some((at, self.outcome(at)?)));
        if let Some((at, effect)) = found {
            self.note_write(at - 1, at + 2, effect);
        }
    }

    fn outcome(&self, at: usize) -> Option<Effect> {
        let (word, next) = (self.word(at), self.word(at + 1));
        let effect = match word {
            "become" | "becomes" => Effect::Update,
            "go" | "goes" | "move" | "moves" => Effect::Move,
            "begin" | "begins" | "start" | "starts" | "open" | "opens" | "appear" | "appears" => {
                Effect::Create
            }
            _ if RECEIVING.contains(word) => Effect::Send,
            _ => return None,
        };
        if self.is_code(at) || self.starts_clause(at) {
            return None;
        }
        let start = self.clause_of(at);
        let subject = || (start..at).map(|before| self.word(before));
        let is_plain = start < at
            && at - start < 6
            && !subject().any(|word| {
                SUBORDINATORS.contains(word)
                    || NEGATIONS.contains(word)
                    || MODALS.contains(word)
                    || matches!(word, "of" | "it" | "you" | "i" | "we" | "page" | "search")
            });
        if !is_plain || self.follows_condition(start) {
            return None;
        }
        let last = singular(self.word(at - 1));
        let is_data = || subject().any(|word| API_NOUNS.contains(&singular(word)));
        let happens = match effect {
            Effect::Update => {
                !is_data() && !PLAIN_STATES.contains(next) && !next.is_empty() && !next.ends_with("able")
            }
            Effect::Move => {
                // "goes on the bill"
                let is_charged =
                    word.starts_with("go") && next == "on" && DETERMINERS.contains(self.word(at + 2));
                (DIRECTIONS.contains(next) || is_charged)
                    && !is_data()
                    && !ANSWER_NOUNS.contains(&last)
                    && !matches!(last.as_ref(), "range" | "path" | "value" | "time" | "number" | "index")
                    && (next != "from" || word.starts_with("move"))
            }
            Effect::Create => {
                matches!(self.word(start), "a" | "an" | "another" | "new")
                    && subject().any(|word| matches!(word, "new" | "fresh" | "another"))
            }
            _ => {
                let is_object = DETERMINERS.contains(next)
                    || matches!(next, "you" | "it" | "them" | "about" | "from")
                    || next.ends_with("ed");
                let is_people =
                    PEOPLE.contains(&last) || matches!(last.as_ref(), "client" | "user" | "person");
                is_people && is_object && (PEOPLE.contains(&last) || word.starts_with("receive"))
            }
        };
        happens.then_some(effect)
    }

    /// Returns whether the clause before a comma asks for the statement: "List what you need when the team gets it".
    fn follows_condition(&self, start: usize) -> bool {
        start > 0 && !self.starts_clause(start) && (0..start).any(|at| SUBORDINATORS.contains(self.word(at)))
    }

    /// Returns whether the subject of a verb is a certain thing that is no part of the answer: "the counter resets".
    pub(super) fn has_thing_as_subject(&self, index: usize) -> bool {
        let start = self.clause_of(index);
        let subject = || (start..index).map(|at| self.word(at));
        let is_other = |word: &str| {
            let one = singular(word);
            SUBORDINATORS.contains(word)
                || NEGATIONS.contains(word)
                || crate::PREPOSITIONS.contains(word)
                || is_copula(word)
                || API_NOUNS.contains(&one)
                || ANSWER_NOUNS.contains(&one)
                || matches!(word, "user" | "caller" | "client" | "agent")
                || verb_of(word).is_some_and(|verb| verb.word == word && verb.reads())
        };
        let is_about_condition = start > 0 && !self.starts_clause(start);
        index > start + 1
            && index - start < 5
            && matches!(self.word(start), "the" | "your" | "its" | "their" | "each" | "every" | "old" | "any")
            && !is_about_condition
            && !subject().any(is_other)
    }
}
