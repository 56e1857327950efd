//! A document that a program carries, served as `mcpaql serve` does; functions of the program may stand in for its operations.
//!
//! What always holds: names, hints, validation and introspection are the document's, whatever function answers; an operation without
//! a function makes the call that the document describes; a function may make that call, or any other of the document.
//!
//! ```
//! use mcpaql_runtime::document::{Answer, Code, Document, Handlers, OpError, Params};
//! use serde::{Deserialize, Serialize};
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

mod run;

pub use crate::caller::Caller;
pub use crate::dispatch::{HandlerCall, Handlers, Params, given};
pub use crate::environment::Environment;
pub use crate::target::Args;
pub use mcpaql_core::adapter::{ErrorPolicy, Mode};
pub use mcpaql_core::catalog::AdapterSettings;
pub use mcpaql_core::error::{Code, OpError};
pub use mcpaql_core::response::Answer;

use crate::dispatch::ServedAdapter;
use crate::environment::{self, EnvironmentError};
use crate::gateway::NameCollision;
use crate::open::{self, OpenError};
use crate::serve::ServeError;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::operation::Binding;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

/// Why a document cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// It is no adapter; every problem is there.
    #[error("{file}: {}", open::summarize_problems(.problems))]
    Invalid {
        /// The document's name.
        file: String,
        /// What is wrong, each with its place.
        problems: Vec<Diagnostic>,
    },
    /// There are functions for operations that it does not have.
    #[error("{file} has no operation {}, for which there is a handler", .operations.join(", "))]
    NoSuchOperation {
        /// The document's name.
        file: String,
        /// Those that are missing.
        operations: Vec<String>,
    },
    /// The environment says what makes no sense.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// Its target cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// Two of its tools have one name.
    #[error(transparent)]
    Collision(#[from] NameCollision),
    /// The conversation failed.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The system gave no thread, timer or signal.
    #[error("the server cannot be started: {0}")]
    Io(#[from] std::io::Error),
}

/// A document, and what the program has to say about it.
#[derive(Debug)]
pub struct Document {
    file: Cow<'static, str>,
    text: Cow<'static, str>,
    settings: AdapterSettings,
    handlers: Handlers,
}

impl Document {
    /// The document of that name, whose ending says what it is written in: `.md`, `.yaml` or `.json`.
    #[must_use]
    pub fn new(file: impl Into<Cow<'static, str>>, text: impl Into<Cow<'static, str>>) -> Document {
        Document {
            file: file.into(),
            text: text.into(),
            settings: AdapterSettings::default(),
            handlers: Handlers::default(),
        }
    }

    /// The same with that decided over what the document says: mode, profile, prefix, policy. The environment decides over both.
    #[must_use]
    pub fn with_settings(self, settings: AdapterSettings) -> Document {
        Document { settings, ..self }
    }

    /// The same with functions in place of some of its operations.
    #[must_use]
    pub fn with_handlers(self, handlers: Handlers) -> Document {
        Document { handlers, ..self }
    }

    /// Compiles it and opens its target: ready to serve, alone or in a [`Gateway`](crate::gateway::Gateway) beside others. `data` is
    /// the folder of stores and executions.
    ///
    /// # Errors
    /// Everything that is wrong with it, or what its target has against being opened.
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
        Ok(if self.handlers.is_empty() { served } else { served.with_handlers(self.handlers) })
    }
}

/// Whether an operation goes to the target, so that a function may take its place.
fn reaches(catalog: &Catalog, operation: &str) -> bool {
    catalog.get(operation).is_some_and(|entry| {
        let own = entry.operation.name == operation;
        own && !matches!(entry.operation.binding, Binding::Introspect | Binding::Execution(_))
    })
}
