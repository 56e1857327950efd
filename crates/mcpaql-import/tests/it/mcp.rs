//! Imports of MCP servers.

use indexmap::IndexMap;
use mcpaql_core::adapter::{Auth, McpCommand, McpLink, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::facts::Effect;
use mcpaql_core::operation::{Binding, Category, Danger, McpBinding, Operation};
use mcpaql_core::surface;
use mcpaql_document::check::check;
use mcpaql_document::compile;
use mcpaql_document::load::Origins;
use mcpaql_document::overrides::{self, Overrides};
use mcpaql_document::source::Source;
use mcpaql_import::emit::{self, Provenance};
use mcpaql_import::mcp::{self, ImportedServer, McpImportOptions};
use mcpaql_import::select::Selection;
use proptest::prelude::*;
use serde_json::{Value, json};

const TOOLS: &str = include_str!("../fixtures/tools.json");

fn capture() -> Capture {
    Capture::from_json(serde_json::from_str(TOOLS).unwrap()).unwrap()
}

fn with_tools(tools: Value) -> Capture {
    Capture::from_json(tools).unwrap()
}

fn target() -> McpTarget {
    let command = vec!["npx".to_owned(), "-y".to_owned(), "@acme/tracker-mcp".to_owned()];
    McpTarget::new(McpLink::Command(McpCommand {
        command,
        cwd: None,
        env: vec!["ACME_TOKEN".to_owned()],
        set_env: IndexMap::new(),
    }))
}

fn imported(capture: &Capture) -> ImportedServer {
    attempt(capture, &McpImportOptions::default()).unwrap()
}

fn attempt(capture: &Capture, options: &McpImportOptions) -> Result<ImportedServer, Vec<Diagnostic>> {
    mcp::import(capture, target(), Auth::None, options)
}

fn corrected(text: &str) -> Result<ImportedServer, Vec<Diagnostic>> {
    let overrides = overrides::parse(&Source::new("overrides.yaml", text)).unwrap();
    attempt(&capture(), &McpImportOptions { overrides, ..McpImportOptions::default() })
}

fn written(imported: &ImportedServer) -> String {
    let provenance = Provenance {
        source: "npx -y @acme/tracker-mcp".to_owned(),
        version: imported.version.clone(),
        fingerprint: None,
    };
    emit::markdown(&imported.adapter, &provenance)
}

fn operation<'i>(imported: &'i ImportedServer, name: &str) -> &'i Operation {
    imported.adapter.operations.iter().find(|operation| operation.name == name).unwrap_or_else(|| {
        panic!("{name} is not among {:?}", names(imported));
    })
}

fn names(imported: &ImportedServer) -> Vec<&str> {
    imported.adapter.operations.iter().map(|operation| operation.name.as_str()).collect()
}

fn binding(operation: &Operation) -> &McpBinding {
    match &operation.binding {
        Binding::Mcp(binding) => binding,
        other => panic!("{other:?}"),
    }
}

fn schema<'o>(operation: &'o Operation, param: &str) -> &'o Value {
    &operation.param(param).unwrap().schema
}

fn notes(imported: &ImportedServer, name: &str) -> Vec<String> {
    imported
        .notes
        .get(name)
        .into_iter()
        .flatten()
        .map(|note| format!("{}: {}", note.place, note.what))
        .collect()
}

#[test]
fn the_document_of_a_server() {
    let imported = imported(&capture());
    let document = written(&imported);
    let checked = check(&Source::new("tracker-adapter.md", document.as_str()), &AdapterSettings::default());
    assert_eq!(checked.errors(), 0, "{:?}", checked.diagnostics);
    insta::assert_snapshot!(document);
}

#[test]
fn no_tool_is_lost_and_calls_use_the_server_s_names() {
    let capture = capture();
    let imported = imported(&capture);
    let mut tools: Vec<&str> =
        imported.adapter.operations.iter().map(|operation| binding(operation).tool.as_str()).collect();
    let mut all: Vec<&str> = capture.tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    tools.sort_unstable();
    all.sort_unstable();
    assert_eq!(tools, all);
    assert_eq!(imported.report.skipped, 0);
    assert_eq!(binding(operation(&imported, "boards_create")).tool, "boards.create");
    assert_eq!(binding(operation(&imported, "introspect_tool")).tool, "introspect");
}

#[test]
fn the_identity_comes_from_the_server() {
    let imported = imported(&capture());
    let adapter = &imported.adapter;
    assert_eq!((adapter.name.as_str(), adapter.display_name.as_str()), ("acme-tracker", "Acme Tracker"));
    assert_eq!((adapter.version.as_str(), imported.version.as_deref()), ("2.4.0", Some("v2.4.0")));
    assert_eq!(adapter.description, "Issues and boards of a tracker.\n\nAsk for a board first.");
}

#[test]
fn parameters_are_snake_case_and_keep_their_wire_names() {
    let imported = imported(&capture());
    let get = operation(&imported, "get_issue");
    let id = get.param("issue_id").unwrap();
    assert_eq!((id.wire.as_str(), id.required), ("issueId", true));
    assert!(!get.param("with_comments").unwrap().required);
    assert!(get.params.iter().all(|param| param.default.is_none()), "defaults of a server are never sent");
    assert_eq!(get.title, "Get an issue");
    assert_eq!(get.description, "Returns one issue.\n\nSee the manual.");
}

#[test]
fn definitions_become_types_that_are_unique_in_the_adapter() {
    let imported = imported(&capture());
    let types: Vec<&str> = imported.adapter.types.keys().map(String::as_str).collect();
    assert_eq!(types, ["ColumnsItems", "CountIssuesFilter", "Issue", "SearchIssuesFilter"]);
    assert_eq!(schema(operation(&imported, "search_issues"), "filter")["$ref"], "#/types/SearchIssuesFilter");
    assert_eq!(schema(operation(&imported, "count_issues"), "filter")["$ref"], "#/types/CountIssuesFilter");
    let recursive = &imported.adapter.types["SearchIssuesFilter"]["anyOf"][1]["properties"]["all"]["items"];
    assert_eq!(recursive["$ref"], "#/types/SearchIssuesFilter");
    assert_eq!(imported.adapter.types["Issue"]["properties"]["parent"]["$ref"], "#/types/Issue");
}

#[test]
fn losses_are_noted() {
    let imported = imported(&capture());
    let create = operation(&imported, "boards_create");
    assert_eq!(schema(create, "theme"), &json!({}));
    assert!(create.param("owner").unwrap().required, "required, although it is not declared");
    let notes = notes(&imported, "boards_create");
    for expected in [
        "inputSchema: 'owner' is required but not declared",
        "inputSchema: 'dependentRequired' is checked only by the server",
        "theme: '#/$defs/Gone' cannot be resolved",
    ] {
        assert!(notes.iter().any(|note| note == expected), "{expected} is not in {notes:?}");
    }
}

#[test]
fn alternatives_of_the_arguments_are_merged() {
    let imported = imported(&capture());
    let moving = operation(&imported, "move");
    let required: Vec<(&str, bool)> =
        moving.params.iter().map(|param| (param.name.as_str(), param.required)).collect();
    assert_eq!(required, [("kind", true), ("id", true), ("board", false)]);
    assert_eq!(schema(moving, "kind")["enum"], json!(["issue", "board"]));
    assert_eq!(schema(moving, "id")["anyOf"], json!([{"type": "integer"}, {"type": "string"}]));
    assert_eq!(notes(&imported, "move").len(), 1);
}

#[test]
fn a_schema_that_is_no_object_loses_parameters_but_no_tool() {
    let roots =
        [json!(null), json!(false), json!("x"), json!([]), json!({"type": "string"}), json!({"$ref": "#"})];
    let tools: Vec<Value> = roots
        .iter()
        .enumerate()
        .map(|(at, root)| json!({"name": format!("t{at}"), "inputSchema": root}))
        .collect();
    let imported = imported(&with_tools(json!(tools)));
    assert_eq!(imported.adapter.operations.len(), roots.len());
    assert!(imported.adapter.operations.iter().all(|operation| operation.params.is_empty()));
}

#[test]
fn tools_without_a_name_or_with_a_duplicate_name_are_counted() {
    let imported =
        imported(&with_tools(json!([{"name": "a"}, {"title": "b"}, 7, {"name": "a"}, {"name": " "}])));
    assert_eq!(names(&imported), ["a"]);
    assert_eq!((imported.report.skipped, imported.report.diagnostics.len()), (4, 4));
}

#[test]
fn another_tool_renames_nothing_and_changes_no_other_lines() {
    let before = imported(&capture());
    let mut more = capture();
    let tool = json!({"name": "archive_board", "description": "Archives a board.", "inputSchema": {"type": "object"}});
    more.tools.insert(0, tool);
    let after = imported(&more);
    let without = |imported: &ImportedServer| {
        let all = names(imported).into_iter().filter(|name| *name != "archive_board");
        all.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(without(&after), without(&before));
    more.tools.reverse();
    assert_eq!(written(&imported(&more)), written(&after), "the order of the list does not matter");
}

#[test]
fn operations_are_selected_by_name_and_category() {
    let selection =
        Selection::parse(&["category:READ".to_owned(), "boards.*".to_owned()], &["ping".to_owned()]).unwrap();
    let imported =
        attempt(&capture(), &McpImportOptions { selection, ..McpImportOptions::default() }).unwrap();
    assert_eq!(names(&imported), ["boards_create", "count_issues", "get_issue", "search_issues"]);
    assert!(!imported.adapter.types.contains_key("Gone"));
}

fn judged(tool: Value) -> (Operation, Option<String>) {
    let imported = imported(&with_tools(json!([tool])));
    let review = imported.report.operations[0].review();
    (imported.adapter.operations[0].clone(), review)
}

#[test]
fn annotations_of_a_server_are_kept() {
    let tool = |name: &str, annotations: Value| {
        judged(json!({"name": name, "description": "Does it.", "annotations": annotations})).0
    };
    let hints = |operation: &Operation| {
        operation.hints.apply(mcpaql_core::policy::default().hints(operation.category, &operation.facts))
    };
    let harmless =
        tool("update_user", json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true}));
    assert_eq!(harmless.category, Category::Update);
    assert!(!hints(&harmless).destructive && hints(&harmless).idempotent);
    let worse = tool("create_user", json!({"destructiveHint": true, "idempotentHint": false}));
    assert_eq!(worse.danger, Danger::Destructive);
    assert!(hints(&worse).destructive && !hints(&worse).idempotent && hints(&worse).open_world);
    let local = tool("list_users", json!({"readOnlyHint": true, "openWorldHint": false}));
    assert!(hints(&local).read_only && !hints(&local).open_world);
    let deletes = tool("delete_user", json!({"destructiveHint": false}));
    assert!(hints(&deletes).destructive, "despite its annotations");
}

#[test]
fn a_switch_that_mixes_effects_is_never_a_read_and_a_split_is_suggested() {
    let tool = |read_only: Option<bool>| {
        json!({
            "name": "read_alerts", "description": "Reads alerts.", "annotations": {"readOnlyHint": read_only},
            "inputSchema": {"properties": {"action": {"enum": ["list", "delete"]}}}
        })
    };
    let (operation, review) = judged(tool(None));
    assert_eq!((operation.category, operation.danger), (Category::Execute, Danger::Destructive));
    assert_eq!(operation.facts.effect, Effect::Multiplexed);
    assert_eq!(
        review.as_deref(),
        Some("its parameter 'action' selects list or delete; split the tool into one operation for each")
    );
    let (operation, review) = judged(tool(Some(true)));
    assert_eq!(operation.category, Category::Execute, "its own values contradict the server");
    assert!(review.is_some());
}

#[test]
fn overrides_apply_and_must_match() {
    let imported = corrected(
        "adapter: {name: tracker, display_name: Tracker}\noperations:\n  getIssue: {name: read_issue, params: {issueId: {description: Its number}}}\n  \
         move: {category: UPDATE, danger: destructive}\n  ping: {include: false}\n",
    )
    .unwrap();
    assert_eq!(imported.adapter.name, "tracker");
    let read = operation(&imported, "read_issue");
    assert_eq!(read.param("issue_id").unwrap().description, "Its number");
    assert_eq!(operation(&imported, "move").category, Category::Update);
    assert_eq!(imported.report.excluded, 1);
    for wrong in [
        "operations: {get_issues: {danger: safe}}",
        "operations: {getIssue: {danger: safe}, get_issue: {title: x}}",
        "operations: {getIssue: {name: ping}}",
        "operations: {getIssue: {name: Get}}",
        "operations: {getIssue: {params: {issue: {description: x}}}}",
        "operations: {getIssue: {params: {issue_id: {from: [nowhere]}}}}",
        "adapter: {base_url: 'https://x.example'}",
    ] {
        assert!(corrected(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_tool_with_a_switch_is_split_into_operations() {
    let imported = corrected(
        "operations:\n  issue_write:\n    split:\n      by: method\n      values:\n        \
         create: {name: create_issue, category: CREATE, params: [title]}\n        update: {name: update_issue}\n",
    )
    .unwrap();
    let create = operation(&imported, "create_issue");
    assert_eq!(create.category, Category::Create);
    assert_eq!(binding(create).tool, "issue_write");
    assert_eq!(Value::Object(binding(create).fixed.clone()), json!({"method": "create"}));
    assert_eq!(create.params.iter().map(|param| param.name.as_str()).collect::<Vec<_>>(), ["title"]);
    let update = operation(&imported, "update_issue");
    assert_eq!(update.category, Category::Update);
    assert_eq!(update.params.len(), 2);
    assert!(!names(&imported).contains(&"issue_write"), "no value is left for it");
    let document = written(&imported);
    assert_eq!(
        check(&Source::new("a.md", document.as_str()), &AdapterSettings::default()).errors(),
        0,
        "{document}"
    );
}

#[test]
fn values_that_are_not_listed_stay_together() {
    let imported =
        corrected("operations: {issue_write: {split: {by: method, values: {create: {}}}}}").unwrap();
    assert_eq!(binding(operation(&imported, "create_issue")).tool, "issue_write");
    let rest = operation(&imported, "issue_write");
    assert_eq!(schema(rest, "method")["enum"], json!(["update"]));
    assert!(binding(rest).fixed.is_empty());
}

#[test]
fn the_rest_of_a_split_tool_is_classified_by_its_own_values() {
    let tools = json!([{
        "name": "read_alerts", "description": "Reads alerts.",
        "inputSchema": {"properties": {"action": {"enum": ["list", "create", "delete"]}}}
    }]);
    let split = |values: &str| {
        let text = format!("operations: {{read_alerts: {{split: {{by: action, values: {values}}}}}}}");
        let overrides = overrides::parse(&Source::new("overrides.yaml", text)).unwrap();
        let imported = attempt(
            &with_tools(tools.clone()),
            &McpImportOptions { overrides, ..McpImportOptions::default() },
        )
        .unwrap();
        operation(&imported, "read_alerts").category
    };
    assert_eq!(split("{create: {}}"), Category::Execute);
    assert_eq!(split("{create: {}, list: {}}"), Category::Execute);
    assert_eq!(split("{create: {}, delete: {}}"), Category::Read);
}

#[test]
fn without_a_list_every_value_becomes_an_operation() {
    let imported = corrected("operations: {issue_write: {split: {by: method}}}").unwrap();
    assert_eq!(operation(&imported, "create_issue").category, Category::Create);
    assert_eq!(operation(&imported, "update_issue").category, Category::Update);
}

#[test]
fn a_split_that_is_not_possible_is_an_error() {
    for (wrong, pointer) in [
        ("operations: {issue_write: {split: {by: methode}}}", "/operations/issue_write/split/by"),
        ("operations: {issue_write: {split: {by: issue_number}}}", "/operations/issue_write/split/by"),
        (
            "operations: {issue_write: {split: {by: method, values: {delete: {}}}}}",
            "/operations/issue_write/split/values/delete",
        ),
        (
            "operations: {issue_write: {split: {by: method, values: {create: {params: [titel]}}}}}",
            "/operations/issue_write/split/values/create/params",
        ),
        ("operations: {issue_write: {split: {by: method, values: {create: {name: ping}}}}}", "/operations"),
    ] {
        let problems = corrected(wrong).unwrap_err();
        assert_eq!(problems[0].pointer, pointer, "{wrong}");
    }
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3_i64..9).prop_map(Value::from),
        "[a-z$#/]{0,6}".prop_map(Value::from),
        prop::sample::select(vec![
            "object",
            "#",
            "#/$defs/A",
            "#/properties/a",
            "string",
            "create",
            "delete"
        ])
        .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        let key = prop::sample::select(vec![
            "name",
            "type",
            "properties",
            "required",
            "$ref",
            "$defs",
            "A",
            "a",
            "B",
            "method",
            "enum",
            "const",
            "oneOf",
            "anyOf",
            "allOf",
            "items",
            "default",
            "additionalProperties",
            "inputSchema",
            "annotations",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..6).prop_map(|members| Value::Object(
                members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
            )),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    #[test]
    fn no_schema_costs_a_tool_or_breaks_the_document(roots in prop::collection::vec(values(), 1..5)) {
        let tools: Vec<Value> = roots
            .iter()
            .enumerate()
            .map(|(at, root)| json!({"name": format!("tool-{at}"), "inputSchema": root, "outputSchema": root}))
            .collect();
        let imported = imported(&with_tools(json!(tools)));
        prop_assert_eq!(imported.adapter.operations.len(), roots.len());
        let document = written(&imported);
        let checked = check(&Source::new("a.md", document.as_str()), &AdapterSettings::default());
        prop_assert!(checked.catalog.is_some(), "{}", document);
        prop_assert_eq!(checked.errors(), 0, "{:?}\n{}", checked.diagnostics, document);
    }
}

#[test]
fn empty_overrides_change_nothing() {
    let plain = imported(&capture());
    let same = attempt(
        &capture(),
        &McpImportOptions { overrides: Overrides::default(), ..McpImportOptions::default() },
    )
    .unwrap();
    assert_eq!(written(&plain), written(&same));
}

#[test]
fn a_parameter_with_a_default_is_optional_although_the_schema_requires_it() {
    let imported = imported(&with_tools(json!([{
        "name": "take_picture",
        "inputSchema": {
            "type": "object",
            "properties": {"scale": {"type": "string", "default": "css"}, "path": {"type": "string"}},
            "required": ["scale", "path"],
        },
    }])));
    let required = |name: &str| operation(&imported, "take_picture").param(name).unwrap().required;
    assert_eq!((required("scale"), required("path")), (false, true));
    let scale = operation(&imported, "take_picture").param("scale").unwrap();
    assert_eq!((scale.api_default.clone(), scale.default.clone()), (Some(json!("css")), None));
}

/// Lists of all sizes: small ones show signatures, larger ones names, the largest ones counts.
#[test]
fn an_outline_costs_as_much_as_the_whole_adapter() {
    let verbs = ["create", "list", "get", "update", "delete", "run"];
    let tool = |n: usize| {
        let verb = verbs[n % verbs.len()];
        let field = |kind: &str| json!({"type": kind, "description": "What it is about"});
        let mut properties = json!({"title": field("string"), "filter": {"$ref": "#/$defs/Filter"}});
        if n.is_multiple_of(4) {
            properties["eTag"] = field("string");
        }
        let required = properties.as_object().unwrap().keys().next_back().cloned();
        let filter = json!({"type": "object", "properties": {"since": field("string"), format!("f{}", n % 5): field("integer")}});
        json!({
            "name": format!("{verb}_thing_of_some_server_with_long_names_{n}"),
            "description": format!("Can {verb} a thing."),
            "inputSchema": {"type": "object", "properties": properties, "required": [required], "$defs": {"Filter": filter}}
        })
    };
    let cost = |adapter| {
        let compiled = compile::compile(adapter, &Origins::default(), &AdapterSettings::default());
        surface::surface_cost(&compiled.catalog.unwrap())
    };
    for count in [1, 6, 20, 60, 450] {
        let tools: Vec<Value> = (0..count).map(tool).collect();
        let outline = mcp::outline_tools(&tools, target(), surface::needs_full_operation).unwrap();
        let shown = outline.operations.iter().filter(|operation| !operation.params.is_empty()).count();
        assert!(if count <= 20 { shown == count } else { count < 450 || shown < count }, "{count}: {shown}");
        let whole = mcp::import_tools(
            &tools,
            &Capture::default(),
            target(),
            Auth::None,
            &McpImportOptions::default(),
        );
        assert_eq!(cost(outline), cost(whole.unwrap().adapter), "{count}");
    }
}
