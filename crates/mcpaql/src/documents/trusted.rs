//! What a plan names, as subjects of trust.

use super::source::{AdapterSource, McpSource, OpenApiSource, PlannedAdapter};
use super::{AdapterPlan, EntryOverrides, config};
use crate::file;
use crate::trust::content::{self, OuterReach};
use crate::trust::{self, TrustKind, TrustState, TrustSubject};
use anyhow::Result;
use mcpaql_core::adapter::{Auth, McpCommand, McpLink, McpTarget, TargetConfig};
use mcpaql_core::gate::trust::TrustLevel;
use mcpaql_document::config::AdapterEntry;
use mcpaql_document::source::Source;
use mcpaql_runtime::gate::Gate;
use mcpaql_runtime::operator::TrustGrant;
use serde_json::{Map, Value, json};
use std::path::Path;

/// An entry as it was read: its source, an error, or `None` if its description is fetched.
type LocalEntry = Option<Result<(AdapterSource, EntryOverrides)>>;

/// Returns a configuration with every local file that it names.
pub(super) fn of_configuration<'e>(
    source: &Source,
    path: &Path,
    entries: impl Iterator<Item = (&'e AdapterEntry, &'e LocalEntry)>,
) -> TrustSubject {
    let folder = path.parent().unwrap_or(Path::new(""));
    let configuration = match source.parse() {
        Ok(parsed) => content::of_configuration(&parsed.value),
        Err(_) => content::of_text([source.text.as_str()]),
    };
    let mut files = Map::new();
    for (entry, resolved) in entries {
        if let Some(overrides) = config::import_options(entry, folder).overrides {
            let text = file::read_text(&overrides);
            let content = text.map_or(Value::Null, |text| content::of_text([text.as_str()]));
            files.insert(relative(&overrides.display().to_string(), folder), content);
        }
        match resolved {
            Some(Ok((source, _))) => {
                files.extend(of_file(source).map(|(name, content)| (relative(&name, folder), content)))
            }
            // A file that is missing now may be there later.
            Some(Err(_)) => drop(files.insert(entry.pointer.clone(), Value::Null)),
            None => {}
        }
    }
    let mut content =
        Map::from_iter([("configuration".to_owned(), configuration), ("files".to_owned(), files.into())]);
    let programs = trust::programs(&Value::Object(content.clone()), folder);
    if !programs.is_empty() {
        content.insert("programs".to_owned(), programs.into());
    }
    let shown = path.display().to_string();
    TrustSubject { id: trust::file_id(path), kind: TrustKind::Configuration, shown, content: content.into() }
}

/// Returns a name relative to a folder.
fn relative(name: &str, folder: &Path) -> String {
    let inside = Path::new(name).strip_prefix(folder).ok().filter(|_| !folder.as_os_str().is_empty());
    inside.map_or_else(|| name.to_owned(), |inside| inside.display().to_string())
}

/// Returns the local file of a source, with its content.
fn of_file(source: &AdapterSource) -> Option<(String, Value)> {
    match source {
        // A new version of this program may bring a new notebook.
        AdapterSource::Document(source) if source.name.starts_with(super::BUILTIN_PREFIX) => None,
        AdapterSource::Document(source) => Some((source.name.clone(), of_document(source))),
        AdapterSource::Openapi(api) if api.description.url.is_none() => {
            Some((api.description.name.clone(), of_description(api)))
        }
        AdapterSource::Openapi(_) | AdapterSource::Mcp(_) => None,
    }
}

fn of_document(source: &Source) -> Value {
    match source.parse() {
        Ok(parsed) => content::of_document(&parsed.value),
        Err(_) => content::of_text([source.text.as_str()]),
    }
}

fn of_description(api: &OpenApiSource) -> Value {
    let description = &api.description;
    content::of_text(std::iter::once(description.text.as_str()).chain(description.references.texts()))
}

fn of_server(target: &McpTarget, auth: &Auth) -> Value {
    let mut content = match &target.link {
        McpLink::Command(McpCommand { command, cwd, env, set_env }) => {
            json!({"command": command, "cwd": cwd, "env": env, "set_env": set_env})
        }
        McpLink::Url { url, headers, allow_http } => {
            json!({"url": url, "headers": headers, "allow_http": allow_http})
        }
    };
    if let Some(content) = content.as_object_mut() {
        content.insert("auth".to_owned(), format!("{auth:?}").into());
        content.insert("caller_headers".to_owned(), target.caller_headers.clone().into());
    }
    content
}

impl PlannedAdapter {
    /// Returns the adapter as a subject of trust. `config` is the configuration with its entry.
    fn subject(&self, config: Option<&Path>) -> Option<TrustSubject> {
        let mut content = match &self.source {
            AdapterSource::Document(source) => of_document(source),
            AdapterSource::Openapi(api) => match &api.description.typed {
                Some(url) => json!({ "openapi": url }),
                None => of_description(api),
            },
            AdapterSource::Mcp(server) => of_server(&server.target, &server.auth),
        };
        if let Some(config) = config {
            if let (Some(content), false) = (content.as_object_mut(), self.entry.is_empty()) {
                let EntryOverrides {
                    name: _,
                    auth,
                    limits: _,
                    access,
                    is_silenced: _,
                    selection,
                    is_unpinned,
                } = &self.entry;
                let entry = format!("{auth:?} {access:?} {selection:?} {is_unpinned}");
                content.insert("entry".to_owned(), entry.into());
            }
            let folder = config.parent().unwrap_or(Path::new(""));
            let programs = trust::programs(&content, folder);
            if let (Some(content), false) = (content.as_object_mut(), programs.is_empty()) {
                content.insert("programs".to_owned(), programs.into());
            }
            let name = self.name()?;
            let id = format!("adapter:{}#{name}", trust::file_id(config).trim_start_matches("file:"));
            return Some(TrustSubject { id, kind: TrustKind::Adapter, shown: name, content });
        }
        let shown = self.label();
        let (id, kind) = match &self.source {
            AdapterSource::Document(source) if source.name.starts_with(super::BUILTIN_PREFIX) => {
                (source.name.clone(), TrustKind::Adapter)
            }
            AdapterSource::Document(source) => (trust::file_id(Path::new(&source.name)), TrustKind::Document),
            AdapterSource::Openapi(api) => match &api.description.typed {
                Some(url) => (url.clone(), TrustKind::Address),
                None => (trust::file_id(Path::new(&api.description.name)), TrustKind::Document),
            },
            AdapterSource::Mcp(server) => match &server.target.link {
                McpLink::Url { url, .. } => (url.clone(), TrustKind::Address),
                McpLink::Command(_) => (shown.clone(), TrustKind::Adapter),
            },
        };
        Some(TrustSubject { id, kind, shown, content })
    }

    /// Adds what an adapter can reach, as far as it is known before its target is opened.
    fn add_reach(&self, reach: &mut OuterReach) {
        if let AdapterSource::Mcp(server) = &self.source {
            content::add_target(reach, &TargetConfig::Mcp(server.target.clone()), &server.auth);
        }
    }
}

impl AdapterPlan {
    /// Returns what can be trusted: the configuration, or each adapter that was named.
    pub(crate) fn subjects(&self) -> Vec<TrustSubject> {
        match self.config_subject() {
            Some(subject) => vec![subject],
            None => self.adapters.iter().filter_map(|adapter| adapter.subject(None)).collect(),
        }
    }

    /// Returns the MCP server of a plan with one adapter.
    pub(crate) fn only_server(&self) -> Option<&McpSource> {
        match self.adapters.as_slice() {
            [PlannedAdapter { source: AdapterSource::Mcp(server), .. }] => Some(server),
            _ => None,
        }
    }

    /// Returns the adapter with a name as a subject of trust.
    pub(crate) fn adapter_subject(&self) -> Option<TrustSubject> {
        let config = self.trusted_config.as_ref().map(|config| Path::new(&config.shown));
        self.adapters.first()?.subject(config)
    }

    fn config_subject(&self) -> Option<TrustSubject> {
        if let Some((source, _)) = self.config.as_ref().filter(|_| self.environment.is_some()) {
            let path = Path::new(&source.name);
            // The text of a client's configuration may contain credentials.
            let servers: Map<String, Value> = self
                .adapters
                .iter()
                .filter_map(|one| Some((one.label(), one.subject(None)?.content)))
                .collect();
            let (id, shown) = (trust::file_id(path), source.name.clone());
            return Some(TrustSubject { id, kind: TrustKind::Configuration, shown, content: servers.into() });
        }
        self.trusted_config.clone()
    }

    /// Returns how far each adapter is trusted that the operator has decided about.
    pub(crate) fn trust_levels(&self) -> Result<Vec<(String, TrustLevel)>> {
        let grants = trust::grants()?;
        if grants.is_empty() {
            return Ok(Vec::new());
        }
        let find = |id: &str| grants.iter().find(|grant| grant.subject == id);
        let level = |subject: &TrustSubject| subject.state(find(&subject.id)).level();
        let config = self.config_subject();
        let of_config = config.as_ref().and_then(level);
        let config_path = config.as_ref().map(|config| Path::new(&config.shown));
        let mut levels = Vec::new();
        for adapter in &self.adapters {
            let mut subjects: Vec<TrustSubject> = adapter.subject(None).into_iter().collect();
            subjects.extend(config_path.and_then(|path| adapter.subject(Some(path))));
            // The most specific decision counts: the entry, the file, the configuration.
            let found = subjects.iter().rev().find_map(level).or(of_config);
            if let (Some(level), Some(name)) = (found, adapter.name()) {
                levels.push((name, level));
            }
        }
        Ok(levels)
    }

    /// Tells the gate how far each adapter is trusted.
    ///
    /// # Errors
    /// When the operator's state cannot be read, or the configuration is not trusted.
    pub(crate) fn set_trust(&self, gate: &Gate) -> Result<()> {
        if let Some(untrusted) = &self.untrusted {
            return Err(untrusted.error());
        }
        for (name, level) in self.trust_levels()? {
            gate.set_trust(&name, level);
        }
        Ok(())
    }

    /// Whether the operator has granted exactly this plan.
    pub(crate) fn is_granted(&self, grants: &[TrustGrant]) -> bool {
        let subjects = self.subjects();
        let is_granted = |subject: &TrustSubject| {
            let grant = grants.iter().find(|grant| grant.subject == subject.id);
            matches!(subject.state(grant), TrustState::Granted(_))
        };
        !subjects.is_empty() && subjects.iter().all(is_granted)
    }

    /// Returns what the plan reaches beyond its adapters' documents: files, the data folder and MCP servers.
    pub(crate) fn outer_reach(&self) -> OuterReach {
        let mut reach = OuterReach::new();
        self.adapters.iter().for_each(|adapter| adapter.add_reach(&mut reach));
        reach.extend(self.files.iter().map(|file| format!("file {}", file.display())));
        reach.insert(format!("data {:?}", self.data));
        reach
    }
}
