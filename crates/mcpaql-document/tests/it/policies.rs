//! Policies decide which hints tools have, and which hints are left out.

use crate::support::{HEAD, catalog_of, check, document};
use mcpaql_core::adapter::Mode;
use mcpaql_core::catalog::{AdapterSettings, Catalog, Sharing, Tool};
use mcpaql_core::policy::{self, Policy};
use mcpaql_core::unified::Unified;
use mcpaql_document::policies;
use mcpaql_document::source::Source;
use serde_json::{Value, json};

const NOTES: &str = "operations:
  read: [{ name: search_notes, maps_to: GET /notes }]
  create:
    - { name: create_note, maps_to: POST /notes }
    - { name: append_content, maps_to: POST /notes/append, effect: append }
  update:
    - name: update_note
      maps_to: PUT /notes
      params: { etag: { type: string, required: true, in: header } }
    - { name: write_file, maps_to: PUT /files }
  delete: [{ name: delete_note, maps_to: DELETE /notes }]
  execute: [{ name: provision_access, maps_to: POST /access, effect: session }]
";

fn served(policy: &str, rest: &str, mode: Mode) -> Catalog {
    let text = format!("{HEAD}policy: {policy}\n{rest}");
    catalog_of(
        &Source::new("a.yaml", text),
        &AdapterSettings { mode: Some(mode), ..AdapterSettings::default() },
    )
}

/// The annotations of every tool, in order.
fn annotations(catalog: &Catalog) -> Vec<Value> {
    catalog.tools.iter().map(|tool| tool.to_json()["annotations"].clone()).collect()
}

#[test]
fn nextcloud_writes_only_hints_that_differ_from_the_defaults_of_clients() {
    assert_eq!(
        annotations(&served("nextcloud", NOTES, Mode::Discrete)),
        [
            json!({"idempotentHint": false, "openWorldHint": true}), // create_note
            json!({"idempotentHint": false, "openWorldHint": true}), // append_content
            json!({"readOnlyHint": true, "openWorldHint": true}),
            json!({"idempotentHint": false, "openWorldHint": true}), // update_note, by its etag
            json!({"idempotentHint": true, "openWorldHint": true}),  // write_file
            json!({"destructiveHint": true, "idempotentHint": true, "openWorldHint": true}),
            json!({"readOnlyHint": false, "idempotentHint": false, "openWorldHint": true}),
        ]
    );
}

#[test]
fn lightdash_writes_read_only_and_a_closed_world() {
    let all = annotations(&served("lightdash", NOTES, Mode::Discrete));
    for (index, annotations) in all.iter().enumerate() {
        assert_eq!(*annotations, json!({"readOnlyHint": index == 2, "openWorldHint": false}));
    }
}

#[test]
fn the_integration_chapter_writes_read_only_and_destructive() {
    assert_eq!(
        annotations(&served("mcpaql-spec", NOTES, Mode::All)),
        [
            json!({"readOnlyHint": false, "destructiveHint": false}),
            json!({"readOnlyHint": true, "destructiveHint": false}),
            json!({"readOnlyHint": false, "destructiveHint": true}),
            json!({"readOnlyHint": false, "destructiveHint": true}),
            json!({"readOnlyHint": false, "destructiveHint": true}),
            json!({"readOnlyHint": false, "destructiveHint": true}), // the one tool for everything
        ]
    );
}

#[test]
fn hints_of_the_document_are_always_written() {
    let rest = "annotations: { openWorldHint: true, endpoints: { create: { destructiveHint: false } } }
operations:
  read: [{ name: get_a, maps_to: GET /a, annotations: { idempotentHint: false } }]
  create: [{ name: add_a, maps_to: POST /a }]
";
    assert_eq!(
        annotations(&served("lightdash", rest, Mode::Discrete)),
        [
            json!({"readOnlyHint": false, "destructiveHint": false, "openWorldHint": true}),
            json!({"readOnlyHint": true, "idempotentHint": false, "openWorldHint": true}),
        ]
    );
}

#[test]
fn a_tool_for_several_operations_has_the_hints_of_all_of_them() {
    let rest = "operations:
  read: [{ name: search_notes, maps_to: GET /notes }]
  delete: [{ name: delete_note, maps_to: DELETE /notes }]
endpoints: { notes: { purpose: All, categories: [READ, DELETE] } }
";
    let catalog = served("nextcloud", rest, Mode::Semantic);
    let notes = json!({"readOnlyHint": false, "destructiveHint": true, "idempotentHint": true, "openWorldHint": true});
    assert_eq!(annotations(&catalog)[0], notes);
    let whole = annotations(&served("nextcloud", NOTES, Mode::Single));
    assert_eq!(whole[0].as_object().unwrap().len(), 4, "{whole:?}");

    let settings = AdapterSettings { sharing: Some(Sharing::One), ..AdapterSettings::default() };
    let shared = |name: &str, policy: &str| {
        let head = HEAD.replace("name: demo", &format!("name: {name}"));
        catalog_of(&Source::new("a.yaml", format!("{head}policy: {policy}\n{NOTES}")), &settings)
    };
    let (one, other) = (shared("one", "lightdash"), shared("two", "mcpaql-spec"));
    let unified = Unified::new(&[&one, &other], Sharing::One, None);
    assert_eq!(
        unified.tools()[0].to_json()["annotations"],
        json!({"readOnlyHint": false, "destructiveHint": true, "openWorldHint": true})
    );
}

#[test]
fn a_written_tool_is_read_back_unchanged() {
    let silent = Policy {
        name: "silent".into(),
        written_hints: Default::default(),
        title_in_annotations: false,
        ..Policy::default()
    };
    let settings = AdapterSettings {
        policy: Some("silent".into()),
        policies: vec![silent],
        mode: Some(Mode::All),
        ..AdapterSettings::default()
    };
    let quiet = catalog_of(&document(NOTES), &settings);
    assert!(quiet.tools.iter().all(|tool| tool.to_json().get("annotations").is_none()));
    let served = policy::names().iter().map(|name| served(name, NOTES, Mode::All));
    for tool in served.chain([quiet]).flat_map(|catalog| catalog.tools) {
        assert_eq!(Tool::from_json(&tool.to_json()), Some(tool));
    }
    let mut odd = json!({"name": "a", "title": "A", "description": "", "inputSchema": {}, "annotations": {}});
    assert!(Tool::from_json(&odd).is_some());
    odd["annotations"]["readOnlyHint"] = "yes".into();
    assert_eq!(Tool::from_json(&odd), None);
}

#[test]
fn a_team_s_own_policy_decides_what_is_served() {
    let text = "ours: { extends: nextcloud, open_world: never, writes: [destructiveHint, openWorldHint] }\n";
    let policies = policies::parse(&Source::new("policies.yaml", text)).unwrap();
    let settings = AdapterSettings { policies, mode: Some(Mode::Discrete), ..AdapterSettings::default() };
    let by_document = catalog_of(&document(&format!("policy: ours\n{NOTES}")), &settings);
    let by_setting =
        catalog_of(&document(NOTES), &AdapterSettings { policy: Some("ours".into()), ..settings.clone() });
    assert_eq!(by_document.tools, by_setting.tools);
    let annotations = annotations(&by_document);
    assert_eq!(annotations[0], json!({"destructiveHint": false, "openWorldHint": false}));
    assert_eq!(annotations[5], json!({"destructiveHint": true, "openWorldHint": false}));
    assert!(
        by_document.get("search_notes").unwrap().hints.read_only,
        "what is left unsaid is known all the same"
    );
}

#[test]
fn an_unknown_policy_of_a_document_is_reported() {
    let checked = check(&document(&format!("policy: nextclowd\n{NOTES}")));
    let [problem] = checked.diagnostics.as_slice() else { panic!("{:?}", checked.diagnostics) };
    assert_eq!(problem.pointer, "/policy");
    assert!(problem.message.starts_with("Unknown hint policy 'nextclowd'"), "{}", problem.message);
    assert_eq!(problem.suggestion.as_deref(), Some("did you mean `nextcloud`?"));
    assert!(problem.expected.as_deref().unwrap_or_default().contains("mcpaql-issue"));
    assert!(problem.span.is_some());
    assert!(checked.catalog.is_none(), "another policy than the one that its author chose is not served");
}
