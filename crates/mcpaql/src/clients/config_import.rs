//! Servers of a client's configuration as adapters of ours.
//!
//! What always holds: every server is either taken over or left out with a reason; what is taken over loads; no credential
//! is among it.

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

/// A configuration that was read.
#[derive(Debug)]
pub(crate) struct ClientConfig {
    /// As people write its path.
    pub(crate) label: String,
    pub(crate) value: Value,
    /// Whose it is, where that is known.
    pub(crate) client: Option<ClientApp>,
    /// The folder it is for, where it is for one.
    pub(crate) workspace: Option<PathBuf>,
}

impl ClientConfig {
    /// The folder that a configuration file is for: the one it stands in, or the one above a client's own folder.
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

    /// The servers, each group with the keys it stands under.
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

    /// Names of servers that are switched off somewhere else in the file.
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

/// A server that is an adapter now.
#[derive(Debug)]
pub(crate) struct ImportedEntry {
    /// As the client called it.
    pub(crate) server: String,
    pub(crate) entry: AdapterEntry,
    /// What could not be said in the same way.
    pub(crate) notes: Vec<String>,
}

/// A server that stays where it is.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SkippedServer {
    pub(crate) server: String,
    pub(crate) reason: String,
}

/// What came of all servers.
#[derive(Debug, Default)]
pub(crate) struct ConfigImport {
    pub(crate) imported: Vec<ImportedEntry>,
    pub(crate) skipped: Vec<SkippedServer>,
    pub(crate) variables: ImportVariables,
}

impl ConfigImport {
    /// Takes over what can be; of servers with the same name the first counts.
    pub(crate) fn from_configs(configurations: &[ClientConfig]) -> ConfigImport {
        let mut takeover = ConfigImport::default();
        for configuration in configurations {
            takeover.reserve(configuration);
        }
        for configuration in configurations {
            takeover.add(configuration);
        }
        takeover.skip_invalid();
        takeover
    }

    /// The `adapters` of mcpaql.yaml.
    pub(crate) fn yaml(&self) -> String {
        let entries: Vec<AdapterEntry> = self.imported.iter().map(|taken| taken.entry.clone()).collect();
        emit::configuration(&entries)
    }

    /// Keeps names that a configuration refers to from standing for anything else.
    fn reserve(&mut self, configuration: &ClientConfig) {
        let references = configuration.references();
        for (_, servers) in configuration.groups() {
            for server in servers.values().filter_map(Value::as_object) {
                // What a server's own `env` sets is not set anywhere else.
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
                let place = ServerLocation { keys, file: &configuration.label };
                let result = if off.contains(&server.as_str()) {
                    Err("it is switched off".to_owned())
                } else if self.imported.iter().any(|taken| taken.server == *server) {
                    Err(format!(
                        "another server of that name was taken over, not the one in {}",
                        configuration.label
                    ))
                } else {
                    self.import_server(server, value, &references, &place)
                };
                match result {
                    Ok(taken) => self.imported.push(taken),
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
        place: &ServerLocation<'_>,
    ) -> Result<ImportedEntry, String> {
        let used: Vec<&str> = self.imported.iter().filter_map(|taken| taken.entry.name.as_deref()).collect();
        let name = names::adapter_name(server, &used);
        let read = entry::read_server(&name, value, references, &mut self.variables, place)?;
        let entry = AdapterEntry {
            origin: AdapterOrigin::Mcp(Box::new(read.target)),
            name: Some(name),
            include: read.include,
            exclude: read.exclude,
            overrides: None,
            auth: None,
            limits: Default::default(),
            settings: AdapterSettings::default(),
            pointer: String::new(),
        };
        Ok(ImportedEntry { server: server.to_owned(), entry, notes: read.notes })
    }

    /// Leaves out what would not load, so that the file that is written is valid.
    fn skip_invalid(&mut self) {
        while let Some((index, reason)) = first_problem(&self.yaml()) {
            if index >= self.imported.len() {
                return;
            }
            let taken = self.imported.remove(index);
            self.skipped.push(SkippedServer { server: taken.server, reason });
        }
    }
}

/// The first entry that does not load, and why.
fn first_problem(yaml: &str) -> Option<(usize, String)> {
    let source = Source::new("mcpaql.yaml", yaml);
    let diagnostics = match source.parse() {
        Ok(parsed) => [config::load(&parsed.value).1, parsed.diagnostics].concat(),
        Err(diagnostics) => diagnostics,
    };
    diagnostics.into_iter().find_map(|diagnostic| {
        let index = diagnostic.pointer.strip_prefix("/adapters/")?.split('/').next()?.parse().ok()?;
        Some((index, format!("it cannot be written down: {}", diagnostic.message)))
    })
}
