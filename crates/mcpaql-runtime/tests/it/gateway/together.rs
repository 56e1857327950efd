//! All adapters behind the same tools.

use super::swap::without_data;
use super::{READS, adapter};
use crate::fixture::{crypto, in_time};
use mcpaql_core::catalog::{AdapterSettings, Sharing};
use mcpaql_document::check;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::gateway::{Gateway, GatewayMember, MemberOrigin};
use serde_json::{Value, json};

fn shared(name: &str, rest: &str) -> GatewayMember {
    crypto();
    let settings = AdapterSettings { sharing: Some(Sharing::Five), ..AdapterSettings::default() };
    let checked = check::check(&adapter(name, rest), &settings);
    let catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let making = MemberOrigin::Compiled(Box::new(catalog));
    GatewayMember {
        key: format!("{name}{rest}"),
        name: name.into(),
        source: format!("{name}.yaml"),
        origin: making,
    }
}

const ECHO: &str = "tool_names: { prefix: own_ }
target: { transport: native, protocol: command }
operations: { read: [{ name: say, command: [echo, \"{text}\"], params: { text: { type: string, required: true } } }] }
";

async fn call(gateway: &Gateway, tool: &str, arguments: Value) -> Value {
    let arguments = arguments.as_object().unwrap().clone();
    let reply = in_time(gateway.call(tool, arguments, &Caller::nobody())).await.expect("a tool");
    serde_json::from_str(&reply.text).unwrap()
}

#[tokio::test]
async fn adding_and_removing_adapters_keeps_the_shared_tools() {
    let gateway =
        Gateway::open(vec![shared("echo", ECHO), shared("web", READS)], without_data()).await.unwrap();
    let names = || gateway.tools().iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(), ["mcpaql_create", "mcpaql_read"]);
    let said = json!({"adapter": "echo", "operation": "say", "params": {"text": "hello"}});
    assert_eq!(call(&gateway, "mcpaql_read", said).await["data"], "hello");
    let alone = json!({"operation": "say", "params": {"text": "hello"}});
    assert_eq!(call(&gateway, "mcpaql_read", alone.clone()).await["data"], "hello");
    let found = json!({"operation": "introspect", "params": {"search": "say something"}});
    assert_eq!(call(&gateway, "mcpaql_read", found).await["data"]["operations"][0]["adapter"], "echo");

    let more = vec![shared("echo", ECHO), shared("web", READS), shared("other", ECHO)];
    gateway.replace(more).await.unwrap();
    assert_eq!(names(), ["mcpaql_create", "mcpaql_read"]);
    assert_eq!(
        call(&gateway, "mcpaql_read", alone).await["error"]["details"]["adapters"],
        json!(["echo", "other"])
    );
    assert!(gateway.instructions().contains("\"adapter\": NAME"), "{}", gateway.instructions());
}

#[tokio::test]
async fn the_items_of_a_batch_go_to_their_own_adapters() {
    let members = vec![shared("echo", ECHO), shared("web", READS), shared("other", ECHO)];
    let gateway = Gateway::open(members, without_data()).await.unwrap();
    let say = |adapter: &str, text: Value| json!({"adapter": adapter, "operation": "say", "params": {"text": text}});
    let operations = json!([
        say("echo", json!("one")),
        say("other", json!({"$result": "0.data"})),
        {"operation": "say", "params": {"text": "x"}},
        say("nobody", json!("x")),
        {"operation": "introspect", "params": {"search": "say something"}},
        {"operation": "create_thing"},
    ]);
    let envelope = call(&gateway, "mcpaql_read", json!({"operations": operations})).await;
    let results: Vec<&Value> =
        envelope["results"].as_array().unwrap().iter().map(|one| &one["result"]).collect();
    assert_eq!((&results[0]["data"], &results[1]["data"]), (&json!("one"), &json!("one")), "{envelope}");
    assert_eq!(results[2]["error"]["code"], "VALIDATION_MISSING_PARAM");
    assert_eq!(results[3]["error"]["code"], "VALIDATION_INVALID_VALUE");
    assert!(results[4]["data"]["operations"].is_array(), "{envelope}");
    assert_eq!(results[5]["success"], false);
    assert_eq!(envelope["summary"], json!({"total": 6, "succeeded": 3, "failed": 3}));
    let all = json!({"adapter": "other", "operations": [{"operation": "say", "params": {"text": "hi"}}]});
    assert_eq!(call(&gateway, "mcpaql_read", all).await["results"][0]["result"]["data"], "hi");
    assert_eq!(call(&gateway, "mcpaql_read", json!({"operations": []})).await["success"], false);
}

#[tokio::test]
async fn adapters_that_share_tools_need_different_names() {
    let collision =
        Gateway::open(vec![shared("echo", ECHO), shared("echo", READS)], without_data()).await.unwrap_err();
    assert_eq!(
        collision.to_string(),
        "two adapters have the same name: echo (echo.yaml) and echo (echo.yaml); set another `name` for one of them"
    );
}

#[tokio::test]
async fn a_call_without_an_adapter_is_not_sent_to_another_one_while_an_adapter_is_unknown() {
    let down = GatewayMember {
        key: "down".into(),
        name: "down".into(),
        source: "down.yaml".into(),
        origin: MemberOrigin::Broken { reason: "its document has errors".into() },
    };
    let gateway = Gateway::open(vec![shared("echo", ECHO), down], without_data()).await.unwrap();
    let say = json!({"operation": "say", "params": {"text": "hello"}});
    let refused = call(&gateway, "mcpaql_read", say.clone()).await;
    assert_eq!(refused["error"]["code"], "VALIDATION_MISSING_PARAM", "{refused}");
    assert_eq!(refused["error"]["details"]["adapters"], json!(["echo"]));
    assert!(refused["error"]["message"].as_str().unwrap().starts_with("The adapter 'down' is not available"));
    let batch = call(&gateway, "mcpaql_read", json!({"operations": [say]})).await;
    assert_eq!(batch["results"][0]["result"]["error"]["code"], "VALIDATION_MISSING_PARAM", "{batch}");
    let named = json!({"adapter": "echo", "operation": "say", "params": {"text": "hello"}});
    assert_eq!(call(&gateway, "mcpaql_read", named).await["data"], "hello");
    let found = json!({"operation": "introspect", "params": {"search": "say something"}});
    assert_eq!(call(&gateway, "mcpaql_read", found).await["success"], true, "discovery covers all adapters");
    let unknown = call(&gateway, "mcpaql_read", json!({"operation": "nonsense"})).await;
    assert_eq!(unknown["error"]["code"], "NOT_FOUND_OPERATION");
    gateway.replace(vec![shared("echo", ECHO)]).await.unwrap();
    let say = json!({"operation": "say", "params": {"text": "hello"}});
    assert_eq!(call(&gateway, "mcpaql_read", say).await["data"], "hello");
}
