//! Finds the items of an answer: a list, or one object, directly or inside an envelope.
//!
//! | answer | items |
//! |---|---|
//! | `[…]` | the list |
//! | `{"items": […], "total": 3}` | the list; also under `data`, `results` and similar names |
//! | `{"issues": […], "page": 1}` | the only list, if all other members describe the list |
//! | `{"data": {"items": […]}}` | the list inside |
//! | `{"data": {"id": 1}}` | the object inside |
//! | `{"id": 1, "items": […]}` | the object: it has its own identifier |
//!
//! What always holds: the same answer has the same place, parsed or not.

use mcpaql_lexicon::snake_case;
use serde_json::Value;
use serde_json::value::RawValue;

/// Names of members that have the items.
const LIST_NAMES: &[&str] = &[
    "items",
    "data",
    "results",
    "result",
    "records",
    "entries",
    "values",
    "value",
    "nodes",
    "rows",
    "hits",
    "objects",
    "members",
    "list",
    "elements",
    "content",
    "contents",
    "response",
    "collection",
    "documents",
];
/// Names of members that have the envelope's content.
const ENVELOPE_NAMES: &[&str] =
    &["data", "result", "results", "response", "payload", "body", "content", "_embedded", "output"];
/// Names of members that identify an object.
const IDENTIFIERS: &[&str] = &["id", "_id", "uuid", "guid"];
/// Words of members that describe a list or an answer.
const LIST_WORDS: &[&str] = &[
    "count",
    "total",
    "page",
    "pages",
    "pagination",
    "paging",
    "size",
    "limit",
    "offset",
    "next",
    "previous",
    "prev",
    "first",
    "last",
    "cursor",
    "more",
    "incomplete",
    "has",
    "link",
    "links",
    "meta",
    "metadata",
    "info",
    "kind",
    "etag",
    "href",
    "self",
    "url",
    "object",
    "success",
    "status",
    "ok",
    "error",
    "errors",
    "warnings",
    "took",
    "time",
    "timestamp",
    "per",
    "start",
    "end",
    "token",
    "query",
    "truncated",
    "facets",
    "version",
    "type",
    "number",
    "returned",
    "message",
    "code",
    "request",
    "sort",
    "order",
    "max",
    "min",
];
/// Maximum envelopes inside each other.
const MAX_ENVELOPES: usize = 3;

/// Where the items of an answer are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ItemsPlace {
    /// The names of the members that lead to the items.
    pub(super) path: Vec<String>,
    /// The items are a list; otherwise there is one item.
    pub(super) is_list: bool,
}

/// A JSON value, parsed or not.
pub(super) trait JsonNode: Sized {
    fn is_array(&self) -> bool;
    fn is_object(&self) -> bool;
    fn has_objects(&self) -> bool;
    fn members(&self) -> Vec<(String, Self)>;
}

impl JsonNode for &Value {
    fn is_array(&self) -> bool {
        Value::is_array(self)
    }

    fn is_object(&self) -> bool {
        Value::is_object(self)
    }

    fn has_objects(&self) -> bool {
        self.as_array().is_some_and(|items| items.first().is_none_or(Value::is_object))
    }

    fn members(&self) -> Vec<(String, Self)> {
        self.as_object()
            .map(|map| map.iter().map(|(key, value)| (key.clone(), value)).collect())
            .unwrap_or_default()
    }
}

impl JsonNode for &RawValue {
    fn is_array(&self) -> bool {
        self.get().starts_with('[')
    }

    fn is_object(&self) -> bool {
        self.get().starts_with('{')
    }

    fn has_objects(&self) -> bool {
        let inside = self.get().strip_prefix('[').unwrap_or_default().trim_start();
        inside.starts_with(['{', ']'])
    }

    fn members(&self) -> Vec<(String, Self)> {
        let members: indexmap::IndexMap<String, &RawValue> =
            serde_json::from_str(self.get()).unwrap_or_default();
        members.into_iter().collect()
    }
}

/// Finds the items. `declared` is the path that the document names, which is empty for the answer itself.
pub(super) fn find_items<N: JsonNode>(root: N, declared: Option<&str>) -> ItemsPlace {
    if let Some(declared) = declared {
        let path: Vec<String> =
            declared.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        if leads_to_list(&root, &path) {
            return ItemsPlace { path, is_list: true };
        }
    }
    let mut path = Vec::new();
    let is_list = descend(root, &mut path);
    ItemsPlace { path, is_list }
}

fn leads_to_list<N: JsonNode>(node: &N, path: &[String]) -> bool {
    match path.split_first() {
        None => node.is_array(),
        Some((first, rest)) => {
            let member = node.members().into_iter().find(|(name, _)| name == first);
            member.is_some_and(|(_, member)| leads_to_list(&member, rest))
        }
    }
}

/// Goes into envelopes, as long as there are any. Returns whether a list is there.
fn descend<N: JsonNode>(node: N, path: &mut Vec<String>) -> bool {
    if node.is_array() {
        return true;
    }
    let mut members = node.members();
    if members.is_empty() || members.iter().any(|(name, _)| IDENTIFIERS.contains(&name.as_str())) {
        return false;
    }
    let position = list_member(&members);
    let inner = position.or_else(|| envelope_member(&members).filter(|_| path.len() < MAX_ENVELOPES));
    let Some(position) = inner else { return false };
    let (name, member) = members.swap_remove(position);
    path.push(name);
    descend(member, path)
}

/// Returns the member that has the list.
fn list_member<N: JsonNode>(members: &[(String, N)]) -> Option<usize> {
    let named = LIST_NAMES.iter().find_map(|list| {
        members.iter().position(|(name, member)| name.eq_ignore_ascii_case(list) && member.is_array())
    });
    let only = || {
        let mut lists = members
            .iter()
            .enumerate()
            .filter(|(_, (name, member))| member.is_array() && !describes_list(name));
        let (position, (_, list)) = lists.next()?;
        let is_only = lists.next().is_none() && list.has_objects();
        let rest = members.iter().enumerate().filter(|(other, _)| *other != position);
        (is_only && rest.into_iter().all(|(_, (name, _))| describes_list(name))).then_some(position)
    };
    named.or_else(only)
}

/// Returns the member that has the content of an envelope.
fn envelope_member<N: JsonNode>(members: &[(String, N)]) -> Option<usize> {
    let position = members
        .iter()
        .position(|(name, member)| member.is_object() && ENVELOPE_NAMES.contains(&name.as_str()))?;
    let rest = members.iter().enumerate().filter(|(other, _)| *other != position);
    rest.into_iter().all(|(_, (name, _))| describes_list(name)).then_some(position)
}

fn describes_list(name: &str) -> bool {
    let name = snake_case(name.trim_start_matches(['_', '@', '$']));
    name.split('_').any(|word| LIST_WORDS.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn items_are_found_in_common_answers() {
        let rows = [
            (json!([1, 2]), "", true),
            (json!({"items": [], "pageInfo": {}}), "items", true),
            (json!({"total_count": 1, "incomplete_results": false, "items": [{"id": 1}]}), "items", true),
            (json!({"object": "list", "data": [{"id": 1}], "has_more": false, "url": "/v1"}), "data", true),
            (json!({"count": 1, "next": null, "results": [{"id": 1}]}), "results", true),
            (json!({"issues": [{"id": 1}], "total": 1, "startAt": 0, "maxResults": 50}), "issues", true),
            (json!({"issues": [{"id": 1}], "total": 1, "nextPageToken": null}), "issues", true),
            (json!({"status": "ok", "data": {"items": [{"id": 1}]}}), "data.items", true),
            (json!({"data": {"id": 1, "labels": [{"name": "a"}]}}), "data", false),
            (json!({"id": 1, "items": [{"sku": 2}]}), "", false),
            (json!({"name": "x", "labels": [{"name": "a"}]}), "", false),
            (json!({"a": [{"x": 1}], "b": [{"y": 1}]}), "", false),
            (
                json!({"_embedded": {"orders": [{"id": 1}]}, "_links": {}, "page": {}}),
                "_embedded.orders",
                true,
            ),
            (json!(null), "", false),
            (json!("text"), "", false),
        ];
        for (value, path, is_list) in rows {
            let found = find_items(&value, None);
            let raw = RawValue::from_string(value.to_string()).unwrap();
            assert_eq!(find_items(&*raw, None), found, "{value}");
            assert_eq!((found.path.join(".").as_str(), found.is_list), (path, is_list), "{value}");
        }
    }

    #[test]
    fn a_declared_path_wins_if_it_leads_to_a_list() {
        let value = json!({"items": [1], "more": {"found": [2]}});
        assert_eq!(find_items(&value, Some("more.found")).path, ["more", "found"]);
        assert_eq!(find_items(&value, Some("absent")).path, ["items"]);
        let list = json!([1]);
        assert!(find_items(&list, Some("")).is_list);
    }
}
