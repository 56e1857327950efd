//! Lists of operations: all, narrowed, found by search; whole or in pages.

use super::args::{DetailLevel, IntrospectArgs};
use super::page::{self, Page};
use super::protocol::protocol;
use super::{details, hits, summary};
use crate::catalog::{Catalog, CatalogEntry, Producers};
use crate::error::OpError;
use crate::groups::Groups;
use crate::request;
use crate::response::{Answer, Warning};
use crate::suggest;
use serde_json::{Map, Value, json};

/// Names are short, so that more of them make a page.
const NAMES_PAGE_SIZE: usize = 200;
/// Details are long.
const DETAILS_PAGE_SIZE: usize = 5;
/// So many details at once, whatever is asked for.
const MAX_DETAILS_PAGE_SIZE: usize = 20;
/// How many groups are counted before the rest of them is.
const GROUPS: usize = 15;

/// The operations that are asked for.
pub(crate) fn operations(catalog: &Catalog, ask: &IntrospectArgs<'_>) -> Result<Answer, OpError> {
    let found = matching_entries(catalog, ask);
    let whole = found.len() <= page::MAX_UNPAGED_ITEMS;
    let (size, most) = match (ask.detail, ask.search) {
        (Some(DetailLevel::Full), _) => (DETAILS_PAGE_SIZE, MAX_DETAILS_PAGE_SIZE),
        (_, Some(_)) => (hits::DEFAULT_HITS, page::MAX_LIST_PAGE_SIZE),
        (Some(DetailLevel::Names), _) => (NAMES_PAGE_SIZE, page::MAX_LIST_PAGE_SIZE),
        _ if whole => (page::MAX_UNPAGED_ITEMS, page::MAX_LIST_PAGE_SIZE),
        _ => (page::LIST_PAGE_SIZE, page::MAX_LIST_PAGE_SIZE),
    };
    let page = Page::of(ask, found.len(), size, most)?;
    let shown: Vec<&CatalogEntry> = found.get(page.range.clone()).unwrap_or_default().to_vec();
    let plain = ask.narrowed_by().next().is_none() && ask.detail.is_none() && ask.after.is_none();
    let mut data = Map::new();
    if plain {
        data.insert("_protocol".into(), protocol(catalog));
    }
    let rows = match (ask.detail, ask.search) {
        (None, Some(question)) => {
            hits::rows(catalog, &hits_with_producers(catalog, ask, question, &page, &shown))
        }
        (detail, _) => rows(catalog, detail.unwrap_or(DetailLevel::Summary), &shown),
    };
    data.insert("operations".into(), rows);
    // A search answers with the best; how many others fit somehow says nothing.
    if ask.paged() || (page.is_part() && ask.search.is_none()) {
        data.insert("pageInfo".into(), page.info());
    }
    if page.is_part() && ask.search.is_none() && ask.detail.is_none() && ask.after.is_none() {
        data.insert("groups".into(), groups(&found));
        data.insert("hint".into(), LONG_LIST_HINT.into());
    }
    let warnings = if found.is_empty() { vec![empty_list_warning(catalog, ask)] } else { Vec::new() };
    Ok(Answer { warnings, ..Answer::new(Value::Object(data)) })
}

/// How to go on where a list is long.
const LONG_LIST_HINT: &str =
    r#"Find operations with {"search":"what you want to do"}, or narrow with tag, category or endpoint."#;

/// The operations that fit, in order: the best first where there is a question.
fn matching_entries<'c>(catalog: &'c Catalog, ask: &IntrospectArgs<'_>) -> Vec<&'c CatalogEntry> {
    let fits = |entry: &&CatalogEntry| fits(ask, entry);
    match ask.search {
        Some(question) => {
            catalog.search(question, catalog.operations.len()).into_iter().filter(fits).collect()
        }
        None => catalog.operations.iter().filter(fits).collect(),
    }
}

/// Whether an operation is none of those that are left out.
pub(crate) fn fits(ask: &IntrospectArgs<'_>, entry: &CatalogEntry) -> bool {
    let operation = &entry.operation;
    ask.category.is_none_or(|category| operation.category == category)
        && ask.endpoint.is_none_or(|endpoint| operation.endpoint == endpoint)
        && ask.tag.is_none_or(|tag| operation.tags.iter().any(|own| own.eq_ignore_ascii_case(tag)))
}

/// What search found, with where identifiers come from. Filters leave out hits, and what was said with them.
fn hits_with_producers<'c>(
    catalog: &'c Catalog,
    ask: &IntrospectArgs<'_>,
    question: &str,
    page: &Page,
    shown: &[&'c CatalogEntry],
) -> Vec<(&'c CatalogEntry, Producers<'c>)> {
    if ask.narrowed_by().count() > 1 || page.range.start > 0 {
        return shown.iter().map(|entry| (*entry, catalog.producers(entry))).collect();
    }
    catalog.search_with_chain(question, page.range.end)
}

fn rows(catalog: &Catalog, detail: DetailLevel, shown: &[&CatalogEntry]) -> Value {
    shown.iter().filter_map(|entry| row(catalog, detail, entry)).collect()
}

/// An operation in a list, in as much detail as is asked for.
pub(crate) fn row(catalog: &Catalog, detail: DetailLevel, entry: &CatalogEntry) -> Option<Value> {
    match detail {
        DetailLevel::Names => Some(entry.operation.name.as_str().into()),
        DetailLevel::Signature => details::list_signature(catalog, entry),
        DetailLevel::Full => details::operation(catalog, entry),
        DetailLevel::Summary => Some(summary_of(entry)),
    }
}

/// An operation in a list.
pub(crate) fn summary_of(entry: &CatalogEntry) -> Value {
    let operation = &entry.operation;
    json!({
        "name": operation.name,
        "semantic_category": operation.category.as_str(),
        "endpoint": operation.endpoint,
        "description": summary(operation),
    })
}

/// `{"by":"tag","counts":{"repos":201},"more":12}`.
fn groups(found: &[&CatalogEntry]) -> Value {
    let groups = Groups::of(found.iter().map(|entry| &entry.operation));
    let counts: Map<String, Value> =
        groups.largest(GROUPS).map(|(name, count)| (name.to_owned(), count.into())).collect();
    let mut out = Map::new();
    out.insert("by".into(), if groups.by_tag { "tag" } else { "noun" }.into());
    out.insert("counts".into(), Value::Object(counts));
    if groups.len() > GROUPS {
        out.insert("more".into(), (groups.len() - GROUPS).into());
    }
    Value::Object(out)
}

/// Why a list is empty, and what to do about it.
fn empty_list_warning(catalog: &Catalog, ask: &IntrospectArgs<'_>) -> Warning {
    let all = || catalog.operations.iter().map(|entry| &entry.operation);
    let known =
        |tag: &str| all().any(|operation| operation.tags.iter().any(|own| own.eq_ignore_ascii_case(tag)));
    let message = match ask.tag {
        Some(tag) if !known(tag) => {
            let tags: Vec<&str> = all().flat_map(|operation| &operation.tags).map(String::as_str).collect();
            let mut near = suggest::nearest_many(tag, tags.iter().copied(), 40);
            near.dedup();
            near.truncate(3);
            let hint = if near.is_empty() {
                "List operations without it to see the groups.".to_owned()
            } else {
                format!("Nearest: {}.", near.join(", "))
            };
            format!("No operation has the tag{}. {hint}", request::quoted_name(tag))
        }
        _ if ask.search.is_some() => {
            "No operation fits. Search with other words, or list operations to see what there is.".to_owned()
        }
        _ => "No operation fits all of these parameters. Leave one of them out.".to_owned(),
    };
    Warning { code: "NOT_FOUND", message }
}
