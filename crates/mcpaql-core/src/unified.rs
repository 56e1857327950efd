//! All adapters behind the same tools: five, or one, with `adapter` as a field beside `operation`.
//!
//! ```
//! use mcpaql_core::catalog::{AdapterSettings, Sharing};
//! use mcpaql_core::compile::compile;
//! use mcpaql_core::unified::Unified;
//! # use mcpaql_core::adapter::{Adapter, CodeTarget, TargetConfig};
//! # use mcpaql_core::facts::{Facts, Reach};
//! # use mcpaql_core::operation::{Binding, Category, Operation};
//! # let mut adapter = Adapter::new("todo", TargetConfig::Code(CodeTarget::default()));
//! # let facts = Facts::read(Reach::Process);
//! # adapter.operations.push(Operation::new("list_tasks", Category::Read, facts, Binding::Code));
//!
//! let settings = AdapterSettings { sharing: Some(Sharing::One), ..AdapterSettings::default() };
//! let catalog = compile(adapter, &settings).catalog.unwrap();
//! let unified = Unified::new(&[&catalog], Sharing::One, None);
//! assert_eq!(unified.tools().len(), 1);
//! ```
//!
//! Each adapter has its own catalog. It is compiled with
//! [`AdapterSettings::sharing`](crate::catalog::AdapterSettings::sharing), so its tools have the shared names.
//!
//! What always holds:
//!
//! - The surface has one budget, regardless of the number of adapters.
//! - Every operation is called through the tool of its category.
//! - `adapter` is optional for an operation that only one adapter has.
//! - Without `adapter`, discovery covers all adapters.

use crate::catalog::{Catalog, Sharing, Tool};
use crate::error::{Code, OpError};

use crate::operation::{Category, INTROSPECT};
use crate::request;
use crate::response::Answer;
use crate::search::{SearchIndex, SearchIndexBuilder};
use crate::suggest;
use crate::surface;
use mcpaql_lexicon::snake_case;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::sync::OnceLock;

mod introspect;

/// The field that names an adapter.
const ADAPTER: &str = "adapter";
/// Maximum adapters named in an error.
const MAX_LISTED_ADAPTERS: usize = 20;

/// The shared tools, and the tables to find the adapter of a call.
#[derive(Debug)]
pub struct Unified {
    tools: Vec<Tool>,
    /// Endpoint → tool name; empty if there is a single tool.
    endpoints: HashMap<&'static str, String>,
    single_tool: Option<String>,
    adapters: HashMap<String, usize>,
    operations: HashMap<String, Vec<usize>>,
    index: OnceLock<UnifiedIndex>,
}

/// A search index over the operations of all adapters.
#[derive(Debug)]
struct UnifiedIndex {
    index: SearchIndex,
    /// The adapter and the operation of each indexed document.
    positions: Vec<(usize, usize)>,
}

/// Where a call goes.
#[derive(Debug)]
pub enum UnifiedRoute {
    /// To the adapter with this index, with the arguments for its own tool of the same name.
    Adapter(usize, Map<String, Value>),
    /// The call is already answered.
    Answered(Result<Answer, OpError>),
}

impl Unified {
    /// Builds the shared tools of these catalogs, all compiled with the same
    /// [`AdapterSettings::sharing`](crate::catalog::AdapterSettings::sharing). `budget` is the maximum cost of the
    /// surface.
    #[must_use]
    pub fn new(catalogs: &[&Catalog], sharing: Sharing, budget: Option<usize>) -> Unified {
        let single = sharing.is_single();
        let mut adapters = HashMap::new();
        let mut operations: HashMap<String, Vec<usize>> = HashMap::new();
        for (position, catalog) in catalogs.iter().enumerate() {
            let name = &catalog.adapter.name;
            for spelling in [name.clone(), snake_case(name)] {
                adapters.entry(spelling).or_insert(position);
            }
            for name in catalog.known_names().filter(|name| *name != INTROSPECT) {
                operations.entry(name.to_owned()).or_default().push(position);
            }
        }
        let tools = surface::unified(catalogs, single, budget);
        let named = |endpoint: &str| {
            catalogs.iter().find_map(|catalog| {
                let first = *catalog.endpoints.get(endpoint)?.operations.first()?;
                catalog.operations.get(first).map(|entry| entry.tool.clone())
            })
        };
        let endpoints = if single {
            HashMap::new()
        } else {
            let all = Category::ALL.map(Category::endpoint).into_iter();
            all.filter_map(|endpoint| Some((endpoint, named(endpoint)?))).collect()
        };
        let single_tool = tools.first().filter(|_| single).map(|tool| tool.name.clone());
        Unified { tools, endpoints, single_tool, adapters, operations, index: OnceLock::new() }
    }

    /// Returns the tools that `tools/list` shows.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Finds out where a call goes; `None` if the tool is unknown. `catalogs` are the same as for [`Unified::new`].
    #[must_use]
    pub fn route(
        &self,
        catalogs: &[&Catalog],
        tool: &str,
        mut arguments: Map<String, Value>,
    ) -> Option<UnifiedRoute> {
        let endpoint = match &self.single_tool {
            Some(name) if name == tool => None,
            _ => Some(self.endpoints.iter().find(|(_, name)| *name == tool).map(|(endpoint, _)| *endpoint)?),
        };
        let named = match arguments.shift_remove(ADAPTER) {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) if name.trim().is_empty() => None,
            Some(Value::String(name)) => match self.adapters.get(name.trim()) {
                Some(position) => Some(*position),
                None => return Some(UnifiedRoute::Answered(Err(self.unknown_adapter(catalogs, &name)))),
            },
            Some(other) => return Some(UnifiedRoute::Answered(Err(not_a_name(&other)))),
        };
        let operation = arguments.get("operation").and_then(Value::as_str).unwrap_or_default();
        let position = match named {
            Some(position) => position,
            None if operation == INTROSPECT => {
                return Some(self.introspect(catalogs, tool, endpoint, arguments));
            }
            None => match self.adapters_with(operation) {
                [only] => *only,
                [] => {
                    let withheld = catalogs.iter().find_map(|catalog| catalog.withheld_error(operation));
                    let error = withheld.unwrap_or_else(|| self.unknown_operation(catalogs, operation));
                    return Some(UnifiedRoute::Answered(Err(error)));
                }
                several => {
                    return Some(UnifiedRoute::Answered(Err(ambiguous_operation(
                        catalogs, operation, several,
                    ))));
                }
            },
        };
        let catalog = catalogs.get(position)?;
        // An adapter without deletes has no delete tool, but may have the intended operation under another tool.
        match endpoint {
            Some(endpoint) if catalog.route(tool).is_none() => {
                let error = request::wrong_endpoint_error(catalog, endpoint, tool, arguments);
                Some(UnifiedRoute::Answered(Err(error)))
            }
            _ => Some(UnifiedRoute::Adapter(position, arguments)),
        }
    }

    /// Returns the adapters that have an operation with this name.
    fn adapters_with(&self, operation: &str) -> &[usize] {
        self.operations.get(operation).map_or(&[], Vec::as_slice)
    }

    /// Answers `introspect` for all adapters.
    fn introspect(
        &self,
        catalogs: &[&Catalog],
        tool: &str,
        endpoint: Option<&str>,
        arguments: Map<String, Value>,
    ) -> UnifiedRoute {
        let Some(first) = catalogs.first() else {
            return UnifiedRoute::Answered(Err(OpError::new(
                Code::NotFoundOperation,
                "This server has no adapters.",
            )));
        };
        // `introspect` has the same parameters in every adapter, so the first one can validate them.
        if let Some(endpoint) = endpoint.filter(|_| first.route(tool).is_none()) {
            return UnifiedRoute::Answered(Err(request::wrong_endpoint_error(
                first, endpoint, tool, arguments,
            )));
        }
        let args = match request::prepare(first, tool, arguments) {
            Ok(call) => call.args,
            Err(error) => return UnifiedRoute::Answered(Err(error)),
        };
        UnifiedRoute::Answered(introspect::answer(catalogs, self, &args))
    }

    /// Searches the operations of all adapters, best first. Returns the indexes of the adapter and the operation.
    #[must_use]
    pub fn search(&self, catalogs: &[&Catalog], question: &str, limit: usize) -> Vec<(usize, usize)> {
        let all = self.index.get_or_init(|| {
            let mut builder = SearchIndexBuilder::default();
            let mut positions = Vec::new();
            for (position, catalog) in catalogs.iter().enumerate() {
                for (index, entry) in catalog.operations.iter().enumerate() {
                    if entry.operation.name != INTROSPECT {
                        catalog.add_to_index(&mut builder, entry, Some(&catalog.adapter.display_name));
                        positions.push((position, index));
                    }
                }
            }
            UnifiedIndex { index: builder.finish(), positions }
        });
        let hits = all.index.search(question, limit);
        hits.into_iter().filter_map(|hit| all.positions.get(hit.position).copied()).collect()
    }

    fn unknown_adapter(&self, catalogs: &[&Catalog], name: &str) -> OpError {
        let names: Vec<&str> = catalogs.iter().map(|catalog| catalog.adapter.name.as_str()).collect();
        let hint = match suggest::nearest(name, names.iter().copied()) {
            Some(near) => format!("Did you mean '{near}'?"),
            None => r#"Send {"operation":"introspect"} to list the adapters."#.to_owned(),
        };
        let shown: Vec<&str> = names.into_iter().take(MAX_LISTED_ADAPTERS).collect();
        OpError::new(Code::InvalidValue, format!("Unknown adapter{}. {hint}", request::quoted_name(name)))
            .with_detail("param_name", ADAPTER)
            .with_detail("adapters", shown)
    }

    fn unknown_operation(&self, catalogs: &[&Catalog], name: &str) -> OpError {
        if name.is_empty() {
            return request::missing_operation();
        }
        let words = name.replace(['_', '-', '.'], " ");
        let mut near: Vec<String> =
            suggest::nearest_many(name, self.operations.keys().map(String::as_str), 3)
                .into_iter()
                .map(str::to_owned)
                .collect();
        near.sort();
        for (position, index) in self.search(catalogs, &words, 3) {
            let found = catalogs.get(position).and_then(|catalog| catalog.operations.get(index));
            near.extend(found.map(|entry| entry.operation.name.clone()));
        }
        let mut seen = std::collections::HashSet::new();
        near.retain(|name| seen.insert(name.clone()));
        near.truncate(3);
        let hint = match near.first() {
            Some(first) => format!("Did you mean '{first}'?"),
            None => format!("Use '{INTROSPECT}' with search to find operations."),
        };
        OpError::new(
            Code::NotFoundOperation,
            format!("Unknown operation{}. {hint}", request::quoted_name(name)),
        )
        .with_detail("suggestions", near)
    }
}

fn not_a_name(found: &Value) -> OpError {
    OpError::new(Code::InvalidType, "Field 'adapter' must be a string, the name of an adapter.")
        .with_detail("param_name", ADAPTER)
        .with_detail("actual_type", crate::schema::type_name(found))
        .before_dispatch()
}

fn ambiguous_operation(catalogs: &[&Catalog], operation: &str, several: &[usize]) -> OpError {
    let names: Vec<&str> = several
        .iter()
        .filter_map(|position| catalogs.get(*position))
        .map(|catalog| catalog.adapter.name.as_str())
        .collect();
    let shown = names.iter().take(MAX_LISTED_ADAPTERS).copied().collect::<Vec<_>>();
    OpError::new(
        Code::MissingParam,
        format!(
            "Several adapters have the operation{}: name one of {} in 'adapter'.",
            request::quoted_name(operation),
            shown.join(", ")
        ),
    )
    .with_detail("param_name", ADAPTER)
    .with_detail("adapters", shown)
}
