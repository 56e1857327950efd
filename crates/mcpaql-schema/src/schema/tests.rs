use super::strategies::{any_json, fitting, schema};
use super::*;
use crate::diagnostic::Severity;
use crate::error::Code;
use proptest::prelude::*;
use serde_json::json;

fn types(value: Value) -> IndexMap<String, Value> {
    value.as_object().unwrap().clone().into_iter().collect()
}

/// Returns the violations of `value` as text.
fn violations(schema: Value, value: Value) -> Vec<String> {
    let mut schemas = SchemaSet::default();
    let (id, problems) = schemas.add(&schema, "");
    assert_eq!(problems, [], "{schema}");
    schemas.check(id, &value).iter().map(ToString::to_string).collect()
}

fn problems(schema: Value) -> Vec<SchemaProblem> {
    let (mut schemas, _) =
        SchemaSet::compile(&types(json!({"Issue": {"type": "object"}, "Label": {"type": "string"}})));
    schemas.add(&schema, "/p").1
}

#[test]
fn every_keyword_accepts_and_refuses() {
    for (schema, right, wrong) in [
        (json!({"type": "integer"}), json!([1, -1, 1.0, 1e3]), json!([1.5, "1", true, null])),
        (json!({"type": "number"}), json!([1, 1.5]), json!(["1", null])),
        (json!({"type": ["string", "null"]}), json!(["", null]), json!([1, {}])),
        (json!({"type": "string", "nullable": true, "enum": ["a"]}), json!(["a", null]), json!(["b", 1])),
        (json!({"enum": ["a", 1, null]}), json!(["a", 1, 1.0, null]), json!(["A", 2, false])),
        (json!({"const": {"a": [1]}}), json!([{"a": [1.0]}]), json!([{"a": []}, {}])),
        (json!({"minimum": 1, "maximum": 3}), json!([1, 3, 2.5, "not a number"]), json!([0, 4, 0.99])),
        (json!({"exclusiveMinimum": 1, "exclusiveMaximum": 3}), json!([2, 1.1]), json!([1, 3])),
        (json!({"minimum": 1, "exclusiveMinimum": true}), json!([2]), json!([1, 0])),
        (json!({"minimum": 1, "exclusiveMinimum": 5}), json!([6]), json!([5, 2])),
        (
            json!({"minimum": 9_007_199_254_740_993_i64}),
            json!([9_007_199_254_740_993_i64]),
            json!([9_007_199_254_740_992_i64]),
        ),
        (json!({"multipleOf": 0.1}), json!([0.3, 1, 1_000_000.1]), json!([0.35])),
        (json!({"multipleOf": 3}), json!([9, 0, -3]), json!([10])),
        (json!({"minLength": 2, "maxLength": 3}), json!(["éé", "日本語"]), json!(["é", "日本語だ", ""])),
        (json!({"pattern": "^a+$"}), json!(["aa"]), json!(["b", ""])),
        (json!({"format": "date"}), json!(["2024-02-29", 5]), json!(["yesterday"])),
        (json!({"format": "made-up"}), json!(["anything"]), json!([])),
        (json!({"type": "array", "items": {"type": "string"}}), json!([[], ["a"]]), json!([[1], "a"])),
        (json!({"items": {"type": "string"}}), json!([["a"]]), json!(["a", [1]])),
        (
            json!({"prefixItems": [{"type": "string"}, {"type": "integer"}]}),
            json!([["a", 1, true], []]),
            json!([["a", "b"]]),
        ),
        (
            json!({"items": [{"type": "string"}], "additionalItems": false}),
            json!([["a"]]),
            json!([["a", 1], [1]]),
        ),
        (json!({"minItems": 1, "maxItems": 2}), json!([[1]]), json!([[], [1, 2, 3]])),
        (
            json!({"uniqueItems": true}),
            json!([[1, 2], [], [[1], [2]]]),
            json!([[1, 1.0], [{"a": 1, "b": 2}, {"b": 2, "a": 1}]]),
        ),
        (
            json!({"properties": {"a": {"type": "string"}}, "required": ["a"]}),
            json!([{"a": "", "b": 1}]),
            json!([{}, {"a": 1}, "a"]),
        ),
        (json!({"properties": {"a": {"type": "string", "required": true}}}), json!([{"a": ""}]), json!([{}])),
        (
            json!({"properties": {"a": {}}, "additionalProperties": false}),
            json!([{"a": 1}, {}]),
            json!([{"b": 1}]),
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "integer"}}),
            json!([{"x": 1}]),
            json!([{"x": "1"}]),
        ),
        (
            json!({"patternProperties": {"^x": {"type": "integer"}}, "additionalProperties": false}),
            json!([{"x1": 1}]),
            json!([{"x1": ""}, {"y": 1}]),
        ),
        (
            json!({"minProperties": 1, "maxProperties": 2}),
            json!([{"a": 1}]),
            json!([{}, {"a": 1, "b": 2, "c": 3}]),
        ),
        (json!({"anyOf": [{"type": "string"}, {"minimum": 3}]}), json!(["a", 3]), json!([2])),
        (json!({"allOf": [{"type": "integer"}, {"minimum": 3}]}), json!([3]), json!([2, "a"])),
        (json!({"not": {"type": "string"}}), json!([1]), json!(["a"])),
        (json!(true), json!([1]), json!([])),
        (json!(false), json!([]), json!([1, null])),
    ] {
        for value in right.as_array().unwrap() {
            assert_eq!(violations(schema.clone(), value.clone()), [""; 0], "{schema} should accept {value}");
        }
        for value in wrong.as_array().unwrap() {
            assert_ne!(violations(schema.clone(), value.clone()), [""; 0], "{schema} should reject {value}");
        }
    }
}

#[test]
fn violations_read_as_the_rest_of_a_sentence() {
    for (schema, value, expected) in [
        (json!({"type": "integer"}), json!("1"), "expected 'integer', got 'string'"),
        (json!({"type": ["number", "null"]}), json!("1"), "expected 'number | null', got 'string'"),
        (json!({"enum": ["open", "closed"]}), json!("opne"), "must be one of 'open', 'closed'"),
        (json!({"const": 3}), json!(4), "must be 3"),
        (json!({"minimum": 1, "maximum": 100}), json!(0), "must be between 1 and 100"),
        (json!({"minimum": 1}), json!(0), "must be 1 or more"),
        (json!({"exclusiveMaximum": 1}), json!(1), "must be less than 1"),
        (json!({"minLength": 1}), json!(""), "must have 1 character or more, has 0"),
        (json!({"maxItems": 1}), json!([1, 2]), "must have no more than 1 item, has 2"),
        (json!({"minItems": 2, "maxItems": 2}), json!([]), "must have exactly 2 items, has 0"),
        (json!({"pattern": "^a$"}), json!("b"), "must match the pattern ^a$"),
        (json!({"uniqueItems": true}), json!([1, 2, 1]), "'[2]' repeats an earlier item of the list"),
        (json!({"required": ["name"]}), json!({}), "is missing required field 'name'"),
        (
            json!({"properties": {"color": {}}, "additionalProperties": false}),
            json!({"colour": 1}),
            "has unknown field 'colour', did you mean 'color'?",
        ),
        (
            json!({"items": {"properties": {"name": {"type": "string"}}}}),
            json!([{}, {}, {"name": 1}]),
            "'[2].name' expected 'string', got 'integer'",
        ),
        (
            json!({"additionalProperties": {"additionalProperties": {"type": "string"}}}),
            json!({"a": {"b c": 1}}),
            "'a[\"b c\"]' expected 'string', got 'integer'",
        ),
    ] {
        assert_eq!(violations(schema, value), [expected]);
    }
}

#[test]
fn a_choice_reports_the_variant_that_was_meant() {
    let shapes = json!({"oneOf": [
        {"properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}, "required": ["kind", "radius"]},
        {"properties": {"kind": {"enum": ["square"]}, "side": {"type": "number"}}, "required": ["kind", "side"]},
        {"type": "string"},
    ]});
    for (value, expected) in [
        (json!({"kind": "circle"}), "is missing required field 'radius'"),
        (json!({"kind": "square", "side": "x"}), "'side' expected 'number', got 'string'"),
        (json!(5), "expected 'string | object', got 'integer'"),
        (
            json!({"kind": "line"}),
            "matches none of its forms: is missing required field 'radius'; or is missing required field 'side'",
        ),
    ] {
        assert_eq!(violations(shapes.clone(), value), [expected]);
    }
    let constants = json!({"anyOf": [{"const": "a"}, {"enum": ["b", "c"]}]});
    assert_eq!(violations(constants, json!("d")), ["must be one of 'a', 'b', 'c'"]);
}

#[test]
fn overlapping_variants_are_left_to_the_target() {
    let schema = json!({"oneOf": [{"type": "integer"}, {"type": "number"}]});
    assert_eq!(violations(schema, json!(1)), [""; 0]);
}

#[test]
fn secrets_inside_a_value_are_marked() {
    let mut schemas = SchemaSet::default();
    let schema = json!({"properties": {"user": {"type": "string"}, "key": {"type": "string", "sensitive": true},
        "pass": {"type": "string", "format": "password"}}});
    let (id, _) = schemas.add(&schema, "");
    let found = schemas.check(id, &json!({"user": 1, "key": 2, "pass": 3}));
    assert_eq!(found.iter().map(|violation| violation.sensitive).collect::<Vec<_>>(), [false, true, true]);
}

#[test]
fn problems_point_to_the_keyword_and_suggest() {
    for (schema, pointer, code, suggestion) in [
        (json!({"minimum": "3"}), "/p/minimum", Code::SchemaInvalidType, Some("minimum: 3")),
        (json!({"type": "int"}), "/p/type", Code::SchemaInvalidValue, Some("type: integer")),
        (json!({"type": "strng"}), "/p/type", Code::SchemaInvalidValue, Some("type: string")),
        (json!({"type": "Issue"}), "/p/type", Code::SchemaInvalidValue, Some("$ref: \"#/types/Issue\"")),
        (json!({"type": ["string", 5]}), "/p/type", Code::SchemaInvalidType, None),
        (
            json!({"$ref": "#/types/Isue"}),
            "/p/$ref",
            Code::SchemaUnresolvedRef,
            Some("$ref: \"#/types/Issue\""),
        ),
        (
            json!({"$ref": "#/components/schemas/Label"}),
            "/p/$ref",
            Code::SchemaUnresolvedRef,
            Some("$ref: \"#/types/Label\""),
        ),
        (json!({"enum": "open"}), "/p/enum", Code::SchemaInvalidType, None),
        (json!({"enum": []}), "/p/enum", Code::SchemaInvalidValue, None),
        (
            json!({"properties": {"a/b": {"maxLength": -1}}}),
            "/p/properties/a~1b/maxLength",
            Code::SchemaInvalidType,
            None,
        ),
        (json!({"items": {"oneOf": [{}, 5]}}), "/p/items/oneOf/1", Code::SchemaInvalidType, None),
        (json!({"minimum": 5, "maximum": 1}), "/p", Code::SchemaInvalidValue, None),
        (json!({"minLength": 5, "maxLength": 1}), "/p", Code::SchemaInvalidValue, None),
        (json!({"multipleOf": 0}), "/p/multipleOf", Code::SchemaInvalidValue, None),
        (
            json!({"uniqueItems": "true"}),
            "/p/uniqueItems",
            Code::SchemaInvalidType,
            Some("uniqueItems: true"),
        ),
        (json!({"required": "a"}), "/p/required", Code::SchemaInvalidType, None),
        (json!({"minimun": 3}), "/p/minimun", Code::SchemaUnknownField, Some("minimum")),
        (json!({"max_length": 3}), "/p/max_length", Code::SchemaUnknownField, Some("maxLength")),
        (json!({"pattern": "(?=a)"}), "/p/pattern", Code::SchemaInvalidValue, None),
    ] {
        let found = problems(schema.clone());
        let [problem] = &found[..] else { panic!("{schema}: {found:?}") };
        assert_eq!((problem.pointer.as_str(), problem.code), (pointer, code), "{schema}");
        assert_eq!(problem.suggestion.as_deref(), suggestion, "{schema}");
        let warning = matches!(code, Code::SchemaUnknownField) || pointer.ends_with("pattern");
        assert_eq!(problem.severity == Severity::Warning, warning, "{schema}");
    }
    assert_eq!(
        problems(json!({"x-minimun": 1, "summary": "free", "format": "int32", "$ref": "#/types/Issue"})),
        []
    );
}

#[test]
fn types_may_be_recursive() {
    let (schemas, problems) = SchemaSet::compile(&types(json!({
        "Tree": {"properties": {"children": {"items": {"$ref": "#/types/Tree"}}, "size": {"$ref": "#/types/Size"}}},
        "Size": {"type": "integer"},
    })));
    assert_eq!(problems, []);
    let tree = schemas.named("Tree").unwrap();
    assert_eq!(schemas.check(tree, &json!({"children": [{"children": [], "size": 1}]})), []);
    let found = schemas.check(tree, &json!({"children": [{"children": [{"size": "x"}]}]}));
    assert_eq!(path_text("tree", &found[0].path), "tree.children[0].children[0].size");
}

#[test]
fn types_that_refer_only_to_themselves_are_reported_and_cut() {
    for document in [
        json!({"A": {"$ref": "#/types/B"}, "B": {"$ref": "#/types/A"}}),
        json!({"A": {"$ref": "#/types/A"}}),
        json!({"A": {"anyOf": [{"type": "string"}, {"allOf": [{"$ref": "#/types/A"}]}]}}),
    ] {
        let (schemas, problems) = SchemaSet::compile(&types(document.clone()));
        assert_eq!(problems.len(), 1, "{document}: {problems:?}");
        assert_eq!(problems[0].code, Code::SchemaUnresolvedRef);
        assert_eq!(schemas.check(schemas.named("A").unwrap(), &json!(1)), []);
    }
}

#[test]
fn long_chains_of_types_neither_overflow_nor_pass_unseen() {
    let chain: IndexMap<String, Value> = (0..20_000)
        .map(|n| (format!("T{n}"), json!({"$ref": format!("#/types/T{}", n + 1)})))
        .chain([("T20000".to_owned(), json!({"type": "string"}))])
        .collect();
    let (schemas, problems) = SchemaSet::compile(&chain);
    assert_eq!(problems, []);
    let found = schemas.check(schemas.named("T0").unwrap(), &json!("x"));
    assert_eq!(found[0].kind, ViolationKind::TooDeep);
    assert_eq!(schemas.check(schemas.named("T19900").unwrap(), &json!("x")), []);
}

#[test]
fn deep_and_explosive_values_come_to_an_end() {
    let (schemas, _) = SchemaSet::compile(&types(json!({
        "Node": {"items": {"$ref": "#/types/Node"}},
        "Bomb": {"oneOf": [
            {"type": "array", "items": {"$ref": "#/types/Bomb"}, "maxItems": 1},
            {"type": "array", "items": {"$ref": "#/types/Bomb"}, "minItems": 1},
        ]},
    })));
    let nested = |depth: usize| (0..depth).fold(json!("leaf"), |inner, _| json!([inner]));
    let array = |depth: usize| (0..depth).fold(json!([]), |inner, _| json!([inner]));
    let check = |name: &str, value: &Value| schemas.check(schemas.named(name).unwrap(), value);
    assert_eq!(check("Node", &array(60)), []);
    assert_eq!(check("Node", &array(100))[0].kind, ViolationKind::TooDeep);
    assert_eq!(check("Bomb", &nested(40))[0].kind, ViolationKind::TooComplex);
}

#[test]
fn at_most_ten_violations_are_listed() {
    let value = Value::from(vec!["x"; 100]);
    assert_eq!(violations(json!({"items": {"type": "integer"}}), value).len(), 10);
}

#[test]
fn a_deeply_nested_schema_is_cut() {
    let deep = (0..100).fold(json!({}), |inner, _| json!({"items": inner}));
    let found = problems(deep);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].code, Code::SchemaInvalidValue);
}

proptest! {
    #[test]
    fn a_value_made_from_its_schema_is_valid(schema in schema(), mut seed in any::<u64>()) {
        let value = fitting(&schema, &mut seed);
        prop_assert_eq!(violations(schema, value), [""; 0]);
    }

    #[test]
    fn nothing_panics(schema in any_json(), node in any_json(), value in any_json()) {
        let (mut schemas, _) = SchemaSet::compile(&IndexMap::from([("Node".to_owned(), node)]));
        let (id, _) = schemas.add(&schema, "/p");
        for violation in schemas.check(id, &value).into_iter().chain(schemas.check(schemas.named("Node").unwrap(), &value)) {
            prop_assert!(!violation.to_string().is_empty());
        }
    }
}
