//! Tests of executions with work that each test controls.

use super::job::percent;
use super::*;
use serde_json::json;
use tokio::time::timeout;

const MAX_ANSWER_BYTES: usize = 10_000;

async fn open() -> Executions {
    Executions::open(None, "work", ExecutionLimits::default()).await.unwrap()
}

async fn started<F>(executions: &Executions, work: impl FnOnce(Caller) -> F) -> Map<String, Value>
where
    F: Future<Output = Result<Answer, OpError>> + Send + 'static,
{
    let caller = Caller::nobody();
    let answer =
        executions.start("build", Lifecycle::default(), MAX_ANSWER_BYTES, &caller, work).await.unwrap();
    let Value::Object(started) = answer.data.into_value() else { panic!("no object") };
    assert_eq!(caller.execution(), started["execution_id"].as_str());
    started
}

async fn waited(executions: &Executions, started: &Map<String, Value>, wait: f64) -> Value {
    let mut args = started.clone();
    args.insert("wait".into(), wait.into());
    let answer =
        executions.answer(ExecutionAction::Get, &args, &Caller::nobody(), |_, kept| kept).await.unwrap();
    answer.data.into_value()
}

#[tokio::test]
async fn reported_progress_is_shown_and_never_decreases() {
    let executions = open().await;
    let (proceed, mut steps) = tokio::sync::mpsc::channel::<f64>(1);
    let started = started(&executions, |caller| async move {
        while let Some(done) = steps.recv().await {
            let message = Some(format!("step {done}"));
            caller.report_progress(Progress { message, ..Progress::new(done).of(4.0) });
        }
        Ok(Answer::new(json!(["done"])))
    })
    .await;
    for (done, percent, message) in [(2.0, 50, "step 2"), (1.0, 50, "step 1"), (3.0, 70, "step 3")] {
        proceed.send(done).await.unwrap();
        let mut changes = executions.shared.changes.subscribe();
        let seen = async {
            loop {
                let seen = waited(&executions, &started, 0.0).await;
                if seen["progress"]["message"] == message {
                    return seen;
                }
                changes.changed().await.unwrap();
            }
        };
        let seen = timeout(Duration::from_secs(60), seen).await.unwrap();
        assert_eq!((&seen["progress"]["percentage"], &seen["status"]), (&json!(percent), &json!("running")));
    }
    drop(proceed);
    let end = waited(&executions, &started, 30.0).await;
    assert_eq!((&end["progress"], &end["result"]), (&json!({"percentage": 100}), &json!(["done"])), "{end}");
}

#[tokio::test]
async fn a_panic_is_a_failure_and_nothing_stays_behind() {
    let executions = open().await;
    let broken = started(&executions, |_| async { panic!("secret detail") }).await;
    let end = waited(&executions, &broken, 30.0).await;
    assert_eq!((&end["status"], &end["error"]["code"]), (&json!("failed"), &json!("INTERNAL_ERROR")));
    assert!(!end.to_string().contains("secret detail"));
    assert!(executions.shared.running().is_empty());
}

#[tokio::test]
async fn warnings_and_blocks_are_stored_with_the_answer() {
    let executions = open().await;
    let block = json!({"type": "image", "data": "aGk=", "mimeType": "image/png"});
    let warnings = vec![Warning::new("NOTE", "Look closely.")];
    let answer = Answer::new(json!(1)).with_warnings(warnings).with_blocks(vec![block.clone()]);
    let args = started(&executions, |_| async { Ok(answer) }).await;
    waited(&executions, &args, 30.0).await;
    let kept =
        executions.answer(ExecutionAction::Get, &args, &Caller::nobody(), |_, kept| kept).await.unwrap();
    assert_eq!(kept.blocks, [block]);
    assert_eq!(kept.data.into_value()["warnings"], json!([{"code": "NOTE", "message": "Look closely."}]));
}

#[test]
fn progress_stays_within_the_range_of_running() {
    let progress = |done, total| Progress { total, ..Progress::new(done) };
    let rows = [
        (0.0, Some(10.0), 10),
        (5.0, Some(10.0), 50),
        (10.0, Some(10.0), 90),
        (99.0, Some(10.0), 90),
        (-5.0, Some(10.0), 10),
        (7.0, None, 10),
        (7.0, Some(0.0), 10),
        (f64::NAN, Some(1.0), 10),
    ];
    for (done, total, expected) in rows {
        assert_eq!(percent(&progress(done, total)), expected, "{done} of {total:?}");
    }
}
