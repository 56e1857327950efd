//! What a gateway shows at one moment: never changed, only replaced. Each tool name leads to exactly one adapter.

use crate::dispatch::ServedAdapter;
use mcpaql_core::adapter::ErrorPolicy;
use mcpaql_core::catalog::{Catalog, Tool};
use mcpaql_core::error::OpError;
use mcpaql_core::response::Answer;
use mcpaql_core::suggest::snake_case;
use mcpaql_core::surface;
use mcpaql_core::unified::{Unified, UnifiedRoute};
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The adapters of a server at one moment.
#[derive(Debug)]
pub struct GatewaySnapshot {
    adapters: Vec<Arc<ServedAdapter>>,
    tools: Arc<[Tool]>,
    routes: HashMap<String, usize>,
    shared: Option<SharedTools>,
    instructions: String,
}

/// The adapters that stand behind the same tools.
#[derive(Debug)]
struct SharedTools {
    unified: Unified,
    adapters: Vec<Arc<ServedAdapter>>,
}

/// Where a call goes.
#[derive(Debug)]
pub(super) enum CallRoute {
    /// To that adapter, with these arguments.
    To(Arc<ServedAdapter>, Map<String, Value>),
    /// Answered by the gateway itself: discovery over all adapters, or a call that names none of them.
    Answered(Box<GatewayAnswer>),
}

/// Two adapters that would answer to the same name.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
pub struct NameCollision {
    /// The name of a tool that both want; empty where adapters that share their tools have the same name themselves.
    pub tool: String,
    /// The adapter that came first.
    pub first: String,
    /// The adapter that came second.
    pub second: String,
}

impl fmt::Display for NameCollision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let NameCollision { tool, first, second } = self;
        if tool.is_empty() {
            return write!(
                f,
                "adapters {first} and {second} have the same name; give one of them another `name`"
            );
        }
        write!(
            f,
            "adapters {first} and {second} both name a tool '{tool}'; give one of them another name or a prefix of its own; \
             a prefix for the whole server applies to all"
        )
    }
}

impl GatewaySnapshot {
    /// What those adapters show together.
    ///
    /// # Errors
    /// Two of them that share a tool name.
    pub(super) fn new(adapters: Vec<Arc<ServedAdapter>>) -> Result<GatewaySnapshot, NameCollision> {
        let routes = check_names(adapters.iter().map(|adapter| (adapter.catalog(), adapter.source())))?;
        let shared = SharedTools::of(&adapters);
        let together = shared.iter().flat_map(|shared| shared.unified.tools());
        let alone = adapters.iter().map(|adapter| adapter.catalog()).filter(|own| own.sharing.is_none());
        let tools = together.chain(alone.flat_map(|catalog| &catalog.tools)).cloned().collect();
        let instructions =
            surface::instructions(&adapters.iter().map(|adapter| adapter.catalog()).collect::<Vec<_>>());
        Ok(GatewaySnapshot { adapters, tools, routes, shared, instructions })
    }

    /// Nothing at all.
    pub(super) fn empty() -> GatewaySnapshot {
        GatewaySnapshot {
            adapters: Vec::new(),
            tools: Arc::from([]),
            routes: HashMap::new(),
            shared: None,
            instructions: String::new(),
        }
    }

    /// The same with the list of tools that was shown before, where it is equal: whoever keeps something for a list need not
    /// make it again.
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

    /// Every tool, adapter by adapter.
    #[must_use]
    pub fn tools(&self) -> &Arc<[Tool]> {
        &self.tools
    }

    /// How to use the tools, in a sentence for each way they are used, for the client's model.
    #[must_use]
    pub fn instructions(&self) -> &str {
        &self.instructions
    }

    /// The adapter whose own tool that is; none has one that is shared.
    #[must_use]
    pub fn adapter_of(&self, tool: &str) -> Option<&Arc<ServedAdapter>> {
        self.routes.get(tool).and_then(|index| self.adapters.get(*index))
    }

    /// Whether a tool of that name is shared.
    pub(super) fn is_shared(&self, tool: &str) -> bool {
        self.shared.as_ref().is_some_and(|shared| shared.unified.tools().iter().any(|own| own.name == tool))
    }

    /// Where a call goes; `None` where there is no such tool.
    pub(super) fn route(&self, tool: &str, arguments: Map<String, Value>) -> Option<CallRoute> {
        if let Some(adapter) = self.adapter_of(tool) {
            return Some(CallRoute::To(Arc::clone(adapter), arguments));
        }
        self.shared.as_ref()?.route(tool, arguments)
    }
}

/// What the gateway itself answers, before its envelope.
#[derive(Debug)]
pub(super) struct GatewayAnswer {
    pub(super) outcome: Result<Answer, OpError>,
    pub(super) errors: ErrorPolicy,
}

impl SharedTools {
    fn of(adapters: &[Arc<ServedAdapter>]) -> Option<SharedTools> {
        let sharing = adapters.iter().find_map(|adapter| adapter.catalog().sharing)?;
        let alike = |adapter: &&Arc<ServedAdapter>| adapter.catalog().sharing == Some(sharing);
        let adapters: Vec<Arc<ServedAdapter>> = adapters.iter().filter(alike).cloned().collect();
        let catalogs: Vec<&Catalog> = adapters.iter().map(|adapter| adapter.catalog()).collect();
        let unified = Unified::new(&catalogs, sharing, None);
        Some(SharedTools { unified, adapters })
    }

    fn route(&self, tool: &str, arguments: Map<String, Value>) -> Option<CallRoute> {
        let catalogs: Vec<&Catalog> = self.adapters.iter().map(|adapter| adapter.catalog()).collect();
        match self.unified.route(&catalogs, tool, arguments)? {
            UnifiedRoute::Adapter(position, arguments) => {
                Some(CallRoute::To(Arc::clone(self.adapters.get(position)?), arguments))
            }
            UnifiedRoute::Answered(outcome) => {
                let errors = catalogs.first().map(|catalog| catalog.errors).unwrap_or_default();
                Some(CallRoute::Answered(Box::new(GatewayAnswer { outcome, errors })))
            }
        }
    }
}

/// Which adapter, by position, answers to which tool name; aliases included.
///
/// # Errors
/// Two adapters that share a name.
pub fn check_names<'a>(
    adapters: impl IntoIterator<Item = (&'a Catalog, &'a str)>,
) -> Result<HashMap<String, usize>, NameCollision> {
    let label = |(catalog, source): (&Catalog, &str)| format!("{} ({source})", catalog.adapter.name);
    let adapters: Vec<(&Catalog, &str)> = adapters.into_iter().collect();
    let mut routes: HashMap<String, usize> = HashMap::new();
    let mut shared: HashMap<String, usize> = HashMap::new();
    for (index, second) in adapters.iter().enumerate() {
        if second.0.sharing.is_some() {
            // They share every tool, so their own names tell them apart.
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
