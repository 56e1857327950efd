//! An adapter of `mcpaql.yaml` by its name → its document, with all that the configuration decides about it.
//!
//! What always holds: the document says what the entry decides, as far as a document can; the rest are settings.

use super::super::config::Wanted;
use super::super::failure::{Failure, Kind};
use super::super::origin;
use super::{Input, Reached, file_name, opened, refuse_choices, rewritten};
use crate::descriptions;
use crate::documents::{
    AdapterSource, CONFIG, Configured, EntryOverrides, Layers, McpSource, Plan, PlannedAdapter,
};
use mcpaql_core::catalog::Settings;
use mcpaql_core::diagnostic::Severity;
use mcpaql_document::check::{self, Checked};
use mcpaql_document::source::Source;
use mcpaql_import::emit::Provenance;
use mcpaql_runtime::builtin;

/// What a name means in the configuration.
pub(super) enum Found {
    Adapter(Box<Input>),
    /// Nothing; these are the names that would.
    Unknown(Vec<String>),
}

pub(super) fn named(name: &str, wanted: &Wanted) -> Result<Found, Failure> {
    let configured = Plan::configured(name, &Layers::new(wanted.options.settings.clone()));
    match configured.map_err(|error| Failure::of(Kind::Configuration, &error))? {
        Configured::Adapter { adapter: planned, .. } => {
            adapter(name, *planned, wanted).map(Box::new).map(Found::Adapter)
        }
        Configured::Unknown { names, config } => match config {
            Some((source, diagnostics))
                if names.is_empty()
                    && builtin::document(name).is_none()
                    && diagnostics.iter().any(|one| one.severity == Severity::Error) =>
            {
                let message = format!("{} cannot be used", source.name);
                Err(Failure::about(Kind::Configuration, message, source, diagnostics))
            }
            _ => Ok(Found::Unknown(names)),
        },
    }
}

fn adapter(name: &str, planned: PlannedAdapter, wanted: &Wanted) -> Result<Input, Failure> {
    let because = format!("'{name}' is an adapter of {CONFIG}");
    refuse_choices(&wanted.importing, &because, "edit its entry")?;
    let PlannedAdapter { source, mut settings, entry, .. } = planned;
    // What is decided for all adapters together means nothing to one that is alone.
    if settings.sharing.take().is_some() && wanted.options.settings.mode.is_none() {
        let message = format!("{CONFIG} gives all adapters the same tools, and a project has one adapter");
        return Err(Failure::new(Kind::Configuration, message).hint("say --mode semantic, or another mode"));
    }
    let mut input = match source {
        AdapterSource::Document(source) => document_of(source, &entry)?,
        AdapterSource::Openapi(import) => opened(*import, |adapter| entry.apply_to_import(adapter))?,
        AdapterSource::Mcp(server) => {
            let McpSource { target, auth, options, importing, .. } = (*server).clone();
            let reached = Reached { target, auth, options, importing: &importing, corrections: None };
            reached.imported(None, |adapter| server.entitle(adapter))?
        }
    };
    input.origin.iter_mut().for_each(|origin| origin.configured_as = Some(name.to_owned()));
    let chosen = settings.policy.clone().or_else(|| policy(&input.source));
    settings.policies.retain(|own| Some(&own.name) == chosen.as_ref());
    Ok(Input { settings: Some(settings), ..input })
}

/// The policy that a document names.
fn policy(source: &Source) -> Option<String> {
    let value = source.parse().ok()?.value;
    let policy = value.get("policy").or_else(|| value.pointer("/adapter/policy"))?;
    policy.as_str().map(str::to_owned)
}

fn document_of(source: Source, entry: &EntryOverrides) -> Result<Input, Failure> {
    let source = match source.name.strip_prefix("builtin:") {
        Some(name) => Source::new(format!("{name}-adapter.md"), source.text),
        None => source,
    };
    let mut origin = origin::configured(&source);
    if entry.is_empty() {
        let file = file_name(&source);
        return Ok(Input { file, source, origin: Some(origin), settings: None, imported: None });
    }
    let (mut decided, mut noticed) = (None, Vec::new());
    let Checked { mut diagnostics, .. } = check::check_with(&source, &Settings::default(), |adapter| {
        noticed = entry.apply_to_document(adapter);
        decided = Some(adapter.clone());
    });
    diagnostics.extend(noticed);
    let is_wrong = diagnostics.iter().any(|one| one.severity == Severity::Error);
    let Some(adapter) = decided.filter(|_| !is_wrong) else {
        return Err(Failure::about(Kind::Schema, "Schema validation failed", source, diagnostics));
    };
    origin.version = Some(adapter.version.clone());
    let fingerprint = Some(descriptions::fingerprint(&source.text));
    let version = Some(adapter.version.clone());
    let provenance = Provenance { source: source.name, version, fingerprint };
    Ok(Input { origin: Some(origin), ..rewritten(&adapter, &provenance) })
}
