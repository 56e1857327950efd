//! `install`: adds this program to a client's configuration, and changes nothing else.

mod entries;

use super::{CLIENTS, HomeFolder, two_servers, user_file};
use crate::fixture::BINARY;
use serde_json::{Value, json};
use std::path::Path;

#[tokio::test]
async fn the_program_is_added_to_the_servers_of_every_client() {
    for client in CLIENTS {
        let home = HomeFolder::new();
        let (path, before) = (user_file(client), two_servers(client));
        home.write(path, &before);
        home.write("mcpaql.yaml", "adapters:\n  - builtin: notebook\n");
        home.0.trust();

        let dry = home.run(&["install", client, "--dry-run"]).await;
        assert_eq!(dry.status, Some(0), "{dry:?}");
        assert!(dry.stdout.contains("mcpaql") && dry.stdout.contains("\"…\""), "{}", dry.stdout);
        assert_eq!(home.read(path), before);

        let ran = home.run(&["install", client]).await;
        assert_eq!(ran.status, Some(0), "{client}: {ran:?}");
        assert!(ran.stderr.contains("Next: "), "{}", ran.stderr);
        let after = home.read(path);
        let first = before.lines().next().unwrap();
        assert!(after.starts_with(&format!("{first}\n")) && after.contains(" kept"), "{after}");
        assert_eq!(home.read(&format!("{path}.bak1")), before);

        let again = home.run(&["install", client]).await;
        assert!(again.stderr.contains("Nothing to do"), "{}", again.stderr);
        assert_eq!(home.read(path), after);

        let listed = home.run(&["install", "--list", "--json"]).await.json();
        let states = |wanted: &str| {
            let rows = listed.as_array().unwrap().iter();
            rows.filter(|row| row["state"] == wanted).map(|row| row["client"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(states("installed"), [client], "{listed}");

        let ran = home.run(&["install", client, "--remove"]).await;
        assert_eq!(ran.status, Some(0), "{ran:?}");
        assert!(ran.stderr.contains("which still has the server until then"), "{}", ran.stderr);
        assert_eq!(home.read(path), before, "nothing is left of it");
        assert_eq!(home.read(&format!("{path}.bak2")), after);
        assert_eq!(home.read(&format!("{path}.bak1")), before, "an older copy stays");
        let again = home.run(&["install", client, "--remove"]).await;
        assert!(again.stderr.contains("Nothing to do"), "{}", again.stderr);
        home.run(&["install", client, "--name", "mine"]).await;
        let other = home.run(&["install", client, "--remove"]).await;
        assert!(
            other.stderr.contains("'mine' starts mcpaql; remove it with --name mine"),
            "{}",
            other.stderr
        );
    }
}

#[tokio::test]
async fn the_program_is_found_from_any_folder() {
    let home = HomeFolder::new();
    let ran = home.run(&["install", "claude-desktop", "--json"]).await;
    assert_eq!(ran.json()["action"], "installed");
    assert_eq!(ran.json()["backup"], Value::Null, "there was nothing to keep");
    assert_eq!(ran.json()["diff"], Value::Null);
    let file = user_file("claude-desktop");
    let entry = home.json(file)["mcpServers"]["mcpaql"].clone();
    assert!(Path::new(entry["command"].as_str().unwrap()).is_absolute());
    assert_eq!(
        Path::new(entry["command"].as_str().unwrap()).canonicalize().unwrap(),
        Path::new(BINARY).canonicalize().unwrap()
    );
    assert_eq!(
        entry["args"],
        json!(["serve", "builtin:notebook"]),
        "without a configuration the notebook is served"
    );

    home.write(
        "gate.yaml",
        "adapters:\n  - name: git-x\n    mcp: {command: [x], set_env: {T_KEY: \"${env:T_KEY}\"}}\n",
    );
    let ran = home.run(&["install", "claude-desktop", "--config", "gate.yaml"]).await;
    assert!(ran.stderr.contains("Updated mcpaql") && ran.stderr.contains("T_KEY"), "{}", ran.stderr);
    let args = home.json(file)["mcpServers"]["mcpaql"]["args"].clone();
    let config = Path::new(args[2].as_str().unwrap());
    assert!(config.is_absolute() && config.ends_with("gate.yaml") && config.is_file(), "{args}");
    let ran = home.run(&["install", "claude-desktop", "--config", "none.yaml"]).await;
    assert_eq!(ran.status, Some(2), "{ran:?}");
}

#[tokio::test]
async fn keys_that_the_user_added_stay() {
    let home = HomeFolder::new();
    let text = "{\n\t\"mcpServers\": {\n\t\t\"mcpaql\": {\"command\": \"/old/mcpaql\", \"args\": [\"serve\"], \"env\": {\"T_KEY\": \"hunter2\"}} // mine\n\t}\n}\n";
    home.write(".cursor/mcp.json", text);
    let dry = home.run(&["install", "cursor", "--dry-run"]).await;
    assert!(dry.stdout.contains("-\t\t\"mcpaql\": {\"command\": \"/old/mcpaql\""), "{}", dry.stdout);
    let machine = home.run(&["install", "cursor", "--dry-run", "--json"]).await.json();
    assert_eq!((&machine["action"], &machine["dry_run"]), (&json!("updated"), &json!(true)));
    assert_eq!(machine["diff"].as_str().unwrap(), dry.stdout);
    assert_eq!(home.run(&["install", "cursor"]).await.status, Some(0));
    let entry = home.read(".cursor/mcp.json");
    assert!(
        entry.contains("\"env\": {\"T_KEY\": \"hunter2\"}} // mine") && !entry.contains("/old/"),
        "{entry}"
    );
}

#[tokio::test]
async fn another_server_with_the_name_is_not_touched() {
    let home = HomeFolder::new();
    let text = json!({"mcpServers": {"mcpaql": {"command": "other", "env": {"K": "hunter2"}}}}).to_string();
    home.write(".cursor/mcp.json", &text);
    for args in [&["install", "cursor"][..], &["install", "cursor", "--remove"]] {
        let ran = home.run(args).await;
        assert_eq!(ran.status, Some(2));
        assert!(
            ran.stderr.contains("another server 'mcpaql'") && ran.stderr.contains("--name"),
            "{}",
            ran.stderr
        );
        assert_eq!(home.read(".cursor/mcp.json"), text);
    }
    assert_eq!(home.run(&["install", "cursor", "--name", "gateway"]).await.status, Some(0));
    assert_eq!(
        home.json(".cursor/mcp.json")["mcpServers"]["gateway"]["args"],
        json!(["serve", "builtin:notebook"])
    );
}

#[tokio::test]
async fn an_invalid_file_is_not_changed() {
    let home = HomeFolder::new();
    for text in ["{\"mcpServers\": {\"a\": \"hunter2\"", "[]", "{\"mcpServers\": [\"hunter2\"]}"] {
        home.write(".cursor/mcp.json", text);
        let ran = home.run(&["install", "cursor"]).await;
        assert_eq!(ran.status, Some(2), "{text}");
        assert!(ran.stderr.contains("hint: fix it"), "{}", ran.stderr);
        assert_eq!(home.read(".cursor/mcp.json"), text);
        assert_eq!(home.files(".cursor"), ["mcp.json"], "no backup and no temporary file");
    }
}

#[tokio::test]
async fn scopes_and_paths_choose_the_file() {
    let home = HomeFolder::new();
    let ran = home.run(&["install", "vscode", "--scope", "project"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(home.json(".vscode/mcp.json")["servers"]["mcpaql"]["type"], "stdio");
    home.write("settings.json", "{\n    \"editor.tabSize\": 4\n}\n");
    home.run(&["install", "vscode", "--path", "settings.json"]).await;
    assert_eq!(
        home.json("settings.json")["mcp"]["servers"]["mcpaql"]["args"],
        json!(["serve", "builtin:notebook"])
    );
    let ran = home.run(&["install", "windsurf", "--scope", "project"]).await;
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("no configuration file for the scope 'project'"), "{}", ran.stderr);
    assert_eq!(home.run(&["install"]).await.status, Some(2), "a client must be named");
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_followed_and_permissions_kept() {
    use std::os::unix::fs::PermissionsExt;
    let home = HomeFolder::new();
    let real =
        home.write("dotfiles/claude.json", "{\"mcpServers\": {\"a\": {\"env\": {\"T\": \"hunter2\"}}}}");
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink("dotfiles/claude.json", home.0.path().join(".claude.json")).unwrap();
    let ran = home.run(&["install", "claude-code"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(home.0.path().join(".claude.json").is_symlink());
    assert_eq!(home.files("dotfiles"), ["claude.json"]);
    for file in ["dotfiles/claude.json", ".claude.json.bak1"] {
        let mode = home.0.path().join(file).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    assert_eq!(
        home.json("dotfiles/claude.json")["mcpServers"]["mcpaql"]["args"],
        json!(["serve", "builtin:notebook"])
    );

    std::fs::remove_file(real).unwrap();
    let ran = home.run(&["install", "claude-code"]).await;
    assert!(ran.stderr.contains("broken symbolic link"), "{}", ran.stderr);
}
