//! The content of `tools/list`: correct, within its budget, and deterministic.

use crate::generated::plans;
use crate::support::{catalog, catalog_of, document, tool, tool_names};
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::schema::SchemaSet;
use mcpaql_core::surface::{SEMANTIC_BUDGET, SINGLE_BUDGET, surface_cost};
use mcpaql_document::source::Source;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Texts that a popular gateway takes for shell syntax; it drops tools that contain them.
const DROPPED: [&str; 6] = [";", "&&", "||", "$(", "> ", "< "];

const TWO: &str = "operations:
  create: [{ name: create_note, maps_to: POST /notes, params: { text: { type: string, required: true, description: The text } } }]
  read: [{ name: get_note, maps_to: \"GET /notes/{id}\", params: { id: { type: integer, required: true } } }]
";

fn in_mode(rest: &str, mode: Mode) -> Catalog {
    catalog_of(&document(rest), &AdapterSettings { mode: Some(mode), ..AdapterSettings::default() })
}

#[test]
fn every_endpoint_describes_its_effect_and_names_introspect() {
    for mode in [Mode::Semantic, Mode::Single, Mode::All] {
        for tool in &in_mode(TWO, mode).tools {
            assert!(tool.description.contains("introspect"), "{}", tool.description);
        }
    }
    let catalog = in_mode(TWO, Mode::Semantic);
    assert_eq!(
        tool(&catalog, "demo_mcpaql_create").description,
        "Demo: Operations that add something new.

Supported operations:
create_note(text: string)

They leave existing data untouched.

Quick start:
{\"operation\":\"create_note\",\"params\":{\"text\":\"some text\"}}

Search operations in demo_mcpaql_read:
{\"operation\":\"introspect\",\"params\":{\"search\":\"words\"}}"
    );
    let single = in_mode(TWO, Mode::Single);
    for name in ["create_note", "get_note", "introspect"] {
        assert!(single.tools[0].description.contains(name), "{name}");
    }
}

#[test]
fn a_custom_family_shows_its_purpose() {
    let rest = format!(
        "{TWO}endpoints:
  look: {{ purpose: Find notes, title: Look Up, categories: [READ] }}
  write: {{ purpose: Write notes., categories: [CREATE] }}
"
    );
    let catalog = catalog(&rest);
    let look = tool(&catalog, "demo_mcpaql_look");
    assert_eq!(look.title, "Demo — Look Up");
    assert!(
        look.description.starts_with("Find notes.\n\nPrimary semantic categories: READ\n"),
        "{}",
        look.description
    );
    assert!(tool(&catalog, "demo_mcpaql_write").description.contains("demo_mcpaql_look"));
}

#[test]
fn an_empty_endpoint_registers_no_tool_except_the_one_with_introspect() {
    assert_eq!(tool_names(&in_mode(TWO, Mode::Semantic)), ["demo_mcpaql_create", "demo_mcpaql_read"]);
    let only_delete = "operations: { delete: [{ name: delete_a, maps_to: DELETE /a }] }\n";
    assert_eq!(tool_names(&catalog(only_delete)), ["demo_mcpaql_read", "demo_mcpaql_delete"]);
    assert_eq!(tool_names(&catalog("operations: { read: [] }\n")), ["demo_mcpaql_read"]);
    let families = format!(
        "{TWO}endpoints: {{ everything: {{ purpose: All, categories: [READ, CREATE] }}, nothing: {{ purpose: None, categories: [DELETE] }} }}\n"
    );
    assert_eq!(tool_names(&catalog(&families)), ["demo_mcpaql_everything"]);
}

#[test]
fn the_envelope_shows_the_operation_to_proxies() {
    let catalog = in_mode(TWO, Mode::All);
    for tool in &catalog.tools {
        let schema = &tool.input_schema;
        assert_eq!(schema["type"], "object");
        // A batch has no operation of its own.
        assert!(schema.get("required").is_none());
        assert_eq!(schema["properties"]["operations"]["type"], "array");
        assert_eq!(schema["properties"]["operation"]["x-mcp-header"], "Operation");
        assert_eq!(schema["properties"]["params"]["type"], "object");
        assert!(schema["properties"]["operation"].get("enum").is_none(), "off unless asked for");
    }
    let listed = AdapterSettings { operation_enum: Some(true), ..AdapterSettings::default() };
    let catalog = catalog_of(&document(TWO), &listed);
    let schema = &tool(&catalog, "demo_mcpaql_read").input_schema;
    assert_eq!(schema["properties"]["operation"]["enum"], json!(["get_note", "introspect"]));
}

/// An adapter as large as real ones, with names, parameters and tags that repeat like theirs.
fn large(count: usize) -> Source {
    let verbs = ["create", "get", "update", "delete", "run"];
    let nouns = ["issue", "pull_request", "repository", "workflow_run", "team_member", "deployment_status"];
    let mut operations: Map<String, Value> = Map::new();
    for index in 0..count {
        let kind = index % 5;
        let (endpoint, method) = [
            ("create", "POST"),
            ("read", "GET"),
            ("update", "PATCH"),
            ("delete", "DELETE"),
            ("execute", "POST"),
        ][kind];
        let noun = nouns[index / 5 % nouns.len()];
        let list = operations.entry(endpoint).or_insert_with(|| json!([]));
        list.as_array_mut().unwrap().push(json!({
            "name": format!("{}_{noun}_{index}", verbs[kind]),
            "maps_to": format!("{method} /repos/{{owner}}/{{repo}}/{noun}/{index}"),
            "description": "Something that an API of this size does to one of its many things",
            "tags": [format!("{noun} {}", index / 100)],
            "params": {
                "owner": {"type": "string", "required": true},
                "repo": {"type": "string", "required": true},
                "title": {"type": "string"},
                "state": {"type": "string", "enum": ["open", "closed", "all"]},
            },
        }));
    }
    let document = json!({
        "name": "large-api", "type": "adapter", "version": "1.0.0", "description": "Much",
        "target": {"base_url": "https://api.example.com"}, "operations": operations,
    });
    Source::new("large.json", document.to_string())
}

#[test]
fn the_surface_keeps_its_budget() {
    for count in [5, 50, 500, 5000] {
        let source = large(count);
        for (mode, budget) in [(Mode::Semantic, SEMANTIC_BUDGET), (Mode::Single, SINGLE_BUDGET)] {
            let catalog =
                catalog_of(&source, &AdapterSettings { mode: Some(mode), ..AdapterSettings::default() });
            assert!(
                surface_cost(&catalog) <= budget,
                "{count} operations cost {} in mode {mode:?}",
                surface_cost(&catalog)
            );
        }
    }
}

#[test]
fn the_surface_does_not_grow_with_the_number_of_operations() {
    for mode in [Mode::Semantic, Mode::Single] {
        let of = |count: usize| {
            surface_cost(&catalog_of(
                &large(count),
                &AdapterSettings { mode: Some(mode), ..AdapterSettings::default() },
            ))
        };
        // Ten times the operations: only the digits of the counts are longer.
        let (before, after) = (of(200), of(2000));
        assert!(after <= before + 80, "{mode:?}: {after} after {before}");
    }
}

#[test]
fn a_small_surface_shows_signatures_and_a_large_one_shows_counts() {
    let create = |source: &Source, budget: Option<usize>| {
        let catalog = catalog_of(source, &AdapterSettings { budget, ..AdapterSettings::default() });
        let tool = catalog.tools.iter().find(|tool| tool.name.ends_with("_create")).expect("there is one");
        tool.description.clone()
    };
    let small = create(&document(TWO), None);
    assert!(small.contains("create_note(text: string)"), "{small}");
    let named = create(&large(50), Some(1500));
    assert!(named.contains("create_issue_0, create_pull_request_5, "), "{named}");
    let counted = create(&large(500), None);
    assert!(counted.contains("Supported operations: 100 in "), "{counted}");
}

#[test]
fn a_larger_budget_shows_more() {
    let roomy = AdapterSettings { budget: Some(100_000), ..AdapterSettings::default() };
    let catalog = catalog_of(&large(50), &roomy);
    assert!(tool(&catalog, "large_api_mcpaql_create").description.contains("create_issue_0(owner: string"));
}

#[test]
fn the_surface_is_the_same_every_time() {
    let source = large(60);
    for mode in Mode::ALL {
        let list = || {
            let catalog =
                catalog_of(&source, &AdapterSettings { mode: Some(mode), ..AdapterSettings::default() });
            catalog.tools.iter().map(|tool| tool.to_json().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(list(), list(), "{mode:?}");
    }
}

const TYPED: &str = "mode: discrete
types:
  Author: { type: object, properties: { name: { type: string, required: true }, boss: { type: Author } } }
  Label: { type: object, properties: { name: { type: string }, author: { type: Author } } }
operations:
  create:
    - name: create_issue
      description: Open an issue
      maps_to: POST /issues
      params:
        title: { type: string, required: true, description: What it is about }
        labels: { type: array, items: { type: Label } }
        state: { type: string, enum: [open, closed], default: open }
        place: { type: object, properties: { city: { type: string, required: true } } }
";

#[test]
fn in_discrete_mode_a_tool_has_the_operation_s_own_schema() {
    let catalog = catalog(TYPED);
    let tool = tool(&catalog, "demo_create_issue");
    assert_eq!(tool.description, "Open an issue");
    assert_eq!(
        tool.input_schema,
        json!({
            "type": "object",
            "properties": {
                "title": {"type": "string", "description": "What it is about"},
                "labels": {"type": "array", "items": {"$ref": "#/$defs/Label"}},
                "state": {"type": "string", "enum": ["open", "closed"], "default": "open"},
                "place": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            },
            "required": ["title"],
            "additionalProperties": false,
            "$defs": {
                "Author": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "boss": {"$ref": "#/$defs/Author"}},
                    "required": ["name"],
                },
                "Label": {
                    "type": "object",
                    "properties": {"name": {"type": "string"}, "author": {"$ref": "#/$defs/Author"}},
                },
            },
        })
    );
}

/// Every reference leads to a definition of the same schema.
fn assert_self_contained(schema: &Value, root: &Value) {
    match schema {
        Value::Object(map) => {
            if let Some(target) = map.get("$ref").and_then(Value::as_str) {
                let pointer = target.strip_prefix('#').expect("no network references");
                assert!(root.pointer(pointer).is_some(), "{target} is not in {root}");
            }
            map.values().for_each(|value| assert_self_contained(value, root));
        }
        Value::Array(items) => items.iter().for_each(|item| assert_self_contained(item, root)),
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn our_templates_contain_nothing_that_a_gateway_drops(plan in plans(10)) {
        for mode in Mode::ALL {
            let checked = plan.check(&AdapterSettings { mode: Some(mode), ..AdapterSettings::default() });
            for tool in &checked.catalog.expect("generated adapters can be served").tools {
                for word in DROPPED {
                    prop_assert!(!tool.description.contains(word), "{word} in {}", tool.description);
                    prop_assert!(!tool.title.contains(word));
                }
            }
        }
    }

    #[test]
    fn every_schema_is_self_contained_and_valid(plan in plans(6)) {
        let checked = plan.check(&AdapterSettings { mode: Some(Mode::Discrete), ..AdapterSettings::default() });
        for tool in &checked.catalog.expect("generated adapters can be served").tools {
            let schema = &tool.input_schema;
            prop_assert_eq!(&schema["type"], "object");
            assert_self_contained(schema, schema);
            let local = schema.to_string().replace("#/$defs/", "#/types/");
            let mut local: Value = serde_json::from_str(&local).expect("still JSON");
            let types = match local.as_object_mut().and_then(|root| root.remove("$defs")) {
                Some(Value::Object(types)) => types.into_iter().collect(),
                _ => indexmap::IndexMap::new(),
            };
            let (mut schemas, problems) = SchemaSet::compile(&types);
            prop_assert_eq!(problems, []);
            prop_assert_eq!(schemas.add(&local, "").1, []);
        }
    }

    #[test]
    fn every_operation_is_reached_through_the_tool_that_names_it(plan in plans(10)) {
        for mode in Mode::ALL {
            let checked = plan.check(&AdapterSettings { mode: Some(mode), ..AdapterSettings::default() });
            let catalog = checked.catalog.expect("generated adapters can be served");
            for entry in catalog.operations.iter().filter(|entry| !entry.tool.is_empty()) {
                prop_assert!(catalog.tools.iter().any(|tool| tool.name == entry.tool), "{}", entry.tool);
            }
        }
    }
}
