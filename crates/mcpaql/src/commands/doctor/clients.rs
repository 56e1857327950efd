//! Checks MCP clients: which are on this machine, whether their configurations can be parsed, and whether the entries of this
//! program start something that exists.

use super::programs::find_program;
use super::report::{DoctorReport, DoctorSection, NextStep};
use crate::args::{Cli, Command};
use crate::clients::installation::{ClientFile, ClientFileContent, InstalledEntry, client_files};
use crate::clients::{ClientApp, ConfigScope, display_path};
use crate::documents::Reporting;
use crate::output::shell_word;
use crate::reload::plan_to_serve;
use clap::Parser;
use mcpaql_runtime::environment::is_set;
use std::path::Path;

const SECTION: DoctorSection = DoctorSection::Clients;

/// Checks all clients.
pub(super) fn check(report: &mut DoctorReport) {
    let files = client_files();
    let mut without: Vec<ClientApp> = Vec::new();
    let mut is_installed = false;
    for file in &files {
        match &file.content {
            ClientFileContent::Missing => {
                if file.scope == ConfigScope::User && file.client.is_on_this_machine() {
                    without.push(file.client);
                }
            }
            ClientFileContent::Unreadable(error) => {
                report.error(SECTION, subject(file), error, "make the file readable for this user");
            }
            ClientFileContent::Invalid(problem) => {
                let message = format!(
                    "{} is not valid {}: {problem}",
                    display_path(&file.path),
                    file.client.format().title()
                );
                let next = NextStep::Do(format!(
                    "fix the file: until then, {} and `mcpaql install` cannot read it",
                    file.client.title()
                ));
                report.problem(SECTION, subject(file), message, next);
            }
            ClientFileContent::Entries(entries) if entries.is_empty() => without.push(file.client),
            ClientFileContent::Entries(entries) => {
                is_installed = true;
                entries.iter().for_each(|entry| check_entry(file, entry, report));
            }
        }
    }
    without.dedup();
    let names: Vec<&str> = without.iter().map(|client| client.title()).collect();
    match without.first() {
        Some(first) if !is_installed => {
            let message = format!("found {}, but mcpaql is in no configuration", names.join(", "));
            let next = NextStep::Run(format!("mcpaql install {}", first.id()));
            report.warning(SECTION, "clients", message, next);
        }
        Some(_) => report.ok(SECTION, "clients", format!("without mcpaql: {}", names.join(", "))),
        None if files.iter().all(|file| matches!(file.content, ClientFileContent::Missing)) => {
            report.ok(SECTION, "clients", "no known client found on this machine");
        }
        None => {}
    }
}

fn subject(file: &ClientFile) -> String {
    match file.scope {
        ConfigScope::User => file.client.title().to_owned(),
        ConfigScope::Project => format!("{} (this folder)", file.client.title()),
    }
}

fn check_entry(file: &ClientFile, entry: &InstalledEntry, report: &mut DoctorReport) {
    let place = format!("the entry '{}' of {}", entry.name, display_path(&file.path));
    let path = std::env::var("PATH").ok();
    if find_program(&entry.program, None, path.as_deref()).is_none() {
        let message = format!("{place} starts {}, which does not exist", entry.program);
        let next =
            reinstall(file, entry).unwrap_or_else(|| NextStep::Do(format!("correct `command` in {place}")));
        report.problem(SECTION, subject(file), message, next);
        return;
    }
    let paths = served_paths(entry);
    if let Some(missing) = paths.iter().find(|path| path.is_absolute() && !path.exists()) {
        let message = format!("{place} serves {}, which does not exist", missing.display());
        let next = NextStep::Do(format!(
            "correct the path in {place}, or install again with `mcpaql install {} --config FILE`",
            file.client.id()
        ));
        report.problem(SECTION, subject(file), message, next);
        return;
    }
    if let Some(relative) = paths.iter().find(|path| !path.is_absolute() && path.extension().is_some()) {
        let message = format!("{place} serves {}, which is not an absolute path", relative.display());
        let next = NextStep::Do(format!(
            "write the absolute path: {} may start programs in any folder",
            file.client.title()
        ));
        report.warning(SECTION, subject(file), message, next);
        return;
    }
    let missing = missing_variables(entry);
    if let Some(first) = missing.first() {
        let message = format!("{place} has no value for {}, and this shell has none", missing.join(", "));
        let next = NextStep::Do(format!(
            "set {first} where {} is started, or write it under `env` of the entry",
            file.client.title()
        ));
        report.warning(SECTION, subject(file), message, next);
        return;
    }
    report.ok(SECTION, subject(file), format!("{place} starts {}", entry.program));
}

/// Returns the variables that what the entry serves needs, and that have a value neither in the entry nor in this process. Problems of
/// the documents themselves are not reported: `check` and the start of the server do that.
fn missing_variables(entry: &InstalledEntry) -> Vec<String> {
    let words = std::iter::once("mcpaql").chain(entry.args.iter().map(String::as_str));
    let Ok(Cli { command: Command::Serve(args), .. }) = Cli::try_parse_from(words) else { return Vec::new() };
    let is_set = |name: &str| is_set(name) || entry.values.iter().any(|known| known == name);
    let needed = plan_to_serve(&args).and_then(|plan| plan.required_variables(&is_set, Reporting::Nothing));
    let mut needed = needed.unwrap_or_default();
    needed.retain(|name| !is_set(name));
    needed
}

/// Returns the command that writes the entry again, if it can express what the entry serves.
fn reinstall(file: &ClientFile, entry: &InstalledEntry) -> Option<NextStep> {
    let config = match entry.args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] | ["serve"] | ["serve", "builtin:notebook"] => None,
        ["serve", "--config", config] => Some(*config),
        _ => return None,
    };
    let mut words = vec!["mcpaql".to_owned(), "install".to_owned(), file.client.id().to_owned()];
    if entry.name != "mcpaql" {
        words.extend(["--name".to_owned(), shell_word(&entry.name)]);
    }
    if file.scope == ConfigScope::Project {
        words.extend(["--scope".to_owned(), file.scope.as_str().to_owned()]);
    }
    if let Some(config) = config {
        words.extend(["--config".to_owned(), shell_word(config)]);
    }
    Some(NextStep::Run(words.join(" ")))
}

/// Returns the files that an entry serves: the configuration, and documents.
fn served_paths(entry: &InstalledEntry) -> Vec<&Path> {
    let words = entry.args.iter().skip(1).map(String::as_str);
    let mut paths = Vec::new();
    let mut flag = "";
    for word in words {
        if let Some(config) = word.strip_prefix("--config=") {
            paths.push(Path::new(config));
        } else if matches!(flag, "" | "--config" | "--openapi")
            && !word.starts_with('-')
            && !word.contains("://")
        {
            paths.push(Path::new(word));
        }
        flag = if word.starts_with("--") && !word.contains('=') { word } else { "" };
    }
    paths
}
