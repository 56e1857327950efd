//! What an adapter is made from, and the catalog that comes of it.

use super::read_source;
use super::terms::Terms;
use crate::args::Importing;
use crate::cache::Captured;
use crate::descriptions::{self, Description, Digest};
use crate::output::{self, Hinted};
use anyhow::{Context, Result};
use mcpaql_core::adapter::{Adapter, Auth, McpTarget, Origins, title_of};
use mcpaql_core::capture::Capture;
use mcpaql_core::catalog::{self, Catalog, Settings};
use mcpaql_core::check::{self, Checked};
use mcpaql_core::diagnostic::{Diagnostic, Severity, render};
use mcpaql_core::overrides::{self, Overrides};
use mcpaql_core::source::Source;
use mcpaql_core::suggest::snake_case;
use mcpaql_import::mcp;
use mcpaql_import::openapi::{self, Import, Options};
use mcpaql_import::select::Selection;
use mcpaql_runtime::environment;
use mcpaql_runtime::target::mcp::Upstream;
use std::path::Path;
use url::Url;

/// One adapter to be, with all that is decided for it.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) given: Given,
    /// What configuration, environment and flags give it.
    pub(crate) settings: Settings,
    /// What its entry decides.
    pub(crate) terms: Terms,
}

/// What an adapter is made from.
#[derive(Debug)]
pub(crate) enum Given {
    /// A document of its own.
    Document(Source),
    /// The description of an API, imported on the way.
    Openapi(Box<Wanted>),
    /// A running MCP server, whose tools are asked for.
    Mcp(Box<Server>),
}

/// An MCP server of the configuration.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// The adapter's name.
    pub(crate) name: String,
    pub(crate) target: McpTarget,
    pub(crate) auth: Auth,
    pub(crate) options: mcp::Options,
    /// What the options were made from.
    pub(crate) importing: Importing,
}

impl Document {
    /// As people may see it.
    pub(crate) fn source(&self) -> String {
        match &self.given {
            Given::Document(source) => source.name.clone(),
            Given::Openapi(wanted) => wanted.description.name.clone(),
            Given::Mcp(server) => format!("mcp:{}", server.name),
        }
    }

    /// What the adapter is called, even where it cannot be served. A server is not started for it.
    pub(crate) fn name(self) -> Option<String> {
        if let Some(name) = self.terms.name {
            return Some(name);
        }
        match &self.given {
            Given::Mcp(server) => Some(server.name.clone()),
            Given::Document(source) => {
                let value = source.parse().ok()?.value;
                let name = value.get("name").or_else(|| value.pointer("/adapter/name"))?;
                name.as_str().map(str::to_owned)
            }
            Given::Openapi(_) => self.check().1.catalog.map(|catalog| catalog.adapter.name),
        }
    }

    /// Tells this adapter from any other that would be served otherwise.
    pub(crate) fn key(&self) -> String {
        let mut digest = Digest::new();
        digest.add(env!("CARGO_PKG_VERSION"));
        digest.add(&format!("{:?} {:?}", self.settings, self.terms));
        match &self.given {
            Given::Document(source) => {
                digest.add(&source.name);
                digest.add(&source.text);
            }
            Given::Openapi(wanted) => {
                digest.add(&wanted.description.name);
                digest.add(&format!("{:?}", wanted.options));
                digest.add(&wanted.description.text);
                wanted.description.others.texts().into_iter().for_each(|text| digest.add(text));
            }
            Given::Mcp(server) => digest.add(&format!("{server:?}")),
        }
        digest.finish()
    }

    /// The catalog and what was noticed on the way, with the text that it was noticed in. A server is not started for it.
    pub(crate) fn check(self) -> (Source, Checked) {
        let name = self.source();
        let Document { given, settings, terms } = self;
        let (source, mut checked) = match given {
            Given::Document(source) => {
                let mut noticed = Vec::new();
                let mut checked = check::check_with(&source, &settings, |adapter| {
                    noticed = terms.apply_to_document(adapter);
                });
                if noticed.iter().any(|one| one.severity == Severity::Error) {
                    checked.catalog = None;
                }
                checked.diagnostics.extend(noticed);
                (source, checked)
            }
            Given::Openapi(wanted) => check_description(*wanted, &settings, &terms),
            Given::Mcp(_) => {
                (Source::new(name, String::new()), Checked { catalog: None, diagnostics: Vec::new() })
            }
        };
        checked.catalog.iter_mut().for_each(|catalog| terms.finish(catalog));
        (source, checked)
    }

    /// Compiles the adapter and shows its problems. A server is started where nothing is known of it.
    pub(crate) fn catalog(self) -> Result<Catalog> {
        self.compiled(false)
    }

    /// The same; where `whole`, an adapter that lost something to an error is none.
    pub(crate) fn compiled(self, whole: bool) -> Result<Catalog> {
        let name = self.source();
        let (catalog, errors) = self.compiled_with_errors()?;
        if whole && !errors.is_empty() {
            return Err(unserved(&name, &name));
        }
        Ok(catalog)
    }

    /// The same, with the errors to which it lost something.
    pub(crate) fn compiled_with_errors(self) -> Result<(Catalog, Vec<Diagnostic>)> {
        let name = self.source();
        let (source, checked) = match &self.given {
            Given::Mcp(server) => {
                let capture = server.captured()?;
                let checked = server.check(&capture, &self.settings, &self.terms);
                (Source::new(name.clone(), String::new()), checked)
            }
            Given::Document(_) | Given::Openapi(_) => self.check(),
        };
        let Checked { catalog, mut diagnostics } = checked;
        tell(&source, &diagnostics);
        diagnostics.retain(|diagnostic| diagnostic.severity == Severity::Error);
        let catalog = catalog.ok_or_else(|| unserved(&name, &source.name))?;
        Ok((catalog, diagnostics))
    }
}

/// An adapter of that name whose trouble stands in that file.
fn unserved(name: &str, file: &str) -> anyhow::Error {
    let typed = name.strip_prefix("builtin:").unwrap_or(name);
    let hint = if file == name {
        format!("`mcpaql check {typed}` shows what to mend")
    } else {
        format!("mend {file}")
    };
    Hinted { message: format!("{name} cannot be served"), hint }.into()
}

/// Shows what is wrong with a text.
pub(crate) fn tell(source: &Source, diagnostics: &[Diagnostic]) {
    if !diagnostics.is_empty() {
        output::painted(&render::full(&[(source, diagnostics)], output::stderr_is_terminal()));
    }
}

impl Server {
    /// The adapter of what the server said.
    pub(crate) fn check(&self, capture: &Capture, settings: &Settings, terms: &Terms) -> Checked {
        match mcp::import(capture, self.target.clone(), self.auth.clone(), &self.options) {
            Ok(mut imported) => {
                self.entitle(&mut imported.adapter);
                let compiled = catalog::compile(imported.adapter, &Origins::default(), settings);
                // What a server says badly is not for whoever serves it to mend; their own rules are.
                let ours = imported.report.diagnostics.into_iter().filter(|one| one.pointer.is_empty());
                let diagnostics = ours.chain(compiled.diagnostics).collect();
                let mut checked = Checked { catalog: compiled.catalog, diagnostics };
                checked.catalog.iter_mut().for_each(|catalog| terms.finish(catalog));
                checked
            }
            Err(diagnostics) => Checked { catalog: None, diagnostics },
        }
    }

    /// A title that spells the name better is kept; any other would be the same for every server of its kind.
    pub(crate) fn entitle(&self, adapter: &mut Adapter) {
        let plain = |text: &str| snake_case(text).replace('_', "");
        if plain(&adapter.display_name) != plain(&self.name) {
            adapter.display_name = title_of(&self.name);
        }
    }

    /// What the server said the last time, else what it says now.
    fn captured(&self) -> Result<Capture> {
        let slot = self.kept();
        if let Some(known) = slot.as_ref().and_then(Captured::read) {
            return Ok(known);
        }
        let run = || -> Result<Capture> {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(async {
                let upstream = Upstream::new(&self.target, &self.auth, &environment::process())?;
                let capture = upstream.capture().await;
                upstream.close().await;
                Ok(capture?)
            })
        };
        // On a thread of its own, because callers may or may not be in a runtime already.
        let asked = std::thread::scope(|scope| scope.spawn(run).join());
        let capture = asked.unwrap_or_else(|_| anyhow::bail!("asking the server failed"));
        let capture = capture.with_context(|| format!("cannot ask the MCP server '{}'", self.name))?;
        slot.iter().for_each(|slot| slot.write(&capture));
        Ok(capture)
    }

    /// Where what the server says is kept: under how it is reached, of which only a fingerprint is written.
    pub(crate) fn kept(&self) -> Option<Captured> {
        let mut digest = Digest::new();
        digest.add(&format!("{:?} {:?}", self.target.link, self.auth));
        Captured::new(&digest.finish())
    }
}

fn check_description(wanted: Wanted, settings: &Settings, terms: &Terms) -> (Source, Checked) {
    let name = wanted.description.name.clone();
    match wanted.open() {
        Ok(Import { mut adapter, library, report, .. }) => {
            terms.apply(&mut adapter);
            let compiled = catalog::compile_deferred(adapter, terms.library(library), settings);
            let mut diagnostics = report.diagnostics;
            diagnostics.extend(compiled.diagnostics);
            (Source::new(name, String::new()), Checked { catalog: compiled.catalog, diagnostics })
        }
        Err((source, diagnostics)) => (source, Checked { catalog: None, diagnostics }),
    }
}

/// The file of corrections, and what it says.
pub(crate) fn corrections(flags: &Importing) -> Result<(Option<Source>, Overrides)> {
    let Some(path) = flags.overrides.as_deref() else { return Ok((None, Overrides::default())) };
    let source = read_source(path)?;
    match overrides::parse(&source) {
        Ok(corrections) => Ok((Some(source), corrections)),
        Err(diagnostics) => {
            tell(&source, &diagnostics);
            anyhow::bail!("{} cannot be used", source.name)
        }
    }
}

/// A description and how it shall be imported.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) description: Description,
    /// What the options were made from.
    pub(crate) importing: Importing,
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
        Ok(Wanted { description, importing: flags.clone(), options, overrides })
    }

    /// The files that it is read from.
    pub(super) fn files(&self) -> impl Iterator<Item = &Path> {
        self.description.others.files()
    }

    /// Imports the description as far as serving needs it; else what is wrong, with the text that it is wrong in.
    pub(crate) fn open(self) -> Result<Import, (Source, Vec<Diagnostic>)> {
        let Description { name, url, text, others } = self.description;
        openapi::open(text, &self.options, others).map_err(|diagnostics| {
            let corrected =
                diagnostics.iter().any(|diagnostic| diagnostic.pointer.starts_with("/operations"));
            let source = self.overrides.filter(|_| corrected);
            // The text went into the import: where something is wrong with it, its file shows the place.
            let placed = url.is_none() && diagnostics.iter().any(|diagnostic| diagnostic.span.is_some());
            let text = placed.then(|| descriptions::read_text(Path::new(&name)).ok()).flatten();
            let text = text.unwrap_or_default().trim_start_matches(['\u{feff}', '\0']).to_owned();
            (source.unwrap_or_else(|| Source::new(name, text)), diagnostics)
        })
    }
}
