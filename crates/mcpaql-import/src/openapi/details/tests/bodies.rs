//! Request bodies.

use super::*;

fn body(content: Value) -> Details {
    empty().read("POST", "/things/{id}", json!({"requestBody": {"required": true, "content": content}}))
}

fn json_body(schema: Value) -> Details {
    body(json!({"application/json": {"schema": schema}}))
}

#[test]
fn an_object_is_one_parameter_per_field() {
    let read = json_body(json!({
        "properties": {"id": {"type": "integer"}, "dueOn": {"type": "string"}, "body": {"type": "string"}, "made": {"type": "string", "readOnly": true}},
        "required": ["id", "made", "typo"]}));
    assert_eq!(listed(&read), "path id!, body body_id=id!, body due_on=dueOn, body body");
    assert_eq!((read.body, read.body_param, read.content_type), (BodyForm::Json, None, None));
    let optional = empty().read(
        "POST",
        "/",
        json!({"requestBody": {"content": {"application/json": {"schema":
        {"properties": {"a": {}}, "required": ["a"]}}}}}),
    );
    assert_eq!(listed(&optional), "body a", "no field of an optional body is required");
}

#[test]
fn parts_are_flattened_too() {
    let api = ApiFixture::schemas(json!({
        "Base": {"type": "object", "properties": {"id": {"type": "integer", "readOnly": true}, "name": {"type": "string"}}, "required": ["name"]},
        "New": {"allOf": [{"$ref": "#/components/schemas/Base"}, {"properties": {"size": {"type": "integer"}}}]},
    }));
    let read = api.read(
        "POST",
        "/",
        json!({"requestBody": {"required": true, "content": {"application/json": {"schema":
        {"anyOf": [{"$ref": "#/components/schemas/New"}, {"type": "null"}]}}}}}),
    );
    assert_eq!(listed(&read), "body name!, body size");
}

#[test]
fn anything_else_is_one_parameter() {
    for schema in [
        json!({"type": "array", "items": {"type": "string"}}),
        json!({"type": "string"}),
        json!({"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}),
        json!({"type": "object"}),
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}),
        json!({}),
    ] {
        let read = json_body(schema.clone());
        assert_eq!(listed(&read), "path id!, body body!", "{schema}");
        assert_eq!(read.body_param.as_deref(), Some("body"));
    }
    let constrained = json_body(
        json!({"properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
    );
    assert_eq!(listed(&constrained), "path id!, body a, body b");
    assert!(notes(&constrained).contains(&"'anyOf' is checked only by the API"));
}

#[test]
fn one_media_type_is_chosen_and_the_others_are_noted() {
    let fields = json!({"schema": {"properties": {"a": {"type": "string"}}}});
    let rows = [
        (
            json!({"text/plain": {}, "application/json": fields, "multipart/form-data": fields}),
            BodyForm::Json,
            None,
        ),
        (
            json!({"application/xml": fields, "application/vnd.api+json": fields}),
            BodyForm::Json,
            Some("application/vnd.api+json"),
        ),
        (
            json!({"application/json-patch+json": {}, "application/merge-patch+json": fields}),
            BodyForm::Json,
            Some("application/merge-patch+json"),
        ),
        (json!({"*/*": fields}), BodyForm::Json, None),
        (json!({"application/json; charset=utf-8": fields}), BodyForm::Json, None),
        (
            json!({"multipart/form-data": fields, "application/x-www-form-urlencoded": fields}),
            BodyForm::Form,
            None,
        ),
        (json!({"multipart/form-data": fields}), BodyForm::Multipart, None),
        (json!({"text/csv": {}}), BodyForm::Text, Some("text/csv")),
        (json!({"application/xml": fields}), BodyForm::Text, Some("application/xml")),
        (json!({"application/x-ndjson": {}}), BodyForm::Text, Some("application/x-ndjson")),
        (json!({"image/png": {}}), BodyForm::Binary, Some("image/png")),
        (json!({"image/*": {}}), BodyForm::Binary, None),
        (json!({"application/octet-stream": {}}), BodyForm::Binary, None),
    ];
    for (content, form, kind) in rows {
        let several = content.as_object().unwrap().len() > 1;
        let read = body(content.clone());
        assert_eq!((read.body, read.content_type.as_deref()), (form, kind), "{content}");
        assert_eq!(
            notes(&read).iter().any(|note| note.starts_with("the body is sent as")),
            several,
            "{content}"
        );
        let schema = &read.params.last().unwrap().schema;
        match form {
            BodyForm::Text => assert_eq!(*schema, json!({"type": "string"})),
            BodyForm::Binary => assert_eq!(*schema, json!({"type": "string", "format": "byte"})),
            _ => assert_eq!(read.body_param, None),
        }
    }
}

#[test]
fn files_are_base64_or_objects_with_a_name() {
    let read = body(json!({"multipart/form-data": {
        "schema": {"properties": {
            "file": {"type": "string", "format": "binary", "description": "The file."},
            "many": {"type": "array", "items": {"type": "string", "format": "binary"}},
            "photo": {"type": "string"},
            "modern": {"contentMediaType": "image/png"},
            "encoded": {"type": "string", "format": "byte"},
            "note": {"type": "string"},
            "meta": {"type": "object", "properties": {"a": {"type": "string"}}}}},
        "encoding": {"photo": {"contentType": "image/png, image/jpeg"}, "meta": {"contentType": "application/json"}, "note": {"contentType": "text/plain"}},
    }}));
    let file = &param(&read, "file").schema;
    assert_eq!(file["anyOf"][0], json!({"type": "string", "format": "byte"}));
    assert_eq!(file["anyOf"][1]["required"], json!(["data"]));
    assert_eq!(param(&read, "file").description, "The file.");
    assert_eq!(param(&read, "many").schema, json!({"type": "array", "items": file}));
    assert_eq!(param(&read, "photo").schema, *file);
    assert_eq!(param(&read, "modern").schema, *file);
    assert_eq!(
        param(&read, "encoded").schema,
        json!({"type": "string"}),
        "the API wants the base64 text itself"
    );
    assert_eq!(param(&read, "note").schema, json!({"type": "string"}));
}

#[test]
fn a_form_has_the_styles_of_its_encoding() {
    let read = body(json!({"application/x-www-form-urlencoded": {
        "schema": {"properties": {"expand": {"type": "array", "items": {"type": "string"}}, "metadata": {"type": "object"}}},
        "encoding": {"metadata": {"style": "deepObject", "explode": true}, "expand": {"style": "pipeDelimited", "explode": false}},
    }}));
    use mcpaql_core::operation::StyleForm;
    assert_eq!(param(&read, "metadata").style.form, StyleForm::DeepObject);
    assert_eq!(
        (param(&read, "expand").style.form, param(&read, "expand").style.explode),
        (StyleForm::PipeDelimited, false)
    );
}

#[test]
fn bodies_of_2_are_parameters() {
    let api = ApiFixture(
        json!({"swagger": "2.0", "consumes": ["application/xml", "application/json"], "definitions": {
        "Pet": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}}}),
    );
    let read = api.read("POST", "/", json!({"parameters": [{"name": "pet", "in": "body", "required": true, "schema": {"$ref": "#/definitions/Pet"}}]}));
    assert_eq!((listed(&read).as_str(), read.body), ("body name!", BodyForm::Json));
    let list = json!({"parameters": [{"name": "pets", "in": "body", "schema": {"type": "array", "items": {"$ref": "#/definitions/Pet"}}}]});
    assert_eq!(api.read("POST", "/", list).body_param.as_deref(), Some("body"));
    let form = json!({"consumes": ["application/x-www-form-urlencoded"], "parameters": [{"name": "name", "in": "formData", "type": "string", "required": true}]});
    let read = api.read("POST", "/", form);
    assert_eq!((listed(&read).as_str(), read.body), ("body name!", BodyForm::Form));
    let upload = json!({"parameters": [{"name": "upfile", "in": "formData", "type": "file"}, {"name": "note", "in": "formData", "type": "string"}]});
    let read = api.read("POST", "/", upload);
    assert_eq!(read.body, BodyForm::Multipart);
    assert!(param(&read, "upfile").schema.get("anyOf").is_some());
    let xml = json!({"consumes": ["text/xml"], "parameters": [{"name": "pet", "in": "body", "schema": {"$ref": "#/definitions/Pet"}}]});
    let read = api.read("POST", "/", xml);
    assert_eq!(
        (read.body, read.content_type.as_deref(), read.body_param.as_deref()),
        (BodyForm::Text, Some("text/xml"), Some("body"))
    );
}

#[test]
fn a_get_request_has_no_body() {
    let request =
        |schema: Value| json!({"requestBody": {"content": {"application/json": {"schema": schema}}}});
    let read = empty().read("GET", "/", request(json!({"properties": {"a": {}}})));
    assert!(read.params.is_empty());
    assert!(read.notes[0].lost);
    assert!(empty().read("GET", "/", request(json!({"properties": {}}))).notes.is_empty());
    assert_eq!(listed(&empty().read("DELETE", "/", request(json!({"properties": {"a": {}}})))), "body a");
}
