//! From what was typed to adapters: reading files, layering settings, opening targets.
//!
//! A surface is decided by the document, over it the configuration file, over that the environment, over that the flags.

mod given;
mod members;
mod terms;

pub(crate) use given::{Document, Given, Server, Wanted, corrections};
pub(crate) use members::open_gateway;
pub(crate) use terms::Terms;

use crate::args::Importing;
use crate::descriptions::{self, Description, Digest};
use crate::output::{self, Hinted};
use anyhow::{Context, Result};
pub(crate) use given::tell;
use mcpaql_core::catalog::{Catalog, Settings};
use mcpaql_core::check::Checked;
use mcpaql_core::config::{self, AdapterEntry, Config, Origin};
use mcpaql_core::diagnostic::render::{self, Style};
use mcpaql_core::diagnostic::{Diagnostic, Severity, capital};
use mcpaql_core::error::Code;
use mcpaql_core::source::Source;
use mcpaql_core::suggest::{self, snake_case};
use mcpaql_import::select::Rule;
use mcpaql_import::{mcp, openapi};
pub(crate) use mcpaql_runtime::environment::data_folder as default_data;
use mcpaql_runtime::gateway::{Collision, check_names};
use mcpaql_runtime::{builtin, environment};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The configuration file of a folder.
pub(crate) const CONFIG: &str = "mcpaql.yaml";

/// Which adapters to work on.
pub(crate) struct Plan {
    /// In order.
    pub(crate) documents: Vec<Document>,
    /// The configuration's own data folder.
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
            plan.files.extend(importing.overrides.clone());
            for name in named {
                plan.add(name, given(name, importing), &outer, Terms::default());
            }
            for source in described {
                let given = descriptions::read(source).and_then(|text| imported(text, importing));
                plan.add(source, given, &outer, Terms::default());
            }
            return Ok(plan);
        }
        let path = config.map_or_else(|| PathBuf::from(CONFIG), Path::to_path_buf);
        if config.is_some() || path.exists() {
            return Plan::from_config(&path, &outer);
        }
        let notebook = builtin::document(builtin::DEFAULT).context("the built-in adapter is missing")?;
        let document =
            Document { given: Given::Document(notebook), settings: outer, terms: Terms::default() };
        Ok(Plan { is_default: true, ..Plan::of(vec![document]) })
    }

    /// One adapter by a document, an address or its name in the configuration, else a built-in one.
    pub(crate) fn one(name: &str, settings: &Settings) -> Result<Plan> {
        let path = Path::new(CONFIG);
        if Path::new(name).is_file() || descriptions::is_address(name) || !path.exists() {
            return Plan::new(&[name.to_owned()], None, settings);
        }
        let outer = settings.clone().over(environment::settings(&environment::process())?);
        let others = match Plan::configured(name, &outer)? {
            Configured::Adapter { document, data } => return Ok(Plan { data, ..Plan::of(vec![*document]) }),
            Configured::Unknown { names, .. } => names,
        };
        if builtin::document(name).is_some() || Path::new(name).exists() || others.is_empty() {
            return Plan::new(&[name.to_owned()], None, settings);
        }
        Err(unknown(name, &others))
    }

    /// What a name means in the configuration of this folder.
    pub(crate) fn configured(name: &str, outer: &Settings) -> Result<Configured> {
        let read = || Plan::from_config(Path::new(CONFIG), outer);
        let Plan { documents, config, .. } = read()?;
        let mut names = Vec::new();
        for (index, document) in documents.into_iter().enumerate() {
            let own = document.name();
            if own.as_ref().is_some_and(|own| snake_case(own) == snake_case(name)) {
                let Plan { mut documents, data, .. } = read()?;
                let document = Box::new(documents.swap_remove(index));
                return Ok(Configured::Adapter { document, data });
            }
            names.extend(own);
        }
        Ok(Configured::Unknown { names, config })
    }

    /// Tells this plan from any other that would come to another surface.
    pub(crate) fn fingerprint(&self) -> String {
        let mut digest = Digest::new();
        self.documents.iter().for_each(|document| digest.add(&document.key()));
        digest.finish()
    }

    fn of(documents: Vec<Document>) -> Plan {
        Plan {
            documents,
            data: None,
            config: None,
            is_config_broken: false,
            is_default: false,
            unreadable: Vec::new(),
            files: Vec::new(),
        }
    }

    fn add(&mut self, name: &str, given: Result<Given>, settings: &Settings, terms: Terms) {
        // One that is not there may come.
        let path = Path::new(name);
        if !descriptions::is_address(name) && (path.exists() || path.extension().is_some()) {
            self.files.push(PathBuf::from(name));
        }
        match given {
            Ok(given) => {
                if let Given::Openapi(wanted) = &given {
                    self.files.extend(wanted.files().map(Path::to_path_buf));
                }
                self.documents.push(Document { given, settings: settings.clone(), terms });
            }
            Err(error) => self.unreadable.push((name.to_owned(), error)),
        }
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
        plan.is_config_broken = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        plan.files.push(path.to_path_buf());
        let mut servers = HashSet::new();
        for entry in &config.adapters {
            let name = entry_name(entry, folder);
            let settings = layered(outer, entry, &config);
            plan.files.extend(importing(entry, folder).overrides);
            let made = made(entry, folder, &mut servers);
            if let Err(error) = &made {
                let misread = misread_rules(entry);
                let is_fine = misread.is_empty();
                diagnostics.extend(misread);
                diagnostics.extend(is_fine.then(|| unresolved(entry, error)));
            }
            let (given, terms) =
                made.map_or_else(|error| (Err(error), Terms::default()), |(given, terms)| (Ok(given), terms));
            plan.add(&name, given, &settings, terms);
        }
        if config.adapters.is_empty() && diagnostics.is_empty() {
            plan.is_config_broken = true;
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

    /// Checks every document, each alone and all together. Servers are not started.
    pub(crate) fn check(self) -> Vec<(Source, Checked)> {
        let mut documents: Vec<(Source, Checked)> = self.documents.into_iter().map(Document::check).collect();
        report_collision(&mut documents);
        let config =
            self.config.map(|(source, diagnostics)| (source, Checked { catalog: None, diagnostics }));
        config.into_iter().chain(documents).collect()
    }

    /// The catalogs of all documents. Problems are shown; a document that cannot be served at all is an error.
    pub(crate) fn catalogs(self) -> Result<Vec<(String, Catalog)>> {
        self.config.iter().for_each(|(source, diagnostics)| tell(source, diagnostics));
        if let Some((_, error)) = self.unreadable.into_iter().next() {
            return Err(error);
        }
        let catalogs =
            self.documents.into_iter().map(|document| Ok((document.source(), document.catalog()?)));
        let catalogs = catalogs.collect::<Result<Vec<_>>>()?;
        if catalogs.is_empty() { Err(members::no_adapter()) } else { Ok(catalogs) }
    }
}

/// What a name means in a configuration.
pub(crate) enum Configured {
    /// One of its adapters.
    Adapter {
        document: Box<Document>,
        /// The configuration's own data folder.
        data: Option<PathBuf>,
    },
    /// None of its adapters.
    Unknown {
        /// What those are called that could be read.
        names: Vec<String>,
        /// The configuration and what is wrong with it.
        config: Option<(Source, Vec<Diagnostic>)>,
    },
}

/// A name that no file and no adapter has.
pub(crate) fn unknown(name: &str, others: &[String]) -> anyhow::Error {
    let nearest = suggest::nearest(name, others.iter().map(String::as_str));
    let meant = nearest.map(|nearest| format!("did you mean '{nearest}'? ")).unwrap_or_default();
    let hint = format!("{meant}{CONFIG} has {}", others.join(", "));
    Hinted { message: format!("there is no file and no adapter '{name}'"), hint }.into()
}

/// What flags and environment, the entry and the whole file decide. Shared tools have one name, so no entry decides that.
fn layered(outer: &Settings, entry: &AdapterEntry, config: &Config) -> Settings {
    let mut own = entry.settings.clone();
    if outer.sharing.or(config.settings.sharing).is_some() {
        (own.prefix, own.pattern) = (None, None);
    }
    outer.clone().over(own).over(config.settings.clone())
}

/// What an entry of the configuration comes to.
fn made(entry: &AdapterEntry, folder: &Path, servers: &mut HashSet<String>) -> Result<(Given, Terms)> {
    let terms = Terms::of(entry)?;
    let given = match &entry.origin {
        Origin::Document(document) => given_file(&folder.join(document), &importing(entry, folder))?,
        Origin::Builtin(name) => Given::Document(builtin_document(name)?),
        Origin::Openapi(source) => imported(described(source, folder)?, &importing(entry, folder))?,
        Origin::Mcp(target) => {
            let mut target = (**target).clone();
            terms.limits.apply_to_server(&mut target);
            let name = entry.name.clone().unwrap_or_else(|| mcp::name_of(&target.link));
            if !servers.insert(snake_case(&name)) {
                return Err(Hinted {
                    message: format!("two MCP servers would be called '{name}'"),
                    hint: "give one of them a `name` of its own".into(),
                }
                .into());
            }
            let importing = importing(entry, folder);
            let options = mcp::Options {
                name: Some(name.clone()),
                selection: terms.selection.clone(),
                overrides: corrections(&importing)?.1,
            };
            let auth = terms.auth.clone().unwrap_or_default();
            Given::Mcp(Box::new(Server { name, target, auth, options, importing }))
        }
    };
    Ok((given, terms))
}

/// What an entry is called in reports: the file as it is found from here, or what else it says.
fn entry_name(entry: &AdapterEntry, folder: &Path) -> String {
    match &entry.origin {
        Origin::Openapi(source) if descriptions::is_address(source) => source.clone(),
        Origin::Document(path) | Origin::Openapi(path) => folder.join(path).display().to_string(),
        Origin::Builtin(name) => format!("builtin:{name}"),
        Origin::Mcp(target) => {
            format!("mcp:{}", entry.name.clone().unwrap_or_else(|| mcp::name_of(&target.link)))
        }
    }
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

/// Rules of an entry that cannot be understood.
fn misread_rules(entry: &AdapterEntry) -> Vec<Diagnostic> {
    let mut problems = Vec::new();
    for (key, rules) in [("include", &entry.include), ("exclude", &entry.exclude)] {
        for (index, rule) in rules.iter().enumerate() {
            if let Err(error) = Rule::parse(rule) {
                let pointer = format!("{}/{key}/{index}", entry.pointer);
                problems.push(
                    Diagnostic::error(Code::SchemaInvalidValue, pointer, capital(&error.to_string()))
                        .expected("tag:NAME, path:/PATH/**, op:NAME, category:WORD or deprecated")
                        .found(rule.as_str()),
                );
            }
        }
    }
    problems
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
            let Collision { tool, first, second } = collision;
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
