//! Reads all operations of a description, which writing a document needs and serving does not.

use super::ImportedApi;
use super::schema::WrittenTypes;
use crate::report::Note;
use indexmap::IndexMap;
use mcpaql_core::adapter::Adapter;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::library::{Library, LibraryOperation};
use mcpaql_document::compile;
use serde_json::Value;
use std::sync::Arc;

/// An adapter with complete operations, and notes about what was changed or left out.
#[derive(Debug)]
pub struct FullAdapter {
    /// The adapter, with parameters, answers, examples and types.
    pub adapter: Adapter,
    /// Operation → notes; operations without notes are left out.
    pub notes: IndexMap<String, Vec<Note>>,
}

/// Reads all operations. Each has what an agent would see if the description were served: valid examples, and the operations
/// that return its identifiers.
#[must_use]
pub fn full_adapter(import: &ImportedApi) -> FullAdapter {
    let mut adapter = import.adapter.clone();
    let library: Arc<dyn Library> = import.library.clone();
    let catalog =
        compile::compile_deferred(import.adapter.clone(), library, &AdapterSettings::default()).catalog;
    let mut notes = IndexMap::new();
    let mut types: IndexMap<String, Value> = IndexMap::new();
    let mut written = WrittenTypes::default();
    let mut operations = Vec::with_capacity(adapter.operations.len());
    for index in 0..adapter.operations.len() {
        let Some((mut full, found)) = import.library.read_sharing(index, &mut written) else { continue };
        if let Some(catalog) = &catalog {
            complete(&mut full, catalog);
        }
        let LibraryOperation { operation, types: reached } = full;
        for (name, body) in reached {
            add(&mut types, name, body);
        }
        if !found.is_empty() {
            notes.insert(operation.name.clone(), found);
        }
        operations.push(operation);
    }
    for (name, body) in written.into_types() {
        add(&mut types, name, body);
    }
    types.sort_unstable_keys();
    adapter.operations = operations;
    adapter.types = types;
    FullAdapter { adapter, notes }
}

fn complete(full: &mut LibraryOperation, catalog: &Catalog) {
    let Some(entry) = catalog.get(&full.operation.name) else { return };
    if !full.operation.examples.is_empty() {
        let shown = catalog.examples(entry, full.clone());
        full.operation.examples.retain(|example| shown.contains(example));
    }
    let operation = &mut full.operation;
    for (param, producers) in catalog.inferred_producers(entry) {
        if let Some(param) = operation.params.iter_mut().find(|own| own.name == param)
            && param.from.is_empty()
        {
            param.from = producers.into_iter().map(str::to_owned).collect();
        }
    }
}

/// Adds a type. A type that is far from an operation has no content there, so the longest version is kept.
fn add(types: &mut IndexMap<String, Value>, name: String, body: Value) {
    match types.get_mut(&name) {
        None => {
            types.insert(name, body);
        }
        Some(known) if *known == body => {}
        Some(known) => {
            let (old, new) = (known.to_string(), body.to_string());
            if (new.len(), &new) > (old.len(), &old) {
                *known = body;
            }
        }
    }
}
