//! Lists operations: all of them, filtered ones or search results, complete or in pages.

use super::args::{DetailLevel, IntrospectArgs};
use super::page::{self, Page};
use super::protocol::{page_protocol, protocol};
use super::{details, hits, summary};
use crate::catalog::{Catalog, CatalogEntry, Producers};
use crate::error::OpError;
use crate::groups::Groups;
use crate::request;
use crate::response::{Answer, Warning};
use crate::suggest;
use serde_json::{Map, Value, json};

/// Default page size of names. They are short, so a page has many.
const NAMES_PAGE_SIZE: usize = 200;
/// Default page size of details. They are long.
const DETAILS_PAGE_SIZE: usize = 5;
/// Maximum page size of details.
const MAX_DETAILS_PAGE_SIZE: usize = 20;
/// Maximum groups with a count. The others are counted together.
const MAX_GROUPS: usize = 15;

/// Lists the requested operations.
pub(crate) fn operations(catalog: &Catalog, options: &IntrospectArgs<'_>) -> Result<Answer, OpError> {
    let found = matching_entries(catalog, options);
    let fits_one_page = found.len() <= page::MAX_UNPAGED_ITEMS;
    let (size, max) = match (options.detail, options.search) {
        (Some(DetailLevel::Full), _) => (DETAILS_PAGE_SIZE, MAX_DETAILS_PAGE_SIZE),
        (_, Some(_)) => (hits::DEFAULT_HITS, page::MAX_LIST_PAGE_SIZE),
        (Some(DetailLevel::Names), _) => (NAMES_PAGE_SIZE, page::MAX_LIST_PAGE_SIZE),
        _ if fits_one_page => (page::MAX_UNPAGED_ITEMS, page::MAX_LIST_PAGE_SIZE),
        _ => (page::LIST_PAGE_SIZE, page::MAX_LIST_PAGE_SIZE),
    };
    let page = Page::of(options, found.len(), size, max)?;
    let shown: Vec<&CatalogEntry> = found.get(page.range.clone()).unwrap_or_default().to_vec();
    let plain = options.narrowed_by().next().is_none() && options.detail.is_none() && options.after.is_none();
    // A search returns the best operations; the number of other matches is not useful.
    let says_page = options.paged() || (page.is_part() && options.search.is_none());
    let mut about = if plain {
        protocol(catalog)
    } else if says_page {
        page_protocol(&page)
    } else {
        Value::Null
    };
    if let Value::Object(about) = &mut about {
        if says_page {
            about.insert("pageInfo".into(), page.info());
        }
        if page.is_part() && options.search.is_none() && options.detail.is_none() && options.after.is_none() {
            about.insert("groups".into(), groups(&found));
            about.insert("hint".into(), LONG_LIST_HINT.into());
        }
    }
    let mut data = Map::new();
    if !about.is_null() {
        data.insert("_protocol".into(), about);
    }
    let (rows, plan) = match (options.detail, options.search) {
        (None, Some(question)) => {
            let hits: Vec<_> = hits_with_producers(catalog, options, question, &page, &shown)
                .into_iter()
                .map(|(entry, producers)| (catalog, entry, producers))
                .collect();
            hits::rows_and_plan(question, &hits, false, options.paged())
        }
        (detail, _) => (rows(catalog, detail.unwrap_or(DetailLevel::Summary), &shown), None),
    };
    data.insert("operations".into(), rows);
    if let Some(plan) = plan {
        data.insert("plan".into(), plan);
    }
    let mut warnings: Vec<Warning> = page.clamped_warning().into_iter().collect();
    if found.is_empty() {
        warnings.push(empty_list_warning(catalog, options));
    }
    Ok(Answer::new(Value::Object(data)).with_warnings(warnings))
}

/// The hint in an answer with a long list.
const LONG_LIST_HINT: &str =
    r#"Find operations with {"search":"what you want to do"}, or narrow with tag, category or endpoint."#;

/// Returns the matching operations in order; for a search, the best first.
fn matching_entries<'c>(catalog: &'c Catalog, options: &IntrospectArgs<'_>) -> Vec<&'c CatalogEntry> {
    let fits = |entry: &&CatalogEntry| fits(options, entry);
    match options.search {
        Some(question) => {
            catalog.search(question, catalog.operations.len()).into_iter().filter(fits).collect()
        }
        None => catalog.operations.iter().filter(fits).collect(),
    }
}

/// Returns whether an operation passes the filters.
pub(crate) fn fits(options: &IntrospectArgs<'_>, entry: &CatalogEntry) -> bool {
    let operation = &entry.operation;
    options.category.is_none_or(|category| operation.category == category)
        && options.endpoint.is_none_or(|endpoint| operation.endpoint == endpoint)
        && options.tag.is_none_or(|tag| operation.tags.iter().any(|own| own.eq_ignore_ascii_case(tag)))
}

/// Returns the search hits and the operations that produce their identifiers. With other filters or on a later page,
/// the producers are not ranked by the question.
fn hits_with_producers<'c>(
    catalog: &'c Catalog,
    options: &IntrospectArgs<'_>,
    question: &str,
    page: &Page,
    shown: &[&'c CatalogEntry],
) -> Vec<(&'c CatalogEntry, Producers<'c>)> {
    if options.narrowed_by().count() > 1 || page.range.start > 0 {
        return shown.iter().map(|entry| (*entry, catalog.producers(entry))).collect();
    }
    catalog.search_with_chain(question, page.range.end)
}

fn rows(catalog: &Catalog, detail: DetailLevel, shown: &[&CatalogEntry]) -> Value {
    shown.iter().filter_map(|entry| row(catalog, detail, entry)).collect()
}

/// Describes an operation in a list, at the requested detail level.
pub(crate) fn row(catalog: &Catalog, detail: DetailLevel, entry: &CatalogEntry) -> Option<Value> {
    match detail {
        DetailLevel::Names => Some(entry.operation.name.as_str().into()),
        DetailLevel::Signature => details::list_signature(catalog, entry),
        DetailLevel::Full => details::full(catalog, entry),
        DetailLevel::Summary => Some(summary_of(entry)),
    }
}

/// Describes an operation in a list.
pub(crate) fn summary_of(entry: &CatalogEntry) -> Value {
    let operation = &entry.operation;
    json!({
        "name": operation.name,
        "semantic_category": operation.category.as_str(),
        "endpoint": operation.endpoint,
        "description": summary(operation),
    })
}

/// Counts operations by group: `{"by":"tag","counts":{"repos":201},"more":12}`.
fn groups(found: &[&CatalogEntry]) -> Value {
    let groups = Groups::of(found.iter().map(|entry| &entry.operation));
    let counts: Map<String, Value> =
        groups.largest(MAX_GROUPS).map(|(name, count)| (name.to_owned(), count.into())).collect();
    let mut out = Map::new();
    out.insert("by".into(), if groups.by_tag { "tag" } else { "noun" }.into());
    out.insert("counts".into(), Value::Object(counts));
    if groups.len() > MAX_GROUPS {
        out.insert("more".into(), (groups.len() - MAX_GROUPS).into());
    }
    Value::Object(out)
}

/// Explains why a list is empty and what to do.
fn empty_list_warning(catalog: &Catalog, options: &IntrospectArgs<'_>) -> Warning {
    let all = || catalog.operations.iter().map(|entry| &entry.operation);
    let known =
        |tag: &str| all().any(|operation| operation.tags.iter().any(|own| own.eq_ignore_ascii_case(tag)));
    let message = match options.tag {
        Some(tag) if !known(tag) => {
            let tags: Vec<&str> = all().flat_map(|operation| &operation.tags).map(String::as_str).collect();
            let mut near = suggest::nearest_many(tag, tags.iter().copied(), 40);
            near.dedup();
            near.truncate(3);
            let hint = if near.is_empty() {
                "Remove 'tag' to see all groups.".to_owned()
            } else {
                format!("Nearest: {}.", near.join(", "))
            };
            format!("No operation has the tag{}. {hint}", request::quoted_name(tag))
        }
        _ if options.search.is_some() => {
            "No operation found. Search with other words, or list all operations.".to_owned()
        }
        _ => "No operation matches all of these parameters. Remove one of them.".to_owned(),
    };
    Warning::new("NOT_FOUND", message)
}
