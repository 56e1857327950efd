//! The level, message, conventions and fix of findings about names.

use crate::convention::{RuleLevel, Standard};
use crate::{Finding, Fix, ServerTools, audit};
use mcpaql_document::source::Source;
use serde_json::{Value, json};

fn server(name: &str, names: &[&str]) -> ServerTools {
    let tools = names.iter().map(|name| json!({"name": name, "title": format!("Tool {name}")})).collect();
    ServerTools { name: name.into(), tools, ..ServerTools::default() }
}

fn found(server: ServerTools, standard: &Standard, code: &str) -> Vec<Finding> {
    let mut findings = audit(&[server], standard);
    findings.retain(|finding| finding.rule.code == code);
    findings
}

fn named(names: &[&str]) -> Standard {
    Standard::from_conventions(names.iter().map(|name| crate::load::builtin(name).unwrap().clone()).collect())
}

fn fixes(names: &[&str], code: &str) -> Vec<Option<Fix>> {
    found(server("notes", names), &Standard::default(), code).into_iter().map(|finding| finding.fix).collect()
}

#[test]
fn a_name_is_fixed_only_if_the_new_name_is_unique() {
    assert_eq!(fixes(&["Create Issue"], "NAME-001"), [Some(Fix::Name("create_issue".into()))]);
    assert_eq!(fixes(&["create issue", "create_issue"], "NAME-001"), [None], "another tool has it");
    assert_eq!(fixes(&["create issue", "Create Issue"], "NAME-001"), [None, None], "both would get it");
    assert_eq!(fixes(&["erstelle_größe!"], "NAME-001"), [None], "not in ASCII");
    assert_eq!(fixes(&["notes.get"], "NAME-004"), [Some(Fix::Name("notes_get".into()))]);
    assert_eq!(fixes(&["dеlete\u{200b}_file"], "NAME-018"), [Some(Fix::Name("delete_file".into()))]);
    assert_eq!(fixes(&["dеlete\u{200b}_file"], "NAME-019"), [Some(Fix::Name("delete_file".into()))]);
}

#[test]
fn a_look_alike_letter_is_not_also_reported_as_illegal() {
    let standard = Standard::default();
    assert!(found(server("files", &["dеlete_file"]), &standard, "NAME-001").is_empty());
    let twins = found(server("files", &["delete_file", "dеlete_file"]), &standard, "NAME-018");
    assert_eq!(twins.len(), 1);
    assert_eq!(twins[0].related.len(), 1, "the tool that it looks like");
    // A word in another script is not a disguise.
    assert!(found(server("files", &["получить"]), &standard, "NAME-018").is_empty());
    assert_eq!(found(server("files", &["получить"]), &standard, "NAME-001").len(), 1);
}

#[test]
fn each_client_s_own_prefix_is_counted() {
    // 49 characters: 61 with mcp__notes__, 59 with mcp_notes_, and 54 with the server name alone.
    let name = "a".repeat(49);
    let standard = named(&["claude-code", "codex", "cursor", "gemini-cli", "vscode"]);
    assert!(found(server("notes", &[&name]), &standard, "NAME-005").is_empty());
    let long = found(server("my-notebooks", &[&name]), &standard, "NAME-005");
    assert_eq!(long[0].required_by, ["claude-code", "codex", "cursor", "gemini-cli", "vscode"]);
    assert_eq!(long[0].level, RuleLevel::Error);
    assert_eq!(
        long[0].message,
        format!(
            "The name '{name}' (49 characters) with the server name 'my-notebooks' (12 characters) is too long by 2 to 4: \
             claude-code shows it as mcp__<server>__<tool> and allows 64 characters"
        )
    );
    assert_eq!(
        long[0].help.as_deref(),
        Some("shorten it by 4 characters, or rename the server to at most 8 characters")
    );
}

#[test]
fn without_a_known_server_name_the_message_says_how_much_room_is_left() {
    let of = |length: usize| {
        let server = ServerTools {
            name_is_guessed: true,
            ..server("a-very-long-name-of-a-file-with-tools", &[&"a".repeat(length)])
        };
        found(server, &named(&["claude-code", "cursor"]), "NAME-005")
    };
    // mcp__…__ and a server of 20 leave 37.
    assert!(of(35).is_empty());
    let tight = of(42);
    assert_eq!(tight[0].level, RuleLevel::Advice);
    assert_eq!(
        tight[0].message,
        format!(
            "The name '{}' (42 characters) fits only if the server name has at most 15: \
             claude-code shows it as mcp__<server>__<tool> and allows 64 characters",
            "a".repeat(42)
        )
    );
    assert_eq!(of(50)[0].level, RuleLevel::Warning);
    let alone = of(70);
    assert_eq!((alone[0].level, alone[0].required_by.len()), (RuleLevel::Error, 2));
    let counted = "claude-code shows it as mcp__<server>__<tool> and allows 64 characters";
    assert!(
        alone[0]
            .message
            .ends_with(&format!("is too long by 13 plus the length of the server name: {counted}")),
        "{}",
        alone[0].message
    );
    assert_eq!(
        alone[0].help.as_deref(),
        Some(
            "shorten it by 25 characters to leave 12 for the server name; set the client's name for the server with --name"
        )
    );
    let full = of(57);
    assert!(
        full[0].message.ends_with(&format!("leaves no room for the server name: {counted}")),
        "{}",
        full[0].message
    );
}

#[test]
fn words_are_counted_however_they_are_joined() {
    let standard = named(&["product-action-object"]);
    for (name, fits) in [
        ("getIssue", true),
        ("shopGetIssue", true),
        ("get_issue", true),
        ("issue", false),
        ("Issue", false),
        ("getTheIssueOfTheShop", false),
    ] {
        assert_eq!(found(server("shop", &[name]), &standard, "NAME-007").is_empty(), fits, "{name}");
    }
}

#[test]
fn a_name_that_is_only_cut_is_a_warning() {
    let name = "a".repeat(60);
    let cut = found(server("notes", &[&name]), &named(&["vscode", "codex"]), "NAME-005");
    assert_eq!(cut[0].level, RuleLevel::Warning);
    assert_eq!(cut[0].help.as_deref(), Some("shorten it by 8 characters"), "no server name is short enough");
    assert!(!cut[0].message.contains("(0 characters)"));
    let mixed = found(server("notes", &[&name]), &named(&["vscode", "claude-code"]), "NAME-005");
    assert_eq!(mixed[0].level, RuleLevel::Error);
}

#[test]
fn cursor_s_limit_matches_observations() {
    // Observed: one and 59 are too long, 7 and 52 are not.
    let standard = named(&["cursor"]);
    assert_eq!(found(server("g", &[&"a".repeat(59)]), &standard, "NAME-005").len(), 1);
    assert!(found(server("posthog", &[&"a".repeat(52)]), &standard, "NAME-005").is_empty());
    assert_eq!(found(server("posthog", &[&"a".repeat(53)]), &standard, "NAME-005").len(), 1);
}

#[test]
fn a_finding_names_each_convention_that_requires_it_once() {
    let standard = named(&["mcpaql-spec", "nextcloud", "vscode"]);
    let found = found(server("notes", &["getNote"]), &standard, "NAME-006");
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].level, found[0].fix.clone()),
        (RuleLevel::Warning, Some(Fix::Name("get_note".into())))
    );
    assert_eq!(found[0].required_by, ["mcpaql-spec", "nextcloud"]);
}

#[test]
fn without_a_demand_one_piece_of_advice_is_enough() {
    let found = found(server("notes", &["getNote", "listNotes", "echo"]), &Standard::default(), "NAME-006");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].level, found[0].place.tool), (RuleLevel::Advice, None));
    assert_eq!(found[0].message, "2 of 3 names are not in snake_case, such as 'getNote'");
    assert_eq!(found[0].related.len(), 2);
}

/// The convention of a team with three products.
const TEAM: &str = "ours:
  extends: product-action-object
  names:
    products: [firefly, photoshop, lightroom]
    verbs: [generate, expand, fill, apply, replace, check, list, train, upload, auto]
    objects: [image, video, preset, manifest, actions, text, auth, models]
";

#[test]
fn a_team_s_own_convention_accepts_its_names_and_no_others() {
    let ours = crate::load::parse(&Source::new("conventions.yaml", TEAM)).unwrap();
    let standard = Standard::from_conventions(ours);
    let names = [
        "firefly_generate_image",
        "firefly_generate_similar",
        "firefly_expand_image",
        "firefly_fill_image",
        "firefly_generate_video",
        "firefly_upload_image",
        "firefly_check_auth",
        "photoshop_smart_object_replace",
        "photoshop_document_manifest",
        "photoshop_apply_actions",
        "photoshop_edit_text",
        "lightroom_apply_preset",
        "lightroom_auto_tone",
    ];
    let findings = audit(&[server("adobe", &names)], &standard);
    let of_names: Vec<&str> = findings
        .iter()
        .filter(|finding| finding.rule.code.starts_with("NAME-00"))
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(of_names, [""; 0]);
    let codes = |name: &str| -> Vec<&str> {
        let findings = audit(&[server("adobe", &[name])], &standard);
        let names = findings.iter().filter(|finding| finding.rule.code.starts_with("NAME-00"));
        names.map(|finding| finding.rule.code).collect()
    };
    assert_eq!(codes("generate_image"), ["NAME-008"], "no product");
    assert_eq!(codes("firefly_paint_canvas"), ["NAME-009"], "neither verb nor object");
    assert_eq!(codes("photoshop_replace_one_smart_object"), ["NAME-007"], "five words");
    assert_eq!(codes("firefly-generate-image"), ["NAME-006", "NAME-008"], "not in snake case");
}

#[test]
fn an_old_adapter_name_is_reported_once() {
    let tool = json!({
        "name": "mcp_aql_read", "title": "Notes — Read", "description": "Reads; see introspect.",
        "inputSchema": {"type": "object", "properties": {"operation": {}, "params": {}}}
    });
    let server = ServerTools { name: "notes".into(), tools: vec![tool], ..ServerTools::default() };
    let findings = audit(&[server], &named(&["mcpaql"]));
    let names: Vec<&str> =
        findings.iter().map(|finding| finding.rule.code).filter(|code| code.starts_with("NAME")).collect();
    assert_eq!(names, ["NAME-012"]);
}

#[test]
fn nothing_that_a_server_can_send_breaks_a_rule() {
    let huge = "x".repeat(1 << 15);
    let tools = vec![
        Value::Null,
        json!([]),
        json!({"name": 3, "title": [], "annotations": []}),
        json!({"name": "", "title": "", "annotations": {"title": ""}}),
        json!({"name": huge, "title": huge, "annotations": {"title": huge}}),
        json!({"name": "___", "title": "___"}),
        json!({"name": "\u{202e}\u{0}😀", "title": "\u{1b}[2J"}),
        json!({"name": "-", "title": "\u{e0041}"}),
    ];
    let server = ServerTools { name: huge, tools, ..ServerTools::default() };
    let every = Standard::from_conventions(crate::load::builtins().to_vec());
    let findings = audit(&[server.clone(), server], &every);
    assert!(findings.iter().any(|finding| finding.rule.code == "NAME-003"));
    let own = findings
        .iter()
        .filter(|finding| finding.rule.code.starts_with("NAME") || finding.rule.code.starts_with("TITLE"));
    for finding in own {
        assert!(finding.message.len() < 1000, "{}: {} bytes", finding.rule.code, finding.message.len());
    }
}

#[test]
fn a_verb_instead_of_a_product_is_named() {
    let standard = named(&["product-action-object"]);
    let found = found(server("notes", &["create_user"]), &standard, "NAME-009");
    assert!(found[0].message.ends_with("it starts with the verb 'create' instead of a product"));
}

#[test]
fn a_name_is_never_to_be_shortened_below_zero() {
    let (name, called) = ("a".repeat(30), "s".repeat(70));
    let long = found(server(&called, &[&name]), &named(&["claude-code"]), "NAME-005");
    assert_eq!(long[0].help.as_deref(), Some("rename the server to at most 27 characters"));
}
