//! Rules about annotations.

mod answers_differ;
mod changes_state;
mod closed_world_reach;
mod destructive_read;
mod idempotent_addition;
mod identical_hints;
mod missing_hints;
mod mistyped_hint;
mod mixed_effects;
mod no_answer;
mod no_safety_hint;
mod non_destructive_delete;
mod non_idempotent_read;
mod open_world_mismatch;
mod policy_mismatch;
mod read_only_and_destructive;
mod read_only_write;
mod server_without_hints;
mod unknown_annotation;
mod unmarked_read;

use crate::rule::Rule;

pub(super) static RULES: &[&Rule] = &[
    &missing_hints::RULE,
    &read_only_and_destructive::RULE,
    &no_safety_hint::RULE,
    &server_without_hints::RULE,
    &read_only_write::RULE,
    &destructive_read::RULE,
    &idempotent_addition::RULE,
    &non_idempotent_read::RULE,
    &unmarked_read::RULE,
    &non_destructive_delete::RULE,
    &closed_world_reach::RULE,
    &open_world_mismatch::RULE,
    &mistyped_hint::RULE,
    &unknown_annotation::RULE,
    &mixed_effects::RULE,
    &policy_mismatch::RULE,
    &identical_hints::RULE,
    // These need a probe.
    &changes_state::RULE,
    &answers_differ::RULE,
    &no_answer::RULE,
];

#[cfg(test)]
mod tests {
    use crate::convention::{RuleLevel, Standard};
    use crate::load::builtin;
    use crate::{Finding, Fix, KnownFacts, ServerTools, audit};
    use mcpaql_core::facts::{Effect, Facts, Guard, Reach, Repeat};
    use mcpaql_core::operation::Category;
    use serde_json::{Value, json};

    fn found(tool: &Value, conventions: &[&str]) -> Vec<Finding> {
        let conventions = conventions.iter().map(|name| builtin(name).unwrap().clone());
        let server =
            ServerTools { name: "x".to_owned(), tools: vec![tool.clone()], ..ServerTools::default() };
        let all = audit(&[server], &Standard::from_conventions(conventions.collect()));
        all.into_iter().filter(|finding| finding.rule.code.starts_with("HINT")).collect()
    }

    fn codes(tool: &Value, conventions: &[&str]) -> Vec<String> {
        let line = |finding: Finding| format!("{} {}", finding.rule.code, finding.place.pointer);
        found(tool, conventions).into_iter().map(line).collect()
    }

    fn annotated(name: &str, annotations: Value) -> Value {
        json!({"name": name, "inputSchema": {"type": "object"}, "annotations": annotations})
    }

    fn level(tool: &Value, conventions: &[&str], code: &str) -> Option<RuleLevel> {
        found(tool, conventions)
            .into_iter()
            .find(|finding| finding.rule.code == code)
            .map(|finding| finding.level)
    }

    #[test]
    fn annotations_of_every_wrong_type_are_reported() {
        for annotations in
            [json!("readOnlyHint"), json!(["readOnlyHint", true]), json!(7), json!(true), Value::Null]
        {
            let codes = codes(&annotated("get_x", annotations.clone()), &["openai-apps", "claude-directory"]);
            assert!(codes.contains(&"HINT-013 /annotations".to_owned()), "{annotations}: {codes:?}");
            assert!(codes.contains(&"HINT-003 /annotations".to_owned()), "{annotations}: {codes:?}");
        }
        let mut deep = json!(true);
        for _ in 0..100 {
            deep = json!({ "readOnlyHint": [deep] });
        }
        let codes = codes(&annotated("get_x", deep), &[]);
        assert!(codes.contains(&"HINT-013 /annotations/readOnlyHint".to_owned()), "{codes:?}");
    }

    #[test]
    fn malformed_tools_break_no_rule() {
        let long = "x".repeat(1_000_000);
        for tool in [
            Value::Null,
            json!([]),
            json!("delete_everything"),
            json!({"name": 7, "description": {}, "inputSchema": [], "annotations": {"title": 7}}),
            json!({"name": long.as_str(), "description": long.as_str(), "annotations": {long.as_str(): true}}),
            json!({"name": "x", "inputSchema": {"properties": {"action": 7, "mode": {"enum": 7}, "": null}, "required": "id"}}),
            json!({"name": "x", "inputSchema": {"properties": {"method": {"anyOf": [7, {"const": "get"}, {"enum": ["delete"]}]}}}}),
        ] {
            let _ = found(&tool, &["openai-apps", "claude-directory", "mcpaql", "nextcloud", "lightdash"]);
        }
    }

    #[test]
    fn a_string_that_means_a_boolean_is_fixed_unless_the_name_contradicts_it() {
        let fix = |tool: &Value| {
            let findings = found(tool, &[]);
            findings
                .into_iter()
                .find(|finding| finding.rule.code == "HINT-013")
                .and_then(|finding| finding.fix)
        };
        let Some(Fix::Hints(hints)) = fix(&annotated("get_x", json!({"readOnlyHint": "true"}))) else {
            panic!()
        };
        assert_eq!(hints.read_only, Some(true));
        assert_eq!(fix(&annotated("delete_x", json!({"readOnlyHint": "true"}))), None);
        assert_eq!(fix(&annotated("get_x", json!({"readOnlyHint": 1}))), None);
    }

    #[test]
    fn every_usual_misspelling_is_understood() {
        for (wrong, right) in [
            ("readonlyHint", "readOnlyHint"),
            ("readOnly", "readOnlyHint"),
            ("read_only", "readOnlyHint"),
            ("read_only_hint", "readOnlyHint"),
            ("isReadOnly", "readOnlyHint"),
            ("destructive", "destructiveHint"),
            ("destructivHint", "destructiveHint"),
            ("idempotent", "idempotentHint"),
            ("openworldHint", "openWorldHint"),
        ] {
            let findings = found(&annotated("x", json!({ wrong: false })), &[]);
            let finding = findings.iter().find(|finding| finding.rule.code == "HINT-014").unwrap();
            assert_eq!(finding.help, Some(format!("write `{right}`")), "{wrong}");
            assert!(finding.fix.is_some() && finding.level == RuleLevel::Warning, "{wrong}");
        }
        let extension = annotated("x", json!({"x-cost": 1, "acme/cost": 1, "_note": ""}));
        assert_eq!(level(&extension, &[], "HINT-014"), None);
        assert_eq!(
            level(&annotated("x", json!({"category": "a"})), &[], "HINT-014"),
            Some(RuleLevel::Advice)
        );
    }

    #[test]
    fn the_kind_of_convention_that_requires_a_hint_decides_the_level() {
        let tool = annotated("create_note", json!({"readOnlyHint": false}));
        assert_eq!(level(&tool, &["mcp"], "HINT-001"), Some(RuleLevel::Advice));
        assert_eq!(level(&tool, &["mcpaql"], "HINT-001"), Some(RuleLevel::Warning));
        assert_eq!(level(&tool, &["openai-apps"], "HINT-001"), Some(RuleLevel::Error));
        let by = found(&tool, &["mcpaql", "openai-apps"])
            .into_iter()
            .find(|finding| finding.rule.code == "HINT-001");
        assert_eq!(by.unwrap().required_by, ["mcpaql", "openai-apps"]);
    }

    #[test]
    fn hints_that_the_selected_policy_leaves_out_are_not_reported() {
        let create = json!({
            "name": "nc_notes_create_note", "description": "Create a note.", "inputSchema": {"type": "object"},
            "annotations": {"idempotentHint": false, "openWorldHint": true}
        });
        assert_eq!(codes(&create, &["nextcloud"]), Vec::<String>::new());
        assert_eq!(codes(&create, &["mcp"]), ["HINT-001 /annotations"]);
    }

    #[test]
    fn a_read_only_write_is_as_bad_as_it_is_sure() {
        let reads = |name: &str, description: &str| json!({"name": name, "description": description, "annotations": {"readOnlyHint": true}});
        for (name, description, expected) in [
            ("delete_note", "", Some(RuleLevel::Error)),
            ("send_email", "", Some(RuleLevel::Error)),
            ("mark_all_notifications_read", "", Some(RuleLevel::Error)),
            ("stop_server", "Stops the server.", Some(RuleLevel::Warning)),
            ("trigger_demo", "Demonstrates progress.", Some(RuleLevel::Advice)),
            ("storage_state", "Saves cookies to a file.", Some(RuleLevel::Warning)),
            ("list_deleted_notes", "", None),
            ("get_send_status", "", None),
            ("generate_chart", "Generates a chart.", None),
        ] {
            assert_eq!(level(&reads(name, description), &[], "HINT-005"), expected, "{name}");
        }
    }

    #[test]
    fn a_document_outweighs_names() {
        let facts = Facts {
            effect: Effect::Delete,
            repeat: Repeat::Accumulates,
            overwrites: false,
            reversible: false,
            guard: Guard::None,
            reach: Reach::Backend,
        };
        let claims = json!({"readOnlyHint": true, "idempotentHint": true});
        let server = ServerTools {
            tools: vec![
                annotated("get_next", claims),
                annotated("take_next", json!({"destructiveHint": false})),
            ],
            known: ["get_next", "take_next"]
                .map(|name| (name.to_owned(), KnownFacts { category: Category::Delete, facts }))
                .into(),
            ..ServerTools::default()
        };
        let found = audit(&[server], &Standard::from_conventions(Vec::new()));
        let places: Vec<_> = found.iter().map(|finding| (finding.rule.code, finding.place.tool)).collect();
        assert!(
            places.contains(&("HINT-005", Some(0))) && places.contains(&("HINT-010", Some(1))),
            "{places:?}"
        );
    }

    #[test]
    fn a_hint_that_differs_from_the_selected_policy_is_a_warning() {
        let tool = |schema: Value| {
            let hints = json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true});
            json!({"name": "update_note", "description": "Updates a note.", "inputSchema": schema, "annotations": hints})
        };
        let plain = tool(json!({"type": "object"}));
        assert_eq!(level(&plain, &["mcpaql"], "HINT-016"), Some(RuleLevel::Warning));
        assert_eq!(level(&plain, &["mcp"], "HINT-016"), None, "no policy is selected");
        let etag =
            json!({"type": "object", "properties": {"etag": {"type": "string"}}, "required": ["etag"]});
        assert_eq!(level(&tool(etag), &["mcpaql"], "HINT-016"), Some(RuleLevel::Warning));
        let elsewhere =
            json!({"type": "object", "properties": {"outputs": {"type": "array"}}, "required": ["outputs"]});
        assert_eq!(level(&tool(elsewhere), &["mcpaql"], "HINT-016"), None, "its input may stay unchanged");
        let hints = json!({"readOnlyHint": false, "destructiveHint": false, "idempotentHint": false, "openWorldHint": true});
        let noun = json!({"name": "image_fill", "inputSchema": {"type": "object"}, "annotations": hints});
        assert_eq!(level(&noun, &["mcpaql"], "HINT-016"), None, "the name only says that it runs");
    }

    #[test]
    fn only_tools_that_read_and_write_are_reported_as_mixed() {
        let tool = |parameter: &str, schema: Value| json!({"name": "labels", "inputSchema": {"type": "object", "properties": {parameter: schema}}});
        for (parameter, schema, mixes) in [
            ("action", json!({"enum": ["list", "delete"]}), true),
            ("action", json!({"anyOf": [{"const": "getTable"}, {"const": "deleteTable"}]}), true),
            ("operation", json!({"description": "One of create, read, update and delete"}), true),
            ("action", json!({"enum": ["list", "get"]}), false),
            ("action", json!({"enum": ["create", "delete"]}), false),
            ("command", json!({"description": "What is to execute"}), false),
            ("mode", json!({"enum": ["list", "create"]}), true),
            ("mode", json!({"enum": ["info", "snapshot"]}), false),
            ("type", json!({"enum": ["list", "delete"]}), false),
        ] {
            let found = level(&tool(parameter, schema.clone()), &["mcp"], "HINT-015");
            assert_eq!(found, mixes.then_some(RuleLevel::Advice), "{parameter} {schema}");
        }
        let mixed = tool("action", json!({"enum": ["list", "delete"]}));
        assert_eq!(level(&mixed, &["claude-directory"], "HINT-015"), Some(RuleLevel::Warning));
    }
}
