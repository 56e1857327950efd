//! Files of the log: new ones, old ones, and copies of checkpoints elsewhere.

use super::log::{records, verified};
use super::{MINUTE, TestClock};
use mcpaql_gate::config::LogConfig;
use mcpaql_gate::log::{LogRecord, RecordKind};
use mcpaql_runtime::record::{OperatorLog, verify_folder};
use serde_json::json;
use std::fs;
use std::path::Path;

const DAY: i64 = 24 * 60 * MINUTE;

/// A record with the time of the clock.
fn record(clock: &TestClock, operation: &str) -> LogRecord {
    let seconds = clock.clock().now_ms() / 1000;
    let mut record = LogRecord::new(RecordKind::Call, mcpaql_core::timestamp::timestamp(seconds));
    record.operation = Some(operation.into());
    record
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder.join("log")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.starts_with('0'));
    names.sort();
    names
}

#[tokio::test]
async fn a_full_file_is_followed_by_the_next_in_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    let clock = TestClock::new();
    let config = LogConfig { rotate_bytes: Some(1000), ..LogConfig::default() };
    // Two processes, which rotate in turn.
    let logs = [0, 1].map(|_| OperatorLog::open(folder.path(), &config, clock.clock()));
    for number in 0..30 {
        logs[number % 2].append_durable(record(&clock, &number.to_string())).await.unwrap();
    }
    drop(logs);
    let files = files(folder.path());
    assert!(files.len() > 5 && files[0] == "000001.jsonl", "{files:?}");
    let records = records(folder.path());
    let rotations: Vec<_> = records.iter().filter(|record| record["kind"] == "rotation").collect();
    assert_eq!((rotations.len(), records.len()), (files.len() - 1, 30 + files.len() - 1));
    assert_eq!(rotations[0]["details"]["file"], 2);
    assert_eq!(rotations[0]["details"]["after"]["hash"], rotations[0]["prev"]);
    verified(folder.path());
}

#[tokio::test]
async fn old_files_are_deleted_and_the_rest_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let clock = TestClock::new();
    let config = LogConfig { keep_days: Some(36), ..LogConfig::default() };
    let log = OperatorLog::open(folder.path(), &config, clock.clock());
    for day in 0..36 {
        log.append_durable(record(&clock, &format!("day {day}"))).await.unwrap();
        clock.advance(DAY);
    }
    let before = files(folder.path());
    assert!((9..=12).contains(&before.len()), "{before:?}");
    let path = |name: &str| folder.path().join("log").join(name);
    let contents: Vec<_> = before.iter().map(|name| fs::read(path(name)).unwrap()).collect();
    clock.advance(10 * DAY);
    log.append_durable(record(&clock, "last")).await.unwrap();
    let after = files(folder.path());
    assert!(after[0] > before[0] && after.len() < before.len(), "{before:?} {after:?}");
    let records = records(folder.path());
    let retention = records.iter().find(|record| record["kind"] == "retention").unwrap();
    assert_eq!(retention["details"]["files"][0], 1);
    assert_eq!(retention["details"]["up_to"]["hash"], records[0]["prev"]);
    let report = verified(folder.path());
    assert!(report.first_seq.unwrap() > 1);
    // Nothing that should stay was deleted.
    assert!(records.iter().any(|record| record["operation"] == "day 12"));
    // A process that ended while it deleted leaves a log with a signed start, wherever it ended.
    let deleted = before.iter().position(|name| *name == after[0]).unwrap();
    assert!(deleted >= 2, "{before:?} {after:?}");
    for number in (0..deleted).rev() {
        fs::write(path(&before[number]), &contents[number]).unwrap();
        verified(folder.path());
    }
    // A file that is missing between others is no retention.
    fs::remove_file(path(&before[1])).unwrap();
    assert!(verify_folder(folder.path(), &[], &[]).unwrap().problem.is_some());
}

#[tokio::test]
async fn an_idle_log_is_pruned_when_a_process_starts() {
    let folder = tempfile::tempdir().unwrap();
    let clock = TestClock::new();
    let config = LogConfig { keep_days: Some(30), ..LogConfig::default() };
    let open = || OperatorLog::open(folder.path(), &config, clock.clock());
    open().append_durable(record(&clock, "old")).await.unwrap();
    // It starts a new file while the old one is young enough, and deletes the old one later.
    clock.advance(20 * DAY);
    open().close().await;
    assert_eq!(files(folder.path()), ["000001.jsonl", "000002.jsonl"]);
    clock.advance(31 * DAY);
    open().close().await;
    assert!(!records(folder.path()).iter().any(|record| record["operation"] == "old"));
    verified(folder.path());
}

#[tokio::test]
async fn a_file_without_records_after_a_crash_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let clock = TestClock::new();
    let open = || OperatorLog::open(folder.path(), &LogConfig::default(), clock.clock());
    open().append_durable(record(&clock, "a")).await.unwrap();
    fs::write(folder.path().join("log/000002.jsonl"), "{\"half").unwrap();
    open().append_durable(record(&clock, "b")).await.unwrap();
    assert_eq!(records(folder.path()).len(), 2);
    assert!(fs::read_to_string(folder.path().join("log/000002.jsonl")).unwrap().contains("\"b\""));
    verified(folder.path());
}

#[tokio::test]
async fn checkpoints_go_to_a_file_a_folder_and_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let clock = TestClock::new();
    let by_command = elsewhere.path().join("by command");
    let config = LogConfig {
        checkpoint_file: Some(elsewhere.path().to_str().unwrap().into()),
        checkpoint_command: vec![
            "sh".into(),
            "-c".into(),
            "cat >> \"$0\"".into(),
            by_command.to_str().unwrap().into(),
        ],
        ..LogConfig::default()
    };
    let log = OperatorLog::open(folder.path(), &config, clock.clock());
    for name in ["a", "b", "c"] {
        log.append_durable(record(&clock, name)).await.unwrap();
    }
    log.close().await;
    let own = fs::read_to_string(folder.path().join("log/checkpoints.jsonl")).unwrap();
    let copy = elsewhere.path().join("mcpaql.checkpoints");
    assert_eq!(own.lines().count(), 3);
    assert_eq!(fs::read_to_string(&copy).unwrap(), own);
    // The command runs at once, and again at the end, but not for each write between.
    let lines: Vec<&str> = own.split_inclusive('\n').collect();
    assert_eq!(fs::read_to_string(&by_command).unwrap(), [lines[0], lines[2]].concat());
    // A copy elsewhere shows that the end is missing, whatever happened to the own checkpoints.
    fs::write(folder.path().join("log/checkpoints.jsonl"), "").unwrap();
    let file = folder.path().join("log/000001.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.split_inclusive('\n').take(2).collect::<String>()).unwrap();
    verified(folder.path());
    let report = verify_folder(folder.path(), &[copy], &[]).unwrap();
    let problem = report.problem.unwrap();
    assert_eq!(json!(format!("{:?}", problem.kind)), json!("MissingEnd"));
}

#[tokio::test]
async fn a_checkpoint_that_cannot_be_copied_stops_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let clock = TestClock::new();
    let config = LogConfig {
        checkpoint_file: Some(folder.path().join("missing/file").to_str().unwrap().into()),
        checkpoint_command: vec!["/does/not/exist".into()],
        ..LogConfig::default()
    };
    let log = OperatorLog::open(folder.path(), &config, clock.clock());
    log.append_durable(record(&clock, "a")).await.unwrap();
    log.close().await;
    verified(folder.path());
}

#[tokio::test]
async fn many_checkpoints_are_shortened_and_still_confirm_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let clock = TestClock::new();
    let log = OperatorLog::open(folder.path(), &LogConfig::default(), clock.clock());
    log.append_durable(record(&clock, "a")).await.unwrap();
    let path = folder.path().join("log/checkpoints.jsonl");
    let line = fs::read_to_string(&path).unwrap();
    fs::write(&path, line.repeat(1024 * 1024 / line.len() + 2)).unwrap();
    log.append_durable(record(&clock, "b")).await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 501);
    assert_eq!(verified(folder.path()).unsigned, 0);
}
