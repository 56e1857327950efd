//! Opens adapters: catalog → served adapter with an open target and a store for executions.
//!
//! [`Document::open`](crate::document::Document::open) and [`Native::open`](crate::native::Native::open) are usually enough. These
//! functions are for catalogs from other sources, and for new kinds of [targets](crate::target).
//!
//! ```
//! use mcpaql_document::{check, source::Source};
//! use mcpaql_runtime::prelude::*;
//! use mcpaql_runtime::{environment, open};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = r#"
//! name: disk
//! type: adapter
//! version: "1.0.0"
//! description: The disks of this machine.
//! target: { transport: native, protocol: command }
//! operations:
//!   read:
//!     - { name: get_usage, command: [df, -h] }
//! "#;
//! let checked = check::check(&Source::new("disk.yaml", text), &AdapterSettings::default());
//! let catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
//! let served = open::open(catalog, "disk.yaml", None, &environment::process()).await?;
//! assert_eq!(served.catalog().tools[0].name, "disk_mcpaql_read");
//! # Ok(())
//! # }
//! ```

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
/// When the target cannot be opened.
pub async fn open(
    catalog: impl Into<Arc<Catalog>>,
    source: &str,
    data: Option<&Path>,
    environment: &Environment,
) -> Result<ServedAdapter, OpenError> {
    open_with(&[], catalog, source, data, environment).await
}

/// Opens an adapter with additional kinds of targets. They take precedence over the built-in kinds.
///
/// # Errors
/// When the target cannot be opened.
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

/// Adds a store for executions to an adapter that has background operations.
pub(crate) async fn with_storage(
    served: ServedAdapter,
    data: Option<&Path>,
) -> Result<ServedAdapter, OpenError> {
    if !served.catalog().has_executions() {
        return Ok(served);
    }
    let adapter = &served.catalog().adapter.name;
    if cfg!(not(feature = "store")) {
        tracing::warn!(
            adapter,
            "executions are lost when the server stops: this program has no feature 'store'"
        );
    } else if data.is_none() {
        tracing::warn!(adapter, "no data folder for executions; they are lost when the server stops");
    }
    let executions = Executions::open(data, adapter, execution::ExecutionLimits::default())
        .await
        .map_err(|source| OpenError::new(adapter, source, "its executions cannot be stored; see the log"))?;
    Ok(served.with_executions(executions))
}

/// Returns the problems of a document in one line.
pub(crate) fn summarize_problems(problems: &[Diagnostic]) -> String {
    let describe = |problem: &Diagnostic| match field_path(&problem.pointer) {
        path if path.is_empty() => problem.message.clone(),
        path => format!("{} ({path})", problem.message),
    };
    problems.iter().map(describe).collect::<Vec<_>>().join("; ")
}
