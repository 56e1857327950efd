use super::*;
use MatchResult::{No, Unknown, Yes};
use serde_json::{Value, json};

fn test(path: &str, condition: ParamCondition, args: &Value) -> MatchResult {
    ParamTest { path: path.to_owned(), conditions: vec![condition] }.test(args.as_object().unwrap())
}

fn pattern(text: &str) -> ParamCondition {
    ParamCondition::Pattern(ParamPattern::new(text).unwrap())
}

#[test]
fn a_star_stands_for_any_text() {
    for (pattern, name, expected) in [
        ("shop", "shop", true),
        ("shop", "shops", false),
        ("shop", "Shop", false),
        ("*", "", true),
        ("*", "anything", true),
        ("refund_*", "refund_", true),
        ("refund_*", "my_refund_", false),
        ("*_production", "wipe_production", true),
        ("a*b*c", "abc", true),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "acb", false),
        ("a*a", "a", false),
        ("ab*ba", "aba", false),
        ("*ab*ab*", "abab", true),
        ("*ab*ab*", "aba", false),
        ("a**b", "ab", true),
        ("", "", true),
        ("", "x", false),
    ] {
        assert_eq!(NamePattern::new(pattern).matches(name), expected, "{pattern} on {name}");
    }
}

#[test]
fn equality_compares_numbers_exactly_and_texts_as_they_are() {
    let eq = |expected: Value, value: Value| test("a", ParamCondition::Eq(expected), &json!({"a": value}));
    assert_eq!(eq(json!(1), json!(1.0)), Yes);
    assert_eq!(eq(json!(0), json!(-0.0)), Yes);
    assert_eq!(eq(json!(9_007_199_254_740_993_u64), json!(9_007_199_254_740_992.0)), No);
    assert_eq!(eq(json!(u64::MAX), json!(u64::MAX)), Yes);
    assert_eq!(eq(json!(u64::MAX), json!(18_446_744_073_709_551_615.0)), No, "the double is 2^64");
    assert_eq!(eq(json!("eu"), json!("EU")), No);
    assert_eq!(eq(json!({"x": 1, "y": [2]}), json!({"y": [2.0], "x": 1})), Yes);
    assert_eq!(eq(json!(true), json!(1)), No);
}

#[test]
fn a_text_that_spells_the_number_is_unknown() {
    for (expected, value, result) in [
        (json!(3), json!("3"), Unknown),
        (json!("3"), json!(3), Unknown),
        (json!(3), json!("3.0"), Unknown),
        (json!(3), json!(" 3"), Unknown),
        (json!(true), json!("true"), Unknown),
        (json!(3), json!("three"), No),
        (json!("a"), json!(1), No),
    ] {
        let condition = ParamCondition::Eq(expected.clone());
        assert_eq!(test("a", condition, &json!({"a": value})), result, "{value} and {expected}");
    }
}

#[test]
fn comparison_is_exact_and_knows_only_numbers_and_texts() {
    let gt = |bound: Value, value: Value| test("a", ParamCondition::Gt(bound), &json!({"a": value}));
    assert_eq!(gt(json!(100), json!(100.000_001)), Yes);
    assert_eq!(gt(json!(100), json!(100.0)), No);
    assert_eq!(gt(json!(9_007_199_254_740_992.0), json!(9_007_199_254_740_993_u64)), Yes);
    assert_eq!(gt(json!(-1.5), json!(-1)), Yes);
    assert_eq!(gt(json!(-1), json!(-1.5)), No);
    assert_eq!(gt(json!(u64::MAX), json!(1e300)), Yes);
    assert_eq!(gt(json!(i64::MIN), json!(-1e300)), No);
    assert_eq!(gt(json!("2024-01-01"), json!("2024-02-01")), Yes);
    assert_eq!(gt(json!(100), json!("250")), Unknown);
    assert_eq!(gt(json!(100), json!({"value": 250})), Unknown);
    assert_eq!(gt(json!(100), Value::Null), No);
    let bound = |condition: fn(Value) -> ParamCondition| test("a", condition(json!(5)), &json!({"a": 5}));
    assert_eq!(bound(ParamCondition::Gte), Yes);
    assert_eq!(bound(ParamCondition::Lte), Yes);
    assert_eq!(bound(ParamCondition::Lt), No);
    assert_eq!(bound(ParamCondition::Gt), No);
}

#[test]
fn patterns_search_in_texts() {
    assert_eq!(test("a", pattern("urgent"), &json!({"a": "very urgent!"})), Yes);
    assert_eq!(test("a", pattern("^urgent$"), &json!({"a": "very urgent!"})), No);
    assert_eq!(test("a", pattern("1"), &json!({"a": 1})), Unknown);
    assert_eq!(test("a", pattern("."), &json!({})), No);
    assert_eq!(ParamPattern::new("(?=a)b"), None);
    assert_eq!(ParamPattern::new("("), None);
    assert_eq!(ParamPattern::new("a{1000}{1000}{1000}"), None, "too large");
}

#[test]
fn membership_is_equality_with_one_of_several() {
    let regions = || vec![json!("eu"), json!("us")];
    assert_eq!(test("r", ParamCondition::In(regions()), &json!({"r": "us"})), Yes);
    assert_eq!(test("r", ParamCondition::In(regions()), &json!({"r": "cn"})), No);
    assert_eq!(test("r", ParamCondition::NotIn(regions()), &json!({"r": "cn"})), Yes);
    assert_eq!(test("r", ParamCondition::NotIn(regions()), &json!({"r": "eu"})), No);
    assert_eq!(test("r", ParamCondition::In(Vec::new()), &json!({"r": "eu"})), No);
}

#[test]
fn an_absent_value_fits_only_the_opposites() {
    for args in [json!({}), json!({"a": null}), json!({"b": 1})] {
        for condition in [
            ParamCondition::Eq(json!(1)),
            ParamCondition::Gt(json!(1)),
            ParamCondition::Lt(json!(1)),
            ParamCondition::In(vec![json!(1)]),
            ParamCondition::Exists(true),
            pattern("."),
        ] {
            assert_eq!(test("a", condition.clone(), &args), No, "{condition:?} in {args}");
        }
        for condition in [
            ParamCondition::Ne(json!(1)),
            ParamCondition::NotIn(vec![json!(1)]),
            ParamCondition::Exists(false),
        ] {
            assert_eq!(test("a", condition.clone(), &args), Yes, "{condition:?} in {args}");
        }
    }
    assert_eq!(test("a", ParamCondition::Exists(true), &json!({"a": false})), Yes);
}

#[test]
fn a_path_follows_members_items_and_names_with_a_dot() {
    let args = json!({"a": {"b": 3}, "c.d": 3, "list": [{"n": 3}, {"n": 4}], "same": [{"n": 3}, {"n": 3.0}]});
    for (path, expected) in [
        ("a.b", Yes),
        ("c.d", Yes),
        ("a.x", No),
        ("a.b.c", No),
        ("list.0.n", Yes),
        ("list.1.n", No),
        ("list.2.n", No),
        ("list.n", Unknown),
        ("same.n", Yes),
        ("c", No),
    ] {
        assert_eq!(test(path, ParamCondition::Eq(json!(3)), &args), expected, "{path}");
    }
    let both = json!({"a": {"b": 1}, "a.b": 3});
    assert_eq!(test("a.b", ParamCondition::Eq(json!(3)), &both), Unknown, "one of the two fits");
}

#[test]
fn a_list_fits_if_all_items_do_and_is_unknown_if_some_do() {
    let gt = |value: Value| test("a", ParamCondition::Gt(json!(100)), &json!({"a": value}));
    assert_eq!(gt(json!([150, 200])), Yes);
    assert_eq!(gt(json!([50, 200])), Unknown);
    assert_eq!(gt(json!([50, 60])), No);
    assert_eq!(gt(json!([])), No);
    assert_eq!(gt(json!([[50], [200]])), Unknown);
    let whole = ParamCondition::Eq(json!(["eu", "us"]));
    assert_eq!(test("a", whole, &json!({"a": ["eu", "us"]})), Yes);
    let ne = |value: Value| test("a", ParamCondition::Ne(json!("cn")), &json!({"a": value}));
    assert_eq!(ne(json!(["eu", "cn"])), Unknown);
    assert_eq!(ne(json!(["eu", "us"])), Yes);
    assert_eq!(ne(json!(["cn", "cn"])), No);
}

#[test]
fn conditions_of_one_parameter_must_all_hold() {
    let range = ParamTest {
        path: "a".to_owned(),
        conditions: vec![ParamCondition::Gt(json!(10)), ParamCondition::Lt(json!(20))],
    };
    let result = |value: Value| range.test(json!({"a": value}).as_object().unwrap());
    assert_eq!(result(json!(15)), Yes);
    assert_eq!(result(json!(25)), No);
    assert_eq!(result(json!("15")), Unknown);
}

#[test]
fn all_parts_of_a_match_must_fit_and_the_first_that_does_not_is_named() {
    let args = json!({"amount": 150});
    let tags = ["billing".to_owned()];
    let call = GatedCall {
        adapter: "shop",
        endpoint: "execute",
        category: Category::Execute,
        operation: "refund_order",
        tags: &tags,
        danger: Danger::Reversible,
        needs_confirmation: false,
        caller: "build-7",
        args: args.as_object().unwrap(),
        continued_quotas: &[],
    };
    let names = |texts: &[&str]| texts.iter().map(|text| NamePattern::new(*text)).collect::<Vec<_>>();
    let fitting = CallMatch {
        adapter: names(&["other", "shop"]),
        endpoint: names(&["execute"]),
        category: vec![Category::Execute],
        operation: names(&["refund_*"]),
        tag: names(&["bill*"]),
        danger: Some(Danger::Reversible),
        caller: names(&["alice", "build-*"]),
        params: vec![ParamTest { path: "amount".into(), conditions: vec![ParamCondition::Gt(json!(100))] }],
    };
    assert_eq!(fitting.test(&call, call.danger), Yes);
    assert_eq!(fitting.mismatch(&call, call.danger), None);
    assert_eq!(CallMatch::default().test(&call, call.danger), Yes);
    assert_eq!(fitting.test(&call, Danger::Forbidden), Yes, "this level or a higher one");
    let other = names(&["other"]);
    for (part, broken) in [
        ("adapter", CallMatch { adapter: other.clone(), ..fitting.clone() }),
        ("endpoint", CallMatch { endpoint: other.clone(), ..fitting.clone() }),
        ("category", CallMatch { category: vec![Category::Read], ..fitting.clone() }),
        ("operation", CallMatch { operation: other.clone(), ..fitting.clone() }),
        ("tag", CallMatch { tag: other.clone(), ..fitting.clone() }),
        ("danger", CallMatch { danger: Some(Danger::Destructive), ..fitting.clone() }),
        ("caller", CallMatch { caller: other.clone(), ..fitting.clone() }),
        (
            "params.amount",
            CallMatch {
                params: vec![ParamTest {
                    path: "amount".into(),
                    conditions: vec![ParamCondition::Gt(json!(200))],
                }],
                ..fitting.clone()
            },
        ),
    ] {
        assert_eq!(broken.test(&call, call.danger), No, "{part}");
        assert_eq!(broken.mismatch(&call, call.danger).as_deref(), Some(part));
    }
}
