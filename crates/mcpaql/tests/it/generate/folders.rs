//! Unusual folders, and interrupted runs.

use super::{PROVENANCE, generate, generate_ok, http, test_folder, tree};
use crate::fixture::{BINARY, RunOutput, TestFolder, with_timeout};
use serde_json::Value;

#[cfg(unix)]
#[tokio::test]
async fn links_in_the_folder_are_not_followed() {
    let place = test_folder();
    std::fs::create_dir_all(place.path().join("outside")).unwrap();
    generate_ok(&place, &["-o", "p"]).await;
    std::fs::rename(place.path().join("p/src"), place.path().join("moved")).unwrap();
    std::os::unix::fs::symlink(place.path().join("outside"), place.path().join("p/src")).unwrap();
    let ran = generate(&place, &["-s", "things.md", "-t", "rust", "-o", "p", "--force"]).await;
    assert_eq!(ran.status, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("symbolic link"), "{}", ran.stderr);
    assert_eq!(std::fs::read_dir(place.path().join("outside")).unwrap().count(), 0);
}

#[cfg(unix)]
#[tokio::test]
async fn broken_links_are_reported_and_stay() {
    let place = test_folder();
    std::os::unix::fs::symlink("nowhere", place.path().join("dangling")).unwrap();
    generate_ok(&place, &["-o", "p"]).await;
    std::fs::remove_file(place.path().join("p/NOTICE.md")).unwrap();
    std::os::unix::fs::symlink("../nowhere", place.path().join("p/NOTICE.md")).unwrap();
    let before = std::fs::read(place.path().join("p/README.md")).unwrap();
    for (output, link) in [("dangling", "dangling"), ("dangling/below", "dangling"), ("p", "p/NOTICE.md")] {
        for force in [&[][..], &["--force", "--prefix", "other_"]] {
            let ran =
                generate(&place, &[&["-s", "things.md", "-t", "rust", "-o", output], force].concat()).await;
            assert_eq!(ran.status, Some(4), "{output}: {ran:?}");
            let expected = format!("{link} is a broken symbolic link");
            assert!(ran.stderr.contains(&expected) && ran.stderr.contains("hint: "), "{}", ran.stderr);
        }
    }
    assert!(!place.path().join("nowhere").exists());
    assert_eq!(std::fs::read(place.path().join("p/README.md")).unwrap(), before);
}

#[tokio::test]
async fn a_folder_has_one_language() {
    let place = test_folder();
    generate_ok(&place, &[]).await;
    let ran = generate(&place, &["-s", "things.md", "-t", "python"]).await;
    assert_eq!(ran.status, Some(4), "{ran:?}");
    assert!(ran.stderr.contains("another language"), "{}", ran.stderr);
    let ran = generate(&place, &["-s", "things.md", "-t", "python", "--force"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(!place.path().join("generated/Cargo.toml").exists(), "nothing is left of the other");
    assert!(place.path().join("generated/pyproject.toml").exists());
}

#[tokio::test]
async fn concurrent_runs_leave_one_complete_project() {
    let place = test_folder();
    place.file("others.md", &http().replace("name: things", "name: others"));
    for language in ["python", "rust"] {
        let run = async |schema: &'static str| {
            generate(&place, &["-s", schema, "-t", language, "-o", language, "--reproducible"]).await
        };
        let (a, b, c, d) =
            tokio::join!(run("things.md"), run("others.md"), run("things.md"), run("others.md"));
        let ran = [a, b, c, d];
        assert!(ran.iter().any(|ran| ran.status == Some(0)), "{ran:?}");
        for ran in ran.iter().filter(|ran| ran.status != Some(0)) {
            assert_eq!(ran.status, Some(4), "{ran:?}");
        }
        let found = tree(&place.path().join(language));
        let record: Value = serde_json::from_str(&found[PROVENANCE]).unwrap();
        let name = record["schema"]["filename"].as_str().unwrap().to_owned();
        let alone = format!("{language}-alone");
        let ran = generate(&place, &["-s", &name, "-t", language, "-o", &alone, "--reproducible"]).await;
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert_eq!(found, tree(&place.path().join(&alone)), "{language}");
    }
}

#[cfg(target_os = "linux")]
async fn shell(place: &TestFolder, line: &str) -> RunOutput {
    let mut shell = tokio::process::Command::new("sh");
    shell.args(["-c", line]).current_dir(place.path()).env("BINARY", BINARY);
    RunOutput::of(shell).await
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_report_that_cannot_be_written_fails_the_run() {
    let place = test_folder();
    let run = "\"$BINARY\" generate -s things.md -t rust -o out --output-format json";
    for (rest, status) in [("> /dev/full", 4), ("2> /dev/full", 0), ("| true", 0)] {
        let ran = shell(&place, &format!("{run} {rest}")).await;
        assert_eq!(ran.status, Some(status), "{rest}: {ran:?}");
        assert!(place.path().join("out").join(PROVENANCE).exists(), "{rest}");
    }
}

#[tokio::test]
async fn unusual_folder_names_are_accepted() {
    let place = test_folder();
    for (output, shown) in [("my folder/größe 🎉", "cd 'my folder/größe 🎉'"), ("./-x", "cd ./-x")] {
        let ran = generate_ok(&place, &["-o", output]).await;
        assert!(ran.stdout.contains(&format!("  {shown}\n")), "{}", ran.stdout);
        assert!(place.path().join(output).join(PROVENANCE).exists());
    }
    // An empty name is not a folder, and must not mean the current one.
    place.file("g.yaml", "schema: things.md\ntarget: rust\noutput: ''\n");
    let ran = generate(&place, &["-c", "g.yaml"]).await;
    assert_eq!(ran.status, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("'output' has an invalid value: it is empty"), "{}", ran.stderr);
    assert!(!place.path().join(PROVENANCE).exists());
}

/// An interrupted run either completes or writes nothing.
#[cfg(unix)]
#[tokio::test]
async fn an_interrupted_run_leaves_a_complete_project_or_none() {
    let place = test_folder();
    generate_ok(&place, &["-o", "whole", "--reproducible"]).await;
    let whole = tree(&place.path().join("whole"));
    for attempt in 0..8 {
        let output = format!("p{attempt}");
        let root = place.path().join(&output);
        let args = ["generate", "-s", "things.md", "-t", "rust", "-o", &output, "--reproducible", "-q"];
        let mut child = place.binary(&args).spawn().unwrap();
        // Now the run is writing.
        while !root.exists() && child.try_wait().unwrap().is_none() {
            tokio::task::yield_now().await;
        }
        if let Some(id) = child.id() {
            let id = id.to_string();
            tokio::process::Command::new("kill").args(["-INT", &id]).status().await.unwrap();
        }
        let status = with_timeout(child.wait()).await.unwrap();
        assert!(status.success(), "{attempt}: {status}");
        assert_eq!(tree(&root), whole, "{attempt}");
    }
}

#[tokio::test]
async fn a_killed_run_is_rolled_back_before_its_source_is_read() {
    let place = test_folder();
    generate_ok(&place, &["-o", "p", "--reproducible"]).await;
    let (root, whole) = (place.path().join("p"), tree(&place.path().join("p")));
    let staging = root.join(".mcpaql-generating");
    std::fs::create_dir(&staging).unwrap();
    std::fs::rename(root.join("schema/things.md"), staging.join("old-0")).unwrap();
    let journal = serde_json::json!([{"path": "schema/things.md", "hash": "sha256:0"}]);
    std::fs::write(staging.join("journal.json"), journal.to_string()).unwrap();
    let args = ["-s", "p/schema/things.md", "-t", "rust", "-o", "p", "--reproducible"];
    let ran = generate(&place, &args).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(tree(&root), whole);
}
