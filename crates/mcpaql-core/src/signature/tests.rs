use super::*;
use crate::operation::{Category, Place, Returns};
use crate::schema::strategies::any_json;
use crate::validate::fixtures::{operation, param};
use proptest::prelude::*;
use serde_json::json;

#[test]
fn types_read_like_typescript() {
    for (schema, expected) in [
        (json!({"type": "string"}), "string"),
        (json!({"type": "string", "format": "date-time"}), "string(date-time)"),
        (json!({"type": "string", "format": "made-up"}), "string"),
        (json!({"type": "integer", "format": "int32"}), "integer"),
        (json!({"type": ["string", "null"]}), "string | null"),
        (json!({"type": "string", "nullable": true}), "string | null"),
        (json!({"type": ["string", "null"], "nullable": true}), "string | null"),
        (json!({"type": "array", "items": {"type": "string"}}), "string[]"),
        (json!({"type": "array"}), "any[]"),
        (json!({"type": "array", "items": {"type": "string", "nullable": true}}), "(string | null)[]"),
        (json!({"type": "array", "items": {"enum": ["a", "b"]}}), "(\"a\"|\"b\")[]"),
        (
            json!({"prefixItems": [{"type": "string"}, {"type": "integer"}], "type": "array"}),
            "[string, integer]",
        ),
        (json!({"enum": ["open", 1, null]}), "\"open\"|1|null"),
        (json!({"enum": ["a", null], "nullable": true}), "\"a\"|null"),
        (json!({"const": "x"}), "\"x\""),
        (json!({"$ref": "#/types/Label"}), "Label"),
        (json!({"$ref": "#/types/Label", "nullable": true}), "Label | null"),
        (
            json!({"oneOf": [{"type": "string"}, {"$ref": "#/types/Label"}, {"type": "string"}]}),
            "string | Label",
        ),
        (
            json!({"allOf": [{"$ref": "#/types/A"}, {"anyOf": [{"type": "string"}, {"type": "null"}]}]}),
            "A & (string | null)",
        ),
        (json!({"allOf": [{"$ref": "#/types/A"}, {"description": "only words"}]}), "A"),
        (json!({"type": "object"}), "object"),
        (json!({"type": "object", "additionalProperties": {"type": "integer"}}), "{[key]: integer}"),
        (
            json!({"properties": {"name": {"type": "string"}, "x-y": {"type": "integer"}}, "required": ["name"]}),
            "{ name: string, \"x-y\"?: integer }",
        ),
        (
            json!({"properties": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            "{ a?: string }",
        ),
        (json!({"properties": {"deep": {"properties": {"x": {}}}}}), "object"),
        (
            json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"},
                "d": {"type": "string"}, "e": {"type": "string"}}}),
            "object",
        ),
        (json!({}), "any"),
        (json!(true), "any"),
        (json!(false), "never"),
        (json!({"type": "file"}), "any"),
    ] {
        assert_eq!(type_of(&schema), expected, "{schema}");
    }
}

#[test]
fn a_line_has_required_parameters_first() {
    let mut op = operation("create_issue", Category::Create);
    op.params = vec![
        param("labels", Place::Body, false, json!({"type": "array", "items": {"type": "string"}})),
        param("owner", Place::Path, true, json!({"type": "string"})),
        Param {
            default: Some(json!("open")),
            ..param("state", Place::Body, false, json!({"enum": ["open", "closed"]}))
        },
        param("title", Place::Body, true, json!({"type": "string"})),
    ];
    let call = "create_issue(owner: string, title: string, labels?: string[], state?: \"open\"|\"closed\" = \"open\")";
    assert_eq!(line(&op), call);
    op.returns = Some(Returns { schema: json!({"$ref": "#/types/Issue"}), description: String::new() });
    assert_eq!(line(&op), format!("{call} -> Issue"));
    assert_eq!(super::call(&op), call);
    assert_eq!(line(&operation("ping", Category::Read)), "ping()");
}

#[test]
fn a_default_that_is_not_filled_in_is_not_shown() {
    let state = Param {
        default: Some(json!("open")),
        ..param("state", Place::Body, false, json!({"type": "string"}))
    };
    let mut op = operation("update_issue", Category::Update);
    op.params = vec![state.clone()];
    assert_eq!(line(&op), "update_issue(state?: string)");
    let mut op = operation("login", Category::Execute);
    op.params = vec![Param { sensitive: true, ..state }];
    assert_eq!(line(&op), "login(state?: string)");
}

#[test]
fn a_long_enum_is_cut_in_the_line_only() {
    let letters = json!({"enum": ["a", "b", "c", "d", "e", "f", "g", "h", "i"]});
    let mut op = operation("pick", Category::Read);
    op.params = vec![param("letter", Place::Query, true, letters.clone())];
    assert_eq!(line(&op), "pick(letter: \"a\"|\"b\"|\"c\"|\"d\"|…(9))");
    assert!(type_of(&letters).ends_with("\"h\"|\"i\""));
}

#[test]
fn types_follow_the_line_transitively_and_once() {
    let types: IndexMap<String, Value> = IndexMap::from([
        ("Unused".to_owned(), json!({"type": "string"})),
        (
            "Label".to_owned(),
            json!({"properties": {"name": {"type": "string"}, "color": {"type": "string"}, "default": {"$ref": "#/types/Flag"},
                "parent": {"$ref": "#/types/Label"}, "owner": {"properties": {"user": {"$ref": "#/types/User"}}}},
                "required": ["name"], "example": {"$ref": "#/types/Unused"}}),
        ),
        (
            "User".to_owned(),
            json!({"type": "object", "properties": {"labels": {"type": "array", "items": {"$ref": "#/types/Label"}}}}),
        ),
        ("Flag".to_owned(), json!({"type": "boolean"})),
    ]);
    let mut op = operation("label", Category::Create);
    op.params = vec![param(
        "labels",
        Place::Body,
        true,
        json!({"type": "array", "items": {"$ref": "#/types/Label"}}),
    )];
    assert_eq!(
        with_types(&op, &types),
        "label(labels: Label[])\n\
         type Label = { name: string, color?: string, default?: Flag, parent?: Label, owner?: { user?: User } }\n\
         type Flag = boolean\n\
         type User = { labels?: Label[] }"
    );
}

proptest! {
    #[test]
    fn any_schema_has_a_type_on_one_line(schema in any_json()) {
        let text = type_of(&schema);
        prop_assert!(!text.is_empty() && !text.contains('\n'), "{}", text);
        prop_assert!(!Form::FULL.text(&schema).contains('\n'));
    }
}
