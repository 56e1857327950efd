//! The files that every project has in any language, with made-up sources.

use super::*;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use serde_json::Value;

const HOSTILE: &str = r##"
name: hostile-api
type: adapter
version: "1.2.3"
display_name: "# The `best` </title> \"API\" */ \"\"\""
description: |
  First line */ with """ and ``` and `one.

  # No heading
  <script>alert(1)</script>
  | a | b |
target:
  transport: http
  protocol: rest
  base_url: "https://${env:API_HOST:-api.example.com}/v1"
  headers: { X-Team: "${env:TEAM}" }
auth: { type: bearer, token_env: API_TOKEN }
operations:
  read:
    - name: class
      maps_to: GET /class
      description: "Line one\n\n```sh\nrm -rf /\n``` */ ''' \"\"\" ünïcödé 🎉 {{x}} ${y} %s"
    - name: get_own
      maps_to: GET /own
      description: "Gets its own. Then more."
      auth: { type: basic, username_env: OWN_USER, password_env: OWN_PASSWORD }
  delete:
    - name: delete_thing
      maps_to: DELETE /things/{id}
      description: "- not an item"
      deprecated: "use another"
      params: { id: { type: string, required: true } }
"##;

fn with_project<T>(change: impl FnOnce(&mut ProjectOptions), then: impl FnOnce(&Project<'_>) -> T) -> T {
    let mut options = ProjectOptions::new(Language::Rust);
    change(&mut options);
    let checked = check::check(&Source::new("hostile.yaml", HOSTILE), &options.settings);
    let catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let document = ProjectDocument { file: "hostile.yaml", text: HOSTILE };
    then(&Project { catalog: &catalog, document, origin: None, options })
}

fn sources() -> Vec<ProjectFile> {
    let author =
        ProjectFile { path: "src/handlers.rs".into(), text: "// yours\n".into(), owner: FileOwner::Author };
    vec![ProjectFile::generated("src/main.rs", "fn main() {}\n"), author]
}

fn files(change: impl FnOnce(&mut ProjectOptions)) -> Vec<ProjectFile> {
    with_project(change, |project| complete(project, sources(), Some("2026-01-02T03:04:05Z")))
}

fn text<'f>(files: &'f [ProjectFile], path: &str) -> &'f str {
    &files.iter().find(|file| file.path == path).unwrap_or_else(|| panic!("no {path}")).text
}

/// Query controls are counted separately, because every operation that reads needs them.
#[test]
fn runtimes_are_small() {
    for files in [templates::TYPESCRIPT, templates::PYTHON] {
        let runtime = files.iter().filter(|(path, _)| path.contains("/runtime/"));
        let (controls, rest): (Vec<_>, Vec<_>) = runtime.partition(|(path, _)| path.contains("/controls."));
        let lines =
            |files: &[&(&str, &str)]| files.iter().map(|(_, text)| text.lines().count()).sum::<usize>();
        assert!(rest.len() <= 15 && lines(&rest) <= 2000, "{} files, {} lines", rest.len(), lines(&rest));
        assert!(controls.len() == 1 && lines(&controls) <= 1000, "{} lines", lines(&controls));
    }
}

#[test]
fn a_project_has_the_files_of_the_specification() {
    let files = files(|_| {});
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let mut expected = vec![
        "LICENSE",
        "MCPAQL-PROVENANCE.json",
        "NOTICE.md",
        "README.md",
        "schema/hostile.yaml",
        "src/handlers.rs",
        "src/main.rs",
    ];
    expected.sort_unstable();
    assert_eq!(paths, expected);
    assert_eq!(text(&files, "schema/hostile.yaml"), HOSTILE, "byte for byte");
}

#[test]
fn the_same_project_gives_the_same_files() {
    assert_eq!(files(|_| {}), files(|_| {}));
}

#[test]
fn the_readme_has_the_sections_of_the_specification_and_escapes_texts() {
    let files = files(|_| {});
    let readme = text(&files, "README.md");
    let headings: Vec<&str> = readme.lines().filter(|line| line.starts_with('#')).collect();
    assert_eq!(
        headings,
        [
            "# \\# The `best` &lt;/title> \"API\" */ \"\"\"",
            "## Overview",
            "## Installation",
            "## Usage",
            "## Environment variables",
            "## Operations",
            "### Read operations",
            "### Delete operations",
            "## Handlers of your own",
            "## Checks and tests",
            "## Generating again",
            "## Provenance",
            "## License",
        ]
    );
    assert_eq!(readme.matches("\n```").count() % 2, 0, "every fence is closed: {readme}");
    assert!(!readme.contains("<script"), "{readme}");
    assert!(readme.contains("\"TEAM\": \"…\"") && !readme.contains("\"API_HOST\""), "{readme}");
    for expected in [
        "- `get_own`: Gets its own\n",
        "- `delete_thing`: \\- not an item (deprecated) (needs a confirmation)\n",
        "- `introspect`: ",
        "take query controls beside their parameters",
        "| `API_TOKEN` | secret",
        "| `OWN_USER` | secret",
        "| `OWN_PASSWORD` | secret",
        "| `API_HOST` | optional: a value",
        "| `TEAM` | a value",
        "| `MCP_AQL_ENDPOINT_MODE` |",
        "| `MCP_AQL_ENDPOINT_PROFILE` |",
        "| `MCP_AQL_TOOL_PREFIX` |",
        "`hostile_api_mcpaql_read`",
        "\"mcpServers\"",
        "\"servers\"",
        "/target/release/hostile-api-adapter",
        "You own `src/handlers.rs`: ",
        "mcpaql generate -s schema/hostile.yaml -t rust -o .\n",
        "sha256:",
    ] {
        assert!(readme.contains(expected), "{expected}\n{readme}");
    }
}

#[test]
fn the_command_to_generate_again_has_all_options() {
    let files = files(|options| {
        options.settings.mode = Some(mcpaql_core::adapter::Mode::Single);
        options.settings.prefix = Some("h_".into());
        options.license = "MIT OR Apache-2.0".into();
        options.copyright = Some("2026 Ann & Co".into());
        options.runtime = "{ git = \"https://example.com/r\" }".into();
        options.runtime_flag = Some("git:https://example.com/r".into());
        options.trust = TrustLevel::CommunityReviewed;
    });
    let readme = text(&files, "README.md");
    let command = "-o . --license 'MIT OR Apache-2.0' --copyright '2026 Ann & Co' --mode single --prefix h_ \
                   --runtime git:https://example.com/r --trust community_reviewed\n";
    assert!(readme.contains(command), "{readme}");
    let provenance: Value = serde_json::from_str(text(&files, provenance::FILE)).unwrap();
    assert_eq!(
        provenance["generation"]["options"],
        serde_json::json!({
            "license": "MIT OR Apache-2.0",
            "copyright": "2026 Ann & Co",
            "mode": "single",
            "prefix": "h_",
            "runtime": "{ git = \"https://example.com/r\" }",
            "trust": "community_reviewed",
        })
    );
    let record = provenance::ProvenanceRecord::read(text(&files, provenance::FILE)).unwrap();
    assert_eq!(record.trust.as_deref(), Some("community_reviewed"));
}

/// Returns the operations of a project's `catalog.json`, and its README.
fn decided(language: Language, trust: TrustLevel) -> (Value, String) {
    let change = |options: &mut ProjectOptions| {
        options.language = language;
        options.trust = trust;
    };
    with_project(change, |project| {
        let files = super::files(project, None).unwrap();
        let data = files.iter().find(|file| file.path.ends_with("/catalog.json")).unwrap();
        let data: Value = serde_json::from_str(&data.text).unwrap();
        assert_eq!(data["protocol"]["capabilities"]["confirmation"], true);
        (data["operations"].clone(), text(&files, "README.md").to_owned())
    })
}

#[test]
fn the_trust_level_decides_about_each_operation() {
    for language in [Language::TypeScript, Language::Python] {
        for (trust, read, delete) in [
            (
                TrustLevel::Untested,
                "PERMISSION_TRUST_LEVEL_INSUFFICIENT",
                "PERMISSION_TRUST_LEVEL_INSUFFICIENT",
            ),
            (TrustLevel::Generated, "", "PERMISSION_TRUST_LEVEL_INSUFFICIENT"),
            (TrustLevel::Validated, "", "CONFIRMATION_REQUIRED"),
            (TrustLevel::CommunityReviewed, "", ""),
            (TrustLevel::Certified, "", ""),
        ] {
            let (operations, _) = decided(language, trust);
            let code = |name: &str| {
                let mut all = operations.as_array().unwrap().iter();
                let row = all.find(|row| row["name"] == name).unwrap();
                row["gate"]["code"].as_str().unwrap_or_default().to_owned()
            };
            assert_eq!([code("get_own"), code("delete_thing")], [read, delete], "{trust:?}");
            assert_eq!(code("introspect"), "", "{trust:?}");
        }
    }
}

#[test]
fn a_project_in_rust_passes_its_trust_level_to_the_library() {
    let written = |trust: TrustLevel| {
        with_project(
            |options| options.trust = trust,
            |project| {
                let files = super::files(project, None).unwrap();
                ["src/lib.rs", "src/source.rs"].map(|path| text(&files, path).to_owned()).concat()
            },
        )
    };
    let certified = written(TrustLevel::Certified);
    assert!(certified.contains("        .trust(source::TRUST)\n}"), "{certified}");
    assert!(certified.contains("TRUST: TrustLevel = TrustLevel::Certified;\n"), "{certified}");
    assert!(!written(TrustLevel::Validated).to_lowercase().contains("trust"));
}

#[test]
fn the_readme_says_which_operations_do_not_run_at_once() {
    let (_, validated) = decided(Language::TypeScript, TrustLevel::Validated);
    for expected in [
        "The trust level of this server is `validated`. An operation that needs a confirmation runs when",
        "- `delete_thing`: \\- not an item (deprecated) (needs a confirmation)\n",
        "generate again with `--trust LEVEL`",
    ] {
        assert!(validated.contains(expected), "{expected}\n{validated}");
    }
    assert!(!validated.contains("never run"), "{validated}");
    let (_, untested) = decided(Language::Python, TrustLevel::Untested);
    assert!(untested.contains("- `get_own`: Gets its own (not allowed)\n"), "{untested}");
    assert!(untested.contains("is `untested`. Operations that are not allowed never run."), "{untested}");
    let (_, certified) = decided(Language::Python, TrustLevel::Certified);
    assert!(!certified.contains("trust level"), "{certified}");
}

#[test]
fn provenance_lists_the_source_and_every_generated_file() {
    let files = files(|_| {});
    let provenance: Value = serde_json::from_str(text(&files, provenance::FILE)).unwrap();
    assert_eq!(provenance["mcpaql_spec_version"], "1.0.0-draft");
    assert_eq!(provenance["generator"]["name"], "mcpaql");
    assert_eq!(provenance["generator"]["version"], VERSION);
    assert_eq!(provenance["schema"]["filename"], "hostile.yaml");
    assert_eq!(provenance["schema"]["version"], "1.2.3");
    assert_eq!(provenance["generation"]["timestamp"], "2026-01-02T03:04:05Z");
    assert_eq!(provenance["generation"]["target"], "rust");
    assert_eq!(
        provenance["handwritten"],
        serde_json::json!({"src/handlers.rs": provenance::hash("// yours\n")})
    );
    let record = provenance::ProvenanceRecord::read(text(&files, provenance::FILE)).unwrap();
    let generated =
        files.iter().filter(|file| file.owner == FileOwner::Generator && file.path != provenance::FILE);
    let hashes: Vec<(String, String)> =
        generated.map(|file| (file.path.clone(), provenance::hash(&file.text))).collect();
    assert_eq!(record.files.into_iter().collect::<Vec<_>>(), hashes);
    for hash in [&provenance["schema"]["fingerprint"], &provenance["verification"]["code_hash"]] {
        let hash = hash.as_str().unwrap();
        assert!(hash.len() == 71 && hash.starts_with("sha256:"), "{hash}");
    }
}

#[test]
fn provenance_without_a_time_has_no_timestamp() {
    let text = with_project(
        |_| {},
        |project| {
            let files = complete(project, sources(), None);
            text(&files, provenance::FILE).to_owned()
        },
    );
    assert!(!text.contains("timestamp"), "{text}");
}

#[test]
fn the_license_file_contains_the_texts() {
    let license = |license: &str, copyright: Option<&str>| {
        let files = files(|options| {
            options.license = license.to_owned();
            options.copyright = copyright.map(str::to_owned);
        });
        text(&files, "LICENSE").to_owned()
    };
    assert!(license("Apache-2.0", None).contains("Apache License\n"));
    assert!(license("MIT", None).contains("Copyright (c) the authors of hostile-api\n"));
    assert!(license("MIT", Some("2026 Jane\nDoe")).contains("Copyright (c) 2026 Jane Doe\n"));
    assert!(license("UNLICENSED", Some("Acme")).starts_with("Copyright (c) Acme. All rights reserved."));
    let both = license("MIT OR Apache-2.0", None);
    assert!(both.contains("SPDX-License-Identifier: MIT OR Apache-2.0") && both.contains("MIT License"));
    assert!(both.contains("Apache License") && !both.contains("__"));
    let other = license("EUPL-1.2", None);
    assert_eq!(other, "Copyright (c) the authors of hostile-api\n\nSPDX-License-Identifier: EUPL-1.2\n");
}

#[test]
fn packages_are_named_after_the_adapter() {
    with_project(
        |_| {},
        |project| {
            assert_eq!(project.package(), "hostile-api-adapter");
            assert_eq!(project.module(), "hostile_api_adapter");
        },
    );
}

fn readme_of(document: &str) -> String {
    let checked = check::check(&Source::new("other.yaml", document), &AdapterSettings::default());
    let catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let document = ProjectDocument { file: "other.yaml", text: document };
    let project =
        Project { catalog: &catalog, document, origin: None, options: ProjectOptions::new(Language::Python) };
    readme::text(&project, &[], "sha256:0")
}

#[test]
fn the_readme_describes_the_upstream_server() {
    let program = readme_of(
        r#"
name: proxy
type: adapter
version: 1.0.0
description: A server far away
target:
  transport: mcp
  command: [npx, -y, "`far`", "${env:FAR_ROOM}"]
  cwd: "${env:FAR_HOME:-/srv}"
  env: [FAR_PASSED]
  set_env: { FAR_KEY: "${env:FAR_SECRET}" }
operations: { read: [{ name: look }] }
"#,
    );
    for expected in [
        "## Upstream server\n\nCalls are passed on to another MCP server. This server starts `npx -y  far  ${env:FAR_ROOM}` on the \
         first call, so `npx` must be installed.\n",
        "| `FAR_ROOM` | a value",
        "| `FAR_HOME` | optional: a value",
        "| `FAR_SECRET` | a value",
        "| `FAR_PASSED` | passed on",
    ] {
        assert!(program.contains(expected), "{expected}\n{program}");
    }
    assert!(!program.contains("XDG_DATA_HOME") && !program.contains("in the background"), "{program}");
    let address = readme_of(
        r#"
name: proxy
type: adapter
version: 1.0.0
description: A server far away
target:
  transport: mcp
  url: "https://${env:FAR_HOST}/mcp"
  headers: { X-Team: "${env:FAR_TEAM}" }
auth: { type: bearer, token_env: FAR_TOKEN }
operations: { execute: [{ name: look, lifecycle: true }] }
"#,
    );
    for expected in [
        "another MCP server. This server connects to `https://${env:FAR_HOST}/mcp` over HTTP.\n",
        "| `FAR_HOST` | a value",
        "| `FAR_TEAM` | a value",
        "| `FAR_TOKEN` | secret",
        "## Background work\n\n`look` answers at once with an `execution_id` and runs in the background. `get_execution` ",
        "| `XDG_DATA_HOME` | the folder where background executions are saved",
    ] {
        assert!(address.contains(expected), "{expected}\n{address}");
    }
}
