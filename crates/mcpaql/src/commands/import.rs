//! `mcpaql import`: the description of an API, or an MCP server, → an adapter document.

pub(crate) mod mcp;
pub(crate) mod openapi;

use crate::file;
use crate::{args, output};
use anyhow::{Result, bail};
use mcpaql_core::adapter::Adapter;
use mcpaql_import::emit::{self, Provenance};
use mcpaql_import::report::{ImportReport, Notes};
use std::path::Path;

/// What came of an import.
struct ImportResult {
    adapter: Adapter,
    report: ImportReport,
    notes: Notes,
    provenance: Provenance,
}

impl ImportResult {
    /// Writes the document and reports what was decided.
    fn write(&self, written: &args::ImportOutputArgs) -> Result<()> {
        let ImportResult { adapter, report, notes, provenance } = self;
        let document = match (&written.output, written.report) {
            (Some(path), _) => {
                Some((path, write_to_existing_folder(path, &emit::markdown(adapter, provenance))?))
            }
            (None, None) => {
                output::print_data(&emit::markdown(adapter, provenance));
                None
            }
            (None, Some(_)) => None,
        };
        match written.report {
            Some(args::ReportFormat::Json) => {
                output::print_data(&serde_json::to_string_pretty(&report.to_json(notes))?)
            }
            Some(args::ReportFormat::Text) => output::print_data(&output::sanitize(&report.text(notes))),
            None => output::status_lines(&report.summary(notes, "--report text")),
        }
        if let Some((path, written)) = document.filter(|(path, _)| !file::is_dash(path)) {
            output::status_line(&format!("Wrote {written}; serve it with `mcpaql serve {}`", path.display()));
        }
        Ok(())
    }
}

/// Writes a file into a folder that is there: a missing one is a slip.
fn write_to_existing_folder<'p>(path: &'p Path, text: &str) -> Result<file::WrittenFile<'p>> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        Some(folder) => bail!("cannot write {}: there is no folder {}", path.display(), folder.display()),
        None => file::write(path, text),
    }
}

/// Refuses to write over files of others, and over files that are read.
fn check_overwrite<'p>(
    written: &args::ImportOutputArgs,
    read: impl IntoIterator<Item = &'p Path>,
) -> Result<()> {
    if let Some(path) = &written.output {
        file::check_not_input(path, read)?;
    }
    match written.output.as_deref().filter(|_| !written.force) {
        Some(path) => {
            file::check_written_by_us(path, "is not an imported adapter document", emit::is_imported)
        }
        None => Ok(()),
    }
}
