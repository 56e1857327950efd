//! Bulkheads: no adapter and no caller takes the turns of others, and health reports say what is wrong.

use crate::fixture::{crypto, in_time};
use futures_util::FutureExt;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::CallerName;
use mcpaql_runtime::environment;
use mcpaql_runtime::open::open;
use mcpaql_runtime::prelude::*;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

fn named(name: &str) -> Caller {
    Caller::nobody().named(CallerName::new(name).unwrap())
}

/// An adapter with one operation that never ends and one that ends at once, and the gateway with it and another adapter.
async fn gateway(turns: usize) -> Gateway {
    let settings = AdapterSettings::default();
    let adapter = |name: &'static str| {
        let hang =
            operation("get_nothing").handle(async || std::future::pending::<Result<&str, OpError>>().await);
        Native::new(name).operation(hang).operation(operation("get_zone").handle(async || Ok("UTC")))
    };
    let slow = adapter("slow").open(&settings, None).await.unwrap().with_running_calls(turns);
    let fast = adapter("fast").open(&settings, None).await.unwrap();
    Gateway::new(vec![slow, fast]).unwrap()
}

async fn call(gateway: &Gateway, adapter: &str, operation: &str, caller: &Caller) -> Value {
    let arguments = json!({"operation": operation}).as_object().cloned().unwrap();
    let reply = gateway.call(&format!("{adapter}_mcpaql_read"), arguments, caller).await.unwrap();
    serde_json::from_str(&reply.text).unwrap()
}

/// Starts calls that never end.
async fn hang(gateway: &Gateway, caller: &str, calls: usize) -> Vec<JoinHandle<Value>> {
    let start = |_| {
        let (gateway, caller) = (gateway.clone(), named(caller));
        tokio::spawn(async move { call(&gateway, "slow", "get_nothing", &caller).await })
    };
    let started = (0..calls).map(start).collect();
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    started
}

fn state(gateway: &Gateway, adapter: &str) -> Value {
    let health = gateway.health().to_json(true);
    let found = health["adapters"].as_array().unwrap().iter().find(|one| one["name"] == adapter).cloned();
    found.unwrap()["state"].clone()
}

#[tokio::test(start_paused = true)]
async fn calls_that_hang_delay_neither_another_adapter_nor_another_caller() {
    let gateway = gateway(8).await;
    let hanging = hang(&gateway, "busy", 300).await;
    assert_eq!(call(&gateway, "fast", "get_zone", &named("busy")).await["data"], "UTC");
    assert_eq!(call(&gateway, "slow", "get_zone", &named("other")).await["data"], "UTC");
    let refused: Vec<&JoinHandle<Value>> = hanging.iter().filter(|one| one.is_finished()).collect();
    assert_eq!(refused.len(), 300 - 6 - 256, "more calls than turns and places in the queue");
    for one in hanging {
        match one.is_finished() {
            true => assert_eq!(one.await.unwrap()["error"]["code"], "RATE_LIMIT_EXCEEDED"),
            false => one.abort(),
        }
    }
    tokio::task::yield_now().await;
    assert_eq!(call(&gateway, "slow", "get_zone", &named("busy")).await["data"], "UTC");
}

#[tokio::test(start_paused = true)]
async fn health_says_which_adapter_is_slow_or_saturated() {
    let gateway = gateway(2).await;
    let first = hang(&gateway, "a", 1).await;
    assert_eq!((state(&gateway, "slow"), state(&gateway, "fast")), (json!("ready"), json!("ready")));
    tokio::time::advance(Duration::from_secs(30)).await;
    assert_eq!((state(&gateway, "slow"), state(&gateway, "fast")), (json!("slow"), json!("ready")));
    assert_eq!(gateway.health().to_json(true)["status"], "ok", "it still answers");
    let rest = hang(&gateway, "b", 3).await;
    assert_eq!((state(&gateway, "slow"), state(&gateway, "fast")), (json!("saturated"), json!("ready")));
    let health = gateway.health().to_json(true);
    assert_eq!(health["status"], "degraded");
    assert_eq!(health["adapters"][0]["reason"], "all 2 turns are taken, and 2 calls wait");
    first.iter().chain(&rest).for_each(JoinHandle::abort);
    for one in first.into_iter().chain(rest) {
        let _ = one.await;
    }
    assert_eq!(state(&gateway, "slow"), "ready");
}

/// A server that accepts connections and closes them. It counts them.
async fn broken_server() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let accepted = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&accepted);
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            counter.fetch_add(1, Ordering::SeqCst);
            let _ = connection.read(&mut [0; 1]).now_or_never();
        }
    });
    (address, accepted)
}

#[tokio::test]
async fn a_target_that_fails_for_several_operations_is_left_alone_and_reported_as_failing() {
    crypto();
    let (address, accepted) = broken_server().await;
    let document = format!(
        "name: web\ntype: adapter\nversion: \"1.0.0\"\ndescription: A demo\ntarget: {{ base_url: \"{address}\" }}\n\
         operations: {{ create: [{{ name: create_one, maps_to: POST /one }}, {{ name: create_two, maps_to: POST /two }}] }}"
    );
    let checked = check::check(&Source::new("web.yaml", document), &AdapterSettings::default());
    let served = open(checked.catalog.unwrap(), "web.yaml", None, &environment::process()).await.unwrap();
    let gateway = Gateway::new(vec![served]).unwrap();
    let create = async |number: usize| {
        let operation = ["create_one", "create_two"][number % 2];
        let arguments = json!({"operation": operation}).as_object().cloned().unwrap_or_else(Map::new);
        let reply = in_time(gateway.call("web_mcpaql_create", arguments, &Caller::nobody())).await.unwrap();
        serde_json::from_str::<Value>(&reply.text).unwrap()
    };
    for number in 0..5 {
        let failed = create(number).await;
        assert_eq!(failed["error"]["code"], "TRANSPORT_CONNECTION_FAILED", "{failed}");
        assert!(failed["error"]["details"]["retry_after_seconds"].is_null(), "{failed}");
    }
    let sent = accepted.load(Ordering::SeqCst);
    let refused = create(0).await;
    assert!(refused["error"]["details"]["retry_after_seconds"].is_u64(), "{refused}");
    assert_eq!(accepted.load(Ordering::SeqCst), sent, "the call was not sent");
    assert_eq!(
        (state(&gateway, "web"), gateway.health().to_json(true)["status"].clone()),
        (json!("failing"), json!("degraded"))
    );
}
