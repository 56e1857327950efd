//! `mcpaql install`: adds this program to the configuration of an MCP client, or removes it.
//!
//! What always holds: nothing else in the file changes, a backup is kept, and a file that cannot be parsed is not touched.

use crate::clients::{self, ClientApp, ConfigScope, SERVERS_PATHS, edit, jsonc};
use crate::documents::CONFIG_FILE;
use crate::file;
use crate::file::EditableFile;
use crate::output::error_with_hint;
use crate::{CommandOutcome, args, diff, output};
use anyhow::{Context, Result, bail};
use clap::ValueEnum;
use mcpaql_document::source::Source;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Keys of an entry that this command writes. Only their values are printed.
const OWN_KEYS: &[&str] = &["type", "source", "command", "args"];

pub(crate) fn run(args: &args::InstallArgs) -> Result<CommandOutcome> {
    if args.list {
        return list(args);
    }
    let client = args.client.context("no client given")?;
    if args.name.trim().is_empty() {
        bail!("--name must not be empty");
    }
    let path = path(args, client)?;
    let file = EditableFile::read(&path)?;
    let program = program()?;
    let location = InstallLocation::find(&file, client, &args.name, &program)?;
    let old = file.text.clone().unwrap_or_default();
    let config = if args.remove { None } else { config(args)? };
    let new = if args.remove {
        location.without_server(&old)?
    } else {
        location.with_server(&old, &entry(client, &program, config.as_deref())?)?
    };
    let change = InstallChange {
        client,
        path: &path,
        location: &location,
        old: &old,
        new: &new,
        dry_run: args.dry_run,
    };
    let backup = if args.dry_run || new == old {
        None
    } else {
        let backup = file.back_up()?;
        file.replace(&new)?;
        backup
    };
    let missing = config.as_deref().map(variables).unwrap_or_default();
    if args.json {
        output::print_data(&serde_json::to_string_pretty(&change.as_json(backup.as_deref(), &missing))?);
    } else {
        change.report(backup.as_deref(), &missing);
    }
    Ok(CommandOutcome::Clean)
}

fn path(args: &args::InstallArgs, client: ClientApp) -> Result<PathBuf> {
    if let Some(path) = &args.path {
        return Ok(path.clone());
    }
    client.path(args.scope).ok_or_else(|| {
        let message =
            format!("{} has no configuration file for the scope '{}'", client.title(), args.scope.as_str());
        error_with_hint(message, "choose another --scope, or pass the file with --path")
    })
}

/// Returns the absolute path of the configuration to serve, or `None` if there is none.
fn config(args: &args::InstallArgs) -> Result<Option<PathBuf>> {
    let path = match &args.config {
        Some(path) if !path.is_file() => {
            let hint = "pass a configuration such as mcpaql.yaml; `mcpaql import config` writes one";
            return Err(file::not_found_error(&path.display().to_string(), [], hint));
        }
        Some(path) => path.clone(),
        None if Path::new(CONFIG_FILE).is_file() => PathBuf::from(CONFIG_FILE),
        None => return Ok(None),
    };
    Ok(Some(
        std::path::absolute(&path).with_context(|| format!("cannot resolve the path {}", path.display()))?,
    ))
}

/// Returns the variables that a configuration refers to without a default value.
fn variables(config: &Path) -> Vec<String> {
    fn search(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => {
                let names = text.split("${env:").skip(1).filter_map(|rest| rest.split('}').next());
                for name in names.filter(|name| !name.contains(":-")) {
                    if !found.iter().any(|known| known == name) {
                        found.push(name.to_owned());
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| search(item, found)),
            Value::Object(map) => map.values().for_each(|item| search(item, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    let text = file::read_text(config).unwrap_or_default();
    // If the configuration is invalid, `serve` reports it.
    if let Ok(parsed) = Source::new(CONFIG_FILE, text).parse() {
        search(&parsed.value, &mut found);
    }
    found.retain(|name| !["HOME", "USERPROFILE"].contains(&name.as_str()));
    found
}

fn entry(client: ClientApp, program: &Path, config: Option<&Path>) -> Result<Map<String, Value>> {
    let text = |path: &Path| {
        let not_utf8 = || format!("the path {} is not UTF-8", path.display());
        path.to_str().map(str::to_owned).with_context(not_utf8)
    };
    let mut words = vec!["serve".to_owned()];
    if let Some(config) = config {
        words.extend(["--config".to_owned(), text(config)?]);
    }
    Ok(client.server_entry(&text(program)?, &words))
}

/// Returns the path of this program. A path in `PATH` is preferred, because it stays valid when the program is updated.
fn program() -> Result<PathBuf> {
    let running = std::env::current_exe().context("cannot find the path of this program")?;
    let real = running.canonicalize().unwrap_or_else(|_| running.clone());
    let name = running.file_name().map(ToOwned::to_owned).unwrap_or_default();
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join(&name))
        .find(|path| path.canonicalize().is_ok_and(|path| path == real));
    Ok(found.unwrap_or(running))
}

/// The location of the server in a configuration file.
struct InstallLocation<'a> {
    path: Vec<&'a str>,
    file_name: String,
}

impl<'a> InstallLocation<'a> {
    /// Finds the location. Fails if the file cannot be parsed, or if another server has the name.
    fn find(
        file: &EditableFile,
        client: ClientApp,
        name: &'a str,
        program: &Path,
    ) -> Result<InstallLocation<'a>> {
        let shown = file.path.display().to_string();
        let text = file.text.as_deref().unwrap_or_default();
        let settings = file.path.file_name().is_some_and(|name| name == "settings.json");
        let container =
            if client == ClientApp::Vscode && settings { &["mcp", "servers"] } else { client.servers_path() };
        if !jsonc::is_blank(text) {
            let document = jsonc::parse(text).map_err(|problem| {
                error_with_hint(
                    format!("{shown} is not valid JSON and was not changed: {problem}"),
                    "fix it and run the command again",
                )
            })?;
            let path = [container, &[name]].concat();
            if let Some(found) = document.value_at(&path)
                && !clients::is_mcpaql_entry(&found)
                // This program may have been renamed.
                && found.get("command").and_then(Value::as_str).map(Path::new) != Some(program)
            {
                return Err(error_with_hint(
                    format!("{shown} already has another server '{name}'"),
                    "choose another --name, or remove that server first",
                ));
            }
        }
        Ok(InstallLocation { path: [container, &[name]].concat(), file_name: shown })
    }

    /// Returns the text with the server. Keys that the user added to an existing entry stay.
    fn with_server(&self, text: &str, entry: &Map<String, Value>) -> Result<String> {
        let command = [self.path.as_slice(), &["command"]].concat();
        let exists = jsonc::parse(text)
            .is_ok_and(|document| document.at(&command).is_some_and(|node| node.as_object().is_none()));
        if !exists {
            return self.edit_result(edit::set(text, &self.path, &Value::Object(entry.clone())));
        }
        let mut text = text.to_owned();
        for (key, value) in entry {
            let path = [self.path.as_slice(), &[key]].concat();
            let current = jsonc::parse(&text).ok().and_then(|document| document.value_at(&path));
            if current.as_ref() != Some(value)
                && (current.is_some() || ["command", "args"].contains(&key.as_str()))
            {
                text = self.edit_result(edit::set(&text, &path, value))?;
            }
        }
        Ok(text)
    }

    fn without_server(&self, text: &str) -> Result<String> {
        self.edit_result(edit::remove(text, &self.path))
    }

    fn edit_result(&self, edited: Result<String, edit::EditError>) -> Result<String> {
        edited.map_err(|error| {
            let message = format!("cannot change {}: {error}", self.file_name);
            error_with_hint(message, "fix it and run the command again")
        })
    }
}

/// The change of a configuration file.
struct InstallChange<'a> {
    client: ClientApp,
    path: &'a Path,
    location: &'a InstallLocation<'a>,
    old: &'a str,
    new: &'a str,
    dry_run: bool,
}

impl InstallChange<'_> {
    fn has(&self, text: &str) -> bool {
        jsonc::parse(text).is_ok_and(|document| document.at(&self.location.path).is_some())
    }

    fn action(&self) -> &'static str {
        match (self.has(self.old), self.has(self.new)) {
            (false, false) => "absent",
            (true, true) if self.old == self.new => "unchanged",
            (true, true) => "updated",
            (false, true) => "installed",
            (true, false) => "removed",
        }
    }

    fn as_json(&self, backup: Option<&Path>, variables: &[String]) -> Value {
        let server = self.location.path.last().copied().unwrap_or_default();
        json!({
            "client": self.client.id(),
            "path": self.path.display().to_string(),
            "server": server,
            "action": self.action(),
            "dry_run": self.dry_run,
            "backup": backup.map(|backup| backup.display().to_string()),
            "variables": variables,
            "diff": (self.dry_run && self.old != self.new).then(|| self.diff()),
        })
    }

    /// Returns the change as a diff in which values of other programs are masked.
    fn diff(&self) -> String {
        let shown = |text: &str| edit::mask_values(text, &self.location.path, OWN_KEYS);
        let path = self.path.display();
        format!("--- {path}\n+++ {path}\n{}", diff::hunks(&shown(self.old), &shown(self.new)))
    }

    fn report(&self, backup: Option<&Path>, variables: &[String]) {
        let (path, title) = (self.path.display(), self.client.title());
        if self.old == self.new {
            let state = if self.has(self.new) { "already installed" } else { "not installed" };
            output::status_line(&format!("Nothing to do: mcpaql is {state} in {path}"));
            return;
        }
        if self.dry_run {
            output::print_data(&self.diff());
            output::status_line("Dry run: nothing was written. Other values in the file are shown as `…`.");
            return;
        }
        output::status_line(&match self.action() {
            "removed" => format!("Removed mcpaql from {path}"),
            "updated" => format!("Updated mcpaql in {path}"),
            _ => format!("Added mcpaql to {path}"),
        });
        if let Some(backup) = backup {
            output::status_line(&format!("Backup: {}", backup.display()));
        }
        if self.has(self.new) && !variables.is_empty() {
            let names = variables.join(", ");
            output::status_line(&if self.client.is_desktop() {
                format!(
                    "Set these variables under `env` of the entry, or in the environment of {title}: {names}"
                )
            } else {
                format!("Set these variables in the shell where you start {title}: {names}")
            });
        }
        output::status_line(&format!("Next: {}", self.client.next_step()));
    }
}

fn list(args: &args::InstallArgs) -> Result<CommandOutcome> {
    let mut rows = Vec::new();
    for client in ClientApp::value_variants() {
        for scope in ConfigScope::ALL {
            let Some(path) = client.path(scope) else { continue };
            // In the home folder, both scopes are the same file.
            if scope == ConfigScope::Project
                && std::path::absolute(&path).ok() == client.path(ConfigScope::User)
            {
                continue;
            }
            rows.push((*client, scope, state(&path, *client), path));
        }
    }
    if args.json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|(client, scope, state, path)| {
                json!({"client": client.id(), "scope": scope.as_str(), "path": path.display().to_string(), "state": state})
            })
            .collect();
        output::print_data(&serde_json::to_string_pretty(&rows)?);
        return Ok(CommandOutcome::Clean);
    }
    let head = ["CLIENT", "SCOPE", "STATE", "FILE"].map(str::to_owned);
    let cells = rows.iter().map(|(client, scope, state, path)| {
        let state = if *state == NO_FILE { "not installed (no file)" } else { state };
        [client.id().to_owned(), scope.as_str().to_owned(), state.to_owned(), clients::display_path(path)]
    });
    let rows: Vec<[String; 4]> = std::iter::once(head).chain(cells).collect();
    output::print_data(&output::format_table(&rows, 4));
    Ok(CommandOutcome::Clean)
}

/// The state of a client without a configuration file.
const NO_FILE: &str = "no file";

/// Returns whether this program is in a configuration file, under any name.
fn state(path: &Path, client: ClientApp) -> &'static str {
    let file = match EditableFile::read(path) {
        Ok(EditableFile { text: Some(text), .. }) => text,
        Ok(_) => return NO_FILE,
        Err(_) => return "cannot be read",
    };
    if jsonc::is_blank(&file) {
        return "not installed";
    }
    let Ok(document) = jsonc::parse(&file) else { return "broken" };
    let mut containers = SERVERS_PATHS.iter().copied().chain([client.servers_path()]);
    let ours = containers.any(|path| {
        let members = document.at(path).map(jsonc::members).unwrap_or_default();
        members.iter().any(|member| clients::is_mcpaql_entry(&jsonc::to_json(&member.value)))
    });
    if ours { "installed" } else { "not installed" }
}
