//! What people and programs are told beside success and failure.

use super::{generate, generated, http, place, read};
use serde_json::{Value, json};

#[tokio::test]
async fn where_nobody_says_where_the_runtime_is_everybody_is_told() {
    let place = place();
    let says = "--runtime git:https://github.com/mcpaql/mcpaql";
    let human = generated(&place, &["--strict"]).await;
    assert!(human.stderr.contains("from crates.io") && human.stderr.contains(says), "{human:?}");
    assert!(read(&place, "generated/README.md").contains(says));
    let json = generated(&place, &["--strict", "--output-format", "json"]).await.json();
    assert_eq!(json["warnings"], json!([]));
    assert_eq!(json["notes"][0]["code"], "RUNTIME_FROM_REGISTRY", "{json}");
    assert!(json["notes"][0]["suggestion"].as_str().unwrap().contains(says), "{json}");
    assert_eq!(generated(&place, &["-q"]).await.stderr, "");
    // Whoever edited the manifest knows better.
    let manifest = read(&place, "generated/Cargo.toml");
    place.file("generated/Cargo.toml", &format!("{manifest}# mine\n"));
    assert_eq!(generated(&place, &[]).await.stderr, "");
    assert_eq!(generated(&place, &["-o", "other", "--runtime", "=1.2.3"]).await.stderr, "");
    assert!(!read(&place, "other/README.md").contains("crates.io"));
}

#[tokio::test]
async fn what_the_author_edits_in_python_runs_after_the_commands_of_the_readme() {
    let place = place();
    let ran = generate(&place, &["-s", "things.md", "-t", "python", "-o", "p"]).await;
    assert!(ran.stdout.contains(".venv/bin/pip install -e .\n"), "{}", ran.stdout);
    let readme = read(&place, "p/README.md");
    assert!(readme.contains("\n.venv/bin/pip install -e .\n"), "{readme}");
    assert!(readme.contains("installed without `-e` has a copy, and is to be installed again"), "{readme}");
}

#[tokio::test]
async fn programs_are_told_every_note_and_what_an_import_came_to() {
    let place = place();
    let python: &[&str] = &["-t", "python", "-o", "out"];
    assert_eq!(generate(&place, &[&["-s", "things.md"], python].concat()).await.status, Some(0));
    place.file("out/src/things_adapter/handlers.py", "MINE = True\n");
    place.file("out/src/things_adapter/__main__.py", "EDITED = True\n");
    place.file("others.md", &http().replace("name: things", "name: others"));
    let json = ["--output-format", "json"];
    let report = generate(&place, &[&["-s", "others.md"], python, &json].concat()).await.json();
    let notes: Vec<(&str, &str)> = report["notes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|note| (note["code"].as_str().unwrap(), note["path"].as_str().unwrap()))
        .collect();
    assert_eq!(
        notes,
        [
            ("FILE_LEFT", "src/things_adapter/__main__.py"),
            ("HANDLERS_UNUSED", "src/things_adapter/handlers.py")
        ]
    );
    assert!(report.get("import").is_none());
    let lossy = json!({
        "openapi": "3.1.0", "info": {"title": "Lossy", "version": "1"},
        "servers": [{"url": "https://api.example.com"}],
        "paths": {"/a": {"get": {"operationId": "getA", "parameters": [
            {"name": "x", "in": "matrix", "schema": {"type": "string"}}],
            "responses": {"200": {"description": "ok"}}}},
            "/b": {"get": {"operationId": "getB", "responses": {"200": {"description": "ok"}}}}},
    });
    place.file("lossy.json", &lossy.to_string());
    let args = ["--openapi", "lossy.json", "-t", "rust", "-o", "lossy", "--exclude", "op:get_b"];
    let human = generate(&place, &args).await;
    let report = generate(&place, &[&args[..], &json].concat()).await.json();
    assert_eq!((&report["import"]["imported"], &report["import"]["excluded"]), (&json!(1), &json!(1)));
    let lost = |note: &&Value| note["code"] == "IMPORT_PART_LOST";
    let lost = report["notes"].as_array().unwrap().iter().filter(lost).count();
    assert_eq!(lost > 0, human.stderr.contains("lost a part"), "{report} {}", human.stderr);
    assert!(lost > 0, "{report}");
}
