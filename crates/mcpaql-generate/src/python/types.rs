//! Writes `types.py`, the named types of an adapter, and types as annotations.
//!
//! What always holds: annotations are short, because long ones get a name; an alias uses only types that are defined before
//! it.

use super::expression::{WIDTH, string};
use super::{docstring, is_plain_name};
use crate::model::{CodeWriter, Definition, DefinitionKind, IdentifierScope, Model, ModelField, Type};
use serde_json::Value;
use std::collections::HashSet;

/// Maximum length of an inline type; longer ones get a name.
const MAX_INLINE_TYPE: usize = 60;

/// Writes types as annotations, and collects the types that get a name.
pub(super) struct TypeAnnotations {
    scope: IdentifierScope,
    /// The names and types that were collected.
    named: Vec<(String, Type)>,
    used: HashSet<&'static str>,
}

impl TypeAnnotations {
    pub(super) fn new(model: &Model<'_>, reserved: &'static [&'static str]) -> TypeAnnotations {
        let mut scope = IdentifierScope::new(reserved);
        for definition in &model.types {
            scope.take(&definition.ident);
        }
        for operation in &model.operations {
            scope.take(&operation.params);
        }
        TypeAnnotations { scope, named: Vec::new(), used: HashSet::new() }
    }

    /// Returns the names of `typing` that were used since the last call.
    pub(super) fn used(&mut self) -> HashSet<&'static str> {
        std::mem::take(&mut self.used)
    }

    /// Returns the type of any value.
    pub(super) fn any(&mut self) -> String {
        self.annotation(&Type::Any, "", "")
    }

    /// Returns the type of a field, with null if it is allowed; `module` is the prefix of the adapter's types.
    pub(super) fn field(&mut self, field: &ModelField, owner: &str, module: &str) -> String {
        let hint =
            format!("{owner}{}", crate::model::identifier(&field.name, crate::model::IdentifierCase::Pascal));
        let kind = self.annotation(&field.kind, &hint, module);
        if field.nullable && field.kind != Type::Any && field.kind != Type::Null {
            format!("{kind} | None")
        } else {
            kind
        }
    }

    fn annotation(&mut self, kind: &Type, hint: &str, module: &str) -> String {
        match kind {
            Type::Any => {
                self.used.insert("Json");
                "Json".into()
            }
            Type::Null => "None".into(),
            Type::Boolean => "bool".into(),
            Type::Integer | Type::WideInteger => "int".into(),
            Type::Number => "float".into(),
            Type::String => "str".into(),
            Type::Named(name) => self.own_type(name, module),
            Type::List(inner) => format!("list[{}]", self.annotation(inner, hint, module)),
            Type::Map(inner) => format!("dict[str, {}]", self.annotation(inner, hint, module)),
            Type::Literals(literals) => {
                let written = format!("Literal[{}]", written(literals));
                if written.chars().count() <= MAX_INLINE_TYPE {
                    self.used.insert("Literal");
                    return written;
                }
                let name = self.name(hint, kind);
                self.own_type(&name, module)
            }
            Type::Union(variants) => {
                let before = self.used.clone();
                let written: Vec<String> =
                    variants.iter().map(|variant| self.annotation(variant, hint, module)).collect();
                let written = written.join(" | ");
                if written.chars().count() <= MAX_INLINE_TYPE {
                    return written;
                }
                // Its parts are imported where the name is defined, not here.
                self.used = before;
                let name = self.name(hint, kind);
                self.own_type(&name, module)
            }
        }
    }

    /// Returns one of the adapter's types.
    fn own_type(&mut self, name: &str, module: &str) -> String {
        if !module.is_empty() {
            self.used.insert("types");
        }
        format!("{module}{name}")
    }

    /// Returns a name for a type, always the same for the same type and hint.
    fn name(&mut self, hint: &str, kind: &Type) -> String {
        if let Some((name, _)) = self.named.iter().find(|(_, known)| known == kind) {
            return name.clone();
        }
        let name = self.scope.take(hint);
        self.named.push((name.clone(), kind.clone()));
        name
    }
}

fn written(literals: &[Value]) -> String {
    literals.iter().map(literal).collect::<Vec<_>>().join(", ")
}

fn literal(value: &Value) -> String {
    match value {
        Value::String(text) => string(text),
        Value::Bool(true) => "True".into(),
        Value::Bool(false) => "False".into(),
        other => other.to_string(),
    }
}

/// Writes the file, after all other files have used their types.
pub(super) fn file(model: &Model<'_>, annotations: &mut TypeAnnotations) -> String {
    let mut text = CodeWriter::new("    ");
    let mut optional = false;
    annotations.used();
    for definition in &model.types {
        if let DefinitionKind::Object { fields, .. } = &definition.shape {
            optional |= fields.iter().any(|field| !field.required);
            object(&mut text, definition, fields, &definition.ident, "", annotations);
        }
    }
    let in_classes = annotations.used();
    let mut names = CodeWriter::new("    ");
    aliases(&mut names, model, annotations);
    let in_aliases = annotations.used();
    let (body, names) = (text.finish(), names.finish());
    // Two empty lines follow a class.
    let gap = if body.is_empty() || names.is_empty() { "" } else { "\n" };
    let body = format!("{body}{gap}{names}");
    let used = |name: &str| in_classes.contains(name) || in_aliases.contains(name);
    let has_objects =
        model.types.iter().any(|definition| matches!(definition.shape, DefinitionKind::Object { .. }));
    let mut typing: Vec<&str> = Vec::new();
    for (name, needed) in [
        ("Literal", used("Literal")),
        ("TypeAlias", !names.is_empty()),
        ("NotRequired", optional),
        ("TypedDict", has_objects),
    ] {
        if needed {
            typing.push(name);
        }
    }
    // The order of the formatter ignores case.
    typing.sort_unstable();
    let mut head = CodeWriter::new("    ");
    head.line("\"\"\"The named types of the adapter, as its document declares them.\"\"\"");
    if body.is_empty() {
        return head.finish();
    }
    head.line("").line("from __future__ import annotations").line("");
    let json = used("Json");
    // Aliases are evaluated at runtime, so their imports are needed there.
    let evaluated = in_aliases.contains("Json");
    if json && !evaluated {
        typing.insert(0, "TYPE_CHECKING");
    }
    if !typing.is_empty() {
        head.line(format!("from typing import {}", typing.join(", ")));
    }
    if json && evaluated {
        head.line("").line("from .runtime.requests import Json");
    } else if json {
        head.line("").line("if TYPE_CHECKING:").within(|head| {
            head.line("from .runtime.requests import Json");
        });
    }
    // Two empty lines between imports and a class, one before anything else.
    let body = match body.strip_prefix("\n\n") {
        Some(rest) if !rest.starts_with("class ") => format!("\n{rest}"),
        _ => body,
    };
    format!("{}{body}", head.finish())
}

fn class_fits(fields: &[ModelField]) -> bool {
    fields.iter().all(|field| is_plain_name(&field.name))
}

/// Writes an object as a class; `module` is the prefix of the adapter's types.
pub(super) fn object(
    text: &mut CodeWriter,
    definition: &Definition,
    fields: &[ModelField],
    owner: &str,
    module: &str,
    annotations: &mut TypeAnnotations,
) {
    let kind = |field: &ModelField, annotations: &mut TypeAnnotations| {
        let kind = annotations.field(field, owner, module);
        if field.required { kind } else { format!("NotRequired[{kind}]") }
    };
    text.line("").line("");
    if class_fits(fields) {
        text.line(format!("class {}(TypedDict):", definition.ident)).within(|text| {
            let about = if definition.docs.trim().is_empty() {
                "Declared by the document."
            } else {
                &definition.docs
            };
            docstring(text, about);
            for (index, field) in fields.iter().enumerate() {
                if index == 0 {
                    text.line("");
                }
                bracketed(text, &field.name, &kind(field, annotations));
                docstring(text, &field.docs);
            }
        });
        return;
    }
    // Keys that are not identifiers.
    text.block(format!("{} = TypedDict(", definition.ident), ")", |text| {
        text.line(format!("{},", string(&definition.ident))).block("{", "},", |text| {
            for field in fields {
                let kind = kind(field, annotations);
                text.line(format!("{}: {},", string(&field.name), string(&kind)));
            }
        });
    });
    docstring(text, &definition.docs);
}

/// Writes `name: kind`, broken after the first bracket if it is too long.
fn bracketed(text: &mut CodeWriter, name: &str, kind: &str) {
    let line = format!("{name}: {kind}");
    let inner = kind.strip_suffix(']').and_then(|kind| kind.split_once('['));
    match inner {
        Some((outer, inner)) if line.chars().count() > text.room(WIDTH) && !outer.contains(' ') => {
            text.block(format!("{name}: {outer}["), "]", |text| {
                text.line(inner);
            });
        }
        None if line.chars().count() > text.room(WIDTH) => {
            text.block(format!("{name}: ("), ")", |text| {
                text.line(kind);
            });
        }
        _ => {
            text.line(line);
        }
    }
}

/// Returns the aliases, each after the types that it uses: those of the document, and those of long types.
fn aliases(text: &mut CodeWriter, model: &Model<'_>, annotations: &mut TypeAnnotations) {
    let declared = model.types.iter().filter_map(|definition| match &definition.shape {
        DefinitionKind::Alias(kind) => {
            Some((definition.ident.clone(), kind.clone(), definition.docs.clone()))
        }
        DefinitionKind::Object { .. } => None,
    });
    let mut waiting: Vec<(String, Type, String)> = declared.collect();
    let mut taken = 0;
    let mut done: HashSet<String> = HashSet::new();
    loop {
        // Writing one alias can create another.
        let more: Vec<_> = annotations.named.iter().skip(taken).cloned().collect();
        taken += more.len();
        waiting.extend(more.into_iter().map(|(name, kind)| (name, kind, String::new())));
        let open: HashSet<String> = waiting.iter().map(|(name, ..)| name.clone()).collect();
        let ready = waiting.iter().position(|(_, kind, _)| {
            let mut names = Vec::new();
            kind.names(&mut names);
            names.iter().all(|name| !open.contains(*name) || done.contains(*name))
        });
        let Some(ready) = ready else { break };
        let (name, kind, docs) = waiting.remove(ready);
        // Aliases that are created while this one is written come before it.
        let before = annotations.named.len();
        let alias = AliasForm::of(&name, &kind, annotations);
        let made: Vec<_> = annotations.named.iter().skip(before).cloned().collect();
        taken += made.len();
        for (name, kind) in made {
            AliasForm::of(&name, &kind, annotations).write(text, "");
            done.insert(name);
        }
        alias.write(text, &docs);
        done.insert(name);
    }
}

enum AliasForm {
    /// A single line, or a union that may be written on several lines.
    Types(String, Vec<String>),
    Literals(String, Vec<String>),
}

impl AliasForm {
    fn of(name: &str, kind: &Type, annotations: &mut TypeAnnotations) -> AliasForm {
        match kind {
            Type::Literals(literals) => {
                annotations.used.insert("Literal");
                AliasForm::Literals(name.to_owned(), literals.iter().map(literal).collect())
            }
            Type::Union(variants) => {
                let hint = format!("{name}Variant");
                let written =
                    variants.iter().map(|variant| annotations.annotation(variant, &hint, "")).collect();
                AliasForm::Types(name.to_owned(), written)
            }
            other => AliasForm::Types(name.to_owned(), vec![annotations.annotation(other, name, "")]),
        }
    }

    fn write(&self, text: &mut CodeWriter, docs: &str) {
        text.line("");
        match self {
            AliasForm::Literals(name, literals) => {
                let line = format!("{name}: TypeAlias = Literal[{}]", literals.join(", "));
                if line.chars().count() <= WIDTH || literals.len() == 1 {
                    text.line(line);
                } else {
                    text.block(format!("{name}: TypeAlias = Literal["), "]", |text| {
                        literals.iter().for_each(|literal| {
                            text.line(format!("{literal},"));
                        });
                    });
                }
            }
            AliasForm::Types(name, variants) => {
                let written = variants.join(" | ");
                let line = format!("{name}: TypeAlias = {written}");
                if line.chars().count() <= WIDTH || variants.len() == 1 {
                    text.line(line);
                } else {
                    text.block(format!("{name}: TypeAlias = ("), ")", |text| {
                        if written.chars().count() <= text.room(WIDTH) {
                            text.line(written);
                            return;
                        }
                        for (index, variant) in variants.iter().enumerate() {
                            let sign = if index == 0 { "" } else { "| " };
                            text.line(format!("{sign}{variant}"));
                        }
                    });
                }
            }
        }
        docstring(text, docs);
    }
}
