//! Precedence of settings: flags, environment, mcpaql.yaml, document.

use crate::fixture::{RawClient, TestFolder};
use serde_json::json;

const DOCUMENT: &str = r#"---
name: shelf
type: adapter
version: "1.0.0"
description: Books
mode: MODE
tool_names: { prefix: from_document_ }
target:
  transport: native
  protocol: store
  resources:
    book:
      fields:
        title: { type: string, required: true }
---
"#;

/// Returns the tools that `mcpaql serve ARGS` lists with these variables.
async fn names(place: &TestFolder, args: &[&str], variables: &[(&str, &str)]) -> Vec<String> {
    let mut command = place.binary(&[&["serve", "--data", "data"], args].concat());
    command.envs(variables.iter().copied());
    let mut raw = RawClient::initialized(command).await;
    raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    let listed = raw.receive().await.unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn shelf(mode: &str) -> String {
    DOCUMENT.replace("MODE", mode)
}

#[tokio::test]
async fn each_layer_overrides_the_one_below() {
    let place = TestFolder::new();
    place.file("shelf.md", &shelf("single"));
    assert_eq!(names(&place, &["shelf.md"], &[]).await, ["from_document_mcpaql"]);

    place.file("mcpaql.yaml", "prefix: from_file_\nadapters:\n  - document: shelf.md\n");
    place.trust();
    assert_eq!(names(&place, &[], &[]).await, ["from_file_mcpaql"]);

    place.file(
        "mcpaql.yaml",
        "prefix: from_file_\nadapters:\n  - document: shelf.md\n    prefix: from_entry_\n",
    );
    place.trust();
    assert_eq!(names(&place, &[], &[]).await, ["from_entry_mcpaql"]);

    let variables = [("MCP_AQL_TOOL_PREFIX", "from_variable_")];
    assert_eq!(names(&place, &[], &variables).await, ["from_variable_mcpaql"]);
    assert_eq!(names(&place, &["--prefix", "from_flag_"], &variables).await, ["from_flag_mcpaql"]);
}

#[tokio::test]
async fn the_mode_has_the_same_precedence() {
    let place = TestFolder::new();
    place.file("shelf.md", &shelf("single"));
    let families = |listed: &[String]| listed.len() == 4 && listed[0].ends_with("_mcpaql_create");
    place.file("mcpaql.yaml", "mode: semantic\nadapters: [shelf.md]\n");
    place.trust();
    assert!(families(&names(&place, &[], &[]).await));
    let single = [("MCP_AQL_ENDPOINT_MODE", "single")];
    assert_eq!(names(&place, &[], &single).await.len(), 1);
    assert!(families(&names(&place, &["--mode", "semantic"], &single).await));
}

#[tokio::test]
async fn named_documents_are_served_without_the_configuration() {
    let place = TestFolder::new();
    place.file("shelf.md", &shelf("single"));
    place.file("mcpaql.yaml", "prefix: from_file_\nadapters:\n  - builtin: notebook\n");
    place.trust();
    assert_eq!(names(&place, &["shelf.md"], &[]).await, ["from_document_mcpaql"]);
}

#[tokio::test]
async fn another_configuration_file_can_be_named() {
    let place = TestFolder::new();
    std::fs::create_dir(place.path().join("elsewhere")).unwrap();
    place.file("elsewhere/shelf.md", &shelf("single"));
    place.file("elsewhere/mine.yaml", "adapters: [shelf.md]\n");
    let listed = names(&place, &["--config", "elsewhere/mine.yaml"], &[]).await;
    assert_eq!(listed, ["from_document_mcpaql"], "documents are relative to the configuration");
}

#[tokio::test]
async fn without_documents_and_configuration_the_notebook_is_served() {
    let place = TestFolder::new();
    assert_eq!(names(&place, &[], &[]).await[0], "notebook_mcpaql_create");
}

#[tokio::test]
async fn an_invalid_value_stops_the_start() {
    let place = TestFolder::new();
    let mut command = place.binary(&["serve"]);
    command.env("MCP_AQL_ENDPOINT_MODE", "sematic");
    let ran = crate::fixture::RunOutput::of(command).await;
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.contains("MCP_AQL_ENDPOINT_MODE") && ran.stderr.contains("semantic"),
        "{}",
        ran.stderr
    );

    place.file("mcpaql.yaml", "mode: [semantic]\nadapters:\n  - builtin: notebok\n");
    place.trust();
    let ran = place.run(&["serve"]).await;
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("notebok"), "{}", ran.stderr);
}
