//! Adapters that are written in Rust: async functions as operations, with typed parameters and shared state.
//!
//! ```
//! use mcpaql_runtime::prelude::*;
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Convert {
//!     /// Degrees Celsius.
//!     celsius: f64,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Converted {
//!     fahrenheit: f64,
//! }
//!
//! async fn get_fahrenheit(given: Convert) -> Result<Converted, OpError> {
//!     Ok(Converted { fahrenheit: given.celsius * 1.8 + 32.0 })
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), mcpaql_runtime::native::NativeError> {
//! let thermometer = Native::new("thermometer")
//!     .describe("Converts temperatures.")
//!     .operation(operation("get_fahrenheit").describe("Converts degrees Celsius to Fahrenheit.").handle(get_fahrenheit))
//!     .open(&AdapterSettings::default(), None)
//!     .await?;
//! assert_eq!(thermometer.catalog().tools[0].name, "thermometer_mcpaql_read");
//! # Ok(())
//! # }
//! ```
//!
//! What always holds: an adapter in code is an adapter document whose target is this program. Everything that a document can set can
//! be set here, and everything that is derived from a document is derived here: names, titles, hints, signatures, validation,
//! introspection. Problems are reported with the same diagnostics.

mod handler;
mod schema;
mod service;

pub use crate::caller::{Caller, Progress};
pub use handler::{HandlerArgument, NativeHandler, State};
pub use mcpaql_core::adapter::Mode;
pub use mcpaql_core::catalog::AdapterSettings;
pub use mcpaql_core::error::{Code, OpError};
pub use mcpaql_core::facts::Effect;
pub use mcpaql_core::operation::Category;
pub use mcpaql_core::policy::HintOverrides;

use crate::dispatch::ServedAdapter;
use crate::environment::{self, Environment};
use crate::open::{self, OpenError};
use crate::run::{self, RunError};
use crate::target::code::Functions;
use handler::BindFn;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::gate::trust::TrustLevel;
use mcpaql_core::policy::Hint;
use mcpaql_document::compile;
use mcpaql_document::load;
use mcpaql_lexicon::classify::{self, Evidence};
use schemars::generate::SchemaGenerator;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};
use service::NativeService;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Why an adapter in code cannot be served.
#[non_exhaustive]
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// It is not a valid adapter.
    #[error("adapter '{adapter}': {}", open::summarize_problems(.problems))]
    Invalid {
        /// The name of the adapter.
        adapter: String,
        /// All problems, with pointers into the output of [`Native::document`].
        problems: Vec<Diagnostic>,
    },
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// A builder for an adapter whose handlers share a state of the type `S`.
#[derive(Debug)]
pub struct Native<S = ()> {
    document: Map<String, Value>,
    operations: Map<String, Value>,
    functions: Functions,
    types: SchemaGenerator,
    /// Problems that the document cannot show.
    problems: Vec<Diagnostic>,
    trust: Option<TrustLevel>,
    state: Arc<S>,
}

impl Native {
    /// An adapter with this name: lower case, with hyphens or underscores.
    #[must_use]
    pub fn new(name: &str) -> Native {
        let mut document = Map::new();
        document.insert("name".into(), name.into());
        document.insert("type".into(), "adapter".into());
        document.insert("version".into(), "1.0.0".into());
        document.insert("description".into(), format!("Operations of {name}.").into());
        document.insert("target".into(), json!({"transport": "native", "protocol": "code"}));
        Native {
            document,
            operations: Map::new(),
            functions: Functions::default(),
            types: schema::generator(),
            problems: Vec::new(),
            trust: None,
            state: Arc::new(()),
        }
    }
}

impl<S: Send + Sync + 'static> Native<S> {
    /// Sets the state that handlers take as [`State<T>`](State). It applies to the operations that are added afterwards.
    #[must_use]
    pub fn with_state<T: Send + Sync + 'static>(self, state: T) -> Native<T> {
        let Native { document, operations, functions, types, problems, trust, .. } = self;
        Native { document, operations, functions, types, problems, trust, state: Arc::new(state) }
    }

    /// Sets the description of the adapter.
    #[must_use]
    pub fn describe(self, text: &str) -> Native<S> {
        self.with("description", text)
    }

    /// Declares that its functions reach beyond this machine.
    #[must_use]
    pub fn remote(self) -> Native<S> {
        self.with("target", json!({"transport": "native", "protocol": "code", "remote": true}))
    }

    /// Sets how far the program trusts the adapter, instead of [`TrustLevel::Validated`]. At that level, destructive operations need a
    /// confirmation, and dangerous ones do not run.
    #[must_use]
    pub fn trust(self, level: TrustLevel) -> Native<S> {
        Native { trust: Some(level), ..self }
    }

    /// Sets any other key of a document: `display_name`, `version`, `tool_names`, `mode`, `policy`, `annotations` and so on.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Native<S> {
        self.document.insert(key.to_owned(), value.into());
        self
    }

    /// Adds an operation.
    #[must_use]
    pub fn operation(mut self, operation: NativeOperation<S>) -> Native<S> {
        let NativeOperation { mut operation, params, returns, bind } = operation;
        let category = operation.category();
        let list = self.operations.entry(category.endpoint()).or_insert_with(|| json!([]));
        let index = list.as_array().map_or(0, Vec::len);
        let pointer = format!("/operations/{}/{index}/params", category.endpoint());
        let mut structs = params(&mut self.types).into_iter();
        if let Some(params) = structs.next() {
            let fields = schema::fields(&self.types, params);
            if fields.is_none() {
                self.problems.push(not_a_struct(pointer.clone(), &operation.name));
            }
            operation.members.insert("params".into(), fields.unwrap_or_else(|| json!({})));
        }
        if structs.next().is_some() {
            self.problems.push(several_structs(pointer, &operation.name));
        }
        let returns = operation.returns.take().unwrap_or(returns);
        if let Some(returns) = schema::result_schema(returns(&mut self.types)) {
            operation.members.insert("returns".into(), returns);
        }
        self.functions.insert(operation.name.clone(), bind(Arc::clone(&self.state)));
        operation.members.insert("name".into(), operation.name.into());
        if let Some(list) = self.operations.get_mut(category.endpoint()).and_then(Value::as_array_mut) {
            list.push(Value::Object(operation.members));
        }
        self
    }

    /// Returns the adapter as a document.
    #[must_use]
    pub fn document(&self) -> Value {
        let mut document = self.document.clone();
        let types = schema::shared_types(&self.types);
        if !types.is_empty() {
            document.insert("types".into(), Value::Object(types));
        }
        document.insert("operations".into(), Value::Object(self.operations.clone()));
        Value::Object(document)
    }

    /// Compiles the adapter. The result is served alone or in a [`Gateway`](crate::gateway::Gateway) with others. `data` is the
    /// folder for executions, which operations with a `lifecycle` need.
    ///
    /// # Errors
    /// All problems of the adapter.
    pub async fn open(
        self,
        settings: &AdapterSettings,
        data: Option<&Path>,
    ) -> Result<ServedAdapter, NativeError> {
        let loaded = load::load(&self.document());
        let mut problems = self.problems;
        problems.extend(loaded.diagnostics);
        let compiled = loaded.adapter.map(|adapter| compile::compile(adapter, &loaded.origins, settings));
        let catalog = compiled.and_then(|compiled| {
            problems.extend(compiled.diagnostics);
            compiled.catalog
        });
        let name = self.document.get("name").and_then(Value::as_str).unwrap_or_default();
        problems.retain(|problem| problem.severity == Severity::Error);
        match catalog.filter(|_| problems.is_empty()) {
            Some(catalog) => {
                let served = ServedAdapter::new(catalog, Arc::new(self.functions), format!("code:{name}"));
                let served = open::with_storage(served, data).await?;
                Ok(match self.trust {
                    Some(level) => served.with_trust(level),
                    None => served,
                })
            }
            None => Err(NativeError::Invalid { adapter: name.to_owned(), problems }),
        }
    }

    /// Serves the client that started this program, over standard input and output, until it disconnects or the process is stopped
    /// (Ctrl-C, SIGTERM). Starts its own tokio runtime.
    ///
    /// The [environment] can change mode, prefix and profile. Executions are stored in the data folder of the
    /// user. With the feature `log`, and unless the program has set a `tracing` subscriber, the log goes to standard error; the
    /// variable `RUST_LOG` chooses its content.
    ///
    /// # Errors
    /// The problems of the adapter, or a failure of the conversation.
    pub fn run(self) -> Result<(), RunError> {
        run::run(async move |environment, data| self.service(environment, data).await)
    }

    /// Does the same inside a runtime of the program, until `shutdown` is cancelled.
    ///
    /// # Errors
    /// The problems of the adapter, or a failure of the conversation.
    pub async fn serve_stdio(self, shutdown: CancellationToken) -> Result<(), RunError> {
        run::serve_stdio(async move |environment, data| self.service(environment, data).await, shutdown).await
    }

    async fn service(
        self,
        environment: Environment,
        data: Option<PathBuf>,
    ) -> Result<NativeService, RunError> {
        let settings = environment::settings(&environment).map_err(run::adapter_error)?;
        let served = self.open(&settings, data.as_deref()).await.map_err(run::adapter_error)?;
        run::log_served(&served);
        Ok(NativeService::new(served))
    }
}

type SchemaFn = fn(&mut SchemaGenerator) -> Schema;

/// A builder for an operation, which [`handle`](OperationBuilder::handle) completes.
pub struct OperationBuilder {
    name: String,
    category: Option<Category>,
    members: Map<String, Value>,
    returns: Option<SchemaFn>,
}

impl fmt::Debug for OperationBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OperationBuilder")
            .field("name", &self.name)
            .field("members", &self.members)
            .finish_non_exhaustive()
    }
}

/// An operation with its handler, for an adapter with the state `S`.
pub struct NativeOperation<S> {
    operation: OperationBuilder,
    params: fn(&mut SchemaGenerator) -> Vec<Schema>,
    returns: SchemaFn,
    bind: BindFn<S>,
}

impl<S> fmt::Debug for NativeOperation<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operation.fmt(f)
    }
}

/// Starts an operation with this name, in snake case. Its category follows from the verb of the name, or is `Execute` if the verb is
/// unclear. [`in_category`](OperationBuilder::in_category) and [`effect`](OperationBuilder::effect) set it.
#[must_use]
pub fn operation(name: &str) -> OperationBuilder {
    OperationBuilder { name: name.to_owned(), category: None, members: Map::new(), returns: None }
}

impl OperationBuilder {
    /// Sets the description that the model reads.
    #[must_use]
    pub fn describe(self, text: &str) -> OperationBuilder {
        self.with("description", text)
    }

    /// Sets the title that people see. The default is derived from the name.
    #[must_use]
    pub fn title(self, text: &str) -> OperationBuilder {
        self.with("title", text)
    }

    /// Sets the category.
    #[must_use]
    pub fn in_category(mut self, category: Category) -> OperationBuilder {
        self.category = Some(category);
        self
    }

    /// Sets the effect, and the category that follows from it.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> OperationBuilder {
        self.category = Some(effect.category());
        self.with("effect", effect.as_str())
    }

    /// Sets whether repeating a call has no further effect.
    #[must_use]
    pub fn idempotent(self, idempotent: bool) -> OperationBuilder {
        self.with("idempotent", idempotent)
    }

    /// Sets hints that replace the derived ones.
    #[must_use]
    pub fn hints(self, hints: HintOverrides) -> OperationBuilder {
        let set = Hint::ALL
            .into_iter()
            .filter_map(|hint| Some((hint.key().to_owned(), Value::Bool(hints.get(hint)?))));
        self.with("annotations", set.collect::<Map<_, _>>())
    }

    /// Sets the schema of the result to that of `R`. The default is the schema of the type that the handler returns.
    #[must_use]
    pub fn returns<R: JsonSchema>(mut self) -> OperationBuilder {
        self.returns = Some(|types| types.subschema_for::<R>());
        self
    }

    /// Sets any other key of an operation: `danger`, `tags`, `examples`, `aliases`, `deprecated`, `lifecycle` and so on.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> OperationBuilder {
        self.members.insert(key.to_owned(), value.into());
        self
    }

    /// Sets the function that answers the operation.
    ///
    /// It is an async function or closure with up to three arguments, in any order: [`State<S>`](State), [`Caller`], and one struct
    /// that derives `Deserialize` and `JsonSchema`, whose fields are the parameters. It returns a `Result`: a value that derives
    /// `Serialize` and `JsonSchema` (or a [`serde_json::Value`]), or an [`OpError`], whose message the model reads.
    ///
    /// The function is only called with parameters that match their schema. Dropping its future cancels it.
    ///
    /// ```
    /// use mcpaql_runtime::prelude::*;
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Wait {
    ///     seconds: u32,
    /// }
    ///
    /// async fn wait(caller: Caller, given: Wait) -> Result<(), OpError> {
    ///     for second in 0..given.seconds {
    ///         tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    ///         let (done, total) = (f64::from(second + 1), f64::from(given.seconds));
    ///         caller.report_progress(Progress::new(done).of(total));
    ///     }
    ///     Ok(())
    /// }
    ///
    /// let clock = Native::new("clock")
    ///     .operation(operation("wait").in_category(Category::Read).handle(wait))
    ///     .operation(operation("get_epoch").handle(async || Ok(0)));
    /// # let _ = clock;
    /// ```
    #[must_use]
    pub fn handle<S, A, H>(self, handler: H) -> NativeOperation<S>
    where
        S: Send + Sync + 'static,
        A: 'static,
        H: NativeHandler<S, A>,
    {
        NativeOperation {
            operation: self,
            params: H::params,
            returns: H::returns,
            bind: handler::bind(handler),
        }
    }

    /// Returns the category that was set, or the one that follows from the name.
    fn category(&self) -> Category {
        let description = self.members.get("description").and_then(Value::as_str).unwrap_or_default();
        let evidence =
            Evidence { name: &self.name, description, named_by_author: true, ..Evidence::default() };
        self.category.unwrap_or_else(|| classify::classify(&evidence).served_category())
    }
}

/// An empty set of parameters. A handler without a parameter struct takes none either.
#[derive(Debug, Clone, Copy, Default, serde::Deserialize, JsonSchema)]
pub struct NoParams {}

fn not_a_struct(pointer: String, operation: &str) -> Diagnostic {
    let message = format!(
        "The parameters of '{operation}' are not a struct: take a struct with a field for each parameter, or no parameters"
    );
    Diagnostic::error(Code::SchemaInvalidType, pointer, message)
}

fn several_structs(pointer: String, operation: &str) -> Diagnostic {
    let message =
        format!("The handler of '{operation}' takes several parameter structs: combine them into one");
    Diagnostic::error(Code::SchemaInvalidType, pointer, message)
}
