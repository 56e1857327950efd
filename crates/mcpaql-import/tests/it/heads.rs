//! The heads of operations.

use crate::{http, import, messages, open_text, operation, with_paths};
use mcpaql_core::library::Library;
use mcpaql_core::operation::{Category, Segment};
use serde_json::json;

#[test]
fn a_head_has_title_text_tags_and_path() {
    let import = import(&with_paths(json!({"/pets/{petId}": {"get": {
        "operationId": "getPet",
        "summary": "get one pet.",
        "description": "Answers with **one** [pet](https://pets.example).\n\nOwners see more.",
        "tags": ["pets", 7],
        "parameters": [{"name": "petId", "in": "path", "required": true, "schema": {"type": "string"}}],
        "responses": {"200": {"description": "ok"}}
    }}})));
    let head = operation(&import, "getPet");
    assert_eq!(head.title, "Get one pet");
    assert_eq!(head.description, "get one pet. Answers with one pet.\n\nOwners see more.");
    assert_eq!(head.tags, ["pets"]);
    assert_eq!(head.category, Category::Read);
    assert!(head.params.is_empty(), "a head has no parameters");
    let path = [Segment::Literal("/pets/".into()), Segment::Param("petId".into())];
    assert_eq!((http(head).method.as_str(), http(head).path.as_slice()), ("GET", path.as_slice()));
}

#[test]
fn a_summary_that_the_description_repeats_is_used_once() {
    let import = import(&with_paths(json!({"/a": {
        "get": {"operationId": "a", "summary": "List pets", "description": "List pets of the shop."},
        "put": {"operationId": "b", "description": "Replaces all."},
        "post": {"operationId": "c", "summary": "Add"}
    }})));
    assert_eq!(operation(&import, "a").description, "List pets of the shop.");
    assert_eq!(operation(&import, "b").description, "Replaces all.");
    assert_eq!(operation(&import, "c").description, "Add");
    assert!(!operation(&import, "b").title.is_empty(), "a title is made from the name");
}

#[test]
fn operations_inherit_summary_and_parameters_of_the_path() {
    let import = import(&with_paths(json!({"/a/{id}": {
        "summary": "Things of a kind",
        "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}],
        "get": {"operationId": "a", "responses": {}}
    }})));
    assert_eq!(operation(&import, "a").title, "Things of a kind");
    let whole = import.library.operation(0).unwrap().operation;
    assert_eq!(whole.params[0].schema, json!({"type": "integer"}));
    assert_eq!(http(&whole).path[1], Segment::Param("id".into()));
}

#[test]
fn deprecated_operations_name_the_replacement() {
    let import = import(&with_paths(json!({"/a": {
        "get": {"operationId": "a", "deprecated": true, "description": "Lists. Use `b` instead. Really."},
        "put": {"operationId": "b", "deprecated": false},
        "post": {"operationId": "c", "deprecated": "yes"}
    }})));
    assert_eq!(operation(&import, "a").deprecated.as_deref(), Some("Use b instead."));
    assert_eq!(operation(&import, "b").deprecated, None);
    assert_eq!(operation(&import, "c").deprecated, None);
}

#[test]
fn the_library_returns_the_same_heads() {
    let import = import(&with_paths(json!({
        "/a": {"get": {"operationId": "a", "summary": "One"}, "post": {"summary": "Two", "tags": ["x"]}},
        "/b": {"delete": {"security": [], "servers": [{"url": "https://other.example"}]}}
    })));
    for (index, head) in import.adapter.operations.iter().enumerate() {
        assert_eq!(format!("{head:?}"), format!("{:?}", import.library.head(index).unwrap()));
    }
    assert!(import.library.operation(3).is_none());
    assert_eq!(import.library.outline(3), Default::default());
}

#[test]
fn a_query_in_a_path_becomes_a_parameter_that_is_always_sent() {
    let import = import(&with_paths(json!({
        "/do?action=run": {"post": {"operationId": "run"}},
        "/do?action=stop": {"post": {"operationId": "stop", "parameters": [
            {"name": "action", "in": "query", "required": true, "schema": {"type": "string", "enum": ["stop"]}}
        ]}}
    })));
    for (index, value) in [(0, "run"), (1, "stop")] {
        let whole = import.library.operation(index).unwrap().operation;
        assert_eq!(http(&whole).path, [Segment::Literal("/do".into())]);
        let [action] = whole.params.as_slice() else { panic!("{:?}", whole.params) };
        assert_eq!(
            (action.wire.as_str(), &action.default, action.required),
            ("action", &Some(json!(value)), false)
        );
    }
}

#[test]
fn yaml_gives_the_same_as_json() {
    let import = open_text(
        "openapi: 3.1.0\ninfo: {title: Norway, version: 1.0}\nservers:\n- url: https://no.example/\npaths:\n  /y:\n    \
         get:\n      operationId: y\n      deprecated: no\n      tags: [on, \"true\"]\n      responses:\n        200:\n          \
         description: ok\n          content:\n            application/json:\n              schema: {type: array, items: {type: string}}\n",
    );
    let head = operation(&import, "y");
    assert_eq!(head.tags, ["on", "true"]);
    assert_eq!(head.deprecated, None);
    assert_eq!(import.adapter.version, "1.0.0");
    let whole = import.library.operation(0).unwrap().operation;
    assert_eq!(whole.returns.unwrap().schema, json!({"type": "array", "items": {"type": "string"}}));
}

#[test]
fn webhooks_and_callbacks_are_counted_and_not_served() {
    let mut document = with_paths(json!({"/a": {"post": {"callbacks": {"done": {"{$url}": {"post": {}}}}}}}));
    document["openapi"] = json!("3.1.0");
    document["webhooks"] = json!({"new": {"post": {"operationId": "hook"}}, "old": {"post": {}}});
    let import = import(&document);
    assert_eq!(import.adapter.operations.len(), 1);
    assert_eq!(import.report.ignored, [("webhooks".to_owned(), 2), ("callbacks".to_owned(), 1)]);
}

#[test]
fn names_come_from_titles_without_generic_words() {
    for (title, name) in [
        ("GitHub v3 REST API", "github"),
        ("Petstore's official API", "petstore"),
        ("API", "api"),
        ("", "api"),
        ("3scale", "api-3scale"),
        ("mcpaql", "api"),
        ("Über \u{4f60}\u{597d}", "ber"),
        ("One Two Three Four Five", "one-two-three-four"),
    ] {
        let mut document = with_paths(json!({"/a": {"get": {}}}));
        document["info"]["title"] = json!(title);
        assert_eq!(import(&document).adapter.name, name, "{title:?}");
    }
}

#[test]
fn swagger_2_is_read() {
    let import = import(&json!({
        "swagger": "2.0",
        "info": {"title": "Old", "version": "v2"},
        "host": "old.example", "basePath": "/api", "schemes": ["http", "https"],
        "consumes": ["application/json"],
        "paths": {"/pets": {"post": {"operationId": "addPet", "parameters": [{"$ref": "#/parameters/Pet"}],
            "responses": {"200": {"description": "ok", "schema": {"$ref": "#/definitions/Pet"}}}}}},
        "parameters": {"Pet": {"name": "pet", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Pet"}}},
        "definitions": {"Pet": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}
    }));
    assert_eq!(crate::target(&import).base_url, "https://old.example/api");
    let whole = import.library.operation(0).unwrap();
    assert_eq!(whole.operation.params[0].name, "name");
    assert!(whole.types.contains_key("Pet"), "{:?}", whole.types);
    assert_eq!(import.library.type_names(), ["Pet"]);
    assert!(import.library.type_named("Pet").is_some() && import.library.type_named("Cat").is_none());
}

#[test]
fn an_unknown_version_is_guessed_from_the_structure() {
    for (document, note) in [
        (json!({"openapi": "4.0", "paths": {"/a": {"get": {}}}}), "read as OpenAPI 3.1"),
        (json!({"swagger": "1.2", "paths": {"/a": {"get": {}}}}), "read as Swagger 2.0"),
        (json!({"paths": {"/a": {"get": {}}}, "definitions": {}}), "read as Swagger 2.0"),
        (json!({"paths": {"/a": {"get": {}}}}), "read as OpenAPI 3.1"),
    ] {
        let import = import(&document);
        assert_eq!(import.adapter.operations.len(), 1);
        assert!(messages(&import).iter().any(|message| message.ends_with(note)), "{:?}", messages(&import));
    }
}
