//! Builds the tools that all adapters share. Their size does not depend on the number of adapters.

use super::describe::{SHORT_SEARCH_CALL, effect, label, purpose, search_in, title};
use super::{SEMANTIC_BUDGET, SINGLE_BUDGET, batch_schema, cost};
use crate::catalog::{Catalog, Endpoint, Tool};
use crate::operation::{Category, INTROSPECT};
use crate::policy::{HintSet, Hints};
use serde_json::{Value, json};

/// How much is shown of each adapter, from long to short. The last size always fits.
const ADAPTER_LIST_SIZES: [AdapterListSize; 6] = [
    AdapterListSize { max: usize::MAX, title: true },
    AdapterListSize { max: usize::MAX, title: false },
    AdapterListSize { max: 24, title: false },
    AdapterListSize { max: 12, title: false },
    AdapterListSize { max: 5, title: false },
    AdapterListSize { max: 0, title: false },
];

#[derive(Clone, Copy)]
struct AdapterListSize {
    max: usize,
    title: bool,
}

const SEARCH_CALL: &str = r#"{"operation":"introspect","params":{"search":"what you want to do"}}"#;
const CALL_FORM: &str = r#"{"adapter":NAME,"operation":NAME,"params":{…}}"#;

/// Builds the tools for all catalogs.
pub(crate) fn unified(catalogs: &[&Catalog], single: bool, budget: Option<usize>) -> Vec<Tool> {
    let budget = budget.unwrap_or(if single { SINGLE_BUDGET } else { SEMANTIC_BUDGET });
    let mut tools = Vec::new();
    for size in ADAPTER_LIST_SIZES {
        tools = if single {
            single_tool(catalogs, size).into_iter().collect()
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
    let providers: Vec<(&Catalog, usize, &Endpoint)> = catalogs
        .iter()
        .filter_map(|catalog| {
            let endpoint = catalog.endpoints.get(name)?;
            let own = endpoint.operations.iter().filter_map(|index| catalog.operations.get(*index));
            let count = own.filter(|entry| entry.operation.name != INTROSPECT).count();
            Some((*catalog, count, endpoint))
        })
        .collect();
    let (first, _, _) = providers.first()?;
    let hints = providers.iter().map(|(_, _, endpoint)| endpoint.hints).reduce(Hints::riskier)?;
    let written =
        providers.iter().map(|(_, _, endpoint)| endpoint.written_hints).fold(HintSet::NONE, HintSet::or);
    let tool = first.tools.iter().find(|tool| {
        first
            .route(&tool.name)
            .is_some_and(|route| route.scope == crate::catalog::ToolScope::Endpoint(name.into()))
    })?;
    let counted: Vec<(&Catalog, usize)> = providers
        .iter()
        .map(|(catalog, count, _)| (*catalog, *count))
        .filter(|(_, count)| *count > 0)
        .collect();
    let mut parts = vec![
        format!("All adapters: {}", purpose(category, hints)),
        format!("Adapters: {}", adapter_list(&counted, size)),
        effect(category, hints).to_owned(),
        format!("Call {CALL_FORM}."),
    ];
    parts.push(if category == Category::Read {
        format!("Search the operations of all adapters, with their parameters:\n{SEARCH_CALL}")
    } else {
        let reader = catalogs.iter().find_map(|catalog| catalog.introspect_tool()).unwrap_or_default();
        format!("{}:\n{SHORT_SEARCH_CALL}", search_in(reader))
    });
    Some(Tool {
        name: tool.name.clone(),
        title: format!("All Adapters — {}", crate::naming::title_of(name)),
        description: parts.join("\n\n"),
        input_schema: input_schema(),
        output_schema: None,
        max_result_chars: None,
        hints: hints.select(written),
        title_in_annotations: catalogs.iter().any(|catalog| catalog.title_in_annotations),
    })
}

fn single_tool(catalogs: &[&Catalog], size: AdapterListSize) -> Option<Tool> {
    let tool = catalogs.iter().find_map(|catalog| catalog.tools.first())?;
    let entries = || catalogs.iter().flat_map(|catalog| &catalog.operations);
    let hints = entries().map(|entry| entry.hints).reduce(Hints::riskier)?;
    let written = entries().map(|entry| entry.written_hints).fold(HintSet::NONE, HintSet::or);
    let counted: Vec<(&Catalog, usize)> =
        catalogs.iter().map(|catalog| (*catalog, catalog.operations.len().saturating_sub(1))).collect();
    let parts = [
        "MCP-AQL: all operations of all adapters through one entry point.".to_owned(),
        format!("Adapters: {}", adapter_list(&counted, size)),
        format!("Call {CALL_FORM}."),
        format!("Search the operations of all adapters, with their parameters:\n{SEARCH_CALL}"),
    ];
    Some(Tool {
        name: tool.name.clone(),
        title: "All Adapters".to_owned(),
        description: parts.join("\n\n"),
        input_schema: input_schema(),
        output_schema: None,
        max_result_chars: None,
        hints: hints.select(written),
        title_in_annotations: catalogs.iter().any(|catalog| catalog.title_in_annotations),
    })
}

/// Lists the adapters: `github (GitHub, 89), files (6) and 3 more with 40 operations`.
fn adapter_list(counted: &[(&Catalog, usize)], size: AdapterListSize) -> String {
    let mut shown: Vec<String> = Vec::new();
    for (catalog, count) in counted.iter().take(size.max) {
        let name = label(&catalog.adapter.name);
        let title = title(catalog);
        let show_title = size.title && !title.eq_ignore_ascii_case(&name.replace(['-', '_'], " "));
        shown.push(if show_title {
            format!("{name} ({title}, {count})")
        } else {
            format!("{name} ({count})")
        });
    }
    let rest = counted.iter().skip(size.max);
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
            "adapter": {"type": "string", "description": "Adapter name; optional if only one adapter has the operation"},
            "operation": {"type": "string", "description": "Operation name", "x-mcp-header": "Operation"},
            "params": {"type": "object", "description": "Operation parameters", "additionalProperties": true},
            "operations": batch_schema("{adapter, operation, params}"),
        },
    })
}
