//! Reads one sentence: its first statement, and the clauses after it.

use super::idioms::takes_from_queue;
use super::lists::{
    ADVICE, ADVISING, ANSWER_NOUNS, ASIDES, COMPUTING, DETERMINERS, HARMLESS, NEGATIONS, NOUNLIKE, PARTICLES,
    READERS, READING, READING_LANGUAGES, READING_OBJECTS, RETURNING, RUNNING, SUBJECTS, SUBORDINATORS, TEXTS,
    TOOL_SUBJECTS,
};
use super::verb_forms::{
    base_of, is_adverb, is_connector, is_copula, is_finite, is_harmless, is_modal, participle, verb_of,
};
use super::words::{ProseWord, WordGap};
use super::{Opening, Prose, WritePhrase, reversing_particle};
use crate::effect::{Category, Effect};
use crate::names;
use crate::number::singular;
use crate::verbs::{self, Verb, VerbTrait, Weight};

/// Reads one sentence.
pub(super) struct Reader<'s, 't, 'p> {
    pub(super) sentence: &'s [ProseWord<'t>],
    pub(super) is_first: bool,
    /// Whether it is one of the first sentences of a description that speaks in the imperative.
    pub(super) may_command: bool,
    /// Whether the sentence is about the operation.
    pub(super) is_statement: bool,
    pub(super) prose: &'p mut Prose,
}

impl Reader<'_, '_, '_> {
    pub(super) fn word(&self, index: usize) -> &str {
        self.sentence.get(index).map_or("", |word| word.word.as_ref())
    }

    pub(super) fn is_code(&self, index: usize) -> bool {
        self.sentence.get(index).is_some_and(|word| word.is_code)
    }

    pub(super) fn starts_clause(&self, index: usize) -> bool {
        self.sentence.get(index).is_some_and(|word| word.gap >= WordGap::Comma)
    }

    fn has_statement(&self) -> bool {
        !matches!(self.prose.opening, Opening::Missing | Opening::Phrase)
    }

    pub(super) fn read(&mut self) {
        if self.is_about_use() {
            return;
        }
        self.find_setting();
        self.find_ended();
        self.find_outcome();
        let Some((start, opens)) = self.clause_start(0) else { return };
        let mut index = start;
        let mut is_imperative = false;
        self.is_statement = (start..start + 3).any(|at| TOOL_SUBJECTS.contains(self.word(at)));
        if let Some(verb_at) = self.first_verb(start).filter(|_| opens) {
            let word = self.word(verb_at);
            is_imperative = base_of(word) == word;
            if self.is_advice(verb_at) {
                return;
            }
            self.is_statement = true;
            self.read_first_verb(verb_at);
            index = verb_at + 1;
        }
        self.read_rest(index, is_imperative);
    }

    /// Returns whether a later sentence says what its result is good for: "It can be used to connect to …".
    fn is_about_use(&self) -> bool {
        let modal = (1..5).find(|index| matches!(self.word(*index), "can" | "could" | "may" | "might"));
        let Some(modal) = modal.filter(|_| self.has_statement()) else { return false };
        let be = (modal + 1..modal + 4).find(|index| self.word(*index) == "be");
        be.is_some_and(|be| matches!(self.word(be + 1), "used" | "passed" | "fed" | "given" | "reused"))
    }

    /// Returns where the first main clause starts, after conditions and purposes. `None` if the sentence is about
    /// something else.
    fn clause_start(&self, from: usize) -> Option<(usize, bool)> {
        let mut index = from;
        loop {
            let word = self.word(index);
            if word.is_empty() {
                return None;
            }
            let next = self.word(index + 1);
            let is_label = self.is_code(index) && index == 0 && self.sentence.len() == 1;
            if is_label || READERS.contains(word) {
                return None;
            }
            // "See …", and "If you have no id, use …".
            let is_hint = (index > from && (ADVISING.contains(word) || word == "execute"))
                || (self.has_statement() && matches!(word, "see" | "note" | "please" | "refer" | "ensure"));
            if is_hint || (ADVISING.contains(word) && (self.is_code(index + 1) || ADVICE.contains(next))) {
                return None;
            }
            // "Use this tool when …", "Call this before …".
            if matches!(word, "use" | "call" | "invoke" | "run") && next == "this" {
                let noun = usize::from(SUBJECTS.contains(self.word(index + 2))) + index + 2;
                if ADVICE.contains(self.word(noun)) || SUBORDINATORS.contains(self.word(noun)) {
                    return None;
                }
                return Some((index, true));
            }
            let is_condition = SUBORDINATORS.contains(word) && !matches!(word, "that" | "which")
                || matches!(
                    word,
                    "to" | "for"
                        | "in"
                        | "with"
                        | "without"
                        | "instead"
                        | "by"
                        | "on"
                        | "during"
                        | "from"
                        | "upon"
                );
            if !is_condition {
                return Some((index, true));
            }
            // "To remove one, use …" is about another operation.
            if word == "to" {
                return None;
            }
            // The clause after the comma.
            let comma = (index + 1..self.sentence.len()).find(|index| self.starts_clause(*index));
            let is_preposition = crate::PREPOSITIONS.contains(word);
            index = match comma {
                Some(comma) if !is_preposition || comma - index < 9 => comma,
                // "With the first view the grade is locked".
                _ if is_preposition && self.sentence.len() > index + 4 => return Some((index + 1, false)),
                // "For searching users": no main clause.
                _ => return None,
            };
        }
    }

    /// Returns the position of the verb of the first main clause, if it opens with one: "Lists …", "This tool will list …".
    fn first_verb(&self, start: usize) -> Option<usize> {
        let mut index = start;
        while SUBJECTS.contains(self.word(index)) || is_adverb(self.word(index)) {
            // "Use it" and "Provides a list": the last such word may be the verb.
            index += 1;
        }
        // "Enable or disable a flag": the opener is the verb.
        if index > start
            && matches!(self.word(index), "or" | "and")
            && verbs::verb(self.word(index - 1)).is_some()
        {
            return Some(index - 1);
        }
        let word = self.word(index);
        // "The mail app": after an article there is a noun.
        let is_noun = index > start && matches!(self.word(index - 1), "a" | "an" | "the" | "your");
        if is_noun || (word == "pull" && self.word(index + 1).starts_with("request")) {
            return self.opener_verb(start, index);
        }
        if word.is_empty()
            || self.is_code(index)
            || self.sentence.get(index)?.gap >= WordGap::Comma && index > start
        {
            return (index > start && RETURNING.contains(&base_of(self.word(index - 1)))).then(|| index - 1);
        }
        // "Forward geocode addresses", "Batch get users".
        let reads_next = verbs::verb(self.word(index + 1)).is_some_and(Verb::reads);
        if matches!(word, "batch" | "bulk" | "forward") && reads_next {
            return Some(index + 1);
        }
        let base = base_of(word);
        let is_verb = READING.contains(&base)
            || HARMLESS.contains(&base)
            || RETURNING.contains(&base)
            || verb_of(word).is_some()
            || verbs::is_verb(&base)
            || self.looks_like_verb(index)
            || (index == start && PARTICLES.contains(self.word(index + 1)));
        // "Deleted a transaction".
        let is_past = || index == start && self.has_object(index) && participle(word).is_some_and(Verb::acts);
        if is_verb || is_past() {
            return Some(index);
        }
        self.opener_verb(start, index)
    }

    /// Returns the verb among the opening words: "Provides the weather".
    fn opener_verb(&self, start: usize, end: usize) -> Option<usize> {
        (start..end).rev().find(|index| {
            let base = base_of(self.word(*index));
            RETURNING.contains(&base) || matches!(base.as_ref(), "query" | "perform" | "request" | "call")
        })
    }

    /// Returns whether an unknown word is used as a verb: "frobs the", "frobs off".
    fn looks_like_verb(&self, index: usize) -> bool {
        let word = self.word(index);
        let next = self.word(index + 1);
        word.len() > 3
            && word.ends_with('s')
            && !word.ends_with("ss")
            && (DETERMINERS.contains(next) || PARTICLES.contains(next))
            && !self.starts_clause(index + 1)
    }

    pub(super) fn has_object(&self, index: usize) -> bool {
        DETERMINERS.contains(self.word(index + 1)) && !self.starts_clause(index + 1)
    }

    /// Returns the words of a clause after a word.
    pub(super) fn words_after(&self, index: usize, count: usize) -> impl Iterator<Item = &str> {
        let end = (index + 1..index + 1 + count).find(|next| self.starts_clause(*next));
        (index + 1..end.unwrap_or(index + 1 + count))
            .map(|next| self.word(next))
            .filter(|word| !word.is_empty())
    }

    /// Returns whether a verb runs something that only reads: "performs a semantic search", "sends a GET request".
    fn runs_a_read(&self, index: usize) -> bool {
        let base = base_of(self.word(index));
        // "Applies filters", "sets a limit".
        if matches!(base.as_ref(), "apply" | "set") {
            return self.words_after(index, 3).any(|word| {
                matches!(word, "filter" | "filters" | "limit" | "limits" | "pagination" | "sorting")
            });
        }
        let reads = |next: usize| match self.sentence.get(next) {
            Some(word) if word.is_code => {
                let lead = names::name_verbs(&names::parts(word.written)).lead;
                READING_LANGUAGES.contains(&word.word) || lead.is_some_and(|found| found.verb.reads())
            }
            Some(word) => READING_OBJECTS.contains(&word.word) || READING_LANGUAGES.contains(&word.word),
            None => false,
        };
        RUNNING.contains(&base)
            && (index + 1..index + 7).take_while(|next| !self.starts_clause(*next)).any(reads)
            && !(index + 1..index + 6).any(|next| {
                matches!(self.word(next), "sql" | "post" | "put" | "delete" | "patch" | "mutation")
            })
    }

    /// Returns whether the object of a verb is only a cache or the answer.
    fn object_is_answer(&self, index: usize) -> bool {
        if matches!(
            base_of(self.word(index)).as_ref(),
            "overwrite" | "post" | "save" | "send" | "store" | "upload" | "write"
        ) {
            return false;
        }
        let is_cut = matches!(base_of(self.word(index)).as_ref(), "truncate" | "redact" | "strip" | "remove");
        self.words_after(index, 4).any(|word| {
            matches!(word, "cache" | "cached" | "caches" | "response" | "output" | "results" | "answer")
                || (is_cut && ANSWER_NOUNS.contains(word))
        })
    }

    /// Returns whether a sentence is advice: "Adjust the limit." after the first statement. "Delete it." is not.
    fn is_advice(&self, verb: usize) -> bool {
        let word = self.word(verb);
        // "Add with `add_to_cart`."
        let names_other = matches!(self.word(verb + 1), "by" | "through" | "using" | "via" | "with")
            && self.is_code(verb + 2);
        if self.has_statement() && verb == 0 && names_other {
            return true;
        }
        self.has_statement()
            && verb_of(word).is_some_and(|verb| verb.word == word && (verb.writes() || verb.word == "check"))
            && verb == 0
            && (self.has_object(verb) || !self.sentence.iter().any(|word| is_copula(&word.word)))
            && !(self.may_command && matches!(self.word(verb + 1), "it" | "them"))
    }

    pub(super) fn open(&mut self, opening: Opening) {
        if !self.has_statement() {
            self.prose.opening = opening;
        }
    }

    fn read_first_verb(&mut self, index: usize) {
        let word = self.word(index).to_owned();
        let word = word.as_str();
        let base = base_of(word).into_owned();
        let found = verb_of(word).or_else(|| participle(word).filter(|_| self.has_object(index)));
        if matches!(base.as_str(), "execute" | "run" | "evaluate") {
            self.prose.runs = true;
        }
        if self.read_idiom(index, &base) {
            return;
        }
        // "Report a bug" is a message, "Reports the weather" an answer.
        if word == "report" && !self.has_statement() && self.is_first {
            return self.open(Opening::Other);
        }
        if RETURNING.contains(&base) {
            self.find_issued(index);
            self.prose.says_read = true;
            return self.open(Opening::Returns);
        }
        let says_read_only =
            || self.sentence.iter().any(|word| matches!(word.word.as_ref(), "read-only" | "readonly"));
        let runs_read_only = RUNNING.contains(&base) && self.is_first && says_read_only();
        if runs_read_only || self.runs_a_read(index) {
            self.prose.says_read = true;
            return self.open(Opening::Reads("search"));
        }
        let (is_read, name) = match found {
            Some(verb) if verb.reads() && !verb.has(VerbTrait::Twofold) => (true, verb.word),
            Some(verb) if verb.weight == Weight::Doubtful || verb.word == "test" => {
                return self.open(Opening::Doubtful(verb.word));
            }
            _ if READING.contains(&base) => (true, found.map_or("", |verb| verb.word)),
            _ => (false, ""),
        };
        if is_read {
            let words: Vec<&str> =
                (index..self.sentence.len().min(index + 12)).map(|index| self.word(index)).collect();
            if found.is_some_and(|verb| reversing_particle(verb, &words).is_some())
                || takes_from_queue(&words)
            {
                self.note_write(index, index + 2, Effect::Execute);
            }
            self.find_issued(index);
            self.prose.says_read = true;
            return self.open(Opening::Reads(name));
        }
        // "Uses the cache" says nothing, unless it is all that is said first.
        if HARMLESS.contains(&base) || (self.has_statement() && ASIDES.contains(&base)) {
            let next = self.word(index + 1);
            if self.is_first && word == base && !is_connector(next) && !NEGATIONS.contains(next) {
                self.open(Opening::Other);
            }
            return;
        }
        let next = self.word(index + 1);
        let is_noun =
            next.is_empty() || is_connector(next) || is_copula(next) || self.starts_clause(index + 1);
        let is_phrasal = PARTICLES.contains(next);
        if found.is_none() && (is_noun || (!self.has_object(index) && word == base && !is_phrasal)) {
            return;
        }
        let is_opening = !self.has_statement();
        self.open(if COMPUTING.contains(&base) { Opening::Computes } else { Opening::Other });
        if let Some(verb) = found.filter(|verb| verb.writes()) {
            self.read_writing_statement(index, verb, is_opening);
        }
    }

    /// Reads a first statement with a verb that changes something.
    fn read_writing_statement(&mut self, index: usize, verb: &'static Verb, is_opening: bool) {
        let word = self.word(index).to_owned();
        let word = word.as_str();
        let makes =
            verb.has(VerbTrait::Making) || matches!(verb.word, "build" | "compose" | "make" | "draft");
        let makes_text = makes && self.words_after(index, 6).any(|word| TEXTS.contains(&singular(word)));
        if verb.has(VerbTrait::Making) || makes_text {
            self.prose.makes_text |= makes_text;
            if is_opening {
                self.prose.opening = Opening::Doubtful(verb.word);
            }
            return;
        }
        // A noun: "Order details", "Renames are detected", "Sending is done by".
        let next = self.word(index + 1);
        let ends = next.is_empty() || self.starts_clause(index + 1);
        // "Posts waiting for approval", "Orders placed today".
        let is_described = !self.has_object(index)
            && word.ends_with('s')
            && (next.ends_with("ing") || participle(next).is_some());
        let is_noun = word.ends_with("ing")
            || is_described
            || is_copula(next)
            || (ends && verb.weight != Weight::Strong)
            || (index == 0 && ends && word != verb.word);
        // "Updates of a package", "Claims that …", but "Updates contacts of …".
        let nounlike = word != verb.word
            && NOUNLIKE.contains(verb.word)
            && !self.has_object(index)
            && (!is_opening || is_connector(next));
        // "Refreshes and updates columns".
        let is_pair = matches!(next, "and" | "or") && verb_of(self.word(index + 2)).is_some_and(Verb::writes);
        // "If a path is given, switches to it first."
        let after_condition =
            index > 0 && self.starts_clause(index) && word != verb.word && word.ends_with('s');
        let certain = (verb.acts() && !nounlike)
            || after_condition
            || self.has_object(index)
            || (is_opening && word != verb.word && (is_pair || !is_connector(next)) && !nounlike);
        let thing = is_noun || verb.has(VerbTrait::Thing) || is_connector(next) || word != verb.word;
        if certain && !is_noun {
            self.found_write(index, index + 1, verb);
        } else if is_opening && thing {
            self.prose.opening = Opening::Phrase;
        }
    }

    fn found_write(&mut self, from: usize, to: usize, verb: &Verb) {
        // "Deletes nothing."
        if matches!(self.word(to), "nothing" | "no" | "none") {
            self.prose.denies = true;
            return;
        }
        if !self.object_is_answer(from) {
            let to = to + usize::from(self.has_object(to.saturating_sub(1)));
            self.note_write(from, to, verb.effect);
        }
    }

    pub(super) fn note_write(&mut self, from: usize, to: usize, effect: Effect) {
        if self.prose.writes.is_none() {
            let words: Vec<&str> =
                (from..to).map(|index| self.word(index)).filter(|word| !word.is_empty()).collect();
            self.prose.writes = Some(WritePhrase {
                text: words.join(" "),
                effect,
                opens: self.prose.opening == Opening::Other,
            });
        }
    }

    /// Reads the clauses after the first verb.
    fn read_rest(&mut self, from: usize, is_imperative: bool) {
        let mut slot = false;
        let mut subordinate = false;
        // Whether a relative clause has had its verb. The next one belongs to the main clause.
        let mut relative_verb = false;
        let mut negated = 0usize;
        let mut index = from;
        while index < self.sentence.len() {
            let word = self.word(index);
            if self.starts_clause(index) {
                let nonrestrictive = word == "which"
                    || (word == "where" && index > from && matches!(self.word(index + 1), "it" | "they"));
                subordinate = false;
                slot = true;
                if nonrestrictive {
                    index += 1;
                    continue;
                }
                // Advice in a later clause: "…, use `x` instead".
                if index > from
                    && self.clause_start(index).is_none()
                    && (ADVISING.contains(word) || READERS.contains(word))
                {
                    return;
                }
            }
            negated = negated.saturating_sub(1);
            if NEGATIONS.contains(word) {
                negated = 5;
            } else if word == "so" && self.starts_clause(index) && self.word(index + 1) != "that" {
                slot = false;
            } else if SUBORDINATORS.contains(word) {
                subordinate = true;
                relative_verb = false;
                slot = false;
            } else if subordinate
                && !relative_verb
                && is_finite(word)
                && !(is_modal(word) && self.is_passive_after(index))
                // "by which purchases are refunded"
                && !matches!(self.word(index + 1), "is" | "are" | "was" | "were")
            {
                relative_verb = true;
            } else if matches!(word, "and" | "then" | "or" | "but" | "plus") {
                slot = !subordinate;
            } else if (matches!(word, "it" | "this") && slot) || is_adverb(word) {
                // "and it deletes", "and then deletes": the next word may be the verb.
            } else if matches!(word, "disappear" | "disappears" | "vanish" | "vanishes")
                && !subordinate
                && negated == 0
                && !(self.clause_of(index)..index).any(|at| matches!(self.word(at), "to" | "or"))
                && !(0..index).any(|at| self.word(at) == "to")
            {
                self.note_write(index, index + 1, Effect::Execute);
            } else if matches!(word, "is" | "are" | "get" | "gets" | "be") && (!subordinate || relative_verb)
            {
                self.read_passive(index, negated > 0);
                slot = false;
            } else {
                if negated == 0 && !self.is_code(index) && !self.is_proper_noun(index) {
                    self.read_later_verb(index, slot && self.agrees(index, is_imperative), subordinate);
                } else if negated > 0
                    && !subordinate
                    && verb_of(self.word(index)).is_some_and(|verb| verb.acts())
                {
                    self.prose.denies = true;
                }
                slot = false;
            }
            index += 1;
        }
    }

    /// Returns whether a modal verb is followed by "be" or "been": "that will be deleted".
    fn is_passive_after(&self, index: usize) -> bool {
        (index + 1..index + 4).any(|at| matches!(self.word(at), "be" | "been"))
    }

    /// Returns whether a word inside a sentence is the name of a product: "by id or Resend dashboard URL".
    fn is_proper_noun(&self, index: usize) -> bool {
        let starts_upper = |at: usize| {
            self.sentence
                .get(at)
                .is_some_and(|word| word.written.starts_with(|ch: char| ch.is_ascii_uppercase()))
        };
        let is_title = |at: usize| {
            starts_upper(at)
                && self
                    .sentence
                    .get(at)
                    .is_some_and(|word| word.written.chars().skip(1).all(char::is_lowercase))
        };
        let Some(before) = index.checked_sub(1) else { return false };
        // In "Get And Delete Users" all words are written like that.
        is_title(index) && !starts_upper(before) && !self.starts_clause(index)
    }

    /// Returns whether a verb can be joined to the first one: "Get it and save it", but not "Adjust it and save it" as
    /// advice in a later sentence.
    fn agrees(&self, index: usize, is_imperative: bool) -> bool {
        let is_base = base_of(self.word(index)) == self.word(index);
        let has_pronoun = matches!(self.word(index + 1), "it" | "them");
        !is_base
            || (is_imperative && self.may_command && has_pronoun)
            || (is_imperative && self.is_first && !self.is_infinitive(index))
    }

    /// Returns whether a verb in base form belongs to an infinitive: "needed to create, update and delete pages".
    fn is_infinitive(&self, index: usize) -> bool {
        let to = (0..index).rev().find(|at| self.word(*at) == "to");
        to.is_some_and(|to| verb_of(self.word(to + 1)).is_some_and(|verb| verb.word == self.word(to + 1)))
    }

    /// Returns where the clause of a word starts: after a comma or a conjunction.
    pub(super) fn clause_of(&self, index: usize) -> usize {
        let joins = |word: &str| matches!(word, "and" | "or" | "but" | "then" | "so" | "plus");
        let starts = |at: &usize| self.starts_clause(*at) || joins(self.word(at.saturating_sub(1)));
        (1..=index).rev().find(starts).unwrap_or_default()
    }

    /// Returns whether the subject of a verb is the operation: "Each call moves the …", "Opening it starts the …".
    fn has_tool_subject(&self, index: usize) -> bool {
        let start = self.clause_of(index);
        let words = || (start..index).map(|at| self.word(at));
        let mut subject =
            words().filter(|word| !is_adverb(word) && !DETERMINERS.contains(word) || *word == "it");
        let Some(first) = subject.next() else { return self.is_statement || start == 0 };
        let last = subject.next_back().unwrap_or(first);
        if words().any(|word| SUBORDINATORS.contains(word) && word != "which") {
            return false;
        }
        let is_gerund = first.ends_with("ing") && verb_of(first).is_some();
        is_gerund || first == "which" || TOOL_SUBJECTS.contains(first) || TOOL_SUBJECTS.contains(last)
    }

    /// Reads a possible verb after the first one.
    fn read_later_verb(&mut self, index: usize, slot: bool, subordinate: bool) {
        let word = self.word(index).to_owned();
        let word = word.as_str();
        let before = if index == 0 { "" } else { self.word(index - 1) }.to_owned();
        let before = before.as_str();
        // "and brings the second one in line"
        if word.starts_with("bring") && slot && !subordinate && self.read_idiom(index, &base_of(word)) {
            return;
        }
        let Some(verb) = verb_of(word).filter(|verb| verb.writes()) else {
            // "and stow it"
            let is_joined = slot
                && matches!(before, "and" | "then")
                && matches!(self.word(index + 1), "it" | "them")
                && !crate::PREPOSITIONS.contains(word)
                && !DETERMINERS.contains(word);
            let is_verb = verbs::inflected(word).is_none()
                && (self.looks_like_verb(index) || is_joined)
                && (slot || matches!(before, "it" | "tool" | "also" | "then"))
                && self.has_tool_subject(index)
                && !matches!(
                    self.word(index + 2),
                    "user" | "caller" | "agent" | "client" | "account" | "model"
                )
                && !is_harmless(&base_of(word))
                && !COMPUTING.contains(&base_of(word));
            if is_verb && !subordinate && self.prose.doubt.is_none() {
                self.prose.doubt = Some(format!("{word} {}", self.word(index + 1)));
            }
            return;
        };
        if matches!(verb.word, "execute" | "run" | "evaluate") {
            self.prose.runs = true;
        }
        let base = base_of(word).into_owned();
        if !subordinate && slot && matches!(base.as_str(), "make" | "tell" | "resolve") {
            let statement = self.prose.opening;
            if self.read_idiom(index, &base) {
                self.prose.opening = statement;
                return;
            }
        }
        if subordinate || is_harmless(&base) || verb.has(VerbTrait::Making) || self.runs_a_read(index) {
            return;
        }
        let next = self.word(index + 1);
        let ends = next.is_empty() || self.starts_clause(index + 1);
        let object = self.has_object(index);
        if word.ends_with("ing") {
            // ", marking it as read" and "by deleting the".
            let joined = self.starts_clause(index) || slot || matches!(before, "by" | "while");
            // ", kicking out …"
            let harms = self.starts_clause(index)
                && verb.acts()
                && !matches!(verb.category(), Category::Create | Category::Update)
                && !ends
                && !is_connector(next);
            let acts = verb.word != "make" && joined && (object || harms);
            if acts && self.is_statement && !self.is_noun_phrase(index) {
                self.found_write(index, index + 1, verb);
            }
            return;
        }
        let third_person = word != verb.word && word.ends_with('s');
        let nounlike = NOUNLIKE.contains(verb.word);
        let certain = if third_person {
            // "posts it"; without an object only a verb that is hardly a noun: "sends email".
            let follows_noun = DETERMINERS.contains(before) || crate::PREPOSITIONS.contains(before);
            // "and records that it was seen"
            let notes_fact = slot
                && next == "that"
                && matches!(verb.effect, Effect::Append | Effect::Create | Effect::Set | Effect::Send);
            notes_fact
                || (object && !follows_noun && self.has_tool_subject(index))
                || (slot && verb.acts() && !nounlike && !ends && !is_connector(next))
        } else {
            slot && (object || (verb.acts() && !nounlike && !ends && !is_connector(next)))
        };
        if certain {
            self.found_write(index, index + 1, verb);
        } else if third_person
            && self.prose.doubt.is_none()
            && !nounlike
            && (ends || object || is_adverb(next) || matches!(next, "during" | "after" | "once"))
            && self.has_thing_as_subject(index)
        {
            // "The adapter restarts": it may be the call that makes it happen.
            self.prose.doubt = Some(format!("{before} {word}"));
        }
    }

    /// Returns whether a gerund is a noun or belongs to one: "endpoints for creating and updating templates", "created by
    /// uploading them", "users can opt out by sending a message".
    fn is_noun_phrase(&self, index: usize) -> bool {
        let before = |count: usize| index.checked_sub(count).map_or("", |at| self.word(at));
        if before(1) == "by" {
            let is_past = before(2).ends_with("ed") || participle(before(2)).is_some();
            return is_past || self.sentence.iter().take(index).any(|word| READERS.contains(&word.word));
        }
        // "supports creating, updating and deleting".
        if before(1).ends_with("ing")
            || matches!(
                before(1),
                "support"
                    | "supports"
                    | "allow"
                    | "allows"
                    | "include"
                    | "includes"
                    | "as"
                    | "than"
                    | "like"
                    | "via"
                    | "avoid"
                    | "avoids"
            )
        {
            return true;
        }
        let from = index.saturating_sub(6).max(self.clause_of(index.saturating_sub(1)));
        let preposition = |word: &str| {
            matches!(word, "for" | "of" | "about" | "before" | "after" | "when" | "without" | "to")
        };
        (from..index).any(|at| preposition(self.word(at))) && !self.starts_clause(index)
    }
}
