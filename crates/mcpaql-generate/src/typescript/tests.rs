use super::*;
use crate::{Document, Language, Options};
use mcpaql_core::catalog::Settings;
use mcpaql_document::check::check;
use mcpaql_document::source::Source;
use serde_json::json;

/// The files of the project of that document.
fn generated(text: &str) -> Result<Vec<File>, Unsupported> {
    let checked = check(&Source::new("test.yaml", text), &Settings::default());
    let catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let document = Document { file: "test.yaml", text };
    files(&Project { catalog: &catalog, document, origin: None, options: Options::new(Language::TypeScript) })
}

fn file<'f>(files: &'f [File], path: &str) -> &'f str {
    &files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path}")).text
}

const BLOG: &str = r#"
name: blog
type: adapter
version: 1.2.3
description: Posts and what people say about them
target: {transport: http, protocol: rest, base_url: "https://blog.example/v1"}
operations:
  read:
    - name: get_post
      description: "One post */ by its number"
      maps_to: GET /posts/{post_id}
      params:
        post_id: {type: integer, required: true}
        fields: {type: array, items: {type: string}, in: query, explode: false}
  delete:
    - name: delete_post
      maps_to: DELETE /posts/{post_id}
      params:
        post_id: {type: integer, required: true}
"#;

#[test]
fn an_operation_is_a_type_a_request_and_a_handler() {
    let files = generated(BLOG).unwrap();
    let read = file(&files, "src/operations/read.ts");
    for said in [
        "export interface GetPostParams {\n  post_id: number;\n  fields?: string[];\n}",
        "path: \"/posts/{post_id}\"",
        "fields: { in: \"query\", explode: false }",
        "export const getPost: Handler<GetPostParams> = (params, call) => call.http(getPostRequest, params);",
    ] {
        assert!(read.contains(said), "{said}\n{read}");
    }
    assert!(!read.contains("post */"), "{read}");
    let delete = file(&files, "src/operations/delete.ts");
    assert!(delete.contains("  repeatable: true,\n  removes: true,\n"), "{delete}");
    let index = file(&files, "src/operations/index.ts");
    assert!(index.contains("get_post: Handler<readOperations.GetPostParams>;"), "{index}");
}

#[test]
fn what_the_author_owns_is_marked() {
    let files = generated(BLOG).unwrap();
    let own: Vec<&str> =
        files.iter().filter(|file| file.owner == Owner::Author).map(|file| file.path.as_str()).collect();
    assert_eq!(own, ["package.json", "src/handlers.ts"]);
    let package: Value = serde_json::from_str(file(&files, "package.json")).unwrap();
    assert_eq!(package["name"], "blog-adapter");
    assert_eq!(package["version"], "1.2.3");
    assert_eq!(package["description"], "Posts and what people say about them");
}

#[test]
fn the_same_document_gives_the_same_bytes() {
    assert_eq!(generated(BLOG), generated(BLOG));
}

#[test]
fn a_tool_of_another_server_is_a_literal_and_a_handler() {
    let labels = r#"
name: labels
type: adapter
version: 1.0.0
description: Labels of a server far away
target: {transport: mcp, command: [labels-server]}
operations:
  create:
    - name: add_label
      tool: edit-labels
      fixed: {action: add, dry: null}
      params:
        label_name: {type: string, required: true, as: label-name}
        token: {type: string, sensitive: true}
    - {name: touch}
"#;
    let files = generated(labels).unwrap();
    let create = file(&files, "src/operations/create.ts");
    for said in [
        "import type { ToolCall } from \"../runtime/mcp/binding.js\";",
        "export const addLabelTool: ToolCall = {\n  tool: \"edit-labels\",\n  names: { label_name: \"label-name\" },\n  \
         fixed: { action: \"add\", dry: null },\n  sensitive: [\"token\"],\n};",
        "export const addLabel: Handler<AddLabelParams> = (params, call) => call.tool(addLabelTool, params);",
        "export const touchTool: ToolCall = { tool: \"touch\" };",
    ] {
        assert!(create.contains(said), "{said}\n{create}");
    }
}

#[test]
fn work_in_the_background_has_a_handler_and_what_asks_after_it_has_none() {
    let work = "
name: work
type: adapter
version: 1.0.0
description: Long work
target: {transport: native, protocol: command}
operations:
  execute:
    - {name: build, command: [make], lifecycle: {survives: true, timeout: 2}}
    - {name: look, command: [ls]}
";
    let files = generated(work).unwrap();
    let execute = file(&files, "src/operations/execute.ts");
    assert!(execute.contains("call.command(buildCommand, params);"), "{execute}");
    let index = file(&files, "src/operations/index.ts");
    assert!(index.contains("build: Handler<") && !index.contains("execution:"), "{index}");
    assert!(!index.contains("readOperations"), "nothing that only the protocol answers has a file: {index}");
    let catalog: Value = serde_json::from_str(file(&files, "src/catalog.json")).unwrap();
    let told: Vec<Value> = catalog["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|operation| json!([operation["name"], operation["lifecycle"], operation["execution"]]))
        .collect();
    let build = json!({"survives": true, "keep_seconds": 86_400, "timeout_ms": 2_000});
    assert_eq!(
        told,
        [
            json!(["build", build, null]),
            json!(["look", null, null]),
            json!(["get_execution", null, "get"]),
            json!(["list_executions", null, "list"]),
            json!(["cancel_execution", null, "cancel"]),
            json!(["introspect", null, null]),
        ]
    );
}

#[test]
fn functions_of_another_program_are_refused_in_a_sentence() {
    let own = "
name: own
type: adapter
version: 1.0.0
description: Functions of a program
target: {transport: native, protocol: code}
operations:
  execute:
    - {name: run_job, description: Runs a job.}
";
    let refused = generated(own).unwrap_err();
    assert_eq!(
        refused.message,
        "projects in TypeScript cannot serve the adapter 'own': its operations are code of the program that embeds it"
    );
}
