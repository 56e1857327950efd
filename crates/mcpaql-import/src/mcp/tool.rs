//! A tool as its server lists it: a tolerant view of raw JSON.
//!
//! What always holds: whatever is missing or of the wrong kind is as if it were not there, and the name is the one that the
//! server is called with.

use crate::openapi::markdown::flatten;
use mcpaql_lexicon::classify::ToolAnnotations;
use serde_json::{Map, Value};

/// A longer title is no title.
const MAX_TITLE: usize = 80;

/// One tool of a list.
#[derive(Debug, Clone)]
pub(super) struct ListedTool<'c> {
    /// As the server calls it.
    pub(super) name: &'c str,
    /// For people, where the server has one.
    pub(super) title: Option<String>,
    /// Plain paragraphs.
    pub(super) description: String,
    /// The four hints, as far as they were given.
    pub(super) annotations: ToolAnnotations,
    /// `openWorldHint`.
    pub(super) open_world: Option<bool>,
    /// Groups that some servers put into `_meta`.
    pub(super) tags: Vec<String>,
    /// Of the arguments.
    pub(super) input: Option<&'c Value>,
    /// Of the structured result.
    pub(super) output: Option<&'c Value>,
}

impl<'c> ListedTool<'c> {
    /// Reads an entry of a list; `None` where nothing could be called.
    pub(super) fn read(value: &'c Value) -> Option<ListedTool<'c>> {
        let raw = value.as_object()?;
        let name = raw.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty())?;
        let said = raw.get("annotations").and_then(Value::as_object);
        let hint = |key: &str| said.and_then(|said| said.get(key)).and_then(Value::as_bool);
        let given = |key: &str| raw.get(key).filter(|value| !value.is_null());
        Some(ListedTool {
            name,
            title: title(raw, said),
            description: flatten(raw.get("description").and_then(Value::as_str).unwrap_or_default()),
            annotations: ToolAnnotations {
                read_only: hint("readOnlyHint"),
                destructive: hint("destructiveHint"),
                idempotent: hint("idempotentHint"),
            },
            open_world: hint("openWorldHint"),
            tags: tags(raw),
            input: given("inputSchema"),
            output: given("outputSchema"),
        })
    }
}

fn title(raw: &Map<String, Value>, said: Option<&Map<String, Value>>) -> Option<String> {
    let own = [raw.get("title"), said.and_then(|said| said.get("title"))];
    own.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|text| flatten(text).split_whitespace().collect::<Vec<_>>().join(" "))
        .find(|text| !text.is_empty() && text.chars().count() <= MAX_TITLE)
}

/// `_meta.<vendor>.tags`, which FastMCP and others write.
fn tags(raw: &Map<String, Value>) -> Vec<String> {
    let vendors = raw.get("_meta").and_then(Value::as_object).into_iter().flatten();
    let lists = vendors.filter_map(|(_, said)| said.get("tags").and_then(Value::as_array));
    let mut tags: Vec<String> = Vec::new();
    for tag in lists.flatten().filter_map(Value::as_str).map(str::trim).filter(|tag| !tag.is_empty()) {
        if !tags.iter().any(|known| known == tag) {
            tags.push(tag.to_owned());
        }
    }
    tags
}
