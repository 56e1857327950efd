//! The parameters of `introspect`, which every adapter has.

use super::args::DetailLevel;
use super::page;
use crate::operation::{Category, Param, ParamLocation};
use serde_json::{Value, json};

/// The longest question that search reads.
const MAX_QUESTION_CHARS: usize = 500;
/// So many names in one call.
const MAX_NAMES_PER_CALL: usize = 50;

/// The parameters of `introspect` where these are the endpoints.
pub(crate) fn params(endpoints: &[&str]) -> Vec<Param> {
    let categories = Category::ALL.map(Category::as_str);
    let name = json!({"type": "string"});
    [
        ("query", "What to list", json!({"type": "string", "enum": ["operations", "types"]})),
        (
            "name",
            "One name, or several, for details",
            json!({"anyOf": [name, {"type": "array", "items": name, "maxItems": MAX_NAMES_PER_CALL}]}),
        ),
        (
            "search",
            "What you want to do, in plain words; the best operations come first",
            json!({"type": "string", "maxLength": MAX_QUESTION_CHARS}),
        ),
        ("category", "Only operations of this category", json!({"type": "string", "enum": categories})),
        ("endpoint", "Only operations of this endpoint", json!({"type": "string", "enum": endpoints})),
        ("tag", "Only operations with this tag", json!({"type": "string"})),
        (
            "detail",
            "How much about each",
            json!({"type": "string", "enum": DetailLevel::ALL.map(DetailLevel::as_str)}),
        ),
        (
            "first",
            "How many on a page",
            json!({"type": "integer", "minimum": 1, "maximum": page::MAX_LIST_PAGE_SIZE}),
        ),
        ("after", "endCursor of the page before", json!({"type": "string"})),
    ]
    .into_iter()
    .map(|(name, description, schema): (&str, &str, Value)| Param {
        description: description.to_owned(),
        ..Param::new(name, ParamLocation::Query, schema)
    })
    .collect()
}
