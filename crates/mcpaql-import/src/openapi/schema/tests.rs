//! Schemas of documents, and their conversions.

use super::super::fixture::ApiFixture;
use super::{SchemaWriter, Side};
use indexmap::IndexMap;
use mcpaql_core::diagnostic::Severity;
use mcpaql_core::schema::SchemaSet;
use serde_json::{Value, json};

/// Returns a converted schema of a request, the types that it refers to, and the notes.
fn request(api: &ApiFixture, schema: &Value) -> (Value, IndexMap<String, Value>, Vec<String>) {
    written(api, schema, Side::Request)
}

fn written(api: &ApiFixture, schema: &Value, side: Side) -> (Value, IndexMap<String, Value>, Vec<String>) {
    api.with(|cx| {
        let mut writer = SchemaWriter::new(cx);
        if side == Side::Answer {
            writer.start_answer();
        }
        let schema = writer.schema(schema, "");
        writer.finish();
        let (mut schemas, mut problems) = SchemaSet::compile(&writer.types);
        problems.extend(schemas.add(&schema, "").1);
        let errors: Vec<_> = problems.iter().filter(|problem| problem.severity == Severity::Error).collect();
        assert!(errors.is_empty(), "{schema}: {errors:?}");
        (schema, writer.types, writer.notes.into_iter().map(|note| note.what).collect())
    })
}

fn plain(schema: Value) -> Value {
    request(&ApiFixture::schemas(json!({})), &schema).0
}

#[test]
fn keywords_that_do_not_help_callers_are_left_out() {
    let schema = json!({
        "type": "string", "title": "T", "example": "a", "examples": ["b"], "x-order": 1, "xml": {"name": "n"},
        "externalDocs": {"url": "u"}, "maxLength": 5, "format": "slug", "description": "A\n  name.", "default": "x",
        "deprecated": true,
    });
    let expected = json!({"type": "string", "maxLength": 5, "format": "slug", "description": "A name.", "default": "x", "deprecated": true});
    assert_eq!(plain(schema), expected);
}

#[test]
fn every_version_is_read_alike() {
    let rows = [
        (json!({"type": "string", "nullable": true}), json!({"type": "string", "nullable": true})),
        (json!({"type": "string", "x-nullable": true}), json!({"type": "string", "nullable": true})),
        (json!({"type": ["string", "null"]}), json!({"type": ["string", "null"]})),
        (json!({"type": ["string"]}), json!({"type": "string"})),
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
            json!({"nullable": true, "type": "integer"}),
        ),
        (
            json!({"anyOf": [{"type": "integer"}, {"type": "object", "nullable": true}]}),
            json!({"nullable": true, "type": "integer"}),
        ),
        (
            json!({"anyOf": [{"type": "object", "nullable": true}]}),
            json!({"type": "object", "nullable": true}),
        ),
        (
            json!({"type": "number", "minimum": 1, "exclusiveMinimum": true}),
            json!({"type": "number", "exclusiveMinimum": 1}),
        ),
        (
            json!({"type": "number", "minimum": 1, "exclusiveMinimum": false}),
            json!({"type": "number", "minimum": 1}),
        ),
        (json!({"type": "number", "exclusiveMaximum": 9}), json!({"type": "number", "exclusiveMaximum": 9})),
        (json!({"const": "a"}), json!({"const": "a"})),
        (json!({"type": "file"}), json!({"type": "string", "format": "byte"})),
        (json!({"type": "string", "contentEncoding": "base64"}), json!({"type": "string", "format": "byte"})),
        (
            json!({"items": [{"type": "string"}, {"type": "integer"}]}),
            json!({"prefixItems": [{"type": "string"}, {"type": "integer"}]}),
        ),
        (
            json!({"patternProperties": {"^a": {"type": "integer"}}}),
            json!({"additionalProperties": {"type": "integer"}}),
        ),
        (json!(true), json!({})),
        (json!(false), json!({"not": {}})),
    ];
    for (schema, expected) in rows {
        assert_eq!(plain(schema.clone()), expected, "{schema}");
    }
}

#[test]
fn mistakes_are_fixed_or_left_out() {
    let rows = [
        (json!({"type": "int"}), json!({"type": "integer"})),
        (json!({"type": "whatever"}), json!({})),
        (json!({"type": 7}), json!({})),
        (
            json!({"type": "string", "enum": [1, true, "a", "a"]}),
            json!({"type": "string", "enum": ["1", "true", "a"]}),
        ),
        (json!({"type": "integer", "enum": ["1", "2"]}), json!({"type": "integer", "enum": [1, 2]})),
        (json!({"type": "integer", "enum": ["a"]}), json!({"enum": ["a"]})),
        (
            json!({"type": "string", "enum": ["a", null]}),
            json!({"type": "string", "nullable": true, "enum": ["a"]}),
        ),
        (json!({"type": "string", "enum": []}), json!({"type": "string"})),
        (
            json!({"properties": {"a": {"type": "string"}}, "enum": [null]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        ),
        (json!({"items": true, "enum": [null]}), json!({"type": "array", "items": {}})),
        (json!({"items": true, "const": 1}), json!({"type": "array", "items": {}})),
        (
            json!({"items": {"type": "string"}, "enum": ["a"]}),
            json!({"type": "array", "items": {"type": "string", "enum": ["a"]}}),
        ),
        (json!({"items": true, "enum": [[1]]}), json!({"enum": [[1]], "type": "array", "items": {}})),
        (
            json!({"type": "integer", "minimum": "3", "maximum": [4]}),
            json!({"type": "integer", "minimum": 3}),
        ),
        (json!({"type": "integer", "minimum": 5, "maximum": 4}), json!({"type": "integer"})),
        (json!({"type": "string", "minLength": 5, "maxLength": 4}), json!({"type": "string"})),
        (
            json!({"type": "string", "maxLength": -1, "minLength": "2"}),
            json!({"type": "string", "minLength": 2}),
        ),
        (json!({"type": "number", "multipleOf": 0}), json!({"type": "number"})),
        (json!({"type": "string", "pattern": "("}), json!({"type": "string"})),
        (json!({"type": "string", "pattern": "/^a$/"}), json!({"type": "string", "pattern": "^a$"})),
        (json!({"type": "string", "pattern": "(?=a)"}), json!({"type": "string", "pattern": "(?=a)"})),
        (json!({"type": "integer", "pattern": "^1$"}), json!({"type": "integer"})),
        (json!({"oneOf": []}), json!({})),
        (json!({"oneOf": [{"type": "string"}, {}]}), json!({})),
        (json!({"type": "object", "properties": [1], "required": "a"}), json!({"type": "object"})),
        (
            json!({"properties": {"a": {"type": "string", "required": true}}, "required": ["b"]}),
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "string"}}}),
        ),
        (json!({"$ref": "#/components/schemas/Nowhere"}), json!({})),
        (json!("x"), json!({})),
    ];
    for (schema, expected) in rows {
        assert_eq!(plain(schema.clone()), expected, "{schema}");
    }
}

#[test]
fn objects_become_types_and_scalars_are_inlined() {
    let api = ApiFixture::schemas(json!({
        "issue": {"type": "object", "properties": {"state": {"$ref": "#/components/schemas/state"}, "parent": {"$ref": "#/components/schemas/issue"},
            "labels": {"$ref": "#/components/schemas/labels"}}},
        "state": {"type": "string", "enum": ["open", "closed"]},
        "labels": {"type": "array", "items": {"$ref": "#/components/schemas/label"}},
        "label": {"properties": {"name": {"type": "string"}}},
    }));
    let (schema, types, notes) =
        request(&api, &json!({"$ref": "#/components/schemas/issue", "description": "It."}));
    assert_eq!(schema, json!({"$ref": "#/types/Issue", "description": "It."}));
    assert_eq!(types.keys().collect::<Vec<_>>(), ["Issue", "Label"]);
    assert_eq!(
        types["Issue"],
        json!({"type": "object", "properties": {
            "state": {"type": "string", "enum": ["open", "closed"]},
            "parent": {"$ref": "#/types/Issue"},
            "labels": {"type": "array", "items": {"$ref": "#/types/Label"}},
        }})
    );
    assert!(notes.is_empty());
    assert_eq!(
        api.type_named("Issue").as_ref(),
        Some(&types["Issue"]),
        "the same type when asked for by name"
    );
    assert_eq!(api.type_named("Nothing"), None);
}

#[test]
fn fields_of_one_side_make_two_types() {
    let api = ApiFixture::schemas(json!({
        "user": {"properties": {"id": {"type": "integer", "readOnly": true}, "password": {"type": "string", "writeOnly": true}, "name": {"type": "string"}},
            "required": ["id", "name"]},
        "team": {"properties": {"lead": {"$ref": "#/components/schemas/user"}}},
        "tag": {"properties": {"name": {"type": "string"}}},
    }));
    let reference = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
    let (schema, types, _) = request(&api, &reference("team"));
    assert_eq!(schema, json!({"$ref": "#/types/TeamInput"}), "it reaches a type with two forms");
    assert_eq!(
        types["UserInput"],
        json!({"type": "object", "required": ["name"],
        "properties": {"password": {"type": "string"}, "name": {"type": "string"}}})
    );
    assert_eq!(api.type_named("UserInput").as_ref(), Some(&types["UserInput"]));
    let (schema, types, _) = written(&api, &reference("user"), Side::Answer);
    assert_eq!(schema, json!({"$ref": "#/types/User"}));
    assert_eq!(types["User"]["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "name"]);
    assert_eq!(request(&api, &reference("tag")).0, json!({"$ref": "#/types/Tag"}), "it has one form");
}

#[test]
fn parts_of_one_object_are_merged() {
    let api = ApiFixture::schemas(json!({
        "base": {"type": "object", "properties": {"id": {"type": "string"}, "kind": {"type": "string"}}, "required": ["id"], "additionalProperties": false},
        "loop": {"allOf": [{"$ref": "#/components/schemas/loop"}, {"properties": {"a": {"type": "string"}}}]},
    }));
    let base = json!({"$ref": "#/components/schemas/base"});
    let (schema, ..) = request(
        &api,
        &json!({"allOf": [base, {"properties": {"kind": {"const": "x"}, "n": {"type": "integer"}}, "required": ["n"]}]}),
    );
    assert_eq!(
        schema,
        json!({"type": "object", "required": ["id", "n"], "properties": {"id": {"type": "string"}, "kind": {"const": "x"}, "n": {"type": "integer"}}})
    );
    let (schema, ..) = request(&api, &json!({"allOf": [base], "description": "D", "nullable": true}));
    assert_eq!(schema, json!({"$ref": "#/types/Base", "description": "D", "nullable": true}));
    let (schema, types, _) = request(
        &api,
        &json!({"allOf": [base, {"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]}]}),
    );
    assert_eq!(schema["allOf"][0], json!({"$ref": "#/types/Base"}));
    assert!(types.contains_key("Base"));
    let (_, types, _) = request(&api, &json!({"$ref": "#/components/schemas/loop"}));
    assert_eq!(types["Loop"], json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    assert_eq!(
        plain(json!({"allOf": [{"type": "string"}, {"maxLength": 3}]})),
        json!({"allOf": [{"type": "string"}, {"maxLength": 3}]})
    );
}

#[test]
fn a_discriminator_is_required_and_distinguishes_variants() {
    let api = ApiFixture::schemas(json!({
        "cat": {"properties": {"kind": {"type": "string"}, "claws": {"type": "integer"}}},
        "dog": {"properties": {"kind": {"type": "string", "enum": ["dog"]}}},
        "pet": {"properties": {"kind": {"type": "string"}}, "discriminator": {"propertyName": "kind"}},
        "old": {"properties": {"kind": {"type": "string"}}, "discriminator": "kind"},
    }));
    let (schema, ..) = request(
        &api,
        &json!({
            "oneOf": [{"$ref": "#/components/schemas/cat"}, {"$ref": "#/components/schemas/dog"}],
            "discriminator": {"propertyName": "kind", "mapping": {"katze": "#/components/schemas/cat", "dog": "dog"}},
        }),
    );
    let tagged = json!({"type": "object", "properties": {"kind": {"const": "katze"}}, "required": ["kind"]});
    assert_eq!(
        schema["oneOf"],
        json!([{"allOf": [{"$ref": "#/types/Cat"}, tagged]}, {"$ref": "#/types/Dog"}])
    );
    for name in ["pet", "old"] {
        let (_, types, _) = request(&api, &json!({"$ref": format!("#/components/schemas/{name}")}));
        assert_eq!(types.values().next().unwrap()["required"], json!(["kind"]), "{name}");
    }
}

#[test]
fn keywords_beside_a_reference_count_since_3_1() {
    let schemas = json!({"a": {"properties": {"x": {"type": "string"}}}});
    let schema = json!({"$ref": "#/components/schemas/a", "required": ["x"], "description": "D"});
    let (old, ..) = request(&ApiFixture::schemas(schemas.clone()), &schema);
    assert_eq!(old, json!({"$ref": "#/types/A", "description": "D"}));
    let new = ApiFixture(json!({"openapi": "3.1.0", "components": {"schemas": schemas}}));
    let (schema, ..) = request(&new, &schema);
    assert_eq!(schema["allOf"][0], json!({"$ref": "#/types/A"}));
    assert_eq!(schema["allOf"][1]["required"], json!(["x"]));
}

#[test]
fn a_large_graph_of_types_is_written_out_only_near_the_request() {
    let mut schemas = serde_json::Map::new();
    for n in 0..40 {
        let next = json!({"$ref": format!("#/components/schemas/t{}", n + 1)});
        schemas.insert(format!("t{n}"), json!({"type": "object", "properties": {"next": next}}));
    }
    schemas.insert("t40".into(), json!({"type": "object"}));
    let api = ApiFixture::schemas(Value::Object(schemas));
    let (_, types, notes) = request(&api, &json!({"$ref": "#/components/schemas/t0"}));
    assert_eq!(types.len(), 7);
    assert_eq!(types["T5"]["properties"]["next"], json!({"$ref": "#/types/T6"}));
    assert_eq!(types["T6"], json!({"type": "object"}), "no content");
    assert_eq!(notes, ["types without content, because they are too far from the request: 1"]);
    let (_, types, notes) = written(&api, &json!({"$ref": "#/components/schemas/t0"}), Side::Answer);
    assert_eq!(types.len(), 2, "only the own type of an answer has content");
    assert_eq!(types["T1"], json!({"type": "object"}));
    assert!(notes.is_empty());
}

#[test]
fn wide_graphs_are_bounded_too() {
    let mut fields = serde_json::Map::new();
    let mut schemas = serde_json::Map::new();
    for n in 0..300 {
        fields.insert(format!("f{n}"), json!({"$ref": format!("#/components/schemas/t{n}")}));
        schemas.insert(format!("t{n}"), json!({"type": "object", "properties": {"a": {"type": "string"}}}));
    }
    schemas.insert("all".into(), json!({"type": "object", "properties": fields}));
    let (_, types, notes) =
        request(&ApiFixture::schemas(Value::Object(schemas)), &json!({"$ref": "#/components/schemas/all"}));
    assert_eq!(types.len(), 301);
    assert_eq!(types.values().filter(|body| body.get("properties").is_some()).count(), 200);
    assert_eq!(notes, ["types without content, because they are too far from the request: 101"]);
}
