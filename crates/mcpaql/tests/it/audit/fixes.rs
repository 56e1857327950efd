//! `--fix`: writes safe corrections, touches nothing else, and removes the findings.

use super::{finding_codes, report};
use crate::fixture::TestFolder;
use mcpaql_document::source::Source;
use serde_json::{Value, json};

/// Tools of a server without hints and titles.
fn tracker() -> Value {
    json!({"tools": [
        {"name": "create_issue", "description": "Opens an issue in a project, with a title and labels.",
         "inputSchema": {"type": "object", "properties": {"title": {"type": "string", "description": "Its title"}}}},
        {"name": "delete_issue", "description": "Removes an issue with everything that was said about it.",
         "inputSchema": {"type": "object", "properties": {"id": {"type": "string", "description": "Its id"}}},
         "annotations": {"destructiveHint": false}},
        {"name": "listLabels", "description": "All labels of a project, those that nobody uses included.",
         "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
    ]})
}

const STRICT: &[&str] = &["--convention", "clients,claude-directory,openai-apps,mcpaql"];

fn place() -> TestFolder {
    let place = TestFolder::new();
    place.file("tracker.json", &tracker().to_string());
    place
}

async fn fix(place: &TestFolder, more: &[&str]) -> crate::fixture::RunOutput {
    let flags = ["audit", "--tools", "tracker.json", "--fix", "-o", "overrides.yaml"];
    place.run(&[&flags, STRICT, more].concat()).await
}

fn overrides(place: &TestFolder) -> String {
    std::fs::read_to_string(place.path().join("overrides.yaml")).unwrap()
}

/// Returns `RULE tool` for every finding with a correction.
fn correctable(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let fixed = findings.filter(|finding| !finding["fix"].is_null());
    fixed
        .map(|finding| format!("{} {}", finding["rule"].as_str().unwrap(), finding["tool"].as_str().unwrap()))
        .collect()
}

#[tokio::test]
async fn overrides_import_cleanly_and_the_findings_are_gone() {
    let place = place();
    let (_, before) = report(&place, &[&["--tools", "tracker.json"], STRICT].concat()).await;
    let wanted = correctable(&before);
    assert!(wanted.len() >= 4, "{before:#}");
    let ran = fix(&place, &["--format", "json"]).await;
    assert!(ran.status != Some(2), "{ran:?}");
    for rest in correctable(&ran.json()) {
        assert!(!wanted.contains(&rest), "the report that follows shows what remains, not {rest}");
    }
    let import = ["import", "mcp", "--tools", "tracker.json", "--target", "npx tracker", "--name", "tracker"];
    let imported =
        place.run(&[&import, ["--overrides", "overrides.yaml", "-o", "t.md"].as_slice()].concat()).await;
    assert_eq!(imported.status, Some(0), "{imported:?}");
    let checked = place.run(&["check", "--strict", "t.md"]).await;
    assert_eq!(checked.status, Some(0), "{checked:?}");
    let (_, after) = report(&place, &[&["t.md", "--mode", "discrete"], STRICT].concat()).await;
    let left = finding_codes(&after);
    for finding in wanted {
        let (rule, tool) = finding.split_once(' ').unwrap();
        let tool = mcpaql_core::suggest::snake_case(tool);
        assert!(!left.contains(&format!("{rule} tracker_{tool}")), "{finding} is still there: {left:?}");
    }
}

#[tokio::test]
async fn existing_decisions_in_the_overrides_stay() {
    let place = place();
    let mine = "# mine\nadapter: {name: tr}   # short\noperations:\n  create_issue:\n    title: Open it  # better\n    danger: reversible\n";
    place.file("overrides.yaml", mine);
    fix(&place, &[]).await;
    let merged = overrides(&place);
    for line in mine.lines() {
        assert!(merged.contains(line), "{line} is lost: {merged}");
    }
    assert!(merged.contains("delete_issue"), "{merged}");
    assert!(!merged.contains("Create issue"), "{merged}");
    let again = fix(&place, &[]).await;
    assert_eq!(overrides(&place), merged, "{again:?}");
    place.file("overrides.yaml", "operation: {}\n");
    let wrong = fix(&place, &[]).await;
    assert_eq!(wrong.status, Some(2), "{wrong:?}");
    assert_eq!(overrides(&place), "operation: {}\n");
}

#[tokio::test]
async fn a_dry_run_shows_and_writes_nothing() {
    let place = place();
    let ran = fix(&place, &["--dry-run"]).await;
    assert!(
        ran.stderr.contains("+++ overrides.yaml") && ran.stderr.contains("Dry run: nothing was written"),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("\n@@ -0,0 +1,"), "{}", ran.stderr);
    assert!(!place.path().join("overrides.yaml").exists());
}

#[tokio::test]
async fn corrections_of_a_server_need_a_file_and_one_server() {
    let place = place();
    let ran = place.run(&[&["audit", "--tools", "tracker.json", "--fix"], STRICT].concat()).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("-o overrides.yaml"), "{}", ran.stderr);
    place.file("other.json", &tracker().to_string());
    let ran = fix(&place, &["--tools", "other.json"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("one server at a time"), "{}", ran.stderr);
    // Refused even if only one of them has corrections, because the file does not name its server.
    place.file("other.json", r#"{"tools": []}"#);
    let ran = fix(&place, &["--tools", "other.json"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("one server at a time"), "{}", ran.stderr);
    assert!(!place.path().join("overrides.yaml").exists());
}

const DOCUMENT: &str = r#"---
# The shop.
name: shop
type: adapter
version: "1.0.0"
description: A shop
mode: discrete
target: { base_url: "https://api.example.com" }
operations:
  read:
    - name: get_book   # the first
      maps_to: GET /books
      title: get_book
      description: Gives a book with its author, its price and how many are left.
  create:
    - {name: add_book, maps_to: POST /books, description: "Puts a book on sale, with its price.", annotations: {idempotentHint: true}}
---

# The shop

Text with name: get_book in it.
"#;

#[tokio::test]
async fn a_document_is_corrected_in_its_own_text() {
    let place = TestFolder::new();
    place.file("shop.md", DOCUMENT);
    let (_, before) = report(&place, &["shop.md"]).await;
    let wanted = correctable(&before);
    assert!(!wanted.is_empty(), "{before:#}");
    let dry = place.run(&["audit", "shop.md", "--fix", "--dry-run"]).await;
    assert!(dry.stderr.contains("--- shop.md\n+++ shop.md\n@@ -"), "{dry:?}");
    assert_eq!(std::fs::read_to_string(place.path().join("shop.md")).unwrap(), DOCUMENT);
    let ran = place.run(&["audit", "shop.md", "--fix"]).await;
    assert!(ran.stderr.contains("Wrote shop.md"), "{ran:?}");
    let written = std::fs::read_to_string(place.path().join("shop.md")).unwrap();
    assert_ne!(written, DOCUMENT);
    let kept = DOCUMENT.lines().filter(|line| written.lines().any(|other| other == *line)).count();
    assert!(DOCUMENT.lines().count() - kept <= wanted.len(), "{written}");
    assert!(written.ends_with("Text with name: get_book in it.\n"), "{written}");
    assert!(Source::new("shop.md", written.clone()).parse().is_ok());
    let (_, after) = report(&place, &["shop.md"]).await;
    for finding in wanted {
        assert!(!finding_codes(&after).contains(&finding), "{finding}: {written}");
    }
    let again = place.run(&["audit", "shop.md", "--fix"]).await;
    assert_eq!(std::fs::read_to_string(place.path().join("shop.md")).unwrap(), written, "{again:?}");
}

#[tokio::test]
async fn a_corrected_document_is_written_to_the_output_file() {
    let place = TestFolder::new();
    place.file("shop.md", DOCUMENT);
    let read = |name: &str| std::fs::read_to_string(place.path().join(name)).unwrap();
    let ran = place.run(&["audit", "shop.md", "--fix", "-o", "mended.md"]).await;
    assert!(ran.stderr.contains("Wrote mended.md"), "{ran:?}");
    assert_eq!(read("shop.md"), DOCUMENT, "the original stays");
    place.run(&["audit", "shop.md", "--fix"]).await;
    assert_eq!(read("mended.md"), read("shop.md"));
    place.file("shop.md", DOCUMENT);
    place.file("other.md", &DOCUMENT.replace("name: shop", "name: other"));
    for others in [vec!["other.md"], vec!["--tools", "tracker.json"], vec!["absent.md"]] {
        place.file("tracker.json", &tracker().to_string());
        let ran = place.run(&[&["audit", "shop.md", "--fix", "-o", "both.md"], &others[..]].concat()).await;
        assert_eq!(ran.status, Some(2), "{others:?}: {ran:?}");
        assert!(ran.stderr.contains("--fix can write only one document to the file of -o"), "{}", ran.stderr);
        assert!(!place.path().join("both.md").exists() && read("shop.md") == DOCUMENT);
    }
}

const CAUTIOUS: &str =
    "{readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true}";

#[tokio::test]
async fn no_correction_weakens_a_warning_of_the_author() {
    let place = TestFolder::new();
    let document = DOCUMENT
        .replace("title: get_book", &format!("annotations: {CAUTIOUS}\n      title: Get book"))
        .replace("{idempotentHint: true}", CAUTIOUS);
    place.file("shop.md", &document);
    let tools = json!({"tools": [
        {"name": "create_issue", "title": "Create issue", "description": "Opens an issue in a project, with labels.",
         "inputSchema": {"type": "object"}, "annotations": {"openWorldHint": true}},
        {"name": "delete_issue", "title": "Delete issue", "description": "Removes an issue and what was said about it.",
         "inputSchema": {"type": "object"}},
    ]});
    place.file("tracker.json", &tools.to_string());
    for more in [["--policy", "mcp"], ["--policy", "mcpaql"], ["--convention", "lightdash"]] {
        place.run(&[["audit", "shop.md", "--fix"].as_slice(), &more].concat()).await;
        let written = std::fs::read_to_string(place.path().join("shop.md")).unwrap();
        assert_eq!(written.matches(CAUTIOUS).count(), 2, "{more:?}: {written}");
        place
            .run(&[["audit", "--tools", "tracker.json", "--fix", "-o", "o.yaml"].as_slice(), &more].concat())
            .await;
        let overrides = std::fs::read_to_string(place.path().join("o.yaml")).unwrap_or_default();
        for safer in
            ["openWorldHint: false", "readOnlyHint: true", "destructiveHint: false", "idempotentHint: true"]
        {
            assert!(!overrides.contains(safer), "{more:?}: {overrides}");
        }
    }
}

#[tokio::test]
async fn a_correction_that_does_not_fit_a_document_is_not_reported_as_made() {
    let place = TestFolder::new();
    let document = DOCUMENT
        .replace("mode: discrete", "mode: discrete\npolicy: nextcloud")
        .replace("title: get_book", "title:   'Get book'  # good");
    place.file("shop.md", &document);
    let directory = ["shop.md", "--convention", "claude-directory"];
    let (_, fixed) = report(&place, &[directory.as_slice(), &["--fix"]].concat()).await;
    let written = std::fs::read_to_string(place.path().join("shop.md")).unwrap();
    assert!(written.contains("title:   'Get book'  # good"), "{written}");
    let (_, after) = report(&place, &directory).await;
    assert_eq!(finding_codes(&fixed), finding_codes(&after), "the report shows the written findings");
    assert!(finding_codes(&after).iter().any(|finding| finding.starts_with("TITLE-006")), "{after:#}");
    let (_, dry) = report(&place, &[directory.as_slice(), &["--fix", "--dry-run"]].concat()).await;
    assert_eq!(finding_codes(&dry), finding_codes(&after));
}

#[tokio::test]
async fn an_import_accepts_a_file_without_corrections() {
    let place = TestFolder::new();
    let tool = json!({"name": "get_note", "inputSchema": {"type": "object"}});
    place.file("notes.json", &json!({"tools": [tool]}).to_string());
    let fix = ["audit", "--tools", "notes.json", "--fix", "-o", "o.yaml", "--rule", "TITLE-001=off"];
    let ran = place.run(&fix).await;
    assert!(ran.stderr.contains("No safe corrections found"), "{ran:?}");
    assert!(!ran.stderr.contains("Wrote"), "{ran:?}");
    let written = || std::fs::read_to_string(place.path().join("o.yaml")).unwrap();
    assert!(written().ends_with("operations: {}\n"), "{}", written());
    let import = ["import", "mcp", "--tools", "notes.json", "--overrides", "o.yaml", "--", "notes"];
    let ran = place.run(&import).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    place.file("o.yaml", "adapter: {name: mine}\n");
    let ran = place.run(&fix).await;
    assert!(ran.stderr.contains("o.yaml is unchanged"), "{ran:?}");
    assert_eq!(written(), "adapter: {name: mine}\n");
}

/// A document with an operation that is both read-only and destructive.
const CONTRARY: &str = "---
name: contrary
type: adapter
version: \"1.0.0\"
description: Notes of a team and what to do with them
mode: discrete
target: { base_url: \"https://api.example.com/v1\" }
operations:
  read:
    - name: get_note
      title: Get note
      maps_to: GET /notes/{note_id}
      description: Reads one note with its text.
      annotations: { readOnlyHint: true, destructiveHint: true }
      params:
        note_id: { type: integer, required: true, description: Id of the note }
---
";

#[cfg(unix)]
#[tokio::test]
async fn a_document_from_a_pipe_is_corrected_in_the_output_file() {
    let place = TestFolder::new();
    place.file("a.md", CONTRARY);
    let piped = async |more: &str| {
        let mut shell = tokio::process::Command::new("sh");
        let line =
            format!("mkfifo pipe; cat a.md > pipe & $0 audit pipe --fix {more}; s=$?; rm pipe; exit $s");
        shell.args(["-c", &line, crate::fixture::BINARY]).current_dir(place.path());
        crate::fixture::RunOutput::of(shell).await
    };
    let ran = piped("").await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("hint: pass a file with -o"), "{}", ran.stderr);
    let ran = piped("-o b.md").await;
    assert!(ran.stderr.contains("Wrote b.md"), "{}", ran.stderr);
}

#[tokio::test]
async fn a_copy_is_not_written_over_another_document() {
    let place = TestFolder::new();
    place.file("a.md", CONTRARY);
    place.file("other.md", "mine\n");
    let ran = place.run(&["audit", "a.md", "--fix", "-o", "other.md"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("choose another file, or remove it first"), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(place.path().join("other.md")).unwrap(), "mine\n");
    for path in ["new.md", "a.md"] {
        let ran = place.run(&["audit", "a.md", "--fix", "-o", path]).await;
        assert!(ran.stderr.contains(&format!("Wrote {path}")), "{ran:?}");
    }
}

#[tokio::test]
async fn the_tools_of_an_import_have_no_findings() {
    let place = TestFolder::new();
    let hints = json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true});
    let path = json!({"type": "object", "properties": {"path": {"type": "string", "description": "Where"}}});
    let tool = json!({"name": "create_directory", "description": "Makes a folder, or leaves the one that is there.",
        "inputSchema": path, "annotations": hints});
    place.file("fs.json", &json!({"tools": [tool]}).to_string());
    let imported = place.run(&["import", "mcp", "--tools", "fs.json", "-o", "fs.md", "--", "fs"]).await;
    assert_eq!(imported.status, Some(0), "{imported:?}");
    let (ran, report) = report(&place, &["fs.md"]).await;
    let adds = |finding: &String| finding.starts_with("HINT-007");
    assert!(!finding_codes(&report).iter().any(adds), "{ran:?}");
}
