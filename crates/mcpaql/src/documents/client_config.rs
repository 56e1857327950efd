//! The servers of a client's own configuration (`mcpServers`, `servers`, Codex's `mcp_servers`), served as they are, without an import step.

use super::config::resolve_adapter_entry;
use super::{AdapterEnvironment, AdapterPlan, EntryOverrides, SettingsLayers};
use crate::clients::config_file;
use crate::clients::config_import::{ClientConfig, ConfigImport, SkippedServer};
use crate::output;
use anyhow::Result;
use mcpaql_core::adapter::{McpCommand, McpLink, McpTarget};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::template::EnvTemplate;
use mcpaql_document::config::AdapterOrigin;
use mcpaql_document::source::Source;
use mcpaql_runtime::environment::Environment;
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::Path;

impl AdapterPlan {
    /// Returns the plan for a client's configuration; `None` if the file is none. Servers that cannot be served are reported.
    pub(super) fn from_client_config(path: &Path, layers: &SettingsLayers) -> Result<Option<AdapterPlan>> {
        if !has_known_extension(path) {
            return Ok(None);
        }
        let configuration = config_file::read_file(path, None)?;
        if !has_only_servers(&configuration) {
            return Ok(None);
        }
        let mut import = ConfigImport::from_configs(&[configuration]);
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut plan = AdapterPlan {
            files: vec![path.to_path_buf()],
            environment: Some(AdapterEnvironment::new(import.variables.values())),
            ..AdapterPlan::default()
        };
        let environment = AdapterEnvironment::new(import.variables.values()).lookup();
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        for imported in &mut import.imported {
            if let AdapterOrigin::Mcp(target) = &mut imported.entry.origin {
                diagnostics.extend(without_unset(&imported.server, target, &environment));
            }
        }
        let mut servers = HashSet::new();
        for imported in &import.imported {
            let entry = &imported.entry;
            let settings = layers.resolve_entry(&entry.settings);
            let (source, overrides) = match resolve_adapter_entry(entry, folder, &mut servers) {
                Ok((source, overrides)) => (Ok(source), overrides),
                Err(error) => (Err(error), EntryOverrides::default()),
            };
            plan.add(
                &format!("mcp:{}", entry.name.as_deref().unwrap_or_default()),
                source,
                settings,
                overrides,
            );
        }
        for adapter in &mut plan.adapters {
            adapter.environment.clone_from(&plan.environment);
        }
        diagnostics.extend(import.skipped.iter().map(skipped));
        if import.imported.is_empty() {
            plan.is_config_broken = true;
            diagnostics.push(Diagnostic::error(
                Code::SchemaInvalidValue,
                "",
                "The configuration has no server that can be served",
            ));
        }
        // The text of a client's configuration may contain credentials, so that no line of it is shown.
        let source = Source::new(path.display().to_string(), String::new());
        source.locate(&mut diagnostics);
        plan.config = Some((source, diagnostics));
        Ok(Some(plan))
    }
}

fn has_known_extension(path: &Path) -> bool {
    let is_known =
        |extension: &OsStr| ["json", "toml"].iter().any(|known| extension.eq_ignore_ascii_case(known));
    path.extension().is_some_and(is_known)
}

fn has_only_servers(configuration: &ClientConfig) -> bool {
    let others = ["adapters", "operations", "openapi", "swagger"];
    configuration.has_servers() && others.iter().all(|key| configuration.value.get(key).is_none())
}

/// Whether a file is the configuration of a client.
pub(super) fn is_client_config(path: &Path) -> bool {
    has_known_extension(path)
        && path.is_file()
        && config_file::read_file(path, None).is_ok_and(|configuration| has_only_servers(&configuration))
}

/// Removes the variables and headers of a server whose values refer to variables that are not set: clients start such a server, too.
/// Warns about each.
fn without_unset(server: &str, target: &mut McpTarget, environment: &Environment) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    let unset = |value: &str| EnvTemplate::parse(value)?.fill(&**environment).err().map(str::to_owned);
    let server = output::sanitize_line(server);
    let mut warn = |variable: &str, effect: String| {
        let message = format!("The variable {variable} is not set: {effect}");
        let next = format!("set {variable} where mcpaql runs, or remove it from the configuration");
        warnings.push(Diagnostic::warning(Code::SchemaUnresolvedRef, "", message).suggest(next));
    };
    match &mut target.link {
        McpLink::Command(McpCommand { set_env, env, .. }) => set_env.retain(|name, value| {
            let Some(variable) = unset(value) else { return true };
            warn(&variable, format!("the server '{server}' starts without {name}"));
            if variable == *name {
                // The server gets it as soon as it is set.
                env.push(name.clone());
            }
            false
        }),
        McpLink::Url { headers, .. } => headers.retain(|name, value| {
            let Some(variable) = unset(value) else { return true };
            warn(&variable, format!("requests to the server '{server}' have no header {name}"));
            false
        }),
    }
    warnings
}

fn skipped(SkippedServer { server, reason }: &SkippedServer) -> Diagnostic {
    let message = format!("The server '{}' is not served: {reason}", output::sanitize_line(server));
    Diagnostic::warning(Code::SchemaUnsupported, "", message)
}
