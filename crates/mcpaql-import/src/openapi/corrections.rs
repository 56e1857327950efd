//! Applies overrides. An override is matched by name, by original id, or by method and path.

use super::library::OpenApiLibrary;
use super::operation_heads::UnnamedOperation;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::facts::{self, Declared, Effect, Facts, Guard, Reach};
use mcpaql_core::operation::{Binding, Category, Operation};
use mcpaql_document::overrides::{
    OperationOverride, Overrides, duplicate_override, invalid_split, unmatched, unmatched_param,
    unmatched_producer,
};
use mcpaql_lexicon::classify::{Classification, Confidence, EvidenceKind, Reason};
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the override of each operation, if there is one.
///
/// # Errors
///
/// Returns problems if overrides match nothing, or if new names are invalid or taken.
pub(super) fn find(
    overrides: &Overrides,
    drafts: &[UnnamedOperation<'_>],
    names: &[String],
) -> Result<Vec<Option<Arc<OperationOverride>>>, Vec<Diagnostic>> {
    let mut found: Vec<Option<Arc<OperationOverride>>> = vec![None; drafts.len()];
    if overrides.operations.is_empty() {
        return Ok(found);
    }
    let mut positions: HashMap<String, usize> = HashMap::new();
    for (position, draft) in drafts.iter().enumerate() {
        positions.entry(format!("{} {}", draft.method, draft.path)).or_insert(position);
        draft.members.id.iter().for_each(|id| {
            positions.entry(id.to_string()).or_insert(position);
        });
    }
    // A name in the adapter wins over the same id.
    positions.extend(names.iter().enumerate().map(|(position, name)| (name.clone(), position)));
    let mut problems = Vec::new();
    for (key, correction) in &overrides.operations {
        match positions.get(key.trim()) {
            Some(&position) => {
                let Some(slot) = found.get_mut(position) else { continue };
                if correction.split.is_some() {
                    let message = "Only a tool of an MCP server can be split".to_owned();
                    problems.push(invalid_split(key, &[], message));
                }
                if slot.replace(Arc::new(correction.clone())).is_some() {
                    problems.push(duplicate_override(key));
                }
            }
            None => {
                let mut candidates: Vec<&str> = positions.keys().map(String::as_str).collect();
                // If two candidates are equally near, prefer the one of the same kind: a name, or a method and a path.
                candidates.sort_unstable_by_key(|candidate| {
                    (candidate.contains(' ') != key.contains(' '), *candidate)
                });
                problems.push(unmatched(key, candidates.into_iter()));
            }
        }
    }
    problems.extend(check_renames(&found, names));
    if problems.is_empty() { Ok(found) } else { Err(problems) }
}

/// Checks that overridden parameters exist and that `from` names operations. Reads only operations with such overrides.
///
/// # Errors
///
/// Returns a problem for each unknown parameter or operation.
pub(super) fn check_params(
    overrides: &Overrides,
    library: &OpenApiLibrary,
    heads: &[Operation],
) -> Result<(), Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let names = || heads.iter().map(|head| head.name.as_str());
    for (index, correction) in library.corrections().filter(|(_, correction)| !correction.params.is_empty()) {
        let key =
            overrides.operations.iter().find(|(_, own)| *own == correction).map(|(key, _)| key.as_str());
        let key = key.unwrap_or_default();
        let params = library.read(index).map(|(full, _)| full.operation.params).unwrap_or_default();
        for (name, own) in &correction.params {
            if !params.iter().any(|param| param.name == *name || param.wire == *name) {
                problems.push(unmatched_param(key, name, params.iter().map(|param| param.name.as_str())));
            }
            let missing = own.from.iter().flatten().filter(|from| !names().any(|name| name == **from));
            problems.extend(missing.map(|producer| unmatched_producer(key, name, producer, names())));
        }
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

/// Returns problems for new names that are invalid or taken.
pub(crate) fn check_renames(found: &[Option<Arc<OperationOverride>>], names: &[String]) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    let mut taken: HashMap<&str, &str> = HashMap::new();
    let kept = found
        .iter()
        .zip(names)
        .filter(|(correction, _)| correction.as_ref().is_none_or(|correction| correction.name.is_none()));
    kept.for_each(|(_, name)| {
        taken.insert(name, name);
    });
    for (correction, old) in found.iter().zip(names) {
        let Some(new) = correction.as_ref().and_then(|correction| correction.name.as_deref()) else {
            continue;
        };
        let wrong =
            |message: String| Diagnostic::error(Code::SchemaInvalidName, "/operations", message).found(new);
        if !mcpaql_core::naming::is_operation_name(new) {
            problems.push(wrong(format!("'{new}' cannot be the name of '{old}': use snake_case")));
        } else if let Some(other) = taken.insert(new, old) {
            problems.push(wrong(format!("'{new}' cannot be the name of '{old}': '{other}' already has it")));
        }
    }
    problems
}

/// Returns name and category after the override, and updates the decision.
pub(crate) fn apply_correction(
    correction: Option<&OperationOverride>,
    name: String,
    decision: &mut Classification,
) -> (String, Category) {
    let Some(correction) = correction else { return (name, decision.served_category()) };
    let category = correction.category().unwrap_or_else(|| decision.served_category());
    let name = correction.name.clone().unwrap_or(name);
    if correction.category().is_some() {
        let effect = correction.effect.filter(|effect| effect.category() == category);
        decision.effect = effect.unwrap_or_else(|| Effect::of(category));
        decision.category = category;
        decision.danger = facts::danger_of(&name, category);
        decision.confidence = Confidence::High;
        let text = format!("corrected to {}", category.as_str());
        decision.reasons.push(Reason { evidence: EvidenceKind::Declared, text });
    }
    decision.danger = correction.danger.unwrap_or(decision.danger);
    decision.idempotent = correction.idempotent.or(decision.idempotent);
    (name, category)
}

/// Returns the facts of an operation for the decision.
pub(crate) fn decided_facts(
    decision: &Classification,
    category: Category,
    guard: Guard,
    binding: &Binding,
) -> Facts {
    let effect = if decision.effect.category() == category { decision.effect } else { Effect::of(category) };
    facts::infer(&Declared {
        category,
        effect: Some(effect),
        idempotent: decision.idempotent,
        danger: decision.danger,
        guard,
        reach: Reach::Open,
        binding,
    })
}
