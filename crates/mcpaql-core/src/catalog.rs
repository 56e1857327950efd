//! The catalog: an adapter compiled once into everything a call needs. Immutable; lookups are O(1) in the number of operations.
//!
//! Tools, introspection, validation and errors are views of this one value, so what introspection says is what validation does.
//! Every example in it validates against its operation.
//!
//! An adapter with a library is compiled by its heads; each operation follows when somebody asks for it, and stays.

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

use crate::adapter::{Adapter, ErrorPolicy, Mode};
use crate::library::{Library, LibraryOperation, Outline};
use crate::naming::ToolNamer;
use crate::operation::{Example, INTROSPECT, Operation};
use crate::policy::{HintSet, Hints};
use crate::schema::SchemaSet;
use crate::validate::{CompiledParams, SizeLimits};
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;

/// An adapter, ready to serve.
#[derive(Debug)]
pub struct Catalog {
    /// The document; its operations live in `operations`.
    pub adapter: Adapter,
    /// How operations are spread over tools.
    pub mode: Mode,
    /// Whether its tools are those that all adapters share.
    pub sharing: Option<Sharing>,
    /// `crude` or the name of a custom profile.
    pub profile: String,
    /// Which failures carry `isError`.
    pub errors: ErrorPolicy,
    /// Whether the titles of tools stand in their annotations, too.
    pub title_in_annotations: bool,
    /// What calls may not exceed.
    pub limits: SizeLimits,
    /// Every operation, `introspect` last.
    pub operations: Vec<CatalogEntry>,
    /// Endpoint families in order, with what they hold; empty ones are not there.
    pub endpoints: IndexMap<String, Endpoint>,
    /// Declared and hoisted types; those of a library are not among them.
    pub types: IndexMap<String, Value>,
    /// The surface: what `tools/list` shows, in order.
    pub tools: Vec<Tool>,
    pub(crate) schemas: SchemaSet,
    pub(crate) names: ToolNamer,
    pub(crate) library: Option<Arc<dyn Library>>,
    pub(crate) discovery: Discovery,
    pub(crate) by_name: HashMap<String, usize>,
    pub(crate) routes: HashMap<String, ToolRoute>,
}

/// One operation, compiled.
#[derive(Debug)]
pub struct CatalogEntry {
    /// What the document means; only its head where the adapter has a library.
    pub operation: Operation,
    /// After policy and overrides.
    pub hints: Hints,
    /// Which of them tools write out for it: those that the policy does, and those that the document decides itself.
    pub written_hints: HintSet,
    /// The tool that reaches it.
    pub tool: String,
    pub(crate) body: EntryBody,
}

/// What a call needs beyond the head.
#[derive(Debug)]
pub(crate) enum EntryBody {
    Compiled { signature: String, params: Box<CompiledParams> },
    Deferred(DeferredOperation),
}

/// An operation with all that belongs to it.
#[derive(Debug, Clone, Copy)]
pub struct FullOperation<'c> {
    /// With parameters, answer and examples.
    pub operation: &'c Operation,
    /// `name(a: string, b?: Size)`, with `type Size = …` on lines of its own.
    pub signature: &'c str,
    /// The types that its schemas refer to, perhaps among others.
    pub types: &'c IndexMap<String, Value>,
    /// How its parameters are checked.
    pub params: &'c CompiledParams,
    /// The compiled schemas of its parameters.
    pub schemas: &'c SchemaSet,
}

/// One endpoint family.
#[derive(Debug)]
pub struct Endpoint {
    /// For people: `Read`.
    pub title: String,
    /// The custom family's purpose; empty in the CRUDE profile.
    pub purpose: String,
    /// Indexes into `operations`.
    pub operations: Vec<usize>,
    /// The hints of its riskiest operation.
    pub hints: Hints,
    /// Which of them its tool writes out: those that any of its operations does.
    pub written_hints: HintSet,
}

/// Where a tool name leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRoute {
    /// What the tool covers.
    pub scope: ToolScope,
    /// The present name, where this one is an alias.
    pub renamed_to: Option<String>,
}

/// What a tool covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolScope {
    /// One endpoint family.
    Endpoint(String),
    /// Everything.
    Adapter,
    /// One operation, by index.
    Operation(usize),
}

impl Catalog {
    /// The operation of that name or alias.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&CatalogEntry> {
        self.by_name.get(name).and_then(|index| self.operations.get(*index))
    }

    /// The whole of an operation of this catalog; `None` where the library cannot read it.
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
                deferred.full_operation(&entry.operation, self.library.as_deref()?, &self.limits)
            }
        }
    }

    /// Reads an operation from the library as it stands there; `None` where it does not come from one.
    pub(crate) fn read_from_library(&self, entry: &CatalogEntry) -> Option<LibraryOperation> {
        match &entry.body {
            EntryBody::Deferred(deferred) => self.library.as_ref()?.operation(deferred.index),
            EntryBody::Compiled { .. } => None,
        }
    }

    /// The examples that would be shown of an operation if its library handed out this.
    #[must_use]
    pub fn examples(&self, entry: &CatalogEntry, full: LibraryOperation) -> Vec<Example> {
        deferred::examples(full, &entry.operation, &self.limits)
    }

    /// Whether an operation comes from the library.
    pub(crate) fn is_deferred(&self, entry: &CatalogEntry) -> bool {
        matches!(entry.body, EntryBody::Deferred(_))
    }

    /// What an operation takes and gives, in names only.
    #[must_use]
    pub fn outline(&self, entry: &CatalogEntry) -> Outline {
        match (&entry.body, &self.library) {
            (EntryBody::Deferred(deferred), Some(library)) => library.outline(deferred.index),
            _ => Outline::of(&entry.operation, &self.types),
        }
    }

    /// The names of all types, in order.
    pub fn type_names(&self) -> impl Iterator<Item = String> {
        let deferred = self.library.iter().flat_map(|library| library.type_names());
        self.types.keys().cloned().chain(deferred)
    }

    /// The type of that name: declared, hoisted, from the library, or of an operation that was read from it.
    #[must_use]
    pub fn type_named(&self, name: &str) -> Option<Value> {
        let read = || {
            self.operations.iter().find_map(|entry| match &entry.body {
                EntryBody::Deferred(deferred) => deferred.type_named(name),
                EntryBody::Compiled { .. } => None,
            })
        };
        let library = || self.library.as_ref().and_then(|library| library.type_named(name));
        self.types.get(name).cloned().or_else(library).or_else(|| read().cloned())
    }

    /// Where a tool name leads.
    #[must_use]
    pub fn route(&self, tool: &str) -> Option<&ToolRoute> {
        self.routes.get(tool)
    }

    /// Every name a client may call: the tools and their aliases.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.routes.keys().map(String::as_str)
    }

    /// The indexes of the operations behind a scope.
    pub(crate) fn operations_in_scope(&self, scope: &ToolScope) -> Vec<usize> {
        match scope {
            ToolScope::Endpoint(endpoint) => {
                self.endpoints.get(endpoint).map_or_else(Vec::new, |endpoint| endpoint.operations.clone())
            }
            ToolScope::Adapter => (0..self.operations.len()).collect(),
            ToolScope::Operation(index) => vec![*index],
        }
    }

    /// Whether any operation runs in the background.
    #[must_use]
    pub fn has_executions(&self) -> bool {
        self.operations.iter().any(|entry| entry.operation.lifecycle.is_some())
    }

    /// The tool that carries `introspect`, where one does.
    #[must_use]
    pub fn introspect_tool(&self) -> Option<&str> {
        self.get(INTROSPECT).map(|entry| entry.tool.as_str()).filter(|tool| !tool.is_empty())
    }
}
