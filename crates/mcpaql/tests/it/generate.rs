//! `mcpaql generate`: its sources, its output, its errors and its exit status.

mod folders;
mod origins;
mod output;
mod trust;

use crate::documents;
use crate::fixture::{BINARY, RunOutput, TestFolder};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

const BOOKSHOP: &str = include_str!("../../../../examples/bookshop-openapi.yaml");
const TRACKER: &str = include_str!("../../../../examples/tracker-tools.json");
const PROVENANCE: &str = "MCPAQL-PROVENANCE.json";

fn http() -> String {
    documents::http_document("things", "https://api.example.com/v1")
}

fn test_folder() -> TestFolder {
    let place = TestFolder::new();
    place.file("things.md", &http());
    place
}

async fn generate(place: &TestFolder, args: &[&str]) -> RunOutput {
    place.run(&[&["generate"], args].concat()).await
}

/// Generates a Rust project from `things.md`, which must succeed.
async fn generate_ok(place: &TestFolder, args: &[&str]) -> RunOutput {
    let ran = generate(place, &[&["-s", "things.md", "-t", "rust"], args].concat()).await;
    assert_eq!(ran.status, Some(0), "{args:?}: {ran:?}");
    ran
}

/// Returns every file in a folder, with its text.
fn tree(root: &Path) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().replace('\\', "/");
                out.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    out
}

fn read(place: &TestFolder, path: &str) -> String {
    std::fs::read_to_string(place.path().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

#[tokio::test]
async fn a_project_has_all_its_files_and_says_how_to_start_it() {
    let place = test_folder();
    let ran = generate_ok(&place, &[]).await;
    assert!(ran.stdout.contains("Wrote things-adapter in Rust to ./generated"), "{}", ran.stdout);
    assert!(ran.stdout.contains("cargo build --release"), "{}", ran.stdout);
    let files = tree(&place.path().join("generated"));
    for path in [
        "README.md",
        "LICENSE",
        "NOTICE.md",
        PROVENANCE,
        "schema/things.md",
        "Cargo.toml",
        "src/main.rs",
        "src/handlers.rs",
    ] {
        assert!(files.contains_key(path), "{path}: {:?}", files.keys());
    }
    assert_eq!(files["schema/things.md"], http());
    assert!(files["LICENSE"].contains("Apache License"));
    assert!(files.keys().all(|path| !path.contains(".mcpaql-")), "nothing is left of the work");
}

#[tokio::test]
async fn the_json_report_has_files_fingerprint_and_warnings() {
    let place = test_folder();
    let ran = generate_ok(&place, &["--output-format", "json", "-o", "out"]).await;
    let report = ran.json();
    assert_eq!((&report["success"], &report["output_directory"]), (&json!(true), &json!("out")));
    let provenance: Value = serde_json::from_str(&read(&place, &format!("out/{PROVENANCE}"))).unwrap();
    assert_eq!(report["provenance"]["schema_fingerprint"], provenance["schema"]["fingerprint"]);
    assert_eq!(report["provenance"]["generator_version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(report["warnings"], json!([]));
    assert_eq!(report["changes"]["created"], report["files_generated"]);
    let listed: Vec<String> = serde_json::from_value(report["files_generated"].clone()).unwrap();
    assert_eq!(listed, tree(&place.path().join("out")).into_keys().collect::<Vec<_>>());
}

#[tokio::test]
async fn every_kind_of_failure_has_its_status() {
    let place = test_folder();
    place.file(
        "wrong.md",
        &http().replace("name: get_thing", "name: getThing").replace("type: string", "type: strng"),
    );
    place.file("broken.yaml", "name: [\n");
    place.file("notjson.json", "{");
    place.file("empty.json", r#"{"tools": []}"#);
    place.file("tracker.json", TRACKER);
    place.file("afile", "x");
    place.file("warned.md", &http().replace("api.example.com/v1", "api.example.com/v1/"));
    place.file("unknown.yaml", "targt: rust\n");
    place.file("mistyped.yaml", "target: 1\nreproducible: maybe\ninclude: x\n");
    place.file("scalar.yaml", "rust\n");
    std::fs::write(place.path().join("latin.md"), b"---\nname: caf\xe9\n---\n").unwrap();
    let rust = ["-t", "rust"];
    place.file("nothing.yaml", "\n");
    place.file("code.yaml", &jobs("{transport: native, protocol: code}", "{name: run_job}"));
    std::fs::create_dir(place.path().join("afolder")).unwrap();
    let pathless = json!({"openapi": "3.1.0", "info": {"title": "T", "version": "1"}, "paths": 5});
    place.file("pathless.json", &pathless.to_string());
    let rows: [(&[&str], i32, &str); 42] = [
        (&["--openapi", "pathless.json"], 2, "pathless.json has no operations"),
        (&["-s", "things.md", "--runtime", "path:nowhere"], 3, "does not contain the library mcpaql-runtime"),
        (&["-s", "things.md", "--runtime", "git:nonsense"], 3, "not the URL of a repository"),
        (&["-s", "afolder"], 4, "'afolder' is a folder"),
        (&["-s", "wrong.md"], 2, "SCHEMA_INVALID_NAME"),
        (&["-s", "broken.yaml"], 2, "SCHEMA_SYNTAX"),
        (&["--openapi", "tracker.json"], 2, "OpenAPI"),
        (&["--strict", "-s", "warned.md"], 2, "--strict"),
        (&["--tools", "empty.json", "--", "server"], 2, "no tools"),
        (&["--tools", "notjson.json", "--", "server"], 2, "not valid JSON"),
        (&[], 3, "--schema"),
        (&["-s", "things.md", "-v", "-q"], 3, "--quiet"),
        (&["-s", "things.md", "--nonsense"], 3, "--nonsense"),
        (&["-s", "things.md", "--mode", "many"], 3, "semantic"),
        (&["-s", "things.md", "--mode", "unified"], 3, "semantic"),
        (&["-s", "things.md", "--profile", "mine"], 3, "profile"),
        (&["-s", "things.md", "--policy", "mine"], 3, "policy"),
        (&["-s", "things.md", "--prefix", "Gh-"], 3, "prefix"),
        (&["-s", "things.md", "--license", "my own"], 3, "SPDX"),
        (&["-s", "things.md", "--license", "banana"], 3, "LicenseRef-banana"),
        (&["-s", "things.md", "--runtime", "nearby"], 3, "runtime"),
        (&["-s", "things.md", "--openapi", "x"], 3, "--openapi"),
        (&["-s", "things.md", "--", "server"], 3, "cannot be used"),
        (&["-s", "things.md", "--include", "op:get_*"], 3, "include"),
        (&["-s", "things.md", "--output-format", "xml"], 3, "human"),
        (&["--tools", "tracker.json"], 3, "--url"),
        (&["--tools", "tracker.json", "--", "server", "--api-key", "hunter2"], 3, "credential"),
        (&["-s", "things.md", "-c", "unknown.yaml"], 3, "target"),
        (&["-s", "things.md", "-c", "mistyped.yaml"], 3, "true or false"),
        (&["-s", "things.md", "-c", "scalar.yaml"], 3, "must be an object"),
        (&["-s", "things.md", "-c", "nothing.yaml"], 3, "key: value"),
        (&["-s", "things.md", "-c", "broken.yaml"], 3, "broken.yaml"),
        (&["-s", "things.md", "-c", "absent.yaml"], 4, "absent.yaml"),
        (&["-s", "absent.md"], 4, "absent.md"),
        (&["-s", "latin.md"], 4, "UTF-8"),
        (&["--openapi", "absent.json"], 4, "absent.json"),
        (&["--tools", "absent.json", "--", "server"], 4, "absent.json"),
        (&["-s", "things.md", "-o", "afile"], 4, "afile"),
        (&["-s", "things.md", "-o", "afile/below"], 4, "afile"),
        (&["-s", "things.md", "-o", "."], 4, "not empty"),
        (&["--", "/no/such/program"], 4, "program"),
        (&["-s", "code.yaml"], 5, "serve it from that program"),
    ];
    for (args, status, expected) in rows {
        let ran = generate(&place, &[&rust[..], args].concat()).await;
        assert_eq!(ran.status, Some(status), "{args:?}: {ran:?}");
        // An invalid command line is reported before the output format is known.
        assert!(ran.stderr.contains(expected), "{args:?}: {ran:?}");
        assert_eq!(ran.stdout, "", "{args:?}");
        assert!(!place.path().join("generated").exists(), "{args:?}");

        let json = generate(&place, &[&rust[..], &["--output-format=json"], args].concat()).await;
        if args.contains(&"--output-format") {
            continue;
        }
        assert_eq!(json.status, Some(status), "{args:?}: {json:?}");
        let error = &json.json()["error"];
        assert_eq!((&json.json()["success"], &error["code"]), (&json!(false), &json!(status)), "{args:?}");
        let kinds = [
            "",
            "INTERNAL_ERROR",
            "SCHEMA_VALIDATION_ERROR",
            "CONFIGURATION_ERROR",
            "IO_ERROR",
            "TEMPLATE_ERROR",
        ];
        assert_eq!(error["type"], kinds[usize::try_from(status).unwrap()], "{args:?}");
        assert!(error["message"].is_string() && error["details"].is_array(), "{args:?}");
        assert!(!json.stdout.contains("hunter2"));
    }
}

#[tokio::test]
async fn without_a_language_nothing_is_generated() {
    let place = test_folder();
    let ran = generate(&place, &["-s", "things.md"]).await;
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("--target rust, typescript or python"), "{}", ran.stderr);
}

#[tokio::test]
async fn other_commands_keep_their_own_status() {
    let place = test_folder();
    for args in [&["generat"][..], &["serve", "--nonsense"], &["check", "generate", "--nonsense"]] {
        assert_eq!(place.run(args).await.status, Some(2), "{args:?}");
    }
    let ran = place.run(&["--log", "json", "generate", "--nonsense"]).await;
    assert_eq!(ran.status, Some(3), "{ran:?}");
    let version = generate(&place, &["--version"]).await;
    assert_eq!(version.stdout, format!("mcpaql-generate {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(generate(&place, &["--help"]).await.status, Some(0));
}

#[tokio::test]
async fn every_problem_has_a_path_code_and_suggestion() {
    let place = test_folder();
    place.file(
        "wrong.md",
        &http()
            .replace("name: get_thing", "name: getThing")
            .replace("type: string", "type: strng")
            .replace("description: An API of the tests", "description: 5"),
    );
    let ran = generate(&place, &["-s", "wrong.md", "-t", "python", "--output-format", "json"]).await;
    let report = ran.json();
    let details = report["error"]["details"].as_array().unwrap();
    let name = details.iter().find(|detail| detail["code"] == "SCHEMA_INVALID_NAME").unwrap();
    assert_eq!(name["path"], "operations.read[0].name");
    assert!(name["suggestion"].as_str().unwrap().contains("get_thing"), "{name}");
    let kind = details.iter().find(|detail| detail["path"].as_str().unwrap().ends_with("type")).unwrap();
    assert!(kind["message"].is_string(), "{kind}");
    // The JSON report has everything that the text has.
    assert_eq!(kind["found"], "strng", "{kind}");
    let number = details.iter().find(|detail| detail["path"] == "description").unwrap();
    assert_eq!((&number["expected"], &number["found"]), (&json!("string"), &json!("5")), "{number}");
    assert!(details.iter().all(|detail| detail["suggestion"].is_string()), "{details:?}");
    let human = generate(&place, &["-s", "wrong.md", "-t", "python"]).await;
    let place_of = |detail: &Value| format!("wrong.md:{}:{}", detail["line"], detail["column"]);
    for detail in [name, kind] {
        assert!(human.stderr.contains(&place_of(detail)), "{detail}: {}", human.stderr);
    }
    let edited = generate(&place, &["-s", "absent", "-t", "python", "--output-format", "json"]).await.json();
    assert!(edited["error"]["suggestion"].as_str().unwrap().contains("built-in"), "{edited}");
}

#[tokio::test]
async fn documents_are_accepted_in_every_form() {
    let place = test_folder();
    let value: Value = json!({
        "schema_version": "1.0",
        "adapter": {"name": "generated-form", "display_name": "F", "version": "1.0.0", "description": "d",
            "target_api": {"name": "F", "base_url": "https://api.example.com"}},
        "endpoints": {"read": [{"name": "get_item", "description": "Get", "returns": "object",
            "params": [{"name": "id", "type": "string", "required": true}],
            "http": {"method": "GET", "path": "/items/{id}"}}]}
    });
    place.file("form.json", &value.to_string());
    place.file("form", &value.to_string());
    place.file("my form.yaml", &format!("{value}"));
    let front = http();
    place.file("plain.yaml", front.trim_matches(|c| c == '-' || c == '\n'));
    place.file("bookshop.yaml", BOOKSHOP);
    place.file("tracker.json", TRACKER);
    let rows: [(&[&str], &str); 9] = [
        (&["-s", "things.md"], "things.md"),
        (&["-s", "plain.yaml"], "plain.yaml"),
        (&["-s", "form.json"], "form.json"),
        (&["-s", "form"], "form.json"),
        (&["-s", "my form.yaml"], "adapter.json"),
        (&["-s", "notebook"], "notebook-adapter.md"),
        (&["-s", "bookshop.yaml"], "bookshop-adapter.md"),
        (
            &["--openapi", "bookshop.yaml", "--include", "category:READ", "--name", "books"],
            "books-adapter.md",
        ),
        (&["--tools", "tracker.json", "--name", "tracker", "--", "tracker-server"], "tracker-adapter.md"),
    ];
    for (index, (args, file)) in rows.into_iter().enumerate() {
        let output = format!("out{index}");
        let ran = generate(&place, &[&["-t", "rust", "-o", &output], args].concat()).await;
        assert_eq!(ran.status, Some(0), "{args:?}: {ran:?}");
        let schema = format!("{output}/schema/{file}");
        let checked = place.run(&["check", &schema]).await;
        assert_eq!(checked.status, Some(0), "{args:?}: {checked:?}");
        let provenance: Value =
            serde_json::from_str(&read(&place, &format!("{output}/{PROVENANCE}"))).unwrap();
        assert_eq!(provenance["schema"]["filename"], file, "{args:?}");
    }
    let chosen = read(&place, "out7/schema/books-adapter.md");
    assert!(chosen.contains("list_books") && !chosen.contains("delete_book"), "{chosen}");
}

#[tokio::test]
async fn saved_tools_are_enough_for_rust_and_refused_for_other_languages() {
    let place = TestFolder::new();
    place.file("tracker.json", TRACKER);
    for language in ["rust", "typescript", "python"] {
        let args = ["--tools", "tracker.json", "--name", "tracker", "-t", language, "-o", language];
        let server = ["--", "tracker-server", "--region", "${env:TRACKER_REGION}"];
        let ran = generate(&place, &[&args[..], &server].concat()).await;
        if language != "rust" {
            assert_eq!(ran.status, Some(5), "{language}: {ran:?}");
            assert!(
                ran.stderr.contains("delete_issue") && ran.stderr.contains("need another MCP server"),
                "{ran:?}"
            );
            assert!(ran.stderr.contains("--target rust"), "{ran:?}");
            continue;
        }
        assert_eq!(ran.status, Some(0), "{language}: {ran:?}");
        let readme = read(&place, "rust/README.md");
        assert!(readme.contains("starts `tracker-server --region "), "{readme}");
        assert!(readme.contains("| `TRACKER_REGION` |"), "{readme}");
    }
}

/// The MCP server is this program itself.
#[tokio::test]
async fn a_running_server_is_asked_for_its_tools() {
    let place = test_folder();
    let args = ["-t", "rust", "-o", "rust", "--name", "notes"];
    let server = ["--", BINARY, "serve", "--data", "data", "--mode", "discrete"];
    let ran = generate(&place, &[&args[..], &server].concat()).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(read(&place, "rust/schema/notes-adapter.md").contains("create_note"));
}

#[tokio::test]
async fn unsupported_operations_are_skipped_on_request() {
    let place = TestFolder::new();
    let work = jobs(
        "{transport: native, protocol: command}",
        "{name: run_job, command: [make], lifecycle: true}\n    - {name: start_job, command: [make]}",
    );
    place.file("work.yaml", &work);
    for language in ["typescript", "python"] {
        let args = ["-s", "work.yaml", "-t", language, "-o", language];
        let refused = generate(&place, &args).await;
        assert_eq!(refused.status, Some(5), "{refused:?}");
        assert!(refused.stderr.contains("run_job (needs background executions)"), "{refused:?}");
        let ran = generate(&place, &[&args[..], &["--skip-unsupported"]].concat()).await;
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("'run_job' is skipped"), "{ran:?}");
        let readme = read(&place, &format!("{language}/README.md"));
        assert!(readme.contains("`start_job`") && !readme.contains("`run_job`"), "{readme}");
        assert!(readme.contains("-o . --skip-unsupported\n"), "{readme}");
    }
}

#[tokio::test]
async fn flags_override_the_configuration_and_its_paths_are_relative_to_it() {
    let place = test_folder();
    std::fs::create_dir(place.path().join("conf")).unwrap();
    std::fs::write(place.path().join("conf/things.md"), http()).unwrap();
    std::fs::write(
        place.path().join("conf/g.yaml"),
        "schema: things.md\ntarget: rust\noutput: out\nlicense: MIT\ncopyright: 2026 Acme\nprefix: th_\nmode: single\nreproducible: true\n",
    )
    .unwrap();
    let ran = generate(&place, &["-c", "conf/g.yaml"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let provenance: Value = serde_json::from_str(&read(&place, &format!("conf/out/{PROVENANCE}"))).unwrap();
    assert_eq!(
        provenance["generation"],
        json!({"target": "rust", "options": {"license": "MIT", "copyright": "2026 Acme", "mode": "single", "prefix": "th_"}})
    );
    assert!(read(&place, "conf/out/LICENSE").contains("Copyright (c) 2026 Acme\n"));
    assert!(read(&place, "conf/out/README.md").contains("th_mcpaql"), "one tool, with the prefix");

    let ran = generate(
        &place,
        &[
            "-c",
            "conf/g.yaml",
            "-o",
            "mine",
            "--license",
            "ISC",
            "--prefix",
            "mine_",
            "--mode",
            "semantic",
            "-s",
            "things.md",
        ],
    )
    .await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(read(&place, "mine/LICENSE").starts_with("ISC License"));
    assert!(read(&place, "mine/README.md").contains("mine_mcpaql_read"));
}

#[tokio::test]
async fn the_same_input_gives_the_same_bytes() {
    let place = test_folder();
    place.file("bookshop.yaml", BOOKSHOP);
    for source in [&["-s", "things.md"][..], &["--openapi", "bookshop.yaml"]] {
        for language in ["rust", "typescript", "python"] {
            for output in ["one", "two"] {
                let args = [source, &["-t", language, "-o", output, "--reproducible", "--force"]].concat();
                assert_eq!(generate(&place, &args).await.status, Some(0), "{args:?}");
            }
            let [one, two] = ["one", "two"].map(|output| tree(&place.path().join(output)));
            assert!(one == two, "{source:?} in {language}");
        }
    }
    let provenance: Value = serde_json::from_str(&read(&place, &format!("one/{PROVENANCE}"))).unwrap();
    assert!(provenance["generation"].get("timestamp").is_none());
}

#[tokio::test]
async fn the_build_time_can_be_set_and_stays_if_nothing_changed() {
    let place = test_folder();
    let timed = async |epoch: &str, output: &str| {
        let mut command = place.binary(&["generate", "-s", "things.md", "-t", "rust", "-o", output]);
        command.env("SOURCE_DATE_EPOCH", epoch);
        RunOutput::of(command).await
    };
    assert_eq!(timed("1700000000", "a").await.status, Some(0));
    let first = read(&place, &format!("a/{PROVENANCE}"));
    assert!(first.contains("\"timestamp\": \"2023-11-14T22:13:20Z\""), "{first}");
    assert_eq!(timed("1800000000", "a").await.status, Some(0));
    assert_eq!(read(&place, &format!("a/{PROVENANCE}")), first, "nothing else changed");
    for wrong in ["yesterday", "-1", "99999999999999999999"] {
        let ran = timed(wrong, "b").await;
        assert_eq!(ran.status, Some(3), "{wrong}: {ran:?}");
    }
}

#[tokio::test]
async fn generating_again_keeps_handlers_and_refuses_edits() {
    let place = test_folder();
    generate_ok(&place, &[]).await;
    let root = place.path().join("generated");
    std::fs::write(root.join("src/handlers.rs"), "// mine\n").unwrap();
    place.file("things.md", &http().replace("display_name: Upstream", "display_name: Upstream Two"));
    let ran = generate_ok(&place, &["-v"]).await;
    assert!(ran.stdout.contains("kept       src/handlers.rs"), "{}", ran.stdout);
    assert!(ran.stdout.contains("changed    README.md"), "{}", ran.stdout);
    assert_eq!(read(&place, "generated/src/handlers.rs"), "// mine\n");
    assert!(read(&place, "generated/README.md").starts_with("# Upstream Two\n"));

    // A generated file is edited.
    let edited = format!("{}\nMy own words.\n", read(&place, "generated/README.md"));
    std::fs::write(root.join("README.md"), &edited).unwrap();
    place.file("things.md", &http());
    let before = tree(&root);
    for args in [&[][..], &["--dry-run"]] {
        let ran = generate(&place, &[&["-s", "things.md", "-t", "rust"], args].concat()).await;
        assert_eq!(ran.status, Some(4), "{ran:?}");
        assert!(
            ran.stderr.contains("README.md: the file was edited") && ran.stderr.contains("--force"),
            "{}",
            ran.stderr
        );
    }
    let ran = generate(&place, &["-s", "things.md", "-t", "rust", "--output-format", "json"]).await;
    assert_eq!(ran.json()["error"]["details"][0]["path"], "README.md");
    assert_eq!(ran.json()["error"]["details"][0]["code"], "FILE_EDITED");
    let diff = generate_ok(&place, &["--diff"]).await;
    assert!(
        diff.stdout.contains("-My own words.\n") && diff.stdout.contains("+# Upstream\n"),
        "{}",
        diff.stdout
    );
    assert!(diff.stderr.contains("README.md"), "{}", diff.stderr);
    assert_eq!(tree(&root), before, "nothing was touched");
    let forced = generate_ok(&place, &["--force", "-v"]).await;
    let expected = "changed    README.md  (it was edited; overwritten because of --force)";
    assert!(forced.stdout.contains(expected), "{}", forced.stdout);
    assert!(
        forced.stderr.contains("note: README.md was edited and is overwritten because of --force"),
        "{forced:?}"
    );
    assert!(read(&place, "generated/README.md").starts_with("# Upstream\n"));
    assert_eq!(read(&place, "generated/src/handlers.rs"), "// mine\n", "even by force");
}

#[tokio::test]
async fn a_document_can_be_edited_in_the_project() {
    let place = test_folder();
    generate_ok(&place, &["-o", "p"]).await;
    let schema = place.path().join("p/schema/things.md");
    std::fs::write(&schema, http().replace("description: An API of the tests", "description: Mine now"))
        .unwrap();
    let ran = generate(&place, &["-s", "p/schema/things.md", "-t", "rust", "-o", "p"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(read(&place, "p/README.md").contains("Mine now"));
}

#[tokio::test]
async fn trials_write_nothing() {
    let place = test_folder();
    let dry = generate_ok(&place, &["--dry-run"]).await;
    assert!(
        dry.stdout.contains("Would write") && dry.stdout.contains("created    src/main.rs"),
        "{}",
        dry.stdout
    );
    let diff = generate_ok(&place, &["--diff"]).await;
    assert!(diff.stdout.contains("--- /dev/null\n+++ b/README.md\n@@ -0,0 +1,"), "{}", diff.stdout);
    assert!(!diff.stdout.contains('\u{1b}'), "no colours outside a terminal");
    let json = generate_ok(&place, &["--diff", "--output-format", "json"]).await.json();
    assert!(json["diff"].as_str().unwrap().contains("+++ b/README.md") && json["written"] == json!(false));
    assert!(!place.path().join("generated").exists());
    generate_ok(&place, &[]).await;
    let same = generate_ok(&place, &["--diff"]).await;
    assert_eq!(same.stdout, "", "nothing would change");
}

#[tokio::test]
async fn quiet_prints_nothing_and_verbose_prints_reasons() {
    let place = test_folder();
    place.file("warned.md", &http().replace("api.example.com/v1", "api.example.com/v1/"));
    let quiet = generate(&place, &["-s", "warned.md", "-t", "rust", "-q"]).await;
    assert_eq!((quiet.status, quiet.stdout.as_str(), quiet.stderr.as_str()), (Some(0), "", ""));
    let verbose = generate(&place, &["-s", "warned.md", "-t", "rust", "-v"]).await;
    assert!(
        verbose.stdout.contains("unchanged  LICENSE  (its generated content is the same)"),
        "{}",
        verbose.stdout
    );
    assert!(verbose.stderr.contains("warning: "), "{}", verbose.stderr);
}

#[tokio::test]
async fn an_operation_to_review_is_a_warning() {
    let place = TestFolder::new();
    place.file("bookshop.yaml", BOOKSHOP);
    place.file("tracker.json", TRACKER);
    let tracker: &[&str] = &["--tools", "tracker.json"];
    for (source, server, count, expected) in [
        (&["--openapi", "bookshop.yaml"][..], &[][..], 1, "review check_stock: "),
        (tracker, &["--", "server"], 2, "annotated as read-only, but its name suggests a write"),
    ] {
        let of = |args: &[&'static str]| [source, &["-t", "rust"], args, server].concat();
        let human = generate(&place, &of(&["--dry-run"])).await;
        assert_eq!(human.status, Some(0), "{human:?}");
        assert!(human.stderr.contains(&format!("{count} should be reviewed:")), "{}", human.stderr);
        assert!(!human.stderr.contains("warning:"), "warnings are not repeated: {}", human.stderr);
        let ran = generate(&place, &of(&["--dry-run", "--output-format", "json"])).await;
        let warnings = ran.json()["warnings"].clone();
        let reviews: Vec<&Value> =
            warnings.as_array().unwrap().iter().filter(|one| one["code"] == "IMPORT_TO_REVIEW").collect();
        assert_eq!(reviews.len(), count, "{warnings}");
        assert!(reviews[0]["message"].as_str().unwrap().contains(expected), "{warnings}");
        let strict = generate(&place, &of(&["--strict", "--output-format", "json"])).await;
        assert_eq!(strict.status, Some(2), "{strict:?}");
        assert_eq!(strict.json()["error"]["details"], warnings);
        assert!(!place.path().join("generated").exists());
    }
}

fn jobs(target: &str, operation: &str) -> String {
    format!(
        "name: jobs\ntype: adapter\nversion: 1.0.0\ndescription: Jobs.\ntarget: {target}\noperations:\n  execute:\n    - {operation}\n"
    )
}

#[tokio::test]
async fn code_targets_are_refused_with_a_hint() {
    let place = TestFolder::new();
    place.file("code.yaml", &jobs("{transport: native, protocol: code}", "{name: run_job}"));
    for (language, name) in [("typescript", "TypeScript"), ("python", "Python"), ("rust", "Rust")] {
        let ran = generate(&place, &["-s", "code.yaml", "-t", language, "--output-format", "json"]).await;
        let error = ran.json()["error"].clone();
        let message = error["message"].as_str().unwrap();
        assert_eq!(ran.status, Some(5), "{message}");
        let expected = format!("{name} projects do not support the adapter 'jobs': ");
        assert!(message.starts_with(&expected) && message.contains("functions of the program"), "{message}");
        assert!(error["suggestion"].is_string(), "{error}");
    }
}

#[tokio::test]
async fn rust_projects_support_background_executions() {
    let place = TestFolder::new();
    let work =
        jobs("{transport: native, protocol: command}", "{name: run_job, command: [make], lifecycle: true}");
    place.file("work.yaml", &work);
    let ran = generate(&place, &["-s", "work.yaml", "-t", "rust", "-o", "rust"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let readme = read(&place, "rust/README.md");
    for expected in ["## Background work", "`run_job`", "`get_execution`", "| `XDG_DATA_HOME` |"] {
        assert!(readme.contains(expected), "{expected}: {readme}");
    }
}

#[tokio::test]
async fn handlers_of_a_renamed_adapter_stay_and_their_new_place_is_named() {
    let place = test_folder();
    let python: &[&str] = &["-t", "python", "-o", "out"];
    assert_eq!(generate(&place, &[&["-s", "things.md"], python].concat()).await.status, Some(0));
    let old = "out/src/things_adapter/handlers.py";
    place.file(old, "MINE = True\n");
    place.file("others.md", &http().replace("name: things", "name: others"));
    let ran = generate(&place, &[&["-s", "others.md"], python].concat()).await;
    let expected =
        "src/things_adapter/handlers.py is no longer used; move your code to src/others_adapter/handlers.py";
    assert!(ran.stderr.contains(expected), "{ran:?}");
    assert_eq!(read(&place, old), "MINE = True\n");
}

#[tokio::test]
async fn the_license_can_be_chosen() {
    let place = test_folder();
    for (license, text) in [
        ("MIT", "MIT License"),
        ("BSD-3-Clause", "Neither the name"),
        ("AGPL-3.0-only", "GNU AFFERO GENERAL PUBLIC LICENSE"),
        ("LGPL-3.0-or-later", "GNU LESSER GENERAL PUBLIC LICENSE"),
        ("MIT OR Apache-2.0", "SPDX-License-Identifier: MIT OR Apache-2.0"),
        ("UNLICENSED", "All rights reserved"),
    ] {
        let ran = generate_ok(&place, &["--license", license, "--strict", "--runtime", "1"]).await;
        assert_eq!(ran.stderr, "", "{license}");
        assert!(read(&place, "generated/LICENSE").contains(text), "{license}");
    }
    let ran = generate_ok(&place, &["--license", "EUPL-1.2", "--output-format", "json"]).await;
    assert_eq!(ran.json()["warnings"][0]["path"], "LICENSE");
    assert!(!place.path().join("generated/COMMERCIAL-LICENSE.md").exists());
}

#[tokio::test]
async fn the_runtime_of_a_rust_project_can_be_chosen() {
    let place = test_folder();
    std::fs::create_dir(place.path().join("beside")).unwrap();
    place.file("beside/Cargo.toml", "[package]\nname = \"mcpaql-runtime\"\n");
    for (spec, dependency) in [
        (None, format!("mcpaql-runtime = \"{}\"\n", env!("CARGO_PKG_VERSION"))),
        (Some("=9.8.7"), "mcpaql-runtime = \"=9.8.7\"\n".to_owned()),
        (
            Some("git:https://example.com/r#abc"),
            "git = \"https://example.com/r\", rev = \"abc\" }".to_owned(),
        ),
        (
            Some("path:beside"),
            format!("path = \"{}\" }}", place.path().canonicalize().unwrap().join("beside").display()),
        ),
    ] {
        let flag: Vec<&str> = spec.iter().flat_map(|spec| ["--runtime", spec]).collect();
        generate_ok(&place, &flag).await;
        let manifest = read(&place, "generated/Cargo.toml");
        assert!(manifest.contains(&dependency), "{spec:?}: {manifest}");
        let readme = read(&place, "generated/README.md");
        let is_told = readme.lines().any(|line| line.starts_with("mcpaql ") && line.contains(" --runtime "));
        assert_eq!(is_told, spec.is_some(), "{readme}");
    }
    place.file("g.yaml", "runtime: path:beside\n");
    let other = generate(&place, &["-s", "things.md", "-t", "python", "-o", "p", "-c", "g.yaml"]).await;
    assert_eq!(other.status, Some(0), "a file may serve several languages: {other:?}");
    let other = generate(&place, &["-s", "things.md", "-t", "python", "-o", "p", "--runtime", "1"]).await;
    assert_eq!(other.status, Some(3), "{other:?}");
}

/// Keywords of the target languages, and texts that would end a comment, a string or a block.
#[tokio::test]
async fn hostile_documents_give_valid_projects() {
    let place = TestFolder::new();
    let hostile = "*/ \"\"\" ''' ``` `${x}` \\ {{y}} %s #{z} </script> \"; -- 🎉 \u{2028}\u{202e} \n\n# h \r\n\"#\u{7f}";
    // Invisible characters in the name of a field withhold the operation.
    let visible = hostile.replace(['\u{2028}', '\u{202e}'], "");
    let visible = visible.as_str();
    let words = [
        "class", "type", "import", "def", "fn", "async", "await", "none", "true", "self", "super", "new",
        "delete",
    ];
    let operation = |word: &str| {
        json!({
            "name": word, "maps_to": format!("POST /{word}"), "description": hostile, "title": hostile,
            "params": {
                word: {"type": "string", "description": hostile, "enum": [hostile, "a", ""]},
                "constructor": {"type": "integer"},
                "proto": {"as": "__proto__", "type": "object", "properties": {visible: {"type": "string"}}},
            },
        })
    };
    let document = json!({
        "name": "crate", "type": "adapter", "version": "1.0.0", "display_name": hostile, "description": hostile,
        "target": {"base_url": "https://api.example.com"},
        "operations": {"execute": words.map(operation)},
    });
    let text = document.to_string();
    place.file("hostile.json", &text);
    for language in ["rust", "typescript", "python"] {
        let ran = generate(&place, &["-s", "hostile.json", "-t", language, "-o", language]).await;
        assert_eq!(ran.status, Some(0), "{language}: {ran:?}");
        let files = tree(&place.path().join(language));
        assert!(files.keys().all(|path| path.is_ascii() && !path.contains("..")), "{:?}", files.keys());
        assert_eq!(files["schema/hostile.json"], text);
    }
}
