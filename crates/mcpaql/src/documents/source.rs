//! Sources of adapters (documents, OpenAPI descriptions, MCP servers), and compiling them to catalogs.

use super::AdapterEnvironment;
use super::entry::EntryOverrides;
use crate::args::ImportOptions;
use crate::blocking::blocking;
use crate::cache::CaptureCache;
use crate::file;
use crate::openapi_files::{Description, Digest};
use crate::output::{self, HintedError, error_with_hint};
use crate::servers::{self, AccessSyntax};
use crate::trust::UntrustedConfig;
use anyhow::{Context, Result};
use mcpaql_core::adapter::{Adapter, Auth, McpTarget, ResultForm, TargetConfig};
use mcpaql_core::capture::Capture;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::diagnostic::{Diagnostic, Severity};
use mcpaql_core::error::Code;
use mcpaql_core::naming::title_of;
use mcpaql_core::suggest::snake_case;
use mcpaql_core::template::{EnvPiece, EnvTemplate};
use mcpaql_core::variables;
use mcpaql_document::check::{self, CheckOutput};
use mcpaql_document::compile;
use mcpaql_document::load::Origins;
use mcpaql_document::overrides::{self, Overrides};
use mcpaql_document::source::Source;
use mcpaql_import::mcp;
use mcpaql_import::openapi::{self, ImportedApi, OpenApiImportOptions};
use mcpaql_runtime::environment::{self, Environment};
use mcpaql_runtime::target::mcp::Upstream;
use std::cell::OnceCell;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::OnceLock;
use url::Url;

/// An adapter of a plan: its source, and the settings that are decided outside its document.
#[derive(Debug)]
pub(crate) struct PlannedAdapter {
    pub(crate) source: AdapterSource,
    /// Settings from flags, environment and configuration.
    pub(crate) settings: AdapterSettings,
    /// Overrides of its entry in the configuration.
    pub(crate) entry: EntryOverrides,
    /// Values of variables in a client's own configuration.
    pub(super) environment: Option<AdapterEnvironment>,
    /// Its configuration is not trusted, so that its server is not started.
    pub(crate) untrusted: Option<UntrustedConfig>,
    key: OnceCell<String>,
}

/// The source of an adapter.
#[derive(Debug)]
pub(crate) enum AdapterSource {
    /// An adapter document.
    Document(Source),
    /// An OpenAPI description, which is imported.
    Openapi(Box<OpenApiSource>),
    /// An MCP server, which is asked for its tools.
    Mcp(Box<McpSource>),
}

/// An MCP server in the configuration.
#[derive(Debug, Clone)]
pub(crate) struct McpSource {
    /// Name of the adapter.
    pub(crate) name: String,
    pub(crate) target: McpTarget,
    pub(crate) auth: Auth,
    pub(crate) options: mcp::McpImportOptions,
    /// The options as the user wrote them.
    pub(crate) import_options: ImportOptions,
}

impl PlannedAdapter {
    pub(crate) fn new(
        source: AdapterSource,
        settings: AdapterSettings,
        entry: EntryOverrides,
    ) -> PlannedAdapter {
        PlannedAdapter { source, settings, entry, environment: None, untrusted: None, key: OnceCell::new() }
    }

    /// Returns the name of the source for messages.
    pub(crate) fn label(&self) -> String {
        match &self.source {
            AdapterSource::Document(source) => source.name.clone(),
            AdapterSource::Openapi(api) => api.description.name.clone(),
            AdapterSource::Mcp(server) => format!("mcp:{}", server.name),
        }
    }

    /// Returns the name of the adapter, even if it cannot be served. Does not start MCP servers.
    pub(crate) fn name(&self) -> Option<String> {
        if self.entry.name.is_some() {
            return self.entry.name.clone();
        }
        match &self.source {
            AdapterSource::Mcp(server) => Some(server.name.clone()),
            AdapterSource::Document(source) => {
                let value = source.parse().ok()?.value;
                let name = value.get("name").or_else(|| value.pointer("/adapter/name"))?;
                name.as_str().map(str::to_owned)
            }
            AdapterSource::Openapi(api) => api.clone().open().ok().map(|import| import.adapter.name),
        }
    }

    /// Returns a fingerprint of the adapter and of everything that decides how it is served.
    pub(crate) fn key(&self) -> &str {
        self.key.get_or_init(|| self.fingerprint())
    }

    /// Returns the key with a hash of the values that its server reads from the configuration, so that a changed value restarts the
    /// server. The hash is different in each process, because files have the key in their names.
    pub(super) fn key_with_values(&self) -> String {
        static HASHER: OnceLock<RandomState> = OnceLock::new();
        let (Some(environment), AdapterSource::Mcp(server)) = (&self.environment, &self.source) else {
            return self.key().to_owned();
        };
        let names = variables::needed_by_server(&server.target, &server.auth, &|_| false);
        let values: Vec<Option<String>> = names.iter().map(|name| environment.value(name)).collect();
        format!("{} {:x}", self.key(), HASHER.get_or_init(RandomState::new).hash_one(values))
    }

    fn fingerprint(&self) -> String {
        let mut digest = Digest::new();
        digest.add(env!("CARGO_PKG_VERSION"));
        digest.add(&format!("{:?} {:?}", self.settings, self.entry));
        match &self.source {
            AdapterSource::Document(source) => {
                digest.add(&source.name);
                digest.add(&source.text);
            }
            AdapterSource::Openapi(api) => {
                digest.add(&api.description.name);
                digest.add(&format!("{:?}", api.options));
                digest.add(&api.description.text);
                api.description.references.texts().into_iter().for_each(|text| digest.add(text));
            }
            AdapterSource::Mcp(server) => digest.add(&format!("{server:?}")),
        }
        digest.finish()
    }

    /// Returns the catalog, its problems, and the text that the problems are about. Does not start MCP servers.
    pub(crate) fn check(self) -> (Source, CheckOutput) {
        let name = self.label();
        let PlannedAdapter { source, settings, entry, .. } = self;
        let (source, mut checked) = match source {
            AdapterSource::Document(source) => {
                let mut problems = Vec::new();
                let mut checked = check::check_with(&source, &settings, |adapter| {
                    problems = entry.apply_to_document(adapter);
                });
                if problems.iter().any(|one| one.severity == Severity::Error) {
                    checked.catalog = None;
                }
                checked.diagnostics.extend(problems);
                (source, checked)
            }
            AdapterSource::Openapi(api) => check_description(*api, &settings, &entry),
            AdapterSource::Mcp(_) => {
                (Source::new(name, String::new()), CheckOutput { catalog: None, diagnostics: Vec::new() })
            }
        };
        checked.catalog.iter_mut().for_each(|catalog| entry.apply_to_catalog(catalog));
        (source, checked)
    }

    /// Compiles the adapter and prints its problems. Starts an MCP server if its tools are not cached. With `strict`, an adapter with
    /// any error is refused.
    pub(crate) fn compile_and_report(self, strict: bool) -> Result<Catalog> {
        let name = self.label();
        let (catalog, errors) = self.compile_with_errors()?;
        if strict && !errors.is_empty() {
            return Err(cannot_serve_error(&name, &name, &errors));
        }
        Ok(catalog)
    }

    /// Compiles the adapter, prints its problems, and returns its errors, too: the parts with errors are missing in the catalog.
    pub(crate) fn compile_with_errors(self) -> Result<(Catalog, Vec<Diagnostic>)> {
        let name = self.label();
        let (source, checked) = match &self.source {
            AdapterSource::Mcp(server) => {
                let environment =
                    self.environment.as_ref().map_or_else(environment::process, AdapterEnvironment::lookup);
                let capture = server.cached_or_live_capture(&environment, self.untrusted.as_ref())?;
                let checked = server.check(&capture, &self.settings, &self.entry);
                (Source::new(name.clone(), String::new()), checked)
            }
            AdapterSource::Document(_) | AdapterSource::Openapi(_) => self.check(),
        };
        let CheckOutput { catalog, mut diagnostics } = checked;
        output::print_diagnostics(&source, &diagnostics);
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
        let catalog = catalog.ok_or_else(|| cannot_serve_error(&name, &source.name, &diagnostics))?;
        Ok((catalog, diagnostics))
    }
}

/// The cause of an error about an adapter whose document has errors. They are already printed.
#[derive(Debug)]
pub(crate) struct RejectedDocument;

impl std::fmt::Display for RejectedDocument {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("cannot be served")
    }
}

impl std::error::Error for RejectedDocument {}

/// Returns the error for an adapter that cannot be served; `file` is the text with these errors.
pub(super) fn cannot_serve_error(name: &str, file: &str, errors: &[Diagnostic]) -> anyhow::Error {
    // An empty file or a web page has no position, either.
    let is_setting = |error: &Diagnostic| error.is_outside() && error.code != Code::SchemaSyntax;
    if errors.iter().all(is_setting) {
        // `mcpaql check` would find nothing in the document.
        let message = format!("wrong settings: {name} {RejectedDocument}");
        return anyhow::Error::new(RejectedDocument).context(message);
    }
    let typed = name.strip_prefix("builtin:").unwrap_or(name);
    let hint = if file == name {
        format!("`mcpaql check {typed}` shows what to fix")
    } else {
        format!("fix {file}")
    };
    anyhow::Error::new(RejectedDocument)
        .context(HintedError { message: format!("{name} {RejectedDocument}"), hint })
}

impl McpSource {
    /// Imports and compiles the tools that the server listed.
    pub(crate) fn check(
        &self,
        capture: &Capture,
        settings: &AdapterSettings,
        entry: &EntryOverrides,
    ) -> CheckOutput {
        let keep_input_schemas = settings.results == Some(ResultForm::Plain);
        let options = mcp::McpImportOptions { keep_input_schemas, ..self.options.clone() };
        match mcp::import(capture, self.target.clone(), self.auth.clone(), &options) {
            Ok(mut imported) => {
                self.set_display_name(&mut imported.adapter);
                let settings = settings.clone().allowing(&self.options.overrides.allow_flagged);
                let compiled = compile::compile(imported.adapter, &Origins::default(), &settings);
                // The operator can fix the rules of the configuration, but not the tools of the server.
                let of_rules = imported.report.diagnostics.into_iter().filter(|one| one.pointer.is_empty());
                let diagnostics = of_rules.chain(compiled.diagnostics).collect();
                let mut checked = CheckOutput { catalog: compiled.catalog, diagnostics };
                checked.catalog.iter_mut().for_each(|catalog| entry.apply_to_catalog(catalog));
                checked
            }
            Err(diagnostics) => CheckOutput { catalog: None, diagnostics },
        }
    }

    /// Sets the display name from the adapter's name, unless the server's title is the same name in another spelling. Another
    /// title would be equal for all servers of the same program.
    pub(crate) fn set_display_name(&self, adapter: &mut Adapter) {
        let plain = |text: &str| snake_case(text).replace('_', "");
        if plain(&adapter.display_name) != plain(&self.name) {
            adapter.display_name = title_of(&self.name);
        }
    }

    /// Returns the cached tools of the server, or asks the server.
    fn cached_or_live_capture(
        &self,
        environment: &Environment,
        untrusted: Option<&UntrustedConfig>,
    ) -> Result<Capture> {
        let cache = self.capture_cache();
        if let Some(cached) = cache.as_ref().and_then(CaptureCache::read) {
            return Ok(cached);
        }
        if let Some(untrusted) = untrusted {
            return Err(error_with_hint(
                format!("cannot list the tools of the MCP server '{}': {}", self.name, untrusted.message()),
                untrusted.command(),
            ));
        }
        let capture = blocking(async || {
            let upstream = Upstream::new(&self.target, &self.auth, environment);
            let upstream = upstream.map_err(servers::setup_error)?;
            let capture = upstream.capture().await;
            upstream.close().await;
            capture.map_err(|error| servers::capture_error(error, &self.target.link, AccessSyntax::Keys))
        });
        let capture =
            capture.with_context(|| format!("cannot list the tools of the MCP server '{}'", self.name))?;
        cache.iter().for_each(|cache| cache.write(&capture));
        Ok(capture)
    }

    /// Returns the cache for the tools of the server. Its key is a fingerprint of how the server is reached.
    pub(crate) fn capture_cache(&self) -> Option<CaptureCache> {
        let mut digest = Digest::new();
        digest.add(&format!("{:?} {:?}", self.target.link, self.auth));
        CaptureCache::new(&digest.finish())
    }
}

fn check_description(
    api: OpenApiSource,
    settings: &AdapterSettings,
    entry: &EntryOverrides,
) -> (Source, CheckOutput) {
    let name = api.description.name.clone();
    let settings = settings.clone().allowing(&api.options.overrides.allow_flagged);
    match api.open() {
        Ok(ImportedApi { mut adapter, library, report, .. }) => {
            entry.apply(&mut adapter);
            let compiled = compile::compile_deferred(adapter, entry.wrap_library(library), &settings);
            let mut diagnostics = report.diagnostics;
            diagnostics.extend(compiled.diagnostics);
            (Source::new(name, String::new()), CheckOutput { catalog: compiled.catalog, diagnostics })
        }
        Err((source, diagnostics)) => (source, CheckOutput { catalog: None, diagnostics }),
    }
}

/// Returns the address that a target takes from a variable of the environment, which the operator sets.
fn address_of_variable(target: &TargetConfig) -> Option<String> {
    let TargetConfig::Http(target) = target else { return None };
    let template = EnvTemplate::parse(&target.base_url)?;
    match template.pieces().first()? {
        EnvPiece::Variable { name, .. } => environment::process()(name),
        EnvPiece::Text(_) => None,
    }
}

/// Reads the overrides file, if there is one.
pub(crate) fn read_overrides(flags: &ImportOptions) -> Result<(Option<Source>, Overrides)> {
    let Some(path) = flags.overrides.as_deref() else { return Ok((None, Overrides::default())) };
    let source = Source::new(path.display().to_string(), file::read_flag("--overrides", path)?);
    match overrides::parse(&source) {
        Ok(overrides) => Ok((Some(source), overrides)),
        Err(diagnostics) => {
            output::print_diagnostics(&source, &diagnostics);
            anyhow::bail!("{} has errors", source.name)
        }
    }
}

/// An OpenAPI description, and the options of its import.
#[derive(Debug, Clone)]
pub(crate) struct OpenApiSource {
    pub(crate) description: Description,
    /// The options as the user wrote them.
    pub(crate) import_options: ImportOptions,
    options: OpenApiImportOptions,
    /// The overrides file, if there is one.
    overrides: Option<Source>,
}

impl OpenApiSource {
    pub(crate) fn new(description: Description, flags: &ImportOptions) -> Result<OpenApiSource> {
        let (source, overrides) = read_overrides(flags)?;
        let options = OpenApiImportOptions {
            name: flags.name.clone(),
            url: description.url.as_ref().map(Url::to_string),
            selection: flags.selection()?,
            overrides,
        };
        Ok(OpenApiSource { description, import_options: flags.clone(), options, overrides: source })
    }

    /// Returns the files of the description.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.description.references.files()
    }

    /// Imports the description as far as serving needs it.
    ///
    /// # Errors
    /// The problems, with the text that they are about.
    pub(crate) fn open(self) -> Result<ImportedApi, (Source, Vec<Diagnostic>)> {
        let Description { name, url, typed, text, references } = self.description;
        let mut opened = openapi::open(text, &self.options, references);
        let address_of_variable =
            opened.as_ref().ok().and_then(|api| address_of_variable(&api.adapter.target));
        if let (Ok(api), Some(typed)) = (&mut opened, typed)
            && let Some(access) = api.adapter.target.access_mut()
        {
            access.is_fetched = true;
            access.grant_address(&typed);
            access.grant_address(self.options.overrides.adapter.base_url.as_deref().unwrap_or_default());
            access.grant_address(&address_of_variable.unwrap_or_default());
        }
        opened.map_err(|diagnostics| {
            let in_overrides =
                diagnostics.iter().any(|diagnostic| diagnostic.pointer.starts_with("/operations"));
            let source = self.overrides.filter(|_| in_overrides);
            // The import has consumed the text; read the file again to show the lines with problems.
            let has_position =
                url.is_none() && diagnostics.iter().any(|diagnostic| diagnostic.span.is_some());
            let text = has_position.then(|| file::read_text(Path::new(&name)).ok()).flatten();
            let text = text.unwrap_or_default().trim_start_matches(['\u{feff}', '\0']).to_owned();
            (source.unwrap_or_else(|| Source::new(name, text)), diagnostics)
        })
    }
}
