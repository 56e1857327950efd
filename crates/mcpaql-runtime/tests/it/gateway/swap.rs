//! Adapters are replaced while the server runs; adapters that do not change are not affected.

use super::{READS, adapter};
use crate::fixture::{crypto, in_time};
use axum::Router;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::environment::Environment;
use mcpaql_runtime::gateway::{AdapterState, Gateway, GatewayMember, GatewayOptions, MemberOrigin};
use mcpaql_runtime::service::Service;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

fn compiled(source: &Source) -> MemberOrigin {
    crypto();
    let checked = check::check(source, &AdapterSettings::default());
    let catalog: Catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    MemberOrigin::Compiled(Box::new(catalog))
}

fn member(key: &str, name: &str, origin: MemberOrigin) -> GatewayMember {
    GatewayMember { key: key.into(), name: name.into(), source: format!("{name}.yaml"), origin }
}

pub(super) fn reads(name: &str) -> GatewayMember {
    member(name, name, compiled(&adapter(name, READS)))
}

fn options(environment: Environment) -> GatewayOptions {
    GatewayOptions::new(None, environment)
}

pub(super) fn without_data() -> GatewayOptions {
    options(Arc::new(|_| None))
}

async fn call(gateway: &Gateway, tool: &str, operation: &str) -> Option<Value> {
    let arguments = json!({"operation": operation}).as_object().cloned().unwrap_or_else(Map::new);
    let reply = in_time(gateway.call(tool, arguments, &Caller::nobody())).await?;
    Some(serde_json::from_str(&reply.text).unwrap())
}

pub(super) fn tools(gateway: &Gateway) -> Vec<String> {
    gateway.tools().iter().map(|tool| tool.name.clone()).collect()
}

/// An API that keeps every request waiting.
struct Slow {
    url: String,
    asked: Arc<Semaphore>,
    gate: Arc<Semaphore>,
}

impl Slow {
    async fn start() -> Slow {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (asked, gate) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (ask, open) = (Arc::clone(&asked), Arc::clone(&gate));
        let router = Router::new().fallback(move || async move {
            ask.add_permits(1);
            open.acquire().await.unwrap().forget();
            "late"
        });
        tokio::spawn(async move { axum::serve(listener, router).await });
        Slow { url, asked, gate }
    }

    fn member(&self, key: &str) -> GatewayMember {
        let rest = READS.replace("https://api.example.com", &self.url);
        member(key, "slow", compiled(&adapter("slow", &rest)))
    }
}

#[tokio::test]
async fn a_running_call_ends_on_the_adapter_it_began_on() {
    let slow = Slow::start().await;
    let gateway = Gateway::open(vec![slow.member("one")], without_data()).await.unwrap();
    let running = tokio::spawn({
        let gateway = gateway.clone();
        async move { call(&gateway, "slow_mcpaql_read", "get_thing").await }
    });
    in_time(slow.asked.acquire()).await.unwrap().forget();
    gateway.replace(vec![reads("other")]).await.unwrap();
    assert_eq!(tools(&gateway), ["other_mcpaql_create", "other_mcpaql_read"]);
    assert_eq!(call(&gateway, "slow_mcpaql_read", "get_thing").await, None);
    slow.gate.add_permits(1);
    assert_eq!(running.await.unwrap().unwrap()["data"], "late");
}

#[tokio::test]
async fn clients_are_told_when_the_tools_differ_and_only_then() {
    let gateway = Gateway::open(vec![reads("first")], without_data()).await.unwrap();
    let mut changes = gateway.changes().unwrap();
    let before = gateway.tools();
    gateway.replace(vec![reads("first")]).await.unwrap();
    assert!(!changes.has_changed().unwrap());
    assert!(Arc::ptr_eq(&before, &gateway.tools()), "an equal list is the same list");
    gateway.replace(vec![reads("first"), reads("second")]).await.unwrap();
    assert!(changes.has_changed().unwrap());
    changes.mark_unchanged();
    assert_eq!(tools(&gateway)[..2], ["first_mcpaql_create", "first_mcpaql_read"]);
}

#[tokio::test]
async fn an_adapter_that_is_kept_is_the_same_one_and_goes_on_counting() {
    let gateway = Gateway::open(vec![reads("first"), reads("second")], without_data()).await.unwrap();
    call(&gateway, "first_mcpaql_read", "introspect").await.unwrap();
    let before = gateway.slots();
    assert!(gateway.has("first") && !gateway.has("third"));
    gateway.replace(vec![reads("third"), member("first", "first", MemberOrigin::Kept)]).await.unwrap();
    let after = gateway.slots();
    assert!(Arc::ptr_eq(&before[0], &after[1]));
    assert_eq!(after[1].stats().count().calls, 1);
    // An adapter that was rebuilt under its old name continues counting too.
    gateway.replace(vec![member("other key", "first", compiled(&adapter("first", READS)))]).await.unwrap();
    call(&gateway, "first_mcpaql_read", "introspect").await.unwrap();
    assert_eq!(gateway.slots()[0].stats().count().calls, 2);
}

#[tokio::test]
async fn adapters_that_share_a_name_change_nothing() {
    let gateway = Gateway::open(vec![reads("first")], without_data()).await.unwrap();
    let twins = vec![reads("twin"), member("b", "twin", compiled(&adapter("twin", READS)))];
    let error = gateway.replace(twins).await.unwrap_err();
    assert!(error.to_string().contains("two adapters have a tool 'twin_mcpaql_create'"), "{error}");
    assert_eq!(tools(&gateway), ["first_mcpaql_create", "first_mcpaql_read"]);
    assert!(gateway.has("first"));
}

const UNSET: &str = "target: { transport: native, protocol: command, cwd: \"${env:WHERE}\" }
operations:
  read: [{ name: get_thing, command: [echo, thing] }]
";

#[tokio::test]
async fn an_adapter_that_cannot_be_opened_reports_it_and_recovers() {
    let set = Arc::new(AtomicBool::new(false));
    let known = Arc::clone(&set);
    let environment: Environment =
        Arc::new(move |name| (name == "WHERE" && known.load(Ordering::SeqCst)).then(|| ".".to_owned()));
    let lame = member("lame", "lame", compiled(&adapter("lame", UNSET)));
    let gateway = Gateway::open(vec![lame, reads("sound")], options(environment)).await.unwrap();
    let slot = Arc::clone(&gateway.slots()[0]);

    // Everything except calls works, and the other adapter is not affected.
    assert_eq!(tools(&gateway), ["lame_mcpaql_read", "sound_mcpaql_create", "sound_mcpaql_read"]);
    let answer = call(&gateway, "lame_mcpaql_read", "get_thing").await.unwrap();
    assert_eq!(answer["error"]["code"], "INTERNAL_ERROR", "{answer}");
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("'lame'") && message.contains("WHERE"), "{message}");
    assert_eq!(call(&gateway, "lame_mcpaql_read", "introspect").await.unwrap()["success"], true);
    assert_eq!(call(&gateway, "sound_mcpaql_read", "introspect").await.unwrap()["success"], true);
    assert_eq!(slot.state().0.as_str(), "failing");
    assert_eq!(slot.stats().count().errors, 1);

    set.store(true, Ordering::SeqCst);
    let mut moved = gateway.state_changes();
    while slot.state().0 != AdapterState::Ready {
        in_time(moved.changed()).await.unwrap();
    }
    let served = gateway.snapshot().adapter_of("lame_mcpaql_read").cloned().unwrap();
    assert!(served.is_open());
    assert!(Arc::ptr_eq(served.stats(), slot.stats()));
}

#[tokio::test]
async fn an_adapter_that_cannot_be_served_at_all_is_reported_beside_the_others() {
    let broken = member("b", "b", MemberOrigin::Broken { reason: "its document has errors".into() });
    let gateway = Gateway::open(vec![broken, reads("sound")], without_data()).await.unwrap();
    assert_eq!(tools(&gateway), ["sound_mcpaql_create", "sound_mcpaql_read"]);
    let (state, _) = gateway.slots()[0].state();
    assert_eq!(state.reason(), Some("its document has errors"));
}

#[tokio::test]
async fn health_reports_the_state_and_the_savings_of_each_adapter() {
    let many: Vec<String> =
        (0..60).map(|n| format!("{{ name: get_thing_{n}, maps_to: GET /things/{n} }}")).collect();
    let rest = format!(
        "target: {{ base_url: \"https://api.example.com\" }}\noperations: {{ read: [{}] }}\n",
        many.join(", ")
    );
    let many = member("many", "many", compiled(&adapter("many", &rest)));
    let gateway = Gateway::open(vec![many], without_data()).await.unwrap();
    call(&gateway, "many_mcpaql_read", "introspect").await.unwrap();
    let health = gateway.health();
    assert_eq!(health.status.as_str(), "ok");
    let report = &health.adapters[0];
    assert_eq!(
        (&report["operations"], &report["tools"], &report["calls"]),
        (&json!(60), &json!(1), &json!(1))
    );
    let (cost, saved) =
        (report["surface_tokens"].as_u64().unwrap(), report["tokens_saved"].as_u64().unwrap());
    assert!(cost > 0 && saved > cost, "{report}");

    let broken = || member("b", "b", MemberOrigin::Broken { reason: "no".into() });
    gateway.replace(vec![broken(), reads("sound")]).await.unwrap();
    assert_eq!(gateway.health().status.as_str(), "degraded");
    gateway.replace(vec![broken()]).await.unwrap();
    assert_eq!(gateway.health().status.as_str(), "down");
}
