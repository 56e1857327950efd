//! Reads policies from files.

use super::{Hint, HintSet, Idempotence, OpenWorld, Policy};
use crate::diagnostic::Diagnostic;
use crate::error::Code;
use crate::extends::ExtendableSet;
use crate::facts::Effect;
use crate::operation::Category;
use crate::reader::{DocumentObject, DocumentReader};
use crate::suggest;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::OnceLock;

const KEYS: &[&str] = &[
    "about",
    "source",
    "extends",
    "destructive",
    "idempotent",
    "never_idempotent",
    "open_world",
    "writes",
    "title_in_annotations",
];
const DESTRUCTIVE_KEYS: &[&str] = &["categories", "effects"];

/// The name of the default policy.
pub const DEFAULT_POLICY: &str = "mcpaql";

/// A built-in policy, read on first use.
struct Builtin {
    text: &'static str,
    policy: OnceLock<Policy>,
}

impl Builtin {
    const fn new(text: &'static str) -> Builtin {
        Builtin { text, policy: OnceLock::new() }
    }
}

/// The built-in policies, the default first.
const NAMES: [&str; 6] = [DEFAULT_POLICY, "mcpaql-issue", "mcpaql-spec", "mcp", "lightdash", "nextcloud"];

static BUILTIN: [Builtin; NAMES.len()] = [
    Builtin::new(include_str!("builtin/mcpaql.json")),
    Builtin::new(include_str!("builtin/mcpaql-issue.json")),
    Builtin::new(include_str!("builtin/mcpaql-spec.json")),
    Builtin::new(include_str!("builtin/mcp.json")),
    Builtin::new(include_str!("builtin/lightdash.json")),
    Builtin::new(include_str!("builtin/nextcloud.json")),
];

fn entry(name: &str) -> Option<&'static Builtin> {
    NAMES.iter().zip(&BUILTIN).find(|(own, _)| **own == name).map(|(_, builtin)| builtin)
}

fn builtin_value(name: &str) -> Option<Value> {
    serde_json::from_str(entry(name)?.text).ok()
}

/// Returns the built-in policy with this name.
pub(super) fn builtin(name: &str) -> Option<&'static Policy> {
    Some(entry(name)?.policy.get_or_init(|| read_builtin(&mut DocumentReader::default(), name)))
}

pub(super) fn read_builtin(reader: &mut DocumentReader, name: &str) -> Policy {
    let none = Map::new();
    let set =
        ExtendableSet { noun: "policy", members: &none, builtin: &NAMES, builtin_value: &builtin_value };
    let value = builtin_value(name).unwrap_or_default();
    let resolved = set.resolve(reader, &value, "", &mut vec![name.to_owned()], &mut HashMap::new());
    reader.object(&resolved, "").map(|object| read(reader, name, &object)).unwrap_or_default()
}

/// Returns the names of the built-in policies, the default first.
#[must_use]
pub fn names() -> &'static [&'static str] {
    &NAMES
}

/// Returns all built-in policies, the default first.
pub fn policies() -> impl Iterator<Item = &'static Policy> {
    NAMES.into_iter().filter_map(builtin)
}

/// Returns the default policy.
#[must_use]
pub fn default() -> &'static Policy {
    static FALLBACK: OnceLock<Policy> = OnceLock::new();
    builtin(DEFAULT_POLICY).unwrap_or_else(|| FALLBACK.get_or_init(Policy::default))
}

/// Returns the policy with this name: a team's own or a built-in one.
#[must_use]
pub fn find<'p>(name: &str, own: &'p [Policy]) -> Option<&'p Policy> {
    own.iter().find(|policy| policy.name == name).or_else(|| builtin(name))
}

/// Returns a diagnostic about an unknown policy, without a pointer; `None` if the policy exists.
#[must_use]
pub fn unknown_policy(name: &str, own: &[Policy]) -> Option<Diagnostic> {
    let known: Vec<&str> = NAMES.into_iter().chain(own.iter().map(|policy| policy.name.as_str())).collect();
    if known.contains(&name) {
        return None;
    }
    let message = format!("Unknown hint policy '{name}'");
    let diagnostic =
        Diagnostic::error(Code::SchemaInvalidValue, "", message).expected_one_of(&known).found(name);
    Some(match suggest::nearest(name, known) {
        Some(near) => diagnostic.suggest(format!("did you mean `{near}`?")),
        None => diagnostic,
    })
}

/// Reads policies from the mapping at `pointer`.
#[must_use]
pub fn read_all(value: &Value, pointer: &str) -> (Vec<Policy>, Vec<Diagnostic>) {
    let mut reader = DocumentReader::default();
    let Some(members) = reader.object(value, pointer) else { return (Vec::new(), reader.diagnostics) };
    let set = ExtendableSet {
        noun: "policy",
        members: members.map,
        builtin: &NAMES,
        builtin_value: &builtin_value,
    };
    let policies = set.read_all(&mut reader, pointer, read);
    (policies, reader.diagnostics)
}

/// Reads a policy. Missing keys have the values of the default policy.
fn read(reader: &mut DocumentReader, name: &str, object: &DocumentObject<'_>) -> Policy {
    reader.check_keys(object, KEYS);
    let defaults = Policy::default();
    let destructive = reader.member(object, "destructive");
    let (mut destructive_categories, mut effects) = (None, None);
    if let Some(destructive) = &destructive {
        reader.check_keys(destructive, DESTRUCTIVE_KEYS);
        destructive_categories = categories(reader, destructive, "categories");
        effects = list(reader, destructive, "effects", &Effect::ALL.map(Effect::as_str), Effect::parse);
    }
    let meanings = Idempotence::ALL.map(Idempotence::as_str);
    let worlds = OpenWorld::ALL.map(OpenWorld::as_str);
    Policy {
        name: name.to_owned(),
        about: reader.string(object, "about").unwrap_or_default(),
        source: reader.string(object, "source"),
        destructive_categories: destructive_categories.unwrap_or(defaults.destructive_categories),
        destructive_effects: effects.unwrap_or(defaults.destructive_effects),
        idempotent: reader
            .choice(object, "idempotent", &meanings, Idempotence::parse)
            .unwrap_or(defaults.idempotent),
        never_idempotent: categories(reader, object, "never_idempotent").unwrap_or(defaults.never_idempotent),
        open_world: reader
            .choice(object, "open_world", &worlds, OpenWorld::parse)
            .unwrap_or(defaults.open_world),
        written_hints: written_hints(reader, object),
        title_in_annotations: reader
            .boolean(object, "title_in_annotations")
            .unwrap_or(defaults.title_in_annotations),
    }
}

/// Reads a list; `None` if it is missing, which differs from an empty list.
fn list<T>(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    key: &str,
    words: &[&str],
    parse: impl Fn(&str) -> Option<T>,
) -> Option<Vec<T>> {
    object.get(key)?;
    Some(reader.choices(object, key, words, parse))
}

fn categories(reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str) -> Option<Vec<Category>> {
    list(reader, object, key, &Category::ALL.map(Category::endpoint), Category::parse)
}

/// Reads `writes`: one list for all categories, or a list for each.
fn written_hints(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> [HintSet; 5] {
    let hints = |reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str| {
        let listed = list(reader, object, key, &Hint::ALL.map(Hint::key), Hint::parse);
        listed.map_or(HintSet::ALL, |listed| listed.into_iter().collect())
    };
    if !object.get("writes").is_some_and(Value::is_object) {
        return [hints(reader, object, "writes"); 5];
    }
    let Some(each) = reader.member(object, "writes") else { return [HintSet::ALL; 5] };
    let keys = Category::ALL.map(Category::endpoint);
    reader.check_keys(&each, &keys);
    keys.map(|key| hints(reader, &each, key))
}
