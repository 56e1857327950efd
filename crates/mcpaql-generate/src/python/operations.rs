//! `operations/`: for each operation the type of its parameters, its binding and its handler; and the table of all of them.

use super::expression::{Expression, WIDTH, string};
use super::types::{Annotations, literal};
use super::{binding, docstring, is_plain_name};
use crate::model::{Field, Signature, Text, Type};
use mcpaql_core::operation::{Binding, Place};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// What a module of operations imports under names in capitals.
const IMPORTED: [&str; 2] = ["TYPE_CHECKING", "UNSET"];

/// Longer values of parameters stand in their descriptions alone.
const MAX_DEFAULT: usize = 24;

/// The table of an adapter without operations.
const EMPTY_INDEX: &str = include_str!("../../templates/python/src/adapter_template/operations/__init__.py");

/// One module: the operations of an endpoint.
pub(super) struct Module<'m> {
    pub(super) name: String,
    pub(super) endpoint: String,
    pub(super) operations: Vec<&'m Signature<'m>>,
}

/// What a module needs from elsewhere, noted while it is written: what stands in a text of the adapter is no code.
#[derive(Default)]
struct Needs {
    /// Kinds of bindings and what they are made of, and `Code`.
    bindings: BTreeSet<String>,
    /// `field`, `UNSET`, `Unset`, and what annotations need.
    names: HashSet<&'static str>,
}

pub(super) fn module(module: &Module<'_>, annotations: &mut Annotations) -> String {
    let mut text = Text::new("    ");
    let mut needs = Needs::default();
    annotations.used();
    for signature in &module.operations {
        params(&mut text, signature, annotations, &mut needs);
        handler(&mut text, signature, &mut needs);
    }
    needs.names.extend(annotations.used());
    format!("{}{}", head(&module.endpoint, &needs), text.finish())
}

/// What stands before the operations of a module.
fn head(endpoint: &str, needs: &Needs) -> String {
    let mut head = Text::new("    ");
    let with = |name: &str, more: &'static str, plain: &'static str| {
        if needs.names.contains(name) { more } else { plain }
    };
    head.line(format!("\"\"\"Operations of the endpoint `{endpoint}`.\"\"\"")).line("");
    head.line("from __future__ import annotations").line("");
    head.line(format!("from dataclasses import {}", with("field", "dataclass, field", "dataclass")));
    head.line(format!("from typing import {}", with("Literal", "TYPE_CHECKING, Literal", "TYPE_CHECKING")));
    head.line("");
    let bindings: Vec<&str> =
        needs.bindings.iter().map(String::as_str).filter(|name| *name != "Code").collect();
    import(&mut head, "..runtime.bindings", &bindings);
    if needs.bindings.contains("Code") {
        head.line("from ..runtime.errors import Code");
    }
    head.line(format!("from ..runtime.params import {}", with("UNSET", "UNSET, Params", "Params")));
    head.line("").line("if TYPE_CHECKING:").within(|head| {
        for (name, line) in [
            ("types", "from .. import types"),
            ("Json", "from ..runtime.jsontext import Json"),
            ("Unset", "from ..runtime.params import Unset"),
        ] {
            if needs.names.contains(name) {
                head.line(line);
            }
        }
        head.line("from ..runtime.pipeline import Call").line("from ..runtime.response import Answer");
    });
    head.finish()
}

fn import(text: &mut Text, module: &str, names: &[&str]) {
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

fn params(text: &mut Text, signature: &Signature<'_>, annotations: &mut Annotations, needs: &mut Needs) {
    text.line("").line("").line("@dataclass(frozen=True, slots=True, kw_only=True)");
    text.line(format!("class {}(Params):", signature.params)).within(|text| {
        docstring(text, &format!("Parameters of `{}`.", signature.operation.name));
        for (index, field) in signature.fields.iter().enumerate() {
            if index == 0 {
                text.line("");
            }
            let kind = annotations.field(field, signature.params.trim_end_matches("Params"), "types.");
            param(text, field, &kind, needs);
            docstring(text, &about(field));
        }
    });
}

fn param(text: &mut Text, field: &Field, kind: &str, needs: &mut Needs) {
    let mut items: Vec<(String, Expression)> = Vec::new();
    let filled = filled_in(field).filter(|value| {
        let line = format!("{}: {kind} = field(default={}", field.ident, value.flat());
        line.chars().count() <= text.room(WIDTH)
    });
    let default = filled.clone().unwrap_or_else(|| Expression::word("UNSET"));
    if !field.required {
        if filled.is_none() {
            needs.names.extend(["UNSET", "Unset"]);
        }
        items.push(("default=".into(), default.clone()));
    }
    if field.sensitive {
        items.push(("repr=".into(), Expression::flag(false)));
    }
    if field.ident != field.name {
        let name = Expression::dict(vec![(string("name"), Expression::text(&field.name))]);
        items.push(("metadata=".into(), name));
    }
    // The linter wants null last.
    let kind = match kind.strip_suffix(" | None") {
        _ if field.required || filled.is_some() => kind.to_owned(),
        Some(kind) => format!("{kind} | Unset | None"),
        None => format!("{kind} | Unset"),
    };
    let value = match items.as_slice() {
        [] => None,
        [(label, _)] if label == "default=" => Some(default),
        _ => {
            needs.names.insert("field");
            Some(Expression::call("field", items))
        }
    };
    annotated(text, &field.ident, &kind, value);
}

/// What a parameter holds where the caller gives nothing, if that is short and plainly of its type.
fn filled_in(field: &Field) -> Option<Expression> {
    let default = field.default.as_ref()?;
    let fits = match &field.kind {
        Type::String => default.is_string(),
        Type::Boolean => default.is_boolean(),
        Type::Integer | Type::WideInteger => default.is_i64() || default.is_u64(),
        Type::Number => default.is_number(),
        Type::Literals(literals) => literals.contains(default),
        _ => false,
    };
    let written = literal(default);
    (fits && written.chars().count() <= MAX_DEFAULT).then(|| Expression::word(written))
}

/// `name: kind = value`, broken where it is too long.
pub(super) fn annotated(text: &mut Text, name: &str, kind: &str, value: Option<Expression>) {
    let room = text.room(WIDTH);
    let before = format!("{name}: {kind}");
    let Some(value) = value else {
        bracketed(text, name, kind);
        return;
    };
    let opening = match &value {
        Expression::Word(_) => "(",
        Expression::Group { open, .. } => open,
    };
    let fits = |line: &str| line.chars().count() <= room;
    if !kind.contains(" | ") || fits(&format!("{before} = {}", value.flat())) {
        value.write(text, &format!("{before} = "), "");
    } else if !fits(&format!("{before} = {opening}")) {
        text.block(format!("{name}: ("), format!(") = {}", value.flat()), |text| {
            text.line(kind);
        });
    } else if let Expression::Word(word) = &value {
        text.block(format!("{before} = ("), ")", |text| {
            text.line(word);
        });
    } else {
        value.write(text, &format!("{before} = "), "");
    }
}

/// `name: kind`, broken behind the first bracket where it is too long.
pub(super) fn bracketed(text: &mut Text, name: &str, kind: &str) {
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

fn about(field: &Field) -> String {
    match &field.default {
        Some(default) => format!("{}\n\nDefault: `{default}`.", field.docs),
        None => field.docs.clone(),
    }
}

/// The name of an operation's binding, none that its module imports.
fn constant(function: &str) -> String {
    let name = function.to_uppercase();
    if IMPORTED.contains(&name.as_str()) { format!("{name}_") } else { name }
}

fn handler(text: &mut Text, signature: &Signature<'_>, needs: &mut Needs) {
    let operation = signature.operation;
    let (name, literal) = (signature.function.as_str(), constant(&signature.function));
    let (binding, how) = match &operation.binding {
        Binding::Http(binding) => (binding::http(operation, binding), "http"),
        Binding::Store(binding) => (binding::store(binding), "store"),
        Binding::Command(binding) => (binding::command(operation, binding), "command"),
        Binding::Mcp(binding) => (binding::tool(operation, binding), "tool"),
        Binding::Introspect | Binding::Execution(_) | Binding::Code => return,
    };
    let mut called = BTreeSet::new();
    binding.calls(&mut called);
    needs.bindings.extend(called.into_iter().map(str::to_owned));
    text.line("").line("");
    binding.write(text, &format!("{literal} = "), "");
    text.line("").line("");
    let head = format!("async def {name}(params: {}, call: Call) -> Answer:", signature.params);
    if head.chars().count() <= WIDTH {
        text.line(head);
    } else {
        text.block(format!("async def {name}("), ") -> Answer:", |text| {
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
        text.line(format!("return await call.{how}({literal}, params)"));
    });
}

/// `operations/__init__.py`.
pub(super) fn index(modules: &[Module<'_>]) -> String {
    if modules.is_empty() {
        return EMPTY_INDEX.to_owned();
    }
    let mut text = Text::new("    ");
    text.line(
        "\"\"\"What the adapter can do: every operation with its parameters and its default handler.\"\"\"",
    )
    .line("");
    text.line("from __future__ import annotations").line("");
    text.line("from typing import TYPE_CHECKING, Any, Final, TypedDict").line("");
    text.line("from ..runtime.pipeline import Operation");
    let mut names: Vec<&str> = modules.iter().map(|module| module.name.as_str()).collect();
    names.sort_unstable();
    import(&mut text, ".", &names);
    text.line("").line("if TYPE_CHECKING:").within(|text| {
        text.line("from collections.abc import Mapping")
            .line("")
            .line("from ..runtime.pipeline import Handler");
    });
    let rows: BTreeMap<usize, (&Module<'_>, &Signature<'_>)> = modules
        .iter()
        .flat_map(|module| module.operations.iter().map(move |signature| (module, *signature)))
        .enumerate()
        .collect();
    handlers(&mut text, &rows);
    text.line("").line("");
    text.block("OPERATIONS: Final[Mapping[str, Operation[Any]]] = {", "}", |text| {
        for (module, signature) in rows.values() {
            let (params, function) = (&signature.params, &signature.function);
            let mut items = vec![
                (String::new(), Expression::word(format!("{}.{params}", module.name))),
                (String::new(), Expression::word(format!("{}.{function}", module.name))),
            ];
            let chooser = signature.operation.params.iter().find(|param| param.place == Place::Target);
            if let Some(param) = chooser {
                items.push(("target=".into(), Expression::text(&param.name)));
            }
            let name = string(&signature.operation.name);
            Expression::call("Operation", items).write(text, &format!("{name}: "), ",");
        }
    });
    text.line("\"\"\"By the names that callers use.\"\"\"");
    text.finish()
}

fn handlers(text: &mut Text, rows: &BTreeMap<usize, (&Module<'_>, &Signature<'_>)>) {
    let about = "Handlers that stand in for the default ones, by the names of their operations.";
    text.line("").line("");
    let kind = |module: &Module<'_>, signature: &Signature<'_>| {
        format!("Handler[{}.{}]", module.name, signature.params)
    };
    if rows.values().all(|(_, signature)| is_plain_name(&signature.operation.name)) {
        text.line("class Handlers(TypedDict, total=False):").within(|text| {
            docstring(text, about);
            for (index, (module, signature)) in rows.values().enumerate() {
                if index == 0 {
                    text.line("");
                }
                let kind = Expression::Group {
                    open: "Handler[".into(),
                    items: vec![(
                        String::new(),
                        Expression::word(format!("{}.{}", module.name, signature.params)),
                    )],
                    close: "]",
                    spread: false,
                };
                kind.write(text, &format!("{}: ", signature.operation.name), "");
            }
        });
        return;
    }
    // A word of the language cannot be a field of a class.
    text.block("Handlers = TypedDict(", ")", |text| {
        text.line("\"Handlers\",").block("{", "},", |text| {
            for (module, signature) in rows.values() {
                text.line(format!(
                    "{}: {},",
                    string(&signature.operation.name),
                    string(&kind(module, signature))
                ));
            }
        });
        text.line("total=False,");
    });
    docstring(text, about);
}
