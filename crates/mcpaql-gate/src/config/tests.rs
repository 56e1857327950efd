use super::*;
use crate::matching::{ParamCondition, ParamPattern, ParamTest};
use mcpaql_lexicon::Category;
use mcpaql_schema::error::Code;
use serde_json::json;

fn loaded(value: &Value) -> GateConfig {
    let (config, problems) = GateConfig::load(value);
    assert_eq!(problems, [], "{value}");
    config
}

/// The first problem of a file, which denies every call.
fn problem(value: &Value) -> Diagnostic {
    let (config, problems) = GateConfig::load(value);
    assert_eq!(config, GateConfig::deny_all(), "{value}");
    problems.into_iter().next().unwrap_or_else(|| panic!("no problem in {value}"))
}

fn names(texts: &[&str]) -> Vec<NamePattern> {
    texts.iter().map(|text| NamePattern::new(*text)).collect()
}

/// A file with every key.
fn everything() -> Value {
    json!({
        "mode": "observe",
        "rules": [{
            "name": "no-refunds-over-100",
            "match": {
                "adapter": "shop",
                "endpoint": ["update", "execute"],
                "category": "EXECUTE",
                "operation": "refund_*",
                "tag": "billing",
                "danger": "dangerous",
                "caller": ["alice", "build-*"],
                "params": {
                    "amount": {"gt": 100, "lte": 1e6},
                    "region": ["eu", "us"],
                    "note": {"pattern": "urgent"},
                    "a.b": 3,
                    "id": {"exists": true},
                    "x": {"eq": {"y": 1}},
                    "z": {"ne": "a", "not_in": ["b"], "in": [1], "gte": 1, "lt": "2"}
                }
            },
            "decision": "confirm",
            "confirm": "person",
            "reason": "Refunds over 100 need a person",
            "at_most": {"calls": 10, "per": "minute", "by": ["operation", "caller", "caller"]},
            "after": {"adapter": "other", "operation": "get_invoice", "within": "10m"}
        }],
        "quotas": [{
            "name": "daily", "match": {"adapter": "shop"}, "by": "caller", "per": "day", "warn": 80, "pause": 100, "stop": 120,
            "cost": 2, "costs": [{"match": {"operation": "search_*"}, "cost": 5}]
        }],
        "danger": [{"match": {"adapter": "shop", "operation": "delete_draft"}, "level": "reversible"}],
        "confirm": {
            "safe": "person", "reversible": "person", "destructive": "person", "dangerous": "token", "forbidden": "token",
            "wait_seconds": 0
        },
        "log": {"checkpoint_file": "/c", "checkpoint_command": ["logger", "-t"], "keep_days": 365, "rotate_bytes": 67_108_864},
        "form_clients": ["claude-code"]
    })
}

#[test]
fn every_key_is_read() {
    let config = loaded(&everything());
    assert_eq!(config.mode, GateMode::Observe);
    let rule = &config.rules[0];
    let test = |path: &str, conditions| ParamTest { path: path.to_owned(), conditions };
    use ParamCondition::{Eq, Exists, Gt, Gte, In, Lt, Lte, Ne, NotIn, Pattern};
    let expected = CallMatch {
        adapter: names(&["shop"]),
        endpoint: names(&["update", "execute"]),
        category: vec![Category::Execute],
        operation: names(&["refund_*"]),
        tag: names(&["billing"]),
        danger: Some(Danger::Dangerous),
        caller: names(&["alice", "build-*"]),
        params: vec![
            test("amount", vec![Gt(json!(100)), Lte(json!(1e6))]),
            test("region", vec![In(vec![json!("eu"), json!("us")])]),
            test("note", vec![Pattern(ParamPattern::new("urgent").unwrap())]),
            test("a.b", vec![Eq(json!(3))]),
            test("id", vec![Exists(true)]),
            test("x", vec![Eq(json!({"y": 1}))]),
            test(
                "z",
                vec![
                    Ne(json!("a")),
                    NotIn(vec![json!("b")]),
                    In(vec![json!(1)]),
                    Gte(json!(1)),
                    Lt(json!("2")),
                ],
            ),
        ],
    };
    assert_eq!(rule.matches, expected);
    assert_eq!((rule.decision, rule.confirm), (Some(Verdict::Confirm), Some(Approver::Person)));
    assert_eq!(
        rule.at_most,
        Some(RateLimit { calls: 10, window_seconds: 60, by: vec![CountedBy::Caller, CountedBy::Operation] })
    );
    assert_eq!(
        rule.after,
        Some(Prerequisite {
            adapter: Some("other".into()),
            operation: "get_invoice".into(),
            within_seconds: 600
        })
    );
    let quota = &config.quotas[0];
    assert_eq!((quota.warn, quota.pause, quota.stop, quota.cost), (Some(80), Some(100), Some(120), 2));
    assert_eq!((quota.window_seconds, &quota.by, quota.costs[0].cost), (86_400, &vec![CountedBy::Caller], 5));
    assert_eq!(config.danger[0].level, Danger::Reversible);
    assert_eq!(config.confirm.approver(Danger::Safe), Approver::Person);
    assert_eq!(config.confirm.approver(Danger::Forbidden), Approver::Token);
    assert_eq!(config.confirm.wait_seconds, 0);
    assert_eq!(config.log.checkpoint_command, ["logger", "-t"]);
    assert_eq!((config.log.keep_days, config.log.rotate_bytes), (Some(365), Some(67_108_864)));
    assert_eq!(config.form_clients, names(&["claude-code"]));
}

#[test]
fn what_is_not_written_has_a_default() {
    for empty in [Value::Null, json!({})] {
        assert_eq!(loaded(&empty), GateConfig::default());
    }
    let config = loaded(&json!({
        "rules": [{"decision": "deny"}, {"name": "b", "at_most": {"calls": 1, "per": "5s"}}],
        "quotas": [{"per": "hour", "stop": 0}],
    }));
    assert_eq!((config.rules[0].name.as_str(), config.rules[1].name.as_str()), ("rule 1", "b"));
    assert_eq!(config.rules[0].matches, CallMatch::default());
    assert_eq!((config.quotas[0].name.as_str(), config.quotas[0].cost), ("quota 1", 1));
    assert_eq!(config.confirm.approver(Danger::Destructive), Approver::Token);
    assert_eq!(config.confirm.approver(Danger::Dangerous), Approver::Person);
}

/// Calls a function with each object of a value and its pointer.
fn each_object(value: &mut Value, pointer: &str, act: &mut dyn FnMut(&str)) {
    match value {
        Value::Object(members) => {
            act(pointer);
            for (key, value) in members {
                each_object(value, &format!("{pointer}/{key}"), act);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter_mut().enumerate() {
                each_object(value, &format!("{pointer}/{index}"), act);
            }
        }
        _ => {}
    }
}

#[test]
fn every_unknown_key_anywhere_is_an_error() {
    let mut pointers = Vec::new();
    each_object(&mut everything(), "", &mut |pointer| pointers.push(pointer.to_owned()));
    // Names of parameters are free, and so are the members of a value to compare with.
    pointers.retain(|pointer| !pointer.ends_with("/params") && !pointer.ends_with("/eq"));
    assert!(pointers.len() > 15, "{pointers:?}");
    for pointer in pointers {
        for key in ["surprise", "x-surprise"] {
            let mut file = everything();
            file.pointer_mut(&pointer).unwrap()[key] = json!(1);
            let problem = problem(&file);
            assert_eq!((problem.code, problem.at_key), (Code::SchemaUnknownField, true), "{pointer}");
            assert_eq!(problem.pointer, format!("{pointer}/{key}"));
            assert!(problem.expected.is_some(), "{pointer}");
        }
    }
}

#[test]
fn a_misspelled_key_has_a_suggestion() {
    for (pointer, wrong, right) in [
        ("", "rule", "rules"),
        ("/rules/0", "atmost", "at_most"),
        ("/rules/0/match", "operatoin", "operation"),
        ("/rules/0/match/params/amount", "patern", "pattern"),
        ("/rules/0/at_most", "cals", "calls"),
        ("/rules/0/after", "witin", "within"),
        ("/quotas/0", "pausee", "pause"),
        ("/quotas/0/costs/0", "costt", "cost"),
        ("/danger/0", "levle", "level"),
        ("/confirm", "dangerus", "dangerous"),
        ("/log", "keep_day", "keep_days"),
    ] {
        let mut file = everything();
        file.pointer_mut(pointer).unwrap()[wrong] = json!(1);
        assert_eq!(problem(&file).suggestion, Some(format!("did you mean `{right}`?")), "{pointer}/{wrong}");
    }
}

#[test]
fn a_key_without_a_value_never_counts_as_absent() {
    let mut pointers = Vec::new();
    each_object(&mut everything(), "", &mut |pointer| pointers.push(pointer.to_owned()));
    let file = everything();
    for pointer in pointers {
        let keys: Vec<String> =
            file.pointer(&pointer).and_then(Value::as_object).unwrap().keys().cloned().collect();
        for key in keys {
            let mut broken = everything();
            broken.pointer_mut(&pointer).unwrap()[&key] = Value::Null;
            if pointer.ends_with("/eq") {
                continue; // Inside a value to compare with.
            }
            assert_ne!(GateConfig::load(&broken).1, [], "{pointer}/{key}");
        }
    }
}

#[test]
fn wrong_values_are_errors_with_their_place() {
    for (pointer, value, place) in [
        ("/mode", json!("watch"), "/mode"),
        ("/rules", json!({}), "/rules"),
        ("/rules/0", json!("deny"), "/rules/0"),
        ("/rules/0/name", json!(" "), "/rules/0/name"),
        ("/rules/0/decision", json!("forbid"), "/rules/0/decision"),
        ("/rules/0/decision", json!("deny"), "/rules/0/confirm"),
        ("/rules/0/confirm", json!("model"), "/rules/0/confirm"),
        ("/rules/0/match/adapter", json!([]), "/rules/0/match/adapter"),
        ("/rules/0/match/adapter", json!([1]), "/rules/0/match/adapter/0"),
        ("/rules/0/match/category", json!([]), "/rules/0/match/category"),
        ("/rules/0/match/category", json!("change"), "/rules/0/match/category"),
        ("/rules/0/match/danger", json!("high"), "/rules/0/match/danger"),
        ("/rules/0/match/danger", json!(["safe"]), "/rules/0/match/danger"),
        ("/rules/0/match/params", json!({}), "/rules/0/match/params"),
        ("/rules/0/match/params", json!({"a..b": 1}), "/rules/0/match/params/a..b"),
        ("/rules/0/match/params/amount", json!({}), "/rules/0/match/params/amount"),
        ("/rules/0/match/params/amount", json!([]), "/rules/0/match/params/amount"),
        ("/rules/0/match/params/amount", json!([1, null]), "/rules/0/match/params/amount/1"),
        ("/rules/0/match/params/amount/gt", json!([1]), "/rules/0/match/params/amount/gt"),
        ("/rules/0/match/params/amount/gt", json!(true), "/rules/0/match/params/amount/gt"),
        ("/rules/0/match/params/z/in", json!("a"), "/rules/0/match/params/z/in"),
        ("/rules/0/match/params/z/not_in", json!([]), "/rules/0/match/params/z/not_in"),
        ("/rules/0/match/params/note/pattern", json!("("), "/rules/0/match/params/note/pattern"),
        ("/rules/0/match/params/note/pattern", json!("(?=a)"), "/rules/0/match/params/note/pattern"),
        ("/rules/0/match/params/note/pattern", json!(1), "/rules/0/match/params/note/pattern"),
        ("/rules/0/match/params/id/exists", json!("yes"), "/rules/0/match/params/id/exists"),
        ("/rules/0/at_most/calls", json!(0), "/rules/0/at_most/calls"),
        ("/rules/0/at_most/calls", json!(-1), "/rules/0/at_most/calls"),
        ("/rules/0/at_most/per", json!("fortnight"), "/rules/0/at_most/per"),
        ("/rules/0/at_most/per", json!(60), "/rules/0/at_most/per"),
        ("/rules/0/at_most/by", json!(["user"]), "/rules/0/at_most/by/0"),
        ("/rules/0/at_most", json!({}), "/rules/0/at_most/calls"),
        ("/rules/0/after", json!({"within": "1h"}), "/rules/0/after/operation"),
        ("/rules/0/after/operation", json!("get_*"), "/rules/0/after/operation"),
        ("/rules/0/after/adapter", json!("*"), "/rules/0/after/adapter"),
        ("/rules/0/after", json!({"operation": "a"}), "/rules/0/after/within"),
        ("/quotas/0", json!({"per": "day"}), "/quotas/0/stop"),
        ("/quotas/0", json!({"stop": 1}), "/quotas/0/per"),
        ("/quotas/0/warn", json!(101), "/quotas/0/warn"),
        ("/quotas/0/pause", json!(121), "/quotas/0/pause"),
        ("/quotas/0/cost", json!(-1), "/quotas/0/cost"),
        ("/quotas/0/costs/0", json!({"cost": 1}), "/quotas/0/costs/0/match"),
        ("/danger/0", json!({"level": "safe"}), "/danger/0/match"),
        ("/danger/0", json!({"match": {}}), "/danger/0/level"),
        ("/danger/0/level", json!("low"), "/danger/0/level"),
        ("/confirm/destructive", json!("nobody"), "/confirm/destructive"),
        ("/confirm/wait_seconds", json!(301), "/confirm/wait_seconds"),
        ("/log/keep_days", json!(0), "/log/keep_days"),
        ("/log/checkpoint_file", json!(["a"]), "/log/checkpoint_file"),
        ("/form_clients", json!([1]), "/form_clients/0"),
    ] {
        let mut file = everything();
        *file.pointer_mut(pointer).unwrap() = value.clone();
        assert_eq!(problem(&file).pointer, place, "{pointer}: {value}");
    }
    assert_eq!(problem(&json!([])).code, Code::SchemaInvalidType);
}

#[test]
fn a_rule_has_an_effect_and_a_name_of_its_own() {
    assert_eq!(problem(&json!({"rules": [{"match": {"adapter": "a"}}]})).pointer, "/rules/0/decision");
    let confirm = json!({"rules": [{"confirm": "person", "at_most": {"calls": 1, "per": "day"}}]});
    assert_eq!(problem(&confirm).pointer, "/rules/0/confirm");
    for file in [
        json!({"rules": [{"name": "a", "decision": "deny"}, {"name": "a", "decision": "deny"}]}),
        json!({"rules": [{"name": "rule 2", "decision": "deny"}, {"decision": "deny"}]}),
        json!({"quotas": [{"name": "a", "per": "day", "stop": 1}, {"name": "a", "per": "day", "stop": 1}]}),
    ] {
        assert_eq!(problem(&file).code, Code::SchemaDuplicateName);
    }
    // A rule and a quota may share a name: records say which of both it is.
    loaded(
        &json!({"rules": [{"name": "a", "decision": "deny"}], "quotas": [{"name": "a", "per": "day", "stop": 1}]}),
    );
}
