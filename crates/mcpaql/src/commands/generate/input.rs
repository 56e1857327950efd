//! What the adapter is made from → the document that the project carries.
//!
//! What always holds: the project carries the text that its catalog was compiled from, so `mcpaql serve schema/FILE` serves the
//! same. A description, and what an MCP server says, become a document on the way.

mod configured;

use super::config::{Origin, Wanted};
use super::failure::{Detail, Failure, Kind};
use super::origin;
use crate::args::Importing;
use crate::commands::import;
use crate::descriptions::{self, Description};
use crate::documents::CONFIG;
use crate::file;
use crate::{args, documents, servers};
use configured::Found;
use mcpaql_core::adapter::{Adapter, Auth, McpTarget};
use mcpaql_core::capture::Capture;
use mcpaql_core::catalog::Settings;
use mcpaql_document::source::{Format, Source};
use mcpaql_generate::provenance;
use mcpaql_import::emit::{self, Provenance};
use mcpaql_import::report::{Judged, Note, Notes, Report};
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
    pub(crate) origin: Option<provenance::Origin>,
    /// The flags over what `mcpaql.yaml` decides, for one of its adapters.
    pub(crate) settings: Option<Settings>,
    pub(crate) imported: Option<Imported>,
}

/// What an import decided.
#[derive(Debug)]
pub(crate) struct Imported {
    /// What it noticed, all that the summary names included.
    pub(crate) noticed: Vec<Detail>,
    /// What could not be expressed.
    pub(crate) lost: Vec<Detail>,
    /// How many operations became what.
    pub(crate) counts: Value,
    /// For people.
    pub(crate) summary: String,
}

pub(crate) fn read(args: &args::Generate, wanted: &Wanted) -> Result<Input, Failure> {
    match &wanted.origin {
        Origin::Schema(name) => schema(name, wanted),
        Origin::Openapi(source) => {
            let description = descriptions::read(source).map_err(|error| Failure::of(Kind::Io, &error))?;
            described(description, wanted)
        }
        Origin::Server => served(args, wanted),
    }
}

fn schema(name: &str, wanted: &Wanted) -> Result<Input, Failure> {
    let path = Path::new(name);
    if descriptions::is_address(name) {
        let description = descriptions::read(name).map_err(|error| Failure::of(Kind::Io, &error))?;
        return described(description, wanted);
    }
    // A folder may have the name of an adapter, such as one that was generated before.
    if !path.exists() || path.is_dir() {
        return adapter_named(name, wanted);
    }
    let text = file::read_text(path).map_err(|error| Failure::of(Kind::Io, &error))?;
    if openapi::is_description(&text) {
        return described(descriptions::of_file(name, text), wanted);
    }
    given(Source::new(name, text), wanted)
}

/// An adapter of the configuration, else a built-in one.
fn adapter_named(name: &str, wanted: &Wanted) -> Result<Input, Failure> {
    let mut others = Vec::new();
    if Path::new(CONFIG).exists() {
        match configured::named(name, wanted)? {
            Found::Adapter(input) => return Ok(*input),
            Found::Unknown(names) => others = names,
        }
    }
    if let Some(source) = builtin::document(name) {
        return given(Source::new(format!("{name}-adapter.md"), source.text), wanted);
    }
    let is_folder = Path::new(name).is_dir();
    if !others.is_empty() && !is_folder {
        return Err(Failure::of(Kind::Io, &documents::unknown(name, &others)));
    }
    let message =
        if is_folder { format!("'{name}' is a folder") } else { format!("there is no file '{name}'") };
    let known: Vec<&str> = builtin::names().collect();
    let hint = format!(
        "name an adapter document, an OpenAPI description, or a built-in adapter ({})",
        known.join(", ")
    );
    Err(Failure::new(Kind::Io, message).hint(hint))
}

/// A document as it is.
fn given(source: Source, wanted: &Wanted) -> Result<Input, Failure> {
    refuse_choices(
        &wanted.importing,
        &format!("{} is an adapter document", source.name),
        "edit the document",
    )?;
    Ok(Input { file: file_name(&source), source, origin: None, settings: None, imported: None })
}

/// Refuses what decides about imports where something else does.
fn refuse_choices(importing: &Importing, because: &str, instead: &str) -> Result<(), Failure> {
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
            Err(Failure::new(Kind::Configuration, message)
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
                Ok(Format::Json) => "json",
                Ok(Format::Yaml) => "yaml",
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

fn described(description: Description, wanted: &Wanted) -> Result<Input, Failure> {
    let import = documents::OpenApiSource::new(description, &wanted.importing)
        .map_err(|error| Failure::of(Kind::Configuration, &error))?;
    opened(import, |_| {})
}

/// The document of a description, with what is `decided` over it.
fn opened(wanted: documents::OpenApiSource, decided: impl FnOnce(&mut Adapter)) -> Result<Input, Failure> {
    let from = wanted.description.name.clone();
    let fingerprint = descriptions::fingerprint(&wanted.description.text);
    let mut origin = origin::described(&wanted.description, &wanted.importing);
    let import = wanted.open().map_err(|(source, diagnostics)| {
        let is_description = source.name == from;
        let kind = if is_description { Kind::Schema } else { Kind::Configuration };
        Failure::about(kind, format!("{} cannot be used", source.name), source, diagnostics)
    })?;
    let openapi::Whole { mut adapter, notes } = openapi::whole(&import);
    if adapter.operations.is_empty() {
        let message = format!("{from} describes no operation");
        return Err(Failure::new(Kind::Schema, message)
            .hint("`paths` must be an object that holds at least one operation"));
    }
    decided(&mut adapter);
    origin.version.clone_from(&import.version);
    let provenance = Provenance { source: from, version: import.version, fingerprint: Some(fingerprint) };
    let report = import.report.without_lost(&adapter);
    Ok(written(&adapter, &provenance, &report, &notes, origin))
}

fn served(args: &args::Generate, wanted: &Wanted) -> Result<Input, Failure> {
    let configuration = |error: &anyhow::Error| Failure::of(Kind::Configuration, error);
    let reached =
        servers::reached(args.url.as_deref(), &args.command, &args.access).map_err(|e| configuration(&e))?;
    let Some((target, auth)) = reached else {
        let hint = "name its command behind `--`, or its address with --url";
        let message = "nothing says how the server of these tools is reached";
        return Err(Failure::new(Kind::Configuration, message).hint(hint));
    };
    let (corrections, overrides) =
        documents::corrections(&wanted.importing).map_err(|e| configuration(&e))?;
    let selection = Selection::parse(&wanted.importing.include, &wanted.importing.exclude)
        .map_err(|error| Failure::new(Kind::Configuration, error.to_string()))?;
    let options = mcp::Options { name: wanted.importing.name.clone(), selection, overrides };
    let server = Reached { target, auth, options, importing: &wanted.importing, corrections };
    server.imported(args.tools.as_deref(), |_| {})
}

/// An MCP server and how what it says is imported.
struct Reached<'a> {
    target: McpTarget,
    auth: Auth,
    options: mcp::Options,
    importing: &'a Importing,
    /// The file of corrections, where there is one.
    corrections: Option<Source>,
}

impl Reached<'_> {
    /// The document of what the server says or said, with what is `decided` over it.
    fn imported(self, saved: Option<&Path>, decided: impl FnOnce(&mut Adapter)) -> Result<Input, Failure> {
        let Reached { target, auth, options, importing, corrections } = self;
        let capture = match saved {
            Some(path) => servers::saved(path).map_err(|error| Failure::of(Kind::Schema, &error))?,
            None => asked(&target, &auth)?,
        };
        if capture.tools.is_empty() {
            return Err(Failure::new(Kind::Schema, "the server has no tools"));
        }
        let mut origin = origin::heard(&capture, saved, &target, importing);
        let mut imported = mcp::import(&capture, target, auth, &options).map_err(|mut diagnostics| {
            let source = corrections.unwrap_or_else(|| Source::new("overrides", String::new()));
            source.locate(&mut diagnostics);
            let message = format!("{} cannot be used", source.name);
            Failure::about(Kind::Configuration, message, source, diagnostics)
        })?;
        decided(&mut imported.adapter);
        let fingerprint = descriptions::fingerprint(&mcp::canonical(&capture));
        let from = import::mcp::source_name(&capture, &imported, saved);
        origin.version.clone_from(&imported.version);
        let provenance =
            Provenance { source: from, version: imported.version, fingerprint: Some(fingerprint) };
        Ok(written(&imported.adapter, &provenance, &imported.report, &imported.notes, origin))
    }
}

fn asked(target: &McpTarget, auth: &Auth) -> Result<Capture, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::new(Kind::Internal, error.to_string()))?;
    let heard = runtime.block_on(servers::heard(target, auth, &environment::process()));
    runtime.shutdown_background();
    heard.map_err(|error| Failure::of(Kind::Io, &error))
}

/// The document of an import.
fn written(
    adapter: &Adapter,
    provenance: &Provenance,
    report: &Report,
    notes: &Notes,
    origin: provenance::Origin,
) -> Input {
    let counts = report.to_json(notes).get_mut("counts").map(Value::take).unwrap_or_default();
    let imported = Imported {
        noticed: report.reviews().map(to_review).chain(report.diagnostics.iter().map(Detail::of)).collect(),
        lost: notes.iter().flat_map(|(operation, notes)| lost(operation, notes)).collect(),
        counts,
        summary: report.summary(notes, "--verbose"),
    };
    Input { origin: Some(origin), imported: Some(imported), ..rewritten(adapter, provenance) }
}

/// The document of an adapter.
fn rewritten(adapter: &Adapter, provenance: &Provenance) -> Input {
    let stem = adapter.name.strip_suffix("-adapter").unwrap_or(&adapter.name);
    let file = format!("{stem}-adapter.md");
    let source = Source::new(file.clone(), emit::markdown(adapter, provenance));
    Input { file, source, origin: None, settings: None, imported: None }
}

/// What an operation lost that its description says.
fn lost<'a>(operation: &'a str, notes: &'a [Note]) -> impl Iterator<Item = Detail> + 'a {
    notes.iter().filter(|note| note.lost).map(move |note| {
        Detail::new(format!("{operation}.{}", note.place), "IMPORT_PART_LOST", note.what.clone())
    })
}

/// What a person should look at is a warning like any other.
fn to_review((judged, why): (&Judged, String)) -> Detail {
    let message = format!("{} should be looked at: {why}", judged.name);
    Detail::new(judged.origin.to_string(), "IMPORT_TO_REVIEW", message)
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
