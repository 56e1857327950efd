//! Where this program is installed: the entries in the configurations of MCP clients that start it.

use super::{ClientApp, ConfigScope, SERVERS_PATHS, entry_args, entry_program, is_mcpaql_entry};
use crate::file::EditableFile;
use clap::ValueEnum;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A configuration file of a client, which may not exist.
pub(crate) struct ClientFile {
    pub(crate) client: ClientApp,
    pub(crate) scope: ConfigScope,
    pub(crate) path: PathBuf,
    pub(crate) content: ClientFileContent,
}

/// What a configuration file says about this program.
pub(crate) enum ClientFileContent {
    /// There is no file.
    Missing,
    /// The file cannot be read.
    Unreadable(anyhow::Error),
    /// The file cannot be parsed: the position and the reason.
    Invalid(String),
    /// The entries that start this program, under any name.
    Entries(Vec<InstalledEntry>),
}

/// An entry that starts this program.
pub(crate) struct InstalledEntry {
    pub(crate) name: String,
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    /// The names of variables with a value in the entry.
    pub(crate) values: Vec<String>,
}

/// Returns the configuration files of all clients, in both scopes.
pub(crate) fn client_files() -> Vec<ClientFile> {
    let mut files = Vec::new();
    for client in ClientApp::value_variants() {
        for scope in ConfigScope::ALL {
            let Some(path) = client.path(scope) else { continue };
            // In the home folder, both scopes are the same file.
            if scope == ConfigScope::Project
                && std::path::absolute(&path).ok() == client.path(ConfigScope::User)
            {
                continue;
            }
            files.push(ClientFile { client: *client, scope, content: read(&path, *client), path });
        }
    }
    files
}

fn read(path: &Path, client: ClientApp) -> ClientFileContent {
    let text = match EditableFile::read(path) {
        Ok(EditableFile { text: Some(text), .. }) => text,
        Ok(_) => return ClientFileContent::Missing,
        Err(error) => return ClientFileContent::Unreadable(error),
    };
    let value = match client.format().parse(&text) {
        Ok(value) => value,
        Err(problem) => return ClientFileContent::Invalid(problem),
    };
    let mut containers = SERVERS_PATHS.to_vec();
    if !containers.contains(&client.servers_path()) {
        containers.push(client.servers_path());
    }
    let servers = containers.iter().filter_map(|path| {
        path.iter().try_fold(&value, |value, key| value.get(key)).and_then(Value::as_object)
    });
    let ours = servers.flatten().filter_map(|(name, entry)| {
        let program = entry_program(entry).filter(|_| is_mcpaql_entry(entry))?.to_owned();
        let args = entry_args(entry).into_iter().map(str::to_owned).collect();
        let env = entry.get("env").and_then(Value::as_object).into_iter().flatten();
        let has_value =
            |value: &Value| value.as_str().is_some_and(|text| !text.is_empty() && !text.contains('$'));
        let values = env.filter(|(_, value)| has_value(value)).map(|(name, _)| name.clone()).collect();
        Some(InstalledEntry { name: name.clone(), program, args, values })
    });
    ClientFileContent::Entries(ours.collect())
}
