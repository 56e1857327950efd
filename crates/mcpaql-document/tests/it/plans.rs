//! Plans: a search answers with a batch if the question needs several operations.

use crate::library::{bare, operation, optional, required, shelved};
use crate::support::introspect;
use indexmap::IndexMap;
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::operation::{Category, Operation, Returns};
use serde_json::{Value, json};

fn returning(mut operation: Operation, schema: Value) -> Operation {
    operation.returns = Some(Returns { schema, description: String::new() });
    operation
}

fn integer_ids(mut operation: Operation) -> Operation {
    for param in operation.params.iter_mut().filter(|param| param.name.ends_with("_id")) {
        param.schema = json!({"type": "integer"});
    }
    operation
}

/// Films that are searched, and shelves and boxes that are only listed.
fn catalog(mode: Mode) -> Catalog {
    let read = |name: &str, path: &str| integer_ids(operation(name, Category::Read, path));
    let mut search = returning(
        read("search_films", "/search/films"),
        json!({"type": "object", "properties": {"page": {"type": "integer"}, "results": {"type": "array",
            "items": {"$ref": "#/types/Film"}}}}),
    );
    search.params.push(required("query", json!({"type": "string"})));
    let shelves = json!({"type": "array", "items": {"$ref": "#/types/Shelf"}});
    let mut boxes = returning(
        read("list_boxes", "/shelves/{shelf_id}/boxes"),
        json!({"type": "object", "properties": {"items": {"type": "array", "items": {"$ref": "#/types/Shelf"}}}}),
    );
    boxes.params.push(optional("filter", json!({"type": "string"})));
    let operations = vec![
        search,
        read("list_film_reviews", "/films/{film_id}/reviews"),
        integer_ids(operation("delete_film_poster", Category::Delete, "/films/{film_id}/poster")),
        returning(read("list_shelves", "/shelves"), shelves),
        boxes,
        read("list_box_contents", "/boxes/{box_id}/contents"),
        // Nothing says what its answer contains.
        read("list_drawers", "/drawers"),
        read("list_drawer_keys", "/drawers/{drawer_id}/keys"),
        // Each of these needs the other.
        returning(
            read("get_twin", "/others/{other_id}/twin"),
            json!({"properties": {"twin_id": {"type": "integer"}}}),
        ),
        returning(
            read("get_other", "/twins/{twin_id}/other"),
            json!({"properties": {"other_id": {"type": "integer"}}}),
        ),
    ];
    let film =
        json!({"type": "object", "properties": {"id": {"type": "integer"}, "title": {"type": "string"}}});
    let shelf =
        json!({"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}}});
    let types = IndexMap::from([("Film".to_owned(), film), ("Shelf".to_owned(), shelf)]);
    shelved(bare(), operations, types, &AdapterSettings { mode: Some(mode), ..AdapterSettings::default() }).0
}

fn plan(catalog: &Catalog, question: &str) -> Value {
    introspect(catalog, json!({"search": question})).0["plan"].clone()
}

#[test]
fn a_question_without_a_change_gets_no_plan_that_changes_something() {
    let catalog = catalog(Mode::Single);
    let last = |question: &str| {
        let plan = plan(&catalog, question);
        plan["operations"].as_array().and_then(|steps| steps.last()?["operation"].as_str().map(str::to_owned))
    };
    assert_eq!(last("delete the poster of the film Titanic").as_deref(), Some("delete_film_poster"));
    for question in ["poster of the film Titanic", "show the deleted poster of the film Titanic"] {
        assert_ne!(last(question).as_deref(), Some("delete_film_poster"), "{question}");
    }
}

#[test]
fn a_search_comes_before_the_operation_on_what_it_finds() {
    let catalog = catalog(Mode::Semantic);
    assert_eq!(
        plan(&catalog, "reviews of the film Titanic"),
        json!({"operations": [
            {"operation": "search_films", "params": {"query": "…"}},
            {"operation": "list_film_reviews", "params": {"film_id": {"$result": "0.data.results.0.id"}}},
        ]})
    );
}

#[test]
fn a_list_is_filtered_unless_any_item_will_do() {
    let catalog = catalog(Mode::Semantic);
    let step = |question: &str| plan(&catalog, question)["operations"][0].clone();
    assert_eq!(
        step("which boxes are on the shelf in the cellar"),
        json!({"operation": "list_shelves", "params": {"filter": {"name": {"contains": "…"}}}})
    );
    assert_eq!(step("which boxes are on the latest shelf"), json!({"operation": "list_shelves"}));
}

#[test]
fn a_chain_may_have_three_steps() {
    let plan = plan(&catalog(Mode::Semantic), "contents of the box with the winter clothes");
    let names: Vec<&str> = plan["operations"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| step["operation"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["list_shelves", "list_boxes", "list_box_contents"]);
    let [_, boxes, contents] = plan["operations"].as_array().unwrap().as_slice() else { panic!("{plan}") };
    assert_eq!(boxes["params"]["shelf_id"], json!({"$result": "0.data.0.id"}));
    assert_eq!(boxes["params"]["_filter"], json!({"name": {"contains": "…"}}), "it has a filter of its own");
    assert_eq!(contents["params"]["box_id"], json!({"$result": "1.data.items.0.id"}));
}

#[test]
fn a_plan_is_one_call_so_a_write_has_one_only_if_its_tool_takes_reads() {
    let question = "delete the poster of the film Titanic";
    for mode in [Mode::Single, Mode::All] {
        let plan = plan(&catalog(mode), question);
        let last = plan["operations"].as_array().and_then(|steps| steps.last().cloned()).unwrap_or_default();
        assert_eq!(last["operation"], "delete_film_poster", "{mode:?}: {plan}");
    }
    for mode in [Mode::Semantic, Mode::Discrete] {
        assert_eq!(plan(&catalog(mode), question), Value::Null, "{mode:?}");
    }
}

#[test]
fn there_is_no_plan_where_it_would_not_help() {
    let catalog = catalog(Mode::Semantic);
    for question in [
        "search films",
        "reviews of film 12",
        "reviews of the film #12",
        "reviews of this film",
        "list shelves",
        "keys of the drawer in the kitchen",
        "get the twin",
        "get the other",
        "",
    ] {
        assert_eq!(plan(&catalog, question), Value::Null, "{question}");
    }
}

#[test]
fn a_page_and_other_details_have_no_plan() {
    let catalog = catalog(Mode::Semantic);
    for params in [json!({"first": 2}), json!({"first": 20}), json!({"detail": "names"})] {
        let mut params = params;
        params["search"] = "reviews of the film Titanic".into();
        assert_eq!(introspect(&catalog, params.clone()).0.get("plan"), None, "{params}");
    }
}

#[test]
fn a_plan_stays_within_the_tokens_of_an_answer() {
    let answer =
        introspect(&catalog(Mode::Single), json!({"search": "contents of the box with the winter clothes"}))
            .0;
    let text = answer.to_string();
    let tokens = tiktoken_rs::o200k_base_singleton().encode_ordinary(&text).len();
    assert!(answer["plan"].is_object() && tokens <= 250, "{tokens} for {text}");
    assert!(answer["operations"].as_array().is_some_and(|hits| hits.len() >= 2), "{text}");
}
