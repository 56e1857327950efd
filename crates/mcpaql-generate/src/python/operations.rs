//! Writes `operations/`: for each operation the type of its parameters, its request and its function; and the table of all operations.

use super::binding;
use super::expression::{Expression, WIDTH, string};
use super::types::{TypeAnnotations, object};
use super::{docstring, is_plain_name};
use crate::Unsupported;
use crate::binding::BindingKind;
use crate::model::{CodeWriter, Definition, DefinitionKind, ModelField, Signature};
use std::collections::BTreeSet;

/// The table for an adapter without operations.
const EMPTY_INDEX: &str = include_str!("../../templates/python/src/adapter_template/operations/__init__.py");

/// The only import of a module of operations that has a name in capitals.
const IMPORTED: &str = "TYPE_CHECKING";

/// A module: the operations of an endpoint.
pub(super) struct Module<'m> {
    pub(super) name: String,
    pub(super) endpoint: String,
    pub(super) operations: Vec<&'m Signature<'m>>,
}

pub(super) fn module(module: &Module<'_>, annotations: &mut TypeAnnotations) -> Result<String, Unsupported> {
    let mut text = CodeWriter::new("    ");
    let mut needs = BTreeSet::new();
    annotations.used();
    let mut optional = false;
    for signature in &module.operations {
        let fields: Vec<ModelField> = signature.fields.iter().map(with_default_filled).collect();
        optional |= fields.iter().any(|field| !field.required);
        params(&mut text, signature, fields, annotations);
        handler(&mut text, signature, annotations, &mut needs)?;
    }
    let used = annotations.used();
    let mut head = CodeWriter::new("    ");
    head.line(format!("\"\"\"Operations of the endpoint `{}`.\"\"\"", module.endpoint)).line("");
    head.line("from __future__ import annotations").line("");
    let typing = [("Literal", used.contains("Literal")), ("NotRequired", optional)];
    let typing: Vec<&str> =
        typing.into_iter().filter(|(_, needed)| *needed).map(|(name, _)| name).chain(["TypedDict"]).collect();
    head.line(format!("from typing import TYPE_CHECKING, {}", typing.join(", "))).line("");
    import(&mut head, "..runtime.requests", &needs.iter().map(String::as_str).collect::<Vec<_>>());
    head.line("").line("if TYPE_CHECKING:").within(|head| {
        if used.contains("types") {
            head.line("from .. import types");
        }
        head.line("from ..runtime.dispatch import Call");
        if used.contains("Json") {
            head.line("from ..runtime.requests import Json");
        }
    });
    Ok(format!("{}{}", head.finish(), text.finish()))
}

fn import(text: &mut CodeWriter, module: &str, names: &[&str]) {
    let line = format!("from {module} import {}", names.join(", "));
    if line.len() <= WIDTH {
        text.line(line);
    } else {
        text.block(format!("from {module} import ("), ")", |text| {
            names.iter().for_each(|name| {
                text.line(format!("{name},"));
            });
        });
    }
}

/// Returns a parameter as a handler gets it, with its default filled in.
fn with_default_filled(field: &ModelField) -> ModelField {
    let docs = match &field.default {
        Some(default) => format!("{}\n\nDefault: `{default}`.", field.docs),
        None => field.docs.clone(),
    };
    ModelField { required: field.required || field.default.is_some(), docs, ..field.clone() }
}

fn params(
    text: &mut CodeWriter,
    signature: &Signature<'_>,
    fields: Vec<ModelField>,
    annotations: &mut TypeAnnotations,
) {
    let definition = Definition {
        ident: signature.params.clone(),
        docs: format!("Parameters of `{}`.", signature.operation.name),
        shape: DefinitionKind::Alias(crate::model::Type::Any),
    };
    let owner = signature.params.trim_end_matches("Params");
    object(text, &definition, &fields, owner, "types.", annotations);
}

/// Returns a name for the request of an operation that its module does not import.
fn constant(function: &str) -> String {
    let name = function.to_uppercase();
    if name == IMPORTED { format!("{name}_") } else { name }
}

fn handler(
    text: &mut CodeWriter,
    signature: &Signature<'_>,
    annotations: &mut TypeAnnotations,
    needs: &mut BTreeSet<String>,
) -> Result<(), Unsupported> {
    let operation = signature.operation;
    let (name, constant) = (signature.function.as_str(), constant(&signature.function));
    let (kind, value) = crate::binding::operation_binding(operation)?;
    let literal = binding::literal(kind, &value);
    let mut called = BTreeSet::new();
    literal.calls(&mut called);
    needs.extend(called.into_iter().map(str::to_owned));
    let answer = match signature.result.first() {
        Some(field) => annotations.field(
            field,
            &format!("{}Result", signature.params.trim_end_matches("Params")),
            "types.",
        ),
        None => annotations.any(),
    };
    text.line("").line("");
    literal.write(text, &format!("{constant}: {}[{answer}] = ", binding::class(kind)), "");
    text.line("").line("");
    let head = format!("async def {name}(params: {}, call: Call) -> {answer}:", signature.params);
    if head.chars().count() <= WIDTH {
        text.line(head);
    } else {
        text.block(format!("async def {name}("), format!(") -> {answer}:"), |text| {
            let both = format!("params: {}, call: Call", signature.params);
            if both.chars().count() <= text.room(WIDTH) {
                text.line(both);
            } else {
                text.line(format!("params: {},", signature.params)).line("call: Call,");
            }
        });
    }
    text.within(|text| {
        let about =
            if operation.description.trim().is_empty() { &operation.title } else { &operation.description };
        docstring(text, about);
        let how = match kind {
            BindingKind::Http => "http",
            BindingKind::Command => "command",
        };
        text.line(format!("return await call.{how}({constant}, params)"));
    });
    Ok(())
}

/// Writes `operations/__init__.py`.
pub(super) fn index(modules: &[Module<'_>]) -> String {
    if modules.is_empty() {
        return EMPTY_INDEX.to_owned();
    }
    let mut text = CodeWriter::new("    ");
    text.line("\"\"\"Every operation of the adapter, and the function that answers it by default.\"\"\"")
        .line("");
    text.line("from __future__ import annotations").line("");
    text.line("from typing import TYPE_CHECKING, Final, TypedDict").line("");
    let mut names: Vec<&str> = modules.iter().map(|module| module.name.as_str()).collect();
    names.sort_unstable();
    import(&mut text, ".", &names);
    text.line("").line("if TYPE_CHECKING:").within(|text| {
        text.line("from ..runtime.dispatch import Handler");
    });
    let rows: Vec<(&Module<'_>, &Signature<'_>)> = modules
        .iter()
        .flat_map(|module| module.operations.iter().map(move |signature| (module, *signature)))
        .collect();
    handlers(&mut text, &rows);
    text.line("").line("");
    text.block("DEFAULTS: Final[Handlers] = {", "}", |text| {
        for (module, signature) in &rows {
            text.line(format!(
                "{}: {}.{},",
                string(&signature.operation.name),
                module.name,
                signature.function
            ));
        }
    });
    text.finish()
}

fn handlers(text: &mut CodeWriter, rows: &[(&Module<'_>, &Signature<'_>)]) {
    let about = "Functions that answer operations, by their names.";
    text.line("").line("");
    let kind = |module: &Module<'_>, signature: &Signature<'_>| {
        format!("Handler[{}.{}]", module.name, signature.params)
    };
    if rows.iter().all(|(_, signature)| is_plain_name(&signature.operation.name)) {
        text.line("class Handlers(TypedDict, total=False):").within(|text| {
            docstring(text, about);
            text.line("");
            for (module, signature) in rows {
                let params = Expression::word(format!("{}.{}", module.name, signature.params));
                let items = vec![(String::new(), params)];
                let kind = Expression::Group { open: "Handler[".into(), items, close: "]", spread: false };
                kind.write(text, &format!("{}: ", signature.operation.name), "");
            }
        });
        return;
    }
    // A keyword cannot be a field of a class.
    text.block("Handlers = TypedDict(", ")", |text| {
        text.line("\"Handlers\",").block("{", "},", |text| {
            for (module, signature) in rows {
                let kind = string(&kind(module, signature));
                text.line(format!("{}: {kind},", string(&signature.operation.name)));
            }
        });
        text.line("total=False,");
    });
    docstring(text, about);
}
