//! From what was typed to adapters: a [`Request`] is what was typed, a [`Plan`] is what it means.
//!
//! What always holds: files, environment and settings are read once, in [`Request::resolve`]; what comes after works on the plan.

mod config;
mod entry;
mod members;
mod settings;
mod source;

pub(crate) use config::{AdapterLookup, load_config};
pub(crate) use entry::EntryOverrides;
pub(crate) use mcpaql_runtime::environment::data_folder as default_data;
pub(crate) use members::open_gateway;
pub(crate) use settings::SettingsLayers;
pub(crate) use source::{AdapterSource, McpSource, OpenApiSource, PlannedAdapter, read_overrides};

use crate::args::ImportOptions;
use crate::file;
use crate::openapi_files::{self, Description, Digest};
use crate::output::{self, error_with_hint};
use anyhow::{Context, Result};
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::diagnostic::Diagnostic;
use mcpaql_core::error::Code;
use mcpaql_core::suggest;
use mcpaql_document::check::CheckOutput;
use mcpaql_document::render::{self, DiagnosticFormat};
use mcpaql_document::source::Source;
use mcpaql_import::openapi;
use mcpaql_runtime::gateway::{NameCollision, check_names};
use mcpaql_runtime::{builtin, environment};
use std::path::{Path, PathBuf};

/// The configuration file of a folder.
pub(crate) const CONFIG_FILE: &str = "mcpaql.yaml";

/// Which adapters to work on, and everything that is decided about them.
#[derive(Debug, Default)]
pub(crate) struct AdapterPlan {
    /// In order.
    pub(crate) adapters: Vec<PlannedAdapter>,
    /// Folder of the stores.
    pub(crate) data: Option<PathBuf>,
    /// The configuration and what is wrong with it, where there is one.
    pub(crate) config: Option<(Source, Vec<Diagnostic>)>,
    /// The configuration is wrong in itself, not only in what it leads to.
    pub(crate) is_config_broken: bool,
    /// Nothing was named and nothing was configured.
    pub(crate) is_default: bool,
    /// Documents that could not be read, each with its name and why.
    pub(crate) unreadable: Vec<(String, anyhow::Error)>,
    /// Every file that all this was made from, or would have been.
    pub(crate) files: Vec<PathBuf>,
}

/// What was typed: which adapters, and what is decided for all of them.
#[derive(Debug, Default)]
pub(crate) struct AdapterRequest<'a> {
    /// Adapter documents, descriptions or built-in adapters.
    pub(crate) documents: &'a [String],
    /// Whether a single one may be the name of an adapter of the configuration.
    pub(crate) by_name: bool,
    /// Descriptions of APIs, which are imported on the way.
    pub(crate) descriptions: &'a [String],
    pub(crate) import_options: ImportOptions,
    /// Configuration file instead of the folder's own.
    pub(crate) config: Option<&'a Path>,
    pub(crate) flags: AdapterSettings,
    /// Folder of the stores.
    pub(crate) data: Option<PathBuf>,
}

impl<'a> AdapterRequest<'a> {
    /// One adapter by a document, or by its name.
    pub(crate) fn single(name: &'a String) -> AdapterRequest<'a> {
        AdapterRequest { documents: std::slice::from_ref(name), by_name: true, ..AdapterRequest::default() }
    }

    /// What it means: named documents, else the configuration, else the built-in notebook.
    pub(crate) fn resolve(self) -> Result<AdapterPlan> {
        let layers = SettingsLayers::new(self.flags.clone()).with_environment(&environment::process())?;
        let mut plan = match self.documents {
            [] if self.descriptions.is_empty() => AdapterPlan::default_plan(self.config, &layers)?,
            [name] if self.by_name && self.descriptions.is_empty() => AdapterPlan::single(name, &layers)?,
            _ => self.plan_named(&layers),
        };
        plan.data = self.data.or(plan.data).or_else(default_data);
        Ok(plan)
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
        plan
    }
}

impl AdapterPlan {
    fn default_plan(config: Option<&Path>, layers: &SettingsLayers) -> Result<AdapterPlan> {
        let path = config.unwrap_or(Path::new(CONFIG_FILE));
        if config.is_some() || path.exists() {
            return AdapterPlan::from_config(path, layers);
        }
        let notebook =
            builtin::document(builtin::DEFAULT_ADAPTER).context("the built-in adapter is missing")?;
        let source = AdapterSource::Document(notebook);
        let adapter = PlannedAdapter::new(source, layers.resolve(), EntryOverrides::default());
        Ok(AdapterPlan { is_default: true, adapters: vec![adapter], ..AdapterPlan::default() })
    }

    /// One adapter by a document, an address or its name in the configuration, else a built-in one.
    fn single(name: &String, layers: &SettingsLayers) -> Result<AdapterPlan> {
        let named = || Ok(AdapterRequest::single(name).plan_named(layers));
        if Path::new(name).is_file() || openapi_files::is_url(name) || !Path::new(CONFIG_FILE).exists() {
            return named();
        }
        let others = match AdapterPlan::find_configured(name, layers)? {
            AdapterLookup::Adapter { adapter, data } => {
                return Ok(AdapterPlan { data, adapters: vec![*adapter], ..AdapterPlan::default() });
            }
            AdapterLookup::Unknown { names, .. } => names,
        };
        if builtin::document(name).is_some() || Path::new(name).exists() || others.is_empty() {
            return named();
        }
        Err(unknown_adapter_error(name, &others))
    }

    /// Fingerprint of everything that decides the surface.
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
        // A file that does not exist may be written later.
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

    /// Checks every document, each alone and all together. Servers are not started.
    pub(crate) fn check(self) -> Vec<(Source, CheckOutput)> {
        let mut documents: Vec<(Source, CheckOutput)> =
            self.adapters.into_iter().map(PlannedAdapter::check).collect();
        report_name_collisions(&mut documents);
        let config =
            self.config.map(|(source, diagnostics)| (source, CheckOutput { catalog: None, diagnostics }));
        config.into_iter().chain(documents).collect()
    }

    /// The catalogs of all documents. Problems are shown; a document that cannot be served at all is an error.
    pub(crate) fn catalogs(self) -> Result<Vec<(String, Catalog)>> {
        self.config.iter().for_each(|(source, diagnostics)| output::print_diagnostics(source, diagnostics));
        if let Some((_, error)) = self.unreadable.into_iter().next() {
            return Err(error);
        }
        let catalogs = self
            .adapters
            .into_iter()
            .map(|adapter| Ok((adapter.label(), adapter.compile_and_report(false)?)));
        let catalogs = catalogs.collect::<Result<Vec<_>>>()?;
        if catalogs.is_empty() { Err(members::no_adapter_error()) } else { Ok(catalogs) }
    }
}

/// A name that no file and no adapter has.
pub(crate) fn unknown_adapter_error(name: &str, others: &[String]) -> anyhow::Error {
    let nearest = suggest::nearest(name, others.iter().map(String::as_str));
    let meant = nearest.map(|nearest| format!("did you mean '{nearest}'? ")).unwrap_or_default();
    let hint = format!("{meant}{CONFIG_FILE} has {}", others.join(", "));
    error_with_hint(format!("there is no file and no adapter '{name}'"), hint)
}

/// Adapters that could not stand behind one server; each document alone may be fine.
fn report_name_collisions(documents: &mut [(Source, CheckOutput)]) {
    let mut behind: Vec<usize> = Vec::new();
    for index in 0..documents.len() {
        behind.push(index);
        let served = behind.iter().filter_map(|&index| {
            let (source, checked) = documents.get(index)?;
            Some((checked.catalog.as_ref()?, source.name.as_str()))
        });
        let Err(collision) = check_names(served) else { continue };
        behind.pop();
        if let Some((source, checked)) = documents.get_mut(index) {
            let pointer = if source.parse().is_ok_and(|parsed| parsed.value.get("name").is_some()) {
                "/name"
            } else {
                "/adapter/name"
            };
            let NameCollision { tool, first, second } = collision;
            let (message, suggestion) = if tool.is_empty() {
                (
                    format!("Adapters {first} and {second} have the same name"),
                    "give one of them another `name`",
                )
            } else {
                let message = format!("Adapters {first} and {second} both name a tool '{tool}'");
                (message, "give one of them a `tool_names.prefix` of its own")
            };
            let mut found =
                [Diagnostic::error(Code::SchemaDuplicateName, pointer, message).suggest(suggestion)];
            source.locate(&mut found);
            checked.diagnostics.extend(found);
        }
    }
}

/// A file, or a built-in adapter where there is no such file.
fn find_source(name: &str, importing: &ImportOptions) -> Result<AdapterSource> {
    let path = Path::new(name);
    if path.exists() {
        return read_adapter_source(path, importing);
    }
    if openapi_files::is_url(name) {
        return openapi_source(openapi_files::read(name)?, importing);
    }
    if builtin::document(name).is_some() {
        return builtin_document(name).map(AdapterSource::Document);
    }
    let known: Vec<&str> = builtin::names().collect();
    Err(error_with_hint(
        format!("there is no file '{name}'"),
        format!(
            "name an adapter document, an OpenAPI description, or a built-in adapter ({})",
            known.join(", ")
        ),
    ))
}

fn read_adapter_source(path: &Path, importing: &ImportOptions) -> Result<AdapterSource> {
    let source = read_source(path)?;
    if openapi::is_description(&source.text) {
        return openapi_source(openapi_files::from_text(&source.name, source.text), importing);
    }
    Ok(AdapterSource::Document(source))
}

fn openapi_source(description: Description, importing: &ImportOptions) -> Result<AdapterSource> {
    Ok(AdapterSource::Openapi(Box::new(OpenApiSource::new(description, importing)?)))
}

fn builtin_document(name: &str) -> Result<Source> {
    builtin::document(name).ok_or_else(|| {
        let known: Vec<&str> = builtin::names().collect();
        let hint = format!("there is {}", known.join(", "));
        error_with_hint(format!("there is no built-in adapter '{name}'"), hint)
    })
}

fn read_source(path: &Path) -> Result<Source> {
    Ok(Source::new(path.display().to_string(), file::read_text(path)?))
}

/// Renders reports as the user chose.
pub(crate) fn render_reports(style: DiagnosticFormat, checked: &[(Source, CheckOutput)]) -> String {
    let reports: Vec<render::SourceReport<'_>> =
        checked.iter().map(|(source, checked)| (source, checked.diagnostics.as_slice())).collect();
    style.render(&reports, output::use_color())
}
