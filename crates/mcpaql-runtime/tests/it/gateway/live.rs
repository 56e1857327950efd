//! MCP servers behind a gateway: their tools are updated, and they never affect other adapters.

use super::swap::{reads, tools, without_data};
use crate::fixture::{Fixture, Serving, crypto, http, in_time, loopback, tool};
use crate::http::upstream::Bare;
use mcpaql_core::adapter::{Auth, McpLink, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::policy::Hints;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::gateway::{AdapterState, Gateway, GatewayMember, LiveAdapter, MemberOrigin};
use mcpaql_runtime::serve::HttpOptions;
use mcpaql_runtime::service::Service;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const READS: Hints = Hints { read_only: true, destructive: false, idempotent: true, open_world: false };

/// Compiles every tool to an operation that reads and has its own tool.
fn compile(name: &str, capture: &Capture) -> Result<Catalog, String> {
    let operations: Vec<Value> =
        capture.tools.iter().map(|tool| json!({"name": tool["name"], "tool": tool["name"]})).collect();
    let document = json!({
        "name": name, "type": "adapter", "version": "1.0.0", "description": "A server", "mode": "discrete",
        "target": {"transport": "mcp", "url": "http://127.0.0.1:1/mcp"},
        "operations": {"read": operations},
    });
    let checked = check::check(&Source::new("live.json", document.to_string()), &AdapterSettings::default());
    checked.catalog.ok_or_else(|| format!("{:?}", checked.diagnostics))
}

/// The saved captures.
type SavedCaptures = Arc<Mutex<Vec<Capture>>>;

fn live(name: &'static str, addr: SocketAddr, last: Option<Capture>) -> (GatewayMember, SavedCaptures) {
    crypto();
    let kept = SavedCaptures::default();
    let keeping = Arc::clone(&kept);
    let url = format!("http://{addr}/mcp");
    let live = LiveAdapter {
        pin: true,
        target: McpTarget::new(McpLink::Url { url, headers: Default::default(), allow_http: false }),
        auth: Auth::None,
        last_capture: last,
        compile: Arc::new(move |capture| compile(name, capture)),
        save: Arc::new(move |capture| keeping.lock().unwrap().push(capture.clone())),
    };
    let member = GatewayMember {
        key: name.into(),
        name: name.into(),
        source: "mcpaql.yaml".into(),
        origin: MemberOrigin::Live(Box::new(live)),
    };
    (member, kept)
}

fn capture_of(names: &[&str]) -> Capture {
    let tools = names.iter().map(|name| json!({"name": name, "inputSchema": {"type": "object"}})).collect();
    Capture { tools, ..Capture::default() }
}

async fn until(gateway: &Gateway, reached: impl Fn(&Gateway) -> bool) {
    let mut moved = gateway.state_changes();
    let mut changes = gateway.changes().unwrap();
    while !reached(gateway) {
        let news = async {
            tokio::select! {
                _ = moved.changed() => {}
                _ = changes.changed() => {}
            }
        };
        in_time(news).await;
    }
}

async fn echo(gateway: &Gateway, tool: &str) -> Value {
    let reply = in_time(gateway.call(tool, serde_json::Map::new(), &Caller::nobody())).await.unwrap();
    serde_json::from_str(&reply.text).unwrap()
}

fn is(gateway: &Gateway, slot: usize, state: &str) -> bool {
    gateway.slots()[slot].state().0.as_str() == state
}

/// An address where no server listens.
async fn unused_address() -> SocketAddr {
    let (addr, serving) = http(&Fixture::new(), loopback()).await;
    stop(serving).await;
    addr
}

async fn stop(serving: Serving) {
    serving.shutdown.cancel();
    serving.stopped().await.unwrap();
}

#[tokio::test]
async fn a_server_with_unknown_tools_is_started_and_its_tools_appear() {
    let (addr, _serving) = http(&Fixture::new(), loopback()).await;
    let (member, kept) = live("far", addr, None);
    let gateway = Gateway::open(vec![reads("near"), member], without_data()).await.unwrap();
    let mut changes = gateway.changes().unwrap();
    assert_eq!(tools(&gateway), ["near_mcpaql_create", "near_mcpaql_read"]);
    in_time(changes.changed()).await.unwrap();
    assert_eq!(tools(&gateway)[2..], ["far_zeta", "far_echo", "far_fail", "far_panic", "far_wait"]);
    until(&gateway, |gateway| is(gateway, 1, "ready")).await;
    assert_eq!(echo(&gateway, "far_echo").await["success"], true);
    assert_eq!(kept.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn the_first_list_waits_for_servers_with_unknown_tools() {
    let (addr, _serving) = http(&Fixture::new(), loopback()).await;
    let (one, other) = (live("one", addr, None).0, live("other", addr, None).0);
    let (failing, _) = live("failing", unused_address().await, None);
    let gateway = Gateway::open(vec![one, other, failing], without_data()).await.unwrap();
    in_time(gateway.wait_for_tools()).await;
    assert_eq!(tools(&gateway).len(), 10);
}

#[tokio::test]
async fn the_first_list_does_not_wait_for_a_server_that_hangs() {
    let (addr, _serving) = http(&Fixture::new(), loopback()).await;
    let hanging = Bare::start(|_stream| std::future::pending()).await;
    let hanging = hanging.url.strip_prefix("http://").unwrap().parse().unwrap();
    let members = vec![reads("near"), live("far", addr, None).0, live("hanging", hanging, None).0];
    let mut options = without_data();
    options.list_timeout = Duration::from_millis(1);
    let gateway = Gateway::open(members, options).await.unwrap();
    in_time(gateway.wait_for_tools()).await;
    assert!(tools(&gateway).len() >= 2);
    assert!(is(&gateway, 2, "starting"));
    until(&gateway, |gateway| tools(gateway).len() == 7).await;
}

#[tokio::test]
async fn tools_follow_the_server() {
    let service = Fixture::new();
    let (addr, _serving) = http(&service, loopback()).await;
    let (member, kept) = live("far", addr, None);
    let gateway = Gateway::open(vec![member], without_data()).await.unwrap();
    until(&gateway, |gateway| gateway.tools().len() == 5).await;
    service.swap([tool("echo", READS), tool("fresh", READS)]);
    until(&gateway, |gateway| tools(gateway) == ["far_echo", "far_fresh"]).await;
    assert_eq!(kept.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn known_tools_are_listed_before_the_server_runs() {
    let (member, _) = live("far", unused_address().await, Some(capture_of(&["echo"])));
    let gateway = Gateway::open(vec![member, reads("near")], without_data()).await.unwrap();
    assert_eq!(tools(&gateway)[0], "far_echo");
    let answer = echo(&gateway, "far_echo").await;
    assert_eq!(answer["error"]["code"], "TRANSPORT_CONNECTION_FAILED", "{answer}");
    until(&gateway, |gateway| is(gateway, 0, "failing")).await;
    assert_eq!(tools(&gateway)[0], "far_echo", "its tools stay");
    assert_eq!(gateway.slots()[1].state().0, AdapterState::Ready);
}

#[tokio::test]
async fn known_tools_are_updated_when_the_server_runs() {
    let (addr, _serving) = http(&Fixture::new(), loopback()).await;
    let (member, _) = live("far", addr, Some(capture_of(&["echo", "gone"])));
    let gateway = Gateway::open(vec![member], without_data()).await.unwrap();
    assert_eq!(tools(&gateway), ["far_echo", "far_gone"]);
    assert_eq!(echo(&gateway, "far_echo").await["success"], true);
    until(&gateway, |gateway| gateway.tools().len() == 5).await;
}

#[tokio::test]
async fn a_server_that_does_not_run_yet_is_retried() {
    let addr = unused_address().await;
    let (member, _) = live("far", addr, None);
    let gateway = Gateway::open(vec![member], without_data()).await.unwrap();
    until(&gateway, |gateway| is(gateway, 0, "failing")).await;
    assert!(tools(&gateway).is_empty());
    let (_, _serving) = http(&Fixture::new(), HttpOptions::new(addr)).await;
    until(&gateway, |gateway| gateway.tools().len() == 5 && is(gateway, 0, "ready")).await;
}

#[tokio::test]
async fn a_server_never_takes_the_name_of_another_adapters_tool() {
    let service = Fixture::new();
    let (addr, _serving) = http(&service, loopback()).await;
    let (member, _) = live("near", addr, Some(capture_of(&["mcpaql_read"])));
    // It is the first in order, but it is still the one that is hidden.
    let gateway = Gateway::open(vec![member, reads("near")], without_data()).await.unwrap();
    assert_eq!(tools(&gateway), ["near_mcpaql_create", "near_mcpaql_read"]);
    let (state, _) = gateway.slots()[0].state();
    assert!(state.reason().unwrap().contains("'near_mcpaql_read'"), "{state:?}");
    gateway
        .replace(vec![GatewayMember { origin: MemberOrigin::Kept, ..live("near", addr, None).0 }])
        .await
        .unwrap();
    assert_eq!(tools(&gateway), ["near_mcpaql_read"], "it is listed when the name is free");
    assert_eq!(gateway.slots()[0].state().0, AdapterState::Ready);
}

#[tokio::test]
async fn a_call_goes_to_the_selected_server() {
    let (here, _serving) = http(&Fixture::new(), loopback()).await;
    let gone = unused_address().await;
    let (member, _) = live("far", here, Some(capture_of(&["echo"])));
    let MemberOrigin::Live(mut made) = member.origin else { panic!("it is live") };
    made.compile = Arc::new(move |capture| {
        let operations: Vec<Value> = capture.tools.iter().map(|tool| json!({"name": tool["name"]})).collect();
        let document = json!({
            "name": "far", "type": "adapter", "version": "1.0.0", "description": "A server", "mode": "discrete",
            "target": {"transport": "mcp", "url": format!("http://{here}/mcp")},
            "targets": {"staging": {}, "production": {"url": format!("http://{gone}/mcp")}},
            "operations": {"read": operations},
        });
        let checked =
            check::check(&Source::new("live.json", document.to_string()), &AdapterSettings::default());
        checked.catalog.ok_or_else(|| format!("{:?}", checked.diagnostics))
    });
    let member = GatewayMember {
        origin: MemberOrigin::Live(made),
        key: "far".into(),
        name: "far".into(),
        source: "x".into(),
    };
    let gateway = Gateway::open(vec![member], without_data()).await.unwrap();
    for (target, succeeds) in [("staging", true), ("production", false)] {
        let arguments = json!({"target": target}).as_object().unwrap().clone();
        let reply = in_time(gateway.call("far_echo", arguments, &Caller::nobody())).await.unwrap();
        let envelope: Value = serde_json::from_str(&reply.text).unwrap();
        assert_eq!(envelope["success"], succeeds, "{target}: {envelope}");
    }
}
