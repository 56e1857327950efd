//! Finds an adapter of `mcpaql.yaml` by its name, and returns its document with the overrides of its entry.
//!
//! What always holds: the document contains the overrides that a document can express; the others are settings.

use super::super::config::GenerateRequest;
use super::super::error::{GenerateError, GenerateErrorKind};
use super::super::origin;
use super::{Input, ServerImport, adapter_input, file_name, import_openapi, refuse_import_options};
use crate::documents::{
    AdapterLookup, AdapterPlan, AdapterSource, CONFIG_FILE, EntryOverrides, McpSource, PlanPurpose,
    PlannedAdapter, SettingsLayers,
};
use crate::openapi_files;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_core::diagnostic::Severity;
use mcpaql_document::check::{self, CheckOutput};
use mcpaql_document::source::Source;
use mcpaql_import::emit::Provenance;
use mcpaql_runtime::builtin;

/// The result of looking up a name in the configuration.
pub(super) enum InputLookup {
    Adapter(Box<Input>),
    /// No adapter has that name; these are the known names.
    Unknown(Vec<String>),
}

pub(super) fn find_configured(name: &str, request: &GenerateRequest) -> Result<InputLookup, GenerateError> {
    let configured =
        AdapterPlan::find_configured(name, &SettingsLayers::new(request.options.settings.clone()), PlanPurpose::View);
    match configured.map_err(|error| GenerateError::from_error(GenerateErrorKind::Configuration, &error))? {
        AdapterLookup::Adapter { adapter: planned, .. } => {
            configured_input(name, *planned, request).map(Box::new).map(InputLookup::Adapter)
        }
        AdapterLookup::Unknown { names, config } => match config {
            Some((source, diagnostics))
                if names.is_empty()
                    && builtin::document(name).is_none()
                    && diagnostics.iter().any(|one| one.severity == Severity::Error) =>
            {
                let message = format!("{} has errors", source.name);
                Err(GenerateError::from_diagnostics(
                    GenerateErrorKind::Configuration,
                    message,
                    source,
                    diagnostics,
                ))
            }
            _ => Ok(InputLookup::Unknown(names)),
        },
    }
}

fn configured_input(
    name: &str,
    planned: PlannedAdapter,
    request: &GenerateRequest,
) -> Result<Input, GenerateError> {
    let because = format!("'{name}' is an adapter of {CONFIG_FILE}");
    refuse_import_options(&request.import_options, &because, "edit its entry")?;
    let PlannedAdapter { source, mut settings, entry, untrusted, .. } = planned;
    // A project has one adapter, so tools cannot be shared.
    if settings.sharing.take().is_some() && request.options.settings.mode.is_none() {
        let message = format!("{CONFIG_FILE} uses a unified mode, but a project has only one adapter");
        return Err(GenerateError::new(GenerateErrorKind::Configuration, message)
            .hint("pass --mode semantic, or another mode that is not unified"));
    }
    let mut input = match source {
        AdapterSource::Document(source) => configured_document(source, &entry)?,
        AdapterSource::Openapi(import) => import_openapi(*import, |adapter| entry.apply_to_import(adapter))?,
        AdapterSource::Mcp(server) => {
            if let Some(untrusted) = &untrusted {
                // The server would be started for its tools.
                return Err(GenerateError::from_error(GenerateErrorKind::Configuration, &untrusted.error()));
            }
            let McpSource { target, auth, options, import_options, .. } = (*server).clone();
            let import =
                ServerImport { target, auth, options, import_options: &import_options, overrides_file: None };
            import.import_document(None, |adapter| server.set_display_name(adapter))?
        }
    };
    input.origin.iter_mut().for_each(|origin| origin.configured_as = Some(name.to_owned()));
    let chosen = settings.policy.clone().or_else(|| policy(&input.source));
    settings.policies.retain(|own| Some(&own.name) == chosen.as_ref());
    Ok(Input { settings: Some(settings), ..input })
}

/// Returns the policy that a document names.
fn policy(source: &Source) -> Option<String> {
    let value = source.parse().ok()?.value;
    let policy = value.get("policy").or_else(|| value.pointer("/adapter/policy"))?;
    policy.as_str().map(str::to_owned)
}

fn configured_document(source: Source, entry: &EntryOverrides) -> Result<Input, GenerateError> {
    let source = match source.name.strip_prefix("builtin:") {
        Some(name) => Source::new(format!("{name}-adapter.md"), source.text),
        None => source,
    };
    let mut origin = origin::document_origin(&source);
    if entry.is_empty() {
        let file = file_name(&source);
        return Ok(Input { file, source, origin: Some(origin), settings: None, imported: None });
    }
    let (mut overridden, mut problems) = (None, Vec::new());
    let CheckOutput { mut diagnostics, .. } =
        check::check_with(&source, &AdapterSettings::default(), |adapter| {
            problems = entry.apply_to_document(adapter);
            overridden = Some(adapter.clone());
        });
    diagnostics.extend(problems);
    let has_errors = diagnostics.iter().any(|one| one.severity == Severity::Error);
    let Some(adapter) = overridden.filter(|_| !has_errors) else {
        return Err(GenerateError::from_diagnostics(
            GenerateErrorKind::Schema,
            "Schema validation failed",
            source,
            diagnostics,
        ));
    };
    origin.version = Some(adapter.version.clone());
    let fingerprint = Some(openapi_files::fingerprint(&source.text));
    let version = Some(adapter.version.clone());
    let provenance = Provenance { source: source.name, version, fingerprint };
    Ok(Input { origin: Some(origin), ..adapter_input(&adapter, &provenance) })
}
