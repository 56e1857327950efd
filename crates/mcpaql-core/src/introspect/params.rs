//! The parameters of `introspect`, which every adapter has.

use super::args::DetailLevel;
use super::page;
use crate::operation::{Category, Param, ParamLocation};
use serde_json::{Value, json};

/// Maximum characters of a search question.
const MAX_QUESTION_CHARS: usize = 500;
/// Maximum names in one call.
const MAX_NAMES_PER_CALL: usize = 50;

/// Returns the parameters of `introspect` for an adapter with these endpoints.
pub(crate) fn params(endpoints: &[&str]) -> Vec<Param> {
    let categories = Category::ALL.map(Category::as_str);
    let name = json!({"type": "string"});
    let first = format!("Page size, up to {}", page::MAX_LIST_PAGE_SIZE);
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
            "Detail level",
            json!({"type": "string", "enum": DetailLevel::ALL.map(DetailLevel::as_str)}),
        ),
        ("first", &first, json!({"type": "integer", "minimum": 1})),
        ("after", "endCursor of the previous page", json!({"type": "string"})),
    ]
    .into_iter()
    .map(|(name, description, schema): (&str, &str, Value)| Param {
        description: description.to_owned(),
        ..Param::new(name, ParamLocation::Query, schema)
    })
    .collect()
}
