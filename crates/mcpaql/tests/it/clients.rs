//! Configurations of MCP clients: their servers behind one mcpaql.yaml, and this program in them.

use crate::fixture::{BINARY, Place, Ran};
use mcpaql_core::adapter::{McpLink, McpTarget};
use mcpaql_core::config::{self, Origin};
use mcpaql_core::source::Source;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Stands wherever a fixture has a credential, inside of whatever makes it one.
const SECRET: &str = "hunter2";

/// A folder to work in, which is also the user's home.
struct Home(Place);

impl Home {
    fn new() -> Self {
        Home(Place::new())
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.0.path().join(path)).unwrap()
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    /// Runs the binary with every folder of the user in this one. Nothing it says holds the secret.
    async fn run(&self, args: &[&str]) -> Ran {
        let home = self.0.path();
        let mut command = self.0.binary(args);
        command
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("APPDATA", home.join("config"))
            .env("USERPROFILE", home);
        let ran = Ran::of(command).await;
        assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET), "{ran:?}");
        ran
    }

    /// The entries of a mcpaql.yaml without any problem and without the secret.
    fn servers(&self, path: &str) -> Vec<(String, McpTarget)> {
        let text = self.read(path);
        assert!(!text.contains(SECRET), "{text}");
        let parsed = Source::new(path, text.as_str()).parse().unwrap();
        let (config, diagnostics) = config::load(&parsed.value);
        assert!(diagnostics.is_empty() && parsed.diagnostics.is_empty(), "{diagnostics:?}\n{text}");
        let server = |entry: config::AdapterEntry| match entry.origin {
            Origin::Mcp(target) => (entry.name.unwrap(), *target),
            other => panic!("{other:?}"),
        };
        config.adapters.into_iter().map(server).collect()
    }

    /// What came of one server that stood alone in a file.
    async fn taken(&self, server: Value) -> McpTarget {
        self.write("one.json", &json!({"mcpServers": {"one": server}}).to_string());
        let ran = self.run(&["import", "config", "one.json", "-o", "one.yaml", "--force"]).await;
        assert_eq!(ran.status, Some(0), "{ran:?}");
        self.servers("one.yaml").remove(0).1
    }

    fn files(&self, folder: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path().join(folder)).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn command(target: &McpTarget) -> &[String] {
    match &target.link {
        McpLink::Command(program) => &program.command,
        McpLink::Url { .. } => panic!("{target:?}"),
    }
}

fn set_env(target: &McpTarget) -> Vec<(&str, &str)> {
    match &target.link {
        McpLink::Command(program) => {
            program.set_env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
        }
        McpLink::Url { .. } => panic!("{target:?}"),
    }
}

fn address(target: &McpTarget) -> (&str, Vec<(&str, &str)>) {
    match &target.link {
        McpLink::Url { url, headers, .. } => {
            (url, headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect())
        }
        McpLink::Command(_) => panic!("{target:?}"),
    }
}

/// Where a client keeps the servers of a user, relative to the home of the tests.
fn user_file(client: &str) -> &'static str {
    let mac = cfg!(target_os = "macos");
    match client {
        "claude-desktop" if mac => "Library/Application Support/Claude/claude_desktop_config.json",
        "claude-desktop" => "config/Claude/claude_desktop_config.json",
        "claude-code" => ".claude.json",
        "cursor" => ".cursor/mcp.json",
        "vscode" if mac => "Library/Application Support/Code/User/mcp.json",
        "vscode" => "config/Code/User/mcp.json",
        "windsurf" => ".codeium/windsurf/mcp_config.json",
        "gemini" => ".gemini/settings.json",
        "zed" if mac => ".config/zed/settings.json",
        "zed" if cfg!(windows) => "config/Zed/settings.json",
        "zed" => "config/zed/settings.json",
        other => panic!("{other}"),
    }
}

const CLIENTS: [&str; 7] = ["claude-desktop", "claude-code", "cursor", "vscode", "windsurf", "gemini", "zed"];

/// The same two servers as every client writes them: one on standard streams, one over HTTP.
fn two_servers(client: &str) -> String {
    let program = r#""command": "npx", "args": ["-y", "server-git"], "env": {"GIT_TOKEN": "hunter2", "LEVEL": "debug"}"#;
    let headers = r#""headers": {"Authorization": "Bearer hunter2", "X-Team": "blue"}"#;
    let remote = format!(r#""url": "https://example.com/mcp", {headers}"#);
    let servers = match client {
        "vscode" => format!(
            r#""servers": {{"git": {{"type": "stdio", {program}}}, "remote": {{"type": "http", {remote}}}}}"#
        ),
        "zed" => {
            format!(
                r#""context_servers": {{"git": {{"source": "custom", {program}}}, "remote": {{{remote}}}}}"#
            )
        }
        "windsurf" => format!(
            r#""mcpServers": {{"git": {{{program}, "disabled": false}}, "remote": {{"serverUrl": "https://example.com/mcp", {headers}}}}}"#
        ),
        "gemini" => format!(
            r#""mcpServers": {{"git": {{{program}, "trust": true}}, "remote": {{"httpUrl": "https://example.com/mcp", {headers}}}}}"#
        ),
        _ => format!(r#""mcpServers": {{"git": {{{program}}}, "remote": {{"type": "http", {remote}}}}}"#),
    };
    format!("// of {client}\n{{\n  \"other\": true, /* kept */\n  {servers},\n}}\n")
}

#[tokio::test]
async fn the_servers_of_every_client_come_behind_the_gateway() {
    for client in CLIENTS {
        let home = Home::new();
        home.write(user_file(client), &two_servers(client));
        let ran = home.run(&["import", "config", client]).await;
        assert_eq!(ran.status, Some(0), "{client}: {ran:?}");
        assert!(ran.stderr.contains("Took over 2 of 2 servers"), "{client}: {}", ran.stderr);
        assert!(ran.stderr.contains("export GIT_TOKEN=…"), "{client}: {}", ran.stderr);
        assert!(ran.stderr.contains("export REMOTE_AUTHORIZATION=…"), "{client}: {}", ran.stderr);
        let servers = home.servers("mcpaql.yaml");
        let [(git, program), (remote, http)] = servers.as_slice() else { panic!("{servers:?}") };
        assert_eq!((git.as_str(), remote.as_str()), ("git", "remote"));
        assert_eq!(command(program), ["npx", "-y", "server-git"], "{client}");
        assert_eq!(set_env(program), [("GIT_TOKEN", "${env:GIT_TOKEN}"), ("LEVEL", "debug")], "{client}");
        let headers = vec![("Authorization", "${env:REMOTE_AUTHORIZATION}"), ("X-Team", "blue")];
        assert_eq!(address(http), ("https://example.com/mcp", headers), "{client}");
    }
}

#[tokio::test]
async fn credentials_are_found_wherever_they_stand() {
    let home = Home::new();
    for (args, expected) in [
        (json!(["--api-key", "hunter2"]), json!(["--api-key", "${env:ONE_API_KEY}"])),
        (json!(["--api-key=hunter2"]), json!(["--api-key=${env:ONE_API_KEY}"])),
        (
            json!(["run", "-e", "DB_PASSWORD=hunter2", "img"]),
            json!(["run", "-e", "DB_PASSWORD=${env:DB_PASSWORD}", "img"]),
        ),
        (
            json!(["--header", "Authorization: Bearer hunter2"]),
            json!(["--header", "Authorization: ${env:ONE_AUTHORIZATION}"]),
        ),
        (
            json!(["--header", "Authorization:Bearer hunter2"]),
            json!(["--header", "Authorization:${env:ONE_AUTHORIZATION}"]),
        ),
        (
            json!(["postgresql://me:hunter2@db:5432/shop?ssl=1"]),
            json!(["postgresql://me:${env:ONE_PASSWORD}@db:5432/shop?ssl=1"]),
        ),
        (json!(["ghp_hunter2hunter2hunter2hunter2hunter2"]), json!(["${env:ONE_ARGUMENT}"])),
        (
            json!(["sh", "-c", "T=ghp_hunter2hunter2hunter2hunter2 run"]),
            json!(["sh", "-c", "${env:ONE_ARGUMENT}"]),
        ),
        (json!(["${TOKEN:-ghp_hunter2hunter2hunter2hunter2}"]), json!(["${env:TOKEN}"])),
        (
            json!(["--key", "/etc/key.pem", "-y", "a@1.2.3"]),
            json!(["--key", "/etc/key.pem", "-y", "a@1.2.3"]),
        ),
    ] {
        let target = home.taken(json!({"command": "x", "args": args})).await;
        assert_eq!(json!(command(&target)[1..]), expected);
    }
    for (url, expected) in [
        ("https://h.example/s/hunter2Abc123Abc123Abc1/mcp", "https://h.example/s/${env:ONE_URL_KEY}/mcp"),
        ("https://h.example/mcp?apiKey=hunter2&x=1", "https://h.example/mcp?apiKey=${env:ONE_API_KEY}&x=1"),
        ("https://h.example/${env:TENANT}/mcp#part", "https://h.example/${env:TENANT}/mcp"),
    ] {
        assert_eq!(address(&home.taken(json!({"url": url})).await).0, expected);
    }
    let env = json!({"A_KEY": "hunter2", "HOOK": "https://h.example/hunter2hunter2hunter2", "EMPTY_TOKEN": "", "PORT": 8080});
    let target = home.taken(json!({"command": "x", "env": env})).await;
    let expected = [
        ("A_KEY", "${env:A_KEY}"),
        ("HOOK", "${env:HOOK}"),
        ("EMPTY_TOKEN", "${env:EMPTY_TOKEN:-}"),
        ("PORT", "8080"),
    ];
    assert_eq!(set_env(&target), expected);
}

#[tokio::test]
async fn one_name_never_stands_for_two_values() {
    let home = Home::new();
    let server = |token: &str| json!({"command": "x", "env": {"API_TOKEN": token}});
    let servers = json!({"mcpServers": {
        "a": server("hunter2-1"), "b": server("hunter2-2"), "c": server("hunter2-1"), "a b": server("${SET_TOKEN}"),
        "d": {"command": "x", "env": {"SET_TOKEN": "hunter2-3"}},
    }});
    home.write("all.json", &servers.to_string());
    let ran = home.run(&["import", "config", "all.json", "--json"]).await;
    let token = |name: &str| {
        let servers = home.servers("mcpaql.yaml");
        let (_, target) = servers.iter().find(|(server, _)| server == name).unwrap();
        set_env(target)[0].1.to_owned()
    };
    assert_eq!(token("server-a"), "${env:API_TOKEN}");
    assert_eq!(token("server-b"), "${env:SERVER_B_API_TOKEN}");
    assert_eq!(token("server-c"), "${env:API_TOKEN}");
    assert_eq!(token("a-b"), "${env:SET_TOKEN}");
    assert_eq!(token("server-d"), "${env:SERVER_D_SET_TOKEN}");
    let told = &ran.json()["variables"];
    assert_eq!(told[0]["name"], "API_TOKEN");
    assert_eq!(told[0]["places"][1], "mcpServers › c › env › API_TOKEN in all.json");
    assert_eq!(told.as_array().unwrap().len(), 4, "{told}");
}

#[tokio::test]
async fn what_vs_code_asks_for_becomes_a_variable() {
    let home = Home::new();
    let config = json!({
        "inputs": [
            {"id": "github-pat", "type": "promptString", "password": true, "default": "hunter2"},
            {"id": "level", "type": "pickString", "options": ["info"], "default": "info"},
        ],
        "servers": {
            "github": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${input:github-pat}"}},
            "local": {"type": "stdio", "command": "./run.sh", "args": ["${workspaceFolder}/data", "${input:level}"],
                      "envFile": "${workspaceFolder}/.env", "env": {"LEVEL": "debug"}},
            "asks": {"type": "stdio", "command": "x", "args": ["${command:pick.one}"]},
        },
    });
    home.write("shop/.vscode/mcp.json", &config.to_string());
    home.write("shop/.env", "# mine\nexport API_TOKEN=hunter2\nLEVEL=hunter2\n");
    let ran = home.run(&["import", "config", "shop/.vscode/mcp.json"]).await;
    assert!(
        ran.stderr.contains("asks: it uses `${command:…}`, which only its client can fill in"),
        "{}",
        ran.stderr
    );
    let servers = home.servers("mcpaql.yaml");
    assert_eq!(address(&servers[0].1).1, [("Authorization", "Bearer ${env:GITHUB_PAT}")]);
    let shop = home.0.path().join("shop");
    let data = format!("{}/data", shop.display());
    assert_eq!(command(&servers[1].1), ["./run.sh", &data, "${env:LEVEL:-info}"]);
    assert_eq!(set_env(&servers[1].1), [("API_TOKEN", "${env:API_TOKEN}"), ("LEVEL", "debug")]);
    let McpLink::Command(program) = &servers[1].1.link else { panic!() };
    assert_eq!(program.cwd.as_deref().map(Path::new), Some(shop.as_path()));

    home.write("settings.json", &json!({"editor.x": 1, "mcp": config}).to_string());
    home.run(&["import", "config", "settings.json"]).await;
    assert_eq!(home.servers("mcpaql.yaml").len(), 2, "settings.json holds the same one level deeper");
}

#[tokio::test]
async fn what_cannot_be_taken_over_is_listed_with_the_reason() {
    let home = Home::new();
    let servers = json!({"mcpServers": {
        "sse": {"type": "sse", "url": "https://example.com/x"},
        "old": {"url": "https://example.com/sse"},
        "off": {"command": "x", "disabled": true},
        "ours": {"command": "/usr/bin/mcpaql", "args": ["serve"]},
        "extension": {"settings": {}},
        "odd": {"type": "websocket", "url": "wss://example.com"},
        "empty": {"command": ""},
        "text": "x",
        "login": {"url": "https://me:hunter2@example.com/mcp"},
        "scheme": {"url": "ftp://example.com"},
        "fine": {"command": "x", "excludeTools": ["deleteAll"], "timeout": 90, "oauth": {"x": "hunter2"}},
    }});
    home.write("all.json", &servers.to_string());
    let ran = home.run(&["import", "config", "all.json", "--json"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let told = ran.json();
    let reasons: Vec<String> = told["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|left| format!("{}: {}", left["server"].as_str().unwrap(), left["reason"].as_str().unwrap()))
        .collect();
    for (server, word) in [
        ("sse", "HTTP+SSE"),
        ("old", "HTTP+SSE"),
        ("off", "switched off"),
        ("ours", "mcpaql itself"),
        ("extension", "neither a command nor an address"),
        ("odd", "`type`"),
        ("empty", "no program"),
        ("text", "not an object"),
        ("login", "a user and a password"),
        ("scheme", "https://"),
    ] {
        assert!(
            reasons.iter().any(|reason| reason.starts_with(server) && reason.contains(word)),
            "{server}: {reasons:?}"
        );
    }
    assert_eq!(reasons.len(), 10);
    assert_eq!(told["servers"][0]["notes"], json!(["its `oauth` has no counterpart and was left out"]));
    let (name, target) = home.servers("mcpaql.yaml").remove(0);
    assert_eq!((name.as_str(), target.timeout_ms), ("fine", 90_000));
    assert!(home.read("mcpaql.yaml").contains("op:deleteAll"));

    home.write("none.json", &json!({"mcpServers": {"off": {"command": "x", "disabled": true}}}).to_string());
    let ran = home.run(&["import", "config", "none.json", "-o", "none.yaml"]).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(!home.0.path().join("none.yaml").exists());
}

#[tokio::test]
async fn claude_code_has_servers_of_the_folder_too() {
    let home = Home::new();
    let folder = home.0.path().canonicalize().unwrap();
    let server = |name: &str| json!({"command": name});
    let user = json!({
        "mcpServers": {"a": server("user"), "b-b": server("user"), "c-c": server("user")},
        "projects": {folder.to_str().unwrap(): {"mcpServers": {"b-b": server("local")}, "disabledMcpServers": ["c-c"]},
                     "/elsewhere": {"mcpServers": {"d-d": server("elsewhere")}}},
    });
    home.write(".claude.json", &user.to_string());
    home.write(".mcp.json", &json!({"mcpServers": {"a": server("project")}}).to_string());
    let ran = home.run(&["import", "config", "claude-code"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let servers = home.servers("mcpaql.yaml");
    let seen: Vec<(&str, &str)> =
        servers.iter().map(|(name, target)| (name.as_str(), command(target)[0].as_str())).collect();
    assert_eq!(seen, [("server-a", "project"), ("b-b", "local")]);
}

#[tokio::test]
async fn what_people_wrote_is_not_written_over() {
    let home = Home::new();
    home.write(user_file("cursor"), &two_servers("cursor"));
    let import = ["import", "config", "cursor"];
    assert_eq!(home.run(&import).await.status, Some(0));
    let first = home.read("mcpaql.yaml");
    assert_eq!(home.run(&import).await.status, Some(0), "what it wrote itself may go");
    assert_eq!(home.read("mcpaql.yaml"), first, "the same servers give the same bytes");
    home.write("mcpaql.yaml", &first.replace("debug", "trace"));
    let ran = home.run(&import).await;
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.contains("written or changed by hand") && ran.stderr.contains("--force"),
        "{}",
        ran.stderr
    );
    assert!(home.read("mcpaql.yaml").contains("trace"));
    assert_eq!(home.run(&[&import[..], &["--force"]].concat()).await.status, Some(0));
    assert_eq!(home.read("mcpaql.yaml"), first);
}

#[tokio::test]
async fn configurations_come_from_standard_input_and_go_to_standard_output() {
    let home = Home::new();
    let command = home.0.binary(&["import", "config", "-", "-o", "-"]);
    let ran = Ran::with_input(command, &two_servers("cursor")).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET));
    home.write("out.yaml", &ran.stdout);
    assert_eq!(home.servers("out.yaml").len(), 2);
    assert!(ran.stdout.starts_with("# Written by `mcpaql import config` from standard input.\n"));
}

#[tokio::test]
async fn broken_and_missing_configurations_are_told_apart() {
    let home = Home::new();
    home.write("broken.json", "{\n  \"mcpServers\": {\"a\": {\"env\": {\"T\": \"hunter2}}}\n");
    let ran = home.run(&["import", "config", "broken.json"]).await;
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("broken.json is not JSON: line 2, column 37"), "{}", ran.stderr);
    let ran = home.run(&["import", "config", "cursor"]).await;
    assert!(ran.stderr.contains("Cursor has no configuration here"), "{}", ran.stderr);
    assert!(ran.stderr.contains("~/.cursor/mcp.json") || cfg!(windows), "{}", ran.stderr);
    let ran = home.run(&["import", "config", "curser"]).await;
    assert!(
        ran.stderr.contains("there is no file 'curser'") && ran.stderr.contains("claude-desktop"),
        "{}",
        ran.stderr
    );
    home.write("blank.json", "\n");
    let ran = home.run(&["import", "config", "blank.json"]).await;
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("There are no servers in blank.json"), "{}", ran.stderr);
}

#[tokio::test]
async fn every_client_gets_the_program_beside_what_it_has() {
    for client in CLIENTS {
        let home = Home::new();
        let (path, before) = (user_file(client), two_servers(client));
        home.write(path, &before);
        home.write("mcpaql.yaml", "adapters:\n  - builtin: notebook\n");

        let dry = home.run(&["install", client, "--dry-run"]).await;
        assert_eq!(dry.status, Some(0), "{dry:?}");
        assert!(dry.stdout.contains("\"mcpaql\":") && dry.stdout.contains("\"…\""), "{}", dry.stdout);
        assert_eq!(home.read(path), before);

        let ran = home.run(&["install", client]).await;
        assert_eq!(ran.status, Some(0), "{client}: {ran:?}");
        assert!(ran.stderr.contains("Next: "), "{}", ran.stderr);
        let after = home.read(path);
        assert!(after.starts_with(&format!("// of {client}\n")) && after.contains("/* kept */"), "{after}");
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
        assert_eq!(home.read(path), before, "nothing is left of it");
        assert_eq!(home.read(&format!("{path}.bak2")), after);
        assert_eq!(home.read(&format!("{path}.bak1")), before, "an older copy stays");
        let again = home.run(&["install", client, "--remove"]).await;
        assert!(again.stderr.contains("Nothing to do"), "{}", again.stderr);
    }
}

#[tokio::test]
async fn the_program_is_found_from_any_folder() {
    let home = Home::new();
    let ran = home.run(&["install", "claude-desktop", "--json"]).await;
    assert_eq!(ran.json()["action"], "installed");
    assert_eq!(ran.json()["backup"], Value::Null, "there was nothing to keep");
    let file = user_file("claude-desktop");
    let entry = home.json(file)["mcpServers"]["mcpaql"].clone();
    assert!(Path::new(entry["command"].as_str().unwrap()).is_absolute());
    assert_eq!(
        Path::new(entry["command"].as_str().unwrap()).canonicalize().unwrap(),
        Path::new(BINARY).canonicalize().unwrap()
    );
    assert_eq!(entry["args"], json!(["serve"]), "without a configuration the notebook is served");

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
async fn what_people_added_to_our_entry_stays() {
    let home = Home::new();
    let text = "{\n\t\"mcpServers\": {\n\t\t\"mcpaql\": {\"command\": \"/old/mcpaql\", \"args\": [\"serve\"], \"env\": {\"T_KEY\": \"hunter2\"}} // mine\n\t}\n}\n";
    home.write(".cursor/mcp.json", text);
    let dry = home.run(&["install", "cursor", "--dry-run"]).await;
    assert!(dry.stdout.contains("-\t\t\"mcpaql\": {\"command\": \"/old/mcpaql\""), "{}", dry.stdout);
    assert_eq!(home.run(&["install", "cursor"]).await.status, Some(0));
    let entry = home.read(".cursor/mcp.json");
    assert!(
        entry.contains("\"env\": {\"T_KEY\": \"hunter2\"}} // mine") && !entry.contains("/old/"),
        "{entry}"
    );
}

#[tokio::test]
async fn another_server_of_the_name_is_not_touched() {
    let home = Home::new();
    let text = json!({"mcpServers": {"mcpaql": {"command": "other", "env": {"K": "hunter2"}}}}).to_string();
    home.write(".cursor/mcp.json", &text);
    for args in [&["install", "cursor"][..], &["install", "cursor", "--remove"]] {
        let ran = home.run(args).await;
        assert_eq!(ran.status, Some(2));
        assert!(
            ran.stderr.contains("another server called 'mcpaql'") && ran.stderr.contains("--name"),
            "{}",
            ran.stderr
        );
        assert_eq!(home.read(".cursor/mcp.json"), text);
    }
    assert_eq!(home.run(&["install", "cursor", "--name", "gateway"]).await.status, Some(0));
    assert_eq!(home.json(".cursor/mcp.json")["mcpServers"]["gateway"]["args"], json!(["serve"]));
}

#[tokio::test]
async fn a_broken_file_is_left_as_it_is() {
    let home = Home::new();
    for text in ["{\"mcpServers\": {\"a\": \"hunter2\"", "[]", "{\"mcpServers\": [\"hunter2\"]}"] {
        home.write(".cursor/mcp.json", text);
        let ran = home.run(&["install", "cursor"]).await;
        assert_eq!(ran.status, Some(2), "{text}");
        assert!(ran.stderr.contains("hint: mend it"), "{}", ran.stderr);
        assert_eq!(home.read(".cursor/mcp.json"), text);
        assert_eq!(home.files(".cursor"), ["mcp.json"], "no copy and no remains");
    }
}

#[tokio::test]
async fn scopes_and_paths_choose_the_file() {
    let home = Home::new();
    let ran = home.run(&["install", "vscode", "--scope", "project"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert_eq!(home.json(".vscode/mcp.json")["servers"]["mcpaql"]["type"], "stdio");
    home.write("settings.json", "{\n    \"editor.tabSize\": 4\n}\n");
    home.run(&["install", "vscode", "--path", "settings.json"]).await;
    assert_eq!(home.json("settings.json")["mcp"]["servers"]["mcpaql"]["args"], json!(["serve"]));
    let ran = home.run(&["install", "windsurf", "--scope", "project"]).await;
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("no configuration of scope project"), "{}", ran.stderr);
    assert_eq!(home.run(&["install"]).await.status, Some(2), "a client must be named");
}

#[cfg(unix)]
#[tokio::test]
async fn links_are_followed_and_permissions_kept() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
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
    assert_eq!(home.json("dotfiles/claude.json")["mcpServers"]["mcpaql"]["args"], json!(["serve"]));

    std::fs::remove_file(real).unwrap();
    let ran = home.run(&["install", "claude-code"]).await;
    assert!(ran.stderr.contains("leads nowhere"), "{}", ran.stderr);
}
