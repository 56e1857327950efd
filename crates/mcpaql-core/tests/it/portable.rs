//! The catalog as data: what a runtime puts together from it is what is answered here.

use crate::support::{HEAD, catalog_of, document, introspect};
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{Catalog, Settings};
use mcpaql_core::check::check;
use mcpaql_core::introspect::PROTOCOL_TYPES;
use mcpaql_core::portable;
use mcpaql_core::source::Source;
use mcpaql_core::surface::Tool;
use serde_json::{Map, Value, json};

/// Everything that an operation may have.
const SMALL: &str = r##"display_name: Demo
tool_names: { aliases: { old_demo: read } }
auth: { type: bearer, token_env: DEMO_TOKEN }
types:
  Label:
    type: object
    required: [name]
    properties: { name: { type: string, pattern: '^\w+$' }, parent: { $ref: '#/types/Label' } }
operations:
  read:
    - { name: list_things, maps_to: GET /things, description: List things., returns: { type: array, items: { type: object, properties: { id: { type: string } } } } }
    - { name: get_thing, aliases: [show_thing], maps_to: 'GET /things/{thing_id}', params: { thing_id: { type: string, required: true } }, tags: [things], deprecated: Use list_things. }
  update:
    - name: change_thing
      maps_to: PATCH /things/{thing_id}
      params:
        thing_id: { type: string, required: true, from: [list_things] }
        labels: { type: array, items: { $ref: '#/types/Label' }, maxItems: 3 }
        per_page: { type: integer, minimum: 1, maximum: 100, as: per-page, in: query, default: 30 }
        secret: { type: string, sensitive: true, format: password, in: header }
"##;

fn example(name: &str, mode: Option<Mode>) -> Catalog {
    let path = format!("{}/../../examples/{name}-adapter.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("an example");
    catalog_of(&Source::new(path, text), &Settings { mode, ..Settings::default() })
}

fn small(settings: &Settings) -> Catalog {
    catalog_of(&document(SMALL), settings)
}

fn texts(value: &Value) -> Vec<&str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).collect()
}

fn asked(catalog: &Catalog, params: Value) -> Value {
    introspect(catalog, params).0
}

/// The full view of an operation, as a runtime puts it together.
fn full(data: &Value, operation: &Value) -> Value {
    let views = operation["params"].as_array().unwrap().iter().map(|number| {
        let number = usize::try_from(number.as_u64().unwrap()).unwrap();
        data["params"][number]["view"].clone()
    });
    let mut out = json!({
        "name": operation["name"],
        "semantic_category": operation["category"],
        "endpoint": operation["endpoint"],
        "mcpTool": operation["tool"],
        "description": operation["details"]["description"],
        "permissions": operation["details"]["permissions"],
        "parameters": views.collect::<Vec<_>>(),
    });
    let details = operation["details"].as_object().unwrap().clone();
    out.as_object_mut().unwrap().extend(details);
    out
}

#[test]
fn the_data_of_a_small_adapter() {
    let mut data = portable::catalog(&small(&Settings::default()));
    // What every adapter has, and what has tests of its own.
    for member in ["protocol", "limits", "tools"] {
        data[member] = Value::Null;
    }
    for list in ["/operations", "/types/all"] {
        let list = data.pointer_mut(list).unwrap().as_array_mut().unwrap();
        list.retain(|item| {
            let name = item.get("name").unwrap_or(&item["details"]["name"]).as_str().unwrap();
            name != "introspect" && !PROTOCOL_TYPES.contains(&name)
        });
    }
    insta::assert_json_snapshot!("small", data);
}

#[test]
fn the_same_catalog_gives_the_same_bytes() {
    for name in ["github-api", "notebook", "git"] {
        let [one, other] = [(); 2].map(|()| portable::catalog(&example(name, None)).to_string());
        assert!(one == other, "{name} differs from itself");
    }
    assert_eq!(portable::lexicon().to_string(), portable::lexicon().to_string());
}

#[test]
fn views_are_what_introspection_answers() {
    for (name, mode) in [("github-api", None), ("notebook", None), ("lightdash", Some(Mode::Discrete))] {
        let catalog = example(name, mode);
        let data = portable::catalog(&catalog);
        for operation in data["operations"].as_array().unwrap() {
            let ask = |detail: &str| {
                asked(&catalog, json!({"name": operation["name"], "detail": detail}))["operation"].clone()
            };
            let whole = full(&data, operation);
            assert_eq!(whole.to_string(), ask("full").to_string());
            assert_eq!(operation["details"]["signature"], ask("signature")["signature"]);
            assert_eq!(operation["summary"], ask("summary")["description"]);
        }
        let listed = asked(&catalog, json!({"detail": "signature", "first": 200}))["operations"].clone();
        let shown: Vec<Value> = data["operations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|operation| {
                let signature = operation.get("listed").unwrap_or(&operation["signature"]);
                json!({"name": operation["name"], "signature": signature})
            })
            .collect();
        assert_eq!(listed, Value::from(shown));
        let types =
            asked(&catalog, json!({"query": "types", "detail": "full", "first": 200}))["types"].clone();
        let known = data["types"]["all"].as_array().unwrap();
        let shown: Vec<Value> = known.iter().map(|known| known["details"].clone()).collect();
        assert_eq!(types, Value::from(shown));
        assert_eq!(data["types"]["listed"], known.len());
        assert_eq!(asked(&catalog, json!({}))["_protocol"], data["protocol"]);
    }
}

/// Every number in a node that stands for another.
fn led_to(node: &Value) -> Vec<u64> {
    let mut found = Vec::new();
    let mut all =
        |value: &Value| found.extend(value.as_array().into_iter().flatten().filter_map(Value::as_u64));
    all(&node["all"]);
    all(&node["array"]["prefix"]);
    node["choices"].as_array().into_iter().flatten().for_each(&mut all);
    for pairs in [&node["object"]["properties"], &node["object"]["patterns"]] {
        found.extend(pairs.as_array().into_iter().flatten().filter_map(|pair| pair[1].as_u64()));
    }
    let single = [&node["ref"], &node["not"], &node["array"]["items"], &node["object"]["additional"]];
    found.extend(single.into_iter().filter_map(Value::as_u64));
    found
}

#[test]
fn every_parameter_has_a_check_and_every_number_leads_somewhere() {
    for name in ["github-api", "notebook", "git", "firefly"] {
        let data = portable::catalog(&example(name, None));
        let length = |key: &str| data[key].as_array().unwrap().len() as u64;
        for operation in data["operations"].as_array().unwrap() {
            for number in operation["params"].as_array().unwrap() {
                assert!(number.as_u64().unwrap() < length("params"), "{operation}");
            }
        }
        for param in data["params"].as_array().unwrap() {
            assert!(param["check"].as_u64().unwrap() < length("schemas"), "{param}");
            assert_eq!(param["name"], param["view"]["name"]);
        }
        for node in data["schemas"].as_array().unwrap() {
            assert!(node.is_u64() || node["types"].is_u64(), "{node}");
            assert!(led_to(node).into_iter().all(|number| number < length("schemas")), "{node}");
            let pattern = &node["string"]["pattern"];
            assert!(pattern.as_u64().unwrap_or(0) < length("patterns") + 1, "{node}");
        }
        let searched = data["search"]["cards"].as_array().unwrap().len() as u64;
        assert_eq!(searched + 1, length("operations"), "introspect is not searched");
        assert_eq!(data["links"]["wanted"].as_array().unwrap().len() as u64, searched);
    }
}

#[test]
fn a_type_that_leads_to_itself_is_one_node() {
    let data = portable::catalog(&small(&Settings::default()));
    let cyclic = data["schemas"].as_array().unwrap().iter().enumerate().find_map(|(place, node)| {
        let pairs = node["object"]["properties"].as_array()?;
        let parent = pairs.iter().find(|pair| pair[0] == "parent")?[1].as_u64()?;
        Some((place as u64, parent))
    });
    let (place, parent) = cyclic.expect("the type Label");
    assert_eq!(data["schemas"][usize::try_from(parent).unwrap()]["ref"], place);
}

/// What a runtime does with a prefix that it finds when it starts.
fn prefixed(data: &Value, prefix: &str) -> Vec<Value> {
    let names = data["names"].as_object().unwrap();
    let under = |name: &Value| names[name.as_str().unwrap()].as_str().unwrap().replace("{prefix}", prefix);
    let home = &data["operations"].as_array().unwrap().last().unwrap()["tool"];
    let mut tools = data["tools"].as_array().unwrap().clone();
    for tool in &mut tools {
        tool["name"] = under(&tool["name"]).into();
        if home != "" {
            let [before, after] = [home.as_str().unwrap().to_owned(), under(home)]
                .map(|name| format!("introspect through {name}."));
            tool["description"] = tool["description"].as_str().unwrap().replace(&before, &after).into();
        }
    }
    tools
}

#[test]
fn a_prefix_changes_names_and_nothing_else() {
    for (name, prefix) in [("git", "some_much_longer_1_"), ("github-api", "gh_"), ("nextcloud", "x_")] {
        for mode in Mode::ALL {
            let data = portable::catalog(&example(name, Some(mode)));
            let path = format!("{}/../../examples/{name}-adapter.md", env!("CARGO_MANIFEST_DIR"));
            let source = Source::new(path.clone(), std::fs::read_to_string(path).unwrap());
            let settings =
                Settings { mode: Some(mode), prefix: Some(prefix.to_owned()), ..Settings::default() };
            let served = check(&source, &settings).catalog.expect("a legal prefix");
            let served: Vec<Value> = served.tools.iter().map(Tool::to_json).collect();
            assert_eq!(prefixed(&data, prefix), served, "{name} {mode:?}");
        }
    }
}

#[test]
fn an_alias_that_an_author_chose_stays_under_a_prefix() {
    let data = portable::catalog(&small(&Settings::default()));
    assert_eq!(data["routes"]["old_demo"], json!({"endpoint": "read", "renamed_to": "demo_mcpaql_read"}));
    assert!(data["names"].get("old_demo").is_none());
}

#[test]
fn a_name_that_is_cut_differently_under_a_prefix_is_not_foretold() {
    let long = "name: corporate-knowledge-management";
    let text = HEAD.replace("name: demo", long);
    let rest = "tool_names: { pattern: '{adapter}-{endpoint}' }\noperations:\n  read: [{ name: get_thing, maps_to: GET /things }]\n";
    let catalog = catalog_of(&Source::new("a.yaml", format!("{text}{rest}")), &Settings::default());
    let data = portable::catalog(&catalog);
    assert_eq!(data["names"], json!({"corporate_knowledge_management-read": null}));
}

#[test]
fn another_mode_differs_in_its_surface_alone() {
    let base = portable::catalog(&small(&Settings::default()));
    for mode in Mode::ALL {
        let catalog = small(&Settings { mode: Some(mode), ..Settings::default() });
        let other = portable::catalog(&catalog);
        let changes = portable::difference(&base, &other);
        assert_eq!(portable::mode_difference(&base, &catalog).to_string(), changes.to_string());
        let members: Vec<&str> = changes.as_object().unwrap().keys().map(String::as_str).collect();
        match mode {
            Mode::Semantic => assert!(members.is_empty(), "{members:?}"),
            Mode::All => assert!(!members.contains(&"operations"), "{members:?}"),
            Mode::Single | Mode::Discrete => {
                let operations = changes["operations"].as_object().unwrap();
                assert!(operations.values().all(|change| change.as_object().unwrap().keys().eq(["tool"])));
            }
        }
        assert_eq!(applied(base.clone(), &changes), other);
    }
}

/// What a runtime does where it is told to serve in another mode.
fn applied(mut base: Value, changes: &Value) -> Value {
    for (key, value) in changes.as_object().unwrap() {
        if key != "operations" {
            base[key] = value.clone();
            continue;
        }
        for (number, members) in value.as_object().unwrap() {
            let operation: &mut Map<String, Value> =
                base[key][number.parse::<usize>().unwrap()].as_object_mut().unwrap();
            for (member, value) in members.as_object().unwrap() {
                if value.is_null() {
                    operation.shift_remove(member);
                } else {
                    operation.insert(member.clone(), value.clone());
                }
            }
        }
    }
    base
}

#[test]
fn credentials_are_named_and_never_there() {
    let data = portable::catalog(&small(&Settings::default()));
    assert_eq!(data["target"]["auth"]["token_env"], "DEMO_TOKEN");
    let secret = data["params"].as_array().unwrap().iter().find(|param| param["name"] == "secret");
    assert_eq!(secret.unwrap()["sensitive"], true);
}

#[test]
fn another_server_is_told_with_how_it_is_reached_and_how_long_it_is_waited_for() {
    let text = r#"
name: far
type: adapter
version: "1.0.0"
description: Servers elsewhere
target: { transport: mcp, url: "https://${env:FAR_HOST}/mcp", headers: { X-Team: "${env:TEAM}" }, timeout: 5 }
auth: { type: bearer, token_env: FAR_TOKEN }
targets: { near: { url: "http://127.0.0.1:1/mcp" }, usual: {} }
default_target: usual
operations: { read: [{ name: look, description: Look around. }] }
"#;
    let data = portable::catalog(&catalog_of(&Source::new("far.yaml", text), &Settings::default()));
    let target = &data["target"];
    assert_eq!(target["protocol"], "mcp");
    let headers = json!({"X-Team": "${env:TEAM}"});
    let url = "https://${env:FAR_HOST}/mcp";
    assert_eq!(target["link"], json!({"url": url, "headers": headers, "allow_http": false}));
    let near = &target["alternatives"]["near"];
    assert_eq!(near["link"]["url"], "http://127.0.0.1:1/mcp");
    assert_eq!((&near["timeout_ms"], &near["auth"]["token_env"]), (&json!(5_000), &json!("FAR_TOKEN")));
    assert_eq!(target["default"], "usual");

    let text = r#"
name: near
type: adapter
version: "1.0.0"
description: A program
target: { transport: mcp, command: [server, --quiet], cwd: /srv, env: [HOME], set_env: { KEY: "${env:NEAR_KEY}" }, start: eager }
operations: { execute: [{ name: run_job, description: Run it., lifecycle: { keep: 60 } }] }
"#;
    let data = portable::catalog(&catalog_of(&Source::new("near.yaml", text), &Settings::default()));
    assert_eq!(
        data["target"],
        json!({
            "protocol": "mcp",
            "link": {
                "command": ["server", "--quiet"],
                "cwd": "/srv",
                "env": ["HOME"],
                "set_env": {"KEY": "${env:NEAR_KEY}"},
            },
            "caller_headers": [],
            "eager": true,
            "start_timeout_ms": 30_000,
            "timeout_ms": 60_000,
            "max_response_bytes": 10_485_760,
            "auth": null,
        })
    );
    let lifecycle = json!({"survives": false, "keep_seconds": 60, "timeout_ms": null});
    assert_eq!(data["operations"][0]["lifecycle"], lifecycle);
    let asking: Vec<&str> = data["operations"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|operation| operation.get("execution")?.as_str())
        .collect();
    assert_eq!(asking, ["get", "list", "cancel"]);
}

#[test]
fn the_lexicon_is_in_order() {
    let lexicon = portable::lexicon();
    for set in ["empty", "common", "light", "determiners", "questions", "particles"] {
        let words = texts(&lexicon[set]);
        assert!(!words.is_empty() && words.is_sorted(), "{set}");
    }
    assert_eq!(lexicon["verbs"]["creat"], 1, "a bit for each category");
    assert!(lexicon["alike"]["pull request"].is_array());
}
