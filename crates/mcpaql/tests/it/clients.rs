//! Configurations of MCP clients: importing their servers, and installing this program.

mod config_import;
mod install;

use crate::fixture::{RunOutput, TestFolder};
use mcpaql_core::adapter::{McpLink, McpTarget};
use mcpaql_document::config::{self, AdapterOrigin};
use mcpaql_document::source::Source;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Part of every credential in the fixtures.
const SECRET: &str = "hunter2";

/// A working directory that is also the user's home.
struct HomeFolder(TestFolder);

impl HomeFolder {
    fn new() -> Self {
        HomeFolder(TestFolder::new())
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

    fn path(&self, path: &str) -> String {
        self.0.path().canonicalize().unwrap().join(path).display().to_string()
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.read(path)).unwrap()
    }

    /// Runs the binary with all folders of the user in this one, and checks that its output does not contain the secret.
    async fn run(&self, args: &[&str]) -> RunOutput {
        self.run_with(args, &[]).await
    }

    /// Like [`run`](Self::run), with variables.
    async fn run_with(&self, args: &[&str], variables: &[(&str, &str)]) -> RunOutput {
        let home = self.0.path();
        let mut command = self.0.binary(args);
        command
            .envs(variables.iter().copied())
            .env("XDG_CONFIG_HOME", home.join("config"))
            .env("APPDATA", home.join("config"))
            .env("USERPROFILE", home);
        let ran = RunOutput::of(command).await;
        assert!(!ran.stdout.contains(SECRET) && !ran.stderr.contains(SECRET), "{ran:?}");
        ran
    }

    /// Returns the entries of a mcpaql.yaml, which must have no problems and not contain the secret.
    fn servers(&self, path: &str) -> Vec<(String, McpTarget)> {
        let text = self.read(path);
        assert!(!text.contains(SECRET), "{text}");
        let parsed = Source::new(path, text.as_str()).parse().unwrap();
        let (config, diagnostics) = config::load(&parsed.value);
        assert!(diagnostics.is_empty() && parsed.diagnostics.is_empty(), "{diagnostics:?}\n{text}");
        let server = |entry: config::AdapterEntry| match entry.origin {
            AdapterOrigin::Mcp(target) => (entry.name.unwrap(), *target),
            other => panic!("{other:?}"),
        };
        config.adapters.into_iter().map(server).collect()
    }

    /// Imports a configuration with only this server, and returns its target.
    async fn import_server(&self, server: Value) -> McpTarget {
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

/// Returns the path of a client's user configuration, relative to the home of the tests.
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
        "codex" => ".codex/config.toml",
        "zed" if mac => ".config/zed/settings.json",
        "zed" if cfg!(windows) => "config/Zed/settings.json",
        "zed" => "config/zed/settings.json",
        other => panic!("{other}"),
    }
}

const CLIENTS: [&str; 8] =
    ["claude-desktop", "claude-code", "cursor", "vscode", "windsurf", "gemini", "codex", "zed"];

const CODEX_SERVERS: &str = "# of codex
other  =  true # kept

[mcp_servers.git]
command = 'npx'
args = ['-y', 'server-git']
env = { GIT_TOKEN = 'hunter2', LEVEL = 'debug' }

[mcp_servers.remote]
url = 'https://example.com/mcp'
http_headers = { Authorization = 'Bearer hunter2', X-Team = 'blue' }
";

/// Returns a configuration of this client with two servers: one over stdio, one over HTTP.
fn two_servers(client: &str) -> String {
    let program = r#""command": "npx", "args": ["-y", "server-git"], "env": {"GIT_TOKEN": "hunter2", "LEVEL": "debug"}"#;
    let headers = r#""headers": {"Authorization": "Bearer hunter2", "X-Team": "blue"}"#;
    let remote = format!(r#""url": "https://example.com/mcp", {headers}"#);
    let servers = match client {
        "codex" => return CODEX_SERVERS.to_owned(),
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
