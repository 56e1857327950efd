//! Which traps a schema holds, and what to say about each.

use crate::convention::{SchemaTrap, Standard};
use crate::tool::{Reference, ReferenceTarget, Schema, ToolTree};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// A trap and where it first stands.
#[derive(Debug)]
pub(super) struct TrapLocation {
    pub(super) trap: SchemaTrap,
    pub(super) pointer: String,
}

/// What some convention refuses, each once.
pub(super) fn refused_traps(standard: &Standard) -> Vec<SchemaTrap> {
    let refused = |trap: &SchemaTrap| {
        standard.conventions.iter().any(|convention| convention.schemas.refuses.contains(trap))
    };
    SchemaTrap::ALL.into_iter().filter(refused).collect()
}

/// Formats that function declarations of model APIs know.
const FORMATS: &[&str] = &["enum", "date-time", "int32", "int64", "float", "double"];

/// Where each of these traps first stands in the schemas of arguments.
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

/// The keyword that a schema is trapped by; empty for what is missing.
fn trapping_keyword<'a>(trap: SchemaTrap, tree: &ToolTree<'a>, schema: &Schema<'a>) -> Option<&'static str> {
    let first = |keys: &'static [&'static str]| keys.iter().copied().find(|key| schema.has(key));
    let says = |key: &str, test: fn(&Value) -> bool| schema.get(key).is_some_and(test);
    match trap {
        SchemaTrap::RootUnion if schema.parent.is_some() => None,
        SchemaTrap::RootUnion => first(&["anyOf", "oneOf", "allOf"]),
        SchemaTrap::Union => first(&["anyOf", "oneOf"]),
        // Of parameters, because nobody is known to look deeper.
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

/// The first reference that leads to a schema around it, be it by way of others.
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
    // From each reference to what it leads to, and from there to the references inside: a way back is recursion.
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
        // Nothing that can be reached from here leads back to here; whoever comes by later need not look again.
        if let Some(done) = done.get_mut(*start) {
            *done = true;
        }
    }
    None
}

/// What the schema does, as in "The schema of … SAYS".
pub(super) const fn trap_message(trap: SchemaTrap) -> &'static str {
    match trap {
        SchemaTrap::RootUnion => "has a union beside its root's type",
        SchemaTrap::TypeList => "lists several types for one parameter",
        SchemaTrap::ArrayWithoutItems => "has an array that does not say of what",
        SchemaTrap::Tuple => "has a list under `items`, as drafts before 2020-12 did",
        SchemaTrap::Recursion => "refers to itself",
        SchemaTrap::Reference => "has a reference",
        SchemaTrap::Union => "has a union",
        SchemaTrap::Const => "has a constant",
        SchemaTrap::Nullable => "says `nullable`, which is OpenAPI's",
        SchemaTrap::BooleanBounds => "has an exclusive bound that is true or false, as draft 4 did",
        SchemaTrap::Format => "has a format that model APIs do not know",
    }
}

/// What to write instead.
pub(super) const fn help(trap: SchemaTrap) -> &'static str {
    match trap {
        SchemaTrap::RootUnion => {
            "say in descriptions which parameters go together, or make several tools of it"
        }
        SchemaTrap::TypeList => {
            "give one type, and leave the parameter out of `required` instead of allowing null"
        }
        SchemaTrap::ArrayWithoutItems => "write `items`, be it `{}`",
        SchemaTrap::Tuple => "write `prefixItems`, or an object",
        SchemaTrap::Recursion => "write out as many levels as are used",
        SchemaTrap::Reference => "write the schema out where it is used",
        SchemaTrap::Union => "give one type, or make several parameters of it",
        SchemaTrap::Const => "write an `enum` of one value",
        SchemaTrap::Nullable => "leave the parameter out of `required` instead",
        SchemaTrap::BooleanBounds => "write the bound itself there",
        SchemaTrap::Format => "say it in the description",
    }
}

/// Whether the whole request is refused, and not only a value or a keyword.
pub(super) const fn breaks_requests(trap: SchemaTrap) -> bool {
    !matches!(trap, SchemaTrap::TypeList)
}
