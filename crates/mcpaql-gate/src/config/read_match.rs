//! Reads the `match` part of rules, quotas and overrides.

use crate::matching::{CallMatch, NamePattern, ParamCondition, ParamPattern, ParamTest};
use mcpaql_lexicon::{Category, Danger};
use mcpaql_schema::diagnostic::{Diagnostic, field_path};
use mcpaql_schema::error::Code;
use mcpaql_schema::reader::{DocumentObject, DocumentReader, child};
use mcpaql_schema::schema::pattern_mistake;
use serde_json::Value;

const MATCH_KEYS: &[&str] =
    &["adapter", "endpoint", "category", "operation", "tag", "danger", "caller", "params"];
const CONDITION_KEYS: &[&str] = &["eq", "ne", "gt", "gte", "lt", "lte", "in", "not_in", "pattern", "exists"];

/// Reports a value that cannot be used.
pub(super) fn problem(reader: &mut DocumentReader, pointer: &str, message: &str, expected: &str) {
    reader.push(Diagnostic::error(Code::SchemaInvalidValue, pointer, message).expected(expected));
}

/// Reports unknown keys, and keys without a value: a rule must never mean more calls than its author thought.
pub(super) fn check_keys(reader: &mut DocumentReader, object: &DocumentObject<'_>, keys: &[&str]) {
    reader.check_keys(object, keys);
    for (key, value) in object.map {
        let pointer = object.pointer_to(key);
        if !keys.contains(&key.as_str()) {
            // Documents may have extensions; this file may not.
            if key.starts_with("x-") {
                let message = format!("Unknown key '{key}'");
                reader.push(
                    Diagnostic::error(Code::SchemaUnknownField, pointer, message)
                        .at_key()
                        .expected_one_of(keys),
                );
            }
        } else if value.is_null() {
            let message = format!("Field '{}' has no value", field_path(&pointer));
            problem(reader, &pointer, &message, "a value, or no such key");
        }
    }
}

pub(super) fn read_match(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> CallMatch {
    check_keys(reader, object, MATCH_KEYS);
    let categories = Category::ALL.map(Category::endpoint);
    let levels = Danger::ALL.map(Danger::as_str);
    reject_empty_list(reader, object, "category");
    CallMatch {
        adapter: names(reader, object, "adapter"),
        endpoint: names(reader, object, "endpoint"),
        category: reader.choices(object, "category", &categories, Category::parse),
        operation: names(reader, object, "operation"),
        tag: names(reader, object, "tag"),
        danger: reader.choice(object, "danger", &levels, Danger::parse),
        caller: names(reader, object, "caller"),
        params: reader.member(object, "params").map(|object| params(reader, &object)).unwrap_or_default(),
    }
}

fn names(reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str) -> Vec<NamePattern> {
    reject_empty_list(reader, object, key);
    reader.strings(object, key).into_iter().map(NamePattern::new).collect()
}

/// An empty list would match every call, as if the key were not there.
fn reject_empty_list(reader: &mut DocumentReader, object: &DocumentObject<'_>, key: &str) {
    if object.get(key).and_then(Value::as_array).is_some_and(Vec::is_empty) {
        let pointer = object.pointer_to(key);
        let message = format!("Field '{}' is an empty list", field_path(&pointer));
        problem(reader, &pointer, &message, "one or more values, or no such key");
    }
}

fn params(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Vec<ParamTest> {
    if object.map.is_empty() {
        problem(reader, &object.pointer, "'params' tests no parameter", "one or more tests, or no such key");
    }
    let mut tests = Vec::new();
    for (path, value) in object.map {
        let pointer = object.pointer_to(path);
        if path.split('.').any(str::is_empty) {
            let message = format!("'{path}' is not the path of a parameter");
            problem(reader, &pointer, &message, "a name, or names with a dot between them");
        }
        tests.push(ParamTest { path: path.clone(), conditions: conditions(reader, value, &pointer) });
    }
    tests
}

/// Reads what must hold for a parameter: a value that it equals, a list of such values, or an object with operators.
fn conditions(reader: &mut DocumentReader, value: &Value, pointer: &str) -> Vec<ParamCondition> {
    let conditions = match value {
        Value::Object(map) => {
            let object = DocumentObject { map, pointer: pointer.to_owned() };
            check_keys(reader, &object, CONDITION_KEYS);
            if map.is_empty() {
                let expected = format!("one or more of {}", CONDITION_KEYS.join(", "));
                problem(reader, pointer, "The test is empty", &expected);
            }
            let known =
                map.iter().filter(|(key, value)| CONDITION_KEYS.contains(&key.as_str()) && !value.is_null());
            known.filter_map(|(key, value)| condition(reader, key, value, &child(pointer, key))).collect()
        }
        Value::Array(items) => members(reader, items, pointer).map(ParamCondition::In).into_iter().collect(),
        Value::Null => {
            problem(reader, pointer, "Null is no value to compare with", "`{exists: false}`");
            Vec::new()
        }
        value => vec![ParamCondition::Eq(value.clone())],
    };
    conditions
}

fn condition(
    reader: &mut DocumentReader,
    operator: &str,
    value: &Value,
    pointer: &str,
) -> Option<ParamCondition> {
    let mut bound = |condition: fn(Value) -> ParamCondition| match value {
        Value::Number(_) | Value::String(_) => Some(condition(value.clone())),
        other => {
            reader.wrong_type(pointer, "number", other);
            None
        }
    };
    match operator {
        "eq" => Some(ParamCondition::Eq(value.clone())),
        "ne" => Some(ParamCondition::Ne(value.clone())),
        "gt" => bound(ParamCondition::Gt),
        "gte" => bound(ParamCondition::Gte),
        "lt" => bound(ParamCondition::Lt),
        "lte" => bound(ParamCondition::Lte),
        "in" => list(reader, value, pointer).map(ParamCondition::In),
        "not_in" => list(reader, value, pointer).map(ParamCondition::NotIn),
        "pattern" => pattern(reader, value, pointer),
        _ => match value {
            Value::Bool(wanted) => Some(ParamCondition::Exists(*wanted)),
            other => {
                reader.wrong_type(pointer, "boolean", other);
                None
            }
        },
    }
}

fn list(reader: &mut DocumentReader, value: &Value, pointer: &str) -> Option<Vec<Value>> {
    match value {
        Value::Array(items) => members(reader, items, pointer),
        other => {
            reader.wrong_type(pointer, "array", other);
            None
        }
    }
}

fn members(reader: &mut DocumentReader, items: &[Value], pointer: &str) -> Option<Vec<Value>> {
    if items.is_empty() {
        problem(reader, pointer, "The list is empty, so no value is in it", "one or more values");
        return None;
    }
    if let Some(index) = items.iter().position(Value::is_null) {
        let pointer = child(pointer, index);
        problem(
            reader,
            &pointer,
            "Null is no value to compare with",
            "`{exists: false}` in a rule of its own",
        );
        return None;
    }
    Some(items.to_vec())
}

fn pattern(reader: &mut DocumentReader, value: &Value, pointer: &str) -> Option<ParamCondition> {
    let Value::String(text) = value else {
        reader.wrong_type(pointer, "string", value);
        return None;
    };
    let compiled = ParamPattern::new(text);
    if compiled.is_none() {
        let why =
            pattern_mistake(text).unwrap_or("the engine supports no look-around and no back references");
        let message = format!("The pattern '{text}' cannot be used: {why}");
        problem(reader, pointer, &message, "a regular expression");
    }
    compiled.map(ParamCondition::Pattern)
}
