//! An operation that is read from a library and compiled on first use.

use super::FullOperation;
use super::{call_signature, fix_examples};
use crate::flagged::{self, FlaggedOperation};
use crate::library::{Library, LibraryOperation};
use crate::operation::{Example, Operation};
use crate::schema::SchemaSet;
use crate::signature;
use crate::targets;
use crate::validate::{CompiledParams, SizeLimits};
use indexmap::IndexMap;
use serde_json::Value;
use std::sync::OnceLock;

/// The position of an operation in its library, and the compiled operation after its first use.
#[derive(Debug)]
pub(crate) struct DeferredOperation {
    pub(crate) index: usize,
    compiled: OnceLock<Option<Box<CompiledOperation>>>,
}

/// An operation compiled on its own, with the types that it uses.
#[derive(Debug)]
struct CompiledOperation {
    operation: Operation,
    signature: String,
    types: IndexMap<String, Value>,
    params: CompiledParams,
    schemas: SchemaSet,
    flagged: Option<FlaggedOperation>,
}

impl DeferredOperation {
    pub(crate) fn new(index: usize) -> DeferredOperation {
        DeferredOperation { index, compiled: OnceLock::new() }
    }

    pub(crate) fn full_operation(
        &self,
        head: &Operation,
        library: &dyn Library,
        limits: &SizeLimits,
        allowed: &[String],
    ) -> Option<FullOperation<'_>> {
        let compiled = self.compiled.get_or_init(|| {
            let full = library.operation(self.index)?;
            Some(Box::new(compile_operation(full, head, limits, allowed)))
        });
        let compiled = compiled.as_deref()?;
        if compiled.flagged.as_ref().is_some_and(|flagged| flagged.is_withheld) {
            return None;
        }
        Some(FullOperation {
            operation: &compiled.operation,
            signature: &compiled.signature,
            types: &compiled.types,
            params: &compiled.params,
            schemas: &compiled.schemas,
        })
    }

    /// Returns the poisoned texts of the operation, if it was compiled.
    pub(crate) fn flagged(&self) -> Option<&FlaggedOperation> {
        self.compiled.get()?.as_ref()?.flagged.as_ref()
    }

    /// Returns a type by name, if the operation was compiled and uses it.
    pub(crate) fn type_named(&self, name: &str) -> Option<&Value> {
        self.compiled.get()?.as_ref()?.types.get(name)
    }
}

/// Compiles an operation and returns its examples. The compiled operation is not stored.
pub(super) fn examples(full: LibraryOperation, head: &Operation, limits: &SizeLimits) -> Vec<Example> {
    compile_operation(full, head, limits, &[]).operation.examples
}

/// Compiles an operation of a library. No author wrote it, so a wrong schema is not enforced and not reported.
fn compile_operation(
    full: LibraryOperation,
    head: &Operation,
    limits: &SizeLimits,
    allowed: &[String],
) -> CompiledOperation {
    let LibraryOperation { mut operation, mut types } = full;
    // The catalog has already decided these.
    operation.name.clone_from(&head.name);
    operation.endpoint.clone_from(&head.endpoint);
    let flagged = flagged::inspect_operation(&mut operation, &mut types, allowed);
    targets::copy_target_param(&mut operation, head);
    signature::hoist_types(&mut types);
    operation.params = signature::hoist(&operation.name, &operation.params, &mut types);
    let (mut schemas, _) = SchemaSet::compile(&types);
    let (params, _) = CompiledParams::compile(&operation, &mut schemas, "");
    let signature = call_signature(&operation, &types);
    let params = params.with_signature(signature.clone());
    fix_examples(&mut operation, &params, &types, &schemas, limits);
    CompiledOperation { operation, signature, types, params, schemas, flagged }
}
