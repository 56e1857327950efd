//! Tests that every entry point passes the gate and is recorded once, and that no other code reaches a target.

use super::*;
use crate::execution;
use crate::gate::tests::decided;
use crate::protocol::{Feature, RpcError};
use crate::target::FeatureRequest;
use futures_util::future::BoxFuture;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use serde_json::json;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::Semaphore;

/// Answers with the name of the operation or method, and counts calls.
#[derive(Debug, Default)]
struct Echo {
    performed: AtomicUsize,
    requested: AtomicUsize,
}

impl Target for Echo {
    fn perform<'a>(&'a self, call: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>> {
        self.performed.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move { Ok(Answer::new(json!(call.operation.name))) })
    }

    fn features(&self) -> Features {
        Features { resources: true, prompts: true, ..Features::default() }
    }

    fn request<'a>(&'a self, request: FeatureRequest<'a>) -> BoxFuture<'a, Result<Value, RpcError>> {
        self.requested.fetch_add(1, Ordering::Relaxed);
        Box::pin(async move { Ok(json!(request.feature.method())) })
    }
}

fn catalog() -> Catalog {
    let document = json!({
        "name": "echo", "type": "adapter", "version": "1.0.0", "description": "Answers with the name of the call.",
        "target": {"transport": "native", "protocol": "code"},
        "operations": {
            "read": [{"name": "get_name"}, {"name": "get_other"}],
            "execute": [{"name": "run_long", "lifecycle": true}],
        },
    });
    let checked = check::check(&Source::new("echo.json", document.to_string()), &AdapterSettings::default());
    checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics))
}

async fn served(target: &Arc<Echo>) -> ServedAdapter {
    let executions = Executions::open(None, "echo", execution::ExecutionLimits::default()).await.unwrap();
    let handlers = Handlers::new()
        .on_operation("get_other", async |args, call: HandlerCall| call.send_args("get_name", args).await);
    let target: Arc<dyn Target> = Arc::clone(target) as _;
    ServedAdapter::new(catalog(), target, "echo.json").with_executions(executions).with_handlers(handlers)
}

async fn call(served: &ServedAdapter, operation: &str, params: Value) -> Value {
    let tool = served.catalog().tools.iter().find(|tool| {
        let endpoint = if operation == "run_long" { "execute" } else { "read" };
        tool.name.ends_with(endpoint)
    });
    let arguments = json!({"operation": operation, "params": params}).as_object().cloned().unwrap();
    let reply = served.call(&tool.unwrap().name, arguments, &Caller::nobody()).await;
    serde_json::from_str(&reply.text).unwrap()
}

/// Runs a background operation to its end and returns the task's id.
async fn run_long(served: &ServedAdapter) -> String {
    let started = call(served, "run_long", json!({})).await;
    let id = started["data"]["execution_id"].as_str().unwrap().to_owned();
    let ended = call(served, "get_execution", json!({"execution_id": id, "wait": 30})).await;
    assert_eq!(
        (&ended["data"]["status"], &ended["data"]["result"]),
        (&json!("completed"), &json!("run_long"))
    );
    id
}

/// Makes a call with this entry point. Returns the expected decisions of the gate, and the expected number of calls
/// of the target.
async fn enter(entry: EntryPoint, served: &ServedAdapter) -> (Vec<EntryPoint>, usize) {
    match entry {
        EntryPoint::Tool => {
            assert_eq!(call(served, "get_name", json!({})).await["data"], "get_name");
            (vec![entry], 1)
        }
        EntryPoint::BatchItem => {
            let items = json!({"operations": [{"operation": "get_name"}]}).as_object().cloned().unwrap();
            let reply = served.call("echo_mcpaql_read", items, &Caller::nobody()).await;
            assert!(reply.text.contains(r#""result":{"success":true,"data":"get_name"}"#), "{}", reply.text);
            (vec![entry], 1)
        }
        EntryPoint::Operation => {
            let answer = served.call_operation("get_name", Map::new(), &Caller::nobody()).await.unwrap();
            assert_eq!(answer.data.into_value(), "get_name");
            (vec![entry], 1)
        }
        EntryPoint::Handler => {
            assert_eq!(call(served, "get_other", json!({})).await["data"], "get_name");
            (vec![EntryPoint::Tool, entry], 1)
        }
        // The call that started it has passed the gate, so the gate is not asked again.
        EntryPoint::Execution => {
            run_long(served).await;
            (vec![EntryPoint::Tool, EntryPoint::Tool], 1)
        }
        EntryPoint::Task => {
            let id = run_long(served).await;
            assert!(served.task("another", &Caller::nobody()).await.is_none());
            assert!(served.task(&id, &Caller::nobody()).await.is_some());
            (vec![EntryPoint::Tool, EntryPoint::Tool, entry], 1)
        }
        EntryPoint::Prompt => {
            let source = served.feature_source();
            let answer = source.request(Feature::Prompt, Map::new(), &Caller::nobody()).await;
            assert_eq!(answer.unwrap(), "prompts/get");
            (vec![entry], 1)
        }
        EntryPoint::Resource => {
            let source = served.feature_source();
            let answer = source.request(Feature::Resource, Map::new(), &Caller::nobody()).await;
            assert_eq!(answer.unwrap(), "resources/read");
            (vec![entry], 1)
        }
    }
}

#[tokio::test]
async fn every_way_in_passes_the_gate_and_is_recorded_once() {
    for entry in EntryPoint::ALL {
        let target = Arc::new(Echo::default());
        let served = served(&target).await;
        decided();
        let (expected, reached) = enter(entry, &served).await;
        assert_eq!(decided(), expected, "{entry:?}");
        assert_eq!(served.stats().calls_started(entry), 1, "{entry:?}");
        let recorded: u64 =
            EntryPoint::ALL.into_iter().map(|entry| served.stats().calls_started(entry)).sum();
        // Background work is recorded in addition to the call that started it, with the same pass.
        let background = served.stats().calls_started(EntryPoint::Execution);
        assert_eq!(recorded, expected.len() as u64 + background, "{entry:?}");
        let reached_now = target.performed.load(Ordering::Relaxed) + target.requested.load(Ordering::Relaxed);
        assert_eq!(reached_now, reached, "{entry:?}");
        assert_eq!(served.stats().count().running, 0, "{entry:?}");
    }
}

/// Answers when the test allows it, and counts the calls that run at the same time.
#[derive(Debug)]
struct Hanging {
    started: Semaphore,
    ends: Semaphore,
    running: AtomicUsize,
    peak: AtomicUsize,
}

impl Target for Hanging {
    fn perform<'a>(&'a self, _: TargetCall<'a>) -> BoxFuture<'a, Result<Answer, OpError>> {
        Box::pin(async move {
            self.peak.fetch_max(self.running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            self.started.add_permits(1);
            self.ends.acquire().await.unwrap().forget();
            self.running.fetch_sub(1, Ordering::SeqCst);
            Ok(Answer::new(json!("ended")))
        })
    }
}

#[tokio::test]
async fn calls_beyond_the_limit_wait_and_delay_no_other_adapter() {
    let hanging = Arc::new(Hanging {
        started: Semaphore::new(0),
        ends: Semaphore::new(0),
        running: AtomicUsize::new(0),
        peak: AtomicUsize::new(0),
    });
    let target: Arc<dyn Target> = Arc::clone(&hanging) as _;
    let stuck = Arc::new(ServedAdapter::new(catalog(), target, "stuck.json").with_running_calls(2));
    let calls: Vec<_> = (0..6)
        .map(|_| {
            let stuck = Arc::clone(&stuck);
            tokio::spawn(async move { call(&stuck, "get_name", json!({})).await })
        })
        .collect();
    hanging.started.acquire_many(2).await.unwrap().forget();
    let healthy = served(&Arc::new(Echo::default())).await;
    assert_eq!(call(&healthy, "get_name", json!({})).await["data"], "get_name");
    // Each call that ends lets another one start.
    for _ in 0..4 {
        hanging.ends.add_permits(1);
        hanging.started.acquire().await.unwrap().forget();
    }
    hanging.ends.add_permits(2);
    for call in calls {
        assert_eq!(call.await.unwrap()["data"], "ended");
    }
    assert_eq!(hanging.peak.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn the_calls_of_a_handler_need_no_second_permit() {
    let served = served(&Arc::new(Echo::default())).await.with_running_calls(1);
    assert_eq!(call(&served, "get_other", json!({})).await["data"], "get_name");
}

#[tokio::test]
async fn a_dry_run_passes_the_gate_and_reaches_no_target() {
    let target = Arc::new(Echo::default());
    let served = served(&target).await;
    decided();
    let params = json!({"dry_run": true}).as_object().cloned().unwrap();
    let answer = served.call_operation("run_long", params, &Caller::nobody()).await.unwrap();
    assert_eq!(
        answer.data.into_value(),
        json!({"dry_run": true, "request": {"arguments": {}}, "decision": "allow"})
    );
    assert_eq!((decided(), target.performed.load(Ordering::Relaxed)), (vec![EntryPoint::Operation], 0));
    let (reads, refused) = (json!({"dry_run": true}), GateDecision::Refuse(Box::new(record::panicked())));
    let error =
        served.call_operation("get_name", reads.as_object().cloned().unwrap(), &Caller::nobody()).await;
    assert_eq!(error.unwrap_err().code, Code::UnknownParam);
    // A refused call shows no request.
    let operation = &served.catalog().get("run_long").unwrap().operation;
    let shown = served.adapter.preview(operation, &Args::new(), refused).await.unwrap().data.into_value();
    assert_eq!((&shown["decision"], shown.get("request")), (&json!("deny"), None));
}

#[tokio::test]
async fn an_invalid_call_fails_before_the_gate() {
    let target = Arc::new(Echo::default());
    let served = served(&target).await;
    decided();
    assert_eq!(call(&served, "get_nothing", json!({})).await["success"], false);
    assert!(decided().is_empty());
    assert_eq!(served.stats().count().errors, 1);
    assert_eq!(target.performed.load(Ordering::Relaxed), 0);
}

/// Code that may appear only in these files. Types ensure the rest: a target needs a pass, and only the gate creates
/// one.
const ONLY_IN: [(&str, &[&str]); 6] = [
    ("pass: Pass(())", &["gate/judge.rs"]),
    (
        ".decide(&request)",
        &["dispatch.rs", "dispatch/current.rs", "dispatch/features.rs", "dispatch/pages.rs"],
    ),
    (".perform(", &["dispatch.rs", "dispatch/current.rs", "dispatch/pages.rs", "target/named.rs"]),
    ("TargetCall::new(", &["dispatch.rs"]),
    ("FeatureRequest::new(", &["dispatch/features.rs"]),
    (".call_tool(", &[]),
];

#[test]
fn discovery_over_all_adapters_passes_the_gate() {
    decided();
    let reply =
        discovery_reply(&Ok(Answer::new(json!({"adapters": []}))), ErrorPolicy::default());
    assert!(!reply.is_error, "{}", reply.text);
    assert_eq!(decided(), [EntryPoint::Tool]);
}

#[test]
fn nothing_else_reaches_a_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut found = vec![Vec::new(); ONLY_IN.len()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\n").next().unwrap();
            let is_whole = ["gate/judge.rs", "dispatch.rs"].contains(&name.as_str());
            let code = if is_whole { text.as_str() } else { code };
            for (row, (wanted, _)) in ONLY_IN.iter().enumerate() {
                if code.contains(wanted) && name != "dispatch/tests.rs" {
                    found[row].push(name.clone());
                }
            }
        }
    }
    for ((text, files), mut found) in ONLY_IN.into_iter().zip(found) {
        found.sort_unstable();
        let mut files = files.to_vec();
        files.sort_unstable();
        assert_eq!(found, files, "{text}");
    }
}
