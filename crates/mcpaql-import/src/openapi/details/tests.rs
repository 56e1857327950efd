//! Operations of documents, and what callers see of them.

mod bodies;
mod malformed;
mod params;

use super::super::fixture::{ApiFixture, head, listed, notes, param};
use super::*;
use serde_json::json;

fn empty() -> ApiFixture {
    ApiFixture::schemas(json!({}))
}

fn answers(schema: Value) -> Value {
    json!({"responses": {"200": {"description": "OK", "content": {"application/json": {"schema": schema}}}}})
}

#[test]
fn the_answer_refers_to_its_type() {
    let api = ApiFixture::schemas(json!({
        "Issue": {"type": "object", "properties": {"id": {"type": "integer"}, "user": {"$ref": "#/components/schemas/User"}}},
        "User": {"type": "object", "properties": {"login": {"type": "string"}}},
    }));
    let issue = json!({"$ref": "#/components/schemas/Issue"});
    let read = api.read("GET", "/issues", answers(json!({"type": "array", "items": issue})));
    let returns = read.returns.unwrap();
    assert_eq!(returns.schema, json!({"type": "array", "items": {"$ref": "#/types/Issue"}}));
    assert_eq!(returns.description, "", "'OK' has no information");
    assert_eq!(
        read.types["User"],
        json!({"type": "object"}),
        "types that the answer's own type refers to have no content"
    );
    let outline = api.outline("GET", "/issues", answers(json!({"type": "array", "items": issue})));
    let given = AnswerOutline {
        type_name: Some("Issue".into()),
        list: true,
        fields: vec!["id".into(), "user".into()],
    };
    assert_eq!(outline.answer, Some(given));
}

#[test]
fn lists_are_found_in_their_envelopes() {
    let api =
        ApiFixture::schemas(json!({"Pet": {"type": "object", "properties": {"name": {"type": "string"}}}}));
    let pets = json!({"type": "array", "items": {"$ref": "#/components/schemas/Pet"}});
    let object = |fields: Value| json!({"type": "object", "properties": fields});
    let given = |schema: Value| api.outline("GET", "/pets", answers(schema)).answer.unwrap();
    for schema in [
        object(json!({"items": pets, "total": {"type": "integer"}})),
        object(json!({"pets": pets, "next_page_token": {"type": "string"}})),
        object(json!({"data": object(json!({"items": pets}))})),
    ] {
        let given = given(schema.clone());
        assert!(given.list, "{schema}");
        assert_eq!(
            (given.type_name.as_deref(), given.fields),
            (Some("Pet"), vec!["name".to_owned()]),
            "{schema}"
        );
    }
    let owner = object(json!({"name": {}, "age": {}, "street": {}, "pets": pets}));
    assert!(!given(owner).list, "an object with a list is not a list");
    let wrapped = given(object(json!({"data": {"$ref": "#/components/schemas/Pet"}})));
    assert_eq!((wrapped.list, wrapped.type_name.as_deref()), (false, Some("Pet")));
}

#[test]
fn the_first_success_with_a_body_is_the_answer() {
    let body =
        |kind: &str| json!({"description": "d", "content": {"application/json": {"schema": {"type": kind}}}});
    let of = |responses: Value| {
        empty().read("GET", "/a", json!({"responses": responses})).returns.map(|returns| returns.schema)
    };
    assert_eq!(
        of(json!({"404": body("string"), "201": body("integer"), "200": {"description": "none"}})),
        Some(json!({"type": "integer"}))
    );
    assert_eq!(of(json!({"default": body("boolean")})), Some(json!({"type": "boolean"})));
    assert_eq!(of(json!({"204": {"description": "Gone"}})), None);
    assert_eq!(
        of(json!({"200": {"description": "", "content": {"image/png": {}}}})),
        Some(json!({"type": "string"}))
    );
    let swagger = ApiFixture(json!({"swagger": "2.0"}));
    let read = swagger.read(
        "GET",
        "/a",
        json!({"responses": {"200": {"description": "The number.", "schema": {"type": "integer"}}}}),
    );
    assert_eq!(
        read.returns,
        Some(Returns { schema: json!({"type": "integer"}), description: "The number.".into() })
    );
}

#[test]
fn pagination_has_the_names_that_callers_use() {
    let query = |name: &str, kind: &str| json!({"name": name, "in": "query", "schema": {"type": kind}});
    let mut operation = answers(json!({"type": "object", "properties": {
        "files": {"type": "array", "items": {}}, "nextPageToken": {"type": "string"}}}));
    operation["parameters"] = json!([query("pageToken", "string"), query("pageSize", "integer")]);
    let pages = empty().read("GET", "/files", operation).pagination.unwrap();
    assert_eq!((pages.at.as_deref(), pages.size.as_deref()), (Some("page_token"), Some("page_size")));
    assert_eq!((pages.next.as_deref(), pages.items.as_deref()), (Some("nextPageToken"), Some("files")));
    let mut linked = answers(json!({"type": "array", "items": {}}));
    linked["responses"]["200"]["headers"] = json!({"link": {"schema": {"type": "string"}}});
    let pages = empty().read("GET", "/files", linked).pagination.unwrap();
    assert_eq!((pages.kind, pages.items.as_deref()), (mcpaql_core::operation::PageKind::Link, Some("")));
    let nested = answers(json!({"type": "object", "properties": {
        "data": {"type": "array", "items": {}}, "links": {"type": "object", "properties": {"next": {"type": "string"}}}}}));
    assert_eq!(empty().read("GET", "/files", nested).pagination.unwrap().next.as_deref(), Some("links.next"));
}

#[test]
fn the_examples_of_the_document_make_a_call() {
    let operation = json!({
        "parameters": [
            {"name": "owner", "in": "path", "required": true, "schema": {"type": "string"}, "example": "octocat"},
            {"name": "repo", "in": "path", "required": true, "schema": {"type": "string"}},
            {"name": "page", "in": "query", "schema": {"type": "integer"}, "example": 7},
        ],
        "requestBody": {"required": true, "content": {"application/json": {
            "schema": {"properties": {"title": {"type": "string"}, "dueOn": {"type": "string"}}, "required": ["title"]},
            "examples": {"first": {"$ref": "#/components/examples/Bug"}},
        }}},
    });
    let api = ApiFixture(
        json!({"openapi": "3.0.0", "components": {"examples": {"Bug": {"value": {"title": "Found a bug", "dueOn": "soon", "unknown": 1}}}}}),
    );
    let read = api.read("POST", "/{owner}/{repo}", operation);
    let call = Value::Object(read.examples[0].params.clone());
    assert_eq!(
        call,
        json!({"owner": "octocat", "repo": "some repo", "title": "Found a bug", "due_on": "soon"})
    );
    let wrong = json!({"parameters": [{"name": "n", "in": "query", "required": true, "schema": {"type": "integer"}, "example": "x"}]});
    assert!(api.read("GET", "/", wrong).examples.is_empty(), "the document contradicts itself");
    let without =
        json!({"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}]});
    assert!(api.read("GET", "/{id}", without).examples.is_empty(), "the core generates such examples");
}

#[test]
fn defaults_are_shown_and_never_sent() {
    let operation = json!({
        "parameters": [{"name": "per_page", "in": "query", "description": "Page size", "schema": {"type": "integer", "default": 30}}],
        "requestBody": {"content": {"application/json": {"schema": {"properties": {
            "state": {"type": "string", "default": "open"}, "token": {"type": "string", "format": "password", "default": "hunter2"}}}}}},
    });
    let read = empty().read("PATCH", "/a", operation);
    assert_eq!(param(&read, "per_page").api_default, Some(json!(30)));
    assert_eq!(param(&read, "per_page").description, "Page size");
    assert_eq!(param(&read, "state").api_default, Some(json!("open")));
    assert_eq!(param(&read, "token").api_default, None);
    assert!(read.params.iter().all(|param| param.default.is_none() && param.schema.get("default").is_none()));
}
