//! Behaviour that is the same in both revisions over both transports.

use crate::fixture::{
    Client, EVERYWHERE, Fixture, Raw, Revision, Wire, call, connect, in_time, modern, tool,
};
use mcpaql_core::policy::Hints;
use mcpaql_runtime::mcp::ServerLimits;
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, SubscriptionFilter};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::Ordering;

async fn everywhere(check: impl AsyncFn(Arc<Fixture>, Client)) {
    for (wire, revision) in EVERYWHERE {
        println!("{wire:?} {revision:?}");
        let service = Fixture::new();
        let client = connect(&service, wire, revision, ServerLimits::default()).await;
        check(service, client).await;
    }
}

fn params(tool: &'static str, arguments: Value) -> CallToolRequestParams {
    CallToolRequestParams::new(tool).with_arguments(arguments.as_object().unwrap().clone())
}

fn json_rpc(error: ServiceError) -> (ErrorCode, String) {
    match error {
        ServiceError::McpError(error) => (error.code, error.message.into_owned()),
        other => panic!("not a JSON-RPC error: {other}"),
    }
}

#[tokio::test]
async fn the_server_declares_its_name_and_only_tools() {
    everywhere(async |_, client| {
        let info = client.peer.peer_info().unwrap();
        let info = serde_json::to_value(&*info).unwrap();
        assert_eq!(info["serverInfo"]["name"], "mcpaql", "{info}");
        assert_eq!(info["serverInfo"]["version"], env!("CARGO_PKG_VERSION"));
        assert!(info["serverInfo"]["title"].is_string());
        assert_eq!(info["capabilities"], json!({"tools": {"listChanged": true}}));
        assert_eq!(info["instructions"], "Fixture instructions");
    })
    .await;
}

#[tokio::test]
async fn tools_keep_their_order_their_schema_and_all_hints() {
    everywhere(async |_, client| {
        let listed = client.peer.list_tools(None).await.unwrap();
        let names: Vec<_> = listed.tools.iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names, ["zeta", "echo", "fail", "panic", "wait"]);
        let first = serde_json::to_value(&listed.tools[0]).unwrap();
        let given =
            tool("zeta", Hints { read_only: false, destructive: true, idempotent: false, open_world: true });
        assert_eq!(
            first,
            json!({
                "name": "zeta",
                "title": "Fixture — zeta",
                "description": "The tool zeta",
                "inputSchema": given.input_schema,
                "annotations": {
                    "title": "Fixture — zeta",
                    "readOnlyHint": false,
                    "destructiveHint": true,
                    "idempotentHint": false,
                    "openWorldHint": true,
                },
            })
        );
    })
    .await;
}

#[tokio::test]
async fn a_call_is_one_text_block_and_an_explicit_flag() {
    everywhere(async |_, client| {
        let echoed = client.peer.call_tool(params("echo", json!({"it": "é"}))).await.unwrap();
        let echoed = serde_json::to_value(echoed).unwrap();
        assert_eq!(echoed["content"], json!([{"type": "text", "text": r#"{"it":"é"}"#}]));
        assert_eq!(echoed["isError"], false);
        assert!(echoed.get("structuredContent").is_none());
        let failed = client.peer.call_tool(params("fail", json!({}))).await.unwrap();
        assert_eq!(failed.is_error, Some(true));
    })
    .await;
}

#[tokio::test]
async fn results_name_the_server_in_the_revision_without_a_handshake() {
    let fixture = Fixture::new();
    let mut raw = Raw::initialized(&fixture, ServerLimits::default()).await;
    let mut stateless = Raw::new(&fixture, ServerLimits::default());
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}});
    for request in [list, call(2, "echo", json!({}))] {
        raw.send(&request).await;
        assert_eq!(raw.receive().await.unwrap()["result"].get("_meta"), None);
        stateless.send(&modern(request)).await;
        let answer = stateless.receive().await.unwrap();
        let info = &answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
        assert_eq!((&info["name"], &info["version"]), (&json!("mcpaql"), &json!(env!("CARGO_PKG_VERSION"))));
    }
}

#[tokio::test]
async fn an_unknown_tool_is_an_invalid_parameter() {
    everywhere(async |_, client| {
        let error = client.peer.call_tool(params("nope", json!({}))).await.unwrap_err();
        let (code, message) = json_rpc(error);
        assert_eq!(code, ErrorCode::INVALID_PARAMS);
        assert!(message.contains("'nope'"), "{message}");
    })
    .await;
}

#[tokio::test]
async fn undeclared_methods_are_not_available() {
    everywhere(async |_, client| {
        let errors = [
            client.peer.list_prompts(None).await.unwrap_err(),
            client.peer.list_resources(None).await.unwrap_err(),
            client.peer.list_resource_templates(None).await.unwrap_err(),
            client.peer.complete_prompt_simple("x", "y", "z").await.unwrap_err(),
        ];
        for error in errors {
            assert_eq!(json_rpc(error).0, ErrorCode::METHOD_NOT_FOUND);
        }
    })
    .await;
}

#[tokio::test]
async fn a_panic_is_answered_and_the_server_continues() {
    everywhere(async |_, client| {
        let answer = client.peer.call_tool(params("panic", json!({}))).await.unwrap();
        assert_eq!(answer.is_error, Some(true));
        let text = serde_json::to_value(&answer.content).unwrap()[0]["text"].to_string();
        assert!(text.contains("INTERNAL_ERROR") && !text.contains("fixture panics"), "{text}");
        client.peer.call_tool(params("echo", json!({}))).await.unwrap();
    })
    .await;
}

#[tokio::test]
async fn a_service_that_panics_on_listing_still_gets_answers_sent() {
    everywhere(async |service, client| {
        service.broken.store(true, Ordering::SeqCst);
        let error = client.peer.list_tools(None).await.unwrap_err();
        assert_eq!(json_rpc(error).0, ErrorCode::INTERNAL_ERROR);
    })
    .await;
}

#[tokio::test]
async fn a_long_call_sends_increasing_progress() {
    everywhere(async |service, mut client| {
        let peer = client.peer.peer().clone();
        let running = tokio::spawn(async move { peer.call_tool(params("wait", json!({}))).await });
        let mut last = 0.0;
        for _ in 0..2 {
            let news = in_time(client.progress.recv()).await.unwrap();
            assert!(last < news.progress && news.progress < 90.0, "{news:?}");
            assert_eq!(news.total, None, "the work reports nothing, so its end is not known");
            assert!(news.message.is_some());
            last = news.progress;
        }
        service.gate.add_permits(1);
        assert_eq!(running.await.unwrap().unwrap().is_error, Some(false));
    })
    .await;
}

#[tokio::test]
async fn a_cancelled_call_stops_its_work() {
    for (wire, revision) in EVERYWHERE {
        println!("{wire:?} {revision:?}");
        let service = Fixture::new();
        let client = connect(&service, wire, revision, ServerLimits::default()).await;
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params("wait", json!({}))));
        let handle =
            client.peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
        service.wait_for_calls(1).await;
        handle.cancel(Some("enough".to_owned())).await.unwrap();
        service.wait_for_drop().await;
        client.peer.call_tool(params("echo", json!({}))).await.unwrap();
    }
}

#[tokio::test]
async fn a_swapped_list_is_announced_to_a_stream_of_the_older_revision() {
    let service = Fixture::new();
    let mut client = connect(&service, Wire::Stream, Revision::V2025, ServerLimits::default()).await;
    client.peer.call_tool(params("echo", json!({}))).await.unwrap();
    service.swap([]);
    in_time(client.changes.recv()).await.unwrap();
    assert!(client.peer.list_tools(None).await.unwrap().tools.is_empty());
}

#[tokio::test]
async fn a_swapped_list_is_announced_to_subscribers_of_the_newer_revision() {
    for wire in [Wire::Stream, Wire::Http] {
        let service = Fixture::new();
        let client = connect(&service, wire, Revision::V2026, ServerLimits::default()).await;
        let filter = SubscriptionFilter::builder().tools_list_changed().prompts_list_changed().build();
        let mut subscription = client.peer.listen(filter).await.unwrap();
        assert_eq!(subscription.acknowledged().tools_list_changed, Some(true));
        assert_eq!(subscription.acknowledged().prompts_list_changed, None);
        service.swap([]);
        assert!(in_time(subscription.next()).await.unwrap().is_some());
        client.serving.shutdown.cancel();
        assert!(in_time(subscription.next()).await.unwrap().is_none());
        client.serving.stopped().await.unwrap();
    }
}
