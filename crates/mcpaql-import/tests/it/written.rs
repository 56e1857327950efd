//! Documents that an import writes pass `check`, whatever mistakes the description has.

use super::{import, with_paths};
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::diagnostic::Severity;
use mcpaql_document::check::check;
use mcpaql_document::source::{Source, SourceFormat};
use mcpaql_import::emit::{self, Provenance};
use mcpaql_import::openapi::full_adapter;
use serde_json::{Value, json};

/// Returns the errors of the written document, in all formats.
fn errors(document: &Value) -> Vec<String> {
    let import = import(document);
    let adapter = full_adapter(&import).adapter;
    let mut found = Vec::new();
    for (name, format) in
        [("a.md", SourceFormat::Markdown), ("a.yaml", SourceFormat::Yaml), ("a.json", SourceFormat::Json)]
    {
        let text = emit::document(&adapter, &Provenance::default(), format);
        let checked = check(&Source::new(name, text), &AdapterSettings::default());
        let operations = checked.catalog.as_ref().map_or(0, |catalog| catalog.operations.len());
        assert_eq!(operations, adapter.operations.len() + 1, "{name}: {:?}", checked.diagnostics);
        let errors = checked.diagnostics.iter().filter(|problem| problem.severity == Severity::Error);
        found.extend(errors.map(|problem| format!("{name}: {} {}", problem.pointer, problem.message)));
    }
    found
}

fn operation(members: Value) -> Value {
    let mut operation = json!({"operationId": "listPets", "responses": {"200": {"description": "ok"}}});
    for (key, value) in members.as_object().unwrap() {
        operation[key] = value.clone();
    }
    with_paths(json!({"/pets": {"post": operation}}))
}

#[test]
fn headers_that_cannot_be_sent_are_left_out() {
    let header = |name: &str| json!({"name": name, "in": "header", "schema": {"type": "string"}});
    for names in
        [vec!["X-Trace", "x-trace"], vec![""], vec!["X Trace"], vec!["X-Größe"], vec!["Accept", "Host"]]
    {
        let parameters: Vec<Value> = names.iter().map(|name| header(name)).collect();
        assert_eq!(errors(&operation(json!({"parameters": parameters}))), [""; 0], "{names:?}");
    }
}

#[test]
fn a_header_of_the_operation_replaces_that_of_the_path_in_any_case() {
    let header = |name: &str, text: &str| json!({"name": name, "in": "header", "description": text, "schema": {"type": "string"}});
    let import = import(&with_paths(json!({"/pets": {
        "parameters": [header("X-Trace", "of the path")],
        "get": {"operationId": "listPets", "parameters": [header("x-trace", "of the operation")]},
    }})));
    let operation = full_adapter(&import).adapter.operations.remove(0);
    let headers: Vec<_> = operation.params.iter().map(|param| (&*param.wire, &*param.description)).collect();
    assert_eq!(headers, [("x-trace", "of the operation")]);
}

#[test]
fn media_types_that_cannot_be_sent_are_replaced() {
    for media in [
        "json",
        "application/",
        "application/json, text/json",
        "text/plain charset=utf-8",
        "multipart/mixed",
        "é/x",
    ] {
        let body = json!({"content": {media: {"schema": {"type": "object", "properties": {"a": {"type": "string"}}}}}});
        assert_eq!(errors(&operation(json!({"requestBody": body}))), [""; 0], "{media}");
    }
}

#[test]
fn servers_of_operations_may_use_http() {
    for url in [
        "http://other.example",
        "http://{host}.example",
        "http://{host}",
        "http://10.0.0.1:8080/x",
        "HTTP://Other.example",
    ] {
        let servers = json!([{"url": url, "variables": {"host": {"default": "a.example"}}}]);
        assert_eq!(errors(&operation(json!({"servers": servers}))), [""; 0], "{url}");
    }
}

#[test]
fn defaults_of_the_wrong_type_are_left_out() {
    for schema in [
        json!({"type": "integer", "default": "ten"}),
        json!({"type": "string", "default": 10}),
        json!({"type": "array", "items": {"type": "string"}, "default": "a"}),
        json!({"type": "boolean", "default": "true"}),
        json!({"type": "string", "enum": ["a", "b"], "default": "c"}),
        json!({"type": "object", "properties": {"a": {"type": "integer", "default": {}}}, "default": []}),
        json!({"type": "string", "format": "date-time", "default": "now"}),
    ] {
        let parameters = json!([{"name": "a", "in": "query", "schema": schema}]);
        assert_eq!(errors(&operation(json!({"parameters": parameters}))), [""; 0], "{schema}");
        let body = json!({"content": {"application/json": {"schema": {"type": "object", "properties": {"a": schema}}}}});
        assert_eq!(errors(&operation(json!({"requestBody": body}))), [""; 0], "{schema}");
    }
}

#[test]
fn a_query_in_the_path_gives_a_valid_default() {
    for schema in [
        json!({"type": "array", "items": {"type": "string", "enum": ["10", "20"]}}),
        json!({"type": "integer"}),
        json!({"type": "boolean"}),
        json!({"type": "string", "enum": ["a"]}),
        json!({"type": "object"}),
        json!({"$ref": "#/components/schemas/View"}),
        json!({}),
    ] {
        let parameters = json!([{"name": "view", "in": "query", "required": true, "schema": schema}]);
        let mut document = with_paths(
            json!({"/pets?view=10": {"get": {"operationId": "listPets", "parameters": parameters}}}),
        );
        document["components"]["schemas"]["View"] = json!({"type": "string", "enum": ["b"]});
        assert_eq!(errors(&document), [""; 0], "{schema}");
    }
}
