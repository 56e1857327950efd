//! Batches: order, concurrency, confirmations, panics, the budget.

use crate::fixture::in_time;
use mcpaql_core::error::{Code, OpError};
use mcpaql_core::operation::Category;
use mcpaql_runtime::caller::EntryPoint;
use mcpaql_runtime::dispatch::ServedAdapter;
use mcpaql_runtime::native::NoParams;
use mcpaql_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Barrier;

#[derive(Deserialize, JsonSchema)]
struct Step {
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    count: usize,
}

/// The names of the steps that ran.
type Steps = Arc<Mutex<Vec<String>>>;

/// Reads that wait for each other, and writes that leave a trace.
async fn lab(steps: &Steps) -> ServedAdapter {
    let (barrier, running) = (Arc::new(Barrier::new(4)), Arc::new(AtomicUsize::new(0)));
    let steps = Arc::clone(steps);
    let lab = Native::new("lab")
        .operation(operation("get_together").handle(move |_: NoParams| {
            let barrier = Arc::clone(&barrier);
            async move {
                barrier.wait().await;
                Ok(json!({"met": true}))
            }
        }))
        .operation(operation("create_step").handle(move |step: Step| {
            let (steps, running) = (Arc::clone(&steps), Arc::clone(&running));
            async move {
                assert_eq!(running.fetch_add(1, Ordering::SeqCst), 0, "writes run one by one");
                tokio::task::yield_now().await;
                running.fetch_sub(1, Ordering::SeqCst);
                assert_ne!(step.name, "panic");
                if step.name == "confirm" {
                    let error = OpError::new(Code::ConfirmationRequired, "Someone must confirm this.");
                    return Err(error.with_detail("confirmation_token", "conf_1"));
                }
                steps.lock().unwrap().push(step.name.clone());
                Ok(json!({"id": step.name}))
            }
        }))
        .operation(operation("list_lines").in_category(Category::Read).handle(async |given: Count| {
            let line =
                |number: usize| json!({"id": number, "text": "a line of some length, with words in it"});
            Ok((0..given.count).map(line).collect::<Vec<Value>>())
        }))
        .operation(
            operation("get_line")
                .in_category(Category::Read)
                .handle(async |line: Step| Ok(json!({"name": line.name}))),
        );
    lab.open(&AdapterSettings::default(), None).await.expect("an open adapter")
}

async fn send(served: &ServedAdapter, tool: &str, arguments: Value) -> Value {
    let arguments = arguments.as_object().cloned().expect("an object");
    let tool = format!("lab_mcpaql_{tool}");
    let reply = in_time(served.call(&tool, arguments, &Caller::nobody())).await;
    serde_json::from_str(&reply.text).expect("an envelope")
}

fn step(name: &str) -> Value {
    json!({"operation": "create_step", "params": {"name": name}})
}

#[tokio::test]
async fn reads_run_at_the_same_time_and_writes_one_by_one() {
    let steps = Steps::default();
    let served = lab(&steps).await;
    // Each waits for three others.
    let together = json!({"operations": vec![json!({"operation": "get_together"}); 4]});
    let envelope = send(&served, "read", together).await;
    assert_eq!(envelope["summary"], json!({"total": 4, "succeeded": 4, "failed": 0}), "{envelope}");
    let names: Vec<String> = (0..20).map(|number| format!("step {number}")).collect();
    let items: Vec<Value> = names.iter().map(|name| step(name)).collect();
    let envelope = send(&served, "create", json!({"operations": items})).await;
    assert_eq!(envelope["summary"]["succeeded"], 20, "{envelope}");
    assert_eq!(*steps.lock().unwrap(), names);
    assert_eq!(served.stats().calls_started(EntryPoint::BatchItem), 24);
    assert_eq!((served.stats().count().calls, served.stats().count().running), (24, 0));
}

#[tokio::test]
async fn a_confirmation_stops_the_batch_and_a_failure_does_not() {
    let steps = Steps::default();
    let served = lab(&steps).await;
    let items = json!([step("one"), step("panic"), {"operation": "create_step"}, step("confirm"), step("after"), step("last")]);
    let envelope = send(&served, "create", json!({"operations": items})).await;
    let codes: Vec<&Value> =
        envelope["results"].as_array().unwrap().iter().map(|one| &one["result"]["error"]["code"]).collect();
    assert_eq!(codes, [&Value::Null, &json!("INTERNAL_ERROR"), &json!("VALIDATION_MISSING_PARAM")]);
    let halted = &envelope["halted_at"];
    assert_eq!((&halted["index"], &halted["operation"]), (&json!(3), &json!("create_step")));
    let error = &halted["result"]["error"];
    assert_eq!(
        (&error["code"], &error["details"]["confirmation_token"]),
        (&json!("CONFIRMATION_REQUIRED"), &json!("conf_1"))
    );
    let pending = |index: usize, name: &str| json!({"index": index, "operation": "create_step", "params": {"name": name}});
    assert_eq!(envelope["pending_operations"], json!([pending(4, "after"), pending(5, "last")]));
    let summary = json!({"total": 6, "succeeded": 1, "failed": 2, "halted": 1, "pending": 2});
    assert_eq!((&envelope["success"], &envelope["summary"]), (&json!(true), &summary));
    assert_eq!(*steps.lock().unwrap(), ["one"]);
}

#[tokio::test]
async fn a_batch_has_one_budget_and_short_answers_are_not_cut() {
    let served = lab(&Steps::default()).await;
    let list = |count: usize| json!({"operation": "list_lines", "params": {"count": count}});
    let items = json!([list(3), list(2000), list(2000)]);
    let envelope = send(&served, "read", json!({"operations": items, "answer_budget": 2000})).await;
    let tokens = mcpaql_core::shape::answer_tokens(&envelope["results"].to_string());
    assert!(tokens < 2600, "{tokens}");
    let result = |index: usize| &envelope["results"][index]["result"];
    assert_eq!(result(0)["data"].as_array().map(Vec::len), Some(3), "{envelope}");
    assert!(result(0).get("warnings").is_none());
    for index in [1, 2] {
        assert_eq!(result(index)["warnings"][0]["code"], "ANSWER_REDUCED");
        let shown = result(index)["data"]["items"].as_array().unwrap().len();
        assert!((10..200).contains(&shown), "{shown}");
        assert_eq!(result(index)["data"]["pageInfo"]["hasNextPage"], true);
    }
    // A reference sees the whole answer, and not only what fits into the budget.
    let deep =
        json!([list(2000), {"operation": "list_lines", "params": {"count": {"$result": "0.data.1999.id"}}}]);
    let envelope = send(&served, "read", json!({"operations": deep})).await;
    assert_eq!(envelope["summary"]["succeeded"], 2, "{envelope}");
}

#[tokio::test]
async fn a_wrong_batch_runs_nothing_and_counts_as_one_failed_call() {
    let steps = Steps::default();
    let served = lab(&steps).await;
    let items =
        json!([step("one"), {"operation": "create_step", "params": {"name": {"$result": "1.data.id"}}}]);
    let envelope = send(&served, "create", json!({"operations": items})).await;
    assert_eq!(envelope["error"]["code"], "VALIDATION_INVALID_VALUE", "{envelope}");
    assert!(steps.lock().unwrap().is_empty());
    assert_eq!((served.stats().count().calls, served.stats().count().errors), (1, 1));
}

#[tokio::test]
async fn a_number_from_an_earlier_result_fits_a_parameter_that_is_a_text() {
    let served = lab(&Steps::default()).await;
    let operations = json!([
        {"operation": "list_lines", "params": {"count": 3}},
        {"operation": "get_line", "params": {"name": {"$result": "0.data.2.id"}}},
        {"operation": "get_line", "params": {"name": {"$result": "0.data.2"}}},
        {"operation": "get_line", "params": {"name": 2}},
        {"operation": "list_lines", "params": {"count": {"$result": "0.data.2.id"}}},
    ]);
    let envelope = send(&served, "read", json!({"operations": operations})).await;
    let result = |index: usize| &envelope["results"][index]["result"];
    assert_eq!(result(1)["data"], json!({"name": "2"}));
    for wrong in [2, 3] {
        assert_eq!(result(wrong)["error"]["code"], "VALIDATION_INVALID_TYPE", "{}", result(wrong));
    }
    assert_eq!(result(4)["data"].as_array().map(Vec::len), Some(2));
}
