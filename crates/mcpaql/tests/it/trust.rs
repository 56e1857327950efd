//! Trust: what a folder brings along runs nothing before the operator has granted exactly its content.

use crate::fixture::{RawClient, RunOutput, TestFolder, tools_call, with_timeout};
use crate::gate::call;
use serde_json::json;

const CONFIG: &str = "data: ./data\nadapters:\n  - document: tools.yaml\n  - { name: server, mcp: { command: [sh, -c, 'touch started'] } }\n";
const TOOLS: &str = r#"
name: tools
type: adapter
version: "1.0.0"
description: Programs
target: { transport: native, protocol: command }
operations:
  read:
    - { name: get_mark, command: [sh, ./mark.sh], description: Makes a mark }
"#;

/// A folder as it comes from somewhere else.
fn checkout() -> TestFolder {
    let place = TestFolder::new();
    place.file("mcpaql.yaml", CONFIG);
    place.file("tools.yaml", TOOLS);
    place.file("mark.sh", "touch marked; echo done");
    place
}

fn assert_untouched(place: &TestFolder, what: &str) {
    for name in ["marked", "started", "data"] {
        assert!(!place.path().join(name).exists(), "{what} made {name}");
    }
}

#[tokio::test]
async fn an_untrusted_folder_runs_nothing() {
    let place = checkout();
    for args in [
        &["serve"][..],
        &["serve", "--http", "127.0.0.1:0"],
        &["call", "tools", "get_mark"],
        &["call", "server"],
        &["install", "cursor"],
    ] {
        let ran = place.run(args).await;
        assert_eq!(ran.status, Some(2), "{args:?}: {ran:?}");
        assert_eq!(ran.stdout, "", "{args:?}");
        let expected = "error: mcpaql.yaml is not trusted\n\nhint: mcpaql trust ./mcpaql.yaml\n";
        assert_eq!(ran.stderr, expected, "{args:?}");
        assert_untouched(&place, &format!("{args:?}"));
    }
}

#[tokio::test]
async fn an_untrusted_folder_can_be_looked_at() {
    let place = checkout();
    for args in [
        &["check"][..],
        &["operations", "tools"],
        &["search", "tools", "mark"],
        &["tools", "tools"],
        &["rules", "explain", "tools", "get_mark"],
        &["trust"],
        &["generate", "-s", "tools", "-t", "python", "-o", "project"],
    ] {
        let ran = place.run(args).await;
        assert_eq!(ran.status, Some(0), "{args:?}: {ran:?}");
    }
    for args in [
        &["doctor"][..],
        &["audit"],
        &["tools"],
        &["generate", "-s", "server", "-t", "python", "-o", "other"],
    ] {
        let ran = place.run(args).await;
        assert_ne!(ran.status, Some(0), "{args:?}: {ran:?}");
        let shown = format!("{}{}", ran.stdout, ran.stderr);
        assert!(
            shown.contains("is not trusted") && shown.contains("mcpaql trust ./mcpaql.yaml"),
            "{args:?}: {ran:?}"
        );
    }
    assert_untouched(&place, "looking");
}

#[tokio::test]
async fn a_description_of_an_untrusted_folder_is_not_fetched() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/openapi.json", listener.local_addr().unwrap());
    let place = TestFolder::new();
    place.file(
        "mcpaql.yaml",
        &format!("adapters:\n  - {{ openapi: '{url}', allow_private: true }}\n  - builtin: notebook\n"),
    );
    for args in [
        &["check"][..],
        &["tools"],
        &["trust"],
        &["trust", "--show", "./mcpaql.yaml"],
        &["trust", "./mcpaql.yaml"],
    ] {
        let ran = place.run(args).await;
        assert!(ran.status.is_some(), "{args:?}: {ran:?}");
    }
    let connected = tokio::time::timeout(std::time::Duration::from_millis(1), listener.accept()).await;
    assert!(connected.is_err(), "something connected");
}

#[tokio::test]
async fn trust_covers_exactly_the_granted_content() {
    let place = checkout();
    let granted = place.run(&["trust", "./mcpaql.yaml"]).await;
    assert_eq!(granted.status, Some(0), "{granted:?}");
    for expected in ["Trusted ./mcpaql.yaml (validated)", "sh ./mark.sh", "touch started", "tools.yaml"] {
        assert!(granted.stderr.contains(expected), "{expected}: {}", granted.stderr);
    }
    let ran = place.run(&["call", "tools", "get_mark"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(place.path().join("marked").exists());

    for (file, before, after) in [
        ("tools.yaml", "./mark.sh", "./other.sh"),
        ("mcpaql.yaml", "touch started", "touch elsewhere"),
        ("mcpaql.yaml", "./data", "/tmp"),
        ("mark.sh", "echo done", "echo other"),
    ] {
        let text = std::fs::read_to_string(place.path().join(file)).unwrap();
        assert!(text.contains(before));
        place.file(file, &text.replace(before, after));
        let refused = place.run(&["call", "tools", "get_mark"]).await;
        assert_eq!(refused.status, Some(2), "{file}: {refused:?}");
        let expected = "error: mcpaql.yaml has changed since it was trusted\n\nhint: mcpaql trust --show ./mcpaql.yaml\n";
        assert_eq!(refused.stderr, expected, "{file}");
        let shown = place.run(&["trust", "--show", "./mcpaql.yaml"]).await;
        assert_eq!(shown.status, Some(1), "{shown:?}");
        let is_named = if file == "mark.sh" {
            shown.stdout.contains("mark.sh: another content")
        } else {
            shown.stdout.contains(after)
        };
        assert!(is_named, "{file}: {}", shown.stdout);
        place.file(file, &text);
        assert_eq!(place.run(&["call", "tools", "get_mark"]).await.status, Some(0), "{file} as before");
    }
    place.file("tools.yaml", &TOOLS.replace("Makes a mark", "Marks"));
    assert_eq!(
        place.run(&["call", "tools", "get_mark"]).await.status,
        Some(0),
        "a description is not covered"
    );
}

#[tokio::test]
async fn trust_is_listed_and_taken_back() {
    let place = checkout();
    assert!(place.run(&["trust"]).await.stderr.contains("Nothing is trusted yet"));
    place.run(&["trust", "./mcpaql.yaml", "--level", "generated"]).await;
    let listed = place.run(&["trust", "--json"]).await.json();
    assert_eq!(listed[0]["level"], "generated");
    assert_eq!(listed[0]["kind"], "configuration");
    let shown = place.run(&["trust", "--show", "./mcpaql.yaml", "--json"]).await.json();
    assert_eq!(shown["state"], "trusted");
    assert!(shown["can"]["runs"].to_string().contains("mark.sh"), "{shown}");

    let removed = place.run(&["trust", "--remove", "./mcpaql.yaml"]).await;
    assert_eq!(removed.status, Some(0), "{removed:?}");
    assert_eq!(place.run(&["call", "tools", "get_mark"]).await.status, Some(2));
    let again = place.run(&["trust", "--remove", "./mcpaql.yaml"]).await;
    assert_eq!(again.status, Some(1), "{again:?}");
}

#[tokio::test]
async fn edits_can_be_accepted_in_advance() {
    let place = checkout();
    let granted = place.run(&["trust", "--edits", "./mcpaql.yaml"]).await;
    assert_eq!(granted.status, Some(0), "{granted:?}");
    assert!(granted.stderr.contains("whoever can write"), "{}", granted.stderr);
    place.file("mark.sh", "echo changed");
    let ran = place.run(&["call", "tools", "get_mark"]).await;
    assert_eq!((ran.status, ran.stdout.trim()), (Some(0), "\"changed\""), "{ran:?}");
}

#[tokio::test]
async fn what_the_operator_names_needs_no_grant() {
    let place = checkout();
    for args in [&["call", "tools.yaml", "get_mark"][..], &["call", "builtin:notebook", "list_notes"]] {
        let ran = place.run(args).await;
        assert_eq!(ran.status, Some(0), "{args:?}: {ran:?}");
    }
    let mut raw = RawClient::initialized(place.binary(&["serve", "--config", "mcpaql.yaml"])).await;
    raw.send(&tools_call(1, "tools_mcpaql_read", "get_mark", json!({}))).await;
    assert_eq!(raw.envelope().await["success"], true);
}

#[tokio::test]
async fn a_file_does_not_shadow_the_notebook() {
    let place = TestFolder::new();
    place.file("builtin:notebook", TOOLS);
    place.file("notebook", TOOLS);
    place.file("tools.yaml", TOOLS);
    for text in [TOOLS, "adapters: [tools.yaml]\n"] {
        place.file("builtin:notebook", text);
        for command in ["operations", "tools", "check"] {
            let ran = place.run(&[command, "builtin:notebook"]).await;
            assert!(
                ran.stdout.contains("notebook") && !ran.stdout.contains("get_mark"),
                "{command}: {ran:?}"
            );
        }
    }
}

#[tokio::test]
async fn the_level_of_an_adapter_decides_about_its_calls() {
    let place = TestFolder::new();
    let delete = |id: &str| place.binary(&["call", "builtin:notebook", "delete_note", &format!("id={id}")]);
    let refused = RunOutput::of(delete("n1")).await;
    assert!(refused.stderr.contains("CONFIRMATION_REQUIRED"), "{refused:?}");
    place.run(&["trust", "builtin:notebook", "--level", "certified"]).await;
    let ran = RunOutput::of(delete("n1")).await;
    assert!(ran.stderr.contains("NOT_FOUND_RESOURCE"), "{ran:?}");
    place.run(&["trust", "builtin:notebook", "--level", "untested"]).await;
    let refused = place.run(&["call", "builtin:notebook", "list_notes"]).await;
    assert!(refused.stderr.contains("PERMISSION_TRUST_LEVEL_INSUFFICIENT"), "{refused:?}");
    assert_eq!(refused.status, Some(1), "{refused:?}");
}

#[tokio::test]
async fn an_edit_that_reaches_further_waits_for_trust() {
    let place = TestFolder::new();
    place.file("tools.yaml", TOOLS);
    place.file("mark.sh", "echo first");
    place.file("other.sh", "echo second");
    let mut raw = RawClient::initialized(place.binary(&["serve", "tools.yaml"])).await;
    raw.server.wait_for_stderr("serving").await;
    let tool = "tools_mcpaql_read";
    assert_eq!(call(&mut raw, 1, tool, "get_mark", json!({})).await["data"], "first");
    place.file("tools.yaml", &TOOLS.replace("./mark.sh", "./other.sh"));
    let log = raw.server.wait_for_stderr("waits for").await;
    assert!(log.contains("mcpaql trust ./tools.yaml"), "{log}");
    let answer = call(&mut raw, 2, tool, "get_mark", json!({})).await;
    assert_eq!(answer["data"], "first", "the old version is still served");
    assert_eq!(place.run(&["trust", "./tools.yaml"]).await.status, Some(0));
    raw.server.wait_for_stderr("reloaded").await;
    assert_eq!(call(&mut raw, 3, tool, "get_mark", json!({})).await["data"], "second");
    // What only describes is served at once.
    place.file("tools.yaml", &TOOLS.replace("./mark.sh", "./other.sh").replace("Makes a mark", "Marks it"));
    let count = |log: &str| log.matches("reloaded").count();
    while count(&raw.server.wait_for_stderr("reloaded").await) < 2 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn commands_that_write_a_configuration_trust_it() {
    let place = TestFolder::new();
    place.file("client.json", r#"{"mcpServers": {"files": {"command": "no-such-program"}}}"#);
    let imported = place.run(&["import", "config", "client.json"]).await;
    assert_eq!(imported.status, Some(0), "{imported:?}");
    let shown = place.run(&["trust", "--show", "./mcpaql.yaml"]).await;
    assert_eq!(shown.status, Some(0), "{shown:?}");
    let installed = place.run(&["install", "cursor"]).await;
    assert_eq!(installed.status, Some(0), "{installed:?}");
    let entry = std::fs::read_to_string(place.path().join(".cursor/mcp.json")).unwrap();
    let path = place.path().canonicalize().unwrap().join("mcpaql.yaml");
    assert!(entry.contains(path.to_str().unwrap()), "{entry}");
}

#[cfg(unix)]
const SERVER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"facts","version":"1"}}}\n' "$id" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$(cat tools.json)" ;;
  esac
done
"#;

/// Lists tools until there is one with this name.
#[cfg(unix)]
async fn wait_for_tool(raw: &mut RawClient, wanted: &str) -> Vec<String> {
    loop {
        raw.send(&json!({"jsonrpc": "2.0", "id": 9, "method": "tools/list"})).await;
        let mut message = raw.receive().await.unwrap();
        while message["id"] != 9 {
            message = raw.receive().await.unwrap();
        }
        let tools = message["result"]["tools"].as_array().unwrap().iter();
        let names: Vec<String> = tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect();
        if names.iter().any(|name| name.contains(wanted)) {
            return names;
        }
    }
}

#[cfg(unix)]
#[tokio::test]
async fn new_tools_of_a_server_are_withheld_until_they_are_trusted() {
    let place = TestFolder::new();
    place.file("server.sh", SERVER);
    place.file("mcpaql.yaml", "adapters: [{name: facts, mcp: {command: [sh, server.sh], start: eager}}]\n");
    let tool = |name: &str, text: &str| json!({"name": name, "description": text, "inputSchema": {"type": "object"}});
    let list = |tools: serde_json::Value| format!("{}\n", json!({ "tools": tools }));
    place.file("tools.json", &list(json!([tool("get_fact", "Gets a fact.")])));
    let serve = || place.binary(&["serve", "--config", "mcpaql.yaml", "--mode", "discrete"]);
    let mut raw = RawClient::initialized(serve()).await;
    with_timeout(wait_for_tool(&mut raw, "get_fact")).await;
    drop(raw);
    place.file(
        "tools.json",
        &list(json!([tool("get_fact", "Gets a fact."), tool("get_joke", "Gets a joke.")])),
    );
    let mut raw = RawClient::initialized(serve()).await;
    raw.server.wait_for_stderr("withheld").await;
    let names = with_timeout(wait_for_tool(&mut raw, "get_fact")).await;
    assert!(!names.iter().any(|name| name.contains("get_joke")), "{names:?}");

    let name = ["facts", "--config", "mcpaql.yaml"];
    let shown = place.run(&[&["trust", "--show"], &name[..]].concat()).await;
    assert_eq!(shown.status, Some(1), "{shown:?}");
    assert!(shown.stdout.contains("new tool        get_joke"), "{}", shown.stdout);
    let trusted = place.run(&[&["trust"], &name[..]].concat()).await;
    assert_eq!(trusted.status, Some(0), "{trusted:?}");
    with_timeout(wait_for_tool(&mut raw, "get_joke")).await;
}
