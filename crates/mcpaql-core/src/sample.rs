//! Schema → a value that fits it, for examples. `None` where nothing safe can be made up.
//!
//! A sample is a proposal: whoever shows it validates it first.

mod number;
mod pattern;
#[cfg(test)]
mod tests;

use crate::schema::{SchemaSet, required_fields};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

/// Objects nested deeper than this have no plain example.
const MAX_DEPTH: usize = 10;
/// A longer list would be no example but a nuisance.
const MAX_ITEMS: u64 = 10;
/// The same for text.
const MAX_TEXT: u64 = 1000;

/// A value of that schema: the author's own example first, then the plainest value within the bounds. References are
/// looked up in `types`.
#[must_use]
pub fn sample(name: &str, schema: &Value, types: &IndexMap<String, Value>) -> Option<Value> {
    Sampler { types, mode: SampleMode::WithExamples }.value(name, schema, 0)
}

/// The same without the author's own examples and defaults, some of which do not fit the schema they stand in.
#[must_use]
pub fn sample_without_examples(name: &str, schema: &Value, types: &IndexMap<String, Value>) -> Option<Value> {
    Sampler { types, mode: SampleMode::WithoutExamples }.value(name, schema, 0)
}

/// The same as somebody else chooses, with as little as the schema allows; nothing where that one refuses.
#[must_use]
pub fn sample_with_chooser(
    name: &str,
    schema: &Value,
    types: &IndexMap<String, Value>,
    taste: &dyn ValueChooser,
) -> Option<Value> {
    Sampler { types, mode: SampleMode::Chosen(taste) }.value(name, schema, 0)
}

/// Who chooses values that are not only shown.
pub trait ValueChooser {
    /// Whether there may be a value of that name and schema at all.
    fn allows(&self, name: &str, schema: &Value) -> bool;
    /// One of those that are listed.
    fn choose(&self, name: &str, values: &[&Value]) -> Option<Value>;
    /// Whether a text that was made from a pattern will do.
    fn accepts(&self, name: &str, text: &str) -> bool;
    /// What a flag is.
    fn flag(&self, name: &str) -> bool;
}

#[derive(Clone, Copy)]
enum SampleMode<'t> {
    /// What the author gives is taken.
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
            SampleMode::Chosen(taste) if !taste.allows(name, schema) => return None,
            SampleMode::Chosen(taste) => {
                let listed: Vec<&Value> = listed(schema).collect();
                if !listed.is_empty() {
                    return taste.choose(name, &listed);
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
            let whole =
                parts.iter().try_fold(without(schema, "allOf"), |whole, part| self.joined(whole, part, 0))?;
            return self.value(name, &Value::Object(whole), depth + 1);
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(variants) = schema.get(key).and_then(Value::as_array).filter(|list| !list.is_empty())
            {
                let own = without(schema, key);
                return variants.iter().find_map(|variant| {
                    let whole = self.joined(own.clone(), variant, 0)?;
                    self.value(name, &Value::Object(whole), depth + 1)
                });
            }
        }
        match kind(schema) {
            Some("boolean") => Some(json!(self.chooser().is_none_or(|taste| taste.flag(name)))),
            Some("integer" | "number") => number::number(schema),
            Some("array") => self.array(name, schema, depth),
            Some("object") => self.object(schema, depth),
            Some("string") | None => self.text(name, schema),
            Some(_) => None,
        }
    }

    fn chooser(&self) -> Option<&dyn ValueChooser> {
        match self.mode {
            SampleMode::Chosen(taste) => Some(taste),
            SampleMode::WithExamples | SampleMode::WithoutExamples => None,
        }
    }

    fn text(&self, name: &str, schema: &Value) -> Option<Value> {
        let text = text(name, schema)?;
        let is_made = schema.get("pattern").is_some();
        let will_do = |taste: &dyn ValueChooser| text.as_str().is_some_and(|text| taste.accepts(name, text));
        (!is_made || self.chooser().is_none_or(will_do)).then_some(text)
    }

    /// One schema that says what both say; the part's word counts where they differ.
    fn joined(
        &self,
        mut whole: Map<String, Value>,
        part: &Value,
        depth: usize,
    ) -> Option<Map<String, Value>> {
        let part = match part {
            Value::Object(part) if depth <= MAX_DEPTH => part,
            Value::Bool(true) => return Some(whole),
            _ => return None,
        };
        if let Some(target) = part.get("$ref").and_then(Value::as_str) {
            return self.joined(whole, self.types.get(target.strip_prefix("#/types/")?)?, depth + 1);
        }
        for (key, value) in part {
            match (key.as_str(), whole.get_mut(key), value) {
                ("properties", Some(Value::Object(known)), Value::Object(more)) => {
                    known.extend(more.iter().map(|(name, field)| (name.clone(), field.clone())));
                }
                ("required" | "allOf", Some(Value::Array(known)), Value::Array(more)) => {
                    known.extend(more.iter().cloned());
                }
                // Another choice on top of one: both have to be met.
                ("oneOf" | "anyOf", Some(_), _) => {
                    let both = whole.entry("allOf").or_insert_with(|| json!([]));
                    if let Value::Array(both) = both {
                        both.push(json!({key: value}));
                    }
                }
                _ => {
                    whole.insert(key.clone(), value.clone());
                }
            }
        }
        Some(whole)
    }

    /// One item, or as many as must be; different ones where they must be.
    fn array(&self, name: &str, schema: &Value, depth: usize) -> Option<Value> {
        let least = bound(schema, "minItems").unwrap_or(0);
        if least > MAX_ITEMS {
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
            // An optional list of things without an example is empty.
            return (least == 0).then(|| json!([]));
        };
        let unique = schema.get("uniqueItems") == Some(&Value::Bool(true));
        let mut items = vec![first.clone()];
        for n in 1..least {
            items.push(self.another(item, &first, n, unique));
        }
        Some(Value::Array(items))
    }

    /// Another value besides the first one, as far as one is easily found.
    fn another(&self, schema: &Value, first: &Value, n: u64, unique: bool) -> Value {
        let target =
            schema.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix("#/types/"));
        let schema = target.and_then(|target| self.types.get(target)).unwrap_or(schema);
        let listed = schema.get("enum").and_then(Value::as_array);
        // The others were not chosen.
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

    /// The required fields; the first one that can be made up where none is required.
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
        let least = usize::try_from(bound(schema, "minProperties").unwrap_or(0)).unwrap_or(usize::MAX);
        let wanted = if fields.is_empty() || self.chooser().is_some() { least } else { least.max(1) };
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
        if out.is_empty() && described || out.len() < least.min(8) {
            for n in 1..=least.clamp(1, 8) {
                let key = if n == 1 { "key".to_owned() } else { format!("key{n}") };
                out.insert(key, self.value("value", more.unwrap_or(&any), depth + 1)?);
            }
        }
        Some(Value::Object(out))
    }
}

/// What the author gives himself.
fn author_value(schema: &Value) -> Option<Value> {
    let first_of = |key: &str| {
        let list = schema.get(key).and_then(Value::as_array)?;
        list.iter().find(|value| !value.is_null())
    };
    let given = schema.get("example").or_else(|| first_of("examples")).or_else(|| schema.get("const"));
    given
        .or_else(|| first_of("enum"))
        .or_else(|| schema.get("default"))
        .filter(|value| !value.is_null())
        .cloned()
}

/// The value that must be, and those that may; only those of the schema's own type.
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

/// The first type that is not null; what has properties is an object, what has items a list, what has bounds a number.
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
    let least = bound(schema, "minLength").unwrap_or(0);
    let most = bound(schema, "maxLength").unwrap_or(u64::MAX);
    // A longer text would be no example but a nuisance.
    if least > most || least > MAX_TEXT {
        return None;
    }
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let plain = formatted(format).map_or_else(|| words(name, least, most), str::to_owned);
    let pattern = schema.get("pattern").and_then(Value::as_str);
    let length = plain.chars().count() as u64;
    let Some(pattern) = pattern else {
        return (least..=most).contains(&length).then(|| json!(plain));
    };
    let mut schemas = SchemaSet::default();
    let (id, _) = schemas.add(&json!({"minLength": least, "maxLength": most, "pattern": pattern}), "");
    let fits = |text: &String| schemas.check(id, &json!(text)).is_empty();
    let joined = words(name, least, most).replace(' ', "-");
    // Where the pattern says only how a text begins, the rest is anybody's.
    let longer = pattern::texts(pattern).take(3).map(|text| padded(text, least));
    let upper = plain.to_uppercase();
    let mut proposals = [plain, joined, upper].into_iter().chain(pattern::texts(pattern)).chain(longer);
    proposals.find(fits).map(Value::String)
}

/// A text of that format.
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

/// `some due day`, cut or repeated until it fits.
fn words(name: &str, least: u64, most: u64) -> String {
    let plain = format!("some {}", name.replace('_', " "));
    let mut text = plain.clone();
    while (text.chars().count() as u64) < least {
        text.push(' ');
        text.push_str(&plain);
    }
    text.chars().take(usize::try_from(most).unwrap_or(usize::MAX)).collect()
}

fn padded(mut text: String, least: u64) -> String {
    let missing = least.saturating_sub(text.chars().count() as u64).min(MAX_TEXT);
    text.extend((0..missing).map(|_| 'a'));
    text
}

fn bound(schema: &Value, key: &str) -> Option<u64> {
    schema.get(key).and_then(Value::as_u64)
}
