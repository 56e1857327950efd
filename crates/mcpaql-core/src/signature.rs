//! An operation as one line that a model reads at a glance:
//! `create_issue(owner: string, title: string, labels?: string[], state?: "open"|"closed" = "open") -> Issue`.
//!
//! What always holds: required parameters come first, otherwise the document's order is kept; the text depends on the
//! operation alone; a default is shown exactly where validation fills it in, and a secret's default never.

mod hoist;

pub use hoist::{hoist, hoist_schema, hoist_types, pascal_case};

use crate::operation::{Operation, Param};
use crate::schema::{required_fields, shorten};
use crate::validate::fills_default;
use indexmap::{IndexMap, IndexSet};
use serde_json::{Map, Value};

/// A longer enum is cut in the one-line form.
const LONG_ENUM: usize = 8;
/// So many of its values stay.
const ENUM_SAMPLE: usize = 4;
/// An object with more fields is not written inline.
const SMALL_OBJECT: usize = 4;
/// No schema that people read is nested deeper.
const MAX_DEPTH: usize = 12;
/// Formats that say how a string must look; others say nothing a caller can act on.
const SHOWN_FORMATS: [&str; 11] =
    ["date", "date-time", "time", "email", "uri", "uuid", "ipv4", "ipv6", "hostname", "byte", "binary"];
/// Keys of a schema whose values are data, not schemas.
const DATA_KEYS: [&str; 5] = ["enum", "const", "default", "example", "examples"];

/// The call and what it returns.
#[must_use]
pub fn line(op: &Operation) -> String {
    let mut out = call(op);
    if let Some(returns) = &op.returns {
        let returned = Form::LINE.text(&returns.schema);
        if returned != "any" {
            out.push_str(" -> ");
            out.push_str(&returned);
        }
    }
    out
}

/// The call alone, without what it returns.
#[must_use]
pub fn call(op: &Operation) -> String {
    let (required, optional): (Vec<&Param>, Vec<&Param>) =
        op.params.iter().partition(|param| param.required && !fills_default(op, param));
    let mut out = format!("{}(", op.name);
    for (index, param) in required.into_iter().chain(optional).enumerate() {
        if index > 0 {
            out.push_str(", ");
        }
        out.push_str(&param_text(op, param));
    }
    out.push(')');
    out
}

fn param_text(op: &Operation, param: &Param) -> String {
    let filled = fills_default(op, param);
    let mark = if param.required && !filled { "" } else { "?" };
    let mut out = format!("{}{mark}: {}", key(&param.name), Form::LINE.text(&param.schema));
    if filled
        && !param.sensitive
        && let Some(default) = &param.default
    {
        out.push_str(" = ");
        out.push_str(&shorten(&default.to_string(), 32));
    }
    out
}

/// The type of a schema: `string`, `Label[]`, `"open"|"closed"`, `{ name: string, color?: string }`.
#[must_use]
pub fn type_of(schema: &Value) -> String {
    Form { cut_enums: false, ..Form::LINE }.text(schema)
}

/// The line, then every named type it uses, directly or through other types, each on its own line.
#[must_use]
pub fn with_types(op: &Operation, types: &IndexMap<String, Value>) -> String {
    let mut names = IndexSet::new();
    let schemas = op.params.iter().map(|param| &param.schema).chain(op.returns.iter().map(|r| &r.schema));
    schemas.for_each(|schema| references(schema, &mut names, 0));
    let mut out = line(op);
    let mut next = 0;
    while let Some(name) = names.get_index(next).cloned() {
        next += 1;
        if let Some(schema) = types.get(&name) {
            references(schema, &mut names, 0);
            out.push_str("\ntype ");
            out.push_str(&name);
            out.push_str(" = ");
            out.push_str(&Form::FULL.text(schema));
        }
    }
    out
}

/// The names of the types that a schema refers to, or that the schemas in a list or map of them do.
fn references(value: &Value, names: &mut IndexSet<String>, depth: usize) {
    if depth > 64 {
        return;
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| references(item, names, depth + 1)),
        Value::Object(map) => {
            if let Some(target) = map.get("$ref").and_then(Value::as_str) {
                names.insert(type_name(target));
            }
            for (key, value) in map {
                match (key.as_str(), value) {
                    // Names of properties are not keywords.
                    ("properties" | "patternProperties", Value::Object(fields)) => {
                        fields.values().for_each(|field| references(field, names, depth + 1));
                    }
                    (key, _) if DATA_KEYS.contains(&key) => {}
                    _ => references(value, names, depth + 1),
                }
            }
        }
        _ => {}
    }
}

fn type_name(target: &str) -> String {
    match target.rsplit('/').next().map(str::trim) {
        None | Some("") => "any".to_owned(),
        Some(name) => name.replace("~1", "/").replace("~0", "~").replace(char::is_control, ""),
    }
}

/// How much is written out.
#[derive(Clone, Copy)]
struct Form {
    cut_enums: bool,
    /// Objects of any size are written inline.
    expand: bool,
}

/// A type's text, and whether it needs parentheses before `[]`.
struct Text {
    text: String,
    compound: bool,
}

impl Text {
    fn plain(text: impl Into<String>) -> Text {
        Text { text: text.into(), compound: false }
    }

    /// Distinct texts with a separator between them.
    fn joined(parts: impl IntoIterator<Item = Text>, separator: &str) -> Text {
        let mut distinct: IndexMap<String, bool> = IndexMap::new();
        for part in parts {
            distinct.insert(part.text, part.compound);
        }
        let compound = distinct.len() > 1 || distinct.values().any(|compound| *compound);
        Text { text: distinct.into_keys().collect::<Vec<_>>().join(separator), compound }
    }

    fn in_parentheses(self) -> Text {
        if self.compound { Text::plain(format!("({})", self.text)) } else { self }
    }
}

impl Form {
    const LINE: Form = Form { cut_enums: true, expand: false };
    const FULL: Form = Form { cut_enums: false, expand: true };

    fn text(self, schema: &Value) -> String {
        self.render(schema, 0).text
    }

    fn render(self, schema: &Value, depth: usize) -> Text {
        let map = match schema {
            Value::Object(map) if depth <= MAX_DEPTH => map,
            Value::Bool(false) => return Text::plain("never"),
            _ => return Text::plain("any"),
        };
        let body = self.body(schema, map, depth);
        let nullable = map.get("nullable") == Some(&Value::Bool(true));
        if nullable && body.text != "any" && !body.text.split('|').any(|part| part.trim() == "null") {
            return Text { text: format!("{} | null", body.text), compound: true };
        }
        body
    }

    fn body(self, schema: &Value, map: &Map<String, Value>, depth: usize) -> Text {
        if let Some(target) = map.get("$ref").and_then(Value::as_str) {
            return Text::plain(type_name(target));
        }
        if let Some(value) = map.get("const") {
            return Text::plain(literal(value));
        }
        if let Some(values) = map.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
            return self.enumeration(values);
        }
        let list = |name: &str| map.get(name).and_then(Value::as_array).into_iter().flatten();
        let told = |text: &Text| text.text != "any";
        let variants: Vec<Text> =
            list("oneOf").chain(list("anyOf")).map(|variant| self.render(variant, depth + 1)).collect();
        let parts: Vec<Text> = list("allOf").map(|part| self.render(part, depth + 1)).filter(told).collect();
        // Variants that only add conditions to what the schema itself declares say nothing about its type.
        let variants = if variants.iter().any(told) { variants } else { Vec::new() };
        if variants.is_empty() && parts.is_empty() {
            return self.own(schema, map, depth);
        }
        let own = map.contains_key("properties").then(|| self.own(schema, map, depth));
        let choice = (!variants.is_empty()).then(|| Text::joined(variants, " | "));
        let mut all: Vec<Text> = own.into_iter().chain(parts).chain(choice).collect();
        match all.pop() {
            Some(only) if all.is_empty() => only,
            last => Text::joined(all.into_iter().chain(last).map(Text::in_parentheses), " & "),
        }
    }

    /// What the schema says by `type` and its companions.
    fn own(self, schema: &Value, map: &Map<String, Value>, depth: usize) -> Text {
        match map.get("type") {
            Some(Value::String(name)) => self.typed(name, schema, map, depth),
            Some(Value::Array(names)) if names.iter().any(Value::is_string) => {
                let parts =
                    names.iter().filter_map(Value::as_str).map(|name| self.typed(name, schema, map, depth));
                Text::joined(parts, " | ")
            }
            _ if map.contains_key("properties") => self.typed("object", schema, map, depth),
            _ if map.contains_key("items") => self.typed("array", schema, map, depth),
            _ => Text::plain("any"),
        }
    }

    fn typed(self, name: &str, schema: &Value, map: &Map<String, Value>, depth: usize) -> Text {
        match name {
            "string" => match map.get("format").and_then(Value::as_str) {
                Some(format) if SHOWN_FORMATS.contains(&format) => Text::plain(format!("string({format})")),
                _ => Text::plain("string"),
            },
            "array" => self.array(map, depth),
            "object" => self.object(schema, map, depth),
            "integer" | "number" | "boolean" | "null" => Text::plain(name),
            _ => Text::plain("any"),
        }
    }

    fn array(self, map: &Map<String, Value>, depth: usize) -> Text {
        let tuple = |items: &[Value]| {
            let parts: Vec<String> = items.iter().map(|item| self.render(item, depth + 1).text).collect();
            Text::plain(format!("[{}]", parts.join(", ")))
        };
        match (map.get("prefixItems"), map.get("items")) {
            (Some(Value::Array(items)), _) | (None, Some(Value::Array(items))) => tuple(items),
            (_, Some(items)) => {
                Text::plain(format!("{}[]", self.render(items, depth + 1).in_parentheses().text))
            }
            _ => Text::plain("any[]"),
        }
    }

    fn object(self, schema: &Value, map: &Map<String, Value>, depth: usize) -> Text {
        let rest = map.get("additionalProperties").filter(|rest| rest.is_object());
        let rest = rest.map(|rest| format!("[key]: {}", self.render(rest, depth + 1).text));
        let properties = map.get("properties").and_then(Value::as_object).filter(|map| !map.is_empty());
        let Some(properties) = properties else {
            return Text::plain(rest.map_or("object".to_owned(), |rest| format!("{{{rest}}}")));
        };
        let small = properties.len() <= SMALL_OBJECT && properties.values().all(is_flat);
        if !small && !self.expand {
            return Text::plain("object");
        }
        let required = required_fields(schema);
        let fields = properties.iter().map(|(name, property)| {
            let mark = if required.contains(&name.as_str()) { "" } else { "?" };
            format!("{}{mark}: {}", key(name), self.render(property, depth + 1).text)
        });
        let fields: Vec<String> = fields.chain(rest).collect();
        Text::plain(format!("{{ {} }}", fields.join(", ")))
    }

    fn enumeration(self, values: &[Value]) -> Text {
        let cut = self.cut_enums && values.len() > LONG_ENUM;
        let shown = if cut { ENUM_SAMPLE } else { values.len() };
        let mut parts: Vec<String> = values.iter().take(shown).map(literal).collect();
        if cut {
            parts.push(format!("…({})", values.len()));
        }
        Text { compound: parts.len() > 1, text: parts.join("|") }
    }
}

/// A scalar, a name, or a list of these.
fn is_flat(schema: &Value) -> bool {
    let of = |schema: &Value| {
        ["$ref", "enum", "const"].iter().any(|key| schema.get(key).is_some())
            || matches!(
                schema.get("type").and_then(Value::as_str),
                Some("string" | "integer" | "number" | "boolean")
            )
    };
    of(schema) || schema.get("type").is_some_and(|t| t == "array") && schema.get("items").is_some_and(of)
}

fn literal(value: &Value) -> String {
    shorten(&value.to_string(), 64).into_owned()
}

/// A name as it stands, quoted where it is not a plain word.
fn key(name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'));
    if plain { name.to_owned() } else { Value::from(name).to_string() }
}

#[cfg(test)]
mod tests;
