//! Members whose integers may be larger than 2^53, which a `number` cannot hold. Such members are called wide.
//!
//! What always holds: if one member of a document is wide, all members with the same name are. The runtime therefore needs only the
//! name of a member to decide whether it is a `bigint`.

use crate::model::{Definition, DefinitionKind, Model, ModelField, Type};
use serde_json::Value;
use std::collections::BTreeSet;

/// The largest integer up to which a double holds every integer.
const MAX_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;
/// Maximum depth of lists, unions and aliases that are followed from one member.
const MAX_TYPE_DEPTH: u8 = 16;

/// Makes all members wide that share their name with a wide one, and returns these names.
///
/// Values without a name of their own, such as the values of a map, stay `number`.
pub(super) fn widen_members(model: &mut Model<'_>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for field in fields(model) {
        collect(&field.name, &field.kind, &model.types, MAX_TYPE_DEPTH, &mut names);
    }
    let operations = model.operations.iter_mut().flat_map(|one| one.fields.iter_mut().chain(&mut one.result));
    let members = model.types.iter_mut().flat_map(|one| match &mut one.shape {
        DefinitionKind::Object { fields, .. } => fields.as_mut_slice(),
        DefinitionKind::Alias(_) => &mut [],
    });
    for field in operations.chain(members).filter(|field| names.contains(&field.name)) {
        widen(&mut field.kind);
    }
    names
}

/// Returns whether a literal is an integer that a `number` cannot hold.
pub(super) fn is_wide(literal: &Value) -> bool {
    (literal.is_i64() || literal.is_u64())
        && literal.as_f64().is_some_and(|number| number.abs() > MAX_SAFE_INTEGER)
}

fn fields<'m>(model: &'m Model<'_>) -> impl Iterator<Item = &'m ModelField> {
    let operations = model.operations.iter().flat_map(|one| one.fields.iter().chain(&one.result));
    operations.chain(model.types.iter().flat_map(|one| match &one.shape {
        DefinitionKind::Object { fields, .. } => fields.as_slice(),
        DefinitionKind::Alias(_) => &[],
    }))
}

fn collect(name: &str, kind: &Type, types: &[Definition], depth_left: u8, names: &mut BTreeSet<String>) {
    let Some(depth_left) = depth_left.checked_sub(1) else { return };
    match kind {
        Type::WideInteger => {
            names.insert(name.to_owned());
        }
        Type::Literals(values) if values.iter().any(is_wide) => {
            names.insert(name.to_owned());
        }
        Type::List(inner) => collect(name, inner, types, depth_left, names),
        Type::Union(variants) => {
            variants.iter().for_each(|variant| collect(name, variant, types, depth_left, names));
        }
        Type::Named(ident) => {
            if let Some(DefinitionKind::Alias(kind)) =
                types.iter().find(|one| one.ident == *ident).map(|one| &one.shape)
            {
                collect(name, kind, types, depth_left, names);
            }
        }
        _ => {}
    }
}

fn widen(kind: &mut Type) {
    match kind {
        Type::Integer | Type::Number => *kind = Type::WideInteger,
        Type::List(inner) => widen(inner),
        Type::Union(variants) => variants.iter_mut().for_each(widen),
        _ => {}
    }
}
