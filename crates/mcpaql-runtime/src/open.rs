//! Catalog → served adapter: opens the target that the document names.

use crate::environment::Environment;
use crate::execution::{self, Executions};
use crate::pipeline::Served;
use crate::target::{Target, command, http, mcp, store};
use indexmap::IndexMap;
use mcpaql_core::adapter::{self, Auth};
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
    /// Its operations are functions of another program.
    #[error(
        "adapter '{adapter}': its operations are functions of the program that embeds it, and this is another program"
    )]
    Code {
        /// Whose.
        adapter: String,
    },
    /// There is no folder for the store.
    #[error("adapter '{adapter}' keeps data, and neither --data nor HOME says where")]
    NoDataFolder {
        /// Whose.
        adapter: String,
    },
}

impl OpenError {
    /// Why, in words that may be shown to anybody: without a path, and without the adapter's name.
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            OpenError::Http { source, .. } => source.to_string(),
            OpenError::Mcp { source, .. } => source.to_string(),
            OpenError::Store { .. } => "its store cannot be opened; the log says why".to_owned(),
            OpenError::Executions { .. } => "its executions cannot be kept; the log says why".to_owned(),
            OpenError::Code { .. } => "its operations are functions of another program".to_owned(),
            OpenError::NoDataFolder { .. } => "it keeps data, and nothing says where".to_owned(),
            OpenError::Command { source, .. } => match source {
                command::SetupError::MissingVariable { .. } | command::SetupError::BadVariable { .. } => {
                    source.to_string()
                }
                command::SetupError::BadReference { .. } | command::SetupError::MissingDirectory { .. } => {
                    "its working directory cannot be used; the log says why".to_owned()
                }
            },
        }
    }
}

/// Opens the target of a compiled adapter. `source` is the document's name, `data` the folder of the stores.
///
/// # Errors
/// What the target has against being opened.
pub async fn open(
    catalog: impl Into<Arc<Catalog>>,
    source: &str,
    data: Option<&Path>,
    environment: &Environment,
) -> Result<Served, OpenError> {
    let catalog = catalog.into();
    let target = if catalog.adapter.targets.is_empty() {
        reach(&catalog, &catalog.adapter.target, &catalog.adapter.auth, data, environment).await?
    } else {
        let mut several = IndexMap::new();
        for (name, one) in &catalog.adapter.targets {
            let target = reach(&catalog, &one.target, &one.auth, data, environment).await?;
            several.insert(name.clone(), target);
        }
        Target::Several(several)
    };
    keeping(Served::new(catalog, target, source), data).await
}

/// The same with somewhere to keep what runs in the background, where anything does.
pub(crate) async fn keeping(served: Served, data: Option<&Path>) -> Result<Served, OpenError> {
    if !served.catalog().has_executions() {
        return Ok(served);
    }
    let adapter = served.catalog().adapter.name.clone();
    if data.is_none() {
        tracing::warn!(
            adapter,
            "neither --data nor HOME says where to keep executions; they are lost when the server ends"
        );
    }
    let executions = Executions::open(data, &adapter, execution::Limits::default())
        .await
        .map_err(|source| OpenError::Executions { adapter, source })?;
    Ok(served.with_executions(executions))
}

/// Opens one target of an adapter.
async fn reach(
    catalog: &Catalog,
    target: &adapter::Target,
    auth: &Auth,
    data: Option<&Path>,
    environment: &Environment,
) -> Result<Target, OpenError> {
    let adapter = catalog.adapter.name.clone();
    let lookup = {
        let environment = Arc::clone(environment);
        move |name: &str| environment(name)
    };
    Ok(match target {
        adapter::Target::Http(target) => http::HttpClient::new(target, auth, lookup)
            .map(|client| Target::Http(Box::new(client)))
            .map_err(|source| OpenError::Http { adapter, source })?,
        adapter::Target::Command(target) => command::Runner::new(target, lookup)
            .map(Target::Command)
            .map_err(|source| OpenError::Command { adapter, source })?,
        adapter::Target::Mcp(target) => {
            let proxy = mcp::Proxy::new(target, auth, environment)
                .map_err(|source| OpenError::Mcp { adapter, source })?;
            if target.eager {
                let upstream = proxy.upstream().clone();
                // Whether it went well is told by its state, and by the first call.
                tokio::spawn(async move { drop(upstream.start().await) });
            }
            Target::Mcp(proxy)
        }
        adapter::Target::Code(_) => return Err(OpenError::Code { adapter }),
        adapter::Target::Store(target) => {
            let Some(data) = data else { return Err(OpenError::NoDataFolder { adapter }) };
            store::Store::open(&data.join(STORE_FILE), &catalog.adapter.name, target, &catalog.adapter.types)
                .await
                .map(Target::Store)
                .map_err(|source| OpenError::Store { adapter, source })?
        }
    })
}

/// One file for all stores of a data folder.
pub const STORE_FILE: &str = "mcpaql.sqlite";
