use super::*;
use crate::{Document, Language, Options};
use mcpaql_core::catalog::Settings;
use mcpaql_core::check::check;
use mcpaql_core::source::Source;
use std::collections::BTreeSet;
use std::path::Path;

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

#[test]
fn every_file_of_the_runtime_and_of_its_tests_is_in_the_table() {
    fn below(folder: &Path, found: &mut BTreeSet<String>, root: &Path) {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                below(&entry.path(), found, root);
            } else if entry.path().extension().is_some_and(|kind| kind == "ts") {
                found.insert(entry.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/typescript");
    let mut there = BTreeSet::new();
    below(&root.join("src/runtime"), &mut there, &root);
    below(&root.join("tests"), &mut there, &root);
    there.insert("tests/tsconfig.json".to_owned());
    let table: BTreeSet<String> = templates::SHARED.iter().map(|(path, _)| (*path).to_owned()).collect();
    assert_eq!(table, there);
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
fn other_servers_and_background_work_are_refused_in_a_sentence() {
    let proxy = "
name: proxy
type: adapter
version: 1.0.0
description: A server far away.
target: {transport: mcp, command: [some-server]}
operations:
  execute:
    - {name: run_job, description: Runs a job.}
";
    let refused = generated(proxy).unwrap_err();
    assert_eq!(
        refused.message,
        "projects in TypeScript cannot serve the adapter 'proxy': it passes its calls on to another MCP server"
    );
    assert!(refused.suggestion.contains("--target rust"), "{refused}");
}
