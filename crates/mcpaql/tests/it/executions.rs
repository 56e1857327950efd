//! Background executions: over every transport and revision, after a killed server, and on the command line.

use crate::fixture::{
    ALL_CONNECTIONS, RawClient, ServerProcess, TestFolder, connect, tools_call, with_timeout,
};
use rustix::process::Signal;
use serde_json::{Value, json};
use std::process::Stdio;
use std::time::Duration;

/// A command that waits for a file, so that the tests decide when it ends.
const WORK: &str = r#"name: work
type: adapter
version: "1.0.0"
description: Long work
target: { transport: native, protocol: command }
operations:
  execute:
    - name: build
      command: [sh, -c, 'echo $$ > pid; while ! test -e go; do sleep 0.05; done; echo "\"built\""']
      output: json
      lifecycle: true
"#;

fn place() -> TestFolder {
    let place = TestFolder::new();
    place.file("work.yaml", WORK);
    place
}

async fn pid(place: &TestFolder) -> String {
    with_timeout(async {
        loop {
            match std::fs::read_to_string(place.path().join("pid")) {
                Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
                _ => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    })
    .await
}

fn is_running(pid: &str) -> bool {
    // A program whose server was killed may stay a zombie.
    let state = std::process::Command::new("ps").args(["-o", "stat=", "-p", pid]).output().unwrap();
    state.status.success() && !state.stdout.starts_with(b"Z")
}

async fn gone(pid: &str) {
    with_timeout(async {
        while is_running(pid) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

fn get(id: &Value, wait: u32) -> Value {
    json!({"operation": "get_execution", "params": {"execution_id": id, "wait": wait}})
}

#[tokio::test]
async fn a_client_starts_an_execution_and_waits_for_it_later() {
    for (wire, revision) in ALL_CONNECTIONS {
        let place = place();
        let client = connect(&place, &["work.yaml", "--data", "data"], wire, revision).await;
        let (started, is_error) = client.call("work_mcpaql_execute", json!({"operation": "build"})).await;
        assert!(!is_error && started["data"]["status"] == "running", "{wire:?} {revision:?}: {started}");
        let id = &started["data"]["execution_id"];
        let (meanwhile, _) = client.call("work_mcpaql_read", get(id, 0)).await;
        assert_eq!(meanwhile["data"]["status"], "running");
        place.file("go", "");
        let (end, _) = client.call("work_mcpaql_read", get(id, 30)).await;
        assert_eq!(end["data"]["result"], "built", "{wire:?} {revision:?}: {end}");
        let listed = json!({"operation": "list_executions", "params": {"status": "completed"}});
        let (list, _) = client.call("work_mcpaql_read", listed).await;
        assert_eq!(list["data"]["items"][0]["execution_id"], *id);
    }
}

#[tokio::test]
async fn executions_of_a_killed_server_are_marked_failed() {
    let place = place();
    let command = || place.binary(&["serve", "work.yaml", "--data", "data"]);
    let mut first = RawClient::initialized(command()).await;
    first.send(&tools_call(1, "work_mcpaql_execute", "build", json!({}))).await;
    let id = first.envelope().await["data"]["execution_id"].clone();

    let mut second = RawClient::initialized(command()).await;
    second.send(&tools_call(1, "work_mcpaql_read", "get_execution", json!({"execution_id": id}))).await;
    assert_eq!(second.envelope().await["data"]["status"], "running", "another process works on it");

    let pid = pid(&place).await;
    first.server.child.kill().await.unwrap();
    second.send(&tools_call(2, "work_mcpaql_read", "get_execution", json!({"execution_id": id}))).await;
    let left = second.envelope().await;
    assert_eq!(left["data"]["status"], "failed", "{left}");
    assert_eq!(left["data"]["error"]["details"]["reason"], "server_restarted");

    let mut third = RawClient::initialized(command()).await;
    third.send(&tools_call(1, "work_mcpaql_read", "list_executions", json!({}))).await;
    let list = third.envelope().await["data"]["items"].clone();
    assert_eq!((&list[0]["execution_id"], &list[0]["status"]), (&id, &json!("failed")), "{list}");
    // Its program is gone before it is reported as failed.
    assert!(!is_running(&pid) || !cfg!(target_os = "linux"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn programs_end_with_a_killed_server_even_if_they_have_left_its_session() {
    let place = place();
    let daemon = "setsid sh -c 'echo $$ > daemon; sleep 600' > /dev/null 2>&1 & ";
    place.file(
        "work.yaml",
        &WORK.replace("[sh, -c, 'echo", &format!("[sh, -c, '{} echo", daemon.replace('\'', "''"))),
    );
    let mut server = RawClient::initialized(place.binary(&["serve", "work.yaml"])).await;
    server.send(&tools_call(1, "work_mcpaql_execute", "build", json!({}))).await;
    server.envelope().await;
    let pid = pid(&place).await;
    let daemon = with_timeout(async {
        loop {
            match std::fs::read_to_string(place.path().join("daemon")) {
                Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
                _ => tokio::time::sleep(Duration::from_millis(10)).await,
            }
        }
    })
    .await;
    server.server.child.kill().await.unwrap();
    gone(&pid).await;
    gone(&daemon).await;
}

#[tokio::test]
async fn a_disconnect_cancels_executions_and_their_programs() {
    let place = place();
    let mut raw = RawClient::initialized(place.binary(&["serve", "work.yaml", "--data", "data"])).await;
    raw.send(&tools_call(1, "work_mcpaql_execute", "build", json!({}))).await;
    let id = raw.envelope().await["data"]["execution_id"].as_str().unwrap().to_owned();
    let pid = pid(&place).await;
    raw.end_input();
    assert!(raw.server.wait_for_exit().await.0.success());
    gone(&pid).await;
    let argument = format!("execution_id={id}");
    let ran = place.run(&["call", "work.yaml", "get_execution", &argument, "--data", "data"]).await;
    assert_eq!(ran.json()["status"], "cancelled", "{ran:?}");
}

#[tokio::test]
async fn the_command_line_waits_for_the_end() {
    let place = place();
    place.file("go", "");
    let ran = place.run(&["call", "work.yaml", "build", "--data", "data"]).await;
    assert_eq!((ran.status, ran.stdout.trim()), (Some(0), "\"built\""), "{ran:?}");
}

#[tokio::test]
async fn an_interrupt_at_the_command_line_ends_the_program() {
    let place = place();
    let mut command = place.binary(&["call", "work.yaml", "build", "--data", "data"]);
    command.stdin(Stdio::null());
    let server = ServerProcess::start(command);
    let pid = pid(&place).await;
    server.signal(Signal::INT);
    let (status, stderr) = server.wait_for_exit().await;
    assert!(!status.success() && stderr.contains("interrupted"), "{stderr}");
    gone(&pid).await;
}
