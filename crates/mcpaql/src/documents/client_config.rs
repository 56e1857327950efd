//! The servers of a client's own configuration (`mcpServers`, `servers`), served as they are, without an import step.

use super::config::resolve_adapter_entry;
use super::{AdapterEnvironment, AdapterPlan, EntryOverrides, SettingsLayers};
use crate::clients::config_file;
use crate::clients::config_import::{ConfigImport, SkippedServer};
use crate::output;
use anyhow::Result;
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_document::source::Source;
use std::collections::HashSet;
use std::path::Path;

impl AdapterPlan {
    /// Returns the plan for a client's configuration; `None` if the file is none. Servers that cannot be served are reported.
    pub(super) fn from_client_config(path: &Path, layers: &SettingsLayers) -> Result<Option<AdapterPlan>> {
        if path.extension().is_none_or(|extension| extension != "json") {
            return Ok(None);
        }
        let configuration = config_file::read_file(path, None)?;
        if configuration.value.get("adapters").is_some() || !configuration.has_servers() {
            return Ok(None);
        }
        let import = ConfigImport::from_configs(&[configuration]);
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut plan = AdapterPlan {
            files: vec![path.to_path_buf()],
            environment: Some(AdapterEnvironment(import.environment())),
            ..AdapterPlan::default()
        };
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
        let mut diagnostics: Vec<Diagnostic> = import.skipped.iter().map(skipped).collect();
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

fn skipped(SkippedServer { server, reason }: &SkippedServer) -> Diagnostic {
    let message = format!("The server '{}' is not served: {reason}", output::sanitize_line(server));
    Diagnostic::warning(Code::SchemaUnsupported, "", message)
}
