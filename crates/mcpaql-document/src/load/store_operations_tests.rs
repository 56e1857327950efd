//! The operations of a resource, as clients see them.

use super::*;
use mcpaql_core::facts::{Effect, Repeat};
use mcpaql_core::operation::Danger;

fn resource(fields: Value, required: &[&str]) -> Resource {
    let Value::Object(fields) = fields else { panic!("fields are an object") };
    Resource {
        description: "A thing worth keeping.".into(),
        plural: "notes".into(),
        fields: fields.into_iter().collect::<IndexMap<_, _>>(),
        required: required.iter().map(|&name| name.to_owned()).collect(),
        search: Vec::new(),
        hide: Default::default(),
        declared: None,
    }
}

fn note() -> Vec<Operation> {
    let fields = json!({
        "title": {"type": "string", "maxLength": 200, "description": "Headline."},
        "body": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "status": {"type": "string", "enum": ["open", "done"], "default": "open"},
    });
    operations("note", &resource(fields, &["title"]))
}

fn named<'a>(operations: &'a [Operation], name: &str) -> &'a Operation {
    operations.iter().find(|operation| operation.name == name).expect(name)
}

fn param_names(operation: &Operation) -> Vec<&str> {
    operation.params.iter().map(|param| param.name.as_str()).collect()
}

#[test]
fn a_resource_has_six_operations_with_titles_categories_and_danger() {
    let shown: Vec<_> = note()
        .iter()
        .map(|op| (op.name.clone(), op.title.clone(), op.category, op.endpoint.clone(), op.danger))
        .collect();
    let row = |name: &str, title: &str, category: Category, danger| {
        (name.to_owned(), title.to_owned(), category, category.endpoint().to_owned(), danger)
    };
    assert_eq!(
        shown,
        [
            row("create_note", "Create Note", Category::Create, Danger::Reversible),
            row("get_note", "Get Note", Category::Read, Danger::Safe),
            row("list_notes", "List Notes", Category::Read, Danger::Safe),
            row("search_notes", "Search Notes", Category::Read, Danger::Safe),
            row("update_note", "Update Note", Category::Update, Danger::Reversible),
            row("delete_note", "Delete Note", Category::Delete, Danger::Destructive),
        ]
    );
}

#[test]
fn each_operation_has_the_parameters_of_its_action() {
    let ops = note();
    assert_eq!(param_names(named(&ops, "create_note")), ["title", "body", "tags", "status"]);
    assert_eq!(param_names(named(&ops, "get_note")), ["id"]);
    assert_eq!(
        param_names(named(&ops, "list_notes")),
        ["title", "body", "status", "first", "after"],
        "an array cannot be compared"
    );
    assert_eq!(param_names(named(&ops, "search_notes")), ["query", "first", "after"]);
    assert_eq!(
        param_names(named(&ops, "update_note")),
        ["id", "input", "if_match", "title", "body", "tags", "status"]
    );
    assert_eq!(param_names(named(&ops, "delete_note")), ["id", "if_match"]);
}

#[test]
fn a_default_fills_new_records_and_never_a_filter_or_a_change() {
    let ops = note();
    let status = |name| named(&ops, name).param("status").expect("status").clone();
    assert_eq!(status("create_note").default, Some(json!("open")));
    for name in ["list_notes", "update_note"] {
        assert_eq!(status(name).default, None, "{name}");
        assert_eq!(status(name).schema.get("default"), None, "{name}");
    }
}

#[test]
fn an_update_may_null_optional_fields_only() {
    let ops = note();
    let update = named(&ops, "update_note");
    let schema = |name| update.param(name).expect("declared").schema.clone();
    assert_eq!(schema("title"), json!({"type": "string", "maxLength": 200}));
    assert_eq!(schema("body"), json!({"type": ["string", "null"]}));
    assert_eq!(
        schema("status"),
        json!({"anyOf": [{"type": "string", "enum": ["open", "done"]}, {"type": "null"}]})
    );
    let input = schema("input");
    assert_eq!(input["additionalProperties"], json!(false));
    assert_eq!(input["properties"]["title"]["description"], json!("Headline."));
}

#[test]
fn an_update_may_give_any_part_of_an_object() {
    let fields = json!({"place": {
        "type": "object",
        "required": ["city"],
        "properties": {"city": {"type": "string"}, "street": {"type": "string", "default": "Main"}},
    }});
    let ops = operations("note", &resource(fields, &["place"]));
    assert_eq!(
        named(&ops, "update_note").param("place").expect("place").schema,
        json!({
            "type": "object",
            "properties": {"city": {"type": "string"}, "street": {"type": ["string", "null"]}},
        })
    );
    let created = &named(&ops, "create_note").param("place").expect("place").schema;
    assert_eq!(created["required"], json!(["city"]), "a new record is complete");
}

#[test]
fn descriptions_of_fields_stand_beside_the_schema() {
    let ops = note();
    let title = named(&ops, "create_note").param("title").expect("title");
    assert_eq!((title.description.as_str(), title.required), ("Headline.", true));
    assert_eq!(title.schema, json!({"type": "string", "maxLength": 200}));
}

#[test]
fn a_field_never_shadows_a_parameter_that_controls_the_call() {
    let fields = json!({
        "first": {"type": "integer"}, "after": {"type": "string"}, "input": {"type": "string"},
        "if_match": {"type": "string"}, "query": {"type": "string"},
    });
    let ops = operations("odd", &resource(fields, &[]));
    for op in &ops {
        let mut names = param_names(op);
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), op.params.len(), "{}", op.name);
    }
    assert_eq!(named(&ops, "update_odd").param("input").expect("input").schema["type"], json!("object"));
}

#[test]
fn facts_say_what_a_repeat_does() {
    let ops = note();
    let facts = |name| named(&ops, name).facts;
    assert_eq!(facts("create_note").repeat, Repeat::Accumulates);
    assert_eq!(facts("update_note").repeat, Repeat::NoEffect);
    assert_eq!(facts("delete_note").repeat, Repeat::FailsWithoutEffect);
    assert_eq!(facts("list_notes").effect, Effect::Read);
    assert!(ops.iter().all(|op| op.facts.reach == Reach::Process));
}

#[test]
fn every_operation_shows_one_example_of_declared_parameters() {
    for op in note() {
        assert_eq!(op.examples.len(), 1, "{}", op.name);
        for name in op.examples[0].params.keys() {
            assert!(op.param(name).is_some(), "{}: {name}", op.name);
        }
        for param in op.params.iter().filter(|param| param.required) {
            assert!(op.examples[0].params.contains_key(&param.name), "{}: {}", op.name, param.name);
        }
    }
}

#[test]
fn a_required_field_without_a_sample_leaves_the_example_out() {
    let fields = json!({"code": {"type": "string", "minLength": 5000}});
    let ops = operations("note", &resource(fields, &["code"]));
    assert!(named(&ops, "create_note").examples.is_empty());
}

#[test]
fn descriptions_hold_nothing_that_gateways_drop() {
    for op in note() {
        let texts = op.params.iter().map(|param| &param.description).chain([&op.description]);
        for text in texts {
            assert!(!text.contains(';') && !text.contains("&&"), "{text}");
        }
    }
}

#[test]
fn search_reads_the_declared_fields_or_every_text() {
    let mut resource = resource(json!({"a": {"type": "string"}, "n": {"type": "integer"}}), &[]);
    assert_eq!(search_fields(&resource), ["a"]);
    resource.search = vec!["n".into()];
    assert_eq!(search_fields(&resource), ["n"]);
}
