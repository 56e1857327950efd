//! Apple Mail without a Mac: the arguments for `osascript`, and the error on machines without it.

use super::{call, example, served};
use mcpaql_core::error::Code;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Replaces `osascript`: stores its arguments and answers with a JSON object.
const STAND_IN: &str = r#"#!/bin/sh
printf '%s\0' "$@" > "$HOME/argv"
printf '{"sent":true}\n'
"#;

/// A separate process writes the program, so that no fork of this process holds it open for writing when it starts.
fn install(folder: &Path) {
    let script = "printf '%s' \"$1\" > osascript && chmod 755 osascript";
    let status = Command::new("sh").args(["-c", script, "sh", STAND_IN]).current_dir(folder).status();
    assert!(status.expect("a shell").success());
}

fn argv(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("argv")).expect("the arguments");
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[tokio::test]
async fn values_are_arguments_and_never_part_of_a_script() {
    let folder = tempfile::tempdir().expect("a folder");
    install(folder.path());
    let here = folder.path().to_str().expect("a path");
    let path = format!("{here}:{}", std::env::var("PATH").unwrap_or_default());
    let mail = served(&example("apple-mail"), &[("PATH", &path), ("HOME", here)]).await;

    let plain = json!({"to": ["ada@example.com"], "subject": "Lunch"});
    assert_eq!(call(&mail, "send_message", plain).await.unwrap(), json!({"sent": true}));
    let plain = argv(folder.path());
    assert_eq!(plain[..3], ["-l", "JavaScript", "-e"]);
    assert_eq!(plain[4], "-e");
    assert!(plain[3].contains("Application(\"Mail\")") && plain[5].contains("function run(argv)"));
    assert_eq!(plain[6..], ["to=ada@example.com", "subject=Lunch"]);

    let subject = "\"); Mail.quit(); (\"\n-e";
    let hostile = json!({
        "to": ["ada@example.com", "bob@example.com"], "cc": ["eve@example.com"], "subject": subject, "body": "-l AppleScript",
    });
    call(&mail, "send_message", hostile).await.unwrap();
    let hostile = argv(folder.path());
    assert_eq!(hostile[..6], plain[..6], "the scripts do not depend on the values");
    let subject = format!("subject={subject}");
    assert_eq!(
        hostile[6..],
        [
            "to=ada@example.com",
            "to=bob@example.com",
            "cc=eve@example.com",
            subject.as_str(),
            "body=-l AppleScript"
        ]
    );
}

#[tokio::test]
async fn defaults_are_sent_like_values() {
    let folder = tempfile::tempdir().expect("a folder");
    install(folder.path());
    let here = folder.path().to_str().expect("a path");
    let path = format!("{here}:{}", std::env::var("PATH").unwrap_or_default());
    let mail = served(&example("apple-mail"), &[("PATH", &path), ("HOME", here)]).await;
    call(&mail, "list_messages", json!({"unread_only": true, "limit": 5})).await.unwrap();
    assert_eq!(argv(folder.path())[6..], ["mailbox=INBOX", "unread_only=true", "limit=5", "skip=0"]);
}

#[tokio::test]
async fn the_error_without_osascript_names_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let mail = served(&example("apple-mail"), &[("PATH", folder.path().to_str().expect("a path"))]).await;
    let error = call(&mail, "list_mailboxes", json!({})).await.unwrap_err();
    assert_eq!(error.code, Code::Internal);
    assert_eq!(
        error.message,
        "The program 'osascript' is not installed on the server; tell the user to install it."
    );
}

#[tokio::test]
async fn addresses_are_checked_before_anything_runs() {
    let mail = served(&example("apple-mail"), &[]).await;
    for to in [json!(["nobody"]), json!([]), Value::Null] {
        let error = call(&mail, "send_message", json!({"to": to, "subject": "x"})).await.unwrap_err();
        assert!(error.code.as_str().starts_with("VALIDATION_"), "{error:?}");
    }
}
