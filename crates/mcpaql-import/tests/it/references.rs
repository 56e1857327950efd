//! References.

use crate::{Files, http, import, messages, operation, with_paths};
use mcpaql_core::library::Library;
use mcpaql_import::openapi::{ImportedApi, OpenApiImportOptions, open};
use serde_json::{Value, json};
use std::sync::Arc;

fn with_files<const N: usize>(document: &Value, files: [(&'static str, &'static str); N]) -> ImportedApi {
    open(document.to_string(), &OpenApiImportOptions::default(), Files::of(files)).expect("it opens")
}

#[test]
fn pointers_lead_anywhere_in_the_document() {
    let mut document = with_paths(
        json!({"/a/{b}": {"get": {"operationId": "get", "x-deep": [{"k~/y %": {"type": "null"}}]}}}),
    );
    document["components"] = json!({"schemas": {
        "Pet": {"type": "object", "properties": {"name": {"type": "string"}}},
        "Chain": {"$ref": "#/components/schemas/Link"},
        "Link": {"$ref": "#/components/schemas/Pet", "description": "kept out of the way"},
        "Odd name/with~signs": {"type": "integer"}
    }});
    let import = import(&document);
    let refs = import.library.refs();
    for (reference, value, pointer) in [
        (
            "#/components/schemas/Pet/properties/name",
            json!({"type": "string"}),
            "/components/schemas/Pet/properties/name",
        ),
        (
            "#/components/schemas/Chain",
            document["components"]["schemas"]["Pet"].clone(),
            "/components/schemas/Pet",
        ),
        (
            "#/components/schemas/Odd%20name~1with~0signs",
            json!({"type": "integer"}),
            "/components/schemas/Odd name~1with~0signs",
        ),
        (
            "#/paths/~1a~1%7Bb%7D/get/x-deep/0/k~0~1y%20%25",
            json!({"type": "null"}),
            "/paths/~1a~1{b}/get/x-deep/0/k~0~1y %",
        ),
        ("#/info/title", json!("Pets"), "/info/title"),
        ("Pet", document["components"]["schemas"]["Pet"].clone(), "/components/schemas/Pet"),
        ("#", document.clone(), ""),
    ] {
        let found = refs.resolve("", reference).unwrap_or_else(|| panic!("{reference} cannot be resolved"));
        assert_eq!(
            (&*found.value, found.pointer.as_str(), found.base.as_str()),
            (&value, pointer, ""),
            "{reference}"
        );
    }
}

#[test]
fn broken_and_cyclic_references_are_reported() {
    let mut document = with_paths(json!({"/a": {"get": {}}}));
    document["components"] = json!({"schemas": {
        "Self": {"$ref": "#/components/schemas/Self"},
        "Ping": {"$ref": "#/components/schemas/Pong"}, "Pong": {"$ref": "#/components/schemas/Ping"}
    }});
    let import = import(&document);
    for reference in [
        "#/components/schemas/Self",
        "#/components/schemas/Ping",
        "#/nowhere",
        "#anchor",
        "other.json#/a",
        "#/paths/~1a/get/x/0",
    ] {
        assert!(import.library.refs().resolve("", reference).is_none(), "{reference}");
    }
    let problems = import.library.problems();
    let reported = |text: &str| problems.iter().any(|problem| problem.message == text);
    assert!(
        reported("The reference '#/components/schemas/Self' cannot be resolved: it refers to itself"),
        "{problems:#?}"
    );
    assert!(
        reported("The reference 'other.json' cannot be resolved: other documents are not loaded"),
        "{problems:#?}"
    );
    assert!(
        reported("The reference '#/nowhere' cannot be resolved: its target does not exist"),
        "{problems:#?}"
    );
}

#[test]
fn references_go_through_other_files_and_back() {
    let document = with_paths(
        json!({"/pets": {"get": {"operationId": "list", "parameters": [{"$ref": "common.yaml#/Limit"}],
        "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"$ref": "./pet.json"}}}}}}}}),
    );
    let files = [
        (
            "common.yaml",
            "Limit:\n  name: limit\n  in: query\n  schema: {$ref: '#/Number'}\nNumber: {type: integer}\n",
        ),
        ("pet.json", r#"{"type": "object", "properties": {"tag": {"$ref": "common.yaml#/Number"}}}"#),
    ];
    let import = with_files(&document, files);
    let found = import.library.refs().resolve("pet.json", "common.yaml#/Limit").unwrap();
    assert_eq!((found.base.as_str(), found.pointer.as_str()), ("common.yaml", "/Limit"));
    let inner = import.library.refs().resolve("common.yaml", "#/Number").unwrap();
    assert_eq!(*inner.value, json!({"type": "integer"}));
    let whole = import.library.operation(0).unwrap();
    assert_eq!(whole.operation.params[0].name, "limit");
    assert!(whole.operation.returns.is_some());
}

#[test]
fn a_path_may_be_in_another_file() {
    let document = with_paths(json!({
        "/pets/{id}": {"$ref": "paths.yaml#/pet"},
        "/own": {"$ref": "paths.yaml#/own", "get": {"operationId": "mine"}},
        "/lost": {"$ref": "paths.yaml#/nothing"}
    }));
    let paths = "pet:\n  parameters: [{name: id, in: path, required: true, schema: {$ref: '#/Id'}}]\n  get: {operationId: getPet}\n\
                 own:\n  get: {operationId: theirs}\n  put: {operationId: put}\nId: {type: integer}\n";
    let import = with_files(&document, [("paths.yaml", paths)]);
    let ids: Vec<_> =
        import.adapter.operations.iter().filter_map(|operation| operation.source_id.as_deref()).collect();
    assert_eq!(ids, ["mine", "getPet", "put"]);
    let whole = import.library.operation(1).unwrap().operation;
    assert_eq!(whole.params[0].schema, json!({"type": "integer"}));
    assert_eq!(http(operation(&import, "put")).method, "PUT");
    assert!(messages(&import).iter().any(|message| message.contains("'/lost'")), "{:?}", messages(&import));
}

#[test]
fn a_path_that_refers_to_itself_ends() {
    let import =
        import(&with_paths(json!({"/a": {"$ref": "#/paths/~1a"}, "/b": {"get": {"operationId": "b"}}})));
    assert_eq!(import.adapter.operations.len(), 1);
}

#[test]
fn a_library_is_shared_between_threads() {
    let document =
        with_paths(json!({"/a": {"get": {"parameters": [{"$ref": "#/components/parameters/P"}]}}}));
    let mut document = document;
    document["components"] =
        json!({"parameters": {"P": {"name": "p", "in": "query", "schema": {"type": "string"}}}});
    let library: Arc<dyn Library> = import(&document).library;
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let library = library.clone();
            std::thread::spawn(move || {
                (0..50).all(|_| library.operation(0).is_some_and(|full| full.operation.params.len() == 1))
            })
        })
        .collect();
    assert!(readers.into_iter().all(|reader| reader.join().unwrap()));
}
