//! `part`: reads one long text, list or object in parts.

use super::controls::{invalid_type, invalid_value, whole_number};
use super::path::{self, FieldPath};
use crate::answer::is_plain_name;
use mcpaql_schema::error::{Code, OpError};
use serde_json::{Map, Value, json};

/// Characters or items of a part without a length.
const DEFAULT_PART_LENGTH: usize = 8000;

/// A part of one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartRequest {
    /// The value, as a path from the start of the data. A list on the way needs a position: `items.0.body`. `None`: the
    /// data itself.
    pub path: Option<FieldPath>,
    /// Characters of a text, items of a list or members of an object to skip.
    pub offset: usize,
    /// Maximum characters, items or members.
    pub length: usize,
}

impl PartRequest {
    pub(super) fn read(value: &Value) -> Result<PartRequest, OpError> {
        const FORM: &str = r#"Parameter 'part' must be {"field": PATH, "offset": 0, "length": 8000}."#;
        let Value::Object(members) = value else {
            return Err(invalid_type("part", FORM, "object", value));
        };
        let number = |name: &str, default: usize| match members.get(name) {
            None | Some(Value::Null) => Some(default),
            Some(value) => usize::try_from(whole_number(value)?).ok(),
        };
        let is_known = members.keys().all(|name| matches!(name.as_str(), "field" | "offset" | "length"));
        let path = match members.get("field").and_then(Value::as_str) {
            Some("") => Some(None),
            Some(text) => FieldPath::parse(text).map(Some),
            None => None,
        };
        match (path, number("offset", 0), number("length", DEFAULT_PART_LENGTH)) {
            (Some(path), Some(offset), Some(length)) if is_known && length > 0 => {
                Ok(PartRequest { path, offset, length })
            }
            _ => Err(invalid_value("part", FORM)),
        }
    }

    /// Returns the part, its place and the length of the whole value.
    ///
    /// # Errors
    /// When the path leads to no text, list or object.
    pub(super) fn select(&self, data: &Value) -> Result<Value, OpError> {
        let parts = self.path.as_ref().map_or(&[][..], FieldPath::parts);
        let field = self.path.as_ref().map_or("", FieldPath::as_str);
        // A page has its items under this name, whatever the list of the answer is called.
        let in_list = || parts.split_first().filter(|(first, _)| *first == super::PAGE_ITEMS);
        let in_list = || in_list().and_then(|(_, rest)| find_in(super::list_in(data)?, rest));
        let (part, total) = match find(data, parts).or_else(in_list) {
            Some(Value::String(text)) => {
                let part: String = text.chars().skip(self.offset).take(self.length).collect();
                (Value::from(part), text.chars().count())
            }
            Some(Value::Array(items)) => {
                let part: Vec<Value> = items.iter().skip(self.offset).take(self.length).cloned().collect();
                (Value::from(part), items.len())
            }
            Some(Value::Object(members)) => {
                let part = members.iter().skip(self.offset).take(self.length);
                let part: Map<String, Value> =
                    part.map(|(name, value)| (name.clone(), value.clone())).collect();
                (Value::from(part), members.len())
            }
            Some(_) => {
                let message = "Parameter 'part' reads a text, a list or an object, and this field is none of them; use 'fields'.";
                return Err(invalid_value("part", message));
            }
            None => return Err(no_field(parts, data)),
        };
        let end = self.offset.saturating_add(self.length);
        let mut out = json!({"field": field, "offset": self.offset, "total": total});
        if let Some(members) = out.as_object_mut() {
            if end < total {
                members.insert("next_offset".into(), end.into());
            }
            members.insert("part".into(), part);
        }
        Ok(out)
    }
}

/// Returns the error of a path that leads nowhere. It names the nearest fields of the same item.
fn no_field(parts: &[String], data: &Value) -> OpError {
    let reached = (0..parts.len()).rev().find_map(|end| {
        let (walked, rest) = parts.split_at_checked(end)?;
        Some((walked, rest, find(data, walked)?))
    });
    let (walked, rest, value) = reached.unwrap_or((&[], parts, data));
    let hint = match value {
        Value::Array(items) => format!(" The list there has {} items, from position 0.", items.len()),
        _ => String::new(),
    };
    let known = path::known_paths(if value.is_array() { None } else { Some(value) });
    let near: Vec<String> = path::nearest_paths(&rest.join("."), &known)
        .into_iter()
        .map(|near| walked.iter().map(String::as_str).chain([near]).collect::<Vec<_>>().join("."))
        .collect();
    let shown: Vec<&str> = near.iter().map(String::as_str).filter(|name| is_plain_name(name)).collect();
    let hint = if shown.is_empty() { hint } else { format!(" Nearest: {}.", shown.join(", ")) };
    let message =
        format!("Parameter 'part' names no field of the data; write a path such as 'items.0.body'.{hint}");
    OpError::new(Code::InvalidValue, message).with_detail("param_name", "part").with_detail("nearest", near)
}

/// Follows a path with positions in lists. The only item needs no position.
fn find<'v>(value: &'v Value, parts: &[String]) -> Option<&'v Value> {
    let Some((first, rest)) = parts.split_first() else { return Some(value) };
    match value {
        Value::Object(map) => match map.get(first) {
            Some(member) => find(member, rest),
            None => map.get(&parts.join(".")),
        },
        Value::Array(items) => find_in(items, parts),
        _ => None,
    }
}

fn find_in<'v>(items: &'v [Value], parts: &[String]) -> Option<&'v Value> {
    let (first, rest) = parts.split_first()?;
    match (first.parse::<usize>(), items) {
        (Ok(position), _) => find(items.get(position)?, rest),
        (Err(_), [only]) => find(only, parts),
        (Err(_), _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(part: Value, data: &Value) -> Result<Value, OpError> {
        PartRequest::read(&part).unwrap().select(data)
    }

    #[test]
    fn texts_and_lists_are_read_in_parts() {
        let data = json!({"items": [{"body": "äbcdef"}, {"body": "x", "l": [1, 2, 3]}]});
        assert_eq!(
            part(json!({"field": "items.0.body", "offset": 1, "length": 2}), &data).unwrap(),
            json!({"field": "items.0.body", "offset": 1, "total": 6, "next_offset": 3, "part": "bc"})
        );
        assert_eq!(
            part(json!({"field": "items.1.l", "offset": 2}), &data).unwrap(),
            json!({"field": "items.1.l", "offset": 2, "total": 3, "part": [3]})
        );
        assert_eq!(
            part(json!({"field": "items.1", "length": 1}), &data).unwrap(),
            json!({"field": "items.1", "offset": 0, "total": 2, "next_offset": 1, "part": {"body": "x"}})
        );
        assert_eq!(
            part(json!({"field": "", "offset": 4}), &json!("a long text")).unwrap(),
            json!({"field": "", "offset": 4, "total": 11, "part": "ng text"})
        );
        let list = json!([{"body": "abc"}, {"body": "def"}]);
        assert_eq!(part(json!({"field": "items.1.body"}), &list).unwrap()["part"], "def");
        assert_eq!(part(json!({"field": "items.0.bdy"}), &data).unwrap_err().code, Code::InvalidValue);
        assert!(part(json!({"field": "items.9.body"}), &data).is_err());
        for bad in [
            json!("body"),
            json!({}),
            json!({"field": "a", "length": 0}),
            json!({"field": "a", "offset": -1}),
        ] {
            assert!(PartRequest::read(&bad).is_err(), "{bad}");
        }
    }
}
