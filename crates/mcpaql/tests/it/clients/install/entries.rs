//! What `install` writes: the same arguments as for `serve`, and the variables that the adapters need.

use super::super::{HomeFolder, user_file};
use serde_json::{Value, json};

const API: &str = "openapi: 3.0.0
info: { title: Shop, version: '1' }
servers: [{ url: 'https://shop.example.com' }]
security: [{ key: [] }]
components: { securitySchemes: { key: { type: http, scheme: bearer } } }
paths:
  /books: { get: { operationId: listBooks, responses: { '200': { description: ok } } } }
";

const TICKETS: &str = "name: tickets
type: adapter
version: '1.0.0'
description: Tickets
target: { base_url: 'https://${env:TICKETS_HOST}/v1' }
auth: { type: basic, username_env: TICKETS_USER, password_env: TICKETS_PASSWORD }
operations:
  read: [{ name: list_tickets, maps_to: GET /tickets }]
";

fn home() -> HomeFolder {
    let home = HomeFolder::new();
    home.write("api.yaml", API);
    home.write("tickets.yaml", TICKETS);
    home
}

fn entry(home: &HomeFolder) -> Value {
    home.json(".cursor/mcp.json")["mcpServers"]["mcpaql"].clone()
}

#[tokio::test]
async fn everything_that_serve_takes_is_installed_with_absolute_paths() {
    let home = home();
    let ran = home
        .run(&[
            "install",
            "cursor",
            "tickets.yaml",
            "notebook",
            "https://mcp.example.com/mcp",
            "--openapi",
            "api.yaml",
            "--mcp",
            "https://other.example.com/",
            "--",
            "--mode",
            "unified",
            "--data",
            "data",
        ])
        .await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let expected = json!([
        "serve",
        home.path("tickets.yaml"),
        "notebook",
        "https://mcp.example.com/mcp",
        "--openapi",
        home.path("api.yaml"),
        "--mcp",
        "https://other.example.com/",
        "--data",
        home.path("data"),
        "--mode",
        "unified",
    ]);
    assert_eq!(entry(&home)["args"], expected);
    let ran = home.run(&["install", "cursor", "tickets.yaml"]).await;
    assert!(ran.stderr.contains("Updated mcpaql"), "{}", ran.stderr);
    assert_eq!(entry(&home)["args"], json!(["serve", home.path("tickets.yaml")]));
}

#[tokio::test]
async fn what_cannot_be_served_is_not_installed() {
    let home = home();
    home.write("broken.yaml", "name: broken\ntype: adapter\n");
    for (args, problem) in [
        (&["ticket.yaml"][..], "did you mean 'tickets.yaml'?"),
        (&["broken.yaml"], "Required field 'description' is missing"),
        (&["--config", "tickets.yaml"], "tickets.yaml"),
        (&["tickets.yaml", "--config", "mcpaql.yaml"], "not found"),
        (&["tickets.yaml", "--", "--http", "8080"], "--http cannot be installed"),
        (&["tickets.yaml", "--", "--mod", "single"], "--mode"),
        (&["http://127.0.0.1:1/openapi.json"], "connection refused"),
        (&["tickets.yaml", "--env", "NOT_SET"], "NOT_SET is not set"),
        (&["tickets.yaml", "--env", "hunter2-is-a-secret"], "--env takes the name of a variable"),
    ] {
        let ran = home.run(&[&["install", "cursor"], args].concat()).await;
        assert_eq!(ran.status, Some(2), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(problem), "{args:?}: {}", ran.stderr);
        assert!(!home.0.path().join(".cursor").exists(), "{args:?}");
    }
}

#[tokio::test]
async fn variables_are_references_in_the_syntax_of_the_client() {
    let names = ["SHOP_TOKEN", "TICKETS_USER", "TICKETS_PASSWORD", "TICKETS_HOST"];
    for (client, key, write) in [
        ("claude-code", "mcpServers", Some((|name| format!("${{{name}}}")) as fn(&str) -> String)),
        ("gemini", "mcpServers", Some(|name| format!("${{{name}}}"))),
        ("cursor", "mcpServers", Some(|name| format!("${{env:{name}}}"))),
        ("vscode", "servers", Some(|name| format!("${{env:{name}}}"))),
        ("windsurf", "mcpServers", Some(|name| format!("${{env:{name}}}"))),
        ("claude-desktop", "mcpServers", None),
        ("zed", "context_servers", None),
    ] {
        let home = home();
        let ran = home
            .run_with(&["install", client, "api.yaml", "tickets.yaml"], &[("TICKETS_USER", "hunter2")])
            .await;
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let env = home.json(user_file(client))[key]["mcpaql"]["env"].clone();
        let expected = write.map(|write| names.iter().map(|name| (*name, write(name))).collect::<Value>());
        assert_eq!(env, expected.unwrap_or_default(), "{client}");
        assert!(names.iter().all(|name| ran.stderr.contains(name)), "{client}: {}", ran.stderr);
        match write {
            Some(_) => {
                assert!(
                    ran.stderr.contains("Not set in this shell: SHOP_TOKEN, TICKETS_PASSWORD"),
                    "{}",
                    ran.stderr
                )
            }
            None => assert!(ran.stderr.contains("`--env SHOP_TOKEN --env TICKETS_USER"), "{}", ran.stderr),
        }
    }
}

#[tokio::test]
async fn values_are_written_only_on_request_and_never_shown() {
    let home = home();
    let args = [
        "install",
        "cursor",
        "tickets.yaml",
        "--env",
        "TICKETS_PASSWORD",
        "--env",
        "TICKETS_HOST=hunter2.example.com",
    ];
    let set = [("TICKETS_PASSWORD", "hunter2"), ("TICKETS_USER", "hunter2-user")];
    let dry = home.run_with(&[&args[..], &["--dry-run"]].concat(), &set).await;
    assert!(dry.stdout.contains("\"TICKETS_PASSWORD\": \"…\""), "{}", dry.stdout);
    let ran = home.run_with(&args, &set).await;
    assert!(ran.stderr.contains("Wrote the values of TICKETS_PASSWORD, TICKETS_HOST"), "{}", ran.stderr);
    let expected = json!({"TICKETS_USER": "${env:TICKETS_USER}", "TICKETS_PASSWORD": "hunter2", "TICKETS_HOST": "hunter2.example.com"});
    assert_eq!(entry(&home)["env"], expected);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = home.0.path().join(".cursor/mcp.json").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "only the user can read the values");
    }
    // A value that the user wrote stays.
    let ran = home.run(&["install", "cursor", "tickets.yaml"]).await;
    assert!(ran.stderr.contains("Nothing to do"), "{}", ran.stderr);
    let ran = home.run(&["install", "cursor", "tickets.yaml", "--json"]).await;
    assert_eq!(ran.json()["variables"], json!(["TICKETS_USER"]));
}

#[tokio::test]
async fn codex_gets_a_table_with_the_names_of_the_variables() {
    let home = home();
    let text = "# mine\r\nmodel = \"x\"  # fast\r\n[mcp_servers.mcpaql]\r\ncommand = '/old/mcpaql'\r\nargs = ['serve']\r\nenv_vars = ['MINE']\r\n\r\n[tui]\r\n";
    home.write(".codex/config.toml", text);
    let ran = home.run(&["install", "codex", "tickets.yaml", "--env", "TICKETS_USER=hunter2"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let after = home.read(".codex/config.toml");
    let (program, document) = (crate::fixture::BINARY, home.path("tickets.yaml"));
    let expected = text
        .replace("'/old/mcpaql'", &format!("{program:?}"))
        .replace("['serve']", &format!("[\"serve\", {document:?}]"))
        .replace(
            "['MINE']\r\n",
            "[\"MINE\", \"TICKETS_PASSWORD\", \"TICKETS_HOST\"]\r\nenv = { TICKETS_USER = \"hunter2\" }\r\n",
        );
    assert_eq!(after, expected);
    let ran = home.run(&["install", "codex", "tickets.yaml"]).await;
    assert!(ran.stderr.contains("Nothing to do"), "{}", ran.stderr);

    let ran =
        home.run_with(&["install", "codex", "--dry-run"], &[("CODEX_HOME", &home.path("elsewhere"))]).await;
    assert!(
        ran.stdout.contains("elsewhere/config.toml") && ran.stdout.contains("+[mcp_servers.mcpaql]"),
        "{ran:?}"
    );
    let ran = home.run(&["install", "codex", "--scope", "project", "--name", "my tools"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(home.read(".codex/config.toml").contains("[mcp_servers.\"my tools\"]"));
}

#[tokio::test]
async fn an_invalid_toml_file_is_not_changed() {
    let home = home();
    for (text, line) in [
        ("a = 1\nb = hunter2\n", 2),
        ("mcp_servers = \"hunter2\"\n", 0),
        ("[[mcp_servers]]\nx = 'hunter2'\n", 0),
    ] {
        home.write(".codex/config.toml", text);
        for args in [&["install", "codex"][..], &["import", "config", "codex"]] {
            let ran = home.run(args).await;
            if line > 0 {
                assert_eq!(ran.status, Some(2), "{ran:?}");
                assert!(
                    ran.stderr.contains("not valid TOML") && ran.stderr.contains(&format!("line {line}, ")),
                    "{ran:?}"
                );
            } else {
                assert_ne!(ran.status, Some(0), "{ran:?}");
            }
            assert_eq!(home.read(".codex/config.toml"), text);
        }
        assert_eq!(home.files(".codex"), ["config.toml"], "no backup and no temporary file");
    }
}

#[tokio::test]
async fn a_repository_cannot_replace_the_notebook() {
    let home = HomeFolder::new();
    home.write("notebook", "name: evil\n");
    home.write("builtin:notebook", "name: evil\n");
    let ran = home.run(&["install", "cursor"]).await;
    assert_eq!(entry(&home)["args"], json!(["serve", "builtin:notebook"]), "{ran:?}");
    let ran = home.run(&["tools", "builtin:notebook"]).await;
    assert!(ran.stdout.contains("notebook_mcpaql_read"), "{ran:?}");
}
