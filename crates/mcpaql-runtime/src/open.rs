//! Catalog → served adapter: opens the target that the document names, and somewhere to keep what runs in the background.

use crate::dispatch::ServedAdapter;
use crate::environment::Environment;
use crate::execution::{self, Executions};
use crate::target;
pub use crate::target::OpenError;
use crate::target::TargetKind;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::diagnostic::{Diagnostic, field_path};
use std::path::Path;
use std::sync::Arc;

/// Opens the target of a compiled adapter. `source` is the document's name, `data` the folder of the stores.
///
/// # Errors
/// Why the target cannot be opened.
pub async fn open(
    catalog: impl Into<Arc<Catalog>>,
    source: &str,
    data: Option<&Path>,
    environment: &Environment,
) -> Result<ServedAdapter, OpenError> {
    open_with(&[], catalog, source, data, environment).await
}

/// The same with kinds of targets that this program adds. They are asked first.
///
/// # Errors
/// Why the target cannot be opened.
pub async fn open_with(
    kinds: &[TargetKind],
    catalog: impl Into<Arc<Catalog>>,
    source: &str,
    data: Option<&Path>,
    environment: &Environment,
) -> Result<ServedAdapter, OpenError> {
    let catalog = catalog.into();
    let target = target::open(&catalog, data, environment, kinds).await?;
    with_storage(ServedAdapter::new(catalog, target, source), data).await
}

/// The same with somewhere to keep what runs in the background, where anything does.
pub(crate) async fn with_storage(
    served: ServedAdapter,
    data: Option<&Path>,
) -> Result<ServedAdapter, OpenError> {
    if !served.catalog().has_executions() {
        return Ok(served);
    }
    let adapter = &served.catalog().adapter.name;
    if data.is_none() {
        tracing::warn!(adapter, "there is no data folder for executions; they are lost when the server ends");
    }
    let executions =
        Executions::open(data, adapter, execution::ExecutionLimits::default()).await.map_err(|source| {
            OpenError::new(adapter, source, "its executions cannot be kept; the log says why")
        })?;
    Ok(served.with_executions(executions))
}

/// What is wrong with a document, in one line.
pub(crate) fn summarize_problems(problems: &[Diagnostic]) -> String {
    let one = |problem: &Diagnostic| match field_path(&problem.pointer) {
        path if path.is_empty() => problem.message.clone(),
        path => format!("{} ({path})", problem.message),
    };
    problems.iter().map(one).collect::<Vec<_>>().join("; ")
}
