//! MCP clients: where each keeps the configuration of its servers, and in which format.
//!
//! What always holds: a configuration is read as JSON with comments or as TOML, edited as text and never rewritten from scratch; no value
//! of it is printed. The files belong to other programs and contain secrets.

pub(crate) mod codex;
pub(crate) mod config_file;
pub(crate) mod config_format;
pub(crate) mod config_import;
pub(crate) mod edit;
pub(crate) mod installation;
pub(crate) mod jsonc;
pub(crate) mod secrets;
pub(crate) mod toml;
pub(crate) mod variables;

use clap::ValueEnum;
use config_format::ConfigFormat;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// An MCP client that mcpaql can configure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientApp {
    ClaudeDesktop,
    ClaudeCode,
    Cursor,
    Vscode,
    Windsurf,
    Gemini,
    Codex,
    Zed,
}

/// The scope of a configuration: all folders of the user, or one project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ConfigScope {
    User,
    Project,
}

impl ConfigScope {
    pub(crate) const ALL: [ConfigScope; 2] = [ConfigScope::User, ConfigScope::Project];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            ConfigScope::User => "user",
            ConfigScope::Project => "project",
        }
    }
}

impl ClientApp {
    /// Returns the name on the command line.
    pub(crate) fn id(self) -> &'static str {
        match self {
            ClientApp::ClaudeDesktop => "claude-desktop",
            ClientApp::ClaudeCode => "claude-code",
            ClientApp::Cursor => "cursor",
            ClientApp::Vscode => "vscode",
            ClientApp::Windsurf => "windsurf",
            ClientApp::Gemini => "gemini",
            ClientApp::Codex => "codex",
            ClientApp::Zed => "zed",
        }
    }

    /// Returns the name for messages.
    pub(crate) fn title(self) -> &'static str {
        match self {
            ClientApp::ClaudeDesktop => "Claude Desktop",
            ClientApp::ClaudeCode => "Claude Code",
            ClientApp::Cursor => "Cursor",
            ClientApp::Vscode => "VS Code",
            ClientApp::Windsurf => "Windsurf",
            ClientApp::Gemini => "Gemini CLI",
            ClientApp::Codex => "Codex",
            ClientApp::Zed => "Zed",
        }
    }

    pub(crate) fn parse(text: &str) -> Option<ClientApp> {
        ClientApp::value_variants().iter().copied().find(|client| client.id() == text)
    }

    /// Returns the path of its configuration file, or `None` if the client has none for this scope or the user has no home.
    pub(crate) fn path(self, scope: ConfigScope) -> Option<PathBuf> {
        match scope {
            ConfigScope::User => self.user_path(),
            ConfigScope::Project => self.project_path().map(PathBuf::from),
        }
    }

    fn user_path(self) -> Option<PathBuf> {
        match self {
            ClientApp::ClaudeDesktop => Some(settings_folder()?.join("Claude/claude_desktop_config.json")),
            ClientApp::ClaudeCode => Some(variable("CLAUDE_CONFIG_DIR").or_else(home)?.join(".claude.json")),
            ClientApp::Cursor => Some(home()?.join(".cursor/mcp.json")),
            ClientApp::Vscode => Some(settings_folder()?.join("Code/User/mcp.json")),
            ClientApp::Windsurf => Some(home()?.join(".codeium/windsurf/mcp_config.json")),
            ClientApp::Gemini => Some(home()?.join(".gemini/settings.json")),
            ClientApp::Codex => {
                let folder = variable("CODEX_HOME").or_else(|| Some(home()?.join(".codex")));
                Some(folder?.join("config.toml"))
            }
            ClientApp::Zed => Some(zed_folder()?.join("settings.json")),
        }
    }

    fn project_path(self) -> Option<&'static str> {
        match self {
            ClientApp::ClaudeDesktop | ClientApp::Windsurf => None,
            ClientApp::ClaudeCode => Some(".mcp.json"),
            ClientApp::Cursor => Some(".cursor/mcp.json"),
            ClientApp::Vscode => Some(".vscode/mcp.json"),
            ClientApp::Gemini => Some(".gemini/settings.json"),
            ClientApp::Codex => Some(".codex/config.toml"),
            ClientApp::Zed => Some(".zed/settings.json"),
        }
    }

    /// Returns the format of its configuration.
    pub(crate) fn format(self) -> ConfigFormat {
        match self {
            ClientApp::Codex => ConfigFormat::Toml,
            _ => ConfigFormat::Json,
        }
    }

    /// Returns the keys that lead to its servers.
    pub(crate) fn servers_path(self) -> &'static [&'static str] {
        match self {
            ClientApp::Vscode => &["servers"],
            ClientApp::Zed => &["context_servers"],
            ClientApp::Codex => &["mcp_servers"],
            _ => &["mcpServers"],
        }
    }

    /// Returns the entry for a server that is started by a command, in the format of this client.
    pub(crate) fn server_entry(self, command: &str, args: &[String]) -> Map<String, Value> {
        let mut entry = Map::new();
        match self {
            ClientApp::ClaudeCode | ClientApp::Vscode => {
                entry.insert("type".into(), "stdio".into());
            }
            ClientApp::Zed => {
                entry.insert("source".into(), "custom".into());
            }
            _ => {}
        }
        entry.insert("command".into(), command.into());
        entry.insert("args".into(), json!(args));
        entry
    }

    /// Returns how the variables that an entry needs reach the server.
    pub(crate) fn variable_passing(self) -> VariablePassing {
        match self {
            ClientApp::ClaudeCode | ClientApp::Gemini => {
                VariablePassing::Reference(|name| format!("${{{name}}}"))
            }
            ClientApp::Cursor | ClientApp::Vscode | ClientApp::Windsurf => {
                VariablePassing::Reference(|name| format!("${{env:{name}}}"))
            }
            ClientApp::Codex => VariablePassing::Names("env_vars"),
            ClientApp::ClaudeDesktop | ClientApp::Zed => VariablePassing::ValuesOnly,
        }
    }

    /// Returns what the user must do so that the client reads its configuration again.
    pub(crate) fn next_step(self) -> &'static str {
        match self {
            ClientApp::ClaudeDesktop => "quit and restart Claude Desktop",
            ClientApp::ClaudeCode => "restart Claude Code; `/mcp` shows the server",
            ClientApp::Cursor => "restart Cursor; its settings show the server under MCP",
            ClientApp::Vscode => "run `MCP: List Servers` in VS Code and start the server",
            ClientApp::Windsurf => "press refresh in Windsurf's MCP panel, or restart it",
            ClientApp::Gemini => "restart Gemini CLI; `/mcp` shows the server",
            ClientApp::Codex => "restart Codex; `/mcp` shows the server",
            ClientApp::Zed => "open Zed's agent panel, which starts the server",
        }
    }

    /// Whether the client seems to be installed: it has a folder for its settings.
    pub(crate) fn is_on_this_machine(self) -> bool {
        let file = self.user_path();
        let folder = match self {
            // Its file is in the home folder, which says nothing.
            ClientApp::ClaudeCode => home().map(|home| home.join(".claude")),
            _ => file.as_deref().and_then(Path::parent).map(Path::to_path_buf),
        };
        file.is_some_and(|file| file.exists()) || folder.is_some_and(|folder| folder.is_dir())
    }
}

/// How the entry of a server gets a variable of the client's environment.
#[derive(Debug, Clone, Copy)]
pub(crate) enum VariablePassing {
    /// A value of `env` may refer to a variable, with this syntax.
    Reference(fn(&str) -> String),
    /// The variables are listed by name under this key.
    Names(&'static str),
    /// `env` contains only values.
    ValuesOnly,
}

/// The keys under which the configuration of an unknown client may have its servers.
pub(crate) const SERVERS_PATHS: &[&[&str]] =
    &[&["mcpServers"], &["servers"], &["mcp", "servers"], &["context_servers"], &["mcp_servers"]];

fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

pub(crate) fn home() -> Option<PathBuf> {
    if cfg!(windows) { variable("USERPROFILE").or_else(|| variable("HOME")) } else { variable("HOME") }
}

/// Returns the folder where desktop programs keep their settings.
fn settings_folder() -> Option<PathBuf> {
    if cfg!(windows) {
        variable("APPDATA")
    } else if cfg!(target_os = "macos") {
        Some(home()?.join("Library/Application Support"))
    } else {
        variable("XDG_CONFIG_HOME").or_else(|| Some(home()?.join(".config")))
    }
}

fn zed_folder() -> Option<PathBuf> {
    if cfg!(windows) {
        Some(variable("APPDATA")?.join("Zed"))
    } else if cfg!(target_os = "macos") {
        Some(home()?.join(".config/zed"))
    } else {
        Some(settings_folder()?.join("zed"))
    }
}

/// Formats a path with `~` for the user's home.
pub(crate) fn display_path(path: &Path) -> String {
    let below = home().and_then(|home| path.strip_prefix(home).ok().map(Path::to_path_buf));
    match below {
        Some(below) if below.as_os_str().is_empty() => "~".into(),
        Some(below) => Path::new("~").join(below).display().to_string(),
        None => path.display().to_string(),
    }
}

/// Whether an entry of a configuration starts this program.
pub(crate) fn is_mcpaql_entry(entry: &Value) -> bool {
    let Some(command) = entry_program(entry) else { return false };
    let program = command.rsplit(['/', '\\']).next().unwrap_or(command);
    let program = program.strip_suffix(".exe").unwrap_or(program);
    program == "mcpaql" && entry_args(entry).first().is_none_or(|first| *first == "serve")
}

/// Returns the program that an entry starts.
fn entry_program(entry: &Value) -> Option<&str> {
    let command = entry.get("command");
    // Older versions of Zed have the program one level deeper.
    let nested = command.and_then(|command| command.get("path"));
    nested.or(command).and_then(Value::as_str)
}

fn entry_args(entry: &Value) -> Vec<&str> {
    let args = entry.get("args").or_else(|| entry.get("command")?.get("args"));
    args.and_then(Value::as_array)
        .map(|args| args.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_client_is_typed_as_it_is_called() {
        for client in ClientApp::value_variants() {
            let typed = client.to_possible_value().unwrap();
            assert_eq!(typed.get_name(), client.id());
            assert_eq!(ClientApp::parse(client.id()), Some(*client));
        }
    }

    #[test]
    fn only_this_program_is_ours() {
        for ours in [
            json!({"command": "mcpaql", "args": ["serve"]}),
            json!({"command": "/usr/bin/mcpaql", "args": ["serve", "--config", "x"]}),
            json!({"command": r"C:\tools\mcpaql.exe", "args": ["serve"]}),
            json!({"command": {"path": "/opt/mcpaql", "args": ["serve"]}}),
        ] {
            assert!(is_mcpaql_entry(&ours), "{ours}");
        }
        for other in [
            json!({"command": "mcpaql-like", "args": ["serve"]}),
            json!({"command": "mcpaql", "args": ["call"]}),
            json!({"url": "https://host/mcpaql"}),
            json!("mcpaql"),
        ] {
            assert!(!is_mcpaql_entry(&other), "{other}");
        }
    }
}
