//! Importing OpenAPI descriptions and MCP servers as documents, and serving descriptions directly.

mod corrections;
mod import;
mod serve;
mod servers;
mod sources;

use crate::fixture::{RunOutput, TestFolder};
use mcpaql_document::source::Source;

/// The example of the documentation.
const BOOKSHOP: &str = include_str!("../../../../examples/bookshop-openapi.yaml");
/// The URL of its API.
const API: &str = "https://api.example.com/v1";

/// Returns the same description as JSON.
fn bookshop_json() -> String {
    Source::new("bookshop.yaml", BOOKSHOP).parse().unwrap().value.to_string()
}

/// Returns a folder with the description as `bookshop.yaml`.
fn shop() -> TestFolder {
    let place = TestFolder::new();
    place.file("bookshop.yaml", BOOKSHOP);
    place
}

/// Imports `bookshop.yaml` as `bookshop-adapter.md`, and returns the document.
async fn import_ok(place: &TestFolder, flags: &[&str]) -> String {
    let ran = import(place, flags).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    std::fs::read_to_string(place.path().join("bookshop-adapter.md")).unwrap()
}

async fn import(place: &TestFolder, flags: &[&str]) -> RunOutput {
    let command = ["import", "openapi", "bookshop.yaml", "-o", "bookshop-adapter.md"];
    place.run(&[&command, flags].concat()).await
}

/// Returns the names of the operations of a document.
fn names(document: &str) -> Vec<&str> {
    document.lines().filter_map(|line| line.strip_prefix("    - name: ")).collect()
}
