//! All problems are reported. An error in an operation removes that operation, any other error rejects the document.

use crate::support::{HEAD, check, document};
use mcpaql_core::catalog::Catalog;
use mcpaql_document::check::CheckOutput;
use mcpaql_document::source::Source;

const READ: &str = "operations:\n  read:\n";

/// Ten mistakes, from the name to an example, in a document that cannot be served at all.
const TEN: &str = "name: Demo API
type: adapter
version: 1.0
description: A demo
target: { base_url: \"ftp://api.example.com\" }
polcy: mcp
auth: { type: bearer, token: hunter2hunter2 }
operations:
  read:
    - { name: getThing, maps_to: GET /a }
    - { name: get_other, maps_to: \"GET /b/{id}\" }
    - { name: get_page, maps_to: GET /c, params: { page: { type: integer, default: x } } }
  delete:
    - { name: get_page, maps_to: DELETE /c }
";

#[test]
fn all_problems_are_reported_not_only_the_first() {
    let checked = check(&Source::new("a.yaml", TEN));
    let shown: Vec<(&str, usize)> = checked
        .diagnostics
        .iter()
        .map(|diagnostic| (diagnostic.code.as_str(), diagnostic.span.unwrap().line))
        .collect();
    assert_eq!(
        shown,
        [
            ("SCHEMA_INVALID_NAME", 1),
            ("SCHEMA_INVALID_TYPE", 3),
            ("SCHEMA_INVALID_VALUE", 5),
            ("SCHEMA_UNKNOWN_FIELD", 6),
            ("SCHEMA_MISSING_FIELD", 7),
            ("SCHEMA_EMBEDDED_CREDENTIAL", 7),
            ("SCHEMA_INVALID_NAME", 10),
            ("SCHEMA_UNRESOLVED_REF", 11),
            ("SCHEMA_INVALID_TYPE", 12),
            ("SCHEMA_DUPLICATE_NAME", 14),
        ]
    );
    assert!(checked.catalog.is_none(), "without a usable name and target there is nothing to serve");
}

#[test]
fn one_bad_operation_never_rejects_the_document() {
    let bad = [
        "{ name: badName, maps_to: GET /a }",
        "{ name: introspect, maps_to: GET /a }",
        "{ name: bad }",
        "{ name: bad, maps_to: nonsense }",
        "{ name: bad, maps_to: FETCH /a }",
        "{ name: bad, maps_to: 'GET /{id}' }",
        "{ name: bad, maps_to: DELETE /a }",
        "{ name: bad, maps_to: GET /a, params: { a: { type: strng } } }",
        "{ name: bad, maps_to: GET /a, params: { a: { type: integer, default: x } } }",
        "{ name: bad, maps_to: GET /a, params: { a: { type: integer, minimum: low } } }",
        "{ name: bad, maps_to: GET /a, params: { a: { type: string, requird: true } } }",
        "{ name: good, maps_to: GET /again }",
        "{ name: bad, maps_to: GET /a, maps_to: GET /b }",
        "{ name: bad, maps_to: GET /a, description: sk-0123456789abcdefghijklmn }",
        "{ name: bad, maps_to: GET /a, auth: { type: bearer } }",
        "{ name: bad, maps_to: GET /a, base_url: 'https://${' }",
        "17",
    ];
    for operation in bad {
        let rest = format!(
            "{READ}    - {{ name: good, maps_to: GET /good }}\n    - {operation}\n    - {{ name: also_good, maps_to: GET /also }}\n"
        );
        let checked = check(&document(&rest));
        assert!(checked.errors() > 0, "{operation}");
        let catalog = checked.catalog.unwrap_or_else(|| panic!("{operation}"));
        assert_eq!(names(&catalog), ["good", "also_good", "introspect"], "{operation}");
    }
}

fn names(catalog: &Catalog) -> Vec<&str> {
    catalog.operations.iter().map(|entry| entry.operation.name.as_str()).collect()
}

#[test]
fn an_error_outside_operations_rejects_the_document() {
    let operations = "operations: { read: [{ name: get_thing, maps_to: GET /a }] }\n";
    for rest in [
        "targets: { a: { base_url: 'https://${' } }",
        "targets: { a: { headers: { X: 1 } } }",
        "targets: { a: { auth: { type: bearer } } }",
        "default_target: a",
        "auth: { type: oauth2, token_url: 'http://a.example/t', client_id_env: A, client_secret_env: B }",
        "auth: { type: bearer, token_env: A, token: hunter2hunter2 }",
        "display_name: ''",
        "x-note: sk-0123456789abcdefghijklmn",
        "name: again",
        "polcy: mcp",
        "policy: mpc",
        "mode: discret",
        "types: { A: { type: strng } }",
        "types: { A: { type: integer, minimum: low } }",
        "tool_names: { prefix: Bad }",
        "tool_names: { aliases: { old: nothing } }",
        "annotations: { readOnlyHint: 1 }",
        "errors: { is_error: 1 }",
        "endpoints: { all: { purpose: x, operations: [none], categories: [READ] } }",
    ] {
        let checked = check(&document(&format!("{rest}\n{operations}")));
        assert_eq!(checked.errors(), 1, "{rest}: {:#?}", checked.diagnostics);
        assert_eq!(checked.diagnostics[0].span.unwrap().line, 6, "{rest}");
        assert!(checked.catalog.is_none(), "{rest}");
    }
    for operations in ["operations: { reed: [] }\n", "operations: { read: {} }\n", "operations: 1\n", ""] {
        let checked = check(&document(operations));
        assert!(checked.catalog.is_none() && checked.errors() > 0, "{operations}");
    }
}

#[test]
fn the_generator_form_has_the_same_verdict() {
    let document = |adapter: &str, operation: &str| -> CheckOutput {
        let text = format!(
            "schema_version: '1.0'\nadapter: {{ name: demo, version: '1.0.0', description: A demo, \
             target_api: {{ base_url: 'https://api.example.com'{adapter} }} }}\n\
             endpoints: {{ read: [{{ name: good, maps_to: GET /a }}, {{ name: bad, maps_to: GET /b{operation} }}] }}\n"
        );
        check(&Source::new("demo.yaml", text))
    };
    let served = |checked: CheckOutput| checked.catalog.map(|catalog| names(&catalog).join(" "));
    assert_eq!(served(document("", "")), Some("good bad introspect".into()));
    assert_eq!(served(document("", ", parms: {}")), Some("good introspect".into()));
    assert_eq!(served(document(", headers: { X: 1 }", "")), None);
}

/// A reference to an operation is right even if the operation has an error of its own.
#[test]
fn an_error_in_an_operation_does_not_reject_what_refers_to_it() {
    let rest = "tool_names: { aliases: { old_bad: bad, older: delete, late: late } }
mode: discrete
profile: own
endpoints:
  look: { purpose: Look, operations: [good, bad, late, get_execution], categories: [DELETE] }
  delete: { purpose: Remove, categories: [EXECUTE] }
operations:
  read:
    - { name: good, maps_to: GET /a }
    - { name: bad, maps_to: GET /a, parms: {} }
    - { name: late, maps_to: GET /a, params: { a: { type: integer, default: x } } }
  execute:
    - { name: run, maps_to: POST /a, lifecycle: true, parms: {} }
";
    let checked = check(&document(rest));
    let lines: Vec<usize> =
        checked.diagnostics.iter().map(|diagnostic| diagnostic.span.unwrap().line).collect();
    let first = HEAD.lines().count();
    assert_eq!(lines, [first + 10, first + 11, first + 13], "{:#?}", checked.diagnostics);
    assert_eq!(names(&checked.catalog.unwrap()), ["good", "introspect"]);
}
