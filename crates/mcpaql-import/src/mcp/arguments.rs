//! Converts the arguments of a tool to parameters, and its structured result to the answer of an operation.
//!
//! What always holds: no schema makes this fail. A schema that is not an object is converted as far as possible, and lost parts
//! are noted. Nested parts of an argument are never left out because of their depth.

use crate::openapi::details::{self, Context, Version};
use crate::openapi::names::assign;
use crate::openapi::params::UnwrittenParam;
use crate::openapi::refs::{Refs, Resolved};
use crate::openapi::schema::{AdditionalFields, ObjectShape, SchemaWriter, Side, TextLimits, shape};
use crate::openapi::type_names::TypeNames;
use crate::report::Note;
use indexmap::IndexMap;
use mcpaql_core::operation::{Param, ParamLocation, Returns};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Limits of descriptions. They are high, because descriptions of tools are written for models.
const TEXTS: TextLimits = TextLimits { param: 2000, field: 800 };
/// Maximum alternatives of the arguments that are read.
const MAX_FORMS: usize = 64;
/// Maximum references in a chain.
const MAX_CHAIN: usize = 32;

/// The conversion of a tool's schema.
#[derive(Debug, Default)]
pub(super) struct ConvertedSchema<T> {
    pub(super) converted: T,
    /// The types, by names that are unique only in this schema.
    pub(super) types: IndexMap<String, Value>,
    pub(super) notes: Vec<Note>,
}

/// Returns the parameters of a tool.
pub(super) fn params(input: Option<&Value>) -> ConvertedSchema<Vec<Param>> {
    let Some(root) = input else {
        let note = Note::changed("inputSchema", "the schema is missing, so the operation has no parameters");
        return ConvertedSchema { notes: vec![note], ..ConvertedSchema::default() };
    };
    let root = SchemaRoot(root);
    let types = root.type_names();
    let cx = root.context(&types);
    let mut notes = Vec::new();
    let drafts = unwritten_params(&root, &mut notes);
    let names = assign(drafts.iter().map(|draft| (ParamLocation::Body, draft.wire.as_str())));
    let mut writer = writer(&cx);
    let params =
        drafts.iter().zip(&names).map(|(draft, name)| details::param(&mut writer, draft, name)).collect();
    writer.place = "inputSchema".to_owned();
    writer.finish();
    notes.append(&mut writer.notes);
    ConvertedSchema { converted: params, types: writer.types, notes }
}

/// Whether a parameter may be a guard against lost updates, judged by the names without reading the schemas.
pub(super) fn may_have_guard(input: Option<&Value>) -> bool {
    let Some(root) = input.and_then(Value::as_object) else { return false };
    let is_plain = root.keys().all(|key| !matches!(key.as_str(), "$ref" | "allOf" | "anyOf" | "oneOf"));
    let names = root.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys);
    let required = root.get("required").and_then(Value::as_array).into_iter().flatten();
    let mut names = names.map(String::as_str).chain(required.filter_map(Value::as_str));
    let guards = |name: &str| {
        let bare: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
        ["etag", "ifmatch", "version", "lockversion"].iter().any(|guard| bare.eq_ignore_ascii_case(guard))
    };
    !is_plain || names.any(guards)
}

/// Returns the answer of a tool, if it declares one.
pub(super) fn returns(output: Option<&Value>) -> ConvertedSchema<Option<Returns>> {
    let Some(root) = output.filter(|output| output.is_object()) else { return ConvertedSchema::default() };
    let root = SchemaRoot(root);
    let types = root.type_names();
    let cx = root.context(&types);
    let mut writer = writer(&cx);
    writer.place = "outputSchema".to_owned();
    let mut schema = writer.schema(root.0, "");
    writer.finish();
    let description = schema.as_object_mut().and_then(|schema| schema.shift_remove("description"));
    let description = description.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned();
    let empty = schema.as_object().is_some_and(Map::is_empty) && description.is_empty();
    let converted = (!empty).then_some(Returns { schema, description });
    ConvertedSchema { converted, types: writer.types, notes: writer.notes }
}

fn writer<'a>(cx: &'a Context<'a>) -> SchemaWriter<'a> {
    let mut writer = SchemaWriter::new(cx);
    writer.side = Side::Whole;
    writer.texts = TEXTS;
    writer.max_references = usize::MAX;
    writer
}

/// The schema of a tool, which refers only to itself.
struct SchemaRoot<'v>(&'v Value);

impl SchemaRoot<'_> {
    fn type_names(&self) -> TypeNames {
        let sections = ["$defs", "definitions"].into_iter().filter_map(|key| self.0.get(key)?.as_object());
        TypeNames::new(sections.flat_map(Map::keys).map(String::as_str))
    }

    fn context<'a>(&'a self, types: &'a TypeNames) -> Context<'a> {
        Context { refs: self, types, version: Version::V31, base: "", consumes: &[], credentials: &[] }
    }
}

impl Refs for SchemaRoot<'_> {
    fn resolve(&self, base: &str, reference: &str) -> Option<Resolved> {
        let mut reference = reference.to_owned();
        for _ in 0..MAX_CHAIN {
            let pointer = percent_decoded(reference.strip_prefix('#')?);
            let value = self.0.pointer(&pointer)?;
            match value.get("$ref").and_then(Value::as_str) {
                // A reference with other keywords becomes a separate type.
                Some(next) if value.as_object().is_some_and(|map| map.len() == 1) => {
                    next.clone_into(&mut reference)
                }
                Some(_) => {
                    let part = json!({"allOf": [value]});
                    return Some(Resolved { value: Arc::new(part), base: base.to_owned(), pointer });
                }
                None => {
                    return Some(Resolved { value: Arc::new(value.clone()), base: base.to_owned(), pointer });
                }
            }
        }
        None
    }
}

/// Decodes a pointer, which may be percent-encoded in a reference: `#/$defs/List%3CItem%3E`.
fn percent_decoded(pointer: &str) -> String {
    if !pointer.contains('%') {
        return pointer.to_owned();
    }
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.bytes();
    while let Some(byte) = rest.next() {
        let mut ahead = rest.clone();
        let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
        match (byte, digit(ahead.next()), digit(ahead.next())) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = ahead;
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| pointer.to_owned())
}

/// An argument, merged from all alternatives.
struct MergedArgument {
    schema: Value,
    required: bool,
}

fn unwritten_params(root: &SchemaRoot<'_>, notes: &mut Vec<Note>) -> Vec<UnwrittenParam> {
    let mut arguments: IndexMap<String, MergedArgument> = IndexMap::new();
    let whole = shape(root, root.0, "", &mut |name, schema, _| {
        arguments.insert(name.to_owned(), MergedArgument { schema: schema.clone(), required: false });
    });
    match whole {
        Some(whole) => add_object_fields(&mut arguments, &whole, root, notes),
        None => {
            arguments.clear();
            forms(root, &mut arguments, notes);
        }
    }
    arguments
        .into_iter()
        .map(|(name, argument)| {
            // Schemas generated from code may require an argument with a default, although the server does not need it.
            let required = argument.required && argument.schema.get("default").is_none();
            let mut draft = UnwrittenParam::new(&name, ParamLocation::Body, argument.schema, "");
            draft.required = required;
            draft
        })
        .collect()
}

/// A parameter whose values may select different operations.
#[derive(Debug)]
pub(super) struct SwitchParam {
    pub(super) wire: String,
    name: String,
    /// The listed values; empty if any text is allowed.
    pub(super) values: Vec<Value>,
}

impl SwitchParam {
    /// Whether `word` is the name or wire name of this parameter.
    pub(super) fn matches_word(&self, word: &str) -> bool {
        self.wire == word || self.name == word
    }
}

/// Returns the parameters that list their values or accept any text.
pub(super) fn switches(input: Option<&Value>) -> Vec<SwitchParam> {
    let Some(root) = input.map(SchemaRoot) else { return Vec::new() };
    let drafts = unwritten_params(&root, &mut Vec::new());
    let names = assign(drafts.iter().map(|draft| (ParamLocation::Body, draft.wire.as_str())));
    let switch = |(draft, name): (UnwrittenParam, String)| {
        let target = draft.schema.get("$ref").and_then(Value::as_str).and_then(|to| root.resolve("", to));
        let schema = target.as_ref().map_or(&draft.schema, |target| &target.value);
        let plain = schema.get("type").is_some_and(|kind| kind == "string");
        let values = literals(schema).or_else(|| plain.then(Vec::new))?;
        let values = values.into_iter().filter(|value| !value.is_null()).collect();
        Some(SwitchParam { wire: draft.wire, name, values })
    };
    drafts.into_iter().zip(names).filter_map(switch).collect()
}

/// Marks the required fields of a plain object, and notes what is lost.
fn add_object_fields(
    arguments: &mut IndexMap<String, MergedArgument>,
    whole: &ObjectShape,
    root: &SchemaRoot<'_>,
    notes: &mut Vec<Note>,
) {
    for name in &whole.required {
        match arguments.get_mut(name) {
            Some(argument) => argument.required = true,
            None => {
                notes.push(Note::changed("inputSchema", format!("'{name}' is required but not declared")));
                arguments.insert(name.clone(), MergedArgument { schema: json!({}), required: true });
            }
        }
    }
    notes.extend(
        whole
            .lost
            .iter()
            .map(|key| Note::lost("inputSchema", format!("'{key}' is checked only by the server"))),
    );
    let open = match &whole.additional {
        AdditionalFields::Like(..) => true,
        AdditionalFields::Open => arguments.is_empty() && root.0.get("additionalProperties").is_some(),
        AdditionalFields::Closed | AdditionalFields::Undeclared => false,
    };
    if open {
        notes.push(Note::lost("inputSchema", "additional arguments cannot be sent"));
    }
}

/// Merges the alternatives of the arguments: all fields of all alternatives. A field is required if all alternatives require
/// it.
fn forms(root: &SchemaRoot<'_>, arguments: &mut IndexMap<String, MergedArgument>, notes: &mut Vec<Note>) {
    let forms = alternatives(root, root.0);
    let mut read = 0_usize;
    for form in &forms {
        let mut fields: IndexMap<String, Value> = IndexMap::new();
        let Some(whole) = shape(root, form, "", &mut |name, schema, _| {
            fields.insert(name.to_owned(), schema.clone());
        }) else {
            continue;
        };
        read += 1;
        for (name, schema) in fields {
            let required = whole.required.contains(&name);
            merge(arguments, name, schema, required, read);
        }
        for (name, argument) in arguments.iter_mut() {
            argument.required &= whole.required.contains(name);
        }
    }
    let note = match (read, forms.len()) {
        (0, _) => "the schema is not an object, so the operation has no parameters",
        (1, 1) => return,
        _ => "the arguments have several alternatives, which only the server checks",
    };
    notes.push(Note::lost("inputSchema", note));
}

fn merge(
    arguments: &mut IndexMap<String, MergedArgument>,
    name: String,
    schema: Value,
    required: bool,
    form: usize,
) {
    let Some(known) = arguments.get_mut(&name) else {
        // A field that earlier alternatives do not have is not required by all.
        arguments.insert(name, MergedArgument { schema, required: required && form == 1 });
        return;
    };
    if known.schema == schema {
        return;
    }
    match (literals(&known.schema), literals(&schema)) {
        (Some(mut values), Some(more)) => {
            values.extend(more.into_iter().filter(|value| !known_value(&known.schema, value)));
            let mut merged = json!({"enum": values});
            let description = known.schema.get("description").or(schema.get("description")).cloned();
            if let (Some(merged), Some(description)) = (merged.as_object_mut(), description) {
                merged.insert("description".to_owned(), description);
            }
            known.schema = merged;
        }
        _ => match known.schema.get_mut("anyOf").and_then(Value::as_array_mut).filter(|_| form > 2) {
            Some(forms) => {
                if !forms.contains(&schema) {
                    forms.push(schema);
                }
            }
            None => {
                let first = std::mem::take(&mut known.schema);
                known.schema = json!({"anyOf": [first, schema]});
            }
        },
    }
}

/// Returns the values of `const` or `enum`.
fn literals(schema: &Value) -> Option<Vec<Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

fn known_value(schema: &Value, value: &Value) -> bool {
    literals(schema).is_some_and(|values| values.contains(value))
}

/// Returns the alternatives of a schema with `oneOf` or `anyOf`, each combined with the other keywords.
fn alternatives(root: &SchemaRoot<'_>, schema: &Value) -> Vec<Value> {
    let resolved = schema.get("$ref").and_then(Value::as_str).and_then(|to| root.resolve("", to));
    let schema = resolved.as_ref().map_or(schema, |resolved| &resolved.value);
    let Some(map) = schema.as_object() else { return vec![schema.clone()] };
    let parts = ["oneOf", "anyOf"].into_iter().find_map(|key| Some((key, map.get(key)?.as_array()?)));
    let Some((key, parts)) = parts.filter(|(_, parts)| !parts.is_empty()) else {
        return vec![schema.clone()];
    };
    let mut siblings = map.clone();
    siblings.shift_remove(key);
    let siblings = Value::Object(siblings);
    parts
        .iter()
        .take(MAX_FORMS)
        .filter(|part| part.get("type").is_none_or(|kind| kind != "null"))
        .map(|part| json!({"allOf": [siblings, part]}))
        .collect()
}
