//! Dotted paths of fields: `user.login`. A list on the way is searched item by item.

use mcpaql_schema::suggest;
use serde_json::Value;

/// Maximum names in a path.
pub(super) const MAX_PATH_PARTS: usize = 32;
/// Maximum items whose fields are suggested.
const MAX_SAMPLE_ITEMS: usize = 20;
/// Maximum fields that are compared with an unknown one.
const MAX_KNOWN_PATHS: usize = 300;
/// Maximum length of a suggested field.
const MAX_KNOWN_LENGTH: usize = 96;
/// Maximum nesting depth of suggested fields.
const MAX_KNOWN_DEPTH: usize = 3;

/// A dotted path, split once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldPath {
    text: String,
    parts: Vec<String>,
}

impl FieldPath {
    /// Splits a path; `None` if a name is empty or the path is too long.
    #[must_use]
    pub fn parse(text: &str) -> Option<FieldPath> {
        let text = text.trim();
        let parts: Vec<String> = text.split('.').map(str::to_owned).collect();
        let is_valid = parts.len() <= MAX_PATH_PARTS && parts.iter().all(|part| !part.is_empty());
        is_valid.then(|| FieldPath { text: text.to_owned(), parts })
    }

    /// The path as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The names of the path.
    pub(super) fn parts(&self) -> &[String] {
        &self.parts
    }

    /// Returns this path without the names of the list that the items are in: `items.id` is `id` of each item.
    pub(super) fn inside(&self, place: &[String]) -> FieldPath {
        match self.parts.strip_prefix(place).filter(|rest| !rest.is_empty()) {
            Some(rest) => FieldPath { text: rest.join("."), parts: rest.to_vec() },
            None => self.clone(),
        }
    }

    /// Returns this path followed by another.
    pub(super) fn join(&self, next: &FieldPath) -> FieldPath {
        FieldPath {
            text: format!("{}.{}", self.text, next.text),
            parts: self.parts.iter().chain(&next.parts).cloned().collect(),
        }
    }

    /// Returns all values that the path leads to.
    #[must_use]
    pub fn values<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = Vec::new();
        collect(value, &self.parts, &mut found);
        found
    }

    /// Returns the first value that the path leads to.
    #[must_use]
    pub fn first<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.values(value).into_iter().next()
    }
}

fn collect<'v>(value: &'v Value, parts: &[String], found: &mut Vec<&'v Value>) {
    let Some((first, rest)) = parts.split_first() else {
        found.push(value);
        return;
    };
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, parts, found)),
        Value::Object(map) => {
            let before = found.len();
            if let Some(member) = map.get(first) {
                collect(member, rest, found);
            }
            // A name may contain dots itself.
            if found.len() == before && !rest.is_empty() {
                found.extend(map.get(&parts.join(".")));
            }
        }
        _ => {}
    }
}

/// Returns the paths of the fields of some items, in their order.
pub(super) fn known_paths<'v>(items: impl IntoIterator<Item = &'v Value>) -> Vec<String> {
    let mut known = indexmap::IndexSet::new();
    for item in items.into_iter().take(MAX_SAMPLE_ITEMS) {
        add_paths(item, "", 0, &mut known);
    }
    known.into_iter().collect()
}

fn add_paths(value: &Value, prefix: &str, depth: usize, known: &mut indexmap::IndexSet<String>) {
    if depth >= MAX_KNOWN_DEPTH {
        return;
    }
    match value {
        Value::Object(map) => {
            for (name, member) in map {
                if known.len() >= MAX_KNOWN_PATHS {
                    return;
                }
                if name.is_empty() || prefix.len() + name.len() > MAX_KNOWN_LENGTH {
                    continue;
                }
                let path = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
                add_paths(member, &path, depth + 1, known);
                known.insert(path);
            }
        }
        Value::Array(items) => {
            items.iter().take(3).for_each(|item| add_paths(item, prefix, depth, known));
        }
        _ => {}
    }
}

/// Returns the fields nearest to an unknown one: similar paths, then fields with the same last name.
pub(super) fn nearest_paths<'k>(path: &str, known: &'k [String]) -> Vec<&'k str> {
    if path.len() > MAX_KNOWN_LENGTH {
        return Vec::new();
    }
    let names = || known.iter().map(String::as_str);
    let mut near = suggest::nearest_many(path, names(), 3);
    let last = |path: &str| path.rsplit('.').next().map(str::to_lowercase);
    let same_end = names().filter(|name| last(name) == last(path));
    for name in same_end {
        if near.len() < 3 && !near.contains(&name) {
            near.push(name);
        }
    }
    near
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(path: &str, value: &Value) -> Vec<String> {
        FieldPath::parse(path).unwrap().values(value).into_iter().map(Value::to_string).collect()
    }

    #[test]
    fn a_path_goes_through_objects_and_lists() {
        let value = json!({"user": {"login": "ada"}, "labels": [{"name": "bug"}, {"name": "ui"}], "a.b": 1});
        assert_eq!(texts("user.login", &value), ["\"ada\""]);
        assert_eq!(texts("labels.name", &value), ["\"bug\"", "\"ui\""]);
        assert_eq!(texts("a.b", &value), ["1"]);
        assert!(texts("user.name", &value).is_empty());
        assert_eq!(FieldPath::parse("a..b"), None);
        assert_eq!(FieldPath::parse(""), None);
    }

    #[test]
    fn an_unknown_path_has_near_ones() {
        let items = [json!({"created_at": 1, "user": {"login": "ada", "id": 3}})];
        let known = known_paths(&items);
        assert_eq!(nearest_paths("createdAt", &known), ["created_at"]);
        assert_eq!(nearest_paths("author.login", &known), ["user.login"]);
        assert!(nearest_paths("zzz", &known).is_empty());
    }
}
