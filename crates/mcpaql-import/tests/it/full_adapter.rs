//! Reading all operations at once gives the same as reading each alone.

use super::import;
use indexmap::IndexMap;
use mcpaql_import::openapi::full_adapter;
use serde_json::{Value, json};

/// Returns a document with a chain of types that is too long for the first operation, with a mistake in each type. One operation
/// has an example and therefore its own types.
fn chained() -> Value {
    let schemas: serde_json::Map<String, Value> = (0..12)
        .map(|n| {
            let next = json!({"$ref": format!("#/components/schemas/Link{}", (n + 1) % 12)});
            let fields = json!({
                "id": {"type": "string", "readOnly": n == 3},
                "odd": {"type": "string", "pattern": "("},
                "next": next,
                "all": {"type": "array", "items": {"$ref": format!("#/components/schemas/Link{}", (n + 5) % 12)}},
            });
            (format!("Link{n}"), json!({"type": "object", "properties": fields}))
        })
        .collect();
    let body = |n: usize| {
        let schema = json!({"$ref": format!("#/components/schemas/Link{n}")});
        json!({"content": {"application/json": {"schema": {"type": "object", "properties": {"link": schema}}}}})
    };
    let operation = |n: usize| {
        json!({"requestBody": body(n), "responses": {"200": {"description": "", "content": {"application/json": {
            "schema": {"$ref": format!("#/components/schemas/Link{}", (n * 7) % 12)}}}}}})
    };
    let mut paths: serde_json::Map<String, Value> =
        (0..6).map(|n| (format!("/things{n}"), json!({"post": operation(n * 2)}))).collect();
    paths["/things3"]["post"]["requestBody"]["content"]["application/json"]["example"] =
        json!({"link": {"id": "x"}});
    json!({
        "openapi": "3.0.3", "info": {"title": "Chains", "version": "1"}, "servers": [{"url": "https://a.example.com"}],
        "paths": paths, "components": {"schemas": schemas},
    })
}

#[test]
fn shared_types_are_the_same_as_those_of_each_operation() {
    let import = import(&chained());
    let all = full_adapter(&import);
    let mut types: IndexMap<String, Value> = IndexMap::new();
    let mut examples = 0;
    for index in 0..import.adapter.operations.len() {
        let (full, notes) = import.library.read(index).unwrap();
        let name = &full.operation.name;
        let shared = all.adapter.operations.iter().find(|operation| operation.name == *name).unwrap();
        assert_eq!(
            shared.params.iter().map(|param| &param.schema).collect::<Vec<_>>(),
            full.operation.params.iter().map(|param| &param.schema).collect::<Vec<_>>()
        );
        assert_eq!(shared.examples, full.operation.examples);
        assert_eq!(all.notes.get(name), Some(&notes), "{name}");
        examples += shared.examples.len();
        for (name, body) in full.types {
            // A type without content is shorter.
            let known = types.entry(name).or_insert_with(|| body.clone());
            if body.to_string().len() > known.to_string().len() {
                *known = body;
            }
        }
    }
    types.sort_unstable_keys();
    assert_eq!(json!(all.adapter.types), json!(types));
    assert_eq!(examples, 1);
    assert!(types.contains_key("Link3Input"), "{:?}", types.keys());
}
