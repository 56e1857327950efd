//! The tools and adapters of a gateway at one moment. A snapshot is never changed, only replaced. Each tool name
//! belongs to exactly one adapter.

use crate::dispatch::ServedAdapter;
use mcpaql_core::adapter::ErrorPolicy;
use mcpaql_core::catalog::{Catalog, Tool, ToolScope};
use mcpaql_core::error::OpError;
use mcpaql_core::hints::Hint;
use mcpaql_core::operation::Category;
use mcpaql_core::response::Answer;
use mcpaql_core::suggest::snake_case;
use mcpaql_core::surface;
use mcpaql_core::unified::{Unified, UnifiedRoute};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The adapters of a gateway at one moment.
#[derive(Debug)]
pub struct GatewaySnapshot {
    adapters: Vec<Arc<ServedAdapter>>,
    tools: Arc<[Tool]>,
    routes: HashMap<String, usize>,
    shared: Option<SharedTools>,
    instructions: String,
}

/// The adapters that share the same tools.
#[derive(Debug)]
struct SharedTools {
    unified: Unified,
    adapters: Vec<Arc<ServedAdapter>>,
}

/// Where a call goes.
#[derive(Debug)]
pub(super) enum CallRoute {
    /// To this adapter, with these arguments.
    To(Arc<ServedAdapter>, Map<String, Value>),
    /// Answered by the gateway: discovery over all adapters, or a call that names no adapter.
    Answered(Box<GatewayAnswer>),
}

/// Two adapters with the same tool name or adapter name.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub struct NameCollision {
    /// The tool name that both have; empty if two adapters that share their tools have the same adapter name.
    pub tool: String,
    /// The first adapter, in order.
    pub first: String,
    /// The second adapter, in order.
    pub second: String,
}

impl NameCollision {
    /// Returns the problem without its solution.
    #[must_use]
    pub fn problem(&self) -> String {
        let NameCollision { tool, first, second } = self;
        match tool.as_str() {
            "" => format!("two adapters have the same name: {first} and {second}"),
            tool => format!("two adapters have a tool '{tool}': {first} and {second}"),
        }
    }
}

impl fmt::Display for NameCollision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys = if self.tool.is_empty() { "`name`" } else { "`name` or `prefix`" };
        write!(f, "{}; set another {keys} for one of them", self.problem())
    }
}

impl GatewaySnapshot {
    /// Builds the snapshot of these adapters. With `reads_only`, tools that read nothing are not listed; a call through one of them still
    /// reaches the gate, which refuses it.
    ///
    /// # Errors
    /// When two of them share a tool name.
    pub(super) fn new(
        adapters: Vec<Arc<ServedAdapter>>,
        reads_only: bool,
    ) -> Result<GatewaySnapshot, NameCollision> {
        let routes = check_names(adapters.iter().map(|adapter| (adapter.catalog(), adapter.source())))?;
        let shared = SharedTools::of(&adapters);
        let shared_tools = shared.iter().flat_map(|shared| shared.unified.tools());
        let own = adapters.iter().map(|adapter| adapter.catalog()).filter(|own| own.sharing.is_none());
        let shared_tools =
            shared_tools.filter(|tool| !reads_only || shared_tool_reads(tool, shared.as_ref()));
        let own = own.flat_map(|catalog| {
            catalog.tools.iter().filter(move |tool| !reads_only || tool_reads(tool, catalog))
        });
        let tools = shared_tools.chain(own).cloned().collect();
        let instructions =
            surface::instructions(&adapters.iter().map(|adapter| adapter.catalog()).collect::<Vec<_>>());
        Ok(GatewaySnapshot { adapters, tools, routes, shared, instructions })
    }

    /// A snapshot without adapters.
    pub(super) fn empty() -> GatewaySnapshot {
        GatewaySnapshot {
            adapters: Vec::new(),
            tools: Arc::from([]),
            routes: HashMap::new(),
            shared: None,
            instructions: String::new(),
        }
    }

    /// Reuses the list of tools of the previous snapshot if both are equal, so that values derived from the list stay
    /// valid.
    pub(super) fn reusing_tools_of(mut self, before: &GatewaySnapshot) -> GatewaySnapshot {
        if self.tools == before.tools {
            self.tools = Arc::clone(&before.tools);
        }
        self
    }

    /// The adapters, in order.
    #[must_use]
    pub fn adapters(&self) -> &[Arc<ServedAdapter>] {
        &self.adapters
    }

    /// All tools, adapter by adapter.
    #[must_use]
    pub fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    /// Instructions for the client's model: one sentence for each way to use the tools.
    #[must_use]
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    /// The adapter that owns a tool; `None` for shared tools.
    #[must_use]
    pub fn adapter_of(&self, tool: &str) -> Option<&Arc<ServedAdapter>> {
        self.routes.get(tool).and_then(|index| self.adapters.get(*index))
    }

    /// Returns whether this is a shared tool.
    pub(super) fn is_shared(&self, tool: &str) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.unified.tools().iter().any(|own| own.name == tool))
    }

    /// Returns where a call through a shared tool goes; `None` if there is no such tool.
    pub(super) fn shared_route(&self, tool: &str, arguments: Map<String, Value>) -> Option<SharedRoute<'_>> {
        self.shared.as_ref()?.route(tool, arguments)
    }

    /// Returns which failures of shared tools set `isError`.
    pub(super) fn shared_errors(&self) -> ErrorPolicy {
        self.shared.as_ref().map(SharedTools::errors).unwrap_or_default()
    }

    /// Returns where a call goes; `None` if there is no such tool.
    pub(super) fn route(&self, tool: &str, arguments: Map<String, Value>) -> Option<CallRoute> {
        if let Some(adapter) = self.adapter_of(tool) {
            return Some(CallRoute::To(Arc::clone(adapter), arguments));
        }
        Some(match self.shared_route(tool, arguments)? {
            SharedRoute::To(adapter, arguments) => CallRoute::To(Arc::clone(adapter), arguments),
            SharedRoute::Answered(outcome) => CallRoute::Answered(Box::new(GatewayAnswer {
                outcome: *outcome,
                errors: self.shared_errors(),
            })),
        })
    }
}

/// Where a call through a shared tool goes.
#[derive(Debug)]
pub(super) enum SharedRoute<'a> {
    /// To this adapter, with these arguments.
    To(&'a Arc<ServedAdapter>, Map<String, Value>),
    /// Answered by the gateway.
    Answered(Box<Result<Answer, OpError>>),
}

/// An answer of the gateway itself, before the envelope.
#[derive(Debug)]
pub(super) struct GatewayAnswer {
    pub(super) outcome: Result<Answer, OpError>,
    pub(super) errors: ErrorPolicy,
}

impl SharedTools {
    fn of(adapters: &[Arc<ServedAdapter>]) -> Option<SharedTools> {
        let sharing = adapters.iter().find_map(|adapter| adapter.catalog().sharing)?;
        let shares_tools = |adapter: &&Arc<ServedAdapter>| adapter.catalog().sharing == Some(sharing);
        let adapters: Vec<Arc<ServedAdapter>> = adapters.iter().filter(shares_tools).cloned().collect();
        let catalogs: Vec<&Catalog> = adapters.iter().map(|adapter| adapter.catalog()).collect();
        let unified = Unified::new(&catalogs, sharing, None);
        Some(SharedTools { unified, adapters })
    }

    fn errors(&self) -> ErrorPolicy {
        self.adapters.first().map(|adapter| adapter.catalog().errors).unwrap_or_default()
    }

    fn route(&self, tool: &str, arguments: Map<String, Value>) -> Option<SharedRoute<'_>> {
        let catalogs: Vec<&Catalog> = self.adapters.iter().map(|adapter| adapter.catalog()).collect();
        match self.unified.route(&catalogs, tool, arguments)? {
            UnifiedRoute::Adapter(position, arguments) => {
                Some(SharedRoute::To(self.adapters.get(position)?, arguments))
            }
            UnifiedRoute::Answered(outcome) => Some(SharedRoute::Answered(Box::new(outcome))),
        }
    }
}

/// Whether a tool has an operation that reads.
fn tool_reads(tool: &Tool, catalog: &Catalog) -> bool {
    let is_read = |index: &usize| {
        catalog.operations.get(*index).is_some_and(|entry| entry.operation.category == Category::Read)
    };
    match catalog.route(&tool.name).map(|route| &route.scope) {
        Some(ToolScope::Endpoint(name)) => {
            catalog.endpoints.get(name).is_some_and(|endpoint| endpoint.operations.iter().any(is_read))
        }
        Some(ToolScope::Operation(index)) => is_read(index),
        Some(ToolScope::Adapter) | None => true,
    }
}

/// Whether a shared tool reads: the one for all operations, or the one that changes nothing.
fn shared_tool_reads(tool: &Tool, shared: Option<&SharedTools>) -> bool {
    let is_only = shared.is_some_and(|shared| shared.unified.tools().len() == 1);
    is_only || tool.hints.get(Hint::ReadOnly) != Some(false)
}

/// Returns the position of the adapter for each tool name, including aliases.
///
/// # Errors
/// When two adapters share a name.
pub fn check_names<'a>(
    adapters: impl IntoIterator<Item = (&'a Catalog, &'a str)>,
) -> Result<HashMap<String, usize>, NameCollision> {
    let label = |(catalog, source): (&Catalog, &str)| format!("{} ({source})", catalog.adapter.name);
    let adapters: Vec<(&Catalog, &str)> = adapters.into_iter().collect();
    let mut routes: HashMap<String, usize> = HashMap::new();
    let mut shared: HashMap<String, usize> = HashMap::new();
    for (index, second) in adapters.iter().enumerate() {
        if second.0.sharing.is_some() {
            // All their tools are shared, so their adapter names must differ.
            let name = snake_case(&second.0.adapter.name);
            if let Some(first) = shared.insert(name, index).and_then(|other| adapters.get(other)) {
                return Err(NameCollision {
                    tool: String::new(),
                    first: label(*first),
                    second: label(*second),
                });
            }
            continue;
        }
        let mut names: Vec<&str> = second.0.tool_names().collect();
        names.sort_unstable();
        for name in names {
            if let Some(first) = routes.insert(name.to_owned(), index).and_then(|other| adapters.get(other)) {
                return Err(NameCollision {
                    tool: name.to_owned(),
                    first: label(*first),
                    second: label(*second),
                });
            }
        }
    }
    Ok(routes)
}
