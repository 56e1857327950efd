//! `import config`: imports the servers of clients without their credentials.

use super::{CLIENTS, HomeFolder, SECRET, address, command, set_env, two_servers, user_file};
use crate::fixture::RunOutput;
use mcpaql_core::adapter::McpLink;
use serde_json::json;
use std::path::Path;

#[tokio::test]
async fn the_servers_of_every_client_are_imported() {
    for client in CLIENTS {
        let home = HomeFolder::new();
        home.write(user_file(client), &two_servers(client));
        let ran = home.run(&["import", "config", client]).await;
        assert_eq!(ran.status, Some(0), "{client}: {ran:?}");
        assert!(ran.stderr.contains("Imported 2 of 2 servers"), "{client}: {}", ran.stderr);
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
async fn credentials_are_found_everywhere() {
    let home = HomeFolder::new();
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
            json!(["sh", "-c", "T=${env:ONE_ARGUMENT} run"]),
        ),
        (json!(["${TOKEN:-ghp_hunter2hunter2hunter2hunter2}"]), json!(["${env:TOKEN}"])),
        (
            json!(["--key", "/etc/key.pem", "-y", "a@1.2.3"]),
            json!(["--key", "/etc/key.pem", "-y", "a@1.2.3"]),
        ),
        (
            json!(["run", "--env=DB_PASSWORD=hunter2"]),
            json!(["run", "--env=DB_PASSWORD=${env:ONE_DB_PASSWORD}"]),
        ),
        (json!(["Server=db;Password=hunter2"]), json!(["Server=db;Password=${env:ONE_PASSWORD}"])),
        (json!(["--api-key", "${TOK:-hunter2}"]), json!(["--api-key", "${env:TOK}"])),
        (json!(["--level", "${LEVEL:-info}"]), json!(["--level", "${env:LEVEL:-info}"])),
        (json!(["-u", "bob:hunter2"]), json!(["-u", "bob:${env:ONE_PASSWORD}"])),
        (json!(["-p", "hunter2", "-p", "8080"]), json!(["-p", "${env:ONE_P}", "-p", "8080"])),
        (json!(["-k", "${K:-hunter2}"]), json!(["-k", "${env:K}"])),
        (
            json!(["--json", r#"{"apiKey":"hunter2"}"#]),
            json!(["--json", r#"{"apiKey":"${env:ONE_API_KEY}"}"#]),
        ),
        (
            json!(["--conn", "Server=db;Password=hunter2;"]),
            json!(["--conn", "Server=db;Password=${env:ONE_PASSWORD};"]),
        ),
        (
            json!(["-c", "TOKEN=hunter2 exec srv --password hunter2-b"]),
            json!(["-c", "TOKEN=${env:TOKEN} exec srv --password ${env:ONE_PASSWORD}"]),
        ),
        (json!(["--port", 8080, "--pin=${PIN:-hunter2}"]), json!(["--port", "8080", "--pin=${env:PIN}"])),
    ] {
        let target = home.import_server(json!({"command": "x", "args": args})).await;
        assert_eq!(json!(command(&target)[1..]), expected);
    }
    for (url, expected) in [
        ("https://h.example/s/hunter2Abc123Abc123Abc1/mcp", "https://h.example/s/${env:ONE_URL_KEY}/mcp"),
        ("https://h.example/mcp?apiKey=hunter2&x=1", "https://h.example/mcp?apiKey=${env:ONE_API_KEY}&x=1"),
        (
            "https://${HOST:-h.example}/mcp?key=hunter2",
            "https://${env:HOST:-h.example}/mcp?key=${env:ONE_KEY}",
        ),
        ("https://h.example/${env:TENANT}/mcp#part", "https://h.example/${env:TENANT}/mcp"),
    ] {
        assert_eq!(address(&home.import_server(json!({"url": url})).await).0, expected);
    }
    let headers = json!({"Authorization": "Bearer hunter2-${HALF}", "X-Api-Key": "Token ${WHOLE}"});
    let target = home.import_server(json!({"url": "https://h.example", "headers": headers})).await;
    let expected =
        [("Authorization", "${env:ONE_AUTHORIZATION}${env:HALF}"), ("X-Api-Key", "Token ${env:WHOLE}")];
    assert_eq!(address(&target).1, expected);
    let env = json!({"A_KEY": "hunter2", "HOOK": "https://h.example/hunter2hunter2hunter2", "EMPTY_TOKEN": "", "PORT": 8080});
    let target = home.import_server(json!({"command": "x", "env": env})).await;
    let expected = [
        ("A_KEY", "${env:A_KEY}"),
        ("HOOK", "${env:HOOK}"),
        ("EMPTY_TOKEN", "${env:EMPTY_TOKEN:-}"),
        ("PORT", "8080"),
    ];
    assert_eq!(set_env(&target), expected);
}

#[tokio::test]
async fn arguments_refer_to_the_variables_of_their_own_server() {
    let home = HomeFolder::new();
    let server = |auth: &str| json!({"command": "mcp-remote", "args": ["--header", "Authorization:${AUTH}", "${LEVEL}"], "env": {"AUTH": auth, "LEVEL": "info"}});
    let servers = json!({"mcpServers": {"one": server("Bearer hunter2"), "two": server("Bearer hunter2-b")}});
    home.write("all.json", &servers.to_string());
    let ran = home.run(&["import", "config", "all.json", "--json"]).await;
    let servers = home.servers("mcpaql.yaml");
    for ((_, target), variable) in servers.iter().zip(["${env:AUTH}", "${env:TWO_AUTH}"]) {
        let header = format!("Authorization:{variable}");
        assert_eq!(command(target), ["mcp-remote", "--header", &header, "info"]);
        assert_eq!(set_env(target), [("AUTH", variable), ("LEVEL", "info")]);
    }
    assert_eq!(ran.json()["variables"].as_array().unwrap().len(), 2, "{ran:?}");

    let target = home
        .import_server(
            json!({"command": "x", "args": ["y", "--password", "${WORD}"], "env": {"WORD": "hunter2"}}),
        )
        .await;
    assert_eq!(command(&target), ["x", "y", "--password", "${env:WORD}"]);
    assert_eq!(set_env(&target), [("WORD", "${env:WORD}")], "the command line says what it is");
}

#[tokio::test]
async fn arguments_and_variables_of_other_types_are_noted() {
    let home = HomeFolder::new();
    let server = json!({"command": "x", "args": [1, null, {"a": "hunter2"}], "env": {"A": null}});
    home.write("all.json", &json!({"mcpServers": {"one": server}}).to_string());
    let ran = home.run(&["import", "config", "all.json", "--json"]).await;
    let notes = json!([
        "an argument that is not a string, number or boolean was ignored",
        "`env` › `A` is not a string, number or boolean and was ignored",
    ]);
    assert_eq!(ran.json()["servers"][0]["notes"], notes);
    assert_eq!(command(&home.servers("mcpaql.yaml")[0].1), ["x", "1"]);
}

#[tokio::test]
async fn one_variable_never_has_two_values() {
    let home = HomeFolder::new();
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
    let variables = &ran.json()["variables"];
    assert_eq!(variables[0]["name"], "API_TOKEN");
    assert_eq!(variables[0]["places"][1], "mcpServers › c › env › API_TOKEN in all.json");
    assert_eq!(variables.as_array().unwrap().len(), 4, "{variables}");
}

#[tokio::test]
async fn inputs_of_vs_code_become_variables() {
    let home = HomeFolder::new();
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
        ran.stderr.contains("asks: it uses `${command:…}`, which only its client can resolve"),
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

    home.write("shop/dist/index.js", "");
    home.write(
        "shop/.mcp.json",
        &json!({"mcpServers": {"js": {"command": "node", "args": ["dist/index.js"]}}}).to_string(),
    );
    home.run(&["import", "config", "shop/.mcp.json"]).await;
    let McpLink::Command(program) = &home.servers("mcpaql.yaml")[0].1.link else { panic!() };
    assert_eq!(program.cwd.as_deref().map(Path::new), Some(shop.as_path()), "it names a file of the folder");

    home.write("settings.json", &json!({"editor.x": 1, "mcp": config}).to_string());
    home.run(&["import", "config", "settings.json"]).await;
    assert_eq!(home.servers("mcpaql.yaml").len(), 2, "settings.json has the same servers one level deeper");
}

#[tokio::test]
async fn skipped_servers_are_listed_with_the_reason() {
    let home = HomeFolder::new();
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
    let report = ran.json();
    let reasons: Vec<String> = report["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|left| format!("{}: {}", left["server"].as_str().unwrap(), left["reason"].as_str().unwrap()))
        .collect();
    for (server, word) in [
        ("sse", "HTTP+SSE"),
        ("old", "HTTP+SSE"),
        ("off", "disabled"),
        ("ours", "mcpaql itself"),
        ("extension", "neither a command nor a URL"),
        ("odd", "`type`"),
        ("empty", "its command is empty"),
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
    assert_eq!(report["servers"][0]["notes"], json!(["`oauth` is not supported and was ignored"]));
    let (name, target) = home.servers("mcpaql.yaml").remove(0);
    assert_eq!((name.as_str(), target.timeout_ms), ("fine", 90_000));
    assert!(home.read("mcpaql.yaml").contains("op:deleteAll"));

    let nested = json!({"path": "npx", "args": ["-y", "a"], "env": {"H": r#"{"Authorization": "hunter2"}"#}});
    let target = home.import_server(json!({"command": nested, "settings": {}})).await;
    assert_eq!(
        (command(&target), set_env(&target)),
        (&["npx", "-y", "a"].map(str::to_owned)[..], vec![("H", "${env:H}")])
    );

    home.write("none.json", &json!({"mcpServers": {"off": {"command": "x", "disabled": true}}}).to_string());
    let ran = home.run(&["import", "config", "none.json", "-o", "none.yaml"]).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(!home.0.path().join("none.yaml").exists());
}

#[tokio::test]
async fn project_servers_of_claude_code_are_imported() {
    let home = HomeFolder::new();
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
async fn edited_files_are_not_overwritten() {
    let home = HomeFolder::new();
    home.write(user_file("cursor"), &two_servers("cursor"));
    let import = ["import", "config", "cursor"];
    assert_eq!(home.run(&import).await.status, Some(0));
    let first = home.read("mcpaql.yaml");
    assert_eq!(home.run(&import).await.status, Some(0), "a file that it wrote itself may be overwritten");
    assert_eq!(home.read("mcpaql.yaml"), first, "the same servers give the same bytes");
    home.write("mcpaql.yaml", &first.replace("debug", "trace"));
    let ran = home.run(&import).await;
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.stderr.contains("was not written by this command or was edited since")
            && ran.stderr.contains("--force"),
        "{}",
        ran.stderr
    );
    assert!(home.read("mcpaql.yaml").contains("trace"));
    assert_eq!(home.run(&[&import[..], &["--force"]].concat()).await.status, Some(0));
    assert_eq!(home.read("mcpaql.yaml"), first);
}

#[tokio::test]
async fn configurations_are_read_from_standard_input_and_written_to_standard_output() {
    let home = HomeFolder::new();
    let command = home.0.binary(&["import", "config", "-", "-o", "-"]);
    let ran = RunOutput::with_input(command, &two_servers("cursor")).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET));
    home.write("out.yaml", &ran.stdout);
    assert_eq!(home.servers("out.yaml").len(), 2);
    assert!(ran.stdout.starts_with("# Written by `mcpaql import config` from standard input.\n"));
}

#[tokio::test]
async fn invalid_and_missing_configurations_have_different_errors() {
    let home = HomeFolder::new();
    home.write("broken.json", "{\n  \"mcpServers\": {\"a\": {\"env\": {\"T\": \"hunter2}}}\n");
    let ran = home.run(&["import", "config", "broken.json"]).await;
    assert_eq!(ran.status, Some(2));
    assert!(ran.stderr.contains("broken.json is not valid JSON: line 2, column 37"), "{}", ran.stderr);
    let ran = home.run(&["import", "config", "cursor"]).await;
    assert!(ran.stderr.contains("no configuration of Cursor found"), "{}", ran.stderr);
    assert!(ran.stderr.contains("~/.cursor/mcp.json") || cfg!(windows), "{}", ran.stderr);
    let ran = home.run(&["import", "config", "curser"]).await;
    assert!(
        ran.stderr.contains("'curser' not found") && ran.stderr.contains("did you mean 'cursor'?"),
        "{}",
        ran.stderr
    );
    home.write("blank.json", "\n");
    let ran = home.run(&["import", "config", "blank.json"]).await;
    assert_eq!(ran.status, Some(1));
    assert!(ran.stderr.contains("No servers found in blank.json"), "{}", ran.stderr);
}

#[tokio::test]
async fn variables_of_codex_become_references() {
    let home = HomeFolder::new();
    let text = "[mcp_servers.a]\ncommand = 'x'\nenv_vars = ['A_TOKEN', { name = 'B', source = 'local' }]\nstartup_timeout_sec = 20\n\
        [mcp_servers.b]\nurl = 'https://b.example.com/mcp'\nbearer_token_env_var = 'B_TOKEN'\nenv_http_headers = { X-Key = 'KEY' }\n\
        [mcp_servers.c]\ncommand = 'y'\nenabled = false\n";
    home.write("codex/config.toml", text);
    for source in ["codex/config.toml", "codex", "-"] {
        let home_folder = home.path("codex");
        let ran = match source {
            "-" => {
                let command = home.0.binary(&["import", "config", "-", "-o", "out.yaml", "--force"]);
                RunOutput::with_input(command, text).await
            }
            source => {
                let args = ["import", "config", source, "-o", "out.yaml", "--force"];
                home.run_with(&args, &[("CODEX_HOME", &home_folder)]).await
            }
        };
        assert!(
            ran.stderr.contains("Imported 2 of 3 servers") && ran.stderr.contains("c: it is disabled"),
            "{ran:?}"
        );
        assert!(ran.stderr.contains(" --config out.yaml`, then remove"), "{}", ran.stderr);
        let servers = home.servers("out.yaml");
        assert_eq!(set_env(&servers[0].1), [("A_TOKEN", "${env:A_TOKEN}"), ("B", "${env:B}")]);
        let headers = vec![("Authorization", "Bearer ${env:B_TOKEN}"), ("X-Key", "${env:KEY}")];
        assert_eq!(address(&servers[1].1), ("https://b.example.com/mcp", headers));
    }
}
