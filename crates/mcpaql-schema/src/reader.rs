//! Typed access to an untyped document.
//!
//! ```
//! use mcpaql_schema::reader::DocumentReader;
//! use serde_json::json;
//!
//! let mut reader = DocumentReader::default();
//! assert!(reader.object(&json!(["a"]), "/target").is_none());
//! assert_eq!(reader.diagnostics[0].message, "Field 'target' expected object, got array");
//! ```
//!
//! What always holds: a value of the wrong type becomes a diagnostic, and reading continues, so one run reports all
//! problems.

use crate::diagnostic::{Diagnostic, Severity, field_path};
use crate::error::Code;
use crate::suggest;
use serde_json::{Map, Number, Value};

/// An object of the document and its position.
#[derive(Debug, Clone)]
pub struct DocumentObject<'a> {
    /// Its members.
    pub map: &'a Map<String, Value>,
    /// Its JSON pointer.
    pub pointer: String,
}

impl<'a> DocumentObject<'a> {
    /// Returns the member `key`, unless it is missing or null.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    /// Returns the pointer of a member.
    #[must_use]
    pub fn pointer_to(&self, key: &str) -> String {
        child(&self.pointer, key)
    }
}

/// Returns the pointer of a member of the object at `pointer`.
#[must_use]
pub fn child(pointer: &str, key: impl std::fmt::Display) -> String {
    let key = key.to_string();
    if key.contains(['~', '/']) {
        format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
    } else {
        format!("{pointer}/{key}")
    }
}

/// Returns the JSON type name of a value.
#[must_use]
pub fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if is_integral(number) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns whether a value has a JSON type, given by its name; every value has an unknown type.
#[must_use]
pub fn has_type(value: &Value, name: &str) -> bool {
    match name {
        "number" => value.is_number(),
        "string" | "integer" | "boolean" | "array" | "object" | "null" => type_name(value) == name,
        _ => true,
    }
}

/// Returns whether a number has no fraction: `1.0` is the integer 1, as in JSON Schema.
#[must_use]
pub fn is_integral(number: &Number) -> bool {
    !number.is_f64() || number.as_f64().is_some_and(|float| float.is_finite() && float.fract() == 0.0)
}

/// Reads a document and collects diagnostics.
#[derive(Debug, Default)]
pub struct DocumentReader {
    /// The diagnostics, in the order they were found.
    pub diagnostics: Vec<Diagnostic>,
}

impl DocumentReader {
    /// Returns whether there is an error after the first `count` diagnostics.
    #[must_use]
    pub fn has_errors_since(&self, count: usize) -> bool {
        self.diagnostics.iter().skip(count).any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Adds a diagnostic.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// Reports a value of the wrong type. If quotes are the problem, suggests adding or removing them.
    pub fn wrong_type(&mut self, pointer: &str, expected: &str, value: &Value) {
        let found = type_name(value);
        let key = pointer.rsplit('/').next().unwrap_or_default();
        // An item of a list has an index instead of a key.
        let key = if key.parse::<usize>().is_ok() { String::new() } else { format!("{key}: ") };
        let mut diagnostic = Diagnostic::error(
            Code::SchemaInvalidType,
            pointer,
            format!("Field '{}' expected {expected}, got {found}", field_path(pointer)),
        )
        .expected(expected)
        .found(short_value(value));
        if let Value::String(text) = value
            && expected != "string"
            && serde_json::from_str::<Value>(text).is_ok_and(|inner| type_name(&inner) == expected)
        {
            diagnostic = diagnostic.suggest(format!("use `{key}{text}` instead of `{key}\"{text}\"`"));
        } else if expected == "string" && matches!(value, Value::Number(_) | Value::Bool(_)) {
            diagnostic = diagnostic.suggest(format!("quote it: `{key}\"{value}\"`"));
        } else if expected == "array" && value.is_object() {
            diagnostic = diagnostic.suggest("write a list: start each item with `- `");
        } else if expected == "object" && value.is_array() {
            diagnostic = diagnostic.suggest("write `key: value` lines, without `- `");
        }
        self.push(diagnostic);
    }

    /// Reports a missing required member.
    pub fn missing(&mut self, object: &DocumentObject<'_>, key: &str, expected: &str) {
        let pointer = object.pointer_to(key);
        self.push(
            Diagnostic::error(
                Code::SchemaMissingField,
                &pointer,
                format!("Required field '{}' is missing", field_path(&pointer)),
            )
            .expected(expected)
            .suggest(format!("add `{key}: …`")),
        );
    }

    /// Returns the value as an object; reports any other type.
    pub fn object<'a>(&mut self, value: &'a Value, pointer: &str) -> Option<DocumentObject<'a>> {
        match value {
            Value::Object(map) => Some(DocumentObject { map, pointer: pointer.to_owned() }),
            other if pointer.is_empty() => {
                self.push(
                    Diagnostic::error(Code::SchemaInvalidType, pointer, "The document must be an object")
                        .expected("object")
                        .found(type_name(other))
                        .suggest("write `key: value` lines, starting with `name: …`"),
                );
                None
            }
            other => {
                self.wrong_type(pointer, "object", other);
                None
            }
        }
    }

    /// Returns a member that must be an object.
    pub fn member<'a>(&mut self, object: &DocumentObject<'a>, key: &str) -> Option<DocumentObject<'a>> {
        let value = object.get(key)?;
        self.object(value, &object.pointer_to(key))
    }

    /// Returns a member that must be a list.
    pub fn array<'a>(&mut self, object: &DocumentObject<'a>, key: &str) -> Option<&'a [Value]> {
        match object.get(key)? {
            Value::Array(items) => Some(items),
            other => {
                self.wrong_type(&object.pointer_to(key), "array", other);
                None
            }
        }
    }

    /// Returns a member that must be a string.
    pub fn string(&mut self, object: &DocumentObject<'_>, key: &str) -> Option<String> {
        match object.get(key)? {
            Value::String(text) => Some(text.clone()),
            other => {
                self.wrong_type(&object.pointer_to(key), "string", other);
                None
            }
        }
    }

    /// Returns a required member that must be a string.
    pub fn required_string(&mut self, object: &DocumentObject<'_>, key: &str) -> Option<String> {
        if object.get(key).is_none() {
            self.missing(object, key, "string");
            return None;
        }
        self.string(object, key)
    }

    /// Returns a member that must be true or false.
    pub fn boolean(&mut self, object: &DocumentObject<'_>, key: &str) -> Option<bool> {
        match object.get(key)? {
            Value::Bool(value) => Some(*value),
            other => {
                self.wrong_type(&object.pointer_to(key), "boolean", other);
                None
            }
        }
    }

    /// Returns a member that must be a whole number, 0 or more.
    pub fn unsigned(&mut self, object: &DocumentObject<'_>, key: &str) -> Option<u64> {
        let value = object.get(key)?;
        let number = value.as_u64();
        if number.is_none() && value.is_i64() {
            let pointer = object.pointer_to(key);
            let message = format!("Field '{}' is less than 0", field_path(&pointer));
            let diagnostic = Diagnostic::error(Code::SchemaInvalidValue, &pointer, message);
            self.push(diagnostic.expected("a whole number, 0 or more").found(value.to_string()));
        } else if number.is_none() {
            self.wrong_type(&object.pointer_to(key), "integer", value);
        }
        number
    }

    /// Returns a member that must be a whole number, 1 or more.
    pub fn positive(&mut self, object: &DocumentObject<'_>, key: &str) -> Option<u64> {
        let number = self.unsigned(object, key)?;
        if number == 0 {
            let pointer = object.pointer_to(key);
            self.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    &pointer,
                    format!("Field '{}' is 0, which would reject everything", field_path(&pointer)),
                )
                .expected("a whole number, 1 or more")
                .found("0")
                .suggest("remove it to use the default limit"),
            );
            return None;
        }
        Some(number)
    }

    /// Returns a duration in seconds (fractions allowed) as milliseconds.
    pub fn seconds(&mut self, object: &DocumentObject<'_>, key: &str) -> Option<u64> {
        let value = object.get(key)?;
        match value.as_f64() {
            // No call may take longer than a day. The bound keeps the conversion exact.
            Some(seconds) if seconds > 0.0 && seconds <= 86_400.0 => Some((seconds * 1000.0).ceil() as u64),
            Some(_) => {
                self.push(
                    Diagnostic::error(
                        Code::SchemaInvalidValue,
                        object.pointer_to(key),
                        format!("Field '{}' is not a usable duration", field_path(&object.pointer_to(key))),
                    )
                    .expected("seconds, more than 0 and up to a day (86400)")
                    .found(value.to_string()),
                );
                None
            }
            None => {
                self.wrong_type(&object.pointer_to(key), "number", value);
                None
            }
        }
    }

    /// Returns a list of strings. A single string counts as a list of one.
    pub fn strings(&mut self, object: &DocumentObject<'_>, key: &str) -> Vec<String> {
        let pointer = object.pointer_to(key);
        match object.get(key) {
            None => Vec::new(),
            Some(Value::String(text)) => vec![text.clone()],
            Some(Value::Array(items)) => items
                .iter()
                .enumerate()
                .filter_map(|(index, item)| match item {
                    Value::String(text) => Some(text.clone()),
                    other => {
                        self.wrong_type(&child(&pointer, index), "string", other);
                        None
                    }
                })
                .collect(),
            Some(other) => {
                self.wrong_type(&pointer, "array", other);
                Vec::new()
            }
        }
    }

    /// Returns one of a few known words.
    pub fn choice<T>(
        &mut self,
        object: &DocumentObject<'_>,
        key: &str,
        words: &[&str],
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = self.string(object, key)?;
        let parsed = parse(&text);
        if parsed.is_none() {
            let pointer = object.pointer_to(key);
            let mut diagnostic = Diagnostic::error(
                Code::SchemaInvalidValue,
                &pointer,
                format!("Field '{}' has the unknown value '{text}'", field_path(&pointer)),
            )
            .expected_one_of(words)
            .found(text.clone());
            if let Some(word) = suggest::nearest(&text, words.iter().copied()) {
                diagnostic = diagnostic.suggest(format!("did you mean `{word}`?"));
            }
            self.push(diagnostic);
        }
        parsed
    }

    /// Returns several of a few known words.
    pub fn choices<T>(
        &mut self,
        object: &DocumentObject<'_>,
        key: &str,
        words: &[&str],
        parse: impl Fn(&str) -> Option<T>,
    ) -> Vec<T> {
        let mut chosen = Vec::new();
        for (index, text) in self.strings(object, key).into_iter().enumerate() {
            if let Some(value) = parse(&text) {
                chosen.push(value);
                continue;
            }
            let pointer = match object.get(key) {
                Some(Value::Array(_)) => child(&object.pointer_to(key), index),
                _ => object.pointer_to(key),
            };
            let message = format!("Field '{}' has the unknown value '{text}'", field_path(&pointer));
            let mut diagnostic =
                Diagnostic::error(Code::SchemaInvalidValue, pointer, message).expected_one_of(words);
            if let Some(near) = suggest::nearest(&text, words.iter().copied()) {
                diagnostic = diagnostic.suggest(format!("did you mean `{near}`?"));
            }
            self.push(diagnostic);
        }
        chosen
    }

    /// Reports unknown keys of an object. Keys that start with `x-` are extensions and always allowed.
    pub fn check_keys(&mut self, object: &DocumentObject<'_>, keys: &[&str]) {
        self.check_nested_keys(object, keys, &[]);
    }

    /// Reports unknown keys of an object inside the document; `outer` are the keys of the document itself.
    pub fn check_nested_keys(&mut self, object: &DocumentObject<'_>, keys: &[&str], outer: &[&str]) {
        for key in object.map.keys() {
            if keys.contains(&key.as_str()) || key.starts_with("x-") {
                continue;
            }
            let pointer = object.pointer_to(key);
            let mut diagnostic = Diagnostic::error(
                Code::SchemaUnknownField,
                &pointer,
                format!("Unknown key '{key}'{}", in_path(&object.pointer)),
            )
            .at_key()
            .found(key.clone());
            diagnostic = match suggest::nearest(key, keys.iter().copied()) {
                _ if outer.contains(&key.as_str()) => {
                    diagnostic.suggest(format!("move `{key}` to the top level of the document"))
                }
                Some(word) => diagnostic.suggest(format!("did you mean `{word}`?")),
                None => diagnostic.expected_one_of(keys),
            };
            self.push(diagnostic);
        }
    }

    /// Warns about keys of the format that this program does not support yet.
    pub fn warn_unsupported_keys(&mut self, object: &DocumentObject<'_>, keys: &[(&str, &str)]) {
        for (key, what) in keys {
            if object.get(key).is_some() {
                self.push(
                    Diagnostic::warning(
                        Code::SchemaUnsupported,
                        object.pointer_to(key),
                        format!("'{key}' has no effect yet: {what}"),
                    )
                    .at_key(),
                );
            }
        }
    }
}

fn in_path(pointer: &str) -> String {
    if pointer.is_empty() { String::new() } else { format!(" in '{}'", field_path(pointer)) }
}

/// Writes a value for a report: short, on one line.
#[must_use]
pub fn short_value(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 {
        return text;
    }
    text.chars().take(57).chain("…".chars()).collect()
}
