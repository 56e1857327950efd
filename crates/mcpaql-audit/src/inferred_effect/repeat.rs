//! Infers the effect of a second, identical call.

use super::{endpoint, is_confirmed};
use crate::tool::{ParsedTool, parameters, required};
use mcpaql_core::facts::{Effect, Guard, Repeat};
use mcpaql_core::operation::Category;
use mcpaql_lexicon::classify::Confidence;
use mcpaql_lexicon::{WordSet, iter_words, singular, words};

/// Names of parameters for the version that the caller saw last.
const VERSIONS: &[&str] = &[
    "etag",
    "if_match",
    "ifmatch",
    "version",
    "revision",
    "rev",
    "lock_version",
    "sha",
    "if_unmodified_since",
];
/// First and last words of further such names: `expected_version`, `resource_version`.
static VERSION_STARTS: WordSet = WordSet::of(
    "base concurrency current expected head if known last latest lock match previous resource row",
);
static VERSION_ENDS: WordSet =
    WordSet::of("checksum etag hash match rev revision sequence sha since token version");
/// Names of parameters that identify a new object; creating it twice may fail.
const KEYS: &[&str] =
    &["name", "path", "filename", "key", "slug", "id", "email", "username", "uuid", "directory"];
/// Words before a key that say nothing about what it identifies.
static PLAIN_QUALIFIERS: WordSet = WordSet::of(
    "dest destination dir directory file folder full new object output resource target unique url",
);
/// Verbs that add something with every call.
const ADDING_VERBS: &[&str] = &["append", "comment", "enqueue", "reply", "post", "tweet", "track", "ingest"];
/// Verbs that change something further with every call.
const STEPPING_VERBS: &[&str] = &["toggle", "increment", "decrement", "flip"];
/// Verbs that set fields of something to given values.
const SETTING_VERBS: &[&str] = &["update", "edit", "modify", "change", "patch", "configure", "set", "put"];
/// Words of parameters and descriptions for changes that add up.
static RELATIVE: WordSet = WordSet::of(
    "add added adds adjustment append appended appends decrement delta increase increment increments insert \
     inserts merge offset prepend remove reorder rotate shift step toggle toggles",
);

/// Returns what protects an update or a deletion against changes by others.
pub(super) fn guard(tool: &ParsedTool<'_>, effect: Effect) -> Guard {
    let writes = matches!(effect.category(), Category::Update | Category::Delete);
    let guarded = writes && required(tool).any(is_version);
    if guarded { Guard::Etag } else { Guard::None }
}

fn is_version(name: &str) -> bool {
    if name.len() > 32 {
        return false;
    }
    let lower = name.to_ascii_lowercase().replace('-', "_");
    if VERSIONS.contains(&lower.trim_start_matches('_')) {
        return true;
    }
    let words = words(name);
    match words.as_slice() {
        [first, .., last] => VERSION_STARTS.contains(first) && VERSION_ENDS.contains(last),
        _ => false,
    }
}

/// Returns the possible effects of a second call.
pub(super) fn repeats(tool: &ParsedTool<'_>, effect: Effect, guard: Guard) -> &'static [Repeat] {
    use Repeat::{Accumulates, FailsWithoutEffect, NoEffect, Unknown};
    const ANY: &[Repeat] = &[NoEffect, FailsWithoutEffect, Accumulates];
    let has = |list: &[&str]| tool.words.iter().any(|word| list.contains(&word.as_str()));
    let may_be_versioned = || parameters(tool).any(|(name, _)| is_version(name));
    match effect {
        Effect::Read | Effect::Compute => &[NoEffect],
        Effect::Send => &[Accumulates],
        Effect::Append if has(ADDING_VERBS) => &[Accumulates],
        Effect::Append => ANY,
        Effect::Create if caller_names_result(tool) => ANY,
        Effect::Create => &[Accumulates],
        Effect::Delete | Effect::SoftDelete | Effect::Unlink => &[FailsWithoutEffect],
        Effect::Update | Effect::Set | Effect::Move if guard == Guard::Etag => &[FailsWithoutEffect],
        Effect::Set | Effect::Update if has(STEPPING_VERBS) => &[Accumulates],
        // With an optional version, a second call may be rejected.
        Effect::Set | Effect::Update if may_be_versioned() => ANY,
        // Without a parameter for the target, it is unknown where the tool writes.
        Effect::Set if has(&["write"]) && !caller_names_result(tool) => &[NoEffect, Accumulates],
        Effect::Set if is_plain_set(tool) && !has(&["save", "restore"]) => &[NoEffect],
        Effect::Update if has(SETTING_VERBS) && sets_given_values(tool) => &[NoEffect],
        Effect::Set | Effect::Update | Effect::Move => ANY,
        Effect::Execute | Effect::Session | Effect::Multiplexed => &[Unknown, NoEffect],
    }
}

/// Returns whether the tool only sets a value. Accepting an invitation, for example, may do more.
fn is_plain_set(tool: &ParsedTool<'_>) -> bool {
    tool.by_name.confidence == Confidence::High
        || is_confirmed(tool)
        || tool.words.iter().any(|word| word == "set")
}

/// Returns whether an update sets fields to the values of its arguments, so that a second call changes nothing.
fn sets_given_values(tool: &ParsedTool<'_>) -> bool {
    let is_relative = |(name, _): (&str, _)| words(name).iter().any(|word| RELATIVE.contains(word));
    let mut said = iter_words(mcpaql_lexicon::first_sentence(tool.description.unwrap_or_default()));
    parameters(tool).next().is_some()
        && !parameters(tool).any(is_relative)
        && !said.any(|word| RELATIVE.contains(&word))
}

/// Returns whether the caller names the new object, or the description says what happens if it exists.
fn caller_names_result(tool: &ParsedTool<'_>) -> bool {
    parameters(tool).any(|(name, _)| name.len() <= 40 && names_result(tool, name))
        || tool.description.is_some_and(|text| text.contains("exist"))
}

/// Returns whether a parameter identifies the object of the tool: `path`, or `bucket_name` of `create_bucket`, but not
/// `calendar_name` of `create_event`.
fn names_result(tool: &ParsedTool<'_>, name: &str) -> bool {
    if KEYS.contains(&name.to_ascii_lowercase().as_str()) {
        return true;
    }
    let mut words = words(name);
    let last = words.pop().unwrap_or_default();
    let is_key =
        matches!(last.as_str(), "name" | "path" | "key" | "slug" | "filename") || last.ends_with("name");
    let of_tool = |word: &String| {
        PLAIN_QUALIFIERS.contains(word) || tool.words.iter().any(|own| singular(own) == singular(word))
    };
    is_key && words.iter().all(of_tool)
}

/// Returns whether every call certainly adds something, or changes something further.
pub(crate) fn certainly_accumulates(tool: &ParsedTool<'_>) -> bool {
    if let Some(known) = tool.known {
        return known.facts.repeat == Repeat::Accumulates;
    }
    // The operations behind an endpoint are unknown here, and the adapter derives its hints from them.
    if endpoint(tool).is_some() {
        return false;
    }
    let effect = tool.by_name.effect;
    let changes =
        matches!(effect, Effect::Send | Effect::Create | Effect::Append | Effect::Set | Effect::Update);
    let sure = tool.by_name.confidence == Confidence::High && tool.by_name.review.is_none();
    changes && (sure || is_confirmed(tool)) && repeats(tool, effect, Guard::None) == [Repeat::Accumulates]
}
