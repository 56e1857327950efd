//! The state's file: permissions, other programs, ends of processes, backups.

use super::process::Process;
use super::trust::grant;
use super::{Both, issue, open, person, scope, token};
use mcpaql_runtime::operator::{OPERATOR_FILE, OperationPin, OperatorState, OperatorStateError, Redemption};
use serde_json::json;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

async fn sql(path: &Path, statement: &'static str) {
    let options = SqliteConnectOptions::new().filename(path).create_if_missing(true);
    let mut file = options.connect().await.unwrap();
    sqlx::raw_sql(statement).execute(&mut file).await.unwrap();
    file.close().await.unwrap();
}

#[tokio::test]
async fn only_this_user_can_read_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("state");
    let state = open(&folder).await;
    state.put_grant(grant("a", "f")).await.unwrap();
    state.backup(&folder.join("backup.sqlite")).await.unwrap();
    assert_eq!(mode(&folder), 0o700);
    let names: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(names.len() >= 3, "{names:?}");
    for path in names {
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[tokio::test]
async fn a_file_of_another_program_or_a_newer_version_is_not_touched() {
    let rows: [(&'static str, &str); 3] = [
        ("CREATE TABLE other (a)", "belongs to another program"),
        ("PRAGMA application_id = 1634562929; PRAGMA user_version = 1", "belongs to another program"),
        ("PRAGMA application_id = 1835102575; PRAGMA user_version = 99", "was written by a newer version"),
    ];
    for (statement, expected) in rows {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(OPERATOR_FILE);
        sql(&path, statement).await;
        let before = fs::read(&path).unwrap();
        let error = OperatorState::open(Some(folder.path())).await.unwrap_err();
        assert!(
            matches!(error, OperatorStateError::Open(_)) && error.to_string().contains(expected),
            "{error}"
        );
        assert_eq!(fs::read(&path).unwrap(), before);
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(OPERATOR_FILE), "not a database, but long enough for a header".repeat(9))
        .unwrap();
    let error = OperatorState::open(Some(folder.path())).await.unwrap_err();
    assert!(error.to_string().contains("is not a SQLite file"), "{error}");
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let error = OperatorState::open(Some(&folder.path().join("file"))).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot create the store"), "{error}");
}

#[tokio::test]
async fn what_was_acknowledged_survives_sigkill() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = Vec::new();
    for round in 1..=3 {
        let mut process = Process::start(folder.path(), "grant until killed", 0);
        process.go();
        for _ in 0..round * 7 {
            acknowledged.push(process.next().unwrap().as_str().unwrap().to_owned());
        }
        process.child.kill().unwrap();
        while let Some(subject) = process.next() {
            acknowledged.push(subject.as_str().unwrap().to_owned());
        }
        process.child.wait().unwrap();
    }
    let state = open(folder.path()).await;
    for subject in &acknowledged {
        assert!(state.grant(subject).await.unwrap().is_some(), "{subject}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backup_during_use_restores_an_equal_state() {
    let both = Both::open().await;
    let [memory, state] = &both.states;
    for number in 0..20 {
        state.put_grant(grant(&format!("file:/{number}"), "f")).await.unwrap();
    }
    let pin = OperationPin { operation: "get".into(), fingerprint: "f".into(), content: json!({"a": 1}) };
    state.pin_first("crm", std::slice::from_ref(&pin)).await.unwrap();
    state.pause(Some("shop"), true, "me").await.unwrap();
    state.record_success("shop", "get_invoice", "alice").await.unwrap();
    super::process::charge_up_to(state, 5).await;
    let backup = both.folder.path().join("backup.sqlite");
    let busy = {
        let state = state.clone();
        tokio::spawn(async move {
            for _ in 0..50 {
                state.pause(Some("busy"), true, "me").await.unwrap();
                state.resume(Some("busy")).await.unwrap();
            }
        })
    };
    state.backup(&backup).await.unwrap();
    busy.await.unwrap();

    let elsewhere = tempfile::tempdir().unwrap();
    let restored = OperatorState::open_with_clock(Some(elsewhere.path()), both.clock.clock()).await.unwrap();
    restored.put_grant(grant("only here", "f")).await.unwrap();
    let revision = restored.revision().await.unwrap();
    restored.restore(&backup).await.unwrap();
    assert!(restored.revision().await.unwrap() > revision);
    assert_eq!(restored.grants().await.unwrap(), state.grants().await.unwrap());
    assert_eq!(restored.pin_contents("crm").await.unwrap(), [pin]);
    let pauses = restored.pauses().await.unwrap();
    assert_eq!(
        pauses.iter().find(|pause| pause.adapter.as_deref() == Some("shop")),
        state.pauses().await.unwrap().first()
    );
    assert_eq!(super::process::charge_up_to(&restored, 5).await, 0);
    assert_eq!(super::process::charge_up_to(&restored, 7).await, 2);
    let files: Vec<_> =
        fs::read_dir(elsewhere.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(files.iter().all(|name| name.to_string_lossy().starts_with(OPERATOR_FILE)), "{files:?}");

    for result in [memory.backup(&backup).await, memory.restore(&backup).await] {
        assert!(matches!(result, Err(OperatorStateError::NoFile)));
    }
}

#[tokio::test]
async fn a_restored_backup_revives_no_token() {
    let both = Both::open().await;
    let [_, state] = &both.states;
    let backup = both.folder.path().join("backup.sqlite");
    issue(state, &token(1)).await;
    let approved = issue(state, &person("c1", None)).await;
    state.decide(&approved, true, "me").await.unwrap();
    state.backup(&backup).await.unwrap();
    let redeemed = state.redeem_token(&[1; 32], &scope("c1")).await.unwrap();
    assert!(matches!(redeemed, Redemption::Redeemed { .. }));
    state.restore(&backup).await.unwrap();
    assert_eq!(state.redeem_token(&[1; 32], &scope("c1")).await.unwrap(), Redemption::Expired);
    let taken = state.take_approved(&scope("c1"), None).await.unwrap();
    assert_eq!(taken, mcpaql_runtime::operator::Approval::Expired);
}

#[tokio::test]
async fn a_backup_replaces_no_file_and_only_a_backup_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await;
    state.put_grant(grant("a", "f")).await.unwrap();
    let existing = folder.path().join("existing");
    fs::write(&existing, "precious").unwrap();
    let error = state.backup(&existing).await.unwrap_err();
    assert!(error.to_string().contains("this file exists"), "{error}");
    assert_eq!(fs::read(&existing).unwrap(), b"precious");
    let missing = folder.path().join("missing");
    let foreign = folder.path().join("foreign.sqlite");
    sql(&foreign, "CREATE TABLE other (a)").await;
    for path in [&existing, &missing, &foreign, &folder.path().join(OPERATOR_FILE)] {
        assert!(state.restore(path).await.is_err(), "{}", path.display());
    }
    assert_eq!(state.grants().await.unwrap().len(), 1);
}
