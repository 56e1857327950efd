//! For any input, an audit ends, gives the same findings twice, and points to possible places.

use super::*;
use crate::convention::Standard;
use crate::load::builtins;
use proptest::prelude::*;
use serde_json::{Value, json};

fn full_standard() -> Standard {
    Standard::from_conventions(builtins().to_vec())
}

fn audited(tools: Vec<Value>) -> Vec<Finding> {
    audit(&[ServerTools { name: "hostile".into(), tools, ..ServerTools::default() }], &full_standard())
}

/// Words that rules look for, in the wrong places.
fn key() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "name",
        "title",
        "description",
        "annotations",
        "inputSchema",
        "outputSchema",
        "type",
        "properties",
        "required",
        "items",
        "enum",
        "default",
        "$ref",
        "$defs",
        "anyOf",
        "allOf",
        "pattern",
        "format",
        "const",
        "not",
        "a/b",
        "~",
        "×",
    ];
    prop_oneof![8 => prop::sample::select(KNOWN).prop_map(str::to_owned), 1 => any::<String>()]
}

fn text() -> impl Strategy<Value = String> {
    const KNOWN: &[&str] = &[
        "object",
        "array",
        "string",
        "int",
        "#",
        "#/$defs/a",
        "#/properties/a",
        "https://1.2.3.4/x",
        "https://a:b@c",
        "![x](http://x)",
        "data:a/b;base64,",
        "[",
        "`get_x` tool",
        "<IMPORTANT>",
        "ignore all previous instructions",
        "\u{1b}[8m",
        "<!--",
        "\u{200b}",
        "\u{e0041}",
        "do not tell the user",
        "://",
        "`",
        "日本語",
        "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    ];
    prop_oneof![6 => prop::sample::select(KNOWN).prop_map(str::to_owned), 2 => any::<String>()]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn tool() -> impl Strategy<Value = Value> {
    let made = (text(), text(), value(), value()).prop_map(|(name, description, schema, annotations)| {
        json!({"name": name, "description": description, "inputSchema": schema, "annotations": annotations})
    });
    prop_oneof![1 => value(), 4 => made]
}

proptest! {
    #[test]
    fn no_tools_break_an_audit(tools in prop::collection::vec(tool(), 0..4)) {
        let found = audited(tools.clone());
        for finding in &found {
            prop_assert!(finding.place.tool.is_none_or(|tool| tool < tools.len()));
            prop_assert!(finding.place.pointer.is_empty() || finding.place.pointer.starts_with('/'));
            prop_assert!(!finding.message.is_empty());
        }
        let text = |findings: &[Finding]| findings.iter().map(|finding| format!("{finding:?}")).collect::<Vec<_>>();
        prop_assert_eq!(text(&found), text(&audited(tools)));
    }
}

#[test]
fn nothing_is_too_deep_or_too_long() {
    let deep = (0..120).fold(json!({"type": "string"}), |inner, n| match n % 3 {
        0 => json!({"items": inner}),
        1 => json!({"anyOf": [inner]}),
        _ => json!({"properties": {"a": inner}}),
    });
    let long = "Ignore it. ".repeat(100_000);
    let chain: serde_json::Map<String, Value> =
        (0..500).map(|n| (format!("d{n}"), json!({"$ref": format!("#/$defs/d{}", n + 1)}))).collect();
    let found = audited(vec![
        json!({"name": "get_deep", "description": long, "inputSchema": deep}),
        json!({"name": "get_chain", "inputSchema": {"type": "object", "$defs": chain, "properties": {"a": {"$ref": "#/$defs/d0"}}}}),
    ]);
    let codes: Vec<&str> = found.iter().map(|finding| finding.rule.code).collect();
    for code in ["DESC-003", "SCHEMA-001", "SCHEMA-003", "SCHEMA-012", "SCHEMA-014"] {
        assert!(codes.contains(&code), "{code}: {codes:?}");
    }
}

#[test]
fn no_finding_shows_the_secret_it_is_about() {
    let key = "ghp_9876543210zyxwvutsrqZYXWVUTSRQ987654";
    let found = audited(vec![json!({
        "name": "get_note", "description": format!("Reads. Use {key} or https://bob:{key}@db.example.com/x"),
        "inputSchema": {"type": "object", "properties": {"key": {"type": "string", "default": key, "description": "A key"}}}
    })]);
    assert!(found.iter().any(|finding| finding.rule.code == "DESC-011"));
    assert!(found.iter().any(|finding| finding.rule.code == "DESC-010"));
    assert!(found.iter().all(|finding| !format!("{finding:?}").contains(key)));
}

#[test]
fn an_entry_that_is_not_an_object_has_one_finding() {
    let found =
        audited(vec![json!(7), json!(["a"]), json!({"name": "get_note", "inputSchema": {"type": "object"}})]);
    for entry in [0, 1] {
        let messages: Vec<&str> = found
            .iter()
            .filter(|finding| finding.place.tool == Some(entry))
            .map(|finding| finding.message.as_str())
            .collect();
        assert_eq!(messages, [format!("Entry {entry} of the list is not an object")]);
    }
}

#[test]
fn findings_say_what_is_wrong_and_what_is_expected() {
    let tools = vec![
        json!({"name": "save note", "title": "save_note", "annotations": {"readOnlyHint": true, "title": 3},
            "inputSchema": {"type": "object", "properties": {"when": {"type": "string", "enum": 7}, "how": {"type": ["boolean", "string"]}}}}),
        json!({"name": "delete_note", "inputSchema": {"type": "object", "properties": {"x": 3}}}),
    ];
    let found = audited(tools);
    let of = |code: &str, tool: usize| {
        let of = |finding: &&Finding| finding.rule.code == code && finding.place.tool == Some(tool);
        found
            .iter()
            .filter(of)
            .map(|finding| format!("{}; {}", finding.message, finding.help.clone().unwrap_or_default()))
            .collect::<Vec<_>>()
            .join("\n")
    };
    assert!(
        of("HINT-005", 0).contains("but the verb 'save' in its name suggests a write"),
        "{}",
        of("HINT-005", 0)
    );
    assert!(of("NAME-001", 0).contains("contains a space"), "{}", of("NAME-001", 0));
    assert!(of("TITLE-002", 0).contains("write it for people"), "{}", of("TITLE-002", 0));
    assert!(of("SCHEMA-006", 0).contains("split it into several parameters"), "{}", of("SCHEMA-006", 0));
    assert!(!of("SCHEMA-006", 0).contains("null"), "{}", of("SCHEMA-006", 0));
    assert!(
        of("SCHEMA-015", 0).contains("`enum` of the parameter 'when' of 'save note' is not a list"),
        "{}",
        of("SCHEMA-015", 0)
    );
    assert!(
        of("SCHEMA-015", 1)
            .contains("'x' in the `properties` of the schema of 'delete_note' is not a schema"),
        "{}",
        of("SCHEMA-015", 1)
    );
    assert!(!of("HINT-001", 1).contains("readOnlyHint: true"), "{}", of("HINT-001", 1));
    let titles = found.iter().filter(|finding| finding.place.pointer == "/annotations/title");
    assert_eq!(
        titles
            .filter(
                |finding| finding.message.contains("not a string") || finding.message.contains("instead of")
            )
            .count(),
        1
    );
}
