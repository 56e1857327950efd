//! References to the result of an earlier item: `{"$result": "0.data.items.0.id"}`.

use crate::error::{Code, LimitType, OpError};
use crate::response::quoted_name;
use crate::suggest::nearest_many;
use serde_json::{Map, Value};

/// The only key of a reference.
const RESULT: &str = "$result";
/// The part of a result that references can name.
const DATA: &str = "data";
/// Maximum bytes of a path.
const MAX_PATH_BYTES: usize = 500;
/// Maximum paths that an error suggests.
const MAX_SUGGESTED: usize = 3;
/// Maximum members that an error lists.
const MAX_LISTED: usize = 8;

/// A path into the result of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ResultReference {
    /// The position of the item.
    pub(super) item: usize,
    /// The path after `data`.
    path: Vec<String>,
}

impl ResultReference {
    fn parse(text: &str) -> Option<ResultReference> {
        let mut parts = text.split('.');
        let item = parts.next().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        let item = item.parse().ok()?;
        let path: Vec<String> = parts.map(str::to_owned).collect();
        let (first, rest) = path.split_first()?;
        let is_valid =
            first == DATA && rest.iter().all(|part| !part.is_empty()) && text.len() <= MAX_PATH_BYTES;
        is_valid.then(|| ResultReference { item, path: rest.to_vec() })
    }
}

/// Returns the value of the key, if this is a reference.
pub(super) fn reference_in(value: &Value) -> Option<&Value> {
    value.as_object().filter(|members| members.len() == 1)?.get(RESULT)
}

/// Collects the references in a value of the item `position`, and checks them.
pub(super) fn find(
    value: &Value,
    place: &mut Vec<String>,
    found: &mut Vec<ResultReference>,
    position: usize,
) -> Result<(), OpError> {
    if let Some(text) = reference_in(value) {
        let Some(reference) = text.as_str().and_then(ResultReference::parse) else {
            let message = format!(
                "Item {position} has an invalid reference{}; write {{\"$result\": \"0.data.id\"}}, with the number of an earlier item.",
                place_text(place)
            );
            return Err(error(position, place, message));
        };
        if reference.item >= position {
            let earlier = match position {
                0 => "the first item has no earlier one".to_owned(),
                1 => "use item 0".to_owned(),
                _ => format!("use an item from 0 to {}", position - 1),
            };
            let message = format!(
                "Item {position} refers to item {}{}, which does not run before it; {earlier}.",
                reference.item,
                place_text(place)
            );
            return Err(error(position, place, message));
        }
        found.push(reference);
        return Ok(());
    }
    let mut inner = |name: String, value: &Value| {
        place.push(name);
        let outcome = find(value, place, found, position);
        place.pop();
        outcome
    };
    match value {
        Value::Object(members) => members.iter().try_for_each(|(name, member)| inner(name.clone(), member)),
        Value::Array(items) => {
            items.iter().enumerate().try_for_each(|(index, item)| inner(index.to_string(), item))
        }
        _ => Ok(()),
    }
}

fn place_text(place: &[String]) -> String {
    let text = quoted_name(&place.join("."));
    if text.is_empty() { text } else { format!(" in{text}") }
}

fn error(position: usize, place: &[String], message: String) -> OpError {
    OpError::new(Code::InvalidValue, message)
        .with_detail("index", position)
        .with_detail("param_name", place.join("."))
        .before_dispatch()
}

/// Replaces references by their values.
pub(super) struct Inserter<'r> {
    position: usize,
    results: &'r [Option<Value>],
    max_bytes: usize,
    left: usize,
}

impl<'r> Inserter<'r> {
    pub(super) const fn new(position: usize, results: &'r [Option<Value>], max_bytes: usize) -> Inserter<'r> {
        Inserter { position, results, max_bytes, left: max_bytes }
    }

    pub(super) fn insert(&mut self, value: &mut Value, place: &mut Vec<String>) -> Result<(), OpError> {
        if let Some(reference) = reference_in(value).and_then(Value::as_str).and_then(ResultReference::parse)
        {
            *value = self.value_of(&reference, place)?;
            return Ok(());
        }
        let mut inner = |name: String, value: &mut Value| {
            place.push(name);
            let outcome = self.insert(value, place);
            place.pop();
            outcome
        };
        match value {
            Value::Object(members) => {
                members.iter_mut().try_for_each(|(name, member)| inner(name.clone(), member))
            }
            Value::Array(items) => {
                items.iter_mut().enumerate().try_for_each(|(index, item)| inner(index.to_string(), item))
            }
            _ => Ok(()),
        }
    }

    fn value_of(&mut self, reference: &ResultReference, place: &[String]) -> Result<Value, OpError> {
        let ResultReference { item, path } = reference;
        let fail = |message: String| {
            let text = std::iter::once(DATA).chain(path.iter().map(String::as_str));
            let text = text.collect::<Vec<_>>().join(".");
            OpError::new(Code::InvalidValue, message)
                .with_detail("param_name", place.join("."))
                .with_detail("reference", format!("{item}.{text}"))
        };
        let Some(data) = self.results.get(*item).and_then(Option::as_ref) else {
            return Err(fail(format!(
                "Item {} needs the result of item {item}, which has none because it failed; correct item {item} and send both again.",
                self.position
            )));
        };
        let mut value = data;
        let mut walked = vec![DATA.to_owned()];
        for part in path {
            match step(value, part) {
                Some(next) => value = next,
                None => {
                    let nearest = nearest_paths(value, &walked, part);
                    let hint = match nearest.as_slice() {
                        [] => format!(" '{}' is {}.", walked.join("."), kind(value)),
                        some => format!(" Nearest: {}.", some.join(", ")),
                    };
                    let whole = format!("{DATA}.{}", path.join("."));
                    let message =
                        format!("The result of item {item} has no{}.{hint}", quoted_or_path(&whole));
                    return Err(fail(message).with_detail("nearest", nearest));
                }
            }
            walked.push(part.clone());
        }
        if !spend(value, &mut self.left) {
            let max = self.max_bytes;
            let message = format!(
                "The values from earlier results for item {} have more than {max} bytes; refer to a smaller part.",
                self.position
            );
            return Err(OpError::too_large(message, LimitType::RequestSize, None, max));
        }
        Ok(value.clone())
    }
}

fn quoted_or_path(path: &str) -> String {
    let quoted = quoted_name(path);
    if quoted.is_empty() { " such path".to_owned() } else { quoted }
}

fn step<'v>(value: &'v Value, part: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(part),
        Value::Array(items) => items.get(part.parse::<usize>().ok()?),
        _ => None,
    }
}

/// Returns existing paths near the one that does not exist: members with a similar name, also of the first item of a
/// list and of the list in an object; otherwise some members.
fn nearest_paths(value: &Value, walked: &[String], part: &str) -> Vec<String> {
    let below = |parts: &[&str], name: &str| {
        let parts = walked.iter().map(String::as_str).chain(parts.iter().copied());
        parts.chain([name]).collect::<Vec<_>>().join(".")
    };
    let similar = |members: &Map<String, Value>, parts: &[&str]| -> Vec<String> {
        let names = nearest_many(part, members.keys().map(String::as_str), MAX_SUGGESTED);
        names.into_iter().map(|name| below(parts, name)).collect()
    };
    let first = |items: &Vec<Value>| items.first().and_then(Value::as_object).cloned();
    match value {
        Value::Object(members) => {
            let mut found = similar(members, &[]);
            for (name, member) in members {
                let item = member.as_array().and_then(first);
                found.extend(
                    item.filter(|item| item.contains_key(part)).map(|_| below(&[name.as_str(), "0"], part)),
                );
            }
            if found.is_empty() {
                found = members.keys().take(MAX_LISTED).map(|name| below(&[], name)).collect();
            }
            found.truncate(MAX_LISTED);
            found
        }
        Value::Array(items) => {
            let last = items.len().checked_sub(1);
            let inside = first(items).map(|item| similar(&item, &["0"])).unwrap_or_default();
            let is_index = part.bytes().all(|byte| byte.is_ascii_digit());
            match last {
                Some(last) if is_index || inside.is_empty() => vec![below(&[], &last.to_string())],
                _ => inside,
            }
        }
        _ => Vec::new(),
    }
}

/// Describes a value that has no members.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "an empty list",
        Value::Object(_) => "an empty object",
    }
}

/// Subtracts about the bytes of a value; `false` if there are not enough.
fn spend(value: &Value, left: &mut usize) -> bool {
    let bytes = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(_) => 2,
        Value::Object(members) => members.keys().map(|name| name.len() + 4).sum(),
    };
    let Some(rest) = left.checked_sub(bytes) else { return false };
    *left = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| spend(item, left)),
        Value::Object(members) => members.values().all(|member| spend(member, left)),
        _ => true,
    }
}
