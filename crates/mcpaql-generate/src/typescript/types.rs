//! Writes the types of parameters and results.

use super::literal::is_wide;
use super::literal::{key, string};
use crate::ProjectFile;
use crate::model::{
    CodeWriter, CommentStyle, Definition, DefinitionKind, Model, ModelField, Type, doc_lines,
};
use serde_json::Value;

/// Maximum width of a comment.
const WIDTH: usize = 110;

/// Returns the file of the named types, if there are any.
pub(super) fn file(model: &Model<'_>) -> Option<ProjectFile> {
    if model.types.is_empty() {
        return None;
    }
    let mut text = CodeWriter::new("  ");
    text.line("// Types of parameters and answers. Generated from the document. Integers beyond 2^53 are bigints if the type includes bigint.");
    for definition in &model.types {
        text.line("");
        define(&mut text, definition);
    }
    Some(ProjectFile::generated("src/types.ts", text.finish()))
}

fn define(text: &mut CodeWriter, definition: &Definition) {
    comment(text, &definition.docs);
    let ident = &definition.ident;
    match &definition.shape {
        DefinitionKind::Alias(kind) => {
            text.line(format!("export type {ident} = {};", name(kind)));
        }
        DefinitionKind::Object { fields, rest } => object(text, ident, fields, rest.as_ref()),
    }
}

/// Writes an object as an interface, or as a record if it has no fields.
pub(super) fn object(text: &mut CodeWriter, ident: &str, all: &[ModelField], rest: Option<&Type>) {
    match (all, rest) {
        ([], Some(rest)) => {
            text.line(format!("export type {ident} = Record<string, {}>;", name(rest)));
        }
        ([], None) => {
            text.line(format!("export type {ident} = Record<string, never>;"));
        }
        _ => {
            text.block(format!("export interface {ident} {{"), "}", |text| {
                fields(text, all);
                // Without a declared type of other keys there is no index signature, so that misspelled keys are found.
                if rest.is_some_and(|rest| *rest != Type::Any) {
                    text.line("/** Other keys. */").line("[key: string]: unknown;");
                }
            });
        }
    }
}

fn fields(text: &mut CodeWriter, fields: &[ModelField]) {
    for field in fields {
        comment(text, &field.docs);
        // A field with a default is always present.
        let mark = if field.required || field.default.is_some() { "" } else { "?" };
        text.line(format!("{}{mark}: {};", key(&field.name), field_type(field)));
    }
}

/// Returns the type of a field, with null if it is allowed.
pub(super) fn field_type(field: &ModelField) -> String {
    if field.nullable && field.kind != Type::Any && field.kind != Type::Null {
        let mut variants = constituents(&field.kind);
        variants.push("null".to_owned());
        return joined(variants);
    }
    name(&field.kind)
}

/// Returns a type as TypeScript code.
pub(super) fn name(kind: &Type) -> String {
    joined(constituents(kind))
}

fn joined(variants: Vec<String>) -> String {
    let mut kept: Vec<String> = Vec::new();
    let has = |wide: &str| variants.iter().any(|variant| variant == wide);
    let (texts, numbers, flags) = (has("string"), has("number"), has("boolean"));
    for variant in &variants {
        // A literal next to its own type is redundant.
        let narrow = match variant.as_bytes().first() {
            Some(b'"') => texts,
            Some(b'-' | b'0'..=b'9') => numbers,
            _ => flags && matches!(variant.as_str(), "true" | "false"),
        };
        if !narrow && !kept.contains(variant) {
            kept.push(variant.clone());
        }
    }
    kept.join(" | ")
}

fn constituents(kind: &Type) -> Vec<String> {
    match kind {
        Type::Any => vec!["unknown".to_owned()],
        Type::Null => vec!["null".to_owned()],
        Type::Boolean => vec!["boolean".to_owned()],
        Type::Integer | Type::Number => vec!["number".to_owned()],
        Type::WideInteger => vec!["number".to_owned(), "bigint".to_owned()],
        Type::String => vec!["string".to_owned()],
        Type::Literals(values) => values.iter().map(value).collect(),
        Type::List(inner) => {
            let inner = name(inner);
            vec![if inner.contains(" | ") { format!("({inner})[]") } else { format!("{inner}[]") }]
        }
        Type::Map(inner) => vec![format!("Record<string, {}>", name(inner))],
        Type::Named(name) => vec![name.clone()],
        Type::Union(variants) => variants.iter().flat_map(constituents).collect(),
    }
}

fn value(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        wide if is_wide(wide) => format!("{wide}n"),
        other => other.to_string(),
    }
}

/// Writes a comment for the next item.
pub(super) fn comment(text: &mut CodeWriter, docs: &str) {
    let mut lines = doc_lines(docs, CommentStyle::Block, text.room(WIDTH));
    for line in lines.iter_mut().filter(|line| line.starts_with('@')) {
        // Tools read tags in comments, and would report every use of an item with `@deprecated`.
        line.replace_range(..1, "&#64;");
    }
    match lines.as_slice() {
        [] => {}
        [only] => {
            text.line(format!("/** {only} */"));
        }
        several => {
            text.line("/**");
            for line in several {
                text.line(format!(" * {line}").trim_end());
            }
            text.line(" */");
        }
    }
}

/// Returns every named type that fields use, once and in order.
pub(super) fn used<'f>(all: impl Iterator<Item = &'f ModelField>) -> Vec<&'f str> {
    let mut found = Vec::new();
    all.for_each(|field| field.kind.names(&mut found));
    found
}
