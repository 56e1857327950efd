//! Catalog → served adapter: opens the target that the document names.

use crate::environment::Environment;
use crate::execution::{self, Executions};
use crate::pipeline::Served;
use crate::target::{Target, command, http, mcp, store};
use mcpaql_core::adapter;
use mcpaql_core::catalog::Catalog;
use std::path::Path;
use std::sync::Arc;

/// Why an adapter cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The HTTP client cannot be set up.
    #[error("adapter '{adapter}': {source}")]
    Http {
        /// Whose.
        adapter: String,
        /// Why.
        source: http::SetupError,
    },
    /// The store cannot be opened.
    #[error("adapter '{adapter}': {source}")]
    Store {
        /// Whose.
        adapter: String,
        /// Why.
        source: store::StoreError,
    },
    /// Programs cannot be started as the document wants.
    #[error("adapter '{adapter}': {source}")]
    Command {
        /// Whose.
        adapter: String,
        /// Why.
        source: command::SetupError,
    },
    /// The MCP server cannot be reached as the document wants.
    #[error("adapter '{adapter}': {source}")]
    Mcp {
        /// Whose.
        adapter: String,
        /// Why.
        source: mcp::SetupError,
    },
    /// Executions cannot be kept.
    #[error("adapter '{adapter}': {source}")]
    Executions {
        /// Whose.
        adapter: String,
        /// Why.
        source: store::StoreError,
    },
    /// There is no folder for the store.
    #[error("adapter '{adapter}' keeps data, and neither --data nor HOME says where")]
    NoDataFolder {
        /// Whose.
        adapter: String,
    },
}

/// Opens the target of a compiled adapter. `source` is the document's name, `data` the folder of the stores.
///
/// # Errors
/// What the target has against being opened.
pub async fn open(
    catalog: Catalog,
    source: &str,
    data: Option<&Path>,
    environment: &Environment,
) -> Result<Served, OpenError> {
    let adapter = catalog.adapter.name.clone();
    let lookup = {
        let environment = Arc::clone(environment);
        move |name: &str| environment(name)
    };
    let target = match &catalog.adapter.target {
        adapter::Target::Http(target) => http::HttpClient::new(target, &catalog.adapter.auth, lookup)
            .map(|client| Target::Http(Box::new(client)))
            .map_err(|source| OpenError::Http { adapter, source })?,
        adapter::Target::Command(target) => command::Runner::new(target, lookup)
            .map(Target::Command)
            .map_err(|source| OpenError::Command { adapter, source })?,
        adapter::Target::Mcp(target) => mcp::Proxy::new(target, &catalog.adapter.auth, lookup)
            .map(Target::Mcp)
            .map_err(|source| OpenError::Mcp { adapter, source })?,
        adapter::Target::Store(target) => {
            let Some(data) = data else { return Err(OpenError::NoDataFolder { adapter }) };
            store::Store::open(&data.join(STORE_FILE), &catalog.adapter.name, target, &catalog.adapter.types)
                .await
                .map(Target::Store)
                .map_err(|source| OpenError::Store { adapter, source })?
        }
    };
    if !catalog.has_executions() {
        return Ok(Served::new(catalog, target, source));
    }
    let adapter = catalog.adapter.name.clone();
    if data.is_none() {
        tracing::warn!(
            adapter,
            "neither --data nor HOME says where to keep executions; they are lost when the server ends"
        );
    }
    let executions = Executions::open(data, &adapter, execution::Limits::default())
        .await
        .map_err(|source| OpenError::Executions { adapter, source })?;
    Ok(Served::new(catalog, target, source).with_executions(executions))
}

/// One file for all stores of a data folder.
pub const STORE_FILE: &str = "mcpaql.sqlite";
