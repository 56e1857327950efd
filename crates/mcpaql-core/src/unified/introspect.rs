//! Introspection over all adapters, until one of them is named.

use super::Unified;
use crate::catalog::{Catalog, Producers};
use crate::error::OpError;
use crate::introspect::args::{DetailLevel, IntrospectArgs};
use crate::introspect::page::{self, Page};
use crate::introspect::{self, answer_by_name, hits, invalid, list, not_found_warning};
use crate::operation::{Category, INTROSPECT};
use crate::response::{Answer, Warning};
use crate::schema::shorten;
use mcpaql_lexicon::first_sentence;
use serde_json::{Map, Value, json};

/// A list of adapters shows so much of a description.
const MAX_DESCRIPTION_CHARS: usize = 120;
const HINT: &str =
    r#"Find operations with {"search":"what you want to do"}, or name an adapter beside 'operation'."#;

/// Answers `introspect` for arguments that are already validated.
///
/// # Errors
/// For what only makes sense for one adapter.
pub(crate) fn answer(
    catalogs: &[&Catalog],
    unified: &Unified,
    args: &Map<String, Value>,
) -> Result<Answer, OpError> {
    let ask = IntrospectArgs::read(args)?;
    if let Some(names) = &ask.names {
        if ask.types {
            return Err(invalid("query", "Types belong to an adapter. Name it in 'adapter'.".to_owned()));
        }
        return Ok(answer_by_name(&ask, names, "operation", |name| {
            operation(catalogs, name, ask.detail.unwrap_or(DetailLevel::Full))
        }));
    }
    match ask.search {
        Some(question) => search(catalogs, unified, &ask, question),
        None => adapters(catalogs, &ask),
    }
}

fn operation(catalogs: &[&Catalog], name: &str, detail: DetailLevel) -> Result<Value, Warning> {
    let holding: Vec<&&Catalog> = catalogs.iter().filter(|catalog| catalog.get(name).is_some()).collect();
    match holding.as_slice() {
        [catalog] => {
            let mut shown = introspect::operation(catalog, name, detail)?;
            if let (Value::Object(map), true) = (&mut shown, name != INTROSPECT) {
                map.shift_insert(0, "adapter".into(), catalog.adapter.name.as_str().into());
            }
            Ok(shown)
        }
        [] => Err(not_found_warning("operation", name, &[])),
        // The protocol's own is the same everywhere.
        [catalog, ..] if name == INTROSPECT => introspect::operation(catalog, name, detail),
        several => {
            let names: Vec<&str> = several.iter().map(|catalog| catalog.adapter.name.as_str()).collect();
            Err(Warning {
                code: "AMBIGUOUS",
                message: format!("Several adapters have it: name one of {} in 'adapter'.", names.join(", ")),
            })
        }
    }
}

fn search(
    catalogs: &[&Catalog],
    unified: &Unified,
    ask: &IntrospectArgs<'_>,
    question: &str,
) -> Result<Answer, OpError> {
    let all: usize = catalogs.iter().map(|catalog| catalog.operations.len()).sum();
    let fits = |(position, index): &(usize, usize)| {
        let entry = catalogs.get(*position).and_then(|catalog| catalog.operations.get(*index));
        entry.is_some_and(|entry| list::fits(ask, entry))
    };
    let hits: Vec<(usize, usize)> =
        unified.search(catalogs, question, all).into_iter().filter(fits).collect();
    let page = Page::of(ask, hits.len(), hits::DEFAULT_HITS, page::MAX_LIST_PAGE_SIZE)?;
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
    let rows = match ask.detail {
        None => hits::rows_of(&shown, true),
        Some(detail) => shown
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
    };
    data.insert("operations".into(), rows);
    if ask.paged() {
        data.insert("pageInfo".into(), page.info());
    }
    let warnings = if hits.is_empty() {
        let message =
            "No operation of any adapter fits. Search with other words, or list the adapters.".to_owned();
        vec![Warning { code: "NOT_FOUND", message }]
    } else {
        Vec::new()
    };
    Ok(Answer { warnings, ..Answer::new(Value::Object(data)) })
}

fn adapters(catalogs: &[&Catalog], ask: &IntrospectArgs<'_>) -> Result<Answer, OpError> {
    if ask.types {
        return Err(invalid("query", "Types belong to an adapter. Name it in 'adapter'.".to_owned()));
    }
    if let Some(param) = ask.narrowed_by().next() {
        let message = format!(
            "Parameter '{param}' narrows the operations of one adapter. Name it in 'adapter', or search."
        );
        return Err(invalid(param, message));
    }
    let page = Page::of(ask, catalogs.len(), page::MAX_UNPAGED_ITEMS, page::MAX_LIST_PAGE_SIZE)?;
    let shown = catalogs.get(page.range.clone()).unwrap_or_default();
    let rows: Vec<Value> = shown.iter().map(|catalog| adapter(catalog)).collect();
    let mut data = Map::new();
    data.insert("adapters".into(), Value::Array(rows));
    if page.is_part() || ask.paged() {
        data.insert("pageInfo".into(), page.info());
    }
    data.insert("hint".into(), HINT.into());
    Ok(Answer::new(Value::Object(data)))
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
