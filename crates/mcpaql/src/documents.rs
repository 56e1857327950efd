//! From what was typed to adapters: reading files, layering settings, opening targets.
//!
//! A surface is decided by the document, over it the configuration file, over that the environment, over that the flags.

use crate::args::Importing;
use crate::descriptions::{self, Description, Digest};
use crate::output::{self, Hinted};
use anyhow::{Context, Result};
use mcpaql_core::catalog::{self, Catalog, Settings};
use mcpaql_core::check::{self, Checked};
use mcpaql_core::config::{self, AdapterEntry, Config, Origin};
use mcpaql_core::diagnostic::render::{self, Style};
use mcpaql_core::diagnostic::{Diagnostic, capital};
use mcpaql_core::error::Code;
use mcpaql_core::overrides::{self, Overrides};
use mcpaql_core::source::Source;
use mcpaql_import::openapi::{self, Import, Options};
use mcpaql_import::select::Selection;
use mcpaql_runtime::environment;
use mcpaql_runtime::gateway::{Gateway, Making, Member, Opening, check_names};
use mcpaql_runtime::{builtin, open};
use std::path::{Path, PathBuf};
use url::Url;

/// The configuration file of a folder.
const CONFIG: &str = "mcpaql.yaml";

/// What an adapter is made from.
pub(crate) enum Given {
    /// A document of its own.
    Document(Source),
    /// The description of an API, imported on the way.
    Openapi(Box<Wanted>),
}

impl Given {
    /// As people may see it.
    fn name(&self) -> String {
        match self {
            Given::Document(source) => source.name.clone(),
            Given::Openapi(wanted) => wanted.description.name.clone(),
        }
    }

    /// The catalog and what was noticed on the way, with the text that it was noticed in.
    fn check(self, settings: &Settings) -> (Source, Checked) {
        match self {
            Given::Document(source) => {
                let checked = check::check(&source, settings);
                (source, checked)
            }
            Given::Openapi(wanted) => check_description(*wanted, settings),
        }
    }
}

fn check_description(wanted: Wanted, settings: &Settings) -> (Source, Checked) {
    let name = wanted.description.name.clone();
    match wanted.open() {
        Ok(Import { adapter, library, report, .. }) => {
            let compiled = catalog::compile_deferred(adapter, library, settings);
            let mut diagnostics = report.diagnostics;
            diagnostics.extend(compiled.diagnostics);
            (Source::new(name, String::new()), Checked { catalog: compiled.catalog, diagnostics })
        }
        Err((source, diagnostics)) => (source, Checked { catalog: None, diagnostics }),
    }
}

/// A description and how it shall be imported.
pub(crate) struct Wanted {
    description: Description,
    options: Options,
    /// The file of corrections, where there is one.
    overrides: Option<Source>,
}

impl Wanted {
    pub(crate) fn new(description: Description, flags: &Importing) -> Result<Wanted> {
        let (overrides, corrections) = corrections(flags)?;
        let options = Options {
            name: flags.name.clone(),
            url: description.url.as_ref().map(Url::to_string),
            selection: Selection::parse(&flags.include, &flags.exclude)?,
            overrides: corrections,
        };
        Ok(Wanted { description, options, overrides })
    }

    /// Imports the description as far as serving needs it; else what is wrong, with the text that it is wrong in.
    pub(crate) fn open(self) -> Result<Import, (Source, Vec<Diagnostic>)> {
        let Description { name, text, others, .. } = self.description;
        openapi::open(text, &self.options, others).map_err(|diagnostics| {
            let corrected =
                diagnostics.iter().any(|diagnostic| diagnostic.pointer.starts_with("/operations"));
            let source = self.overrides.filter(|_| corrected);
            // The text went into the import; the little that is wrong with it says where.
            (source.unwrap_or_else(|| Source::new(name, String::new())), diagnostics)
        })
    }
}

/// The file of corrections, where there is one, and what it says.
pub(crate) fn corrections(flags: &Importing) -> Result<(Option<Source>, Overrides)> {
    let Some(source) = flags.overrides.as_deref().map(read_source).transpose()? else {
        return Ok((None, Overrides::default()));
    };
    match overrides::parse(&source) {
        Ok(corrections) => Ok((Some(source), corrections)),
        Err(diagnostics) => {
            output::talk(&render::full(&[(&source, &diagnostics)], output::stderr_is_terminal()));
            Err(anyhow::anyhow!("{} cannot be used", source.name))
        }
    }
}

/// Which documents to work on, with the settings that configuration, environment and flags give each.
pub(crate) struct Plan {
    /// In order.
    pub(crate) documents: Vec<(Given, Settings)>,
    /// The configuration's own data folder.
    pub(crate) data: Option<PathBuf>,
    /// The configuration and what is wrong with it, where there is one.
    pub(crate) config: Option<(Source, Vec<Diagnostic>)>,
    /// Nothing was named and nothing was configured.
    pub(crate) is_default: bool,
    /// Documents that could not be read, each with why.
    pub(crate) unreadable: Vec<anyhow::Error>,
}

impl Plan {
    /// Named documents, else the configuration, else the built-in notebook.
    pub(crate) fn new(named: &[String], config: Option<&Path>, flags: &Settings) -> Result<Plan> {
        Plan::with_descriptions(named, &[], &Importing::default(), config, flags)
    }

    /// The same with descriptions of APIs, which are imported on the way.
    pub(crate) fn with_descriptions(
        named: &[String],
        described: &[String],
        importing: &Importing,
        config: Option<&Path>,
        flags: &Settings,
    ) -> Result<Plan> {
        let outer = flags.clone().over(environment::settings(&environment::process())?);
        if !named.is_empty() || !described.is_empty() {
            let mut plan = Plan::of(Vec::new());
            let named = named.iter().map(|name| given(name, importing));
            let described = described.iter().map(|source| imported(descriptions::read(source)?, importing));
            for document in named.chain(described) {
                match document {
                    Ok(document) => plan.documents.push((document, outer.clone())),
                    Err(error) => plan.unreadable.push(error),
                }
            }
            return Ok(plan);
        }
        let path = config.map_or_else(|| PathBuf::from(CONFIG), Path::to_path_buf);
        if config.is_some() || path.exists() {
            return Plan::from_config(&path, &outer);
        }
        let notebook = builtin::document(builtin::DEFAULT).context("the built-in adapter is missing")?;
        Ok(Plan { is_default: true, ..Plan::of(vec![(Given::Document(notebook), outer)]) })
    }

    /// Tells this plan from any other that would come to another surface.
    pub(crate) fn fingerprint(&self) -> String {
        let mut digest = Digest::new();
        digest.add(env!("CARGO_PKG_VERSION"));
        for (given, settings) in &self.documents {
            digest.add(&format!("{settings:?}"));
            match given {
                Given::Document(source) => {
                    digest.add(&source.name);
                    digest.add(&source.text);
                }
                Given::Openapi(wanted) => {
                    digest.add(&format!("{:?}", wanted.options));
                    digest.add(&wanted.description.text);
                    wanted.description.others.texts().into_iter().for_each(|text| digest.add(text));
                }
            }
        }
        digest.finish()
    }

    fn of(documents: Vec<(Given, Settings)>) -> Plan {
        Plan { documents, data: None, config: None, is_default: false, unreadable: Vec::new() }
    }

    fn from_config(path: &Path, outer: &Settings) -> Result<Plan> {
        let source = read_source(path)?;
        let (config, mut diagnostics) = match source.parse() {
            Ok(parsed) => {
                let (config, mut diagnostics) = config::load(&parsed.value);
                diagnostics.extend(parsed.diagnostics);
                (config, diagnostics)
            }
            Err(diagnostics) => (Config::default(), diagnostics),
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut plan = Plan::of(Vec::new());
        for entry in &config.adapters {
            let document = match &entry.origin {
                Origin::Document(document) => given_file(&folder.join(document), &importing(entry, folder)),
                Origin::Builtin(name) => builtin_document(name).map(Given::Document),
                Origin::Openapi(source) => described(source, folder)
                    .and_then(|description| imported(description, &importing(entry, folder))),
                Origin::Mcp(_) => Err(Hinted {
                    message: "MCP servers cannot be served from a configuration yet".into(),
                    hint: "import the server into a document and name that".into(),
                }
                .into()),
            };
            match document {
                Ok(document) => {
                    let settings = outer.clone().over(entry.settings.clone()).over(config.settings.clone());
                    plan.documents.push((document, settings));
                }
                Err(error) => {
                    diagnostics.push(unresolved(entry, &error));
                    plan.unreadable.push(error);
                }
            }
        }
        if config.adapters.is_empty() && diagnostics.is_empty() {
            diagnostics.push(
                Diagnostic::error(
                    Code::SchemaInvalidValue,
                    "/adapters",
                    "The configuration names no adapter",
                )
                .suggest("add `- document: PATH` or `- builtin: notebook` under `adapters`"),
            );
        }
        source.locate(&mut diagnostics);
        plan.data = config.data.as_ref().map(|data| folder.join(data));
        plan.config = Some((source, diagnostics));
        Ok(plan)
    }

    /// Checks every document, each alone and all together.
    pub(crate) fn check(self) -> Vec<(Source, Checked)> {
        let mut documents: Vec<(Source, Checked)> =
            self.documents.into_iter().map(|(given, settings)| given.check(&settings)).collect();
        report_collision(&mut documents);
        let config =
            self.config.map(|(source, diagnostics)| (source, Checked { catalog: None, diagnostics }));
        config.into_iter().chain(documents).collect()
    }

    /// Whether there is one adapter and no configuration: whoever named it wants it and nothing else.
    fn is_alone(&self) -> bool {
        self.config.is_none() && self.documents.len() + self.unreadable.len() <= 1
    }

    /// All adapters, those that cannot be served among them. Problems are shown; if nothing is left, that is an error.
    pub(crate) fn members(self) -> Result<Vec<Member>> {
        self.tell_config();
        let mut members = Vec::new();
        let mut errors = self.unreadable;
        for (given, settings) in self.documents {
            let source = given.name();
            let (name, making) = match compiled(given, &settings) {
                Ok(catalog) => (catalog.adapter.name.clone(), Making::Compiled(Box::new(catalog))),
                Err(error) => {
                    let reason = "its document has errors; `mcpaql check` shows them".to_owned();
                    errors.push(error);
                    (source.clone(), Making::Broken { reason })
                }
            };
            members.push(Member { key: source.clone(), name, source, making });
        }
        if members.iter().all(|member| matches!(member.making, Making::Broken { .. })) {
            return Err(errors.into_iter().next().unwrap_or_else(no_adapter));
        }
        errors.iter().for_each(output::failure);
        Ok(members)
    }

    fn tell_config(&self) {
        if let Some((source, diagnostics)) = &self.config
            && !diagnostics.is_empty()
        {
            output::talk(&render::full(&[(source, diagnostics)], output::stderr_is_terminal()));
        }
    }

    /// The catalogs of all documents. Problems are shown; a document that cannot be served at all stops the start.
    pub(crate) fn catalogs(self) -> Result<Vec<(String, Catalog)>> {
        self.tell_config();
        if let Some(error) = self.unreadable.into_iter().next() {
            return Err(error);
        }
        let catalogs = self.documents.into_iter().map(|(given, settings)| {
            let name = given.name();
            Ok((name, compiled(given, &settings)?))
        });
        let catalogs = catalogs.collect::<Result<Vec<_>>>()?;
        if catalogs.is_empty() { Err(no_adapter()) } else { Ok(catalogs) }
    }
}

fn no_adapter() -> anyhow::Error {
    anyhow::anyhow!("the configuration names no adapter")
}

/// Compiles an adapter and shows its problems.
fn compiled(given: Given, settings: &Settings) -> Result<Catalog> {
    let name = given.name();
    let (source, checked) = given.check(settings);
    if !checked.diagnostics.is_empty() {
        output::talk(&render::full(&[(&source, &checked.diagnostics)], output::stderr_is_terminal()));
    }
    checked.catalog.ok_or_else(|| {
        let typed = name.strip_prefix("builtin:").unwrap_or(&name);
        let hint = if source.name == name {
            format!("`mcpaql check {typed}` shows what to mend")
        } else {
            format!("mend {}", source.name)
        };
        Hinted { message: format!("{name} cannot be served"), hint }.into()
    })
}

/// What an entry of the configuration decides about its import.
fn importing(entry: &AdapterEntry, folder: &Path) -> Importing {
    Importing {
        name: entry.name.clone(),
        overrides: entry.overrides.as_ref().map(|file| folder.join(file)),
        include: entry.include.clone(),
        exclude: entry.exclude.clone(),
    }
}

fn described(source: &str, folder: &Path) -> Result<Description> {
    if descriptions::is_address(source) {
        return descriptions::read(source);
    }
    descriptions::read(&folder.join(source).display().to_string())
}

/// An adapter of the configuration whose document cannot be read.
fn unresolved(entry: &AdapterEntry, error: &anyhow::Error) -> Diagnostic {
    let found = match &entry.origin {
        Origin::Document(found) | Origin::Builtin(found) | Origin::Openapi(found) => found.as_str(),
        Origin::Mcp(_) => "mcp",
    };
    let causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    let suggestion = error.downcast_ref::<Hinted>().map_or_else(
        || "name a file that exists; the path is relative to this file".to_owned(),
        |hinted| hinted.hint.clone(),
    );
    Diagnostic::error(Code::SchemaUnresolvedRef, &entry.pointer, capital(&causes.join(": ")))
        .found(found)
        .suggest(suggestion)
}

/// Adapters that could not stand behind one server; each document alone may be fine.
fn report_collision(documents: &mut [(Source, Checked)]) {
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
            let message = format!(
                "Adapters {} and {} both name a tool '{}'",
                collision.first, collision.second, collision.tool
            );
            let mut found = [Diagnostic::error(Code::SchemaDuplicateName, pointer, message)
                .suggest("give one of them a `tool_names.prefix` of its own")];
            source.locate(&mut found);
            checked.diagnostics.extend(found);
        }
    }
}

/// Opens every target and puts the adapters behind one gateway. One adapter alone must be in order; of several, those that
/// are not are reported and the others served.
pub(crate) async fn open_gateway(plan: Plan, data: Option<PathBuf>) -> Result<Gateway> {
    let data = data.or_else(|| plan.data.clone()).or_else(default_data);
    let opening = Opening { data, environment: environment::process() };
    let members = if plan.is_alone() { alone(plan, &opening).await? } else { plan.members()? };
    Ok(Gateway::open(members, opening).await?)
}

async fn alone(plan: Plan, opening: &Opening) -> Result<Vec<Member>> {
    let mut members = Vec::new();
    for (source, catalog) in plan.catalogs()? {
        let served = open::open(catalog, &source, opening.data.as_deref(), &opening.environment).await?;
        let name = served.catalog().adapter.name.clone();
        members.push(Member { key: source.clone(), name, source, making: Making::Opened(Box::new(served)) });
    }
    Ok(members)
}

/// The user's data directory: `$XDG_DATA_HOME/mcpaql`, else what the platform uses.
pub(crate) fn default_data() -> Option<PathBuf> {
    user_folder("XDG_DATA_HOME", ".local/share", "Library/Application Support")
}

/// Our folder below the one that the variable names, else below what the platform uses for that purpose.
pub(crate) fn user_folder(variable: &str, unix: &str, mac: &str) -> Option<PathBuf> {
    let from = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = from(variable).or_else(|| {
        let home = from("HOME");
        if cfg!(target_os = "macos") {
            home.map(|home| home.join(mac))
        } else if cfg!(windows) {
            from("LOCALAPPDATA")
        } else {
            home.map(|home| home.join(unix))
        }
    });
    base.map(|base| base.join("mcpaql"))
}

/// A file, or a built-in adapter where there is no such file.
fn given(name: &str, importing: &Importing) -> Result<Given> {
    let path = Path::new(name);
    if path.exists() {
        return given_file(path, importing);
    }
    if descriptions::is_address(name) {
        return imported(descriptions::read(name)?, importing);
    }
    if builtin::document(name).is_some() {
        return builtin_document(name).map(Given::Document);
    }
    let known: Vec<&str> = builtin::names().collect();
    Err(Hinted {
        message: format!("there is no file '{name}'"),
        hint: format!(
            "name an adapter document, an OpenAPI description, or a built-in adapter ({})",
            known.join(", ")
        ),
    }
    .into())
}

fn given_file(path: &Path, importing: &Importing) -> Result<Given> {
    let source = read_source(path)?;
    if openapi::is_description(&source.text) {
        return imported(descriptions::of_file(&source.name, source.text), importing);
    }
    Ok(Given::Document(source))
}

fn imported(description: Description, importing: &Importing) -> Result<Given> {
    Ok(Given::Openapi(Box::new(Wanted::new(description, importing)?)))
}

fn builtin_document(name: &str) -> Result<Source> {
    builtin::document(name).ok_or_else(|| {
        let known: Vec<&str> = builtin::names().collect();
        let hint = format!("there is {}", known.join(", "));
        Hinted { message: format!("there is no built-in adapter '{name}'"), hint }.into()
    })
}

fn read_source(path: &Path) -> Result<Source> {
    Ok(Source::new(path.display().to_string(), descriptions::read_text(path)?))
}

/// Renders reports as the user chose.
pub(crate) fn render_reports(style: Style, checked: &[(Source, Checked)]) -> String {
    let reports: Vec<render::Report<'_>> =
        checked.iter().map(|(source, checked)| (source, checked.diagnostics.as_slice())).collect();
    style.render(&reports, output::color())
}
