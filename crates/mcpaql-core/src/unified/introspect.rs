//! Introspection of all adapters, for calls without `adapter`.

use super::Unified;
use crate::catalog::{Catalog, Producers};
use crate::error::OpError;
use crate::introspect::args::{DetailLevel, IntrospectArgs};
use crate::introspect::page::{self, Page};
use crate::introspect::{self, answer_by_name, hits, invalid, list, not_found_warning, page_protocol};
use crate::operation::{Category, INTROSPECT};
use crate::response::{Answer, Warning};
use crate::schema::shorten;
use mcpaql_lexicon::first_sentence;
use serde_json::{Map, Value, json};

/// Maximum characters of a description in the list of adapters.
const MAX_DESCRIPTION_CHARS: usize = 120;
const HINT: &str =
    r#"Find operations with {"search":"what you want to do"}, or name an adapter beside 'operation'."#;

/// Answers `introspect`. The arguments are already validated.
///
/// # Errors
/// Fails if a parameter needs a single adapter.
pub(crate) fn answer(
    catalogs: &[&Catalog],
    unified: &Unified,
    args: &Map<String, Value>,
) -> Result<Answer, OpError> {
    let options = IntrospectArgs::read(args)?;
    if let Some(names) = &options.names {
        if options.types {
            return Err(invalid("query", "Types belong to an adapter. Name it in 'adapter'.".to_owned()));
        }
        return Ok(answer_by_name(&options, names, "operation", |name| {
            operation(catalogs, name, options.detail)
        }));
    }
    match options.search {
        Some(question) => search(catalogs, unified, &options, question),
        None => adapters(catalogs, &options),
    }
}

fn operation(catalogs: &[&Catalog], name: &str, detail: Option<DetailLevel>) -> Result<Value, Warning> {
    let providers: Vec<&&Catalog> = catalogs.iter().filter(|catalog| catalog.get(name).is_some()).collect();
    match providers.as_slice() {
        [catalog] => {
            let mut shown = introspect::operation(catalog, name, detail)?;
            if let (Value::Object(map), true) = (&mut shown, name != INTROSPECT) {
                map.shift_insert(0, "adapter".into(), catalog.adapter.name.as_str().into());
            }
            Ok(shown)
        }
        [] => Err(not_found_warning("operation", name, &[])),
        // `introspect` is the same in every adapter.
        [catalog, ..] if name == INTROSPECT => introspect::operation(catalog, name, detail),
        several => {
            let names: Vec<&str> = several.iter().map(|catalog| catalog.adapter.name.as_str()).collect();
            let message = format!(
                "Several adapters have this operation: name one of {} in 'adapter'.",
                names.join(", ")
            );
            Err(Warning::new("AMBIGUOUS", message))
        }
    }
}

fn search(
    catalogs: &[&Catalog],
    unified: &Unified,
    options: &IntrospectArgs<'_>,
    question: &str,
) -> Result<Answer, OpError> {
    let all: usize = catalogs.iter().map(|catalog| catalog.operations.len()).sum();
    let fits = |(position, index): &(usize, usize)| {
        let entry = catalogs.get(*position).and_then(|catalog| catalog.operations.get(*index));
        entry.is_some_and(|entry| list::fits(options, entry))
    };
    let hits: Vec<(usize, usize)> =
        unified.search(catalogs, question, all).into_iter().filter(fits).collect();
    let page = Page::of(options, hits.len(), hits::DEFAULT_HITS, page::MAX_LIST_PAGE_SIZE)?;
    let shown: Vec<(&Catalog, &crate::catalog::CatalogEntry, Producers<'_>)> = hits
        .get(page.range.clone())
        .unwrap_or_default()
        .iter()
        .filter_map(|(position, index)| {
            let catalog = *catalogs.get(*position)?;
            let entry = catalog.operations.get(*index)?;
            Some((catalog, entry, catalog.producers(entry)))
        })
        .collect();
    let mut data = Map::new();
    let (rows, plan) = match options.detail {
        None => hits::rows_and_plan(question, &shown, true, options.paged()),
        Some(detail) => (
            shown
                .iter()
                .filter_map(|(catalog, entry, _)| {
                    let adapter = catalog.adapter.name.as_str();
                    match list::row(catalog, detail, entry)? {
                        Value::Object(mut map) => {
                            map.shift_insert(0, "adapter".into(), adapter.into());
                            Some(Value::Object(map))
                        }
                        name => Some(json!({"adapter": adapter, "name": name})),
                    }
                })
                .collect(),
            None,
        ),
    };
    data.insert("operations".into(), rows);
    if let Some(plan) = plan {
        data.insert("plan".into(), plan);
    }
    if options.paged() {
        data.insert("_protocol".into(), page_protocol(&page));
    }
    let mut warnings: Vec<Warning> = page.clamped_warning().into_iter().collect();
    if hits.is_empty() {
        let message = "No operation found in any adapter. Search with other words, or list the adapters.";
        warnings.push(Warning::new("NOT_FOUND", message));
    }
    Ok(Answer::new(Value::Object(data)).with_warnings(warnings))
}

fn adapters(catalogs: &[&Catalog], options: &IntrospectArgs<'_>) -> Result<Answer, OpError> {
    if options.types {
        return Err(invalid("query", "Types belong to an adapter. Name it in 'adapter'.".to_owned()));
    }
    if let Some(param) = options.narrowed_by().next() {
        let message = format!(
            "Parameter '{param}' filters the operations of one adapter. Name the adapter in 'adapter', or use 'search'."
        );
        return Err(invalid(param, message));
    }
    let page = Page::of(options, catalogs.len(), page::MAX_UNPAGED_ITEMS, page::MAX_LIST_PAGE_SIZE)?;
    let shown = catalogs.get(page.range.clone()).unwrap_or_default();
    let rows: Vec<Value> = shown.iter().map(|catalog| adapter(catalog)).collect();
    let mut data = Map::new();
    data.insert("adapters".into(), Value::Array(rows));
    if page.is_part() || options.paged() {
        data.insert("pageInfo".into(), page.info());
    }
    data.insert("hint".into(), HINT.into());
    let warnings = page.clamped_warning().into_iter().collect();
    Ok(Answer::new(Value::Object(data)).with_warnings(warnings))
}

fn adapter(catalog: &Catalog) -> Value {
    let count = |category: Category| {
        catalog
            .operations
            .iter()
            .filter(|entry| entry.operation.category == category && entry.operation.name != INTROSPECT)
            .count()
    };
    let counts: Map<String, Value> = Category::ALL
        .into_iter()
        .map(|category| (category.endpoint().to_owned(), count(category)))
        .filter(|(_, count)| *count > 0)
        .map(|(name, count)| (name, count.into()))
        .collect();
    let adapter = &catalog.adapter;
    json!({
        "name": adapter.name,
        "display_name": adapter.display_name,
        "description": shorten(first_sentence(adapter.description.trim()), MAX_DESCRIPTION_CHARS),
        "operations": counts,
    })
}
