//! Reads the source of the adapter, and returns the document that the project contains. OpenAPI descriptions and MCP servers are
//! imported as documents.
//!
//! What always holds: the project contains the text that its catalog was compiled from, so `mcpaql serve schema/FILE` serves the same
//! adapter.

mod configured;

use super::config::{GenerateRequest, GenerateSource};
use super::error::{GenerateError, GenerateErrorKind, GenerateIssue};
use super::origin;
use crate::args::ImportOptions;
use crate::commands::import;
use crate::documents::CONFIG_FILE;
use crate::file;
use crate::openapi_files::{self, Description};
use crate::{args, documents, servers};
use configured::InputLookup;
use mcpaql_core::adapter::{Adapter, Auth, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_core::catalog::AdapterSettings;
use mcpaql_document::source::{Source, SourceFormat};
use mcpaql_generate::provenance;
use mcpaql_import::emit::{self, Provenance};
use mcpaql_import::report::{ClassifiedOperation, ImportReport, Note, Notes};
use mcpaql_import::{mcp, openapi};
use mcpaql_runtime::{builtin, environment};
use serde_json::Value;
use std::path::Path;

/// The document of a project, and the findings of its import.
#[derive(Debug)]
pub(crate) struct Input {
    /// Its file name in the project: letters, digits, `.`, `_` and `-`.
    pub(crate) file: String,
    pub(crate) source: Source,
    /// What the document was derived from, unless it was written by hand.
    pub(crate) origin: Option<provenance::DocumentOrigin>,
    /// For an adapter of `mcpaql.yaml`: its settings there, overridden by the flags.
    pub(crate) settings: Option<AdapterSettings>,
    pub(crate) imported: Option<ImportFindings>,
}

/// The findings of an import.
#[derive(Debug)]
pub(crate) struct ImportFindings {
    /// All warnings, including those in the summary.
    pub(crate) warnings: Vec<GenerateIssue>,
    /// Parts of the source that a document cannot express.
    pub(crate) lost_parts: Vec<GenerateIssue>,
    /// Number of operations by category.
    pub(crate) counts: Value,
    /// The summary as text.
    pub(crate) summary: String,
}

pub(crate) fn read(args: &args::GenerateArgs, request: &GenerateRequest) -> Result<Input, GenerateError> {
    match &request.source {
        GenerateSource::Schema(name) => schema(name, request),
        GenerateSource::Openapi(source) => {
            let description = openapi_files::read(source)
                .map_err(|error| GenerateError::from_error(GenerateErrorKind::Io, &error))?;
            openapi_input(description, request)
        }
        GenerateSource::Server => server_input(args, request),
    }
}

fn schema(name: &str, request: &GenerateRequest) -> Result<Input, GenerateError> {
    let path = Path::new(name);
    if openapi_files::is_url(name) {
        let description = openapi_files::read(name)
            .map_err(|error| GenerateError::from_error(GenerateErrorKind::Io, &error))?;
        return openapi_input(description, request);
    }
    // A folder may have the name of an adapter, such as the project that was generated before.
    if !path.exists() || path.is_dir() {
        return find_adapter(name, request);
    }
    let text =
        file::read_text(path).map_err(|error| GenerateError::from_error(GenerateErrorKind::Io, &error))?;
    if openapi::is_description(&text) {
        return openapi_input(openapi_files::from_text(name, text), request);
    }
    document_input(Source::new(name, text), request)
}

/// Finds an adapter of the configuration or a built-in adapter.
fn find_adapter(name: &str, request: &GenerateRequest) -> Result<Input, GenerateError> {
    let mut others = Vec::new();
    if Path::new(CONFIG_FILE).exists() {
        match configured::find_configured(name, request)? {
            InputLookup::Adapter(input) => return Ok(*input),
            InputLookup::Unknown(names) => others = names,
        }
    }
    if let Some(source) = builtin::document(name) {
        return document_input(Source::new(format!("{name}-adapter.md"), source.text), request);
    }
    let is_folder = Path::new(name).is_dir();
    if !others.is_empty() && !is_folder {
        return Err(GenerateError::from_error(
            GenerateErrorKind::Io,
            &documents::unknown_adapter_error(name, &others),
        ));
    }
    let message = if is_folder { format!("'{name}' is a folder") } else { format!("'{name}' not found") };
    let known: Vec<&str> = builtin::names().collect();
    let hint = format!(
        "pass an adapter document, an OpenAPI description, or a built-in adapter ({})",
        known.join(", ")
    );
    Err(GenerateError::new(GenerateErrorKind::Io, message).hint(hint))
}

/// Returns an adapter document unchanged.
fn document_input(source: Source, request: &GenerateRequest) -> Result<Input, GenerateError> {
    refuse_import_options(
        &request.import_options,
        &format!("{} is an adapter document", source.name),
        "edit the document",
    )?;
    Ok(Input { file: file_name(&source), source, origin: None, settings: None, imported: None })
}

/// Refuses import options for a source that is not imported.
fn refuse_import_options(
    import_options: &ImportOptions,
    because: &str,
    instead: &str,
) -> Result<(), GenerateError> {
    match import_options.first_given() {
        None => Ok(()),
        Some(what) => {
            let message = format!("`{what}` applies only to imports, but {because}");
            Err(GenerateError::new(GenerateErrorKind::Configuration, message)
                .hint(format!("remove the option and {instead} instead")))
        }
    }
}

/// Returns the file name of the document, or a name that every language and file system accepts.
fn file_name(source: &Source) -> String {
    let path = Path::new(&source.name);
    let is_plain = |text: &str| {
        !text.starts_with('.')
            && text.len() <= 100
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
    };
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let is_known = ["md", "markdown", "yaml", "yml", "json"].contains(&extension);
    match path.file_name().and_then(|name| name.to_str()) {
        Some(name) if is_plain(name) && is_known => name.to_owned(),
        _ => {
            let extension = match source.parse().map(|parsed| parsed.format) {
                Ok(SourceFormat::Json) => "json",
                Ok(SourceFormat::Yaml) => "yaml",
                _ => "md",
            };
            let stem = path
                .file_stem()
                .and_then(|stem| stem.to_str())
                .filter(|stem| is_plain(stem) && !stem.is_empty());
            format!("{}.{extension}", stem.unwrap_or("adapter"))
        }
    }
}

fn openapi_input(description: Description, request: &GenerateRequest) -> Result<Input, GenerateError> {
    let import = documents::OpenApiSource::new(description, &request.import_options)
        .map_err(|error| GenerateError::from_error(GenerateErrorKind::Configuration, &error))?;
    import_openapi(import, |_| {})
}

/// Imports an OpenAPI description as a document; `adjust` applies the overrides of the configuration.
fn import_openapi(
    openapi: documents::OpenApiSource,
    adjust: impl FnOnce(&mut Adapter),
) -> Result<Input, GenerateError> {
    let from = openapi.description.name.clone();
    let fingerprint = openapi_files::fingerprint(&openapi.description.text);
    let mut origin = origin::openapi_origin(&openapi.description, &openapi.import_options);
    let import = openapi.open().map_err(|(source, diagnostics)| {
        let is_description = source.name == from;
        let kind = if is_description { GenerateErrorKind::Schema } else { GenerateErrorKind::Configuration };
        GenerateError::from_diagnostics(kind, format!("{} has errors", source.name), source, diagnostics)
    })?;
    let openapi::FullAdapter { mut adapter, notes } = openapi::full_adapter(&import);
    if adapter.operations.is_empty() {
        let message = format!("{from} has no operations");
        return Err(GenerateError::new(GenerateErrorKind::Schema, message)
            .hint("`paths` must be an object with at least one operation"));
    }
    adjust(&mut adapter);
    origin.version.clone_from(&import.version);
    let provenance = Provenance { source: from, version: import.version, fingerprint: Some(fingerprint) };
    let report = import.report.without_unreadable(&adapter);
    Ok(imported_input(&adapter, &provenance, &report, &notes, origin))
}

fn server_input(args: &args::GenerateArgs, request: &GenerateRequest) -> Result<Input, GenerateError> {
    let configuration =
        |error: &anyhow::Error| GenerateError::from_error(GenerateErrorKind::Configuration, error);
    let server = servers::server_target(args.url.as_deref(), &args.command, &args.access)
        .map_err(|e| configuration(&e))?;
    let Some((target, auth)) = server else {
        let hint = "pass the server's command after `--`, or --url URL";
        let message = "--tools needs the command or the URL of the server";
        return Err(GenerateError::new(GenerateErrorKind::Configuration, message).hint(hint));
    };
    let (overrides_file, overrides) =
        documents::read_overrides(&request.import_options).map_err(|e| configuration(&e))?;
    let selection = request.import_options.selection().map_err(|e| configuration(&e))?;
    let options = mcp::McpImportOptions {
        name: request.import_options.name.clone(),
        selection,
        overrides,
        keep_input_schemas: false,
    };
    let server =
        ServerImport { target, auth, options, import_options: &request.import_options, overrides_file };
    server.import_document(args.tools.as_deref(), |_| {})
}

/// An MCP server, and the options of its import.
struct ServerImport<'a> {
    target: McpTarget,
    auth: Auth,
    options: mcp::McpImportOptions,
    import_options: &'a ImportOptions,
    /// The overrides file, if there is one.
    overrides_file: Option<Source>,
}

impl ServerImport<'_> {
    /// Imports the tools of the server, or the saved tools, as a document; `adjust` applies the overrides of the configuration.
    fn import_document(
        self,
        saved: Option<&Path>,
        adjust: impl FnOnce(&mut Adapter),
    ) -> Result<Input, GenerateError> {
        let ServerImport { target, auth, options, import_options, overrides_file } = self;
        let capture = match saved {
            Some(path) => servers::read_saved_tools(path)
                .map_err(|error| GenerateError::from_error(GenerateErrorKind::Schema, &error))?,
            None => capture_server(&target, &auth)?,
        };
        if capture.tools.is_empty() {
            return Err(GenerateError::new(GenerateErrorKind::Schema, "the server has no tools"));
        }
        let mut origin = origin::server_origin(&capture, saved, &target, import_options);
        let mut imported = mcp::import(&capture, target, auth, &options).map_err(|mut diagnostics| {
            let source = overrides_file.unwrap_or_else(|| Source::new("overrides", String::new()));
            source.locate(&mut diagnostics);
            let message = format!("{} has errors", source.name);
            GenerateError::from_diagnostics(GenerateErrorKind::Configuration, message, source, diagnostics)
        })?;
        adjust(&mut imported.adapter);
        let fingerprint = openapi_files::fingerprint(&mcp::canonical(&capture));
        let from = import::mcp::source_name(&capture, &imported, saved);
        origin.version.clone_from(&imported.version);
        let provenance =
            Provenance { source: from, version: imported.version, fingerprint: Some(fingerprint) };
        Ok(imported_input(&imported.adapter, &provenance, &imported.report, &imported.notes, origin))
    }
}

fn capture_server(target: &McpTarget, auth: &Auth) -> Result<Capture, GenerateError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime =
        runtime.map_err(|error| GenerateError::new(GenerateErrorKind::Internal, error.to_string()))?;
    let capture = runtime.block_on(servers::capture_server(target, auth, &environment::process()));
    runtime.shutdown_background();
    capture.map_err(|error| GenerateError::from_error(GenerateErrorKind::Io, &error))
}

/// Returns the document of an import, with its findings.
fn imported_input(
    adapter: &Adapter,
    provenance: &Provenance,
    report: &ImportReport,
    notes: &Notes,
    origin: provenance::DocumentOrigin,
) -> Input {
    let counts = report.to_json(notes).get_mut("counts").map(Value::take).unwrap_or_default();
    let imported = ImportFindings {
        warnings: report
            .reviews()
            .map(review_issue)
            .chain(report.diagnostics.iter().map(GenerateIssue::from_diagnostic))
            .collect(),
        lost_parts: notes.iter().flat_map(|(operation, notes)| lost_part_issues(operation, notes)).collect(),
        counts,
        summary: report.summary(notes, "--verbose"),
    };
    Input { origin: Some(origin), imported: Some(imported), ..adapter_input(adapter, provenance) }
}

/// Returns the document of an adapter.
fn adapter_input(adapter: &Adapter, provenance: &Provenance) -> Input {
    let stem = adapter.name.strip_suffix("-adapter").unwrap_or(&adapter.name);
    let file = format!("{stem}-adapter.md");
    let source = Source::new(file.clone(), emit::markdown(adapter, provenance));
    Input { file, source, origin: None, settings: None, imported: None }
}

/// Returns an issue for each part of an operation that a document cannot express.
fn lost_part_issues<'a>(operation: &'a str, notes: &'a [Note]) -> impl Iterator<Item = GenerateIssue> + 'a {
    notes.iter().filter(|note| note.lost).map(move |note| {
        GenerateIssue::new(format!("{operation}.{}", note.place), "IMPORT_PART_LOST", note.what.clone())
    })
}

/// Returns a warning for an operation that the user should review.
fn review_issue((operation, why): (&ClassifiedOperation, String)) -> GenerateIssue {
    let message = format!("review {}: {why}", operation.name);
    GenerateIssue::new(operation.origin.to_string(), "IMPORT_TO_REVIEW", message)
        .suggest("confirm or correct it with --overrides")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_its_name_if_it_is_portable() {
        for (name, text, file) in [
            ("/a/b/github-api-adapter.md", "", "github-api-adapter.md"),
            ("x.yaml", "a: 1", "x.yaml"),
            ("x.JSON", "{}", "x.json"),
            ("noend", "{\"a\": 1}", "noend.json"),
            ("my \"own\".yml", "a: 1", "adapter.yaml"),
            (".hidden.md", "---\na: 1\n---\n", "adapter.md"),
            ("größe.md", "---\na: 1\n---\n", "adapter.md"),
        ] {
            assert_eq!(file_name(&Source::new(name, text)), file, "{name}");
        }
    }
}
