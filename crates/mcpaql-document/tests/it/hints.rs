//! Titles and hints, row by row: facts → policy → overrides. A write must never be published as read-only.

use crate::generated::{Plan, plans};
use crate::support::{HEAD, catalog, catalog_of, check, document, tool};
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{AdapterSettings, Catalog, Tool};
use mcpaql_core::operation::Category;
use mcpaql_core::policy::HintOverrides;
use mcpaql_document::source::Source;
use proptest::prelude::*;

const T: bool = true;
const F: bool = false;

/// Returns one operation of each category; those of update and delete have these keys.
fn five(update: &str, delete: &str) -> String {
    format!(
        "display_name: Apple Mail
operations:
  create: [{{ name: create_message, maps_to: POST /messages }}]
  read: [{{ name: get_message, maps_to: GET /messages }}]
  update: [{{ name: update_message, {update} }}]
  delete: [{{ name: delete_message, {delete} }}]
  execute: [{{ name: send_message, maps_to: POST /send }}]
"
    )
}

const PATCH: &str = "maps_to: PATCH /messages";
const DELETE: &str = "maps_to: DELETE /messages";

fn mail(rest: &str, mode: Mode) -> Catalog {
    let text = HEAD.replace("name: demo", "name: apple-mail") + rest;
    catalog_of(
        &Source::new("a.yaml", text),
        &AdapterSettings { mode: Some(mode), ..AdapterSettings::default() },
    )
}

/// Returns readOnly, destructive, idempotent and openWorld, with the defaults of clients.
fn four(hints: HintOverrides) -> [bool; 4] {
    let hints = hints.effective();
    [hints.read_only, hints.destructive, hints.idempotent, hints.open_world]
}

/// The rows of a policy's table: CREATE, READ, UPDATE, DELETE, EXECUTE, single.
fn table(policy: &str, update: &str, delete: &str) -> Vec<[bool; 4]> {
    let rest = format!("policy: {policy}\n{}", five(update, delete));
    mail(&rest, Mode::All).tools.iter().map(|tool| four(tool.hints)).collect()
}

#[test]
fn titles_name_the_adapter_and_the_endpoint() {
    let catalog = mail(&five(PATCH, DELETE), Mode::All);
    let titles: Vec<(&str, &str)> =
        catalog.tools.iter().map(|tool| (tool.name.as_str(), tool.title.as_str())).collect();
    assert_eq!(
        titles,
        [
            ("apple_mail_mcpaql_create", "Apple Mail — Create"),
            ("apple_mail_mcpaql_read", "Apple Mail — Read"),
            ("apple_mail_mcpaql_update", "Apple Mail — Update"),
            ("apple_mail_mcpaql_delete", "Apple Mail — Delete"),
            ("apple_mail_mcpaql_execute", "Apple Mail — Execute"),
            ("apple_mail_mcpaql", "Apple Mail"),
        ]
    );
}

#[test]
fn a_title_and_all_four_hints_are_always_written_out() {
    for mode in Mode::ALL {
        for tool in &mail(&five(PATCH, DELETE), mode).tools {
            let json = tool.to_json();
            assert_eq!(json["title"], json["annotations"]["title"]);
            for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
                assert!(json["annotations"][hint].is_boolean(), "{} {hint}", tool.name);
            }
        }
    }
}

#[test]
fn an_adapter_without_a_display_name_gets_one_from_its_name() {
    let rest = five(PATCH, DELETE).replace("display_name: Apple Mail\n", "");
    assert_eq!(tool(&mail(&rest, Mode::Semantic), "apple_mail_mcpaql_read").title, "Apple Mail — Read");
}

#[test]
fn the_default_policy() {
    assert_eq!(
        table("mcpaql", PATCH, DELETE),
        [
            [F, F, F, T], // CREATE
            [T, F, T, T], // READ
            [F, T, F, T], // UPDATE: a PATCH may not be repeatable
            [F, T, T, T], // DELETE
            [F, T, F, T], // EXECUTE
            [F, T, F, T], // single
        ]
    );
    let catalog = catalog_of(
        &Source::new("a.yaml", HEAD.replace("name: demo", "name: github-api") + &five(PATCH, DELETE)),
        &AdapterSettings::default(),
    );
    assert_eq!(four(tool(&catalog, "github_api_mcpaql_execute").hints), [F, T, F, T]);
}

#[test]
fn an_update_family_is_idempotent_only_if_every_operation_in_it_is() {
    let hints = |update: &str| table("mcpaql", update, DELETE)[2];
    assert_eq!(hints("maps_to: PUT /messages"), [F, T, T, T], "a PUT replaces");
    assert_eq!(hints("maps_to: PATCH /messages, idempotent: true"), [F, T, T, T]);
    assert_eq!(hints("maps_to: PUT /messages, idempotent: false"), [F, T, F, T]);
    let guarded =
        "maps_to: PUT /messages, params: { if_match: { type: string, required: true, in: header } }";
    assert_eq!(hints(guarded), [F, T, F, T], "the same etag a second time has another outcome");
    let which = "maps_to: \"PUT /messages/{version}\", params: { version: { type: string, required: true } }";
    assert_eq!(hints(which), [F, T, T, T], "a version in the path only identifies a resource");
    let two = "maps_to: PUT /messages }, { name: move_message, maps_to: PATCH /messages";
    assert_eq!(hints(two), [F, T, F, T]);
}

#[test]
fn a_delete_family_is_idempotent_only_if_every_operation_in_it_is() {
    assert_eq!(table("mcpaql", PATCH, "maps_to: DELETE /messages, idempotent: false")[3], [F, T, F, T]);
}

#[test]
fn a_single_tool_reads_only_if_every_operation_reads() {
    let single = |rest: &str| four(mail(rest, Mode::Single).tools[0].hints);
    assert_eq!(single("operations: { read: [{ name: get_a, maps_to: GET /a }] }\n"), [T, F, T, T]);
    assert_eq!(
        single(
            "operations: { read: [{ name: get_a, maps_to: GET /a }], create: [{ name: add_a, maps_to: POST /a }] }\n"
        ),
        [F, F, F, T]
    );
}

#[test]
fn the_policy_of_the_naming_proposal() {
    assert_eq!(
        table("mcpaql-issue", PATCH, DELETE),
        [[F, F, F, T], [T, F, T, T], [F, F, F, T], [F, T, T, T], [F, T, F, T], [F, T, F, T]]
    );
}

#[test]
fn the_policy_of_mcp_itself() {
    assert_eq!(
        table("mcp", "maps_to: PUT /messages", DELETE),
        [[F, F, F, T], [T, F, T, T], [F, T, T, T], [F, T, T, T], [F, T, F, T], [F, T, F, T]]
    );
    // This policy uses the effect, not the category.
    let effect = |effect: &str| {
        let rest = format!(
            "policy: mcp\noperations: {{ execute: [{{ name: do_it, maps_to: POST /a, effect: {effect} }}] }}\n"
        );
        tool(&catalog(&rest), "demo_mcpaql_execute").hints.effective().destructive
    };
    for destroying in ["delete", "soft_delete", "unlink", "set", "update", "move", "execute", "multiplexed"] {
        assert!(effect(destroying), "{destroying}");
    }
    for adding in ["send", "append", "create"] {
        assert!(!effect(adding), "{adding}");
    }
    let guarded =
        "maps_to: PUT /messages, params: { if_match: { type: string, required: true, in: header } }";
    assert!(table("mcp", guarded, DELETE)[2][2], "a refused repeat has no further effect");
}

#[test]
fn a_policy_that_does_not_exist_is_refused() {
    let settings = AdapterSettings { policy: Some("strict".into()), ..AdapterSettings::default() };
    let checked = mcpaql_document::check::check(&document(&five(PATCH, DELETE)), &settings);
    assert!(checked.catalog.is_none());
    assert_eq!(checked.diagnostics[0].message, "Unknown hint policy 'strict'");
}

#[test]
fn the_most_specific_override_wins() {
    let hints = |adapter: &str, endpoint: &str, operation: &str| {
        let rest = format!(
            "annotations: {{ {adapter} endpoints: {{ update: {{ {endpoint} }} }} }}
operations: {{ update: [{{ name: set_a, maps_to: PUT /a, annotations: {{ {operation} }} }}] }}
"
        );
        tool(&catalog(&rest), "demo_mcpaql_update").hints.effective().destructive
    };
    assert!(hints("", "", ""));
    assert!(!hints("destructiveHint: false,", "", ""));
    assert!(hints("destructiveHint: false,", "destructiveHint: true", ""));
    assert!(!hints("destructiveHint: true,", "destructiveHint: true", "destructiveHint: false"));
}

#[test]
fn no_wider_layer_publishes_a_write_as_read_only() {
    let rest = format!(
        "annotations: {{ readOnlyHint: true, endpoints: {{ update: {{ readOnlyHint: true }}, execute: {{ readOnlyHint: true }} }} }}\n{}",
        five(PATCH, DELETE)
    );
    let catalog = mail(&rest, Mode::All);
    let reading: Vec<&str> = catalog
        .tools
        .iter()
        .filter(|tool| tool.hints.effective().read_only)
        .map(|tool| tool.name.as_str())
        .collect();
    assert_eq!(reading, ["apple_mail_mcpaql_read"]);
    assert!(
        tool(&catalog, "apple_mail_mcpaql_delete").hints.effective().destructive,
        "nor does it lose its warning"
    );

    let families = format!(
        "{}endpoints: {{ everything: {{ purpose: All, categories: [CREATE, READ, UPDATE, DELETE, EXECUTE], annotations: {{ readOnlyHint: true }} }} }}\n",
        five(PATCH, DELETE)
    );
    assert!(
        !tool(&mail(&families, Mode::Semantic), "apple_mail_mcpaql_everything").hints.effective().read_only
    );
}

#[test]
fn an_operation_may_declare_itself_read_only_and_causes_a_warning() {
    let rest = "operations: { execute: [{ name: run_query, maps_to: POST /query, annotations: { readOnlyHint: true } }] }\n";
    let checked = check(&document(rest));
    assert_eq!(checked.errors(), 0);
    assert_eq!(checked.diagnostics[0].message, "'run_query' is listed under `execute` but marked read-only");
    assert_eq!(checked.diagnostics[0].pointer, "/operations/execute/0/annotations/readOnlyHint");
    let catalog = checked.catalog.unwrap();
    assert_eq!(four(tool(&catalog, "demo_mcpaql_execute").hints), [T, F, T, T]);
}

#[test]
fn a_family_carries_the_hints_of_its_riskiest_operation() {
    let rest = format!(
        "{}endpoints:
  query: {{ purpose: Look, categories: [READ] }}
  write: {{ purpose: Add, operations: [create_message, delete_message] }}
  other: {{ purpose: Do, categories: [UPDATE, EXECUTE] }}
",
        five(PATCH, DELETE)
    );
    let catalog = mail(&rest, Mode::Semantic);
    let hints = |name: &str| four(tool(&catalog, name).hints);
    assert_eq!(hints("apple_mail_mcpaql_query"), [T, F, T, T]);
    assert_eq!(hints("apple_mail_mcpaql_write"), [F, T, F, T], "it can delete, and creating accumulates");
    assert_eq!(hints("apple_mail_mcpaql_other"), [F, T, F, T]);
    assert_eq!(tool(&catalog, "apple_mail_mcpaql_query").title, "Apple Mail — Query");
}

#[test]
fn an_operation_that_destroys_is_announced_as_destructive_in_any_category() {
    for keys in ["danger: destructive", "danger: forbidden", "effect: delete", "effect: unlink"] {
        for policy in ["mcpaql", "mcpaql-issue", "mcpaql-spec", "mcp"] {
            let rest = format!(
                "policy: {policy}\noperations: {{ create: [{{ name: add_it, maps_to: POST /a, {keys} }}] }}"
            );
            let catalog = catalog(&rest);
            let create = tool(&catalog, "demo_mcpaql_create");
            assert!(create.hints.effective().destructive, "{keys} under {policy}");
            assert!(!create.description.contains("untouched"), "{}", create.description);
        }
    }
}

#[test]
fn a_dangerous_operation_cannot_be_a_read() {
    let source = document("operations: { read: [{ name: get_it, maps_to: GET /a, danger: destructive }] }");
    let checked = check(&source);
    assert_eq!(checked.errors(), 1, "{:?}", checked.diagnostics);
    assert_eq!(checked.diagnostics[0].message, "An operation that is destructive cannot be a read");
    assert!(checked.catalog.unwrap().get("get_it").is_none(), "it is not served");
}

#[test]
fn only_calls_to_other_machines_are_open_world() {
    let native = "name: demo
type: adapter
version: \"1.0.0\"
description: A demo
target: { transport: native, protocol: command }
operations: { read: [{ name: show_log, command: [git, log] }] }
";
    let catalog = catalog_of(&Source::new("a.yaml", native), &AdapterSettings::default());
    assert_eq!(four(tool(&catalog, "demo_mcpaql_read").hints), [T, F, T, F]);
    let store = native
        .replace(
            "protocol: command",
            "protocol: store, resources: { note: { fields: { title: { type: string } } } }",
        )
        .replace("operations:", "x-operations:");
    let catalog = catalog_of(&Source::new("a.yaml", store), &AdapterSettings::default());
    assert!(catalog.tools.iter().all(|tool| !tool.hints.effective().open_world));
}

#[test]
fn in_discrete_mode_every_tool_has_its_own_title_and_hints() {
    let rest = format!(
        "{}    - {{ name: create_note, title: Jot Down, maps_to: POST /notes }}\n",
        five(PATCH, DELETE).replace("  create: [{ name: create_message, maps_to: POST /messages }]\n", "")
            + "  create:\n"
    );
    let catalog = mail(&rest, Mode::Discrete);
    let shown: Vec<(&str, [bool; 4])> =
        catalog.tools.iter().map(|tool: &Tool| (tool.title.as_str(), four(tool.hints))).collect();
    assert_eq!(
        shown,
        [
            ("Jot Down", [F, F, F, T]),
            ("Get Message", [T, F, T, T]),
            ("Update Message", [F, T, F, T]),
            ("Delete Message", [F, T, T, T]),
            ("Send Message", [F, T, F, T]),
        ]
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_tool_is_read_only_only_if_every_operation_behind_it_reads(plan in plans(12)) {
        for mode in Mode::ALL {
            let checked = plan.check(&AdapterSettings { mode: Some(mode), ..AdapterSettings::default() });
            let catalog = checked.catalog.expect("generated adapters can be served");
            for tool in catalog.tools.iter().filter(|tool| tool.hints.effective().read_only) {
                for entry in catalog.operations.iter().filter(|entry| Plan::reaches(&catalog, &tool.name, entry)) {
                    let operation = &entry.operation;
                    let says_so = operation.hints.read_only == Some(true);
                    prop_assert!(operation.category == Category::Read || says_so, "{} in {}", operation.name, tool.name);
                }
            }
        }
    }
}
