use super::*;
use crate::operation::{Category, ParamLocation, Returns};
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
        param("labels", ParamLocation::Body, false, json!({"type": "array", "items": {"type": "string"}})),
        param("owner", ParamLocation::Path, true, json!({"type": "string"})),
        Param {
            default: Some(json!("open")),
            ..param("state", ParamLocation::Body, false, json!({"enum": ["open", "closed"]}))
        },
        param("title", ParamLocation::Body, true, json!({"type": "string"})),
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
        ..param("state", ParamLocation::Body, false, json!({"type": "string"}))
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
    op.params = vec![param("letter", ParamLocation::Query, true, letters.clone())];
    assert_eq!(line(&op), "pick(letter: \"a\"|\"b\"|\"c\"|\"d\"|…(9))");
    assert!(type_of(&letters).ends_with("\"h\"|\"i\""));
}

#[test]
fn what_the_line_cuts_is_a_type_below_it() {
    let letters = json!({"enum": ["a", "b", "c", "d", "e", "f", "g", "h", "i"]});
    let mut op = operation("pick", Category::Read);
    op.params = vec![
        param("letter", ParamLocation::Query, true, letters.clone()),
        param("others", ParamLocation::Query, false, json!({"type": "array", "items": letters})),
    ];
    let fields: serde_json::Map<String, Value> = ["id", "b", "c", "d", "e"]
        .map(|name| (name.to_owned(), json!({"type": "integer"})))
        .into_iter()
        .collect();
    op.returns = Some(Returns {
        schema: json!({"type": "array", "items": {"type": "object", "properties": fields}}),
        description: String::new(),
    });
    let taken = IndexMap::from([("Letter".to_owned(), json!({"type": "string"}))]);
    assert_eq!(
        line_with_types(&op, &taken),
        "pick(letter: Letter2, others?: Letter2[]) -> Result[]\n\
         type Letter2 = \"a\"|\"b\"|\"c\"|\"d\"|\"e\"|\"f\"|\"g\"|\"h\"|\"i\"\n\
         type Result = { id?: integer, b?: integer, c?: integer, d?: integer, e?: integer }"
    );
}

#[test]
fn an_enum_without_room_is_cut_and_the_operation_named_for_the_rest() {
    let zones: Vec<String> = (0..900).map(|n| format!("Zone/Number_{n}")).collect();
    let mut op = operation("set_zone", Category::Update);
    op.params = vec![param("zone", ParamLocation::Query, true, json!({"enum": zones}))];
    let text = line_with_types(&op, &IndexMap::new());
    assert!(text.starts_with("set_zone(zone: Zone)\ntype Zone = \"Zone/Number_0\"|"), "{text}");
    assert!(text.ends_with("|…(900)\n// more: introspect {\"name\":\"set_zone\"}"), "{text}");
}

#[test]
fn types_of_parameters_have_room_before_those_of_the_answer() {
    let of = |name: &str| json!({"$ref": format!("#/types/{name}")});
    let types: IndexMap<String, Value> = ["Deep", "Answer", "Far", "Asked"]
        .iter()
        .map(|name| ((*name).to_owned(), json!({"properties": {"x": of("Deep"), "y": of("Far")}})))
        .collect();
    let mut op = operation("ask", Category::Create);
    op.params = vec![param("asked", ParamLocation::Body, true, of("Asked"))];
    op.returns = Some(Returns { schema: of("Answer"), description: String::new() });
    let cut = line_with_types_within(&op, &types, TypeBudget { lines: 2, tokens: 1000 });
    assert_eq!(
        cut,
        "ask(asked: Asked) -> Answer\ntype Asked = { x?: Deep, y?: Far }\ntype Deep = { x?: Deep, y?: Far }\n\
         // more: introspect {\"query\":\"types\",\"name\":[\"Far\",\"Answer\"]}"
    );
    assert_eq!(line_with_all_types(&op, &types, TypeBudget { lines: 2, tokens: 1000 }), None);
    assert_eq!(line_with_all_types(&op, &types, TypeBudget::ALONE), Some(line_with_types(&op, &types)));
}

#[test]
fn a_default_that_only_the_target_knows_is_a_comment() {
    let per_page = json!({"type": "integer", "maximum": 100, "default": 30});
    let mut op = operation("list_things", Category::Read);
    op.params = vec![
        param("per_page", ParamLocation::Query, false, per_page.clone()),
        Param {
            sensitive: true,
            ..param("key", ParamLocation::Query, false, json!({"type": "string", "default": "k"}))
        },
        Param {
            default: Some(json!(1)),
            ..param("page", ParamLocation::Query, false, json!({"type": "integer", "default": 1}))
        },
    ];
    assert_eq!(
        line(&op),
        "list_things(per_page?: integer(..100) /* default 30 */, key?: string, page?: integer = 1)"
    );
    let mut op = operation("update_thing", Category::Update);
    op.params = vec![param("size", ParamLocation::Body, false, per_page)];
    assert_eq!(line(&op), "update_thing(size?: integer(..100))", "fields that are left out do not change");
}

#[test]
fn what_the_api_assumes_looks_like_any_default_of_the_target() {
    let assumed = |value: Value, param: Param| Param { api_default: Some(value), ..param };
    let mut op = operation("list_things", Category::Read);
    op.params = vec![
        assumed(json!("v2"), param("version", ParamLocation::Path, true, json!({"type": "string"}))),
        assumed(json!(30), param("per_page", ParamLocation::Query, false, json!({"type": "integer"}))),
        assumed(json!(false), param("all", ParamLocation::Query, false, json!({"type": "boolean"}))),
    ];
    assert_eq!(
        line(&op),
        "list_things(version: string /* default \"v2\" */, per_page?: integer /* default 30 */, all?: boolean)"
    );
    assert_eq!(call(&op), "list_things(version: string, per_page?: integer, all?: boolean)");
    let secret = param("key", ParamLocation::Query, false, json!({"type": "string"}));
    op.params = vec![assumed(json!("k"), Param { sensitive: true, ..secret })];
    assert_eq!(line(&op), "list_things(key?: string)");
    let mut op = operation("update_thing", Category::Update);
    op.params =
        vec![assumed(json!(30), param("size", ParamLocation::Body, false, json!({"type": "integer"})))];
    assert_eq!(line(&op), "update_thing(size?: integer)");
}

#[test]
fn a_brief_call_keeps_what_is_required() {
    let mut op = operation("create_issue", Category::Create);
    let text = json!({"type": "string"});
    op.params =
        ["owner", "repo", "title"].map(|name| param(name, ParamLocation::Body, true, text.clone())).into();
    op.params
        .extend((0..12).map(|n| param(&format!("option_{n}"), ParamLocation::Body, false, text.clone())));
    assert_eq!(brief(&op, 1000), call(&op));
    assert_eq!(
        brief(&op, 28),
        "create_issue(owner: string, repo: string, title: string, option_0?: string, option_1?: string, …(+10))"
    );
    assert_eq!(brief(&op, 14), "create_issue(owner: string, repo: string, title: string, …(+12))");
    assert_eq!(brief(&op, 5), "create_issue(owner, repo, title, …(+12))");
}

#[test]
fn a_brief_call_writes_out_what_is_needed() {
    let mut op = operation("create_issue", Category::Create);
    let text = json!({"type": "string"});
    let states: Vec<String> = (0..12).map(|n| format!("s{n}")).collect();
    op.params = vec![
        param("title", ParamLocation::Body, true, text.clone()),
        param("label", ParamLocation::Body, true, json!({"$ref": "#/types/Label"})),
        param("note", ParamLocation::Body, false, text),
        param("state", ParamLocation::Body, false, json!({"enum": states})),
    ];
    let owner = json!({"type": "object", "properties": {"id": {"type": "string"}}});
    let label = json!({"type": "object", "properties": {
        "color": {"type": "string"}, "owner": {"$ref": "#/types/Owner"}
    }});
    let types: IndexMap<String, Value> =
        IndexMap::from([("Label".to_owned(), label), ("Owner".to_owned(), owner)]);
    let options =
        BriefOptions { tokens: 12, types: Some(&types), implied_strings: true, ..BriefOptions::default() };
    assert_eq!(brief_with(&op, &options), "create_issue(title, label: Label, …(+2))");
    let needed = BriefOptions { needed_tokens: 100, asked: &["state"], ..options };
    let all = states.iter().map(|state| format!("\"{state}\"")).collect::<Vec<_>>().join("|");
    assert_eq!(
        brief_with(&op, &needed),
        format!("create_issue(title, label: {{ color?: string, owner?: object }}, state?: {all}, …(+1))")
    );
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
        ParamLocation::Body,
        true,
        json!({"type": "array", "items": {"$ref": "#/types/Label"}}),
    )];
    assert_eq!(
        line_with_types(&op, &types),
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
        prop_assert!(!TypeFormat::FULL.text(&schema).contains('\n'));
    }
}

#[test]
fn a_value_that_must_be_written_is_shown_whole() {
    let target = "SWBExternalService.AttachCustomerManagedPolicyReferenceToPermissionSet";
    assert_eq!(type_of(&json!({"const": target})), format!("\"{target}\""));
}
