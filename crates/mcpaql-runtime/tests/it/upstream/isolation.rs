//! Names belong to their server: what one server sends never leads to another server, and a question shows who asks.

use super::{command, environment};
use crate::fixture::{Raw, in_time};
use mcpaql_core::adapter::{McpTarget, Mode, ResultForm};
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::error::Code;
use mcpaql_core::selection::{FeatureRule, FeatureSelection};
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::{Caller, CallerName};
use mcpaql_runtime::dispatch::ServedAdapter;
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::mcp::ServerLimits;
use mcpaql_runtime::open::open;
use serde_json::{Value, json};
use std::sync::Arc;

/// An adapter of the fixture, whose server runs.
async fn adapter(
    name: &str,
    settings: AdapterSettings,
    change: impl FnOnce(&mut McpTarget),
) -> ServedAdapter {
    let fixture = command("");
    let document = json!({
        "type": "adapter", "name": name, "version": "1.0.0", "description": "A server far away",
        "target": {"transport": "mcp", "command": fixture.command, "set_env": fixture.set_env},
        "operations": {"execute": [
            {"name": "give", "tool": "result", "params": {"result": {"type": "object", "additionalProperties": true}}},
            {"name": "ask_user", "tool": "elicitation/create", "params": {"message": {"type": "string"}}},
            {"name": "ask_model", "tool": "sampling/createMessage", "params": {"prompt": {"type": "string", "as": "systemPrompt"}}},
            {"name": "capabilities"}, {"name": "echo"}, {"name": "die"}, {"name": "busy"},
        ]},
    });
    let checked = check::check(&Source::new("a.json", document.to_string()), &settings);
    let mut catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    change(catalog.adapter.target.server_mut().unwrap());
    let served = open(catalog, "a.json", None, &environment()).await.unwrap();
    in_time(served.upstreams()[0].start()).await.unwrap();
    served
}

async fn envelope(name: &str) -> ServedAdapter {
    adapter(name, AdapterSettings::default(), |_| {}).await
}

async fn plain(name: &str) -> ServedAdapter {
    let pattern = Some(format!("{name}_{{operation}}"));
    let (mode, results) = (Some(Mode::Discrete), Some(ResultForm::Plain));
    adapter(name, AdapterSettings { mode, results, pattern, ..AdapterSettings::default() }, |_| {}).await
}

/// A client that can be asked.
async fn client(adapters: Vec<ServedAdapter>) -> Raw {
    let gateway = Arc::new(Gateway::new(adapters).unwrap());
    let mut raw = Raw::new(&gateway, ServerLimits::default());
    raw.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}, "sampling": {}},
        "clientInfo": {"name": "raw", "version": "0"}}}))
        .await;
    raw.receive().await.unwrap();
    raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
    raw
}

/// Sends a request and returns its answer, or the first question in between.
async fn ask(raw: &mut Raw, method: &str, params: Value) -> Value {
    raw.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})).await;
    loop {
        let message = raw.receive().await.unwrap();
        if message.get("id").is_some() {
            return message;
        }
    }
}

fn execute(adapter: &str, operation: &str, params: Value) -> Value {
    json!({"name": format!("{adapter}_mcpaql_execute"), "arguments": {"operation": operation, "params": params}})
}

fn strings(list: &Value, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|one| one[key].as_str().unwrap().to_owned()).collect()
}

fn links() -> Value {
    json!({"content": [
        {"type": "resource_link", "uri": "file:///a", "name": "a"},
        {"type": "resource", "resource": {"uri": "mcpaql://two/file:///secret", "text": "x"}},
    ]})
}

#[tokio::test]
async fn resources_in_results_and_prompts_are_addressed_by_adapter_and_no_other_server_is_asked() {
    let mut raw = client(vec![envelope("one").await, envelope("two").await]).await;
    let answer = ask(&mut raw, "tools/call", execute("one", "give", json!({"result": links()}))).await;
    let content = &answer["result"]["content"];
    let text: Value = serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(
        text["data"]["blocks"],
        json!(["mcpaql://one/file:///a", "mcpaql://one/mcpaql://two/file:///secret"])
    );
    assert_eq!(content[1]["uri"], "mcpaql://one/file:///a");
    assert_eq!(
        content[2]["resource"]["uri"], "mcpaql://one/mcpaql://two/file:///secret",
        "it stays with its server"
    );
    let read = ask(&mut raw, "resources/read", json!({"uri": content[2]["resource"]["uri"]})).await;
    assert_eq!(read["result"]["contents"][0]["uri"], content[2]["resource"]["uri"], "{read}");
    let prompt = ask(&mut raw, "prompts/get", json!({"name": "two_greet"})).await;
    assert_eq!(prompt["result"]["messages"][1]["content"]["uri"], "mcpaql://two/file:///linked");
    for method in ["resources/read", "resources/subscribe"] {
        let bare = ask(&mut raw, method, json!({"uri": "file:///a"})).await;
        assert!(
            bare["error"]["message"].as_str().unwrap().starts_with("Unknown resource"),
            "{method} {bare}"
        );
    }
}

#[tokio::test]
async fn plain_results_keep_the_uris_of_a_server_only_if_no_other_adapter_may_have_the_same() {
    let mut raw = client(vec![plain("one").await, envelope("two").await]).await;
    let listed = ask(&mut raw, "resources/list", json!({})).await;
    let uris = strings(&listed["result"]["resources"], "uri");
    assert_eq!(uris, ["file:///notes/a b?x=1#y", "mcpaql://two/file:///notes/a b?x=1#y"]);
    let read = ask(&mut raw, "resources/read", json!({"uri": "file:///x"})).await;
    assert_eq!(read["result"]["contents"][0]["uri"], "file:///x");

    let mut raw = client(vec![plain("one").await, plain("two").await]).await;
    let listed = ask(&mut raw, "resources/list", json!({})).await;
    let uris = strings(&listed["result"]["resources"], "uri");
    assert_eq!(uris, ["mcpaql://one/file:///notes/a b?x=1#y", "mcpaql://two/file:///notes/a b?x=1#y"]);
    let read = ask(&mut raw, "resources/read", json!({"uri": "file:///x"})).await;
    assert!(read["error"].is_object(), "{read}");
}

#[tokio::test]
async fn adapters_with_the_same_name_offer_no_resources_because_the_name_identifies_no_server() {
    let second = AdapterSettings { prefix: Some("other_".to_owned()), ..AdapterSettings::default() };
    let adapters = vec![envelope("one").await, adapter("one", second, |_| {}).await];
    let mut raw = client(adapters).await;
    let read = ask(&mut raw, "resources/read", json!({"uri": "mcpaql://one/file:///a"})).await;
    assert!(read["error"].is_object(), "{read}");
}

#[tokio::test]
async fn include_and_exclude_cover_prompts_and_resources_in_lists_and_by_name() {
    let only =
        |rules: Vec<FeatureRule>| FeatureSelection { is_limited: true, include: rules, exclude: Vec::new() };
    let operations_only =
        adapter("one", AdapterSettings::default(), |server| server.selection = only(vec![])).await;
    let notes =
        only(vec![FeatureRule::Prompt("greet".into()), FeatureRule::Resource("file:///notes/{name}".into())]);
    let some = adapter("two", AdapterSettings::default(), |server| server.selection = notes).await;
    let without = FeatureSelection { exclude: vec![FeatureRule::Name("note".into())], ..Default::default() };
    let most = adapter("three", AdapterSettings::default(), |server| server.selection = without).await;
    let mut raw = client(vec![operations_only, some, most]).await;

    let listed = ask(&mut raw, "prompts/list", json!({})).await;
    assert_eq!(strings(&listed["result"]["prompts"], "name"), ["two_greet", "three_greet"]);
    let listed = ask(&mut raw, "resources/list", json!({})).await;
    assert_eq!(strings(&listed["result"]["resources"], "uri"), ["mcpaql://three/file:///notes/a b?x=1#y"]);
    let listed = ask(&mut raw, "resources/templates/list", json!({})).await;
    let templates = strings(&listed["result"]["resourceTemplates"], "uriTemplate");
    assert_eq!(templates, ["mcpaql://two/file:///notes/{name}"]);
    for (uri, is_served) in [
        ("mcpaql://one/file:///notes/x", false),
        ("mcpaql://two/file:///notes/x", true),
        ("mcpaql://two/file:///etc/passwd", false),
        ("mcpaql://three/file:///etc/hosts", true),
        ("mcpaql://three/file:///notes/a b?x=1#y", true),
        ("mcpaql://three/file:///notes/x", false),
    ] {
        for method in ["resources/read", "resources/subscribe"] {
            let answer = ask(&mut raw, method, json!({"uri": uri})).await;
            assert_eq!(answer.get("result").is_some(), is_served, "{method} {uri}: {answer}");
        }
    }
    let hidden = ask(&mut raw, "prompts/get", json!({"name": "one_greet"})).await;
    assert!(hidden["error"]["message"].as_str().unwrap().starts_with("Unknown prompt"), "{hidden}");
}

#[tokio::test]
async fn a_question_shows_the_adapter_whose_server_asks() {
    let mut raw = client(vec![envelope("one").await]).await;
    for (operation, argument, key, expected) in [
        ("ask_user", "message", "message", "[one] Sure?"),
        (
            "ask_model",
            "prompt",
            "systemPrompt",
            "[one] This request comes from the MCP server of the adapter 'one'.\nSure?",
        ),
    ] {
        let question =
            ask(&mut raw, "tools/call", execute("one", operation, json!({argument: "Sure?"}))).await;
        assert_eq!(question["params"][key], expected, "{question}");
        raw.send(&json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}})).await;
        assert_eq!(raw.receive().await.unwrap()["id"], 1);
    }
}

#[tokio::test]
async fn a_server_without_permission_to_ask_reaches_nobody() {
    let silent = adapter("one", AdapterSettings::default(), |server| server.questions = false).await;
    let mut raw = client(vec![silent]).await;
    let answer = ask(&mut raw, "tools/call", execute("one", "ask_user", json!({"message": "Sure?"}))).await;
    let text: Value = serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["data"]["result"], json!({"action": "cancel"}), "{answer}");
    let answer = ask(&mut raw, "tools/call", execute("one", "ask_model", json!({}))).await;
    let text: Value = serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["data"]["error"]["code"], -32000, "{answer}");
    let answer = ask(&mut raw, "tools/call", execute("one", "capabilities", json!({}))).await;
    assert_eq!(
        answer["result"]["content"][0]["text"], r#"{"success":true,"data":{}}"#,
        "it knows that it may not ask"
    );
}

#[tokio::test]
async fn a_call_that_crashes_the_server_blocks_only_its_caller() {
    let served = envelope("one").await;
    let named = |name: &str| Caller::nobody().named(CallerName::new(name).unwrap());
    let (mallory, alice) = (named("mallory"), named("alice"));
    let call = async |operation: &str, caller: &Caller| {
        in_time(served.call_operation(operation, serde_json::Map::new(), caller)).await
    };
    let mut retried_later = 0;
    for _ in 0..6 {
        let error = call("die", &mallory).await.unwrap_err();
        assert_eq!(error.code, Code::TransportConnection);
        retried_later += usize::from(error.details.contains_key("retry_after_seconds"));
        call("echo", &alice).await.unwrap();
        call("echo", &mallory).await.unwrap();
    }
    assert!(retried_later >= 3, "the call itself must wait longer and longer");
}

#[tokio::test]
async fn a_call_with_endless_progress_ends() {
    let fixture = command("");
    let document = json!({
        "type": "adapter", "name": "one", "version": "1.0.0", "description": "A server far away",
        "target": {"transport": "mcp", "command": fixture.command, "set_env": fixture.set_env, "timeout": 0.5},
        "operations": {"execute": [{"name": "busy"}]},
    });
    let checked = check::check(&Source::new("a.json", document.to_string()), &AdapterSettings::default());
    let mut catalog = checked.catalog.unwrap();
    catalog.max_duration_ms = 1500;
    let served = open(catalog, "a.json", None, &environment()).await.unwrap();
    let nobody = Caller::nobody();
    let busy = served.call_operation("busy", serde_json::Map::new(), &nobody);
    let error = in_time(busy).await.unwrap_err();
    assert_eq!((error.code, &error.details["max_seconds"]), (Code::TransportTimeout, &json!(2)), "{error:?}");
}
