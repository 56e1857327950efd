//! Every mistake of an author is reported with its code, its position, the expected and the found value, and a suggestion.

use crate::support::{Expected, HEAD, assert_one, check, document, problems};
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::error::Code;
use mcpaql_core::operation::Category;
use mcpaql_document::source::Source;

const READ: &str = "operations:\n  read:\n";

/// Returns the problems of a document with one read operation that has these keys, which start in line 9.
fn in_operation(lines: &str) -> Vec<Diagnostic> {
    problems(&format!("{READ}    - name: get_thing\n{lines}"))
}

#[test]
fn a_quoted_true_is_no_boolean() {
    let found = in_operation(
        "      maps_to: GET /things/{id}
      params:
        id: { type: string, required: \"true\" }
",
    );
    let quoted: Vec<Diagnostic> =
        found.into_iter().filter(|diagnostic| diagnostic.severity == Severity::Error).collect();
    assert_one(
        &quoted,
        &Expected {
            code: Code::SchemaInvalidType,
            place: "11:39",
            message: "Field 'operations.read[0].params.id.required' expected boolean, got string",
            expected: Some("boolean"),
            found: Some("\"true\""),
            suggestion: Some("use `required: true` instead of `required: \"true\"`"),
        },
    );
}

#[test]
fn a_placeholder_that_is_not_declared() {
    let found = in_operation(
        "      maps_to: GET /things/{thing}\n      params: { owner: { type: string, required: true } }\n",
    );
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaUnresolvedRef,
            place: "9:16",
            message: "Placeholder '{thing}' is not a declared parameter",
            expected: Some("a parameter under params"),
            found: Some("{thing}"),
            suggestion: Some("add `thing: { type: string, required: true }` under params"),
        },
    );
}

#[test]
fn a_placeholder_that_is_misspelt() {
    let found = in_operation(
        "      maps_to: GET /things/{ownr}\n      params: { owner: { type: string, required: true } }\n",
    );
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaUnresolvedRef,
            place: "9:16",
            message: "Placeholder '{ownr}' is not a declared parameter",
            expected: Some("a parameter under params"),
            found: Some("{ownr}"),
            suggestion: Some("did you mean `{owner}`?"),
        },
    );
}

const DUPLICATE: Expected<'static> = Expected {
    code: Code::SchemaDuplicateName,
    place: "",
    message: "Operation 'get_thing' is defined more than once (first in 'operations.",
    expected: Some("a unique name"),
    found: Some("get_thing"),
    suggestion: Some("operation names must be unique across all categories; rename or remove one"),
};

#[test]
fn the_same_operation_twice_in_a_list() {
    let found = in_operation("      maps_to: GET /a\n    - name: get_thing\n      maps_to: GET /b\n");
    assert_one(&found, &Expected { place: "10:13", ..DUPLICATE });
}

#[test]
fn the_same_operation_in_two_categories() {
    let found =
        in_operation("      maps_to: GET /a\n  execute:\n    - name: get_thing\n      maps_to: POST /b\n");
    assert_one(&found, &Expected { place: "11:13", ..DUPLICATE });
}

#[test]
fn an_alias_that_another_operation_has_as_its_name() {
    let found = in_operation(
        "      maps_to: GET /a\n    - name: fetch_thing\n      aliases: [get_thing]\n      maps_to: GET /b\n",
    );
    assert_one(&found, &Expected { place: "10:13", ..DUPLICATE });
}

#[test]
fn the_same_key_twice_in_a_mapping() {
    let found = in_operation("      maps_to: GET /a\n      maps_to: GET /b\n");
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaDuplicateName,
            place: "10:7",
            message: "`maps_to` occurs twice in the same mapping",
            expected: None,
            found: None,
            suggestion: Some("remove or rename one of the two"),
        },
    );
}

#[test]
fn the_same_parameter_twice_in_a_list() {
    let found = in_operation(
        "      maps_to: GET /a
      params:
        - { name: page, type: integer }
        - { name: page, type: string }
",
    );
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaDuplicateName,
            place: "12:19",
            message: "Parameter 'page' is declared twice",
            expected: None,
            found: Some("page"),
            suggestion: Some("rename or remove one"),
        },
    );
}

#[test]
fn names_that_the_protocol_reserves() {
    for name in [
        "introspect",
        "execute_agent",
        "record_execution_step",
        "complete_execution",
        "abort_execution",
        "confirm_operation",
        "verify_challenge",
    ] {
        let found = problems(&format!("{READ}    - name: {name}\n      maps_to: GET /a\n"));
        assert_one(
            &found,
            &Expected {
                code: Code::SchemaInvalidName,
                place: "8:13",
                message: &format!("Operation name '{name}' is reserved by the protocol"),
                expected: Some("a name that the protocol does not use"),
                found: Some(name),
                suggestion: Some("choose a name that describes what your API does"),
            },
        );
    }
}

#[test]
fn an_operation_name_that_is_not_snake_case() {
    let found = problems(&format!("{READ}    - name: getThing\n      maps_to: GET /a\n"));
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaInvalidName,
            place: "8:13",
            message: "Operation name 'getThing' must be snake_case (try 'get_thing')",
            expected: Some("lower case letters, digits and underscores, starting with a letter"),
            found: Some("getThing"),
            suggestion: Some("rename it to `get_thing`"),
        },
    );
}

#[test]
fn a_type_named_like_one_of_the_protocol() {
    let found = problems(&format!(
        "types: {{ OperationResult: {{ type: object }} }}\n{READ}    - {{ name: get_thing, maps_to: GET /a }}\n"
    ));
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaInvalidName,
            place: "6:10",
            message: "Type name 'OperationResult' is reserved",
            expected: Some("another name, such as Repository"),
            found: Some("OperationResult"),
            suggestion: Some("rename it to `MyOperationResult`"),
        },
    );
}

#[test]
fn a_suggested_type_name_is_always_valid() {
    for (name, suggestion) in
        [("1x", None), ("ÄÖ", None), ("big thing", Some("rename it to `BigThing`".to_owned()))]
    {
        let found = problems(&format!(
            "types: {{ \"{name}\": {{ type: object }} }}\n{READ}    - {{ name: get_thing, maps_to: GET /a }}\n"
        ));
        let suggested: Vec<_> = found.into_iter().map(|diagnostic| diagnostic.suggestion).collect();
        assert_eq!(suggested, [suggestion], "{name}");
    }
}

#[test]
fn unknown_keys_with_the_nearest_known_key() {
    let rows = [
        ("tool_name: {}\noperations: { read: [] }\n", "6:1", "tool_name", "tool_names"),
        ("operations: { raed: [] }\n", "6:15", "raed", "read"),
        (
            "operations: { read: [{ name: get_thing, maps_to: GET /a, desciption: x }] }\n",
            "6:58",
            "desciption",
            "description",
        ),
        (
            "operations: { read: [{ name: get_thing, maps_to: GET /a, params: { a: { type: string, maxlength: 3 } } }] }\n",
            "6:87",
            "maxlength",
            "maxLength",
        ),
        (
            "auth: { type: bearer, token_env: T, heder: X }\noperations: { read: [] }\n",
            "6:37",
            "heder",
            "header",
        ),
        ("annotations: { readOnly: true }\noperations: { read: [] }\n", "6:16", "readOnly", "readOnlyHint"),
        (
            "annotations: { endpoints: { raed: { readOnlyHint: true } } }\noperations: { read: [] }\n",
            "6:29",
            "raed",
            "read",
        ),
    ];
    for (lines, place, key, meant) in rows {
        let found = problems(lines);
        assert_one(
            &found,
            &Expected {
                code: Code::SchemaUnknownField,
                place,
                message: &format!("Unknown key '{key}'"),
                expected: None,
                found: Some(key),
                suggestion: Some(&format!("did you mean `{meant}`?")),
            },
        );
    }
}

#[test]
fn an_unknown_key_of_the_target() {
    let text = HEAD.replace("base_url:", "timout: 3, base_url:") + "operations: { read: [] }\n";
    assert_one(
        &check(&Source::new("a.yaml", text)).diagnostics,
        &Expected {
            code: Code::SchemaUnknownField,
            place: "5:11",
            message: "Unknown key 'timout' in 'target'",
            expected: None,
            found: Some("timout"),
            suggestion: Some("did you mean `timeout`?"),
        },
    );
}

#[test]
fn custom_keys_start_with_x() {
    assert_eq!(
        problems("x-team: core\noperations: { read: [{ name: get_thing, maps_to: GET /a, x-note: 1 }] }\n"),
        []
    );
}

fn version(written: &str) -> Vec<Diagnostic> {
    let text = HEAD.replace("\"1.0.0\"", written) + "operations: { read: [] }\n";
    check(&Source::new("a.yaml", text)).diagnostics
}

#[test]
fn a_version_that_is_not_semver() {
    for (written, better) in [
        ("one", "1.0.0"),
        ("\"1\"", "1.0.0"),
        ("\"1.2\"", "1.2.0"),
        ("v1.2.3", "1.2.3"),
        ("1.2.3.4", "1.0.0"),
    ] {
        let shown = written.trim_matches('"');
        assert_one(
            &version(written),
            &Expected {
                code: Code::SchemaInvalidValue,
                place: "3:10",
                message: &format!("Version '{shown}' is not a semantic version"),
                expected: Some("MAJOR.MINOR.PATCH"),
                found: Some(shown),
                suggestion: Some(&format!("write `version: \"{better}\"`")),
            },
        );
    }
    for good in ["\"1.0.0\"", "2.11.0-beta.1", "0.0.1+build.5"] {
        assert_eq!(version(good), [], "{good}");
    }
}

#[test]
fn a_version_that_yaml_reads_as_a_number() {
    assert_one(
        &version("1.0"),
        &Expected {
            code: Code::SchemaInvalidType,
            place: "3:10",
            message: "Version 1.0 is a number, not a semantic version",
            expected: Some("MAJOR.MINOR.PATCH"),
            found: Some("1.0"),
            suggestion: Some("write `version: \"1.0.0\"`"),
        },
    );
}

#[test]
fn missing_keys_of_the_element_form() {
    let found = check(&Source::new("a.yaml", "display_name: Nothing else\n")).diagnostics;
    let keys: Vec<&str> = found.iter().map(|diagnostic| diagnostic.pointer.as_str()).collect();
    assert_eq!(keys, ["/type", "/name", "/version", "/description", "/target", "/operations"]);
    for diagnostic in &found {
        let key = diagnostic.pointer.trim_start_matches('/');
        assert_eq!(diagnostic.code, Code::SchemaMissingField);
        assert_eq!(diagnostic.message, format!("Required field '{key}' is missing"));
        assert_eq!(diagnostic.suggestion, Some(format!("add `{key}: …`")));
        assert!(diagnostic.expected.is_some() && diagnostic.span.is_some());
    }
}

#[test]
fn missing_keys_of_the_generator_form() {
    let found =
        check(&Source::new("a.yaml", "schema_version: '1.0'\nadapter: { target_api: {} }\n")).diagnostics;
    let mut keys: Vec<&str> = found.iter().map(|diagnostic| diagnostic.pointer.as_str()).collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "/adapter/description",
            "/adapter/name",
            "/adapter/target_api/base_url",
            "/adapter/version",
            "/endpoints"
        ]
    );
    assert!(found.iter().all(|diagnostic| diagnostic.code == Code::SchemaMissingField));
}

#[test]
fn missing_keys_of_an_operation_and_a_parameter() {
    let found = problems(
        "operations: { read: [{ description: x }, { name: get_thing, maps_to: GET /a, params: { a: {} } }] }\n",
    );
    let shown: Vec<(&str, &str)> =
        found.iter().map(|diagnostic| (diagnostic.code.as_str(), diagnostic.pointer.as_str())).collect();
    assert_eq!(
        shown,
        [
            ("SCHEMA_MISSING_FIELD", "/operations/read/0/name"),
            ("SCHEMA_MISSING_FIELD", "/operations/read/0/maps_to"),
            ("SCHEMA_MISSING_FIELD", "/operations/read/1/params/a/type"),
        ]
    );
}

#[test]
fn wrong_types() {
    let rows = [
        ("operations: 3\n", "6:13", "operations", "object", "integer", "3", None),
        ("operations: { read: get }\n", "6:21", "operations.read", "array", "string", "\"get\"", None),
        (
            "tags: [a, 2]\noperations: { read: [] }\n",
            "6:11",
            "tags[1]",
            "string",
            "integer",
            "2",
            Some("quote it: `\"2\"`"),
        ),
        (
            "display_name: 2\noperations: { read: [] }\n",
            "6:15",
            "display_name",
            "string",
            "integer",
            "2",
            Some("quote it: `display_name: \"2\"`"),
        ),
        ("auth: token\noperations: { read: [] }\n", "6:7", "auth", "object", "string", "\"token\"", None),
    ];
    for (lines, place, field, expected, got, found, suggestion) in rows {
        assert_one(
            &problems(lines),
            &Expected {
                code: Code::SchemaInvalidType,
                place,
                message: &format!("Field '{field}' expected {expected}, got {got}"),
                expected: Some(expected),
                found: Some(found),
                suggestion,
            },
        );
    }
}

#[test]
fn a_value_that_is_not_one_of_the_choices() {
    assert_one(
        &problems("mode: semantics\noperations: { read: [] }\n"),
        &Expected {
            code: Code::SchemaInvalidValue,
            place: "6:7",
            message: "Field 'mode' has the unknown value 'semantics'",
            expected: Some("one of semantic, single, all, discrete"),
            found: Some("semantics"),
            suggestion: Some("did you mean `semantic`?"),
        },
    );
}

#[test]
fn an_unknown_protocol_is_the_only_error() {
    let head = "name: notes\ntype: adapter\nversion: \"1.0.0\"\ndescription: Notes\n";
    let target = "target: { transport: native, protocol: stor, resources: { note: { fields: {} } } }\n";
    let found = check(&Source::new("notes.yaml", format!("{head}{target}"))).diagnostics;
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaInvalidValue,
            place: "5:40",
            message: "Field 'target.protocol' has the unknown value 'stor'",
            expected: Some("one of rest, store, command, code"),
            found: Some("stor"),
            suggestion: Some("did you mean `store`?"),
        },
    );
    let target = "target: { transport: native, protocol: comand }\n";
    let operations = "operations: { read: [{ name: get_a, command: [ls] }] }\n";
    let found = check(&Source::new("notes.yaml", format!("{head}{target}{operations}"))).diagnostics;
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_key_of_the_document_inside_the_target() {
    let head = "name: notes\ntype: adapter\nversion: \"1.0.0\"\ndescription: Notes\n";
    let target = "target: { base_url: 'https://a.example', auth: { type: none } }\n";
    let operations = "operations: { read: [{ name: get_a, maps_to: GET /a }] }\n";
    let found = check(&Source::new("notes.yaml", format!("{head}{target}{operations}"))).diagnostics;
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaUnknownField,
            place: "5:42",
            message: "Unknown key 'auth' in 'target'",
            expected: None,
            found: Some("auth"),
            suggestion: Some("move `auth` to the top level of the document"),
        },
    );
}

#[test]
fn a_type_that_is_not_declared() {
    let found = problems(
        "types: { Repository: { type: object } }
operations:
  read:
    - name: get_thing
      maps_to: GET /a
      params: { repo: { type: Repositry } }
",
    );
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaUnresolvedRef,
            place: "11:31",
            message: "Type 'Repositry' is neither a JSON type nor declared in types",
            expected: None,
            found: Some("Repositry"),
            suggestion: Some("did you mean `Repository`?"),
        },
    );
}

#[test]
fn a_schema_version_from_the_future() {
    let text = "schema_version: '2.0'
adapter: { name: demo, version: \"1.0.0\", description: A demo, target_api: { base_url: \"https://api.example.com\" } }
endpoints: { read: [] }
";
    assert_one(
        &check(&Source::new("a.yaml", text)).diagnostics,
        &Expected {
            code: Code::SchemaVersionUnsupported,
            place: "1:17",
            message: "Schema version '2.0' is not supported",
            expected: Some("1.0"),
            found: Some("2.0"),
            suggestion: Some("write `schema_version: '1.0'`"),
        },
    );
}

#[test]
fn adapter_names_that_cannot_be_part_of_a_tool_name() {
    let rows = [
        ("GitHub API", "is not valid", Some("write `name: git-hub-api`")),
        ("git.hub", "is not valid", Some("write `name: git-hub`")),
        ("my-mcpaql-api", "contains `mcpaql`, which separates", Some("write `name: my-api`")),
        ("mcpaql", "contains `mcpaql`, which separates", None),
        ("x", "is not valid", None),
    ];
    for (name, why, suggestion) in rows {
        let text = HEAD.replace("name: demo", &format!("name: {name}")) + "operations: { read: [] }\n";
        let found = check(&Source::new("a.yaml", text)).diagnostics;
        assert_one(
            &found,
            &Expected {
                code: Code::SchemaInvalidName,
                place: "1:7",
                message: &format!("Adapter name '{name}' {why}"),
                expected: Some(
                    "2 to 64 lower case letters, digits and hyphens, starting with a letter, without `mcpaql`",
                ),
                found: Some(name),
                suggestion,
            },
        );
    }
}

#[test]
fn a_default_that_does_not_fit() {
    let found = in_operation(
        "      maps_to: GET /a\n      params: { page: { type: integer, minimum: 1, default: none } }\n",
    );
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaInvalidType,
            place: "10:61",
            message: "The default of parameter 'page' of 'get_thing' is not valid: expected 'integer', got 'string'",
            expected: Some("integer"),
            found: Some("\"none\""),
            suggestion: None,
        },
    );
}

#[test]
fn a_default_that_is_sent_and_one_that_is_not() {
    let both =
        "      maps_to: GET /a\n      params: { page: { type: integer, default: 1, api_default: 1 } }\n";
    assert_one(
        &in_operation(both),
        &Expected {
            code: Code::SchemaInvalidValue,
            place: "10:52",
            message: "Parameter 'page' has both 'default' and 'api_default'",
            expected: Some("one of them"),
            found: None,
            suggestion: Some(
                "keep `default` to send the value, or `api_default` to document what the API assumes",
            ),
        },
    );
}

#[test]
fn an_enum_that_is_no_list() {
    let found =
        in_operation("      maps_to: GET /a\n      params: { state: { type: string, enum: open } }\n");
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaInvalidType,
            place: "10:46",
            message: "'enum' must be a list",
            expected: Some("a list"),
            found: Some("string"),
            suggestion: None,
        },
    );
}

#[test]
fn an_example_that_does_not_fit_its_operation() {
    let found = in_operation(
        "      maps_to: GET /a
      params: { page: { type: integer, required: true } }
      examples:
        - params: { page: 1 }
        - params: { page: first }
",
    );
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaInvalidValue,
            place: "13:11",
            message: "The example is not valid for its operation: Parameter 'page' expected 'integer', got 'string'",
            expected: None,
            found: None,
            suggestion: None,
        },
    );
}

#[test]
fn problems_of_a_parameter_in_a_list_point_to_its_item() {
    let found = in_operation(
        "      maps_to: GET /a
      params:
        - { name: owner, type: string }
        - name: state
          type: string
          enum: open
        - name: page
          type: integer
          default: none
",
    );
    let places: Vec<(String, &str)> = found
        .iter()
        .map(|diagnostic| {
            let span = diagnostic.span.expect("located");
            (format!("{}:{}", span.line, span.column), diagnostic.pointer.as_str())
        })
        .collect();
    assert_eq!(
        places,
        [
            ("14:17".to_owned(), "/operations/read/0/params/1/enum"),
            ("17:20".to_owned(), "/operations/read/0/params/2/default"),
        ]
    );
}

#[test]
fn problems_of_a_type_in_a_list_point_to_its_field() {
    let text = "schema_version: '1.0'
adapter: { name: demo, version: \"1.0.0\", description: A demo, target_api: { base_url: \"https://api.example.com\" } }
types:
  - name: Issue
    fields:
      - { name: title, type: string }
      - { name: number, type: integer, minimum: low }
      - { name: author, type: Usr }
endpoints: { read: [] }
";
    let found = check(&Source::new("a.yaml", text)).diagnostics;
    let shown: Vec<(&str, usize)> =
        found.iter().map(|diagnostic| (diagnostic.pointer.as_str(), diagnostic.span.unwrap().line)).collect();
    assert_eq!(shown, [("/types/0/fields/1/minimum", 7), ("/types/0/fields/2/type", 8)]);
}

#[test]
fn a_write_under_read() {
    for (method, better) in [
        ("PUT", "update"),
        ("PATCH", "update"),
        ("DELETE", "delete"),
        ("MKCOL", "create"),
        ("COPY", "create"),
        ("MOVE", "update"),
    ] {
        let checked = check(&document(&format!("{READ}    - name: get_thing\n      maps_to: {method} /a\n")));
        assert_one(
            &checked.diagnostics,
            &Expected {
                code: Code::SchemaInvalidValue,
                place: "9:16",
                message: &format!("A {method} request cannot be a read"),
                expected: Some("GET, HEAD, OPTIONS, or a POST that only searches"),
                found: Some(method),
                suggestion: Some(&format!("move the operation to `{better}`")),
            },
        );
        assert!(checked.catalog.unwrap().get("get_thing").is_none(), "it is not served as a read");
    }
    assert_eq!(in_operation("      maps_to: POST /search\n"), [], "a POST may search");
    assert_eq!(in_operation("      maps_to: PROPFIND /files\n"), [], "WebDAV has its own methods that read");
}

#[test]
fn words_that_contradict_a_read() {
    for (name, rest, reason) in [
        ("create_user", "maps_to: POST /users", "'create' in its name"),
        ("get_or_create_user", "maps_to: GET /user", "'create' in its name"),
    ] {
        let checked = check(&document(&format!("{READ}    - name: {name}\n      {rest}\n")));
        let found = checked.diagnostics.iter().find(|diagnostic| diagnostic.severity == Severity::Error);
        assert!(
            found.is_some_and(|found| found.message.contains(reason)),
            "{name}: {:?}",
            checked.diagnostics
        );
        let catalog = checked.catalog.unwrap();
        assert_eq!(catalog.get(name).unwrap().operation.category, Category::Execute, "{name}");
        let declared =
            check(&document(&format!("{READ}    - name: {name}\n      {rest}\n      effect: read\n")));
        assert_eq!(declared.diagnostics, [], "{name}: the document declares its effect");
    }
    for (name, rest) in [("search_users", "maps_to: POST /users/search"), ("lookup", "maps_to: POST /lookup")]
    {
        let checked = check(&document(&format!("{READ}    - name: {name}\n      {rest}\n")));
        assert_eq!(checked.diagnostics, [], "{name}");
    }
}

#[test]
fn a_write_that_is_marked_read_only() {
    let text = document(
        "operations:\n  delete:\n    - name: delete_thing\n      maps_to: DELETE /a\n      annotations: {readOnlyHint: true}\n",
    );
    let found = check(&text).diagnostics;
    assert!(
        found.iter().any(|found| found.message.contains("A DELETE request cannot be read-only")),
        "{found:?}"
    );
}

#[test]
fn an_effect_that_is_no_read() {
    let found = in_operation("      maps_to: POST /a\n      effect: send\n");
    assert_one(
        &found,
        &Expected {
            code: Code::SchemaInvalidValue,
            place: "10:15",
            message: "An operation with the effect 'send' cannot be a read",
            expected: Some("read or compute"),
            found: Some("send"),
            suggestion: Some("move the operation to `execute`"),
        },
    );
}

#[test]
fn a_syntax_error_points_to_the_line() {
    let found = check(&Source::new("a.yaml", "name: demo\n\toperations: [\n")).diagnostics;
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(found[0].code, Code::SchemaSyntax);
    assert_eq!(found[0].span.unwrap().line, 2);
}

#[test]
fn a_mistake_in_an_aliased_value_is_reported_once() {
    let found = problems(
        "operations:
  read:
    - { name: get_a, maps_to: GET /a, params: &shared { limit: { type: string, requird: true } } }
    - { name: get_b, maps_to: GET /b, params: *shared }
    - { name: get_c, maps_to: GET /c, params: *shared }
",
    );
    let places: Vec<_> = found.iter().map(|found| (found.code, found.span, found.severity)).collect();
    assert_eq!(found.len(), 1, "{places:?} {found:#?}");
}

/// Returns severity, code and message of the problems of one read operation with these keys.
fn lines_of(lines: &str) -> Vec<String> {
    let found = in_operation(lines);
    found.iter().map(|d| format!("{} {}: {}", d.severity.as_str(), d.code.as_str(), d.message)).collect()
}

#[test]
fn requests_that_would_fail_at_call_time_are_reported_at_load_time() {
    let of_param = |param: &str| lines_of(&format!("      maps_to: GET /things\n      params:\n{param}"));
    let rows: [(&str, &[&str]); 13] = [
        (
            "        trace: { type: string, in: header, as: \"X Trace\" }\n",
            &["error SCHEMA_INVALID_NAME: 'X Trace' is not a valid name of a header"],
        ),
        (
            "        auth: { type: string, in: header, as: Authorization }\n",
            &[
                "error SCHEMA_INVALID_VALUE: The header 'Authorization' contains a credential and cannot be a parameter",
            ],
        ),
        (
            "        host: { type: string, in: header }\n",
            &[
                "error SCHEMA_INVALID_VALUE: The header 'host' belongs to the connection and cannot be a parameter",
            ],
        ),
        (
            "        a: { type: string, as: q }\n        b: { type: string, as: q }\n",
            &["error SCHEMA_DUPLICATE_NAME: Parameters 'a' and 'b' are both sent as 'q'"],
        ),
        (
            "        a: { type: string, in: header, as: X-A }\n        b: { type: string, in: header, as: x-a }\n",
            &["error SCHEMA_DUPLICATE_NAME: Parameters 'a' and 'b' are both sent as 'x-a'"],
        ),
        ("        a: { type: string, as: q }\n        b: { type: string, in: header, as: q }\n", &[]),
        (
            "        a: { type: integer, enum: [1, \"2\"] }\n",
            &["warning SCHEMA_INVALID_VALUE: the value \"2\" of 'enum' is not of type integer"],
        ),
        (
            "        a: { type: integer, enum: [\"2\"] }\n",
            &["error SCHEMA_INVALID_VALUE: the value \"2\" of 'enum' is not of type integer"],
        ),
        (
            "        a: { type: string, format: datetime }\n",
            &["warning SCHEMA_INVALID_VALUE: 'datetime' is not a known format"],
        ),
        ("        a: { type: string, format: uri-reference }\n", &[]),
        (
            "        a: { type: string, pattern: \"^(a\" }\n",
            &["error SCHEMA_INVALID_VALUE: the pattern is not a regular expression: a '(' is never closed"],
        ),
        (
            "        a: { type: string, pattern: \"^(?=a)b\" }\n",
            &[
                "warning SCHEMA_INVALID_VALUE: the pattern is not supported here, so only the target checks it",
            ],
        ),
        (
            "        a: { type: interger, minimum: \"1\" }\n",
            &[
                "error SCHEMA_UNRESOLVED_REF: Type 'interger' is neither a JSON type nor declared in types",
                "error SCHEMA_INVALID_TYPE: 'minimum' must be a number",
            ],
        ),
    ];
    for (param, expected) in rows {
        assert_eq!(of_param(param), expected, "{param}");
    }
}

#[test]
fn an_operation_that_contradicts_itself() {
    assert_eq!(
        lines_of("      maps_to: GET /things\n      idempotent: true\n      non_idempotent: true\n"),
        ["error SCHEMA_INVALID_VALUE: 'idempotent' and 'non_idempotent' contradict each other"]
    );
    assert_eq!(
        lines_of(
            "      maps_to: GET /things\n      examples: [{ request: { operation: other, params: {} } }]\n"
        ),
        ["error SCHEMA_INVALID_VALUE: The example calls 'other', but it belongs to 'get_thing'"]
    );
    let both = lines_of("      maps_to: GETT things/{id}\n");
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(
        both[0].contains("'GETT' is not an HTTP method") && both[1].contains("start with '/'"),
        "{both:?}"
    );
}

#[test]
fn parameters_of_a_second_operation_of_the_same_name_are_checked_too() {
    let found = problems(
        "operations:
  read:
    - { name: get_a, maps_to: GET /a }
    - { name: get_a, maps_to: GET /b, params: { n: { type: integer, minimum: 3, maximum: 1 }, s: { enum: [] } } }
",
    );
    let messages: Vec<&str> = found.iter().map(|found| found.message.as_str()).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(
        messages.iter().any(|message| message.contains("'minimum' is greater than 'maximum'")),
        "{messages:?}"
    );
    assert!(
        messages.iter().any(|message| message.contains("'enum' must list one or more values")),
        "{messages:?}"
    );
}

#[test]
fn an_invalid_or_taken_name_is_never_suggested() {
    for (param, suggested) in [("fooBar", true), ("1a", false), ("ünï", false)] {
        let found = in_operation(&format!(
            "      maps_to: GET /t\n      params: {{ {param}: {{ type: string }} }}\n"
        ));
        assert_eq!(found.len(), 1, "{found:#?}");
        assert_eq!(found[0].suggestion.is_some(), suggested, "{found:#?}");
        assert_eq!(found[0].message.contains("try"), suggested, "{found:#?}");
    }
    let taken = in_operation(
        "      maps_to: GET /t\n      params: { fooBar: { type: string }, foo_bar: { type: string } }\n",
    );
    assert_eq!(taken[0].suggestion, None, "{taken:#?}");
}

#[test]
fn an_empty_display_name_or_title_is_no_name() {
    for (rest, pointer, message) in [
        ("display_name: \" \"\noperations: { read: [] }\n", "/display_name", "The display name is empty"),
        (
            "operations: { read: [{ name: get_a, title: \"\", maps_to: GET /a }] }\n",
            "/operations/read/0/title",
            "The title is empty",
        ),
        (
            "operations: { read: [] }\nendpoints: { a: { purpose: b, title: \" \", categories: [READ] } }\n",
            "/endpoints/a/title",
            "The title is empty",
        ),
    ] {
        let found = problems(rest);
        let shown: Vec<_> = found.iter().map(|one| (one.pointer.as_str(), one.message.as_str())).collect();
        assert_eq!(shown, [(pointer, message)], "{rest}");
    }
}

#[test]
fn a_document_that_is_a_list() {
    let found = check(&Source::new("a.yaml", "- name: demo\n")).diagnostics;
    assert_eq!(found[0].message, "The document must be an object", "{found:#?}");
}

#[test]
fn a_placeholder_in_flow_style_needs_quotes() {
    let found = problems(
        "operations:\n  read:\n    - { name: get_t, maps_to: GET /t/{id}, params: { id: string } }\n",
    );
    assert_eq!(found[0].code, Code::SchemaSyntax, "{found:#?}");
    assert_eq!(found[0].suggestion.as_deref(), Some("quote it: `maps_to: \"GET /t/{id}\"`"), "{found:#?}");
}
