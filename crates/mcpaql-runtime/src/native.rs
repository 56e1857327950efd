//! Adapters that are written in Rust: operations with typed parameters and async functions behind them.
//!
//! What always holds: an adapter in code is an adapter document whose target is this program. Everything a document may say can
//! be said here, and everything that follows from a document follows here: names, titles, hints, signatures, validation,
//! introspection. What is wrong with it is told by the same diagnostics.
//!
//! ```
//! use mcpaql_runtime::native::{Native, Settings, operation};
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
//! # tokio_test(async {
//! let thermometer = Native::new("thermometer")
//!     .describe("Temperatures in other units.")
//!     .operation(
//!         operation("get_fahrenheit")
//!             .describe("Converts degrees Celsius to Fahrenheit.")
//!             .returns::<Converted>()
//!             .handle(async |given: Convert| Ok(Converted { fahrenheit: given.celsius * 1.8 + 32.0 })),
//!     )
//!     .open(&Settings::default(), None)
//!     .await?;
//! assert_eq!(thermometer.catalog().tools[0].name, "thermometer_mcpaql_read");
//! # Ok::<(), mcpaql_runtime::native::NativeError>(())
//! # });
//! # fn tokio_test<F: Future>(future: F) { tokio::runtime::Runtime::new().unwrap().block_on(future); }
//! ```

pub use crate::caller::{Caller, Progress};
pub use mcpaql_core::adapter::Mode;
pub use mcpaql_core::catalog::AdapterSettings;
pub use mcpaql_core::error::{Code, OpError};
pub use mcpaql_core::facts::Effect;
pub use mcpaql_core::operation::Category;
pub use mcpaql_core::policy::HintOverrides;

use crate::dispatch::ServedAdapter;
use crate::open::{self, OpenError};
use crate::target::code::{Function, Functions};
use futures_util::FutureExt as _;
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::policy::Hint;
use mcpaql_core::response::Answer;
use mcpaql_document::compile;
use mcpaql_document::load;
use mcpaql_lexicon::classify::{self, Evidence};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Why an adapter in code cannot be served.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// What it says does not make an adapter; as for a document, every problem is there.
    #[error("adapter '{adapter}': {}", open::summarize_problems(.problems))]
    Invalid {
        /// Whose.
        adapter: String,
        /// What is wrong, with pointers into what [`Native::document`] shows.
        problems: Vec<Diagnostic>,
    },
    /// It cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

/// An adapter in the making.
#[derive(Debug)]
pub struct Native {
    document: Map<String, Value>,
    operations: Map<String, Value>,
    functions: Functions,
    types: SchemaGenerator,
    /// What cannot be said in the document.
    problems: Vec<Diagnostic>,
}

impl Native {
    /// An adapter of that name: lower case, with hyphens or underscores.
    #[must_use]
    pub fn new(name: &str) -> Native {
        let mut document = Map::new();
        document.insert("name".into(), name.into());
        document.insert("type".into(), "adapter".into());
        document.insert("version".into(), "1.0.0".into());
        document.insert("description".into(), format!("Operations of {name}.").into());
        document.insert("target".into(), json!({"transport": "native", "protocol": "code"}));
        let settings = SchemaSettings::draft2020_12().with(|settings| {
            settings.definitions_path = "/types".into();
            settings.meta_schema = None;
        });
        let types = settings.into_generator();
        Native {
            document,
            operations: Map::new(),
            functions: Functions::default(),
            types,
            problems: Vec::new(),
        }
    }

    /// Says what it is for.
    #[must_use]
    pub fn describe(self, text: &str) -> Native {
        self.with("description", text)
    }

    /// Its functions reach beyond this machine.
    #[must_use]
    pub fn remote(self) -> Native {
        self.with("target", json!({"transport": "native", "protocol": "code", "remote": true}))
    }

    /// Anything else that a document may say: `display_name`, `version`, `tool_names`, `mode`, `policy`, `annotations` and so on.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Native {
        self.document.insert(key.to_owned(), value.into());
        self
    }

    /// Adds an operation.
    #[must_use]
    pub fn operation(mut self, operation: NativeOperation) -> Native {
        let NativeOperation { mut operation, function } = operation;
        let mut is_struct = true;
        if let Some(params) = operation.params.take() {
            let params = params(&mut self.types).to_value();
            let fields = self.fields(&params);
            is_struct = fields.is_some();
            operation.members.insert("params".into(), fields.unwrap_or_else(|| json!({})));
        }
        if let Some(returns) = operation.returns.take() {
            operation.members.insert("returns".into(), plain(returns(&mut self.types)));
        }
        let category = operation.category();
        self.functions.insert(operation.name.clone(), function);
        let list = self.operations.entry(category.endpoint()).or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            if !is_struct {
                let pointer = format!("/operations/{}/{}/params", category.endpoint(), list.len());
                self.problems.push(no_struct(pointer, &operation.name));
            }
            operation.members.insert("name".into(), operation.name.into());
            list.push(Value::Object(operation.members));
        }
        self
    }

    /// The fields of a struct as parameters, each with whether it is required; `None` where the schema is another type's.
    fn fields(&self, schema: &Value) -> Option<Value> {
        let mut schema = schema;
        // A struct around another one is that one; the chain of them ends, as every type does.
        while let Some(name) =
            schema.get("$ref").and_then(Value::as_str).and_then(|at| at.strip_prefix("#/types/"))
        {
            schema = self.types.definitions().get(name)?;
        }
        let says = |key: &str| schema.get(key).is_some_and(|value| *value != false);
        let has_fields = schema.get("properties").is_some_and(|fields| fields != &json!({}));
        let is_map = !has_fields && says("additionalProperties");
        let is_choice = says("oneOf") || says("anyOf");
        let is_object = schema.get("type").and_then(Value::as_str) == Some("object");
        (is_object && !is_map && !is_choice).then(|| parameters(plain_value(schema.clone())))
    }

    /// The adapter as a document.
    #[must_use]
    pub fn document(&self) -> Value {
        let mut document = self.document.clone();
        let types: Map<String, Value> = self
            .types
            .definitions()
            .iter()
            .map(|(name, schema)| (name.clone(), plain_value(schema.clone())))
            .collect();
        if !types.is_empty() {
            document.insert("types".into(), Value::Object(types));
        }
        document.insert("operations".into(), Value::Object(self.operations.clone()));
        Value::Object(document)
    }

    /// Ready to serve, alone or in a [`Gateway`](crate::gateway::Gateway) beside others. `data` is the folder where executions are
    /// kept, for operations with a `lifecycle`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
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
                Ok(open::with_storage(served, data).await?)
            }
            None => Err(NativeError::Invalid { adapter: name.to_owned(), problems }),
        }
    }
}

type SchemaFn = Box<dyn FnOnce(&mut SchemaGenerator) -> Schema + Send>;

/// An operation in the making, which lacks its function.
pub struct OperationBuilder {
    name: String,
    category: Option<Category>,
    members: Map<String, Value>,
    params: Option<SchemaFn>,
    returns: Option<SchemaFn>,
}

impl fmt::Debug for OperationBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation")
            .field("name", &self.name)
            .field("members", &self.members)
            .finish_non_exhaustive()
    }
}

/// An operation with its function.
pub struct NativeOperation {
    operation: OperationBuilder,
    function: Function,
}

impl fmt::Debug for NativeOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.operation.fmt(f)
    }
}

/// An operation of that name, in snake case. What it does follows from its verb, on the safe side where that is not clear, until
/// [`category`](Operation::in_category) or [`effect`](Operation::effect) say it.
#[must_use]
pub fn operation(name: &str) -> OperationBuilder {
    OperationBuilder {
        name: name.to_owned(),
        category: None,
        members: Map::new(),
        params: None,
        returns: None,
    }
}

impl OperationBuilder {
    /// Says what it does, for the model.
    #[must_use]
    pub fn describe(self, text: &str) -> OperationBuilder {
        self.with("description", text)
    }

    /// What people see, in place of what its name makes.
    #[must_use]
    pub fn title(self, text: &str) -> OperationBuilder {
        self.with("title", text)
    }

    /// What it does to the world.
    #[must_use]
    pub fn in_category(mut self, category: Category) -> OperationBuilder {
        self.category = Some(category);
        self
    }

    /// What it does, more exactly; the category follows.
    #[must_use]
    pub fn effect(mut self, effect: Effect) -> OperationBuilder {
        self.category = Some(effect.category());
        self.with("effect", effect.as_str())
    }

    /// Whether a repeat has no further effect.
    #[must_use]
    pub fn idempotent(self, idempotent: bool) -> OperationBuilder {
        self.with("idempotent", idempotent)
    }

    /// Hints in place of those that follow from what it does.
    #[must_use]
    pub fn hints(self, hints: HintOverrides) -> OperationBuilder {
        let said = Hint::ALL
            .into_iter()
            .filter_map(|hint| Some((hint.key().to_owned(), Value::Bool(hints.get(hint)?))));
        self.with("annotations", said.collect::<Map<_, _>>())
    }

    /// What it answers with.
    #[must_use]
    pub fn returns<R: JsonSchema>(mut self) -> OperationBuilder {
        self.returns = Some(Box::new(|types| types.subschema_for::<R>()));
        self
    }

    /// Anything else that a document may say of an operation: `danger`, `tags`, `examples`, `aliases`, `deprecated`, `lifecycle`
    /// and so on.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> OperationBuilder {
        self.members.insert(key.to_owned(), value.into());
        self
    }

    /// The function that answers it. Its parameters are the fields of a struct, its answer is anything that can be JSON; what goes
    /// wrong is an [`OpError`], whose message the model reads.
    #[must_use]
    pub fn handle<P, R, F, Fut>(self, function: F) -> NativeOperation
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        R: Serialize,
        F: Fn(P) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, OpError>> + Send + 'static,
    {
        self.handle_with_caller(move |given, _| function(given))
    }

    /// The same; the function is also told who called, to report progress or to ask something back.
    #[must_use]
    pub fn handle_with_caller<P, R, F, Fut>(mut self, function: F) -> NativeOperation
    where
        P: DeserializeOwned + JsonSchema + Send + 'static,
        R: Serialize,
        F: Fn(P, Caller) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<R, OpError>> + Send + 'static,
    {
        self.params = Some(Box::new(|types| P::json_schema(types)));
        let function: Function = Arc::new(move |args, caller| {
            let given = serde_json::from_value::<P>(Value::Object(args));
            // The schema has been met, so that only what a schema cannot say is found here.
            let begun = given.map(|given| function(given, caller));
            async move {
                let begun = begun.map_err(|error| {
                    OpError::new(Code::InvalidValue, format!("The parameters cannot be used: {error}."))
                })?;
                let answer = begun.await?;
                serde_json::to_value(answer).map(Answer::new).map_err(|error| {
                    OpError::new(Code::Internal, "The answer could not be written; tell the user.")
                        .with_cause(error)
                })
            }
            .boxed()
        });
        NativeOperation { operation: self, function }
    }

    /// What was said, else what the name says; a read that something speaks against is an execution.
    fn category(&self) -> Category {
        let description = self.members.get("description").and_then(Value::as_str).unwrap_or_default();
        let evidence =
            Evidence { name: &self.name, description, named_by_author: true, ..Evidence::default() };
        self.category.unwrap_or_else(|| classify::classify(&evidence).served_category())
    }
}

/// No parameters.
#[derive(Debug, Clone, Copy, Default, serde::Deserialize, JsonSchema)]
pub struct NoParams {}

fn no_struct(pointer: String, operation: &str) -> Diagnostic {
    let message = format!(
        "The parameters of '{operation}' are no struct, and no caller could give them: take a struct with a field for each \
         parameter, or `Nothing` where there are none"
    );
    Diagnostic::error(Code::SchemaInvalidType, pointer, message)
}

/// A struct's schema as parameters: each with whether it is required.
fn parameters(mut schema: Value) -> Value {
    let required: Vec<String> = match schema.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let properties = schema.as_object_mut().and_then(|schema| schema.shift_remove("properties"));
    let mut params = match properties {
        Some(Value::Object(properties)) => properties,
        _ => Map::new(),
    };
    for name in required {
        if let Some(Value::Object(param)) = params.get_mut(&name) {
            param.insert("required".into(), true.into());
        }
    }
    Value::Object(params)
}

fn plain(schema: Schema) -> Value {
    plain_value(schema.to_value())
}

/// Without what only Rust cares about: the widths of its numbers.
fn plain_value(mut schema: Value) -> Value {
    const RUST: &[&str] = &[
        "int8", "int16", "int32", "int64", "int128", "int", "uint8", "uint16", "uint32", "uint64", "uint128",
        "uint", "float", "double",
    ];
    match &mut schema {
        Value::Object(map) => {
            if map.get("format").and_then(Value::as_str).is_some_and(|format| RUST.contains(&format)) {
                map.shift_remove("format");
            }
            map.values_mut().for_each(|value| *value = plain_value(value.take()));
        }
        Value::Array(items) => items.iter_mut().for_each(|value| *value = plain_value(value.take())),
        _ => {}
    }
    schema
}
