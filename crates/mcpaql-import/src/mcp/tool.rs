//! Reads a tool of a server's tool list from raw JSON.
//!
//! What always holds: a member of the wrong type is treated as missing. The name is the server's own name of the tool.

use crate::openapi::markdown::flatten;
use mcpaql_lexicon::classify::ToolAnnotations;
use serde_json::{Map, Value};

/// Maximum length of a title; longer ones are ignored.
const MAX_TITLE: usize = 80;

/// One tool of a list.
#[derive(Debug, Clone)]
pub(super) struct ListedTool<'c> {
    /// The server's name of the tool.
    pub(super) name: &'c str,
    /// The title that people see.
    pub(super) title: Option<String>,
    /// The description as plain paragraphs.
    pub(super) description: String,
    /// The hints except `openWorldHint`.
    pub(super) annotations: ToolAnnotations,
    /// `openWorldHint`.
    pub(super) open_world: Option<bool>,
    /// Groups in `_meta`, which some servers have.
    pub(super) tags: Vec<String>,
    /// The schema of the arguments.
    pub(super) input: Option<&'c Value>,
    /// The schema of the structured result.
    pub(super) output: Option<&'c Value>,
}

impl<'c> ListedTool<'c> {
    /// Reads an entry of a tool list; `None` if it has no name.
    pub(super) fn read(value: &'c Value) -> Option<ListedTool<'c>> {
        let raw = value.as_object()?;
        let name = raw.get("name").and_then(Value::as_str).filter(|name| !name.trim().is_empty())?;
        let annotations = raw.get("annotations").and_then(Value::as_object);
        let hint =
            |key: &str| annotations.and_then(|annotations| annotations.get(key)).and_then(Value::as_bool);
        let schema = |key: &str| raw.get(key).filter(|value| !value.is_null());
        Some(ListedTool {
            name,
            title: title(raw, annotations),
            description: flatten(raw.get("description").and_then(Value::as_str).unwrap_or_default()),
            annotations: ToolAnnotations {
                read_only: hint("readOnlyHint"),
                destructive: hint("destructiveHint"),
                idempotent: hint("idempotentHint"),
            },
            open_world: hint("openWorldHint"),
            tags: tags(raw),
            input: schema("inputSchema"),
            output: schema("outputSchema"),
        })
    }
}

fn title(raw: &Map<String, Value>, annotations: Option<&Map<String, Value>>) -> Option<String> {
    let own = [raw.get("title"), annotations.and_then(|annotations| annotations.get("title"))];
    own.into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(|text| flatten(text).split_whitespace().collect::<Vec<_>>().join(" "))
        .find(|text| !text.is_empty() && text.chars().count() <= MAX_TITLE)
}

/// Reads `_meta.<vendor>.tags`, which FastMCP and others write.
fn tags(raw: &Map<String, Value>) -> Vec<String> {
    let vendors = raw.get("_meta").and_then(Value::as_object).into_iter().flatten();
    let lists = vendors.filter_map(|(_, meta)| meta.get("tags").and_then(Value::as_array));
    let mut tags: Vec<String> = Vec::new();
    for tag in lists.flatten().filter_map(Value::as_str).map(str::trim).filter(|tag| !tag.is_empty()) {
        if !tags.iter().any(|known| known == tag) {
            tags.push(tag.to_owned());
        }
    }
    tags
}
