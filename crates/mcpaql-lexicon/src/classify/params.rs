//! Finds parameters that let a call change something: switches, destinations, programs and methods.

use super::prose::{self, Prose, READING_LANGUAGES};
use crate::effect::{Category, Effect};
use crate::names;
use crate::number::singular;
use crate::verbs::{self, Verb, VerbTrait, Weight};
use crate::word_set::WordSet;
use crate::words::words;

/// A parameter of an operation, as evidence of its effect.
#[derive(Debug, Clone, Default)]
pub struct ParamEvidence<'a> {
    /// The name.
    pub name: &'a str,
    /// The description.
    pub description: &'a str,
    /// The kind of its values.
    pub form: ParamForm,
    /// Its values, if only some are allowed.
    pub choices: Vec<&'a str>,
}

/// The kind of a parameter's values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ParamForm {
    /// On or off.
    Switch,
    /// A text.
    Text,
    /// Anything else.
    #[default]
    Other,
}

/// A parameter that lets a call change something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChangingParam {
    /// A fragment such as "its parameter 'mark_seen' can mark".
    pub(super) text: String,
    /// The effect.
    pub(super) effect: Effect,
}

/// Names of parameters that choose what the operation does.
static CHOOSING: WordSet =
    WordSet::of("action actions command method mode op operation task verb function intent subcommand");
/// First words of switches that only shape the answer: `include_deleted`.
static SHAPING: WordSet = WordSet::of(
    "allow compact count detailed detail disable enable exclude expand explain fetch filter full get has hide ignore include \
     including is list load only raw read recursive return show skip sort summarize use verbose view was with without",
);
/// Words before the verb of a switch: `auto_create`, `should_delete`.
static SWITCH_OPENERS: WordSet = WordSet::of("also and auto automatically do force should then to will");
/// Weak verbs that are verbs at the start of a switch.
static SWITCH_VERBS: WordSet = WordSet::of(
    "archive charge claim clear close commit confirm consume deploy drop email lock log notify pin post reset start store \
     subscribe sync trash ack bump flag persist save_to_history",
);
/// Strong verbs that only shape the answer as a switch: `add_metadata`.
static HARMLESS_SWITCHES: WordSet = WordSet::of(
    "add append apply associate configure generate move put register replace restart retry stop toggle submit",
);
/// Verbs of switches that correct what was found: `remediate`.
static CORRECTING: WordSet = WordSet::of(
    "autocorrect autofix correct dedupe deduplicate fix heal quarantine remediate repair rewrite",
);
/// What such a switch applies: `apply_suggestions`.
static CORRECTIONS: WordSet = WordSet::of(
    "change changes correction corrections edit edits fix fixes migration migrations patch patches suggestion suggestions \
     update updates",
);
/// Words of a place that the operation writes to, before a word of `PLACES`.
static OUTPUTS: WordSet = WordSet::of("dest destination download dump export out output result save write");
static PLACES: WordSet =
    WordSet::of("bucket dir directory file filename filepath folder key location name path to uri url");
/// Receivers of messages.
static HOOKS: WordSet = WordSet::of("callback notification notify webhook");
/// Parameters that hold a program.
static PROGRAMS: WordSet = WordSet::of(
    "bash cmd code command commands cypher expression function graphql gremlin javascript js lua mutation program python \
     query script scripts shell sparql sql statement statements soql kql document macro",
);
/// Languages with statements that write.
static LANGUAGES: WordSet = WordSet::of(
    "Cypher GraphQL MySQL PostgreSQL SPARQL SQL SQLite cypher graphql gremlin mutation mutations mysql postgresql sparql sql sqlite",
);
/// Verbs of operations that look at a program, but do not run it.
static LOOKING: WordSet = WordSet::of(
    "analyse analyze beautify check compare convert count describe detect diff explain extract format highlight lint \
     minify optimize parse plan prettify review score search suggest tokenize translate transpile validate verify find",
);
/// Verbs of "… to delete" in the description of a parameter.
static TARGETED: WordSet = WordSet::of(
    "archive book cancel create delete download merge overwrite publish remove replace revoke save send store update upload write",
);
/// Verbs of these that tell the caller what to pass: "Send one of …".
static CALLERS_VERBS: WordSet = WordSet::of("book create download send update upload");
/// Words before "to delete" that name a purpose or a right, not an action of the operation.
static PURPOSES: WordSet = WordSet::of(
    "able access allowed authorized how need needed needs permission permissions possible required right try used want",
);

/// First words of parameters that say what is done afterwards: `on_match`, `then`.
static FOLLOWING: WordSet = WordSet::of("after afterwards finally followup if next on post then upon when");
/// Choices that do nothing. Beside one of these, a verb is an action.
static IDLE: WordSet =
    WordSet::of("dont keep leave never no none noop nothing off preserve report skip warn");
/// Last words of parameters that choose which things are returned, or how.
static FILTER_WORDS: WordSet = WordSet::of(
    "access activity area by category class direction event events field fields filter filters format kind level order \
     permission permissions phase reason right rights role scope severity sort source stage state states status statuses \
     style tag tags topic trigger type types view visibility",
);
/// What a caller sets.
static NEW_VALUES: WordSet = WordSet::of(
    "address amount balance body content data date description email key label limit name note owner parent password \
     path position price priority quantity role setting size state status summary tag text time title type url value version",
);

/// Returns the first parameter that lets a call change something. `entries` describe parameters in the description of the
/// operation.
pub(super) fn changing_param(
    params: &[ParamEvidence<'_>],
    entries: &[(&str, &str)],
    lead: Option<&Verb>,
    prose: &Prose,
    description: &str,
) -> Option<ChangingParam> {
    let judge = |param: &ParamEvidence<'_>| JudgedParam { param, lead, prose, description }.changes();
    let found = params.iter().find_map(judge);
    found.or_else(|| {
        entries.iter().find_map(|(name, description)| {
            let listed = params.iter().find(|param| param.name == *name);
            // Its own description was judged already.
            if listed.is_some_and(|param| !param.description.is_empty()) {
                return None;
            }
            let form = listed.map_or(ParamForm::Text, |param| param.form);
            let choices = listed.map(|param| param.choices.clone()).unwrap_or_default();
            judge(&ParamEvidence { name, description, form, choices })
        })
    })
}

struct JudgedParam<'c, 'a> {
    param: &'c ParamEvidence<'a>,
    lead: Option<&'c Verb>,
    prose: &'c Prose,
    description: &'c str,
}

impl JudgedParam<'_, '_> {
    fn changes(&self) -> Option<ChangingParam> {
        let words = words(self.param.name);
        let first = match self.param.form {
            ParamForm::Switch => self.switch(&words),
            ParamForm::Text => {
                self.method(&words).or_else(|| self.program(&words)).or_else(|| self.destination(&words))
            }
            ParamForm::Other => None,
        };
        first
            .or_else(|| self.conditional(&words))
            .or_else(|| self.choice(&words))
            .or_else(|| self.follow_up(&words))
            .or_else(|| self.new_value(&words))
            .or_else(|| self.target())
            .or_else(|| self.described())
    }

    fn found(&self, what: &str, effect: Effect) -> ChangingParam {
        ChangingParam { text: format!("its parameter '{}' {what}", self.param.name), effect }
    }

    /// `delete_after`, `mark_seen`, or "If true, deletes …".
    fn switch(&self, words: &[String]) -> Option<ChangingParam> {
        let mut rest = words.iter().map(String::as_str).skip_while(|word| SWITCH_OPENERS.contains(word));
        let first = rest.next()?;
        let looks = self.lead.is_some_and(|verb| LOOKING.contains(verb.word));
        if looks && first.starts_with("dry") {
            return self.described_switch();
        }
        if first == "dry" && words.iter().any(|word| word == "run") || first == "dryrun" {
            return Some(self.found("switches between a trial and a real run", Effect::Execute));
        }
        if SHAPING.contains(first) || self.filters() {
            return None;
        }
        // A state, or a place: `write_protected`, `start_from_head`.
        let is_state = rest.next().is_some_and(|next| {
            next.ends_with("ed") || matches!(next, "from" | "at" | "in" | "with" | "date" | "time")
        });
        let further = || verbs::further(first).filter(|verb| verb.acts() || SWITCH_VERBS.contains(first));
        let named = verbs::verb(first).or_else(further).filter(|verb| {
            let listed = SWITCH_VERBS.contains(first);
            !is_state
                && verb.category() != Category::Read
                && (listed || (verb.acts() && !HARMLESS_SWITCHES.contains(first)))
        });
        if let Some(verb) = named {
            return Some(self.found(&format!("can {}", verb.word), verb.effect));
        }
        let applies = first == "apply" && words.last().is_some_and(|word| CORRECTIONS.contains(word));
        if CORRECTING.contains(first) || applies {
            return Some(self.found(&format!("can {first}"), Effect::Update));
        }
        self.described_switch()
    }

    /// "If true, deletes …", "false performs the migration".
    fn described_switch(&self) -> Option<ChangingParam> {
        let phrase = prose::read_switch(self.param.description)?;
        Some(self.found(&format!("says '{}'", phrase.text), phrase.effect))
    }

    /// Returns whether the description says that the parameter filters or shapes the answer.
    fn filters(&self) -> bool {
        let first = words_of(self.param.description).next().unwrap_or_default().to_ascii_lowercase();
        SHAPING.contains(&first)
            || matches!(first.as_str(), "filters" | "includes" | "returns" | "shows" | "limit" | "restrict")
            || words_of(self.param.description)
                .any(|word| matches!(word.to_ascii_lowercase().as_str(), "filter" | "filters" | "filtering"))
    }

    /// `book_if_below`: a number or text that makes the call act.
    fn conditional(&self, words: &[String]) -> Option<ChangingParam> {
        let [first, second, ..] = words else { return None };
        let verb = verbs::verb(first).filter(|verb| verb.category() != Category::Read)?;
        let sends = second == "to"
            && matches!(
                verb.word,
                "post"
                    | "send"
                    | "save"
                    | "email"
                    | "copy"
                    | "write"
                    | "publish"
                    | "forward"
                    | "move"
                    | "rollback"
                    | "revert"
                    | "restore"
                    | "reset"
                    | "assign"
                    | "transfer"
                    | "rename"
                    | "upload"
                    | "push"
                    | "share"
                    | "migrate"
            );
        let acts = sends
            || (matches!(second.as_str(), "if" | "when" | "after" | "once")
                && self.param.form != ParamForm::Switch);
        (acts && !self.filters()).then(|| self.found(&format!("can {}", verb.word), verb.effect))
    }

    /// A description that says what the parameter makes the call do: "Save results to a file", "an existing file is
    /// overwritten".
    fn described(&self) -> Option<ChangingParam> {
        if self.filters() {
            return None;
        }
        // Such a text is about what the caller writes.
        if matches!(
            self.param.name,
            "prompt" | "query" | "question" | "q" | "instructions" | "message" | "text"
        ) {
            return None;
        }
        let phrase = prose::read(self.param.description).writes.filter(|phrase| {
            let mut verbs = phrase
                .text
                .split(' ')
                .filter_map(|word| verbs::inflected(word).or_else(|| prose::participle(word)));
            let first = phrase.text.split(' ').next().unwrap_or_default();
            // "Send one of …" and "Upload protocol" are about the caller or a thing.
            let is_base = verbs::verb(first).is_some();
            let listed = verbs
                .clone()
                .any(|verb| TARGETED.contains(verb.word) && (!is_base || !CALLERS_VERBS.contains(verb.word)));
            let passive = !phrase.opens && verbs.all(|verb| !is_active(verb, &phrase.text));
            phrase.effect != Effect::Session && (listed || passive)
        })?;
        Some(self.found(&format!("says '{}'", phrase.text), phrase.effect))
    }

    /// An HTTP method that the caller chooses.
    fn method(&self, words: &[String]) -> Option<ChangingParam> {
        let is_method = words.last().is_some_and(|word| matches!(word.as_str(), "method" | "verb"));
        if !is_method {
            return None;
        }
        let writes = |text: &str| {
            ["POST", "PUT", "PATCH", "DELETE"].iter().any(|method| text.eq_ignore_ascii_case(method))
        };
        let listed = self.param.choices.iter().any(|choice| writes(choice));
        let described = self.param.choices.is_empty()
            && (words.iter().any(|word| word == "http")
                || self.param.description.split(|ch: char| !ch.is_alphanumeric()).any(writes)
                || self.param.description.contains("HTTP"));
        (listed || described).then(|| self.found("chooses the HTTP method", Effect::Multiplexed))
    }

    /// A program of the caller: `sql`, `script`.
    fn program(&self, words: &[String]) -> Option<ChangingParam> {
        let last = words.last().filter(|word| PROGRAMS.contains(word))?;
        let looks = self
            .lead
            .is_some_and(|verb| LOOKING.contains(verb.word) && verb.word != "search" && verb.word != "find");
        if looks
            || self.prose.denies
            || !self.param.choices.is_empty()
            || is_read_only(self.param.description)
        {
            return None;
        }
        let mentions = |text: &str| words_of(text).any(|word| LANGUAGES.contains(word));
        let reading =
            |text: &str| words_of(text).any(|word| READING_LANGUAGES.contains(&word.to_ascii_lowercase()));
        if reading(self.param.description) || reading(self.description) {
            return None;
        }
        let is_language = LANGUAGES.contains(last);
        let is_script = || {
            words_of(self.param.description).any(|word| {
                matches!(word.to_ascii_lowercase().as_str(), "javascript" | "js" | "lua" | "python")
            })
        };
        let in_language = is_language
            || mentions(self.param.description)
            || (is_script() && runs(self.param.description))
            || (matches!(last.as_str(), "query" | "statement" | "statements") && mentions(self.description));
        let runs = self.prose.runs || runs(self.param.description);
        let writes = match last.as_str() {
            "query" | "expression" | "function" | "kql" | "soql" | "document" => in_language,
            "sql" | "cypher" | "graphql" | "mutation" | "gremlin" | "sparql" | "statement" | "statements" => {
                true
            }
            "bash" | "cmd" | "command" | "commands" | "shell" => runs || in_shell(self.param.description),
            _ => runs,
        };
        writes.then(|| self.found("holds a program that may write", Effect::Execute))
    }

    /// A place that the operation writes to: `output_path`, `webhook_url`.
    fn destination(&self, words: &[String]) -> Option<ChangingParam> {
        let has = |set: &WordSet| words.iter().any(|word| set.contains(word));
        let pair = matches!(words, [.., one, two] if OUTPUTS.contains(one) && PLACES.contains(two) && two != "name" && two != "key");
        let joined = matches!(words, [word] if matches!(word.as_str(), "dest" | "outfile" | "outputpath" | "outputfile" | "outdir" | "saveto"));
        let alone = matches!(words, [word] if word == "destination")
            && self.lead.is_some_and(|verb| verb.weight == Weight::Doubtful);
        // "Where to put the picture", or `out` with "File that gets the PDF".
        let text = self.param.description.to_lowercase();
        let is_place = || {
            text.split(|ch: char| !ch.is_alphanumeric())
                .any(|word| matches!(word, "file" | "folder" | "directory" | "path" | "bucket"))
        };
        let described = ["where to put", "where to save", "where to store", "where to write"]
            .iter()
            .any(|phrase| text.contains(phrase))
            || (matches!(words, [word] if matches!(word.as_str(), "out" | "output"))
                && !text.contains("format")
                && is_place());
        if pair || joined || alone || described {
            return Some(self.found("names a place to write to", Effect::Create));
        }
        if has(&HOOKS)
            && words.iter().any(|word| {
                matches!(
                    word.as_str(),
                    "url"
                        | "uri"
                        | "endpoint"
                        | "email"
                        | "emails"
                        | "channel"
                        | "channels"
                        | "room"
                        | "team"
                        | "user"
                        | "users"
                )
            })
        {
            return Some(self.found("names a receiver", Effect::Send));
        }
        None
    }

    /// A choice of actions, one of which writes.
    fn choice(&self, words: &[String]) -> Option<ChangingParam> {
        let last = words.last()?;
        let quoted = if self.param.choices.is_empty() && CHOOSING.contains(last) {
            quoted_words(self.param.description)
        } else {
            Vec::new()
        };
        if quoted.is_empty() && self.filters() {
            return None;
        }
        // The caller names the operation freely.
        let is_free = self.param.choices.is_empty() && self.param.form == ParamForm::Text;
        if is_free
            && words.len() == 1
            && matches!(last.as_str(), "operation" | "action")
            && !self.lead.is_some_and(Verb::reads)
        {
            return Some(self.found("chooses the operation", Effect::Multiplexed));
        }
        // Other parameters choose an action only if one of their values reads: browse, append, clear.
        let reads = |choice: &&str| {
            names::name_verbs(&names::parts(choice))
                .lead
                .is_some_and(|found| found.verb.reads() && found.verb.weight == Weight::Strong)
        };
        if !CHOOSING.contains(last) && !self.param.choices.iter().any(reads) {
            return None;
        }
        let writes = self.param.choices.iter().chain(&quoted).find(|choice| {
            let found = names::name_verbs(&names::parts(choice));
            let lead = found.lead.map(|lead| lead.verb).or_else(|| verbs::further(choice));
            let sure = |verb: &Verb| {
                verb.weight == Weight::Strong
                    || matches!(last.as_str(), "action" | "operation" | "op" | "method")
                    || (CHOOSING.contains(last) && self.param.choices.iter().any(reads))
            };
            let is_noun = |verb: &Verb| verb.has(VerbTrait::Thing) && words_in(choice) > 1;
            lead.is_some_and(|verb| verb.writes() && sure(verb) && !is_noun(verb))
        })?;
        Some(self.found(&format!("can be '{writes}'"), Effect::Multiplexed))
    }

    /// What is done with the results: `on_match` is `report`, `merge` or `discard`; `then` is `nothing` or `archive`.
    fn follow_up(&self, words: &[String]) -> Option<ChangingParam> {
        let choices = &self.param.choices;
        let (first, last) = (words.first()?, words.last()?);
        // States, kinds and rights: "events of the kind `push`", "who may `write`".
        if choices.len() < 2 || FILTER_WORDS.contains(last) || choices.contains(&"read") || self.filters() {
            return None;
        }
        let follows = FOLLOWING.contains(first);
        let is_idle = choices.iter().any(|choice| IDLE.contains(&choice.to_ascii_lowercase()));
        if !follows && !is_idle {
            return None;
        }
        let writes = choices.iter().find(|choice| {
            let lead = names::name_verbs(&names::parts(choice)).lead.filter(|found| found.word == 0);
            let verb = lead.map(|found| found.verb).or_else(|| verbs::further(choice));
            verb.is_some_and(|verb| verb.writes() && !(verb.has(VerbTrait::Thing) && words_in(choice) > 1))
        })?;
        Some(self.found(&format!("can be '{writes}'"), Effect::Multiplexed))
    }

    /// A value that is set: `new_title`, "New values, if any".
    fn new_value(&self, words: &[String]) -> Option<ChangingParam> {
        if self.param.form == ParamForm::Switch || self.filters() {
            return None;
        }
        let is_named =
            matches!(words, [new, what, ..] if new == "new" && NEW_VALUES.contains(&singular(what)));
        // `patch: object`
        let is_change = self.param.form == ParamForm::Other
            && self.lead.is_some_and(Verb::reads)
            && matches!(words, [one] if matches!(one.as_str(), "patch" | "updates" | "edits" | "mutations" | "upsert"));
        let mut text = words_of(self.param.description);
        let is_described = text.next().is_some_and(|word| word.eq_ignore_ascii_case("new"))
            && text.next().is_some_and(|word| NEW_VALUES.contains(&singular(&word.to_ascii_lowercase())));
        (is_named || is_described || is_change).then(|| self.found("names a new value", Effect::Update))
    }

    /// "ID of the message to delete", "where to save the file".
    fn target(&self) -> Option<ChangingParam> {
        let words: Vec<&str> = words_of(self.param.description).take(40).collect();
        let receives = words.windows(3).any(|three| {
            matches!(three, ["that" | "which" | "who", "receive" | "receives" | "get" | "gets" | "find" | "hear", what] if !what.ends_with("ed"))
        });
        if receives {
            return Some(self.found("receives the result", Effect::Create));
        }
        let becomes = words.windows(3).any(|three| {
            matches!(three, ["that" | "which" | "who", "become" | "becomes", what] if *what != "available")
        });
        if becomes {
            return Some(self.found("becomes something", Effect::Set));
        }
        let saved = |next: &str| {
            matches!(next, "tokens" | "time" | "bandwidth" | "space" | "context" | "money" | "cost")
        };
        let verb = words.windows(3).zip(1..).find_map(|(three, index)| match three {
            [before, to, verb] if *to == "to" && TARGETED.contains(verb) && !PURPOSES.contains(before) => {
                (!words.get(index + 2).is_some_and(|next| saved(next))).then_some(*verb)
            }
            _ => None,
        })?;
        let effect = verbs::verb(verb)?.effect;
        Some(self.found(&format!("is what to {verb}"), effect))
    }
}

/// Returns the number of words of a name.
fn words_in(name: &str) -> usize {
    words(name).len()
}

/// Returns the quoted words of a text: "'inspect' (default) or 'expire'".
fn quoted_words(text: &str) -> Vec<&str> {
    let pieces = text.split(['\'', '"', '`']).skip(1).step_by(2).take(20);
    pieces.filter(|word| !word.is_empty() && !word.contains(' ')).collect()
}

/// Returns whether a text is about a command line.
fn in_shell(text: &str) -> bool {
    words_of(text).any(|word| {
        matches!(
            word.to_ascii_lowercase().as_str(),
            "bash" | "cli" | "powershell" | "shell" | "ssh" | "terminal"
        )
    })
}

/// Returns whether a phrase has a verb in an active form.
fn is_active(verb: &Verb, phrase: &str) -> bool {
    phrase.split(' ').any(|word| verbs::inflected(word).is_some_and(|found| found.word == verb.word))
}

/// Returns the words of a text as they are written, without punctuation.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    text.split(|ch: char| !(ch.is_alphanumeric() || ch == '-' || ch == '_')).filter(|word| !word.is_empty())
}

fn is_read_only(description: &str) -> bool {
    let lower = description.to_ascii_lowercase();
    prose::denies(&lower)
        || (lower.contains("select") && !lower.contains("insert") && !lower.contains("e.g."))
}

fn runs(description: &str) -> bool {
    words_of(description).any(|word| {
        let word = word.to_ascii_lowercase();
        matches!(
            word.as_str(),
            "execute" | "executed" | "executes" | "run" | "runs" | "evaluate" | "evaluated" | "eval"
        )
    })
}

/// Returns whether a parameter can hold a program: `script`, `query`.
pub(super) fn may_hold_program(param: &ParamEvidence<'_>) -> bool {
    param.form == ParamForm::Text && words(param.name).last().is_some_and(|word| PROGRAMS.contains(word))
}

/// Returns whether a parameter holds content that a write stores or sends: `body`, `message`.
pub(super) fn has_payload(params: &[ParamEvidence<'_>]) -> bool {
    static PAYLOADS: WordSet = WordSet::of(
        "agreed amount attachment attachments attendees body code comment content contents data html input invitees json lines markdown message payload recipients \
         source subject text value values xml yaml",
    );
    params.iter().any(|param| words(param.name).last().is_some_and(|word| PAYLOADS.contains(word)))
}

/// Returns a field of the answer that counts or confirms changes: `deleted_count`, "… were deleted".
pub(super) fn changed_field<'a>(answer: &[ParamEvidence<'a>], reads_record: bool) -> Option<&'a str> {
    let acted = |word: &str| prose::participle(word).is_some_and(Verb::acts) && word != "applied";
    let field = answer.iter().find(|field| {
        let words = words(field.name);
        let counts = words.iter().any(|word| acted(word))
            && words.iter().any(|word| matches!(word.as_str(), "count" | "total" | "rows"));
        let affected = words.iter().any(|word| word == "affected");
        let text: Vec<&str> = words_of(field.description).collect();
        let told = text
            .windows(2)
            .any(|pair| matches!(pair, [was, word] if matches!(*was, "was" | "were") && acted(word)));
        // "Id of the new reservation", "the order that was created". A record that is read was also created once.
        let made = !reads_record
            && text.windows(3).any(|three| match three {
                ["of", "the", "new"] => true,
                ["that" | "which", "was", word] => prose::participle(word).is_some_and(Verb::writes),
                _ => false,
            });
        // `orders_created`: a number or a list of what the call made.
        let lists = !reads_record
            && field.form == ParamForm::Other
            && words.last().and_then(|word| prose::participle(word)).is_some_and(|verb| {
                verb.writes()
                    && !matches!(
                        verb.word,
                        "add" | "change" | "remove" | "modify" | "update" | "apply" | "process"
                    )
            });
        counts || affected || made || lists || (told && field.form != ParamForm::Text)
    });
    field.map(|field| field.name)
}
