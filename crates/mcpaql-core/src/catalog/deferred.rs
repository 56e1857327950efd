//! An operation that is read from a library and compiled when it is first asked for.

use super::Whole;
use super::{call_signature, settle_examples};
use crate::library::{Full, Library};
use crate::operation::{Example, Operation};
use crate::schema::Schemas;
use crate::signature;
use crate::targets;
use crate::validate::{CompiledParams, Limits};
use indexmap::IndexMap;
use serde_json::Value;
use std::sync::OnceLock;

/// The place of an operation in its library, and the operation once it was read.
#[derive(Debug)]
pub(crate) struct Deferred {
    pub(crate) index: usize,
    read: OnceLock<Option<Box<Read>>>,
}

/// An operation compiled on its own: its types are those that it reaches.
#[derive(Debug)]
struct Read {
    operation: Operation,
    signature: String,
    types: IndexMap<String, Value>,
    params: CompiledParams,
    schemas: Schemas,
}

impl Deferred {
    pub(crate) fn new(index: usize) -> Deferred {
        Deferred { index, read: OnceLock::new() }
    }

    pub(crate) fn whole(
        &self,
        head: &Operation,
        library: &dyn Library,
        limits: &Limits,
    ) -> Option<Whole<'_>> {
        let read = self
            .read
            .get_or_init(|| library.operation(self.index).map(|full| Box::new(read(full, head, limits))));
        let read = read.as_deref()?;
        Some(Whole {
            operation: &read.operation,
            signature: &read.signature,
            types: &read.types,
            params: &read.params,
            schemas: &read.schemas,
        })
    }

    /// The type of that name, where the operation was read and reaches it.
    pub(crate) fn type_named(&self, name: &str) -> Option<&Value> {
        self.read.get()?.as_ref()?.types.get(name)
    }
}

/// The examples of an operation that is not kept.
pub(super) fn examples(full: Full, head: &Operation, limits: &Limits) -> Vec<Example> {
    read(full, head, limits).operation.examples
}

/// What a library hands out was not written by an author: a schema that makes no sense is not enforced, and nothing is reported.
fn read(full: Full, head: &Operation, limits: &Limits) -> Read {
    let Full { mut operation, mut types } = full;
    // The head has the last word about what the catalog has decided already.
    operation.name.clone_from(&head.name);
    operation.endpoint.clone_from(&head.endpoint);
    targets::follow(&mut operation, head);
    signature::hoist_types(&mut types);
    operation.params = signature::hoist(&operation.name, &operation.params, &mut types);
    let (mut schemas, _) = Schemas::compile(&types);
    let (params, _) = CompiledParams::compile(&operation, &mut schemas, "");
    let signature = call_signature(&operation, &types);
    let params = params.signed_as(signature.clone());
    settle_examples(&mut operation, &params, &types, &schemas, limits);
    Read { operation, signature, types, params, schemas }
}
