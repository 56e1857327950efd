//! The presets of `fields`: `minimal`, `standard` and `full`.
//!
//! - `minimal` has the fields that identify an item: its identifier, name or title, state and dates. They are inferred
//!   from the names of the fields.
//! - `standard` has everything except links of the API to itself, nulls and empty containers.
//! - `full` has everything.

use super::path::FieldPath;
use mcpaql_lexicon::snake_case;
use serde_json::{Map, Value};

/// A named selection of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldPreset {
    /// Identifier, name, state, dates.
    Minimal,
    /// Everything except links, nulls and empty containers.
    Standard,
    /// Everything.
    Full,
}

impl FieldPreset {
    /// All three.
    pub const ALL: [FieldPreset; 3] = [FieldPreset::Minimal, FieldPreset::Standard, FieldPreset::Full];

    /// The word in calls.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            FieldPreset::Minimal => "minimal",
            FieldPreset::Standard => "standard",
            FieldPreset::Full => "full",
        }
    }

    /// Returns the preset that a misspelled word most likely means.
    #[must_use]
    pub fn nearest(text: &str) -> Option<FieldPreset> {
        FieldPreset::ALL
            .into_iter()
            .find(|preset| mcpaql_schema::suggest::is_misspelling(text, preset.as_str()))
    }

    /// Parses the word.
    #[must_use]
    pub fn parse(text: &str) -> Option<FieldPreset> {
        FieldPreset::ALL.into_iter().find(|preset| preset.as_str() == text)
    }
}

/// Names that identify an item, and the number of them in `minimal`.
const IDENTIFIERS: (&[&str], usize) =
    (&["id", "_id", "uuid", "guid", "number", "iid", "key", "slug", "sha", "isbn", "sku"], 2);
/// Names of a name or title.
const NAMES: (&[&str], usize) = (
    &[
        "name",
        "title",
        "full_name",
        "display_name",
        "subject",
        "label",
        "login",
        "username",
        "filename",
        "path",
    ],
    2,
);
/// Last words of a state.
const STATES: (&[&str], usize) = (&["state", "status", "phase", "stage"], 2);
/// Last words of a date.
const DATES: (&[&str], usize) =
    (&["at", "date", "time", "timestamp", "created", "updated", "modified", "on", "due", "deadline"], 2);
/// First words of the most useful dates.
const MAIN_DATES: &[&str] = &["updated", "created", "modified", "due", "start", "published", "date"];
/// Fields of an item without any of these names.
const MAX_OTHER_FIELDS: usize = 4;

/// Infers the fields of `minimal` from some items.
pub(super) fn minimal_paths(items: &[Value]) -> Vec<FieldPath> {
    let mut names: indexmap::IndexMap<&str, bool> = indexmap::IndexMap::new();
    for (name, value) in items.iter().filter_map(Value::as_object).flatten() {
        let is_scalar = matches!(value, Value::String(_) | Value::Number(_) | Value::Bool(_));
        *names.entry(name).or_default() |= is_scalar;
    }
    let fields: Vec<(&str, String)> = names
        .iter()
        .filter(|(_, is_scalar)| **is_scalar)
        .map(|(name, _)| (*name, snake_case(name)))
        .collect();
    let last_word = |snake: &str| snake.rsplit('_').next().unwrap_or_default().to_owned();
    let mut chosen: Vec<&str> = Vec::new();
    let mut choose = |ranked: Vec<&'_ str>, most: usize| {
        let before = chosen.len();
        for name in ranked {
            if chosen.len() < before + most && !chosen.contains(&name) {
                // The borrow of the name outlives this function's loop variables.
                if let Some((name, _)) = fields.iter().find(|(known, _)| *known == name) {
                    chosen.push(name);
                }
            }
        }
        chosen.len() > before
    };
    let exact = |words: &[&str]| -> Vec<&str> {
        words
            .iter()
            .filter_map(|word| fields.iter().find(|(name, snake)| name == word || snake == word))
            .map(|(name, _)| *name)
            .collect()
    };
    let ending = |words: &[&str]| -> Vec<&str> {
        fields
            .iter()
            .filter(|(_, snake)| words.contains(&last_word(snake).as_str()))
            .map(|(name, _)| *name)
            .collect()
    };
    if !choose(exact(IDENTIFIERS.0), IDENTIFIERS.1) {
        choose(ending(&["id", "uuid", "key", "number", "code"]), 1);
    }
    if !choose(exact(NAMES.0), NAMES.1) {
        choose(ending(&["name", "title", "subject"]), 1);
    }
    choose(ending(STATES.0), STATES.1);
    let mut dates = ending(DATES.0);
    let importance = |name: &str| {
        let snake = snake_case(name);
        let first = snake.split('_').next().unwrap_or_default().to_owned();
        MAIN_DATES.iter().position(|word| *word == first).unwrap_or(MAIN_DATES.len())
    };
    dates.sort_by_key(|name| importance(name));
    choose(dates, DATES.1);
    if chosen.is_empty() {
        chosen.extend(fields.iter().map(|(name, _)| *name).take(MAX_OTHER_FIELDS));
    }
    chosen.into_iter().filter_map(FieldPath::parse).collect()
}

/// Returns a value without links, nulls and empty containers. An object stays an object, even an empty one.
pub(super) fn without_noise(value: Value) -> Value {
    let empty = match &value {
        Value::Object(_) => Value::Object(Map::new()),
        Value::Array(_) => Value::Array(Vec::new()),
        _ => Value::Null,
    };
    signal(value).unwrap_or(empty)
}

fn signal(value: Value) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Array(items) => {
            // A null in a list has a position, so it stays.
            let items = items.into_iter().map(|item| if item.is_null() { item } else { without_noise(item) });
            let items: Vec<Value> = items.collect();
            (!items.is_empty()).then_some(Value::Array(items))
        }
        Value::Object(map) => {
            let links = map.iter().filter(|(name, value)| is_link(name, value)).count();
            let members = map.into_iter().filter_map(|(name, member)| {
                if is_link(&name, &member) && (links > 1 || name.starts_with('_') || !is_plain_url(&name)) {
                    return None;
                }
                Some((name, signal(member)?))
            });
            let members: Map<String, Value> = members.collect();
            (!members.is_empty()).then_some(Value::Object(members))
        }
        scalar => Some(scalar),
    }
}

/// Returns whether a member is the address of an item and not one of several links of the API.
fn is_plain_url(name: &str) -> bool {
    matches!(name, "url" | "link" | "uri" | "href")
}

/// Words of addresses that people open.
const PAGE_WORDS: &[&str] = &[
    "html",
    "web",
    "permalink",
    "homepage",
    "website",
    "download",
    "browser",
    "public",
    "share",
    "view",
    "page",
];

/// Returns whether a member links to the API itself.
fn is_link(name: &str, value: &Value) -> bool {
    let snake = snake_case(name.trim_start_matches(['_', '@']));
    let mut words = snake.split('_');
    if words.clone().any(|word| PAGE_WORDS.contains(&word)) {
        return false;
    }
    let names_link = words
        .next_back()
        .is_some_and(|word| matches!(word, "url" | "uri" | "href" | "link" | "links" | "urls" | "self"));
    names_link && is_address(value)
}

fn is_address(value: &Value) -> bool {
    match value {
        Value::String(text) => {
            text.starts_with("http://") || text.starts_with("https://") || text.starts_with('/')
        }
        Value::Object(map) => {
            !map.is_empty() && map.values().all(|value| value.is_null() || is_address(value))
        }
        Value::Array(items) => !items.is_empty() && items.iter().all(is_address),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn minimal(item: Value) -> Vec<String> {
        minimal_paths(&[item]).iter().map(|path| path.as_str().to_owned()).collect()
    }

    #[test]
    fn minimal_identifies_an_item() {
        let issue = json!({"url": "u", "id": 1, "node_id": "x", "number": 7, "title": "T", "state": "open",
            "locked": false, "comments": 0, "created_at": "c", "updated_at": "u", "closed_at": "d", "body": "long"});
        assert_eq!(minimal(issue), ["id", "number", "title", "state", "updated_at", "created_at"]);
        let event =
            json!({"eventId": "e", "displayName": "D", "orderStatus": "x", "startTime": "s", "notes": "n"});
        assert_eq!(minimal(event), ["eventId", "displayName", "orderStatus", "startTime"]);
        assert_eq!(minimal(json!({"x": 1, "y": 2, "z": [1]})), ["x", "y"]);
        assert!(minimal(json!(3)).is_empty());
    }

    #[test]
    fn standard_drops_links_nulls_and_empty_containers() {
        let item = json!({"id": 1, "url": "https://api.x/1", "comments_url": "https://api.x/1/c", "html_url": "https://x/1",
            "assignee": null, "labels": [], "user": {"login": "a", "events_url": "https://api.x/e{/p}", "extra": {}},
            "_links": {"self": {"href": "https://api.x"}}, "list": [null, {"a": null}]});
        assert_eq!(
            without_noise(item),
            json!({"id": 1, "html_url": "https://x/1", "user": {"login": "a"}, "list": [null, {}]})
        );
        let bookmark = json!({"title": "T", "url": "https://example.com"});
        assert_eq!(without_noise(bookmark.clone()), bookmark);
    }
}
