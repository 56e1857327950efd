//! Infers the pagination of an operation from the names of its parameters and of the answer's fields.

use super::answer::AnswerLayout;
use mcpaql_core::operation::{Category, Operation, PageKind, Pagination, Param, ParamLocation};
use mcpaql_lexicon::snake_case;
use serde_json::Value;

const CURSORS: [&str; 27] = [
    "cursor",
    "page_token",
    "next_token",
    "starting_after",
    "after",
    "continuation_token",
    "pagination_token",
    "next_cursor",
    "start_cursor",
    "continue",
    "marker",
    "bookmark",
    "scroll_id",
    "page_cursor",
    "skiptoken",
    "skip_token",
    "next_page_token",
    "page_after",
    "exclusive_start_key",
    "after_cursor",
    "next_marker",
    "start_token",
    "page_key",
    "cursor_mark",
    "next_page",
    "after_id",
    "since_id",
];
const PAGES: [&str; 10] = [
    "page",
    "page_number",
    "page_no",
    "page_num",
    "page_index",
    "page_id",
    "current_page",
    "p",
    "pagenumber",
    "pageno",
];
const OFFSETS: [&str; 11] = [
    "offset",
    "skip",
    "start",
    "start_index",
    "start_at",
    "from",
    "first_result",
    "page_offset",
    "startindex",
    "pagination_offset",
    "start_position",
];
const SIZES: [&str; 28] = [
    "per_page",
    "page_size",
    "limit",
    "page_limit",
    "size",
    "max_results",
    "count",
    "top",
    "results_per_page",
    "rows",
    "take",
    "first",
    "max_items",
    "pagesize",
    "maxresults",
    "items_per_page",
    "num",
    "page_count",
    "max_page_size",
    "perpage",
    "batch_size",
    "num_results",
    "max",
    "maxsize",
    "max_size",
    "maxrecords",
    "max_records",
    "pagination_limit",
];
/// Fields of an answer with the next cursor, the most reliable first.
const NEXT_CURSORS: [&str; 19] = [
    "next_page_token",
    "next_token",
    "next_cursor",
    "next_page_cursor",
    "continuation_token",
    "next_continuation_token",
    "next_marker",
    "end_cursor",
    "cursor_next",
    "next_start",
    "next_page_id",
    "after",
    "scroll_id",
    "bookmark",
    "cursor",
    "last_evaluated_key",
    "pagination_token",
    "next",
    "next_page",
];
/// Fields of an answer with the URL of the next page.
const NEXT_ADDRESSES: [&str; 14] = [
    "next_link",
    "odata_next_link",
    "next_url",
    "next_page_url",
    "next_page_uri",
    "next_page_link",
    "next_href",
    "next_uri",
    "links_next_href",
    "links_next",
    "paging_next",
    "pagination_next",
    "next_page_path",
    "next",
];

/// Returns the pagination of an operation that reads a list.
pub(super) fn pages(
    head: &Operation,
    params: &[Param],
    seen: &AnswerLayout,
    link: bool,
) -> Option<Pagination> {
    if head.category != Category::Read {
        return None;
    }
    let list = seen.items.is_some();
    let named = |names: &[&str], number: bool| {
        let fits = |param: &&Param| {
            matches!(param.location, ParamLocation::Query | ParamLocation::Body)
                && can_paginate(param, number)
        };
        names.iter().find_map(|name| {
            params.iter().filter(fits).find(|param| param.name == *name || snake_case(&param.wire) == *name)
        })
    };
    let cursor = named(&CURSORS, false);
    let page = named(&PAGES, true);
    let offset = named(&OFFSETS, true);
    let size = named(&SIZES, true);
    let token = field(seen, &NEXT_CURSORS);
    let address = field(seen, &NEXT_ADDRESSES);
    let (kind, at, next) = if link {
        (PageKind::Link, page.or(cursor).or(offset), None)
    } else if let Some(cursor) = cursor.filter(|_| list || token.is_some()) {
        (PageKind::Cursor, Some(cursor), token.or(address))
    } else if let Some(page) = page.filter(|_| list || size.is_some()) {
        (PageKind::Page, Some(page), address)
    } else if let Some(offset) = offset.filter(|_| list || size.is_some()) {
        (PageKind::Offset, Some(offset), address)
    } else if address.is_some() && list {
        (PageKind::Link, None, address)
    } else {
        return None;
    };
    let name = |param: Option<&Param>| param.map(|param| param.name.clone());
    Some(Pagination { kind, at: name(at), size: name(size), next, items: seen.items.clone() })
}

/// Whether a parameter's type can be a page number (if `number`) or a cursor. A date is neither.
fn can_paginate(param: &Param, number: bool) -> bool {
    let kind = param.schema.get("type").and_then(Value::as_str).unwrap_or_default();
    let dated =
        param.schema.get("format").and_then(Value::as_str).is_some_and(|format| format.starts_with("date"));
    match kind {
        "integer" | "number" => true,
        "string" | ""
            if number && matches!(param.name.as_str(), "from" | "start" | "first" | "top" | "max") =>
        {
            false
        }
        "string" | "" => !dated,
        _ => false,
    }
}

/// Returns the first of these names among the answer's fields, as the whole path or its last part.
fn field(seen: &AnswerLayout, names: &[&str]) -> Option<String> {
    let spelled: Vec<(String, Option<String>)> = seen
        .fields
        .iter()
        .map(|field| (snake_case(field), field.rsplit_once('.').map(|(_, last)| snake_case(last))))
        .collect();
    names.iter().find_map(|name| {
        let whole = spelled.iter().position(|(whole, _)| whole == name);
        let index = whole.or_else(|| spelled.iter().position(|(_, last)| last.as_deref() == Some(name)))?;
        seen.fields.get(index).cloned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcpaql_core::facts::{Facts, Reach};
    use mcpaql_core::operation::{Binding, HttpBinding};
    use serde_json::json;

    fn head(category: Category) -> Operation {
        let facts = Facts::read(Reach::Open);
        Operation::new("list_things", category, facts, Binding::Http(HttpBinding::new("GET", Vec::new())))
    }

    fn params(names: &[(&str, &str)]) -> Vec<Param> {
        names
            .iter()
            .map(|(name, kind)| Param::new(*name, ParamLocation::Query, json!({"type": kind})))
            .collect()
    }

    fn seen(items: Option<&str>, fields: &[&str]) -> AnswerLayout {
        AnswerLayout {
            items: items.map(str::to_owned),
            fields: fields.iter().map(|field| (*field).to_owned()).collect(),
            ..AnswerLayout::default()
        }
    }

    #[test]
    fn every_common_kind_is_found() {
        let rows = [
            (
                vec![("page", "integer"), ("per_page", "integer")],
                seen(Some(""), &[]),
                true,
                (PageKind::Link, Some("page"), Some("per_page"), None),
            ),
            (
                vec![("page_token", "string"), ("page_size", "integer")],
                seen(Some("items"), &["items", "nextPageToken"]),
                false,
                (PageKind::Cursor, Some("page_token"), Some("page_size"), Some("nextPageToken")),
            ),
            (
                vec![("cursor", "string"), ("limit", "integer")],
                seen(Some("members"), &["members", "response_metadata.next_cursor"]),
                false,
                (PageKind::Cursor, Some("cursor"), Some("limit"), Some("response_metadata.next_cursor")),
            ),
            (
                vec![("starting_after", "string"), ("limit", "integer")],
                seen(Some("data"), &["data", "has_more"]),
                false,
                (PageKind::Cursor, Some("starting_after"), Some("limit"), None),
            ),
            (
                vec![("page", "integer")],
                seen(Some("results"), &["results", "next"]),
                false,
                (PageKind::Page, Some("page"), None, Some("next")),
            ),
            (
                vec![("offset", "integer"), ("limit", "integer")],
                seen(None, &[]),
                false,
                (PageKind::Offset, Some("offset"), Some("limit"), None),
            ),
            (
                vec![("top", "integer")],
                seen(Some("value"), &["value", "@odata.nextLink"]),
                false,
                (PageKind::Link, None, Some("top"), Some("@odata.nextLink")),
            ),
        ];
        for (given, seen, link, (kind, at, size, next)) in rows {
            let found = pages(&head(Category::Read), &params(&given), &seen, link).unwrap();
            let shown = (found.kind, found.at.as_deref(), found.size.as_deref(), found.next.as_deref());
            assert_eq!(shown, (kind, at, size, next), "{given:?}");
            assert_eq!(found.items, seen.items);
        }
    }

    #[test]
    fn parameters_that_only_look_like_pages_are_ignored() {
        let none = |category, given: &[(&str, &str)], seen: AnswerLayout| {
            assert_eq!(pages(&head(category), &params(given), &seen, false), None, "{given:?}");
        };
        none(Category::Read, &[("limit", "integer")], seen(Some(""), &[]));
        none(Category::Read, &[("page", "integer")], seen(None, &["id"]));
        none(Category::Read, &[("after", "string")], seen(None, &["id"]));
        none(Category::Update, &[("page", "integer"), ("limit", "integer")], seen(None, &[]));
        none(Category::Read, &[("page", "object"), ("limit", "integer")], seen(None, &[]));
        let mut dated = params(&[("after", "string")]);
        dated[0].schema = json!({"type": "string", "format": "date-time"});
        assert_eq!(pages(&head(Category::Read), &dated, &seen(Some(""), &[]), false), None);
    }
}
