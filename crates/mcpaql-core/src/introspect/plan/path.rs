//! Finds the place of an identifier in an answer, from the answer's schema.

use crate::catalog::FullOperation;
use crate::library::resolve_reference;
use indexmap::IndexMap;
use mcpaql_lexicon::{singulars, snake_case};
use serde_json::Value;

/// Maximum depth of envelopes.
const MAX_ENVELOPES: usize = 3;
/// Fields that people know an item by.
const TITLES: [&str; 10] = [
    "name",
    "title",
    "display_name",
    "full_name",
    "login",
    "subject",
    "summary",
    "label",
    "email",
    "message",
];

/// The place of an identifier in an answer.
pub(super) struct ResultPath {
    /// The path below `data`, such as `items.0.id`.
    pub(super) text: String,
    /// The field that people know the item by, if the item is in a list.
    pub(super) title: Option<String>,
}

impl ResultPath {
    /// Finds the value of a parameter in the answer of an operation.
    pub(super) fn find(producer: FullOperation<'_>, param: &str) -> Option<ResultPath> {
        let returns = producer.operation.returns.as_ref()?;
        let mut noun = singulars(param);
        let last = noun.pop()?;
        let wanted = WantedIdentifier { param: snake_case(param), last, noun, types: producer.types };
        wanted.in_answer(&returns.schema, MAX_ENVELOPES)
    }
}

/// The identifier to find.
struct WantedIdentifier<'t> {
    /// The parameter that needs it.
    param: String,
    /// The last word of its name: `id`.
    last: String,
    /// The other words of its name: what it identifies.
    noun: Vec<String>,
    types: &'t IndexMap<String, Value>,
}

impl WantedIdentifier<'_> {
    fn in_answer(&self, schema: &Value, depth: usize) -> Option<ResultPath> {
        let schema = resolve_reference(schema, self.types).1;
        if let Some(path) = self.in_list(schema) {
            return Some(path);
        }
        let depth = depth.checked_sub(1)?;
        let below =
            |name: &str, path: ResultPath| ResultPath { text: format!("{name}.{}", path.text), ..path };
        // A list of the wanted things comes first, then a list that may contain anything.
        let mut lists: Vec<(bool, &str, &Value)> = self
            .properties(schema)
            .map(|(name, property)| {
                (singulars(name) == self.noun, name, resolve_reference(property, self.types).1)
            })
            .filter(|(_, _, property)| property.get("items").is_some())
            .collect();
        lists.sort_by_key(|(same, _, _)| !same);
        let single = lists.len() == 1;
        let in_lists = lists.into_iter().filter(|(same, _, _)| *same || single);
        // Filters apply to the items of an answer, not to a list inside one thing.
        let is_thing = self.properties(schema).any(|(name, _)| name == "id");
        let found = in_lists.filter_map(|(_, name, list)| Some(below(name, self.in_list(list)?))).next();
        let found = found.map(|path| ResultPath { title: path.title.filter(|_| !is_thing), ..path });
        found.or_else(|| self.in_item(schema).map(|text| ResultPath { text, title: None })).or_else(|| {
            self.properties(schema)
                .filter(|(name, _)| {
                    matches!(*name, "data" | "result" | "response") || singulars(name) == self.noun
                })
                .find_map(|(name, property)| Some(below(name, self.in_answer(property, depth)?)))
        })
    }

    fn in_list(&self, schema: &Value) -> Option<ResultPath> {
        let item = resolve_reference(schema.get("items")?, self.types).1;
        let field = self.in_item(item)?;
        let has = |title: &&&str| self.properties(item).any(|(name, _)| name == **title);
        Some(ResultPath {
            text: format!("0.{field}"),
            title: TITLES.iter().find(has).map(|&title| title.to_owned()),
        })
    }

    /// Returns the field of an item: the parameter's own name, or the last word of it.
    fn in_item(&self, item: &Value) -> Option<String> {
        let named = |wanted: &str| {
            self.properties(item)
                .map(|(name, _)| name)
                .find(|name| snake_case(name) == wanted)
                .map(str::to_owned)
        };
        named(&self.param).or_else(|| named(&self.last))
    }

    fn properties<'s>(&'s self, schema: &'s Value) -> impl Iterator<Item = (&'s str, &'s Value)> {
        let parts =
            ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
        let all = std::iter::once(schema).chain(parts.map(|part| resolve_reference(part, self.types).1));
        all.filter_map(|part| part.get("properties")?.as_object())
            .flatten()
            .map(|(name, property)| (name.as_str(), property))
    }
}
