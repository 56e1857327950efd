//! Importing MCP servers: the output, the report and the errors.

use super::names;
use crate::fixture::{BINARY, RunOutput, TestFolder};
use axum::Router;
use axum::http::StatusCode;
use axum::response::Html;
use axum::routing::any;
use serde_json::{Value, json};

/// The list of the documentation.
const TOOLS: &str = include_str!("../../../../../examples/tracker-tools.json");
const TARGET: &str = "npx -y '@acme/tracker-mcp'";

fn tracker() -> TestFolder {
    let place = TestFolder::new();
    place.file("tools.json", TOOLS);
    place
}

async fn import(place: &TestFolder, flags: &[&str]) -> RunOutput {
    place.run(&[&["import", "mcp"], flags].concat()).await
}

async fn document(place: &TestFolder, flags: &[&str]) -> String {
    let fixed = ["--tools", "tools.json", "--target", TARGET, "-o", "tracker-adapter.md"];
    let ran = import(place, &[&fixed, flags].concat()).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    std::fs::read_to_string(place.path().join("tracker-adapter.md")).unwrap()
}

#[tokio::test]
async fn a_saved_list_gives_the_same_document_each_time_and_it_has_no_problems() {
    let place = tracker();
    let first = document(&place, &[]).await;
    assert_eq!(document(&place, &[]).await, first, "over the document of the import before");
    assert!(first.contains("command: [npx, \"-y\", \"@acme/tracker-mcp\"]"), "{first}");
    let checked = place.run(&["check", "--strict", "tracker-adapter.md"]).await;
    assert_eq!(checked.status, Some(0), "{checked:?}");
    let printed = import(&place, &["--tools", "tools.json", "--", "npx", "-y", "@acme/tracker-mcp"]).await;
    assert_eq!(printed.stdout, first, "without --output the document is the data");
    assert!(printed.stderr.starts_with("Imported 6 of 6 operations"), "{}", printed.stderr);
}

#[tokio::test]
async fn the_extension_selects_the_format() {
    let place = tracker();
    for (file, start) in
        [("tracker.yaml", "# Imported from "), ("tracker.json", "{\n  \"$comment\": \"Imported from ")]
    {
        let ran = import(&place, &["--tools", "tools.json", "--target", TARGET, "-o", file]).await;
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(std::fs::read_to_string(place.path().join(file)).unwrap().starts_with(start), "{file}");
        let checked = place.run(&["check", "--strict", file]).await;
        assert_eq!(checked.status, Some(0), "{checked:?}");
    }
}

#[tokio::test]
async fn a_running_server_is_asked_and_stopped() {
    let place = TestFolder::new();
    let ran =
        import(&place, &["-o", "notes.md", "--", BINARY, "serve", "notebook", "--mode", "discrete"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let document = std::fs::read_to_string(place.path().join("notes.md")).unwrap();
    assert!(names(&document).contains(&"notebook_create_note"), "{document}");
    let checked = place.run(&["check", "notes.md"]).await;
    assert_eq!(checked.status, Some(0), "{checked:?}");
}

#[tokio::test]
async fn a_tool_is_split_by_its_switch() {
    let place = tracker();
    place.file(
        "overrides.yaml",
        "operations:\n  issue_write:\n    split:\n      by: method\n      values:\n        \
         create: {name: create_issue, category: CREATE, params: [title, labels]}\n        update: {name: update_issue}\n",
    );
    let written = document(&place, &["--overrides", "overrides.yaml"]).await;
    assert!(written.contains("    - name: create_issue\n"), "{written}");
    assert!(written.contains("      tool: issue_write\n      fixed: { method: create }\n"), "{written}");
    place.file("overrides.yaml", "operations:\n  issue_write:\n    split: {by: methode}\n");
    let ran =
        import(&place, &["--tools", "tools.json", "--target", "x", "--overrides", "overrides.yaml"]).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(
        ran.stderr.contains("overrides.yaml:3") && ran.stderr.contains("did you mean 'method'?"),
        "{}",
        ran.stderr
    );
}

#[tokio::test]
async fn the_bundle_contains_what_was_captured_and_decided() {
    let place = tracker();
    document(&place, &["--bundle", "bundle.json"]).await;
    let text = std::fs::read_to_string(place.path().join("bundle.json")).unwrap();
    let bundle: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(bundle["provenance"]["server"], json!({"name": "acme-tracker", "version": "2.4.0"}));
    assert_eq!(bundle["provenance"]["reached"]["command"], json!(["npx", "-y", "@acme/tracker-mcp"]));
    assert_eq!(bundle["capture"]["tools"].as_array().unwrap().len(), 6);
    let get = bundle["operations"].as_array().unwrap().iter().find(|row| row["name"] == "get_issue").unwrap();
    assert_eq!(
        (&get["tool"], &get["category"], &get["confidence"]),
        (&json!("getIssue"), &json!("READ"), &json!("high"))
    );
    document(&place, &["--bundle", "bundle.json"]).await;
    let again = std::fs::read_to_string(place.path().join("bundle.json")).unwrap();
    assert_eq!(again, text);
    // A bundle can be imported again.
    let ran = import(&place, &["--tools", "bundle.json", "--target", TARGET]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
}

#[tokio::test]
async fn the_output_contains_only_names_of_variables() {
    let place = tracker();
    let flags = [
        "import",
        "mcp",
        "--tools",
        "tools.json",
        "--target",
        "https://tracker.example.com/mcp",
        "--bearer-env",
        "TRACKER_TOKEN",
        "--header",
        "X-Team=TRACKER_TEAM",
        "-o",
        "tracker.md",
        "--bundle",
        "bundle.json",
    ];
    let mut command = place.binary(&flags);
    command.env("TRACKER_TOKEN", "hunter2").env("TRACKER_TEAM", "hunter2");
    let ran = RunOutput::of(command).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    for file in ["tracker.md", "bundle.json"] {
        let text = std::fs::read_to_string(place.path().join(file)).unwrap();
        assert!(!text.contains("hunter2"), "{file}");
    }
    let document = std::fs::read_to_string(place.path().join("tracker.md")).unwrap();
    assert!(document.contains("X-Team: ${env:TRACKER_TEAM}"), "{document}");
    assert!(document.contains("token_env: TRACKER_TOKEN"), "{document}");
    let checked = place.run(&["check", "--strict", "tracker.md"]).await;
    assert_eq!(checked.status, Some(0), "{checked:?}");
}

#[tokio::test]
async fn errors_have_hints() {
    let place = tracker();
    place.file("empty.json", "{\"tools\": []}");
    place.file("other.json", "{\"openapi\": \"3.0.0\"}");
    place.file("mine.md", "# Mine\n");
    for (flags, expected) in [
        (&[][..], "no server to import"),
        (&["--tools", "tools.json"], "--tools needs the command or the URL of the server"),
        (&["--tools", "missing.json", "--target", "x"], "'missing.json' not found"),
        (&["--tools", "empty.json", "--target", "x"], "the server has no tools"),
        (&["--tools", "other.json", "--target", "x"], "other.json contains no list of tools"),
        (
            &["--tools", "tools.json", "--target", "x", "-o", "mine.md"],
            "mine.md already exists and is not an imported",
        ),
        (
            &["--tools", "tools.json", "--target", "x", "--bundle", "mine.md"],
            "mine.md already exists and is not a discovery",
        ),
        (&["--", "no-such-program"], "the program 'no-such-program' is not installed"),
        (&["--", "true"], "exited with status 0"),
        (&["--", "cat"], "the MCP server 'cat' does not speak MCP"),
        (&["--", "server", "--api-key", "hunter2"], "word 3 of the command contains a credential"),
        (&["--url", "https://me:hunter2@x.example/mcp"], "the URL contains a credential"),
        (&["--url", "https://x.example/mcp", "--bearer-env", "hunter2!"], "--bearer-env takes the name of"),
        (&["--url", "https://x.example/mcp", "--env", "A"], "--env has no effect on a server with a URL"),
        (&["--url", "http://x.example/mcp"], "allow plain http with --allow-http"),
        (
            &["--url", "http://127.0.0.1:9/mcp"],
            "hint: check the URL http://127.0.0.1:9/mcp, and that the server is running",
        ),
        (&["--env", "A=hunter2", "--", "x"], "--env takes the name of an environment variable"),
        (&["--bearer-env", "A", "--", "x"], "--bearer-env has no effect on a server with a command"),
    ] {
        let ran = import(&place, flags).await;
        assert_eq!(ran.status, Some(2), "{flags:?} {ran:?}");
        assert!(
            ran.stderr.starts_with("error: ") && ran.stderr.contains(expected),
            "{flags:?} {}",
            ran.stderr
        );
        assert!(!ran.stderr.contains("hunter2"), "{}", ran.stderr);
    }
    assert_eq!(std::fs::read_to_string(place.path().join("mine.md")).unwrap(), "# Mine\n");
}

#[tokio::test]
async fn a_url_that_is_not_an_mcp_server_is_reported_as_such() {
    let router = Router::new()
        .route("/unsupported", any(|| async { StatusCode::NOT_IMPLEMENTED }))
        .route("/page", any(|| async { Html("<!doctype html><title>Hello</title>") }))
        .route("/private", any(|| async { StatusCode::UNAUTHORIZED }))
        .route("/down", any(|| async { StatusCode::SERVICE_UNAVAILABLE }));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let place = TestFolder::new();
    for (path, message, hint) in [
        ("unsupported", " does not answer as an MCP server (HTTP 501)\n", "hint: check the URL"),
        ("missing", " does not answer as an MCP server (HTTP 404)\n", "hint: check the URL"),
        ("page", " does not answer as an MCP server\n", "hint: check the URL"),
        ("private", " rejected the request (HTTP 401)\n", "--bearer-env NAME or --header HEADER=NAME"),
        ("down", " rejected the request (HTTP 503)\n", "hint: try again later"),
    ] {
        let url = format!("http://{address}/{path}");
        let ran = place.run(&["import", "mcp", "--url", &url]).await;
        assert_eq!(ran.status, Some(2), "{path}: {ran:?}");
        assert!(ran.stderr.starts_with(&format!("error: {url}{message}")), "{path}: {}", ran.stderr);
        assert!(ran.stderr.contains(hint), "{path}: {}", ran.stderr);
        assert!(!ran.stderr.contains("set the variable"), "{path}: {}", ran.stderr);
    }
}
