//! The origin of a project: imports, and adapters of a configuration.

use super::{BOOKSHOP, PROVENANCE, TRACKER, generate, generate_ok, read, test_folder};
use crate::fixture::{BINARY, TestFolder};
use serde_json::{Value, json};

/// Returns the origin of the document in a project's provenance.
fn derived(place: &TestFolder, output: &str) -> Value {
    let provenance: Value = serde_json::from_str(&read(place, &format!("{output}/{PROVENANCE}"))).unwrap();
    provenance["schema"]["derived_from"].clone()
}

#[tokio::test]
async fn the_provenance_of_an_import_names_its_source() {
    let place = test_folder();
    std::fs::create_dir(place.path().join("deep")).unwrap();
    place.file("deep/bookshop.yaml", BOOKSHOP);
    place.file("fixes.yaml", "operations:\n  list_books: { description: All books. }\n");
    place.file("tracker.json", TRACKER);
    let args = ["-t", "rust", "--reproducible", "-q"];
    let options = ["--include", "category:READ", "--name", "books", "--overrides", "fixes.yaml"];
    let openapi = ["--openapi", "deep/bookshop.yaml", "-o", "a"];
    let ran = generate(&place, &[&args[..], &options, &openapi].concat()).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let origin = derived(&place, "a");
    let value = json!({"kind": origin["kind"], "name": origin["name"], "version": origin["version"]});
    assert_eq!(value, json!({"kind": "openapi", "name": "bookshop.yaml", "version": "2.4.0"}));
    let fixes = origin["options"]["overrides"].clone();
    assert_eq!(origin["options"], json!({"name": "books", "include": ["category:READ"], "overrides": fixes}));
    assert_eq!(fixes["filename"], "fixes.yaml");
    let fingerprint = origin["fingerprint"].as_str().unwrap();
    assert!(fingerprint.starts_with("sha256:") && read(&place, "a/README.md").contains(fingerprint));

    // The same description in another format has the same fingerprint; another description has another one.
    place.file("same.yaml", &format!("# A comment.\n{BOOKSHOP}"));
    place.file("other.yaml", &BOOKSHOP.replace("2.4.0", "2.4.1"));
    for (file, is_same) in [("same.yaml", true), ("other.yaml", false)] {
        let output = format!("{is_same}");
        let ran = generate(&place, &[&args[..], &["-s", file, "-o", &output]].concat()).await;
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert_eq!(derived(&place, &output)["fingerprint"] == origin["fingerprint"], is_same, "{file}");
    }

    let tools = ["--tools", "tracker.json", "-o", "t", "--", "/opt/tracker", "--root", "x"];
    assert_eq!(generate(&place, &[&args[..], &tools].concat()).await.status, Some(0));
    let origin = derived(&place, "t");
    assert_eq!((&origin["kind"], &origin["name"]), (&json!("tools"), &json!("tracker.json")));
    let server = ["-o", "s", "--", BINARY, "serve", "--data", "d", "--mode", "discrete"];
    assert_eq!(generate(&place, &[&args[..], &server].concat()).await.status, Some(0));
    let origin = derived(&place, "s");
    assert_eq!(origin["kind"], "server");
    assert!(origin["name"].as_str().unwrap().ends_with("serve --data d --mode discrete"), "{origin}");
    assert!(!origin["name"].as_str().unwrap().contains('/'), "no folder of this machine: {origin}");
    // A document that was written by hand has no other origin.
    generate_ok(&place, &["-o", "own"]).await;
    assert_eq!(derived(&place, "own"), Value::Null);
}

#[tokio::test]
async fn adapters_of_the_configuration_are_found_by_name() {
    let place = test_folder();
    place.file("bookshop.yaml", BOOKSHOP);
    place.file(
        "mcpaql.yaml",
        &format!(
            "operation_enum: false\nadapters:\n  - {{document: things.md, prefix: th_}}\n  \
             - {{document: things.md, name: few, include: ['op:get_thing'], limits: {{timeout: 5}}}}\n  \
             - {{openapi: bookshop.yaml, name: books, auth: {{type: bearer, token_env: BOOKS_TOKEN}}}}\n  \
             - {{builtin: notebook, mode: single}}\n  \
             - {{mcp: {{command: ['{BINARY}', serve, --data, d, --mode, discrete]}}, name: inner}}\n"
        ),
    );
    // The last adapter is a server, which is started for its tools.
    place.trust();
    let args = ["-t", "rust", "-q"];
    for (name, file, kind) in [
        ("things", "things.md", "document"),
        ("few", "few-adapter.md", "document"),
        ("books", "books-adapter.md", "openapi"),
        ("notebook", "notebook-adapter.md", "document"),
    ] {
        let ran = generate(&place, &[&args[..], &["-s", name, "-o", name]].concat()).await;
        assert_eq!(ran.status, Some(0), "{name}: {ran:?}");
        let origin = derived(&place, name);
        assert_eq!((&origin["kind"], &origin["configured_as"]), (&json!(kind), &json!(name)));
        let checked = place.run(&["check", &format!("{name}/schema/{file}")]).await;
        assert_eq!(checked.status, Some(0), "{name}: {checked:?}");
        let readme = read(&place, &format!("{name}/README.md"));
        assert!(readme.contains(&format!("mcpaql generate -s {name} -t rust -o FOLDER")), "{readme}");
    }
    let ran = generate(&place, &["-s", "inner", "-t", "rust", "-q", "-o", "inner"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(read(&place, "inner/schema/inner-adapter.md").contains("create_note"));
    assert!(read(&place, "things/README.md").contains("th_mcpaql_read"), "the entry's prefix");
    assert!(read(&place, "notebook/README.md").contains("12 operations behind 1 tool"), "the entry's mode");
    let few = read(&place, "few/schema/few-adapter.md");
    assert!(
        few.contains("timeout: 5\n") && few.contains("name: few\n") && few.contains("get_thing"),
        "{few}"
    );
    assert!(!few.contains("create_thing"), "{few}");
    assert!(read(&place, "books/schema/books-adapter.md").contains("token_env: BOOKS_TOKEN"));

    // A flag overrides the configuration, an existing file takes precedence, and an unknown name is reported with the known names.
    let ran = generate(&place, &["-s", "things", "-t", "rust", "-o", "flag", "--prefix", "mine_"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(read(&place, "flag/README.md").contains("mine_mcpaql_read"));
    let refused: [(&[&str], i32, &str); 3] = [
        (&["-s", "thing"], 4, "did you mean 'things'?"),
        (&["-s", "books", "--include", "deprecated"], 3, "edit its entry"),
        (&["-s", "things", "--name", "x"], 3, "edit its entry"),
    ];
    for (args, status, expected) in refused {
        let ran = generate(&place, &[&["-t", "rust", "-o", "no"], args].concat()).await;
        assert_eq!(ran.status, Some(status), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
    place.file("mcpaql.yaml", "mode: unified\nadapters:\n  - {document: things.md}\n");
    let shared = generate(&place, &["-s", "things", "-t", "rust", "-o", "no"]).await;
    assert_eq!(shared.status, Some(3), "{shared:?}");
    let alone = ["-s", "things", "-t", "rust", "-o", "alone", "--mode", "semantic"];
    assert_eq!(generate(&place, &alone).await.status, Some(0));
    place.file("mcpaql.yaml", "adapters: [\n");
    let broken = generate(&place, &["-s", "things", "-t", "rust", "-o", "no"]).await;
    assert_eq!(broken.status, Some(3), "{broken:?}");
    let builtin = generate(&place, &["-s", "notebook", "-t", "rust", "-o", "builtin"]).await;
    assert_eq!(builtin.status, Some(0), "{builtin:?}");
}
