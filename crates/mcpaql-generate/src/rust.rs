//! Projects in Rust, based on `mcpaql-runtime`. They serve the document itself.
//!
//! Generated code consists of the types of parameters, for functions that replace operations, with one file per endpoint. All other
//! files come from `templates/rust`.

mod source;
mod types;

use crate::model::{IdentifierCase, LanguageStyle, Model, identifier};
use crate::{DEFAULT_TRUST, FileOwner, Project, ProjectFile, Unsupported, license};
use serde_json::Value;

/// Keywords of the language.
const RESERVED: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield",
];

/// Types that generated files use, so that no type of an adapter may have their name.
const TYPES: &[&str] = &[
    "BTreeMap",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "Eq",
    "Err",
    "Map",
    "None",
    "Number",
    "Ok",
    "Option",
    "Params",
    "PartialEq",
    "Result",
    "Self",
    "Serialize",
    "Some",
    "String",
    "Value",
    "Vec",
];

pub(crate) const STYLE: LanguageStyle = LanguageStyle {
    functions: IdentifierCase::Snake,
    fields: IdentifierCase::Snake,
    reserved: RESERVED,
    types: TYPES,
    results: false,
};

/// Returns the source files of a project.
pub(crate) fn files(project: &Project<'_>) -> Result<Vec<ProjectFile>, Unsupported> {
    crate::supported(project)?;
    let mut model = Model::of(project.catalog, &STYLE);
    let example = model.operations.first().map_or("ExampleParams", |first| &first.params).to_owned();
    let mut files = vec![
        author("Cargo.toml", manifest(project)),
        author("src/handlers.rs", TEMPLATES.handlers.replace("ExampleParams", &example)),
        ProjectFile::generated(".gitignore", TEMPLATES.gitignore),
        ProjectFile::generated("rustfmt.toml", TEMPLATES.rustfmt),
        ProjectFile::generated("src/lib.rs", library(project)),
        ProjectFile::generated("src/main.rs", TEMPLATES.main.replace("adapter_module", &project.module())),
        ProjectFile::generated("src/source.rs", source::text(project)?),
        ProjectFile::generated(
            "tests/server.rs",
            TEMPLATES
                .test
                .replace("adapter_module", &project.module())
                .replace("adapter-package", &project.package()),
        ),
    ];
    files.extend(types::files(project.catalog, &mut model));
    Ok(files)
}

/// The files of `templates/rust`, which every project has.
struct Templates {
    manifest: &'static str,
    rustfmt: &'static str,
    gitignore: &'static str,
    lib: &'static str,
    main: &'static str,
    handlers: &'static str,
    test: &'static str,
}

const TEMPLATES: Templates = Templates {
    manifest: include_str!("../templates/rust/manifest.toml"),
    rustfmt: include_str!("../templates/rust/rustfmt.toml"),
    gitignore: include_str!("../templates/rust/gitignore"),
    lib: include_str!("../templates/rust/src/lib.rs"),
    main: include_str!("../templates/rust/src/main.rs"),
    handlers: include_str!("../templates/rust/src/handlers.rs"),
    test: include_str!("../templates/rust/tests/server.rs"),
};

fn author(path: &str, text: String) -> ProjectFile {
    ProjectFile { path: path.to_owned(), text, owner: FileOwner::Author }
}

/// Returns `src/lib.rs`. The library has the default trust level itself.
fn library(project: &Project<'_>) -> String {
    let last = "        .with_handlers(handlers::handlers())\n";
    match project.options.trust {
        DEFAULT_TRUST => TEMPLATES.lib.to_owned(),
        _ => TEMPLATES.lib.replace(last, &format!("{last}        .trust(source::TRUST)\n")),
    }
}

/// Returns `Cargo.toml`. The author owns it, because handlers need dependencies.
fn manifest(project: &Project<'_>) -> String {
    let adapter = &project.catalog.adapter;
    let described = match adapter.description.lines().next() {
        Some(line) if !line.trim().is_empty() => line.trim(),
        _ => adapter.name.as_str(),
    };
    let license = match project.options.license.as_str() {
        license::NONE => "license-file = \"LICENSE\"".to_owned(),
        expression => format!("license = {}", quoted(expression)),
    };
    TEMPLATES
        .manifest
        .replace("adapter-package", &project.package())
        .replace("version = \"0.0.0\"", &format!("version = {}", quoted(&adapter.version)))
        .replace("license = \"ADAPTER_LICENSE\"", &license)
        .replace("\"MCPAQL_RUNTIME\"", &project.options.runtime)
        // Texts of the document come last, so that placeholders in them are not replaced.
        .replace("\"ADAPTER_DESCRIPTION\"", &quoted(described))
}

/// Returns a text as a TOML string. JSON escapes everything that TOML needs, except U+007F.
fn quoted(text: &str) -> String {
    Value::from(text.replace('\u{7f}', "")).to_string()
}

/// Returns the module name of an endpoint.
fn module(endpoint: &str) -> String {
    let name = identifier(endpoint, IdentifierCase::Snake);
    if RESERVED.contains(&name.as_str()) { format!("{name}_") } else { name }
}

#[cfg(test)]
mod tests;
