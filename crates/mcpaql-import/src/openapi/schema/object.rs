//! Writes objects: their fields, and the parts (`allOf`) that are merged into one object.

use super::super::refs::Refs;
use super::keywords::infer;
use super::{SchemaWriter, Side, annotate, non_empty};
use indexmap::IndexMap;
use mcpaql_core::schema::keywords::constrains;
use serde_json::{Map, Value, json};

/// Maximum nesting of parts.
const MAX_PARTS: usize = 12;

/// What an object says about additional fields.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum AdditionalFields {
    /// Nothing is declared.
    #[default]
    Undeclared,
    /// Additional fields are allowed.
    Open,
    /// Additional fields are not allowed.
    Closed,
    /// Additional fields have this schema; with the id of its document.
    Like(Value, String),
}

/// An object merged from its parts, without the fields.
#[derive(Debug, Clone, Default)]
pub(crate) struct ObjectShape {
    pub(crate) required: Vec<String>,
    pub(crate) additional: AdditionalFields,
    pub(crate) nullable: bool,
    /// The property that distinguishes variants.
    pub(crate) discriminator: Option<String>,
    /// Keywords that are lost by merging.
    pub(crate) lost: Vec<String>,
    parts: usize,
}

/// Merges an object from references and parts. Calls `field` with name, schema and document of every field; a later field
/// replaces an earlier one of the same name. Returns `None` if the schema is not a plain object.
pub(crate) fn shape(
    refs: &dyn Refs,
    schema: &Value,
    base: &str,
    field: &mut dyn FnMut(&str, &Value, &str),
) -> Option<ObjectShape> {
    let mut shape = ObjectShape::default();
    let mut reader = ObjectMerger { refs, field, open: Vec::new() };
    reader.add_part(schema, base, &mut shape, 0).then_some(shape)
}

struct ObjectMerger<'r> {
    refs: &'r dyn Refs,
    field: &'r mut dyn FnMut(&str, &Value, &str),
    /// References that are currently followed.
    open: Vec<String>,
}

impl ObjectMerger<'_> {
    /// Adds a part; `false` if it is not a plain object.
    fn add_part(&mut self, schema: &Value, base: &str, shape: &mut ObjectShape, depth: usize) -> bool {
        let Value::Object(map) = schema else { return schema == &Value::Bool(true) };
        if depth > MAX_PARTS {
            return false;
        }
        if let Some(Value::String(reference)) = map.get("$ref") {
            let Some(target) = self.refs.resolve(base, reference) else { return false };
            let key = super::key(&target);
            if self.open.contains(&key) {
                return true;
            }
            self.open.push(key);
            let plain = target.value.get("$ref").is_none()
                && self.add_part(&target.value, &target.base, shape, depth + 1);
            self.open.pop();
            return plain;
        }
        if !is_object_type(map)
            || ["enum", "const", "items", "prefixItems"].iter().any(|key| map.contains_key(*key))
        {
            return false;
        }
        for part in non_empty(map, "allOf").into_iter().flatten() {
            if !self.add_part(part, base, shape, depth + 1) {
                return false;
            }
        }
        for key in ["oneOf", "anyOf"] {
            let Some(variants) = non_empty(map, key) else { continue };
            let real = non_null_variants(variants);
            match real.as_slice() {
                [only] => {
                    shape.nullable |= variants.len() > 1;
                    if !self.add_part(only, base, shape, depth + 1) {
                        return false;
                    }
                }
                _ if real.iter().all(|variant| only_constrains(variant)) => shape.lost.push(key.to_owned()),
                _ => return false,
            }
        }
        self.add_own_fields(map, base, shape);
        true
    }

    fn add_own_fields(&mut self, map: &Map<String, Value>, base: &str, shape: &mut ObjectShape) {
        shape.parts += usize::from(map.contains_key("properties"));
        for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten() {
            (self.field)(name, schema, base);
            // Old drafts of JSON Schema have `required: true` on a field.
            if schema.get("required") == Some(&Value::Bool(true)) {
                push_new(&mut shape.required, name);
            }
        }
        let listed = map.get("required").and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(Value::as_str).for_each(|name| push_new(&mut shape.required, name));
        shape.nullable |= is_nullable(map);
        shape.discriminator = shape.discriminator.take().or_else(|| discriminator(map));
        let additional = additional(map, base);
        if additional != AdditionalFields::Undeclared {
            shape.additional = additional;
        }
        if shape.parts > 1 && shape.additional == AdditionalFields::Closed {
            // A closed part would refuse the fields of the other parts.
            shape.additional = AdditionalFields::Undeclared;
        }
        for key in ["not", "if", "dependentRequired", "dependentSchemas", "minProperties", "maxProperties"] {
            if map.contains_key(key) {
                shape.lost.push(key.to_owned());
            }
        }
    }
}

impl SchemaWriter<'_> {
    /// Writes a schema with parts: the part itself if there is only one, a merged object if all are plain objects, and
    /// otherwise an `allOf`.
    pub(super) fn all_of(
        &mut self,
        schema: &Value,
        map: &Map<String, Value>,
        parts: &[Value],
        base: &str,
        nesting: usize,
    ) -> Value {
        let has_own_constraints = map.keys().any(|key| key != "allOf" && key != "type" && constrains(key));
        let relevant: Vec<&Value> = parts.iter().filter(|part| is_relevant(part)).collect();
        if let ([only], false) = (relevant.as_slice(), has_own_constraints) {
            let mut out = self.written(only, base, nesting);
            if let Some(out) = out.as_object_mut() {
                annotate(map, out, self.texts.field);
                let nullable = parts.iter().chain([schema]).filter_map(Value::as_object).any(is_nullable);
                if nullable {
                    out.insert("nullable".into(), true.into());
                }
            }
            return out;
        }
        let mut fields: IndexMap<String, (Value, String)> = IndexMap::new();
        let whole = shape(self.cx.refs, schema, base, &mut |name, schema, base| {
            fields.insert(name.to_owned(), (schema.clone(), base.to_owned()));
        });
        match whole {
            Some(whole) if !fields.is_empty() => self.merged(whole, fields, map, nesting),
            _ => {
                let parts: Vec<Value> =
                    relevant.into_iter().map(|part| self.written(part, base, nesting + 1)).collect();
                let mut out = self.write_keywords(map, base, nesting);
                if let Some(out) = out.as_object_mut() {
                    out.insert("allOf".into(), Value::Array(parts));
                }
                out
            }
        }
    }

    fn merged(
        &mut self,
        whole: ObjectShape,
        fields: IndexMap<String, (Value, String)>,
        map: &Map<String, Value>,
        nesting: usize,
    ) -> Value {
        let mut out = Map::from_iter([("type".to_owned(), Value::from("object"))]);
        let mut written = Map::new();
        for (name, (schema, base)) in &fields {
            self.field(name, schema, base, nesting, &mut written);
        }
        self.add_object_limits(&mut out, written, &whole, nesting);
        if whole.nullable {
            out.insert("nullable".into(), true.into());
        }
        annotate(map, &mut out, self.texts.field);
        for key in &whole.lost {
            self.note(format!("'{key}' is checked only by the API"), true);
        }
        Value::Object(out)
    }

    /// Writes `properties`, `required` and `additionalProperties` of a schema.
    pub(super) fn object_keywords(
        &mut self,
        map: &Map<String, Value>,
        out: &mut Map<String, Value>,
        base: &str,
        nesting: usize,
    ) {
        let fields = map.get("properties").and_then(Value::as_object);
        let mut whole = ObjectShape {
            additional: additional(map, base),
            discriminator: discriminator(map),
            ..ObjectShape::default()
        };
        let listed = map.get("required").and_then(Value::as_array).into_iter().flatten();
        listed.filter_map(Value::as_str).for_each(|name| push_new(&mut whole.required, name));
        let mut written = Map::new();
        for (name, schema) in fields.into_iter().flatten() {
            self.field(name, schema, base, nesting, &mut written);
            if schema.get("required") == Some(&Value::Bool(true)) {
                push_new(&mut whole.required, name);
            }
        }
        let kind = out.get("type").cloned();
        if fields.is_some()
            && kind.is_none()
            && non_empty(map, "oneOf").is_none()
            && non_empty(map, "anyOf").is_none()
        {
            infer(out, "object");
        }
        if fields.is_none() {
            // Variants and `not` may have only `required`.
            if !whole.required.is_empty() && kind.as_ref().is_none_or(|kind| kind != "object") {
                out.insert("required".into(), json!(whole.required));
            }
            whole.required.clear();
        }
        self.add_object_limits(out, written, &whole, nesting);
        let counts = super::keywords::counts(map, "minProperties", "maxProperties");
        if fields.is_none() {
            out.extend(counts.unwrap_or_default());
        }
    }

    /// Writes a field, unless it belongs to the other side.
    fn field(
        &mut self,
        name: &str,
        schema: &Value,
        base: &str,
        nesting: usize,
        out: &mut Map<String, Value>,
    ) {
        if !self.is_other_side(schema) {
            let length = self.place.len();
            self.place.push('.');
            self.place.push_str(name);
            out.insert(name.to_owned(), self.written(schema, base, nesting + 1));
            self.place.truncate(length);
        }
    }

    /// Whether a field is only for the other side: `readOnly` in requests, `writeOnly` in answers.
    pub(crate) fn is_other_side(&self, schema: &Value) -> bool {
        let flag = match self.side {
            Side::Request => "readOnly",
            Side::Answer => "writeOnly",
            Side::Whole => return false,
        };
        schema.get(flag) == Some(&Value::Bool(true))
    }

    /// Writes fields, `required` and `additionalProperties`.
    fn add_object_limits(
        &mut self,
        out: &mut Map<String, Value>,
        written: Map<String, Value>,
        whole: &ObjectShape,
        nesting: usize,
    ) {
        let mut required: Vec<&String> =
            whole.required.iter().filter(|name| written.contains_key(*name)).collect();
        required.extend(whole.discriminator.iter().filter(|name| written.contains_key(*name)));
        let mut names: Vec<&str> = Vec::new();
        for name in required {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        if !names.is_empty() {
            out.insert("required".into(), json!(names));
        }
        match &whole.additional {
            AdditionalFields::Closed if !written.is_empty() && whole.discriminator.is_none() => {
                out.insert("additionalProperties".into(), false.into());
            }
            AdditionalFields::Like(schema, base) => {
                let like = self.written(schema, base, nesting + 1);
                if like.as_object().is_some_and(|like| !like.is_empty()) {
                    out.insert("additionalProperties".into(), like);
                }
            }
            _ => {}
        }
        if !written.is_empty() {
            out.insert("properties".into(), Value::Object(written));
        }
    }
}

fn additional(map: &Map<String, Value>, base: &str) -> AdditionalFields {
    let patterns =
        map.get("patternProperties").and_then(Value::as_object).filter(|patterns| !patterns.is_empty());
    match (map.get("additionalProperties"), patterns) {
        (Some(Value::Object(schema)), None) if !schema.is_empty() => {
            AdditionalFields::Like(Value::Object(schema.clone()), base.to_owned())
        }
        (None | Some(Value::Bool(false)), Some(patterns)) => match patterns.values().next() {
            Some(schema) if patterns.len() == 1 => AdditionalFields::Like(schema.clone(), base.to_owned()),
            _ => AdditionalFields::Open,
        },
        (Some(Value::Bool(false)), None) => AdditionalFields::Closed,
        (Some(_), _) => AdditionalFields::Open,
        (None, None) => AdditionalFields::Undeclared,
    }
}

/// Reads `discriminator: kind` (2.0) or `discriminator: {propertyName: kind}` (3.0 and later).
fn discriminator(map: &Map<String, Value>) -> Option<String> {
    match map.get("discriminator")? {
        Value::String(name) => Some(name.clone()),
        other => other.get("propertyName").and_then(Value::as_str).map(str::to_owned),
    }
}

fn is_object_type(map: &Map<String, Value>) -> bool {
    match map.get("type") {
        None => true,
        Some(Value::String(kind)) => kind == "object",
        Some(Value::Array(kinds)) => kinds.iter().all(|kind| kind == "object" || kind == "null"),
        Some(_) => true,
    }
}

pub(super) fn is_nullable(map: &Map<String, Value>) -> bool {
    map.get("nullable") == Some(&Value::Bool(true))
        || map.get("x-nullable") == Some(&Value::Bool(true))
        || map
            .get("type")
            .and_then(Value::as_array)
            .is_some_and(|kinds| kinds.iter().any(|kind| kind == "null"))
}

fn is_null(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "null")
        || schema.get("const") == Some(&Value::Null)
        || schema
            .get("enum")
            .and_then(Value::as_array)
            .is_some_and(|values| values.as_slice() == [Value::Null])
}

/// Returns the variants without `null`, and without objects that are only nullable.
pub(super) fn non_null_variants(variants: &[Value]) -> Vec<&Value> {
    let is_only_nullable = |variant: &&Value| {
        variant.as_object().is_some_and(|map| {
            map.get("nullable") == Some(&Value::Bool(true))
                && map.iter().all(|(key, value)| key == "nullable" || (key == "type" && value == "object"))
        })
    };
    let real: Vec<&Value> = variants.iter().filter(|variant| !is_null(variant)).collect();
    if real.iter().all(is_only_nullable) {
        return real;
    }
    real.into_iter().filter(|variant| !is_only_nullable(variant)).collect()
}

/// Whether a variant declares no fields, such as `{required: [a]}`.
fn only_constrains(schema: &Value) -> bool {
    let declaring =
        ["properties", "$ref", "allOf", "oneOf", "anyOf", "additionalProperties", "items", "enum", "const"];
    schema.as_object().is_some_and(|map| {
        declaring.iter().all(|key| !map.contains_key(*key))
            && map.get("type").is_none_or(|kind| kind == "object")
            && (map.contains_key("required") || map.contains_key("not"))
    })
}

/// Whether a part has more than annotations.
fn is_relevant(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => map.keys().any(|key| key == "$ref" || key == "allOf" || constrains(key)),
        other => other == &Value::Bool(false),
    }
}

fn push_new(names: &mut Vec<String>, name: &str) {
    if !names.iter().any(|known| known == name) {
        names.push(name.to_owned());
    }
}
