//! `mcpaql import openapi`: creates an adapter document from an OpenAPI description.

use super::{ImportResult, check_overwrite};
use crate::documents::OpenApiSource;
use crate::{CommandOutcome, args, openapi_files, output};
use anyhow::Result;
use mcpaql_import::emit::Provenance;
use mcpaql_import::openapi::{self, FullAdapter};
use std::path::Path;

pub(crate) fn run(args: &args::ImportOpenapiArgs) -> Result<CommandOutcome> {
    let description = openapi_files::read(&args.source)?;
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
