//! Tests that samples fit their schema.

use super::*;
use crate::schema::strategies;
use proptest::prelude::*;

#[test]
fn values_fit_their_schema() {
    let due = json!({"type": "object", "properties": {"day": {"type": "integer"}, "note": {"type": "string"}}, "required": ["day"]});
    let types = IndexMap::from([
        ("Due".to_owned(), due),
        ("Loop".to_owned(), json!({"$ref": "#/types/Loop"})),
        ("Nest".to_owned(), json!({"properties": {"nest": {"$ref": "#/types/Nest"}}, "required": ["nest"]})),
    ]);
    let rows = [
        (json!({"type": "string"}), Some(json!("some due day"))),
        (json!({"type": "string", "maxLength": 3}), Some(json!("som"))),
        (json!({"type": "string", "minLength": 20}), Some(json!("some due day some due day"))),
        (json!({"type": "string", "minLength": 5000}), None),
        (json!({"type": "string", "minLength": 12, "pattern": "^arn:"}), Some(json!("arn:aaaaaaaa"))),
        (json!({"type": "string", "format": "date"}), Some(json!("2026-01-31"))),
        (json!({"type": "string", "format": "date", "maxLength": 3}), None),
        (json!({"type": "string", "format": "ipv6"}), Some(json!("2001:db8::1"))),
        (json!({"type": "string", "format": "byte"}), Some(json!("aGVsbG8="))),
        (json!({"type": "string", "format": "own-format"}), Some(json!("some due day"))),
        (json!({"type": "string", "pattern": "^x$"}), Some(json!("x"))),
        (json!({"type": "string", "pattern": "^x$", "examples": ["y"]}), Some(json!("y"))),
        (json!({"type": "string", "pattern": "^refs/(heads|tags)/.+$"}), Some(json!("refs/heads/a"))),
        (json!({"type": "string", "pattern": "^[0-9a-f]{4}-[0-9]{2}$"}), Some(json!("abcd-56"))),
        (json!({"type": "string", "pattern": "^\\S+$"}), Some(json!("some-due-day"))),
        (json!({"type": "string", "pattern": "^[a-z]*$", "minLength": 5}), Some(json!("abcde"))),
        (json!({"type": "string", "pattern": "^(?!a)b$"}), Some(json!("some due day"))),
        (json!({"type": "string", "enum": ["low", "high"]}), Some(json!("low"))),
        (json!({"type": ["null", "boolean"]}), Some(json!(true))),
        (json!({"type": "null"}), None),
        (json!({"enum": [null, "a"]}), Some(json!("a"))),
        (json!({}), Some(json!("some due day"))),
        (json!(false), None),
    ];
    for (schema, expected) in rows {
        assert_eq!(sample("due_day", &schema, &types), expected, "{schema}");
    }
    let rows = [
        (json!({"type": "integer"}), Some(json!(1))),
        (json!({"type": "integer", "minimum": 5}), Some(json!(5))),
        (json!({"type": "integer", "maximum": -5}), Some(json!(-5))),
        (json!({"type": "number", "multipleOf": 3}), Some(json!(3))),
        (json!({"type": "number", "multipleOf": 3, "minimum": 10}), Some(json!(12))),
        (json!({"type": "number", "exclusiveMinimum": 3}), Some(json!(4))),
        (json!({"type": "number", "minimum": 3, "exclusiveMinimum": true}), Some(json!(4))),
        (json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}), Some(json!(0.5))),
        (json!({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 1}), None),
        (json!({"type": "integer", "minimum": 9007199254740993_i64}), Some(json!(9007199254740993_i64))),
        (json!({"type": "array", "items": {"type": "integer"}}), Some(json!([1]))),
        (json!({"type": "array", "items": {"type": "integer"}, "minItems": 3}), Some(json!([1, 2, 3]))),
        (
            json!({"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 2, "uniqueItems": true}),
            Some(json!(["a", "b"])),
        ),
        (
            json!({"type": "array", "items": {"type": "string"}, "minItems": 2}),
            Some(json!(["some due day", "some due day 2"])),
        ),
        (json!({"type": "array", "minItems": 50}), None),
        (json!({"type": "array"}), Some(json!(["some due day"]))),
        (json!({"prefixItems": [{"type": "integer"}, {"type": "boolean"}]}), Some(json!([1, true]))),
        (json!({"type": "object"}), Some(json!({}))),
        (
            json!({"type": "object", "minProperties": 2}),
            Some(json!({"key": "some value", "key2": "some value"})),
        ),
        (json!({"type": "object", "required": ["a"]}), Some(json!({"a": "some a"}))),
        (json!({"additionalProperties": {"type": "integer"}}), Some(json!({"key": 1}))),
        (json!({"properties": {"a": {"type": "boolean"}}}), Some(json!({"a": true}))),
        (json!({"anyOf": [{"type": "null"}, {"type": "boolean"}]}), Some(json!(true))),
        (
            json!({"properties": {"a": {"type": "integer"}}, "required": ["a"], "oneOf": [{"properties": {"b": {"const": 2}}, "required": ["b"]}]}),
            Some(json!({"a": 1, "b": 2})),
        ),
        (
            json!({"allOf": [{"$ref": "#/types/Due"}, {"properties": {"kind": {"const": "x"}}, "required": ["kind"]}]}),
            Some(json!({"day": 1, "kind": "x"})),
        ),
        (json!({"allOf": [{"type": "string"}, {"maxLength": 4}]}), Some(json!("some"))),
        (json!({"$ref": "#/types/Due"}), Some(json!({"day": 1}))),
        (json!({"$ref": "#/types/Nowhere"}), None),
        (json!({"$ref": "#/types/Loop"}), None),
        (json!({"$ref": "#/types/Nest"}), None),
    ];
    for (schema, expected) in rows {
        assert_eq!(sample("due_days", &schema, &types), expected, "{schema}");
    }
}

proptest! {
    #[test]
    fn no_schema_makes_it_panic(schema in prop_oneof![strategies::schema(), strategies::any_json()]) {
        let types = IndexMap::from([("T".to_owned(), schema.clone())]);
        let _ = sample("thing", &schema, &types);
    }

    #[test]
    fn no_pattern_makes_it_panic(pattern in "\\PC{0,12}|[(){}|*+?^$.a-c\\[\\]\\\\]{0,12}") {
        let _ = sample("thing", &json!({"type": "string", "pattern": pattern}), &IndexMap::new());
    }
}

#[test]
fn what_the_author_gives_can_be_left_aside() {
    let types = IndexMap::new();
    for (schema, expected) in [
        (json!({"type": "boolean", "example": "false"}), json!(true)),
        (json!({"type": "string", "format": "date", "default": "never"}), json!("2026-01-31")),
        (json!({"type": "string", "enum": [1, "b"], "example": "z"}), json!("b")),
        (json!({"const": 7, "example": 8}), json!(7)),
        (
            json!({"type": "string", "format": "uuid", "pattern": "^[0-9A-F-]{36}$", "example": "x"}),
            json!("7C9E6679-7425-40DE-944B-E07FC1F90AE7"),
        ),
    ] {
        assert_eq!(sample_without_examples("thing", &schema, &types), Some(expected), "{schema}");
    }
}
