//! Resources and prompts of servers behind a gateway, as clients see them.

use super::{command, environment};
use crate::fixture::{Raw, in_time, initialize, modern};
use mcpaql_core::adapter::McpCommand;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::dispatch::ServedAdapter;
use mcpaql_runtime::document::{Answer, Handlers};
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::mcp::ServerLimits;
use mcpaql_runtime::open::open;
use mcpaql_runtime::target::mcp::Upstream;
use serde_json::{Map, Value, json};
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

async fn adapter(name: &str) -> ServedAdapter {
    adapter_of(name, command("")).await
}

async fn adapter_of(name: &str, fixture: McpCommand) -> ServedAdapter {
    adapter_at(name, fixture, json!({})).await
}

/// An adapter of the fixture, or with several `targets` like it.
async fn adapter_at(name: &str, fixture: McpCommand, targets: Value) -> ServedAdapter {
    let document = json!({
        "type": "adapter", "name": name, "version": "1.0.0", "description": "A server far away",
        "target": {"transport": "mcp", "command": fixture.command, "set_env": fixture.set_env},
        "targets": targets,
        "operations": {"execute": [{"name": "echo"}]},
    });
    let checked = check::check(&Source::new("a.json", document.to_string()), &AdapterSettings::default());
    open(checked.catalog.unwrap(), "a.json", None, &environment()).await.unwrap()
}

fn upstream(served: &ServedAdapter) -> Upstream {
    Upstream::clone(served.upstreams()[0])
}

async fn ask(raw: &mut Raw, method: &str, params: Value) -> Value {
    raw.send(&modern(json!({"jsonrpc": "2.0", "id": 9, "method": method, "params": params}))).await;
    raw.receive().await.unwrap()
}

async fn capabilities(gateway: &Arc<Gateway>) -> Value {
    let mut raw = Raw::new(gateway, ServerLimits::default());
    raw.send(&initialize()).await;
    raw.receive().await.unwrap()["result"]["capabilities"].take()
}

#[tokio::test]
async fn only_known_features_of_a_server_are_declared() {
    let served = adapter("far-away").await;
    let upstream = upstream(&served);
    let gateway = Arc::new(Gateway::new(vec![served]).unwrap());
    let before = capabilities(&gateway).await;
    assert_eq!((before.get("prompts"), before.get("resources")), (None, None));
    assert_eq!(before["logging"], json!({}), "whether it logs is known too late");
    let mut raw = Raw::new(&gateway, ServerLimits::default());
    assert_eq!(ask(&mut raw, "prompts/list", json!({})).await["error"]["code"], -32601);
    in_time(upstream.start()).await.unwrap();
    let after = capabilities(&gateway).await;
    assert_eq!(after["prompts"], json!({"listChanged": true}));
    assert_eq!(after["resources"], json!({"listChanged": true, "subscribe": true}));
    upstream.close().await;
    assert_eq!(capabilities(&gateway).await, after, "what is known stays known");
}

#[tokio::test]
async fn handlers_hide_no_features_of_the_server() {
    let served = adapter("far-away").await;
    let upstream = upstream(&served);
    let handlers = Handlers::new().on_operation("echo", async |_, _| Ok(Answer::new(json!("mine"))));
    let gateway = Arc::new(Gateway::new(vec![served.with_handlers(handlers)]).unwrap());
    in_time(upstream.start()).await.unwrap();
    assert_eq!(capabilities(&gateway).await["prompts"], json!({"listChanged": true}));
    let mut raw = Raw::new(&gateway, ServerLimits::default());
    let listed = ask(&mut raw, "prompts/list", json!({})).await;
    assert_eq!(listed["result"]["prompts"][0]["name"], "far_away_greet", "{listed}");
}

#[tokio::test]
async fn with_several_selectable_servers_only_logs_are_forwarded() {
    let served = adapter_at("far-away", command(""), json!({"near": {}, "far": {}})).await;
    assert_eq!(served.upstreams().len(), 2);
    for upstream in served.upstreams() {
        in_time(upstream.start()).await.unwrap();
    }
    let gateway = Arc::new(Gateway::new(vec![served]).unwrap());
    let said = capabilities(&gateway).await;
    assert_eq!(said["logging"], json!({}));
    assert_eq!((said.get("prompts"), said.get("resources")), (None, None));
}

#[tokio::test]
async fn prompts_and_resources_are_found_under_the_adapter_s_name() {
    let adapters = [adapter("far-away").await, adapter("far").await];
    for served in &adapters {
        in_time(upstream(served).start()).await.unwrap();
    }
    let gateway = Arc::new(Gateway::new(adapters.into()).unwrap());
    let mut raw = Raw::new(&gateway, ServerLimits::default());

    let listed = ask(&mut raw, "prompts/list", json!({})).await;
    let names: Vec<&str> = listed["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["far_away_greet", "far_greet"]);
    for name in names {
        let got = ask(&mut raw, "prompts/get", json!({"name": name, "arguments": {"who": "me"}})).await;
        assert_eq!(got["result"]["messages"][0]["content"]["text"], r#""greet": {"who":"me"}"#, "{got}");
        assert_eq!(got["result"]["resultType"], "complete", "{got}");
    }
    let got = ask(&mut raw, "prompts/get", json!({"name": "greet"})).await;
    assert_eq!(got["error"]["code"], -32602, "{got}");

    let listed = ask(&mut raw, "resources/list", json!({})).await;
    let uri = &listed["result"]["resources"][1]["uri"];
    assert_eq!(uri, "mcpaql://far/file:///notes/a b?x=1#y");
    let read = ask(&mut raw, "resources/read", json!({"uri": uri})).await;
    assert_eq!(read["result"]["contents"][0]["uri"], *uri, "{read}");
    assert_eq!(read["result"]["contents"][0]["text"], "read");
    assert_eq!(read["result"]["resultType"], "complete", "{read}");
    let templates = ask(&mut raw, "resources/templates/list", json!({})).await;
    let template = &templates["result"]["resourceTemplates"][0]["uriTemplate"];
    assert_eq!(template, "mcpaql://far_away/file:///notes/{name}");
    let bare = ask(&mut raw, "resources/read", json!({"uri": "file:///notes/b"})).await;
    assert_eq!(bare["error"]["code"], -32602, "it could be a resource of either server: {bare}");
    let unknown = ask(&mut raw, "resources/read", json!({"uri": "mcpaql://nobody/x"})).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
    let malformed = ask(&mut raw, "resources/read", json!({"uri": 5})).await;
    assert_eq!(malformed["error"]["code"], -32602, "{malformed}");
}

#[tokio::test]
async fn only_the_entries_of_a_stopped_server_are_missing() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("run");
    std::fs::write(&script, "#!/bin/sh\nexec \"$@\"\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o700)).unwrap();
    let mut doomed = command("");
    doomed.command.insert(0, script.to_str().unwrap().to_owned());
    let adapters = [adapter_of("one", doomed).await, adapter("two").await];
    let gone = upstream(&adapters[0]);
    for served in &adapters {
        in_time(upstream(served).start()).await.unwrap();
    }
    let gateway = Arc::new(Gateway::new(adapters.into()).unwrap());
    let mut raw = Raw::new(&gateway, ServerLimits::default());
    let names = async |raw: &mut Raw| {
        let listed = ask(raw, "prompts/list", json!({})).await;
        let prompts = listed["result"]["prompts"].as_array().unwrap().clone();
        prompts.iter().map(|prompt| prompt["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let die = async || drop(in_time(gone.call_tool("die", Map::new(), &Caller::nobody())).await.unwrap_err());
    die().await;
    assert_eq!(names(&mut raw).await, ["one_greet", "two_greet"], "it restarts when it is asked");
    die().await;
    std::fs::remove_file(&script).unwrap();
    assert_eq!(names(&mut raw).await, ["two_greet"]);
}

async fn connected(gateway: &Arc<Gateway>) -> Raw {
    let mut raw = Raw::new(gateway, ServerLimits::default());
    raw.send(&initialize()).await;
    raw.receive().await.unwrap();
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    raw
}

/// Sends a request, and returns its answer and the notifications before it.
async fn exchange(raw: &mut Raw, method: &str, params: Value) -> (Value, Vec<Value>) {
    raw.send(&json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": params})).await;
    let mut notifications = Vec::new();
    loop {
        let message = raw.receive().await.unwrap();
        if message["id"] == 5 {
            return (message, notifications);
        }
        notifications.push(message);
    }
}

#[tokio::test]
async fn clients_are_notified_of_the_resources_that_they_subscribe_to() {
    let served = adapter("far").await;
    in_time(upstream(&served).start()).await.unwrap();
    let gateway = Arc::new(Gateway::new(vec![served]).unwrap());
    let (mut reader, mut other) = (connected(&gateway).await, connected(&gateway).await);
    let (uri, updated) = (json!({"uri": "mcpaql://far/file:///a"}), "notifications/resources/updated");
    let (answer, mut early) = exchange(&mut reader, "resources/subscribe", uri.clone()).await;
    assert_eq!(answer["result"], json!({}), "{answer}");
    if early.is_empty() {
        early.push(reader.receive().await.unwrap());
    }
    assert_eq!((&early[0]["method"], &early[0]["params"]), (&json!(updated), &uri), "{early:?}");

    // The second subscriber keeps the subscription of the first one alive.
    exchange(&mut other, "resources/subscribe", uri.clone()).await;
    assert_eq!(other.receive().await.unwrap()["params"], uri);
    assert_eq!(reader.receive().await.unwrap()["params"], uri);
    let (answer, none) = exchange(&mut other, "resources/unsubscribe", uri.clone()).await;
    assert_eq!((&answer["result"], none.len()), (&json!({}), 0));
    let (_, none) = exchange(&mut reader, "ping", json!({})).await;
    assert_eq!(none, Vec::<Value>::new());

    // The server announces the end of the last subscription with a change of its prompts, which every client gets.
    exchange(&mut reader, "resources/unsubscribe", uri.clone()).await;
    for raw in [&mut reader, &mut other] {
        assert_eq!(raw.receive().await.unwrap()["method"], "notifications/prompts/list_changed");
    }
    for unknown in ["file:///a", "mcpaql://near/file:///a", "mcpaql://far/file:///refused"] {
        let (refused, _) = exchange(&mut reader, "resources/subscribe", json!({"uri": unknown})).await;
        assert!(refused["error"]["message"].is_string(), "{unknown}: {refused}");
    }
}

#[tokio::test]
async fn a_server_that_starts_again_gets_its_subscriptions_again() {
    let served = adapter("far").await;
    let upstream = upstream(&served);
    in_time(upstream.start()).await.unwrap();
    let gateway = Arc::new(Gateway::new(vec![served]).unwrap());
    let mut raw = connected(&gateway).await;
    let uri = json!({"uri": "mcpaql://far/file:///a"});
    exchange(&mut raw, "resources/subscribe", uri.clone()).await;
    assert_eq!(raw.receive().await.unwrap()["params"], uri);
    upstream.close().await;
    in_time(upstream.start()).await.unwrap();
    // One notification because it may have changed, one from the server.
    for _ in 0..2 {
        assert_eq!(raw.receive().await.unwrap()["params"], uri);
    }
}
