//! Sources of tools, and their errors.

use super::{finding_codes, notes, report, tools};
use crate::fixture::{BINARY, RunOutput, ServerProcess, TestFolder};
use serde_json::{Value, json};

#[tokio::test]
async fn a_saved_list_is_audited_in_every_form_and_findings_point_into_it() {
    let tools = tools();
    for (saved, line) in [
        (format!("{tools:#}"), "\"name\": \"delete note\""),
        (format!("{:#}", tools["tools"]), "\"name\": \"delete note\""),
        (format!("{:#}", json!({"jsonrpc": "2.0", "id": 1, "result": tools})), "\"name\": \"delete note\""),
        (
            format!("{:#}", json!({"provenance": {}, "capture": {"tools": tools["tools"]}})),
            "\"name\": \"delete note\"",
        ),
    ] {
        let place = TestFolder::new();
        place.file("notes.json", &saved);
        let (ran, report) = report(&place, &["--tools", "notes.json"]).await;
        assert_eq!(ran.status, Some(1), "{ran:?}");
        assert!(finding_codes(&report).contains(&"HINT-002 get_note".to_owned()), "{report:#}");
        let name =
            report["findings"].as_array().unwrap().iter().find(|one| one["rule"] == "NAME-001").unwrap();
        let at = usize::try_from(name["line"].as_u64().unwrap()).unwrap();
        assert!(saved.lines().nth(at - 1).unwrap().contains(line), "{name} in {saved}");
        assert_eq!((&name["file"], &name["path"]), (&json!("notes.json"), &json!("tools[0].name")));
    }
}

#[tokio::test]
async fn several_sources_are_audited_together() {
    let place = notes();
    let clean = json!([{"name": "get note", "title": "Get note", "inputSchema": {"type": "object"}}]);
    place.file("other.json", &clean.to_string());
    let (ran, report) = report(&place, &["--tools", "notes.json", "--tools", "other.json", "notebook"]).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let names: Vec<&str> =
        report["servers"].as_array().unwrap().iter().map(|server| server["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["notes", "other", "notebook"]);
}

#[tokio::test]
async fn a_server_has_the_name_of_its_client_entry() {
    let place = TestFolder::new();
    let name = "x".repeat(50);
    let tool =
        json!({"name": name, "title": "X", "description": "Does x.", "inputSchema": {"type": "object"}});
    place.file("notes.json", &json!({"tools": [tool]}).to_string());
    let audit = async |flags: &[&str]| report(&place, &[&["--tools", "notes.json"], flags].concat()).await;
    let message = |report: &Value| {
        let findings = report["findings"].as_array().unwrap();
        findings.iter().find(|one| one["rule"] == "NAME-005").map(|one| one["message"].to_string())
    };
    let (_, guessed) = audit(&[]).await;
    assert_eq!(guessed["servers"][0]["name"], "notes", "the file is called so");
    assert!(message(&guessed).unwrap().contains("fits only if the server name has"), "{guessed:#}");
    let (_, named) = audit(&["--name", "my-notebooks"]).await;
    assert_eq!(named["servers"][0]["name"], "my-notebooks");
    assert!(message(&named).unwrap().contains("(12 characters) is too long by"), "{named:#}");
    let (_, short) = audit(&["--name", "n"]).await;
    assert_eq!(message(&short), None, "{short:#}");
    place.file("other.json", &tools().to_string());
    let (ran, _) = audit(&["--tools", "other.json", "--name", "n"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("--name works only with one server"), "{}", ran.stderr);
}

#[tokio::test]
async fn a_list_is_read_from_standard_input() {
    let place = TestFolder::new();
    let ran = RunOutput::with_input(place.binary(&["audit", "--tools", "-"]), &tools().to_string()).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("standard input:1:"), "{}", ran.stdout);
}

#[tokio::test]
async fn a_server_is_started_asked_and_stopped() {
    let place = TestFolder::new();
    let (ran, report) = report(&place, &["--", BINARY, "serve", "notebook"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(report["servers"][0]["tools"], 4);
    assert_eq!(report["servers"][0]["is_adapter"], true);
    assert_eq!(report["servers"][0]["as_adapter"], Value::Null, "it is one");
    let by_hand = place.run(&["audit", "notebook"]).await;
    assert!(by_hand.stdout.ends_with("No findings in 4 tools of 1 server\n"), "{}", by_hand.stdout);
}

#[tokio::test]
async fn a_server_with_a_url_is_asked_with_its_token() {
    let place = TestFolder::new();
    let mut serve = place.binary(&["serve", "notebook", "--http", "127.0.0.1:0", "--token-env", "TOKEN"]);
    serve.env("TOKEN", "hunter2-of-the-server");
    let mut server = ServerProcess::start(serve);
    let url = format!("http://{}/mcp", server.address().await);
    let mut command = place.binary(&["audit", "--url", &url, "--bearer-env", "OURS", "--format", "json"]);
    command.env("OURS", "hunter2-of-the-server");
    let ran = RunOutput::of(command).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(ran.json()["summary"]["tools"], 4);
    let refused = place.run(&["audit", "--url", &url]).await;
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("--bearer-env"), "{}", refused.stderr);
}

#[tokio::test]
async fn documents_are_audited_as_they_are_served_and_findings_point_into_them() {
    let place = TestFolder::new();
    place.file("shop.yaml", SHOP);
    let (ran, report) = report(&place, &["shop.yaml", "--mode", "discrete", "--convention", "clients"]).await;
    assert!(ran.status != Some(2), "{ran:?}");
    let findings = report["findings"].as_array().unwrap();
    let found = findings.iter().find(|one| one["rule"] == "HINT-002").unwrap_or_else(|| panic!("{report:#}"));
    let line = usize::try_from(found["line"].as_u64().unwrap()).unwrap();
    let text = SHOP.lines().nth(line - 1).unwrap();
    assert!(text.contains("readOnlyHint") || text.contains("destructiveHint"), "{line}: {text}");
    let semantic = place.run(&["audit", "shop.yaml"]).await;
    assert!(semantic.stdout.contains("shop: "), "{semantic:?}");
}

const SHOP: &str = r#"name: shop
type: adapter
version: "1.0.0"
description: A shop
target: { base_url: "https://api.example.com" }
operations:
  read:
    - name: get_book   # the only one
      maps_to: GET /books
      description: Gives a book with its author, its price and how many are left.
      annotations:
        readOnlyHint: true
        destructiveHint: true
"#;

#[tokio::test]
async fn without_a_source_the_configuration_of_the_folder_is_audited() {
    let place = TestFolder::new();
    let ran = place.run(&["audit"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("--tools FILE"), "{}", ran.stderr);
    place.file("mcpaql.yaml", "adapters:\n  - builtin: notebook\n  - document: absent.md\n");
    let ran = place.run(&["audit"]).await;
    assert_eq!(ran.status, Some(1), "what could not be audited is not clean: {ran:?}");
    assert!(ran.stdout.contains("not audited absent.md"), "{}", ran.stdout);
    assert!(ran.stdout.contains("notebook: 4 tools"), "{}", ran.stdout);
}

#[tokio::test]
async fn the_servers_of_a_client_get_their_credentials() {
    let place = TestFolder::new();
    // The server answers only if it gets its credential; its client hides one of the two tools.
    let script = r#"[ "$KEY" = hunter2-key-0123456789 ] || exit 3
read line
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}'
read line
read line
echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"get_a","inputSchema":{"type":"object"}},{"name":"get_b","inputSchema":{"type":"object"}}]}}'
read line"#;
    place.file("server.sh", script);
    let config = json!({"mcpServers": {
        "mine": {"command": "sh", "args": ["server.sh"], "env": {"KEY": "hunter2-key-0123456789"}, "disabledTools": ["get_b"]},
        "book": {"command": BINARY, "args": ["--log", "text", "serve", "notebook"]},
        "lost": {"command": "/does/not/exist"},
        "off": {"command": "x", "disabled": true},
    }});
    place.file("mcp.json", &config.to_string());
    let (ran, report) = report(&place, &["--config", "mcp.json"]).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let shown = |key: &str, name: &str| -> Vec<String> {
        report[key].as_array().unwrap().iter().map(|one| one[name].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(shown("servers", "name"), ["mine", "book"], "{report:#}");
    assert_eq!(report["servers"][0]["tools"], 1);
    assert_eq!(shown("failed", "server"), ["off", "lost"]);
    assert!(!ran.stdout.contains("hunter2") && !ran.stderr.contains("hunter2"), "{ran:?}");
    let ran = place.run(&["audit", "--config", "curser"]).await;
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("cursor"), "{}", ran.stderr);
}

#[tokio::test]
async fn a_server_that_exits_or_hangs_is_reported_and_stopped() {
    let place = TestFolder::new();
    let dies = place.run(&["audit", "--", "sh", "-c", "exit 3"]).await;
    assert_eq!(dies.status, Some(2), "{dies:?}");
    assert!(dies.stderr.contains("run the command by itself"), "{}", dies.stderr);
    let hangs = place
        .run(&[
            "audit",
            "--timeout",
            "1",
            "--",
            "sh",
            "-c",
            "echo $$ > pid; while read line; do :; done; sleep 60",
        ])
        .await;
    assert_eq!(hangs.status, Some(2), "{hangs:?}");
    assert!(hangs.stderr.contains("check that the command starts an MCP server"), "{}", hangs.stderr);
    gone(&place).await;
}

/// Waits until the server that wrote its process id has exited.
async fn gone(place: &TestFolder) {
    let id: i32 = std::fs::read_to_string(place.path().join("pid")).unwrap().trim().parse().unwrap();
    crate::fixture::with_timeout(async {
        while std::fs::read_to_string(format!("/proc/{id}/stat")).is_ok_and(|state| !state.contains(") Z ")) {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_interrupt_stops_the_started_servers() {
    let place = TestFolder::new();
    let waits = "echo $$ > pid; echo started >&2; while read line; do :; done; sleep 60";
    let mut command = place.binary(&["audit", "--", "sh", "-c", waits]);
    command.env("RUST_LOG", "off");
    let server = ServerProcess::start(command);
    crate::fixture::with_timeout(async {
        while !std::fs::read_to_string(place.path().join("pid")).is_ok_and(|id| id.ends_with('\n')) {
            tokio::task::yield_now().await;
        }
    })
    .await;
    server.signal(rustix::process::Signal::INT);
    let (status, stderr) = server.wait_for_exit().await;
    assert_eq!(status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("interrupted"), "{stderr}");
    gone(&place).await;
}

#[tokio::test]
async fn a_file_that_is_not_a_list_of_tools_is_refused() {
    let place = TestFolder::new();
    for (text, expected) in [
        ("nonsense", "is not valid JSON"),
        ("{}", "contains no list of tools"),
        ("{\"tools\": 1}", "contains no list of tools"),
        ("\"tools\"", "contains no list of tools"),
    ] {
        place.file("bad.json", text);
        let ran = place.run(&["audit", "--tools", "bad.json"]).await;
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.stderr.contains(expected), "{text}: {}", ran.stderr);
    }
    let absent = place.run(&["audit", "--tools", "absent.json"]).await;
    assert_eq!(absent.status, Some(2), "{absent:?}");
    place.file("empty.json", "{\"tools\": []}");
    let empty = place.run(&["audit", "--tools", "empty.json"]).await;
    assert_eq!(empty.status, Some(0), "{empty:?}");
    assert!(empty.stdout.contains("0 tools"), "{}", empty.stdout);
    place.file(
        "odd.json",
        r#"{"tools": [null, 3, "x", [], {}, {"name": 7, "inputSchema": "no", "annotations": []}]}"#,
    );
    let odd = place.run(&["audit", "--tools", "odd.json"]).await;
    assert_eq!(odd.status, Some(1), "{odd:?}");
}

#[tokio::test]
async fn a_large_list_is_read_and_an_endless_one_is_refused() {
    let place = TestFolder::new();
    let tool = |n: usize| json!({"name": format!("get_{n}"), "_meta": {"x": "0 ".repeat(1 << 19)}, "inputSchema": {"type": "object"}});
    let tools: Vec<_> = (0..10).map(tool).collect();
    place.file("big.json", &json!({"tools": tools}).to_string());
    let (ran, report) = report(&place, &["--tools", "big.json"]).await;
    assert!(ran.status != Some(2), "{}", ran.stderr);
    assert_eq!(report["summary"]["tools"], 10);
    assert!(ran.stdout.len() < 1 << 20, "the report repeats the list");
    std::fs::File::create(place.path().join("endless.json")).unwrap().set_len(1 << 40).unwrap();
    let ran = place.run(&["audit", "--tools", "endless.json"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("larger than the maximum"), "{}", ran.stderr);
}
