//! `mcpaql import`: creates an adapter document from an OpenAPI description or an MCP server.

pub(crate) mod mcp;
pub(crate) mod openapi;

use crate::file;
use crate::output::error_with_hint;
use crate::{args, output};
use anyhow::Result;
use mcpaql_core::adapter::Adapter;
use mcpaql_core::flagged;
use mcpaql_document::source::SourceFormat;
use mcpaql_import::emit::{self, Provenance};
use mcpaql_import::report::{ImportReport, Notes};
use std::path::Path;

/// The result of an import.
struct ImportResult {
    adapter: Adapter,
    report: ImportReport,
    notes: Notes,
    provenance: Provenance,
}

impl ImportResult {
    /// Reports poisoned texts, and removes invisible characters.
    fn checked(mut self) -> ImportResult {
        self.report.diagnostics.extend(flagged::clean_adapter(&mut self.adapter));
        self
    }

    /// Writes the document and prints the report.
    fn write(&self, args: &args::ImportOutputArgs) -> Result<()> {
        let ImportResult { adapter, report, notes, provenance } = self;
        let document = match (&args.output, args.report) {
            (Some(path), _) => {
                let format = SourceFormat::of_extension(&path.to_string_lossy());
                let text = emit::document(adapter, provenance, format.unwrap_or(SourceFormat::Markdown));
                Some((path, write_to_existing_folder(path, &text)?))
            }
            (None, None) => {
                output::print_data(&emit::markdown(adapter, provenance));
                None
            }
            (None, Some(_)) => None,
        };
        match args.report {
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

/// Writes a file into a folder that must exist: a missing folder is most likely a typing error.
fn write_to_existing_folder<'p>(path: &'p Path, text: &str) -> Result<file::WrittenFile<'p>> {
    match path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists()) {
        Some(folder) => Err(error_with_hint(
            format!("cannot write {}: folder {} not found", path.display(), folder.display()),
            "create the folder, or correct the path",
        )),
        None => file::write(path, text),
    }
}

/// Refuses to overwrite input files, and files that were not written by an import.
fn check_overwrite<'p>(
    args: &args::ImportOutputArgs,
    inputs: impl IntoIterator<Item = &'p Path>,
) -> Result<()> {
    if let Some(path) = &args.output {
        file::check_not_input(path, inputs)?;
    }
    match args.output.as_deref().filter(|_| !args.force) {
        Some(path) => {
            file::check_written_by_us(path, "is not an imported adapter document", emit::is_imported)
        }
        None => Ok(()),
    }
}
