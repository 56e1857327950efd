//! Many adapters, one server: every tool of every adapter, each name leading to exactly one of them.

use crate::mcp::Service;
use crate::pipeline::Served;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::response::Reply;
use mcpaql_core::surface::Tool;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::Arc;

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
    "adapters {first} and {second} both name a tool '{tool}'; give one of them a `tool_names.prefix` of its own"
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

    /// How to use the tools, in two sentences, for the client's model.
    #[must_use]
    pub fn instructions(&self) -> String {
        let names: Vec<&str> =
            self.adapters.iter().map(|adapter| adapter.catalog().adapter.display_name.as_str()).collect();
        let introspect = self.adapters.iter().find_map(|adapter| adapter.catalog().introspect_tool());
        let about = names.join(", ");
        match introspect {
            Some(tool) => format!(
                "Tools of {about} take {{\"operation\": NAME, \"params\": {{…}}}} and are split by effect, so call an operation through the tool that lists it. \
                 Discover operations and their parameters with {{\"operation\":\"introspect\",\"params\":{{\"query\":\"operations\"}}}} on a read tool such as {tool}."
            ),
            None => format!(
                "Each tool of {about} is one operation. Its answer is JSON with `success` and either `data` or `error`."
            ),
        }
    }

    /// Runs one call; `None` when there is no such tool. Dropping the future stops the work.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Option<Reply> {
        let adapter = self.routes.get(tool).and_then(|index| self.adapters.get(*index))?;
        Some(adapter.call(tool, arguments).await)
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

    fn call(&self, tool: &str, arguments: Map<String, Value>) -> impl Future<Output = Option<Reply>> + Send {
        Gateway::call(self, tool, arguments)
    }
}
