//! Tests the built server: it lists its tools and describes each operation.

use mcpaql_runtime::document::{Caller, Environment};
use serde_json::json;
use std::sync::Arc;

/// Returns made-up values for variables that are not set. No API is called.
fn environment(made_up: &str) -> Environment {
    let made_up = made_up.to_owned();
    Arc::new(move |name| match std::env::var(name) {
        Ok(value) => Some(value),
        Err(_) if name.starts_with("MCP_AQL_") => None,
        Err(_) => Some(made_up.clone()),
    })
}

#[tokio::test]
async fn every_operation_can_be_introspected() {
    let data = std::env::temp_dir().join(format!("adapter-package-{}", std::process::id()));
    std::fs::create_dir_all(&data).unwrap();
    let open = async |made_up: &str| {
        let document = adapter_module::document();
        document.open(Some(&data), &environment(made_up)).await
    };
    let served = match open("https://test.invalid").await {
        Ok(served) => served,
        Err(_) => open(&data.to_string_lossy()).await.unwrap(),
    };
    let catalog = served.catalog();
    assert!(!catalog.tools.is_empty());
    let caller = Caller::nobody();
    for entry in &catalog.operations {
        let name = &entry.operation.name;
        let params = json!({"query": "operations", "name": name});
        let params = params.as_object().cloned().unwrap();
        let answer = served.call_operation("introspect", params, &caller).await;
        let answer = answer.unwrap().data.into_value();
        assert_eq!(answer["operation"]["name"], name.as_str());
    }
    drop(served);
    let _ = std::fs::remove_dir_all(&data);
}
