//! Chooses argument values for a probe, by the names, descriptions and schemas of parameters.
//!
//! What always holds: of listed values, only one without an acting verb is used, preferably one that reads. A flag is false unless
//! true prevents an action. Parameters that may take code, a command or an address get no value. A flag that prevents a call from
//! doing anything is always set.

use mcpaql_core::operation::Category;
use mcpaql_core::sample::ValueChooser;
use mcpaql_core::schema::required_fields;
use mcpaql_lexicon::WordSet;
use mcpaql_lexicon::classify;
use mcpaql_lexicon::verbs::{self, Verb};
use serde_json::Value;
use std::cell::RefCell;
use std::cmp::Reverse;

/// Words in names of parameters for code, commands or addresses, in the singular.
static RISKY_WORDS: WordSet = WordSet::of(
    "address bash callback cmd cmdline code command commandline cypher domain email endpoint eval expression \
     function gql graphql host hostname href ip ipv4 ipv6 javascript jq js lambda link lua mutation perl php \
     powershell program proxy python recipient ruby script shell snippet sparql sql statement uri url webhook \
     website",
);
/// Words in descriptions of such parameters.
static RISKY_DESCRIPTION_WORDS: WordSet = WordSet::of(
    "address bash command expression hostname javascript jq lua perl php powershell python ruby script snippet \
     uri url webhook website",
);
/// Last words of names that refer to an existing object or a number.
static IDENTIFIER_WORDS: WordSet = WordSet::of("id ids uuid key slug count limit");
/// Formats of addresses.
const LOCATION_FORMATS: &[&str] = &[
    "uri",
    "url",
    "iri",
    "uri-reference",
    "uri-template",
    "iri-reference",
    "hostname",
    "idn-hostname",
    "email",
    "idn-email",
    "ipv4",
    "ipv6",
];
/// Parts of media types of code.
const EXECUTABLE_MEDIA: &[&str] =
    &["script", "sql", "python", "lua", "ruby", "perl", "php", "shell", "x-sh", "graphql", "wasm"];
/// Names of flags that prevent a call from doing anything.
const DRY_RUN_FLAGS: &[&str] =
    &["dry", "dryrun", "preview", "readonly", "rehearse", "simulate", "simulation"];
/// Names of flags that limit what a call does.
const SAFETY_FLAGS: &[&str] = &["keep", "preserve", "safe"];
/// Words that negate a flag.
const NEGATING_WORDS: &[&str] = &["bypass", "disable", "ignore", "no", "not", "skip", "without"];
/// Safeguards that must not be negated.
const GUARDS: &[&str] =
    &["approval", "backup", "check", "confirm", "confirmation", "prompt", "validate", "validation", "verify"];
/// Values that are more forceful than others; chosen last.
const FORCEFUL_VALUES: &[&str] = &["aggressive", "force", "forced", "hard", "permanent", "unsafe"];
/// Modes that open something for writing.
const WRITE_MODES: &[&str] = &["a+", "r+", "rw", "rwx", "w", "w+", "wb", "wo", "wr"];
/// Shell commands, in addition to changing verbs.
const SHELL: &[&str] = &["bash", "curl", "dd", "eval", "exec", "powershell", "sh", "sudo", "wget"];
/// Operators of a shell, and the `://` of addresses.
const SHELL_OPERATORS: &[&str] = &[";", "&&", "|", "`", "$(", "://"];
const TRUE_WORDS: &[&str] = &["true", "yes", "on", "always"];
const FALSE_WORDS: &[&str] = &["false", "no", "off", "never"];
/// Maximum number of characters of a value that are examined.
const MAX_WORD_TEXT: usize = 200;

/// Chooses harmless values, and remembers why it last refused one.
#[derive(Debug, Default)]
pub(crate) struct SafeArgs {
    refused: RefCell<Option<(String, &'static str)>>,
}

impl SafeArgs {
    /// Returns why there is no value for a parameter.
    pub(crate) fn reason(&self, parameter: &str) -> String {
        match self.refused.take() {
            Some((name, why)) if name == parameter => format!("{why} '{name}'"),
            Some((name, why)) => format!("{why} '{name}' in '{parameter}'"),
            None => format!("no value can be made up for '{parameter}'"),
        }
    }

    fn refuse(&self, name: &str, why: &'static str) {
        *self.refused.borrow_mut() = Some((name.to_owned(), why));
    }
}

impl ValueChooser for SafeArgs {
    fn allows(&self, name: &str, schema: &Value) -> bool {
        // `choose` and `flag` handle listed values and flags.
        let is_listed = ["enum", "const", "oneOf", "anyOf"].iter().any(|key| schema.get(key).is_some());
        let is_flag = schema.get("type").and_then(Value::as_str) == Some("boolean");
        let is_safe = is_listed || is_flag || !(is_risky(name) || is_location(schema) || names_removal(name));
        if !is_safe || (!is_flag && !is_listed && is_described_risky(name, schema)) {
            self.refuse(name, "no safe value can be made up for");
            return false;
        }
        if let Some(member) = acting_default(schema) {
            self.refuse(member, "no harmless value can be made up because of the default of");
            return false;
        }
        true
    }

    fn choose(&self, name: &str, values: &[&Value]) -> Option<Value> {
        let readable = |value: &&&Value| reads(value) || !is_risky(name);
        let safe = values.iter().filter(|value| !acts(name, value)).filter(readable);
        // The first of the best values.
        let best = safe.min_by_key(|value| (Reverse(reads(value)), is_forceful(value)));
        if best.is_none() {
            self.refuse(name, "no harmless value is allowed for");
        }
        best.map(|value| (*value).clone())
    }

    fn accepts(&self, name: &str, text: &str) -> bool {
        let own = mcpaql_lexicon::words(name);
        let acts = leading_words(text).iter().any(|word| !own.contains(word) && acting_verb(word).is_some());
        if acts || is_command(text) {
            self.refuse(name, "no harmless value is allowed for");
            return false;
        }
        true
    }

    fn flag(&self, name: &str) -> bool {
        is_safety_flag(name)
    }
}

/// Returns the optional flags that prevent a call from doing anything.
pub(crate) fn dry_run_flags(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let required = required_fields(schema);
    fields
        .map(|(name, field)| (name.as_str(), field))
        .filter(move |(name, field)| !required.contains(name) && is_dry_run(name) && may_be_flag(field))
}

fn may_be_flag(schema: &Value) -> bool {
    let is_flag = |schema: &Value| match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "boolean"),
        kind => kind.is_some_and(|kind| kind == "boolean"),
    };
    let variants = ["anyOf", "oneOf"].iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    is_flag(schema) || variants.into_iter().any(is_flag)
}

/// Returns the first optional field whose default changes something.
pub(crate) fn acting_default(schema: &Value) -> Option<&str> {
    let fields = schema.get("properties").and_then(Value::as_object)?;
    let required = required_fields(schema);
    let mut left_out = fields.iter().filter(|(name, _)| !required.contains(&name.as_str()));
    left_out.find(|(name, field)| acts_by_default(name, field)).map(|(name, _)| name.as_str())
}

fn acts_by_default(name: &str, schema: &Value) -> bool {
    schema.get("default").is_some_and(|value| certainly_acts(name, value)) || acting_default(schema).is_some()
}

/// Returns whether a default clearly asks for an action.
fn certainly_acts(name: &str, value: &Value) -> bool {
    let surely = |word: &str| acting_verb(word).is_some_and(|verb| verb.acts() || destroys(verb));
    match value {
        Value::String(text) => matches!(leading_words(text).as_slice(), [word] if surely(word)),
        Value::Bool(true) => {
            let words = mcpaql_lexicon::words(name);
            words.first().is_some_and(|word| surely(word)) && !is_safety_flag(name)
        }
        Value::Array(items) => items.iter().any(|item| certainly_acts(name, item)),
        Value::Object(members) => members.iter().any(|(name, member)| certainly_acts(name, member)),
        _ => false,
    }
}

/// Returns whether a true flag prevents any action.
fn is_dry_run(name: &str) -> bool {
    let words = mcpaql_lexicon::words(name);
    let is_negated = words.iter().any(|word| NEGATING_WORDS.contains(&word.as_str()));
    let named = words.iter().any(|word| DRY_RUN_FLAGS.contains(&word.as_str()));
    let only = matches!(words.as_slice(), [first, .., last] if (first == "validate" || first == "read") && last == "only");
    !is_negated && (named || only)
}

/// Returns whether true is the safe value of a flag: `keep`, `no_delete`, but not `no_confirmation`.
fn is_safety_flag(name: &str) -> bool {
    let words = mcpaql_lexicon::words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    match words.first() {
        Some(first) if first == "no" => !has(GUARDS) && !has(SAFETY_FLAGS) && !has(DRY_RUN_FLAGS),
        _ => is_dry_run(name) || (has(SAFETY_FLAGS) && !has(NEGATING_WORDS)),
    }
}

/// Returns whether a name refers to an existing object or a number.
fn is_identifier(name: &str) -> bool {
    mcpaql_lexicon::words(name).last().is_some_and(|word| IDENTIFIER_WORDS.contains(word))
}

fn is_risky(name: &str) -> bool {
    let words = mcpaql_lexicon::words(name);
    !is_identifier(name) && words.iter().any(|word| RISKY_WORDS.contains(&mcpaql_lexicon::singular(word)))
}

/// Returns whether the name of a parameter says that something is removed: `delete`, `purge_before`.
fn names_removal(name: &str) -> bool {
    mcpaql_lexicon::words(name)
        .first()
        .and_then(|word| acting_verb(word))
        .is_some_and(|verb| verb.acts() && destroys(verb))
}

fn is_location(schema: &Value) -> bool {
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    text("format").is_some_and(|format| LOCATION_FORMATS.contains(&format))
        || text("contentMediaType")
            .is_some_and(|kind| EXECUTABLE_MEDIA.iter().any(|part| kind.to_ascii_lowercase().contains(part)))
}

fn is_described_risky(name: &str, schema: &Value) -> bool {
    let Some(text) = schema.get("description").and_then(Value::as_str) else { return false };
    let first = mcpaql_lexicon::first_sentence(text);
    let described = mcpaql_lexicon::words(&first.replace(|c: char| !c.is_alphanumeric(), " "));
    let is_risky =
        || described.iter().any(|word| RISKY_DESCRIPTION_WORDS.contains(&mcpaql_lexicon::singular(word)));
    classify::program_word(text).is_some() || (!is_identifier(name) && is_risky())
}

/// Returns whether a value may ask for an action.
fn acts(name: &str, value: &Value) -> bool {
    match value {
        Value::Bool(flag) => *flag != is_safety_flag(name),
        Value::String(text) => {
            let words = leading_words(text);
            match (words.as_slice(), is_safety_flag(name)) {
                ([word], false) if TRUE_WORDS.contains(&word.as_str()) => true,
                ([word], true) if FALSE_WORDS.contains(&word.as_str()) => true,
                _ => {
                    words.iter().any(|word| acting_verb(word).is_some())
                        || is_command(text)
                        || is_writing(text)
                }
            }
        }
        Value::Array(items) => items.iter().any(|item| acts(name, item)),
        Value::Object(members) => members.iter().any(|(name, member)| is_risky(name) || acts(name, member)),
        _ => false,
    }
}

/// Returns whether a value contains a reading verb.
fn reads(value: &Value) -> bool {
    let says = |text: &str| leading_words(text).iter().any(|word| verbs::verb(word).is_some_and(Verb::reads));
    value.as_str().is_some_and(says)
}

/// Returns whether a text may be a command or an address.
fn is_command(text: &str) -> bool {
    SHELL_OPERATORS.iter().any(|mark| text.contains(mark))
        || leading_words(text)
            .iter()
            .any(|word| SHELL.contains(&word.as_str()) || verbs::is_changing_verb(word))
}

fn is_writing(text: &str) -> bool {
    WRITE_MODES.iter().any(|mode| text.eq_ignore_ascii_case(mode))
}

fn is_forceful(value: &Value) -> bool {
    value
        .as_str()
        .is_some_and(|text| leading_words(text).iter().any(|word| FORCEFUL_VALUES.contains(&word.as_str())))
}

fn acting_verb(word: &str) -> Option<&'static Verb> {
    verbs::inflected(word).filter(|verb| verb.effect.category() != Category::Read)
}

fn destroys(verb: &Verb) -> bool {
    verb.effect.category() == Category::Delete
}

fn leading_words(text: &str) -> Vec<String> {
    let start: String = text.chars().take(MAX_WORD_TEXT).collect();
    mcpaql_lexicon::words(&start.replace(|c: char| !c.is_alphanumeric(), " "))
}
