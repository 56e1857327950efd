//! Servers that misbehave, and closed pipes: none of them gives a clean report.

use super::{finding_codes, notes, report};
use crate::fixture::{BINARY, RunOutput, TestFolder};
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::process::Command;

/// A server that answers `tools/list` with this result, and calls by this shell script.
fn server(list: &str, call: &str) -> TestFolder {
    let place = TestFolder::new();
    place.file("list.json", &format!("{list}\n"));
    let script = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
  case "$line" in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bad\\u001b[2J","version":"1"}}}\n' "$id" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$(cat list.json)" ;;
    *'"tools/call"'*) CALL ;;
  esac
done
"#;
    place.file("server.sh", &script.replace("CALL", call));
    place
}

const SERVER: [&str; 3] = ["--", "sh", "server.sh"];

async fn audited(place: &TestFolder, args: &[&str]) -> RunOutput {
    place.run(&[&["audit"], args, &SERVER[..]].concat()).await
}

fn readers(count: usize) -> String {
    let tool = |number: usize| {
        json!({"name": format!("get_note_{number}"), "inputSchema": {"type": "object"},
               "annotations": {"readOnlyHint": true}})
    };
    json!({"tools": (0..count).map(tool).collect::<Vec<Value>>()}).to_string()
}

#[tokio::test]
async fn an_unreadable_list_is_not_an_empty_list() {
    let deep = format!(r#"{{"tools":[{{"name":"a","x":{}1{}}}]}}"#, "[".repeat(200), "]".repeat(200));
    for list in [&deep, r#"{"tools":[{"name":"a","description":"\ud800"}]}"#, r#"{"tools":"nope"}"#, "{}"] {
        let place = server(list, "exit 4");
        let ran = audited(&place, &[]).await;
        assert_eq!(ran.status, Some(2), "{list}: {ran:?}");
        assert!(ran.stderr.contains("to tools/list cannot be read: "), "{list}: {}", ran.stderr);
        assert!(!ran.stderr.contains('\u{1b}'), "{}", ran.stderr);
        let ran = place.run(&["import", "mcp", "--", "sh", "server.sh"]).await;
        assert!(ran.status != Some(0) && ran.stdout.is_empty(), "{list}: {ran:?}");
    }
}

#[tokio::test]
async fn a_server_without_tools_has_no_score() {
    let ran = audited(&server(r#"{"tools":[]}"#, "exit 4"), &[]).await;
    assert!(ran.stdout.contains("the server has no tools"), "{ran:?}");
    assert!(!ran.stdout.contains("score"), "{ran:?}");
}

#[tokio::test]
async fn a_call_without_an_answer_is_a_finding_and_three_stop_the_probe() {
    let place = server(&readers(5), "exit 4");
    let (ran, report) = report(&place, &[&["--probe"], &SERVER[..]].concat()).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let silent = finding_codes(&report).iter().filter(|finding| finding.starts_with("HINT-103")).count();
    assert_eq!(silent, 3, "{report:#}");
    assert!(ran.stderr.contains("Called 3 of 5 tools: 3 did not answer"), "{}", ran.stderr);
    assert!(ran.stderr.contains("2 skipped: the server failed three times in a row"), "{}", ran.stderr);
    let probe = &report["servers"][0]["probe"];
    assert_eq!(probe[0], json!({"tool": "get_note_0", "called": true, "answers": "failed", "changed": null}));
    assert_eq!(probe[4]["called"], false);
}

#[tokio::test]
async fn a_call_that_hangs_is_not_blamed_on_the_next_tools() {
    // After that, the server reads everything and answers nothing.
    let call = r#"case "$line" in
      *get_note_1*) while read -r line; do :; done ;;
      *) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}\n' "$id" ;;
    esac"#;
    let place = server(&readers(4), call);
    let (ran, report) = report(&place, &[&["--probe", "--timeout", "2"], &SERVER[..]].concat()).await;
    let found = finding_codes(&report);
    let silent: Vec<_> = found.iter().filter(|finding| finding.starts_with("HINT-103")).collect();
    assert_eq!(silent, ["HINT-103 get_note_1"], "{ran:?}");
    assert!(
        ran.stderr.contains("Called 4 of 4 tools: 3 gave the same answer twice, 1 did not answer"),
        "{}",
        ran.stderr
    );
}

/// Answers as an MCP server over HTTP, but never answers calls of any tool after the first.
async fn half_dead(request: String) -> Response {
    let request: Value = serde_json::from_str(&request).unwrap_or_default();
    let Some(id) = request.get("id") else { return StatusCode::ACCEPTED.into_response() };
    let result = match request["method"].as_str() {
        Some("initialize") => json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
            "serverInfo": {"name": "half", "version": "1"}}),
        Some("tools/list") => serde_json::from_str(&readers(3)).unwrap(),
        Some("tools/call") if request["params"]["name"] != "get_note_0" => std::future::pending().await,
        _ => json!({"content": []}),
    };
    axum::Json(json!({"jsonrpc": "2.0", "id": id, "result": result})).into_response()
}

#[tokio::test]
async fn with_a_url_only_the_first_call_that_hangs_is_blamed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/mcp", post(half_dead))).await });
    let (ran, report) = report(&TestFolder::new(), &["--probe", "--timeout", "2", "--url", &url]).await;
    let found = finding_codes(&report);
    let silent: Vec<_> = found.iter().filter(|finding| finding.starts_with("HINT-103")).collect();
    assert_eq!(silent, ["HINT-103 get_note_1"], "{ran:?}");
    let reason = "1 skipped: the server may still be busy with an earlier call";
    assert!(ran.stderr.contains(reason), "{}", ran.stderr);
}

#[tokio::test]
async fn a_tool_that_rejects_made_up_arguments_is_not_compared() {
    let refusals = [
        r#"printf '{"jsonrpc":"2.0","id":%s,"result":{"isError":true,"content":[]}}\n' "$id""#,
        r#"printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"no"}}\n' "$id""#,
    ];
    for refusal in refusals {
        let (ran, report) =
            report(&server(&readers(4), refusal), &[&["--probe"], &SERVER[..]].concat()).await;
        assert!(
            ran.stderr.contains("Called 4 of 4 tools: 4 rejected the generated arguments"),
            "{}",
            ran.stderr
        );
        assert!(!finding_codes(&report).iter().any(|finding| finding.starts_with("HINT-10")), "{report:#}");
    }
}

#[tokio::test]
async fn servers_with_the_same_name_are_numbered() {
    let place = notes();
    let (_, report) = report(&place, &["--tools", "notes.json", "--tools", "notes.json"]).await;
    assert_eq!(report["servers"][0]["name"], "notes");
    assert_eq!(report["servers"][1]["name"], "notes-2");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_lost_report_is_a_failure_but_a_closed_pipe_is_not() {
    let place = notes();
    for (line, status) in [
        ("audit --list > /dev/full", 2),
        ("audit --tools notes.json > /dev/full", 2),
        ("audit --list 2> /dev/full", 0),
        ("audit --tools nowhere.json 2> /dev/full", 2),
    ] {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{BINARY} {line}")]).current_dir(place.path());
        let ran = RunOutput::of(shell).await;
        assert_eq!(ran.status, Some(status), "{line}: {ran:?}");
        assert_eq!(ran.stderr.contains("cannot write to standard output"), line.contains(" > /dev/full"));
    }
}

#[tokio::test]
async fn an_unknown_policy_and_deep_nesting_are_reported() {
    let place = notes();
    place.file("ours.yaml", "ours: {policy: nix}\n");
    let ran = place.run(&["audit", "--conventions", "ours.yaml", "--tools", "notes.json"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("unknown policy 'nix'"), "{}", ran.stderr);
    place.file("deep.json", &format!("{}{}", "[".repeat(500), "]".repeat(500)));
    let ran = place.run(&["audit", "--tools", "deep.json"]).await;
    assert!(ran.stderr.contains("nested too deeply"), "{}", ran.stderr);
}

#[tokio::test]
async fn a_document_with_errors_is_never_clean() {
    const LIGHTDASH: &str = include_str!("../../../../../examples/lightdash-adapter.md");
    let clean = TestFolder::new();
    clean.file("a-adapter.md", LIGHTDASH);
    let ran = clean.run(&["audit", "a-adapter.md", "--convention", "lightdash"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    for text in [LIGHTDASH.replace("maps_to:", "maps_too:"), LIGHTDASH.replacen("maps_to:", "maps_too:", 1)] {
        let place = TestFolder::new();
        place.file("a-adapter.md", &text);
        for (format, expected) in [
            (
                "full",
                "audited only in part lightdash: parts of a-adapter.md have errors and are not served: ",
            ),
            ("json", "\"in_part\": true"),
            ("sarif", "lightdash was audited only in part"),
            ("markdown", "lightdash was audited only in part"),
            ("github", "::error title=mcpaql audit::lightdash was audited only in part"),
            (
                "junit",
                "<error message=\"audited only in part: parts of a-adapter.md have errors and are not served: ",
            ),
        ] {
            let ran =
                place.run(&["audit", "a-adapter.md", "--convention", "lightdash", "--format", format]).await;
            assert_eq!(ran.status, Some(1), "{format}: {ran:?}");
            assert!(ran.stdout.contains(expected), "{format}: {}", ran.stdout);
        }
    }
}

#[tokio::test]
async fn an_incomplete_list_is_never_clean() {
    let endless = readers(1).replace("]}", r#"],"nextCursor":"same"}"#);
    let ran = audited(&server(&endless, "exit 4"), &["--fail-on", "error"]).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("audited only in part server: the list does not end"), "{}", ran.stdout);
    assert!(!ran.stdout.contains("NAME-013"), "no duplicate names: {}", ran.stdout);
    let place = TestFolder::new();
    place.file("page.json", &readers(1).replace("]}", r#"],"nextCursor":"2"}"#));
    let ran = place.run(&["audit", "--tools", "page.json", "--fail-on", "error"]).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("audited only in part page: the list has more pages"), "{}", ran.stdout);
    for (args, name) in [
        (["--tools", "page.json", "--name", "tracker"], "tracker"),
        (["--tools", "page.json", "--tools", "page.json"], "page"),
        (["--tools", "page.json", "--diff-policy", "mcpaql"], "page"),
    ] {
        let last = if args[2] == "--diff-policy" { Some("mcpaql-issue") } else { None };
        let (_, report) = report(&place, &args.into_iter().chain(last).collect::<Vec<_>>()).await;
        assert_eq!(report["failed"][0]["server"], name, "{report:#}");
        let names = |key: &str, name: &str| -> Vec<Value> {
            report[key].as_array().into_iter().flatten().map(|entry| entry[name].clone()).collect()
        };
        if last.is_none() {
            assert_eq!(names("failed", "server"), names("servers", "name"), "{report:#}");
        }
    }
    place.file("none.json", r#"{"tools": [], "nextCursor": "2"}"#);
    let ran = place.run(&["audit", "--tools", "none.json"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("error: none.json: the list has more pages"), "{}", ran.stderr);
    let ran = place.run(&["import", "mcp", "--tools", "page.json", "--", "x"]).await;
    assert!(
        ran.stderr.contains("warning: the list of tools is incomplete: the list has more pages"),
        "{}",
        ran.stderr
    );
    let place = server(r#"{"tools":[]}"#, "exit 4");
    let script = std::fs::read_to_string(place.path().join("server.sh")).unwrap();
    let refuses = script.replace(
        r#""result":%s}\n' "$id" "$(cat list.json)""#,
        r#""error":{"code":-32601,"message":"nope"}}\n' "$id""#,
    );
    assert_ne!(refuses, script);
    place.file("server.sh", &refuses);
    let ran = audited(&place, &[]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("declares tools, but does not support tools/list"), "{}", ran.stderr);
}

#[tokio::test]
async fn duplicate_and_invalid_values_of_a_list_are_reported_with_their_position() {
    let place = TestFolder::new();
    let tool = r#"{"name": "get_a", "inputSchema": {"type": "object"}}"#;
    let audit = async |text: String| {
        place.file("list.json", &text);
        place.run(&["audit", "--tools", "list.json", "--fail-on", "error"]).await
    };
    let ran = audit(format!("{{\"tools\": [{tool},\n {{\"name\": \"get_b\", \"name\": \"get c\"}}]}}")).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    let expected = "audited only in part list: `name` occurs twice in the same object; clients use the last one (line 2, column 20)";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
    assert!(
        ran.stdout.contains("'get c'") && !ran.stdout.contains("get_b"),
        "as clients see it: {}",
        ran.stdout
    );
    let ran = place.run(&["import", "mcp", "--tools", "list.json", "--", "x"]).await;
    assert!(ran.stderr.contains("`name` occurs twice"), "{}", ran.stderr);
    let ran = audit(format!("{{\"tools\": [{tool}], \"tools\": []}}")).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("`tools` occurs twice"), "{}", ran.stderr);
    for (invalid, expected) in
        [(r#""a\ud800x""#, "half of a surrogate pair"), ("1e999", "the number is too large")]
    {
        let ran = audit(format!("{{\"result\": {{\"tools\": [{tool},\n {{\"name\": {invalid}}}]}}}}")).await;
        assert_eq!(ran.status, Some(2), "{invalid}: {ran:?}");
        let place = "list.json is not valid JSON: line 2, column ";
        assert!(ran.stderr.contains(place) && ran.stderr.contains(", in tools[1]: "), "{}", ran.stderr);
        assert!(ran.stderr.contains(expected), "{invalid}: {}", ran.stderr);
    }
}

#[tokio::test]
async fn untrusted_text_never_starts_a_status_line() {
    let place = notes();
    let refusal = r#"{"code":-32000,"message":"no \u001b[31mway\n::error::x"}"#;
    let script = r#"read -r line; printf '{"jsonrpc":"2.0","id":%s,"error":%s}\n' "$(printf '%s' "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')" "$(cat refusal.json)"; cat > /dev/null"#;
    place.file("refusal.json", refusal);
    place.file("server.sh", script);
    place.file("config.json", &json!({"mcpServers": {"a\n::error::x": {"type": "odd"}}}).to_string());
    for args in [
        ["audit", "--format", "github", "--", "sh", "server.sh"].as_slice(),
        &["audit", "--tools", "no\n::error::x.json"],
        &["audit", "--tools", "notes.json", "-o", "out\n::error::x.txt"],
        &["audit", "--tools", "notes.json", "--write-baseline", "known\n::error::x.json"],
        &["import", "config", "config.json"],
    ] {
        let ran = place.run(args).await;
        assert!(ran.stderr.contains("::error::x"), "{args:?}: {ran:?}");
        assert!(!ran.stderr.contains("\n::"), "{args:?}: {}", ran.stderr);
    }
}

#[tokio::test]
async fn a_name_never_starts_a_line_of_a_comparison() {
    let place = TestFolder::new();
    let name = "delete\n::error::x\u{85}::y\u{2028}::z";
    let list = json!({"tools": [{"name": name, "inputSchema": {"type": "object"}}]});
    place.file("list.json", &list.to_string());
    let compare = ["audit", "--tools", "list.json", "--diff-policy", "mcpaql", "nextcloud"];
    let server = "a\n::error::s";
    for format in ["full", "json"] {
        let ran = place.run(&[&compare[..], &["--name", server, "--format", format]].concat()).await;
        assert!(ran.stdout.contains("::error::x") && ran.stdout.contains("::error::s"), "{ran:?}");
        let breaks = ["\n::", "\u{85}", "\u{2028}"];
        assert!(!breaks.iter().any(|end| ran.stdout.contains(end)), "{}", ran.stdout);
        if format == "json" {
            assert_eq!(ran.json()["changes"][0]["tool"], name, "nothing is lost");
        }
    }
}

#[tokio::test]
async fn a_comparison_refuses_flags_that_have_no_effect() {
    let place = notes();
    let compare = ["audit", "--tools", "notes.json", "--diff-policy", "mcpaql", "mcpaql-issue"];
    for flags in [
        ["--probe"].as_slice(),
        &["--dry-run"],
        &["--hints"],
        &["--verbose"],
        &["--fail-on", "error"],
        &["--rule", "NAME-001=off"],
        &["--policy", "mcpaql"],
    ] {
        let ran = place.run(&[&compare[..], flags].concat()).await;
        assert_eq!(ran.status, Some(2), "{flags:?}: {ran:?}");
        assert!(ran.stderr.contains("cannot be used with"), "{flags:?}: {}", ran.stderr);
    }
    assert_eq!(place.run(&compare).await.status, Some(0));
}

/// Answers every call with an internal error.
async fn broken(request: String) -> Response {
    match request.contains("tools/call") {
        true => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        false => half_dead(request).await,
    }
}

#[tokio::test]
async fn an_internal_error_is_not_a_rejection_of_arguments() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, Router::new().route("/mcp", post(broken))).await });
    let ran = TestFolder::new().run(&["audit", "--probe", "--url", &url]).await;
    assert!(ran.stderr.contains("Called 3 of 3 tools: 3 did not answer"), "{}", ran.stderr);
}
