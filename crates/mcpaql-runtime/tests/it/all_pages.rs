//! `all_pages` over upstreams with every kind of pagination.

use crate::http::upstream::{Upstream, answer};
use crate::queries::{ask, tool};
use axum::response::Response;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::dispatch::ServedAdapter;
use mcpaql_runtime::{environment, open};
use serde_json::{Value, json};

fn body(text: &str) -> Response {
    answer(200, &[("content-type", "application/json")], text.to_owned())
}

/// Items of the whole list.
const ITEMS: usize = 25;

fn items(range: std::ops::Range<usize>) -> Vec<Value> {
    range
        .filter(|n| *n < ITEMS)
        .map(|n| json!({"id": n, "state": if n % 2 == 0 { "open" } else { "closed" }}))
        .collect()
}

/// Returns a parameter of the query string.
fn query(uri: &str, name: &str) -> Option<usize> {
    let query = uri.split_once('?')?.1;
    query.split('&').find_map(|pair| pair.strip_prefix(&format!("{name}="))?.parse().ok())
}

/// An adapter with one operation that lists items.
async fn served(url: &str, operation: Value) -> ServedAdapter {
    let mut list = json!({"name": "list_items", "maps_to": "GET /items"});
    list.as_object_mut().unwrap().extend(operation.as_object().unwrap().clone());
    let document = json!({
        "name": "shop", "type": "adapter", "version": "1.0.0", "description": "A shop.",
        "target": {"base_url": url}, "operations": {"read": [list]},
    });
    let checked = check::check(&Source::new("a.json", document.to_string()), &AdapterSettings::default());
    let catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    open::open(catalog, "a.json", None, &environment::process()).await.expect("an adapter")
}

fn paged(kind: &str, at: &str, rest: Value) -> Value {
    let mut pagination = json!({"kind": kind, "at": at});
    pagination.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    json!({"params": {at: {"type": "integer"}}, "pagination": pagination})
}

const COUNT: &str = r#"{"by": {"group_by": "state", "count": true}}"#;

/// Counts the items of all pages by state.
async fn counted(served: &ServedAdapter) -> (Value, Value) {
    let aggregate: Value = serde_json::from_str(COUNT).unwrap();
    let params = json!({"aggregate": aggregate, "all_pages": true});
    let reply = tool(served, json!({"operation": "list_items", "params": params})).await;
    (reply["data"]["aggregations"]["by"].clone(), reply["warnings"].clone())
}

#[tokio::test]
async fn every_kind_of_pagination_is_walked_to_its_end() {
    let whole = (json!({"open": 13, "closed": 12}), Value::Null);
    for (first, name) in [(1, "page"), (0, "page")] {
        let upstream = Upstream::start(move |_, seen| {
            let page = query(&seen.uri, name).unwrap_or(first) - first;
            body(&json!(items(page * 10..page * 10 + 10)).to_string())
        })
        .await;
        let served = served(&upstream.url, paged("page", name, json!({}))).await;
        assert_eq!(counted(&served).await, whole, "pages from {first}");
    }
    let offset = Upstream::start(|_, seen| {
        let start = query(&seen.uri, "offset").unwrap_or_default();
        body(&json!({"items": items(start..start + 10), "total": ITEMS}).to_string())
    })
    .await;
    let by_offset = served(&offset.url, paged("offset", "offset", json!({}))).await;
    assert_eq!(counted(&by_offset).await, whole);
    assert_eq!(offset.seen().len(), 3, "the total says where the list ends");
    let cursor = Upstream::start(|_, seen| {
        let start = query(&seen.uri, "cursor").unwrap_or_default();
        let next = (start + 10 < ITEMS).then_some(start + 10);
        body(&json!({"data": items(start..start + 10), "meta": {"next": next}}).to_string())
    })
    .await;
    let by_cursor = served(&cursor.url, paged("cursor", "cursor", json!({"next": "meta.next"}))).await;
    assert_eq!(counted(&by_cursor).await, whole);
    let link = Upstream::start(|_, seen| {
        let start = query(&seen.uri, "from").unwrap_or_default();
        let next = format!("</elsewhere?from={}>; rel=\"next\"", start + 10);
        let headers = [("content-type", "application/json"), ("link", next.as_str())];
        let count = if start + 10 < ITEMS { 2 } else { 1 };
        answer(200, &headers[..count], json!(items(start..start + 10)).to_string())
    })
    .await;
    let by_link = served(&link.url, json!({"pagination": {"kind": "link"}})).await;
    assert_eq!(counted(&by_link).await, whole);
    assert_eq!(link.seen()[1].uri, "/elsewhere?from=10");
    let all = ask(
        &by_link,
        "list_items",
        json!({"all_pages": true, "first": 2, "sort": {"field": "id", "order": "desc"}}),
    )
    .await
    .unwrap();
    assert_eq!((&all["items"][0]["id"], &all["pageInfo"]["totalCount"]), (&json!(24), &json!(25)));
}

#[tokio::test]
async fn an_incomplete_list_says_so() {
    let endless = Upstream::start(|_, seen| {
        let page = query(&seen.uri, "page").unwrap_or(1);
        body(&json!([{"id": page, "state": "open"}]).to_string())
    })
    .await;
    let served_endless = served(&endless.url, paged("page", "page", json!({}))).await;
    let (count, warnings) = counted(&served_endless).await;
    // One request went into finding out whether pages count from 0 or from 1.
    assert_eq!(count, json!({"open": 19}));
    assert_eq!(
        (warnings[0]["code"].clone(), warnings[0]["details"]["pages"].clone()),
        (json!("PARTIAL_LIST"), json!(20))
    );
    assert_eq!(warnings.as_array().unwrap().len(), 1);

    let broken = Upstream::start(|_, seen| match query(&seen.uri, "page") {
        None | Some(1) => body(&json!(items(0..10)).to_string()),
        Some(_) => answer(403, &[], "{}".to_owned()),
    })
    .await;
    let served_broken = served(&broken.url, paged("page", "page", json!({}))).await;
    let (count, warnings) = counted(&served_broken).await;
    assert_eq!(count, json!({"open": 5, "closed": 5}));
    assert!(warnings[0]["message"].as_str().unwrap().contains("PERMISSION_DENIED"), "{warnings}");

    let stuck =
        Upstream::start(|_, _| body(&json!({"items": items(0..3), "next": "same"}).to_string())).await;
    let by_cursor = json!({"params": {"cursor": "string"}, "pagination": {"kind": "cursor", "at": "cursor", "next": "next"}});
    let served_stuck = served(&stuck.url, by_cursor).await;
    let (_, warnings) = counted(&served_stuck).await;
    assert_eq!(warnings[0]["code"], "PARTIAL_LIST");
    assert_eq!(stuck.seen().len(), 2);

    let foreign = Upstream::start(|_, _| {
        body(&json!({"items": items(0..3), "next": "https://evil.example/x"}).to_string())
    })
    .await;
    let served_foreign = served(&foreign.url, json!({"pagination": {"kind": "link", "next": "next"}})).await;
    let (_, warnings) = counted(&served_foreign).await;
    assert_eq!(warnings[0]["code"], "PARTIAL_LIST");
    assert_eq!(foreign.seen().len(), 1);
    for next in ["http://169.254.169.254/items", "http://127.0.0.1:9/items", "//[::1]/items"] {
        let linked = Upstream::start(move |_, _| {
            let link = format!("<{next}>; rel=\"next\"");
            answer(200, &[("content-type", "application/json"), ("link", &link)], "[{\"id\": 1}]")
        })
        .await;
        let by_link = served(&linked.url, json!({"pagination": {"kind": "link"}})).await;
        let (_, warnings) = counted(&by_link).await;
        assert_eq!(warnings[0]["code"], "PARTIAL_LIST", "{next}: {warnings}");
        assert_eq!(linked.seen().len(), 1, "{next}");
    }
}

#[tokio::test]
async fn an_operation_without_known_pages_says_so() {
    let upstream = Upstream::start(|_, _| body(&json!(items(0..3)).to_string())).await;
    let served_once = served(&upstream.url, json!({})).await;
    let (count, warnings) = counted(&served_once).await;
    assert_eq!(count, json!({"open": 2, "closed": 1}));
    assert_eq!(warnings[0]["code"], "IGNORED_PARAMS");
    let refused =
        tool(&served_once, json!({"operation": "list_items", "params": {"all_pages": "yes"}})).await;
    assert_eq!(refused["error"]["code"], "VALIDATION_INVALID_TYPE");
}

#[tokio::test]
async fn declared_fields_are_the_default_and_have_names() {
    let upstream =
        Upstream::start(|_, _| body(&json!([{"id": 1, "price": 2, "count": 3, "note": "n"}]).to_string()))
            .await;
    let served = served(
        &upstream.url,
        json!({
            "default_fields": ["id", "missing"],
            "presets": {"card": ["id", "_computed.total"]},
            "computed": {"total": {"multiply": ["price", "count"]}},
        }),
    )
    .await;
    let shown = async |params: Value| {
        let reply = tool(&served, json!({"operation": "list_items", "params": params})).await;
        assert!(reply.get("warnings").is_none(), "{reply}");
        reply["data"][0].clone()
    };
    assert_eq!(shown(json!({})).await, json!({"id": 1}));
    assert_eq!(shown(json!({"fields": "card"})).await, json!({"id": 1, "_computed": {"total": 6}}));
    assert_eq!(
        shown(json!({"preset": "card", "fields": ["note"]})).await,
        json!({"id": 1, "note": "n", "_computed": {"total": 6}})
    );
    assert_eq!(shown(json!({"fields": "full"})).await, json!({"id": 1, "price": 2, "count": 3, "note": "n"}));
    assert_eq!(shown(json!({"filter": {"_computed.total": 6}})).await, json!({"id": 1}));
    let query = json!({"query": "operations", "name": "list_items", "detail": "full"});
    let details = ask(&served, "introspect", query).await.unwrap();
    assert_eq!(
        details["operation"]["computed_fields"]["_computed.total"],
        json!({"multiply": ["price", "count"]}),
        "{details}"
    );
}

/// Asks for the number of items on all pages, beside other parameters.
async fn count_from(served: &ServedAdapter, mut params: Value) -> (Value, Value) {
    params["all_pages"] = true.into();
    params["aggregate"] = json!({"n": {"count": true}});
    let reply = tool(served, json!({"operation": "list_items", "params": params})).await;
    (reply["data"]["aggregations"]["n"].clone(), reply["warnings"].clone())
}

#[tokio::test]
async fn a_page_that_the_call_chooses_keeps_its_place_and_leaves_the_list_incomplete() {
    let upstream = Upstream::start(|_, seen| {
        let size = query(&seen.uri, "per_page").unwrap_or(10);
        let start = (query(&seen.uri, "page").unwrap_or(1) - 1) * size;
        body(&json!({"items": items(start..start + size), "total": ITEMS}).to_string())
    })
    .await;
    let integer = json!({"type": "integer"});
    let served = served(
        &upstream.url,
        json!({"params": {"page": integer, "per_page": {"type": "integer", "maximum": 100}},
            "pagination": {"kind": "page", "at": "page", "size": "per_page"}}),
    )
    .await;
    let (count, warnings) = count_from(&served, json!({"page": 2})).await;
    assert_eq!((count, &warnings[0]["code"]), (json!(15), &json!("PARTIAL_LIST")));
    assert!(warnings[0]["message"].as_str().unwrap().contains("'page'"), "{warnings}");
    assert_eq!(count_from(&served, json!({"page": 1})).await, (json!(25), Value::Null));
    assert_eq!(count_from(&served, json!({})).await, (json!(25), Value::Null));
}

#[tokio::test]
async fn a_wrong_total_does_not_end_the_list() {
    let upstream = Upstream::start(|_, seen| {
        let start = query(&seen.uri, "offset").unwrap_or_default();
        body(&json!({"items": items(start..start + 10), "total": 4}).to_string())
    })
    .await;
    let served = served(&upstream.url, paged("offset", "offset", json!({}))).await;
    assert_eq!(count_from(&served, json!({})).await.0, json!(ITEMS));
}

#[tokio::test]
async fn a_list_that_changes_or_ends_early_says_so() {
    let changing = Upstream::start(|_, seen| {
        let start = query(&seen.uri, "offset").unwrap_or_default();
        let start = start.saturating_sub(usize::from(start > 0));
        body(&json!(items(start..start + 10)).to_string())
    })
    .await;
    let served_changing = served(&changing.url, paged("offset", "offset", json!({}))).await;
    let (_, warnings) = count_from(&served_changing, json!({})).await;
    assert_eq!(warnings[0]["code"], "REPEATED_ITEMS", "{warnings}");

    let strange = Upstream::start(|_, seen| match query(&seen.uri, "page") {
        None | Some(1) => body(&json!({"items": items(0..10), "total": ITEMS}).to_string()),
        Some(_) => body(&json!({"id": 5, "error": "strange"}).to_string()),
    })
    .await;
    let served_strange = served(&strange.url, paged("page", "page", json!({}))).await;
    let (_, warnings) = count_from(&served_strange, json!({})).await;
    assert!(warnings[0]["message"].as_str().unwrap().contains("has no list"), "{warnings}");
}
