//! Imports the servers of a client's configuration as adapters of `mcpaql.yaml`.
//!
//! What always holds: every server is either imported or skipped with a reason; the imported entries load without errors; they contain
//! no credentials.

mod entry;
mod names;

use super::variables::{ImportVariables, References};
use super::{ClientApp, SERVERS_PATHS, secrets};
use crate::clients;
use entry::ServerLocation;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::config::{self, AdapterEntry, AdapterOrigin};
use mcpaql_document::source::Source;
use mcpaql_import::emit;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The configuration of a client.
#[derive(Debug)]
pub(crate) struct ClientConfig {
    /// Its path, for messages.
    pub(crate) label: String,
    pub(crate) value: Value,
    /// The client it belongs to, if known.
    pub(crate) client: Option<ClientApp>,
    /// The project folder it belongs to, if any.
    pub(crate) workspace: Option<PathBuf>,
}

impl ClientConfig {
    /// Returns the project folder of a configuration file: the folder of `.mcp.json`, or the parent of a folder such as `.cursor`.
    pub(crate) fn workspace_of(path: &Path) -> Option<PathBuf> {
        let path = std::path::absolute(path).ok()?;
        let name = path.file_name()?.to_str()?;
        let folder = path.parent()?;
        if name == ".mcp.json" {
            return Some(folder.to_owned());
        }
        let above = folder.parent()?;
        let own = folder.file_name()?.to_str()?.starts_with('.');
        (own && clients::home().as_deref() != Some(above)).then(|| above.to_owned())
    }

    /// Returns whether it has servers.
    pub(crate) fn has_servers(&self) -> bool {
        !self.groups().is_empty()
    }

    /// Returns the groups of servers, each with the keys that lead to it.
    fn groups(&self) -> Vec<(Vec<String>, &Map<String, Value>)> {
        let here = std::env::current_dir().ok();
        let project = here.as_deref().and_then(Path::to_str);
        let local = project.map(|project| vec!["projects", project, "mcpServers"]);
        let paths = local.into_iter().chain(SERVERS_PATHS.iter().map(|path| path.to_vec()));
        paths
            .filter_map(|path| {
                let found = path.iter().try_fold(&self.value, |value, key| value.get(key))?;
                Some((path.into_iter().map(str::to_owned).collect(), found.as_object()?))
            })
            .collect()
    }

    /// Returns the names of servers that are disabled elsewhere in the file.
    fn disabled_servers(&self) -> Vec<&str> {
        let here = std::env::current_dir().ok();
        let project = here.as_deref().and_then(Path::to_str).unwrap_or_default();
        let project = self.value.get("projects").and_then(|projects| projects.get(project));
        let lists = [
            self.value.get("mcp").and_then(|mcp| mcp.get("excluded")),
            project.and_then(|project| project.get("disabledMcpServers")),
        ];
        lists.into_iter().flatten().filter_map(Value::as_array).flatten().filter_map(Value::as_str).collect()
    }

    fn references(&self) -> References {
        let inputs = [self.value.get("inputs"), self.value.get("mcp").and_then(|mcp| mcp.get("inputs"))];
        let inputs = inputs.into_iter().flatten().filter_map(Value::as_array).flatten();
        let answers: BTreeMap<String, String> = inputs
            .filter(|input| input.get("password").and_then(Value::as_bool) != Some(true))
            .filter_map(|input| {
                let (id, answer) = (input.get("id")?.as_str()?, input.get("default")?.as_str()?);
                (!secrets::is_secret(id, answer)).then(|| (id.to_owned(), answer.to_owned()))
            })
            .collect();
        References {
            workspace: self.workspace.clone(),
            allows_bare_names: self.client == Some(ClientApp::Gemini),
            input_defaults: answers,
        }
    }
}

/// A server that was imported as an adapter.
#[derive(Debug)]
pub(crate) struct ImportedEntry {
    /// Its name in the client.
    pub(crate) server: String,
    pub(crate) entry: AdapterEntry,
    /// What could not be imported unchanged.
    pub(crate) notes: Vec<String>,
}

/// A server that was not imported.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SkippedServer {
    pub(crate) server: String,
    pub(crate) reason: String,
}

/// The result of an import.
#[derive(Debug, Default)]
pub(crate) struct ConfigImport {
    pub(crate) imported: Vec<ImportedEntry>,
    pub(crate) skipped: Vec<SkippedServer>,
    pub(crate) variables: ImportVariables,
}

impl ConfigImport {
    /// Imports all servers that can be imported. If several have the same name, the first one is imported.
    pub(crate) fn from_configs(configurations: &[ClientConfig]) -> ConfigImport {
        let mut import = ConfigImport::default();
        for configuration in configurations {
            import.reserve(configuration);
        }
        for configuration in configurations {
            import.add(configuration);
        }
        import.skip_invalid();
        import
    }

    /// Returns the `adapters` of mcpaql.yaml.
    pub(crate) fn yaml(&self) -> String {
        let entries: Vec<AdapterEntry> =
            self.imported.iter().map(|imported| imported.entry.clone()).collect();
        emit::configuration(&entries)
    }

    /// Reserves the variables that a configuration refers to, so that no credential gets one of their names.
    fn reserve(&mut self, configuration: &ClientConfig) {
        let references = configuration.references();
        for (_, servers) in configuration.groups() {
            for server in servers.values().filter_map(Value::as_object) {
                // Variables in the server's own `env` need not be set elsewhere.
                let env = entry::env(server);
                let own: Vec<&str> = env.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
                for (key, value) in server {
                    let own =
                        if ["env", "environment"].contains(&key.as_str()) { &[] } else { own.as_slice() };
                    self.variables.reserve(&references, value, own);
                }
            }
        }
    }

    fn add(&mut self, configuration: &ClientConfig) {
        let references = configuration.references();
        let off = configuration.disabled_servers();
        for (path, servers) in configuration.groups() {
            for (server, value) in servers {
                let keys = format!("{} › {server}", path.join(" › "));
                let location = ServerLocation { keys, file: &configuration.label };
                let result = if off.contains(&server.as_str()) {
                    Err("it is disabled".to_owned())
                } else if self.imported.iter().any(|imported| imported.server == *server) {
                    Err(format!(
                        "another server with this name was imported instead of the one in {}",
                        configuration.label
                    ))
                } else {
                    self.import_server(server, value, &references, &location)
                };
                match result {
                    Ok(imported) => self.imported.push(imported),
                    Err(reason) => self.skipped.push(SkippedServer { server: server.clone(), reason }),
                }
            }
        }
    }

    fn import_server(
        &mut self,
        server: &str,
        value: &Value,
        references: &References,
        location: &ServerLocation<'_>,
    ) -> Result<ImportedEntry, String> {
        let used: Vec<&str> =
            self.imported.iter().filter_map(|imported| imported.entry.name.as_deref()).collect();
        let name = names::adapter_name(server, &used);
        let read = entry::read_server(&name, value, references, &mut self.variables, location)?;
        let entry = AdapterEntry {
            origin: AdapterOrigin::Mcp(Box::new(read.target)),
            name: Some(name),
            include: read.include,
            exclude: read.exclude,
            overrides: None,
            auth: None,
            limits: Default::default(),
            access: Default::default(),
            pin: true,
            settings: AdapterSettings::default(),
            pointer: String::new(),
        };
        Ok(ImportedEntry { server: server.to_owned(), entry, notes: read.notes })
    }

    /// Skips entries that would not load, so that the written file is valid.
    fn skip_invalid(&mut self) {
        while let Some((index, reason)) = first_problem(&self.yaml()) {
            if index >= self.imported.len() {
                return;
            }
            let removed = self.imported.remove(index);
            self.skipped.push(SkippedServer { server: removed.server, reason });
        }
    }
}

/// Returns the index of the first entry that does not load, and the reason.
fn first_problem(yaml: &str) -> Option<(usize, String)> {
    let source = Source::new("mcpaql.yaml", yaml);
    let diagnostics = match source.parse() {
        Ok(parsed) => [config::load(&parsed.value).1, parsed.diagnostics].concat(),
        Err(diagnostics) => diagnostics,
    };
    diagnostics.into_iter().find_map(|diagnostic| {
        let index = diagnostic.pointer.strip_prefix("/adapters/")?.split('/').next()?.parse().ok()?;
        Some((index, format!("mcpaql.yaml cannot express it: {}", diagnostic.message)))
    })
}
