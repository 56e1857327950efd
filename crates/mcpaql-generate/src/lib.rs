//! Generates a project from an adapter: source code of an MCP server that the author owns.
//!
//! What always holds: the same input gives the same files, byte for byte. This crate reads no files, no clock and no random
//! numbers. A generated project gives the same answers as `mcpaql serve`: a project in Rust uses the same library, and a
//! project in another language gets its lists, introspection and schemas from the same catalog (`catalog_data`), with a
//! small runtime from `templates/` that all projects of that language share.

mod binding;
mod catalog_data;
mod gate;
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

use mcpaql_core::adapter::{ResultForm, TargetConfig};
use mcpaql_core::catalog::{AdapterSettings, Catalog};
use mcpaql_core::operation::{Binding, INTROSPECT, Operation};
use mcpaql_gate::trust::TrustLevel;
use std::fmt;

/// The language of a project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Based on `mcpaql-runtime`.
    Rust,
    /// Based on the official MCP SDK, without `mcpaql-runtime`.
    TypeScript,
    /// Based on the official MCP SDK, without `mcpaql-runtime`.
    Python,
}

impl Language {
    /// All languages.
    pub const ALL: [Language; 3] = [Language::Rust, Language::TypeScript, Language::Python];

    /// Returns the word for the command line and the provenance file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::TypeScript => "typescript",
            Language::Python => "python",
        }
    }

    /// Returns the name of the language for texts.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Language::Rust => "Rust",
            Language::TypeScript => "TypeScript",
            Language::Python => "Python",
        }
    }

    /// Parses the word from the command line.
    #[must_use]
    pub fn parse(word: &str) -> Option<Language> {
        Language::ALL.into_iter().find(|language| language.as_str() == word)
    }
}

/// The input of a generated project.
#[derive(Debug)]
pub struct Project<'a> {
    /// The adapter as it is served, with the settings of the options.
    pub catalog: &'a Catalog,
    /// The document of the adapter. The project contains it in `schema/`.
    pub document: ProjectDocument<'a>,
    /// The origin of the document; `None` if the author wrote it.
    pub origin: Option<provenance::DocumentOrigin>,
    /// The choices of the author.
    pub options: ProjectOptions,
}

impl Project<'_> {
    /// Returns the name of the package: `github-api-adapter`. With this suffix it is never a keyword or the name of a
    /// dependency.
    #[must_use]
    pub fn package(&self) -> String {
        let name = self.catalog.adapter.name.replace('_', "-");
        if name.ends_with("-adapter") { name } else { format!("{name}-adapter") }
    }

    /// Returns the commands that build the project, to be run in its folder.
    #[must_use]
    pub fn build(&self) -> &'static [&'static str] {
        match self.options.language {
            Language::Rust => &["cargo build --release"],
            Language::TypeScript => &["npm install", "npm run build"],
            Language::Python => &["python3 -m venv .venv", ".venv/bin/pip install -e ."],
        }
    }

    /// Returns the commands that lint and test the built project, to be run in its folder.
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

    /// Returns the program and the arguments that start the built server, to be run in its folder.
    #[must_use]
    pub fn start(&self) -> Vec<String> {
        match self.options.language {
            Language::Rust => vec![format!("target/release/{}", self.package())],
            Language::TypeScript => vec!["node".to_owned(), "dist/index.js".to_owned()],
            Language::Python => vec![".venv/bin/python".to_owned(), "-m".to_owned(), self.module()],
        }
    }

    /// Returns a note about `mcpaql-runtime` for projects in Rust without `--runtime`. Whether this version is published is
    /// not known here, so the note covers both cases.
    #[must_use]
    pub fn runtime_note(&self) -> Option<RuntimeNote> {
        (self.options.language == Language::Rust && self.options.runtime_flag.is_none()).then(|| RuntimeNote {
            message: format!("`mcpaql-runtime` {VERSION} from crates.io"),
            suggestion: format!(
                "if cargo does not find this version, generate with `--runtime git:{}` or `--runtime path:DIR`",
                env!("CARGO_PKG_REPOSITORY"),
            ),
        })
    }

    /// Returns the name of the package as an identifier: `github_api_adapter`.
    #[must_use]
    pub fn module(&self) -> String {
        self.package().replace('-', "_")
    }
}

/// A note about the library that a project depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuntimeNote {
    /// The library and its source.
    pub message: String,
    /// What to do if the library is not found.
    pub suggestion: String,
}

/// The document of an adapter.
#[derive(Debug, Clone, Copy)]
pub struct ProjectDocument<'a> {
    /// The file name without a folder: `github-api-adapter.md`. Letters, digits, `.`, `_` and `-` only.
    pub file: &'a str,
    /// The content.
    pub text: &'a str,
}

/// The choices of a project's author.
#[derive(Debug, Clone)]
pub struct ProjectOptions {
    /// The language of the project.
    pub language: Language,
    /// The source of `mcpaql-runtime` for projects in Rust, as the value of a dependency in `Cargo.toml`.
    pub runtime: String,
    /// The value of `--runtime` with absolute paths; `None` for the default.
    pub runtime_flag: Option<String>,
    /// Settings that override the document: mode, profile, prefix, policy. The catalog was compiled with them, and a project
    /// in Rust compiles the document with them. Variables of the running server override them.
    pub settings: AdapterSettings,
    /// The licence of the project, as an SPDX expression or `UNLICENSED`.
    pub license: String,
    /// The copyright holders, if given: the rest of the line `Copyright (c) …`.
    pub copyright: Option<String>,
    /// Whether operations that the language does not support were left out of the catalog.
    pub skip_unsupported: bool,
    /// How far the operator of the project trusts the adapter.
    pub trust: TrustLevel,
}

impl ProjectOptions {
    /// Returns the default options for a language.
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
            trust: DEFAULT_TRUST,
        }
    }
}

/// The trust level of a project whose author chooses none.
pub const DEFAULT_TRUST: TrustLevel = TrustLevel::Validated;

/// The version of the generator, and of the runtime that its projects in Rust need.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A file of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// The path in the project's folder, with `/`.
    pub path: String,
    /// The content.
    pub text: String,
    /// The owner of the file.
    pub owner: FileOwner,
}

impl ProjectFile {
    fn generated(path: impl Into<String>, text: impl Into<String>) -> ProjectFile {
        ProjectFile { path: path.into(), text: text.into(), owner: FileOwner::Generator }
    }
}

/// The owner of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOwner {
    /// The generator: written again each time.
    Generator,
    /// The author: written once, and never overwritten after the author has changed it.
    Author,
}

/// The reason why an adapter cannot be generated in a language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported {
    /// One sentence, without the suggestion.
    pub message: String,
    /// What to do instead.
    pub suggestion: &'static str,
}

/// The suggestion for a document that only Rust supports.
const USE_RUST: &str = "generate it with --target rust, or serve the document with `mcpaql serve`";
/// The suggestion if other operations remain without the unsupported ones.
const USE_RUST_OR_SKIP: &str = "generate it with --target rust, serve the document with `mcpaql serve`, or leave these operations out with \
     --skip-unsupported";

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Unsupported {}

/// Returns all files of a project, ordered by path. `timestamp` is the time for the provenance file, if it shall have one.
///
/// # Errors
/// Returns an error if the adapter needs something that the language does not support.
pub fn files(project: &Project<'_>, timestamp: Option<&str>) -> Result<Vec<ProjectFile>, Unsupported> {
    Ok(complete(project, sources(project)?, timestamp))
}

/// Returns the source files of a project, ordered by path, without the files that do not depend on the language (README,
/// licence, provenance, the document).
///
/// # Errors
/// Returns an error if the adapter needs something that the language does not support.
pub fn sources(project: &Project<'_>) -> Result<Vec<ProjectFile>, Unsupported> {
    let mut files = match project.options.language {
        Language::Rust => rust::files(project)?,
        Language::TypeScript => typescript::files(project)?,
        Language::Python => python::files(project)?,
    };
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// An operation that projects in a language do not support.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsupportedOperation {
    /// The name of the operation.
    pub name: String,
    /// The missing feature: `the embedded store`.
    pub needs: &'static str,
}

/// Returns the operations that projects in a language do not support, in order. TypeScript and Python support HTTP APIs
/// and commands.
#[must_use]
pub fn unsupported_operations(catalog: &Catalog, language: Language) -> Vec<UnsupportedOperation> {
    let needs = |entry: &mcpaql_core::catalog::CatalogEntry| {
        let Some(whole) = catalog.full_operation(entry) else {
            return Some("a description that can be read");
        };
        match &whole.operation.binding {
            _ if language == Language::Rust => None,
            // These exist only because other operations run in the background.
            Binding::Introspect | Binding::Execution(_) => None,
            _ if entry.operation.lifecycle.is_some() => Some("background executions"),
            _ if !catalog.hidden_fields(whole.operation).is_empty() => Some("hidden fields"),
            _ if has_named_fields(whole.operation) => Some("presets or computed fields"),
            Binding::Store(_) => Some("the embedded store"),
            Binding::Mcp(_) => Some("another MCP server"),
            Binding::Code => Some("code of the program that embeds it"),
            Binding::Http(http) if binding::rust_only_feature(http).is_some() => {
                binding::rust_only_feature(http)
            }
            Binding::Http(_) | Binding::Command(_) => match binding::operation_binding(whole.operation) {
                Ok(_) => None,
                Err(_) => Some("braces in its command that are not parameters"),
            },
        }
    };
    let with_need = |entry| Some((entry, needs(entry)?));
    let all = catalog.operations.iter().filter_map(with_need);
    all.map(|(entry, needs)| UnsupportedOperation { name: entry.operation.name.clone(), needs }).collect()
}

/// Returns whether callers can name presets or computed fields of an operation.
fn has_named_fields(operation: &Operation) -> bool {
    let declared = operation.fields.as_ref();
    declared.is_some_and(|declared| !declared.presets.is_empty() || !declared.computed.is_empty())
}

/// Maximum number of operations that a message lists.
const MAX_NAMED_OPERATIONS: usize = 12;

/// Returns an error that names the operations that the language does not support.
fn supported(project: &Project<'_>) -> Result<(), Unsupported> {
    let catalog = project.catalog;
    let (language, adapter) = (project.options.language.name(), &catalog.adapter.name);
    if matches!(catalog.adapter.target, TargetConfig::Code(_)) {
        let message = format!(
            "{language} projects do not support the adapter '{adapter}': its operations are functions of the program that embeds it"
        );
        let suggestion = "serve it from that program, or give it an HTTP or command target";
        return Err(Unsupported { message, suggestion });
    }
    if catalog.results == ResultForm::Plain && project.options.language != Language::Rust {
        let message =
            format!("{language} projects do not support `results: plain` of the adapter '{adapter}'");
        return Err(Unsupported { message, suggestion: USE_RUST });
    }
    let found = unsupported_operations(catalog, project.options.language);
    if found.is_empty() {
        let is_empty = catalog.operations.iter().all(|entry| entry.operation.name == INTROSPECT);
        return match is_empty && project.options.skip_unsupported {
            false => Ok(()),
            true => Err(Unsupported {
                message: format!(
                    "{language} projects support no operation of the adapter '{adapter}', so nothing is left"
                ),
                suggestion: USE_RUST,
            }),
        };
    }
    let mut needs: indexmap::IndexMap<&str, Vec<&str>> = indexmap::IndexMap::new();
    for operation in found.iter().take(MAX_NAMED_OPERATIONS) {
        needs.entry(operation.needs).or_default().push(&operation.name);
    }
    let reason = |(needs, names): (&&str, &Vec<&str>)| {
        let verb = if names.len() == 1 { "needs" } else { "need" };
        format!("{} ({verb} {needs})", names.join(", "))
    };
    let reasons: Vec<String> = needs.iter().map(reason).collect();
    let more = match found.len().saturating_sub(MAX_NAMED_OPERATIONS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let is_own =
        |operation: &Operation| !matches!(operation.binding, Binding::Introspect | Binding::Execution(_));
    let all = catalog.operations.iter().filter(|entry| is_own(&entry.operation)).count();
    let (count, suggestion) = match found.len() {
        count if count == all => ("the".to_owned(), USE_RUST),
        count => (format!("{count} of the {all}"), USE_RUST_OR_SKIP),
    };
    let message = format!(
        "{language} projects do not support {count} operations of the adapter '{adapter}': {}{more}",
        reasons.join("; ")
    );
    Err(Unsupported { message, suggestion })
}

/// Returns the sources with the files that every project has.
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
