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

pub(crate) use deferred::Deferred;
pub(crate) use discovery::Discovery;
pub use discovery::Producers;
pub(crate) use examples::{call_signature, settle_examples};
pub use settings::{CRUDE, Settings, Sharing};
pub use tool::Tool;

use crate::adapter::{Adapter, ErrorPolicy, Mode};
use crate::library::{Full, Library, Outline};
use crate::naming::Names;
use crate::operation::{Example, INTROSPECT, Operation};
use crate::policy::{HintSet, Hints};
use crate::schema::Schemas;
use crate::validate::{CompiledParams, Limits};
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
    pub limits: Limits,
    /// Every operation, `introspect` last.
    pub operations: Vec<Entry>,
    /// Endpoint families in order, with what they hold; empty ones are not there.
    pub endpoints: IndexMap<String, Endpoint>,
    /// Declared and hoisted types; those of a library are not among them.
    pub types: IndexMap<String, Value>,
    /// The surface: what `tools/list` shows, in order.
    pub tools: Vec<Tool>,
    pub(crate) schemas: Schemas,
    pub(crate) names: Names,
    pub(crate) library: Option<Arc<dyn Library>>,
    pub(crate) discovery: Discovery,
    pub(crate) by_name: HashMap<String, usize>,
    pub(crate) routes: HashMap<String, Route>,
}

/// One operation, compiled.
#[derive(Debug)]
pub struct Entry {
    /// What the document means; only its head where the adapter has a library.
    pub operation: Operation,
    /// After policy and overrides.
    pub hints: Hints,
    /// Which of them tools write out for it: those that the policy does, and those that the document decides itself.
    pub states: HintSet,
    /// The tool that reaches it.
    pub tool: String,
    pub(crate) body: Body,
}

/// What a call needs beyond the head.
#[derive(Debug)]
pub(crate) enum Body {
    Compiled { signature: String, params: Box<CompiledParams> },
    Deferred(Deferred),
}

/// An operation with all that belongs to it.
#[derive(Debug, Clone, Copy)]
pub struct Whole<'c> {
    /// With parameters, answer and examples.
    pub operation: &'c Operation,
    /// `name(a: string, b?: Size)`, with `type Size = …` on lines of its own.
    pub signature: &'c str,
    /// The types that its schemas refer to, perhaps among others.
    pub types: &'c IndexMap<String, Value>,
    /// How its parameters are checked.
    pub params: &'c CompiledParams,
    /// The compiled schemas of its parameters.
    pub schemas: &'c Schemas,
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
    pub states: HintSet,
}

/// Where a tool name leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// What the tool covers.
    pub scope: Scope,
    /// The present name, where this one is an alias.
    pub renamed_to: Option<String>,
}

/// What a tool covers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// One endpoint family.
    Endpoint(String),
    /// Everything.
    Whole,
    /// One operation, by index.
    Operation(usize),
}

impl Catalog {
    /// The operation of that name or alias.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.by_name.get(name).and_then(|index| self.operations.get(*index))
    }

    /// The whole of an operation of this catalog; `None` where the library cannot read it.
    #[must_use]
    pub fn whole<'c>(&'c self, entry: &'c Entry) -> Option<Whole<'c>> {
        match &entry.body {
            Body::Compiled { signature, params } => Some(Whole {
                operation: &entry.operation,
                signature,
                types: &self.types,
                params,
                schemas: &self.schemas,
            }),
            Body::Deferred(deferred) => {
                deferred.whole(&entry.operation, self.library.as_deref()?, &self.limits)
            }
        }
    }

    /// Reads an operation from the library as it stands there; `None` where it does not come from one.
    pub(crate) fn read(&self, entry: &Entry) -> Option<Full> {
        match &entry.body {
            Body::Deferred(deferred) => self.library.as_ref()?.operation(deferred.index),
            Body::Compiled { .. } => None,
        }
    }

    /// The examples that would be shown of an operation if its library handed out this.
    #[must_use]
    pub fn examples(&self, entry: &Entry, full: Full) -> Vec<Example> {
        deferred::examples(full, &entry.operation, &self.limits)
    }

    /// Whether an operation comes from the library.
    pub(crate) fn is_deferred(&self, entry: &Entry) -> bool {
        matches!(entry.body, Body::Deferred(_))
    }

    /// What an operation takes and gives, in names only.
    #[must_use]
    pub fn outline(&self, entry: &Entry) -> Outline {
        match (&entry.body, &self.library) {
            (Body::Deferred(deferred), Some(library)) => library.outline(deferred.index),
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
                Body::Deferred(deferred) => deferred.type_named(name),
                Body::Compiled { .. } => None,
            })
        };
        let library = || self.library.as_ref().and_then(|library| library.type_named(name));
        self.types.get(name).cloned().or_else(library).or_else(|| read().cloned())
    }

    /// Where a tool name leads.
    #[must_use]
    pub fn route(&self, tool: &str) -> Option<&Route> {
        self.routes.get(tool)
    }

    /// Every name a client may call: the tools and their aliases.
    pub fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.routes.keys().map(String::as_str)
    }

    /// The indexes of the operations behind a scope.
    pub(crate) fn covered(&self, scope: &Scope) -> Vec<usize> {
        match scope {
            Scope::Endpoint(endpoint) => {
                self.endpoints.get(endpoint).map_or_else(Vec::new, |endpoint| endpoint.operations.clone())
            }
            Scope::Whole => (0..self.operations.len()).collect(),
            Scope::Operation(index) => vec![*index],
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
