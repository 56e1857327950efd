//! Assigns operations to endpoint families.

use crate::adapter::Profile;
use crate::catalog::{CatalogEntry, Endpoint};
use crate::lifecycle::ExecutionAction;
use crate::naming::title_of;
use crate::operation::{Binding, Category, INTROSPECT, Operation};
use crate::policy::{HintSet, Hints};
use indexmap::IndexMap;

pub(super) fn endpoint_of(operation: &Operation, profile: Option<&Profile>) -> String {
    profile
        .and_then(|profile| profile.family_of(&operation.name, operation.category))
        .unwrap_or(operation.category.endpoint())
        .to_owned()
}

/// Puts `introspect` into the family that the document names, otherwise into the first read-only family, otherwise into
/// the first one.
pub(super) fn place_introspect(operations: &mut [Operation], profile: &Profile) {
    let named = profile.family_of(INTROSPECT, Category::Read).map(str::to_owned);
    let only_reads = |family: &str| {
        let mut members = operations
            .iter()
            .filter(|operation| operation.endpoint == family && operation.name != INTROSPECT);
        members.all(|operation| operation.category == Category::Read)
    };
    let home = named
        .or_else(|| profile.families.keys().find(|family| only_reads(family)).cloned())
        .or_else(|| profile.families.keys().next().cloned());
    if let (Some(home), Some(introspect)) =
        (home, operations.iter_mut().find(|operation| operation.name == INTROSPECT))
    {
        introspect.endpoint = home;
    }
}

/// Puts the operations for executions into the family that the document names. By default, the operations that read
/// join the family of `introspect`, and `cancel_execution` joins the family of the first operation that starts
/// executions.
pub(super) fn place_executions(operations: &mut [Operation], profile: &Profile) {
    let home = |wanted: &dyn Fn(&Operation) -> bool| {
        operations.iter().find(|operation| wanted(operation)).map(|operation| operation.endpoint.clone())
    };
    let reads = home(&|operation| operation.name == INTROSPECT);
    let starts = home(&|operation| operation.lifecycle.is_some());
    for operation in operations {
        let Binding::Execution(action) = operation.binding else { continue };
        if profile.family_of(&operation.name, operation.category).is_some() {
            continue;
        }
        let home = if action == ExecutionAction::Cancel { &starts } else { &reads };
        if let Some(home) = home {
            operation.endpoint.clone_from(home);
        }
    }
}

pub(super) fn endpoints(entries: &[CatalogEntry], profile: Option<&Profile>) -> IndexMap<String, Endpoint> {
    let order: Vec<String> = match profile {
        Some(profile) => profile.families.keys().cloned().collect(),
        None => Category::ALL.map(|category| category.endpoint().to_owned()).to_vec(),
    };
    let mut endpoints = IndexMap::new();
    for name in order {
        let members: Vec<usize> = (0..entries.len())
            .filter(|index| entries.get(*index).is_some_and(|e| e.operation.endpoint == name))
            .collect();
        let hints = members
            .iter()
            .filter_map(|index| entries.get(*index))
            .map(|entry| entry.hints)
            .reduce(Hints::riskier);
        let Some(hints) = hints else { continue };
        let written_hints =
            members.iter().filter_map(|index| entries.get(*index)).map(|entry| entry.written_hints);
        let written_hints = written_hints.fold(HintSet::NONE, HintSet::or);
        let family = profile.and_then(|profile| profile.families.get(&name));
        let title = family.and_then(|family| family.title.clone()).unwrap_or_else(|| title_of(&name));
        let purpose = family.map(|family| family.purpose.clone()).unwrap_or_default();
        endpoints.insert(name, Endpoint { title, purpose, operations: members, hints, written_hints });
    }
    endpoints
}
