//! `mcpaql import openapi`: creates an adapter document from an OpenAPI description.

use super::{ImportResult, check_overwrite};
use crate::documents::OpenApiSource;
use crate::openapi_files::{self, Description};
use crate::output::error_with_hint;
use crate::{CommandOutcome, args, output};
use anyhow::Result;
use mcpaql_document::source::Source;
use mcpaql_import::emit::Provenance;
use mcpaql_import::openapi::{self, FullAdapter};
use std::path::Path;

pub(crate) fn run(args: &args::ImportOpenapiArgs) -> Result<CommandOutcome> {
    let description = openapi_files::read(&args.source)?;
    check_is_description(&description)?;
    let source = description.name.clone();
    let fingerprint = openapi_files::fingerprint(&description.text);
    let openapi = OpenApiSource::new(description, &args.import_options)?;
    let overrides = args.import_options.overrides.as_deref();
    check_overwrite(&args.output_args, overrides.into_iter().chain([Path::new(&args.source)]))?;
    let import = match openapi.open() {
        Ok(import) => import,
        Err((source, diagnostics)) => {
            output::print_diagnostics(&source, &diagnostics);
            return Ok(CommandOutcome::Findings);
        }
    };
    let FullAdapter { adapter, notes } = openapi::full_adapter(&import);
    let provenance = Provenance { source, version: import.version, fingerprint: Some(fingerprint) };
    let report = import.report.without_unreadable(&adapter);
    ImportResult { adapter, report, notes, provenance }.checked().write(&args.output_args)?;
    Ok(CommandOutcome::Clean)
}

/// Refuses an adapter document, which needs no import.
fn check_is_description(description: &Description) -> Result<()> {
    let Description { name, text, .. } = description;
    let is_adapter = || {
        let parsed = Source::new(name.as_str(), text.as_str()).parse();
        parsed.is_ok_and(|parsed| parsed.value.get("operations").is_some())
    };
    if openapi::is_description(text) || !is_adapter() {
        return Ok(());
    }
    Err(error_with_hint(
        format!("{name} is an adapter document, not an OpenAPI description"),
        format!("it needs no import; serve it with `mcpaql serve {name}`"),
    ))
}
