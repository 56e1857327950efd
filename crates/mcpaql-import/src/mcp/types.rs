//! Merges the types of all tools, under names that are unique in the adapter.
//!
//! Every tool has its own definitions, and most of them are copies of those of other tools.
//!
//! What always holds: two definitions get one name if and only if they are equal, including everything that they refer to. A
//! name depends only on the definition's names in the tools and on other definitions with that name, not on the order of tools.

use crate::openapi::type_names::{type_name, unique_name};
use indexmap::IndexMap;
use mcpaql_core::introspect::PROTOCOL_TYPES;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The prefix of references to types in the model.
const TYPES: &str = "#/types/";

/// The definitions of one schema.
#[derive(Debug)]
pub(super) struct LocalTypes {
    /// The name of the tool.
    pub(super) tool: String,
    /// The definitions, by their names in the schema.
    pub(super) types: IndexMap<String, Value>,
}

/// All types, and the new names for each schema.
pub(super) struct MergedTypes {
    pub(super) types: IndexMap<String, Value>,
    pub(super) renames: Vec<HashMap<String, String>>,
}

/// Names and merges the definitions of all schemas.
pub(super) fn merge(locals: &[&LocalTypes]) -> MergedTypes {
    let classes = classes(locals);
    // Local name → class → the first tool by name that has it.
    let mut called: BTreeMap<&str, BTreeMap<usize, &str>> = BTreeMap::new();
    for (local, classes) in locals.iter().zip(&classes) {
        for (name, class) in local.types.keys().zip(classes) {
            let tool = called.entry(name).or_default().entry(*class).or_insert(&local.tool);
            *tool = (*tool).min(&local.tool);
        }
    }
    let mut taken: HashSet<String> = PROTOCOL_TYPES.iter().map(|name| (*name).to_owned()).collect();
    // A name with the same definition in all tools is kept. The others get the name of a tool as a prefix.
    let (plain, shared): (Vec<_>, Vec<_>) = called.iter().partition(|(_, classes)| classes.len() == 1);
    let mut names: HashMap<(&str, usize), String> = HashMap::new();
    for (name, classes) in plain {
        for class in classes.keys() {
            let free = unique_name((*name).to_owned(), &taken);
            taken.insert(free.clone());
            names.insert((*name, *class), free);
        }
    }
    for (name, classes) in shared {
        let mut owners: Vec<(&str, usize)> = classes.iter().map(|(class, tool)| (*tool, *class)).collect();
        owners.sort_unstable();
        for (tool, class) in owners {
            let free = unique_name(type_name(&format!("{tool} {name}")), &taken);
            taken.insert(free.clone());
            names.insert((*name, class), free);
        }
    }
    collect(locals, &classes, &names)
}

fn collect(
    locals: &[&LocalTypes],
    classes: &[Vec<usize>],
    names: &HashMap<(&str, usize), String>,
) -> MergedTypes {
    let mut types: IndexMap<String, Value> = IndexMap::new();
    let mut renames = Vec::with_capacity(locals.len());
    for (local, classes) in locals.iter().zip(classes) {
        let own: HashMap<String, String> = local
            .types
            .keys()
            .zip(classes)
            .filter_map(|(name, class)| Some((name.clone(), names.get(&(name.as_str(), *class))?.clone())))
            .collect();
        for (name, body) in &local.types {
            let Some(global) = own.get(name) else { continue };
            if !types.contains_key(global) {
                let mut body = body.clone();
                rename(&mut body, &own);
                types.insert(global.clone(), body);
            }
        }
        renames.push(own);
    }
    types.sort_unstable_keys();
    open_cycles(&mut types);
    MergedTypes { types, renames }
}

/// Replaces definitions that refer only to themselves by a schema that accepts every value.
fn open_cycles(types: &mut IndexMap<String, Value>) {
    let mut references: HashMap<String, Vec<String>> = HashMap::new();
    for (name, body) in types.iter() {
        let mut targets = Vec::new();
        collect_same_value_types(body, &mut targets);
        references.insert(name.clone(), targets.into_iter().map(str::to_owned).collect());
    }
    for (name, body) in types.iter_mut() {
        let mut seen: HashSet<&str> = HashSet::new();
        let mut queue: Vec<&str> = references.get(name).into_iter().flatten().map(String::as_str).collect();
        while let Some(next) = queue.pop() {
            if seen.insert(next) {
                queue.extend(references.get(next).into_iter().flatten().map(String::as_str));
            }
        }
        if seen.contains(name.as_str()) {
            *body = Value::Object(Map::new());
        }
    }
}

/// Collects the types that validate the same value as the schema.
fn collect_same_value_types<'v>(schema: &'v Value, found: &mut Vec<&'v str>) {
    let target = schema.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix(TYPES));
    found.extend(target);
    for key in ["allOf", "anyOf", "oneOf"] {
        schema
            .get(key)
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .for_each(|part| collect_same_value_types(part, found));
    }
    schema.get("not").into_iter().for_each(|part| collect_same_value_types(part, found));
}

/// Replaces the names of types in a schema by those of the adapter.
pub(super) fn rename(schema: &mut Value, names: &HashMap<String, String>) {
    match schema {
        Value::Object(map) => {
            if let Some(Value::String(target)) = map.get_mut("$ref")
                && let Some(name) = target.strip_prefix(TYPES).and_then(|name| names.get(name))
            {
                *target = format!("{TYPES}{name}");
            }
            map.values_mut().for_each(|inner| rename(inner, names));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, names)),
        _ => {}
    }
}

/// Returns the class of every definition. Definitions have the same class if they are equal, including their references.
fn classes(locals: &[&LocalTypes]) -> Vec<Vec<usize>> {
    // First by their own content, then repeatedly by the classes of their references.
    let mut ids: HashMap<String, usize> = HashMap::new();
    let mut classes: Vec<Vec<usize>> = Vec::with_capacity(locals.len());
    let mut references: Vec<Vec<Vec<usize>>> = Vec::with_capacity(locals.len());
    for local in locals {
        let mut own = Vec::with_capacity(local.types.len());
        let mut own_references = Vec::with_capacity(local.types.len());
        for body in local.types.values() {
            let next = ids.len();
            own.push(*ids.entry(body.to_string()).or_insert(next));
            let mut targets = Vec::new();
            collect_references(body, &local.types, &mut targets);
            own_references.push(targets);
        }
        classes.push(own);
        references.push(own_references);
    }
    let mut count = ids.len();
    loop {
        let mut ids: HashMap<(usize, Vec<usize>), usize> = HashMap::new();
        let finer: Vec<Vec<usize>> = classes
            .iter()
            .zip(&references)
            .map(|(own, own_references)| {
                own.iter()
                    .zip(own_references)
                    .map(|(class, targets)| {
                        let referenced = targets.iter().filter_map(|at| own.get(*at).copied()).collect();
                        let next = ids.len();
                        *ids.entry((*class, referenced)).or_insert(next)
                    })
                    .collect()
            })
            .collect();
        classes = finer;
        if ids.len() == count {
            return classes;
        }
        count = ids.len();
    }
}

/// Collects the targets of a definition's references, in order.
fn collect_references(schema: &Value, types: &IndexMap<String, Value>, found: &mut Vec<usize>) {
    match schema {
        Value::Object(map) => {
            let target = map.get("$ref").and_then(Value::as_str).and_then(|to| to.strip_prefix(TYPES));
            found.extend(target.and_then(|name| types.get_index_of(name)));
            map.values().for_each(|inner| collect_references(inner, types, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, types, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn local(tool: &str, types: Value) -> LocalTypes {
        let types = types.as_object().unwrap().iter().map(|(k, v)| (k.clone(), v.clone())).collect();
        LocalTypes { tool: tool.to_owned(), types }
    }

    fn node(leaf: &str) -> Value {
        json!({"Node": {"type": "object", "properties": {"child": {"$ref": "#/types/Node"}, "leaf": {"$ref": "#/types/Leaf"}}},
               "Leaf": {"type": leaf}})
    }

    #[test]
    fn equal_definitions_are_one_type_even_where_they_refer_to_themselves() {
        let merged = merge(&[&local("a", node("string")), &local("b", node("string"))]);
        assert_eq!(merged.types.keys().collect::<Vec<_>>(), ["Leaf", "Node"]);
        assert_eq!(merged.renames[1]["Node"], "Node");
    }

    #[test]
    fn definitions_that_only_look_alike_are_named_after_their_tools() {
        let locals =
            [local("list_things", node("string")), local("a", node("integer")), local("c", node("string"))];
        let merged = merge(&locals.each_ref());
        assert_eq!(merged.types.keys().collect::<Vec<_>>(), ["ALeaf", "ANode", "CLeaf", "CNode"]);
        assert_eq!(merged.types["CNode"]["properties"]["leaf"]["$ref"], "#/types/CLeaf");
        assert_eq!(merged.renames[0]["Node"], "CNode");
        let mut reversed = locals;
        reversed.reverse();
        assert_eq!(merge(&reversed.each_ref()).types, merged.types);
    }

    #[test]
    fn a_definition_that_refers_only_to_itself_accepts_every_value() {
        let types = json!({
            "A": {"allOf": [{"$ref": "#/types/B"}]}, "B": {"$ref": "#/types/A"},
            "List": {"type": "array", "items": {"$ref": "#/types/List"}}
        });
        let merged = merge(&[&local("a", types)]);
        assert_eq!((&merged.types["A"], &merged.types["B"]), (&json!({}), &json!({})));
        assert_eq!(merged.types["List"]["items"]["$ref"], "#/types/List");
    }

    #[test]
    fn a_name_of_the_protocol_is_not_taken() {
        let protocol = PROTOCOL_TYPES[0];
        let merged = merge(&[&local("a", json!({protocol: {"type": "object"}}))]);
        assert!(!merged.types.contains_key(protocol));
    }
}
