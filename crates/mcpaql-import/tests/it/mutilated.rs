//! Damaged documents cause no panic.

use crate::Files;
use mcpaql_core::library::Library;
use mcpaql_import::openapi::{OpenApiImportOptions, open};
use proptest::prelude::*;
use serde_json::{Value, json};

fn whole() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {"title": "Shop", "version": "1.0.0", "description": "Sells <b>things</b>."},
        "servers": [{"url": "https://{region}.shop.example/v1", "variables": {"region": {"default": "eu"}}}],
        "security": [{"token": []}],
        "paths": {
            "/items/{id}": {
                "parameters": [{"$ref": "#/components/parameters/Id"}],
                "get": {"operationId": "items/get", "summary": "Get an item", "description": "One [item](x).", "tags": ["items"],
                    "responses": {"200": {"$ref": "#/components/responses/Item"}}},
                "put": {"operationId": "items/put", "deprecated": true, "security": [{"oauth": ["write"]}, {}],
                    "requestBody": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}},
                    "responses": {"default": {"description": "done"}}}
            },
            "/search": {"post": {"servers": [{"url": "/other"}], "callbacks": {"a": {}},
                "responses": {"200": {"content": {"application/json": {"schema": {"type": "array", "items": {"$ref": "other.json#/Thing"}}}}}}}},
            "/elsewhere": {"$ref": "other.json#/Path"}
        },
        "components": {
            "parameters": {"Id": {"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}},
            "responses": {"Item": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Item"}}}}},
            "schemas": {"Item": {"type": "object", "properties": {"parent": {"$ref": "#/components/schemas/Item"}, "kind": {"enum": ["a", "b"]}}}},
            "securitySchemes": {
                "token": {"type": "http", "scheme": "bearer"},
                "oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": "https://id.example/t", "scopes": {"write": "w"}}}}
            }
        }
    })
}

/// Imports a text and reads all its operations.
fn exhaust(text: String) {
    let files = Files::of([(
        "other.json",
        r##"{"Thing": {"$ref": "#/Thing"}, "Path": {"get": {"operationId": "x"}}}"##,
    )]);
    let Ok(import) = open(text, &OpenApiImportOptions::default(), files) else { return };
    let mut names: Vec<&str> =
        import.adapter.operations.iter().map(|operation| operation.name.as_str()).collect();
    for index in 0..names.len() + 1 {
        let _ = import.library.operation(index);
        let _ = import.library.outline(index);
    }
    for name in import.library.type_names() {
        let _ = import.library.type_named(&name);
    }
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count, "names are unique");
}

fn pointers(value: &Value, at: String, all: &mut Vec<String>) {
    all.push(at.clone());
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                pointers(value, format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), all);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                pointers(value, format!("{at}/{index}"), all);
            }
        }
        _ => {}
    }
}

fn odd_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        Just(json!(true)),
        Just(json!(-1.5)),
        Just(json!("")),
        Just(json!([])),
        Just(json!({})),
        Just(json!([null, {}, [1]])),
        Just(json!({"$ref": "#/components/schemas/Item"})),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": 5})),
        Just(json!({"type": ["object", 1], "properties": 3, "allOf": [{"$ref": "#/paths"}]})),
        "[{}/a-z%~#é]{0,12}".prop_map(Value::String),
    ]
}

proptest! {
    #[test]
    fn any_part_may_be_anything(changes in prop::collection::vec((any::<prop::sample::Index>(), odd_value()), 1..6)) {
        let mut document = whole();
        for (index, value) in changes {
            let mut all = Vec::new();
            pointers(&document, String::new(), &mut all);
            if let Some(place) = document.pointer_mut(all[index.index(all.len())].as_str()) {
                *place = value;
            }
        }
        exhaust(document.to_string());
    }

    #[test]
    fn any_text_may_be_cut_and_glued(start in 0usize..3000, length in 0usize..400, glue in "[\\[\\]{}\":,a\\\\0 \n]{0,6}") {
        let mut text = whole().to_string();
        let start = start.min(text.len());
        let end = (start + length).min(text.len());
        text.replace_range(text.floor_char_boundary(start)..text.floor_char_boundary(end), &glue);
        exhaust(text);
    }
}
