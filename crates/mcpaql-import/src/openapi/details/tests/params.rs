//! Parameters outside the body.

use super::*;
use mcpaql_core::operation::{ParamStyle, StyleForm};

fn with(params: Value) -> Details {
    empty().read("GET", "/things/{id}", json!({"parameters": params}))
}

fn style_of(version: &str, param: Value) -> (ParamStyle, usize) {
    let api = if version == "2.0" {
        ApiFixture(json!({"swagger": "2.0"}))
    } else {
        ApiFixture(json!({"openapi": version}))
    };
    let path = if param["in"] == "path" { "/{a}" } else { "/" };
    let read = api.read("GET", path, json!({"parameters": [param]}));
    (read.params[0].style, read.notes.len())
}

#[test]
fn a_parameter_of_the_operation_replaces_that_of_the_path() {
    let path_params = [
        json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"}}),
        json!({"name": "id", "in": "query", "schema": {"type": "string"}}),
        json!({"$ref": "#/components/parameters/Trace"}),
    ];
    let operation = json!({"parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}]});
    let api = ApiFixture(
        json!({"openapi": "3.0.0", "components": {"parameters": {"Trace": {"name": "X-Trace", "in": "header", "schema": {"type": "string"}}}}}),
    );
    let read = api.with(|cx| details(cx, &head("GET", "/things/{id}"), &path_params, &operation));
    assert_eq!(listed(&read), "path id!, query query_id=id, header x_trace=X-Trace");
    assert_eq!(param(&read, "id").schema, json!({"type": "integer"}));
}

#[test]
fn the_path_and_its_parameters_always_agree() {
    let read = empty().read(
        "GET",
        "/{ownerId}/{repo}/{ownerId}.json",
        json!({"parameters": [
            {"name": "other", "in": "path", "required": true, "schema": {"type": "string"}},
            {"name": "ownerId", "in": "path", "schema": {"type": "integer"}},
        ]}),
    );
    assert_eq!(listed(&read), "path owner_id=ownerId!, path repo!");
    let literal = |text: &str| Segment::Literal(text.into());
    let named = |text: &str| Segment::Param(text.into());
    assert_eq!(
        read.path,
        [
            literal("/"),
            named("owner_id"),
            literal("/"),
            named("repo"),
            literal("/"),
            named("owner_id"),
            literal(".json")
        ]
    );
    assert_eq!(
        notes(&read),
        [
            "a placeholder of the path without a parameter; its type is string",
            "a path parameter without a placeholder in the path is left out"
        ]
    );
}

#[test]
fn credentials_and_message_headers_are_not_parameters() {
    let header = |name: &str| json!({"name": name, "in": "header", "schema": {"type": "string"}});
    let read = with(json!([
        header("Accept"), header("content-type"), header("Authorization"), header("Cookie"), header("Host"), header("x-api-key"), header("X-Trace"),
        {"name": "api_key", "in": "query", "schema": {"type": "string"}},
        {"name": "session", "in": "cookie", "schema": {"type": "string"}},
    ]));
    assert_eq!(listed(&read), "path id!, header x_trace=X-Trace, cookie session");
    assert_eq!(
        read.notes.iter().map(|note| note.place.as_str()).collect::<Vec<_>>(),
        ["Cookie", "Host", "x-api-key", "api_key", "id"]
    );
}

#[test]
fn every_style_of_3_is_kept() {
    let list = json!({"type": "array", "items": {"type": "string"}});
    let style = |place: &str, more: Value| {
        let mut param = json!({"name": "a", "in": place, "schema": list});
        param.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        style_of("3.0.0", param).0
    };
    let of = |form, explode, reserved| ParamStyle { form, explode, reserved };
    assert_eq!(style("query", json!({})), of(StyleForm::Form, true, false));
    assert_eq!(style("query", json!({"explode": false})), of(StyleForm::Form, false, false));
    assert_eq!(style("query", json!({"style": "pipeDelimited"})), of(StyleForm::PipeDelimited, false, false));
    assert_eq!(
        style("query", json!({"style": "spaceDelimited", "explode": true})),
        of(StyleForm::SpaceDelimited, true, false)
    );
    assert_eq!(
        style("query", json!({"style": "deepObject", "explode": false})),
        of(StyleForm::DeepObject, true, false)
    );
    assert_eq!(style("query", json!({"allowReserved": true})), of(StyleForm::Form, true, true));
    assert_eq!(style("path", json!({"style": "label"})), of(StyleForm::Label, false, false));
    assert_eq!(
        style("path", json!({"style": "matrix", "explode": true})),
        of(StyleForm::Matrix, true, false)
    );
    assert_eq!(style("header", json!({})), of(StyleForm::Simple, false, false));
    assert_eq!(
        style("header", json!({"style": "form"})),
        of(StyleForm::Simple, false, false),
        "the style is not defined for headers"
    );
    let scalar = json!({"name": "a", "in": "query", "explode": false, "schema": {"type": "string"}});
    assert_eq!(
        style_of("3.0.0", scalar).0,
        ParamStyle::default_for(ParamLocation::Query),
        "a scalar has no style worth telling"
    );
    let json =
        json!({"name": "a", "in": "query", "content": {"application/json": {"schema": {"type": "object"}}}});
    assert_eq!(style_of("3.0.0", json).0, of(StyleForm::Json, false, false));
}

#[test]
fn every_collection_format_of_2_is_kept() {
    let style = |format: &str| {
        style_of(
            "2.0",
            json!({"name": "a", "in": "query", "type": "array", "items": {"type": "string"}, "collectionFormat": format}),
        )
    };
    let of = |form, explode| ParamStyle { form, explode, reserved: false };
    assert_eq!(style("csv"), (of(StyleForm::Form, false), 0));
    assert_eq!(style("ssv"), (of(StyleForm::SpaceDelimited, false), 0));
    assert_eq!(style("pipes"), (of(StyleForm::PipeDelimited, false), 0));
    assert_eq!(style("multi"), (of(StyleForm::Form, true), 0));
    assert_eq!(style("tsv"), (of(StyleForm::SpaceDelimited, false), 1));
    assert_eq!(style("odd"), (of(StyleForm::Form, false), 1));
}

#[test]
fn parameters_of_2_are_their_own_schema() {
    let api = ApiFixture(json!({"swagger": "2.0"}));
    let read = api.read("GET", "/", json!({"parameters": [
        {"name": "Sort-By", "in": "query", "required": true, "type": "string", "enum": ["a", "b"], "description": "Order.", "x-example": "b"}]}));
    let sort = param(&read, "sort_by");
    assert_eq!((sort.wire.as_str(), sort.required, sort.description.as_str()), ("Sort-By", true, "Order."));
    assert_eq!(sort.schema, json!({"type": "string", "enum": ["a", "b"]}));
    assert_eq!(read.examples[0].params["sort_by"], "b");
}

#[test]
fn the_fields_of_a_query_string_are_parameters() {
    let api = ApiFixture(json!({"openapi": "3.2.0"}));
    let read = api.read("GET", "/", json!({"parameters": [{"name": "q", "in": "querystring", "content": {"application/x-www-form-urlencoded":
        {"schema": {"type": "object", "properties": {"term": {"type": "string"}, "sort": {"type": "string"}}, "required": ["term"]}}}}]}));
    assert_eq!(listed(&read), "query term!, query sort");
}

#[test]
fn secrets_and_deprecations_are_marked() {
    let read = with(json!([
        {"name": "clientSecret", "in": "query", "schema": {"type": "string"}},
        {"name": "code", "in": "query", "schema": {"type": "string", "format": "password"}},
        {"name": "secret", "in": "query", "schema": {"type": "boolean"}},
        {"name": "old", "in": "query", "deprecated": true, "schema": {"type": "string"}},
    ]));
    let secrets: Vec<&str> =
        read.params.iter().filter(|param| param.sensitive).map(|param| param.name.as_str()).collect();
    assert_eq!(secrets, ["client_secret", "code"]);
    assert_eq!(param(&read, "old").description, "Deprecated.");
}
