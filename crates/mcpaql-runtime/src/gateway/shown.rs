//! What a gateway shows at one moment: never changed, only replaced. Each tool name leads to exactly one adapter.

use crate::pipeline::Served;
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::surface::Tool;
use std::collections::HashMap;
use std::sync::Arc;

const SPLIT: &str = "The tools of {about} take {\"operation\": NAME, \"params\": {…}} and share out the operations, so call an operation through a tool that lists it.";
const WHOLE: &str =
    "The one tool of {about} takes {\"operation\": NAME, \"params\": {…}} for every operation.";
const DISCRETE: &str = "Each tool of {about} is one operation and takes its parameters as arguments; the answer is JSON with `success` and either `data` or `error`.";
const DISCOVER: &str = "Discover operations and their parameters with {\"operation\":\"introspect\",\"params\":{\"query\":\"operations\"}} on {about}.";

/// The adapters of a server at one moment.
#[derive(Debug)]
pub struct Shown {
    adapters: Vec<Arc<Served>>,
    tools: Arc<[Tool]>,
    routes: HashMap<String, usize>,
    instructions: String,
}

/// Two adapters that would answer to the same tool name.
#[derive(Debug, Clone, thiserror::Error, PartialEq, Eq)]
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

impl Shown {
    /// What those adapters show together.
    ///
    /// # Errors
    /// Two of them that share a tool name.
    pub(super) fn new(adapters: Vec<Arc<Served>>) -> Result<Shown, Collision> {
        let routes = check_names(adapters.iter().map(|adapter| (adapter.catalog(), adapter.source())))?;
        let tools = adapters.iter().flat_map(|adapter| adapter.catalog().tools.iter().cloned()).collect();
        let instructions = instructions(&adapters);
        Ok(Shown { adapters, tools, routes, instructions })
    }

    /// Nothing at all.
    pub(super) fn empty() -> Shown {
        Shown {
            adapters: Vec::new(),
            tools: Arc::from([]),
            routes: HashMap::new(),
            instructions: String::new(),
        }
    }

    /// The same with the list of tools that was shown before, where it is equal: whoever keeps something for a list need not
    /// make it again.
    pub(super) fn after(mut self, before: &Shown) -> Shown {
        if self.tools == before.tools {
            self.tools = Arc::clone(&before.tools);
        }
        self
    }

    /// The adapters, in order.
    #[must_use]
    pub fn adapters(&self) -> &[Arc<Served>] {
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

    /// The adapter that answers to a tool name.
    #[must_use]
    pub fn adapter_of(&self, tool: &str) -> Option<&Arc<Served>> {
        self.routes.get(tool).and_then(|index| self.adapters.get(*index))
    }
}

fn instructions(adapters: &[Arc<Served>]) -> String {
    let catalogs = || adapters.iter().map(|adapter| adapter.catalog());
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
