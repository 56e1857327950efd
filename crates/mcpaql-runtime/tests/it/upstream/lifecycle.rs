//! Started when needed, one start at a time, and ended with everything it started.

use super::{call, command, environment, over, pid, said, server, target, upstream};
use crate::command::Watch;
use crate::fixture::in_time;
use mcpaql_core::adapter::{Auth, McpCommand, McpTarget};
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::target::mcp::{Upstream, UpstreamError, UpstreamState};
use rustix::process::test_kill_process;
use serde_json::json;

#[tokio::test]
async fn a_capture_contains_the_servers_answers_unchanged() {
    let upstream = upstream("");
    assert_eq!(*upstream.state().borrow(), UpstreamState::Idle);
    let capture = in_time(upstream.capture()).await.unwrap();
    assert_eq!(capture.initialize["x-odd"], json!([1]));
    assert_eq!(capture.initialize["protocolVersion"], "2025-06-18");
    assert_eq!(capture.tools.len(), 3, "both pages, the odd tool included: {:?}", capture.tools);
    assert_eq!(capture.tools[0]["x-odd"], 1);
    let running = UpstreamState::Running { server: "fixture".to_owned(), version: "1.2.3".to_owned() };
    assert_eq!(*upstream.state().borrow(), running);
}

#[tokio::test]
async fn a_list_that_repeats_a_page_ends_there() {
    let capture = in_time(upstream("endless").capture()).await.unwrap();
    assert_eq!(capture.tools, [json!({"name": "again"})], "the entries appear once");
    assert!(capture.incomplete_reason.unwrap().contains("does not end"), "{:?}", capture.incomplete_reason);
    assert_eq!(in_time(upstream("").capture()).await.unwrap().incomplete_reason, None);
}

#[tokio::test]
async fn the_program_gets_the_variables_that_are_named_and_no_others() {
    let mut command = command("");
    command.set_env.insert("TOKEN".to_owned(), "${env:TOKEN}".to_owned());
    command.env.push("LISTED".to_owned());
    let upstream = over(&target(command));
    let heard = said(&call(&upstream, "environment", json!({})).await.unwrap());
    let names = heard["names"].as_array().unwrap();
    assert!(names.contains(&json!("PATH")) && names.contains(&json!(server::FAULTS)), "{names:?}");
    assert!(names.contains(&json!("MCPAQL_PROCESS")), "its descendants are found by this mark");
    assert!(!names.contains(&json!("UNWANTED")) && !names.contains(&json!("LISTED")), "{names:?}");
    assert_eq!(heard["token"], "[redacted]", "it arrives, and the answer does not show it");
    assert!(!format!("{upstream:?}").contains("s3cret"));
}

#[tokio::test]
async fn many_callers_share_one_start_and_get_their_own_answers() {
    let upstream = upstream("");
    let calls = (0..64).map(|n| {
        let upstream = upstream.clone();
        tokio::spawn(async move {
            let arguments = json!({"n": n, "count": 64});
            let said = said(&call(&upstream, "gather", arguments.clone()).await.unwrap());
            assert_eq!(said, arguments);
        })
    });
    for call in calls.collect::<Vec<_>>() {
        in_time(call).await.unwrap();
    }
}

#[tokio::test]
async fn closing_ends_the_program_and_a_further_call_starts_another() {
    let upstream = upstream("");
    let first = pid(&upstream).await;
    upstream.close().await;
    assert!(test_kill_process(first).is_err(), "reaped, not a zombie");
    assert_eq!(*upstream.state().borrow(), UpstreamState::Idle);
    assert_ne!(pid(&upstream).await, first);
}

/// The fixture with a grandchild that holds the output open and never ends.
fn family(watch: &Watch) -> McpTarget {
    let McpCommand { command, set_env, .. } = command("");
    let script =
        format!("exec 9>{}; sh -c 'sleep 600; true' & echo ready >&9; exec \"$0\" \"$@\"", watch.path());
    let command = ["sh".to_owned(), "-c".to_owned(), script].into_iter().chain(command).collect();
    target(McpCommand { command, cwd: None, env: Vec::new(), set_env })
}

#[tokio::test]
async fn no_process_is_left_behind_however_an_upstream_ends() {
    for how in ["close", "drop", "die", "abandon"] {
        let watch = Watch::new();
        let upstream = over(&family(&watch));
        let mut heard = watch.follow();
        in_time(upstream.start()).await.unwrap();
        heard.until_ready().await;
        match how {
            "close" => upstream.close().await,
            "die" => drop(call(&upstream, "die", json!({})).await.unwrap_err()),
            "abandon" => {
                let mut begun = upstream.tools_changed();
                let holding = upstream.clone();
                let task = tokio::spawn(async move {
                    holding.call_tool("hold", Default::default(), &Caller::nobody()).await
                });
                in_time(begun.changed()).await.unwrap();
                upstream.close().await;
                let error = in_time(task).await.unwrap().unwrap_err();
                assert!(matches!(error, UpstreamError::Unavailable { .. }), "{error}");
            }
            _ => drop(upstream),
        }
        heard.until_all_gone().await;
    }
}

#[test]
fn a_runtime_that_stops_leaves_no_server_behind() {
    let watch = Watch::new();
    let target = family(&watch);
    let mut heard = watch.follow();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let upstream = runtime.block_on(async {
        let upstream = over(&target);
        in_time(upstream.start()).await.unwrap();
        upstream
    });
    let other = tokio::runtime::Runtime::new().unwrap();
    other.block_on(heard.until_ready());
    drop(runtime);
    other.block_on(heard.until_all_gone());
    drop(upstream);
}

#[tokio::test]
async fn a_server_that_fails_to_start_reports_why_and_is_restarted_with_delays() {
    let mut command = command("dies_at_start");
    command.set_env.insert("TOKEN".to_owned(), "${env:TOKEN}".to_owned());
    let upstream = over(&target(command));
    // The first failure is retried immediately, the next ones after increasing delays.
    for attempt in 0..8 {
        let error = in_time(upstream.start()).await.unwrap_err();
        let UpstreamError::Unavailable { retry_after, reason, .. } = &error else { panic!("{error:?}") };
        assert_eq!(reason, "exited with status 3: the database refuses [redacted]");
        match retry_after {
            Some(wait) => {
                assert!(attempt >= 2 && wait.as_secs() < 30, "attempt {attempt}: {wait:?}");
                break;
            }
            None => assert!(attempt < 7, "no delay between starts"),
        }
    }
    assert!(
        matches!(&*upstream.state().borrow(), UpstreamState::Failed { reason } if reason.contains("[redacted]"))
    );
}

#[tokio::test]
async fn a_server_that_exits_after_the_handshake_fails_calls_and_does_not_hang() {
    let upstream = upstream("exits");
    for _ in 0..3 {
        let error = call(&upstream, "echo", json!({})).await.unwrap_err();
        assert!(matches!(error, UpstreamError::Unavailable { .. }), "{error}");
    }
}

#[tokio::test]
async fn errors_name_missing_programs_and_variables() {
    let absent = McpCommand { command: vec!["/opt/no-such-server".to_owned()], ..command("") };
    let error = in_time(over(&target(absent)).start()).await.unwrap_err().to_string();
    assert!(error.contains("'no-such-server' is not installed") && !error.contains("/opt"), "{error}");
    let unset = McpCommand { command: vec!["x".to_owned(), "${env:MISSING_HERE}".to_owned()], ..command("") };
    let error = in_time(over(&target(unset)).start()).await.unwrap_err().to_string();
    assert!(error.contains("MISSING_HERE"), "{error}");
    let wrong = McpCommand { command: vec!["${HOME}".to_owned()], ..command("") };
    assert!(Upstream::new(&target(wrong), &Auth::None, &environment()).is_err());
}

#[tokio::test]
async fn a_server_that_never_answers_the_handshake_is_ended() {
    let watch = Watch::new();
    let mut target = family(&watch);
    if let mcpaql_core::adapter::McpLink::Command(command) = &mut target.link {
        command.set_env.insert(server::FAULTS.to_owned(), "silent".to_owned());
    }
    target.start_timeout_ms = 200;
    let upstream = over(&target);
    let mut heard = watch.follow();
    let error = in_time(upstream.start()).await.unwrap_err();
    assert!(matches!(error, UpstreamError::Timeout { .. }), "{error}");
    heard.until_ready().await;
    heard.until_all_gone().await;
}

#[tokio::test]
async fn a_server_without_a_handshake_is_asked_for_its_capabilities() {
    let upstream = upstream("stateless");
    let capture = in_time(upstream.capture()).await.unwrap();
    assert_eq!(capture.server().unwrap()["name"], "modern");
    let meta = &capture.initialize["heard"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    let meta = said(&call(&upstream, "meta", json!({})).await.unwrap());
    assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "mcpaql");
    assert!(meta["progressToken"].is_u64());
}
