//! Walks all texts that a model may read: descriptions, titles, names, values, defaults and examples, at every depth.

use super::FlaggedText;
use crate::operation::{Binding, McpBinding, Operation};
use crate::schema::keywords::{KeywordValue, keyword_value};
use mcpaql_lexicon::poison::{TextRole, scan};
use mcpaql_lexicon::unicode;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// Maximum depth of a schema; deeper parts are not shown to models.
const MAX_DEPTH: usize = 128;

/// Scans texts and remembers where they are.
pub(super) struct TextScan<'s> {
    is_own: &'s dyn Fn(&str) -> bool,
    base: String,
    path: Vec<Cow<'s, str>>,
    found: Vec<FlaggedText>,
}

impl<'s> TextScan<'s> {
    pub(super) fn new(base: String, is_own: &'s dyn Fn(&str) -> bool) -> TextScan<'s> {
        TextScan { is_own, base, path: Vec::new(), found: Vec::new() }
    }

    /// Scans a single text.
    pub(super) fn text(mut self, text: &str) -> Vec<FlaggedText> {
        self.add(text, TextRole::Description);
        self.found
    }

    /// Scans a schema.
    pub(super) fn schema(mut self, schema: &'s Value) -> Vec<FlaggedText> {
        self.walk_schema(schema, None);
        self.found
    }

    /// Scans an entry of a list: descriptions, titles, names and URIs, with those of its arguments.
    pub(super) fn entry(mut self, entry: &'s Value) -> Vec<FlaggedText> {
        let arguments = entry.get("arguments").and_then(Value::as_array);
        for part in std::iter::once(entry).chain(arguments.into_iter().flatten()) {
            for key in ["name", "uri", "uriTemplate"] {
                if let Some(text) = part.get(key).and_then(Value::as_str) {
                    self.at(key, |scan| scan.add(text, TextRole::Name));
                }
            }
            for key in ["title", "description"] {
                if let Some(text) = part.get(key).and_then(Value::as_str) {
                    self.at(key, |scan| scan.add(text, TextRole::Description));
                }
            }
        }
        self.found
    }

    /// Scans everything that models read of an operation.
    pub(super) fn operation(mut self, operation: &'s Operation) -> Vec<FlaggedText> {
        self.walk_operation(operation);
        if let Binding::Mcp(McpBinding { input_schema: Some(schema), .. }) = &operation.binding {
            let known = std::mem::take(&mut self.found);
            self.at("inputSchema", |scan| scan.walk_schema(schema, None));
            // Most of its texts are those of the parameters.
            let is_new = |text: &FlaggedText| !known.iter().any(|known| known.finding == text.finding);
            let new: Vec<FlaggedText> = self.found.drain(..).filter(is_new).collect();
            self.found = known;
            self.found.extend(new);
        }
        self.found
    }

    fn walk_operation(&mut self, operation: &'s Operation) {
        self.at("title", |scan| scan.add(&operation.title, TextRole::Description));
        self.at("description", |scan| scan.add(&operation.description, TextRole::Description));
        if let Some(instead) = &operation.deprecated {
            self.at("deprecated", |scan| scan.add(instead, TextRole::Description));
        }
        for tag in &operation.tags {
            self.at("tags", |scan| scan.add(tag, TextRole::Value));
        }
        for param in &operation.params {
            self.at("params", |scan| {
                scan.at(param.name.as_str(), |scan| {
                    scan.add(&param.name, TextRole::Name);
                    scan.at("description", |scan| {
                        scan.add(&param.description, TextRole::Parameter(&param.name))
                    });
                    scan.walk_schema(&param.schema, Some(&param.name));
                    for default in param.default.iter().chain(&param.api_default) {
                        scan.at("default", |scan| scan.walk_values(default));
                    }
                });
            });
        }
        if let Some(returns) = &operation.returns {
            self.at("returns", |scan| {
                scan.at("description", |scan| scan.add(&returns.description, TextRole::Description));
                scan.walk_schema(&returns.schema, None);
            });
        }
        for example in &operation.examples {
            self.at("examples", |scan| {
                scan.add(&example.description, TextRole::Description);
                example.params.values().for_each(|value| scan.walk_values(value));
            });
        }
    }

    fn at(&mut self, key: impl Into<Cow<'s, str>>, visit: impl FnOnce(&mut TextScan<'s>)) {
        self.path.push(key.into());
        visit(self);
        self.path.pop();
    }

    fn add(&mut self, text: &str, role: TextRole<'_>) {
        let found = scan(text, role, self.is_own);
        if found.is_empty() {
            return;
        }
        let pointer =
            self.path.iter().fold(self.base.clone(), |pointer, key| crate::reader::child(&pointer, key));
        self.found.extend(found.into_iter().map(|finding| FlaggedText { pointer: pointer.clone(), finding }));
    }

    fn walk_schema(&mut self, schema: &'s Value, name: Option<&'s str>) {
        let Value::Object(map) = schema else { return };
        if self.path.len() > MAX_DEPTH {
            return;
        }
        for (key, value) in map {
            self.at(key.as_str(), |scan| scan.walk_keyword(key, value, name));
        }
    }

    fn walk_keyword(&mut self, key: &str, value: &'s Value, name: Option<&'s str>) {
        match (key, value) {
            ("description" | "title", Value::String(text)) => {
                self.add(text, name.map_or(TextRole::Description, TextRole::Parameter));
            }
            ("$ref" | "pattern" | "format" | "type" | "required" | "$id" | "$schema", _) => {}
            _ => match (keyword_value(key), value) {
                (KeywordValue::Schema | KeywordValue::Variant, value) => self.walk_schema(value, name),
                (KeywordValue::Schemas | KeywordValue::Variants, Value::Array(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        self.at(index.to_string(), |scan| scan.walk_schema(item, name));
                    }
                }
                (KeywordValue::Named | KeywordValue::NamedVariants, Value::Object(members)) => {
                    for (name, member) in members {
                        self.at(name.as_str(), |scan| {
                            scan.add(name, TextRole::Name);
                            scan.walk_schema(member, Some(name));
                        });
                    }
                }
                (_, value) => self.walk_values(value),
            },
        }
    }

    fn walk_values(&mut self, value: &'s Value) {
        if self.path.len() > MAX_DEPTH {
            return;
        }
        match value {
            Value::String(text) => self.add(text, TextRole::Value),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.at(index.to_string(), |scan| scan.walk_values(item));
                }
            }
            Value::Object(members) => {
                for (key, value) in members {
                    self.at(key.as_str(), |scan| scan.walk_values(value));
                }
            }
            _ => {}
        }
    }
}

/// Removes invisible characters from a text.
pub(super) fn clean(text: &mut String) {
    if let Cow::Owned(visible) = unicode::visible_text(text) {
        *text = visible;
    }
}

/// Removes invisible characters from all texts of a value. Names of members stay, because they are part of the API.
pub fn clean_value(value: &mut Value) {
    match value {
        Value::String(text) => clean(text),
        Value::Array(items) => items.iter_mut().for_each(clean_value),
        Value::Object(members) => members.values_mut().for_each(clean_value),
        _ => {}
    }
}

/// Removes invisible characters from all texts of an operation.
pub(super) fn clean_operation(operation: &mut Operation) {
    let Operation { title, description, params, returns, examples, tags, deprecated, binding, .. } =
        operation;
    if let Binding::Mcp(McpBinding { input_schema: Some(schema), .. }) = binding {
        clean_value(schema);
    }
    [title, description].into_iter().chain(tags).chain(deprecated).for_each(clean);
    for param in params {
        clean(&mut param.description);
        clean_value(&mut param.schema);
    }
    if let Some(returns) = returns {
        clean(&mut returns.description);
        clean_value(&mut returns.schema);
    }
    for example in examples {
        clean(&mut example.description);
    }
}

/// Removes titles and descriptions from a schema.
pub(super) fn remove_prose(schema: &mut Value) {
    match schema {
        Value::Object(map) => remove_members(map),
        Value::Array(items) => items.iter_mut().for_each(remove_prose),
        _ => {}
    }
}

fn remove_members(map: &mut Map<String, Value>) {
    map.retain(|key, value| !(matches!(key.as_str(), "description" | "title") && value.is_string()));
    map.values_mut().for_each(remove_prose);
}
