//! `doctor`: what it finds, what it says to do, and what it leaves behind.

use crate::documents;
use crate::fixture::{BINARY, RunOutput, TestFolder};
use serde_json::{Value, json};

/// Runs `doctor` with all folders of the user in the test's folder, and checks that no secret is printed.
async fn doctor(place: &TestFolder, args: &[&str], variables: &[(&str, &str)]) -> RunOutput {
    let ran = RunOutput::of(command(place, args, variables)).await;
    assert!(!ran.stdout.contains("hunter2") && !ran.stderr.contains("hunter2"), "{ran:?}");
    ran
}

fn command(place: &TestFolder, args: &[&str], variables: &[(&str, &str)]) -> tokio::process::Command {
    let mut command = place.binary(&[&["doctor"], args].concat());
    command.env("XDG_CONFIG_HOME", place.path().join("config"));
    command.env("APPDATA", place.path().join("config")).env("USERPROFILE", place.path());
    command.envs(variables.iter().copied());
    command
}

/// Returns the results about this subject: status, message, and the next step.
fn results<'r>(report: &'r Value, subject: &str) -> Vec<(&'r str, &'r str, &'r str)> {
    let all = report["results"].as_array().unwrap().iter();
    all.filter(|result| result["subject"] == subject)
        .map(|result| {
            let next = result["command"].as_str().or_else(|| result["fix"].as_str()).unwrap_or_default();
            (result["status"].as_str().unwrap(), result["message"].as_str().unwrap(), next)
        })
        .collect()
}

async fn report(place: &TestFolder, args: &[&str], variables: &[(&str, &str)]) -> Value {
    let ran = doctor(place, &[args, &["--json"]].concat(), variables).await;
    let report = ran.json();
    let expected = if report["problems"] == 0 { 0 } else { 1 };
    assert_eq!(ran.status, Some(expected), "{ran:?}");
    for result in report["results"].as_array().unwrap() {
        let has_next = result.get("command").is_some() || result.get("fix").is_some();
        assert_eq!(result["status"] != "ok", has_next, "{result}");
    }
    report
}

#[tokio::test]
async fn an_empty_folder_has_no_problems() {
    let place = TestFolder::new();
    let ran = doctor(&place, &[], &[]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    for part in ["built-in notebook", "12 operations", "does not exist yet", "No problems found"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains('\u{1b}'), "no colours without a terminal");
    assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0, "nothing is written");
}

#[tokio::test]
async fn a_credential_is_set_or_missing_and_never_shown() {
    let place = TestFolder::new();
    place.file("api.md", &documents::http_document("api", "https://api.example.com"));
    let found = report(&place, &["api.md"], &[]).await;
    let missing =
        ("problem", "UPSTREAM_TOKEN is not set; calls that need it fail", "export UPSTREAM_TOKEN=…");
    assert!(results(&found, "api.md").contains(&missing), "{found:#}");
    for set in ["hunter2", "hunter2 with spaces"] {
        let found = report(&place, &["api.md"], &[("UPSTREAM_TOKEN", set)]).await;
        assert!(results(&found, "api.md").contains(&("ok", "set in the environment: UPSTREAM_TOKEN", "")));
        assert_eq!(found["status"], "ok", "{found:#}");
    }
    let found = report(&place, &["api.md"], &[("UPSTREAM_TOKEN", "")]).await;
    assert_eq!(found["problems"], 1, "an empty variable is not set: {found:#}");
}

#[tokio::test]
async fn of_several_ways_to_authenticate_one_is_enough() {
    let place = TestFolder::new();
    let document = documents::http_document("api", "https://api.example.com/${env:REGION:-eu}").replace(
        "auth: { type: bearer, token_env: UPSTREAM_TOKEN }",
        "auth: { type: any, schemes: [{ type: bearer, token_env: ONE }, { type: bearer, token_env: OTHER }] }",
    );
    place.file("api.md", &document);
    if report(&place, &["api.md"], &[]).await["results"][0]["status"] != "ok" {
        panic!("{}", place.run(&["check", "api.md"]).await.stdout);
    }
    assert_eq!(report(&place, &["api.md"], &[]).await["problems"], 1);
    assert_eq!(report(&place, &["api.md"], &[("OTHER", "hunter2")]).await["status"], "ok");
}

#[tokio::test]
async fn problems_of_the_configuration_have_a_position_and_a_fix() {
    let place = TestFolder::new();
    place.file("mcpaql.yaml", "modes: single\nadapters:\n  - document: absent.yaml\n  - builtin: notebok\n");
    place.trust();
    let found = report(&place, &[], &[]).await;
    let problems = results(&found, "mcpaql.yaml");
    assert_eq!(problems.len(), 3, "{found:#}");
    assert_eq!(problems[0].1, "line 1, column 1: Unknown key 'modes'");
    assert!(problems[0].2.contains("`mode`"), "{found:#}");
    assert!(
        problems
            .iter()
            .any(|(_, message, _)| message.starts_with("line 3") && message.contains("absent.yaml"))
    );
    assert!(problems.iter().all(|(status, ..)| *status == "problem"));

    place.file("mcpaql.yaml", "adapters: [\n");
    place.trust();
    let found = report(&place, &[], &[]).await;
    assert_eq!(results(&found, "mcpaql.yaml")[0].0, "problem", "{found:#}");

    let found = report(&place, &["--config", "other.yaml"], &[]).await;
    assert_eq!(results(&found, "other.yaml")[0].1, "'other.yaml' not found");
    place.file("other.yaml", "adapters: [{builtin: notebook}]\n");
    let found = report(&place, &["--config", "other.yaml"], &[]).await;
    assert_eq!(results(&found, "other.yaml"), [("ok", "1 adapter", "")]);
}

#[tokio::test]
async fn documents_with_errors_point_to_check() {
    let place = TestFolder::new();
    place.file("broken.yaml", "name: broken\n");
    let found = report(&place, &["broken.yaml"], &[]).await;
    let [(status, message, next)] = results(&found, "broken.yaml")[..] else { panic!("{found:#}") };
    assert_eq!((status, next), ("problem", "mcpaql check broken.yaml"));
    assert!(message.starts_with("cannot be served; "), "{message}");

    let found = report(&place, &["absent.yaml", "http://127.0.0.1:9/openapi.json"], &[]).await;
    assert_eq!(results(&found, "absent.yaml")[0].0, "problem");
    let (status, message, next) = results(&found, "http://127.0.0.1:9/openapi.json")[0];
    assert_eq!(status, "problem");
    assert!(message.contains("127.0.0.1") && next.contains("check the URL"), "{message} {next}");

    place.file("a.md", &documents::http_document("same", "https://api.example.com"));
    place.file("b.md", &documents::http_document("same", "https://api.example.com"));
    let found = report(&place, &["a.md", "b.md"], &[("UPSTREAM_TOKEN", "hunter2")]).await;
    assert!(results(&found, "names")[0].2.contains("prefix"), "{found:#}");
}

#[cfg(unix)]
mod unix {
    use super::*;
    use crate::fixture::{ServerProcess, with_timeout};
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    fn executable(place: &TestFolder, name: &str, text: &str) -> String {
        let path = place.file(name, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn program_document(command: &str, cwd: &str) -> String {
        format!(
            "name: tool\ntype: adapter\nversion: \"1.0.0\"\ndescription: A program\n\
             target: {{ transport: native, protocol: command, cwd: {cwd}, env: [LEVEL] }}\n\
             operations: {{ read: [{{ name: get_thing, command: [{command}] }}] }}\n"
        )
    }

    #[tokio::test]
    async fn programs_are_looked_for_where_they_would_be_started() {
        let place = TestFolder::new();
        std::fs::create_dir(place.path().join("bin")).unwrap();
        let level = [("LEVEL", "info")];
        for (command, cwd, status, part) in [
            ("sh", ".", "ok", "in PATH: sh"),
            ("no-such-program-here", ".", "problem", "no-such-program-here is not in PATH"),
            ("./tool", "bin", "problem", "does not exist or is not executable"),
            ("sh", "nowhere", "problem", "nowhere does not exist"),
        ] {
            place.file("tool.yaml", &program_document(command, cwd));
            let found = report(&place, &["tool.yaml"], &level).await;
            let found = results(&found, "tool.yaml");
            assert!(found.iter().any(|one| one.0 == status && one.1.contains(part)), "{part}: {found:?}");
        }
        place.file("tool.yaml", &program_document("./tool", "bin"));
        executable(&place, "bin/tool", "#!/bin/sh\n");
        assert_eq!(report(&place, &["tool.yaml"], &level).await["status"], "ok");
        let found = report(&place, &["tool.yaml"], &[]).await;
        let unset = ("warning", "LEVEL is not set, so programs are started without it", "export LEVEL=…");
        assert!(results(&found, "tool.yaml").contains(&unset), "{found:#}");
    }

    #[tokio::test]
    async fn the_data_folder_must_be_writable_and_private() {
        let place = TestFolder::new();
        place.file("mcpaql.yaml", "data: records\nadapters: [{builtin: notebook}]\n");
        place.trust();
        let ran = place.run(&["call", "notebook", "create_note", "title=t"]).await;
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let records = place.path().join("records");
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        assert_eq!(report(&place, &[], &[]).await["warnings"], 0);
        set(&records.join("mcpaql.sqlite"), 0o644);
        let found = report(&place, &[], &[]).await;
        assert_eq!(results(&found, "records/mcpaql.sqlite")[0].2, "chmod 600 records/mcpaql.sqlite");
        set(&records, 0o777);
        let found = report(&place, &[], &[]).await;
        assert_eq!(results(&found, "records")[0].2, "chmod go-w records");

        // SQLite restores the file from what it has not merged yet.
        let unmerged = ["mcpaql.sqlite-wal", "mcpaql.sqlite-shm"].map(|name| records.join(name));
        unmerged.iter().filter(|path| path.exists()).for_each(|path| std::fs::remove_file(path).unwrap());
        std::fs::write(
            records.join("mcpaql.sqlite"),
            "this is no database, but long enough to be one".repeat(9),
        )
        .unwrap();
        let found = report(&place, &[], &[]).await;
        let damaged = results(&found, "records").into_iter().find(|one| one.0 == "problem").unwrap();
        assert!(damaged.1.contains("damaged"), "{found:#}");

        std::fs::remove_dir_all(&records).unwrap();
        std::fs::write(&records, "a file").unwrap();
        let found = report(&place, &[], &[]).await;
        assert_eq!(results(&found, "records")[0].0, "problem", "{found:#}");
    }

    #[tokio::test]
    async fn servers_are_asked_at_the_same_time_and_each_has_its_own_verdict() {
        let place = TestFolder::new();
        let notes = json!([BINARY, "serve", "notebook", "--mode", "discrete"]);
        place.file(
            "mcpaql.yaml",
            &format!(
                "adapters:\n  - {{name: notes, mcp: {{command: {notes}}}}}\n  \
                 - {{name: silent, mcp: {{command: [sleep, '1000']}}}}\n  \
                 - {{name: deaf, mcp: {{command: [sleep, '1000']}}}}\n  \
                 - {{name: gone, mcp: {{command: [no-such-program-here]}}}}\n  \
                 - {{name: ended, mcp: {{command: ['true']}}}}\n  \
                 - {{name: secret, mcp: {{command: [sleep, '${{env:ABSENT}}']}}}}\n  \
                 - {{name: remote, mcp: {{url: 'http://127.0.0.1:9/mcp'}}}}\n"
            ),
        );
        place.trust();
        let found = report(&place, &["--timeout", "3"], &[]).await;
        let verdict = |name: &str| {
            let found = results(&found, &format!("mcp:{name}"));
            found.last().map(|one| (one.0.to_owned(), one.1.to_owned(), one.2.to_owned())).unwrap()
        };
        let (status, message, _) = verdict("notes");
        assert_eq!(status, "ok", "{found:#}");
        assert!(message.contains("12 tools: 12 operations"), "{message}");
        for name in ["silent", "deaf"] {
            let (status, message, next) = verdict(name);
            assert_eq!(status, "problem");
            assert!(message.contains("within 3 seconds") && next.contains("--timeout"), "{message}; {next}");
        }
        for (name, part) in [("gone", "no-such-program-here"), ("ended", "exit"), ("remote", "127.0.0.1")] {
            let (status, message, next) = verdict(name);
            assert_eq!(status, "problem", "{name}: {found:#}");
            assert!(message.contains(part), "{name}: {message}");
            assert!(
                !next.contains("--bearer-env") && !next.contains("--env "),
                "no flags of other commands: {next}"
            );
        }
        let (status, message, _) = verdict("secret");
        assert_eq!((status.as_str(), message.contains("ABSENT")), ("warning", true), "{message}");
        assert_eq!(results(&found, "mcp:secret")[0].0, "problem", "the variable itself is a problem");
    }

    #[tokio::test]
    async fn a_document_of_a_server_is_compared_with_the_tools_of_the_server() {
        let place = TestFolder::new();
        let serve = [BINARY, "serve", "notebook", "--mode", "discrete"];
        let ran = place.run(&[&["import", "mcp", "-o", "notes.yaml", "--"], &serve[..]].concat()).await;
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let found = report(&place, &["notes.yaml"], &[]).await;
        assert!(
            results(&found, "notes.yaml").iter().any(|one| one.1.ends_with("lists 12 tools")),
            "{found:#}"
        );
        let text = std::fs::read_to_string(place.path().join("notes.yaml")).unwrap();
        place.file("notes.yaml", &text.replace("discrete", "semantic"));
        let found = report(&place, &["notes.yaml"], &[]).await;
        let last = *results(&found, "notes.yaml").last().unwrap();
        assert_eq!(last.0, "problem");
        assert!(last.1.contains("no tool notebook_create_note") && last.2.contains("import mcp"), "{last:?}");
    }

    /// A server that starts a child, writes the ids of both to files, and never answers.
    const STUBBORN: &str = "#!/bin/sh\ntrap '' TERM INT\nsleep 1000 &\necho $! > child.tmp; mv child.tmp child\n\
        echo $$ > parent.tmp; mv parent.tmp parent\nwait\nsleep 1000\n";

    /// Waits until the process whose id is in this file has ended. A killed process takes a moment.
    async fn wait_until_ended(place: &TestFolder, file: &str) {
        let text = std::fs::read_to_string(place.path().join(file)).unwrap();
        let id = rustix::process::Pid::from_raw(text.trim().parse().unwrap()).unwrap();
        let is_running = || {
            // A process that has ended but was not waited for yet does not count.
            let state = std::fs::read_to_string(format!("/proc/{}/stat", text.trim())).unwrap_or_default();
            rustix::process::test_kill_process(id).is_ok() && !state.contains(") Z ")
        };
        with_timeout(async {
            while is_running() {
                tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            }
        })
        .await;
    }

    #[tokio::test]
    async fn signals_stop_it_and_leave_no_processes() {
        use rustix::process::Signal;
        for signal in [Signal::INT, Signal::TERM] {
            let place = TestFolder::new();
            let program = executable(&place, "stubborn", STUBBORN);
            place.file(
                "mcpaql.yaml",
                &format!("adapters: [{{name: stubborn, mcp: {{command: [{program}]}}}}]\n"),
            );
            place.trust();
            let server = ServerProcess::start(command(&place, &["--timeout", "600"], &[]));
            with_timeout(async {
                while !place.path().join("parent").exists() {
                    tokio::time::sleep(std::time::Duration::from_millis(5)).await;
                }
            })
            .await;
            server.signal(signal);
            let (status, stderr) = server.wait_for_exit().await;
            assert_eq!(status.code(), Some(2), "{stderr}");
            assert!(stderr.contains("interrupted"), "{stderr}");
            wait_until_ended(&place, "parent").await;
            wait_until_ended(&place, "child").await;
        }
    }

    #[tokio::test]
    async fn a_timeout_leaves_no_processes() {
        let place = TestFolder::new();
        let program = executable(&place, "stubborn", STUBBORN);
        place
            .file("mcpaql.yaml", &format!("adapters: [{{name: stubborn, mcp: {{command: [{program}]}}}}]\n"));
        place.trust();
        let found = report(&place, &["--timeout", "2"], &[]).await;
        assert_eq!(found["problems"], 1, "{found:#}");
        wait_until_ended(&place, "parent").await;
        wait_until_ended(&place, "child").await;
    }

    #[tokio::test]
    async fn entries_of_clients_must_start_something_that_exists() {
        let place = TestFolder::new();
        for folder in [".cursor", ".gemini", ".codeium/windsurf"] {
            std::fs::create_dir_all(place.path().join(folder)).unwrap();
        }
        let found = report(&place, &[], &[]).await;
        let [(status, message, next)] = results(&found, "clients")[..] else { panic!("{found:#}") };
        assert_eq!((status, next), ("warning", "mcpaql install cursor"));
        assert_eq!(message, "found Cursor, Windsurf, Gemini CLI, but mcpaql is in no configuration");

        let program = executable(&place, "mcpaql", "#!/bin/sh\n");
        let entry = |program: &str, args: Value| {
            let servers = json!({"mine": {"command": program, "args": args, "env": {"T": "hunter2"}}});
            json!({"mcpServers": servers}).to_string()
        };
        let config = place.file("my config.yaml", "adapters: [{builtin: notebook}]\n");
        let config = config.to_str().unwrap();
        place.file(".cursor/mcp.json", &entry(&program, json!(["serve", "--config", config])));
        place.file(".gemini/settings.json", "{\"mcpServers\": hunter2");
        let found = report(&place, &[], &[]).await;
        assert_eq!(results(&found, "Cursor")[0].0, "ok", "{found:#}");
        assert_eq!(results(&found, "clients"), [("ok", "without mcpaql: Windsurf", "")]);
        let (status, message, _) = results(&found, "Gemini CLI")[0];
        assert!(status == "problem" && message.contains("line 1, column"), "{message}");

        place.file(".cursor/mcp.json", &entry("/gone/mcpaql", json!(["serve", "--config", config])));
        let found = report(&place, &[], &[]).await;
        let again = format!("mcpaql install cursor --name mine --config '{config}'");
        assert_eq!(results(&found, "Cursor")[0].2, again, "{found:#}");
        place.file(".cursor/mcp.json", &entry(&program, json!(["serve", "--config", "/gone/mcpaql.yaml"])));
        let found = report(&place, &[], &[]).await;
        assert!(results(&found, "Cursor")[0].1.contains("serves /gone/mcpaql.yaml, which does not exist"));
        place.file(
            ".cursor/mcp.json",
            &entry(&program, json!(["serve", "shop.yaml", "--prefix", "s_", "--mode", "single"])),
        );
        let found = report(&place, &[], &[]).await;
        assert_eq!(results(&found, "Cursor")[0].0, "warning", "{found:#}");
        place.file(".cursor/mcp.json", &entry(&program, json!(["serve", "notebook", "--data", "/gone"])));
        let found = report(&place, &[], &[]).await;
        assert_eq!(results(&found, "Cursor")[0].0, "ok", "{found:#}");

        let document = place.file("shop.yaml", &SHOP.replace("T_TOKEN", "SHOP_TOKEN"));
        place.file(".cursor/mcp.json", &entry(&program, json!(["serve", document])));
        let found = report(&place, &[], &[]).await;
        let (status, message, next) = results(&found, "Cursor")[0];
        assert!(status == "warning" && message.contains("no value for SHOP_TOKEN"), "{found:#}");
        assert!(next.starts_with("set SHOP_TOKEN"), "{next}");
        let found = report(&place, &[], &[("SHOP_TOKEN", "x")]).await;
        assert_eq!(results(&found, "Cursor")[0].0, "ok", "{found:#}");
        place.file("shop.yaml", &SHOP.replace("T_TOKEN", "T"));
        let found = report(&place, &[], &[]).await;
        assert_eq!(results(&found, "Cursor")[0].0, "ok", "the entry has a value: {found:#}");
    }

    const SHOP: &str = "name: shop\ntype: adapter\nversion: \"1.0.0\"\ndescription: A shop\n\
        target: { base_url: \"https://shop.example.com\" }\nauth: { type: bearer, token_env: T_TOKEN }\n\
        operations:\n  read: [{ name: list_books, maps_to: GET /books }]\n";
}
