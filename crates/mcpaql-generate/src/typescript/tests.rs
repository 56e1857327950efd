use super::*;
use crate::{Language, ProjectDocument, ProjectOptions};
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::check::check;
use mcpaql_document::source::Source;

/// Returns the files of a document's project.
fn generated(text: &str) -> Result<Vec<ProjectFile>, Unsupported> {
    let checked = check(&Source::new("test.yaml", text), &AdapterSettings::default());
    let catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let document = ProjectDocument { file: "test.yaml", text };
    files(&Project {
        catalog: &catalog,
        document,
        origin: None,
        options: ProjectOptions::new(Language::TypeScript),
    })
}

fn file<'f>(files: &'f [ProjectFile], path: &str) -> &'f str {
    &files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("{path}")).text
}

const BLOG: &str = r#"
name: blog
type: adapter
version: 1.2.3
description: Posts and what people say about them
target: {transport: http, protocol: rest, base_url: "https://blog.example/v1"}
types:
  Post: {type: object, required: [id], properties: {id: {type: integer, format: int64}, title: {type: string}}}
operations:
  read:
    - name: get_post
      description: "One post */ by its number"
      maps_to: GET /posts/{post_id}
      params:
        post_id: {type: integer, required: true}
        fields: {type: array, items: {type: string}, in: query, explode: false}
      returns: {$ref: '#/types/Post'}
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
        "export const getPost = (params: GetPostParams, call: Call) => call.send(getPostRequest, params) as Promise<Post>;",
    ] {
        assert!(read.contains(said), "{said}\n{read}");
    }
    assert!(!read.contains("post */"), "{read}");
    let types = file(&files, "src/types.ts");
    assert!(
        types.contains("export interface Post {\n  id: number | bigint;\n  title?: string;\n"),
        "{types}"
    );
    let delete = file(&files, "src/operations/delete.ts");
    assert!(delete.contains("  repeatable: true,\n  removes: true,\n"), "{delete}");
    let index = file(&files, "src/operations/index.ts");
    assert!(index.contains("get_post: Handler<readOperations.GetPostParams, unknown>;"), "{index}");
}

#[test]
fn requests_are_repeated_as_by_the_server() {
    let text = BLOG.replace("  delete:\n", "  create:\n    - name: create_post\n      maps_to: POST /posts\n      idempotency_header: Idempotency-Key\n    - name: import_posts\n      maps_to: POST /import\n      idempotent: true\n  delete:\n");
    let files = generated(&text).unwrap();
    let create = file(&files, "src/operations/create.ts");
    assert_eq!(create.matches("repeatable: true").count(), 1, "{create}");
    assert!(create.contains("  repeatable: true,\n  idempotency: \"idempotency-key\",\n"), "{create}");
}

#[test]
fn integers_beyond_2_to_the_53_are_bigints() {
    let files = generated(BLOG).unwrap();
    assert!(file(&files, "src/types.ts").contains("  id: number | bigint;\n"));
    let literal = BLOG.replace("{type: string}}}", "{enum: [1, 9007199254740993]}}}");
    let files = generated(&literal).unwrap();
    assert!(file(&files, "src/types.ts").contains("  title?: 1 | 9007199254740993n;\n"));
}

#[test]
fn files_of_the_author_are_marked() {
    let files = generated(BLOG).unwrap();
    let own: Vec<&str> =
        files.iter().filter(|file| file.owner == FileOwner::Author).map(|file| file.path.as_str()).collect();
    assert_eq!(own, ["tsconfig.json", "package.json", "src/handlers.ts"]);
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
fn unsupported_operations_are_named() {
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
    let refused = generated(work).unwrap_err();
    assert_eq!(
        refused.message,
        "TypeScript projects do not support 1 of the 2 operations of the adapter 'work': build (needs background executions)"
    );
    assert!(refused.suggestion.contains("--skip-unsupported"), "{}", refused.suggestion);
}

#[test]
fn functions_of_another_program_are_rejected() {
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
        "TypeScript projects do not support the adapter 'own': its operations are functions of the program that embeds it"
    );
}
