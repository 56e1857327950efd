//! `mcpaql import openapi`.

use super::{Done, check_overwrite};
use crate::documents::OpenApiSource;
use crate::{Outcome, args, descriptions, output};
use anyhow::Result;
use mcpaql_import::emit::Provenance;
use mcpaql_import::openapi::{self, Whole};
use std::path::Path;

pub(crate) fn run(args: &args::ImportOpenapi) -> Result<Outcome> {
    let description = descriptions::read(&args.source)?;
    let source = description.name.clone();
    let fingerprint = descriptions::fingerprint(&description.text);
    let wanted = OpenApiSource::new(description, &args.importing)?;
    let overrides = args.importing.overrides.as_deref();
    check_overwrite(&args.written, overrides.into_iter().chain([Path::new(&args.source)]))?;
    let import = match wanted.open() {
        Ok(import) => import,
        Err((source, diagnostics)) => {
            output::diagnostics(&source, &diagnostics);
            return Ok(Outcome::Findings);
        }
    };
    let Whole { adapter, notes } = openapi::whole(&import);
    let provenance = Provenance { source, version: import.version, fingerprint: Some(fingerprint) };
    let report = import.report.without_lost(&adapter);
    Done { adapter, report, notes, provenance }.write(&args.written)?;
    Ok(Outcome::Clean)
}
