//! The gate from outside: confirmations on the command line, approvals of a person in another process, pauses, rules, the log.

use crate::fixture::{RawClient, RunOutput, TestFolder, tools_call};
use serde_json::{Value, json};

/// Writes the operator's configuration.
fn rules(place: &TestFolder, text: &str) {
    let folder = place.path().join(".config/mcpaql");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("config.yaml"), text).unwrap();
}

/// Adds a note, and returns its id.
async fn note(place: &TestFolder) -> String {
    let made = place.run(&["call", "notebook", "create_note", "title=a", "body=first"]).await;
    made.json()["id"].as_str().unwrap().to_owned()
}

async fn notes(place: &TestFolder) -> usize {
    let listed = place.run(&["call", "notebook", "list_notes", "--format", "ndjson"]).await;
    listed.stdout.lines().filter(|line| line.contains("\"id\"")).count()
}

/// A request for `tools/call`, and its envelope. Other messages are skipped.
pub(crate) async fn call(raw: &mut RawClient, id: u32, tool: &str, operation: &str, params: Value) -> Value {
    raw.send(&tools_call(id, tool, operation, params)).await;
    answer(raw, id).await
}

async fn answer(raw: &mut RawClient, id: u32) -> Value {
    loop {
        let message = raw.receive().await.unwrap();
        if message["id"] == id {
            let text =
                message["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{message}"));
            return serde_json::from_str(text).unwrap();
        }
    }
}

#[tokio::test]
async fn a_destructive_call_without_a_terminal_needs_yes() {
    let place = TestFolder::new();
    let id = format!("id={}", note(&place).await);
    let refused = place.run(&["call", "notebook", "delete_note", &id]).await;
    assert_eq!(refused.status, Some(1), "{refused:?}");
    assert!(
        refused.stderr.contains("CONFIRMATION_REQUIRED") && refused.stderr.contains("--yes"),
        "{refused:?}"
    );
    assert_eq!(notes(&place).await, 1);
    let ran = place.run(&["call", "notebook", "delete_note", &id, "--yes"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(notes(&place).await, 0);
}

#[tokio::test]
async fn a_configuration_with_errors_never_becomes_a_default() {
    let place = TestFolder::new();
    rules(&place, "rules:\n  - { match: { adaptr: notebook }, decision: deny }\n");
    for args in
        [&["serve"][..], &["call", "notebook", "list_notes"], &["rules", "explain", "notebook", "list_notes"]]
    {
        let ran = place.run(args).await;
        assert_eq!(ran.status, Some(2), "{args:?}: {ran:?}");
        assert!(
            ran.stderr.contains("config.yaml:2:") && ran.stderr.contains("adaptr"),
            "{args:?}: {}",
            ran.stderr
        );
    }
    let checked = place.run(&["check"]).await;
    assert_eq!(checked.status, Some(1), "{checked:?}");
    assert!(checked.stdout.contains("adaptr"), "{}", checked.stdout);
    let doctor = place.run(&["doctor"]).await;
    assert_eq!(doctor.status, Some(1), "{doctor:?}");
    assert!(doctor.stdout.contains("adaptr"), "{}", doctor.stdout);
    // The operator can still stop everything.
    assert_eq!(place.run(&["pause"]).await.status, Some(0));
}

#[tokio::test]
async fn a_person_in_another_process_lets_a_waiting_call_through() {
    let place = TestFolder::new();
    let id = note(&place).await;
    rules(
        &place,
        "rules:\n  - { name: ask, match: { operation: delete_note }, decision: confirm, confirm: person, reason: Notes are dear }\nconfirm: { wait_seconds: 30 }\n",
    );
    let mut raw = RawClient::initialized(place.binary(&["serve"])).await;
    raw.send(&tools_call(1, "notebook_mcpaql_delete", "delete_note", json!({"id": id}))).await;
    let pending = loop {
        let listed = place.run(&["approve", "--json"]).await.json();
        if let Some(one) = listed.as_array().unwrap().first() {
            break one.clone();
        }
    };
    assert_eq!(pending["operation"], "delete_note");
    let approval = pending["id"].as_str().unwrap();
    let shown = place.run(&["approve", "show", approval]).await;
    for expected in ["delete_note", "destructive", "Notes are dear", &id, "first"] {
        assert!(shown.stdout.contains(expected), "{expected}: {}", shown.stdout);
    }
    let approved = place.run(&["approve", approval]).await;
    assert_eq!(approved.status, Some(0), "{approved:?}");
    assert_eq!(answer(&mut raw, 1).await["success"], true);
    assert_eq!(notes(&place).await, 0);
    let again = place.run(&["approve", "deny", approval]).await;
    assert_eq!(again.status, Some(1), "{again:?}");
    assert_eq!(place.run(&["approve", "nothing"]).await.status, Some(2));
}

#[tokio::test]
async fn a_denied_call_does_not_run() {
    let place = TestFolder::new();
    let id = note(&place).await;
    rules(
        &place,
        "rules:\n  - { match: { operation: delete_note }, decision: confirm, confirm: person }\nconfirm: { wait_seconds: 0 }\n",
    );
    let args = ["call", "notebook", "delete_note", &format!("id={id}"), "--envelope"];
    let waiting = place.run(&args).await.json();
    let approval = waiting["error"]["details"]["approval_id"].as_str().unwrap().to_owned();
    assert!(waiting["error"]["details"]["confirmation_token"].is_null(), "{waiting}");
    assert_eq!(place.run(&["approve", "deny", &approval]).await.status, Some(0));
    let denied = place.run(&args).await.json();
    assert_eq!(denied["error"]["code"], "PERMISSION_DENIED", "{denied}");
    assert_eq!(notes(&place).await, 1);
}

#[tokio::test]
async fn a_pause_takes_effect_in_a_running_server_within_a_second() {
    let place = TestFolder::new();
    let mut raw = RawClient::initialized(place.binary(&["serve"])).await;
    let list = "notebook_mcpaql_read";
    assert_eq!(call(&mut raw, 1, list, "list_notes", json!({})).await["success"], true);
    assert_eq!(place.run(&["pause", "notebook", "--except-reads"]).await.status, Some(0));
    let paused_at = std::time::Instant::now();
    let create = "notebook_mcpaql_create";
    let mut number = 2;
    while call(&mut raw, number, create, "create_note", json!({"title": "t"})).await["success"] == true {
        assert!(paused_at.elapsed() < std::time::Duration::from_secs(1), "still running");
        number += 1;
    }
    assert_eq!(call(&mut raw, 900, list, "list_notes", json!({})).await["success"], true, "reads go on");
    let refused = call(&mut raw, 901, create, "create_note", json!({"title": "t"})).await;
    assert_eq!(refused["error"]["code"], "PERMISSION_DENIED", "{refused}");
    let doctor = place.run(&["doctor"]).await;
    assert!(
        doctor.stdout.contains("paused") && doctor.stdout.contains("mcpaql resume notebook"),
        "{}",
        doctor.stdout
    );

    assert_eq!(place.run(&["resume"]).await.status, Some(1), "not all adapters were paused");
    assert_eq!(place.run(&["resume", "notebook"]).await.status, Some(0));
    let resumed_at = std::time::Instant::now();
    number = 1000;
    while call(&mut raw, number, create, "create_note", json!({"title": "t"})).await["success"] != true {
        assert!(resumed_at.elapsed() < std::time::Duration::from_secs(1), "still paused");
        number += 1;
    }
}

#[tokio::test]
async fn a_read_only_server_hides_and_refuses_everything_else() {
    let place = TestFolder::new();
    for mode in ["semantic", "discrete"] {
        let mut raw = RawClient::initialized(place.binary(&["serve", "--read-only", "--mode", mode])).await;
        raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).await;
        let mut listed = raw.receive().await.unwrap();
        while listed["id"] != 1 {
            listed = raw.receive().await.unwrap();
        }
        let tools = listed["result"]["tools"].as_array().unwrap();
        assert!(!tools.is_empty());
        for tool in tools {
            assert_eq!(tool["annotations"]["readOnlyHint"], true, "{mode}: {tool}");
        }
    }
    let mut raw = RawClient::initialized(place.binary(&["serve", "--read-only"])).await;
    let refused = call(&mut raw, 2, "notebook_mcpaql_create", "create_note", json!({"title": "t"})).await;
    assert_eq!(refused["error"]["code"], "PERMISSION_DENIED", "{refused}");
    assert_eq!(call(&mut raw, 3, "notebook_mcpaql_read", "list_notes", json!({})).await["success"], true);
}

#[tokio::test]
async fn rules_are_explained_and_replayed() {
    let place = TestFolder::new();
    note(&place).await;
    rules(
        &place,
        "rules:\n  - { name: no-drafts, match: { operation: create_note, params: { title: { pattern: '^draft' } } }, decision: deny, reason: No drafts }\n",
    );
    let allowed = place.run(&["rules", "explain", "notebook", "create_note", "title=a"]).await;
    assert_eq!(allowed.status, Some(0), "{allowed:?}");
    assert!(
        allowed.stdout.contains("allow") && allowed.stdout.contains("no-drafts does not match"),
        "{}",
        allowed.stdout
    );
    let denied = place.run(&["rules", "explain", "notebook", "create_note", "title=draft 1", "--json"]).await;
    assert_eq!(denied.status, Some(1), "{denied:?}");
    let denied = denied.json();
    assert_eq!(
        (&denied["decision"], &denied["decided_by"]),
        (&json!("deny"), &json!("rule no-drafts")),
        "{denied}"
    );

    let same = place.run(&["rules", "replay"]).await;
    assert_eq!(same.status, Some(0), "{same:?}");
    place.file(
        "stricter.yaml",
        "rules:\n  - { name: none, match: { operation: create_note }, decision: deny }\n",
    );
    let replayed = place.run(&["rules", "replay", "--rules", "stricter.yaml"]).await;
    assert_eq!(replayed.status, Some(1), "{replayed:?}");
    assert!(
        replayed.stdout.contains("create_note") && replayed.stdout.contains("rule none"),
        "{}",
        replayed.stdout
    );
}

#[tokio::test]
async fn the_log_has_every_call_and_shows_tampering() {
    let place = TestFolder::new();
    let id = note(&place).await;
    place.run(&["call", "notebook", "delete_note", &format!("id={id}"), "--yes"]).await;
    place.run(&["pause", "shop"]).await;
    let log = place.run(&["log", "--json"]).await;
    let records: Vec<Value> = log.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (kind, operation) in [
        ("call", Some("create_note")),
        ("decision", Some("delete_note")),
        ("call", Some("delete_note")),
        ("pause", None),
    ] {
        let found = records
            .iter()
            .any(|one| one["kind"] == kind && operation.is_none_or(|name| one["operation"] == name));
        assert!(found, "{kind} {operation:?}: {}", log.stdout);
    }
    let of_shop = place.run(&["log", "--adapter", "shop"]).await;
    assert_eq!(of_shop.stdout.lines().count(), 1, "{}", of_shop.stdout);
    assert_eq!(place.run(&["log", "--since", "2000-01-01"]).await.stdout.lines().count(), records.len());
    assert_eq!(place.run(&["log", "--since", "2999"]).await.stdout, "");
    assert_eq!(place.run(&["log", "--since", "yesterday"]).await.status, Some(2));

    let whole = place.run(&["log", "--verify"]).await;
    assert_eq!(whole.status, Some(0), "{whole:?}");
    let path = place.path().join(".local/state/mcpaql/log/000001.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("create_note", "update_note", 1)).unwrap();
    let changed = place.run(&["log", "--verify", "--json"]).await;
    assert_eq!(changed.status, Some(1), "{changed:?}");
    assert_eq!(changed.json()["whole"], false);
    std::fs::remove_file(&path).unwrap();
    let missing = place.run(&["log", "--verify"]).await;
    assert_eq!(missing.status, Some(1), "{missing:?}");
}

#[tokio::test]
async fn the_state_is_backed_up_and_restored() {
    let place = TestFolder::new();
    place.run(&["trust", "builtin:notebook", "--level", "certified"]).await;
    assert_eq!(place.run(&["state", "backup", "copy.sqlite"]).await.status, Some(0));
    let again = place.run(&["state", "backup", "copy.sqlite"]).await;
    assert_eq!(again.status, Some(2), "{again:?}");
    place.run(&["trust", "--remove", "builtin:notebook"]).await;
    assert_eq!(place.run(&["trust", "--json"]).await.json(), json!([]));
    let restored = place.run(&["state", "restore", "copy.sqlite"]).await;
    assert_eq!(restored.status, Some(0), "{restored:?}");
    assert_eq!(place.run(&["trust", "--json"]).await.json()[0]["level"], "certified");
    assert_eq!(place.run(&["state", "restore", "absent.sqlite"]).await.status, Some(2));
}

#[tokio::test]
async fn no_token_and_no_secret_is_in_the_log() {
    let place = TestFolder::new();
    let id = note(&place).await;
    let asked =
        place.run(&["call", "notebook", "delete_note", &format!("id={id}"), "--envelope"]).await.json();
    let token = asked["error"]["details"]["confirmation_token"].as_str().unwrap().to_owned();
    let args =
        ["call", "notebook", "delete_note", &format!("id={id}"), &format!("confirmation_token={token}")];
    let ran: RunOutput = place.run(&args).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let log = place.run(&["log", "--json"]).await.stdout;
    assert!(log.contains("delete_note") && !log.contains(&token), "{log}");
}
