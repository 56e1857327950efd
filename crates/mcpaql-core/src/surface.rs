//! The surface: the tools that `tools/list` shows for an adapter, within a token budget.
//!
//! Every description explains how to introspect. It lists operations with signatures if they fit the budget, otherwise
//! by name, otherwise as counted groups with an example of a search. So the surface does not grow with the number of
//! operations.
//!
//! What always holds: the texts of this module, titles and tags never contain characters that a popular gateway treats
//! as shell syntax (`;`, `&&`, `||`, `$(`, `> `, `< `).

mod describe;
mod discrete;
mod instructions;
mod unified;

use crate::adapter::Mode;
use crate::catalog::{AdapterSettings, Catalog, CatalogEntry, Endpoint, Tool, ToolScope};
use crate::naming::ToolSubject;
use crate::operation::{Category, INTROSPECT, Operation, Param};
use crate::policy::{self, HintSet, Hints};
use crate::tokens;
use describe::{DescriptionDetail, DescriptionWriter, search_in, title};
use discrete::operation_tool;
pub use instructions::{instructions, instructions_of_a_project};
use serde_json::{Value, json};
pub(crate) use unified::unified;

/// Maximum estimated tokens of a semantic surface.
pub const SEMANTIC_BUDGET: usize = 1350;
/// Maximum estimated tokens of a single tool.
pub const SINGLE_BUDGET: usize = 450;
/// Minimum tokens of a name and its comma.
const MIN_NAME_TOKENS: usize = 2;
/// Minimum tokens of a signature.
const MIN_SIGNATURE_TOKENS: usize = 4;

/// Returns the tools of a catalog whose tool names are already assigned. `params` are the parameters before nested
/// types were hoisted.
pub(crate) fn tools(catalog: &Catalog, params: &[Vec<Param>], settings: &AdapterSettings) -> Vec<Tool> {
    let operation_enum = settings.operation_enum.unwrap_or(false);
    let mut tools = Vec::new();
    if matches!(catalog.mode, Mode::Semantic | Mode::All) {
        let budget = settings.budget.unwrap_or(SEMANTIC_BUDGET);
        tools.extend(endpoint_tools(catalog, budget, operation_enum));
    }
    if matches!(catalog.mode, Mode::Single | Mode::All) {
        tools.extend(adapter_tool(catalog, settings.budget.unwrap_or(SINGLE_BUDGET), operation_enum));
    }
    if catalog.mode == Mode::Discrete {
        for (entry, params) in catalog.operations.iter().zip(params) {
            if !entry.tool.is_empty() {
                tools.extend(operation_tool(catalog, entry, params));
            }
        }
    }
    tools
}

/// Returns the endpoint tools.
fn endpoint_tools(catalog: &Catalog, budget: usize, operation_enum: bool) -> Vec<Tool> {
    let families: Vec<(&str, &Endpoint, Vec<&CatalogEntry>)> = catalog
        .endpoints
        .iter()
        .map(|(name, endpoint)| (name.as_str(), endpoint, members(catalog, &endpoint.operations)))
        .collect();
    let writers: Vec<DescriptionWriter<'_>> =
        families.iter().map(|(_, _, entries)| DescriptionWriter::new(catalog, entries)).collect();
    let build = |index: usize, detail: DescriptionDetail| {
        let ((name, endpoint, entries), writer) = (families.get(index)?, writers.get(index)?);
        let tool = Tool {
            name: entries.first().map(|entry| entry.tool.clone()).unwrap_or_default(),
            title: format!("{} — {}", title(catalog), endpoint.title),
            description: writer.endpoint(name, endpoint, detail),
            input_schema: input_schema(entries, operation_enum, shows_batches(detail)),
            output_schema: None,
            max_result_chars: None,
            hints: endpoint.hints.select(endpoint.written_hints),
            title_in_annotations: catalog.title_in_annotations,
        };
        Some((detail, planned_cost(catalog, &tool, ToolSubject::Endpoint(name)), tool))
    };
    let mut chosen: Vec<(DescriptionDetail, usize, Tool)> =
        (0..families.len()).filter_map(|index| build(index, DescriptionDetail::Counts)).collect();
    let mut total: usize = chosen.iter().map(|(_, cost, _)| cost).sum();
    // Spend the remaining budget where it helps most: cheapest upgrades first, and all names before any signature.
    for detail in [
        DescriptionDetail::SomeGroups,
        DescriptionDetail::Groups,
        DescriptionDetail::Names,
        DescriptionDetail::Signatures,
    ] {
        let mut upgrades: Vec<(usize, usize, Tool)> = Vec::new();
        for (index, (_, _, entries)) in families.iter().enumerate() {
            // If the names do not fit, the signatures need not be read.
            let unnamed = chosen.get(index).is_some_and(|slot| slot.0 != DescriptionDetail::Names);
            if (detail == DescriptionDetail::Signatures && unnamed)
                || cannot_fit(detail, entries.len(), budget)
            {
                continue;
            }
            upgrades.extend(build(index, detail).map(|(_, cost, tool)| (cost, index, tool)));
        }
        upgrades.sort_by_key(|(cost, index, _)| (*cost, *index));
        for (cost, index, tool) in upgrades {
            if let Some(slot) = chosen.get_mut(index)
                && (total + cost).saturating_sub(slot.1) <= budget
            {
                total = (total + cost).saturating_sub(slot.1);
                *slot = (detail, cost, tool);
            }
        }
    }
    chosen.into_iter().map(|(_, _, tool)| tool).collect()
}

/// Returns for each operation whether the endpoint tools may show more than its name. The parameters of the others are
/// not needed to estimate the cost of the tools.
#[must_use]
pub fn needs_full_operation(operations: &[&Operation]) -> Vec<bool> {
    let mut shown = vec![false; operations.len()];
    let mut families: Vec<Vec<(usize, &Operation)>> = Vec::new();
    for category in Category::ALL {
        let all = operations.iter().copied().enumerate();
        families.push(all.filter(|(_, operation)| operation.category == category).collect());
    }
    families.retain(|family| !family.is_empty());
    let category = |family: &Vec<(usize, &Operation)>| family.first().map(|(_, first)| first.category);
    let frame: usize = families.iter().filter_map(category).map(base_cost).sum();
    for family in families {
        let names: Vec<&str> = family.iter().map(|(_, operation)| operation.name.as_str()).collect();
        // Signatures are shown only with names, and names only if they fit into the budget beside the fixed texts.
        let is_named = tokens::estimate(&names.join(", ")) + frame <= SEMANTIC_BUDGET + JOIN_TOLERANCE_TOKENS;
        let named = family.iter().filter(|_| is_named).map(|(position, _)| *position).collect::<Vec<_>>();
        for position in named.into_iter().chain(describe::example_candidates(family)) {
            if let Some(shown) = shown.get_mut(position) {
                *shown = true;
            }
        }
    }
    shown
}

/// How many tokens fewer a text may be estimated in one piece than in parts.
const JOIN_TOLERANCE_TOKENS: usize = 16;

/// Returns the cost of an endpoint tool without its operations.
fn base_cost(category: Category) -> usize {
    let hints = Hints { read_only: false, destructive: false, idempotent: false, open_world: false };
    cost(&Tool {
        name: String::new(),
        title: String::new(),
        description: describe::base_description(category),
        input_schema: input_schema(&[], false, false),
        output_schema: None,
        max_result_chars: None,
        hints: hints.select(policy::default().written_hints(category)),
        title_in_annotations: false,
    })
}

/// Returns whether this many operations can never fit, even with the shortest names.
fn cannot_fit(detail: DescriptionDetail, operations: usize, budget: usize) -> bool {
    match detail {
        DescriptionDetail::Counts | DescriptionDetail::SomeGroups | DescriptionDetail::Groups => false,
        DescriptionDetail::Names => operations * MIN_NAME_TOKENS > budget,
        DescriptionDetail::Signatures => operations * MIN_SIGNATURE_TOKENS > budget,
    }
}

fn adapter_tool(catalog: &Catalog, budget: usize, operation_enum: bool) -> Option<Tool> {
    let entries: Vec<&CatalogEntry> = catalog.operations.iter().collect();
    let name = catalog.tool_names().find(|name| {
        catalog
            .route(name)
            .is_some_and(|route| route.scope == ToolScope::Adapter && route.renamed_to.is_none())
    })?;
    let hints = entries.iter().map(|entry| entry.hints).reduce(Hints::riskier)?;
    let written = entries.iter().map(|entry| entry.written_hints).fold(HintSet::NONE, HintSet::or);
    let writer = DescriptionWriter::new(catalog, &entries);
    let build = |detail: DescriptionDetail| Tool {
        name: name.to_owned(),
        title: title(catalog),
        description: writer.adapter(detail),
        input_schema: input_schema(&entries, operation_enum, shows_batches(detail)),
        output_schema: None,
        max_result_chars: None,
        hints: hints.select(written),
        title_in_annotations: catalog.title_in_annotations,
    };
    // From the shortest up, because signatures are expensive to build and fit only for few operations.
    let mut tool = build(DescriptionDetail::Counts);
    for detail in [
        DescriptionDetail::SomeGroups,
        DescriptionDetail::Groups,
        DescriptionDetail::Names,
        DescriptionDetail::Signatures,
    ] {
        if cannot_fit(detail, entries.len(), budget) {
            break;
        }
        let richer = build(detail);
        if planned_cost(catalog, &richer, ToolSubject::Adapter) > budget {
            // Groups may cost more than the names of a few operations.
            if detail < DescriptionDetail::Names {
                continue;
            }
            break;
        }
        tool = richer;
    }
    Some(tool)
}

fn members<'c>(catalog: &'c Catalog, indexes: &[usize]) -> Vec<&'c CatalogEntry> {
    indexes.iter().filter_map(|index| catalog.operations.get(*index)).collect()
}

fn input_schema(entries: &[&CatalogEntry], operation_enum: bool, with_batches: bool) -> Value {
    let mut operation = json!({
        "type": "string",
        "description": "Operation name",
        "x-mcp-header": "Operation",
    });
    if operation_enum && let Some(map) = operation.as_object_mut() {
        let names: Vec<&str> = entries.iter().map(|entry| entry.operation.name.as_str()).collect();
        map.insert("enum".into(), json!(names));
    }
    let mut schema = json!({
        "type": "object",
        "properties": {
            "operation": operation,
            "params": {"type": "object", "description": "Operation parameters", "additionalProperties": true},
        },
    });
    if let Some(properties) =
        schema.pointer_mut("/properties").and_then(Value::as_object_mut).filter(|_| with_batches)
    {
        properties.insert("operations".into(), batch_schema("{operation, params}"));
    }
    schema
}

/// Describes the items of a batch. A call has either this or an operation, so no property is required.
fn batch_schema(item: &str) -> Value {
    json!({"type": "array", "items": {"type": "object"}, "description": format!("Or several: {item}")})
}

/// Returns whether the schema shows batches. The least detail has no room for them; batches work nevertheless.
fn shows_batches(detail: DescriptionDetail) -> bool {
    detail != DescriptionDetail::Counts
}

/// Returns the cost of a tool under its name without a prefix. So a prefix changes names, but never the descriptions.
fn planned_cost(catalog: &Catalog, tool: &Tool, subject: ToolSubject<'_>) -> usize {
    let Some(names) = catalog.names.without_prefix() else { return cost(tool) };
    let name = |subject: ToolSubject<'_>| names.name(subject).ok();
    let mut plain = tool.clone();
    plain.name = name(subject).unwrap_or(plain.name);
    let plain_tool =
        catalog.get(INTROSPECT).and_then(|entry| name(ToolSubject::Endpoint(&entry.operation.endpoint)));
    if let (Some(current), Some(plain_tool)) = (catalog.introspect_tool(), plain_tool) {
        plain.description = plain.description.replace(&search_in(current), &search_in(&plain_tool));
    }
    cost(&plain)
}

fn cost(tool: &Tool) -> usize {
    let estimate = tokens::estimate(&tool.to_json().to_string())
        + tool.description.matches('"').count() / QUOTES_PER_TOKEN;
    estimate.saturating_sub(FRAME_OVERESTIMATE)
}

/// The JSON around name, title and description is the same in every tool of a surface, and it is estimated this many
/// tokens too high.
const FRAME_OVERESTIMATE: usize = 12;

/// Quotes of a description are escaped in JSON, and the estimate counts too little for escapes: one more token for this
/// many of them.
const QUOTES_PER_TOKEN: usize = 3;

/// Maximum operations that are examined to estimate the cost of all.
const COST_SAMPLE_SIZE: usize = 48;

/// Returns the estimated tokens of the surface.
#[must_use]
pub fn surface_cost(catalog: &Catalog) -> usize {
    catalog.tools.iter().map(cost).sum()
}

/// Estimates the tokens of a surface with one tool for each operation. Examines a sample if there are many.
#[must_use]
pub fn discrete_cost(catalog: &Catalog) -> usize {
    let is_own = |entry: &&CatalogEntry| entry.operation.name != INTROSPECT;
    let own: Vec<&CatalogEntry> = catalog.operations.iter().filter(is_own).collect();
    let step = own.len().div_ceil(COST_SAMPLE_SIZE).max(1);
    let costs: Vec<usize> = own
        .iter()
        .step_by(step)
        .filter_map(|entry| operation_tool(catalog, entry, &entry.operation.params))
        .map(|tool| cost(&tool))
        .collect();
    match costs.len() {
        0 => 0,
        count => costs.iter().sum::<usize>() * own.len() / count,
    }
}
