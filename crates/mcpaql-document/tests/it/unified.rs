//! All adapters behind the same tools.

use mcpaql_core::catalog::{AdapterSettings, Catalog, Sharing, Tool};
use mcpaql_core::response::envelope;
use mcpaql_core::surface::{SEMANTIC_BUDGET, SINGLE_BUDGET};
use mcpaql_core::unified::{Unified, UnifiedRoute};
use mcpaql_document::check::check;
use mcpaql_document::source::Source;
use serde_json::{Map, Value, json};

/// An adapter whose operations are `verb_noun` for the given words.
fn catalog(name: &str, operations: &[(&str, &str)], single: bool) -> Catalog {
    let mut text = format!(
        "name: {name}\ntype: adapter\nversion: 1.0.0\ndescription: The {name} service. It has things.\n\
         target: {{base_url: 'https://{name}.example.com'}}\noperations:\n"
    );
    for category in ["create", "read", "update", "delete", "execute"] {
        let own: Vec<_> = operations.iter().filter(|(_, of)| *of == category).collect();
        if own.is_empty() {
            continue;
        }
        text.push_str(&format!("  {category}:\n"));
        for (operation, _) in own {
            let method = match category {
                "read" => "GET",
                "delete" => "DELETE",
                "update" => "PATCH",
                _ => "POST",
            };
            text.push_str(&format!(
                "    - name: {operation}\n      maps_to: {method} /{operation}\n      description: Does {operation}.\n      \
                 params: {{thing: {{type: string, required: true}}}}\n"
            ));
        }
    }
    let settings = AdapterSettings { sharing: Some(sharing(single)), ..AdapterSettings::default() };
    check(&Source::new("test.yaml", text), &settings).catalog.expect("a catalog")
}

fn sharing(single: bool) -> Sharing {
    if single { Sharing::One } else { Sharing::Five }
}

fn two(single: bool) -> Vec<Catalog> {
    vec![
        catalog("shop", &[("list_orders", "read"), ("get_item", "read"), ("create_order", "create")], single),
        catalog(
            "mail",
            &[("list_messages", "read"), ("get_item", "read"), ("delete_message", "delete")],
            single,
        ),
    ]
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn answered(routed: UnifiedRoute) -> Value {
    match routed {
        UnifiedRoute::Answered(outcome) => {
            serde_json::from_str(&envelope(&outcome, Default::default()).text).expect("an envelope")
        }
        UnifiedRoute::Adapter(position, _) => panic!("went to {position}"),
    }
}

#[test]
fn the_tools_are_those_of_all_adapters_together() {
    let catalogs = two(false);
    let catalogs: Vec<&Catalog> = catalogs.iter().collect();
    let unified = Unified::new(&catalogs, sharing(false), None);
    let names: Vec<&str> = unified.tools().iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["mcpaql_create", "mcpaql_read", "mcpaql_delete"]);
    let read = &unified.tools()[1];
    assert!(read.hints.effective().read_only && !read.hints.effective().destructive);
    assert!(read.description.contains("shop (2), mail (2)"), "{}", read.description);
    assert!(unified.tools()[2].hints.effective().destructive);
    assert!(read.input_schema["properties"]["adapter"].is_object());
}

#[test]
fn a_call_goes_to_the_adapter_it_names_or_to_the_only_one_that_has_the_operation() {
    let catalogs = two(false);
    let catalogs: Vec<&Catalog> = catalogs.iter().collect();
    let unified = Unified::new(&catalogs, sharing(false), None);
    let go = |tool: &str, arguments: Value| unified.route(&catalogs, tool, object(arguments));
    for (arguments, expected) in [
        (json!({"adapter": "mail", "operation": "get_item", "params": {"thing": "a"}}), 1),
        (json!({"operation": "list_orders", "params": {"thing": "a"}}), 0),
        (json!({"operation": "list_messages"}), 1),
        (json!({"adapter": "shop", "operation": "introspect"}), 0),
    ] {
        match go("mcpaql_read", arguments.clone()) {
            Some(UnifiedRoute::Adapter(position, rest)) => {
                assert_eq!(position, expected, "{arguments}");
                assert!(!rest.contains_key("adapter"));
            }
            other => panic!("{arguments}: {other:?}"),
        }
    }
    assert!(
        go("mcpaql_execute", json!({"operation": "list_orders"})).is_none(),
        "no adapter has execute operations"
    );
}

#[test]
fn a_call_that_cannot_be_routed_is_refused_with_advice() {
    let catalogs = two(false);
    let catalogs: Vec<&Catalog> = catalogs.iter().collect();
    let unified = Unified::new(&catalogs, sharing(false), None);
    let fails = |tool: &str, arguments: Value| {
        answered(unified.route(&catalogs, tool, object(arguments)).expect("a tool"))["error"].take()
    };
    let several = fails("mcpaql_read", json!({"operation": "get_item", "params": {"thing": "a"}}));
    assert_eq!(several["code"], "VALIDATION_MISSING_PARAM");
    assert_eq!(several["details"]["adapters"], json!(["shop", "mail"]));
    let unknown = fails("mcpaql_read", json!({"adapter": "mial", "operation": "list_messages"}));
    assert!(unknown["message"].as_str().unwrap().contains("'mail'"), "{unknown}");
    let operation = fails("mcpaql_read", json!({"operation": "list_mesages"}));
    assert_eq!(operation["code"], "NOT_FOUND_OPERATION");
    assert_eq!(operation["details"]["suggestions"][0], "list_messages");
    let misplaced = fails("mcpaql_delete", json!({"adapter": "shop", "operation": "create_order"}));
    assert_eq!(misplaced["code"], "VALIDATION_ENDPOINT_MISMATCH");
    assert_eq!(misplaced["details"]["expected_tool"], "mcpaql_create");
    for arguments in [json!({}), json!({"adapter": 5, "operation": "x"}), json!({"adapter": null})] {
        assert!(fails("mcpaql_read", arguments)["code"].is_string());
    }
}

#[test]
fn discovery_covers_everything_until_an_adapter_is_named() {
    let catalogs = two(false);
    let catalogs: Vec<&Catalog> = catalogs.iter().collect();
    let unified = Unified::new(&catalogs, sharing(false), None);
    let ask = |params: Value| {
        let arguments = object(json!({"operation": "introspect", "params": params}));
        answered(unified.route(&catalogs, "mcpaql_read", arguments).expect("a tool"))
    };
    let all = ask(json!({}));
    assert_eq!(all["data"]["adapters"][1]["name"], "mail");
    assert_eq!(all["data"]["adapters"][1]["operations"], json!({"read": 2, "delete": 1}));
    assert_eq!(all["data"]["adapters"][0]["description"], "The shop service");
    let found = ask(json!({"search": "remove a message"}));
    assert_eq!(found["data"]["operations"][0]["adapter"], "mail");
    assert_eq!(found["data"]["operations"][0]["name"], "delete_message");
    assert!(found["data"]["operations"][0]["signature"].as_str().unwrap().contains("thing: string"));
    let by_adapter = ask(json!({"search": "item of the mail"}));
    assert_eq!(by_adapter["data"]["operations"][0]["adapter"], "mail");
    let one = ask(json!({"name": "create_order"}));
    assert_eq!(one["data"]["operation"]["adapter"], "shop");
    assert_eq!(one["data"]["operation"]["mcpTool"], "mcpaql_create");
    let ambiguous = ask(json!({"name": "get_item"}));
    assert_eq!(ambiguous["data"]["operation"], Value::Null);
    assert!(ambiguous["warnings"][0]["message"].as_str().unwrap().contains("shop, mail"));
    assert_eq!(ask(json!({"name": "nothing_like_it"}))["data"]["operation"], Value::Null);
    assert_eq!(ask(json!({"tag": "x"}))["success"], false);
    assert_eq!(ask(json!({"query": "types"}))["success"], false);
    assert_eq!(ask(json!({"nonsense": 1}))["error"]["code"], "VALIDATION_UNKNOWN_PARAM");
}

#[test]
fn the_surface_does_not_grow_with_the_number_of_adapters() {
    for (single, budget) in [(false, SEMANTIC_BUDGET), (true, SINGLE_BUDGET)] {
        let every = [
            ("create_thing", "create"),
            ("list_things", "read"),
            ("update_thing", "update"),
            ("delete_thing", "delete"),
            ("run_thing", "execute"),
        ];
        let tokens = tiktoken_rs::o200k_base_singleton();
        let cost = |tools: &[Tool]| {
            tools.iter().map(|tool| tokens.encode_ordinary(&tool.to_json().to_string()).len()).sum::<usize>()
        };
        for count in [1, 40, 200] {
            let catalogs: Vec<Catalog> = (0..count)
                .map(|number| catalog(&format!("service-with-a-long-name-{number}"), &every, single))
                .collect();
            let catalogs: Vec<&Catalog> = catalogs.iter().collect();
            let unified = Unified::new(&catalogs, sharing(single), None);
            assert_eq!(unified.tools().len(), if single { 1 } else { 5 });
            assert!(cost(unified.tools()) <= budget, "{count}: {}", cost(unified.tools()));
        }
    }
}

#[test]
fn one_tool_accepts_all_calls() {
    let catalogs = two(true);
    let catalogs: Vec<&Catalog> = catalogs.iter().collect();
    let unified = Unified::new(&catalogs, sharing(true), None);
    assert_eq!(unified.tools()[0].name, "mcpaql");
    let arguments = object(json!({"operation": "delete_message", "params": {"thing": "a"}}));
    assert!(matches!(unified.route(&catalogs, "mcpaql", arguments), Some(UnifiedRoute::Adapter(1, _))));
}
