//! `mcpaql operations`: lists the operations of adapters, for people.

use crate::documents::AdapterRequest;
use crate::{CommandOutcome, args, output};
use anyhow::Result;
use mcpaql_core::catalog::Catalog;
use mcpaql_core::operation::{Category, INTROSPECT, Operation};
use mcpaql_lexicon::first_sentence;
use serde_json::{Value, json};

/// Maximum characters of a summary in the table.
const MAX_SUMMARY: usize = 80;

pub(crate) fn run(args: &args::OperationsArgs) -> Result<CommandOutcome> {
    let request = AdapterRequest { documents: &args.documents, by_name: true, ..AdapterRequest::default() };
    let planned = request.resolve()?.catalogs()?;
    let shown: Vec<(&Catalog, Vec<&Operation>)> =
        planned.catalogs.iter().map(|(_, catalog)| (catalog, operations(catalog, args.category))).collect();
    if args.json {
        let rows: Vec<Value> = shown.iter().flat_map(|(catalog, list)| json_rows(catalog, list)).collect();
        output::print_data(&serde_json::to_string_pretty(&rows)?);
        return Ok(planned.outcome());
    }
    for (index, (catalog, list)) in shown.iter().enumerate() {
        if index > 0 {
            output::print_data("");
        }
        output::print_data(&output::sanitize(&text(catalog, list)));
    }
    Ok(planned.outcome())
}

/// Returns the operations of a category, or all, in the order of the categories.
fn operations(catalog: &Catalog, category: Option<Category>) -> Vec<&Operation> {
    let mut list: Vec<&Operation> = catalog
        .operations
        .iter()
        .map(|entry| &entry.operation)
        .filter(|operation| operation.name != INTROSPECT)
        .filter(|operation| category.is_none_or(|category| operation.category == category))
        .collect();
    list.sort_by_key(|operation| Category::ALL.iter().position(|category| *category == operation.category));
    list
}

fn text(catalog: &Catalog, operations: &[&Operation]) -> String {
    let adapter = &catalog.adapter;
    let plural = if operations.len() == 1 { "" } else { "s" };
    let mut rows = vec![["OPERATION", "CATEGORY", "DANGER", "SUMMARY"].map(str::to_owned)];
    rows.extend(operations.iter().map(|operation| {
        [
            operation.name.clone(),
            operation.category.as_str().to_owned(),
            operation.effective_danger().as_str().to_owned(),
            summary(operation),
        ]
    }));
    format!("{}: {} operation{plural}\n{}", adapter.name, operations.len(), output::format_table(&rows, 4))
}

/// Returns the first sentence of the description, on one line and shortened.
fn summary(operation: &Operation) -> String {
    let sentence = first_sentence(&operation.description);
    let line = output::sanitize_line(sentence.trim());
    if line.chars().count() <= MAX_SUMMARY {
        return line;
    }
    let short: String = line.chars().take(MAX_SUMMARY - 1).collect();
    format!("{}…", short.trim_end())
}

fn json_rows(catalog: &Catalog, operations: &[&Operation]) -> Vec<Value> {
    let row = |operation: &&Operation| {
        json!({
            "adapter": catalog.adapter.name,
            "operation": operation.name,
            "category": operation.category.as_str(),
            "danger": operation.effective_danger().as_str(),
            "tags": operation.tags,
            "deprecated": operation.deprecated.is_some(),
            "description": operation.description,
        })
    };
    operations.iter().map(row).collect()
}
