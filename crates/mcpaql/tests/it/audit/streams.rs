//! Pipes and devices as files: they are read up to a limit, written to, and never replaced.

use super::notes;
use crate::fixture::{BINARY, RunOutput, TestFolder};
use std::os::unix::fs::FileTypeExt;
use tokio::process::Command;

/// Runs a shell command line in which `$0` is the program.
async fn shell(place: &TestFolder, line: &str) -> RunOutput {
    let mut shell = Command::new("sh");
    shell.args(["-c", line, BINARY]).current_dir(place.path()).env("HOME", place.path()).kill_on_drop(true);
    RunOutput::of(shell).await
}

/// Returns what this command writes to a pipe.
async fn through_a_pipe(place: &TestFolder, command: &str) -> String {
    let ran =
        shell(place, &format!("mkfifo pipe; cat pipe > heard & $0 {command} > out 2> told; wait")).await;
    assert_eq!(ran.status, Some(0), "{command}: {ran:?}");
    let pipe = place.path().join("pipe");
    assert!(pipe.metadata().unwrap().file_type().is_fifo(), "{command}: the pipe was replaced");
    std::fs::remove_file(pipe).unwrap();
    std::fs::read_to_string(place.path().join("heard")).unwrap()
}

#[tokio::test]
async fn a_device_or_pipe_is_written_to_and_not_replaced() {
    let place = notes();
    place.file("api.json", r#"{"openapi": "3.0.0", "info": {"title": "Notes", "version": "1"}, "servers": [{"url": "https://example.com"}], "paths": {"/notes": {"get": {"operationId": "listNotes", "responses": {"200": {"description": "ok"}}}}}}"#);
    place.file("claude.json", r#"{"mcpServers": {"notes": {"command": "notes"}}}"#);
    for (command, begins) in [
        ("audit --tools notes.json -o pipe", "notes"),
        ("audit --tools notes.json --write-baseline pipe", "{"),
        ("audit --tools notes.json --convention claude-directory --fix -o pipe", "# Corrections"),
        ("import openapi api.json -o pipe", "---"),
        ("import mcp --tools notes.json --bundle pipe -- notes", "{"),
        ("import config claude.json -o pipe", "# Written by"),
    ] {
        let heard = through_a_pipe(&place, command).await;
        assert!(heard.starts_with(begins), "{command}: {heard}");
    }
}

#[tokio::test]
async fn a_report_is_written_to_an_open_stream() {
    let place = notes();
    let plain = place.run(&["audit", "--tools", "notes.json"]).await;
    let named = place.run(&["audit", "--tools", "notes.json", "-o", "/dev/stdout"]).await;
    assert_eq!((named.status, named.stdout.trim_end()), (plain.status, plain.stdout.trim_end()), "{named:?}");
    let unheard = shell(&place, "$0 audit --tools notes.json -o /dev/stdout 2> told | true; cat told").await;
    assert_eq!(unheard.stdout.trim_end(), "Wrote /dev/stdout");
    shell(&place, "echo first > log; $0 audit --tools notes.json -o /dev/stdout >> log 2> told").await;
    let log = std::fs::read_to_string(place.path().join("log")).unwrap();
    assert!(log.starts_with("first\n") && log.contains("NAME-001"), "{log}");
}

#[tokio::test]
async fn an_endless_input_is_refused_and_a_pipe_is_read() {
    let place = notes();
    for command in
        ["audit --tools /dev/zero", "audit /dev/zero", "import config /dev/zero", "audit --tools -"]
    {
        let ran = shell(&place, &format!("$0 {command} < /dev/zero")).await;
        assert_eq!(ran.status, Some(2), "{command}: {ran:?}");
        assert!(
            ran.stderr.contains("is larger than the maximum of 67108864 bytes"),
            "{command}: {}",
            ran.stderr
        );
    }
    let read = shell(&place, "mkfifo list; cat notes.json > list & $0 audit --tools list").await;
    assert!(read.stdout.contains("NAME-001"), "{read:?}");
}

#[tokio::test]
async fn a_configuration_that_is_a_device_is_not_changed() {
    let place = TestFolder::new();
    let ran = shell(&place, "mkfifo config.json; $0 install cursor --path config.json").await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("is a device, a pipe or a socket, not a file"), "{}", ran.stderr);
}

#[tokio::test]
async fn redirected_streams_are_appended_to() {
    let place = notes();
    let plain = place.run(&["audit", "--tools", "notes.json"]).await.stdout;
    for path in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "-"] {
        let line = format!("(echo head; $0 audit --tools notes.json -o {path}; echo tail) > out 2> told");
        shell(&place, &line).await;
        let out = std::fs::read_to_string(place.path().join("out")).unwrap();
        assert_eq!(out, format!("head\n{plain}tail\n"), "{path}");
        assert!(!place.path().join("-").exists());
    }
    shell(&place, "(echo head >&2; $0 audit --tools notes.json -o /dev/stderr) 2> out").await;
    let out = std::fs::read_to_string(place.path().join("out")).unwrap();
    assert_eq!(out, format!("head\n{plain}Wrote /dev/stderr\n"));
    let fixed = "--convention claude-directory --fix -o /dev/stdout > out 2> told";
    shell(&place, &format!("$0 audit --tools notes.json {fixed}")).await;
    let out = std::fs::read_to_string(place.path().join("out")).unwrap();
    assert!(out.starts_with("# Corrections") && out.contains("scores (maximum 100)"), "{out}");
    let imported = shell(&place, "$0 import mcp --tools notes.json -o - -- notes 2> told; cat told").await;
    assert!(imported.stdout.starts_with("---\n") && !imported.stdout.contains("Wrote"), "{imported:?}");
}

#[tokio::test]
async fn an_input_is_not_overwritten_under_another_name() {
    let place = notes();
    let before = std::fs::read_to_string(place.path().join("notes.json")).unwrap();
    place.file("overrides.yaml", "operations: {}\n");
    for command in [
        "audit --tools notes.json -o /dev/fd/8 8<>notes.json",
        "import mcp --tools notes.json --force -o notes.json -- notes",
        "import mcp --tools notes.json --force --bundle ./notes.json -- notes",
        "import mcp --tools notes.json --overrides overrides.yaml --force -o overrides.yaml -- notes",
    ] {
        let ran = shell(&place, &format!("$0 {command}")).await;
        assert_eq!(ran.status, Some(2), "{command}: {ran:?}");
        assert!(
            ran.stderr.contains("is an input file and would be overwritten"),
            "{command}: {}",
            ran.stderr
        );
    }
    assert_eq!(std::fs::read_to_string(place.path().join("notes.json")).unwrap(), before);
}
