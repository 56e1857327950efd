//! Conventions of projects, checked against tools as these projects write them and as this program serves them.

use mcpaql_audit::convention::{RuleLevel, Standard};
use mcpaql_audit::load;
use mcpaql_audit::{Finding, ServerTools, audit};
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_document::check::check;
use mcpaql_document::source::Source;
use serde_json::{Value, json};

fn standard(names: &[&str]) -> Standard {
    Standard::from_conventions(
        names.iter().map(|name| load::builtin(name).expect("a convention").clone()).collect(),
    )
}

/// Returns the catalog of a document that must have no problems.
fn catalog_of(source: &Source, settings: &AdapterSettings) -> Catalog {
    let checked = check(source, settings);
    assert_eq!(checked.diagnostics, [], "{}", source.text);
    checked.catalog.expect("a document without problems can be served")
}

fn found(tools: Vec<Value>, standard: &Standard) -> Vec<Finding> {
    audit(&[ServerTools { name: "demo".into(), tools, ..ServerTools::default() }], standard)
}

fn messages(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| format!("{} {}", finding.rule.code, finding.message)).collect()
}

/// Returns the codes and places of findings above advice.
fn problems(tools: Vec<Value>, convention: &str) -> Vec<String> {
    let found = found(tools, &standard(&["mcp", convention]));
    let bad = found.iter().filter(|finding| finding.level > RuleLevel::Advice);
    bad.map(|finding| format!("{} {}", finding.rule.code, finding.place.pointer)).collect()
}

fn json_of(catalog: &Catalog) -> Vec<Value> {
    catalog.tools.iter().map(|tool| tool.to_json()).collect()
}

const NOTES: &str = "name: apple-notes
type: adapter
version: \"1.0.0\"
description: Notes and their folders.
target: { base_url: \"https://api.example.com\" }
operations:
  read:
    - { name: list_notes, maps_to: GET /notes, description: Lists the notes of the account by title. }
  create:
    - { name: create_note, maps_to: POST /notes, description: Creates a note with a title and a text. }
  update:
    - { name: update_note, maps_to: PUT /notes, description: Replaces the text of one note. }
  delete:
    - { name: delete_note, maps_to: DELETE /notes, description: Deletes one note for good. }
  execute:
    - { name: send_note, maps_to: POST /send, description: Sends one note by mail to somebody. }
";

fn served(policy: &str, pattern: Option<&str>, mode: Mode) -> Vec<Value> {
    let settings = AdapterSettings {
        policy: Some(policy.into()),
        pattern: pattern.map(str::to_owned),
        mode: Some(mode),
        ..AdapterSettings::default()
    };
    json_of(&catalog_of(&Source::new("notes.yaml", NOTES), &settings))
}

#[test]
fn the_tools_that_this_program_serves_meet_its_conventions() {
    for mode in [Mode::Semantic, Mode::Single] {
        assert_eq!(problems(served("mcpaql", None, mode), "mcpaql"), [""; 0], "{mode:?}");
        assert_eq!(problems(served("mcpaql-issue", None, mode), "mcpaql-issue"), [""; 0], "{mode:?}");
        let spec = served("mcpaql-spec", Some("mcp_aql_{endpoint}"), mode);
        assert_eq!(problems(spec, "mcpaql-spec"), [""; 0], "{mode:?}");
        let prefixed = served("mcpaql-spec", Some("notes_mcp_aql_{endpoint}"), mode);
        assert_eq!(problems(prefixed, "mcpaql-spec"), [""; 0], "{mode:?}");
    }
}

/// Returns a tool with MCP-AQL's envelope.
fn adapter_tool(name: &str, title: &str, annotations: Value) -> Value {
    json!({
        "name": name, "title": title, "annotations": annotations,
        "description": "Reads from the mailbox. Find operations and their parameters with introspect.",
        "inputSchema": {"type": "object", "required": ["operation"], "properties": {
            "operation": {"type": "string", "description": "Operation name"},
            "params": {"type": "object", "description": "Operation parameters"}}},
    })
}

#[test]
fn the_naming_proposal_requires_brand_title_and_two_hints() {
    let mut annotations = json!({
        "title": "Apple Mail — Read", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true,
        "openWorldHint": true,
    });
    let good = adapter_tool("apple_mail_mcpaql_read", "Apple Mail — Read", annotations.clone());
    assert_eq!(problems(vec![good], "mcpaql-issue"), [""; 0]);
    let brand = adapter_tool("apple_mail_aql_read", "Apple Mail — Read", annotations.clone());
    assert!(problems(vec![brand], "mcpaql-issue").contains(&"NAME-012 /name".to_owned()));
    let old = adapter_tool("mcp_aql_read", "Apple Mail — Read", annotations.clone());
    assert!(problems(vec![old.clone()], "mcpaql-issue").contains(&"NAME-012 /name".to_owned()));
    assert!(!problems(vec![old], "mcpaql-spec").iter().any(|problem| problem.starts_with("NAME")));
    annotations.as_object_mut().unwrap().shift_remove("destructiveHint");
    let missing = problems(
        vec![adapter_tool("apple_mail_mcpaql_read", "Apple Mail — Read", annotations)],
        "mcpaql-issue",
    );
    assert!(missing.contains(&"HINT-001 /annotations/destructiveHint".to_owned()), "{missing:?}");
}

#[test]
fn the_integration_chapter_requires_introspect_and_names_of_its_form() {
    let mut tool =
        adapter_tool("notes_query", "Query", json!({"readOnlyHint": true, "destructiveHint": false}));
    let codes = |tool: &Value| -> Vec<(String, RuleLevel)> {
        let found = found(vec![tool.clone()], &standard(&["mcpaql-spec"]));
        found.iter().map(|finding| (finding.rule.code.to_owned(), finding.level)).collect()
    };
    assert!(codes(&tool).contains(&("NAME-009".to_owned(), RuleLevel::Warning)), "{:?}", codes(&tool));
    tool["name"] = "mcp_aql_query".into();
    tool["description"] = "Reads from the mailbox, whatever is asked of it.".into();
    assert!(codes(&tool).contains(&("DESC-004".to_owned(), RuleLevel::Error)), "{:?}", codes(&tool));
}

/// Returns a tool for one operation.
fn plain_tool(name: &str, title: &str, annotations: Value) -> Value {
    json!({
        "name": name, "title": title, "annotations": annotations,
        "description": format!("{title} of the account that the server is signed in to, with all that belongs to it."),
        "inputSchema": {"type": "object", "properties": {}},
    })
}

#[test]
fn lightdash_accepts_its_ten_tools_and_nothing_else() {
    let titles = [
        ("list_projects", "List projects"),
        ("get_project", "Get project"),
        ("list_charts", "List charts"),
        ("list_dashboards", "List dashboards"),
        ("list_spaces", "List spaces"),
        ("get_space", "Get space"),
        ("list_organization_members", "List organization members"),
        ("get_member", "Get member"),
        ("list_groups", "List groups"),
        ("get_group", "Get group"),
    ];
    let hints = || json!({"readOnlyHint": true, "openWorldHint": false});
    let tools = titles.map(|(name, title)| plain_tool(&format!("lightdash_tools__{name}"), title, hints()));
    let standard = standard(&["lightdash"]);
    assert_eq!(messages(&found(tools.to_vec(), &standard)), [""; 0], "not even advice");
    let bad = |tool: Value| problems(vec![tool], "lightdash");
    assert_eq!(bad(plain_tool("list_projects", "List projects", hints())), ["NAME-008 /name"]);
    assert_eq!(bad(plain_tool("lightdash_tools__projects", "Projects", hints())), ["NAME-009 /name"]);
    assert_eq!(bad(plain_tool("lightdash_tools__get_group", "", hints())), ["TITLE-001 /title"]);
    let incomplete = plain_tool("lightdash_tools__get_group", "Get group", json!({"readOnlyHint": true}));
    assert!(bad(incomplete).contains(&"HINT-001 /annotations/openWorldHint".to_owned()));
}

#[test]
fn products_come_first_in_two_to_four_words() {
    let hints = json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": true});
    let bad = |name: &str| {
        problems(vec![plain_tool(name, "Do What It Says", hints.clone())], "product-action-object")
    };
    for name in ["firefly_generate_image", "firefly_generate_similar", "lightroom_apply_preset"] {
        assert_eq!(bad(name), [""; 0], "{name}");
    }
    for name in [
        "firefly",
        "firefly_generate",
        "firefly_generates_image",
        "firefly_generating_image",
        "firefly_image_generate",
        "generate_image",
        "firefly_generate_a_very_similar_image",
        "fireflyGenerateImage",
        "firefly-generate-image",
    ] {
        assert!(bad(name).iter().any(|problem| problem.starts_with("NAME")), "{name}: {:?}", bad(name));
    }
}

#[test]
fn nextcloud_accepts_the_tools_of_its_table() {
    let table = [
        ("nc_notes_search_notes", "Search Notes", json!({"readOnlyHint": true, "openWorldHint": true})),
        (
            "nc_notes_delete_note",
            "Delete Note",
            json!({"destructiveHint": true, "idempotentHint": true, "openWorldHint": true}),
        ),
        ("nc_notes_create_note", "Create Note", json!({"idempotentHint": false, "openWorldHint": true})),
        (
            "nc_notes_append_content",
            "Append to Note",
            json!({"idempotentHint": false, "openWorldHint": true}),
        ),
    ];
    let standard = standard(&["nextcloud"]);
    for (name, title, annotations) in table {
        let findings = found(vec![plain_tool(name, title, annotations)], &standard);
        assert_eq!(messages(&findings), [""; 0], "{name}");
    }
    let wrong = [
        (
            "nc_notes_search_notes",
            json!({"readOnlyHint": true, "idempotentHint": false, "openWorldHint": true}),
        ),
        ("nc_notes_create_note", json!({"idempotentHint": true, "openWorldHint": true})),
        ("nc_notes_create_note", json!({"openWorldHint": true})),
        (
            "nc_notes_create_note",
            json!({"destructiveHint": true, "idempotentHint": false, "openWorldHint": true}),
        ),
        ("nc_notes_append_content", json!({"idempotentHint": true, "openWorldHint": true})),
        (
            "nc_notes_delete_note",
            json!({"destructiveHint": true, "idempotentHint": false, "openWorldHint": true}),
        ),
        ("nc_notes_delete_note", json!({"idempotentHint": true, "openWorldHint": true})),
    ];
    for (name, annotations) in wrong {
        let tool = plain_tool(name, "Some Title", annotations);
        assert!(!problems(vec![tool.clone()], "nextcloud").is_empty(), "{tool}");
    }
    let closed = json!({"readOnlyHint": true, "openWorldHint": false});
    let closed = plain_tool("nc_semantic_search", "Semantic Search", closed);
    assert!(!problems(vec![closed], "nextcloud").is_empty(), "Nextcloud is an external system");
    let incomplete = plain_tool("nc_notes_search_notes", "Search Notes", json!({"readOnlyHint": true}));
    assert_eq!(problems(vec![incomplete], "nextcloud"), ["HINT-001 /annotations/openWorldHint"]);
}

/// Clients show `annotations.title`, then the name, in place of an empty title.
#[test]
fn an_empty_title_is_a_missing_one() {
    let titles = |title: Value, annotations: Value| -> Vec<String> {
        let tool = json!({"name": "get_group", "title": title, "annotations": annotations,
            "description": "Gets one group with the people that belong to it.", "inputSchema": {"type": "object"}});
        let found = found(vec![tool], &standard(&["mcp"]));
        messages(&found).into_iter().filter(|message| message.starts_with("TITLE-0")).collect()
    };
    for blank in ["", "  "] {
        assert_eq!(titles(json!(blank), json!({})), ["TITLE-001 The title of the tool 'get_group' is empty"]);
    }
    assert_eq!(
        titles(json!(""), json!({"title": "Get group"})),
        ["TITLE-005 The title is '', but `annotations.title` is 'Get group'"]
    );
    let both = titles(json!(""), json!({"title": "get_group"}));
    assert!(
        both.iter().any(|message| message.starts_with("TITLE-002")),
        "the shown title is checked: {both:?}"
    );
    assert_eq!(titles(json!("Get group"), json!({})), [""; 0]);
}
