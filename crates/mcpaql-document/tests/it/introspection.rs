//! Introspection: what an agent can look up, and that it agrees with validation.

use crate::generated::plans;
use crate::support::{catalog, catalog_of, details, document, full_details, introspect, object, tool};
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::error::Code;
use mcpaql_core::request;
use mcpaql_core::shape::{CONTROLS, control_of};
use proptest::prelude::*;
use serde_json::{Value, json};

fn issues() -> Catalog {
    catalog(
        "display_name: Issues
types:
  Label: { type: object, description: A label, properties: { name: { type: string, required: true }, color: { type: string } } }
  State: { type: string, enum: [open, closed] }
operations:
  create:
    - name: create_issue
      maps_to: POST /issues
      description: Open an issue. It is assigned to nobody.
      tags: [issues]
      danger: reversible
      aliases: [new_issue]
      params:
        title: { type: string, required: true, maxLength: 80, description: What it is about }
        labels: { type: array, items: { type: Label } }
        owner: { type: object, properties: { team: { type: string, required: true }, lead: { type: string, format: email } } }
        notify: { oneOf: [{ type: string, minLength: 3 }, { type: boolean }] }
        key: { type: string, sensitive: true }
      returns: { type: Label }
  read:
    - name: list_issues
      maps_to: GET /issues
      params: { state: { type: State, default: open }, per_page: { type: integer, minimum: 1, maximum: 100, default: 20 } }
      deprecated: Use search_issues instead.
    - name: search_issues
      maps_to: GET /search
      params: { text: { type: string, required: true } }
      examples: [{ description: Crashes, params: { text: crash } }]
",
    )
}

#[test]
fn the_list_has_every_operation_with_category_endpoint_and_first_sentence() {
    let (data, warnings) = introspect(&issues(), json!({"query": "operations"}));
    assert_eq!(warnings, [] as [&str; 0]);
    assert_eq!(
        data["operations"],
        json!([
            {"name": "create_issue", "semantic_category": "CREATE", "endpoint": "create", "description": "Open an issue"},
            {"name": "list_issues", "semantic_category": "READ", "endpoint": "read", "description": "List Issues"},
            {"name": "search_issues", "semantic_category": "READ", "endpoint": "read", "description": "Search Issues"},
            {"name": "introspect", "semantic_category": "READ", "endpoint": "read",
             "description": "Discover the operations and types of this adapter."},
        ])
    );
}

#[test]
fn the_list_describes_the_adapter_and_its_limits() {
    let (data, _) = introspect(&issues(), json!({}));
    let protocol = &data["_protocol"];
    for (key, expected) in [
        ("version", json!("1.0.0-draft")),
        ("conformance", json!("level-2")),
        ("mode", json!("semantic")),
        ("profile", json!("crude")),
        ("adapter", json!("demo")),
        ("display_name", json!("Issues")),
        ("concurrency", json!("fully-concurrent")),
        ("supports_etag", json!(false)),
    ] {
        assert_eq!(protocol[key], expected, "{key}");
    }
    assert_eq!(
        protocol["limits"],
        json!({
            "max_request_size": 1 << 20,
            "max_response_size": 10 << 20,
            "max_string_length": 1 << 20,
            "max_array_elements": 10_000,
            "max_nesting_depth": 32,
        })
    );
    assert!(object(protocol["capabilities"].clone()).values().all(Value::is_boolean));
    assert_eq!(protocol["capabilities"]["pagination"], true);
}

#[test]
fn mode_and_profile_are_those_in_use() {
    let rest = "profile: explorer
endpoints: { query: { purpose: Ask, categories: [READ] } }
operations: { read: [{ name: get_a, maps_to: GET /a }] }
";
    let source = crate::support::document(rest);
    let catalog =
        catalog_of(&source, &AdapterSettings { mode: Some(Mode::All), ..AdapterSettings::default() });
    let (data, _) = introspect(&catalog, json!({}));
    assert_eq!(data["_protocol"]["mode"], "all");
    assert_eq!(data["_protocol"]["profile"], "explorer");
    assert_eq!(data["operations"][0]["endpoint"], "query");
    assert_eq!(details(&catalog, "get_a")["mcpTool"], "demo_mcpaql_query");
}

#[test]
fn one_name_returns_all_details() {
    let operation = details(&issues(), "create_issue");
    assert_eq!(
        operation,
        json!({
            "name": "create_issue",
            "semantic_category": "CREATE",
            "endpoint": "create",
            "mcpTool": "demo_mcpaql_create",
            "description": "Open an issue. It is assigned to nobody.",
            "permissions": {"readOnly": false, "destructive": false},
            "parameters": [
                {"name": "title", "type": "string", "required": true, "maxLength": 80, "description": "What it is about"},
                {"name": "labels", "type": "array", "required": false, "items": {"type": "Label"}},
                {"name": "owner", "type": "CreateIssueOwner", "required": false},
                {"name": "notify", "type": "string | boolean", "required": false, "description": "Form: string(3.. chars) | boolean."},
                {"name": "key", "type": "string", "required": false, "sensitive": true},
                {"name": "dry_run", "type": "boolean", "required": false, "description": "Show the request and send nothing"},
            ],
            "returns": {"name": "Label", "kind": "object"},
            "examples": [{"request": {"operation": "create_issue", "params": {"title": "some title"}}}],
        })
    );
}

/// Returns the parameters of an operation without the query controls, which every read has.
fn own_parameters(operation: &Value) -> Vec<Value> {
    let is_own =
        |param: &&Value| param["name"] != "dry_run" && control_of(param["name"].as_str().unwrap()).is_none();
    operation["parameters"].as_array().expect("a list").iter().filter(is_own).cloned().collect()
}

#[test]
fn reads_list_the_query_controls_after_their_own_parameters() {
    let operation = details(&issues(), "list_issues");
    let names: Vec<&str> = operation["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|param| param["name"].as_str().unwrap())
        .collect();
    let controls = CONTROLS.iter().map(|(name, _)| *name);
    assert_eq!(names, ["state", "per_page"].into_iter().chain(controls).collect::<Vec<_>>());
}

#[test]
fn full_details_add_what_the_specification_has_no_place_for() {
    let catalog = issues();
    let plain = details(&catalog, "create_issue");
    let mut full = object(full_details(&catalog, "create_issue"));
    let mut parameters = full.remove("parameters").unwrap();
    let notify = parameters[3].as_object_mut().unwrap();
    assert_eq!(
        notify.remove("schema").unwrap(),
        json!({"oneOf": [{"type": "string", "minLength": 3}, {"type": "boolean"}]})
    );
    assert_eq!(parameters, plain["parameters"]);
    full.retain(|key, value| plain.get(key) != Some(value));
    assert_eq!(
        Value::Object(full),
        json!({
            "danger": "reversible",
            "idempotent": false,
            "signature": "create_issue(title: string(..80 chars), labels?: Label[], owner?: CreateIssueOwner, notify?: string(3.. chars) | boolean, key?: string) -> Label\ntype Label = { name: string, color?: string }\ntype CreateIssueOwner = { team: string, lead?: string(email) }",
            "tags": ["issues"],
            "aliases": ["new_issue"],
        })
    );
}

#[test]
fn deprecation_defaults_and_bounds_are_shown() {
    let operation = full_details(&issues(), "list_issues");
    assert_eq!(operation["deprecated"], "Use search_issues instead.");
    assert_eq!(operation["idempotent"], true);
    assert_eq!(operation["danger"], "safe");
    assert_eq!(
        json!(own_parameters(&operation)),
        json!([
            {"name": "state", "type": "State", "required": false, "default": "open"},
            {"name": "per_page", "type": "integer", "required": false, "minimum": 1, "maximum": 100, "default": 20},
        ])
    );
}

#[test]
fn what_the_api_assumes_is_shown_and_never_sent() {
    let rest = "operations:
  read:
    - name: list_things
      maps_to: GET /things
      params: { per_page: { type: integer, api_default: 30 } }
";
    let catalog = catalog(rest);
    let operation = details(&catalog, "list_things");
    let expected = json!([{"name": "per_page", "type": "integer", "required": false, "default": 30}]);
    assert_eq!(json!(own_parameters(&operation)), expected);
    let operation = full_details(&catalog, "list_things");
    assert_eq!(operation["parameters"][0]["api_default"], 30);
    assert_eq!(operation["signature"], "list_things(per_page?: integer /* default 30 */)");
    let call = request::prepare_operation(&catalog, "list_things", object(json!({}))).expect("a valid call");
    assert_eq!(json!(call.args), json!({}));
    let discrete = AdapterSettings { mode: Some(Mode::Discrete), ..AdapterSettings::default() };
    let catalog = catalog_of(&document(rest), &discrete);
    let schema = &tool(&catalog, "demo_list_things").input_schema;
    assert_eq!(schema["properties"]["per_page"], json!({"type": "integer", "default": 30}));
}

#[test]
fn several_names_come_in_one_answer_and_unknown_names_are_reported() {
    let (data, warnings) = introspect(
        &issues(),
        json!({"query": "operations", "name": ["list_issues", "serch_issues", "create_issue"]}),
    );
    let names: Vec<&str> =
        data["operations"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["list_issues", "create_issue"]);
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].starts_with("Unknown operation 'serch_issues'. Nearest: search_issues"),
        "{warnings:?}"
    );
}

#[test]
fn an_unknown_name_is_a_success_with_null_and_the_nearest_names() {
    let catalog = issues();
    let (data, warnings) = introspect(&catalog, json!({"query": "operations", "name": "list_isues"}));
    assert_eq!(data, json!({"operation": null}));
    assert!(warnings[0].starts_with("Unknown operation 'list_isues'. Nearest: list_issues"), "{warnings:?}");
    let (data, warnings) = introspect(&catalog, json!({"query": "types", "name": "qqq"}));
    assert_eq!(data, json!({"type": null}));
    assert_eq!(warnings, ["Unknown type 'qqq'. List all with query 'types'."]);
}

#[test]
fn an_alias_is_found_under_its_present_name() {
    assert_eq!(details(&issues(), "new_issue")["name"], "create_issue");
}

#[test]
fn types_are_the_protocol_s_own_and_the_adapter_s() {
    let (data, _) = introspect(&issues(), json!({"query": "types"}));
    let names: Vec<&str> =
        data["types"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(
        names,
        [
            "SemanticCategory",
            "OperationInput",
            "OperationResult",
            "OperationSuccess",
            "OperationFailure",
            "EndpointPermissions",
            "FieldSelection",
            "Label",
            "State",
            "CreateIssueOwner",
        ]
    );
    for name in names {
        let (data, warnings) = introspect(&issues(), json!({"query": "types", "name": name}));
        assert_eq!(data["type"]["name"], name);
        assert_eq!(warnings, [] as [&str; 0]);
    }
}

#[test]
fn a_type_has_its_fields_and_what_was_declared() {
    let catalog = issues();
    let of = |name: &str| introspect(&catalog, json!({"query": "types", "name": name})).0["type"].clone();
    assert_eq!(
        of("Label"),
        json!({
            "name": "Label",
            "kind": "object",
            "description": "A label",
            "fields": [
                {"name": "name", "type": "string", "required": true},
                {"name": "color", "type": "string", "required": false},
            ],
        })
    );
    let (full, _) = introspect(&catalog, json!({"query": "types", "name": "Label", "detail": "full"}));
    assert_eq!(
        full["type"]["schema"],
        json!({
            "type": "object",
            "description": "A label",
            "properties": {"name": {"type": "string"}, "color": {"type": "string"}},
            "required": ["name"],
        })
    );
    assert_eq!(of("State")["values"], json!(["open", "closed"]));
    assert_eq!(of("CreateIssueOwner")["fields"][1]["format"], "email");
    assert_eq!(of("SemanticCategory")["values"], json!(["CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"]));
    assert_eq!(of("OperationResult")["members"], json!(["OperationSuccess", "OperationFailure"]));
}

#[test]
fn an_example_is_generated_only_if_the_author_has_none() {
    let catalog = issues();
    assert_eq!(
        details(&catalog, "search_issues")["examples"],
        json!([{"description": "Crashes", "request": {"operation": "search_issues", "params": {"text": "crash"}}}])
    );
    assert_eq!(
        details(&catalog, "list_issues")["examples"],
        json!([{"request": {"operation": "list_issues", "params": {}}}])
    );
}

#[test]
fn an_example_is_generated_from_the_required_parameters() {
    let made_up = |params: &str| {
        let rest = format!(
            "types: {{ Point: {{ type: object, properties: {{ x: {{ type: integer, required: true }}, y: {{ type: integer }} }} }} }}
operations: {{ update: [{{ name: set_it, maps_to: PUT /a, params: {{ {params} }} }}] }}\n"
        );
        details(&catalog(&rest), "set_it")["examples"][0]["request"]["params"].clone()
    };
    assert_eq!(made_up("at: { type: Point, required: true }"), json!({"at": {"x": 1}}));
    assert_eq!(made_up("points: { type: 'Point[]', required: true }"), json!({"points": [{"x": 1}]}));
    assert_eq!(made_up("day: { type: string, format: date, required: true }"), json!({"day": "2026-01-31"}));
    assert_eq!(made_up("size: { enum: [s, m], required: true }"), json!({"size": "s"}));
    assert_eq!(made_up("note: string"), json!({"note": "some note"}), "an update changes something");
    assert_eq!(
        made_up("code: { type: string, pattern: '^[A-Z]{9}$', required: true }"),
        json!({"code": "ABCDEFGHI"})
    );
    assert_eq!(
        made_up("code: { type: string, pattern: '^[A-Z]{9}$', maxLength: 3, required: true }"),
        Value::Null
    );
    assert_eq!(
        made_up("code: { type: string, pattern: '^[A-Z]{3}$', example: ABC, required: true }"),
        json!({"code": "ABC"})
    );
    assert_eq!(
        made_up("code: { type: string, pattern: '^[A-Z]{3}$', example: abc, required: true }"),
        json!({"code": "ABC"}),
        "an example that does not validate is not shown, and another one is generated"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn every_example_validates_against_its_operation(plan in plans(8)) {
        let catalog = plan.check(&AdapterSettings::default()).catalog.expect("generated adapters can be served");
        for entry in &catalog.operations {
            let details = details(&catalog, &entry.operation.name);
            for example in details["examples"].as_array().expect("a list") {
                let params = object(example["request"]["params"].clone());
                let outcome = request::prepare_operation(&catalog, &entry.operation.name, params);
                prop_assert!(outcome.is_ok(), "{example}: {:?}", outcome.err());
            }
        }
    }

    #[test]
    fn introspection_names_every_parameter_that_validation_accepts(plan in plans(6)) {
        let catalog = plan.check(&AdapterSettings::default()).catalog.expect("generated adapters can be served");
        for entry in &catalog.operations {
            let name = &entry.operation.name;
            let details = details(&catalog, name);
            let entry = catalog.full_operation(entry).expect("it is compiled");
            let shown: Vec<&str> = details["parameters"].as_array().expect("a list").iter()
                .map(|parameter| parameter["name"].as_str().expect("a name")).collect();
            let (shown, common): (Vec<&str>, Vec<&str>) =
                shown.into_iter().partition(|parameter| entry.params.accepts(parameter));
            for parameter in common {
                let sent = object(json!({parameter: null}));
                let outcome = request::prepare_operation(&catalog, name, sent);
                prop_assert!(outcome.err().is_none_or(|error| error.code != Code::UnknownParam), "{}", parameter);
            }
            let unknown = object(json!({"certainly_not_declared": 1}));
            let error = request::prepare_operation(&catalog, name, unknown).expect_err("it is unknown");
            prop_assert_eq!(&error.details["valid_params"], &json!(shown));
        }
    }
}

#[test]
fn objects_inside_declared_types_have_names_too() {
    let catalog = catalog(
        "types:
  Address:
    type: object
    properties: { city: { type: string }, geo: { type: object, properties: { lat: { type: number } } } }
operations:
  create: [{ name: add_place, maps_to: POST /p, params: { at: { type: Address, required: true } } }]
",
    );
    let (answer, _) = introspect(&catalog, json!({"query": "types", "name": "AddressGeo"}));
    assert_eq!(answer["type"]["fields"][0]["name"], "lat");
    let place = full_details(&catalog, "add_place");
    let signature = place["signature"].as_str().unwrap();
    assert!(signature.contains("type Address = { city?: string, geo?: AddressGeo }"), "{signature}");
}
