//! A document inside a program: served like `mcpaql serve` does, with functions of the program for some of its operations.
//!
//! ```
//! use mcpaql_runtime::prelude::*;
//!
//! #[derive(Serialize, Deserialize)]
//! struct CreateNoteParams {
//!     title: String,
//!     #[serde(skip_serializing_if = "Option::is_none")]
//!     body: Option<String>,
//! }
//!
//! impl Params for CreateNoteParams {
//!     const OPERATION: &'static str = "create_note";
//! }
//!
//! let handlers = Handlers::new().on(async |mut note: CreateNoteParams, call| {
//!     note.title = note.title.trim().to_owned();
//!     call.send(note).await
//! });
//! let document = Document::new("notebook-adapter.md", include_str!("../../../examples/notebook-adapter.md"))
//!     .with_handlers(handlers);
//! # let _: Document = document;
//! ```
//!
//! [`Document::run`] serves it, [`Document::open`] returns it for a [`Gateway`].
//!
//! What always holds: names, hints, validation and introspection come from the document, even if a function answers. An operation
//! without a function calls the target of the document. A function can call the target too, for any operation.

pub use crate::caller::Caller;
pub use crate::dispatch::{HandlerCall, Handlers, Params, given};
pub use crate::environment::Environment;
pub use crate::target::Args;
pub use mcpaql_core::adapter::{ErrorPolicy, Mode, ResultForm};
pub use mcpaql_core::catalog::AdapterSettings;
pub use mcpaql_core::error::{Code, OpError};
pub use mcpaql_core::gate::trust::TrustLevel;
pub use mcpaql_core::response::Answer;

use crate::dispatch::ServedAdapter;
use crate::environment::{self, EnvironmentError};
use crate::gateway::Gateway;
use crate::open::{self, OpenError};
use crate::run::{self, RunError};
use mcpaql_core::catalog::Catalog;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::operation::Binding;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Why a document cannot be served.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The document is invalid.
    #[error("{file}: {}", open::summarize_problems(.problems))]
    Invalid {
        /// The name of the document.
        file: String,
        /// All problems, each with its position.
        problems: Vec<Diagnostic>,
    },
    /// Handlers exist for operations that the document does not have.
    #[error("{file} has no operation {}, for which there is a handler", .operations.join(", "))]
    NoSuchOperation {
        /// The name of the document.
        file: String,
        /// The missing operations.
        operations: Vec<String>,
    },
    /// A variable of the environment has an invalid value.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// Its target cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// A document with the settings and handlers of the program.
#[derive(Debug)]
pub struct Document {
    file: Cow<'static, str>,
    text: Cow<'static, str>,
    settings: AdapterSettings,
    handlers: Handlers,
    trust: Option<TrustLevel>,
}

impl Document {
    /// A document with this name and text. The extension of the name selects the format: `.md`, `.yaml` or `.json`.
    #[must_use]
    pub fn new(file: impl Into<Cow<'static, str>>, text: impl Into<Cow<'static, str>>) -> Document {
        Document {
            file: file.into(),
            text: text.into(),
            settings: AdapterSettings::default(),
            handlers: Handlers::default(),
            trust: None,
        }
    }

    /// Sets mode, profile, prefix and policy. They override the document, and the environment overrides them.
    #[must_use]
    pub fn with_settings(self, settings: AdapterSettings) -> Document {
        Document { settings, ..self }
    }

    /// Sets functions that answer some of its operations.
    #[must_use]
    pub fn with_handlers(self, handlers: Handlers) -> Document {
        Document { handlers, ..self }
    }

    /// Sets how far the program trusts the document, instead of [`TrustLevel::Validated`]. At that level, destructive operations need a
    /// confirmation, and dangerous ones do not run.
    #[must_use]
    pub fn trust(self, level: TrustLevel) -> Document {
        Document { trust: Some(level), ..self }
    }

    /// Compiles the document and opens its target. The result is served alone or in a [`Gateway`] with others.
    /// `data` is the folder of stores and executions.
    ///
    /// # Errors
    /// All problems of the document, or the reason why its target cannot be opened.
    pub async fn open(
        self,
        data: Option<&Path>,
        environment: &Environment,
    ) -> Result<ServedAdapter, DocumentError> {
        let file = self.file.into_owned();
        let settings = environment::settings(environment)?.with_fallback(self.settings);
        let checked = check::check(&Source::new(file.as_str(), self.text), &settings);
        let mut problems = checked.diagnostics;
        problems.retain(|problem| problem.severity == Severity::Error);
        let Some(catalog) = checked.catalog.filter(|_| problems.is_empty()) else {
            return Err(DocumentError::Invalid { file, problems });
        };
        let operations: Vec<String> =
            self.handlers.operations().filter(|name| !reaches(&catalog, name)).map(str::to_owned).collect();
        if !operations.is_empty() {
            return Err(DocumentError::NoSuchOperation { file, operations });
        }
        let catalog = Arc::new(catalog);
        let served = open::open(catalog, &file, data, environment).await?;
        let served = if self.handlers.is_empty() { served } else { served.with_handlers(self.handlers) };
        Ok(match self.trust {
            Some(level) => served.with_trust(level),
            None => served,
        })
    }

    /// Serves the client that started this program, over standard input and output, until it disconnects or the process is stopped
    /// (Ctrl-C, SIGTERM). Starts its own tokio runtime.
    ///
    /// Variables are read from the environment of the process. Stores and executions are in the data folder of the user, where
    /// `mcpaql serve` has them. With the feature `log`, and unless the program has set a `tracing` subscriber, the log goes to
    /// standard error; the variable `RUST_LOG` chooses its content.
    ///
    /// # Errors
    /// The problems of the document or its target, or a failure of the conversation.
    pub fn run(self) -> Result<(), RunError> {
        run::run(async move |environment, data| self.gateway(environment, data).await)
    }

    /// Does the same inside a runtime of the program, until `shutdown` is cancelled.
    ///
    /// # Errors
    /// The problems of the document or its target, or a failure of the conversation.
    pub async fn serve_stdio(self, shutdown: CancellationToken) -> Result<(), RunError> {
        run::serve_stdio(async move |environment, data| self.gateway(environment, data).await, shutdown).await
    }

    async fn gateway(self, environment: Environment, data: Option<PathBuf>) -> Result<Gateway, RunError> {
        let served = self.open(data.as_deref(), &environment).await.map_err(run::adapter_error)?;
        run::log_served(&served);
        Ok(Gateway::new(vec![served])?)
    }
}

/// Returns whether an operation goes to the target, so that a function can replace it.
fn reaches(catalog: &Catalog, operation: &str) -> bool {
    catalog.get(operation).is_some_and(|entry| {
        let own = entry.operation.name == operation;
        own && !matches!(entry.operation.binding, Binding::Introspect | Binding::Execution(_))
    })
}
