//! Many adapters, one server: every tool of every adapter, each name leading to exactly one of them.

use crate::mcp::{Caller, Service, Task};
use crate::pipeline::Served;
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::response::Reply;
use mcpaql_core::surface::Tool;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

const SPLIT: &str = "The tools of {about} take {\"operation\": NAME, \"params\": {…}} and share out the operations, so call an operation through a tool that lists it.";
const WHOLE: &str =
    "The one tool of {about} takes {\"operation\": NAME, \"params\": {…}} for every operation.";
const DISCRETE: &str = "Each tool of {about} is one operation and takes its parameters as arguments; the answer is JSON with `success` and either `data` or `error`.";
const DISCOVER: &str = "Discover operations and their parameters with {\"operation\":\"introspect\",\"params\":{\"query\":\"operations\"}} on {about}.";

/// The adapters of one server.
#[derive(Debug)]
pub struct Gateway {
    adapters: Vec<Served>,
    tools: Arc<[Tool]>,
    routes: HashMap<String, usize>,
}

/// Two adapters that would answer to the same tool name.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "adapters {first} and {second} both name a tool '{tool}'; give one of them another name or a prefix of its own; \
     a prefix from MCP_AQL_TOOL_PREFIX, --prefix or the top of mcpaql.yaml applies to all"
)]
pub struct Collision {
    /// The name both want.
    pub tool: String,
    /// The adapter that came first.
    pub first: String,
    /// The adapter that came second.
    pub second: String,
}

impl Gateway {
    /// Puts adapters behind one server.
    ///
    /// # Errors
    /// Two adapters that share a tool name.
    pub fn new(adapters: Vec<Served>) -> Result<Gateway, Collision> {
        let routes = check_names(adapters.iter().map(|adapter| (adapter.catalog(), adapter.source())))?;
        let tools = adapters.iter().flat_map(|adapter| adapter.catalog().tools.iter().cloned()).collect();
        Ok(Gateway { adapters, tools, routes })
    }

    /// The adapters, in order.
    #[must_use]
    pub fn adapters(&self) -> &[Served] {
        &self.adapters
    }

    /// Every tool, adapter by adapter.
    #[must_use]
    pub fn tools(&self) -> Arc<[Tool]> {
        Arc::clone(&self.tools)
    }

    /// How to use the tools, in a sentence for each way they are used, for the client's model.
    #[must_use]
    pub fn instructions(&self) -> String {
        let catalogs = || self.adapters.iter().map(Served::catalog);
        let served = |modes: &[Mode]| {
            let names = catalogs().filter(|catalog| modes.contains(&catalog.mode));
            names.map(|catalog| catalog.adapter.display_name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let mut sentences = Vec::new();
        let say = |about: String, what: &str| (!about.is_empty()).then(|| what.replace("{about}", &about));
        sentences.extend(say(served(&[Mode::Semantic, Mode::All]), SPLIT));
        sentences.extend(say(served(&[Mode::Single]), WHOLE));
        sentences.extend(say(served(&[Mode::Discrete]), DISCRETE));
        let introspect: Vec<&str> = catalogs().filter_map(Catalog::introspect_tool).collect();
        sentences.extend(say(introspect.join(", "), DISCOVER));
        sentences.join(" ")
    }

    /// Runs one call; `None` when there is no such tool. Dropping the future stops the work.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>, caller: &Caller) -> Option<Reply> {
        let adapter = self.routes.get(tool).and_then(|index| self.adapters.get(*index))?;
        Some(adapter.call(tool, arguments, caller).await)
    }
}

/// Which adapter, by position, answers to which tool name; aliases included.
///
/// # Errors
/// Two adapters that share a name.
pub fn check_names<'a>(
    adapters: impl IntoIterator<Item = (&'a Catalog, &'a str)>,
) -> Result<HashMap<String, usize>, Collision> {
    let label = |(catalog, source): (&Catalog, &str)| format!("{} ({source})", catalog.adapter.name);
    let adapters: Vec<(&Catalog, &str)> = adapters.into_iter().collect();
    let mut routes: HashMap<String, usize> = HashMap::new();
    for (index, second) in adapters.iter().enumerate() {
        let mut names: Vec<&str> = second.0.tool_names().collect();
        names.sort_unstable();
        for name in names {
            if let Some(first) = routes.insert(name.to_owned(), index).and_then(|other| adapters.get(other)) {
                return Err(Collision {
                    tool: name.to_owned(),
                    first: label(*first),
                    second: label(*second),
                });
            }
        }
    }
    Ok(routes)
}

impl Service for Gateway {
    fn tools(&self) -> Arc<[Tool]> {
        Gateway::tools(self)
    }

    fn instructions(&self) -> String {
        Gateway::instructions(self)
    }

    fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        caller: &Caller,
    ) -> impl Future<Output = Option<Reply>> + Send {
        Gateway::call(self, tool, arguments, caller)
    }

    fn has_tasks(&self) -> bool {
        self.adapters.iter().any(Served::has_executions)
    }

    async fn task(&self, id: &str) -> Option<Task> {
        for adapter in &self.adapters {
            if let Some(task) = adapter.task(id).await {
                return Some(task);
            }
        }
        None
    }

    async fn cancel_task(&self, id: &str) -> Option<Task> {
        for adapter in &self.adapters {
            if let Some(task) = adapter.cancel_task(id).await {
                return Some(task);
            }
        }
        None
    }
}
