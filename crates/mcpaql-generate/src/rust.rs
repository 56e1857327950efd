//! Projects in Rust, on `mcpaql-runtime`: the document itself is served, so that nothing of what it means is written twice.
//!
//! What is generated are the types of parameters, for the functions that take the place of operations, one file for each endpoint. The
//! rest are the files of `templates/rust`.

mod source;
mod types;

use crate::model::{IdentifierCase, LanguageStyle, Model, identifier};
use crate::{FileOwner, Project, ProjectFile, Unsupported, license};
use serde_json::Value;

/// Keywords of the language, and names that fields beside them would hide.
const RESERVED: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn",
    "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop",
    "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static",
    "struct", "super", "trait", "true", "try", "type", "typeof", "unsafe", "unsized", "use", "virtual",
    "where", "while", "yield",
];

/// Types that generated files use under their own names.
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

/// The source files of a project.
pub(crate) fn files(project: &Project<'_>) -> Result<Vec<ProjectFile>, Unsupported> {
    crate::supported(project)?;
    let mut model = Model::of(project.catalog, &STYLE);
    let example = model.operations.first().map_or("ExampleParams", |first| &first.params).to_owned();
    let mut files = vec![
        author("Cargo.toml", manifest(project)),
        author("src/handlers.rs", TEMPLATES.handlers.replace("ExampleParams", &example)),
        ProjectFile::generated(".gitignore", TEMPLATES.gitignore),
        ProjectFile::generated("rustfmt.toml", TEMPLATES.rustfmt),
        ProjectFile::generated("src/lib.rs", TEMPLATES.lib),
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

/// The files that every project has, as they stand in `templates/rust`.
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

/// Functions need dependencies of their own, so that this file is the author's, too.
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
        // What a document says comes last, so that nothing in it is taken for one of the words above.
        .replace("\"ADAPTER_DESCRIPTION\"", &quoted(described))
}

/// A text as a string of TOML; JSON escapes all that must be, but for one character.
fn quoted(text: &str) -> String {
    Value::from(text.replace('\u{7f}', "")).to_string()
}

/// The module of an endpoint.
fn module(endpoint: &str) -> String {
    let name = identifier(endpoint, IdentifierCase::Snake);
    if RESERVED.contains(&name.as_str()) { format!("{name}_") } else { name }
}

#[cfg(test)]
mod tests;
