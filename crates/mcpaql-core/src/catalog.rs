//! The catalog: an adapter compiled once into everything a call needs. Immutable; lookups are O(1) in the number of operations.
//!
//! Tools, introspection, validation and errors are views of this one value, so what introspection says is what validation does.
//! Every example in it validates against its operation.

mod compile;
mod tools;

pub use compile::compile;

use crate::adapter::{Adapter, ErrorPolicy, Mode};
use crate::diagnostic::Diagnostic;
use crate::operation::{INTROSPECT, Operation};
use crate::policy::Hints;
use crate::schema::Schemas;
use crate::surface::Tool;
use crate::validate::{CompiledParams, Limits};
use indexmap::IndexMap;
use serde_json::Value;
use std::collections::HashMap;

/// The name of the standard profile.
pub const CRUDE: &str = "crude";

/// What may be decided outside the document; the most specific layer that says something wins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// How operations are spread over tools.
    pub mode: Option<Mode>,
    /// `crude`, or the name of the document's own profile.
    pub profile: Option<String>,
    /// Pattern of tool names.
    pub pattern: Option<String>,
    /// Prefix of tool names.
    pub prefix: Option<String>,
    /// Name of the hint policy.
    pub policy: Option<String>,
    /// Whether `operation` lists its values as an enum.
    pub operation_enum: Option<bool>,
    /// Which failures carry `isError`.
    pub errors: Option<ErrorPolicy>,
    /// Estimated tokens the surface may cost.
    pub budget: Option<usize>,
}

impl Settings {
    /// This layer over a less specific one.
    #[must_use]
    pub fn over(self, wider: Settings) -> Settings {
        Settings {
            mode: self.mode.or(wider.mode),
            profile: self.profile.or(wider.profile),
            pattern: self.pattern.or(wider.pattern),
            prefix: self.prefix.or(wider.prefix),
            policy: self.policy.or(wider.policy),
            operation_enum: self.operation_enum.or(wider.operation_enum),
            errors: self.errors.or(wider.errors),
            budget: self.budget.or(wider.budget),
        }
    }

    /// What the document itself says.
    fn of(adapter: &Adapter) -> Settings {
        Settings {
            mode: adapter.mode,
            profile: adapter.profile.as_ref().map(|profile| profile.name.clone()),
            pattern: adapter.tool_names.pattern.clone(),
            prefix: adapter.tool_names.prefix.clone(),
            policy: adapter.policy.clone(),
            errors: Some(adapter.errors),
            ..Settings::default()
        }
    }
}

/// An adapter, ready to serve.
#[derive(Debug)]
pub struct Catalog {
    /// The document; its operations live in `operations`.
    pub adapter: Adapter,
    /// How operations are spread over tools.
    pub mode: Mode,
    /// `crude` or the name of a custom profile.
    pub profile: String,
    /// Which failures carry `isError`.
    pub errors: ErrorPolicy,
    /// What calls may not exceed.
    pub limits: Limits,
    /// Every operation, `introspect` last.
    pub operations: Vec<Entry>,
    /// Endpoint families in order, with what they hold; empty ones are not there.
    pub endpoints: IndexMap<String, Endpoint>,
    /// Declared and hoisted types.
    pub types: IndexMap<String, Value>,
    /// The surface: what `tools/list` shows, in order.
    pub tools: Vec<Tool>,
    pub(crate) schemas: Schemas,
    by_name: HashMap<String, usize>,
    routes: HashMap<String, Route>,
}

/// One operation, compiled.
#[derive(Debug)]
pub struct Entry {
    /// What the document means.
    pub operation: Operation,
    /// `name(a: string, b?: Size)`, with `type Size = …` on lines of its own.
    pub signature: String,
    /// After policy and overrides.
    pub hints: Hints,
    /// The tool that reaches it.
    pub tool: String,
    pub(crate) params: CompiledParams,
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

    /// The tool that carries `introspect`, where one does.
    #[must_use]
    pub fn introspect_tool(&self) -> Option<&str> {
        self.get(INTROSPECT).map(|entry| entry.tool.as_str()).filter(|tool| !tool.is_empty())
    }
}

/// What compiling brought: a catalog unless something is too wrong, and all that was noticed.
#[derive(Debug)]
pub struct Compiled {
    /// The catalog.
    pub catalog: Option<Catalog>,
    /// Problems with pointers into the document.
    pub diagnostics: Vec<Diagnostic>,
}
