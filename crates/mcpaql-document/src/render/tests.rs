//! Tests of all formats.

use super::*;
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::error::Code;
use proptest::prelude::*;
use serde_json::Value;

const TEXT: &str = "---\nname: äpple\ntarget:\n  base_url: https://api.example.com\n  insecure: \"true\"\noperations:\n  \
                    read:\n    - name: get\n      verison: 1\n---\n# Äpple\n";

fn source() -> Source {
    Source::new("äpple adapter.md", TEXT)
}

fn diagnostics() -> Vec<Diagnostic> {
    vec![
        Diagnostic::warning(
            Code::SchemaUnknownField,
            "/operations/read/0/verison",
            "`verison` means nothing here",
        )
        .at_key()
        .suggest("write `version`"),
        Diagnostic::error(Code::SchemaInvalidType, "/target/insecure", "`insecure` must be a boolean")
            .expected("a boolean")
            .found("the text \"true\"")
            .suggest("remove the quotes"),
        Diagnostic::error(Code::SchemaMissingField, "/operations/read/0/maps_to", "`maps_to` is missing"),
        Diagnostic::error(Code::SchemaInvalidName, "/name", "`äpple` is not a name").found("`äpple`"),
    ]
}

fn render(format: DiagnosticFormat) -> String {
    format.render(&[(&source(), &diagnostics())], false)
}

#[test]
fn formats_are_found_by_name() {
    for &format in DiagnosticFormat::ALL {
        assert_eq!(DiagnosticFormat::parse(format.as_str()), Some(format));
    }
    assert_eq!(DiagnosticFormat::parse("html"), None);
}

#[test]
fn full_shows_the_lines() {
    insta::assert_snapshot!(render(DiagnosticFormat::Full), @r##"
    error[SCHEMA_INVALID_NAME]: `äpple` is not a name
     --> äpple adapter.md:2:7
      |
    2 | name: äpple
      |       ^^^^^

    error[SCHEMA_INVALID_TYPE]: `insecure` must be a boolean
     --> äpple adapter.md:5:13
      |
    5 |   insecure: "true"
      |             ^^^^^^
      |
      = note: expected a boolean; found the text "true"
      = help: remove the quotes

    error[SCHEMA_MISSING_FIELD]: `maps_to` is missing
     --> äpple adapter.md:8:7
      |
    8 |     - name: get
      |       ^^^^

    warning[SCHEMA_UNKNOWN_FIELD]: `verison` means nothing here
     --> äpple adapter.md:9:7
      |
    9 |       verison: 1
      |       ^^^^^^^
      |
      = help: write `version`
    "##);
}

#[test]
fn concise_is_one_line_each() {
    insta::assert_snapshot!(render(DiagnosticFormat::Concise), @r##"
    äpple adapter.md:2:7: error[SCHEMA_INVALID_NAME]: `äpple` is not a name
    äpple adapter.md:5:13: error[SCHEMA_INVALID_TYPE]: `insecure` must be a boolean (expected a boolean; found the text "true"; help: remove the quotes)
    äpple adapter.md:8:7: error[SCHEMA_MISSING_FIELD]: `maps_to` is missing
    äpple adapter.md:9:7: warning[SCHEMA_UNKNOWN_FIELD]: `verison` means nothing here (help: write `version`)
    "##);
}

#[test]
fn github_writes_workflow_commands() {
    insta::assert_snapshot!(render(DiagnosticFormat::Github), @r##"
    ::error file=äpple adapter.md,line=2,col=7,title=SCHEMA_INVALID_NAME::`äpple` is not a name
    ::error file=äpple adapter.md,line=5,col=13,title=SCHEMA_INVALID_TYPE::`insecure` must be a boolean (expected a boolean; found the text "true"; help: remove the quotes)
    ::error file=äpple adapter.md,line=8,col=7,title=SCHEMA_MISSING_FIELD::`maps_to` is missing
    ::warning file=äpple adapter.md,line=9,col=7,title=SCHEMA_UNKNOWN_FIELD::`verison` means nothing here (help: write `version`)
    "##);
}

#[test]
fn json_has_every_field() {
    let (source, diagnostics) = (source(), diagnostics());
    let text = json(&[(&source, &diagnostics[1..2]), (&Source::new("b.yaml", "x: 1\n"), &diagnostics[3..])]);
    insta::assert_snapshot!(text, @r##"
    [
      {
        "file": "äpple adapter.md",
        "line": 5,
        "column": 13,
        "end_line": 5,
        "end_column": 19,
        "severity": "error",
        "code": "SCHEMA_INVALID_TYPE",
        "message": "`insecure` must be a boolean",
        "field_path": "target.insecure",
        "pointer": "/target/insecure",
        "expected": "a boolean",
        "found": "the text \"true\"",
        "suggestion": "remove the quotes"
      },
      {
        "file": "b.yaml",
        "line": 1,
        "column": 1,
        "end_line": 1,
        "end_column": 2,
        "severity": "error",
        "code": "SCHEMA_INVALID_NAME",
        "message": "`äpple` is not a name",
        "field_path": "name",
        "pointer": "/name",
        "expected": null,
        "found": "`äpple`",
        "suggestion": null
      }
    ]
    "##);
}

#[test]
fn sarif_has_rules_results_and_regions() {
    let (source, diagnostics) = (source(), diagnostics());
    insta::assert_snapshot!(sarif(&[(&source, &diagnostics[..2])]), @r##"
    {
      "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
      "version": "2.1.0",
      "runs": [
        {
          "tool": {
            "driver": {
              "name": "mcpaql",
              "version": "0.1.0",
              "informationUri": "https://github.com/mcpaql/mcpaql",
              "rules": [
                {
                  "id": "SCHEMA_INVALID_TYPE",
                  "shortDescription": {
                    "text": "A value has the wrong type."
                  },
                  "help": {
                    "text": "Write the type that the report expects; booleans and numbers are not quoted."
                  }
                },
                {
                  "id": "SCHEMA_UNKNOWN_FIELD",
                  "shortDescription": {
                    "text": "The document has an unknown key, which would be ignored."
                  },
                  "help": {
                    "text": "Correct the spelling or remove the key."
                  }
                }
              ]
            }
          },
          "columnKind": "unicodeCodePoints",
          "results": [
            {
              "ruleId": "SCHEMA_INVALID_TYPE",
              "ruleIndex": 0,
              "level": "error",
              "message": {
                "text": "`insecure` must be a boolean (expected a boolean; found the text \"true\"; help: remove the quotes)"
              },
              "locations": [
                {
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "%C3%A4pple%20adapter.md"
                    },
                    "region": {
                      "startLine": 5,
                      "startColumn": 13,
                      "endLine": 5,
                      "endColumn": 19
                    }
                  },
                  "logicalLocations": [
                    {
                      "fullyQualifiedName": "target.insecure"
                    }
                  ]
                }
              ]
            },
            {
              "ruleId": "SCHEMA_UNKNOWN_FIELD",
              "ruleIndex": 1,
              "level": "warning",
              "message": {
                "text": "`verison` means nothing here (help: write `version`)"
              },
              "locations": [
                {
                  "physicalLocation": {
                    "artifactLocation": {
                      "uri": "%C3%A4pple%20adapter.md"
                    },
                    "region": {
                      "startLine": 9,
                      "startColumn": 7,
                      "endLine": 9,
                      "endColumn": 14
                    }
                  },
                  "logicalLocations": [
                    {
                      "fullyQualifiedName": "operations.read[0].verison"
                    }
                  ]
                }
              ]
            }
          ]
        }
      ]
    }
    "##);
}

#[test]
fn sarif_keeps_to_the_structure_that_the_standard_requires() {
    let (source, diagnostics) = (source(), diagnostics());
    for reports in [&[(&source, diagnostics.as_slice()), (&source, &diagnostics[..1])][..], &[]] {
        let log: Value = serde_json::from_str(&sarif(reports)).unwrap();
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        assert!(run["tool"]["driver"]["name"].is_string());
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), reports.iter().map(|(_, found)| found.len()).sum::<usize>());
        for result in results {
            let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
            assert_eq!(rule["id"], result["ruleId"]);
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let location = &result["locations"][0]["physicalLocation"];
            assert_eq!(location["artifactLocation"]["uri"], "%C3%A4pple%20adapter.md");
            let region = &location["region"];
            let number = |key: &str| region[key].as_u64().unwrap();
            assert!(number("startLine") >= 1 && number("startColumn") >= 1);
            assert!((number("endLine"), number("endColumn")) >= (number("startLine"), number("startColumn")));
        }
    }
}

#[test]
fn sarif_names_files_by_uri() {
    let diagnostics = [Diagnostic::error(Code::SchemaSyntax, "", "x")];
    for (name, uri) in [
        ("docs/a.md", "docs/a.md"),
        ("./a%b.md", "./a%25b.md"),
        ("/tmp/a.md", "file:///tmp/a.md"),
        ("C:\\docs\\a.md", "file:///C:/docs/a.md"),
    ] {
        let log: Value = serde_json::from_str(&sarif(&[(&Source::new(name, "a: 1"), &diagnostics)])).unwrap();
        let location = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], uri);
    }
}

#[test]
fn the_order_is_by_position_then_code_whatever_came_first() {
    let source = source();
    let mut backwards = diagnostics();
    backwards.push(Diagnostic::error(Code::SchemaInvalidValue, "/name", "x"));
    let mut forwards = backwards.clone();
    forwards.reverse();
    assert_eq!(concise(&[(&source, &backwards)]), concise(&[(&source, &forwards)]));
    let shown = concise(&[(&source, &backwards)]);
    let codes: Vec<_> = shown.lines().map(|line| line.split(['[', ']']).nth(1).unwrap()).collect();
    assert_eq!(
        codes,
        [
            "SCHEMA_INVALID_NAME",
            "SCHEMA_INVALID_VALUE",
            "SCHEMA_INVALID_TYPE",
            "SCHEMA_MISSING_FIELD",
            "SCHEMA_UNKNOWN_FIELD"
        ]
    );
}

#[test]
fn a_credential_is_never_quoted() {
    for at_key in [false, true] {
        for (name, text) in [
            ("a.yaml", "auth:\n  token: hunter2-é\nother: [1]\n"),
            ("a.json", "{\"auth\": {\"token\": \"hunter2-é\"}, \"other\": [1]}"),
        ] {
            let source = Source::new(name, text);
            let mut secret =
                Diagnostic::error(Code::SchemaEmbeddedCredential, "/auth/token", "this is a credential");
            secret.at_key = at_key;
            let mut diagnostics =
                vec![secret, Diagnostic::error(Code::SchemaInvalidType, "/auth", "x").at_key()];
            source.locate(&mut diagnostics);
            for &format in DiagnosticFormat::ALL {
                let shown = format.render(&[(&source, &diagnostics)], true);
                assert!(!shown.contains("hunter2"), "{shown}");
            }
            assert!(full(&[(&source, &diagnostics)], false).contains("**"));
        }
    }
}

#[test]
fn a_credential_under_a_duplicate_key_is_never_quoted() {
    let source = Source::new("a.yaml", "token: hunter1\ntoken: hunter2\n");
    let mut diagnostics = source.parse().unwrap().diagnostics;
    diagnostics.push(Diagnostic::error(Code::SchemaEmbeddedCredential, "/token", "this is a credential"));
    let shown = full(&[(&source, &diagnostics)], false);
    assert_eq!(shown.matches("-->").count(), 2);
    assert!(!shown.contains("hunter"), "{shown}");
}

#[test]
fn control_characters_of_a_document_do_not_reach_the_terminal() {
    let source = Source::new("a\u{1b}[31m.yaml", "a: \"\u{1b}[31mred\"\n");
    let message = "`\u{1b}[2J\u{202e}evil\nline` is wrong";
    let diagnostics = [Diagnostic::error(Code::SchemaInvalidName, "/a", message)];
    for format in [DiagnosticFormat::Full, DiagnosticFormat::Concise, DiagnosticFormat::Github] {
        let shown = format.render(&[(&source, &diagnostics)], false);
        assert!(
            !shown.contains('\u{1b}') || format == DiagnosticFormat::Github && !shown.contains("\u{1b}[2J"),
            "{shown:?}"
        );
        assert!(!shown.contains('\u{202e}'), "{shown:?}");
    }
    assert_eq!(concise(&[(&source, &diagnostics)]).lines().count(), 1);
}

#[test]
fn workflow_commands_cannot_be_forged() {
    let source = Source::new("a,line=9:%.yaml", "a: 1\n");
    let diagnostics = [Diagnostic::error(Code::SchemaInvalidName, "/a", "100%\n::error::forged")];
    insta::assert_snapshot!(github(&[(&source, &diagnostics)]), @r##"
    ::error file=a%2Cline=9%3A%25.yaml,line=1,col=4,title=SCHEMA_INVALID_NAME::100%25 ::error::forged
    "##);
}

#[test]
fn field_paths_read_like_code() {
    for (pointer, path) in [
        ("", ""),
        ("/endpoints/read/0/params/2/name", "endpoints.read[0].params[2].name"),
        ("/0", "[0]"),
        ("/paths/~1users~1{id}/get", "paths[\"/users/{id}\"].get"),
        ("/a//b.c", "a[\"\"][\"b.c\"]"),
    ] {
        assert_eq!(json::field_path(pointer), path);
    }
}

#[test]
fn no_diagnostics_give_no_output() {
    let source = source();
    for format in [DiagnosticFormat::Full, DiagnosticFormat::Concise, DiagnosticFormat::Github] {
        assert_eq!(format.render(&[(&source, &[])], false), "");
    }
    assert_eq!(json(&[(&source, &[])]), "[]\n");
}

#[test]
fn the_end_of_a_text_and_very_long_lines_can_be_shown() {
    let long = format!("{{\"a\": [{}1, \"x\"], \"b\": true}}", "0, ".repeat(200_000));
    let source = Source::new("a.json", long);
    let shown = full(&[(&source, &[Diagnostic::error(Code::SchemaInvalidType, "/b", "x")])], false);
    assert!(shown.len() < 2_000, "{}", shown.len());
    assert!(shown.contains("a.json:1:600022"), "{shown}");

    let open = Source::new("a.json", "{\"a\": [1,\n");
    let shown = full(&[(&open, &open.parse().unwrap_err())], false);
    assert!(shown.contains("the text ends before a value"), "{shown}");
    let empty = Source::new("a.md", "");
    assert!(full(&[(&empty, &empty.parse().unwrap_err())], false).contains("The file is empty"));
}

#[test]
fn colour_is_opt_in() {
    let (source, diagnostics) = (source(), diagnostics());
    assert!(full(&[(&source, &diagnostics)], true).contains('\u{1b}'));
    assert!(!full(&[(&source, &diagnostics)], false).contains('\u{1b}'));
}

proptest! {
    #[test]
    fn no_format_panics(
        text in any::<String>(),
        message in any::<String>(),
        start in 0..40_usize,
        length in 0..40_usize,
        warning in any::<bool>(),
    ) {
        let source = Source::new("a.yaml", text);
        let mut diagnostic = Diagnostic::error(Code::SchemaEmbeddedCredential, "/a", message).expected("x");
        diagnostic.severity = if warning { Severity::Warning } else { Severity::Error };
        diagnostic.span = Some(LineIndex::new(&source.text).span(start..start + length));
        let unlocated = Diagnostic::error(Code::SchemaSyntax, "/b/0", "x");
        for &format in DiagnosticFormat::ALL {
            let shown = format.render(&[(&source, &[diagnostic.clone(), unlocated.clone()])], false);
            prop_assert!(!shown.is_empty());
        }
    }
}
