//! Writes the keywords of scalars and lists. Mistakes are fixed if the meaning is clear; otherwise the keyword is left out.

use super::object::is_nullable;
use super::{SchemaWriter, non_empty};
use indexmap::IndexSet;
use mcpaql_core::reader::has_type;
use mcpaql_core::schema::pattern_mistake;
use serde_json::{Map, Number, Value, json};

impl SchemaWriter<'_> {
    /// Writes `type`, `const`, `enum`, bounds, `pattern` and `format`.
    pub(super) fn scalar_keywords(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        self.kind(map, out);
        self.literals(map, out);
        if is_nullable(map) && !out.get("type").is_some_and(Value::is_array) {
            out.insert("nullable".into(), true.into());
        }
        self.bounds(map, out);
        match counts(map, "minLength", "maxLength") {
            Some(lengths) => out.extend(lengths),
            None => self.note("'minLength' is greater than 'maxLength'", true),
        }
        self.pattern(map, out);
        match map.get("format") {
            Some(Value::String(format)) if !format.is_empty() && !out.contains_key("format") => {
                out.insert("format".into(), format.as_str().into());
            }
            _ => {}
        }
        let base64 =
            map.get("contentEncoding").and_then(Value::as_str).is_some_and(|name| name.starts_with("base64"));
        if base64 && !out.contains_key("format") {
            out.insert("format".into(), "byte".into());
        }
    }

    fn kind(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        let names: Vec<&str> = match map.get("type") {
            None | Some(Value::Null) => return,
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(_) => {
                self.note("a 'type' that is not a string", true);
                return;
            }
        };
        let mut known: Vec<&str> = Vec::new();
        for name in names {
            match json_type(name) {
                Some((kind, format)) => {
                    if !known.contains(&kind) {
                        known.push(kind);
                    }
                    if let Some(format) = format {
                        out.insert("format".into(), format.into());
                    }
                }
                None => {
                    if !matches!(name, "any" | "") {
                        self.note(format!("'{name}' is not a JSON type, so every value is accepted"), true);
                    }
                    return;
                }
            }
        }
        match known.as_slice() {
            [] => {}
            [only] => {
                out.insert("type".into(), (*only).into());
            }
            several => {
                out.insert("type".into(), json!(several));
            }
        }
    }

    /// Writes `const` and `enum`, with values converted to the declared type.
    fn literals(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        if let Some(value) = map.get("const") {
            out.insert("const".into(), value.clone());
            return;
        }
        let Some(values) = map.get("enum") else { return };
        let Some(values) = values.as_array().filter(|values| !values.is_empty()) else {
            self.note("an 'enum' without values", false);
            return;
        };
        let kind = out.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        if kind == "array" && item_enum(map).is_some() {
            return;
        }
        let mut kept: IndexSet<Value> = IndexSet::with_capacity(values.len());
        for value in values {
            let value = as_kind(value, &kind);
            if value.is_null() && !kind.is_empty() && kind != "null" {
                out.insert("nullable".into(), true.into());
                continue;
            }
            if has_type(&value, &kind) {
                kept.insert(value);
            }
        }
        if kept.is_empty() {
            if values.iter().any(|value| !value.is_null()) {
                self.note(format!("no value of 'enum' is of type {kind}"), false);
                out.shift_remove("type");
                out.insert("enum".into(), Value::Array(values.clone()));
            }
            return;
        }
        out.insert("enum".into(), Value::from_iter(kept));
    }

    fn bounds(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        let numeric = out.get("type").is_none_or(|kind| {
            let number = |kind: &Value| kind == "integer" || kind == "number";
            number(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(number))
        });
        if !numeric {
            return;
        }
        let mut bounds = Map::new();
        for (key, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
            let inclusive = number(map.get(key));
            match (map.get(exclusive), inclusive) {
                // A boolean in OpenAPI 2.0 and 3.0.
                (Some(Value::Bool(true)), Some(number)) => {
                    bounds.insert(exclusive.into(), number.into());
                }
                (other, inclusive) => {
                    bounds.extend(inclusive.map(|number| (key.to_owned(), number.into())));
                    bounds.extend(number(other).map(|number| (exclusive.to_owned(), number.into())));
                }
            }
        }
        let at = |keys: [&str; 2]| keys.iter().find_map(|key| bounds.get(*key).and_then(Value::as_f64));
        let (low, high) = (at(["minimum", "exclusiveMinimum"]), at(["maximum", "exclusiveMaximum"]));
        if low.zip(high).is_some_and(|(low, high)| low > high) {
            self.note("the minimum is greater than the maximum", true);
        } else {
            out.extend(bounds);
        }
        if let Some(step) =
            number(map.get("multipleOf")).filter(|step| step.as_f64().is_some_and(|step| step > 0.0))
        {
            out.insert("multipleOf".into(), step.into());
        }
    }

    fn pattern(&mut self, map: &Map<String, Value>, out: &mut Map<String, Value>) {
        let Some(Value::String(pattern)) = map.get("pattern") else { return };
        let textual = out.get("type").is_none_or(|kind| {
            kind == "string" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "string"))
        });
        if !textual || pattern.is_empty() {
            return;
        }
        // Some documents write the pattern between slashes, as in JavaScript.
        let inner = pattern.strip_prefix('/').and_then(|rest| {
            let (inner, flags) = rest.rsplit_once('/')?;
            let delimited = flags.chars().all(|flag| "gimsuy".contains(flag)) && !flags.contains('i');
            Some(inner).filter(|inner| delimited && inner.starts_with('^') && inner.ends_with('$'))
        });
        let pattern = inner.unwrap_or(pattern);
        if pattern_mistake(pattern).is_some() {
            self.note("a 'pattern' that is not a regular expression", true);
        } else {
            out.insert("pattern".into(), pattern.into());
        }
    }

    /// Writes `items` and the other keywords of lists.
    pub(super) fn list_keywords(
        &mut self,
        map: &Map<String, Value>,
        out: &mut Map<String, Value>,
        base: &str,
        nesting: usize,
    ) {
        let tuple = non_empty(map, "prefixItems").or_else(|| non_empty(map, "items"));
        if let Some(items) = tuple {
            let items: Vec<Value> = items.iter().map(|item| self.written(item, base, nesting + 1)).collect();
            out.insert("prefixItems".into(), Value::Array(items));
        }
        if let Some(items @ (Value::Object(_) | Value::Bool(true))) = map.get("items") {
            let mut items = self.written(items, base, nesting + 1);
            if let (Some(values), Some(plain)) = (item_enum(map), items.as_object_mut())
                && !plain.contains_key("enum")
                && !plain.contains_key("$ref")
            {
                plain.insert("enum".into(), values.into());
            }
            if out.get("type").is_none()
                && non_empty(map, "oneOf").is_none()
                && non_empty(map, "anyOf").is_none()
            {
                infer(out, "array");
            }
            out.insert("items".into(), items);
        }
        match counts(map, "minItems", "maxItems") {
            Some(lengths) => out.extend(lengths),
            None => self.note("'minItems' is greater than 'maxItems'", true),
        }
        if map.get("uniqueItems") == Some(&Value::Bool(true)) {
            out.insert("uniqueItems".into(), true.into());
        }
    }
}

/// Sets the type that other keywords imply. Values of `enum` and `const` with another type are removed, because the other
/// keywords have more information.
pub(super) fn infer(out: &mut Map<String, Value>, kind: &str) {
    let listed =
        |values: &Value| values.as_array().is_some_and(|all| all.iter().all(|value| has_type(value, kind)));
    if out.get("enum").is_some_and(|values| !listed(values)) {
        out.shift_remove("enum");
    }
    if out.get("const").is_some_and(|value| !has_type(value, kind)) {
        out.shift_remove("const");
    }
    out.insert("type".into(), kind.into());
}

/// Returns the values of an `enum` that is next to `items` and has no lists: it was meant for the items.
fn item_enum(map: &Map<String, Value>) -> Option<&[Value]> {
    let values = map.get("enum")?.as_array()?;
    let is_for_items = map.get("items").is_some_and(Value::is_object)
        && map.get("type").is_none_or(|kind| kind == "array")
        && !values.is_empty()
        && values.iter().all(|value| value.is_string() || value.is_number());
    is_for_items.then_some(values)
}

/// Returns a minimum and a maximum count, without invalid ones; `None` if the minimum is greater.
pub(super) fn counts(map: &Map<String, Value>, low: &str, high: &str) -> Option<Map<String, Value>> {
    let count = |key: &str| {
        let number = number(map.get(key))?;
        let whole = number.as_f64().filter(|float| *float >= 0.0 && float.fract() == 0.0 && *float < 1e15)?;
        Some(number.as_u64().unwrap_or(whole as u64))
    };
    let (least, most) = (count(low), count(high));
    if least.zip(most).is_some_and(|(least, most)| least > most) {
        return None;
    }
    let mut out = Map::new();
    out.extend(least.filter(|least| *least > 0).map(|least| (low.to_owned(), least.into())));
    out.extend(most.map(|most| (high.to_owned(), most.into())));
    Some(out)
}

/// Returns a number, which may be written as text.
fn number(value: Option<&Value>) -> Option<Number> {
    match value? {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => serde_json::from_str::<Number>(text.trim()).ok(),
        _ => None,
    }
}

/// Returns the JSON type and format for a name of a type.
fn json_type(name: &str) -> Option<(&'static str, Option<&'static str>)> {
    Some(match name.to_ascii_lowercase().as_str() {
        "string" | "str" | "text" | "enum" | "char" => ("string", None),
        "integer" | "int" | "int32" | "int64" | "long" => ("integer", None),
        "number" | "float" | "double" | "decimal" => ("number", None),
        "boolean" | "bool" => ("boolean", None),
        "array" | "list" => ("array", None),
        "object" | "map" | "dict" | "hash" => ("object", None),
        "null" => ("null", None),
        "file" => ("string", Some("byte")),
        "date" => ("string", Some("date")),
        "datetime" | "date-time" | "timestamp" => ("string", None),
        "uuid" => ("string", Some("uuid")),
        _ => return None,
    })
}

/// Converts a value to the type: `1` to `"1"` for strings, `"1"` to `1` for numbers.
fn as_kind(value: &Value, kind: &str) -> Value {
    match (kind, value) {
        ("string", Value::Number(_) | Value::Bool(_)) => Value::String(value.to_string()),
        ("integer" | "number" | "boolean", Value::String(text)) => serde_json::from_str(text.trim())
            .ok()
            .filter(|value| has_type(value, kind))
            .unwrap_or_else(|| value.clone()),
        _ => value.clone(),
    }
}
