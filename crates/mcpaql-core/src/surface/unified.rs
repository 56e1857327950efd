//! The surface of all adapters together: as large as that of one, whatever their number.

use super::describe::{effect, label, purpose, title};
use super::{SEMANTIC_BUDGET, SINGLE_BUDGET, cost};
use crate::catalog::{Catalog, Endpoint, Tool};
use crate::operation::{Category, INTROSPECT};
use crate::policy::{HintSet, Hints};
use serde_json::{Value, json};

/// How much is said about each adapter, from generous to terse; the last says it of so few that it always fits.
const ADAPTER_LIST_SIZES: [AdapterListSize; 6] = [
    AdapterListSize { most: usize::MAX, title: true },
    AdapterListSize { most: usize::MAX, title: false },
    AdapterListSize { most: 24, title: false },
    AdapterListSize { most: 12, title: false },
    AdapterListSize { most: 5, title: false },
    AdapterListSize { most: 0, title: false },
];

#[derive(Clone, Copy)]
struct AdapterListSize {
    most: usize,
    title: bool,
}

const SEARCH_CALL: &str = r#"{"operation":"introspect","params":{"search":"what you want to do"}}"#;
const SHAPE: &str = r#"{"adapter":NAME,"operation":NAME,"params":{…}}"#;

/// The tools over all catalogs.
pub(crate) fn unified(catalogs: &[&Catalog], single: bool, budget: Option<usize>) -> Vec<Tool> {
    let budget = budget.unwrap_or(if single { SINGLE_BUDGET } else { SEMANTIC_BUDGET });
    let mut tools = Vec::new();
    for size in ADAPTER_LIST_SIZES {
        tools = if single {
            whole(catalogs, size).into_iter().collect()
        } else {
            Category::ALL.into_iter().filter_map(|category| endpoint(catalogs, category, size)).collect()
        };
        if tools.iter().map(cost).sum::<usize>() <= budget {
            break;
        }
    }
    tools
}

fn endpoint(catalogs: &[&Catalog], category: Category, size: AdapterListSize) -> Option<Tool> {
    let name = category.endpoint();
    let holding: Vec<(&Catalog, usize, &Endpoint)> = catalogs
        .iter()
        .filter_map(|catalog| {
            let endpoint = catalog.endpoints.get(name)?;
            let own = endpoint.operations.iter().filter_map(|index| catalog.operations.get(*index));
            let count = own.filter(|entry| entry.operation.name != INTROSPECT).count();
            Some((*catalog, count, endpoint))
        })
        .collect();
    let (first, _, _) = holding.first()?;
    let hints = holding.iter().map(|(_, _, endpoint)| endpoint.hints).reduce(Hints::riskier)?;
    let states =
        holding.iter().map(|(_, _, endpoint)| endpoint.written_hints).fold(HintSet::NONE, HintSet::or);
    let tool = first.tools.iter().find(|tool| {
        first
            .route(&tool.name)
            .is_some_and(|route| route.scope == crate::catalog::ToolScope::Endpoint(name.into()))
    })?;
    let counted: Vec<(&Catalog, usize)> = holding
        .iter()
        .map(|(catalog, count, _)| (*catalog, *count))
        .filter(|(_, count)| *count > 0)
        .collect();
    let mut parts = vec![
        format!("All adapters: {}", purpose(category)),
        format!("Adapters: {}", listed(&counted, size)),
        effect(category, hints).to_owned(),
        format!("Call {SHAPE}."),
    ];
    parts.push(if category == Category::Read {
        format!("Search the operations of all adapters, with their parameters:\n{SEARCH_CALL}")
    } else {
        let reader = catalogs.iter().find_map(|catalog| catalog.introspect_tool()).unwrap_or_default();
        format!("Search operations with introspect through {reader}.")
    });
    Some(Tool {
        name: tool.name.clone(),
        title: format!("All Adapters — {}", crate::naming::title_of(name)),
        description: parts.join("\n\n"),
        input_schema: input_schema(),
        hints: hints.select(states),
        title_in_annotations: catalogs.iter().any(|catalog| catalog.title_in_annotations),
    })
}

fn whole(catalogs: &[&Catalog], size: AdapterListSize) -> Option<Tool> {
    let tool = catalogs.iter().find_map(|catalog| catalog.tools.first())?;
    let entries = || catalogs.iter().flat_map(|catalog| &catalog.operations);
    let hints = entries().map(|entry| entry.hints).reduce(Hints::riskier)?;
    let states = entries().map(|entry| entry.written_hints).fold(HintSet::NONE, HintSet::or);
    let counted: Vec<(&Catalog, usize)> =
        catalogs.iter().map(|catalog| (*catalog, catalog.operations.len().saturating_sub(1))).collect();
    let parts = [
        "MCP-AQL: all operations of all adapters through one entry point.".to_owned(),
        format!("Adapters: {}", listed(&counted, size)),
        format!("Call {SHAPE}."),
        format!("Search the operations of all adapters, with their parameters:\n{SEARCH_CALL}"),
    ];
    Some(Tool {
        name: tool.name.clone(),
        title: "All Adapters".to_owned(),
        description: parts.join("\n\n"),
        input_schema: input_schema(),
        hints: hints.select(states),
        title_in_annotations: catalogs.iter().any(|catalog| catalog.title_in_annotations),
    })
}

/// `github (GitHub, 89), files (6) and 3 more with 40`.
fn listed(counted: &[(&Catalog, usize)], size: AdapterListSize) -> String {
    let mut shown: Vec<String> = Vec::new();
    for (catalog, count) in counted.iter().take(size.most) {
        let name = label(&catalog.adapter.name);
        let title = title(catalog);
        let telling = size.title && !title.eq_ignore_ascii_case(&name.replace(['-', '_'], " "));
        shown.push(if telling { format!("{name} ({title}, {count})") } else { format!("{name} ({count})") });
    }
    let rest = counted.iter().skip(size.most);
    let (more, operations) = rest.fold((0, 0), |(more, sum), (_, count)| (more + 1, sum + count));
    match (shown.is_empty(), more) {
        (true, 0) => "none".to_owned(),
        (true, more) => format!("{more} with {operations} operations"),
        (false, 0) => shown.join(", "),
        (false, more) => format!("{} and {more} more with {operations} operations", shown.join(", ")),
    }
}

fn input_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "adapter": {"type": "string", "description": "Adapter name; may be left out where one adapter alone has the operation"},
            "operation": {"type": "string", "description": "Operation name", "x-mcp-header": "Operation"},
            "params": {"type": "object", "description": "Operation parameters", "additionalProperties": true},
        },
        "required": ["operation"],
    })
}
