//! `mcpaql serve --openapi`: a client calls operations of a description.

use super::{API, BOOKSHOP, import_ok, shop};
use crate::fixture::{ALL_CONNECTIONS, TestFolder, connect_with};
use axum::extract::{Path, RawQuery};
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};

/// An API that answers with what it received.
async fn api() -> String {
    fn allowed(headers: &HeaderMap) -> bool {
        headers.get("authorization").is_some_and(|value| value == "Bearer t0ken")
    }
    let book = |Path(id): Path<u32>, headers: HeaderMap| async move {
        let found = if id == 7 { StatusCode::OK } else { StatusCode::NOT_FOUND };
        let status = if allowed(&headers) { found } else { StatusCode::UNAUTHORIZED };
        (status, Json(json!({"id": id, "title": "Moby Dick", "author_id": 1})))
    };
    let search = |Json(body): Json<Value>| async move {
        Json(json!([{"id": 7, "title": body["words"], "author_id": 1}]))
    };
    let list =
        |RawQuery(query): RawQuery| async move { Json(json!([{"id": 7, "title": query, "author_id": 1}])) };
    let router = Router::new()
        .route("/v1/books", get(list))
        .route("/v1/books/search", post(search))
        .route("/v1/books/{id}", get(book));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

#[tokio::test]
async fn an_agent_searches_operations_and_calls_one() {
    let api = api().await;
    for (wire, revision) in ALL_CONNECTIONS {
        let place = TestFolder::new();
        place.file("bookshop.yaml", &BOOKSHOP.replace(API, &api));
        let client = connect_with(&place, &["--openapi", "bookshop.yaml"], wire, revision, |command| {
            command.env("BOOKSHOP_TOKEN", "t0ken");
        })
        .await;
        let names: Vec<String> =
            client.tools().await.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        let families = ["create", "read", "update", "delete", "execute"];
        assert_eq!(names, families.map(|family| format!("bookshop_mcpaql_{family}")));

        let ask = json!({"operation": "introspect", "params": {"search": "look up one book"}});
        let (found, _) = client.call("bookshop_mcpaql_read", ask).await;
        let hits = found["data"]["operations"].as_array().unwrap();
        let hit = hits.iter().find(|hit| hit["name"] == "get_book").unwrap_or_else(|| panic!("{found}"));
        assert_eq!(hit["signature"], "get_book(book_id: integer)");
        let from = hits.iter().find_map(|hit| hit["from"].get("book_id")).unwrap();
        assert!(from.as_array().unwrap().contains(&json!("search_books")), "{found}");

        let call = |operation: &str, params: Value| {
            client.call("bookshop_mcpaql_read", json!({"operation": operation, "params": params}))
        };
        let (books, _) = call("search_books", json!({"words": "whales"})).await;
        assert_eq!(books["data"][0]["title"], "whales", "{books}");
        let (book, _) = call("get_book", json!({"book_id": books["data"][0]["id"]})).await;
        assert_eq!(book["data"]["title"], "Moby Dick", "{book}");
        let (listed, _) = call("list_books", json!({"genre": "novel"})).await;
        assert_eq!(listed["data"][0]["title"], "genre=novel");

        let (missing, flagged) = call("get_book", json!({"book_id": 8})).await;
        assert_eq!((&missing["error"]["code"], flagged), (&json!("NOT_FOUND_RESOURCE"), false));
        let (wrong, _) = call("list_books", json!({"genre": "western"})).await;
        assert_eq!(wrong["error"]["code"], "VALIDATION_INVALID_VALUE", "{wrong}");
        let (unknown, _) = call("fetch_book", json!({"book_id": 7})).await;
        assert!(
            unknown["error"]["details"]["signatures"].to_string().contains("get_book(book_id: integer)"),
            "{unknown}"
        );
        let (elsewhere, _) = call("delete_book", json!({"book_id": 7})).await;
        assert_eq!(elsewhere["error"]["details"]["expected_tool"], "bookshop_mcpaql_delete", "{elsewhere}");
    }
}

/// To a client, serving the description and serving its document must look the same.
#[tokio::test]
async fn a_description_is_served_as_its_document_is() {
    let place = shop();
    import_ok(&place, &[]).await;
    let (wire, revision) = ALL_CONNECTIONS[0];
    let described = connect_with(&place, &["--openapi", "bookshop.yaml"], wire, revision, |_| {}).await;
    let document = connect_with(&place, &["bookshop-adapter.md"], wire, revision, |_| {}).await;
    assert_eq!(described.tools().await, document.tools().await);
    for name in ["get_book", "create_order", "replace_book_cover", "list_authors", "cancel_order"] {
        let ask = || json!({"operation": "introspect", "params": {"name": name}});
        let (lazy, _) = described.call("bookshop_mcpaql_read", ask()).await;
        let (whole, _) = document.call("bookshop_mcpaql_read", ask()).await;
        assert_eq!(lazy, whole, "{name}");
    }
}

#[tokio::test]
async fn descriptions_and_documents_share_one_server() {
    let place = shop();
    place.file("notes.md", crate::documents::command_document());
    let (wire, revision) = ALL_CONNECTIONS[0];
    let flags = ["--openapi", "bookshop.yaml", "--include", "tag:authors", "--mode", "single", "notes.md"];
    let client = connect_with(&place, &flags, wire, revision, |_| {}).await;
    let tools = client.tools().await;
    assert_eq!(tools.len(), 2, "{tools:?}");
    assert!(tools.iter().any(|tool| tool["name"] == "bookshop_mcpaql"), "{tools:?}");
    let (found, _) = client.call("bookshop_mcpaql", json!({"operation": "introspect"})).await;
    let names: Vec<&str> = found["data"]["operations"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|own| own["name"].as_str())
        .collect();
    assert!(names.contains(&"get_author") && !names.contains(&"get_book"), "{names:?}");
}
