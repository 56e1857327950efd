//! Normalizes unions, and finds nullable and recursive aliases once all types are known.

use super::read::DefinitionSlot;
use super::{Definition, DefinitionKind, ModelField, Type};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

/// Returns the union of these types in its normal form.
pub(super) fn union(variants: Vec<Type>) -> Type {
    let mut flat = Vec::with_capacity(variants.len());
    let mut literals: Vec<Value> = Vec::new();
    for variant in variants {
        match variant {
            Type::Union(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    if flat.contains(&Type::Any) {
        return Type::Any;
    }
    let covered = |value: &Value| {
        (value.is_string() && flat.contains(&Type::String))
            || (value.is_boolean() && flat.contains(&Type::Boolean))
            || (value.is_number()
                && flat.iter().any(|kind| matches!(kind, Type::Integer | Type::WideInteger | Type::Number)))
    };
    let mut out: Vec<Type> = Vec::new();
    let mut place = None;
    for variant in &flat {
        match variant {
            Type::Null => {}
            Type::Literals(values) => {
                for value in values.iter().filter(|value| !covered(value)) {
                    place.get_or_insert(out.len());
                    if !literals.contains(value) {
                        literals.push(value.clone());
                    }
                }
            }
            Type::Integer | Type::WideInteger if flat.contains(&Type::Number) => {}
            Type::Integer if flat.contains(&Type::WideInteger) => {}
            other if out.contains(other) => {}
            other => out.push(other.clone()),
        }
    }
    if let Some(place) = place {
        out.insert(place, Type::Literals(literals));
    }
    if flat.contains(&Type::Null) {
        out.push(Type::Null);
    }
    match out.len() {
        0 => Type::Any,
        1 => out.pop().unwrap_or(Type::Any),
        _ => Type::Union(out),
    }
}

/// Moves null from definitions to the places that use them, and cuts recursive aliases.
pub(super) fn resolve_nullable_types(
    mut slots: Vec<DefinitionSlot>,
    params: Vec<&mut Vec<ModelField>>,
) -> Vec<Definition> {
    cut_cycles(&mut slots);
    let nullable = nullable(&slots);
    let mend = |fields: &mut Vec<ModelField>| {
        for field in fields {
            let kind = std::mem::replace(&mut field.kind, Type::Any);
            let (kind, null) = with_null(kind, &nullable).split_null();
            field.kind = kind;
            field.nullable |= null;
        }
    };
    params.into_iter().for_each(mend);
    let mend_slot = |slot: DefinitionSlot| {
        let Definition { ident, docs, shape } = slot.definition;
        let shape = match shape {
            DefinitionKind::Object { mut fields, rest } => {
                mend(&mut fields);
                DefinitionKind::Object { fields, rest: rest.map(|rest| with_null(rest, &nullable)) }
            }
            DefinitionKind::Alias(kind) => DefinitionKind::Alias(with_null(kind, &nullable).split_null().0),
        };
        Definition { ident, docs, shape }
    };
    slots.into_iter().map(mend_slot).collect()
}

/// Returns the names of types that allow null.
fn nullable(slots: &[DefinitionSlot]) -> HashSet<String> {
    let named = |slot: &&DefinitionSlot| {
        !matches!(slot.definition.shape, DefinitionKind::Alias(Type::Any | Type::Null))
    };
    let ident = |slot: &DefinitionSlot| slot.definition.ident.clone();
    let mut found: HashSet<String> =
        slots.iter().filter(named).filter(|slot| slot.nullable).map(ident).collect();
    let mut used: HashMap<&str, Vec<&str>> = HashMap::new();
    for slot in slots {
        let mut variants: Vec<&Type> = Vec::new();
        match &slot.definition.shape {
            DefinitionKind::Alias(Type::Union(inner)) => variants.extend(inner),
            DefinitionKind::Alias(kind) => variants.push(kind),
            DefinitionKind::Object { .. } => {}
        }
        for variant in variants {
            if let Type::Named(name) = variant {
                used.entry(name).or_default().push(&slot.definition.ident);
            }
        }
    }
    let mut waiting: Vec<String> = found.iter().cloned().collect();
    while let Some(name) = waiting.pop() {
        for user in used.get(name.as_str()).into_iter().flatten() {
            if found.insert((*user).to_owned()) {
                waiting.push((*user).to_owned());
            }
        }
    }
    found
}

fn with_null(kind: Type, nullable: &HashSet<String>) -> Type {
    match kind {
        Type::Named(name) if nullable.contains(&name) => Type::Union(vec![Type::Named(name), Type::Null]),
        Type::List(inner) => Type::List(Box::new(with_null(*inner, nullable))),
        Type::Map(inner) => Type::Map(Box::new(with_null(*inner, nullable))),
        Type::Union(variants) => {
            union(variants.into_iter().map(|variant| with_null(variant, nullable)).collect())
        }
        other => other,
    }
}

/// Follows aliases, and replaces a reference that closes a cycle by any value.
fn cut_cycles(slots: &mut [DefinitionSlot]) {
    let aliases: HashMap<String, usize> = slots
        .iter()
        .enumerate()
        .filter(|(_, slot)| matches!(slot.definition.shape, DefinitionKind::Alias(_)))
        .map(|(at, slot)| (slot.definition.ident.clone(), at))
        .collect();
    let leads = |slot: &DefinitionSlot| -> Vec<usize> {
        let mut names = Vec::new();
        if let DefinitionKind::Alias(kind) = &slot.definition.shape {
            kind.names(&mut names);
        }
        names.into_iter().filter_map(|name| aliases.get(name).copied()).collect()
    };
    let edges: Vec<Vec<usize>> = slots.iter().map(leads).collect();
    let mut done = vec![false; slots.len()];
    let mut cut: HashSet<(usize, usize)> = HashSet::new();
    for start in 0..slots.len() {
        let mut on_path = HashSet::from([start]);
        let mut path = vec![(start, 0_usize)];
        while let Some((at, next)) = path.last_mut() {
            let at = *at;
            let finished = done.get(at).copied().unwrap_or(true);
            let edge = edges.get(at).and_then(|edges| edges.get(*next)).copied().filter(|_| !finished);
            *next += 1;
            match edge {
                Some(to) if on_path.contains(&to) => {
                    cut.insert((at, to));
                }
                Some(to) => {
                    on_path.insert(to);
                    path.push((to, 0));
                }
                None => {
                    if let Some(done) = done.get_mut(at) {
                        *done = true;
                    }
                    on_path.remove(&at);
                    path.pop();
                }
            }
        }
    }
    for (at, slot) in slots.iter_mut().enumerate() {
        if let DefinitionKind::Alias(kind) = &mut slot.definition.shape {
            let old = std::mem::replace(kind, Type::Any);
            *kind = without(old, &|name| aliases.get(name).is_some_and(|to| cut.contains(&(at, *to))));
        }
    }
}

/// Returns the type with these names replaced by any value.
fn without(kind: Type, cut: &impl Fn(&str) -> bool) -> Type {
    match kind {
        Type::Named(name) if cut(&name) => Type::Any,
        Type::List(inner) => Type::List(Box::new(without(*inner, cut))),
        Type::Map(inner) => Type::Map(Box::new(without(*inner, cut))),
        Type::Union(variants) => union(variants.into_iter().map(|variant| without(variant, cut)).collect()),
        other => other,
    }
}
