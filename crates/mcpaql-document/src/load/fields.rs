//! Reads what a document says about the fields of answers: `hide`, `default_fields`, `presets`, `computed`.

use super::origins::Origins;
use indexmap::IndexMap;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::operation::{Binding, Operation, operation_pointer};
use mcpaql_core::reader::{DocumentObject, DocumentReader, child, short_value};
use mcpaql_core::shape::{
    ComputedFields, DeclaredFields, FieldPath, FieldPreset, FieldSelection, HiddenFields,
};
use mcpaql_core::suggest;
use serde_json::Value;
use std::collections::BTreeSet;

/// Minimum of `answer_budget`, in tokens.
const MIN_ANSWER_BUDGET: u64 = 100;

/// Reads `hide`: the paths of fields that no answer has.
pub(crate) fn hidden(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> HiddenFields {
    let names = reader.strings(object, "hide");
    HiddenFields::new(paths(reader, &object.pointer_to("hide"), &names))
}

/// Warns about paths in `hide` that no answer can have by its schema.
pub(super) fn check_hidden(
    reader: &mut DocumentReader,
    operations: &[Operation],
    types: &IndexMap<String, Value>,
    origins: &Origins,
) {
    // The operations of a resource share its paths, and not all of them answer with records.
    let is_checked = |operation: &&Operation| {
        !operation.hide.is_empty() && !matches!(operation.binding, Binding::Store(_))
    };
    for operation in operations.iter().filter(is_checked) {
        let Some(returns) = &operation.returns else { continue };
        let mut names = BTreeSet::new();
        if !collect_names(&returns.schema, types, &mut BTreeSet::new(), &mut names) {
            continue;
        }
        let pointer = child(&origins.resolve(&operation_pointer(&operation.name)), "hide");
        for (index, path) in operation.hide.paths().iter().enumerate() {
            let Some(unknown) = path.as_str().split('.').find(|part| !names.contains(part)) else { continue };
            let message = format!("'{unknown}' is not a field of the answers, so there is nothing to hide");
            let mut diagnostic =
                Diagnostic::warning(Code::SchemaUnresolvedRef, child(&pointer, index), message)
                    .expected("a field of the schema of the answers")
                    .found(path.as_str());
            if let Some(near) = suggest::nearest(unknown, names.iter().copied()) {
                diagnostic = diagnostic.suggest(format!("did you mean `{near}`?"));
            }
            reader.push(diagnostic);
        }
    }
}

/// Collects the names of all fields of a schema. Returns whether values can have no others.
fn collect_names<'s>(
    schema: &'s Value,
    types: &'s IndexMap<String, Value>,
    seen: &mut BTreeSet<&'s str>,
    names: &mut BTreeSet<&'s str>,
) -> bool {
    let Value::Object(members) = schema else { return false };
    if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
        let Some(name) = reference.strip_prefix("#/types/") else { return false };
        return !seen.insert(name)
            || types.get(name).is_some_and(|schema| collect_names(schema, types, seen, names));
    }
    let mut inner: Vec<&Value> = Vec::new();
    for key in ["oneOf", "anyOf", "allOf", "prefixItems"] {
        inner.extend(members.get(key).and_then(Value::as_array).into_iter().flatten());
    }
    inner.extend(members.get("items"));
    let is_open = members.get("additionalProperties").is_some_and(|more| *more != Value::Bool(false));
    if let Some(properties) = members.get("properties").and_then(Value::as_object) {
        names.extend(properties.keys().map(String::as_str));
        inner.extend(properties.values());
    } else if inner.is_empty() {
        let is_scalar = |kind: &Value| {
            matches!(kind.as_str(), Some("string" | "integer" | "number" | "boolean" | "null"))
        };
        return match members.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().all(is_scalar),
            Some(kind) => is_scalar(kind),
            None => members.contains_key("enum") || members.contains_key("const"),
        };
    }
    let mut is_closed = !is_open;
    for schema in inner {
        is_closed &= collect_names(schema, types, seen, names);
    }
    is_closed
}

/// Reads `answer_budget`: the maximum tokens of an answer.
pub(crate) fn answer_budget(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> Option<usize> {
    let tokens = reader.unsigned(object, "answer_budget")?;
    if tokens < MIN_ANSWER_BUDGET {
        reader.push(
            Diagnostic::error(
                Code::SchemaInvalidValue,
                object.pointer_to("answer_budget"),
                "An answer of so few tokens has no content",
            )
            .expected(format!("{MIN_ANSWER_BUDGET} or more"))
            .found(tokens.to_string()),
        );
        return None;
    }
    usize::try_from(tokens).ok()
}

/// Reads `default_fields`, `presets` and `computed`; `None` if there are none.
pub(super) fn declared(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
) -> Option<Box<DeclaredFields>> {
    let mut declared = DeclaredFields::default();
    if let Some(presets) = reader.member(object, "presets") {
        for name in presets.map.keys() {
            if name == FieldPreset::Full.as_str() || name.contains([',', '.']) {
                reader.push(
                    Diagnostic::error(
                        Code::SchemaInvalidName,
                        presets.pointer_to(name),
                        format!("'{name}' cannot be the name of a preset"),
                    )
                    .at_key()
                    .expected("a name without dots and commas; `full` always has all fields"),
                );
                continue;
            }
            let names = reader.strings(&presets, name);
            declared.presets.insert(name.clone(), paths(reader, &presets.pointer_to(name), &names));
        }
    }
    declared.default_fields = default_fields(reader, object, &declared);
    if let Some(computed) = reader.member(object, "computed") {
        declared.computed = computed_fields(reader, &computed);
    }
    (!declared.is_empty()).then(|| Box::new(declared))
}

/// Reads `default_fields`: the name of a preset, or a list of paths.
fn default_fields(
    reader: &mut DocumentReader,
    object: &DocumentObject<'_>,
    declared: &DeclaredFields,
) -> Option<FieldSelection> {
    match object.get("default_fields")? {
        Value::String(name) => {
            if let Some(paths) = declared.presets.get(name) {
                return Some(FieldSelection { declared: paths.clone(), ..FieldSelection::default() });
            }
            if let Some(preset) = FieldPreset::parse(name) {
                return Some(FieldSelection { preset: Some(preset), ..FieldSelection::default() });
            }
            let words = FieldPreset::ALL.map(FieldPreset::as_str).into_iter();
            let words: Vec<&str> = words.chain(declared.presets.keys().map(String::as_str)).collect();
            reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    object.pointer_to("default_fields"),
                    format!("'{name}' is not the name of a preset"),
                )
                .expected_one_of(&words)
                .found(name.as_str())
                .suggest("write a list for the paths of fields"),
            );
            None
        }
        _ => {
            let names = reader.strings(object, "default_fields");
            let declared = paths(reader, &object.pointer_to("default_fields"), &names);
            (!declared.is_empty()).then(|| FieldSelection { declared, ..FieldSelection::default() })
        }
    }
}

fn computed_fields(reader: &mut DocumentReader, object: &DocumentObject<'_>) -> ComputedFields {
    let mut fields = ComputedFields::default();
    for (name, expression) in object.map {
        if let Err(problem) = fields.add(name, expression) {
            reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    object.pointer_to(name),
                    format!("The computed field '{name}' {problem}"),
                )
                .found(short_value(expression)),
            );
        }
    }
    fields
}

/// Reads the paths of fields. Reports those that are no paths.
fn paths(reader: &mut DocumentReader, pointer: &str, names: &[String]) -> Vec<FieldPath> {
    let mut paths = Vec::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        match FieldPath::parse(name) {
            Some(path) => paths.push(path),
            None => reader.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    child(pointer, index),
                    format!("'{name}' is not the path of a field"),
                )
                .expected("names with dots between them, such as user.email")
                .found(name.as_str()),
            ),
        }
    }
    paths
}
