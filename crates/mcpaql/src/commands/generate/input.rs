//! What the adapter is made from → the document that the project carries.
//!
//! What always holds: the project carries the text that its catalog was compiled from, so `mcpaql serve schema/FILE` serves the
//! same. A description, and what an MCP server says, become a document on the way.

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
use mcpaql_import::select::Selection;
use mcpaql_import::{mcp, openapi};
use mcpaql_runtime::{builtin, environment};
use serde_json::Value;
use std::path::Path;

/// A document, and what was noticed while it came to be.
#[derive(Debug)]
pub(crate) struct Input {
    /// Its name in the project: letters, digits, `.`, `_` and `-`.
    pub(crate) file: String,
    pub(crate) source: Source,
    /// What it was derived from, where nobody wrote it.
    pub(crate) origin: Option<provenance::DocumentOrigin>,
    /// The flags over what `mcpaql.yaml` decides, for one of its adapters.
    pub(crate) settings: Option<AdapterSettings>,
    pub(crate) imported: Option<ImportFindings>,
}

/// What an import decided.
#[derive(Debug)]
pub(crate) struct ImportFindings {
    /// What it noticed, all that the summary names included.
    pub(crate) warnings: Vec<GenerateIssue>,
    /// What could not be expressed.
    pub(crate) lost_parts: Vec<GenerateIssue>,
    /// How many operations became what.
    pub(crate) counts: Value,
    /// For people.
    pub(crate) summary: String,
}

pub(crate) fn read(args: &args::GenerateArgs, wanted: &GenerateRequest) -> Result<Input, GenerateError> {
    match &wanted.source {
        GenerateSource::Schema(name) => schema(name, wanted),
        GenerateSource::Openapi(source) => {
            let description = openapi_files::read(source)
                .map_err(|error| GenerateError::from_error(GenerateErrorKind::Io, &error))?;
            openapi_input(description, wanted)
        }
        GenerateSource::Server => server_input(args, wanted),
    }
}

fn schema(name: &str, wanted: &GenerateRequest) -> Result<Input, GenerateError> {
    let path = Path::new(name);
    if openapi_files::is_url(name) {
        let description = openapi_files::read(name)
            .map_err(|error| GenerateError::from_error(GenerateErrorKind::Io, &error))?;
        return openapi_input(description, wanted);
    }
    // A folder may have the name of an adapter, such as one that was generated before.
    if !path.exists() || path.is_dir() {
        return find_adapter(name, wanted);
    }
    let text =
        file::read_text(path).map_err(|error| GenerateError::from_error(GenerateErrorKind::Io, &error))?;
    if openapi::is_description(&text) {
        return openapi_input(openapi_files::from_text(name, text), wanted);
    }
    document_input(Source::new(name, text), wanted)
}

/// An adapter of the configuration, else a built-in one.
fn find_adapter(name: &str, wanted: &GenerateRequest) -> Result<Input, GenerateError> {
    let mut others = Vec::new();
    if Path::new(CONFIG_FILE).exists() {
        match configured::find_configured(name, wanted)? {
            InputLookup::Adapter(input) => return Ok(*input),
            InputLookup::Unknown(names) => others = names,
        }
    }
    if let Some(source) = builtin::document(name) {
        return document_input(Source::new(format!("{name}-adapter.md"), source.text), wanted);
    }
    let is_folder = Path::new(name).is_dir();
    if !others.is_empty() && !is_folder {
        return Err(GenerateError::from_error(
            GenerateErrorKind::Io,
            &documents::unknown_adapter_error(name, &others),
        ));
    }
    let message =
        if is_folder { format!("'{name}' is a folder") } else { format!("there is no file '{name}'") };
    let known: Vec<&str> = builtin::names().collect();
    let hint = format!(
        "name an adapter document, an OpenAPI description, or a built-in adapter ({})",
        known.join(", ")
    );
    Err(GenerateError::new(GenerateErrorKind::Io, message).hint(hint))
}

/// A document as it is.
fn document_input(source: Source, wanted: &GenerateRequest) -> Result<Input, GenerateError> {
    refuse_import_options(
        &wanted.import_options,
        &format!("{} is an adapter document", source.name),
        "edit the document",
    )?;
    Ok(Input { file: file_name(&source), source, origin: None, settings: None, imported: None })
}

/// Refuses what decides about imports where something else does.
fn refuse_import_options(
    importing: &ImportOptions,
    because: &str,
    instead: &str,
) -> Result<(), GenerateError> {
    let given = [
        ("name", importing.name.is_some()),
        ("overrides", importing.overrides.is_some()),
        ("include", !importing.include.is_empty()),
        ("exclude", !importing.exclude.is_empty()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        None => Ok(()),
        Some((what, _)) => {
            let message = format!("`{what}` decides about imports, and {because}");
            Err(GenerateError::new(GenerateErrorKind::Configuration, message)
                .hint(format!("leave it out, and {instead} instead")))
        }
    }
}

/// The document's own name as far as every language and file system takes it.
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

fn openapi_input(description: Description, wanted: &GenerateRequest) -> Result<Input, GenerateError> {
    let import = documents::OpenApiSource::new(description, &wanted.import_options)
        .map_err(|error| GenerateError::from_error(GenerateErrorKind::Configuration, &error))?;
    import_openapi(import, |_| {})
}

/// The document of a description, with what is `decided` over it.
fn import_openapi(
    wanted: documents::OpenApiSource,
    decided: impl FnOnce(&mut Adapter),
) -> Result<Input, GenerateError> {
    let from = wanted.description.name.clone();
    let fingerprint = openapi_files::fingerprint(&wanted.description.text);
    let mut origin = origin::openapi_origin(&wanted.description, &wanted.import_options);
    let import = wanted.open().map_err(|(source, diagnostics)| {
        let is_description = source.name == from;
        let kind = if is_description { GenerateErrorKind::Schema } else { GenerateErrorKind::Configuration };
        GenerateError::from_diagnostics(kind, format!("{} cannot be used", source.name), source, diagnostics)
    })?;
    let openapi::FullAdapter { mut adapter, notes } = openapi::full_adapter(&import);
    if adapter.operations.is_empty() {
        let message = format!("{from} describes no operation");
        return Err(GenerateError::new(GenerateErrorKind::Schema, message)
            .hint("`paths` must be an object that holds at least one operation"));
    }
    decided(&mut adapter);
    origin.version.clone_from(&import.version);
    let provenance = Provenance { source: from, version: import.version, fingerprint: Some(fingerprint) };
    let report = import.report.without_unreadable(&adapter);
    Ok(imported_input(&adapter, &provenance, &report, &notes, origin))
}

fn server_input(args: &args::GenerateArgs, wanted: &GenerateRequest) -> Result<Input, GenerateError> {
    let configuration =
        |error: &anyhow::Error| GenerateError::from_error(GenerateErrorKind::Configuration, error);
    let reached = servers::server_target(args.url.as_deref(), &args.command, &args.access)
        .map_err(|e| configuration(&e))?;
    let Some((target, auth)) = reached else {
        let hint = "name its command behind `--`, or its address with --url";
        let message = "nothing says how the server of these tools is reached";
        return Err(GenerateError::new(GenerateErrorKind::Configuration, message).hint(hint));
    };
    let (corrections, overrides) =
        documents::read_overrides(&wanted.import_options).map_err(|e| configuration(&e))?;
    let selection = Selection::parse(&wanted.import_options.include, &wanted.import_options.exclude)
        .map_err(|error| GenerateError::new(GenerateErrorKind::Configuration, error.to_string()))?;
    let options = mcp::McpImportOptions { name: wanted.import_options.name.clone(), selection, overrides };
    let server = ServerImport { target, auth, options, import_options: &wanted.import_options, corrections };
    server.import_document(args.tools.as_deref(), |_| {})
}

/// An MCP server and how what it says is imported.
struct ServerImport<'a> {
    target: McpTarget,
    auth: Auth,
    options: mcp::McpImportOptions,
    import_options: &'a ImportOptions,
    /// The file of corrections, where there is one.
    corrections: Option<Source>,
}

impl ServerImport<'_> {
    /// The document of what the server says or said, with what is `decided` over it.
    fn import_document(
        self,
        saved: Option<&Path>,
        decided: impl FnOnce(&mut Adapter),
    ) -> Result<Input, GenerateError> {
        let ServerImport { target, auth, options, import_options: importing, corrections } = self;
        let capture = match saved {
            Some(path) => servers::read_saved_tools(path)
                .map_err(|error| GenerateError::from_error(GenerateErrorKind::Schema, &error))?,
            None => capture_server(&target, &auth)?,
        };
        if capture.tools.is_empty() {
            return Err(GenerateError::new(GenerateErrorKind::Schema, "the server has no tools"));
        }
        let mut origin = origin::server_origin(&capture, saved, &target, importing);
        let mut imported = mcp::import(&capture, target, auth, &options).map_err(|mut diagnostics| {
            let source = corrections.unwrap_or_else(|| Source::new("overrides", String::new()));
            source.locate(&mut diagnostics);
            let message = format!("{} cannot be used", source.name);
            GenerateError::from_diagnostics(GenerateErrorKind::Configuration, message, source, diagnostics)
        })?;
        decided(&mut imported.adapter);
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
    let heard = runtime.block_on(servers::capture_server(target, auth, &environment::process()));
    runtime.shutdown_background();
    heard.map_err(|error| GenerateError::from_error(GenerateErrorKind::Io, &error))
}

/// The document of an import.
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

/// The document of an adapter.
fn adapter_input(adapter: &Adapter, provenance: &Provenance) -> Input {
    let stem = adapter.name.strip_suffix("-adapter").unwrap_or(&adapter.name);
    let file = format!("{stem}-adapter.md");
    let source = Source::new(file.clone(), emit::markdown(adapter, provenance));
    Input { file, source, origin: None, settings: None, imported: None }
}

/// What an operation lost that its description says.
fn lost_part_issues<'a>(operation: &'a str, notes: &'a [Note]) -> impl Iterator<Item = GenerateIssue> + 'a {
    notes.iter().filter(|note| note.lost).map(move |note| {
        GenerateIssue::new(format!("{operation}.{}", note.place), "IMPORT_PART_LOST", note.what.clone())
    })
}

/// What a person should look at is a warning like any other.
fn review_issue((judged, why): (&ClassifiedOperation, String)) -> GenerateIssue {
    let message = format!("{} should be looked at: {why}", judged.name);
    GenerateIssue::new(judged.origin.to_string(), "IMPORT_TO_REVIEW", message)
        .suggest("say what it is with --overrides")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_keeps_its_name_where_everything_takes_it() {
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
