//! One server for many adapters: failing adapters, edits, and MCP servers as upstreams.

use crate::fixture::{BINARY, RawClient, RunOutput, TestFolder, tools_call, with_timeout};
use serde_json::{Value, json};

const CHANGED: &str = "notifications/tools/list_changed";

/// Returns the names of the tools, and whether a change of the list was notified in the meantime.
async fn listed(raw: &mut RawClient) -> (Vec<String>, bool) {
    raw.send(&json!({"jsonrpc": "2.0", "id": 99, "method": "tools/list"})).await;
    let mut is_changed = false;
    loop {
        let message = raw.receive().await.unwrap();
        is_changed |= message["method"] == CHANGED;
        if message["id"] == 99 {
            let tools = message["result"]["tools"].as_array().unwrap().iter();
            return (tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect(), is_changed);
        }
    }
}

async fn names(raw: &mut RawClient) -> Vec<String> {
    listed(raw).await.0
}

/// Waits until the tools are these. The server notifies about changes.
async fn become_(raw: &mut RawClient, expected: &[&str]) {
    loop {
        let (names, is_changed) = listed(raw).await;
        if names == expected {
            return;
        }
        if !is_changed {
            let news = raw.receive().await.unwrap();
            assert_eq!(news["method"], CHANGED, "{news}");
        }
    }
}

fn adapter(name: &str, operation: &str) -> String {
    format!(
        "name: {name}\ntype: adapter\nversion: \"1.0.0\"\ndescription: A demo\nmode: single\n\
         target: {{ transport: native, protocol: command }}\n\
         operations: {{ read: [{{ name: {operation}, command: [echo, {operation}] }}] }}\n"
    )
}

async fn call(raw: &mut RawClient, tool: &str, operation: &str) -> Value {
    raw.send(&tools_call(7, tool, operation, json!({}))).await;
    loop {
        let message = raw.receive().await.unwrap();
        if message["id"] == 7 {
            let text = message["result"]["content"][0]["text"].as_str();
            return serde_json::from_str(text.unwrap_or_else(|| panic!("{message}"))).unwrap();
        }
    }
}

#[tokio::test]
async fn adapters_that_fail_do_not_stop_the_others() {
    let place = TestFolder::new();
    place.file(
        "mcpaql.yaml",
        "adapters: [sound.yaml, broken.yaml, absent.yaml, lame.yaml, {name: dead, mcp: {command: [/no/such/program]}}]\n",
    );
    place.trust();
    place.file("sound.yaml", &adapter("sound", "get_thing"));
    place.file("broken.yaml", "name: broken\n");
    let lame = adapter("lame", "get_thing").replace("command }", "command, cwd: \"${env:WHERE_TO}\" }");
    place.file("lame.yaml", &lame);
    let mut raw = RawClient::initialized(place.binary(&["serve"])).await;
    assert_eq!(names(&mut raw).await, ["sound_mcpaql", "lame_mcpaql"]);
    assert_eq!(call(&mut raw, "sound_mcpaql", "get_thing").await["data"], "get_thing");
    let failed = call(&mut raw, "lame_mcpaql", "get_thing").await;
    assert_eq!(failed["error"]["code"], "INTERNAL_ERROR");
    let message = failed["error"]["message"].as_str().unwrap();
    assert!(message.contains("'lame'") && message.contains("WHERE_TO"), "{message}");
    let stderr = raw.server.wait_for_stderr("adapter not available").await;
    assert!(stderr.contains("broken.yaml") && stderr.contains("absent.yaml"), "{stderr}");
}

#[tokio::test]
async fn the_server_exits_if_no_adapter_can_be_served() {
    let place = TestFolder::new();
    place.file("mcpaql.yaml", "adapters: [broken.yaml, absent.yaml]\n");
    place.trust();
    place.file("broken.yaml", "name: broken\n");
    let ran = place.run(&["serve"]).await;
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(1), ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("mcpaql check broken.yaml"), "{}", ran.stderr);
}

#[tokio::test]
async fn a_good_edit_is_served_and_a_broken_one_changes_nothing() {
    let place = TestFolder::new();
    place.file("mcpaql.yaml", "adapters: [first.yaml, second.yaml]\n");
    place.trust();
    place.file("first.yaml", &adapter("first", "get_thing"));
    place.file("second.yaml", &adapter("second", "get_thing"));
    let mut raw = RawClient::initialized(place.binary(&["serve"])).await;
    assert_eq!(names(&mut raw).await, ["first_mcpaql", "second_mcpaql"]);

    place.file("first.yaml", "name: first\ntype: adapter\n");
    raw.server.wait_for_stderr("its previous version is still served").await;
    assert_eq!(names(&mut raw).await, ["first_mcpaql", "second_mcpaql"]);
    assert_eq!(call(&mut raw, "first_mcpaql", "get_thing").await["success"], true);

    // An error in one operation is enough to refuse the edit.
    place.file("first.yaml", &adapter("first", "get_thing").replace("command: [", "comand: ["));
    raw.server.wait_for_stderr("its previous version is still served").await;
    assert_eq!(call(&mut raw, "first_mcpaql", "get_thing").await["success"], true);

    place.file("first.yaml", &adapter("renamed", "get_other"));
    become_(&mut raw, &["renamed_mcpaql", "second_mcpaql"]).await;
    assert_eq!(call(&mut raw, "renamed_mcpaql", "get_other").await["success"], true);

    place.file("mcpaql.yaml", "adapters: [second.yaml\n");
    place.trust();
    raw.server.wait_for_stderr("reload failed").await;
    place.file("mcpaql.yaml", "adapters: [second.yaml, {builtin: notebook, mode: single}]\n");
    place.trust();
    become_(&mut raw, &["second_mcpaql", "notebook_mcpaql"]).await;
}

#[cfg(unix)]
#[tokio::test]
async fn sighup_reloads_everything() {
    let place = TestFolder::new();
    place.file("only.yaml", &adapter("only", "get_thing"));
    let mut raw = RawClient::initialized(place.binary(&["serve", "only.yaml", "--no-watch"])).await;
    assert_eq!(names(&mut raw).await, ["only_mcpaql"]);
    place.file("only.yaml", &adapter("other", "get_thing"));
    raw.server.signal(rustix::process::Signal::HUP);
    become_(&mut raw, &["other_mcpaql"]).await;
    raw.end_input();
    assert_eq!(raw.receive().await, None, "the end of input still stops it");
    assert!(raw.server.wait_for_exit().await.0.success());
}

/// A configuration with an MCP server, which is this program again.
fn servers(rest: &str) -> String {
    format!(
        "adapters:\n  - {{name: inner, mode: single, mcp: {{command: [{BINARY:?}, serve, inner.yaml]}}{rest}}}\n"
    )
}

#[tokio::test]
async fn the_tools_of_a_server_are_listed_at_once_from_the_second_start_on() {
    let place = TestFolder::new();
    place.file("inner.yaml", &adapter("things", "get_thing").replace("single", "discrete"));
    place.file("mcpaql.yaml", &servers(""));
    place.trust();
    let mut raw = RawClient::initialized(place.binary(&["serve"])).await;
    become_(&mut raw, &["inner_mcpaql"]).await;
    let answer = call(&mut raw, "inner_mcpaql", "things_get_thing").await;
    assert_eq!(answer["success"], true, "{answer}");
    drop(raw);

    // Now the server cannot be started, but its tools are cached.
    std::fs::remove_file(place.path().join("inner.yaml")).unwrap();
    let mut raw = RawClient::initialized(place.binary(&["serve"])).await;
    assert_eq!(names(&mut raw).await, ["inner_mcpaql"]);
    let failed = call(&mut raw, "inner_mcpaql", "things_get_thing").await;
    assert_eq!(failed["error"]["code"], "TRANSPORT_CONNECTION_FAILED", "{failed}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_servers_of_a_clients_own_configuration_are_served() {
    let place = TestFolder::new();
    let inner = adapter("things", "get_token").replace("mode: single", "mode: discrete");
    let inner = inner.replace("protocol: command }", "protocol: command, env: [API_TOKEN] }");
    place.file("inner.yaml", &inner.replace("[echo, get_token]", "[sh, -c, 'echo length ${#API_TOKEN}']"));
    for (file, key) in [("claude_desktop_config.json", "mcpServers"), ("mcp.json", "servers")] {
        let config = json!({ key: {
            "Things": {
                "command": "env", "args": [BINARY, "serve", "inner.yaml"],
                "env": {"API_TOKEN": "ghp_0123456789abcdefghijABCDEFGHIJ012345"},
            },
            "itself": {"command": "mcpaql", "args": ["serve"]},
        }});
        place.file(file, &format!("{config}// written by a client\n"));
        let mut raw =
            RawClient::initialized(place.binary(&["serve", "--config", file, "--mode", "single"])).await;
        // The first list is complete.
        assert_eq!(names(&mut raw).await, ["things_mcpaql"], "{file}");
        let answer = call(&mut raw, "things_mcpaql", "things_get_token").await;
        assert_eq!(answer["data"], "length 40", "{answer}");
        let reported = "The server 'itself' is not served: it is mcpaql itself";
        let stderr = raw.server.wait_for_stderr(reported).await;
        assert!(!stderr.contains("ghp_"), "no credential is shown: {stderr}");
    }
    // A variable that is not set is only missing, as in the client.
    let unset = format!(
        "[mcp_servers.things]\ncommand = 'env'\nargs = ['{BINARY}', 'serve', 'inner.yaml']\nenv_vars = ['API_TOKEN', 'NOT_SET_HERE']\n"
    );
    place.file("config.toml", &unset);
    let mut command = place.binary(&["serve", "--config", "config.toml", "--mode", "single"]);
    command.env("API_TOKEN", "from-the-shell");
    let mut raw = RawClient::initialized(command).await;
    assert_eq!(names(&mut raw).await, ["things_mcpaql"]);
    assert_eq!(call(&mut raw, "things_mcpaql", "things_get_token").await["data"], "length 14");
    raw.server
        .wait_for_stderr("NOT_SET_HERE is not set: the server 'things' starts without NOT_SET_HERE")
        .await;
    place.file("empty.json", r#"{"mcpServers": {}}"#);
    let ran = place.run(&["serve", "--config", "empty.json"]).await;
    assert_eq!(ran.status, Some(2), "{}", ran.stderr);
    assert!(ran.stderr.contains("no server that can be served"), "{}", ran.stderr);
}

#[cfg(unix)]
#[tokio::test]
async fn a_changed_credential_in_a_clients_own_configuration_is_used() {
    let place = TestFolder::new();
    let inner = adapter("things", "get_token").replace("mode: single", "mode: discrete");
    let inner = inner.replace("protocol: command }", "protocol: command, env: [API_TOKEN, FILE_TOKEN] }");
    place.file(
        "inner.yaml",
        &inner.replace("[echo, get_token]", "[sh, -c, 'echo lengths ${#API_TOKEN} ${#FILE_TOKEN}']"),
    );
    let env_file = place.file(".env", "FILE_TOKEN='from a file'\n").display().to_string();
    let config = |token: &str| {
        format!(
            "[mcp_servers.things]\ncommand = 'env'\nargs = ['{BINARY}', 'serve', 'inner.yaml']\nenv = {{ API_TOKEN = '{token}' }}\nenvFile = '{env_file}'\n"
        )
    };
    place.file("config.toml", &config("first-secret"));
    let args = ["serve", "--config", "config.toml", "--mode", "single"];
    let mut raw = RawClient::initialized(place.binary(&args)).await;
    assert_eq!(names(&mut raw).await, ["things_mcpaql"]);
    let answer = call(&mut raw, "things_mcpaql", "things_get_token").await;
    assert_eq!(answer["data"], "lengths 12 11", "{answer}");
    place.file("config.toml", &config("second-secret"));
    let changed = async {
        while call(&mut raw, "things_mcpaql", "things_get_token").await["data"] != "lengths 13 11" {}
    };
    with_timeout(changed).await;
    let stderr = raw.server.wait_for_stderr("reloaded").await;
    assert!(!stderr.contains("-secret"), "{stderr}");
}

#[tokio::test]
async fn configured_adapters_are_called_and_searched_by_name() {
    let place = TestFolder::new();
    place.file("inner.yaml", &adapter("things", "get_thing").replace("single", "discrete"));
    let rest = "\n  - {name: renamed, document: inner.yaml, exclude: [op:get_nothing]}";
    place.file("mcpaql.yaml", &servers("").trim_end().to_owned().replace("]}}", &format!("]}}}}{rest}")));
    place.trust();
    let ran = place.run(&["call", "renamed", "get_thing"]).await;
    assert_eq!((ran.status, ran.stdout.as_str()), (Some(0), "\"get_thing\"\n"), "{}", ran.stderr);
    let ran = place.run(&["call", "inner", "things_get_thing"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let ran: RunOutput = place.run(&["search", "inner", "things_get_thing"]).await;
    assert!(ran.stdout.contains("things_get_thing()"), "{ran:?}");
    let ran = place.run(&["tools"]).await;
    assert!(ran.stdout.contains("inner_mcpaql") && ran.stdout.contains("renamed_get_thing"), "{ran:?}");
    let ran = place.run(&["tools", "renamed"]).await;
    assert!(ran.stdout.contains("renamed_get_thing") && !ran.stdout.contains("inner"), "{ran:?}");
    let ran = place.run(&["check"]).await;
    assert_eq!(ran.status, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("mcp:inner: MCP server"), "{ran:?}");
}

#[tokio::test]
async fn a_configuration_can_make_all_adapters_share_their_tools() {
    let place = TestFolder::new();
    place.file("a.yaml", &adapter("first", "say_a").replace("mode: single\n", ""));
    place.file("b.yaml", &adapter("second", "say_b").replace("mode: single\n", ""));
    place.file("mcpaql.yaml", "mode: unified\nadapters: [a.yaml, b.yaml]\n");
    place.trust();
    let mut raw = RawClient::initialized(place.binary(&["serve"])).await;
    assert_eq!(names(&mut raw).await, ["mcpaql_read"]);
    assert_eq!(call(&mut raw, "mcpaql_read", "say_b").await["data"], "say_b");
    let all = call(&mut raw, "mcpaql_read", "introspect").await;
    assert_eq!(all["data"]["adapters"][1]["name"], "second");
}

/// A document with an operation that writes a file and then runs longer than any test.
#[cfg(unix)]
fn endless(place: &TestFolder) -> std::path::PathBuf {
    let mark = place.path().join("running");
    let script = format!("echo $$ > {}; exec sleep 600", mark.display());
    let text = adapter("slow", "wait").replace("[echo, wait]", &format!("[sh, -c, {script:?}]"));
    place.file("slow.yaml", &text);
    mark
}

#[cfg(unix)]
#[tokio::test]
async fn calls_are_cancelled_when_the_client_stops_reading() {
    let place = TestFolder::new();
    let mark = endless(&place);
    let mut raw = RawClient::initialized(place.binary(&["serve", "slow.yaml"])).await;
    raw.send(&tools_call(1, "slow_mcpaql", "wait", json!({}))).await;
    let pid = with_timeout(async {
        loop {
            if let Ok(pid) = std::fs::read_to_string(&mark).unwrap_or_default().trim().parse::<i32>() {
                return rustix::process::Pid::from_raw(pid).unwrap();
            }
            tokio::task::yield_now().await;
        }
    })
    .await;
    // Its input stays open: only the unread output shows that the client is gone.
    let (_input, server) = raw.stop_reading();
    server.wait_for_exit().await;
    with_timeout(async {
        while rustix::process::test_kill_process(pid).is_ok() {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn an_entry_overrides_the_document() {
    let place = TestFolder::new();
    let text =
        adapter("things", "get_thing").replace("[{", "[{ name: get_other, command: [echo, other] }, {");
    place.file("things.yaml", &text);
    let entry = "document: things.yaml, name: mine, exclude: [get_other], limits: {timeout: 5, max_response_bytes: 300}";
    place.file("mcpaql.yaml", &format!("adapters: [{{{entry}}}]\n"));
    place.trust();
    let ran = place.run(&["tools", "--json"]).await;
    let tool = &ran.json()["tools"][0];
    assert_eq!((&tool["name"], &tool["title"]), (&json!("mine_mcpaql"), &json!("Mine")));
    assert!(!tool["description"].as_str().unwrap().contains("get_other"), "{tool}");
    let mut raw = RawClient::initialized(place.binary(&["serve"])).await;
    let large = call(&mut raw, "mine_mcpaql", "introspect").await;
    assert_eq!(large["error"]["code"], "VALIDATION_PAYLOAD_TOO_LARGE", "{large}");

    place.file("mcpaql.yaml", "adapters: [{document: things.yaml, name: Not A Name, limits: {time: 5}}]\n");
    place.trust();
    let ran = place.run(&["check"]).await;
    assert_eq!(ran.status, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("not-a-name") && ran.stdout.contains("timeout"), "{}", ran.stdout);
    place.file(
        "mcpaql.yaml",
        "adapters: [{mcp: {command: [npx, server-git]}}, {mcp: {command: [uvx, mcp-server-git]}}]\n",
    );
    place.trust();
    let ran = place.run(&["check"]).await;
    assert!(ran.stdout.contains("Two MCP servers have the name 'git'"), "{}", ran.stdout);
}

#[tokio::test]
async fn an_adapter_that_fails_behind_shared_tools_says_so() {
    let place = TestFolder::new();
    place.file("a.yaml", &adapter("first", "say_a").replace("mode: single\n", ""));
    place.file(
        "mcpaql.yaml",
        "mode: unified\nadapters: [a.yaml, {name: dead, mcp: {command: [/no/such/program]}}]\n",
    );
    place.trust();
    let mut raw = RawClient::initialized(place.binary(&["serve"])).await;
    assert_eq!(names(&mut raw).await, ["mcpaql_read"]);
    raw.send(&json!({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {
        "name": "mcpaql_read", "arguments": {"adapter": "dead", "operation": "anything"}}}))
        .await;
    let message = loop {
        let message = raw.receive().await.unwrap();
        if message["id"] == 5 {
            break message;
        }
    };
    let text = message["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("TRANSPORT_CONNECTION_FAILED") && text.contains("'dead'"), "{text}");
}

#[tokio::test]
async fn invalid_servers_are_found_without_starting_them() {
    let place = TestFolder::new();
    for nonsense in [
        "targets: 5",
        "targets: {../x: {}}",
        "targets: {a: {}}, default_target: b",
        "default_target: b",
        "targets: {a: {url: ftp://x}}",
        "prefix: ../",
    ] {
        place.file(
            "mcpaql.yaml",
            &format!("adapters: [{{name: a, mcp: {{command: [no-such]}}, {nonsense}}}]\n"),
        );
        place.trust();
        let ran = place.run(&["check"]).await;
        assert_eq!(ran.status, Some(1), "{nonsense}: {}", ran.stdout);
    }
}
