//! Conventions, policies, levels and baselines.

use super::{finding_codes, notes, report};
use crate::fixture::TestFolder;
use serde_json::{Value, json};
use std::path::Path;

#[tokio::test]
async fn conventions_are_chosen_by_name_and_mcp_is_always_among_them() {
    let place = notes();
    let chosen = |report: &Value| report["standard"]["conventions"].as_array().unwrap().clone();
    let (_, all) = report(&place, &["--tools", "notes.json"]).await;
    assert!(chosen(&all).contains(&json!("cursor")), "{all:#}");
    let (_, one) = report(&place, &["--tools", "notes.json", "--convention", "openai-apps"]).await;
    assert_eq!(chosen(&one), ["mcp", "openai-apps"]);
    let (_, two) =
        report(&place, &["--tools", "notes.json", "--convention", "cursor,vscode", "--convention", "cursor"])
            .await;
    assert_eq!(chosen(&two), ["mcp", "cursor", "vscode"]);
}

#[tokio::test]
async fn a_misspelled_name_is_refused_with_a_suggestion() {
    let place = notes();
    for (flags, hint) in [
        (["--convention", "curser"], "did you mean cursor?"),
        (["--convention", ""], "--convention has an empty name"),
        (["--convention", "mcp,"], "--convention has an empty name"),
        (["--policy", "mcpaq"], "did you mean mcpaql?"),
        (["--rule", "NAME-01=off"], "did you mean NAME-001?"),
        (["--rule", "NAME-001"], "for example --rule TITLE-001=off"),
        (["--rule", "NAME-001=fatal"], "use off, advice, warning or error"),
        (["--fail-on", "fatal"], "expected one of advice, warning, error"),
        (["--format", "xml"], "expected one of full, json"),
        (["--diff-policy", "mcpaql"], "2 values required"),
        (["--header", "X=Y"], "remove --header"),
        (["--fail-on=error", "--fail-on=error"], "cannot be used multiple times"),
        (["--write-baseline=x", "--fix"], "cannot be used with"),
    ] {
        let ran = place.run(&[&["audit", "--tools", "notes.json"], flags.as_slice()].concat()).await;
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{flags:?}: {ran:?}");
        assert!(ran.stderr.contains(hint), "{flags:?}: {}", ran.stderr);
    }
}

#[tokio::test]
async fn levels_decide_what_fails() {
    let place = notes();
    let run = async |flags: &[&str]| {
        let ran =
            place.run(&[&["audit", "--tools", "notes.json", "--convention", "mcp"], flags].concat()).await;
        (ran.status, ran.stdout)
    };
    assert_eq!(run(&[]).await.0, Some(1));
    let (_, all) = report(&place, &["--tools", "notes.json", "--convention", "mcp"]).await;
    let codes = finding_codes(&all).into_iter().map(|one| one.split(' ').next().unwrap().to_owned());
    let off: Vec<String> = codes.flat_map(|code| ["--rule".to_owned(), format!("{code}=advice")]).collect();
    let off: Vec<&str> = off.iter().map(String::as_str).collect();
    let (status, text) = run(&off).await;
    assert_eq!(status, Some(0), "only advice is left: {text}");
    assert_eq!(run(&[&off, ["--fail-on", "advice"].as_slice()].concat()).await.0, Some(1));
    for rule in ["name-001=off", "illegal-characters=off", "Illegal-Characters=off"] {
        let (_, text) = run(&["--rule", rule]).await;
        assert!(!text.contains("NAME-001"), "{rule}: {text}");
    }
    let (_, text) = run(&["--rule", "read-only-and-destructive=advice", "--format", "json"]).await;
    let report: Value = serde_json::from_str(&text).unwrap();
    let level = |rule: &str| {
        report["findings"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["rule"] == rule)
            .map(|one| one["level"].clone())
    };
    assert_eq!(level("HINT-002"), Some("advice".into()), "{text}");
}

#[tokio::test]
async fn a_team_defines_its_own_in_a_file_or_in_its_configuration() {
    let place = notes();
    place.file("ours.yaml", "ours:\n  about: Ours\n  names: {prefix: shop_}\n");
    let (ran, report_of_file) =
        report(&place, &["--tools", "notes.json", "--conventions", "ours.yaml"]).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(report_of_file["standard"]["conventions"].as_array().unwrap().contains(&json!("ours")));
    let prefix = report_of_file["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["required_by"] == json!(["ours"]));
    assert!(prefix.is_some(), "{report_of_file:#}");

    place.file("ours.yaml", "ours:\n  extends: curser\n");
    let ran = place.run(&["audit", "--tools", "notes.json", "--conventions", "ours.yaml"]).await;
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("ours.yaml:2") && ran.stderr.contains("cursor"), "{}", ran.stderr);

    place.file(
        "mcpaql.yaml",
        "adapters: [{builtin: notebook}]\nconventions:\n  team: {about: T, names: {prefix: shop_}}\n\
         audit: {conventions: [team], policy: mcp, rules: {NAME-001: off}}\n",
    );
    let (_, configured) = report(&place, &["--tools", "notes.json"]).await;
    assert_eq!(configured["standard"], json!({"conventions": ["mcp", "team"], "policy": "mcp"}));
    assert!(!finding_codes(&configured).iter().any(|one| one.starts_with("NAME-001")), "{configured:#}");
    let (_, flagged) =
        report(&place, &["--tools", "notes.json", "--convention", "cursor", "--policy", "mcpaql"]).await;
    assert_eq!(
        flagged["standard"],
        json!({"conventions": ["mcp", "cursor"], "policy": "mcpaql"}),
        "flags go first"
    );
    place.file("mcpaql.yaml", "adapters: [{builtin: notebook}]\naudit: {policy: mpc}\n");
    let ran = place.run(&["audit", "--tools", "notes.json"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("mcpaql.yaml:2"), "{}", ran.stderr);
}

#[tokio::test]
async fn rules_conventions_and_policies_are_listed() {
    let place = TestFolder::new();
    let ran = place.run(&["audit", "--list"]).await;
    assert_eq!(ran.status, Some(0));
    for part in ["NAME-001", "claude-directory", "mcpaql-issue"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}

#[tokio::test]
async fn a_rule_is_explained_as_it_is_documented() {
    let place = TestFolder::new();
    let ran = place.run(&["explain", "hint-002"]).await;
    assert_eq!(ran.status, Some(0));
    for part in ["HINT-002", "Why it matters", "    {\"name\":"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("```") && !ran.stdout.contains("## "), "{}", ran.stdout);
    let all = place.run(&["explain"]).await;
    assert!(all.stdout.contains("HINT-002") && all.stdout.contains("NOT_FOUND_OPERATION"), "{}", all.stdout);
    let near = place.run(&["explain", "HINT-02"]).await;
    assert_eq!(near.status, Some(2));
    assert!(near.stderr.contains("did you mean HINT-0"), "{}", near.stderr);
}

#[tokio::test]
async fn policies_are_compared() {
    let place = TestFolder::new();
    let ran = place
        .run(&[
            "audit",
            "notebook",
            "--mode",
            "discrete",
            "--diff-policy",
            "mcpaql",
            "mcpaql-spec",
            "--format",
            "json",
        ])
        .await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let changes = ran.json()["changes"].as_array().unwrap().clone();
    let delete = changes.iter().find(|one| one["tool"] == "notebook_delete_note").unwrap();
    let change = (&delete["hint"], &delete["from"], &delete["to"]);
    assert_eq!(
        change,
        (&json!("idempotentHint"), &json!(true), &Value::Null),
        "the other policy does not set it"
    );
    let table =
        place.run(&["audit", "notebook", "--mode", "discrete", "--diff-policy", "mcpaql", "mcpaql"]).await;
    assert_eq!(table.stdout, "No hints of 12 tools would change\n");
}

#[tokio::test]
async fn a_comparison_of_policies_is_written_and_refuses_flags_without_effect() {
    let place = notes();
    let compare = ["audit", "--tools", "notes.json", "--diff-policy", "mcpaql", "mcp"];
    let run = async |flags: &[&str]| place.run(&[&compare, flags].concat()).await;
    let shown = run(&[]).await;
    let written = run(&["-o", "changes.txt"]).await;
    assert_eq!((written.status, written.stdout.as_str()), (Some(0), ""), "{written:?}");
    assert_eq!(std::fs::read_to_string(place.path().join("changes.txt")).unwrap(), shown.stdout);
    for flags in [
        ["--fix"].as_slice(),
        &["--baseline", "known.json"],
        &["--write-baseline", "known.json"],
        &["--format", "sarif"],
    ] {
        let ran = run(flags).await;
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{flags:?}: {ran:?}");
        assert!(ran.stderr.contains("--diff-policy"), "{flags:?}: {}", ran.stderr);
        assert!(!place.path().join("known.json").exists());
    }
    let partial = run(&["--tools", "absent.json"]).await;
    assert_eq!(partial.status, Some(1), "{partial:?}");
    assert!(partial.stderr.contains("not audited: absent.json"), "{}", partial.stderr);
}

#[tokio::test]
async fn a_baseline_lets_only_new_findings_fail() {
    let place = notes();
    let audit = ["audit", "--tools", "notes.json"];
    let written = place.run(&[&audit, ["--write-baseline", "known.json"].as_slice()].concat()).await;
    assert_eq!(written.status, Some(0), "{written:?}");
    let with = [&audit, ["--baseline", "known.json"].as_slice()].concat();
    let same = place.run(&with).await;
    assert_eq!(same.status, Some(0), "{same:?}");
    assert!(same.stdout.contains("known from the baseline"), "{}", same.stdout);

    let mut more = super::tools();
    more["tools"].as_array_mut().unwrap().push(json!({"name": "a b", "inputSchema": {"type": "object"}}));
    place.file("notes.json", &more.to_string());
    let new = place.run(&with).await;
    assert_eq!(new.status, Some(1), "{new:?}");
    assert!(
        new.stdout.contains("The name 'a b'") && !new.stdout.contains("The name 'delete note'"),
        "{}",
        new.stdout
    );

    place.file("notes.json", r#"{"tools": []}"#);
    let gone = place.run(&with).await;
    assert_eq!(gone.status, Some(0), "{gone:?}");
    assert!(gone.stdout.contains("from the baseline no longer found"), "{}", gone.stdout);

    place.file("known.json", "{}");
    let bad = place.run(&with).await;
    assert_eq!(bad.status, Some(2));
    assert!(bad.stderr.contains("--write-baseline"), "{}", bad.stderr);
}

#[tokio::test]
async fn a_report_is_written_to_a_file() {
    let place = notes();
    for format in ["full", "json", "sarif", "markdown", "github", "junit"] {
        let ran = place.run(&["audit", "--tools", "notes.json", "--format", format, "-o", "report"]).await;
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""), "{format}: {ran:?}");
        let text = std::fs::read_to_string(place.path().join("report")).unwrap();
        assert!(text.contains("NAME-001") && !text.contains('\u{1b}'), "{format}: {text}");
    }
}

#[tokio::test]
async fn inputs_are_not_overwritten_and_outputs_need_different_files() {
    let place = notes();
    let before = std::fs::read_to_string(place.path().join("notes.json")).unwrap();
    place.run(&["audit", "--tools", "notes.json", "--write-baseline", "known.json"]).await;
    for flags in [
        ["-o", "notes.json"].as_slice(),
        &["-o", "./notes.json", "--fix"],
        &["--write-baseline", "notes.json"],
        &["-o", "x", "--write-baseline", "./x"],
        &["-o", "known.json", "--baseline", "known.json"],
    ] {
        let ran = place.run(&[&["audit", "--tools", "notes.json"], flags].concat()).await;
        assert_eq!((ran.status, ran.stdout.as_str()), (Some(2), ""), "{flags:?}: {ran:?}");
        assert!(ran.stderr.contains("choose another"), "{flags:?}: {}", ran.stderr);
    }
    assert_eq!(std::fs::read_to_string(place.path().join("notes.json")).unwrap(), before);
    let again = ["--baseline", "known.json", "--write-baseline", "known.json"];
    let ran = place.run(&[&["audit", "--tools", "notes.json"], &again[..]].concat()).await;
    assert_eq!(ran.status, Some(0), "a baseline may be replaced: {ran:?}");
}

#[tokio::test]
async fn a_folder_that_is_created_for_a_file_is_reported() {
    let place = notes();
    let run =
        async |flags: &[&str]| place.run(&[&["audit", "--tools", "notes.json"], flags].concat()).await.stderr;
    let report = Path::new("out").join("audit").join("report.txt");
    let stderr = run(&["-o", report.to_str().unwrap()]).await;
    let folder = report.parent().unwrap().display();
    assert_eq!(stderr.trim_end(), format!("Wrote {} and created the folder {folder}", report.display()));
    let stderr = run(&["-o", report.to_str().unwrap()]).await;
    assert_eq!(stderr.trim_end(), format!("Wrote {}", report.display()), "the folder exists now");
    let stderr = run(&["--write-baseline", "known/all.json"]).await;
    assert!(stderr.trim_end().ends_with("to known/all.json and created the folder known"), "{stderr}");
    let stderr = run(&["--fix", "-o", "fixes/overrides.yaml", "--convention", "claude-directory"]).await;
    assert!(stderr.contains("and created the folder fixes"), "{stderr}");
}
