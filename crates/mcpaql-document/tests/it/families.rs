//! A custom profile: every operation belongs to exactly one family.

use crate::support::{Expected, assert_one, problems};
use mcpaql_core::error::Code;

const FAMILIES: &str = "operations:
  read: [{ name: get_thing, maps_to: GET /a }]
  delete: [{ name: drop_thing, maps_to: DELETE /a }]
";

#[test]
fn an_operation_in_no_family() {
    let found =
        problems(&format!("{FAMILIES}endpoints:\n  query: {{ purpose: Look, categories: [READ] }}\n"));
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaUnresolvedRef,
            place: "9:1",
            message: "Operation 'drop_thing' belongs to no endpoint",
            expected: Some("every operation in one endpoint"),
            found: Some("drop_thing"),
            suggestion: Some(
                "list it under `operations` of an endpoint, or its category DELETE under `categories`",
            ),
        },
    );
}

#[test]
fn an_operation_in_two_families() {
    for families in [
        "  query: { purpose: Look, operations: [get_thing] }\n  other: { purpose: Do, operations: [get_thing, drop_thing] }\n",
        "  query: { purpose: Look, categories: [READ] }\n  other: { purpose: Do, categories: [READ, DELETE] }\n",
    ] {
        let found = problems(&format!("{FAMILIES}endpoints:\n{families}"));
        assert_one(
            &found,
            &Expected {
                code: Code::SchemaDuplicateName,
                place: "9:1",
                message: "Operation 'get_thing' belongs to several endpoints: query, other",
                expected: Some("every operation in one endpoint"),
                found: Some("query, other"),
                suggestion: Some("list it under `operations` of one endpoint, such as `query`"),
            },
        );
    }
}

#[test]
fn a_family_with_an_unknown_operation() {
    let found = problems(&format!(
        "{FAMILIES}endpoints:\n  all: {{ purpose: Do, operations: [get_thng], categories: [READ, DELETE] }}\n"
    ));
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaUnresolvedRef,
            place: "10:36",
            message: "'get_thng' is not an operation of this adapter",
            expected: None,
            found: Some("get_thng"),
            suggestion: Some("did you mean `get_thing`?"),
        },
    );
}
