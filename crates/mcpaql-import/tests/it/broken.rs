//! One broken part never stops the import of a document.

use crate::{import, messages, open_text, operation, rejected, with_paths};
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::library::Library;
use serde_json::json;

#[test]
fn a_broken_operation_is_reported_left_out_and_counted() {
    let import = import(&with_paths(json!({
        "/good": {"get": {"operationId": "good"}},
        "/text": {"get": "not an object"},
        "/list": [1, 2],
        "/open/{id": {"get": {}},
        "https://else.example/x": {"get": {}},
        "/trace": {"trace": {}, "get": null},
        "x-note": "ignored"
    })));
    assert_eq!(import.adapter.operations.len(), 1);
    assert_eq!(import.report.skipped, 5);
    let messages = messages(&import);
    for expected in [
        "GET /text was left out: it is a string instead of an object",
        "GET /open/{id was left out: a '{' of its path is never closed",
        "GET https://else.example/x was left out: its path is a complete URL",
        "TRACE /trace was left out: the method TRACE cannot be sent",
        "GET /trace was left out: it is null instead of an object",
    ] {
        assert!(messages.contains(&expected), "{expected} in {messages:#?}");
    }
    let list =
        import.report.diagnostics.iter().find(|diagnostic| diagnostic.pointer == "/paths/~1list").unwrap();
    assert_eq!((list.severity, list.found.as_deref()), (Severity::Warning, Some("an array")));
}

#[test]
fn a_diagnostic_has_the_line() {
    let import = open_text(
        "{\"openapi\": \"3.0.0\",\n\"paths\": {\n\"/a\": {\"get\": {}},\n\"/b\": {\n  \"get\": 7\n}}}",
    );
    let lost = import.report.diagnostics.iter().find(|found| found.pointer == "/paths/~1b/get").unwrap();
    let span = lost.span.unwrap();
    assert_eq!((span.line, span.column), (5, 10));
}

#[test]
fn members_of_the_wrong_type_count_as_missing() {
    let import = import(&json!({
        "openapi": 3.0,
        "info": ["no"],
        "servers": {"url": 1},
        "security": "none",
        "tags": 3,
        "components": {"schemas": [], "parameters": null, "securitySchemes": {"a": 1, "b": {"type": []}}},
        "paths": {"/a": {"parameters": "x", "servers": 5, "summary": {}, "get": {
            "operationId": 7, "summary": [], "description": {}, "tags": "a", "deprecated": 1, "security": {"a": []},
            "parameters": {}, "responses": [], "requestBody": 3, "servers": [1, {"url": 2}]
        }}}
    }));
    assert_eq!(import.adapter.operations.len(), 1);
    assert_eq!(import.adapter.operations[0].source_id, None);
    assert!(import.library.operation(0).is_some());
}

#[test]
fn of_two_equal_names_the_last_one_wins() {
    let import = open_text(
        r#"{"openapi": "3.0.0", "paths": {
            "/a": {"get": {"operationId": "first"}, "put": {}},
            "/a": {"get": {"operationId": "lost"}, "get": {"operationId": "last", "operationId": "wins"}}
        }}"#,
    );
    assert_eq!(import.adapter.operations.len(), 1);
    assert_eq!(operation(&import, "wins").source_id.as_deref(), Some("wins"));
}

#[test]
fn blanks_and_byte_order_marks_around_a_text_are_accepted() {
    for text in [
        "\u{feff}{\"openapi\": \"3.0.0\", \"paths\": {\"/a\": {\"get\": {}}}}",
        "  {\"openapi\": \"3.0.0\", \"paths\": {\"/a\": {\"get\": {}}}}\n\0\0",
        "{\"openapi\": \"3.0.0\", \"paths\": {\"/a\": {\"get\": {},},},}",
    ] {
        assert_eq!(open_text(text).adapter.operations.len(), 1, "{text:?}");
    }
}

#[test]
fn a_text_that_is_no_document_is_rejected_in_a_sentence() {
    for (text, message) in [
        ("", "The document is empty"),
        (" \n\0", "The document is empty"),
        ("[]", "The document is an array, not an object"),
        ("{\"a\": 1}", "This is not an OpenAPI description"),
        ("Just some words", "The file is not an OpenAPI description in JSON or YAML"),
        ("<html></html>", "This is a web page, not YAML or JSON"),
        (
            "{\"openapi\": \"3.0.0\", \"paths\": {\"/a\": ",
            "This is not valid JSON: EOF while parsing a value",
        ),
    ] {
        let fault = rejected(text);
        assert_eq!(fault.message, message, "{text:?}");
        assert_eq!(fault.severity, Severity::Error);
    }
}

#[test]
fn deep_nesting_affects_only_its_operation() {
    let deep = format!("{}1{}", "{\"a\":".repeat(100_000), "}".repeat(100_000));
    let text = format!(
        "{{\"openapi\": \"3.0.0\", \"x-deep\": {deep}, \"paths\": {{\"/a\": {{\"get\": {{\"operationId\": \"a\"}}}}, \
         \"/b\": {{\"get\": {{\"responses\": {deep}}}}}}}}}"
    );
    let import = open_text(&text);
    assert_eq!(import.adapter.operations.len(), 2);
    assert!(import.library.operation(0).is_some());
    assert!(import.library.operation(1).is_none(), "too deep to be read");
    assert!(!rejected(&"[".repeat(200_000)).message.is_empty());
}

#[test]
fn a_document_without_operations_is_opened_with_a_warning() {
    let import =
        import(&json!({"openapi": "3.1.0", "info": {"title": "Hooks"}, "webhooks": {"a": {"post": {}}}}));
    assert!(import.adapter.operations.is_empty());
    assert!(messages(&import).contains(&"The description has no operation that can be called"));
}

#[test]
fn methods_of_newer_versions_are_recognised() {
    let import = import(&json!({"openapi": "3.2.0", "paths": {"/a": {
        "query": {"operationId": "q"},
        "additionalOperations": {"COPY": {"operationId": "c"}, "PATCH": {"operationId": "p"}}
    }}}));
    assert_eq!(import.adapter.operations.len(), 1);
    assert_eq!(operation(&import, "p").source_id.as_deref(), Some("p"));
    let messages = messages(&import);
    assert!(messages.contains(&"QUERY /a was left out: the method QUERY cannot be sent"), "{messages:?}");
    assert!(messages.contains(&"COPY /a was left out: the method COPY cannot be sent"), "{messages:?}");
}
