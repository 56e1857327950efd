//! The operator's log: what is acknowledged is written, in one chain, whoever writes.

use super::process::{Process, record};
use super::{START, TestClock};
use mcpaql_gate::config::LogConfig;
use mcpaql_gate::log::{LogProblemKind, VerifyReport};
use mcpaql_runtime::operator::Clock;
use mcpaql_runtime::record::{LogReader, OperatorLog, OperatorLogError, log_public_key, verify_folder};
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub(super) fn open(folder: &Path) -> OperatorLog {
    OperatorLog::open(folder, &LogConfig::default(), Clock::system())
}

/// All records, in order.
pub(super) fn records(folder: &Path) -> Vec<Value> {
    let mut records = Vec::new();
    let count = LogReader::open(folder).read_new(|line| records.push(serde_json::from_slice(line).unwrap()));
    assert_eq!(count.unwrap(), records.len() as u64);
    records
}

fn operations(folder: &Path) -> Vec<String> {
    let records = records(folder);
    records.iter().filter_map(|record| record["operation"].as_str()).map(str::to_owned).collect()
}

pub(super) fn verified(folder: &Path) -> VerifyReport {
    let report = verify_folder(folder, &[], &[]).unwrap();
    assert_eq!(report.problem, None, "{report:?}");
    report
}

#[tokio::test]
async fn a_durable_record_comes_after_all_records_before_it() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(verified(folder.path()).records, 0);
    let log = open(folder.path());
    for name in ["a", "b", "c"] {
        log.append_batched(record(name));
    }
    log.append_durable(record("d")).await.unwrap();
    assert_eq!(operations(folder.path()), ["a", "b", "c", "d"]);
    let report = verified(folder.path());
    assert_eq!((report.records, report.checkpoints, report.unsigned), (4, 1, 0));
    log.append_batched(record("e"));
    log.flush().await.unwrap();
    assert_eq!(verified(folder.path()).records, 5);
}

#[tokio::test]
async fn a_batched_record_is_written_soon_without_another_call() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    log.append_batched(record("a"));
    let mut reader = LogReader::open(folder.path());
    let written = tokio::time::timeout(std::time::Duration::from_secs(60), async {
        while reader.read_new(|_| ()).unwrap() == 0 {
            tokio::task::yield_now().await;
        }
    });
    written.await.unwrap();
    drop(log);
}

#[tokio::test]
async fn a_log_that_is_dropped_or_closed_has_written_everything() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    let clone = log.clone();
    for number in 0..500 {
        clone.append_batched(record(&format!("dropped {number}")));
    }
    drop((log, clone));
    assert_eq!(verified(folder.path()).records, 500);
    let log = open(folder.path());
    let clone = log.clone();
    for number in 0..500 {
        log.append_batched(record(&format!("closed {number}")));
    }
    log.close().await;
    assert_eq!(verified(folder.path()).records, 1000);
    let late = clone.append_durable(record("late")).await;
    assert!(matches!(late, Err(OperatorLogError::Closed)));
    assert!(matches!(clone.flush().await, Err(OperatorLogError::Closed)));
    clone.append_batched(record("late"));
    clone.close().await;
    assert_eq!(verified(folder.path()).records, 1000);
}

#[tokio::test]
async fn an_incomplete_line_is_cut_off_and_the_chain_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    log.append_durable(record("a")).await.unwrap();
    let file = folder.path().join("log/000001.jsonl");
    for rest in ["{\"half\":", "x", &"long ".repeat(50_000)] {
        fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(rest.as_bytes()).unwrap();
        // Nothing that was acknowledged is missing.
        verified(folder.path());
        // Once by a process that has written before, and once by a new one.
        log.append_durable(record("b")).await.unwrap();
        fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(rest.as_bytes()).unwrap();
        open(folder.path()).append_durable(record("c")).await.unwrap();
    }
    assert_eq!(operations(folder.path()), ["a", "b", "c", "b", "c", "b", "c"]);
    assert_eq!(verified(folder.path()).records, 7);
}

#[tokio::test]
async fn an_end_that_is_no_record_stops_the_log_and_stays_as_evidence() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).append_durable(record("a")).await.unwrap();
    let file = folder.path().join("log/000001.jsonl");
    fs::OpenOptions::new().append(true).open(&file).unwrap().write_all(b"{}\n").unwrap();
    let before = fs::read(&file).unwrap();
    let log = open(folder.path());
    let error = log.append_durable(record("b")).await.unwrap_err();
    assert!(matches!(error, OperatorLogError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("mcpaql log --verify"), "{error}");
    assert_eq!(fs::read(&file).unwrap(), before);
    // The operator moves the log away, and the same process starts a new one.
    fs::rename(folder.path().join("log"), folder.path().join("old")).unwrap();
    log.append_durable(record("c")).await.unwrap();
    assert_eq!(operations(folder.path()), ["c"]);
    verified(folder.path());
}

#[tokio::test]
async fn writers_in_two_handles_and_two_processes_write_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    let mut others = [0, 1].map(|_| Process::start(folder.path(), "log", 200));
    let logs = [open(folder.path()), open(folder.path())];
    others.iter_mut().for_each(Process::go);
    for number in 0..200 {
        let [one, two] = &logs;
        one.append_batched(record(&format!("one {number}")));
        two.append_durable(record(&format!("two {number}"))).await.unwrap();
    }
    drop(logs);
    for other in others {
        other.end();
    }
    let operations = operations(folder.path());
    assert_eq!((operations.len(), operations.iter().collect::<HashSet<_>>().len()), (800, 800));
    assert_eq!(verified(folder.path()).records, 800);
}

#[tokio::test]
async fn acknowledged_records_survive_sigkill() {
    let folder = tempfile::tempdir().unwrap();
    let mut acknowledged = Vec::new();
    for round in 1..=4 {
        let mut process = Process::start(folder.path(), "log until killed", 0);
        process.go();
        for _ in 0..round * 10 {
            acknowledged.push(process.next().unwrap().as_str().unwrap().to_owned());
        }
        process.child.kill().unwrap();
        while let Some(operation) = process.next() {
            acknowledged.push(operation.as_str().unwrap().to_owned());
        }
        process.child.wait().unwrap();
        verified(folder.path());
    }
    open(folder.path()).append_durable(record("after")).await.unwrap();
    let written: HashSet<_> = operations(folder.path()).into_iter().collect();
    assert!(acknowledged.iter().all(|operation| written.contains(operation)));
    verified(folder.path());
}

#[tokio::test]
async fn a_log_that_cannot_be_written_refuses_durable_records_until_it_can() {
    let folder = tempfile::tempdir().unwrap();
    // No permissions stop a test that runs as root, so a file is in the way.
    fs::write(folder.path().join("log"), "").unwrap();
    let log = open(folder.path());
    log.append_batched(record("waits"));
    let error = log.append_durable(record("refused")).await.unwrap_err();
    assert!(matches!(error, OperatorLogError::File { .. }), "{error}");
    let path = folder.path().join("log").display().to_string();
    assert!(error.to_string().starts_with(&format!("cannot create {path}")), "{error}");
    assert!(log.flush().await.is_err());
    fs::remove_file(folder.path().join("log")).unwrap();
    log.append_durable(record("later")).await.unwrap();
    assert_eq!(operations(folder.path()), ["waits", "later"]);
    verified(folder.path());
}

#[tokio::test]
async fn a_read_only_folder_refuses_durable_records() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().join("state");
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o500)).unwrap();
    if fs::write(state.join("probe"), "").is_ok() {
        eprintln!("skipped: this user may write everywhere");
        return;
    }
    let error = open(&state).append_durable(record("a")).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot create"), "{error}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_full_disk_refuses_durable_records_and_leaves_no_trace() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("log")).unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("log/000001.jsonl")).unwrap();
    let log = open(folder.path());
    let error = log.append_durable(record("refused")).await.unwrap_err();
    assert!(error.to_string().contains("cannot write") && error.to_string().contains("space"), "{error}");
    log.append_batched(record("waits"));
    fs::remove_file(folder.path().join("log/000001.jsonl")).unwrap();
    log.append_durable(record("later")).await.unwrap();
    assert_eq!(operations(folder.path()), ["waits", "later"]);
    verified(folder.path());
}

#[tokio::test]
async fn only_this_user_can_read_the_log_and_its_key() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("state");
    open(&folder).append_durable(record("a")).await.unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&folder), mode(&folder.join("log"))), (0o700, 0o700));
    for name in ["log.key", "log/000001.jsonl", "log/checkpoints.jsonl", "log/lock"] {
        assert_eq!(mode(&folder.join(name)), 0o600, "{name}");
    }
    let key = fs::read_to_string(folder.join("log.key")).unwrap();
    assert_eq!(key.len(), 65);
    assert_ne!(log_public_key(&folder).unwrap().unwrap(), key.trim_end());
}

#[tokio::test]
async fn a_file_that_is_no_key_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("log.key");
    fs::write(&key, "precious").unwrap();
    let error = open(folder.path()).append_durable(record("a")).await.unwrap_err();
    assert!(matches!(error, OperatorLogError::Key { .. }), "{error}");
    assert_eq!(fs::read(&key).unwrap(), b"precious");
}

#[tokio::test]
async fn changes_deletions_and_a_rewritten_log_are_detected() {
    let folder = tempfile::tempdir().unwrap();
    let log = open(folder.path());
    for name in ["a", "b", "c"] {
        log.append_durable(record(name)).await.unwrap();
    }
    drop(log);
    let file = folder.path().join("log/000001.jsonl");
    let whole = fs::read_to_string(&file).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    let rows = [
        (whole.replace("\"operation\":\"b\"", "\"operation\":\"x\""), LogProblemKind::Changed),
        ([lines[0], lines[2]].concat(), LogProblemKind::Gap),
        ([lines[0], lines[1]].concat(), LogProblemKind::MissingEnd),
        ([lines[1], lines[2]].concat(), LogProblemKind::MissingStart),
    ];
    for (text, expected) in rows {
        fs::write(&file, text).unwrap();
        let report = verify_folder(folder.path(), &[], &[]).unwrap();
        assert_eq!(report.problem.unwrap().kind, expected);
    }
    // Somebody writes another log with another key. The operator kept the key and a checkpoint.
    let trusted = log_public_key(folder.path()).unwrap().unwrap();
    let kept = folder.path().join("kept");
    fs::copy(folder.path().join("log/checkpoints.jsonl"), &kept).unwrap();
    fs::remove_dir_all(folder.path().join("log")).unwrap();
    fs::remove_file(folder.path().join("log.key")).unwrap();
    open(folder.path()).append_durable(record("forged")).await.unwrap();
    verified(folder.path());
    let report = verify_folder(folder.path(), &[kept], &[trusted]).unwrap();
    assert!(report.problem.is_some());
}

#[tokio::test]
async fn a_reader_follows_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let mut reader = LogReader::open(folder.path());
    assert_eq!(reader.read_new(|_| panic!("empty")).unwrap(), 0);
    let clock = TestClock::new();
    let config = LogConfig { rotate_bytes: Some(600), ..LogConfig::default() };
    let log = OperatorLog::open(folder.path(), &config, clock.clock());
    let mut seen = 0;
    for number in 0..20 {
        log.append_durable(record(&number.to_string())).await.unwrap();
        seen += reader.read_new(|line| assert!(line.ends_with(b"\n"))).unwrap();
    }
    assert_eq!(seen, verified(folder.path()).records);
    assert!(folder.path().join("log/000004.jsonl").exists());
    assert_eq!(clock.clock().now_ms(), START);
}
