//! Benchmarks of a whole call in this process, without a transport: from the tool's arguments to the reply's text.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, reason = "benchmarks")]

use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use axum::serve::ListenerExt;
use criterion::{Criterion, criterion_group, criterion_main};
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::check::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::Caller;
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::{builtin, environment, open};
use serde_json::{Map, Value, json};
use std::path::Path;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};

const ISSUE: &str = r#"{"number":7,"title":"An issue","state":"open","labels":["bug","later"],"comments":3}"#;

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().expect("an object")
}

async fn gateway(source: Source, data: &Path) -> Gateway {
    let catalog = check(&source, &AdapterSettings::default()).catalog.expect("the document is valid");
    let served = open::open(catalog, "bench", Some(data), &environment::process()).await.unwrap();
    Gateway::new(vec![served]).unwrap()
}

/// An adapter for an API that answers immediately, in its own thread.
fn tracker() -> Source {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::from_std(listener).unwrap().tap_io(|connection| {
                connection.set_nodelay(true).unwrap();
            });
            let answer = get(|| async { ([(CONTENT_TYPE, "application/json")], ISSUE) });
            axum::serve(listener, Router::new().route("/issues/{number}", answer)).await.unwrap();
        });
    });
    let number =
        json!({"type": "integer", "minimum": 1, "required": true, "in": "path", "description": "Which"});
    let operation = json!({
        "name": "get_issue", "maps_to": "GET /issues/{number}", "description": "One issue", "params": {"number": number},
    });
    let document = json!({
        "name": "tracker", "type": "adapter", "version": "1.0.0", "description": "Issues",
        "target": {"base_url": format!("http://{address}")}, "operations": {"read": [operation]},
    });
    Source::new("tracker.json", document.to_string())
}

fn bench_call(
    criterion: &mut Criterion,
    runtime: &Runtime,
    name: &str,
    (gateway, tool): (&Gateway, &str),
    arguments: Value,
) {
    let arguments = object(arguments);
    criterion.bench_function(name, |b| {
        b.iter(|| {
            runtime
                .block_on(gateway.call(tool, arguments.clone(), &Caller::nobody()))
                .expect("the tool exists")
        });
    });
}

fn calls(criterion: &mut Criterion) {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let notebook =
        runtime.block_on(gateway(builtin::document(builtin::DEFAULT_ADAPTER).unwrap(), folder.path()));
    let (read, create) = ((&notebook, "notebook_mcpaql_read"), (&notebook, "notebook_mcpaql_create"));
    let note =
        json!({"operation": "create_note", "params": {"title": "Groceries", "body": "Bread and butter"}});
    let created =
        runtime.block_on(notebook.call(create.1, object(note.clone()), &Caller::nobody())).unwrap().text;
    let created: Value = serde_json::from_str(&created).unwrap();
    let id = created.pointer("/data/id").unwrap();

    bench_call(criterion, &runtime, "introspect", read, json!({"operation": "introspect"}));
    let wrong = json!({"operation": "create_note", "params": {"title": 1}});
    bench_call(criterion, &runtime, "validation error", create, wrong);
    let get = json!({"operation": "get_note", "params": {"id": id}});
    bench_call(criterion, &runtime, "store get", read, get);
    bench_call(criterion, &runtime, "store create", create, note);
    let tracker = runtime.block_on(gateway(tracker(), folder.path()));
    let issue = json!({"operation": "get_issue", "params": {"number": 7}});
    bench_call(criterion, &runtime, "HTTP get", (&tracker, "tracker_mcpaql_read"), issue);
}

criterion_group!(benches, calls);
criterion_main!(benches);
