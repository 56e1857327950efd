//! `--probe`: tests the hints of a running server.

use super::{finding_codes, report};
use crate::fixture::TestFolder;

/// Four commands as tools: one reads, one is marked read-only but writes, one writes and says so, one changes its answer.
const DOCUMENT: &str = r#"
name: log
type: adapter
version: "1.0.0"
description: A file with lines.
mode: discrete
target: { transport: native, protocol: command }
operations:
  read:
    - { name: get_lines, description: Gives all lines of the file., command: [cat, log.txt], output: lines }
    - { name: count_visits, description: Counts how often the file was looked into., command: [tee, -a, log.txt], stdin: params }
    - { name: get_nanoseconds, description: Gives the part of a second that has gone by., command: [date, +%N], output: text }
  create:
    - { name: add_line, description: Adds a line to the file., command: [tee, -a, log.txt], stdin: params }
"#;

fn log() -> TestFolder {
    let place = TestFolder::new();
    place.file("log.yaml", DOCUMENT);
    place.file("log.txt", "one\n");
    place
}

/// The audited server is this program itself.
const SERVER: [&str; 5] = ["--", env!("CARGO_BIN_EXE_mcpaql"), "serve", "log.yaml", "--no-watch"];

#[tokio::test]
async fn a_read_only_tool_that_writes_is_found() {
    let place = log();
    let args = [&["--probe", "--snapshot", "cat log.txt"], &SERVER[..]].concat();
    let (ran, report) = report(&place, &args).await;
    assert_eq!(ran.status, Some(1), "{}", ran.stderr);
    let found = finding_codes(&report);
    assert!(found.contains(&"HINT-101 log_count_visits".to_owned()), "{found:?}");
    assert!(found.contains(&"HINT-102 log_get_nanoseconds".to_owned()), "{found:?}");
    for honest in ["HINT-101 log_get_lines", "HINT-101 log_get_nanoseconds", "HINT-102 log_get_lines"] {
        assert!(!found.contains(&honest.to_owned()), "{found:?}");
    }
    assert!(
        ran.stderr.contains("1 gave another answer the second time; 1 changed the state"),
        "{}",
        ran.stderr
    );
    let written = std::fs::read_to_string(place.path().join("log.txt")).unwrap();
    // Only tools marked read-only were called: two visits, and no line of the tool that is marked as writing.
    assert_eq!(written, "one\n{}{}");
}

#[tokio::test]
async fn a_tool_that_was_caught_writing_gets_no_read_only_correction() {
    let place = log();
    let args = [&["audit", "--probe", "--snapshot", "cat log.txt", "--fix", "-o", "fixed.yaml"], &SERVER[..]]
        .concat();
    let ran = place.run(&args).await;
    let written = std::fs::read_to_string(place.path().join("fixed.yaml")).unwrap_or_default();
    assert!(written.contains("readOnlyHint: false"), "{written}\n{}", ran.stderr);
    assert!(!written.contains("destructiveHint: false"), "{written}");
}

#[tokio::test]
async fn without_a_snapshot_only_answers_are_compared() {
    let place = log();
    let args = [&["--probe"], &SERVER[..]].concat();
    let (ran, report) = report(&place, &args).await;
    assert!(!finding_codes(&report).iter().any(|finding| finding.starts_with("HINT-101")));
    assert!(ran.stderr.contains("without --snapshot, only answers were compared"), "{}", ran.stderr);
}

#[tokio::test]
async fn an_unusable_snapshot_stops_the_probe_before_any_call() {
    for (command, why) in [
        ("date +%N", "the snapshot changes by itself"),
        ("cat nowhere.txt", "the snapshot command failed"),
        ("exit 3", "the snapshot command failed"),
    ] {
        let place = log();
        let args = [&["audit", "--probe", "--snapshot", command], &SERVER[..]].concat();
        let ran = place.run(&args).await;
        assert_eq!(ran.status, Some(2), "{command}: {}", ran.stderr);
        assert!(ran.stderr.contains(why), "{command}: {}", ran.stderr);
        assert_eq!(std::fs::read_to_string(place.path().join("log.txt")).unwrap(), "one\n", "{command}");
    }
}

#[tokio::test]
async fn only_a_running_server_can_be_probed() {
    let place = log();
    for args in [&["audit", "log.yaml", "--probe"][..], &["audit", "--snapshot", "true", "log.yaml"]] {
        let ran = place.run(args).await;
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.stderr);
    }
    let ran = place.run(&["audit", "log.yaml", "--probe"]).await;
    assert!(ran.stderr.contains("--probe needs exactly one server"), "{}", ran.stderr);
}
