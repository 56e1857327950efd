//! From the command line to adapters: an [`AdapterRequest`] is what the user typed, an [`AdapterPlan`] is what it means.
//!
//! What always holds: files, environment and settings are read once, in [`AdapterRequest::resolve`]; later steps only use the plan.

mod client_config;
mod config;
mod entry;
mod members;
mod required_variables;
mod settings;
mod source;
mod trusted;

use config::ConfigPlace;
pub(crate) use config::{AdapterLookup, is_configuration, load_config, trusted_configuration};
pub(crate) use entry::EntryOverrides;
pub(crate) use mcpaql_runtime::environment::data_folder as default_data;
pub(crate) use members::open_gateway;
pub(crate) use required_variables::Reporting;
pub(crate) use settings::SettingsLayers;
pub(crate) use source::{
    AdapterSource, McpSource, OpenApiSource, PlannedAdapter, RejectedDocument, read_overrides,
};

use crate::CommandOutcome;
use crate::args::{AccessArgs, ImportOptions};
use crate::file;
use crate::openapi_files::{self, Description, Digest};
use crate::output::{self, error_with_hint};
use crate::servers;
use crate::trust::{TrustSubject, UntrustedConfig};
use anyhow::{Context, Result};
use mcpaql_core::capture::Capture;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::diagnostic::{Diagnostic, Severity, capitalize};
use mcpaql_core::error::Code;
use mcpaql_core::suggest;
use mcpaql_document::check::{CheckOutput, undeclared_destruction};
use mcpaql_document::config::AdapterEntry;
use mcpaql_document::render::{self, DiagnosticFormat};
use mcpaql_document::source::Source;
use mcpaql_import::{mcp, openapi};
use mcpaql_runtime::environment::Environment;
use mcpaql_runtime::gateway::{NameCollision, check_names};
use mcpaql_runtime::{builtin, environment};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

/// Name of the configuration file in a folder.
pub(crate) const CONFIG_FILE: &str = "mcpaql.yaml";

/// Marks the name of a built-in adapter, which is never a file.
pub(crate) const BUILTIN_PREFIX: &str = "builtin:";

/// Returns the arguments that name what is served without arguments: the configuration of this folder, or the built-in notebook. A
/// server without arguments would read the configuration of the folder that it is started in.
pub(crate) fn default_words() -> Result<Vec<String>> {
    let config = Path::new(CONFIG_FILE);
    Ok(match config.exists() {
        true => vec!["--config".into(), file::absolute_path(config)?],
        false => vec![format!("{BUILTIN_PREFIX}{}", builtin::DEFAULT_ADAPTER)],
    })
}

/// The adapters to work on, with all their settings.
#[derive(Debug, Default)]
pub(crate) struct AdapterPlan {
    pub(crate) adapters: Vec<PlannedAdapter>,
    /// Folder of the stores.
    pub(crate) data: Option<PathBuf>,
    /// How long the first list of tools waits for MCP servers.
    pub(crate) list_timeout: Option<Duration>,
    /// Maximum memory of the server, in bytes.
    pub(crate) memory: Option<u64>,
    /// The environment of the adapters, if it is not that of this process.
    pub(crate) environment: Option<AdapterEnvironment>,
    /// The configuration file and its problems, if there is one.
    pub(crate) config: Option<(Source, Vec<Diagnostic>)>,
    /// The configuration file itself has errors, not only the documents that it names.
    pub(crate) is_config_broken: bool,
    /// Nothing was named or configured, so the plan is the built-in notebook.
    pub(crate) is_default: bool,
    /// MCP servers are followed while they run, even a single one.
    pub(crate) is_live: bool,
    /// Documents that could not be read: the name and the error of each.
    pub(crate) unreadable: Vec<(String, anyhow::Error)>,
    /// Every file of the plan, including those that could not be read.
    pub(crate) files: Vec<PathBuf>,
    /// The configuration was found in the working folder, and the operator has not trusted it: nothing may run, connect or read a
    /// variable.
    pub(crate) untrusted: Option<UntrustedConfig>,
    /// The configuration, as the operator trusts it.
    pub(crate) trusted_config: Option<TrustSubject>,
    /// The configuration was found in the working folder, so that each of its versions needs a grant.
    pub(crate) is_found: bool,
}

/// What a plan is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum PlanPurpose {
    /// Only to look at the adapters. An untrusted configuration is read, and nothing that it names is started or fetched.
    #[default]
    View,
    /// To run calls. An untrusted configuration is refused.
    Run,
}

/// The environment of adapters whose configuration contains values of variables. The values are secrets. All copies share them, so that
/// a server that is restarted reads new values.
#[derive(Clone)]
pub(crate) struct AdapterEnvironment(Arc<RwLock<HashMap<String, String>>>);

impl AdapterEnvironment {
    pub(crate) fn new(values: HashMap<String, String>) -> AdapterEnvironment {
        AdapterEnvironment(Arc::new(RwLock::new(values)))
    }

    /// Returns a value of the configuration.
    fn value(&self, name: &str) -> Option<String> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// Replaces the values with those of a new version of the configuration.
    pub(crate) fn replace(&self, new: &AdapterEnvironment) {
        let values = new.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = values;
    }

    /// Looks up variables in the configuration, then in the environment of this process.
    pub(crate) fn lookup(&self) -> Environment {
        let (values, process) = (self.clone(), environment::process());
        Arc::new(move |name| values.value(name).or_else(|| process(name)))
    }
}

impl fmt::Debug for AdapterEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdapterEnvironment")
    }
}

/// The catalogs of a plan, each with the name of its source.
#[derive(Debug)]
pub(crate) struct PlannedCatalogs {
    pub(crate) catalogs: Vec<(String, Catalog)>,
    /// Every adapter of the plan has a catalog.
    pub(crate) is_complete: bool,
}

impl PlannedCatalogs {
    /// Returns the outcome of a command that shows the catalogs.
    pub(crate) fn outcome(&self) -> CommandOutcome {
        if self.is_complete { CommandOutcome::Clean } else { CommandOutcome::Findings }
    }
}

/// What the user typed: the adapters, and the settings for all of them.
#[derive(Debug, Default)]
pub(crate) struct AdapterRequest<'a> {
    /// Adapter documents, OpenAPI descriptions or names of built-in adapters.
    pub(crate) documents: &'a [String],
    /// Whether a single document may be the name of an adapter in the configuration.
    pub(crate) by_name: bool,
    /// Whether exactly one adapter is requested.
    pub(crate) is_single: bool,
    /// OpenAPI descriptions to import.
    pub(crate) descriptions: &'a [String],
    /// URLs of MCP servers.
    pub(crate) servers: &'a [String],
    pub(crate) import_options: ImportOptions,
    /// Configuration file instead of `mcpaql.yaml`.
    pub(crate) config: Option<&'a Path>,
    pub(crate) flags: AdapterSettings,
    /// Folder of the stores.
    pub(crate) data: Option<PathBuf>,
    pub(crate) purpose: PlanPurpose,
}

impl<'a> AdapterRequest<'a> {
    /// Requests one adapter, by its document or by its name.
    pub(crate) fn single(name: &'a String) -> AdapterRequest<'a> {
        AdapterRequest {
            documents: std::slice::from_ref(name),
            by_name: true,
            is_single: true,
            ..AdapterRequest::default()
        }
    }

    /// Returns the plan: the named documents, or the adapters of the configuration, or the built-in notebook.
    pub(crate) fn resolve(self) -> Result<AdapterPlan> {
        let layers = SettingsLayers::new(self.flags.clone()).with_environment(&environment::process())?;
        let mut plan = match self.documents {
            [] if self.is_unnamed() => AdapterPlan::default_plan(self.config, &layers, self.purpose)?,
            [name]
                if !self.is_single
                    && !name.starts_with(BUILTIN_PREFIX)
                    && is_configuration(Path::new(name)) =>
            {
                AdapterPlan::from_config(Path::new(name), &layers, ConfigPlace::Named)?
            }
            [name] if self.by_name => AdapterPlan::single(name, &layers, self.purpose)?,
            _ => self.plan_named(&layers),
        };
        self.check_import_options(&plan)?;
        plan.data = self.data.or(plan.data).or_else(default_data);
        Ok(plan)
    }

    /// Whether the arguments name no adapter.
    fn is_unnamed(&self) -> bool {
        self.documents.is_empty() && self.descriptions.is_empty() && self.servers.is_empty()
    }

    /// Refuses import options if nothing is imported with them.
    fn check_import_options(&self, plan: &AdapterPlan) -> Result<()> {
        let Some(option) = self.import_options.first_given() else { return Ok(()) };
        let is_imported = |adapter: &PlannedAdapter| !matches!(adapter.source, AdapterSource::Document(_));
        let message =
            format!("--{option} has no effect: no OpenAPI description and no MCP server is imported");
        if self.is_unnamed() {
            let hint = format!("set `{option}` of the adapter in {CONFIG_FILE}");
            return Err(error_with_hint(message, hint));
        }
        if plan.unreadable.is_empty() && !plan.adapters.iter().any(is_imported) {
            return Err(error_with_hint(
                message,
                format!("remove --{option}, and edit the document instead"),
            ));
        }
        Ok(())
    }

    fn plan_named(&self, layers: &SettingsLayers) -> AdapterPlan {
        let settings = layers.resolve();
        let mut plan = AdapterPlan::default();
        plan.files.extend(self.import_options.overrides.clone());
        for name in self.documents {
            let source = find_source(name, &self.import_options);
            plan.add(name, source, settings.clone(), EntryOverrides::default());
        }
        for name in self.descriptions {
            let source =
                openapi_files::read(name).and_then(|text| openapi_source(text, &self.import_options));
            plan.add(name, source, settings.clone(), EntryOverrides::default());
        }
        for url in self.servers {
            plan.add(
                url,
                server_source(url, &self.import_options),
                settings.clone(),
                EntryOverrides::default(),
            );
        }
        plan
    }
}

impl AdapterPlan {
    fn default_plan(
        config: Option<&Path>,
        layers: &SettingsLayers,
        purpose: PlanPurpose,
    ) -> Result<AdapterPlan> {
        if let Some(path) = config {
            return AdapterPlan::from_config(path, layers, ConfigPlace::Named);
        }
        if Path::new(CONFIG_FILE).exists() {
            return AdapterPlan::from_config(Path::new(CONFIG_FILE), layers, ConfigPlace::Found(purpose));
        }
        let notebook =
            builtin::document(builtin::DEFAULT_ADAPTER).context("the built-in adapter is missing")?;
        let source = AdapterSource::Document(notebook);
        let adapter = PlannedAdapter::new(source, layers.resolve(), EntryOverrides::default());
        Ok(AdapterPlan { is_default: true, adapters: vec![adapter], ..AdapterPlan::default() })
    }

    /// Plans one adapter: a file, a URL, an adapter of the configuration, or a built-in adapter.
    fn single(name: &String, layers: &SettingsLayers, purpose: PlanPurpose) -> Result<AdapterPlan> {
        let named = || Ok(AdapterRequest::single(name).plan_named(layers));
        let is_elsewhere = openapi_files::is_url(name) || name.starts_with(BUILTIN_PREFIX);
        if is_elsewhere || Path::new(name).is_file() || !Path::new(CONFIG_FILE).exists() {
            return named();
        }
        let others = match AdapterPlan::find_configured(name, layers, purpose)? {
            AdapterLookup::Adapter { adapter, data, trusted } => {
                let untrusted = adapter.untrusted.clone();
                let adapters = vec![*adapter];
                return Ok(AdapterPlan {
                    data,
                    untrusted,
                    adapters,
                    trusted_config: trusted,
                    is_found: true,
                    ..AdapterPlan::default()
                });
            }
            AdapterLookup::Unknown { names, config } => {
                let is_unnamed = names.is_empty() && builtin::document(name).is_none();
                if let Some((source, diagnostics)) = config.filter(|_| is_unnamed)
                    && diagnostics.iter().any(|one| one.severity == Severity::Error)
                {
                    output::print_diagnostics(&source, &diagnostics);
                    anyhow::bail!("'{name}' not found: {} has errors", source.name);
                }
                names
            }
        };
        if builtin::document(name).is_some() || Path::new(name).exists() || others.is_empty() {
            return named();
        }
        Err(unknown_adapter_error(name, &others))
    }

    /// Plans one adapter of a configuration, by its name, to look at it. Nothing is fetched.
    ///
    /// # Errors
    /// When the configuration cannot be read, or has no adapter of this name.
    pub(crate) fn of_configured(name: &str, config: &Path) -> Result<AdapterPlan> {
        let place = ConfigPlace::Found(PlanPurpose::View);
        let mut plan = AdapterPlan::from_config(config, &SettingsLayers::default(), place)?;
        let names: Vec<String> = plan.adapters.iter().filter_map(PlannedAdapter::name).collect();
        plan.adapters.retain(|one| {
            one.name().is_some_and(|own| suggest::snake_case(&own) == suggest::snake_case(name))
        });
        plan.adapters.truncate(1);
        if plan.adapters.is_empty() {
            let hint = format!("adapters in {}: {}", config.display(), names.join(", "));
            return Err(error_with_hint(format!("no adapter '{name}' found"), hint));
        }
        Ok(AdapterPlan { config: None, unreadable: Vec::new(), ..plan })
    }

    /// Returns a fingerprint of everything that decides the surface.
    pub(crate) fn fingerprint(&self) -> String {
        let mut digest = Digest::new();
        self.adapters.iter().for_each(|adapter| digest.add(adapter.key()));
        digest.finish()
    }

    fn add(
        &mut self,
        name: &str,
        source: Result<AdapterSource>,
        settings: AdapterSettings,
        entry: EntryOverrides,
    ) {
        // A missing file is watched, too: it may be created later.
        let path = Path::new(name);
        if !openapi_files::is_url(name) && (path.exists() || path.extension().is_some()) {
            self.files.push(PathBuf::from(name));
        }
        match source {
            Ok(source) => {
                if let AdapterSource::Openapi(api) = &source {
                    self.files.extend(api.files().map(Path::to_path_buf));
                }
                self.adapters.push(PlannedAdapter::new(source, settings, entry));
            }
            Err(error) => self.unreadable.push((name.to_owned(), error)),
        }
    }

    /// Checks every document by itself, then all of them together. Does not start MCP servers.
    pub(crate) fn check(self) -> Vec<(Source, CheckOutput)> {
        let mut documents: Vec<(Source, CheckOutput)> =
            self.adapters.into_iter().map(PlannedAdapter::check).collect();
        report_name_collisions(&mut documents);
        let config =
            self.config.map(|(source, diagnostics)| (source, CheckOutput { catalog: None, diagnostics }));
        config.into_iter().chain(documents).collect()
    }

    /// Returns the catalogs of all adapters and prints their problems. An adapter without a catalog is reported and left out.
    ///
    /// # Errors
    /// When no adapter has a catalog.
    pub(crate) fn catalogs(self) -> Result<PlannedCatalogs> {
        self.config.iter().for_each(|(source, diagnostics)| output::print_diagnostics(source, diagnostics));
        let mut errors: Vec<anyhow::Error> = self.unreadable.into_iter().map(|(_, error)| error).collect();
        let mut catalogs = Vec::new();
        for adapter in self.adapters {
            let label = adapter.label();
            match adapter.compile_and_report(false) {
                Ok(catalog) => catalogs.push((label, catalog)),
                Err(error) => errors.push(error),
            }
        }
        let is_complete = errors.is_empty();
        if catalogs.is_empty() {
            let error = errors.into_iter().next();
            return Err(error.unwrap_or_else(|| members::no_adapter_error(self.config.as_ref())));
        }
        errors.iter().for_each(output::print_error);
        Ok(PlannedCatalogs { catalogs, is_complete })
    }
}

/// Returns the error for a name that is neither a file nor an adapter.
pub(crate) fn unknown_adapter_error(name: &str, others: &[String]) -> anyhow::Error {
    let nearest = suggest::nearest(name, others.iter().map(String::as_str));
    let suggestion = nearest.map(|nearest| format!("did you mean '{nearest}'? ")).unwrap_or_default();
    let hint = format!("{suggestion}adapters in {CONFIG_FILE}: {}", others.join(", "));
    error_with_hint(format!("no file or adapter '{name}' found"), hint)
}

/// Returns the error for two adapters with equal names.
pub(crate) fn collision_error(collision: &NameCollision) -> anyhow::Error {
    let hint =
        "set another `name` or `prefix` for one adapter in mcpaql.yaml; --prefix applies to all adapters";
    error_with_hint(collision.problem(), hint)
}

/// Adds an error to each document that cannot be served together with the documents before it, because of equal names.
fn report_name_collisions(documents: &mut [(Source, CheckOutput)]) {
    let mut compatible: Vec<usize> = Vec::new();
    for index in 0..documents.len() {
        compatible.push(index);
        let catalogs = compatible.iter().filter_map(|&index| {
            let (source, checked) = documents.get(index)?;
            Some((checked.catalog.as_ref()?, source.name.as_str()))
        });
        let Err(collision) = check_names(catalogs) else { continue };
        compatible.pop();
        if let Some((source, checked)) = documents.get_mut(index) {
            let pointer = if source.parse().is_ok_and(|parsed| parsed.value.get("name").is_some()) {
                "/name"
            } else {
                "/adapter/name"
            };
            let message = capitalize(&collision.problem());
            let suggestion = match collision.tool.as_str() {
                "" => "change `name` in one of them",
                _ => "change `name` or `tool_names.prefix` in one of them",
            };
            let mut found =
                [Diagnostic::error(Code::SchemaDuplicateName, pointer, message).suggest(suggestion)];
            source.locate(&mut found);
            checked.diagnostics.extend(found);
        }
    }
}

/// Reads a file or URL, or returns the built-in adapter of that name.
fn find_source(name: &str, import_options: &ImportOptions) -> Result<AdapterSource> {
    let path = Path::new(name);
    if path.exists() && !name.starts_with(BUILTIN_PREFIX) {
        return read_adapter_source(path, import_options);
    }
    if servers::is_mcp_url(name) {
        return server_source(name, import_options);
    }
    if openapi_files::is_url(name) {
        return openapi_source(openapi_files::read(name)?, import_options);
    }
    if let Some(name) = name.strip_prefix(BUILTIN_PREFIX) {
        return builtin_document(name).map(AdapterSource::Document);
    }
    if builtin::document(name).is_some() {
        return builtin_document(name).map(AdapterSource::Document);
    }
    let known: Vec<&str> = builtin::names().collect();
    let hint = format!(
        "pass an adapter document, an OpenAPI description, or a built-in adapter ({})",
        known.join(", ")
    );
    Err(file::not_found_error(name, known, &hint))
}

fn read_adapter_source(path: &Path, import_options: &ImportOptions) -> Result<AdapterSource> {
    let source = read_source(path)?;
    if openapi::is_description(&source.text) {
        return openapi_source(openapi_files::from_text(&source.name, source.text), import_options);
    }
    if config::is_configuration(path) {
        let name = &source.name;
        let hint = format!(
            "`mcpaql serve {name}` serves its adapters; other commands take them by name, in a folder with a {CONFIG_FILE}"
        );
        return Err(error_with_hint(format!("{name} is a configuration, not an adapter document"), hint));
    }
    if is_saved_tools(&source.text) {
        let name = &source.name;
        let hint = format!(
            "audit it with `mcpaql audit --tools {name}`, or import it with `mcpaql import mcp --tools {name} --target URL`"
        );
        return Err(error_with_hint(format!("{name} is a list of tools, not an adapter document"), hint));
    }
    Ok(AdapterSource::Document(source))
}

/// Whether a text is a saved result of `tools/list`. It does not parse texts that are clearly something else.
fn is_saved_tools(text: &str) -> bool {
    let may_be = text.trim_start().starts_with(['{', '[']) && text.contains("\"inputSchema\"");
    may_be && serde_json::from_str(text).ok().and_then(Capture::from_json).is_some()
}

/// Returns the adapter of an MCP server with this URL.
fn server_source(url: &str, import_options: &ImportOptions) -> Result<AdapterSource> {
    let (mut target, auth) = servers::target_of_url(url, &AccessArgs::default())?;
    let selection = import_options.selection()?;
    target.selection = selection.features();
    let name = import_options.name.clone().unwrap_or_else(|| mcp::name_from_link(&target.link));
    let options = mcp::McpImportOptions {
        name: Some(name.clone()),
        selection,
        overrides: read_overrides(import_options)?.1,
        keep_input_schemas: false,
    };
    let import_options = import_options.clone();
    Ok(AdapterSource::Mcp(Box::new(McpSource { name, target, auth, options, import_options })))
}

fn openapi_source(description: Description, import_options: &ImportOptions) -> Result<AdapterSource> {
    Ok(AdapterSource::Openapi(Box::new(OpenApiSource::new(description, import_options)?)))
}

fn builtin_document(name: &str) -> Result<Source> {
    builtin::document(name).ok_or_else(|| {
        let known: Vec<&str> = builtin::names().collect();
        let hint = format!("built-in adapters: {}", known.join(", "));
        error_with_hint(format!("unknown built-in adapter '{name}'"), hint)
    })
}

fn read_source(path: &Path) -> Result<Source> {
    Ok(Source::new(path.display().to_string(), file::read_text(path)?))
}

/// Checks one entry of a configuration in this folder. Does not start MCP servers.
pub(crate) fn check_config_entry(entry: &AdapterEntry, folder: &Path) -> Result<(Source, CheckOutput)> {
    let (source, overrides) = config::resolve_adapter_entry(entry, folder, &mut HashSet::new())?;
    Ok(PlannedAdapter::new(source, entry.settings.clone(), overrides).check())
}

/// Adds the warnings that only `check` and `doctor` show: they are about what clients assume, and do not affect serving.
pub(crate) fn add_check_advice(source: &Source, checked: &mut CheckOutput) {
    let mut found: Vec<Diagnostic> =
        checked.catalog.as_ref().and_then(undeclared_destruction).into_iter().collect();
    source.locate(&mut found);
    checked.diagnostics.append(&mut found);
}

/// Renders the problems of all documents.
pub(crate) fn render_reports(format: DiagnosticFormat, checked: &[(Source, CheckOutput)]) -> String {
    let reports: Vec<render::SourceReport<'_>> =
        checked.iter().map(|(source, checked)| (source, checked.diagnostics.as_slice())).collect();
    format.render(&reports, output::use_color())
}
