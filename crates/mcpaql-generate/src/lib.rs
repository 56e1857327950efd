//! An adapter → a project that serves it, as source that its author owns.
//!
//! What always holds: the same project gives the same files, byte for byte; nothing here reads a file, a clock or chance. A
//! generated project answers as `mcpaql serve` does: a project in Rust stands on the same library, and one in another language
//! gets what it lists, introspects and checks from the same catalog (`catalog_data`), with a small runtime of `templates/`
//! that every project of that language shares.

mod binding;
mod catalog_data;
mod environment;
pub mod license;
pub mod manifest;
mod model;
mod notice;
pub mod provenance;
mod python;
mod readme;
mod rust;
mod templates;
#[cfg(test)]
mod tests;
mod typescript;

use mcpaql_core::adapter::TargetConfig;
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::operation::{Binding, INTROSPECT};
use std::fmt;

/// A language that projects are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// On `mcpaql-runtime`.
    Rust,
    /// On the official MCP SDK, alone.
    TypeScript,
    /// On the official MCP SDK, alone.
    Python,
}

impl Language {
    /// All three.
    pub const ALL: [Language; 3] = [Language::Rust, Language::TypeScript, Language::Python];

    /// The word on the command line and in provenance.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::TypeScript => "typescript",
            Language::Python => "python",
        }
    }

    /// Its own name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Language::Rust => "Rust",
            Language::TypeScript => "TypeScript",
            Language::Python => "Python",
        }
    }

    /// The language of that word.
    #[must_use]
    pub fn parse(word: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.as_str() == word)
    }
}

/// What a project is made from.
#[derive(Debug)]
pub struct Project<'a> {
    /// The adapter as it is served, with the options' settings.
    pub catalog: &'a Catalog,
    /// The document it was compiled from, which the project carries as `schema/`.
    pub document: ProjectDocument<'a>,
    /// What the document was derived from; `None` where the author wrote it.
    pub origin: Option<provenance::DocumentOrigin>,
    /// What the author chose.
    pub options: ProjectOptions,
}

impl Project<'_> {
    /// What its package is called: `github-api-adapter`. No word of a language is a name like that, and no library that a
    /// project needs.
    #[must_use]
    pub fn package(&self) -> String {
        let name = self.catalog.adapter.name.replace('_', "-");
        if name.ends_with("-adapter") { name } else { format!("{name}-adapter") }
    }

    /// What builds it, one command each, in its folder.
    #[must_use]
    pub fn build(&self) -> &'static [&'static str] {
        match self.options.language {
            Language::Rust => &["cargo build --release"],
            Language::TypeScript => &["npm install", "npm run build"],
            Language::Python => &["python3 -m venv .venv", ".venv/bin/pip install -e ."],
        }
    }

    /// What lints and tests it once it was built, line by line, in its folder.
    pub(crate) fn checks(&self) -> &'static [&'static str] {
        match self.options.language {
            Language::Rust => {
                &["cargo fmt --check", "cargo clippy --all-targets -- -D warnings", "cargo test"]
            }
            Language::TypeScript => &["npm run lint", "npm test"],
            Language::Python => &[
                ".venv/bin/pip install -e '.[dev]'",
                ".venv/bin/ruff check .",
                ".venv/bin/ruff format --check .",
                ".venv/bin/mypy",
                ".venv/bin/python -m unittest discover tests",
            ],
        }
    }

    /// What starts it once it was built: the program and its arguments, in its folder.
    #[must_use]
    pub fn start(&self) -> Vec<String> {
        match self.options.language {
            Language::Rust => vec![format!("target/release/{}", self.package())],
            Language::TypeScript => vec!["node".to_owned(), "dist/index.js".to_owned()],
            Language::Python => vec![".venv/bin/python".to_owned(), "-m".to_owned(), self.module()],
        }
    }

    /// What whoever builds it should know of the library that it stands on, where nobody said where that is. It holds before
    /// and after a version is published, which cannot be known here.
    #[must_use]
    pub fn runtime_note(&self) -> Option<RuntimeNote> {
        (self.options.language == Language::Rust && self.options.runtime_flag.is_none()).then(|| RuntimeNote {
            message: format!("`mcpaql-runtime` {VERSION} from crates.io"),
            suggestion: format!(
                "where cargo does not find that version there, generate with `--runtime git:{}` or `--runtime path:DIR`",
                env!("CARGO_PKG_REPOSITORY"),
            ),
        })
    }

    /// The package's name as an identifier: `github_api_adapter`.
    #[must_use]
    pub fn module(&self) -> String {
        self.package().replace('-', "_")
    }
}

/// Where a project finds its library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeNote {
    /// Which library, from where.
    pub message: String,
    /// What to do where it is not there.
    pub suggestion: String,
}

/// The document of an adapter.
#[derive(Debug, Clone, Copy)]
pub struct ProjectDocument<'a> {
    /// Its name without a folder: `github-api-adapter.md`. Letters, digits, `.`, `_` and `-` only.
    pub file: &'a str,
    /// What it says.
    pub text: &'a str,
}

/// What the author of a project chooses.
#[derive(Debug, Clone)]
pub struct ProjectOptions {
    /// Which language.
    pub language: Language,
    /// Where a project in Rust finds `mcpaql-runtime`: the value of a dependency in `Cargo.toml`.
    pub runtime: String,
    /// The same as it is said on the command line, from any folder; `None` where it is as usual.
    pub runtime_flag: Option<String>,
    /// What is decided over the document: mode, profile, prefix, policy. The catalog was compiled with it; a project that
    /// compiles the document itself does the same. The environment of the running server decides over it.
    pub settings: AdapterSettings,
    /// The licence of the project, as an SPDX expression or `UNLICENSED`.
    pub license: String,
    /// Who holds the rights, where the author says: the rest of the line `Copyright (c) …`.
    pub copyright: Option<String>,
    /// Operations that the language cannot serve were left out of the catalog.
    pub skip_unsupported: bool,
}

impl ProjectOptions {
    /// A project in that language, with everything else as usual.
    #[must_use]
    pub fn new(language: Language) -> ProjectOptions {
        ProjectOptions {
            language,
            runtime: format!("\"{VERSION}\""),
            runtime_flag: None,
            settings: AdapterSettings::default(),
            license: license::DEFAULT.to_owned(),
            copyright: None,
            skip_unsupported: false,
        }
    }
}

/// The version of the generator, and of the runtime that its projects in Rust need.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A file of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// Below the project's folder, with `/`.
    pub path: String,
    /// What it says.
    pub text: String,
    /// Whose it is.
    pub owner: FileOwner,
}

impl ProjectFile {
    fn generated(path: impl Into<String>, text: impl Into<String>) -> ProjectFile {
        ProjectFile { path: path.into(), text: text.into(), owner: FileOwner::Generator }
    }
}

/// Whose a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOwner {
    /// The generator's: written anew each time.
    Generator,
    /// The author's: written once, then left alone as soon as the author has changed it.
    Author,
}

/// Why there is no project in that language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// One sentence, without what to do instead.
    pub message: String,
    /// What to do instead.
    pub suggestion: &'static str,
}

/// What to do about a document that only one of the languages takes.
const USE_RUST: &str = "generate it with --target rust, or serve the document with `mcpaql serve`";
/// The same where something remains without those operations.
const USE_RUST_OR_SKIP: &str = "generate it with --target rust, serve the document with `mcpaql serve`, or leave these operations out with \
     --skip-unsupported";

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Unsupported {}

/// All files of a project, in order of their paths; `timestamp` is when it was generated, where that shall be told.
///
/// # Errors
/// Where the language's runtime does not know something that the adapter needs.
pub fn files(project: &Project<'_>, timestamp: Option<&str>) -> Result<Vec<ProjectFile>, Unsupported> {
    Ok(complete(project, sources(project)?, timestamp))
}

/// The source files of a project, in order of their paths: what belongs to its language, without what every project has
/// (README, licence, provenance, the document).
///
/// # Errors
/// Where the language's runtime does not know something that the adapter needs.
pub fn sources(project: &Project<'_>) -> Result<Vec<ProjectFile>, Unsupported> {
    let mut files = match project.options.language {
        Language::Rust => rust::files(project)?,
        Language::TypeScript => typescript::files(project)?,
        Language::Python => python::files(project)?,
    };
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// An operation that projects of a language cannot serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedOperation {
    /// Its name.
    pub name: String,
    /// What it needs: `the store`.
    pub needs: &'static str,
}

/// The operations that projects of that language cannot serve, in order. Small projects reach HTTP APIs and commands.
#[must_use]
pub fn unsupported_operations(catalog: &Catalog, language: Language) -> Vec<UnsupportedOperation> {
    let needs = |entry: &mcpaql_core::catalog::CatalogEntry| {
        let Some(whole) = catalog.full_operation(entry) else {
            return Some("a description that can be read");
        };
        match &whole.operation.binding {
            _ if language == Language::Rust => None,
            // They are there because other operations run in the background.
            Binding::Introspect | Binding::Execution(_) => None,
            _ if entry.operation.lifecycle.is_some() => Some("work in the background"),
            Binding::Store(_) => Some("the store"),
            Binding::Mcp(_) => Some("another MCP server"),
            Binding::Code => Some("code of the program that embeds it"),
            Binding::Http(_) | Binding::Command(_) => match binding::operation_binding(whole.operation) {
                Ok(_) => None,
                Err(_) => Some("braces in its command that are no parameter"),
            },
        }
    };
    let told = |entry| Some((entry, needs(entry)?));
    let all = catalog.operations.iter().filter_map(told);
    all.map(|(entry, needs)| UnsupportedOperation { name: entry.operation.name.clone(), needs }).collect()
}

/// Operations that a message names.
const MAX_NAMED_OPERATIONS: usize = 12;

/// Whether projects of the language can serve the adapter.
fn supported(project: &Project<'_>) -> Result<(), Unsupported> {
    let catalog = project.catalog;
    let (language, adapter) = (project.options.language.name(), &catalog.adapter.name);
    if matches!(catalog.adapter.target, TargetConfig::Code(_)) {
        let message = format!(
            "projects in {language} cannot serve the adapter '{adapter}': its operations are code of the program that embeds it"
        );
        let suggestion = "serve it from that program, or give it a target that is reached from elsewhere";
        return Err(Unsupported { message, suggestion });
    }
    let found = unsupported_operations(catalog, project.options.language);
    if found.is_empty() {
        let is_empty = catalog.operations.iter().all(|entry| entry.operation.name == INTROSPECT);
        return match is_empty && project.options.skip_unsupported {
            false => Ok(()),
            true => Err(Unsupported {
                message: format!(
                    "projects in {language} can serve no operation of the adapter '{adapter}', so nothing is left"
                ),
                suggestion: USE_RUST,
            }),
        };
    }
    let mut needs: indexmap::IndexMap<&str, Vec<&str>> = indexmap::IndexMap::new();
    for operation in found.iter().take(MAX_NAMED_OPERATIONS) {
        needs.entry(operation.needs).or_default().push(&operation.name);
    }
    let told: Vec<String> =
        needs.iter().map(|(needs, names)| format!("{} (needs {needs})", names.join(", "))).collect();
    let more = match found.len().saturating_sub(MAX_NAMED_OPERATIONS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let message = format!(
        "projects in {language} cannot serve {} of the operations of the adapter '{adapter}': {}{more}",
        found.len(),
        told.join("; ")
    );
    Err(Unsupported { message, suggestion: USE_RUST_OR_SKIP })
}

/// The sources with what every project has.
fn complete(project: &Project<'_>, sources: Vec<ProjectFile>, timestamp: Option<&str>) -> Vec<ProjectFile> {
    let fingerprint = provenance::fingerprint(&project.document);
    let mut files = sources;
    let authors: Vec<String> =
        files.iter().filter(|file| file.owner == FileOwner::Author).map(|file| file.path.clone()).collect();
    files.push(ProjectFile::generated("README.md", readme::text(project, &authors, &fingerprint)));
    files.push(ProjectFile::generated("LICENSE", license::text(project)));
    files.push(ProjectFile::generated("NOTICE.md", notice::text(project, &fingerprint)));
    files.push(ProjectFile::generated(format!("schema/{}", project.document.file), project.document.text));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    let provenance = provenance::text(project, &fingerprint, &files, timestamp);
    files.push(ProjectFile::generated(provenance::FILE, provenance));
    files.sort_by(|a, b| a.path.cmp(&b.path));
    files
}
