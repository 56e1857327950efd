//! All problems are reported, and a problem disables only the part that it is in.

use crate::support::{check, document};
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
        "17",
    ];
    for operation in bad {
        let rest = format!(
            "{READ}    - {{ name: good, maps_to: GET /good }}\n    - {operation}\n    - {{ name: also_good, maps_to: GET /also }}\n"
        );
        let checked = check(&document(&rest));
        assert!(checked.errors() > 0, "{operation}");
        let catalog = checked.catalog.unwrap_or_else(|| panic!("{operation}"));
        let names: Vec<&str> = catalog.operations.iter().map(|entry| entry.operation.name.as_str()).collect();
        assert_eq!(names, ["good", "also_good", "introspect"], "{operation}");
    }
}
