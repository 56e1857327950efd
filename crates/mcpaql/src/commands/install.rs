//! `mcpaql install`: adds this program to the configuration of an MCP client, or removes it.
//!
//! What always holds: nothing else in the file changes, a backup is kept, and a file that cannot be parsed is not touched.

use crate::clients::config_format::ConfigFormat;
use crate::clients::installation::{ClientFileContent, client_files};
use crate::clients::variables::is_variable_name;
use crate::clients::{self, ClientApp, ConfigScope, VariablePassing, edit};
use crate::commands::trust;
use crate::documents::{Reporting, default_words};
use crate::file::{self, EditableFile};
use crate::output::error_with_hint;
use crate::reload::plan_to_serve;
use crate::trust::{TrustKind, TrustSubject};
use crate::{CommandOutcome, args, diff, output};
use anyhow::{Context, Result, bail};
use mcpaql_runtime::environment::is_set;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Keys of an entry that this command writes, except `env`. Only their values are printed.
const OWN_KEYS: &[&str] = &["type", "source", "command", "args", "env_vars"];

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
    let entry = if args.remove { None } else { Some(ServerEntry::new(args, client, &program)?) };
    let new = match &entry {
        None => location.without_server(&old)?,
        Some(entry) => location.with_server(&old, entry)?,
    };
    let change = InstallChange { client, path: &path, location: &location, old: &old, new: &new, args };
    let entry = entry.unwrap_or_default();
    let backup = if args.dry_run || new == old {
        None
    } else {
        let backup = file.back_up()?;
        file.replace(&new, !entry.values.is_empty())?;
        backup
    };
    if !args.dry_run {
        entry.named.iter().try_for_each(trust::grant_named)?;
    }
    let unwritten = location.variables_without_value(&new, &entry);
    if args.json {
        output::print_data(&serde_json::to_string_pretty(&change.as_json(backup.as_deref(), &unwritten))?);
    } else {
        change.report(backup.as_deref(), &entry, &unwritten);
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

/// The entry of this program in a client's configuration.
#[derive(Default)]
struct ServerEntry {
    /// The keys without variables.
    command: Map<String, Value>,
    /// Variables that the adapters need, by name.
    needed: Vec<String>,
    /// Variables whose values are written into the entry. The values are secrets.
    values: Vec<(String, String)>,
    /// The configuration and the documents that it serves.
    named: Vec<TrustSubject>,
}

impl ServerEntry {
    fn new(args: &args::InstallArgs, client: ClientApp, program: &Path) -> Result<ServerEntry> {
        if let Some(config) = args.config.as_ref().filter(|config| !config.is_file()) {
            let hint = "pass a configuration such as mcpaql.yaml; `mcpaql import config` writes one";
            return Err(file::not_found_error(&config.display().to_string(), [], hint));
        }
        let serve = args.serve_args().unwrap_or_else(|error| error.exit());
        let values: Vec<(String, String)> =
            args.env.iter().map(|text| variable(text)).collect::<Result<_>>()?;
        let is_set = |name: &str| is_set(name) || values.iter().any(|(known, _)| known == name);
        let plan = plan_to_serve(&serve)?;
        let mut named = plan.subjects();
        named.retain(|subject| matches!(subject.kind, TrustKind::Configuration | TrustKind::Document));
        let mut needed = plan.required_variables(&is_set, Reporting::Problems)?;
        needed.retain(|name| values.iter().all(|(known, _)| known != name));
        let command = client.server_entry(&file::absolute_path(program)?, &serve.words(default_words)?);
        Ok(ServerEntry { command, needed, values, named })
    }
}

/// Parses the value of `--env`. A name that is invalid may be a secret, so the error does not show it.
fn variable(text: &str) -> Result<(String, String)> {
    let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
    if !is_variable_name(name) {
        return Err(error_with_hint(
            "--env takes the name of a variable, or NAME=VALUE",
            "for example --env API_TOKEN, which copies the current value",
        ));
    }
    let value =
        value.map(str::to_owned).or_else(|| std::env::var(name).ok().filter(|value| !value.is_empty()));
    let value = value.ok_or_else(|| {
        error_with_hint(
            format!("the variable {name} is not set, so it has no value to copy"),
            format!("set it first, or pass its value with --env {name}=VALUE"),
        )
    })?;
    Ok((name.to_owned(), value))
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
    client: ClientApp,
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
        let format = client.format();
        format.parse(text).map_err(|problem| {
            error_with_hint(
                format!("{shown} is not valid {} and was not changed: {problem}", format.title()),
                "fix it and run the command again",
            )
        })?;
        let location = InstallLocation { path: [container, &[name]].concat(), file_name: shown, client };
        if let Some(found) = location.value(text, &[])
            && !clients::is_mcpaql_entry(&found)
            // This program may have been renamed.
            && found.get("command").and_then(Value::as_str).map(Path::new) != Some(program)
        {
            return Err(error_with_hint(
                format!("{} already has another server '{name}'", location.file_name),
                "choose another --name, or remove that server first",
            ));
        }
        Ok(location)
    }

    fn format(&self) -> ConfigFormat {
        self.client.format()
    }

    fn path_of<'k>(&'k self, keys: &[&'k str]) -> Vec<&'k str> {
        [self.path.as_slice(), keys].concat()
    }

    /// Returns the value of these keys in the entry.
    fn value(&self, text: &str, keys: &[&str]) -> Option<Value> {
        self.format().value_at(text, &self.path_of(keys))
    }

    /// Returns the text with the server. Keys that the user added to an existing entry stay.
    fn with_server(&self, text: &str, entry: &ServerEntry) -> Result<String> {
        let exists = self.value(text, &["command"]).is_some_and(|command| !command.is_object());
        let mut text = text.to_owned();
        if !exists {
            let mut whole = entry.command.clone();
            whole.extend(self.variables(&Value::Null, entry));
            return self.edit_result(self.format().set(&text, &self.path, &Value::Object(whole)));
        }
        for (key, value) in &entry.command {
            let current = self.value(&text, &[key]);
            if current.as_ref() != Some(value)
                && (current.is_some() || ["command", "args"].contains(&key.as_str()))
            {
                text = self.set(&text, &[key], value)?;
            }
        }
        let current = self.value(&text, &[]).unwrap_or_default();
        for (key, value) in self.variables(&current, entry) {
            match value {
                Value::Object(values) => {
                    for (name, value) in values {
                        text = self.set(&text, &[&key, &name], &value)?;
                    }
                }
                value => text = self.set(&text, &[&key], &value)?,
            }
        }
        Ok(text)
    }

    fn set(&self, text: &str, keys: &[&str], value: &Value) -> Result<String> {
        self.edit_result(self.format().set(text, &self.path_of(keys), value))
    }

    /// Returns the keys with variables to set in an entry: given values, and references to the other variables that `current` does not
    /// mention.
    fn variables(&self, current: &Value, entry: &ServerEntry) -> Map<String, Value> {
        let mut env = Map::new();
        let mut keys = Map::new();
        let is_new = |name: &&String| current.pointer(&format!("/env/{name}")).is_none();
        match self.client.variable_passing() {
            VariablePassing::Reference(write) => {
                let unknown = entry.needed.iter().filter(is_new);
                env.extend(unknown.map(|name| (name.clone(), write(name).into())));
            }
            VariablePassing::Names(key) => {
                let listed = current.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
                let is_listed = |name: &str| {
                    listed.iter().any(|one| one == name || one.get("name").is_some_and(|own| own == name))
                };
                let unknown: Vec<Value> = entry
                    .needed
                    .iter()
                    .filter(|name| is_new(name) && !is_listed(name))
                    .map(|name| name.as_str().into())
                    .collect();
                if !unknown.is_empty() {
                    keys.insert(key.to_owned(), listed.iter().cloned().chain(unknown).collect());
                }
            }
            VariablePassing::ValuesOnly => {}
        }
        env.extend(entry.values.iter().map(|(name, value)| (name.clone(), value.as_str().into())));
        if !env.is_empty() {
            keys.insert("env".into(), Value::Object(env));
        }
        keys
    }

    /// Returns the variables that the adapters need and that have no value in the entry.
    fn variables_without_value<'e>(&self, text: &str, entry: &'e ServerEntry) -> Vec<&'e str> {
        let env = self.value(text, &["env"]).unwrap_or_default();
        let is_reference = |value: &Value, name: &str| match self.client.variable_passing() {
            VariablePassing::Reference(write) => value.as_str() == Some(&write(name)),
            VariablePassing::Names(_) | VariablePassing::ValuesOnly => false,
        };
        let has_value = |name: &str| env.get(name).is_some_and(|value| !is_reference(value, name));
        entry.needed.iter().map(String::as_str).filter(|name| !has_value(name)).collect()
    }

    /// Returns the name of another entry that starts this program.
    fn other_name(&self, text: &str) -> Option<String> {
        let (_, container) = self.path.split_last()?;
        let servers = self.format().value_at(text, container)?;
        let mut servers = servers.as_object()?.iter();
        servers.find(|(_, entry)| clients::is_mcpaql_entry(entry)).map(|(name, _)| name.clone())
    }

    fn without_server(&self, text: &str) -> Result<String> {
        self.edit_result(self.format().remove(text, &self.path))
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
    args: &'a args::InstallArgs,
}

impl InstallChange<'_> {
    fn has(&self, text: &str) -> bool {
        self.location.value(text, &[]).is_some()
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

    fn as_json(&self, backup: Option<&Path>, variables: &[&str]) -> Value {
        let server = self.location.path.last().copied().unwrap_or_default();
        json!({
            "client": self.client.id(),
            "path": self.path.display().to_string(),
            "server": server,
            "action": self.action(),
            "dry_run": self.args.dry_run,
            "backup": backup.map(|backup| backup.display().to_string()),
            "variables": variables,
            "diff": (self.args.dry_run && self.old != self.new).then(|| self.diff()),
        })
    }

    /// Returns the change as a diff in which values of other programs are masked.
    fn diff(&self) -> String {
        let shown = |text: &str| self.client.format().mask_values(text, &self.location.path, OWN_KEYS);
        let path = self.path.display();
        format!("--- {path}\n+++ {path}\n{}", diff::hunks(&shown(self.old), &shown(self.new)))
    }

    fn report(&self, backup: Option<&Path>, entry: &ServerEntry, variables: &[&str]) {
        let path = self.path.display();
        if self.old == self.new {
            let state = if self.has(self.new) { "already installed" } else { "not installed" };
            output::status_line(&format!("Nothing to do: mcpaql is {state} in {path}"));
            if self.args.remove
                && let Some(name) = self.location.other_name(self.old)
            {
                output::status_line(&format!(
                    "The entry '{name}' starts mcpaql; remove it with --name {}",
                    output::shell_word(&name)
                ));
            }
            self.report_variables(variables);
            return;
        }
        if self.args.dry_run {
            output::print_data(&self.diff());
            output::status_line("Dry run: nothing was written. Other values in the file are shown as `…`.");
            self.report_variables(variables);
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
        if !entry.values.is_empty() {
            let names: Vec<&str> = entry.values.iter().map(|(name, _)| name.as_str()).collect();
            let advice = if self.args.scope == ConfigScope::Project {
                "do not commit the file"
            } else {
                "keep the file private"
            };
            output::status_line(&format!("Wrote the values of {} into it; {advice}", names.join(", ")));
        }
        self.report_variables(variables);
        let next = match self.action() {
            "removed" => format!("restart {}, which still has the server until then", self.client.title()),
            _ => self.client.next_step().to_owned(),
        };
        output::status_line(&format!("Next: {next}"));
    }

    /// Tells which variables the user must set, and where.
    fn report_variables(&self, variables: &[&str]) {
        if variables.is_empty() {
            return;
        }
        let (title, names) = (self.client.title(), variables.join(", "));
        let flags: Vec<String> = variables.iter().map(|name| format!("--env {name}")).collect();
        let flags = flags.join(" ");
        output::status_line(&match self.client.variable_passing() {
            VariablePassing::ValuesOnly => format!(
                "Set these variables under `env` of the entry, or copy their current values into it with `{flags}`: {names}"
            ),
            VariablePassing::Reference(_) | VariablePassing::Names(_) => {
                format!("{title} must have these variables in its environment: {names}")
            }
        });
        let unset: Vec<&str> = variables.iter().copied().filter(|name| !is_set(name)).collect();
        if let Some(first) = unset.first() {
            let advice = match self.client.variable_passing() {
                VariablePassing::ValuesOnly => format!("pass a value with `--env {first}=VALUE`"),
                VariablePassing::Reference(_) | VariablePassing::Names(_) => {
                    format!(
                        "set {first} before you start {title}, or write a value into the entry with `--env {first}=VALUE`"
                    )
                }
            };
            output::status_line(&format!("Not set in this shell: {}; {advice}", unset.join(", ")));
        }
    }
}

fn list(args: &args::InstallArgs) -> Result<CommandOutcome> {
    let files = client_files();
    let rows: Vec<_> =
        files.iter().map(|file| (file.client, file.scope, state(&file.content), &file.path)).collect();
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

/// Returns whether this program is in a configuration file.
fn state(content: &ClientFileContent) -> &'static str {
    match content {
        ClientFileContent::Missing => NO_FILE,
        ClientFileContent::Unreadable(_) => "cannot be read",
        ClientFileContent::Invalid(_) => "broken",
        ClientFileContent::Entries(entries) if entries.is_empty() => "not installed",
        ClientFileContent::Entries(_) => "installed",
    }
}
