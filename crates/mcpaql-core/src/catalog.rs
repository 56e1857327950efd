//! The catalog: an adapter compiled once into everything that calls need.
//!
//! ```
//! # use mcpaql_core::adapter::{Adapter, CodeTarget, TargetConfig};
//! # use mcpaql_core::facts::{Facts, Reach};
//! # use mcpaql_core::operation::{Binding, Category, Operation};
//! # let mut adapter = Adapter::new("todo", TargetConfig::Code(CodeTarget::default()));
//! # let facts = Facts::read(Reach::Process);
//! # adapter.operations.push(Operation::new("list_tasks", Category::Read, facts, Binding::Code));
//! # let catalog = mcpaql_core::compile::compile(adapter, &Default::default()).catalog.unwrap();
//! assert!(catalog.get("list_tasks").is_some());
//! assert_eq!(catalog.tool_names().next(), Some("todo_mcpaql_read"));
//! ```
//!
//! What always holds:
//!
//! - A catalog is immutable, and a lookup takes constant time.
//! - Tools, introspection, validation and errors are views of the same catalog, so introspection describes exactly what
//!   validation checks.
//! - Every example in it validates against its operation.
//!
//! For an adapter with a library, only the heads of operations are compiled. Each operation is compiled when it is
//! first used, and kept.

mod deferred;
mod discovery;
mod examples;
mod settings;
mod tool;

pub(crate) use deferred::DeferredOperation;
pub(crate) use discovery::Discovery;
pub use discovery::Producers;
pub(crate) use examples::{call_signature, fix_examples};
pub use settings::{AdapterSettings, CRUDE_PROFILE, Sharing};
pub use tool::Tool;

use crate::adapter::{Adapter, ErrorPolicy, Mode, ResultForm};
use crate::error::{Code, OpError};
use crate::flagged::{self, FlaggedOperation};
use crate::library::{Library, LibraryOperation, Outline};
use crate::naming::ToolNamer;
use crate::operation::{Example, INTROSPECT, Operation};
use crate::policy::{HintSet, Hints};
use crate::schema::SchemaSet;
use crate::validate::{CompiledParams, SizeLimits};
use indexmap::IndexMap;
use mcpaql_shape::HiddenFields;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

/// The longest time of a call, unless the operator sets another one.
pub const DEFAULT_MAX_DURATION_MS: u64 = 3_600_000;

/// A compiled adapter, ready to serve.
#[derive(Debug)]
pub struct Catalog {
    /// The document. Its operations are in `operations`.
    pub adapter: Adapter,
    /// How operations are distributed over tools.
    pub mode: Mode,
    /// Whether and how its tools are shared with the other adapters.
    pub sharing: Option<Sharing>,
    /// `crude` or the name of a custom profile.
    pub profile: String,
    /// Which failures set `isError`.
    pub errors: ErrorPolicy,
    /// What the tools return.
    pub results: ResultForm,
    /// Whether tools also have their title in `annotations`.
    pub title_in_annotations: bool,
    /// Fields that no answer has: those of the document and those of the operator.
    pub hide: HiddenFields,
    /// Maximum tokens of an answer.
    pub answer_budget: usize,
    /// Size limits of calls.
    pub limits: SizeLimits,
    /// The longest time of a call, including its wait for a turn. Progress does not extend it.
    pub max_duration_ms: u64,
    /// All operations; `introspect` is the last one.
    pub operations: Vec<CatalogEntry>,
    /// Endpoint families in order. Empty ones are left out.
    pub endpoints: IndexMap<String, Endpoint>,
    /// Declared and hoisted types, without those of the library.
    pub types: IndexMap<String, Value>,
    /// The surface: the tools that `tools/list` shows, in order.
    pub tools: Vec<Tool>,
    /// Operations with poisoned texts, those that are withheld included. Operations of a library are added by
    /// [`flagged_operations`](Catalog::flagged_operations) after they are read.
    pub flagged: Vec<FlaggedOperation>,
    pub(crate) allow_flagged: Vec<String>,
    /// Operations of an MCP server that are new or have changed since the operator approved its tools. They are not served.
    pub unapproved: Vec<String>,
    /// Tools of withheld operations → the name of the operation.
    pub(crate) withheld_tools: HashMap<String, String>,
    pub(crate) schemas: SchemaSet,
    pub(crate) names: ToolNamer,
    pub(crate) library: Option<Arc<dyn Library>>,
    pub(crate) discovery: Discovery,
    pub(crate) by_name: HashMap<String, usize>,
    pub(crate) routes: HashMap<String, ToolRoute>,
}

/// A compiled operation.
#[derive(Debug)]
pub struct CatalogEntry {
    /// The operation; only its head if the adapter has a library.
    pub operation: Operation,
    /// The hints, after policy and overrides.
    pub hints: Hints,
    /// The hints that tools state explicitly: those of the policy, and those that the document sets.
    pub written_hints: HintSet,
    /// The name of its tool.
    pub tool: String,
    pub(crate) body: EntryBody,
}

/// The compiled parts of an operation, in addition to its head.
#[derive(Debug)]
pub(crate) enum EntryBody {
    Compiled { signature: String, params: Box<CompiledParams> },
    Deferred(DeferredOperation),
}

/// An operation with everything that a call needs.
#[derive(Debug, Clone, Copy)]
pub struct FullOperation<'c> {
    /// The operation with parameters, return type and examples.
    pub operation: &'c Operation,
    /// `name(a: string, b?: Size)`, with `type Size = …` on separate lines.
    pub signature: &'c str,
    /// The types that its schemas refer to, and possibly others.
    pub types: &'c IndexMap<String, Value>,
    /// The compiled parameters.
    pub params: &'c CompiledParams,
    /// The compiled schemas of its parameters.
    pub schemas: &'c SchemaSet,
}

/// One endpoint family.
#[derive(Debug)]
pub struct Endpoint {
    /// Title for people, such as `Read`.
    pub title: String,
    /// The purpose of a custom family; empty in the CRUDE profile.
    pub purpose: String,
    /// Indexes into `operations`.
    pub operations: Vec<usize>,
    /// The hints of its riskiest operation.
    pub hints: Hints,
    /// The hints that its tool states explicitly: each hint that at least one of its operations states.
    pub written_hints: HintSet,
}

/// The operations that a tool name leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRoute {
    /// The operations of the tool.
    pub scope: ToolScope,
    /// The current name, if this one is an alias.
    pub renamed_to: Option<String>,
}

/// The operations of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolScope {
    /// One endpoint family.
    Endpoint(String),
    /// All operations.
    Adapter,
    /// One operation, by index.
    Operation(usize),
}

impl Catalog {
    /// Returns the operation with this name or alias.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&CatalogEntry> {
        self.by_name.get(name).and_then(|index| self.operations.get(*index))
    }

    /// Returns the full operation; `None` if the library cannot read it.
    #[must_use]
    pub fn full_operation<'c>(&'c self, entry: &'c CatalogEntry) -> Option<FullOperation<'c>> {
        match &entry.body {
            EntryBody::Compiled { signature, params } => Some(FullOperation {
                operation: &entry.operation,
                signature,
                types: &self.types,
                params,
                schemas: &self.schemas,
            }),
            EntryBody::Deferred(deferred) => {
                let library = self.library.as_deref()?;
                deferred.full_operation(&entry.operation, library, &self.limits, &self.allow_flagged)
            }
        }
    }

    /// Reads an operation from the library, unchanged; `None` if it does not come from one.
    pub(crate) fn read_from_library(&self, entry: &CatalogEntry) -> Option<LibraryOperation> {
        match &entry.body {
            EntryBody::Deferred(deferred) => {
                let mut full = self.library.as_ref()?.operation(deferred.index)?;
                let LibraryOperation { operation, types } = &mut full;
                let flagged = flagged::inspect_operation(operation, types, &self.allow_flagged);
                flagged.is_none_or(|flagged| !flagged.is_withheld).then_some(full)
            }
            EntryBody::Compiled { .. } => None,
        }
    }

    /// Returns all operations with poisoned texts that are known so far.
    #[must_use]
    pub fn flagged_operations(&self) -> Vec<&FlaggedOperation> {
        let read = self.operations.iter().filter_map(|entry| match &entry.body {
            EntryBody::Deferred(deferred) => deferred.flagged(),
            EntryBody::Compiled { .. } => None,
        });
        let read: Vec<&FlaggedOperation> = read.collect();
        let heads = self.flagged.iter().filter(|head| read.iter().all(|full| full.name != head.name));
        heads.chain(read.iter().copied()).collect()
    }

    /// Returns the error of calling an operation that is withheld; `None` if it is not.
    #[must_use]
    pub fn withheld_error(&self, operation: &str) -> Option<OpError> {
        if self.unapproved.iter().any(|name| name == operation) {
            return Some(self.unapproved_error(operation));
        }
        let mut flagged = self.flagged_operations().into_iter();
        flagged
            .find(|flagged| flagged.is_withheld && flagged.name == operation)
            .map(FlaggedOperation::refusal)
    }

    /// Withholds operations that the operator has not approved. `all` is the catalog with them; a call of a tool that only it has is
    /// answered with the reason.
    pub fn withhold_unapproved(&mut self, all: &Catalog, names: Vec<String>) {
        for tool in all.tools.iter().filter(|tool| !self.routes.contains_key(&tool.name)) {
            let is_behind = |name: &&String| all.get(name).is_some_and(|entry| entry.tool == tool.name);
            if let Some(first) = names.iter().find(is_behind) {
                self.withheld_tools.insert(tool.name.clone(), first.clone());
            }
        }
        self.unapproved = names;
    }

    fn unapproved_error(&self, operation: &str) -> OpError {
        let adapter = &self.adapter.name;
        let message = format!(
            "The operation '{operation}' is new or has changed since the operator approved this server. Tell the user: the operator can review it with `mcpaql trust --show {adapter}` and approve it with `mcpaql trust {adapter}`."
        );
        OpError::new(Code::PermissionTrust, message)
            .with_detail("operation", operation)
            .with_detail("adapter", adapter.as_str())
    }

    /// Returns whether the operator allows a prompt or resource with this name in spite of its texts.
    #[must_use]
    pub fn is_flagged_text_allowed(&self, name: &str) -> bool {
        self.allow_flagged.iter().any(|allowed| allowed == name)
    }

    /// Returns the error of calling a tool whose operation is withheld; `None` if it is not.
    #[must_use]
    pub fn withheld_tool_error(&self, tool: &str) -> Option<OpError> {
        self.withheld_error(self.withheld_tools.get(tool)?)
    }

    /// Compiles `full` and returns the examples of the operation. The result is not stored.
    #[must_use]
    pub fn examples(&self, entry: &CatalogEntry, full: LibraryOperation) -> Vec<Example> {
        deferred::examples(full, &entry.operation, &self.limits)
    }

    /// Returns whether an operation comes from the library.
    pub(crate) fn is_deferred(&self, entry: &CatalogEntry) -> bool {
        matches!(entry.body, EntryBody::Deferred(_))
    }

    /// Returns the names of an operation's parameters and answer fields.
    #[must_use]
    pub fn outline(&self, entry: &CatalogEntry) -> Outline {
        match (&entry.body, &self.library) {
            (EntryBody::Deferred(deferred), Some(library)) => library.outline(deferred.index),
            _ => Outline::of(&entry.operation, &self.types),
        }
    }

    /// Returns the names of all types, in order.
    pub fn type_names(&self) -> impl Iterator<Item = String> {
        let deferred = self.library.iter().flat_map(|library| library.type_names());
        self.types.keys().cloned().chain(deferred)
    }

    /// Returns a type by name: declared, hoisted, from the library, or from an operation of the library that is already
    /// compiled.
    #[must_use]
    pub fn type_named(&self, name: &str) -> Option<Value> {
        let read = || {
            self.operations.iter().find_map(|entry| match &entry.body {
                EntryBody::Deferred(deferred) => deferred.type_named(name),
                EntryBody::Compiled { .. } => None,
            })
        };
        let library = || {
            let schema = self.library.as_ref()?.type_named(name)?;
            Some(flagged::inspect_type(name, schema))
        };
        self.types.get(name).cloned().or_else(library).or_else(|| read().cloned())
    }

    /// Returns the route of a tool name.
    #[must_use]
    pub fn route(&self, tool: &str) -> Option<&ToolRoute> {
        self.routes.get(tool)
    }

    /// Returns all tool names that a client may call, including aliases.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.routes.keys().map(String::as_str)
    }

    /// Returns the indexes of the operations in a scope.
    pub(crate) fn operations_in_scope(&self, scope: &ToolScope) -> Vec<usize> {
        match scope {
            ToolScope::Endpoint(endpoint) => {
                self.endpoints.get(endpoint).map_or_else(Vec::new, |endpoint| endpoint.operations.clone())
            }
            ToolScope::Adapter => (0..self.operations.len()).collect(),
            ToolScope::Operation(index) => vec![*index],
        }
    }

    /// Returns the fields that the answers of an operation never have.
    #[must_use]
    pub fn hidden_fields<'c>(&'c self, operation: &'c Operation) -> Cow<'c, HiddenFields> {
        self.hide.join(&operation.hide)
    }

    /// Returns whether any operation runs in the background.
    #[must_use]
    pub fn has_executions(&self) -> bool {
        self.operations.iter().any(|entry| entry.operation.lifecycle.is_some())
    }

    /// Returns the tool that has `introspect`, if any.
    #[must_use]
    pub fn introspect_tool(&self) -> Option<&str> {
        self.get(INTROSPECT).map(|entry| entry.tool.as_str()).filter(|tool| !tool.is_empty())
    }
}
