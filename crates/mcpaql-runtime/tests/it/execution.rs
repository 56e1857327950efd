//! Executions with real programs: started, waited for, failed, cancelled, orphaned and recovered.

use crate::fixture::{Raw, call, crypto, in_time, initialize, modern};
use crate::http::upstream::Bare;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::check;
use mcpaql_document::source::Source;
use mcpaql_runtime::caller::{Caller, CallerName, Session};
use mcpaql_runtime::dispatch::ServedAdapter;
use mcpaql_runtime::execution::{EXECUTIONS_FILE, ExecutionLimits, Executions};
use mcpaql_runtime::gateway::Gateway;
use mcpaql_runtime::open::open;
use mcpaql_runtime::{mcp, serve};
use serde_json::{Value, json};
use sqlx::{ConnectOptions, SqliteConnection};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Notify, Semaphore};

/// Programs that wait for a file, so that the tests control when they end.
const WORK: &str = r#"name: work
type: adapter
version: "1.0.0"
description: Long work
target: { transport: native, protocol: command, timeout: 30, max_output_bytes: 1000000 }
operations:
  execute:
    - name: build
      command: [sh, -c, 'echo $$ > "$1/pid"; while ! test -e "$1/go"; do sleep 0.05; done; echo "\"built\""', sh, "{dir}"]
      output: json
      lifecycle: true
      params: { dir: { type: string, required: true }, token: { type: string, sensitive: true } }
    - name: stay
      command: [sh, -c, 'while ! test -e "$1/go"; do sleep 0.05; done; echo stayed', sh, "{dir}"]
      lifecycle: { survives: true }
      params: { dir: { type: string, required: true } }
    - name: fail
      command: [sh, -c, 'echo no such branch >&2; exit 3']
      exit: { 3: NOT_FOUND_RESOURCE }
      lifecycle: true
    - name: slow
      command: [sleep, "600"]
      lifecycle: { timeout: 0.2 }
    - name: brief
      command: [echo, done]
      lifecycle: { keep: 1 }
    - name: flood
      command: [sh, -c, 'head -c 20000 /dev/zero | tr "\0" x']
      lifecycle: true
    - name: quick
      command: [echo, quick]
"#;

async fn served(data: Option<&Path>) -> ServedAdapter {
    crypto();
    let checked = check::check(&Source::new("work.yaml", WORK), &AdapterSettings::default());
    let mut catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    assert_eq!(checked.diagnostics.len(), 0, "{:?}", checked.diagnostics);
    catalog.limits.response_bytes = 10_000;
    open(catalog, "work.yaml", data, &(Arc::new(|name: &str| std::env::var(name).ok()) as _)).await.unwrap()
}

async fn limited(data: Option<&Path>, limits: ExecutionLimits) -> ServedAdapter {
    let executions = Executions::open(data, "work", limits).await.unwrap();
    served(data).await.with_executions(executions)
}

/// Makes a call like a client, and returns the envelope.
async fn ask(served: &ServedAdapter, operation: &str, params: Value, caller: &Caller) -> Value {
    let tool = match operation {
        "get_execution" | "list_executions" => "work_mcpaql_read",
        _ => "work_mcpaql_execute",
    };
    let arguments = json!({"operation": operation, "params": params});
    let Value::Object(arguments) = arguments else { unreachable!() };
    serde_json::from_str(&served.call(tool, arguments, caller).await.text).unwrap()
}

async fn started(served: &ServedAdapter, operation: &str, params: Value) -> String {
    let answer = ask(served, operation, params, &Caller::nobody()).await;
    assert_eq!(answer["success"], true, "{answer}");
    answer["data"]["execution_id"].as_str().unwrap().to_owned()
}

/// Returns the execution when it has ended.
async fn ended(served: &ServedAdapter, id: &str) -> Value {
    in_time(async {
        loop {
            let answer = waited(served, id, 30.0).await;
            if !["pending", "running"].contains(&answer["status"].as_str().unwrap()) {
                return answer;
            }
        }
    })
    .await
}

async fn waited(served: &ServedAdapter, id: &str, wait: f64) -> Value {
    let params = json!({"execution_id": id, "wait": wait});
    ask(served, "get_execution", params, &Caller::nobody()).await["data"].clone()
}

async fn status(served: &ServedAdapter, id: &str) -> String {
    waited(served, id, 0.0).await["status"].as_str().unwrap().to_owned()
}

fn folder() -> (TempDir, Value) {
    let folder = tempfile::tempdir().unwrap();
    let params = json!({"dir": folder.path()});
    (folder, params)
}

fn go(folder: &TempDir) {
    std::fs::write(folder.path().join("go"), "").unwrap();
}

async fn pid(folder: &TempDir) -> String {
    in_time(async {
        loop {
            match std::fs::read_to_string(folder.path().join("pid")) {
                Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
                _ => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    })
    .await
}

async fn gone(pid: &str) {
    let alive = || std::process::Command::new("kill").args(["-0", pid]).output().unwrap().status.success();
    in_time(async {
        while alive() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_call_answers_immediately_and_the_work_continues() {
    let (folder, params) = folder();
    let served = served(Some(folder.path())).await;
    let first = ask(&served, "build", params, &Caller::nobody()).await;
    let data = first["data"].as_object().unwrap();
    let keys: Vec<&str> = data.keys().map(String::as_str).collect();
    assert_eq!(keys, ["execution_id", "operation", "status", "started_at"], "{first}");
    assert_eq!((&data["operation"], &data["status"]), (&json!("build"), &json!("running")));

    let id = data["execution_id"].as_str().unwrap();
    let meanwhile = waited(&served, id, 0.0).await;
    assert_eq!((&meanwhile["status"], meanwhile.get("progress")), (&json!("running"), None));
    assert_eq!(meanwhile.get("result"), None);

    go(&folder);
    let end = ended(&served, id).await;
    assert_eq!((&end["status"], &end["progress"]["percentage"]), (&json!("completed"), &json!(100)), "{end}");
    assert_eq!(end["result"], "built");
    assert!(end["finished_at"].is_string() && end["expires_at"].is_string(), "{end}");
}

#[tokio::test]
async fn a_failure_is_stored_with_the_error_of_the_call() {
    let served = served(None).await;
    let id = started(&served, "fail", json!({})).await;
    let end = ended(&served, &id).await;
    assert_eq!(end["status"], "failed");
    assert_eq!(end["error"]["code"], "NOT_FOUND_RESOURCE", "{end}");
    assert!(end["error"].to_string().contains("no such branch"), "{end}");

    let slow = started(&served, "slow", json!({})).await;
    assert_eq!(ended(&served, &slow).await["error"]["code"], "TRANSPORT_TIMEOUT");

    let flood = started(&served, "flood", json!({})).await;
    let end = ended(&served, &flood).await;
    assert_eq!(end["error"]["code"], "VALIDATION_PAYLOAD_TOO_LARGE", "{end}");
    assert_eq!(end["error"]["details"]["limit_type"], "response_size");
}

#[tokio::test]
async fn an_operation_without_a_lifecycle_answers_with_its_result() {
    let served = served(None).await;
    let answer = ask(&served, "quick", json!({}), &Caller::nobody()).await;
    assert_eq!(answer["data"], "quick");
    // Calls by name run to their end, as on the command line.
    let whole = served.call_operation("brief", Default::default(), &Caller::nobody()).await.unwrap();
    assert_eq!(whole.data.into_value(), "done");
}

#[tokio::test]
async fn an_invalid_call_starts_nothing() {
    let served = served(None).await;
    let answer = ask(&served, "build", json!({}), &Caller::nobody()).await;
    assert_eq!(answer["error"]["code"], "VALIDATION_MISSING_PARAM");
    let none = ask(&served, "list_executions", json!({}), &Caller::nobody()).await;
    assert_eq!(none["data"]["items"], json!([]));
}

#[tokio::test]
async fn cancelling_ends_the_program() {
    let (folder, params) = folder();
    let served = served(Some(folder.path())).await;
    let id = started(&served, "build", params).await;
    let pid = pid(&folder).await;
    let answer = ask(&served, "cancel_execution", json!({"execution_id": id}), &Caller::nobody()).await;
    assert_eq!(answer["data"]["status"], "cancelled", "{answer}");
    gone(&pid).await;
    // A final state never changes, and cancelling again is not an error.
    go(&folder);
    let again = ask(&served, "cancel_execution", json!({"execution_id": id}), &Caller::nobody()).await;
    assert_eq!(again["data"]["status"], "cancelled");
    assert_eq!(again.get("warnings"), None);
    assert_eq!(waited(&served, &id, 0.0).await["progress"]["message"], "Cancelled on request.");
}

#[tokio::test]
async fn cancelling_an_ended_execution_is_a_warning() {
    let served = served(None).await;
    let id = started(&served, "fail", json!({})).await;
    ended(&served, &id).await;
    let answer = ask(&served, "cancel_execution", json!({"execution_id": id}), &Caller::nobody()).await;
    assert_eq!(answer["data"]["status"], "failed");
    assert_eq!(answer["warnings"][0]["code"], "ALREADY_ENDED");
    let unknown = ask(&served, "cancel_execution", json!({"execution_id": "nope"}), &Caller::nobody()).await;
    assert_eq!(unknown["error"]["code"], "NOT_FOUND_RESOURCE");
    assert_eq!(unknown["error"]["details"]["resource_type"], "execution");
}

#[tokio::test]
async fn executions_beyond_the_limits_wait_or_are_refused() {
    let (folder, params) = folder();
    let served =
        limited(Some(folder.path()), ExecutionLimits::default().with_running(1).with_waiting(1)).await;
    let first = started(&served, "build", params.clone()).await;
    let second = ask(&served, "stay", params.clone(), &Caller::nobody()).await;
    assert_eq!(second["data"]["status"], "pending");
    let second = second["data"]["execution_id"].as_str().unwrap().to_owned();
    let third = ask(&served, "stay", params.clone(), &Caller::nobody()).await;
    assert_eq!(third["error"]["code"], "RATE_LIMIT_EXCEEDED", "{third}");
    assert_eq!(waited(&served, &second, 0.0).await.get("progress"), None);
    go(&folder);
    assert_eq!(ended(&served, &first).await["status"], "completed");
    assert_eq!(ended(&served, &second).await["result"], "stayed");
}

#[tokio::test]
async fn one_caller_leaves_a_turn_for_the_executions_of_another() {
    let (folder, params) = folder();
    let served = limited(Some(folder.path()), ExecutionLimits::default().with_running(4)).await;
    let named = |name: &str| Caller::nobody().named(CallerName::new(name).unwrap());
    let mut states = Vec::new();
    for caller in ["busy", "busy", "busy", "busy", "other"] {
        let answer = ask(&served, "stay", params.clone(), &named(caller)).await;
        states.push(answer["data"]["status"].as_str().unwrap().to_owned());
    }
    assert_eq!(states, ["running", "running", "running", "pending", "running"]);
    go(&folder);
}

#[tokio::test]
async fn a_waiting_execution_can_be_cancelled_and_never_runs() {
    let (folder, params) = folder();
    let served =
        limited(Some(folder.path()), ExecutionLimits::default().with_running(1).with_waiting(9)).await;
    let first = started(&served, "stay", params.clone()).await;
    let second = started(&served, "build", params).await;
    ask(&served, "cancel_execution", json!({"execution_id": second}), &Caller::nobody()).await;
    go(&folder);
    assert_eq!(ended(&served, &first).await["status"], "completed");
    assert_eq!(status(&served, &second).await, "cancelled");
    assert!(!folder.path().join("pid").exists());
}

#[tokio::test]
async fn lists_are_the_newest_first_in_pages_and_by_state() {
    let (folder, params) = folder();
    let served = served(Some(folder.path())).await;
    let mut ids = Vec::new();
    for _ in 0..3 {
        let id = started(&served, "fail", json!({})).await;
        ended(&served, &id).await;
        ids.push(id);
    }
    let running = started(&served, "build", params).await;
    let list = async |params: Value| {
        let answer = ask(&served, "list_executions", params, &Caller::nobody()).await;
        let rows = answer["data"]["items"].as_array().cloned().unwrap_or_default();
        let ids: Vec<String> =
            rows.iter().map(|row| row["execution_id"].as_str().unwrap().to_owned()).collect();
        (ids, answer["data"]["pageInfo"].clone(), answer)
    };
    let (page, info, answer) = list(json!({"first": 2})).await;
    assert_eq!(page, [running.clone(), ids[2].clone()]);
    assert_eq!((&info["hasNextPage"], &info["hasPreviousPage"]), (&json!(true), &json!(false)));
    assert!(info["startCursor"].is_string());
    assert!(!answer.to_string().contains("no such branch"), "a list has no outcomes: {answer}");
    let (page, info, _) = list(json!({"first": 2, "after": info["endCursor"]})).await;
    assert_eq!(page, [ids[1].clone(), ids[0].clone()]);
    assert_eq!((&info["hasNextPage"], &info["hasPreviousPage"]), (&json!(false), &json!(true)));
    let (_, _, clamped) = list(json!({"first": 100_000})).await;
    assert_eq!(clamped["warnings"][0]["code"], "VALIDATION_CLAMPED_WARNING");
    assert_eq!(list(json!({"status": "running"})).await.0, [running]);
    assert_eq!(list(json!({"status": "failed"})).await.0.len(), 3);
    let (_, _, wrong) = list(json!({"after": "nowhere"})).await;
    assert_eq!(wrong["error"]["code"], "VALIDATION_INVALID_VALUE");
}

#[tokio::test]
async fn the_end_of_a_session_cancels_its_executions_unless_they_survive() {
    let (folder, params) = folder();
    let served = served(Some(folder.path())).await;
    let (session, end) = Session::new();
    let caller = Caller::nobody().in_session(Some(session));
    let id = |answer: Value| answer["data"]["execution_id"].as_str().unwrap().to_owned();
    let bound = id(ask(&served, "build", params.clone(), &caller).await);
    let free = id(ask(&served, "stay", params.clone(), &caller).await);
    let (other, _still) = Session::new();
    let caller = Caller::nobody().in_session(Some(other));
    let others = id(ask(&served, "build", params, &caller).await);
    in_time(end.end()).await;
    assert_eq!(status(&served, &bound).await, "cancelled");
    assert_eq!(status(&served, &free).await, "running");
    assert_eq!(status(&served, &others).await, "running");
}

#[tokio::test]
async fn a_disconnected_client_cancels_its_executions() {
    let (folder, params) = folder();
    let gateway = Arc::new(Gateway::new(vec![served(Some(folder.path())).await]).unwrap());
    let mut client = Raw::new(&gateway, mcp::ServerLimits::default());
    client.send(&initialize()).await;
    client.receive().await.unwrap();
    let start = json!({"operation": "build", "params": params});
    client.send(&call(1, "work_mcpaql_execute", start)).await;
    let answer = client.receive().await.unwrap();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    let id = serde_json::from_str::<Value>(text).unwrap()["data"]["execution_id"].clone();
    let pid = pid(&folder).await;
    client.end_input().await;
    client.serving.stopped().await.unwrap();
    // The end of the server waits for that.
    let found = waited(&gateway.snapshot().adapters()[0], id.as_str().unwrap(), 0.0).await;
    assert_eq!(found["status"], "cancelled");
    assert_eq!(found["progress"]["message"], "Cancelled because its session ended.");
    gone(&pid).await;
}

#[tokio::test]
async fn without_a_session_work_continues_after_the_connection_ends() {
    crypto();
    let (folder, params) = folder();
    let gateway = Arc::new(Gateway::new(vec![served(Some(folder.path())).await]).unwrap());
    let shutdown = tokio_util::sync::CancellationToken::new();
    let (told, bound) = tokio::sync::oneshot::channel();
    let options = serve::HttpOptions::new(([127, 0, 0, 1], 0).into());
    let server = tokio::spawn(serve::serve_http(gateway.clone(), options, shutdown.clone(), move |addr| {
        told.send(addr).unwrap();
    }));
    let addr = bound.await.unwrap();
    let start = json!({"operation": "build", "params": params});
    let post = |body: Value| {
        reqwest::Client::new()
            .post(format!("http://{addr}/mcp"))
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "tools/call")
            .header("mcp-name", "work_mcpaql_execute")
            .header("mcp-param-operation", "build")
            .header("content-type", "application/json")
            .body(body.to_string())
            .send()
    };
    let response = post(modern(call(1, "work_mcpaql_execute", start))).await.unwrap();
    let answer: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
    let id = serde_json::from_str::<Value>(text).unwrap()["data"]["execution_id"].clone();
    shutdown.cancel();
    in_time(server).await.unwrap().unwrap();
    go(&folder);
    // The execution belongs to the client, and nobody else sees it.
    let snapshot = gateway.snapshot();
    let served = &snapshot.adapters()[0];
    let get = json!({"execution_id": id, "wait": 30});
    let hidden = ask(served, "get_execution", get.clone(), &Caller::nobody()).await;
    assert_eq!(hidden["error"]["code"], "NOT_FOUND_RESOURCE");
    let owner = Caller::nobody().named(CallerName::new("http-client").unwrap());
    let ended = ask(served, "get_execution", get, &owner).await;
    assert_eq!(ended["data"]["result"], "built");
}

#[tokio::test]
async fn clients_that_support_tasks_get_one_with_the_same_id() {
    let (folder, params) = folder();
    let gateway = Arc::new(Gateway::new(vec![served(Some(folder.path())).await]).unwrap());
    let mut client = Raw::new(&gateway, mcp::ServerLimits::default());
    let mut hello = initialize();
    hello["params"]["capabilities"]["extensions"] = json!({"io.modelcontextprotocol/tasks": {}});
    client.send(&hello).await;
    let greeting = client.receive().await.unwrap();
    let extensions = &greeting["result"]["capabilities"]["extensions"];
    assert!(extensions.get("io.modelcontextprotocol/tasks").is_some(), "{greeting}");

    let mut request = async |message: Value| {
        client.send(&message).await;
        client.receive().await.unwrap()
    };
    let start = |operation: &str| {
        call(1, "work_mcpaql_execute", json!({"operation": operation, "params": params.clone()}))
    };
    let tasks = |method: &str, id: &Value| json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": {"taskId": id}});
    let task = request(start("build")).await["result"].clone();
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")), "{task}");
    let id = &task["taskId"];
    assert_eq!(request(tasks("tasks/get", id)).await["result"]["status"], "working");
    go(&folder);
    ended(&gateway.snapshot().adapters()[0], id.as_str().unwrap()).await;
    let done = request(tasks("tasks/get", id)).await["result"].clone();
    assert_eq!(done["status"], "completed", "{done}");
    assert_eq!(done["result"]["content"][0]["text"], r#"{"success":true,"data":"built"}"#);

    std::fs::remove_file(folder.path().join("go")).unwrap();
    let second = request(start("build")).await["result"]["taskId"].clone();
    let cancelled = request(tasks("tasks/cancel", &second)).await;
    assert!(cancelled.get("error").is_none(), "{cancelled}");
    assert_eq!(request(tasks("tasks/get", &second)).await["result"]["status"], "cancelled");
    let unknown = request(tasks("tasks/get", &json!("nope"))).await;
    assert_eq!(unknown["error"]["code"], -32602, "{unknown}");
}

#[tokio::test]
async fn a_slow_api_has_the_time_of_the_lifecycle_and_notices_a_cancellation() {
    crypto();
    let go = Arc::new(Notify::new());
    let closed = Arc::new(Notify::new());
    let requested = Arc::new(Semaphore::new(0));
    let (gate, heard, arrived) = (Arc::clone(&go), Arc::clone(&closed), Arc::clone(&requested));
    let upstream = Bare::start(move |mut stream| {
        let (gate, heard) = (Arc::clone(&gate), Arc::clone(&heard));
        arrived.add_permits(1);
        async move {
            let mut byte = [0];
            tokio::select! {
                () = gate.notified() => {
                    let answer = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 8\r\n\r\n\"cooked\"";
                    stream.write_all(answer.as_bytes()).await.unwrap();
                }
                _ = stream.read(&mut byte) => heard.notify_one(),
            }
        }
    })
    .await;
    let document = format!(
        "name: work\ntype: adapter\nversion: \"1.0.0\"\ndescription: Slow\n\
         target: {{ base_url: \"{}\", timeout: 0.05, allow_http: true }}\n\
         operations:\n  execute: [{{ name: cook, maps_to: GET /cook, lifecycle: true }}]\n",
        upstream.url
    );
    let checked = check::check(&Source::new("work.yaml", document), &AdapterSettings::default());
    let catalog = checked.catalog.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let served = open(catalog, "work.yaml", None, &(Arc::new(|_: &str| None) as _)).await.unwrap();

    let id = started(&served, "cook", json!({})).await;
    // Longer than other calls of this API may take.
    assert_eq!(waited(&served, &id, 0.3).await["status"], "running");
    go.notify_one();
    assert_eq!(ended(&served, &id).await["result"], "cooked");

    let id = started(&served, "cook", json!({})).await;
    // A connection alone may be cancelled before its request arrives.
    in_time(requested.acquire_many(2)).await.unwrap().forget();
    ask(&served, "cancel_execution", json!({"execution_id": id}), &Caller::nobody()).await;
    in_time(closed.notified()).await;
    assert_eq!(status(&served, &id).await, "cancelled");
}

/// Opens the table like another program.
async fn table(folder: &Path) -> SqliteConnection {
    sqlx::sqlite::SqliteConnectOptions::new().filename(folder.join(EXECUTIONS_FILE)).connect().await.unwrap()
}

#[tokio::test]
async fn executions_of_a_dead_process_fail_and_those_of_a_living_one_do_not() {
    let (folder, params) = folder();
    let living = served(Some(folder.path())).await;
    let running = started(&living, "build", params).await;
    sqlx::query(
        "INSERT INTO executions (adapter, id, operation, status, progress, started_at, keep, instance) VALUES \
         ('work', 'left1', 'build', 'running', 40, 0, 60, 'dead'), ('work', 'left2', 'build', 'pending', 0, 0, 60, 'dead'), \
         ('elsewhere', 'left3', 'build', 'running', 0, 0, 60, 'dead')",
    )
    .execute(&mut table(folder.path()).await)
    .await
    .unwrap();

    let second = served(Some(folder.path())).await;
    for id in ["left1", "left2"] {
        let found = waited(&second, id, 0.0).await;
        assert_eq!(found["status"], "failed");
        assert_eq!(found["error"]["details"]["reason"], "server_restarted");
        assert!(found["error"]["message"].as_str().unwrap().contains("restarted"), "{found}");
    }
    let other = ask(&second, "get_execution", json!({"execution_id": "left3"}), &Caller::nobody()).await;
    assert_eq!(other["error"]["code"], "NOT_FOUND_RESOURCE", "executions of other adapters are not visible");

    // The second process sees the executions of the first, can wait for them, and can cancel them.
    assert_eq!(status(&second, &running).await, "running");
    let stopped = ask(&second, "cancel_execution", json!({"execution_id": running}), &Caller::nobody()).await;
    assert_eq!(stopped["data"]["status"], "cancelled", "{stopped}");
    gone(&pid(&folder).await).await;
}

#[tokio::test]
async fn one_process_waits_for_an_execution_of_another() {
    let (folder, params) = folder();
    let first = served(Some(folder.path())).await;
    let second = served(Some(folder.path())).await;
    let id = started(&first, "build", params).await;
    go(&folder);
    assert_eq!(ended(&second, &id).await["result"], "built");
}

#[tokio::test]
async fn expired_executions_are_deleted() {
    let (folder, _) = folder();
    let served = served(Some(folder.path())).await;
    let id = started(&served, "brief", json!({})).await;
    ended(&served, &id).await;
    let mut table = table(folder.path()).await;
    sqlx::query("UPDATE executions SET expires_at = 1").execute(&mut table).await.unwrap();
    let answer = ask(&served, "get_execution", json!({"execution_id": id}), &Caller::nobody()).await;
    assert_eq!(answer["error"]["code"], "NOT_FOUND_RESOURCE");
    ask(&served, "list_executions", json!({}), &Caller::nobody()).await;
    let left: i64 =
        sqlx::query_scalar("SELECT count(*) FROM executions").fetch_one(&mut table).await.unwrap();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn no_parameter_is_stored() {
    let (folder, mut params) = folder();
    params["token"] = json!("s3cr3t-value");
    let served = served(Some(folder.path())).await;
    let id = started(&served, "build", params).await;
    go(&folder);
    ended(&served, &id).await;
    drop(served);
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let bytes = match std::fs::read(file.unwrap().path()) {
            Ok(bytes) => bytes,
            // The database cleans up its files when it closes.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => panic!("{error}"),
        };
        assert!(!bytes.windows(12).any(|window| window == b"s3cr3t-value"));
    }
}
