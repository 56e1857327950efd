//! Generates a value that fits a schema, for examples. Returns `None` if there is no plain value.
//!
//! ```
//! use mcpaql_schema::sample::sample;
//! use serde_json::json;
//!
//! let schema = json!({"type": "string", "enum": ["open", "closed"]});
//! assert_eq!(sample("state", &schema, &Default::default()), Some(json!("open")));
//! ```
//!
//! A sample is a proposal: callers must validate it before they show it.

mod number;
mod pattern;
#[cfg(test)]
mod tests;

use crate::schema::{SchemaSet, required_fields};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Maximum nesting depth of a sample.
const MAX_DEPTH: usize = 10;
/// Maximum items of a sample list.
const MAX_ITEMS: u64 = 10;
/// Maximum characters of a sample text.
const MAX_TEXT: u64 = 1000;

/// Returns a value for a schema: the author's example first, then the simplest value within the bounds. References are
/// resolved in `types`.
#[must_use]
pub fn sample(name: &str, schema: &Value, types: &IndexMap<String, Value>) -> Option<Value> {
    Sampler { types, mode: SampleMode::WithExamples }.value(name, schema, 0)
}

/// Like [`sample`], but without the author's examples and defaults, because some do not fit their own schema.
#[must_use]
pub fn sample_without_examples(name: &str, schema: &Value, types: &IndexMap<String, Value>) -> Option<Value> {
    Sampler { types, mode: SampleMode::WithoutExamples }.value(name, schema, 0)
}

/// Like [`sample`], but a [`ValueChooser`] decides about values, and only required fields are filled in. Returns `None`
/// if the chooser refuses.
#[must_use]
pub fn sample_with_chooser(
    name: &str,
    schema: &Value,
    types: &IndexMap<String, Value>,
    chooser: &dyn ValueChooser,
) -> Option<Value> {
    Sampler { types, mode: SampleMode::Chosen(chooser) }.value(name, schema, 0)
}

/// Chooses sample values that are really sent, not only shown.
pub trait ValueChooser {
    /// Returns whether a value with this name and schema is allowed.
    fn allows(&self, name: &str, schema: &Value) -> bool;
    /// Chooses one of the listed values.
    fn choose(&self, name: &str, values: &[&Value]) -> Option<Value>;
    /// Returns whether a text generated from a pattern is acceptable.
    fn accepts(&self, name: &str, text: &str) -> bool;
    /// Returns the value of a boolean.
    fn flag(&self, name: &str) -> bool;
}

#[derive(Clone, Copy)]
enum SampleMode<'t> {
    /// Use the author's examples.
    WithExamples,
    WithoutExamples,
    Chosen(&'t dyn ValueChooser),
}

struct Sampler<'t> {
    types: &'t IndexMap<String, Value>,
    mode: SampleMode<'t>,
}

impl Sampler<'_> {
    fn value(&self, name: &str, schema: &Value, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH || schema == &Value::Bool(false) {
            return None;
        }
        let value = match self.mode {
            SampleMode::WithExamples => author_value(schema),
            SampleMode::WithoutExamples => listed(schema).next().cloned(),
            SampleMode::Chosen(chooser) if !chooser.allows(name, schema) => return None,
            SampleMode::Chosen(chooser) => {
                let listed: Vec<&Value> = listed(schema).collect();
                if !listed.is_empty() {
                    return chooser.choose(name, &listed);
                }
                None
            }
        };
        if value.is_some() {
            return value;
        }
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let target = target.strip_prefix("#/types/")?;
            return self.value(name, self.types.get(target)?, depth + 1);
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            let merged = parts
                .iter()
                .try_fold(without(schema, "allOf"), |merged, part| self.joined(merged, part, 0))?;
            return self.value(name, &Value::Object(merged), depth + 1);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(variants) = schema.get(key).and_then(Value::as_array).filter(|list| !list.is_empty())
            {
                let own = without(schema, key);
                return variants.iter().find_map(|variant| {
                    let merged = self.joined(own.clone(), variant, 0)?;
                    self.value(name, &Value::Object(merged), depth + 1)
                });
            }
        }
        match kind(schema) {
            Some("boolean") => Some(json!(self.chooser().is_none_or(|chooser| chooser.flag(name)))),
            Some("integer" | "number") => number::number(schema),
            Some("array") => self.array(name, schema, depth),
            Some("object") => self.object(schema, depth),
            Some("string") | None => self.text(name, schema),
            Some(_) => None,
        }
    }

    fn chooser(&self) -> Option<&dyn ValueChooser> {
        match self.mode {
            SampleMode::Chosen(chooser) => Some(chooser),
            SampleMode::WithExamples | SampleMode::WithoutExamples => None,
        }
    }

    fn text(&self, name: &str, schema: &Value) -> Option<Value> {
        let text = text(name, schema)?;
        let is_generated = schema.get("pattern").is_some();
        let is_accepted =
            |chooser: &dyn ValueChooser| text.as_str().is_some_and(|text| chooser.accepts(name, text));
        (!is_generated || self.chooser().is_none_or(is_accepted)).then_some(text)
    }

    /// Merges a part into a schema. The part wins where they differ.
    fn joined(
        &self,
        mut merged: Map<String, Value>,
        part: &Value,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let part = match part {
            Value::Object(part) if depth <= MAX_DEPTH => part,
            Value::Bool(true) => return Some(merged),
            _ => return None,
        };
        if let Some(target) = part.get("$ref").and_then(Value::as_str) {
            return self.joined(merged, self.types.get(target.strip_prefix("#/types/")?)?, depth + 1);
        }
        for (key, value) in part {
            match (key.as_str(), merged.get_mut(key), value) {
                ("properties", Some(Value::Object(known)), Value::Object(more)) => {
                    known.extend(more.iter().map(|(name, field)| (name.clone(), field.clone())));
                }
                ("required" | "allOf", Some(Value::Array(known)), Value::Array(more)) => {
                    known.extend(more.iter().cloned());
                }
                // A second choice: both must match.
                ("oneOf" | "anyOf", Some(_), _) => {
                    let both = merged.entry("allOf").or_insert_with(|| json!([]));
                    if let Value::Array(both) = both {
                        both.push(json!({key: value}));
                    }
                }
                _ => {
                    merged.insert(key.clone(), value.clone());
                }
            }
        }
        Some(merged)
    }

    /// Returns a list with one item, or as many as required; different ones if they must be unique.
    fn array(&self, name: &str, schema: &Value, depth: usize) -> Option<Value> {
        let min = bound(schema, "minItems").unwrap_or(0);
        if min > MAX_ITEMS {
            return None;
        }
        if bound(schema, "maxItems") == Some(0) {
            return Some(json!([]));
        }
        let name = name.strip_suffix('s').unwrap_or(name);
        if let Some(tuple) = schema.get("prefixItems").and_then(Value::as_array) {
            let items: Option<Vec<Value>> =
                tuple.iter().map(|item| self.value(name, item, depth + 1)).collect();
            return items.map(Value::Array);
        }
        let any = Value::Bool(true);
        let item = schema.get("items").unwrap_or(&any);
        let Some(first) = self.value(name, item, depth + 1) else {
            // If no item can be generated, an optional list is empty.
            return (min == 0).then(|| json!([]));
        };
        let unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let mut items = vec![first.clone()];
        for n in 1..min {
            items.push(self.another(item, &first, n, unique));
        }
        Some(Value::Array(items))
    }

    /// Returns a value that differs from the first one, if that is easy to find.
    fn another(&self, schema: &Value, first: &Value, n: u64, unique: bool) -> Value {
        let target =
            schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix("#/types/"));
        let schema = target.and_then(|target| self.types.get(target)).unwrap_or(schema);
        let listed = schema.get("enum").and_then(Value::as_array);
        // The chooser did not choose the others.
        if self.chooser().is_some() && listed.is_some() {
            return first.clone();
        }
        let nth = usize::try_from(n).ok().and_then(|n| listed.and_then(|values| values.get(n)));
        match (nth, first) {
            (Some(value), _) => value.clone(),
            (None, Value::Number(number)) => match number.as_i64() {
                Some(number) => json!(number.saturating_add(i64::try_from(n).unwrap_or(1))),
                None => first.clone(),
            },
            (None, Value::String(text))
                if schema.get("format").is_none() && schema.get("pattern").is_none() =>
            {
                json!(format!("{text} {}", n + 1))
            }
            (None, Value::Object(fields)) if unique => {
                let mut fields = fields.clone();
                if let Some(Value::String(text)) = fields.values_mut().find(|value| value.is_string()) {
                    text.push_str(&format!(" {}", n + 1));
                }
                Value::Object(fields)
            }
            _ => first.clone(),
        }
    }

    /// Returns an object with the required fields, or with the first possible field if none is required.
    fn object(&self, schema: &Value, depth: usize) -> Option<Value> {
        let any = Value::Bool(true);
        let none = Map::new();
        let fields = schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let more = schema.get("additionalProperties").filter(|more| **more != Value::Bool(false));
        let mut out = Map::new();
        for name in required_fields(schema) {
            let field = fields.get(name).or(more).unwrap_or(&any);
            out.insert(name.to_owned(), self.value(name, field, depth + 1)?);
        }
        let min = usize::try_from(bound(schema, "minProperties").unwrap_or(0)).unwrap_or(usize::MAX);
        let wanted = if fields.is_empty() || self.chooser().is_some() { min } else { min.max(1) };
        for (name, field) in fields {
            if out.len() >= wanted {
                break;
            }
            if !out.contains_key(name)
                && let Some(value) = self.value(name, field, depth + 1)
            {
                out.insert(name.clone(), value);
            }
        }
        let described = more.is_some_and(Value::is_object);
        if out.is_empty() && described || out.len() < min.min(8) {
            for n in 1..=min.clamp(1, 8) {
                let key = if n == 1 { "key".to_owned() } else { format!("key{n}") };
                out.insert(key, self.value("value", more.unwrap_or(&any), depth + 1)?);
            }
        }
        Some(Value::Object(out))
    }
}

/// Returns the author's example, constant, first enum value or default.
fn author_value(schema: &Value) -> Option<Value> {
    let first_of = |key: &str| {
        let list = schema.get(key).and_then(Value::as_array)?;
        list.iter().find(|value| !value.is_null())
    };
    let value = schema.get("example").or_else(|| first_of("examples")).or_else(|| schema.get("const"));
    value
        .or_else(|| first_of("enum"))
        .or_else(|| schema.get("default"))
        .filter(|value| !value.is_null())
        .cloned()
}

/// Returns the constant and the enum values of a schema that have its type.
fn listed(schema: &Value) -> impl Iterator<Item = &Value> {
    let allowed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let kind = kind(schema);
    let fits = move |value: &&Value| match kind {
        Some("boolean") => value.is_boolean(),
        Some("integer" | "number") => value.is_number(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("string") => value.is_string(),
        _ => !value.is_null(),
    };
    schema.get("const").into_iter().chain(allowed).filter(fits)
}

fn without(schema: &Value, key: &str) -> Map<String, Value> {
    let mut map = schema.as_object().cloned().unwrap_or_default();
    map.shift_remove(key);
    map
}

/// Returns the first type that is not null. Without `type`, properties mean an object, items a list and bounds a
/// number.
fn kind(schema: &Value) -> Option<&str> {
    let has = |keys: &[&str]| keys.iter().any(|key| schema.get(key).is_some());
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null"),
        Some(kind) => kind.as_str(),
        None if has(&["properties", "additionalProperties", "required"]) => Some("object"),
        None if has(&["items", "prefixItems"]) => Some("array"),
        None if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) => {
            Some("number")
        }
        None => None,
    }
}

fn text(name: &str, schema: &Value) -> Option<Value> {
    let min = bound(schema, "minLength").unwrap_or(0);
    let max = bound(schema, "maxLength").unwrap_or(u64::MAX);
    // A longer text would not be a useful example.
    if min > max || min > MAX_TEXT {
        return None;
    }
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let plain = formatted(format).map_or_else(|| words(name, min, max), str::to_owned);
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let length = plain.chars().count() as u64;
    let Some(pattern) = pattern else {
        return (min..=max).contains(&length).then(|| json!(plain));
    };
    let mut schemas = SchemaSet::default();
    let (id, _) = schemas.add(&json!({"minLength": min, "maxLength": max, "pattern": pattern}), "");
    let fits = |text: &String| schemas.check(id, &json!(text)).is_empty();
    let joined = words(name, min, max).replace(' ', "-");
    // If the pattern only fixes the start of a text, the rest can be anything.
    let longer = pattern::texts(pattern).take(3).map(|text| padded(text, min));
    let upper = plain.to_uppercase();
    let mut proposals = [plain, joined, upper].into_iter().chain(pattern::texts(pattern)).chain(longer);
    proposals.find(fits).map(Value::String)
}

/// Returns a text of a format.
fn formatted(format: &str) -> Option<&'static str> {
    Some(match format {
        "date" => "2026-01-31",
        "date-time" => "2026-01-31T12:00:00Z",
        "time" => "12:00:00Z",
        "duration" => "PT1H",
        "email" => "ada@example.com",
        "uri" | "url" | "iri" => "https://example.com",
        "uuid" => "7c9e6679-7425-40de-944b-e07fc1f90ae7",
        "hostname" => "example.com",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        "byte" => "aGVsbG8=",
        _ => return None,
    })
}

/// Returns `some due day`, repeated or cut until its length fits.
fn words(name: &str, min: u64, max: u64) -> String {
    let plain = format!("some {}", name.replace('_', " "));
    let mut text = plain.clone();
    while (text.chars().count() as u64) < min {
        text.push(' ');
        text.push_str(&plain);
    }
    text.chars().take(usize::try_from(max).unwrap_or(usize::MAX)).collect()
}

fn padded(mut text: String, min: u64) -> String {
    let missing = min.saturating_sub(text.chars().count() as u64).min(MAX_TEXT);
    text.extend((0..missing).map(|_| 'a'));
    text
}

fn bound(schema: &Value, key: &str) -> Option<u64> {
    schema.get(key).and_then(Value::as_u64)
}
