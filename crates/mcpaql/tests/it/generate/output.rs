//! Notes, warnings and hints, in text and JSON.

use super::{generate, generate_ok, http, read, test_folder};
use serde_json::{Value, json};

#[tokio::test]
async fn the_default_runtime_is_noted() {
    let place = test_folder();
    let says = "--runtime git:https://github.com/mcpaql/mcpaql";
    let human = generate_ok(&place, &["--strict"]).await;
    assert!(human.stderr.contains("from crates.io") && human.stderr.contains(says), "{human:?}");
    assert!(read(&place, "generated/README.md").contains(says));
    let json = generate_ok(&place, &["--strict", "--output-format", "json"]).await.json();
    assert_eq!(json["warnings"], json!([]));
    assert_eq!(json["notes"][0]["code"], "RUNTIME_FROM_REGISTRY", "{json}");
    assert!(json["notes"][0]["suggestion"].as_str().unwrap().contains(says), "{json}");
    assert_eq!(generate_ok(&place, &["-q"]).await.stderr, "");
    // No note if the author has edited the manifest.
    let manifest = read(&place, "generated/Cargo.toml");
    place.file("generated/Cargo.toml", &format!("{manifest}# mine\n"));
    assert_eq!(generate_ok(&place, &[]).await.stderr, "");
    assert_eq!(generate_ok(&place, &["-o", "other", "--runtime", "=1.2.3"]).await.stderr, "");
    assert!(!read(&place, "other/README.md").contains("crates.io"));
}

#[tokio::test]
async fn edits_in_python_run_after_the_commands_of_the_readme() {
    let place = test_folder();
    let ran = generate(&place, &["-s", "things.md", "-t", "python", "-o", "p"]).await;
    assert!(ran.stdout.contains(".venv/bin/pip install -e .\n"), "{}", ran.stdout);
    let readme = read(&place, "p/README.md");
    assert!(readme.contains("\n.venv/bin/pip install -e .\n"), "{readme}");
    assert!(readme.contains("If you installed the project without `-e`, install it again first"), "{readme}");
}

#[tokio::test]
async fn the_json_report_has_every_note_and_the_counts_of_the_import() {
    let place = test_folder();
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
    assert_eq!(lost > 0, human.stderr.contains("imported in part"), "{report} {}", human.stderr);
    assert!(lost > 0, "{report}");
}

#[tokio::test]
async fn a_manifest_that_differs_gives_a_warning_until_it_is_fixed() {
    let place = test_folder();
    place.file("desk.md", &http().replace("name: things", "name: desk").replace("1.0.0", "2.0.0"));
    for (language, manifest, package) in [
        ("rust", "Cargo.toml", "name = \"desk-adapter\""),
        ("typescript", "package.json", "\"name\": \"desk-adapter\""),
    ] {
        let args = ["-t", language, "-o", language];
        assert_eq!(generate(&place, &[&["-s", "things.md"], &args[..]].concat()).await.status, Some(0));
        let path = format!("{language}/{manifest}");
        let theirs = format!("{}\n", read(&place, &path));
        place.file(&path, &theirs);
        let desk = [&["-s", "desk.md", "--license", "MIT"], &args[..]].concat();
        for _ in 0..2 {
            let report = generate(&place, &[&desk[..], &["--output-format", "json"]].concat()).await.json();
            let warnings = report["warnings"].as_array().unwrap();
            assert_eq!(warnings.len(), 3, "{report}");
            assert_eq!(
                (&warnings[0]["code"], &warnings[0]["path"]),
                (&json!("MANIFEST_DIFFERS"), &json!(manifest))
            );
            assert_eq!((&warnings[0]["expected"], &warnings[0]["line"]), (&json!(package), &json!(2)));
            assert_eq!(warnings[0]["suggestion"], format!("change line 2 to `{package}`"));
            let human = generate(&place, &desk).await;
            assert!(human.stderr.contains("things-adapter") && human.stderr.contains("line 2"), "{human:?}");
            let strict = generate(&place, &[&desk[..], &["--strict"]].concat()).await;
            assert_eq!(strict.status, Some(2), "{strict:?}");
        }
        assert_eq!(read(&place, &path), theirs, "the file is not touched");
        let mended = theirs
            .replace("things-adapter", "desk-adapter")
            .replace("1.0.0", "2.0.0")
            .replace("Apache-2.0", "MIT");
        place.file(&path, &mended);
        let ran = generate(&place, &[&desk[..], &["--strict"]].concat()).await;
        assert_eq!(ran.status, Some(0), "{ran:?}");
    }
}

#[tokio::test]
async fn problems_in_the_json_report_have_suggestions() {
    let place = test_folder();
    place.file(
        "odd.md",
        &http().replace("type: adapter", "type: adapter\nzzzzzzzz: 1").replace("GET /", "GRAB /"),
    );
    place.file("broken.yaml", "name: [\n");
    for schema in ["odd.md", "broken.yaml"] {
        let args = ["-s", schema, "-t", "rust", "--output-format", "json"];
        let report = generate(&place, &args).await.json();
        let details = report["error"]["details"].as_array().unwrap().clone();
        assert!(!details.is_empty());
        for detail in details {
            let suggestion = detail["suggestion"].as_str().unwrap_or_default();
            assert!(!suggestion.is_empty(), "{detail}");
            if detail["path"] == "zzzzzzzz" {
                assert!(suggestion.contains("remove it, or use one of"), "{detail}");
            }
        }
    }
}

#[tokio::test]
async fn an_invalid_value_of_a_configuration_has_a_position() {
    let place = test_folder();
    for (line, path) in [
        ("target: cobol", "target"),
        ("target: rust\nmode: many", "mode"),
        ("target: rust\nprefix: Gh-", "prefix"),
        ("target: rust\nlicense: my own", "license"),
        ("target: rust\nruntime: nearby", "runtime"),
    ] {
        place.file("g.yaml", &format!("schema: things.md\n{line}\n"));
        let ran = generate(&place, &["-c", "g.yaml", "--output-format", "json"]).await;
        assert_eq!(ran.status, Some(3), "{ran:?}");
        let detail = ran.json()["error"]["details"][0].clone();
        let at = 1 + line.lines().count();
        assert_eq!((&detail["path"], &detail["line"]), (&json!(path), &json!(at)), "{detail}");
        assert!(detail["suggestion"].is_string(), "{detail}");
    }
}

#[tokio::test]
async fn quiet_prints_only_errors() {
    let place = test_folder();
    let both =
        http().replace("api.example.com/v1", "api.example.com/v1/").replace("type: string", "type: strng");
    place.file("both.md", &both);
    let loud = generate(&place, &["-s", "both.md", "-t", "rust"]).await;
    assert!(loud.stderr.contains("warning"), "{}", loud.stderr);
    let quiet = generate(&place, &["-s", "both.md", "-t", "rust", "-q"]).await;
    assert_eq!(quiet.status, Some(2));
    assert!(quiet.stderr.contains("strng") && !quiet.stderr.contains("warning"), "{}", quiet.stderr);
}

#[tokio::test]
async fn the_diff_of_an_edited_file_does_not_mention_force() {
    let place = test_folder();
    generate_ok(&place, &["-o", "p"]).await;
    place.file("p/src/main.rs", "// mine\n");
    let args = ["-o", "p", "--diff", "--output-format", "json"];
    let codes = |report: &Value| report["notes"].to_string().contains("FILE_REPLACED");
    assert!(!codes(&generate_ok(&place, &args).await.json()));
    assert!(codes(&generate_ok(&place, &[&args[..], &["--force"]].concat()).await.json()));
}
