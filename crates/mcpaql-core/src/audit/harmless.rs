//! Arguments that ask for nothing: which values a probe may hand to a tool, by the words of what they are called, described as
//! and made of.
//!
//! What always holds: of listed values only one is taken that does not act by the table of verbs, and rather one that reads;
//! a flag is false, unless true means that nothing happens; what may be code, a command or an address has no value.

use crate::classify::verbs::{self, Verb};
use crate::classify::{self, words};
use crate::operation::Category;
use crate::sample::Taste;
use crate::schema::required_fields;
use serde_json::Value;
use std::cell::RefCell;
use std::cmp::Reverse;

/// Words of parameters that are run, or that lead somewhere; in singular.
const RISKY: &[&str] = &[
    "address",
    "bash",
    "callback",
    "cmd",
    "code",
    "command",
    "cypher",
    "domain",
    "email",
    "endpoint",
    "eval",
    "expression",
    "function",
    "gql",
    "graphql",
    "host",
    "hostname",
    "href",
    "ip",
    "ipv4",
    "ipv6",
    "javascript",
    "jq",
    "js",
    "lambda",
    "link",
    "mutation",
    "powershell",
    "program",
    "proxy",
    "python",
    "recipient",
    "script",
    "shell",
    "sparql",
    "sql",
    "statement",
    "uri",
    "url",
    "webhook",
    "website",
];
/// Words of descriptions that say the same.
const TOLD: &[&str] = &[
    "address",
    "bash",
    "command",
    "expression",
    "hostname",
    "javascript",
    "powershell",
    "python",
    "script",
    "uri",
    "url",
    "webhook",
    "website",
];
/// Behind one of these a word is about something that is there already.
const ABOUT: &[&str] = &["id", "ids", "uuid", "key", "slug", "count", "limit"];
/// Formats that lead somewhere.
const LEADING: &[&str] = &[
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
/// Names of flags that keep a call from doing anything.
const REHEARSALS: &[&str] = &["dry", "dryrun", "preview", "rehearse", "simulate", "simulation"];
const YES: &[&str] = &["true", "yes", "on", "always"];
const NO: &[&str] = &["false", "no", "off", "never"];
/// A longer text is no word.
const LONGEST: usize = 200;

/// Chooses values that ask for nothing, and keeps why it last refused one.
#[derive(Debug, Default)]
pub(super) struct Harmless {
    refused: RefCell<Option<(String, &'static str)>>,
}

impl Harmless {
    /// Why there is no value for that parameter.
    pub(super) fn reason(&self, parameter: &str) -> String {
        match self.refused.take() {
            Some((name, why)) if name == parameter => format!("{why} '{name}'"),
            Some((name, why)) => format!("{why} '{name}' in '{parameter}'"),
            None => format!("nothing can be made up for '{parameter}'"),
        }
    }

    fn refuse(&self, name: &str, why: &'static str) {
        *self.refused.borrow_mut() = Some((name.to_owned(), why));
    }
}

impl Taste for Harmless {
    fn allows(&self, name: &str, schema: &Value) -> bool {
        // Listed values and flags are judged by themselves.
        let is_listed = ["enum", "const", "oneOf", "anyOf"].iter().any(|key| schema.get(key).is_some());
        let is_flag = schema.get("type").and_then(Value::as_str) == Some("boolean");
        let is_safe = is_listed || is_flag || !(is_risky(name) || leads(schema) || removes(name));
        if !is_safe || (!is_flag && !is_listed && is_told_risky(name, schema)) {
            self.refuse(name, "nothing safe can be made up for");
            return false;
        }
        if let Some(member) = acts_unasked(schema) {
            self.refuse(member, "nothing harmless can be made up without");
            return false;
        }
        true
    }

    fn choose(&self, name: &str, values: &[&Value]) -> Option<Value> {
        let readable = |value: &&&Value| reads(value) || !is_risky(name);
        let safe = values.iter().filter(|value| !acts(name, value)).filter(readable);
        // The first of the best.
        let best = safe.min_by_key(|value| Reverse(reads(value)));
        if best.is_none() {
            self.refuse(name, "no harmless value is allowed for");
        }
        best.map(|value| (*value).clone())
    }

    fn accepts(&self, name: &str, text: &str) -> bool {
        let own = words::words(name);
        let acts = spoken(text).iter().any(|word| !own.contains(word) && acting(word).is_some());
        if acts {
            self.refuse(name, "no harmless value is allowed for");
        }
        !acts
    }

    fn flag(&self, name: &str) -> bool {
        is_rehearsal(name)
    }
}

/// The field that does something where it is left out.
pub(super) fn acts_unasked(schema: &Value) -> Option<&str> {
    let fields = schema.get("properties").and_then(Value::as_object)?;
    let required = required_fields(schema);
    let mut left_out = fields.iter().filter(|(name, _)| !required.contains(&name.as_str()));
    left_out.find(|(name, field)| acts_by_default(name, field)).map(|(name, _)| name.as_str())
}

fn acts_by_default(name: &str, schema: &Value) -> bool {
    let surely = |word: &str| acting(word).is_some_and(|verb| verb.acts() || destroys(verb));
    match schema.get("default") {
        Some(Value::String(text)) => matches!(spoken(text).as_slice(), [word] if surely(word)),
        Some(Value::Bool(true)) => {
            let words = words::words(name);
            words.first().is_some_and(|word| surely(word)) && !is_rehearsal(name)
        }
        _ => false,
    }
}

fn is_rehearsal(name: &str) -> bool {
    let words = words::words(name);
    words.iter().any(|word| REHEARSALS.contains(&word.as_str()))
        || matches!(words.as_slice(), [first, .., last] if first == "validate" && last == "only")
}

/// Whether it names something that is there already.
fn is_about(name: &str) -> bool {
    words::words(name).last().is_some_and(|word| ABOUT.contains(&word.as_str()))
}

fn is_risky(name: &str) -> bool {
    let words = words::words(name);
    !is_about(name) && words.iter().any(|word| RISKY.contains(&words::singular(word).as_ref()))
}

/// Whether it is called by what it removes: `delete`, `purge_before`.
fn removes(name: &str) -> bool {
    words::words(name).first().and_then(|word| acting(word)).is_some_and(|verb| verb.acts() && destroys(verb))
}

fn leads(schema: &Value) -> bool {
    schema.get("format").and_then(Value::as_str).is_some_and(|format| LEADING.contains(&format))
}

fn is_told_risky(name: &str, schema: &Value) -> bool {
    let Some(text) = schema.get("description").and_then(Value::as_str) else { return false };
    let first = classify::first_sentence(text);
    let told = words::words(&first.replace(|c: char| !c.is_alphanumeric(), " "));
    let leads = || told.iter().any(|word| TOLD.contains(&words::singular(word).as_ref()));
    classify::program(text).is_some() || (!is_about(name) && leads())
}

/// Whether a value asks for something to be done.
fn acts(name: &str, value: &Value) -> bool {
    match value {
        Value::Bool(flag) => *flag != is_rehearsal(name),
        Value::String(text) => {
            let words = spoken(text);
            match (words.as_slice(), is_rehearsal(name)) {
                ([word], false) if YES.contains(&word.as_str()) => true,
                ([word], true) if NO.contains(&word.as_str()) => true,
                _ => words.iter().any(|word| acting(word).is_some()),
            }
        }
        Value::Array(items) => items.iter().any(|item| acts(name, item)),
        Value::Object(members) => members.iter().any(|(name, member)| is_risky(name) || acts(name, member)),
        _ => false,
    }
}

/// Whether a value says that it reads.
fn reads(value: &Value) -> bool {
    let says = |text: &str| spoken(text).iter().any(|word| verbs::verb(word).is_some_and(Verb::reads));
    value.as_str().is_some_and(says)
}

fn acting(word: &str) -> Option<&'static Verb> {
    verbs::inflected(word).filter(|verb| verb.effect.category() != Category::Read)
}

fn destroys(verb: &Verb) -> bool {
    verb.effect.category() == Category::Delete
}

fn spoken(text: &str) -> Vec<String> {
    let start: String = text.chars().take(LONGEST).collect();
    words::words(&start.replace(|c: char| !c.is_alphanumeric(), " "))
}
