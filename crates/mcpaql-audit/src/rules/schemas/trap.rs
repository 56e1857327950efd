//! Finds schema features that clients do not support, with a message and a help text for each.

use crate::convention::{SchemaTrap, Standard};
use crate::tool::{Reference, ReferenceTarget, Schema, ToolTree};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A trap and its first location.
#[derive(Debug)]
pub(super) struct TrapLocation {
    pub(super) trap: SchemaTrap,
    pub(super) pointer: String,
}

/// Returns the traps that any convention refuses.
pub(super) fn refused_traps(standard: &Standard) -> Vec<SchemaTrap> {
    let refused = |trap: &SchemaTrap| {
        standard.conventions.iter().any(|convention| convention.schemas.refuses.contains(trap))
    };
    SchemaTrap::ALL.into_iter().filter(refused).collect()
}

/// Formats that model APIs support in function declarations.
const FORMATS: &[&str] = &["enum", "date-time", "int32", "int64", "float", "double"];

/// Returns the first location of each of these traps in the input schema.
pub(super) fn find<'a>(tree: &ToolTree<'a>, refused: &[SchemaTrap]) -> Vec<TrapLocation> {
    let mut found: Vec<TrapLocation> = Vec::new();
    for trap in refused {
        let pointer = if *trap == SchemaTrap::Recursion {
            recursion(tree)
        } else {
            tree.inputs().find_map(|schema| {
                trapping_keyword(*trap, tree, schema).map(|key| {
                    if key.is_empty() {
                        tree.pointer(schema.at)
                    } else {
                        tree.keyword_pointer(schema.at, key)
                    }
                })
            })
        };
        found.extend(pointer.map(|pointer| TrapLocation { trap: *trap, pointer }));
    }
    found
}

/// Returns the keyword that makes the trap; empty if the trap is a missing keyword.
fn trapping_keyword<'a>(trap: SchemaTrap, tree: &ToolTree<'a>, schema: &Schema<'a>) -> Option<&'static str> {
    let first = |keys: &'static [&'static str]| keys.iter().copied().find(|key| schema.has(key));
    let says = |key: &str, test: fn(&Value) -> bool| schema.get(key).is_some_and(test);
    match trap {
        SchemaTrap::RootUnion if schema.parent.is_some() => None,
        SchemaTrap::RootUnion => first(&["anyOf", "oneOf", "allOf"]),
        SchemaTrap::Union => first(&["anyOf", "oneOf"]),
        // Only for top-level parameters: no known client looks deeper.
        SchemaTrap::TypeList if !tree.is_parameter(schema) => None,
        SchemaTrap::TypeList => says("type", Value::is_array).then_some("type"),
        SchemaTrap::ArrayWithoutItems => {
            let elsewhere = || first(&["items", "prefixItems", "$ref", "anyOf", "oneOf", "allOf"]);
            (says("type", |kind| kind.as_str() == Some("array")) && elsewhere().is_none()).then_some("")
        }
        SchemaTrap::Tuple => says("items", Value::is_array).then_some("items"),
        SchemaTrap::Reference => says("$ref", Value::is_string).then_some("$ref"),
        SchemaTrap::Const => first(&["const"]),
        SchemaTrap::Nullable => first(&["nullable"]),
        SchemaTrap::BooleanBounds => {
            ["exclusiveMinimum", "exclusiveMaximum"].into_iter().find(|key| says(key, Value::is_boolean))
        }
        SchemaTrap::Format => {
            let unknown = |format: &Value| format.as_str().is_some_and(|format| !FORMATS.contains(&format));
            says("format", unknown).then_some("format")
        }
        SchemaTrap::Recursion => None,
    }
}

/// Returns the pointer of the first reference that leads, directly or through others, to a schema around it.
fn recursion<'a>(tree: &ToolTree<'a>) -> Option<String> {
    let of_input = |reference: &Reference<'a>| tree.schemas.get(reference.schema).filter(|own| own.is_input);
    let referring: Vec<(&Reference<'a>, &Schema<'a>)> =
        tree.references.iter().filter_map(|reference| Some((reference, of_input(reference)?))).collect();
    if referring.is_empty() {
        return None;
    }
    let inputs = tree.schemas.iter().enumerate().filter(|(_, schema)| schema.is_input);
    let index: HashMap<*const Map<String, Value>, usize> =
        inputs.map(|(index, schema)| (std::ptr::from_ref(schema.map), index)).collect();
    let leads = |reference: &Reference<'a>| match reference.target {
        ReferenceTarget::Found(Value::Object(map)) => index.get(&std::ptr::from_ref(map)).copied(),
        _ => None,
    };
    // Follow each reference to its target and to the references inside that target. A way back is recursion.
    let to: HashMap<usize, usize> =
        referring.iter().filter_map(|(from, _)| Some((from.schema, leads(from)?))).collect();
    let mut inside: HashMap<usize, Vec<usize>> = HashMap::new();
    for (from, schema) in &referring {
        let mut around = Some(from.schema);
        let mut parent = schema.parent;
        while let Some(index) = around {
            inside.entry(index).or_default().push(from.schema);
            around = parent;
            parent = parent.and_then(|parent| tree.schemas.get(parent)?.parent);
        }
    }
    let mut done: Vec<bool> = vec![false; tree.schemas.len()];
    for (Reference { schema: start, .. }, schema) in &referring {
        let mut seen = vec![false; if done.get(*start) == Some(&true) { 0 } else { tree.schemas.len() }];
        let mut open: Vec<usize> = to.get(start).copied().into_iter().collect();
        while let Some(target) = open.pop() {
            for next in inside.get(&target).into_iter().flatten() {
                if next == start {
                    return Some(tree.keyword_pointer(schema.at, "$ref"));
                }
                if let Some(seen) = seen.get_mut(*next)
                    && !std::mem::replace(seen, true)
                    && done.get(*next) != Some(&true)
                {
                    open.extend(to.get(next));
                }
            }
        }
        // Nothing reachable from here leads back to here, so later searches can skip this reference.
        if let Some(done) = done.get_mut(*start) {
            *done = true;
        }
    }
    None
}

/// Returns the end of the message "The schema of '…' …".
pub(super) const fn trap_message(trap: SchemaTrap) -> &'static str {
    match trap {
        SchemaTrap::RootUnion => "has `anyOf`, `oneOf` or `allOf` at its root",
        SchemaTrap::TypeList => "lists several types for one parameter",
        SchemaTrap::ArrayWithoutItems => "has an array without `items`",
        SchemaTrap::Tuple => "has a list under `items`, as in drafts before 2020-12",
        SchemaTrap::Recursion => "refers to itself",
        SchemaTrap::Reference => "has a `$ref`",
        SchemaTrap::Union => "has `anyOf` or `oneOf`",
        SchemaTrap::Const => "has a `const`",
        SchemaTrap::Nullable => "uses `nullable`, which is an OpenAPI keyword",
        SchemaTrap::BooleanBounds => "has an exclusive bound that is true or false, as in draft 4",
        SchemaTrap::Format => "has a format that model APIs do not support",
    }
}

/// Returns the help text.
pub(super) const fn help(trap: SchemaTrap) -> &'static str {
    match trap {
        SchemaTrap::RootUnion => {
            "explain in descriptions which parameters belong together, or split the tool"
        }
        SchemaTrap::TypeList => {
            "use one type; instead of allowing null, remove the parameter from `required`"
        }
        SchemaTrap::ArrayWithoutItems => "add `items`, even if only `{}`",
        SchemaTrap::Tuple => "use `prefixItems` or an object",
        SchemaTrap::Recursion => "write out as many levels as are used",
        SchemaTrap::Reference => "write out the schema where it is used",
        SchemaTrap::Union => "use one type, or split it into several parameters",
        SchemaTrap::Const => "use an `enum` with one value",
        SchemaTrap::Nullable => "remove the parameter from `required` instead",
        SchemaTrap::BooleanBounds => "write the bound itself as a number",
        SchemaTrap::Format => "explain the format in the description",
    }
}

/// Returns whether the trap makes an API reject the whole request, not only ignore a value or keyword.
pub(super) const fn breaks_requests(trap: SchemaTrap) -> bool {
    !matches!(trap, SchemaTrap::TypeList)
}
