//! Selection rules in the entries of a configuration, and their problems.

use crate::fixture::{BINARY, RawClient, RunOutput, TestFolder};
use serde_json::json;

const THINGS: &str = "name: things
type: adapter
version: \"1.0.0\"
description: A demo
target: { transport: native, protocol: command }
operations:
  read:
    - { name: get_thing, command: [echo, thing] }
    - { name: list_things, command: [echo, things] }
";

fn place(entries: &str) -> TestFolder {
    let place = TestFolder::new();
    place.file("things.yaml", THINGS);
    place.file("mcpaql.yaml", &format!("adapters:\n{entries}"));
    place.trust();
    place
}

async fn check(entry: &str) -> RunOutput {
    place(&format!("  - {entry}\n")).run(&["check"]).await
}

#[tokio::test]
async fn a_rule_that_matches_nothing_warns() {
    let ran = check("{document: things.yaml, include: ['op:get_*', 'op:put_*'], exclude: ['tag:old']}").await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    for rule in ["op:put_*", "tag:old"] {
        assert!(ran.stdout.contains(&format!("The rule '{rule}' in `")), "{}", ran.stdout);
    }
    assert!(ran.stdout.contains("1 operation,"), "{}", ran.stdout);
}

#[tokio::test]
async fn rules_that_exclude_everything_are_an_error() {
    let ran = check("{document: things.yaml, exclude: ['*']}").await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("`include` and `exclude` select none of the 2 operations"), "{}", ran.stdout);
}

#[tokio::test]
async fn an_adapter_without_operations_does_not_stop_the_others() {
    let place =
        place("  - {document: things.yaml, include: [nothing]}\n  - {builtin: notebook, mode: single}\n");
    let mut raw = RawClient::initialized(place.binary(&["serve"])).await;
    raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
    let listed = raw.receive().await.unwrap();
    let tools = listed["result"]["tools"].as_array().unwrap();
    assert_eq!((tools.len(), &tools[0]["name"]), (1, &json!("notebook_mcpaql")), "{listed}");
}

#[tokio::test]
async fn problems_of_rules_for_a_server_are_reported() {
    let entry = |rules: &str| {
        let command = format!("mcp: {{command: ['{BINARY}', serve, --mode, discrete, things.yaml]}}");
        place(&format!("  - {{name: far, {command}, {rules}}}\n"))
    };
    let some = entry("include: ['*get_thing', 'op:nope']");
    let ran = some.run(&["call", "far", "things_get_thing"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("The rule 'op:nope' in `include` matches no operation"), "{}", ran.stderr);
    let ran = entry("include: ['op:nope']").run(&["call", "far", "things_get_thing"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("select none of"), "{}", ran.stderr);
}

#[tokio::test]
async fn an_unknown_kind_of_rule_is_reported_with_its_position() {
    let ran = check("{document: things.yaml, include: ['op:get_*', 'zzz:x'], exclude: ['tags:old']}").await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    for expected in ["Unknown rule 'zzz:x'", "write op:zzz:x", "did you mean 'tag:old'?", "mcpaql.yaml:2:51"]
    {
        assert!(ran.stdout.contains(expected), "{expected} in {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("check the path"), "{}", ran.stdout);
}

#[tokio::test]
async fn an_unknown_adapter_is_reported_with_the_known_names() {
    let place = place("  - things.yaml\n  - {name: far, mcp: {command: [/no/such/program]}}\n");
    let ran = place.run(&["call", "thing", "get_thing"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("no file or adapter 'thing' found"), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("did you mean 'things'? adapters in mcpaql.yaml: things, far"),
        "{}",
        ran.stderr
    );
    let ran = place.run(&["call", "things", "get_thing"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
}
