//! Failures of a server during its work, which must not affect other calls.

use super::{call, command, over, pid, said, target, upstream};
use crate::fixture::in_time;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::target::mcp::{Upstream, UpstreamError, UpstreamState};
use rustix::process::{Signal, kill_process};
use serde_json::json;
use tokio::task::JoinHandle;

/// Starts a call that is never answered.
async fn held(upstream: &Upstream) -> JoinHandle<Result<serde_json::Value, UpstreamError>> {
    in_time(upstream.start()).await.unwrap();
    let mut begun = upstream.tools_changed();
    begun.mark_unchanged();
    let holding = upstream.clone();
    let task =
        tokio::spawn(async move { holding.call_tool("hold", Default::default(), &Caller::nobody()).await });
    in_time(begun.changed()).await.unwrap();
    task
}

#[tokio::test]
async fn a_server_killed_during_a_call_fails_it_immediately_and_is_restarted() {
    let upstream = upstream("");
    let victim = pid(&upstream).await;
    let calls = [held(&upstream).await, held(&upstream).await];
    kill_process(victim, Signal::KILL).unwrap();
    for call in calls {
        let error = in_time(call).await.unwrap().unwrap_err();
        assert_eq!(error.to_string(), "the MCP server 'fixture' was ended by signal 9");
    }
    assert!(matches!(&*upstream.state().borrow(), UpstreamState::Failed { .. }));
    assert_ne!(pid(&upstream).await, victim);
    assert!(matches!(&*upstream.state().borrow(), UpstreamState::Running { .. }));
}

#[tokio::test]
async fn the_error_of_a_dead_server_contains_its_last_output() {
    let error = call(&upstream(""), "die", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "the MCP server 'fixture' exited with status 7: out of cheese");
}

#[tokio::test]
async fn a_call_without_an_answer_times_out_and_is_cancelled_in_the_server() {
    let mut target = target(command(""));
    target.timeout_ms = 200;
    let upstream = over(&target);
    let task = held(&upstream).await;
    let mut told = upstream.tools_changed();
    told.mark_unchanged();
    let error = in_time(task).await.unwrap().unwrap_err();
    assert!(matches!(&error, UpstreamError::Timeout { server, .. } if server == "fixture"), "{error}");
    in_time(told.changed()).await.unwrap();
    // The server still answers the cancelled call; the next call must not get that answer.
    let heard = said(&call(&upstream, "cancelled", json!({})).await.unwrap());
    assert_eq!(heard["ids"], heard["held"]);
    assert_eq!(heard["ids"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_dropped_call_is_cancelled_in_the_server() {
    let upstream = upstream("");
    let task = held(&upstream).await;
    let mut told = upstream.tools_changed();
    told.mark_unchanged();
    task.abort();
    in_time(told.changed()).await.unwrap();
    let heard = said(&call(&upstream, "cancelled", json!({})).await.unwrap());
    assert_eq!(heard["ids"], heard["held"]);
}

#[tokio::test]
async fn garbage_on_standard_output_is_skipped() {
    let mut target = target(command(""));
    target.max_response_bytes = 1 << 20;
    let upstream = over(&target);
    let result = call(&upstream, "flood", json!({})).await.unwrap();
    assert_eq!(result["content"][0]["text"], "still here");
}

#[tokio::test]
async fn an_answer_that_is_too_large_fails_only_its_own_call() {
    let upstream = upstream("");
    let other = held(&upstream).await;
    let error = call(&upstream, "big", json!({"bytes": 50_000_000})).await.unwrap_err();
    assert!(matches!(error, UpstreamError::TooLarge { limit, .. } if limit == 10 << 20), "{error}");
    assert!(!other.is_finished());
    let result = call(&upstream, "big", json!({"bytes": 5_000_000})).await.unwrap();
    assert_eq!(result["content"][0]["text"].as_str().unwrap().len(), 5_000_000);
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_fails_its_call() {
    let upstream = upstream("");
    let error = call(&upstream, "broken", json!({})).await.unwrap_err();
    assert!(matches!(error, UpstreamError::Unreadable { .. }), "{error}");
    call(&upstream, "echo", json!({})).await.unwrap();
}

#[tokio::test]
async fn an_unreadable_list_is_an_error() {
    for (fault, why) in [
        ("deep", "it is nested too deeply"),
        ("half", "unexpected end of hex escape"),
        ("no_list", "it has no list 'tools'"),
        ("no_object", "it has no list 'tools'"),
    ] {
        let error = in_time(upstream(fault).capture()).await.unwrap_err().to_string();
        assert!(error.ends_with(&format!("to tools/list cannot be read: {why}")), "{fault}: {error}");
        let listed = upstream(fault);
        let error = in_time(listed.list("tools/list", "tools", &Caller::nobody())).await.unwrap_err();
        assert!(matches!(error, UpstreamError::Unreadable { .. }), "{fault}: {error}");
    }
}

#[tokio::test]
async fn changes_of_tools_during_calls_are_announced_and_do_not_disturb_them() {
    let upstream = upstream("");
    let task = held(&upstream).await;
    let mut changed = upstream.tools_changed();
    changed.mark_unchanged();
    call(&upstream, "change", json!({})).await.unwrap();
    in_time(changed.changed()).await.unwrap();
    let capture = in_time(upstream.capture()).await.unwrap();
    assert_eq!(capture.tools.last().unwrap()["name"], "new0");
    assert!(!task.is_finished());
}

#[tokio::test]
async fn a_json_rpc_error_keeps_its_code_and_message() {
    let error = call(&upstream(""), "nonsense", json!({})).await.unwrap_err();
    assert!(
        matches!(&error, UpstreamError::Refused { code: -32602, message, .. } if message == "Unknown tool: nonsense"),
        "{error:?}"
    );
}
